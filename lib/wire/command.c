#include "command.h"

#include "eval.h"

#define PERMITS_IN_BATCH 256             /* most of a name: each that is refused looks at all */
#define EACH_MAX         (5 * FRAME_MAX) /* most bytes of one of several beyond its name and token */

/* ---- Requests about names ---- */

static inline char *put_name(char *to, const struct names *names, unsigned index)
{
    struct slice name = names_at(names, index);
    return put_bulk(to, name.bytes, name.length);
}

/* A letter for each name. */
static char *put_modes(char *to, const struct request *request)
{
    const struct names *names = request->names;
    to = put_header(to, '$', names->count);
    for (unsigned i = 0; i < names->count; i++)
        *to++ = request_shares(request, i) ? 's' : 'x';
    return PUT(to, "\r\n");
}

static inline char *put_token(char *to, const struct request *request)
{
    to = put_header(to, '$', request->token_length);
    to = put_bytes(to, request->token, request->token_length - request->label_length);
    to = put_bytes(to, request->label, request->label_length);
    return PUT(to, "\r\n");
}

/* Puts the names, the logical clock and the token, as far as the kind has them.  `arguments`
 * follow. */
static inline char *put_call(char *to, const struct request *request, enum request_kind kind,
                             enum script_number script, unsigned arguments)
{
    const struct names *names = request->names;
    bool clock = request_has_clock(kind), token = request_carries_token(kind);
    to = put_script(to, &scripts[script], request->whole, names->count + clock, token + arguments);
    for (unsigned i = 0; i < names->count; i++)
        to = put_name(to, names, i);
    if (clock)
        to = PUT(to, CLOCK_KEY);
    return token ? put_token(to, request) : to;
}

