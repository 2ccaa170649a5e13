/*
 * nodes.c - the doctor: how each master is, and what to do about it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "commands.h"
#include "duration.h"
#include "lists_report.h"
#include "say.h"
#include "session.h"
#include "trial.h"
#include "votes.h"

const char nodes_help[] =
    "usage: redlock nodes [--all] [--wait D] [--adopt] [--json]\n"
    "\n"
    "Checks each master and says how to repair it. It asks each master that votes for\n"
    "a lock with a fence, on a name of its own (redlock-nodes:...), for a place in\n"
    "the queue behind it, and to hand the lock over to that; then it releases all.\n"
    "If an ACL allows only some names, give their beginning with --prefix.\n"
    "\n"
    "It judges by --max-ttl whether a master abstains. Only with --adopt does it send\n"
    "that value: a check makes no master abstain longer.\n"
    "\n"
    "  --all     the exit status is 1 unless all masters vote\n"
    "  --wait D  wait until a quorum votes, with --all until all do: 0, 5m, forever\n"
    "            (0). Between the restarts of an upgrade it says when to go on\n"
    "  --adopt   let masters that abstain vote at once. A master abstains after a\n"
    "            restart until all leases that it may have forgotten have ended. Use\n"
    "            it only for new masters, or when nobody holds a lease.\n"
    "\n"
    "Exit status: 0 a quorum grants locks, or votes and could not be tried, 1 (--all)\n"
    "some master does not, 64 usage, 69 no quorum does, 78 the list of masters is\n"
    "wrong.\n"
    "\n"
    "Example:\n"
    "  redlock nodes --nodes redis://a,redis://b,redis://c\n"
    "  systemctl restart redis && redlock nodes --all --wait 5m\n";

#define UNTRIED      "whether locks work is not known, for too few masters could be asked for one"
#define SETTLE_MS    2000 /* how long to wait for masters that have not answered yet */
#define LOOK_S       0.01
#define AGAIN_S      0.5 /* --wait: after a trial in which too few granted */
#define RUN_ID_SHOWN 8
#define DAY_S        86400

struct doctor {
    struct session session;
    ev_timer look;
    int64_t look_until, until; /* boot_ms(); the second one by --wait */
    struct trials trials;
    unsigned masters, quorum, up;
    unsigned grant;       /* masters that vote, and grant as far as is known */
    unsigned granted;     /* masters that granted the trial */
    unsigned wrong;       /* wrong masters that the quorum tolerates */
    unsigned wrong_mixed; /* likewise, if other clients leave no spare votes */
};

