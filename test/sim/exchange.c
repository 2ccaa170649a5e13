#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_users.h"
#include "client_rules.h"
#include "invariants.h"
#include "lists.h"
#include "recipes/view.h"
#include "trace.h"

#define LEFT_MOST ((INT64_C(1) << 53) / 1000) /* ms: as in lib/wire */

/* ---- what is expected ------------------------------------------------------------- */

void exchange_expect(struct shell *s, unsigned master, const struct tag *tag)
{
    struct shell_link *link = &s->links[master];
    struct pending *pending = s->spare;
    if (pending)
        s->spare = pending->next;
    else
        pending = malloc(sizeof *pending);
    *pending = (struct pending){.tag = *tag};
    if (link->first)
        link->last->next = pending;
    else
        link->first = pending;
    link->last = pending;
    link->expected++;
}

struct tag exchange_expected(struct shell *s, unsigned master)
{
    struct shell_link *link = &s->links[master];
    struct pending *pending = link->first;
    struct tag tag = pending->tag;
    link->first = pending->next;
    link->expected--;
    pending->next = s->spare;
    s->spare = pending;
    return tag;
}

/* ---- requests ----------------------------------------------------------------------- */

/* In decimal; those of a wish come behind who asks. */
uint32_t exchange_said_number(struct slice value)
{
    bool is_wish = value.length > 2 && memcmp(value.bytes, "- ", 2) == 0;
    uint32_t number = 0;
    for (size_t i = is_wish ? 2 : 0; i < value.length; i++)
        number = number * 10 + (uint32_t)(value.bytes[i] - '0');
    return is_wish ? number | SAID_AS_WISH : number;
}

bool exchange_read_arrived(struct world *w, struct model_call *call, const char *lines,
                           size_t length)
{
    const char *at = lines, *end = at + length;
    for (unsigned i = 0; at < end && i < MODEL_ARRIVALS; i++) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t one = (size_t)((line ? line : end) - at);
        call->arrived[i] = world_token(w, at, one);
        at += one + 1;
    }
    return at >= end;
}

static void fill_arrived(struct shell *s, struct model_call *call, struct slice lines)
{
    if (!exchange_read_arrived(s->world, call, lines.bytes, lines.length))
        world_violated(s->world, "latch", "client %u puts more than a latch can have",
                       s->index + 1);
}

static uint32_t token_in(struct shell *s, const char *token, size_t length)
{
    return length && token[0] ? world_token(s->world, token, length) : 0;
}

static uint32_t id_in(struct shell *s, struct slice id)
{
    return token_in(s, id.bytes, id.length);
}

static void fill_tally(struct shell *s, struct model_call *call, const struct request *request)
{
    call->open = request->tally.open;
    if (!request->channel)
        call->channel = 0;
    fill_arrived(s, call, request->tally.arrival);
    call->value = id_in(s, request->tally.id);
}

static void fill_mend(struct shell *s, struct model_call *call, const struct mend_request *mend)
{
    call->open = mend->open;
    call->parties = mend->arrivals;
    call->run = strtoull(mend->run, NULL, 16);
    call->not_after = MS(mend->ends_ms);
    fill_arrived(s, call, mend->arrived);
    call->value = id_in(s, mend->id);
}

static void fill_barrier(struct shell *s, struct model_call *call, enum request_kind kind,
                         const struct barrier_request *barrier)
{
    call->generation = barrier->generation;
    call->kept_ms = barrier->kept_ms;
    call->parties = barrier->parties;
    call->passed = barrier->passed;
    if (kind == REQUEST_ARRIVE && barrier->passed)
        barriers_decided(s->world, barrier->generation);
}

static void fill_grant(struct shell *s, struct model_call *call, const struct request *request)
{
    const struct grant_request *grant = &request->grant;
    call->permits = request_is_for_slot(request) ? grant->permits : 0;
    call->proposal = grant->proposal ? grant->proposal + s->proposals_off : 0;
}