#define PUT_CALL(to, request, kind, arguments)                                                     \
    put_call(to, request, REQUEST_##kind, SCRIPT_##kind, arguments)

/* Of a kind with a script for shared names; put_modes() follows if `shared`. */
#define PUT_CALL_IN_MODES(to, request, kind, arguments, shared)                                    \
    put_call(to, request, REQUEST_##kind, (shared) ? SCRIPT_##kind##_SHARED : SCRIPT_##kind,       \
             (arguments) + (shared))

/* One name is asked for as every other client of the published algorithm does. */
static char *put_set(char *to, const struct request *request)
{
    to = PUT(to, "*6\r\n$3\r\nSET\r\n");
    to = put_name(to, request->names, 0);
    to = put_token(to, request);
    to = PUT(to, "$2\r\nNX\r\n$2\r\nPX\r\n");
    return put_integer(to, request->ttl_ms);
}

static char *put_acquire(char *to, const struct request *request)
{
    if (request->names->count == 1)
        return put_set(to, request);
    to = PUT_CALL(to, request, ACQUIRE, 1);
    return put_integer(to, request->ttl_ms);
}

#define GRANT_ARGUMENTS 2 /* after the token, of each */

static char *put_grant_arguments(char *to, const struct request *request)
{
    to = put_integer(to, request->ttl_ms);
    to = put_integer(to, request->grant.proposal);
    return put_integer(to, CLOCK_WINDOW);
}

static char *put_grant(char *to, const struct request *request)
{
    bool shared = request_shares_any(request);
    to = PUT_CALL_IN_MODES(to, request, GRANT, GRANT_ARGUMENTS + 1, shared);
    to = put_grant_arguments(to, request);
    return shared ? put_modes(to, request) : to;
}

static char *put_raise(char *to, const struct request *request)
{
    to = PUT_CALL(to, request, RAISE, 1);
    return put_integer(to, request->fence);
}

static char *put_queue(char *to, const struct request *request)
{
    bool slot = request_is_for_slot(request), shared = !slot && request_shares_any(request);
    enum script_number script = slot ? SCRIPT_QUEUE_SLOT : SCRIPT_QUEUE;
    to = put_call(to, request, REQUEST_QUEUE, script, 3 + shared + slot);
    to = put_integer(to, request->queue.ticket);
    to = put_integer(to, request->ttl_ms);
    to = put_string(to, request->channel);
    if (slot)
        return put_integer(to, request->queue.permits);
    return shared ? put_modes(to, request) : to;
}

#define RENEW_ARGUMENTS 3 /* after the token, of each */

static char *put_renew_arguments(char *to, const struct request *request)
{
    to = put_integer(to, request->ttl_ms);
    to = put_flag(to, request->renew.heal);
    return put_integer(to, request->renew.not_after);
}

static char *put_renew(char *to, const struct request *request)
{
    bool shared = request_shares_any(request);
    to = PUT_CALL_IN_MODES(to, request, RENEW, RENEW_ARGUMENTS + shared, shared);
    to = put_renew_arguments(to, request);
    return shared ? put_flag(put_modes(to, request), request->tag.converts) : to;
}

static char *put_upgrade(char *to, const struct request *request)
{
    to = PUT_CALL(to, request, UPGRADE, 3);
    to = put_integer(to, request->ttl_ms);
    to = put_integer(to, request->grant.proposal);
    return put_integer(to, CLOCK_WINDOW);
}

static char *put_release(char *to, const struct request *request)
{
    bool marks = request->ttl_ms != 0;
    to = PUT_CALL(to, request, RELEASE, marks);
    return marks ? put_integer(to, request->ttl_ms) : to;
}

static char *put_peek(char *to, const struct request *request)
{
    to = PUT_CALL(to, request, PEEK, request->tokens_told > 0);
    return request->tokens_told ? put_integer(to, request->tokens_told) : to;
}

/* ---- Requests of tasks ---- */

static char *put_said_call(char *to, const struct request *request, enum script_number script,
                           unsigned arguments)
{
    to = put_script(to, &scripts[script], request->whole, 1, arguments);
    return put_name(to, request->names, 0);
}

static char *put_announce(char *to, const struct request *request)
{
    to = put_said_call(to, request, SCRIPT_ANNOUNCE, 5);
    to = put_integer(put_token(to, request), request->ttl_ms);
    to = put_integer(to, request->announce.term);
    to = put_integer(to, request->announce.number);
    return put_slice(to, request->announce.value);
}

static char *put_unsay(char *to, const struct request *request)
{
    to = put_said_call(to, request, SCRIPT_UNSAY, 2);
    return put_integer(put_token(to, request), request->announce.term);
}

static char *put_arrive(char *to, const struct request *request)
{
    const struct barrier_request *barrier = &request->barrier;
    to = put_said_call(to, request, SCRIPT_ARRIVE, 7);
    to = put_integer(put_token(to, request), barrier->generation);
    to = put_integer(to, barrier->parties);
    to = put_integer(to, request->ttl_ms);
    to = put_integer(to, barrier->kept_ms);
    to = put_flag(to, barrier->passed);
    return put_string(to, request->channel);
}

static char *put_depart(char *to, const struct request *request)
{
    to = put_said_call(to, request, SCRIPT_DEPART, 3);
    to = put_integer(put_token(to, request), request->barrier.generation);
    return put_integer(to, request->barrier.parties);
}

static char *put_tally(char *to, const struct request *request)
{
    to = put_said_call(to, request, SCRIPT_TALLY, 5);
    to = put_slice(put_slice(to, request->tally.id), request->tally.arrival);
    to = put_flag(to, request->tally.open);
    to = put_string(to, request->channel ? request->channel : "");
    return put_integer(to, request->ttl_ms);
}

static char *put_mend(char *to, const struct request *request)
{
    const struct mend_request *mend = &request->mend;
    to = put_said_call(to, request, SCRIPT_MEND, 6);
    to = put_string(put_slice(to, mend->id), mend->run);
    to = put_integer(to, mend->arrivals);
    to = put_integer(to, mend->ends_ms);
    to = put_flag(to, mend->open);
    return put_slice(to, mend->arrived);
}

static char *put_drop(char *to, const struct request *request)
{
    to = put_slice(put_said_call(to, request, SCRIPT_DROP, 2), request->drop.id);
    return put_integer(to, request->drop.age_ms);
}

static char *put_observe(char *to, const struct request *request)
{
    to = put_said_call(to, request, SCRIPT_OBSERVE, 2);
    to = put_string(to, request->channel ? request->channel : "");
    return put_integer(to, request->ttl_ms);
}

static char *put_survey(char *to, const struct request *request)
{
    to = put_slice(put_said_call(to, request, SCRIPT_SURVEY, 3), request->survey.cursor);
    return put_flag(put_integer(to, request->survey.keys), request->survey.foreign);
}

static char *put_ask(char *to, const struct request *request)
{
    to = PUT_CALL(to, request, ASK, 4);
    to = put_integer(put_integer(to, request->ask.id), request->ttl_ms);
    return put_integer(put_slice(to, request->ask.words), request->ask.least);
}

/* ---- Several in one ---- */

/* All are of one kind, and in one mode or for slots. */
#define EACH_SCRIPT(requests, kind)                                                                \
    &scripts[request_is_for_slot(requests)  ? SCRIPT_##kind##_SLOT                                 \
             : request_shares_any(requests) ? SCRIPT_##kind##_SHARED_EACH                          \
                                            : SCRIPT_##kind##_EACH]

static char *put_name_of_each(char *to, const struct request *requests, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to = put_name(to, requests[i].names, 0);
    return to;
}

static char *put_release_each(char *to, const struct request *requests, unsigned count, bool whole)
{
    bool slots = request_is_for_slot(requests), marks = requests[0].ttl_ms != 0;
    to = put_script(to, &scripts[slots ? SCRIPT_RELEASE_SLOT : SCRIPT_RELEASE_EACH], whole, count,
                    count + marks);
    to = put_name_of_each(to, requests, count);
    for (unsigned i = 0; i < count; i++)
        to = put_token(to, &requests[i]);
    return marks ? put_integer(to, requests[0].ttl_ms) : to;
}

static char *put_renew_each(char *to, const struct request *requests, unsigned count, bool whole)
{
    to = put_script(to, EACH_SCRIPT(requests, RENEW), whole, count, count * (1 + RENEW_ARGUMENTS));
    to = put_name_of_each(to, requests, count);
    for (unsigned i = 0; i < count; i++) {
        to = put_token(to, &requests[i]);
        to = put_renew_arguments(to, &requests[i]);
    }
    return to;
}

/* One ttl, and no fence or proposals that follow one another, as those of one turn do. */
static bool grants_are_alike(const struct request *requests, unsigned count)
{
    usec proposal = requests[0].grant.proposal;
    for (unsigned i = 1; i < count; i++)
        if (requests[i].ttl_ms != requests[0].ttl_ms ||
            requests[i].grant.proposal != (proposal ? proposal + i : 0))
            return false;
    return true;
}

static char *put_grant_slot_each(char *to, const struct request *requests, unsigned count,
                                 bool whole)
{
    to = put_script(to, &scripts[SCRIPT_GRANT_SLOT], whole, count + 1,
                    1 + count * (2 + GRANT_ARGUMENTS));
    to = put_name_of_each(to, requests, count);
    to = put_integer(PUT(to, CLOCK_KEY), CLOCK_WINDOW);
    for (unsigned i = 0; i < count; i++) {
        to = put_token(to, &requests[i]);
        to = put_integer(to, requests[i].ttl_ms);
        to = put_integer(to, requests[i].grant.proposal);
        to = put_integer(to, requests[i].grant.permits);
    }
    return to;
}

/* Of those that are alike, only the first has a ttl and a proposal. */
static char *put_grant_each(char *to, const struct request *requests, unsigned count, bool whole)
{
    if (request_is_for_slot(requests))
        return put_grant_slot_each(to, requests, count, whole);
    bool alike = grants_are_alike(requests, count);
    to = put_script(to, EACH_SCRIPT(requests, GRANT), whole, count + 1,
                    1 + count + GRANT_ARGUMENTS * (alike ? 1 : count));
    to = put_name_of_each(to, requests, count);
    to = put_integer(PUT(to, CLOCK_KEY), CLOCK_WINDOW);
    for (unsigned i = 0; i < count; i++) {
        if (i == 0 || !alike) {
            to = put_integer(to, requests[i].ttl_ms);
            to = put_integer(to, requests[i].grant.proposal);
        }
        to = put_token(to, &requests[i]);
    }
    return to;
}

static char *put_each(char *to, const struct request *requests, unsigned count, bool whole)
{
    switch ((unsigned)requests[0].tag.kind) {
#define PUT_EACH(kind, name, token, takes, sets, clock, batch, modes, slot)                        \
    REQUEST_IF_##batch(case REQUEST_##kind : return put_##name##_each(to, requests, count, whole);)
        CLAIM_REQUESTS(PUT_EACH)
#undef PUT_EACH
    }
    return to;
}

/* ---- All of them ---- */

static char *put_request(char *to, const struct request *request)
{
    if (request_may_batch(request->tag.kind) && request_is_for_slot(request))
        return put_each(to, request, 1, request->whole);
    switch ((unsigned)request->tag.kind) {
#define PUT_KIND(kind, name, ...)                                                                  \
    case REQUEST_##kind:                                                                           \
        return put_##name(to, request);
        CLAIM_REQUESTS(PUT_KIND)
        TASK_REQUESTS(PUT_KIND)
#undef PUT_KIND
    default:
        return connection_put(to, request);
    }
}

/* Of what a request says beyond its token and name. */
static size_t words_room(const struct request *request, const struct credentials *login)
{
    switch ((unsigned)request->tag.kind) {
    case REQUEST_HELLO:
    case REQUEST_AGREE:
        return connection_room(request, login);
    case REQUEST_ANNOUNCE:
        return request->announce.value.length;
    case REQUEST_TALLY:
        return request->tally.id.length + request->tally.arrival.length;
    case REQUEST_MEND:
        return request->mend.id.length + request->mend.arrived.length;
    case REQUEST_DROP:
        return request->drop.id.length;
    case REQUEST_SURVEY:
        return request->survey.cursor.length;
    case REQUEST_ASK:
        return request->ask.words.length;
    default:
        return 0;
    }
}

static size_t request_room(const struct request *request, const struct credentials *login)
{
    size_t room = FIXED_MAX + request->token_length + words_room(request, login);
    if (request_brings_pushes(request->tag.kind) && request->channel)
        room += strlen(request->channel);
    if (request->whole)
        room += scripts_room;
    for (unsigned i = 0; request->names && i < request->names->count; i++)
        room += names_at(request->names, i).length + FRAME_MAX + 1;
    return room;
}

bool command_may_batch(const struct request *request)
{
    const struct names *names = request->names;
    enum request_kind kind = request->tag.kind;
    bool marks = kind == REQUEST_RELEASE && request->ttl_ms;
    return request_may_batch(kind) && !request->whole && names->count == 1 && !marks &&
           !(request->tag.converts && kind == REQUEST_RENEW) &&
           !(kind == REQUEST_GRANT && request->grant.permits > PERMITS_IN_BATCH);
}

void command_write_each(struct buffer *buffer, const struct request *requests, unsigned count,
                        bool whole)
{
    size_t room = whole ? scripts_room : 0;
    for (unsigned i = 0; i < count; i++)
        room += EACH_MAX + requests[i].token_length + names_at(requests[i].names, 0).length;
    char *start = buffer_reserve(buffer, FIXED_MAX + room);
    if (!start)
        return;
    char *end = put_each(start, requests, count, whole);
    buffer_advance(buffer, (size_t)(end - start));
}

unsigned command_write(struct buffer *buffer, const struct request *request,
                       const struct credentials *login, enum step steps[STEPS_MAX])
{
    unsigned count = 0;
    bool is_hello = request->tag.kind == REQUEST_HELLO;
    char *start = buffer_reserve(buffer, request_room(request, login)), *to = start;
    if (start && is_hello)
        to = connection_put_greeting(to, request, login, steps, &count);
    if (start)
        buffer_advance(buffer, (size_t)(put_request(to, request) - start));
    steps[count++] = STEP_FINAL;
    return count;
}
