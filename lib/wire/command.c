#include "command.h"

#include <string.h>

#include "ground/names.h"
#include "scripts.h"

#define CLOCK_KEY "$13\r\nredlock:clock\r\n"
#define LISTS_KEY "redlock:lists:"

#define FRAME_MAX ((size_t)32) /* most bytes of a bulk string or an integer beyond its own */
#define FIXED_MAX 768          /* most bytes of a request beyond names, token, login and scripts */

#define EACH_MAX (5 * FRAME_MAX) /* most bytes of one of several beyond its name and token */

struct script {
    const char *call; /* EVALSHA and the hash */
    const char *text;
    size_t length;
};

#define EVALSHA     "$7\r\nEVALSHA\r\n$40\r\n"
#define CALL(hash)  EVALSHA hash "\r\n"
#define CALL_LENGTH (sizeof CALL(SCRIPT_ACQUIRE_SHA1) - 1)
#define SCRIPT(name)                                                                               \
    {                                                                                              \
        CALL(SCRIPT_##name##_SHA1), SCRIPT_##name##_TEXT, sizeof SCRIPT_##name##_TEXT - 1          \
    }

/* The scripts of a kind: for one request, and for several if these may go in one command.  Both
 * again if shared names need others, and one for a slot if that needs another. */
/* clang-format off */
#define SCRIPTS_OF_KIND(kind, name, token, takes, sets, clock, batch, modes, slot)                 \
    ROW(kind, name)                                                                                \
    REQUEST_IF_##batch(ROW(kind##_EACH, name##_each))                                              \
    REQUEST_IF_##modes(ROW(kind##_SHARED, name##_shared))                                          \
    REQUEST_IF_##modes(REQUEST_IF_##batch(ROW(kind##_SHARED_EACH, name##_shared_each)))            \
    REQUEST_IF_##slot(ROW(kind##_SLOT, name##_slot))
/* clang-format on */

enum script_number {
#define ROW(kind, name) SCRIPT_##kind,
    CLAIM_REQUESTS(SCRIPTS_OF_KIND) TASK_REQUESTS(ROW)
#undef ROW
        SCRIPTS
};
_Static_assert(SCRIPT_ANNOUNCE + 1 == (int)SCRIPTS_LOADED, "a whole hello loads those, and agree");

static const struct script scripts[SCRIPTS] = {
#define ROW(kind, name) [SCRIPT_##kind] = SCRIPT(kind),
    CLAIM_REQUESTS(SCRIPTS_OF_KIND) TASK_REQUESTS(ROW)
#undef ROW
};

static const struct script hello_script = SCRIPT(HELLO), agree_script = SCRIPT(AGREE);

struct all_scripts {
    char hello[sizeof SCRIPT_HELLO_TEXT];
    char agree[sizeof SCRIPT_AGREE_TEXT];
#define ROW(kind, name) char name[sizeof SCRIPT_##kind##_TEXT];
    CLAIM_REQUESTS(SCRIPTS_OF_KIND) TASK_REQUESTS(ROW)
#undef ROW
};
#define SCRIPTS_SIZE (sizeof(struct all_scripts) + (SCRIPTS + 2) * FRAME_MAX)

/* ---- RESP.  Room is reserved beforehand: these functions only move a cursor. ---- */

#define PUT(to, literal) put_bytes(to, literal, sizeof(literal) - 1)

static char *put_bytes(char *to, const void *bytes, size_t length)
{
    if (length)
        memcpy(to, bytes, length);
    return to + length;
}

/* Of a number that an int64_t can have: its last limit has 20 digits. */
static unsigned count_digits(uint64_t number)
{
    if (number < 100)
        return number < 10 ? 1 : 2;
    if (number < 100000) /* most ttls */
        return number < 1000 ? 3 : number < 10000 ? 4 : 5;
    unsigned count = 6;
    for (uint64_t limit = 1000000; number >= limit; limit *= 10)
        count++;
    return count;
}

/* Two at a time: each request has some. */
static char *put_digits(char *to, uint64_t number, unsigned count)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    char *end = to + count, *at = end;
    for (; number >= 100; number /= 100)
        at = memcpy(at - 2, pairs + 2 * (number % 100), 2);
    if (number >= 10)
        memcpy(to, pairs + 2 * number, 2);
    else
        *to = (char)('0' + number);
    return end;
}

