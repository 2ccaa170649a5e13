#include "list_report.h"

#include <string.h>

/* ---- For people --------------------------------------------------------- */

static void show_name(struct text *out, const char *what, const struct share *share)
{
    text_format(out, "  %s ", what);
    names_show(out, &share->name, 1);
}

static void show_kind(struct text *out, const struct share *share)
{
    switch (share->kind) {
    case SHARE_HOLDS:
        show_name(out, "holds", share);
        break;
    case SHARE_READS:
        show_name(out, "reads", share);
        text_format(out, " (%u read it)", share->crowds.reading);
        break;
    case SHARE_HAS_PERMIT:
        show_name(out, "has a permit of", share);
        text_format(out, " (%u of %u are out)", share->crowds.out, share->crowds.permits);
        break;
    case SHARE_WAITS:
        show_name(out, "waits for", share);
        text_format(out, ", place %u of %u", share->place, share->crowds.waiting);
        break;
    }
}

static void show_had(struct text *out, const struct share *share)
{
    text_format(out, " on %u of %u masters%s", share->on, share->masters,
                share_is_partial(share) ? " (partial: no quorum)" : "");
    remaining_show(out, share->remaining_ms);
    if (share->crowds.waiting > 0)
        text_format(out, ", %u %s", share->crowds.waiting,
                    share->crowds.waiting == 1 ? "waits" : "wait");
    if (!share->foreign) {
        text_format(out, ", token ");
        text_shown(out, share->value, share->token_length);
    }
}

static void show_share(struct text *out, const struct share *share)
{
    show_kind(out, share);
    if (share->kind != SHARE_WAITS)
        show_had(out, share);
    if (strcmp(share->state, "unknown") == 0)
        text_format(out, " (too few masters answered)");
    text_format(out, "\n");
}

static void show_who(struct text *out, const struct share *share)
{
    text_shown(out, share->who, strlen(share->who));
    text_format(out, "%s\n", share->foreign ? " (foreign: not a value of redlock)" : "");
}

void list_show(struct text *out, const struct listing *listing)
{
    const struct share *before = NULL;
    for (size_t i = 0; i < listing->shares.count; i++) {
        const struct share *share = &listing->shares.all[i];
        if (!before || !shares_are_of_one(before, share))
            show_who(out, share);
        show_share(out, share);
        before = share;
    }
}

/* ---- As JSON ------------------------------------------------------------ */

static void had_json(struct json *json, const struct share *share)
{
    json_open(json, NULL, '{');
    json_bytes(json, "name", share->name.bytes, share->name.length);
    json_word(json, "mode", share_mode(share->kind));
    json_word(json, "state", share->state);
    json_string(json, "token", share->value);
    json_number(json, "on", share->on);
    json_bool(json, "partial", share_is_partial(share));
    remaining_json(json, share->remaining_ms);
    json_number(json, "reading", share->crowds.reading);
    json_number(json, "permits", share->crowds.permits);
    json_number(json, "out", share->crowds.out);
    json_number(json, "waiting", share->crowds.waiting);
    json_close(json, '}');
}

static void awaited_json(struct json *json, const struct share *share)
{
    json_open(json, NULL, '{');
    json_bytes(json, "name", share->name.bytes, share->name.length);
    json_string(json, "token", share->value);
    json_number(json, "place", share->place);
    json_number(json, "waiting", share->crowds.waiting);
    json_close(json, '}');
}

/* Those of one holder, from the first on: what it has stands before what it waits for.  Returns how
 * many there are. */
static size_t holder_of_list_json(struct json *json, const struct share *first, size_t left)
{
    size_t at = 0;
    json_open(json, NULL, '{');
    json_string(json, "holder", first->who);
    json_bool(json, "foreign", first->foreign);
    json_open(json, "holds", '[');
    for (; at < left && shares_are_of_one(first, &first[at]) && first[at].kind != SHARE_WAITS; at++)
        had_json(json, &first[at]);
    json_close(json, ']');
    json_open(json, "waits", '[');
    for (; at < left && shares_are_of_one(first, &first[at]); at++)
        awaited_json(json, &first[at]);
    json_close(json, ']');
    json_close(json, '}');
    return at;
}

static void node_json(struct json *json, const struct listing *listing, unsigned index)
{
    redlock_node node = {.size = sizeof(node)};
    const struct surveyed *surveyed = &listing->surveyed[index];
    if (redlock_node_get(listing->client, index, &node) != REDLOCK_OK)
        return;
    json_open(json, NULL, '{');
    json_string(json, "node", node.node);
    json_string(json, "code", redlock_code_name(surveyed->code));
    json_filled(json, "text", surveyed->why.bytes);
    json_number(json, "looked_at", (int64_t)surveyed->looked_at);
    json_number(json, "keys", (int64_t)surveyed->keys);
    json_number(json, "left_out", (int64_t)surveyed->left_out);
    json_close(json, '}');
}

void list_json(struct text *out, const struct listing *listing)
{
    struct json json = outcome_json(out, listing->code, listing->text);
    const struct shares *shares = &listing->shares;
    json_number(&json, "masters", listing->masters);
    json_number(&json, "quorum", listing->quorum);
    json_open(&json, "nodes", '[');
    for (unsigned i = 0; i < listing->masters; i++)
        node_json(&json, listing, i);
    json_close(&json, ']');
    json_open(&json, "holders", '[');
    for (size_t at = 0; at < shares->count;)
        at += holder_of_list_json(&json, &shares->all[at], shares->count - at);
    json_close(&json, ']');
    json_end(&json);
}
