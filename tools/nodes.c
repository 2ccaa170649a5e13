/*
 * nodes.c - the doctor: how each master is, and what to do about it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "duration.h"
#include "json.h"
#include "say.h"
#include "session.h"

const char nodes_help[] =
    "usage: redlock nodes [--adopt] [--json]\n"
    "\n"
    "Checks each master and says what to do about what is wrong.\n"
    "\n"
    "  --adopt   let masters that abstain vote at once. A master abstains after a\n"
    "            restart until all leases that it may have forgotten have ended. Only\n"
    "            for masters that are new, or when nobody holds a lease.\n"
    "\n"
    "Exit status: 0 a quorum can vote, 64 usage, 69 no quorum can, 78 the list of\n"
    "masters is wrong.\n"
    "\n"
    "Example:\n"
    "  redlock nodes --nodes redis://a,redis://b,redis://c\n";

#define SETTLE_MS       2000 /* how long to wait for masters that have not answered yet */
#define LOOK_S          0.01
#define OFFSET_LIMIT_US 500000
#define RUN_ID_SHOWN    8

struct doctor {
    struct session session;
    ev_timer look;
    int64_t look_until;
    unsigned masters, quorum, up;
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

/* ---- Advice ------------------------------------------------------------- */

/* Each piece of advice ends with a newline. */
static void advise_on_memory(struct text *out, const redlock_node *node)
{
    if (node->eviction[0] && strcmp(node->eviction, "noeviction") != 0) {
        text_format(out,
                    "evicts keys under memory pressure (%s): a lock may vanish; set "
                    "maxmemory-policy noeviction\n",
                    node->eviction);
    }
}

static void advise_on_clock(struct text *out, const redlock_node *node)
{
    char span[DURATION_SIZE];
    int64_t offset = node->clock_offset_us;
    if (offset > OFFSET_LIMIT_US || offset < -OFFSET_LIMIT_US) {
        text_format(out, "its clock is %s %s this machine's: let NTP set both\n",
                    duration_show(span, (offset < 0 ? -offset : offset) / 1000),
                    offset > 0 ? "ahead of" : "behind");
    }
}

static void advise_on_login(struct text *out, const redlock_node *node)
{
    if (strstr(node->text, "WRONGPASS") || strstr(node->text, "invalid password")) {
        text_format(out, "user or password are wrong: check redis://USER:PASSWORD@%s\n",
                    node->node);
    } else if (strstr(node->text, "NOAUTH")) {
        text_format(out, "it wants a password: redis://:PASSWORD@%s\n", node->node);
    } else if (strstr(node->text, "NOPERM")) {
        text_format(out, "its ACL forbids this user what locks need, scripts among it\n");
    }
}

static void advise_on_state(struct text *out, const redlock_node *node)
{
    char span[DURATION_SIZE];
    if (node->state == REDLOCK_NODE_ABSTAINS) {
        text_format(out,
                    "it may have forgotten leases, so it abstains %s more; if it is new, or "
                    "nobody holds a lease, `redlock nodes --adopt` lifts that\n",
                    duration_show(span, node->abstains_ms));
    }
}

static void advise(struct text *out, const redlock_node *node)
{
    advise_on_state(out, node);
    advise_on_login(out, node);
    advise_on_clock(out, node);
    advise_on_memory(out, node);
}

static void advise_on_list(struct text *out, const struct doctor *doctor)
{
    if (doctor->masters == 1) {
        text_format(out, "one master: its failure stops all locks; use 3 or 5\n");
    } else if (doctor->masters % 2 == 0) {
        text_format(out,
                    "%u masters stand no more failures than %u do: use an odd number of them\n",
                    doctor->masters, doctor->masters - 1);
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
    if (seconds < 60) {
        text_format(out, ", up %" PRId64 " s", seconds);
    } else {
        text_format(out, ", up %s", duration_show(span, seconds * 1000));
    }
}

static void show_facts(struct text *out, const redlock_node *node)
{
    if (node->version[0]) {
        text_format(out, "  %s, %s, run %.*s", node->version, node->role, RUN_ID_SHOWN,
                    node->run_id);
    }
    if (node->uptime_s >= 0 && node->version[0]) {
        show_uptime(out, node->uptime_s);
    }
    if (node->rtt_us >= 0) {
        text_format(out, ", answers in %" PRId64 ".%02" PRId64 " ms", node->rtt_us / 1000,
                    node->rtt_us % 1000 / 10);
    }
    if (node->version[0]) {
        text_format(out, ", clock %+" PRId64 " ms, %s, %s", node->clock_offset_us / 1000,
                    node->aof ? "append-only file" : "no append-only file",
                    node->eviction[0] ? node->eviction : "memory not limited");
    }
}

static void show_node(struct text *out, const redlock_node *node)
{
    struct text advice = {0};
    text_format(out, "%s  %s", node->node, state_name(node->state));
    show_facts(out, node);
    if (node->state != REDLOCK_NODE_UP && node->text[0]) {
        text_format(out, "  ");
        text_shown(out, node->text, strlen(node->text));
    }
    text_format(out, "\n");
    advise(&advice, node);
    indent_lines(out, "  -> ", &advice);
    text_free(&advice);
}

static void show_report(struct text *out, const struct doctor *doctor)
{
    struct text advice = {0};
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node;
        if (redlock_node_get(doctor->session.client, i, &node) == REDLOCK_OK) {
            show_node(out, &node);
        }
    }
    text_format(out, "%u of %u masters vote, %u must: %s\n", doctor->up, doctor->masters,
                doctor->quorum, doctor->up >= doctor->quorum ? "locks work" : "no locks");
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

static void optional_json(struct json *json, const char *key, const char *value)
{
    json_string(json, key, value[0] ? value : NULL);
}

static void node_json(struct json *json, const redlock_node *node)
{
    struct text advice = {0};
    json_open(json, NULL, '{');
    json_string(json, "node", node->node);
    json_word(json, "state", state_name(node->state));
    json_string(json, "text", node->text);
    json_number(json, "abstains_ms", node->abstains_ms);
    optional_json(json, "version", node->version);
    optional_json(json, "role", node->role);
    optional_json(json, "run_id", node->run_id);
    if (node->version[0]) {
        json_number(json, "uptime_s", node->uptime_s);
        json_number(json, "rtt_us", node->rtt_us);
        json_number(json, "clock_offset_us", node->clock_offset_us);
        json_bool(json, "aof", node->aof);
        optional_json(json, "eviction", node->eviction);
    }
    advise(&advice, node);
    advice_json(json, &advice);
    text_free(&advice);
    json_close(json, '}');
}

static void report_json(struct text *out, const struct doctor *doctor)
{
    struct json json = {.out = out};
    struct text advice = {0};
    json_open(&json, NULL, '{');
    json_bool(&json, "ok", doctor->session.readiness == REDLOCK_OK);
    json_string(&json, "code", redlock_code_name(doctor->session.readiness));
    json_bytes(&json, "text", doctor->session.ready_text.bytes, doctor->session.ready_text.length);
    json_number(&json, "masters", doctor->masters);
    json_number(&json, "quorum", doctor->quorum);
    json_number(&json, "up", doctor->up);
    json_open(&json, "nodes", '[');
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node;
        if (redlock_node_get(doctor->session.client, i, &node) == REDLOCK_OK) {
            node_json(&json, &node);
        }
    }
    json_close(&json, ']');
    advise_on_list(&advice, doctor);
    advice_json(&json, &advice);
    text_free(&advice);
    json_close(&json, '}');
    text_format(out, "\n");
}

/* ---- The examination ---------------------------------------------------- */

static unsigned count_state(const struct doctor *doctor, redlock_node_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node;
        count +=
            redlock_node_get(doctor->session.client, i, &node) == REDLOCK_OK && node.state == state;
    }
    return count;
}

