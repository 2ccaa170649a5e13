#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_tasks.h"

/* ---- memory ---------------------------------------------------------------- */

/* Each block remembers its size: the core has to give back what it took. */
#define HEAD 16

static void *take(void *pool, size_t size)
{
    struct fake *fake = pool;
    if (fake->countdown && --fake->countdown == 0) {
        fake->starved = true;
        return NULL;
    }
    char *block = calloc(1, size + HEAD);
    if (!block)
        abort();
    memcpy(block, &size, sizeof size);
    fake->allocated += size;
    return block + HEAD;
}

static void give(void *pool, void *block, size_t size)
{
    struct fake *fake = pool;
    size_t taken;
    memcpy(&taken, (char *)block - HEAD, sizeof taken);
    if (taken != size)
        fake_break(fake, "%zu bytes were taken, and %zu given back", taken, size);
    fake->allocated -= taken;
    free((char *)block - HEAD);
}

/* ---- words ----------------------------------------------------------------- */

static void trim(char *number)
{
    char *end = number + strlen(number);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

const char *fake_time(usec time)
{
    static char texts[4][40];
    static unsigned next;
    char *text = texts[next++ % 4];
    const char *sign = time < 0 ? "-" : "";
    usec size = time < 0 ? -time : time;
    if (size == NEVER)
        return "for ever";
    if (size < MS(1000) && size != 0)
        snprintf(text, 38, "%s%lld.%03lld", sign, (long long)size / 1000, (long long)size % 1000);
    else
        snprintf(text, 38, "%s%lld.%06lld", sign, (long long)size / 1000000,
                 (long long)size % 1000000);
    trim(text);
    strcat(text, size < MS(1000) && size != 0 ? "ms" : "s");
    return text;
}

const char *fake_token(struct fake *fake, const char *token, size_t length)
{
    static char name[TOKEN_MAX + 1];
    if (length != TOKEN_TEXT) { /* of another library: shown as it is */
        snprintf(name, sizeof name, "%.*s", (int)length, token);
        return name;
    }
    unsigned i = 0;
    while (i < TOKENS_MAX - 1 && fake->tokens[i][0] && memcmp(fake->tokens[i], token, length))
        i++;
    memcpy(fake->tokens[i], token, length);
    snprintf(name, sizeof name, "token-%u", i + 1);
    return name;
}

static const char *moment(const struct fake *fake)
{
    static char text[40];
    usec at = fake->now - EPOCH;
    if (at % 1000)
        snprintf(text, sizeof text, "%lld.%06lld", (long long)at / 1000000,
                 (long long)at % 1000000);
    else
        snprintf(text, sizeof text, "%lld.%03lld", (long long)at / 1000000,
                 (long long)at % 1000000 / 1000);
    return text;
}

static void append(struct fake *fake, const char *text)
{
    if (!fake->silent)
        text_put(&fake->trace, text, strlen(text));
}

static void append_folded(struct fake *fake, const char *line)
{
    const char *before = "=> ";
    while (strlen(before) + strlen(line) > TRACE_WIDTH) {
        size_t length = TRACE_WIDTH - strlen(before);
        while (length && line[length] != ' ')
            length--;
        if (!length)
            break;
        append(fake, before);
        if (!fake->silent)
            text_put(&fake->trace, line, length);
        append(fake, "\n");
        line += length + 1;
        before = "=>     ";
    }
    append(fake, before);
    append(fake, line);
    append(fake, "\n");
}

static void write_line(struct fake *fake)
{
    fake->line.any = false;
    char line[sizeof fake->line];
    snprintf(line, sizeof line, "%s%s%s", fake->line.head, fake->line.masters, fake->line.tail);
    append_folded(fake, line);
}

void fake_flush(struct fake *fake)
{
    if (fake->line.any)
        write_line(fake);
    if (fake->reasons.length)
        append(fake, fake->reasons.bytes);
    text_drop(&fake->reasons);
}

void fake_reason(struct fake *fake, const char *format, ...)
{
    char line[1536];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_put(&fake->reasons, line, strlen(line));
    text_put(&fake->reasons, "\n", 1);
}

static void note_master(struct fake *fake, const char *verb, unsigned master, const char *tail)
{
    char head[sizeof fake->line.head];
    snprintf(head, sizeof head, "%s %s", moment(fake), verb);
    if (!fake->line.any || !fake->line.masters[0] || strcmp(head, fake->line.head) ||
        strcmp(tail, fake->line.tail)) {
        fake_flush(fake);
        strcpy(fake->line.head, head);
        snprintf(fake->line.tail, sizeof fake->line.tail, "%s", tail);
        fake->line.masters[0] = '\0';
        fake->line.any = true;
    }
    char *end = fake->line.masters + strlen(fake->line.masters);
    snprintf(end, sizeof fake->line.masters - (size_t)(end - fake->line.masters), " %u",
             master + 1);
}

void fake_note(struct fake *fake, const char *format, ...)
{
    char text[512], line[560];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fake_flush(fake);
    snprintf(line, sizeof line, "%s %s", moment(fake), text);
    append_folded(fake, line);
}

void fake_break(struct fake *fake, const char *format, ...)
{
    if (fake->broken[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fake->broken, sizeof fake->broken, format, arguments);
    va_end(arguments);
}

#define FAKE_SHARED "/shared" /* behind a name that is shared */

/* ---- effects ----------------------------------------------------------------- */

static void write_names(char *to, size_t size, const struct request *request)
{
    const struct names *names = request->names;
    size_t used = 0;
    for (unsigned i = 0; i < names->count && used < size; i++) {
        struct slice name = names_at(names, i);
        used += (size_t)snprintf(to + used, size - used, "%s%.*s%s", i ? "," : "", (int)name.length,
                                 name.bytes, request_shares(request, i) ? FAKE_SHARED : "");
    }
}

static void write_hello(char *to, size_t size, const struct request *request)
{
    const struct quarantine_terms *terms = &request->terms;
    snprintf(to, size, " max-ttl %s%s%s", fake_time(MS(terms->max_ttl_ms)),
             terms->trust ? " trust" : "", request->whole ? " whole" : "");
    size_t used = strlen(to);
    if (terms->other_ago)
        snprintf(to + used, size - used, " other %s ago", fake_time(terms->other_ago));
}

/* The words after the kind of a request about a claim. */
static void write_claim_request(struct fake *fake, char *to, size_t size,
                                const struct request *request)
{
    char names[128], terms[64] = "", until[48] = "", number[48] = "";
    write_names(names, sizeof names, request);
    enum request_kind kind = request->tag.kind;
    if (request_sets_token(kind))
        snprintf(terms, sizeof terms, " ttl %s%s%s", fake_time(MS(request->ttl_ms)),
                 kind == REQUEST_RENEW && request->renew.heal ? " heal" : "",
                 kind == REQUEST_RENEW && request->tag.converts ? " converts" : "");
    if (kind == REQUEST_RELEASE && request->ttl_ms)
        snprintf(terms, sizeof terms, " unhealed for %s", fake_time(MS(request->ttl_ms)));
    if (kind == REQUEST_RENEW && request->renew.not_after)
        snprintf(until, sizeof until, " not after %s", fake_time(request->renew.not_after - EPOCH));
    if (kind == REQUEST_GRANT || kind == REQUEST_UPGRADE)
        snprintf(number, sizeof number, " proposal %s",
                 request->grant.proposal ? fake_time(request->grant.proposal - EPOCH) : "none");
    else if (kind == REQUEST_RAISE)
        snprintf(number, sizeof number, " fence %s", fake_time(request->fence - EPOCH));
    else if (kind == REQUEST_QUEUE)
        snprintf(number, sizeof number, " ticket %s", fake_time(request->queue.ticket - EPOCH));
    bool token = request_carries_token(kind);
    snprintf(to, size, " %s%s%s%s%s%s%s", names, token ? " " : "",
             token ? fake_token(fake, request->token, request->token_length) : "", terms, until,
             number, request->whole ? " whole" : "");
}

const char *fake_answer_name(enum answer answer)
{
    static const char *const names[] = {
        [ANSWER_YES] = "yes",           [ANSWER_HEALED] = "healed",     [ANSWER_AHEAD] = "ahead",
        [ANSWER_READ] = "read",         [ANSWER_QUEUED] = "queued",     [ANSWER_HELD] = "held",
        [ANSWER_ABSENT] = "absent",     [ANSWER_LATE] = "late",         [ANSWER_HELLO] = "hello",
        [ANSWER_NOSCRIPT] = "noscript", [ANSWER_NO_CLOCK] = "no-clock", [ANSWER_ERROR] = "error",
        [ANSWER_LOST] = "lost",         [ANSWER_OPEN] = "open",         [ANSWER_OVER] = "over"};
    return names[answer];
}

static void note_send(struct fake *fake, unsigned master, const struct request *request)
{
    char tail[340], more[320] = "";
    switch (request->tag.kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        write_hello(more, sizeof more, request);
        break;
    case REQUEST_AGREE:
        snprintf(more, sizeof more, "%s",
                 request->agree->says == SAYS_NO_MORE ? " takes back"
                 : request->agree->says == SAYS_OURS  ? ""
                                                      : " looks");
        break;
    case REQUEST_KILL:
        snprintf(more, sizeof more, " %lld", (long long)request->kill_id);
        break;
    case REQUEST_ANNOUNCE:
    case REQUEST_UNSAY:
    case REQUEST_OBSERVE:
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
    case REQUEST_TALLY:
    case REQUEST_MEND:
    case REQUEST_DROP:
    case REQUEST_SURVEY:
    case REQUEST_ASK:
        fake_tasks_write_request(fake, more, sizeof more, request);
        break;
    default:
        write_claim_request(fake, more, sizeof more, request);
    }
    snprintf(tail, sizeof tail, " %s%s", request_name(request->tag.kind), more);
    note_master(fake, "send", master, tail);
}

static void keep(struct fake_master *master, const struct tag *tag)
{
    if (master->count == master->capacity) {
        master->capacity = master->capacity ? master->capacity * 2 : 16;
        master->waiting = realloc(master->waiting, master->capacity * sizeof *master->waiting);
    }
    master->waiting[master->count++] = *tag;
}

static void on_send(struct fake *fake, unsigned index, const struct request *request)
{
    struct fake_master *master = &fake->masters[index];
    note_send(fake, index, request);
    fake->sent++;
    if (master->wire != WIRE_UP)
        fake_break(fake, "a request was sent to master %u, which is not connected", index + 1);
    if (request->tag.kind == REQUEST_ADOPT)
        master->quarantined = 0;
    bool tells_terms = request->tag.kind == REQUEST_HELLO || request->tag.kind == REQUEST_ADOPT;
    if (tells_terms && request->terms.max_ttl_ms > master->max_ttl_ms)
        master->max_ttl_ms = request->terms.max_ttl_ms;
    keep(master, &request->tag);
}

static void on_connect(struct fake *fake, unsigned index)
{
    struct fake_master *master = &fake->masters[index];
    note_master(fake, "connect", index, "");
    fake->connects++;
    if (master->wire != WIRE_DOWN)
        fake_break(fake, "master %u was connected twice", index + 1);
    master->wire = WIRE_CONNECTING;
    master->connections++;
}

static void on_disconnect(struct fake *fake, unsigned index)
{
    note_master(fake, "disconnect", index, "");
    if (fake->masters[index].wire == WIRE_DOWN)
        fake_break(fake, "master %u was disconnected, and was not connected", index + 1);
    fake->masters[index].wire = WIRE_CLOSING;
}

static void on_subscribe(struct fake *fake, unsigned index)
{
    note_master(fake, "subscribe", index, "");
    if (fake->masters[index].subscription != SUBSCRIPTION_NONE)
        fake_break(fake, "master %u is listened to twice", index + 1);
    fake->masters[index].subscription = SUBSCRIPTION_ASKED;
}

static void on_probe(struct fake *fake, unsigned index)
{
    note_master(fake, "probe", index, "");
    if (fake->masters[index].subscription != SUBSCRIPTION_UP)
        fake_break(fake, "master %u is probed, and is not listened to", index + 1);
}

static void on_unsubscribe(struct fake *fake, unsigned index)
{
    note_master(fake, "unsubscribe", index, "");
    if (fake->masters[index].subscription == SUBSCRIPTION_NONE)
        fake_break(fake, "nobody listens to master %u", index + 1);
    fake->masters[index].subscription = SUBSCRIPTION_CLOSING;
}

static void on_notice(struct fake *fake, unsigned index)
{
    const struct master *master = &fake->engine.masters[index];
    char tail[VOTE_TEXT_MAX + 40];
    if (master_abstains(&fake->engine, master))
        snprintf(tail, sizeof tail, " abstains %s", fake_time(master->abstains_until - fake->now));
    else if (master_is_up(master))
        strcpy(tail, " up");
    else
        snprintf(tail, sizeof tail, " down: %s", master->trouble);
    note_master(fake, "notice", index, tail);
}

const char *fake_cause_name(enum cause cause)
{
    static const char *const names[] = {"",          "held",      "unavailable", "too slow",
                                        "expired",   "gone",      "max hold",    "cancelled",
                                        "closed",    "no memory", "replica",     "same master",
                                        "no master", "differs",   "overload",    "over"};
    return names[cause];
}

static void on_ready(struct fake *fake)
{
    enum cause cause = engine_readiness(&fake->engine, fake->now);
    if (fake->ready)
        fake_break(fake, "the engine reports readiness twice");
    fake->ready = true;
    fake_note(fake, "ready%s%s", cause ? ": " : "", fake_cause_name(cause));
}

static void emit(void *shell, const struct effect *effect)
{
    struct fake *fake = shell;
    if (fake->watcher)
        fake->watcher->acts(fake, effect);
    switch (effect->kind) {
    case EFFECT_CONNECT:
        on_connect(fake, effect->master);
        break;
    case EFFECT_DISCONNECT:
        on_disconnect(fake, effect->master);
        break;
    case EFFECT_SUBSCRIBE:
        on_subscribe(fake, effect->master);
        break;
    case EFFECT_PROBE:
        on_probe(fake, effect->master);
        break;
    case EFFECT_UNSUBSCRIBE:
        on_unsubscribe(fake, effect->master);
        break;
    case EFFECT_SEND:
        on_send(fake, effect->master, effect->request);
        break;
    case EFFECT_TELL:
        if (effect->lease->further)
            fake_break(fake, "the engine reports to a further place, which has no user");
        else
            ((struct actor *)(void *)effect->lease)->untold = true;
        break;
    case EFFECT_TELL_TASK:
        fake_tasks_note(fake, effect->task);
        break;
    case EFFECT_READY:
        on_ready(fake);
        break;
    case EFFECT_CLOSED:
        if (fake->closed)
            fake_break(fake, "the engine reports its end twice");
        fake->closed = true;
        fake_note(fake, "closed");
        break;
    case EFFECT_LISTS:
        break;
    case EFFECT_NOTICE:
        on_notice(fake, effect->master);
        break;
    }
}

/* ---- outcomes ------------------------------------------------------------------ */

/* The contract of redlock.h about the order of outcomes. */
static void check_outcome(struct fake *fake, struct actor *actor, const struct outcome *outcome)
{
    bool right = actor->begun && !actor->ended;
    switch (outcome->kind) {
    case OUTCOME_ACQUIRED:
        right = right && !actor->acquired && outcome->valid > actor->core.terms.margin;
        actor->acquired = true;
        break;
    case OUTCOME_NOT_ACQUIRED:
        right = right && !actor->acquired;
        actor->ended = true;
        break;
    case OUTCOME_LOST:
        right = right && actor->acquired && !actor->lost;
        actor->lost = true;
        break;
    case OUTCOME_RELEASED:
    case OUTCOME_SEEN:
        actor->ended = true;
        break;
    default:
        right = right && actor->acquired && !actor->lost;
    }
    if (!right)
        fake_break(fake, "an outcome of %s (%d) came twice or out of turn", actor->name,
                   (int)outcome->kind);
}

static void write_vote(char *to, size_t size, struct fake *fake, const struct vote_view *vote)
{
    static const char *const names[] = {"-",           "granted",  "healed",  "held",
                                        "free",        "released", "refused", "timeout",
                                        "unreachable", "abstains"};
    const char *holder = "";
    if (vote->vote == VOTE_HELD && vote->text[0])
        holder = fake_token(fake, vote->text, strlen(vote->text));
    int used = snprintf(to, size, "%s%s%s", names[vote->vote], holder[0] ? " by " : "", holder);
    if (vote->remaining_ms > 0 && (vote->vote == VOTE_HELD || vote->vote == VOTE_ABSTAINS))
        snprintf(to + used, size - (size_t)used, " %s", fake_time(MS(vote->remaining_ms)));
}

void fake_votes(struct fake *fake, const struct lease *lease, char *to, size_t size)
{
    struct vote_view votes[MASTERS_MAX];
    size_t used = 0;
    to[0] = '\0';
    lease_votes(&fake->engine, lease, votes);
    for (unsigned i = 0; lease->attempt && i < fake->engine.config.masters; i++) {
        if (i)
            used += (size_t)snprintf(to + used, size - used, ", ");
        write_vote(to + used, size - used, fake, &votes[i]);
        used += strlen(to + used);
    }
}

/* How long the lease still keeps others out; or since when it does not. */
static void write_rest(char *to, size_t size, const struct outcome *outcome)
{
    usec rest = outcome->kept ? outcome->kept : outcome->ends;
    const char *what = outcome->kept ? "kept" : rest < 0 ? "over for" : "valid";
    to[0] = '\0';
    if (rest)
        snprintf(to, size, " %s %s", what, fake_time(rest < 0 ? -rest : rest));
}

static void note_outcome(struct fake *fake, struct actor *actor, const struct outcome *outcome)
{
    static const char *const kinds[] = {"acquired", "not acquired", "extended",   "not extended",
                                        "at risk",  "healthy",      "lost",       "released",
                                        "seen",     "changed",      "not changed"};
    char votes[300], rest[48], rounds[24] = "", fence[48] = "";
    fake_votes(fake, &actor->core, votes, sizeof votes);
    write_rest(rest, sizeof rest, outcome);
    if (outcome->kind <= OUTCOME_NOT_ACQUIRED && outcome->rounds > 1)
        snprintf(rounds, sizeof rounds, " rounds %u", outcome->rounds);
    if (outcome->fence)
        snprintf(fence, sizeof fence, " fence %s", fake_time(outcome->fence - EPOCH));
    fake_note(fake, "tell %s %s%s%s %u/%u%s%s%s%s%s", actor->name, kinds[outcome->kind],
              outcome->cause ? ": " : "", fake_cause_name(outcome->cause), outcome->granted,
              fake->engine.config.masters, rest, fence, rounds, votes[0] ? " | " : "", votes);
}

static struct randomness draw(struct fake *fake, uint8_t bytes[RANDOMNESS_PER_STEP])
{
    for (unsigned i = 0; i < RANDOMNESS_PER_STEP; i++)
        bytes[i] = (uint8_t)(fake->drawn * 7 + i);
    fake->drawn++;
    return (struct randomness){bytes, RANDOMNESS_PER_STEP};
}

/* Less than nothing left is a large number. */
static void check_drawn(struct fake *fake, const struct randomness *random)
{
    if (random->left > RANDOMNESS_PER_STEP)
        fake_break(fake, "a step drew more random bytes than it was given");
}

static void tell(struct fake *fake, struct actor *actor)
{
    struct outcome outcome;
    actor->untold = false;
    for (;;) {
        if (!engine_tell(&fake->engine, fake->now, &actor->core, &outcome))
            return;
        note_outcome(fake, actor, &outcome);
        fake->told++;
        check_outcome(fake, actor, &outcome);
    }
}

void fake_tell_all(struct fake *fake)
{
    for (unsigned i = 0; i < ACTORS_MAX; i++)
        if (fake->actors[i].used && fake->actors[i].untold)
            tell(fake, &fake->actors[i]);
    fake_tasks_tell_all(fake);
}

/* ---- events -------------------------------------------------------------------- */

void fake_step(struct fake *fake, const struct event *event)
{
    uint8_t bytes[RANDOMNESS_PER_STEP];
    struct randomness random = draw(fake, bytes);
    if (fake->watcher)
        fake->watcher->before(fake, event);
    engine_step(&fake->engine, fake->now, &random, event);
    check_drawn(fake, &random);
    if (fake->telling)
        fake_tell_all(fake);
    if (fake->watcher)
        fake->watcher->after(fake);
}

void fake_wake(struct fake *fake)
{
    for (unsigned turns = 0; engine_next_deadline(&fake->engine) <= fake->now; turns++) {
        if (turns > 10000) {
            fake_break(fake, "the core wakes for ever at %s", moment(fake));
            return;
        }
        fake_step(fake, &(struct event){.kind = EVENT_TIMER});
    }
}

void fake_advance(struct fake *fake, usec time)
{
    usec end = fake->now + time;
    fake_until(fake, end, NULL);
    fake->now = end;
}

bool fake_until(struct fake *fake, usec end, const unsigned *events)
{
    unsigned before = events ? *events : 0;
    for (;;) {
        fake_wake(fake);
        if (fake->broken[0] || (events && *events != before))
            return true;
        usec next = engine_next_deadline(&fake->engine);
        if (next > end)
            return false;
        fake->now = next;
    }
}

bool fake_answer(struct fake *fake, unsigned index, struct reply *reply)
{
    struct fake_master *master = &fake->masters[index];
    if (!master->count)
        return false;
    reply->tag = master->waiting[0];
    memmove(master->waiting, master->waiting + 1, --master->count * sizeof *master->waiting);
    fake_step(fake, &(struct event){.kind = EVENT_REPLY, .master = index, .reply = reply});
    return true;
}

bool fake_answer_hello(struct fake *fake, unsigned index)
{
    const struct fake_master *master = &fake->masters[index];
    struct hello hello = {.version = "7.0.0",
                          .uptime_s = master->uptime_s,
                          .client_id = master->client_id,
                          .time = fake->now + master->clock,
                          .abstains = master->quarantined - fake->now,
                          .max_ttl_ms = master->max_ttl_ms,
                          .age = master->age + fake->now - EPOCH,
                          .clock = master->logical};
    strcpy(hello.run_id, master->run_id);
    strcpy(hello.role, master->role);
    return fake_answer(fake, index, &(struct reply){.answer = ANSWER_HELLO, .hello = &hello});
}

void fake_connected(struct fake *fake, unsigned index)
{
    struct fake_master *master = &fake->masters[index];
    if (master->wire != WIRE_CONNECTING)
        return;
    master->wire = WIRE_UP;
    master->client_id = (int64_t)(index + 1) * 100 + master->connections;
    fake_step(fake, &(struct event){.kind = EVENT_CONNECTED, .master = index});
}

void fake_lose(struct fake *fake, unsigned index, const char *why)
{
    struct fake_master *master = &fake->masters[index];
    static const char lost[] = "connection lost";
    if (master->wire == WIRE_DOWN)
        return;
    if (master->wire == WIRE_CLOSING)
        why = NULL;
    while (fake_answer(fake, index,
                       &(struct reply){.answer = ANSWER_LOST,
                                       .text = {why ? why : lost, strlen(why ? why : lost)}}))
        ;
    master->wire = WIRE_DOWN;
    master->hangs = false;
    fake_step(fake, &(struct event){.kind = EVENT_CLOSED, .master = index, .text = why});
}

/* ---- subscriptions ----------------------------------------------------------------- */

bool fake_subscribed(struct fake *fake, unsigned index, bool other)
{
    struct fake_master *master = &fake->masters[index];
    if (master->subscription != SUBSCRIPTION_ASKED)
        return false;
    master->subscription = SUBSCRIPTION_UP;
    fake_step(fake, &(struct event){.kind = EVENT_SUBSCRIBED,
                                    .master = index,
                                    .text = other ? "run-unheard-of" : master->run_id});
    return true;
}

bool fake_alive(struct fake *fake, unsigned index)
{
    if (fake->masters[index].subscription != SUBSCRIPTION_UP)
        return false;
    fake_step(fake, &(struct event){.kind = EVENT_ALIVE, .master = index});
    return true;
}

bool fake_unsubscribed(struct fake *fake, unsigned index)
{
    struct fake_master *master = &fake->masters[index];
    if (master->subscription == SUBSCRIPTION_NONE)
        return false;
    master->lost_it = master->subscription == SUBSCRIPTION_UP && master->wire == WIRE_UP;
    master->subscription = SUBSCRIPTION_NONE;
    fake_step(fake, &(struct event){.kind = EVENT_UNSUBSCRIBED, .master = index});
    return true;
}

bool fake_push(struct fake *fake, unsigned index, const char *token, usec clock, int free_slot)
{
    unsigned number = strncmp(token, "token-", 6) == 0 ? (unsigned)atoi(token + 6) : 0;
    enum subscription_state subscription = fake->masters[index].subscription;
    bool known = number && number <= TOKENS_MAX && fake->tokens[number - 1][0];
    if (!known || (subscription != SUBSCRIPTION_UP && subscription != SUBSCRIPTION_CLOSING))
        return false;
    struct push push = {
        .token = {fake->tokens[number - 1], TOKEN_TEXT}, .clock = clock, .free_slot = free_slot};
    fake_step(fake, &(struct event){.kind = EVENT_PUSH, .master = index, .push = &push});
    return true;
}

/* ---- leases -------------------------------------------------------------------- */

struct actor *fake_actor(struct fake *fake, const char *name)
{
    for (unsigned i = 0; i < ACTORS_MAX; i++)
        if (fake->actors[i].used && strcmp(fake->actors[i].name, name) == 0)
            return &fake->actors[i];
    return NULL;
}

/* Cuts the mark of a shared name off, if there is one. */
static bool cut_mode(struct slice *name)
{
    size_t mark = sizeof FAKE_SHARED - 1;
    bool is_shared =
        name->length > mark && memcmp(name->bytes + name->length - mark, FAKE_SHARED, mark) == 0;
    name->length -= is_shared ? mark : 0;
    return is_shared;
}

struct names *fake_names(struct fake *fake, const char *list)
{
    struct slice slices[16] = {{0}};
    unsigned count = 0, shared = 0; /* a bit for each name */
    while (*list && count < 16) {
        slices[count] = (struct slice){list, strcspn(list, ",")};
        list += slices[count].length;
        list += *list == ',';
        shared |= (unsigned)cut_mode(&slices[count]) << count;
        count++;
    }
    struct names *names = names_new(&fake->memory, (struct slice){"", 0}, slices, count);
    for (unsigned i = 0; names && shared >> i; i++)
        if (shared >> i & 1)
            names_set_shared(names, i);
    return names;
}

bool fake_new(struct fake *fake, const char *name, const char *list, const struct terms *terms,
              const char *token)
{
    unsigned i = 0;
    while (i < ACTORS_MAX && fake->actors[i].used)
        i++;
    if (i == ACTORS_MAX)
        return false;
    struct actor *actor = &fake->actors[i];
    struct names *names = fake_names(fake, list);
    if (!names)
        return false;
    memset(actor, 0, sizeof *actor);
    snprintf(actor->name, sizeof actor->name, "%s", name);
    actor->used =
        lease_init(&fake->engine, &actor->core, names, terms, token, token ? strlen(token) : 0);
    names_drop(&fake->memory, names);
    return actor->used;
}

void fake_call(struct fake *fake, struct actor *actor, enum event_kind kind, usec ttl)
{
    bool frees = kind == EVENT_ABANDON || kind == EVENT_DETACH;
    if (frees || kind == EVENT_RELEASE || kind == EVENT_DOWNGRADE)
        fake_tasks_end_of(fake, actor);
    actor->begun = true;
    if (frees)
        actor->used = false; /* told nothing more */
    fake_step(fake, &(struct event){.kind = kind, .lease = &actor->core, .ttl = ttl});
    /* A later read of it finds rubbish. */
    if (frees) {
        memset(&actor->core, 0x5a, sizeof actor->core);
        memset(&actor->extra, 0x5a, sizeof actor->extra);
    }
}

/* ---- beginning and end ------------------------------------------------------------ */

void fake_init(struct fake *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->now = EPOCH;
    fake->telling = true;
    fake->memory = (struct memory){take, give, fake};
    for (unsigned i = 0; i < MASTERS_MAX; i++) {
        snprintf(fake->masters[i].run_id, sizeof fake->masters[i].run_id, "run-%u", i + 1);
        strcpy(fake->masters[i].role, "master");
        fake->masters[i].age = MS(3600 * 1000);
    }
}

bool fake_start(struct fake *fake, const struct engine_config *config)
{
    struct sink sink = {emit, fake};
    fake->started = true;
    fake->made = engine_init(&fake->engine, config, &fake->memory, &sink, 42);
    if (fake->made)
        engine_start(&fake->engine, fake->now);
    return fake->made;
}

/* A benign world: every master answers, except those that hang. */
static void oblige(struct fake *fake, unsigned index)
{
    static const enum answer answers[] = {
        [REQUEST_AGREE] = ANSWER_YES,      [REQUEST_KILL] = ANSWER_YES,
        [REQUEST_ACQUIRE] = ANSWER_HELD,   [REQUEST_GRANT] = ANSWER_HELD,
        [REQUEST_RAISE] = ANSWER_ABSENT,   [REQUEST_QUEUE] = ANSWER_HELD,
        [REQUEST_RENEW] = ANSWER_YES,      [REQUEST_UPGRADE] = ANSWER_READ,
        [REQUEST_RELEASE] = ANSWER_YES,    [REQUEST_PEEK] = ANSWER_ABSENT,
        [REQUEST_ANNOUNCE] = ANSWER_YES,   [REQUEST_UNSAY] = ANSWER_YES,
        [REQUEST_OBSERVE] = ANSWER_ABSENT, [REQUEST_ARRIVE] = ANSWER_QUEUED,
        [REQUEST_DEPART] = ANSWER_ABSENT,  [REQUEST_TALLY] = ANSWER_ABSENT,
        [REQUEST_MEND] = ANSWER_ABSENT,    [REQUEST_DROP] = ANSWER_ABSENT,
        [REQUEST_SURVEY] = ANSWER_ERROR,   [REQUEST_ASK] = ANSWER_ABSENT};
    struct fake_master *master = &fake->masters[index];
    if (master->subscription == SUBSCRIPTION_CLOSING)
        fake_unsubscribed(fake, index);
    if (master->wire == WIRE_CLOSING || master->hangs)
        fake_lose(fake, index, "left");
    if (master->wire == WIRE_CONNECTING)
        fake_connected(fake, index);
    while (master->wire == WIRE_UP && master->count) {
        enum request_kind kind = master->waiting[0].kind;
        if (kind == REQUEST_HELLO || kind == REQUEST_ADOPT)
            fake_answer_hello(fake, index);
        else {
            struct reply reply;
            reply_begin(&reply, &master->waiting[0]);
            reply.answer = answers[kind];
            fake_answer(fake, index, &reply);
        }
    }
}

/* Nothing is under way, and what is owed is owed to a minority that is down. */
static bool is_left_to_its_ttl(const struct engine *e, const struct claim *claim)
{
    unsigned owed = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        owed += claim->at[i].owed;
        if (claim->at[i].owed && master_is_up(&e->masters[i]))
            return false;
    }
    return owed && owed <= e->config.masters - e->quorum && !claim->in_flight;
}

static bool has_claims_left(const struct engine *e)
{
    const struct claim *claim = e->abandoned;
    while (claim && is_left_to_its_ttl(e, claim))
        claim = claim->next;
    return claim;
}

static void check_end(struct fake *fake)
{
    const struct engine *e = &fake->engine;
    if (!fake->closed)
        fake_break(fake, "the engine does not close: %u owed", engine_owed(e));
    else if (e->busy.count || e->throttled.count || e->stranded.count || e->held.count ||
             has_claims_left(e))
        fake_break(fake, "the engine closed with leases or releases left");
    else if (e->tasks)
        fake_break(fake, "the engine closed with a task left");
    else if (e->waiters)
        fake_break(fake, "the engine closed with a lease in a local queue");
    for (unsigned i = 0; i < e->config.masters; i++)
        if (fake->masters[i].subscription == SUBSCRIPTION_ASKED ||
            fake->masters[i].subscription == SUBSCRIPTION_UP)
            fake_break(fake, "the engine closed and listens to master %u", i + 1);
    for (unsigned i = 0; i < ACTORS_MAX; i++) {
        const struct actor *actor = &fake->actors[i];
        if (actor->used && actor->begun && !actor->ended && !actor->lost)
            fake_break(fake, "%s never got its outcome", actor->name);
    }
}

static void release_memory(struct fake *fake)
{
    for (unsigned i = 0; i < ACTORS_MAX; i++)
        if (fake->actors[i].used)
            lease_drop(&fake->engine, &fake->actors[i].core);
    engine_free(&fake->engine);
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        free(fake->masters[i].waiting);
    if (fake->allocated)
        fake_break(fake, "%zu bytes were never given back", fake->allocated);
}

void fake_drop(struct fake *fake)
{
    text_drop(&fake->trace);
    text_drop(&fake->reasons);
}

/* A task stays until its last answer, also when the engine is closed. */
static bool is_at_work(const struct fake *fake)
{
    return !fake->closed || fake->engine.tasks;
}

void fake_finish(struct fake *fake)
{
    fake_flush(fake);
    fake->silent = true;
    fake->telling = true;
    if (!fake->started)
        return;
    if (fake->made) {
        fake_tell_all(fake);
        fake_tasks_end_all(fake);
        if (!fake->closing)
            fake_step(fake, &(struct event){.kind = EVENT_CLOSE});
        for (unsigned turn = 0; turn < 400 && is_at_work(fake) && !fake->broken[0]; turn++) {
            for (unsigned i = 0; i < fake->engine.config.masters; i++)
                oblige(fake, i);
            fake_advance(fake, MS(500));
        }
        check_end(fake);
    }
    release_memory(fake);
}
