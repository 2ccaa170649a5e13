/*
 * list.c - collects the names that the masters have, then asks all masters about each.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "crowds.h"
#include "duration.h"
#include "list_report.h"
#include "memory.h"
#include "name_set.h"
#include "remedy.h"
#include "say.h"
#include "session.h"

const char list_help[] =
    "usage: redlock list [--prefix P] [--foreign] [--json]\n"
    "\n"
    "Shows all holders and waiters: under each holder (its label, else its token) the\n"
    "locks that it has, reads or has a permit of, on how many masters, and the locks\n"
    "that it waits for. `partial` means that no quorum has it: an attempt under way,\n"
    "or the rest of one. Barriers and latches have no holder, and are not shown.\n"
    "\n"
    "  --prefix P   only names that begin with P, shown without it, as the other\n"
    "               commands name them with that --prefix\n"
    "  --foreign    also names with a value of other software that may be a lock: a\n"
    "               string of at most 256 bytes that expires. Without this option a\n"
    "               foreign value is shown only if another master has a lock of\n"
    "               redlock there, or a waiter\n"
    "\n"
    "It reads all keys of each master with SCAN, 250 at a time (about a millisecond),\n"
    "with one request at a time to each master, and all masters at once. It does not\n"
    "wait for a master that takes five times as long as a quorum, and 5 s. It writes\n"
    "nothing. Locks that are taken or given back meanwhile may be missing. It names\n"
    "at most 600 waiters, readers and permits of a name, and counts all.\n"
    "\n"
    "The user needs more rights than for a lock: those of `redlock-operator` in\n"
    "share/doc/redlock/examples/users.acl. If it may see only some names, give their\n"
    "beginning with --prefix.\n"
    "\n"
    "Exit status: 0 a quorum of masters was looked through, 64 usage, 69 too few\n"
    "were, or answered about some name: their answers are shown, 78 the list of\n"
    "masters is wrong, 128+N ended by signal N.\n"
    "\n"
    "Example:\n"
    "  redlock list --json | jq -r '.holders[] | [.holder, .holds[].name] | @tsv'\n";

#define QUESTIONS_MOST 64 /* under way at a time */
#define LOOKS_MOST     3  /* at a name that not all masters have alike */
#define PROGRESS_MS    100
#define LATER_TIMES    5 /* as long as a quorum took, the other masters may take */
#define LATER_MS       5000

struct list {
    struct session session;
    redlock_survey *survey;
    int64_t began;
    ev_timer late; /* a quorum has told all */
    struct surveyed surveyed[REDLOCK_MASTERS_MAX];
    unsigned masters, quorum;
    struct name_set names;
    struct question *questions; /* of each name */
    size_t next, answered;
    struct listing listing;
    int64_t told_at; /* when progress was shown last */
};

struct question {
    struct list *list;
    const redlock_name *name;
    unsigned looks;
};

/* ---- Progress ----------------------------------------------------------- */

/* On a terminal, and no more often than anybody can read. */
static bool may_tell_progress(struct list *list)
{
    const struct options *options = list->session.options;
    int64_t now = boot_ms();
    if (options->quiet || options->json || !isatty(STDERR_FILENO) ||
        now - list->told_at < PROGRESS_MS)
        return false;
    list->told_at = now;
    return true;
}

static void tell_looked_at(struct list *list)
{
    struct text line = {0};
    uint64_t looked_at = 0, keys = 0;
    if (!may_tell_progress(list))
        return;
    for (unsigned i = 0; i < list->masters; i++) {
        looked_at += list->surveyed[i].looked_at;
        keys += list->surveyed[i].keys;
    }
    text_format(&line, "redlock: looked at %llu of %llu keys on %u masters, found %zu names",
                (unsigned long long)looked_at, (unsigned long long)keys, list->masters,
                list->names.count);
    say_line(&line);
    text_free(&line);
}

static void tell_asked(struct list *list)
{
    struct text line = {0};
    if (!may_tell_progress(list))
        return;
    text_format(&line, "redlock: asked about %zu of %zu names", list->answered, list->names.count);
    say_line(&line);
    text_free(&line);
}

