#include "lists_report.h"

#include <inttypes.h>
#include <string.h>

#include "duration.h"
#include "exits.h"
#include "votes.h"

#define TOLD_MOST 8   /* by one master */
#define YOUNG_S   120 /* by then all clients have said their lists again */

/* ---- What it means ---------------------------------------------------------------- */

/* Fewer than a quorum may count on it. */
static bool is_over(const struct lists_report *report)
{
    return (unsigned)__builtin_popcount(report->used.over) > report->masters - report->quorum;
}

static void judge(struct lists_report *report)
{
    const struct lists_used *used = &report->used;
    unsigned unsafe = 0;
    for (unsigned i = 0; i < used->count; i++)
        unsafe |= used->lists[i].unsafe;
    report->state = "agree";
    report->code = REDLOCK_OK;
    report->status = EXIT_DONE;
    if (is_over(report)) {
        report->state = "over";
        report->code = REDLOCK_E_DIFFERS;
        report->status = EXIT_NODES;
    } else if (unsafe) {
        report->state = "may not meet";
        report->code = REDLOCK_E_DIFFERS;
        report->status = EXIT_NODES;
    } else if (used->count > 1) {
        report->state = "may meet";
        report->status = EXIT_DIFFERS;
    } else if ((unsigned)__builtin_popcount(used->tell) < report->quorum) {
        report->state = "unknown";
        report->code = REDLOCK_E_UNAVAILABLE;
        report->status = EXIT_UNAVAILABLE;
    }
}

static unsigned count_tellers(const struct lists_used *used, struct client_text list)
{
    unsigned tell = 0;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++)
        tell += used->over >> i & 1 && redlock_lists_are_same(used->successors[i], list);
    return tell;
}

struct client_text lists_successor(const struct lists_used *used, unsigned *tell)
{
    struct client_text most = {0};
    *tell = 0;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++) {
        unsigned its = count_tellers(used, used->successors[i]);
        if (its > *tell) {
            *tell = its;
            most = used->successors[i];
        }
    }
    return most;
}

static void show_end(struct text *out, const struct lists_report *report)
{
    unsigned tell, over = (unsigned)__builtin_popcount(report->used.over);
    struct client_text successor = lists_successor(&report->used, &tell);
    text_format(out, "this list is over on %u of %u masters; in its place: ", over,
                report->masters);
    text_shown(out, successor.bytes, successor.length);
    if (tell < over)
        text_format(out, " on %u of these", tell);
}

void fleet_show(struct text *out, const char *fleet)
{
    text_format(out, *fleet ? "fleet \"" : "fleet of clients without a prefix");
    text_shown(out, fleet, strlen(fleet));
    text_format(out, *fleet ? "\"" : "");
}

static void show_nobody(struct text *out, const char *fleet)
{
    text_format(out, ": no client of the ");
    fleet_show(out, fleet);
    text_format(out, " says one");
}

static void explain(struct lists_report *report)
{
    unsigned count = report->used.count;
    if (is_over(report)) {
        show_end(&report->verdict, report);
        return;
    }
    text_format(&report->verdict, "%u list%s in use", count, count == 1 ? "" : "s");
    if (count > 1)
        text_format(&report->verdict, ": they %s, so %s", report->state,
                    report->code ? "two clients may hold one name" : "clients exclude each other");
    else if (report->code)
        text_format(&report->verdict, ", but too few masters tell: %d of %u, %u must",
                    __builtin_popcount(report->used.tell), report->masters, report->quorum);
    else if (count == 1)
        text_format(&report->verdict, ": all clients that say theirs agree");
    else
        show_nobody(&report->verdict, report->used.fleet);
}

void lists_look(struct lists_report *report, redlock *client, unsigned quorum)
{
    *report = (struct lists_report){
        .client = client, .masters = redlock_node_count(client), .quorum = quorum};
    redlock_lists_used(client, &report->used);
    judge(report);
    explain(report);
}

void lists_free(struct lists_report *report)
{
    text_free(&report->verdict);
}

/* ---- Each master ------------------------------------------------------------------ */

enum telling { TELLS, TELLS_SINCE, REMEMBERS_NOTHING, NOT_ASKED };

static redlock_node get_node(const struct lists_report *report, unsigned index)
{
    redlock_node node = {.size = sizeof node};
    redlock_node_get(report->client, index, &node);
    return node;
}

