#include "answer.h"

#include <string.h>

#include "json.h"
#include "permits.h"
#include "readers.h"

#define WAITERS_TOLD 16 /* the waiters whose labels the library gives */

/* ---- What it means ------------------------------------------------------ */

static unsigned count_answers(const redlock_event *event)
{
    unsigned answered = 0;
    for (unsigned i = 0; i < event->masters; i++) {
        redlock_vote_kind kind = event->votes[i].kind;
        answered += kind == REDLOCK_VOTE_HELD || kind == REDLOCK_VOTE_FREE;
    }
    return answered;
}

/* The marker alone may be of other software, or what is left where somebody deleted the readers. */
static bool is_shared(const redlock_event *event, const struct holding *holding)
{
    return is_marker(holding->holder) && votes_readers(event).count > 0;
}

static const char *held_state(const redlock_event *event, const struct holding *holding)
{
    if (is_of_permits(holding->holder) && votes_permits(event).count > 0)
        return "permits";
    return is_shared(event, holding) ? "shared" : "held";
}

struct answer answer_judge(const redlock_event *event)
{
    struct answer answer = {.answered = count_answers(event)};
    answer.count = votes_holdings(event, answer.holdings);
    if (event->code != REDLOCK_OK)
        answer.state = "unknown";
    else if (answer.count == 0)
        answer.state = "free";
    else if (answer.holdings[0].masters >= event->quorum && answer.holdings[0].holder)
        answer.state = held_state(event, &answer.holdings[0]);
    else
        answer.state = "partly held";
    return answer;
}

/* ---- How it is shown ---------------------------------------------------- */

/* ", first LABEL," */
static void show_first(struct text *out, const struct waiters *crowd)
{
    size_t first = strcspn(crowd->tokens, "\n");
    if (first > 0) {
        text_format(out, ", first ");
        who_show(out, crowd->tokens, first);
    }
    text_format(out, ",");
}

/* "3, first LABEL," behind "shared by" */
static void show_readers(struct text *out, const struct waiters *readers, bool is_shared)
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
static struct permits permits_of(const struct answer *answer, const redlock_event *event)
{
    bool are_out = answer->count > 0 && is_of_permits(answer->holdings[0].holder);
    return are_out ? votes_permits(event) : (struct permits){.holders.tokens = ""};
}

bool answer_is_whole(const redlock_event *event)
{
    for (unsigned i = 0; i < event->masters; i++)
        if (event->votes[i].kind == REDLOCK_VOTE_NONE)
            return false;
    return true;
}

bool answer_is(const struct answer *answer, const char *state)
{
    return strcmp(answer->state, state) == 0;
}

static void show_who(struct text *out, const redlock_event *event, const struct answer *answer)
{
    const char *holder = answer->holdings[0].holder;
    struct waiters readers = votes_readers(event);
    struct permits permits = permits_of(answer, event);
    if (is_of_permits(holder))
        show_permits(out, &permits);
    else if (is_marker(holder))
        show_readers(out, &readers, answer_is(answer, "shared"));
    else
        holder_show(out, holder);
}

/* The state itself is said of permits with their numbers. */
static void show_state(struct text *out, const redlock_event *event, const struct answer *answer)
{
    if (!answer_is(answer, "permits"))
        text_format(out, "%s", answer->state);
    if (answer->count > 0 && !answer_is(answer, "permits"))
        text_format(out, event->code == REDLOCK_OK ? " by " : "; held by ");
}

static void show_holding(struct text *out, const redlock_event *event, const struct answer *answer)
{
    const struct holding *holding = &answer->holdings[0];
    show_who(out, event, answer);
    text_format(out, " on %u of %u masters", holding->masters, event->masters);
    remaining_show(out, holding->remaining_ms);
    text_format(out, "%s", holding_doubt(event, holding));
}

/* Shows labels only: tokens of waiters are of no use to people. */
static void show_waiter(void *data, const char *token, size_t length)
{
    struct text *out = data;
    text_format(out, "%s", out->length > 0 ? ", " : "");
    who_show(out, token, length);
}

/* `one` and `many`: what they do. */
static void show_crowd(struct text *out, struct waiters crowd, const char *one, const char *many)
{
    struct text who = {0};
    if (crowd.count == 0)
        return;
    waiters_each(&crowd, show_waiter, &who);
    text_format(out, "  %u %s: %s%s\n", crowd.count, crowd.count == 1 ? one : many,
                who.length > 0 ? who.bytes : "?", crowd.count > WAITERS_TOLD ? ", ..." : "");
    text_free(&who);
}