/* ---- The end ------------------------------------------------------------ */

static unsigned count_surveyed(const struct list *list)
{
    unsigned count = 0;
    for (unsigned i = 0; i < list->masters; i++)
        count += list->surveyed[i].ended && list->surveyed[i].code == REDLOCK_OK;
    return count;
}

/* A user that may not see all keys may see some. */
static const char *remedy_of(const struct surveyed *surveyed)
{
    const char *why = surveyed->why.length > 0 ? surveyed->why.bytes : "";
    bool is_about_key = strstr(why, "access one of the keys") || strstr(why, "access a key");
    return is_about_key ? "give the beginning of the names that this user may use: --prefix"
                        : remedy_for(why);
}

/* Behind the last master that it is for. */
static void say_remedy(const struct list *list, unsigned index)
{
    const char *remedy = remedy_of(&list->surveyed[index]);
    for (unsigned i = index + 1; remedy && i < list->masters; i++)
        if (remedy_of(&list->surveyed[i]) == remedy)
            return;
    if (remedy)
        say_at(REDLOCK_LOG_WARNING, "-> %s", remedy);
}

static void say_troubles(const struct list *list)
{
    for (unsigned i = 0; i < list->masters; i++) {
        const struct surveyed *surveyed = &list->surveyed[i];
        redlock_node node = {.size = sizeof(node)};
        if (redlock_node_get(list->session.client, i, &node) != REDLOCK_OK)
            continue;
        if (surveyed->code != REDLOCK_OK)
            say_at(REDLOCK_LOG_WARNING, "%s: %s; names that only this master has are not shown",
                   node.node, surveyed->why.bytes);
        if (surveyed->left_out > 0)
            say_at(REDLOCK_LOG_WARNING, "%s: %llu names are too long and not shown", node.node,
                   (unsigned long long)surveyed->left_out);
        say_remedy(list, i);
    }
}

static bool put_listing(struct list *list)
{
    struct text out = {0};
    if (list->session.options->json)
        list_json(&out, &list->listing);
    else
        list_show(&out, &list->listing);
    return session_put(&list->session, &out);
}

static void finish(struct list *list)
{
    struct listing *listing = &list->listing;
    const struct options *options = list->session.options;
    if (count_surveyed(list) < list->quorum)
        listing->code = REDLOCK_E_UNAVAILABLE;
    listing->text = listing->code ? "too few masters answered: names may be missing"
                                  : redlock_code_text(REDLOCK_OK);
    listing->client = list->session.client;
    listing->masters = list->masters;
    listing->quorum = list->quorum;
    listing->surveyed = list->surveyed;
    shares_sort(&listing->shares);
    say_line_end();
    bool done = put_listing(list);
    if (!options->quiet && !options->json)
        say_troubles(list);
    if (listing->code && !options->json)
        say("%s", listing->text);
    else if (listing->shares.count == 0 && !options->quiet && !options->json)
        say_at(REDLOCK_LOG_INFO, "nothing is held or waited for");
    session_end(&list->session, done ? exit_for(listing->code) : EXIT_OUTPUT, 0);
}

/* ---- Each name ---------------------------------------------------------- */

static void ask_next(struct list *list);

/* A name that changes hands during a look seems to be the rest of an attempt, and a slow master
 * seems to have lost it. */
static bool is_unsettled(const redlock_look_result *result)
{
    struct answer answer = answer_judge(result);
    return !answer_is_whole(result) || answer_is(&answer, "partly held") || answer.count > 1;
}

static bool ask(struct question *question);

static void on_seen(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct question *question = data;
    struct list *list = question->list;
    if (!list->session.ending && is_unsettled(result) && question->looks < LOOKS_MOST) {
        ask(question);
    } else if (!list->session.ending) {
        shares_note(&list->listing.shares, question->name, result);
        if (result->code != REDLOCK_OK)
            list->listing.code = result->code;
        list->answered++;
        tell_asked(list);
        ask_next(list);
    }
    redlock_look_free(look);
}

