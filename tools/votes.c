#include "votes.h"

#include <string.h>

#include "duration.h"

#define TOKEN_TEXT 22 /* 16 random bytes in base64url */
#define NAME_SHOWN 100

/* ---- Holders ------------------------------------------------------------ */

static bool same_holder(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* A key that never expires outlives all others. */
static int64_t longer(int64_t one, int64_t other)
{
    if (one == -2 || other == -2) {
        return -2;
    }
    return one > other ? one : other;
}

static void count_vote(struct holding *holdings, unsigned *count, const redlock_vote *vote)
{
    unsigned at = 0;
    while (at < *count && !same_holder(holdings[at].holder, vote->holder)) {
        at++;
    }
    if (at == *count) {
        holdings[(*count)++] = (struct holding){vote->holder, 0, vote->remaining_ms};
    }
    holdings[at].masters++;
    holdings[at].remaining_ms = longer(holdings[at].remaining_ms, vote->remaining_ms);
}

static void sort_holdings(struct holding *holdings, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        struct holding moving = holdings[i];
        unsigned at = i;
        for (; at > 0 && holdings[at - 1].masters < moving.masters; at--) {
            holdings[at] = holdings[at - 1];
        }
        holdings[at] = moving;
    }
}

unsigned votes_holdings(const redlock_event *event, struct holding holdings[REDLOCK_MASTERS_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        if (event->votes[i].kind == REDLOCK_VOTE_HELD) {
            count_vote(holdings, &count, &event->votes[i]);
        }
    }
    sort_holdings(holdings, count);
    return count;
}

struct holder holder_split(const char *value)
{
    static const char base64url[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (strspn(value, base64url) == TOKEN_TEXT && value[TOKEN_TEXT] == ':') {
        return (struct holder){TOKEN_TEXT, value + TOKEN_TEXT + 1};
    }
    return (struct holder){strlen(value), NULL};
}

void holder_show(struct text *out, const char *value)
{
    if (!value) {
        text_format(out, "somebody");
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
    if (!value) {
        json_null(json, "token");
        json_null(json, "label");
        return;
    }
    struct holder holder = holder_split(value);
    json_bytes(json, "token", value, holder.token_length);
    json_string(json, "label", holder.label);
}

void remaining_json(struct json *json, int64_t remaining_ms)
{
    if (remaining_ms >= 0) {
        json_number(json, "remaining_ms", remaining_ms);
        return;
    }
    json_null(json, "remaining_ms");
    if (remaining_ms == -2) {
        json_bool(json, "never_expires", true);
    }
}

/* ---- For people --------------------------------------------------------- */

static void explain_holding(struct text *out, const redlock_event *event,
                            const struct holding *holding)
{
    char span[DURATION_SIZE];
    text_format(out, "  held by ");
    holder_show(out, holding->holder);
    if (holding->remaining_ms >= 0) {
        text_format(out, " for another %s", duration_show(span, holding->remaining_ms));
    } else if (holding->remaining_ms == -2) {
        text_format(out, " for ever (its key has no ttl)");
    }
    text_format(out, " on %u of %u masters\n", holding->masters, event->masters);
}

static void show_text(struct text *out, const char *text)
{
    text_shown(out, text, strlen(text));
}

/* What is wrong with this master; false if nothing that explains anything. */
static bool explain_vote(struct text *out, const redlock_vote *vote)
{
    char span[DURATION_SIZE];
    switch (vote->kind) {
    case REDLOCK_VOTE_REFUSED:
    case REDLOCK_VOTE_UNREACHABLE:
        show_text(out, vote->text[0] ? vote->text : redlock_vote_name(vote->kind));
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
    for (unsigned i = 0; i < event->masters; i++) {
        free_on += event->votes[i].kind == REDLOCK_VOTE_FREE;
    }
    if (free_on > 0) {
        text_format(out, "  held by nobody on %u of %u masters\n", free_on, event->masters);
    }
}

void votes_explain(struct text *out, const redlock_event *event)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count = votes_holdings(event, holdings);
    for (unsigned i = 0; i < count; i++) {
        explain_holding(out, event, &holdings[i]);
    }
    explain_free(out, event);
    for (unsigned i = 0; i < event->masters; i++) {
        struct text trouble = {0};
        if (explain_vote(&trouble, &event->votes[i])) {
            text_format(out, "  %s: %s\n", event->votes[i].node, trouble.bytes);
        }
        text_free(&trouble);
    }
}

static int node_width(const redlock_event *event)
{
    size_t width = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        size_t length = strlen(event->votes[i].node);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void table_held(struct text *out, const redlock_vote *vote)
{
    char span[DURATION_SIZE] = "?";
    if (vote->remaining_ms >= 0) {
        duration_show(span, vote->remaining_ms);
    } else if (vote->remaining_ms == -2) {
        strcpy(span, "for ever");
    }
    text_format(out, "held   %-10s ", span);
    holder_show(out, vote->holder);
}

const char *votes_headline(const redlock_event *event)
{
    struct text reasons = {0};
    votes_explain(&reasons, event);
    bool explained = reasons.length > 0;
    text_free(&reasons);
    return explained ? redlock_code_text(event->code) : event->text;
}

void votes_table(struct text *out, const redlock_event *event)
{
    int width = node_width(event);
    for (unsigned i = 0; i < event->masters; i++) {
        const redlock_vote *vote = &event->votes[i];
        text_format(out, "  %-*s  ", width, vote->node);
        if (vote->kind == REDLOCK_VOTE_HELD) {
            table_held(out, vote);
        } else if (!explain_vote(out, vote)) {
            text_format(out, "%s", redlock_vote_name(vote->kind));
        }
        text_format(out, "\n");
    }
}

/* ---- As JSON ------------------------------------------------------------ */

static void vote_json(struct json *json, const redlock_vote *vote)
{
    json_open(json, NULL, '{');
    json_string(json, "node", vote->node);
    json_word(json, "vote", redlock_vote_name(vote->kind));
    if (vote->kind == REDLOCK_VOTE_HELD) {
        holder_json(json, vote->holder);
    }
    if (vote->kind == REDLOCK_VOTE_HELD || vote->kind == REDLOCK_VOTE_ABSTAINS) {
        remaining_json(json, vote->remaining_ms);
    }
    if (vote->text && vote->text[0]) {
        json_string(json, "text", vote->text);
    }
    json_close(json, '}');
}

void votes_json(struct json *json, const redlock_event *event)
{
    json_number(json, "masters", event->masters);
    json_number(json, "quorum", event->quorum);
    json_number(json, "granted", event->granted);
    json_open(json, "votes", '[');
    for (unsigned i = 0; i < event->masters; i++) {
        vote_json(json, &event->votes[i]);
    }
    json_close(json, ']');
}

/* ---- Names -------------------------------------------------------------- */

/* A name may have 64 KiB; a message with all of it would be read by nobody. */
static void name_show(struct text *out, const redlock_name *name)
{
    bool whole = name->length <= NAME_SHOWN;
    text_format(out, "'");
    text_shown(out, name->bytes, whole ? name->length : NAME_SHOWN);
    text_format(out, whole ? "'" : "...'");
}

void names_show(struct text *out, const redlock_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_format(out, i > 0 ? ", " : "");
        name_show(out, &names[i]);
    }
}

void names_json(struct json *json, const redlock_name *names, size_t count)
{
    json_open(json, "names", '[');
    for (size_t i = 0; i < count; i++) {
        json_bytes(json, NULL, names[i].bytes, names[i].length);
    }
    json_close(json, ']');
}
