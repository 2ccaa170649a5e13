#include "answer.h"

#include <string.h>

#include "crowds.h"
#include "duration.h"
#include "json.h"
#include "permits.h"

#define WAITERS_TOLD 16 /* the waiters whose labels the library gives */

/* ---- What it means ------------------------------------------------------ */

static unsigned count_answers(const redlock_look_result *result)
{
    unsigned answered = 0;
    for (unsigned i = 0; i < result->masters; i++) {
        redlock_vote_kind kind = result->views[i]->kind;
        answered += kind == REDLOCK_VOTE_HELD || kind == REDLOCK_VOTE_FREE;
    }
    return answered;
}

/* The marker alone may be of other software, or what is left where somebody deleted the readers. */
static bool is_shared(const redlock_look_result *result, const struct holding *holding)
{
    return is_marker(holding->holder) && look_readers(result).count > 0;
}

static const char *held_state(const redlock_look_result *result, const struct holding *holding)
{
    if (is_of_permits(holding->holder) && look_permits(result).count > 0)
        return "permits";
    return is_shared(result, holding) ? "shared" : "held";
}

struct answer answer_judge(const redlock_look_result *result)
{
    struct answer answer = {.answered = count_answers(result)};
    answer.count = look_holdings(result, answer.holdings);
    if (result->code != REDLOCK_OK)
        answer.state = "unknown";
    else if (answer.count == 0)
        answer.state = "free";
    else if (answer.holdings[0].masters >= result->quorum && answer.holdings[0].holder)
        answer.state = held_state(result, &answer.holdings[0]);
    else
        answer.state = "partly held";
    return answer;
}

/* ---- How it is shown ---------------------------------------------------- */

/* ", first LABEL," */
static void show_first(struct text *out, const redlock_crowd *crowd)
{
    if (crowd->told > 0) {
        text_format(out, ", first ");
        who_show(out, crowd->tokens[0]);
    }
    text_format(out, ",");
}

/* "3, first LABEL," behind "shared by" */
static void show_readers(struct text *out, const redlock_crowd *readers, bool is_shared)
{
    if (is_shared)
        text_format(out, "%u", readers->count);
    else
        readers_show(out, readers->count);
    show_first(out, readers);
}

/* "2 of 4 permits, first LABEL," */
static void show_permits(struct text *out, const struct permits *permits)
{
    permits_show(out, permits->holders.count, permits->count);
    show_first(out, &permits->holders);
}

/* Masters on which nobody has a name that is held elsewhere tell of its permits. */
static struct permits permits_of(const struct answer *answer, const redlock_look_result *result)
{
    bool are_out = answer->count > 0 && is_of_permits(answer->holdings[0].holder);
    return are_out ? look_permits(result) : (struct permits){0};
}

bool answer_is_whole(const redlock_look_result *result)
{
    for (unsigned i = 0; i < result->masters; i++)
        if (result->views[i]->kind == REDLOCK_VOTE_NONE)
            return false;
    return true;
}

bool answer_is(const struct answer *answer, const char *state)
{
    return strcmp(answer->state, state) == 0;
}

static void show_who(struct text *out, const redlock_look_result *result,
                     const struct answer *answer)
{
    const char *holder = answer->holdings[0].holder;
    redlock_crowd readers = look_readers(result);
    struct permits permits = permits_of(answer, result);
    if (is_of_permits(holder))
        show_permits(out, &permits);
    else if (is_marker(holder))
        show_readers(out, &readers, answer_is(answer, "shared"));
    else
        holder_show(out, holder);
}

/* The state itself is said of permits with their numbers. */
static void show_state(struct text *out, const redlock_look_result *result,
                       const struct answer *answer)
{
    if (!answer_is(answer, "permits"))
        text_format(out, "%s", answer->state);
    if (answer->count > 0 && !answer_is(answer, "permits"))
        text_format(out, result->code == REDLOCK_OK ? " by " : "; held by ");
}