static bool ask(struct question *question)
{
    struct list *list = question->list;
    redlock_look *look;
    question->looks++;
    redlock_code code = redlock_look_begin(list->session.client, &look, question->name, 1,
                                           &look_at_all, on_seen, question);
    if (code != REDLOCK_OK)
        session_refused(&list->session, "cannot ask about", code);
    return code == REDLOCK_OK;
}

static void ask_next(struct list *list)
{
    while (list->next < list->names.count && list->next - list->answered < QUESTIONS_MOST) {
        struct question *question = &list->questions[list->next];
        *question = (struct question){.list = list, .name = &list->names.names[list->next]};
        list->next++;
        if (!ask(question))
            return;
    }
    if (list->answered == list->names.count)
        finish(list);
}

/* ---- The names ---------------------------------------------------------- */

static bool all_ended(const struct list *list)
{
    for (unsigned i = 0; i < list->masters; i++)
        if (!list->surveyed[i].ended)
            return false;
    return true;
}

static void ask_all(struct list *list)
{
    ev_timer_stop(list->session.loop, &list->late);
    redlock_survey_free(list->survey);
    list->questions = memory_or_end(calloc(list->names.count + 1, sizeof *list->questions));
    ask_next(list);
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct list *list = timer->data;
    (void)loop;
    (void)events;
    if (list->session.ending)
        return;
    for (unsigned i = 0; i < list->masters; i++) {
        struct surveyed *surveyed = &list->surveyed[i];
        if (surveyed->ended)
            continue;
        surveyed->code = REDLOCK_E_UNAVAILABLE;
        text_format(&surveyed->why, "far slower than the others, so not waited for");
    }
    ask_all(list);
}

/* All that a quorum has is on one of those that have told all.  A master that lies may go on for
 * ever. */
static void wait_for_others(struct list *list)
{
    int64_t took = boot_ms() - list->began;
    if (count_surveyed(list) < list->quorum || ev_is_active(&list->late))
        return;
    ev_timer_set(&list->late, (double)(LATER_TIMES * took + LATER_MS) / 1000, 0);
    ev_timer_start(list->session.loop, &list->late);
}

static void note_found(struct list *list, const redlock_survey_page *page)
{
    struct surveyed *surveyed = &list->surveyed[page->node];
    surveyed->ended = page->last;
    surveyed->code = page->code;
    surveyed->looked_at = page->looked_at;
    surveyed->keys = page->keys;
    surveyed->left_out = page->left_out;
    if (page->code != REDLOCK_OK)
        text_format(&surveyed->why, "%s", page->text[0] ? page->text : "not connected");
    for (size_t i = 0; i < page->count; i++)
        name_set_add(&list->names, page->names[i]);
}

static void on_found(redlock_survey *survey, const redlock_survey_page *page, void *data)
{
    struct list *list = data;
    (void)survey;
    if (list->session.ending)
        return;
    note_found(list, page);
    tell_looked_at(list);
    if (all_ended(list))
        ask_all(list);
    else
        wait_for_others(list);
}

/* ---- The command -------------------------------------------------------- */

static void on_begin(void *data)
{
    struct list *list = data;
    const struct options *options = list->session.options;
    list->masters = redlock_node_count(list->session.client);
    list->quorum = redlock_quorum(list->masters, (unsigned)options->spare);
    list->began = boot_ms();
    ev_init(&list->late, on_late);
    list->late.data = list;
    const redlock_survey_options survey = {.size = sizeof survey, .foreign = options->foreign};
    redlock_code code =
        redlock_survey_begin(list->session.client, &list->survey, &survey, on_found, list);
    if (code != REDLOCK_OK)
        session_refused(&list->session, "cannot list", code);
}

static void on_signal(void *data, int number)
{
    struct list *list = data;
    say_line_end();
    session_end_by_signal(&list->session, number, NULL);
}

int perform_list(const struct options *options)
{
    struct list list = {.session = {.begin = on_begin, .signalled = on_signal, .looks = true}};
    session_perform(&list.session, options, &list);
    shares_free(&list.listing.shares);
    name_set_free(&list.names);
    free(list.questions);
    for (unsigned i = 0; i < list.masters; i++)
        text_free(&list.surveyed[i].why);
    return list.session.status;
}