static const char *state_name(redlock_node_state state)
{
    static const char *const names[] = {
        [REDLOCK_NODE_DOWN] = "down",       [REDLOCK_NODE_CONNECTING] = "connecting",
        [REDLOCK_NODE_UP] = "up",           [REDLOCK_NODE_ABSTAINS] = "abstains",
        [REDLOCK_NODE_REFUSED] = "refused",
    };
    return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

/* The findings of the trial count, too. */
static bool get_node(const struct doctor *doctor, unsigned index, redlock_node *node)
{
    if (redlock_node_get(doctor->session.client, index, node) != REDLOCK_OK)
        return false;
    if (doctor->trials.of[index].finding.is_another) {
        node->state = REDLOCK_NODE_REFUSED;
        node->text = "is an address of several servers: list each master, and no balancer";
    }
    return true;
}

/* ---- Advice ------------------------------------------------------------- */

static void advise_on_list(struct text *out, const struct doctor *doctor)
{
    unsigned spare = (unsigned)doctor->session.options->spare;
    if (doctor->masters == 1) {
        text_format(out, "one master: its failure stops all locks; use 3 or 5\n");
    } else if (doctor->masters < 3 * spare + 1) {
        text_format(out,
                    "%u wrong masters that refuse stop all locks: use %u masters with --spare %u\n",
                    spare, 3 * spare + 1, spare);
    } else if (doctor->masters % 2 == 0 && spare == 0) {
        text_format(out, "%u masters survive no more deaths than %u: use an odd number%s\n",
                    doctor->masters, doctor->masters - 1,
                    doctor->masters > 2 ? ", or --spare 1: the quorum stays the same" : "");
    }
}

/* ---- For people --------------------------------------------------------- */

static void indent_lines(struct text *out, const char *indent, const struct text *lines)
{
    const char *line = lines->length > 0 ? lines->bytes : "";
    while (*line) {
        const char *end = strchr(line, '\n');
        text_format(out, "%s", indent);
        text_shown(out, line, (size_t)(end - line));
        text_format(out, "\n");
        line = end + 1;
    }
}

static void show_uptime(struct text *out, int64_t seconds)
{
    char span[DURATION_SIZE];
    if (seconds < 60)
        text_format(out, ", up %" PRId64 " s", seconds);
    else
        text_format(out, ", up %s", duration_show(span, seconds * 1000));
}

static void show_facts(struct text *out, const redlock_node *node)
{
    if (node->version[0]) {
        text_format(out, "  %s, %s, run %.*s", node->version, node->role, RUN_ID_SHOWN,
                    node->run_id);
    }
    if (node->uptime_s >= 0 && node->version[0])
        show_uptime(out, node->uptime_s);
    bool answers = node->state == REDLOCK_NODE_UP || node->state == REDLOCK_NODE_ABSTAINS;
    if (answers && node->rtt_us >= 0) {
        text_format(out, ", answers in %" PRId64 ".%02" PRId64 " ms", node->rtt_us / 1000,
                    node->rtt_us % 1000 / 10);
    }
    if (node->version[0]) {
        text_format(out, ", clock %+" PRId64 " ms, %s, %s", node->clock_offset_us / 1000,
                    node->aof ? "append-only file" : "no append-only file",
                    node->eviction[0] ? node->eviction : "memory not limited");
    }
}

static void show_tls(struct text *out, const redlock_node *node)
{
    if (!node->tls_protocol[0])
        return;
    text_format(out, ", %s, certificate of %s for %" PRId64 " more days%s", node->tls_protocol,
                node->tls_peer, node->tls_expires_s / DAY_S,
                node->tls_verified ? "" : ", not verified");
}

static void show_node(struct text *out, const redlock_node *node, const struct finding *finding)
{
    struct text advice = {0};
    text_format(out, "%s  %s", node->node, state_name(node->state));
    show_facts(out, node);
    show_tls(out, node);
    if (node->state != REDLOCK_NODE_UP && node->text[0]) {
        text_format(out, "  ");
        text_shown(out, node->text, strlen(node->text));
    }
    if (finding->refusal.length > 0) {
        text_format(out, ", but refuses locks: ");
        text_shown(out, finding->refusal.bytes, finding->refusal.length);
    }
    text_format(out, "\n");
    advise_on_node(&advice, node, finding);
    indent_lines(out, "  -> ", &advice);
    text_free(&advice);
}

static void show_tolerance(struct text *out, const struct doctor *doctor)
{
    text_format(out, "a quorum is %u of %u: %u may be down", doctor->quorum, doctor->masters,
                doctor->masters - doctor->quorum);
    if (doctor->wrong == 0)
        text_format(out, ", none may lie or lose data");
    else
        text_format(out, ", at most one holder while no more than %u lie or lose data",
                    doctor->wrong);
    if (doctor->session.options->spare > 0) {
        text_format(out,
                    " (%u beside clients without --spare), fences grow while no more than %d do",
                    doctor->wrong_mixed, doctor->session.options->spare);
    }
    text_format(out, "\n");
}

static void show_verdict(struct text *out, const struct doctor *doctor)
{
    redlock_code code = doctor->session.readiness;
    text_format(out, "%u of %u masters vote, %u must: ", doctor->grant, doctor->masters,
                doctor->quorum);
    if (exit_for(code) == EXIT_NODES) {
        text_format(out, "no locks, because %s\n", redlock_code_text(code));
    } else {
        text_format(out, "%s\n",
                    code != REDLOCK_OK                 ? "no locks"
                    : doctor->granted < doctor->quorum ? UNTRIED
                                                       : "locks work");
    }
}

static void show_lists(struct text *out, const struct doctor *doctor)
{
    struct lists_report report;
    lists_look(&report, doctor->session.client, doctor->quorum);
    if (report.used.count > 1 || report.used.over)
        text_format(out, "%s; see redlock masters\n", report.verdict.bytes);
    lists_free(&report);
}

static void show_report(struct text *out, const struct doctor *doctor)
{
    struct text advice = {0};
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node = {.size = sizeof(node)};
        if (get_node(doctor, i, &node))
            show_node(out, &node, &doctor->trials.of[i].finding);
    }
    show_verdict(out, doctor);
    show_tolerance(out, doctor);
    show_lists(out, doctor);
    advise_on_list(&advice, doctor);
    indent_lines(out, "  -> ", &advice);
    text_free(&advice);
}

/* ---- As JSON ------------------------------------------------------------ */

static void advice_json(struct json *json, const struct text *lines)
{
    const char *line = lines->length > 0 ? lines->bytes : "";
    json_open(json, "advice", '[');
    while (*line) {
        const char *end = strchr(line, '\n');
        json_bytes(json, NULL, line, (size_t)(end - line));
        line = end + 1;
    }
    json_close(json, ']');
}