/* The fields that only this kind carries. */
static void fill_kind(struct shell *s, struct model_call *call, const struct request *request)
{
    switch ((unsigned)request->tag.kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        call->terms = request->terms;
        break;
    case REQUEST_GRANT:
    case REQUEST_UPGRADE:
        fill_grant(s, call, request);
        break;
    case REQUEST_RAISE:
        call->fence = request->fence;
        break;
    case REQUEST_QUEUE:
        call->ticket = request->queue.ticket;
        call->permits = request_is_for_slot(request) ? request->queue.permits : 0;
        break;
    case REQUEST_RENEW:
        call->heal = request->renew.heal;
        call->not_after = request->renew.not_after;
        break;
    case REQUEST_ANNOUNCE:
    case REQUEST_UNSAY:
        call->fence = request->announce.term;
        call->number = request->announce.number;
        call->said = exchange_said_number(request->announce.value);
        break;
    case REQUEST_ASK:
        call->fence = request->ask.id;
        call->number = request->ask.least;
        call->said = exchange_said_number(request->ask.words);
        break;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        fill_barrier(s, call, request->tag.kind, &request->barrier);
        break;
    case REQUEST_TALLY:
        fill_tally(s, call, request);
        break;
    case REQUEST_MEND:
        fill_mend(s, call, &request->mend);
        break;
    case REQUEST_DROP:
        call->value = id_in(s, request->drop.id);
        call->ttl_ms = request->drop.age_ms;
        break;
    case REQUEST_AGREE:
        call->agree = lists_say(s, request->agree);
        break;
    }
}

static void fill_call(struct shell *s, struct message *message, const struct request *request)
{
    message->login = false;
    message->kill_id = request->tag.kind == REQUEST_KILL ? request->kill_id : 0;
    message->claim = request->tag.claim;
    message->is_of_another = request->tag.claim && request->tag.claim->foreign;
    message->sent_local = request->tag.sent_at;
    message->longest_ttl_ms = s->client->engine->max_ttl_ms;
    message->call =
        (struct model_call){.kind = request->tag.kind,
                            .whole = request->whole,
                            .converts = request->tag.kind == REQUEST_RENEW && request->tag.converts,
                            .value = token_in(s, request->token, request->token_length),
                            .ttl_ms = request->ttl_ms,
                            .channel = s->channel};
    struct model_call *call = &message->call;
    fill_kind(s, call, request);
    if (request->names) {
        call->count = (uint8_t)request->names->count;
        for (unsigned i = 0; i < call->count; i++)
            call->names[i] = check_name(s, names_at(request->names, i));
        for (unsigned i = 0; i < call->count; i++)
            call->modes |= (uint8_t)(request_shares(request, i) << i);
    }
    if (call->kind == REQUEST_RELEASE && s->world->asks && !model_is_slot(call->names[0])) {
        call->heard[0] = (uint8_t)wishes_of(call->names[0]);
        call->heard[1] = (uint8_t)takens_of(call->names[0]);
    }
}

struct message *exchange_ask(struct shell *s, unsigned master, const struct request *request)
{
    struct shell_link *it = &s->links[master];
    struct message *message = message_new(s->world);
    fill_call(s, message, request);
    if (request->tag.kind == REQUEST_HELLO && !it->greeted)
        it->greeted = message->login = true;
    check_sent(s, master, message, request);
    TRACE(s->world, "  client %u sends %s %s t%u%s%s to master %u", s->index + 1,
          request_name(request->tag.kind), names_text(message->call.names, message->call.count),
          message->call.value, message->call.heal ? " (heal)" : "",
          request->whole ? " (whole)" : "", master + 1);
    return message;
}

/* ---- answers -------------------------------------------------------------------------- */

void exchange_spell_run_id(char text[RUN_ID_TEXT], uint64_t run_id)
{
    snprintf(text, RUN_ID_TEXT, "%016llx", (unsigned long long)run_id);
}

struct slice exchange_spell_name(const struct shell *s, unsigned name)
{
    static char key[80];
    bool is_wish = wishes_are(name), is_taken = takens_are(name), is_work = works_are(name);
    unsigned of = is_wish    ? name - wishes_of(0)
                  : is_taken ? name - takens_of(0)
                  : is_work  ? name - works_of(0)
                             : name;
    const char *before = is_wish ? WISHES : is_taken ? TAKEN : "";
    int length = snprintf(key, sizeof key, "%s%s%c%s", before, s->world->prefix, (char)('a' + of),
                          is_work ? WORK_NAME : "");
    return (struct slice){key, (size_t)length};
}