/* An adopted master may have changed what on_ready said. */
static void settle_readiness(struct doctor *doctor)
{
    doctor->up = count_state(doctor, REDLOCK_NODE_UP);
    if (exit_for(doctor->session.readiness) != EXIT_NODES) {
        doctor->session.readiness =
            doctor->up >= doctor->quorum ? REDLOCK_OK : REDLOCK_E_UNAVAILABLE;
    }
}

static void report(struct doctor *doctor)
{
    struct text out = {0};
    settle_readiness(doctor);
    int status = exit_for(doctor->session.readiness);
    if (doctor->session.options->json) {
        report_json(&out, doctor);
    } else {
        show_report(&out, doctor);
    }
    if (!put_text(&out)) {
        status = EXIT_OUTPUT;
    }
    text_free(&out);
    session_end(&doctor->session, status, 0);
}

static void adopt_all(struct doctor *doctor)
{
    for (unsigned i = 0; i < doctor->masters; i++) {
        redlock_node node;
        if (redlock_node_get(doctor->session.client, i, &node) == REDLOCK_OK &&
            node.state == REDLOCK_NODE_ABSTAINS) {
            redlock_adopt(doctor->session.client, i);
        }
    }
}

/* A wrong list is known before all masters have answered. */
static bool is_settled(const struct doctor *doctor)
{
    bool adopting = doctor->session.options->adopt;
    return count_state(doctor, REDLOCK_NODE_CONNECTING) == 0 &&
           (!adopting || count_state(doctor, REDLOCK_NODE_ABSTAINS) == 0);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct doctor *doctor = timer->data;
    (void)events;
    if (is_settled(doctor) || boot_ms() >= doctor->look_until) {
        ev_timer_stop(loop, timer);
        report(doctor);
    }
}

static void on_begin(void *data)
{
    struct doctor *doctor = data;
    doctor->masters = redlock_nodes(doctor->session.client);
    doctor->quorum = doctor->masters / 2 + 1;
    if (doctor->session.options->adopt) {
        adopt_all(doctor);
    }
    doctor->look_until = boot_ms() + SETTLE_MS;
    ev_timer_init(&doctor->look, on_look, 0, LOOK_S);
    doctor->look.data = doctor;
    ev_timer_start(doctor->session.loop, &doctor->look);
}

int perform_nodes(const struct options *options)
{
    struct doctor doctor = {.session = {.begin = on_begin, .patient = true, .any_list = true}};
    doctor.session.data = &doctor;
    if (!session_open(&doctor.session, options)) {
        return doctor.session.status;
    }
    return session_run(&doctor.session);
}