/* null if the master was not tried. */
static void finding_json(struct json *json, const struct finding *finding)
{
    json_known_bool(json, "grants", finding->tried, finding->grants);
    json_string(json, "refusal", finding->refusal.bytes);
    json_string(json, "no_queue", finding->no_queue.bytes);
    json_string(json, "unheard", finding->unheard.bytes);
}

static void tls_json(struct json *json, const redlock_node *node)
{
    if (!node->tls_protocol[0]) {
        json_null(json, "tls");
        return;
    }
    json_open(json, "tls", '{');
    json_string(json, "protocol", node->tls_protocol);
    json_string(json, "peer", node->tls_peer);
    json_number(json, "expires_s", node->tls_expires_s);
    json_bool(json, "verified", node->tls_verified);
    json_close(json, '}');
}

static void node_json(struct json *json, const redlock_node *node, const struct finding *finding)
{
    struct text advice = {0};
    json_open(json, NULL, '{');
    json_string(json, "node", node->node);
    json_word(json, "state", state_name(node->state));
    json_string(json, "text", node->text);
    json_number(json, "abstains_ms", node->abstains_ms);
    json_filled(json, "version", node->version);
    json_filled(json, "role", node->role);
    json_filled(json, "run_id", node->run_id);
    bool met = node->version[0];
    json_known_number(json, "uptime_s", met && node->uptime_s >= 0, node->uptime_s);
    json_known_number(json, "rtt_us", met && node->rtt_us >= 0, node->rtt_us);
    json_known_number(json, "clock_offset_us", met, node->clock_offset_us);
    json_known_bool(json, "aof", met, node->aof);
    json_filled(json, "eviction", node->eviction);
    json_known_number(json, "max_ttl_ms", node->max_ttl_ms > 0, node->max_ttl_ms);
    tls_json(json, node);
    finding_json(json, finding);
    advise_on_node(&advice, node, finding);
    advice_json(json, &advice);
    text_free(&advice);
    json_close(json, '}');
}

static void report_json(struct text *out, const struct doctor *doctor)
{
    const struct session *session = &doctor->session;
    struct json json = outcome_json(out, session->readiness, session->ready_text.bytes);
    struct text advice = {0};
    struct lists_report lists;
    json_number(&json, "masters", doctor->masters);
    json_number(&json, "quorum", doctor->quorum);
    json_number(&json, "up", doctor->up);
    json_number(&json, "grant", doctor->grant);
    json_number(&json, "stands_dead", doctor->masters - doctor->quorum);
    json_number(&json, "stands_wrong", doctor->wrong);
    json_number(&json, "stands_wrong_mixed", doctor->wrong_mixed);
    lists_look(&lists, session->client, doctor->quorum);
    json_known_number(&json, "lists", lists.used.tell != 0, lists.used.count);
    lists_free(&lists);
    json_open(&json, "nodes", '[');
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node = {.size = sizeof(node)};
        if (get_node(doctor, i, &node))
            node_json(&json, &node, &doctor->trials.of[i].finding);
    }
    json_close(&json, ']');
    advise_on_list(&advice, doctor);
    advice_json(&json, &advice);
    text_free(&advice);
    json_end(&json);
}

/* ---- The examination ---------------------------------------------------- */

static unsigned find_state(const struct doctor *doctor, redlock_node_state state)
{
    unsigned found = 0;
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node = {.size = sizeof(node)};
        if (get_node(doctor, i, &node) && node.state == state)
            found |= 1U << i;
    }
    return found;
}

/* A master that could not be tried is taken to grant. */
static void count_masters(struct doctor *doctor)
{
    unsigned up = find_state(doctor, REDLOCK_NODE_UP);
    doctor->up = doctor->grant = doctor->granted = 0;
    for (unsigned i = 0; i < doctor->masters; i++) {
        const struct finding *finding = &doctor->trials.of[i].finding;
        bool is_up = up & 1U << i;
        doctor->up += is_up;
        doctor->granted += is_up && finding->grants;
        doctor->grant += is_up && (finding->grants || !finding->tried);
    }
}

static void set_readiness(struct session *session, redlock_code code, const char *text)
{
    session->readiness = code;
    text_free(&session->ready_text);
    text_format(&session->ready_text, "%s", text);
}

