#include "client_shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invariants.h"
#include "mutants.h"
#include "trace.h"
#include "user.h"

#define PUMP_ROUNDS       64
#define DEADLINES_A_ROUND 1024
#define LATE              MS(20)
#define HOUR              (3600 * MS(1000))
#define STUMBLES          12 /* per mille of the places where a process may not be run for a while */

usec shell_now(const struct shell *s)
{
    return clock_read(&s->clock, s->world->now);
}

bool shell_is_stopped(const struct shell *s)
{
    return s->world->now < s->stopped_until;
}

/* ---- memory ------------------------------------------------------------------ */

static void *take(void *pool, size_t size)
{
    struct account *account = pool;
    if (account->fail_permille && chance_permille(&account->chance, account->fail_permille))
        return NULL;
    account->blocks++;
    account->bytes += (int64_t)size;
    return calloc(1, size);
}

static void give(void *pool, void *block, size_t size)
{
    struct account *account = pool;
    account->blocks--;
    account->bytes -= (int64_t)size;
    free(block);
}

/* ---- random bytes, lent as lib/io/system.c lends them --------------------------- */

static struct randomness lend(struct shell *s)
{
    if (s->random_left < RANDOMNESS_PER_STEP) {
        for (size_t i = 0; i < sizeof s->random; i += 8) {
            uint64_t word = chance_next(&s->secrets);
            for (unsigned k = 0; k < 8; k++)
                s->random[i + k] = (uint8_t)(word >> 8 * k);
        }
        s->random_left = sizeof s->random;
    }
    return (struct randomness){s->random + sizeof s->random - s->random_left, s->random_left};
}

static void settle(struct shell *s, struct randomness random)
{
    s->random_left = random.left;
}

/* ---- links -------------------------------------------------------------------- */

static void step(struct shell *s, const struct event *event)
{
    struct randomness random = lend(s);
    s->world->events++;
    engine_step(&s->engine, shell_now(s), &random, event);
    settle(s, random);
    check_step(s);
}