static void show_holding(struct text *out, const redlock_look_result *result,
                         const struct answer *answer)
{
    const struct holding *holding = &answer->holdings[0];
    show_who(out, result, answer);
    text_format(out, " on %u of %u masters", holding->masters, result->masters);
    remaining_show(out, holding->remaining_ms);
    text_format(out, "%s", holding_doubt(holding, result->spare));
}

/* Shows labels only: tokens of waiters are of no use to people.  `one` and `many`: what they do. */
static void show_crowd(struct text *out, redlock_crowd crowd, const char *one, const char *many)
{
    struct text who = {0};
    if (crowd.count == 0)
        return;
    for (size_t i = 0; i < crowd.told; i++) {
        text_format(&who, "%s", i > 0 ? ", " : "");
        who_show(&who, crowd.tokens[i]);
    }
    text_format(out, "  %u %s: %s%s\n", crowd.count, crowd.count == 1 ? one : many,
                who.length > 0 ? who.bytes : "?", crowd.count > WAITERS_TOLD ? ", ..." : "");
    text_free(&who);
}

static void crowd_json(struct json *json, redlock_crowd crowd, const char *count, const char *list)
{
    json_number(json, count, crowd.count);
    json_open(json, list, '[');
    for (size_t i = 0; i < crowd.told; i++) {
        json_open(json, NULL, '{');
        json_string(json, "token", crowd.tokens[i]);
        json_string(json, "label", holder_split(crowd.tokens[i]).label);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static bool any_abstains(const redlock_look_result *result)
{
    bool any = false;
    for (unsigned i = 0; i < result->masters; i++)
        any |= result->views[i]->kind == REDLOCK_VOTE_ABSTAINS;
    return any;
}

static void show_why_unknown(struct text *out, const redlock_look_result *result, unsigned answered)
{
    text_format(out, "; %u of %u masters answered, %u must", answered, result->masters,
                result->quorum);
    if (any_abstains(result))
        text_format(out, "; a master that abstains may have forgotten a holder");
}

void answer_show_short(struct text *out, const redlock_name *name,
                       const redlock_look_result *result)
{
    struct answer answer = answer_judge(result);
    text_shown(out, name->bytes, name->length);
    text_format(out, ": ");
    show_state(out, result, &answer);
    if (answer.count > 0)
        show_holding(out, result, &answer);
    if (result->code != REDLOCK_OK)
        show_why_unknown(out, result, answer.answered);
    text_format(out, "\n");
    show_crowd(out, look_readers(result), "reads", "read");
    show_crowd(out, permits_of(&answer, result).holders, "has a permit", "have permits");
    show_crowd(out, look_waiters(result), "waits", "wait");
}

static int node_width(const redlock_look_result *result)
{
    size_t width = 0;
    for (unsigned i = 0; i < result->masters; i++) {
        size_t length = strlen(result->views[i]->node);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void show_held(struct text *out, const redlock_view *view)
{
    char span[DURATION_SIZE] = "?";
    if (view->remaining_ms >= 0)
        duration_show(span, view->remaining_ms);
    else if (view->remaining_ms == -2)
        strcpy(span, "for ever");
    text_format(out, "held   %-10s ", span);
    if (is_marker(view->holder))
        readers_show(out, view->readers.count);
    else if (is_of_permits(view->holder))
        permits_show(out, view->permits_out.count, view->permits);
    else
        holder_show(out, view->holder);
}

/* One indented line for each master. */
static void show_views(struct text *out, const redlock_look_result *result)
{
    int width = node_width(result);
    struct seen seen;
    look_as_event(result, &seen);
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        text_format(out, "  %-*s  ", width, view->node);
        if (view->kind == REDLOCK_VOTE_HELD)
            show_held(out, view);
        else if (view->kind == REDLOCK_VOTE_NONE)
            text_format(out, "not waited for");
        else if (!vote_explain(out, &seen.votes[i]))
            text_format(out, "%s", redlock_vote_name(view->kind));
        text_format(out, "\n");
        votes_show_remedy(out, &seen.event, i);
    }
}

void answer_show(struct text *out, const redlock_name *name, const redlock_look_result *result)
{
    answer_show_short(out, name, result);
    show_views(out, result);
}

void answer_json(struct text *out, const redlock_name *name, const redlock_look_result *result)
{
    struct answer answer = answer_judge(result);
    struct json json = {.out = out};
    struct seen seen;
    look_as_event(result, &seen);
    json_open(&json, NULL, '{');
    json_bytes(&json, "name", name->bytes, name->length);
    json_word(&json, "state", answer.state);
    json_string(&json, "code", redlock_code_name(result->code));
    json_string(&json, "text", result->text);
    holder_json(&json, answer.count > 0 ? answer.holdings[0].holder : NULL);
    json_number(&json, "on", answer.count > 0 ? answer.holdings[0].masters : 0);
    remaining_json(&json, answer.count > 0 ? answer.holdings[0].remaining_ms : -1);
    crowd_json(&json, look_readers(result), "reading", "readers");
    json_number(&json, "permits", permits_of(&answer, result).count);
    crowd_json(&json, permits_of(&answer, result).holders, "out", "holders");
    crowd_json(&json, look_waiters(result), "waiting", "waiters");
    json_number(&json, "answered", answer.answered);
    votes_json(&json, &seen.event);
    json_close(&json, '}');
}

/* ---- What changes ------------------------------------------------------------ */

#define UNHEARD '?' /* it was not waited for */

static char mark_of(const redlock_view *view, const char *holder)
{
    if (view->kind == REDLOCK_VOTE_NONE)
        return UNHEARD;
    bool agrees = view->kind == REDLOCK_VOTE_HELD && holder && view->holder &&
                  strcmp(view->holder, holder) == 0;
    return agrees ? '=' : (char)('a' + view->kind);
}

/* A master that is not heard must not look like a change.  The last line stands unless a master
 * contradicts it, or fewer masters are unheard now: then there is more to print. */
static void keep_unheard(struct text *mark, const struct text *before, unsigned masters)
{
    size_t votes = mark->length - masters;
    unsigned unheard = 0, unheard_before = 0;
    if (before->length != mark->length || memcmp(mark->bytes, before->bytes, votes) != 0)
        return;
    for (size_t i = votes; i < mark->length; i++) {
        char now = mark->bytes[i], then = before->bytes[i];
        unheard += now == UNHEARD;
        unheard_before += then == UNHEARD;
        if (now != UNHEARD && then != UNHEARD && now != then)
            return;
    }
    if (unheard >= unheard_before)
        memcpy(mark->bytes, before->bytes, mark->length);
}

static void mark_crowd(struct text *out, const redlock_crowd *crowd)
{
    text_format(out, "\n%u", crowd->count);
    for (size_t i = 0; i < crowd->told; i++)
        text_format(out, "\n%s", crowd->tokens[i]);
}

void answer_mark(struct text *out, const struct text *before, const redlock_look_result *result)
{
    struct answer answer = answer_judge(result);
    struct permits permits = permits_of(&answer, result);
    const redlock_crowd crowds[] = {look_readers(result), permits.holders, look_waiters(result)};
    text_format(out, "%s %u", answer.state, permits.count);
    for (unsigned i = 0; i < answer.count; i++)
        text_format(out, " %s", answer.holdings[i].holder ? answer.holdings[i].holder : "?");
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++)
        mark_crowd(out, &crowds[i]);
    text_format(out, "\n");
    for (unsigned i = 0; i < result->masters; i++) {
        char mark = mark_of(result->views[i], answer.count > 0 ? answer.holdings[0].holder : NULL);
        text_add(out, &mark, 1);
    }
    keep_unheard(out, before, result->masters);
}