/* An adopted master, or what came of the trial, may have changed what on_ready said. */
static void settle_readiness(struct doctor *doctor)
{
    struct session *session = &doctor->session;
    count_masters(doctor);
    if (exit_for(session->readiness) == EXIT_NODES)
        return;
    unsigned wrong = (unsigned)__builtin_popcount(find_state(doctor, REDLOCK_NODE_REFUSED));
    if (wrong > doctor->masters - doctor->quorum)
        set_readiness(session, REDLOCK_E_NO_MASTER, redlock_code_text(REDLOCK_E_NO_MASTER));
    else if (doctor->grant < doctor->quorum) {
        if (session->readiness == REDLOCK_OK)
            set_readiness(session, REDLOCK_E_UNAVAILABLE, "too few masters grant locks");
    } else if (doctor->granted < doctor->quorum) {
        set_readiness(session, REDLOCK_OK, UNTRIED);
    } else if (session->readiness != REDLOCK_OK) {
        set_readiness(session, REDLOCK_OK, redlock_code_text(REDLOCK_OK));
    }
}

static unsigned needed(const struct doctor *doctor)
{
    return doctor->session.options->all ? doctor->masters : doctor->quorum;
}

static int status_of(const struct doctor *doctor)
{
    int status = exit_for(doctor->session.readiness);
    return status == EXIT_DONE && doctor->grant < needed(doctor) ? EXIT_SOME : status;
}

/* A wrong list gets no better by itself. */
static bool is_worth_waiting(const struct doctor *doctor)
{
    return boot_ms() < doctor->until && exit_for(doctor->session.readiness) != EXIT_NODES;
}

static void look_again(struct doctor *doctor)
{
    trials_free(&doctor->trials);
    ev_timer_set(&doctor->look, AGAIN_S, LOOK_S);
    ev_timer_start(doctor->session.loop, &doctor->look);
}

static void report(struct doctor *doctor)
{
    struct text out = {0};
    int status = status_of(doctor);
    if (doctor->session.options->json)
        report_json(&out, doctor);
    else
        show_report(&out, doctor);
    if (!put_text(&out))
        status = EXIT_OUTPUT;
    text_free(&out);
    trials_free(&doctor->trials);
    session_end(&doctor->session, status, 0);
}

static void on_tried(void *data)
{
    struct doctor *doctor = data;
    settle_readiness(doctor);
    if (status_of(doctor) != EXIT_DONE && is_worth_waiting(doctor))
        look_again(doctor);
    else
        report(doctor);
}

static void adopt_all(struct doctor *doctor)
{
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node = {.size = sizeof(node)};
        if (redlock_node_get(doctor->session.client, i, &node) == REDLOCK_OK &&
            node.state == REDLOCK_NODE_ABSTAINS)
            redlock_node_adopt(doctor->session.client, i);
    }
}

/* A wrong list is known before all masters have answered. */
static bool is_settled(const struct doctor *doctor)
{
    bool adopting = doctor->session.options->adopt;
    return !find_state(doctor, REDLOCK_NODE_CONNECTING) &&
           !(adopting && find_state(doctor, REDLOCK_NODE_ABSTAINS));
}

/* No master is troubled by a trial while too few are up. */
static bool waits_for_more(const struct doctor *doctor)
{
    unsigned up = (unsigned)__builtin_popcount(find_state(doctor, REDLOCK_NODE_UP));
    return up < needed(doctor) && is_worth_waiting(doctor);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct doctor *doctor = timer->data;
    (void)events;
    if (waits_for_more(doctor) || !(is_settled(doctor) || boot_ms() >= doctor->look_until))
        return;
    ev_timer_stop(loop, timer);
    trials_begin(&doctor->trials, doctor->session.options, loop, doctor->session.client,
                 find_state(doctor, REDLOCK_NODE_UP), on_tried, doctor);
}

/* The boot_ms() at which the wait is over. */
static int64_t end_of_wait(const struct options *options)
{
    int64_t now = boot_ms();
    return options->wait_ms > INT64_MAX - now ? INT64_MAX : now + options->wait_ms;
}

static void on_begin(void *data)
{
    struct doctor *doctor = data;
    doctor->masters = redlock_node_count(doctor->session.client);
    unsigned plain = redlock_quorum(doctor->masters, 0);
    doctor->quorum = redlock_quorum(doctor->masters, (unsigned)doctor->session.options->spare);
    doctor->wrong = 2 * doctor->quorum - doctor->masters - 1;
    doctor->wrong_mixed = doctor->quorum + plain - doctor->masters - 1;
    if (doctor->session.options->adopt)
        adopt_all(doctor);
    doctor->look_until = boot_ms() + SETTLE_MS;
    doctor->until = end_of_wait(doctor->session.options);
    ev_timer_init(&doctor->look, on_look, 0, LOOK_S);
    doctor->look.data = doctor;
    ev_timer_start(doctor->session.loop, &doctor->look);
}

int perform_nodes(const struct options *options)
{
    struct doctor doctor = {
        .session = {
            .begin = on_begin, .patient = true, .looks = !options->adopt, .any_list = true}};
    return session_perform(&doctor.session, options, &doctor);
}
