#include "votes.h"

#include <string.h>

#include "duration.h"
#include "permits.h"
#include "remedy.h"

#define TOKEN_TEXT 22 /* 16 random bytes in base64url */
#define NAME_SHOWN 100

/* ---- Holders ------------------------------------------------------------ */

static bool same_holder(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool is_held_by(const redlock_vote *vote, const char *holder)
{
    return vote->kind == REDLOCK_VOTE_HELD && same_holder(vote->holder, holder);
}

static void count_vote(struct holding *holdings, unsigned *count, const redlock_vote *vote)
{
    unsigned at = 0;
    while (at < *count && !same_holder(holdings[at].holder, vote->holder))
        at++;
    if (at == *count)
        holdings[(*count)++] = (struct holding){vote->holder, 0, -1};
    holdings[at].masters++;
}

/* A key that never expires outlives all others. */
static bool is_longer(int64_t one, int64_t other)
{
    return other != -2 && (one == -2 || one > other);
}

/* Sorted, the longest first; a holder that too few masters name counts as the shortest. */
static int64_t remaining(const redlock_event *event, const char *holder)
{
    int64_t left[REDLOCK_MASTERS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        if (!is_held_by(event->votes[i], holder))
            continue;
        unsigned at = count++;
        for (; at > 0 && is_longer(event->votes[i]->remaining_ms, left[at - 1]); at--)
            left[at] = left[at - 1];
        left[at] = event->votes[i]->remaining_ms;
    }
    if (count == 0)
        return -1;
    return left[event->spare < count ? event->spare : count - 1];
}

static void sort_holdings(struct holding *holdings, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        struct holding moving = holdings[i];
        unsigned at = i;
        for (; at > 0 && holdings[at - 1].masters < moving.masters; at--)
            holdings[at] = holdings[at - 1];
        holdings[at] = moving;
    }
}

unsigned votes_holdings(const redlock_event *event, struct holding holdings[REDLOCK_MASTERS_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < event->masters; i++)
        if (event->votes[i]->kind == REDLOCK_VOTE_HELD)
            count_vote(holdings, &count, event->votes[i]);
    sort_holdings(holdings, count);
    for (unsigned i = 0; i < count; i++)
        holdings[i].remaining_ms = remaining(event, holdings[i].holder);
    return count;
}

