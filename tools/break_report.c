#include "break_report.h"

#include <string.h>

#include "crowds.h"
#include "duration.h"
#include "permits.h"

static unsigned count(const struct breakage *breakage, enum broken_outcome outcome)
{
    unsigned found = 0;
    for (unsigned i = 0; i < breakage->masters; i++)
        found += breakage->of[i].outcome == outcome;
    return found;
}

redlock_code break_code(const struct breakage *breakage)
{
    if (count(breakage, BROKEN_BACK) > 0)
        return REDLOCK_E_HELD;
    bool is_gone =
        count(breakage, BROKEN_DELETED) + count(breakage, BROKEN_ABSENT) >= breakage->quorum;
    return is_gone ? REDLOCK_OK : REDLOCK_E_UNAVAILABLE;
}

static const char *text_of(const struct breakage *breakage)
{
    switch (break_code(breakage)) {
    case REDLOCK_OK:
        return "broken";
    case REDLOCK_E_HELD:
        return "not broken: its holder sets it again each time";
    default:
        return "too few masters answered: the others may still have it";
    }
}

/* ---- Before ------------------------------------------------------------- */

static void show_life(struct text *out, const struct breakage *breakage)
{
    char span[DURATION_SIZE];
    if (breakage->alive)
        text_format(out, "its holder is ALIVE: it renewed the lock during the look");
    else if (breakage->watched)
        text_format(out, "its holder did not renew it within %s",
                    duration_show(span, breakage->looked_ms));
    else if (breakage->looked_ms > 0)
        text_format(out, "not known whether its holder is alive: no renewal was due within %s",
                    duration_show(span, breakage->looked_ms));
    else
        text_format(out, "not known whether its holder is alive");
}

static const char *had(const struct breakage *breakage)
{
    return breakage->kind == SHARE_READS        ? "read by "
           : breakage->kind == SHARE_HAS_PERMIT ? "a permit of it is held by "
                                                : "held by ";
}

static const char *had_had(const struct breakage *breakage)
{
    return breakage->kind == SHARE_READS        ? "it was read by "
           : breakage->kind == SHARE_HAS_PERMIT ? "a permit of it was held by "
                                                : "it was held by ";
}

void break_show_found(struct text *out, const struct breakage *breakage)
{
    names_show(out, breakage->options->names, 1);
    text_format(out, ": %s", had(breakage));
    holder_show(out, breakage->value);
    remaining_show(out, breakage->remaining_ms);
    text_format(out, "; ");
    show_life(out, breakage);
}

/* ---- After -------------------------------------------------------------- */

/* A holder that lives, and reaches a master that was not reached from here, may prolong the key
 * there until its own lease is over. */
static int64_t ends_within_ms(const struct breakage *breakage)
{
    return breakage->alive ? 2 * breakage->lasts_ms : breakage->lasts_ms;
}

static void show_master(struct text *out, const struct breakage *breakage, const redlock_view *view,
                        const struct broken *broken)
{
    char span[DURATION_SIZE];
    text_format(out, "  %s  ", view->node);
    if (broken->outcome == BROKEN_DELETED) {
        text_format(out, "deleted\n");
    } else if (broken->outcome == BROKEN_ABSENT) {
        text_format(out, "did not have it any more\n");
    } else if (broken->outcome == BROKEN_BACK) {
        text_format(out, "has it again: its holder renewed it\n");
    } else {
        text_shown(out, broken->why.bytes, broken->why.length);
        if (breakage->lasts_ms >= 0)
            text_format(out, "; a key there expires within %s\n",
                        duration_show(span, ends_within_ms(breakage)));
        else
            text_format(out, "; a key there has no ttl and stays\n");
    }
}

/* A holder of redlock knows the end of its lease and stops by itself; no other software does. */
static void show_may_write(struct text *out, const struct breakage *breakage)
{
    char span[DURATION_SIZE];
    const char *label = holder_split(breakage->value).label;
    text_format(out, "  ");
    if (breakage->kind == SHARE_HOLDS) {
        show_life(out, breakage);
        text_format(out, "\n  ");
    }
    text_format(out, "the process ");
    text_shown(out, label ? label : breakage->value, strlen(label ? label : breakage->value));
    text_format(out, " may still be %s ", breakage->kind == SHARE_READS ? "reading" : "writing");
    if (!holder_is_ours(breakage->value))
        text_format(out, "without an end: it is other software");
    else if (breakage->lasts_ms >= 0)
        text_format(
            out,
            "until it gets LOST: for at most %s, or if it is stopped, until it wakes. It may go on "
            "if masters that restart with older data and masters not reached are a quorum",
            duration_show(span, breakage->lasts_ms));
    else
        text_format(out, "until it gets LOST; if it is stopped, until it wakes");
    text_format(out, "\n  only a fence keeps its late writes out: man 7 redlock\n");
}

static void show_next(struct text *out, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    bool any = look_holdings(result, holdings) > 0;
    bool is_partly = any && holdings[0].masters < result->quorum;
    text_format(out, "  now %sheld by ", is_partly ? "partly " : "");
    if (any)
        holder_show(out, holdings[0].holder);
    else
        text_format(out, "nobody");
    if (is_partly)
        text_format(out, " on %u of %u masters", holdings[0].masters, result->masters);
    text_format(out, "\n");
}

void break_show(struct text *out, const struct breakage *breakage,
                const redlock_look_result *result)
{
    names_show(out, breakage->options->names, 1);
    text_format(out, ": %s; %s", text_of(breakage), had_had(breakage));
    holder_show(out, breakage->value);
    text_format(out, "\n");
    for (unsigned i = 0; i < breakage->masters; i++)
        show_master(out, breakage, result->views[i], &breakage->of[i]);
    show_may_write(out, breakage);
    show_next(out, result);
}

/* ---- As JSON ------------------------------------------------------------ */

static void node_json(struct json *json, const redlock_view *view, const struct broken *broken)
{
    static const char *const words[] = {[BROKEN_UNKNOWN] = "unknown",
                                        [BROKEN_DELETED] = "deleted",
                                        [BROKEN_ABSENT] = "absent",
                                        [BROKEN_BACK] = "back"};
    json_open(json, NULL, '{');
    json_string(json, "node", view->node);
    json_word(json, "outcome", words[broken->outcome]);
    json_filled(json, "text", broken->why.bytes);
    json_close(json, '}');
}

void break_json(struct text *out, const struct breakage *breakage,
                const redlock_look_result *result)
{
    struct json json = outcome_json(out, break_code(breakage), text_of(breakage));
    struct holding holdings[REDLOCK_MASTERS_MAX];
    bool may_last = breakage->lasts_ms >= 0 && holder_is_ours(breakage->value);
    names_json(&json, breakage->options->names, 1);
    json_string(&json, "token", breakage->value);
    json_string(&json, "label", holder_split(breakage->value).label);
    json_word(&json, "mode", share_mode(breakage->kind));
    json_known_bool(&json, "alive", breakage->alive || breakage->watched, breakage->alive);
    json_known_number(&json, "may_write_ms", may_last, breakage->lasts_ms);
    json_string(&json, "next", look_holdings(result, holdings) > 0 ? holdings[0].holder : NULL);
    json_number(&json, "masters", breakage->masters);
    json_number(&json, "quorum", breakage->quorum);
    json_open(&json, "nodes", '[');
    for (unsigned i = 0; i < breakage->masters; i++)
        node_json(&json, result->views[i], &breakage->of[i]);
    json_close(&json, ']');
    json_end(&json);
}