static enum telling telling_of(const struct lists_report *report, unsigned index,
                               const redlock_node *node)
{
    if (!(report->used.asked >> index & 1))
        return NOT_ASKED;
    if (!(report->used.tell >> index & 1))
        return REMEMBERS_NOTHING;
    return node->uptime_s >= 0 && node->uptime_s < YOUNG_S ? TELLS_SINCE : TELLS;
}

static void say_telling(struct text *out, enum telling telling, const redlock_node *node)
{
    char span[DURATION_SIZE];
    switch (telling) {
    case NOT_ASKED:
        text_format(out, "could not be asked: ");
        text_shown(out, node->text, strlen(node->text));
        break;
    case REMEMBERS_NOTHING:
        text_format(out, "remembers no list: a user must be allowed the keys redlock:lists:*");
        break;
    case TELLS_SINCE:
        text_format(out, "has begun %s ago: what was said before is forgotten",
                    duration_show(span, node->uptime_s * 1000));
        break;
    default:
        break;
    }
}

/* ---- For people ------------------------------------------------------------------- */

static void show_nodes(struct text *out, const struct list_used *list)
{
    for (unsigned i = 0; i < list->masters; i++) {
        text_format(out, "%s", i ? "," : "  ");
        text_shown(out, list->nodes[i].bytes, list->nodes[i].length);
    }
    text_format(out, "\n");
}

static void show_tellers(struct text *out, const struct lists_report *report,
                         const struct list_used *list)
{
    unsigned told = (unsigned)__builtin_popcount(list->told_by);
    text_format(out, "  told by %u of %u masters", told, report->masters);
    for (unsigned i = 0, shown = 0; told < report->masters && i < report->masters; i++)
        if (list->told_by >> i & 1)
            text_format(out, "%s%s", shown++ ? "," : ": ", get_node(report, i).node);
    text_format(out, "\n");
}

static void show_list(struct text *out, const struct lists_report *report, unsigned index)
{
    const struct list_used *list = &report->used.lists[index];
    char span[DURATION_SIZE], last[DURATION_SIZE];
    text_format(out, "list %u%s: quorum %u of %u, spare %u, max-ttl %s\n", index + 1,
                list->is_ours ? " (this one)" : "", list->quorum, list->masters, list->spare,
                duration_show(span, list->max_ttl_ms));
    show_nodes(out, list);
    text_format(out, "  %u client%s for %s; the last said it %s ago: ", list->clients,
                list->clients == 1 ? "" : "s", duration_show(span, list->first_ms),
                duration_show(last, list->last_ms));
    text_shown(out, list->label.bytes, list->label.length);
    text_format(out, "\n");
    show_tellers(out, report, list);
}

static void show_unsafe(struct text *out, const struct lists_report *report)
{
    const struct lists_used *used = &report->used;
    for (unsigned i = 0; i < used->count; i++)
        for (unsigned j = i + 1; j < used->count; j++)
            if (used->lists[i].unsafe >> j & 1)
                text_format(out,
                            "lists %u and %u may not meet: quorums of %u and %u need not share a "
                            "master\n",
                            i + 1, j + 1, used->lists[i].quorum, used->lists[j].quorum);
}

static bool is_full(const struct lists_report *report)
{
    unsigned told[REDLOCK_MASTERS_MAX] = {0};
    bool full = false;
    for (unsigned i = 0; i < report->used.count; i++)
        for (unsigned j = 0; j < report->masters; j++) {
            told[j] += report->used.lists[i].told_by >> j & 1;
            full |= told[j] >= TOLD_MOST;
        }
    return full;
}

static bool has_ours(const struct lists_report *report)
{
    bool found = false;
    for (unsigned i = 0; i < report->used.count; i++)
        found |= report->used.lists[i].is_ours;
    return found;
}