void exchange_spell_said(const struct world *w, const struct model_said *it, int64_t left_ms,
                         struct said *said)
{
    static char value[14];
    *said = (struct said){0};
    if (!it->token)
        return;
    *said = (struct said){.term = it->term,
                          .number = it->number,
                          .token = {w->tokens[it->token].text, TOKEN_TEXT},
                          .remaining_ms = left_ms};
    if (it->value == MODEL_TAKEN)
        said->value = slice_of("taken");
    else
        said->value = (struct slice){value, (size_t)snprintf(value, sizeof value, "%s%u",
                                                             it->value & SAID_AS_WISH ? "- " : "",
                                                             it->value & ~SAID_AS_WISH)};
}

void exchange_spell_push(const struct shell *s, const struct heard *heard, struct push *push)
{
    *push = (struct push){.free_slot = -1};
    push->name = exchange_spell_name(s, heard->name);
    exchange_spell_said(s->world, &heard->said, heard->left_ms, &push->said);
}

const char *exchange_spell_parties(const struct world *w, const struct model_answer *answer)
{
    static char lines[MODEL_PARTIES * (TOKEN_MAX + 1)];
    size_t used = 0;
    lines[0] = '\0';
    for (unsigned i = 0; answer->answer == ANSWER_OPEN && i < MODEL_PARTIES; i++)
        if (answer->tokens[i])
            used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%s", used ? "\n" : "",
                                     w->tokens[answer->tokens[i]].text);
    return lines;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *exchange_spell_arrived(const struct world *w, const struct model_latch *latch)
{
    static char lines[MODEL_ARRIVALS * (TOKEN_MAX + 1)];
    const char *texts[MODEL_ARRIVALS];
    unsigned count = 0;
    size_t used = 0;
    for (; count < MODEL_ARRIVALS && latch->arrived[count]; count++)
        texts[count] = w->tokens[latch->arrived[count]].text;
    qsort(texts, count, sizeof *texts, by_text);
    lines[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        used +=
            (size_t)snprintf(lines + used, sizeof lines - used, "%s%s", i ? "\n" : "", texts[i]);
    return lines;
}

static struct latch_reply read_latch(const struct world *w, const struct model_answer *answer)
{
    const struct model_latch *latch = &answer->latch;
    return (struct latch_reply){.id = slice_of(w->tokens[latch->id].text),
                                .arrivals = (uint16_t)latch->of,
                                .ends_ms = latch->ends_ms,
                                .remaining_ms = answer->remaining_ms,
                                .age = answer->clock,
                                .arrived = slice_of(exchange_spell_arrived(w, latch))};
}

/* As lib/wire reads it. */
static int64_t remaining(int64_t pttl)
{
    int64_t most = pttl < LEFT_MOST ? pttl : LEFT_MOST;
    return pttl == -1 ? -2 : pttl == -2 ? -1 : most;
}

static void fill_hello(const struct model_answer *answer, struct hello *hello)
{
    *hello = (struct hello){.role = "master",
                            .version = "7.0.15",
                            .uptime_s = answer->uptime_s,
                            .time = answer->time,
                            .abstains = answer->abstains,
                            .max_ttl_ms = answer->max_ttl_ms,
                            .age = answer->age,
                            .clock = answer->clock};
    exchange_spell_run_id(hello->run_id, answer->run_id);
}

static bool are_all_foreign(const struct world *w, const struct model_answer *answer)
{
    bool all = answer->holder_count > 0;
    for (unsigned i = 0; i < answer->holder_count; i++)
        all &= answer->holders[i] != MODEL_MARK && w->tokens[answer->holders[i]].foreign;
    return all;
}

static struct peek_reply read_peek(const struct world *w, const struct model_answer *answer)
{
    return (struct peek_reply){.value = slice_of(answer->value == MODEL_MARK ? REDLOCK_READERS
                                                 : answer->value == MODEL_SLOTS_OUT
                                                     ? PERMITS
                                                     : w->tokens[answer->value].text),
                               .remaining_ms = remaining(answer->remaining_ms),
                               .reading = answer->readers,
                               .permits = (uint16_t)answer->permits};
}

static struct heed_reply read_heed(const struct world *w, const struct model_answer *answer)
{
    return (struct heed_reply){
        .value = slice_of(answer->value == MODEL_MARK ? READERS : w->tokens[answer->value].text),
        .remaining_ms = remaining(answer->remaining_ms),
        .waiting = answer->position,
        .heeding = answer->counted};
}

static struct queue_reply read_queue(const struct world *w, const struct model_answer *answer)
{
    return (struct queue_reply){.slots = {(int16_t)answer->free_slot, (int16_t)answer->next_slot},
                                .position = answer->position,
                                .remaining_ms = remaining(answer->remaining_ms),
                                .foreign = are_all_foreign(w, answer) != answer->belies_holder};
}

static struct barrier_reply read_barrier(const struct world *w, const struct model_answer *answer)
{
    return (struct barrier_reply){.parties = (uint16_t)answer->parties,
                                  .counted = answer->counted,
                                  .tokens = slice_of(exchange_spell_parties(w, answer)),
                                  .latest = answer->answer == ANSWER_OVER ? answer->latest : 0};
}

static bool is_refusal(enum answer answer)
{
    return answer == ANSWER_ERROR || answer == ANSWER_NOSCRIPT;
}

/* The words beside the answer. */
static void read_details(const struct world *w, const struct message *message, struct hello *hello,
                         struct reply *reply)
{
    const struct model_answer *answer = &message->answer;
    switch (reply->tag.kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        if (answer->answer != ANSWER_HELLO)
            break;
        fill_hello(answer, hello);
        reply->hello = hello;
        break;
    case REQUEST_GRANT:
        if (answer->answer == ANSWER_HELD)
            reply->grant =
                (struct slots_reply){(int16_t)answer->free_slot, (int16_t)answer->next_slot};
        break;
    case REQUEST_QUEUE:
        if (answer->answer == ANSWER_QUEUED)
            reply->queue = read_queue(w, answer);
        break;
    case REQUEST_RENEW:
        reply->master_time = answer->time;
        break;
    case REQUEST_PEEK:
        if (answer->answer == ANSWER_HELD)
            reply->peek = read_peek(w, answer);
        break;
    case REQUEST_ASK:
        if (answer->answer == ANSWER_HELD)
            reply->heed = read_heed(w, answer);
        break;
    case REQUEST_OBSERVE:
        if (answer->answer == ANSWER_YES)
            exchange_spell_said(w, &answer->said, answer->remaining_ms, &reply->said);
        break;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        if (!is_refusal(answer->answer))
            reply->barrier = read_barrier(w, answer);
        break;
    case REQUEST_TALLY:
    case REQUEST_MEND:
        if (answer->answer == ANSWER_YES || answer->answer == ANSWER_OPEN)
            reply->latch = read_latch(w, answer);
        break;
    case REQUEST_AGREE:
        if (answer->answer == ANSWER_YES && message->call.agree)
            reply->lists = lists_spell(message->call.agree, answer->time);
        break;
    default:
        break;
    }
}

void exchange_read(const struct world *w, const struct message *message, const struct tag *tag,
                   struct hello *hello, struct reply *reply)
{
    const struct model_answer *answer = &message->answer;
    reply_begin(reply, tag);
    reply->answer = answer->answer;
    if (request_has_clock(tag->kind))
        reply->clock = answer->clock;
    if (answer->error)
        reply->text = slice_of(answer->error);
    read_details(w, message, hello, reply);
}

void exchange_hear(struct shell *s, unsigned master, const struct message *message,
                   const struct reply *reply)
{
    check_heard(s, master, message);
    TRACE(s->world, "  client %u hears from master %u: %s %s t%u: %s", s->index + 1, master + 1,
          request_name(reply->tag.kind), names_text(message->call.names, message->call.count),
          message->call.value, answer_name(reply->answer));
}