/* "*3\r\n", "$22\r\n" */
static char *put_header(char *to, char type, uint64_t number)
{
    *to++ = type;
    if (number < 10)
        *to++ = (char)('0' + number);
    else
        to = put_digits(to, number, count_digits(number));
    return PUT(to, "\r\n");
}

static char *put_bulk(char *to, const void *bytes, size_t length)
{
    to = put_header(to, '$', length);
    to = put_bytes(to, bytes, length);
    return PUT(to, "\r\n");
}

static char *put_slice(char *to, struct slice slice)
{
    return put_bulk(to, slice.bytes, slice.length);
}

static char *put_string(char *to, const char *string)
{
    return put_slice(to, slice_of(string));
}

static char *put_integer(char *to, int64_t number)
{
    bool negative = number < 0;
    uint64_t magnitude = negative ? -(uint64_t)number : (uint64_t)number;
    unsigned digits = count_digits(magnitude);
    to = put_header(to, '$', negative + digits);
    if (negative)
        *to++ = '-';
    to = put_digits(to, magnitude, digits);
    return PUT(to, "\r\n");
}

static char *put_flag(char *to, bool flag)
{
    return flag ? PUT(to, "$1\r\n1\r\n") : PUT(to, "$1\r\n0\r\n");
}

/* ---- Requests about names ---- */

static char *put_script(char *to, const struct script *script, bool whole, unsigned keys,
                        unsigned arguments)
{
    to = put_header(to, '*', 3 + keys + arguments);
    if (whole) {
        to = PUT(to, "$4\r\nEVAL\r\n");
        to = put_bulk(to, script->text, script->length);
    } else {
        to = put_bytes(to, script->call, CALL_LENGTH);
    }
    return put_integer(to, keys);
}

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

static char *put_grant_of_slot(char *to, const struct request *request)
{
    to = put_call(to, request, REQUEST_GRANT, SCRIPT_GRANT_SLOT, GRANT_ARGUMENTS + 2);
    return put_integer(put_grant_arguments(to, request), request->grant.permits);
}