void lists_show(struct text *out, const struct lists_report *report, const char *now)
{
    for (unsigned i = 0; i < report->used.count; i++)
        show_list(out, report, i);
    for (unsigned i = 0; i < report->masters; i++) {
        redlock_node node = get_node(report, i);
        enum telling telling = telling_of(report, i, &node);
        if (telling == TELLS)
            continue;
        text_format(out, "%s ", node.node);
        say_telling(out, telling, &node);
        text_format(out, "\n");
    }
    if (exit_for(report->code) == EXIT_UNAVAILABLE)
        nodes_show_remedies(out, report->client);
    show_unsafe(out, report);
    if (report->used.over && !is_over(report)) {
        show_end(out, report);
        text_format(out, "\n");
    }
    text_format(out, "%s%s\n", now, report->verdict.bytes);
    if (report->used.count && !has_ours(report))
        text_format(out, "  -> no client says the list of these settings\n");
    if (is_full(report))
        text_format(out, "  -> a master remembers %d lists: there may be more\n", TOLD_MOST);
}

/* ---- For programs ----------------------------------------------------------------- */

static void put_told_by(struct json *json, const char *key, const struct lists_report *report,
                        unsigned masters)
{
    json_open(json, key, '[');
    for (unsigned i = 0; i < report->masters; i++)
        if (masters >> i & 1)
            json_string(json, NULL, get_node(report, i).node);
    json_close(json, ']');
}

static void list_json(struct json *json, const struct lists_report *report, unsigned index)
{
    const struct list_used *list = &report->used.lists[index];
    json_open(json, NULL, '{');
    json_open(json, "nodes", '[');
    for (unsigned i = 0; i < list->masters; i++)
        json_bytes(json, NULL, list->nodes[i].bytes, list->nodes[i].length);
    json_close(json, ']');
    json_number(json, "quorum", list->quorum);
    json_number(json, "spare", list->spare);
    json_number(json, "max_ttl_ms", list->max_ttl_ms);
    json_number(json, "clients", list->clients);
    json_bytes(json, "label", list->label.bytes, list->label.length);
    json_number(json, "first_ms", list->first_ms);
    json_number(json, "last_ms", list->last_ms);
    json_bool(json, "ours", list->is_ours);
    put_told_by(json, "told_by", report, list->told_by);
    json_open(json, "may_not_meet", '[');
    for (unsigned i = 0; i < report->used.count; i++)
        if (list->unsafe >> i & 1)
            json_number(json, NULL, i);
    json_close(json, ']');
    json_close(json, '}');
}

static void teller_json(struct json *json, const struct lists_report *report, unsigned index)
{
    redlock_node node = get_node(report, index);
    enum telling telling = telling_of(report, index, &node);
    struct text text = {0};
    say_telling(&text, telling, &node);
    json_open(json, NULL, '{');
    json_string(json, "node", node.node);
    json_bool(json, "tells", telling == TELLS || telling == TELLS_SINCE);
    json_filled(json, "text", text.bytes);
    json_close(json, '}');
    text_free(&text);
}

void lists_json(struct text *out, const struct lists_report *report)
{
    struct json json = outcome_json(out, report->code, report->verdict.bytes);
    json_string(&json, "fleet", report->used.fleet);
    json_word(&json, "state", report->state);
    json_number(&json, "masters", report->masters);
    json_number(&json, "quorum", report->quorum);
    json_open(&json, "lists", '[');
    for (unsigned i = 0; i < report->used.count; i++)
        list_json(&json, report, i);
    json_close(&json, ']');
    json_bool(&json, "more", is_full(report));
    put_told_by(&json, "over_on", report, report->used.over);
    unsigned tell;
    struct client_text successor = lists_successor(&report->used, &tell);
    if (report->used.over)
        json_bytes(&json, "successor", successor.bytes, successor.length);
    else
        json_null(&json, "successor");
    json_open(&json, "nodes", '[');
    for (unsigned i = 0; i < report->masters; i++)
        teller_json(&json, report, i);
    json_close(&json, ']');
    json_end(&json);
}

/* ---- For both, again and again ------------------------------------------------------ */

void lists_mark(struct text *out, const struct lists_report *report)
{
    for (unsigned i = 0; i < report->used.count; i++) {
        const struct list_used *list = &report->used.lists[i];
        text_format(out, "%u %u %" PRId64 " %u %x %x\n", list->quorum, list->spare,
                    list->max_ttl_ms, list->clients, list->told_by, list->unsafe);
        show_nodes(out, list);
    }
    for (unsigned i = 0; i < report->masters; i++) {
        redlock_node node = get_node(report, i);
        text_format(out, "%d ", telling_of(report, i, &node));
    }
    text_format(out, "%x", report->used.over);
}