static void expect(struct shell *s, struct shell_link *link, const struct tag *tag)
{
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

static struct tag expected(struct shell *s, struct shell_link *link)
{
    struct pending *pending = link->first;
    struct tag tag = pending->tag;
    link->first = pending->next;
    link->expected--;
    pending->next = s->spare;
    s->spare = pending;
    return tag;
}

static void link_connect(struct shell *s, unsigned master)
{
    struct shell_link *link = &s->links[master];
    link->phase = LINK_CONNECTING;
    link->asked = link->greeted = false;
    link->conn = conn_new(s, s->index, master);
}

static void link_leave(struct shell *s, struct shell_link *link)
{
    if (link->conn)
        conn_leave(link->conn);
    link->conn = NULL;
    struct message *message;
    while ((message = queue_take(&link->output)))
        message_free(s->world, message);
    link->phase = LINK_ENDING;
}

static void link_close(struct shell *s, unsigned master)
{
    struct shell_link *link = &s->links[master];
    if (link->phase == LINK_CLOSED || link->phase == LINK_ENDING)
        return;
    link->asked = true;
    link_leave(s, link);
}

static void fill_call(struct shell *s, struct message *message, const struct request *request)
{
    message->login = false;
    message->kill_id = request->kill_id;
    message->sent_local = request->tag.sent_at;
    message->longest_ttl_ms = s->engine.max_ttl_ms;
    message->call = (struct model_call){
        .kind = request->tag.kind,
        .whole = request->whole,
        .heal = request->heal,
        .ttl_ms = request->ttl_ms,
        .not_after = request->not_after,
        .proposal = request->proposal ? request->proposal + s->proposals_off : 0,
        .fence = request->fence,
        .ticket = request->ticket,
        .channel = s->channel,
        .terms = request->terms};
    struct model_call *call = &message->call;
    if (request->names) {
        call->count = (uint8_t)request->names->count;
        for (unsigned i = 0; i < call->count; i++)
            call->names[i] = (uint8_t)((uint8_t)names_at(request->names, i).bytes[0] - 'a');
    }
    if (request->token_length && request->token[0])
        call->value = world_token(s->world, request->token, request->token_length);
}

/* The mutant that sends a release on a connection of its own. */
static void send_aside(struct shell *s, unsigned master, struct message *message)
{
    struct model_answer answer;
    net_execute(s->world, master, &message->call, &answer);
    message->call.value = UINT32_MAX; /* nothing is left for this one to do */
}

static void link_send(struct shell *s, unsigned master, const struct request *request)
{
    struct shell_link *link = &s->links[master];
    expect(s, link, &request->tag);
    if (link->phase != LINK_UP)
        return;
    struct message *message = message_new(s->world);
    fill_call(s, message, request);
    if (request->tag.kind == REQUEST_HELLO && !link->greeted)
        link->greeted = message->login = true;
    check_sent(s, master, message, request);
    TRACE(s->world, "  client %u sends %s %s t%u%s%s to master %u", s->index + 1,
          request_name(request->tag.kind), names_text(message->call.names, message->call.count),
          message->call.value, request->heal ? " (heal)" : "", request->whole ? " (whole)" : "",
          master + 1);
    if (MUTANT(RELEASE_OVERTAKES) && request->tag.kind == REQUEST_RELEASE)
        send_aside(s, master, message);
    queue_add(&link->output, message);
}

static void link_flush(struct shell_link *link)
{
    struct message *message;
    while (link->phase == LINK_UP && (message = queue_take(&link->output)))
        conn_send(link->conn, message);
}

#define RUN_ID_TEXT 20

static void spell_run_id(char text[RUN_ID_TEXT], uint64_t run_id)
{
    snprintf(text, RUN_ID_TEXT, "%016llx", (unsigned long long)run_id);
}

static void fill_reply(const struct shell *s, const struct message *message, const struct tag *tag,
                       struct hello *hello, struct reply *reply)
{
    const struct model_answer *answer = &message->answer;
    *reply = (struct reply){.tag = *tag,
                            .answer = answer->answer,
                            .remaining_ms = -1,
                            .master_time = answer->time,
                            .clock = tag->kind == REQUEST_HELLO ? 0 : answer->clock,
                            .position = answer->position,
                            .text = answer->error};
    if (answer->error)
        reply->text_length = strlen(answer->error);
    if (answer->answer == ANSWER_HELD && tag->kind == REQUEST_PEEK) {
        reply->remaining_ms = answer->remaining_ms == -1 ? -2 : answer->remaining_ms;
        reply->text = s->world->tokens[answer->value].text;
        reply->text_length = strlen(reply->text);
    }
    if (answer->answer == ANSWER_QUEUED)
        reply->remaining_ms = answer->remaining_ms == -1   ? -2
                              : answer->remaining_ms == -2 ? -1
                                                           : answer->remaining_ms;
    if (answer->answer != ANSWER_HELLO)
        return;
    *hello = (struct hello){.role = "master",
                            .version = "7.0.15",
                            .uptime_s = answer->uptime_s,
                            .time = answer->time,
                            .abstains = answer->abstains,
                            .max_ttl_ms = answer->max_ttl_ms,
                            .age = answer->age,
                            .clock = answer->clock};
    spell_run_id(hello->run_id, answer->run_id);
    reply->hello = hello;
}

static bool deliver_reply(struct shell *s, unsigned master)
{
    struct shell_link *link = &s->links[master];
    struct message *message = queue_take(&link->conn->readable);
    if (!message)
        return false;
    struct tag tag = expected(s, link);
    struct hello hello;
    struct reply reply;
    fill_reply(s, message, &tag, &hello, &reply);
    if (message->login)
        hello.client_id = link->conn->id;
    check_heard(s, master, message);
    TRACE(s->world, "  client %u hears from master %u: %s %s t%u: %s", s->index + 1, master + 1,
          request_name(tag.kind), names_text(message->call.names, message->call.count),
          message->call.value, answer_name(reply.answer));
    message_free(s->world, message);
    step(s, &(struct event){.kind = EVENT_REPLY, .master = master, .reply = &reply});
    return true;
}

static void link_read(struct shell *s, unsigned master)
{
    struct shell_link *link = &s->links[master];
    if (link->phase == LINK_CONNECTING && link->conn->established) {
        link->phase = LINK_UP;
        step(s, &(struct event){.kind = EVENT_CONNECTED, .master = master});
    }
    while (link->phase == LINK_UP && deliver_reply(s, master))
        ;
    if ((link->phase == LINK_UP || link->phase == LINK_CONNECTING) && link->conn->broken)
        link_leave(s, link);
}

static void ears_read(struct shell *s, unsigned master)
{
    struct heard heard;
    while (ear_read(s, master, &heard)) {
        char token[TOKEN_TEXT + 1];
        struct push push = {.token = token, .token_length = TOKEN_TEXT, .clock = heard.clock};
        if (heard.kind == EVENT_PUSH) {
            memcpy(token, s->world->tokens[heard.token].text, sizeof token);
            TRACE(s->world, "  client %u is told by master %u that t%u was given it%s",
                  s->index + 1, master + 1, heard.token, clock_text(heard.clock));
        }
        char run_id[RUN_ID_TEXT];
        spell_run_id(run_id, heard.run_id);
        step(s,
             &(struct event){.kind = heard.kind, .master = master, .push = &push, .text = run_id});
    }
}

static bool link_pump(struct shell *s, unsigned master)
{
    static const char why[] = "the connection broke";
    struct shell_link *link = &s->links[master];
    if (link->phase != LINK_ENDING)
        return false;
    while (link->first) {
        struct reply lost = {.tag = expected(s, link),
                             .answer = ANSWER_LOST,
                             .remaining_ms = -1,
                             .text = why,
                             .text_length = sizeof why - 1};
        step(s, &(struct event){.kind = EVENT_REPLY, .master = master, .reply = &lost});
    }
    link->phase = LINK_CLOSED;
    TRACE(s->world, "  client %u has lost its connection to master %u", s->index + 1, master + 1);
    step(s,
         &(struct event){.kind = EVENT_CLOSED, .master = master, .text = link->asked ? NULL : why});
    return true;
}

/* ---- queues, as in lib/client.c --------------------------------------------------- */

static void queue_asked(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    if (lease->asked)
        return;
    lease->asked = true;
    lease->next_asked = NULL;
    if (s->asked_first)
        s->asked_last->next_asked = lease;
    else
        s->asked_first = lease;
    s->asked_last = lease;
}

static void queue_untold(struct shell *s, struct user_lease *lease)
{
    if (lease->untold)
        return;
    lease->untold = true;
    lease->prev_untold = s->untold_first ? s->untold_last : NULL;
    lease->next_untold = NULL;
    if (s->untold_first)
        s->untold_last->next_untold = lease;
    else
        s->untold_first = lease;
    s->untold_last = lease;
}

static void unqueue_untold(struct shell *s, struct user_lease *lease)
{
    if (!lease->untold)
        return;
    lease->untold = false;
    if (lease->prev_untold)
        lease->prev_untold->next_untold = lease->next_untold;
    else
        s->untold_first = lease->next_untold;
    if (lease->next_untold)
        lease->next_untold->prev_untold = lease->prev_untold;
    else
        s->untold_last = lease->prev_untold;
}

static void emit(void *shell, const struct effect *effect)
{
    struct shell *s = shell;
    switch (effect->kind) {
    case EFFECT_CONNECT:
        link_connect(s, effect->master);
        break;
    case EFFECT_DISCONNECT:
        link_close(s, effect->master);
        break;
    case EFFECT_SEND:
        link_send(s, effect->master, effect->request);
        break;
    case EFFECT_LISTEN:
        ear_open(s, effect->master);
        break;
    case EFFECT_PROBE:
        ear_probe(s, effect->master);
        break;
    case EFFECT_DEAFEN:
        ear_close(s, effect->master);
        break;
    case EFFECT_TELL:
        queue_untold(s, (struct user_lease *)(void *)effect->lease);
        break;
    case EFFECT_READY:
        if (s->ready_told)
            world_violated(s->world, "once", "client %u was told twice that it is ready",
                           s->index + 1);
        s->ready = s->ready_told = true;
        break;
    case EFFECT_CLOSED:
        if (s->closed)
            world_violated(s->world, "once", "client %u was told twice that it is closed",
                           s->index + 1);
        s->closed = true;
        TRACE(s->world, "client %u is closed", s->index + 1);
        break;
    case EFFECT_NOTICE:
        break;
    }
}

/* ---- the user's calls ---------------------------------------------------------------- */

void shell_ask(struct user_lease *lease, enum operation operation)
{
    lease->operations |= (uint8_t)operation;
    queue_asked(lease);
}

struct user_lease *shell_lease(struct shell *s, const uint8_t *names, unsigned count,
                               const struct terms *terms, const char *token)
{
    char spelled[MODEL_NAMES];
    struct slice slices[MODEL_NAMES];
    for (unsigned i = 0; i < count; i++) {
        spelled[i] = (char)('a' + names[i]); /* a byte, not always a letter */
        slices[i] = (struct slice){&spelled[i], 1};
    }
    struct names *copy = names_new(&s->engine.memory, (struct slice){"", 0}, slices, count);
    struct user_lease *lease = calloc(1, sizeof *lease);
    bool made =
        copy && lease_init(&s->engine, &lease->core, copy, terms, token, token ? strlen(token) : 0);
    if (copy)
        names_drop(&s->engine.memory, copy);
    if (!made) {
        free(lease);
        return NULL;
    }
    lease->shell = s;
    lease->number = ++s->world->leases_made;
    s->leases_made++;
    lease->count = (uint8_t)count;
    memcpy(lease->names, names, count);
    lease->by_token = token != NULL;
    lease->began = s->world->now;
    lease->next_all = s->all;
    if (s->all)
        s->all->prev_all = lease;
    s->all = lease;
    return lease;
}

static void free_lease(struct shell *s, struct user_lease *lease)
{
    if (lease->prev_all)
        lease->prev_all->next_all = lease->next_all;
    else
        s->all = lease->next_all;
    if (lease->next_all)
        lease->next_all->prev_all = lease->prev_all;
    check_freed(lease);
    free(lease);
}

bool shell_is_held(const struct user_lease *lease)
{
    return !(lease->operations & (OP_RELEASE | OP_FREE | OP_DETACH)) &&
           lease_valid_until(&lease->core) > shell_now(lease->shell);
}

bool shell_extend(struct user_lease *lease, usec ttl)
{
    if (!shell_is_held(lease) || lease_is_extending(&lease->core) || lease->operations & OP_EXTEND)
        return false;
    lease->extend_ttl = ttl;
    lease->extends++;
    shell_ask(lease, OP_EXTEND);
    return true;
}

bool shell_release(struct user_lease *lease)
{
    if (lease->ended || lease->released)
        return false;
    lease->released = true;
    shell_ask(lease, OP_RELEASE);
    return true;
}

static void forget(struct user_lease *lease, enum operation operation)
{
    if (lease->shell->telling == lease)
        lease->shell->telling = NULL;
    shell_ask(lease, operation);
}

bool shell_detach(struct user_lease *lease)
{
    if (!shell_is_held(lease))
        return false;
    forget(lease, OP_DETACH);
    return true;
}

void shell_lease_free(struct user_lease *lease)
{
    forget(lease, OP_FREE);
}

void shell_close(struct shell *s, usec patience)
{
    if (s->close_asked)
        return;
    s->close_asked = true;
    s->close_by = shell_now(s) + patience;
    s->close_since = s->world->now;
}

static void carry_out(struct shell *s, struct user_lease *lease)
{
    static const struct {
        enum operation operation;
        enum event_kind event;
    } order[] = {{OP_ACQUIRE, EVENT_ACQUIRE}, {OP_INSPECT, EVENT_INSPECT},
                 {OP_EXTEND, EVENT_EXTEND},   {OP_RELEASE, EVENT_RELEASE},
                 {OP_DETACH, EVENT_DETACH},   {OP_FREE, EVENT_ABANDON}};
    unsigned operations = lease->operations;
    lease->operations = 0;
    bool freed = operations & (OP_DETACH | OP_FREE);
    if (freed)
        operations &= OP_RELEASE | OP_DETACH | OP_FREE;
    check_asked(lease, operations);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (operations & order[i].operation)
            step(s, &(struct event){
                        .kind = order[i].event, .lease = &lease->core, .ttl = lease->extend_ttl});
    if (!freed)
        return;
    unqueue_untold(s, lease);
    free_lease(s, lease);
}

static void carry_out_those(struct shell *s, unsigned operations)
{
    struct user_lease *lease = s->asked_first, *next;
    s->asked_first = s->asked_last = NULL;
    for (; lease; lease = next) {
        next = lease->next_asked;
        lease->asked = false;
        if (lease->operations & operations)
            carry_out(s, lease);
        else
            queue_asked(lease);
    }
}

static bool carry_out_all(struct shell *s)
{
    bool any = s->asked_first || s->adopt;
    for (unsigned i = 0; s->adopt; i++) {
        if (s->adopt & 1U << i)
            step(s, &(struct event){.kind = EVENT_ADOPT, .master = i});
        s->adopt &= ~(1U << i);
    }
    carry_out_those(s, OP_RELEASE);
    while (s->asked_first)
        carry_out_those(s, ~0U);
    if (s->close_asked && !s->closing) {
        s->closing = true;
        step(s, &(struct event){.kind = EVENT_CLOSE});
        any = true;
    }
    return any;
}

/* ---- the pump ------------------------------------------------------------------------- */

static bool wake_all(struct shell *s)
{
    usec due = engine_next_deadline(&s->engine);
    for (unsigned i = 0; shell_now(s) > due && shell_now(s) - due > LATE && i < s->world->masters;
         i++) {
        link_read(s, i);
        link_pump(s, i);
        ears_read(s, i);
    }
    bool any = false;
    for (unsigned i = 0; i < DEADLINES_A_ROUND; i++) {
        if (engine_next_deadline(&s->engine) > shell_now(s))
            break;
        step(s, &(struct event){.kind = EVENT_TIMER});
        any = true;
    }
    return any;
}

/* One outcome; false when there is none left. */
static bool tell_one(struct shell *s)
{
    struct outcome outcome;
    struct user_lease *lease = s->telling;
    if (!lease) {
        lease = s->untold_first;
        if (!lease)
            return false;
        unqueue_untold(s, lease);
        s->any = true;
        if (lease->operations & (OP_FREE | OP_DETACH))
            return true;
        s->telling = lease;
    }
    struct randomness random = lend(s);
    bool told = engine_tell(&s->engine, shell_now(s), &random, &lease->core, &outcome);
    settle(s, random);
    check_step(s);
    if (!told) {
        s->telling = NULL;
        return true;
    }
    if (outcome.kind == OUTCOME_NOT_ACQUIRED || outcome.kind == OUTCOME_RELEASED ||
        outcome.kind == OUTCOME_SEEN)
        lease->ended = true;
    check_told(lease, &outcome);
    user_told(lease, &outcome);
    return true;
}

static bool tell_closed(struct shell *s)
{
    if (!s->closing || s->closed_told)
        return false;
    if (!s->closed) {
        if (shell_now(s) < s->close_by)
            return false;
        step(s, &(struct event){.kind = EVENT_GIVE_UP});
        if (s->untold_first)
            return true;
    }
    s->closed_told = true;
    s->closed_in_time = s->closed;
    check_ended(s); /* what is still owed is left to its ttl */
    return true;
}

static void set_timer(struct shell *s, bool more)
{
    usec at = more ? 0 : engine_next_deadline(&s->engine);
    if (s->closing && !s->closed_told && s->close_by < at)
        at = s->close_by;
    if (at == s->timer_at && at != 0)
        return;
    s->timer_at = at;
    s->timer_order = 0;
    if (at == NEVER)
        return;
    usec true_at = clock_when(&s->clock, at);
    if (true_at < s->world->now)
        true_at = s->world->now;
    true_at += chance_range(&s->world->chance, 0, 900); /* no loop is punctual */
    s->timer_order = s->world->order + 1;
    world_plan(s->world, true_at, HAPPENS_WAKE, s, 0);
}

/* Now and then the process is not run for a while, just here. */
static bool stumbles(struct shell *s)
{
    struct world *w = s->world;
    if (!(w->faults & 1U << FAULT_STUMBLE) || w->peace || !chance_permille(&w->chance, STUMBLES))
        return false;
    shell_pause(s, chance_range(&w->chance, 100, MS(w->max_ttl_ms) / 2));
    return true;
}

/* Writes, and says whether a link broke over it. */
static bool flush_all(struct shell *s)
{
    bool more = false;
    for (unsigned i = 0; i < s->world->masters; i++) {
        link_flush(&s->links[i]);
        more |= s->links[i].phase == LINK_ENDING;
    }
    return more;
}

static enum stage end_round(struct shell *s)
{
    s->any |= s->ready;
    s->ready = false;
    s->any |= tell_closed(s);
    if (s->any && ++s->rounds < PUMP_ROUNDS)
        return STAGE_STEP;
    if (s->any)
        world_violated(s->world, "progress", "client %u: the pump does not come to rest",
                       s->index + 1);
    return STAGE_FLUSH;
}

static enum stage run_stage(struct shell *s)
{
    unsigned masters = s->world->masters;
    switch (s->stage) {
    case STAGE_READ:
        for (unsigned i = 0; i < masters; i++) {
            link_read(s, i);
            link_pump(s, i);
            ears_read(s, i);
        }
        s->rounds = 0;
        return STAGE_STEP;
    case STAGE_STEP:
        s->any = false;
        for (unsigned i = 0; i < masters; i++)
            s->any |= link_pump(s, i);
        s->any |= carry_out_all(s);
        s->any |= wake_all(s);
        return STAGE_TELL;
    case STAGE_TELL:
        return tell_one(s) ? STAGE_TELL : end_round(s);
    default:
        s->more = flush_all(s);
        return STAGE_IDLE;
    }
}

static void pump(struct shell *s)
{
    while (s->stage != STAGE_IDLE && !s->world->violation.rule) {
        s->stage = run_stage(s);
        if (s->stage != STAGE_IDLE && stumbles(s))
            return;
    }
    if (s->closed_told || s->world->violation.rule)
        return;
    set_timer(s, s->more);
    check_idle(s);
}

void shell_pump(struct shell *s)
{
    if (!s->running || shell_is_stopped(s) || s->stage != STAGE_IDLE)
        return;
    s->stage = STAGE_READ;
    pump(s);
}

void shell_readable(struct shell *s)
{
    if (s)
        shell_pump(s);
}

void shell_pause(struct shell *s, usec how_long)
{
    struct world *w = s->world;
    if (!s->running || shell_is_stopped(s))
        return;
    TRACE(w, "client %u is stopped for %.3f ms", s->index + 1, (double)how_long / 1000);
    s->stopped_until = w->now + how_long;
    s->stopped_at_local = shell_now(s);
    s->ran_again_local = clock_read(&s->clock, s->stopped_until);
    world_plan(w, s->stopped_until, HAPPENS_RESUME, s, 0);
}

void shell_happens(struct shell *s, const struct happening *happening)
{
    if (!s->running || shell_is_stopped(s))
        return;
    if (happening->kind == HAPPENS_WAKE) {
        if (happening->order != s->timer_order)
            return;
        s->timer_at = -1;
    }
    if (happening->kind == HAPPENS_RESUME) {
        s->timer_at = -1;
        if (s->stage != STAGE_IDLE) {
            pump(s);
            return;
        }
    }
    shell_pump(s);
}

/* ---- beginning and end -------------------------------------------------------------------- */

struct shell *shell_new(struct world *w, unsigned index)
{
    struct shell *s = calloc(1, sizeof *s);
    s->world = w;
    s->index = index;
    int64_t bound = w->options.beyond ? 60000 : 4500;
    s->clock = (struct clock){chance_range(&w->chance, 1, 1000000000),
                              chance_range(&w->chance, -bound, bound)};
    return s;
}

/* Mostly the default ones. */
static void draw_timeouts(struct world *w, struct engine_config *config)
{
    config->connect_timeout =
        MS(chance_permille(&w->chance, 800) ? 1000 : chance_range(&w->chance, 50, 3000));
    if (w->patient)
        config->request_timeout = MS(chance_range(&w->chance, 1500, 5000));
    else if (chance_permille(&w->chance, 300))
        config->request_timeout =
            MS(chance_range(&w->chance, 20, chance_permille(&w->chance, 500) ? 300 : 3000));
}

void shell_start(struct shell *s)
{
    struct world *w = s->world;
    struct engine_config config = {
        .masters = w->masters,
        .drift_ppm = 10000,
        .max_ttl_ms = w->max_ttl_ms,
        .skew_ms = w->skew_ms,
    };
    draw_timeouts(w, &config);
    if (w->faults & 1U << FAULT_MIXED_TTL)
        config.max_ttl_ms += chance_range(&w->chance, 0, 3) * 500;
    s->config_max_ttl_ms = config.max_ttl_ms;
    bool is_right = chance_permille(&w->chance, 700);
    s->channel = ++w->processes;
    snprintf(config.channel, sizeof config.channel, "channel-%u", s->channel);
    s->proposals_off = is_right ? 0 : chance_range(&w->chance, -HOUR, HOUR);
    s->account = (struct account){.chance = {chance_next(&w->chance)}};
    s->secrets.state = chance_next(&w->chance);
    s->random_left = 0;
    s->stage = STAGE_IDLE;
    s->timer_at = -1;
    s->ready = s->ready_told = s->close_asked = s->closing = s->closed = s->closed_told =
        s->closed_in_time = false;
    s->adopt = 0;
    struct memory memory = {take, give, &s->account};
    engine_init(&s->engine, &config, &memory, &(struct sink){emit, s}, chance_next(&w->chance));
    s->running = true;
    TRACE(w, "client %u starts", s->index + 1);
    engine_start(&s->engine, shell_now(s));
    if (w->faults & 1U << FAULT_MEMORY && !w->peace)
        s->account.fail_permille = 30;
    shell_pump(s);
}

void shell_stop(struct shell *s)
{
    if (!s->running)
        return;
    struct world *w = s->world;
    TRACE(w, "client %u ends", s->index + 1);
    while (s->all) {
        lease_drop(&s->engine, &s->all->core);
        free_lease(s, s->all);
    }
    engine_free(&s->engine);
    if (!w->violation.rule && (s->account.blocks || s->account.bytes))
        world_violated(w, "leak", "client %u left %lld blocks, %lld bytes", s->index + 1,
                       (long long)s->account.blocks, (long long)s->account.bytes);
    for (unsigned i = 0; i < w->masters; i++) {
        struct shell_link *link = &s->links[i];
        if (link->phase == LINK_UP || link->phase == LINK_CONNECTING)
            link_leave(s, link);
        while (link->first)
            expected(s, link);
        link->phase = LINK_CLOSED;
    }
    ears_drop(s);
    s->asked_first = s->untold_first = s->telling = NULL;
    s->running = false;
    s->stage = STAGE_IDLE;
    s->stopped_until = 0;
}

void shell_free(struct shell *s)
{
    shell_stop(s);
    while (s->spare) {
        struct pending *pending = s->spare;
        s->spare = pending->next;
        free(pending);
    }
    free(s);
}
