#include "command_reader.h"

#include <stdlib.h>
#include <string.h>

#include "scripts.h"

/* ---- RESP --------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

/* "*3\r\n": 1; 0: not as a whole; -1: it is no such line. */
static int read_header(struct cursor *cursor, char type, size_t most, size_t *number)
{
    const char *at = cursor->at;
    if (at == cursor->end)
        return 0;
    if (*at++ != type)
        return -1;
    *number = 0;
    const char *digits = at;
    for (; at < cursor->end && *at >= '0' && *at <= '9'; at++)
        if ((*number = 10 * *number + (size_t)(*at - '0')) > most)
            return -1;
    if (cursor->end - at < 2)
        return at == cursor->end || *at == '\r' ? 0 : -1;
    if (at == digits || (at - digits > 1 && *digits == '0') || at[0] != '\r' || at[1] != '\n')
        return -1;
    cursor->at = at + 2;
    return 1;
}

static int read_word(struct cursor *cursor, struct slice *word)
{
    int read = read_header(cursor, '$', 1 << 20, &word->length);
    if (read != 1)
        return read;
    size_t left = (size_t)(cursor->end - cursor->at);
    if (left < word->length + 2)
        return 0;
    word->bytes = cursor->at;
    cursor->at += word->length + 2;
    return memcmp(cursor->at - 2, "\r\n", 2) == 0 ? 1 : -1;
}

ssize_t words_read(struct words *words, const char *bytes, size_t length)
{
    struct cursor cursor = {bytes, bytes + length};
    size_t count;
    int read = read_header(&cursor, '*', WORDS_MAX, &count);
    words->count = 0;
    while (read == 1 && words->count < count)
        read = read_word(&cursor, &words->each[words->count++]);
    return read == 1 ? cursor.at - bytes : read;
}

/* ---- words --------------------------------------------------------------------------- */

static bool is(struct slice word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.bytes, text, word.length) == 0;
}

/* The words of a command from the `at`-th on; it is `bad` once one is not what it must be. */
struct reading {
    const struct dictionary *means;
    const struct words *words;
    unsigned at;
    bool bad;
};

static struct slice next(struct reading *it)
{
    if (it->at < it->words->count)
        return it->words->each[it->at++];
    it->bad = true;
    return (struct slice){"", 0};
}

static void must_be(struct reading *it, const char *text)
{
    it->bad |= !is(next(it), text);
}

static int64_t number(struct reading *it)
{
    struct slice word = next(it);
    bool negative = word.length && *word.bytes == '-';
    int64_t value = 0;
    it->bad |= word.length == negative || word.length > 19;
    for (size_t i = negative; i < word.length && !it->bad; i++) {
        it->bad |= word.bytes[i] < '0' || word.bytes[i] > '9';
        value = 10 * value + word.bytes[i] - '0';
    }
    return negative ? -value : value;
}

static bool flag(struct reading *it)
{
    struct slice word = next(it);
    it->bad |= !is(word, "0") && !is(word, "1");
    return is(word, "1");
}

static model_name name(struct reading *it)
{
    unsigned name = it->means->name(it->means->owner, next(it));
    it->bad |= name >= MODEL_KEYS;
    return it->bad ? 0 : (model_name)name;
}

static uint32_t token(struct reading *it)
{
    struct slice word = next(it);
    it->bad |= word.length == 0 || word.length > TOKEN_MAX;
    return it->bad ? 0 : it->means->token(it->means->owner, word);
}

/* Of a client that does not listen it is "". */
static uint32_t channel(struct reading *it, bool may_be_none)
{
    struct slice word = next(it);
    if (may_be_none && !word.length)
        return 0;
    uint32_t channel = it->means->channel(it->means->owner, word);
    it->bad |= !channel;
    return channel;
}

/* ---- scripts -------------------------------------------------------------------------- */

struct script {
    enum request_kind kind;
    bool each, shared, slot;
    const char *hash, *text;
};