static void waiter_json(void *data, const char *token, size_t length)
{
    struct json *json = data;
    struct text value = {0};
    text_add(&value, token, length);
    json_open(json, NULL, '{');
    json_bytes(json, "token", token, length);
    json_string(json, "label", holder_split(value.bytes).label);
    json_close(json, '}');
    text_free(&value);
}

static void crowd_json(struct json *json, struct waiters crowd, const char *count, const char *list)
{
    json_number(json, count, crowd.count);
    json_open(json, list, '[');
    waiters_each(&crowd, waiter_json, json);
    json_close(json, ']');
}

static bool any_abstains(const redlock_event *event)
{
    bool any = false;
    for (unsigned i = 0; i < event->masters; i++)
        any |= event->votes[i].kind == REDLOCK_VOTE_ABSTAINS;
    return any;
}

static void show_why_unknown(struct text *out, const redlock_event *event, unsigned answered)
{
    text_format(out, "; %u of %u masters answered, %u must", answered, event->masters,
                event->quorum);
    if (any_abstains(event))
        text_format(out, "; a master that abstains may have forgotten a holder");
}

void answer_show_short(struct text *out, const redlock_name *name, const redlock_event *event)
{
    struct answer answer = answer_judge(event);
    text_shown(out, name->bytes, name->length);
    text_format(out, ": ");
    show_state(out, event, &answer);
    if (answer.count > 0)
        show_holding(out, event, &answer);
    if (event->code != REDLOCK_OK)
        show_why_unknown(out, event, answer.answered);
    text_format(out, "\n");
    show_crowd(out, votes_readers(event), "reads", "read");
    show_crowd(out, permits_of(&answer, event).holders, "has a permit", "have permits");
    show_crowd(out, votes_waiters(event), "waits", "wait");
}

void answer_show(struct text *out, const redlock_name *name, const redlock_event *event)
{
    answer_show_short(out, name, event);
    votes_table(out, event);
}

void answer_json(struct text *out, const redlock_name *name, const redlock_event *event)
{
    struct answer answer = answer_judge(event);
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_bytes(&json, "name", name->bytes, name->length);
    json_word(&json, "state", answer.state);
    json_string(&json, "code", redlock_code_name(event->code));
    json_string(&json, "text", event->text);
    holder_json(&json, answer.count > 0 ? answer.holdings[0].holder : NULL);
    json_number(&json, "on", answer.count > 0 ? answer.holdings[0].masters : 0);
    remaining_json(&json, answer.count > 0 ? answer.holdings[0].remaining_ms : -1);
    crowd_json(&json, votes_readers(event), "reading", "readers");
    json_number(&json, "permits", permits_of(&answer, event).count);
    crowd_json(&json, permits_of(&answer, event).holders, "out", "holders");
    crowd_json(&json, votes_waiters(event), "waiting", "waiters");
    json_number(&json, "answered", answer.answered);
    votes_json(&json, event);
    json_close(&json, '}');
}

/* ---- What changes ------------------------------------------------------------ */

#define UNHEARD '?' /* it was not waited for */

static char mark_of(const redlock_vote *vote, const char *holder)
{
    if (vote->kind == REDLOCK_VOTE_NONE)
        return UNHEARD;
    bool agrees = vote->kind == REDLOCK_VOTE_HELD && holder && vote->holder &&
                  strcmp(vote->holder, holder) == 0;
    return agrees ? '=' : (char)('a' + vote->kind);
}

/* Who is unheard would else seem to change.  What was printed stands, unless somebody says
 * otherwise, or fewer are unheard now: then more masters may be told of. */
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

void answer_mark(struct text *out, const struct text *before, const redlock_event *event)
{
    struct answer answer = answer_judge(event);
    struct permits permits = permits_of(&answer, event);
    const struct waiters crowds[] = {votes_readers(event), permits.holders, votes_waiters(event)};
    text_format(out, "%s %u", answer.state, permits.count);
    for (unsigned i = 0; i < answer.count; i++)
        text_format(out, " %s", answer.holdings[i].holder ? answer.holdings[i].holder : "?");
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++)
        text_format(out, "\n%u %s", crowds[i].count, crowds[i].tokens);
    text_format(out, "\n");
    for (unsigned i = 0; i < event->masters; i++) {
        char mark = mark_of(&event->votes[i], answer.count > 0 ? answer.holdings[0].holder : NULL);
        text_add(out, &mark, 1);
    }
    keep_unheard(out, before, event->masters);
}