static bool begins_with_token(const char *value)
{
    static const char base64url[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return strspn(value, base64url) == TOKEN_TEXT;
}

struct holder holder_split(const char *value)
{
    if (begins_with_token(value) && value[TOKEN_TEXT] == ':')
        return (struct holder){TOKEN_TEXT, value + TOKEN_TEXT + 1};
    return (struct holder){strlen(value), NULL};
}

static bool is_fence(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

size_t token_length(const char *printed)
{
    size_t length = 0;
    while ((unsigned char)printed[length] > ' ' && printed[length] != 0x7f)
        length++;
    bool is_token = !printed[length] || (printed[length] == ' ' && is_fence(printed + length + 1));
    return is_token ? length : 0;
}

bool token_is_bare(const char *token)
{
    return begins_with_token(token) && token[TOKEN_TEXT] == 0;
}

bool holder_is_ours(const char *value)
{
    return token_is_bare(value) || holder_split(value).label;
}

bool is_marker(const char *value)
{
    return value && strcmp(value, REDLOCK_READERS) == 0;
}

void readers_show(struct text *out, unsigned count)
{
    if (count == 0)
        text_format(out, "%s, without a reader", REDLOCK_READERS);
    else
        text_format(out, "%u reader%s", count, count == 1 ? "" : "s");
}

void holder_show(struct text *out, const char *value)
{
    if (!value || is_marker(value) || is_of_permits(value)) {
        text_format(out, "%s",
                    !value             ? "somebody"
                    : is_marker(value) ? "readers"
                                       : "those who have permits");
        return;
    }
    struct holder holder = holder_split(value);
    text_shown(out, value, holder.token_length);
    if (holder.label) {
        text_format(out, " (");
        text_shown(out, holder.label, strlen(holder.label));
        text_format(out, ")");
    }
}

void holder_json(struct json *json, const char *value)
{
    json_string(json, "holder", value);
    json_string(json, "token", is_marker(value) || is_of_permits(value) ? NULL : value);
    json_string(json, "label", value ? holder_split(value).label : NULL);
}

void remaining_show(struct text *out, int64_t remaining_ms)
{
    char span[DURATION_SIZE];
    if (remaining_ms >= 0)
        text_format(out, ", ttl %s", duration_show(span, remaining_ms));
    else if (remaining_ms == -2)
        text_format(out, ", for ever (no ttl)");
}

void remaining_json(struct json *json, int64_t remaining_ms)
{
    json_known_number(json, "remaining_ms", remaining_ms >= 0, remaining_ms);
    json_bool(json, "never_expires", remaining_ms == -2);
}

const char *holding_doubt(const struct holding *holding, unsigned spare)
{
    return holding->masters <= spare ? ", which may be wrong" : "";
}

/* ---- For people --------------------------------------------------------- */

static void explain_holding(struct text *out, const redlock_event *event,
                            const struct holding *holding)
{
    text_format(out, "  held by ");
    holder_show(out, holding->holder);
    text_format(out, " on %u of %u masters%s", holding->masters, event->masters,
                holding_doubt(holding, event->spare));
    remaining_show(out, holding->remaining_ms);
    text_format(out, holding->remaining_ms >= 0 ? " unless renewed\n" : "\n");
}

static void show_text(struct text *out, const char *text)
{
    text_shown(out, text, strlen(text));
}

bool vote_explain(struct text *out, const redlock_vote *vote)
{
    char span[DURATION_SIZE];
    switch (vote->kind) {
    case REDLOCK_VOTE_REFUSED:
    case REDLOCK_VOTE_UNREACHABLE:
        show_text(out, vote->text);
        return true;
    case REDLOCK_VOTE_TIMEOUT:
        text_format(out, "no answer in time");
        return true;
    case REDLOCK_VOTE_ABSTAINS:
        text_format(out, "restarted, abstains %s more", duration_show(span, vote->remaining_ms));
        return true;
    default:
        return false;
    }
}

static void explain_free(struct text *out, const redlock_event *event)
{
    unsigned free_on = 0;
    for (unsigned i = 0; i < event->masters; i++)
        free_on += event->votes[i]->kind == REDLOCK_VOTE_FREE;
    if (free_on > 0)
        text_format(out, "  held by nobody on %u of %u masters\n", free_on, event->masters);
}

/* Advice for the answer of one master; NULL if none is known, or there is a quorum without it. */
static const char *remedy_of(const redlock_event *event, unsigned master)
{
    const redlock_vote *vote = event->votes[master];
    bool speaks = vote->kind == REDLOCK_VOTE_REFUSED || vote->kind == REDLOCK_VOTE_UNREACHABLE;
    return speaks && event->code == REDLOCK_E_UNAVAILABLE ? remedy_for(vote->text) : NULL;
}

static void show_remedy(struct text *out, const char *remedy)
{
    if (remedy)
        text_format(out, "  -> %s\n", remedy);
}

void votes_show_remedy(struct text *out, const redlock_event *event, unsigned master)
{
    const char *remedy = remedy_of(event, master);
    for (unsigned i = master + 1; remedy && i < event->masters; i++)
        if (remedy_of(event, i) == remedy)
            return;
    show_remedy(out, remedy);
}

void votes_explain(struct text *out, const redlock_event *event)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count = votes_holdings(event, holdings);
    for (unsigned i = 0; i < count; i++)
        explain_holding(out, event, &holdings[i]);
    explain_free(out, event);
    for (unsigned i = 0; i < event->masters; i++) {
        struct text trouble = {0};
        if (vote_explain(&trouble, event->votes[i]))
            text_format(out, "  %s: %s\n", event->votes[i]->node, trouble.bytes);
        votes_show_remedy(out, event, i);
        text_free(&trouble);
    }
}

void node_explain(struct text *out, const redlock_node *node)
{
    const redlock_vote now = {.kind = node->state == REDLOCK_NODE_ABSTAINS
                                          ? REDLOCK_VOTE_ABSTAINS
                                          : REDLOCK_VOTE_UNREACHABLE,
                              .remaining_ms = node->abstains_ms,
                              .text = node->text[0] ? node->text : "still being connected"};
    if (node->state == REDLOCK_NODE_UP)
        return;
    text_format(out, "  %s: ", node->node);
    vote_explain(out, &now);
    text_format(out, "\n");
}

/* Of a master that does not vote. */
static const char *remedy_of_node(redlock *client, unsigned index)
{
    redlock_node node = {.size = sizeof node};
    bool speaks =
        redlock_node_get(client, index, &node) == REDLOCK_OK && node.state == REDLOCK_NODE_DOWN;
    return speaks ? remedy_for(node.text) : NULL;
}

static void node_show_remedy(struct text *out, redlock *client, unsigned index)
{
    const char *remedy = remedy_of_node(client, index);
    for (unsigned i = index + 1; remedy && i < redlock_node_count(client); i++)
        if (remedy_of_node(client, i) == remedy)
            return;
    show_remedy(out, remedy);
}

void nodes_show_remedies(struct text *out, redlock *client)
{
    for (unsigned i = 0; i < redlock_node_count(client); i++)
        node_show_remedy(out, client, i);
}

void nodes_explain(struct text *out, redlock *client)
{
    for (unsigned i = 0; i < redlock_node_count(client); i++) {
        redlock_node node = {.size = sizeof node};
        if (redlock_node_get(client, i, &node) == REDLOCK_OK)
            node_explain(out, &node);
        node_show_remedy(out, client, i);
    }
}

const char *votes_headline(const redlock_event *event)
{
    struct text reasons = {0};
    votes_explain(&reasons, event);
    bool explained = reasons.length > 0;
    text_free(&reasons);
    return explained ? redlock_code_text(event->code) : event->text;
}

/* ---- As JSON ------------------------------------------------------------ */

struct json outcome_json(struct text *out, redlock_code code, const char *text)
{
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_bool(&json, "ok", code == REDLOCK_OK);
    json_string(&json, "code", redlock_code_name(code));
    json_string(&json, "text", text);
    return json;
}

static void vote_json(struct json *json, const redlock_vote *vote)
{
    json_open(json, NULL, '{');
    json_string(json, "node", vote->node);
    json_word(json, "vote", redlock_vote_name(vote->kind));
    bool held = vote->kind == REDLOCK_VOTE_HELD;
    bool lasts = held || vote->kind == REDLOCK_VOTE_ABSTAINS;
    holder_json(json, held ? vote->holder : NULL);
    remaining_json(json, lasts ? vote->remaining_ms : -1);
    json_filled(json, "text", vote->text);
    json_close(json, '}');
}

void effort_json(struct json *json, const redlock_event *event)
{
    json_known_number(json, "rounds", event, event ? event->rounds : 0);
    json_known_number(json, "elapsed_ms", event, event ? event->elapsed_ms : 0);
}

void fence_json(struct json *json, int64_t fence)
{
    if (fence > 0)
        json_number(json, "fence", fence);
}

void votes_json(struct json *json, const redlock_event *event)
{
    json_known_number(json, "masters", event, event ? event->masters : 0);
    json_known_number(json, "quorum", event, event ? event->quorum : 0);
    json_known_number(json, "granted", event, event ? event->granted : 0);
    json_open(json, "votes", '[');
    for (unsigned i = 0; event && i < event->masters; i++)
        vote_json(json, event->votes[i]);
    json_close(json, ']');
}

/* ---- Names -------------------------------------------------------------- */

/* A message has the beginnings of a few names: a name may have 1 KiB, and there may be thousands.
 */
#define NAMES_SHOWN 3

static void name_show(struct text *out, const redlock_name *name)
{
    bool whole = name->length <= NAME_SHOWN;
    text_format(out, "'");
    text_shown(out, name->bytes, whole ? name->length : NAME_SHOWN);
    text_format(out, whole ? "'" : "...'");
}

void names_show(struct text *out, const redlock_name *names, size_t count)
{
    size_t shown = count > NAMES_SHOWN + 1 ? NAMES_SHOWN : count;
    for (size_t i = 0; i < shown; i++) {
        text_format(out, i > 0 ? ", " : "");
        name_show(out, &names[i]);
    }
    if (shown < count)
        text_format(out, ", ... (%zu names)", count);
}

void names_json(struct json *json, const redlock_name *names, size_t count)
{
    json_open(json, "names", '[');
    for (size_t i = 0; i < count; i++)
        json_bytes(json, NULL, names[i].bytes, names[i].length);
    json_close(json, ']');
}