#define SCRIPT(kind, ...)                                                                          \
    {REQUEST_##kind, false, false, false, SCRIPT_##kind##_SHA1, SCRIPT_##kind##_TEXT},
#define ROW(kind, script, each, shared, slot)                                                      \
    {REQUEST_##kind, each, shared, slot, SCRIPT_##script##_SHA1, SCRIPT_##script##_TEXT},
/* clang-format off */
#define OTHER_SCRIPTS(kind, name, token, takes, sets, clock, batch, modes, slot)                         \
    REQUEST_IF_##batch(ROW(kind, kind##_EACH, true, false, false))                                        \
    REQUEST_IF_##modes(ROW(kind, kind##_SHARED, false, true, false))                                      \
    REQUEST_IF_##modes(REQUEST_IF_##batch(ROW(kind, kind##_SHARED_EACH, true, true, false)))            \
    REQUEST_IF_##slot(ROW(kind, kind##_SLOT, batch, false, true))
/* clang-format on */
static const struct script scripts[] = {SCRIPT(HELLO) SCRIPT(AGREE) CLAIM_REQUESTS(SCRIPT)
                                            CLAIM_REQUESTS(OTHER_SCRIPTS) TASK_REQUESTS(SCRIPT)};

static const struct script *find_script(struct slice word, bool by_hash)
{
    for (unsigned i = 0; i < sizeof scripts / sizeof scripts[0]; i++)
        if (is(word, by_hash ? scripts[i].hash : scripts[i].text))
            return &scripts[i];
    return NULL;
}

/* ---- requests --------------------------------------------------------------------------- */

static void read_rest(struct reading *it, struct model_call *call)
{
    enum request_kind kind = call->kind;
    if (kind == REQUEST_RAISE)
        call->fence = number(it);
    if (kind == REQUEST_QUEUE)
        call->ticket = number(it);
    if (kind == REQUEST_ACQUIRE || kind == REQUEST_GRANT || kind == REQUEST_QUEUE ||
        kind == REQUEST_RENEW || kind == REQUEST_UPGRADE)
        call->ttl_ms = number(it);
    if (kind == REQUEST_GRANT || kind == REQUEST_UPGRADE)
        call->proposal = number(it);
    if (kind == REQUEST_RENEW) {
        call->heal = flag(it);
        call->not_after = number(it);
    }
    if (kind == REQUEST_QUEUE)
        call->channel = channel(it, false);
}

/* A letter for each name. */
static void read_modes(struct reading *it, struct model_call *call)
{
    struct slice word = next(it);
    it->bad |= word.length != call->count;
    for (unsigned i = 0; i < call->count && !it->bad; i++) {
        it->bad |= word.bytes[i] != 's' && word.bytes[i] != 'x';
        call->modes |= (model_modes)((model_modes)(word.bytes[i] == 's') << i);
    }
    it->bad |= call->modes == 0;
}

static void must_be_window(struct reading *it)
{
    it->bad |= number(it) != CLOCK_WINDOW;
}

static void read_hello(struct reading *it, struct asked *asked)
{
    struct model_call *call = &asked->calls[0];
    asked->count = 1;
    must_be(it, "1");
    must_be(it, "redlock:clock");
    call->terms.max_ttl_ms = number(it);
    call->terms.drift_ppm = number(it);
    call->terms.skew_ms = number(it);
    call->terms.trust = flag(it);
    usec adopt_or_ago = number(it);
    call->kind = adopt_or_ago == 1 ? REQUEST_ADOPT : REQUEST_HELLO;
    call->terms.other_ago = adopt_or_ago == 1 ? 0 : adopt_or_ago;
    must_be_window(it);
}

static void read_agree(struct reading *it, struct asked *asked)
{
    asked->count = 1;
    it->bad |= !it->means->agree(it->means->owner, it->words, it->at);
    it->at = it->words->count;
}

static unsigned key_count(struct reading *it, enum request_kind kind, unsigned most)
{
    int64_t keys = number(it) - request_has_clock(kind);
    it->bad |= keys < 1 || keys > most;
    return it->bad ? 0 : (unsigned)keys;
}

static void read_barrier(struct reading *it, struct model_call *call)
{
    call->generation = number(it);
    call->parties = (unsigned)number(it);
    if (call->kind == REQUEST_DEPART)
        return;
    call->ttl_ms = number(it);
    call->kept_ms = number(it);
    call->passed = flag(it);
    call->channel = channel(it, false);
}

static void read_arrived(struct reading *it, struct model_call *call)
{
    struct slice lines = next(it);
    const char *at = lines.bytes, *end = at + lines.length;
    for (unsigned i = 0; at < end && i < MODEL_ARRIVALS; i++) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t one = (size_t)((line ? line : end) - at);
        call->arrived[i] = it->means->token(it->means->owner, (struct slice){at, one});
        at += one + 1;
    }
    it->bad |= at < end;
}

static void read_tally(struct reading *it, struct model_call *call)
{
    struct slice id = next(it);
    if (id.length)
        call->value = it->means->token(it->means->owner, id);
    read_arrived(it, call);
    call->open = flag(it);
    call->channel = channel(it, true);
    call->ttl_ms = number(it);
}

static void read_mend(struct reading *it, struct model_call *call)
{
    struct slice run = next(it);
    char text[17] = ""; /* the number of the process is in its first digits */
    memcpy(text, run.bytes, run.length < sizeof text ? run.length : sizeof text - 1);
    call->run = strtoull(text, NULL, 16);
    call->parties = (unsigned)number(it);
    call->not_after = MS(number(it));
    call->open = flag(it);
    read_arrived(it, call);
}

static void read_survey(struct reading *it, struct asked *asked)
{
    asked->word = next(it);
    number(it); /* where the last one ended: at the end, as each tells all */
    number(it);
    flag(it);
}

static void read_ask(struct reading *it, struct model_call *call)
{
    call->count = 2;
    call->names[0] = name(it);
    call->names[1] = name(it);
    it->bad |= model_is_slot(call->names[0]) || model_is_slot(call->names[1]);
    call->fence = number(it);
    call->ttl_ms = number(it);
    call->said = it->means->value(it->means->owner, next(it));
    call->number = number(it);
}

static void read_task(struct reading *it, struct asked *asked)
{
    struct model_call *call = &asked->calls[0];
    asked->count = 1;
    must_be(it, call->kind == REQUEST_ASK ? "2" : "1");
    if (call->kind == REQUEST_SURVEY) {
        read_survey(it, asked);
        return;
    }
    if (call->kind == REQUEST_ASK) {
        read_ask(it, call);
        return;
    }
    call->count = 1;
    call->names[0] = name(it);
    it->bad |= model_is_slot(call->names[0]);
    if (call->kind == REQUEST_OBSERVE) {
        call->channel = channel(it, true);
        call->ttl_ms = number(it);
        return;
    }
    if (call->kind == REQUEST_TALLY) {
        read_tally(it, call);
        return;
    }
    call->value = token(it);
    if (call->kind == REQUEST_DROP) {
        call->ttl_ms = number(it);
        return;
    }
    if (call->kind == REQUEST_MEND) {
        read_mend(it, call);
        return;
    }
    if (call->kind == REQUEST_ARRIVE || call->kind == REQUEST_DEPART) {
        read_barrier(it, call);
        return;
    }
    if (call->kind == REQUEST_ANNOUNCE)
        call->ttl_ms = number(it);
    call->fence = number(it);
    if (call->kind == REQUEST_ANNOUNCE) {
        call->number = number(it);
        call->said = it->means->value(it->means->owner, next(it));
    }
}

static void read_permits(struct reading *it, struct model_call *call)
{
    int64_t permits = number(it);
    it->bad |= permits < 1 || permits > MODEL_PERMITS;
    call->permits = it->bad ? 1 : (unsigned)permits;
}

static void read_one(struct reading *it, const struct script *script, struct asked *asked)
{
    bool shared = script->shared;
    struct model_call *call = &asked->calls[0];
    asked->count = 1;
    call->count = (uint8_t)key_count(it, call->kind, MODEL_NAMES);
    for (unsigned i = 0; i < call->count; i++)
        call->names[i] = name(it);
    for (unsigned i = 1; i < call->count; i++)
        it->bad |= model_is_slot(call->names[i]);
    if (request_has_clock(call->kind))
        must_be(it, "redlock:clock");
    if (request_carries_token(call->kind))
        call->value = token(it);
    read_rest(it, call);
    if (call->kind == REQUEST_GRANT || call->kind == REQUEST_UPGRADE)
        must_be_window(it);
    if (call->kind == REQUEST_RELEASE && it->at < it->words->count)
        call->ttl_ms = number(it);
    if (script->slot && request_takes(call->kind))
        read_permits(it, call);
    if (call->kind == REQUEST_PEEK && it->at < it->words->count)
        call->tokens_told = (unsigned)number(it);
    it->bad |= call->count &&
               script->slot != (model_is_slot(call->names[0]) && request_has_slot(call->kind));
    bool more = call->kind == REQUEST_QUEUE && it->at < it->words->count;
    if (shared || more)
        read_modes(it, call);
    if (shared && call->kind == REQUEST_RENEW)
        call->converts = flag(it);
}

/* Where all are alike, only the first grant has a ttl and a proposal. */
static void read_grants(struct reading *it, struct asked *asked)
{
    unsigned left = it->words->count - it->at;
    bool alike = left == asked->count + 2;
    it->bad |= !alike && left != 3 * asked->count;
    for (unsigned i = 0; i < asked->count; i++) {
        struct model_call *call = &asked->calls[i], *before = i ? call - 1 : call;
        if (i == 0 || !alike)
            read_rest(it, call);
        else
            call->ttl_ms = before->ttl_ms;
        if (i > 0 && alike)
            call->proposal = before->proposal ? before->proposal + 1 : 0;
        call->value = token(it);
    }
}

static void read_each(struct reading *it, const struct script *script, struct asked *asked)
{
    struct model_call like = asked->calls[0];
    asked->count = key_count(it, like.kind, script->slot ? BATCH_OF_SLOTS_MAX : BATCH_MAX);
    for (unsigned i = 0; i < asked->count; i++) {
        asked->calls[i] = like;
        asked->calls[i].count = 1;
        asked->calls[i].modes = script->shared;
        asked->calls[i].names[0] = name(it);
        it->bad |= script->slot != model_is_slot(asked->calls[i].names[0]);
    }
    if (request_has_clock(like.kind)) {
        must_be(it, "redlock:clock");
        must_be_window(it);
    }
    if (like.kind == REQUEST_GRANT && !script->slot) {
        read_grants(it, asked);
        return;
    }
    for (unsigned i = 0; i < asked->count; i++) {
        asked->calls[i].value = token(it);
        read_rest(it, &asked->calls[i]);
        if (script->slot && like.kind == REQUEST_GRANT)
            read_permits(it, &asked->calls[i]);
    }
    if (asked->count == 1 && like.kind == REQUEST_RELEASE && it->at < it->words->count)
        asked->calls[0].ttl_ms = number(it);
}

static void read_script(struct reading *it, bool by_hash, struct asked *asked)
{
    const struct script *script = find_script(next(it), by_hash);
    asked->asks = ASKS_REQUESTS;
    it->bad |= !script;
    if (it->bad)
        return;
    asked->calls[0] =
        (struct model_call){.kind = script->kind, .whole = !by_hash, .each = script->each};
    if (script->kind == REQUEST_HELLO || script->kind == REQUEST_AGREE) {
        script->kind == REQUEST_HELLO ? read_hello(it, asked) : read_agree(it, asked);
        return;
    }
    if (request_is_of_task(script->kind))
        read_task(it, asked);
    else if (script->each)
        read_each(it, script, asked);
    else
        read_one(it, script, asked);
}

static void read_set(struct reading *it, struct asked *asked)
{
    struct model_call *call = &asked->calls[0];
    asked->asks = ASKS_REQUESTS;
    asked->count = 1;
    *call = (struct model_call){.kind = REQUEST_ACQUIRE, .count = 1};
    call->names[0] = name(it);
    call->value = token(it);
    must_be(it, "NX");
    must_be(it, "PX");
    call->ttl_ms = number(it);
}

/* ---- the other commands -------------------------------------------------------------------- */

static void read_client(struct reading *it, struct asked *asked)
{
    struct slice what = next(it);
    if (is(what, "SETNAME")) {
        asked->asks = ASKS_NAME;
        asked->word = next(it);
    } else if (is(what, "ID")) {
        asked->asks = ASKS_ID;
    } else if (is(what, "KILL")) {
        must_be(it, "ID");
        asked->asks = ASKS_REQUESTS;
        asked->count = 1;
        asked->calls[0] = (struct model_call){.kind = REQUEST_KILL};
        asked->kill_id = number(it);
    }
}

static void read_load(struct reading *it, struct asked *asked)
{
    must_be(it, "LOAD");
    const struct script *script = find_script(next(it), false);
    it->bad |= !script || script->kind == REQUEST_HELLO || request_is_of_task(script->kind);
    asked->asks = ASKS_LOAD;
    asked->hash = script ? script->hash : "";
}

static void read_auth(struct reading *it, struct asked *asked)
{
    struct slice user = next(it), password = next(it);
    it->bad |= !it->means->is_login(it->means->owner, user, password);
    asked->asks = ASKS_LOGIN;
}

void command_read(const struct dictionary *dictionary, const struct words *words,
                  struct asked *asked)
{
    struct reading it = {.means = dictionary, .words = words};
    struct slice command = next(&it);
    asked->asks = ASKS_NONSENSE;
    asked->count = 0;
    if (is(command, "SET")) {
        read_set(&it, asked);
    } else if (is(command, "EVALSHA") || is(command, "EVAL")) {
        read_script(&it, is(command, "EVALSHA"), asked);
    } else if (is(command, "CLIENT")) {
        read_client(&it, asked);
    } else if (is(command, "AUTH")) {
        read_auth(&it, asked);
    } else if (is(command, "SELECT")) {
        it.bad |= !dictionary->is_database(dictionary->owner, next(&it));
        asked->asks = ASKS_DATABASE;
    } else if (is(command, "SCRIPT")) {
        read_load(&it, asked);
    } else if (is(command, "PING")) {
        asked->asks = ASKS_PING;
    } else if (is(command, "INFO")) {
        must_be(&it, "server");
        asked->asks = ASKS_INFO;
    } else if (is(command, "SUBSCRIBE")) {
        asked->word = next(&it);
        asked->asks = ASKS_SUBSCRIBE;
    }
    if (it.bad || it.at != words->count)
        asked->asks = ASKS_NONSENSE;
}