static char *put_grant(char *to, const struct request *request)
{
    if (request_is_for_slot(request))
        return put_grant_of_slot(to, request);
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

static char *put_renew_of_slot(char *to, const struct request *request)
{
    to = put_call(to, request, REQUEST_RENEW, SCRIPT_RENEW_SLOT, RENEW_ARGUMENTS);
    return put_renew_arguments(to, request);
}

static char *put_renew(char *to, const struct request *request)
{
    if (request_is_for_slot(request))
        return put_renew_of_slot(to, request);
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
    enum script_number script = request_is_for_slot(request) ? SCRIPT_RELEASE_SLOT : SCRIPT_RELEASE;
    bool marks = request->ttl_ms != 0;
    to = put_call(to, request, REQUEST_RELEASE, script, marks);
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

/* ---- Several in one ---- */

/* All are of one kind, and in one mode. */
#define EACH_SCRIPT(requests, kind)                                                                \
    &scripts[request_shares_any(&(requests)[0]) ? SCRIPT_##kind##_SHARED_EACH                      \
                                                : SCRIPT_##kind##_EACH]

static char *put_name_of_each(char *to, const struct request *requests, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to = put_name(to, requests[i].names, 0);
    return to;
}

static char *put_release_each(char *to, const struct request *requests, unsigned count, bool whole)
{
    to = put_script(to, &scripts[SCRIPT_RELEASE_EACH], whole, count, count);
    to = put_name_of_each(to, requests, count);
    for (unsigned i = 0; i < count; i++)
        to = put_token(to, &requests[i]);
    return to;
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

static char *put_grant_each(char *to, const struct request *requests, unsigned count, bool whole)
{
    to = put_script(to, EACH_SCRIPT(requests, GRANT), whole, count + 1,
                    1 + count * (1 + GRANT_ARGUMENTS));
    to = put_name_of_each(to, requests, count);
    to = put_integer(PUT(to, CLOCK_KEY), CLOCK_WINDOW);
    for (unsigned i = 0; i < count; i++) {
        to = put_token(to, &requests[i]);
        to = put_integer(to, requests[i].ttl_ms);
        to = put_integer(to, requests[i].grant.proposal);
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

/* ---- Requests about the connection ---- */

static char *put_hello(char *to, const struct request *request)
{
    const struct quarantine_terms *terms = &request->terms;
    to = put_script(to, &hello_script, request->whole, 1, 6);
    to = PUT(to, CLOCK_KEY);
    to = put_integer(to, terms->max_ttl_ms);
    to = put_integer(to, terms->drift_ppm);
    to = put_integer(to, terms->skew_ms);
    to = put_flag(to, terms->trust);
    to = put_flag(to, request->tag.kind == REQUEST_ADOPT);
    return put_integer(to, CLOCK_WINDOW);
}

static char *put_adopt(char *to, const struct request *request)
{
    return put_hello(to, request);
}

static char *put_kill(char *to, const struct request *request)
{
    to = PUT(to, "*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n");
    return put_integer(to, request->kill_id);
}

static char *put_agree(char *to, const struct request *request)
{
    const struct agree_request *agree = request->agree;
    const struct engine_config *config = agree->config;
    to = put_script(to, &agree_script, request->whole, 1, 8 + 2 * config->masters);
    to = put_header(to, '$', sizeof LISTS_KEY - 1 + strlen(config->fleet));
    to = PUT(put_bytes(PUT(to, LISTS_KEY), config->fleet, strlen(config->fleet)), "\r\n");
    to = put_integer(to, agree->says);
    to = put_string(to, config->channel);
    to = put_string(to, config->label);
    to = put_integer(to, agree->kept);
    to = put_integer(to, agree->quorum);
    to = put_integer(to, config->spare);
    to = put_integer(to, config->max_ttl_ms);
    to = put_integer(to, agree->told_time);
    for (unsigned i = 0; i < config->masters; i++) {
        to = put_string(to, config->addresses[i]);
        to = put_string(to, agree->run_ids[i]);
    }
    return to;
}

static char *put_auth(char *to, const struct credentials *login)
{
    const char *password = login->password ? login->password : "";
    if (!login->user)
        return put_string(PUT(to, "*2\r\n$4\r\nAUTH\r\n"), password);
    to = put_string(PUT(to, "*3\r\n$4\r\nAUTH\r\n"), login->user);
    return put_string(to, password);
}

static char *put_select(char *to, int db)
{
    return put_integer(PUT(to, "*2\r\n$6\r\nSELECT\r\n"), db);
}

static char *put_setname(char *to, const char *name)
{
    return put_string(PUT(to, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n"), name);
}

static char *put_load(char *to, const struct script *script)
{
    to = PUT(to, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n");
    return put_bulk(to, script->text, script->length);
}

static char *put_login(char *to, const struct credentials *login, enum step *steps, unsigned *count)
{
    if (login->user || login->password) {
        to = put_auth(to, login);
        steps[(*count)++] = STEP_AUTH;
    }
    if (login->db > 0) {
        to = put_select(to, login->db);
        steps[(*count)++] = STEP_SELECT;
    }
    if (login->client_name) {
        to = put_setname(to, login->client_name);
        steps[(*count)++] = STEP_SETNAME;
    }
    to = PUT(to, "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n");
    steps[(*count)++] = STEP_CLIENT_ID;
    return to;
}

/* The text of hello changes with any of them, and hello comes last: a master that has it has them
 * all. */
static char *put_loads(char *to, enum step *steps, unsigned *count)
{
    for (unsigned i = 0; i < SCRIPT_ANNOUNCE; i++) {
        to = put_load(to, &scripts[i]);
        steps[(*count)++] = STEP_LOAD;
    }
    steps[(*count)++] = STEP_LOAD;
    return put_load(to, &agree_script);
}

/* Channels know no databases, and a subscription asks only for the process at its other end. */
static char *put_subscription(char *to, const struct credentials *login, const char *channel,
                              enum step *steps, unsigned *count)
{
    if (login->user || login->password) {
        to = put_auth(to, login);
        steps[(*count)++] = STEP_AUTH;
    }
    if (login->client_name) {
        to = put_setname(to, login->client_name);
        steps[(*count)++] = STEP_SETNAME;
    }
    to = PUT(to, "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n");
    steps[(*count)++] = STEP_INFO;
    to = put_string(PUT(to, "*2\r\n$9\r\nSUBSCRIBE\r\n"), channel);
    steps[(*count)++] = STEP_SUBSCRIBE;
    return to;
}

/* ---- All of them ---- */

static char *put_request(char *to, const struct request *request)
{
    switch (request->tag.kind) {
#define PUT_KIND(kind, name, ...)                                                                  \
    case REQUEST_##kind:                                                                           \
        return put_##name(to, request);
        CONNECTION_REQUESTS(PUT_KIND)
        CLAIM_REQUESTS(PUT_KIND)
        TASK_REQUESTS(PUT_KIND)
#undef PUT_KIND
    }
    return to;
}

static size_t login_room(const struct credentials *login)
{
    const char *strings[] = {login->user, login->password, login->client_name};
    size_t room = 0;
    for (unsigned i = 0; i < sizeof strings / sizeof *strings; i++)
        room += strings[i] ? strlen(strings[i]) : 0;
    return room;
}

static size_t agree_room(const struct agree_request *agree)
{
    const struct engine_config *config = agree->config;
    size_t room = strlen(config->fleet);
    for (unsigned i = 0; i < config->masters; i++)
        room += strlen(config->addresses[i]) + RUN_ID_MAX + 3 * FRAME_MAX;
    return room;
}

/* Of what a request says beyond its token and name. */
static size_t words_room(const struct request *request)
{
    switch ((unsigned)request->tag.kind) {
    case REQUEST_AGREE:
        return agree_room(request->agree);
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
    default:
        return 0;
    }
}

static size_t request_room(const struct request *request)
{
    size_t room = FIXED_MAX + request->token_length + words_room(request);
    if (request_brings_pushes(request->tag.kind) && request->channel)
        room += strlen(request->channel);
    if (request->whole)
        room += SCRIPTS_SIZE;
    for (unsigned i = 0; request->names && i < request->names->count; i++)
        room += names_at(request->names, i).length + FRAME_MAX + 1;
    return room;
}

static bool has_hash(const struct script *script, const char *hash)
{
    return strncmp(hash, script->call + sizeof EVALSHA - 1, sizeof SCRIPT_HELLO_SHA1 - 1) == 0;
}

const char *command_script(const char *hash)
{
    for (unsigned i = 0; i < SCRIPTS; i++)
        if (has_hash(&scripts[i], hash))
            return scripts[i].text;
    return has_hash(&hello_script, hash)   ? hello_script.text
           : has_hash(&agree_script, hash) ? agree_script.text
                                           : NULL;
}

bool command_may_batch(const struct request *request)
{
    const struct names *names = request->names;
    enum request_kind kind = request->tag.kind;
    bool marks = kind == REQUEST_RELEASE && request->ttl_ms;
    return request_may_batch(kind) && !request->whole && names->count == 1 && !names->slot &&
           !marks && !(request->tag.converts && kind == REQUEST_RENEW);
}

void command_write_each(struct buffer *buffer, const struct request *requests, unsigned count,
                        bool whole)
{
    size_t room = whole ? SCRIPTS_SIZE : 0;
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
    size_t room = request_room(request) + (login && is_hello ? login_room(login) : 0);
    char *start = buffer_reserve(buffer, room), *to = start;
    if (start && login && is_hello)
        to = put_login(to, login, steps, &count);
    if (start && request->whole && is_hello)
        to = put_loads(to, steps, &count);
    if (start)
        buffer_advance(buffer, (size_t)(put_request(to, request) - start));
    steps[count++] = STEP_FINAL;
    return count;
}

unsigned command_write_subscribe(struct buffer *buffer, const struct credentials *login,
                                 const char *channel, enum step steps[STEPS_MAX])
{
    unsigned count = 0;
    char *start = buffer_reserve(buffer, FIXED_MAX + login_room(login) + strlen(channel));
    if (start)
        buffer_advance(buffer,
                       (size_t)(put_subscription(start, login, channel, steps, &count) - start));
    return count;
}

void command_write_probe(struct buffer *buffer)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    char *start = buffer_reserve(buffer, sizeof ping);
    if (start)
        buffer_advance(buffer, (size_t)(PUT(start, ping) - start));
}
