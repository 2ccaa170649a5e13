/*
 * masters.c - which lists of masters the clients of a fleet count on, once or at each change.
 */
#include <string.h>

#include "change.h"
#include "commands.h"
#include "duration.h"
#include "list_watch.h"
#include "lists_report.h"
#include "say.h"
#include "session.h"

const char masters_help[] =
    "usage: redlock masters [--watch] [--json]\n"
    "       redlock masters change URIS [--yes] [--patience D]\n"
    "       redlock masters change URIS --plan [--json]\n"
    "       redlock masters change --undo\n"
    "\n"
    "Shows which lists of masters the clients of the fleet (--fleet) count on, as\n"
    "they told the masters: by how many clients, with which quorum, spare votes and\n"
    "max-ttl, the label that said it last, since when, and which masters tell it.\n"
    "Two lists may meet if any two quorums of theirs share a master.\n"
    "\n"
    "A client says its list once a minute, and takes it back when it closes. If it is\n"
    "killed its list stays for some two minutes and a half. Clients without a fleet,\n"
    "older ones, and those that only look say nothing: nobody can tell how many they\n"
    "are. A restarted master tells what was said since. A master that is not in your\n"
    "list is not asked.\n"
    "\n"
    "  --watch   go on, and print each change, with the time, until a signal, or\n"
    "            nobody reads the pipe: it asks each master every five seconds; with\n"
    "            --json a line for each change\n"
    "\n"
    "It writes nothing on the masters, and does not say its own list.\n"
    "\n"
    "change leads all clients from your list to that of URIS, in the fewest steps in\n"
    "which clients of two neighbouring lists exclude each other. In each step it\n"
    "prints a list: give it to all clients (`redlock run` looks at its file). It\n"
    "waits until no client says the former one, and then tells the masters that this\n"
    "is over. Then `redlock run`, commands that wait and programs with threads go on\n"
    "with the next list; other clients are refused, and their message has that list.\n"
    "If you run a command that ended early once more, it goes on where it was.\n"
    "\n"
    "  --plan        asks no master, but prints the steps\n"
    "  --yes         do not ask; needed without a terminal\n"
    "  --patience D  ends a former list after D even if clients still say it: those\n"
    "                that do not go on take no lease any more, and theirs run out;\n"
    "                default: waits on\n"
    "  --undo        takes back that your list is over\n"
    "\n"
    "Exit status: 0 all clients agree, or none says a list; changed, 1 their lists\n"
    "differ, and may meet; you said no, 64 usage, 69 too few masters told their\n"
    "lists, and no difference is known; a master that is needed is not up, 78 lists\n"
    "may not meet, or your list is over, or wrong, 128+N ended by signal N.\n"
    "\n"
    "Examples:\n"
    "  redlock masters change 10.0.0.1:6379,10.0.0.2:6379,10.0.0.4:6379\n"
    "  redlock masters --json | jq -r '.lists[] | [.clients, .label] | @tsv'\n";

#define LOOK_S    0.01 /* until all masters have told */
#define SETTLE_MS 2000
#define WATCH_S   0.25

struct masters {
    struct session session;
    ev_timer look;
    int64_t look_until;
    struct text told; /* --watch: the mark of what was printed last */
};

static bool is_connected(const redlock_node *node)
{
    return node->state == REDLOCK_NODE_UP || node->state == REDLOCK_NODE_ABSTAINS;
}

/* The masters that are connected have answered. */
static bool all_told(struct masters *masters, const struct lists_report *report)
{
    bool told = true;
    for (unsigned i = 0; i < report->masters; i++) {
        redlock_node node = {.size = sizeof node};
        redlock_node_get(masters->session.client, i, &node);
        bool waits = is_connected(&node) || node.state == REDLOCK_NODE_CONNECTING;
        told &= !waits || report->used.asked >> i & 1;
    }
    return told;
}

static void put_report(struct masters *masters, const struct lists_report *report)
{
    const struct options *options = masters->session.options;
    char now[NOW_SIZE];
    struct text out = {0};
    if (options->json)
        lists_json(&out, report);
    else
        lists_show(&out, report, options->watch ? now_show(now) : "");
    bool done = session_put(&masters->session, &out);
    if (!options->watch || !done)
        session_end(&masters->session, done ? report->status : EXIT_OUTPUT, 0);
}

static void put_news(struct masters *masters, const struct lists_report *report)
{
    struct text mark = {0};
    lists_mark(&mark, report);
    bool is_news = !masters->told.length || strcmp(mark.bytes, masters->told.bytes) != 0;
    text_free(&masters->told);
    masters->told = mark;
    if (is_news)
        put_report(masters, report);
    else if (!output_is_read())
        session_end(&masters->session, EXIT_OUTPUT, 0);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct masters *masters = timer->data;
    const struct options *options = masters->session.options;
    struct lists_report report;
    (void)events;
    if (masters->session.ending)
        return;
    lists_look(
        &report, masters->session.client,
        redlock_quorum(redlock_node_count(masters->session.client), (unsigned)options->spare));
    if (all_told(masters, &report) || boot_ms() >= masters->look_until) {
        put_news(masters, &report);
        ev_timer_stop(loop, timer);
        ev_timer_set(timer, WATCH_S, 0);
        ev_timer_start(loop, timer);
    }
    lists_free(&report);
    if (masters->session.ending)
        ev_timer_stop(loop, timer);
}

static void on_begin(void *data)
{
    struct masters *masters = data;
    masters->look_until = boot_ms() + SETTLE_MS;
    ev_timer_init(&masters->look, on_look, 0, LOOK_S);
    masters->look.data = masters;
    ev_timer_start(masters->session.loop, &masters->look);
}

static void on_signal(void *data, int number)
{
    struct masters *masters = data;
    ev_timer_stop(masters->session.loop, &masters->look);
    session_end_by_signal(&masters->session, number, NULL);
}

int perform_masters(const struct options *options)
{
    if (options->undo)
        return perform_undo(options);
    if (options->action)
        return perform_change(options);
    struct masters masters = {.session = {.begin = on_begin,
                                          .signalled = options->watch ? on_signal : NULL,
                                          .patient = true,
                                          .looks = true,
                                          .any_list = true}};
    if (session_open(&masters.session, options, &masters)) {
        if (!fleet_is_named(options, masters.session.client))
            session_end(&masters.session, EXIT_USAGE, 0);
        session_run(&masters.session);
    }
    text_free(&masters.told);
    return masters.session.status;
}
