#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/view.h"
#include "said.h"

#define NAMES     3 /* few, so that often somebody observes them */
#define VALUES    5
#define LONG_TEXT VALUE_MOST

/* ---- spelling ------------------------------------------------------------------------ */

void said_spell_name(unsigned name, char text[KEY_TEXT])
{
    static const char *const before[] = {"", WISHES, TAKEN};
    snprintf(text, KEY_TEXT, "%sname:%u", before[name / MODEL_NAMES], name % MODEL_NAMES);
}

static unsigned number_of_name(const char *text)
{
    unsigned of = strncmp(text, TAKEN, sizeof TAKEN - 1) == 0     ? 2
                  : strncmp(text, WISHES, sizeof WISHES - 1) == 0 ? 1
                                                                  : 0;
    return of * MODEL_NAMES + number_in(text);
}

static void spell_ear(uint32_t channel, char text[KEY_TEXT])
{
    snprintf(text, KEY_TEXT, "redlock:ear-%u", channel);
}

/* Nothing, bytes of any kind, very many, and plain words.  Nobody says "x". */
static const char *spell_value(uint32_t value, size_t *length)
{
    static const char any[] = "a\0b\r\n \xff ";
    static char very_long[LONG_TEXT], words[16];
    if (value == 0) {
        *length = 0;
        return "";
    }
    if (value == 1) {
        *length = sizeof any;
        return any;
    }
    if (value == 2) {
        *length = sizeof very_long;
        return memset(very_long, 'v', sizeof very_long);
    }
    *length = (size_t)snprintf(words, sizeof words, "says %u", value);
    return words;
}

static bool is_value(uint32_t value, const char *bytes, size_t length)
{
    size_t its_length;
    const char *its = spell_value(value, &its_length);
    return length == its_length && memcmp(its, bytes, length) == 0;
}

static uint32_t value_of(const char *bytes, size_t length)
{
    for (uint32_t value = 0; value < VALUES; value++)
        if (is_value(value, bytes, length))
            return value;
    return length == 5 && memcmp(bytes, "taken", 5) == 0 ? MODEL_TAKEN : UINT32_MAX;
}

static struct model_said number_all(const struct said *said)
{
    if (!said->term)
        return (struct model_said){0};
    return (struct model_said){.token = number_in(said->token.bytes),
                               .value = value_of(said->value.bytes, said->value.length),
                               .term = said->term,
                               .number = said->number};
}

static bool is_same(const struct model_said *a, const struct model_said *b)
{
    return a->token == b->token &&
           (!a->token || (a->value == b->value && a->term == b->term && a->number == b->number));
}

/* ---- the listener ---------------------------------------------------------------------- */

static bool write_all(redisContext *context)
{
    int done = 0;
    while (!done)
        if (redisBufferWrite(context, &done) != REDIS_OK)
            return false;
    return true;
}

static bool read_one(struct listener *it)
{
    void *reply = NULL;
    while (redisGetReplyFromReader(it->context, &reply) == REDIS_OK && !reply)
        if (redisBufferRead(it->context) != REDIS_OK)
            return false;
    return reply != NULL;
}

bool listener_begins(struct listener *it, const char *socket)
{
    char ear[KEY_TEXT];
    it->context = redisConnectUnix(socket);
    if (!it->context || it->context->err)
        return false;
    reply_attach(it->context->reader, &it->raw);
    for (uint32_t channel = 1; channel <= EARS; channel++) {
        spell_ear(channel, ear);
        redisAppendCommand(it->context, "SUBSCRIBE %s", ear);
    }
    bool reads = write_all(it->context);
    for (unsigned i = 0; i < EARS; i++)
        reads = reads && read_one(it);
    return reads;
}

void listener_ends(struct listener *it)
{
    redisFree(it->context);
    reply_free(&it->raw);
}

static bool take(struct listener *it)
{
    char ear[KEY_TEXT];
    struct push push;
    for (uint32_t channel = 1; channel <= EARS; channel++) {
        spell_ear(channel, ear);
        if (it->count == 2 * EARS || !reply_read_push(&it->raw, ear, &push) || !push.name.bytes)
            continue;
        it->heard[it->count++] =
            (struct model_push){.channel = channel,
                                .names = {(uint8_t)number_of_name(push.name.bytes)},
                                .said = number_all(&push.said),
                                .left_ms = push.said.remaining_ms};
        return true;
    }
    return false;
}

/* The master has published it before it answers the ping. */
bool listener_hears(struct listener *it)
{
    it->count = 0;
    redisAppendCommand(it->context, "PING");
    bool reads = write_all(it->context);
    while (reads && (reads = read_one(it)) && !reply_is_alive(&it->raw))
        reads = take(it);
    return reads;
}

bool listener_heard(const struct listener *it, const struct model_answer *answer)
{
    unsigned found = 0, wanted = 0;
    for (unsigned i = 0; i < answer->push_count; i++) {
        wanted += answer->pushes[i].says;
        for (unsigned k = 0; k < it->count; k++) {
            const struct model_push *push = &answer->pushes[i], *heard = &it->heard[k];
            found += push->says && push->channel == heard->channel &&
                     push->names[0] == heard->names[0] && push->left_ms == heard->left_ms &&
                     is_same(&push->said, &heard->said);
        }
    }
    return found == wanted && found == it->count;
}

/* ---- requests and answers ------------------------------------------------------------------ */

/* Often it is said once more, to another holder. */
static void draw_ask(struct chance *chance, const struct model_master *model, uint32_t holder,
                     struct model_call *call)
{
    bool again = chance_permille(chance, 500);
    unsigned name = chance_below(chance, NAMES);
    for (unsigned i = 0; again && i < NAMES; i++) {
        uint32_t token = model->data.said[(name + i) % NAMES].token;
        if (token && token != holder) {
            name = (name + i) % NAMES;
            call->fence = model->data.said[name].term;
            break;
        }
    }
    call->names[call->count++] = (uint8_t)name;
    call->number = 100 + call->number; /* more than ever wait: the real queue keeps the dead */
}

struct model_call said_draw(struct chance *chance, const struct model_master *model,
                            unsigned tokens, int64_t longest_ms)
{
    static const enum request_kind kinds[] = {REQUEST_ANNOUNCE, REQUEST_ANNOUNCE, REQUEST_UNSAY,
                                              REQUEST_OBSERVE,  REQUEST_OBSERVE,  REQUEST_ASK};
    unsigned name = chance_below(chance, NAMES);
    uint32_t holder = model->data.keys[name].value;
    const struct model_said *said = &model->data.said[name];
    struct model_call call = {
        .kind = kinds[chance_below(chance, 6)], .count = 1, .names = {(uint8_t)name}};
    call.whole = chance_permille(chance, 500);
    call.value = 1 + chance_below(chance, tokens);
    call.ttl_ms = chance_range(chance, 2, longest_ms);
    call.fence = chance_range(chance, 1, 3);
    call.number = chance_range(chance, 1, 3);
    call.said = chance_below(chance, VALUES);
    call.channel = chance_below(chance, EARS + 1);
    if (holder && holder < MODEL_SLOTS_OUT && chance_permille(chance, 800))
        call.value = holder;
    if (chance_permille(chance, 50))
        call.fence = call.number = INT64_C(1) << 53;
    if (call.kind == REQUEST_OBSERVE)
        call.ttl_ms *= chance_permille(chance, 150) ? 0 : 4;
    if (call.kind == REQUEST_ASK) {
        draw_ask(chance, model, holder, &call);
        return call;
    }
    if (said->token && chance_permille(chance, 400)) { /* once more */
        call.fence = said->term;
        call.number = said->number;
        call.said = said->value;
        call.value = said->token;
        if (chance_permille(chance, 300)) /* or what came before, late */
            call.number = chance_range(chance, 1, said->number);
        if (chance_permille(chance, 200)) /* or as another one in that term */
            call.value = 1 + chance_below(chance, tokens);
    }
    return call;
}

void said_hear_breaks(struct chance *chance, struct model_call *call)
{
    unsigned name = call->names[0];
    if (call->kind == REQUEST_OBSERVE && chance_permille(chance, 500))
        call->names[0] = (uint8_t)(name + MODEL_NAMES * (1 + chance_below(chance, 2)));
    for (unsigned i = 0; i < 2 && call->kind == REQUEST_RELEASE && name < MODEL_NAMES; i++)
        call->heard[i] = (uint8_t)(name + MODEL_NAMES * (1 + i));
}

void said_spell(const struct model_call *call, struct request *request)
{
    static char ear[KEY_TEXT];
    spell_ear(call->channel, ear);
    if (call->kind == REQUEST_OBSERVE)
        request->channel = call->channel ? ear : NULL;
    if (call->kind == REQUEST_ASK) {
        request->ask = (struct ask_request){.id = call->fence, .least = (uint16_t)call->number};
        request->ask.words.bytes = spell_value(call->said, &request->ask.words.length);
    }
    if (call->kind == REQUEST_ANNOUNCE || call->kind == REQUEST_UNSAY)
        request->announce.term = call->fence;
    if (call->kind == REQUEST_ANNOUNCE) {
        request->announce.number = call->number;
        request->announce.value.bytes = spell_value(call->said, &request->announce.value.length);
    }
}

static bool same_heed(const struct model_answer *model, const struct heed_reply *real)
{
    bool is_marker = slices_are_same(real->value, slice_of(READERS));
    int64_t left = model->remaining_ms == -1 ? -2 : model->remaining_ms;
    bool same_value = model->value == MODEL_MARK
                          ? is_marker
                          : !is_marker && number_in(real->value.bytes) == model->value;
    return same_value && llabs(left - real->remaining_ms) <= 1 &&
           real->waiting == model->position && real->heeding == model->counted;
}

bool said_same_answer(const struct model_answer *model, const struct reply *real)
{
    if (model->answer == ANSWER_HELD && real->tag.kind == REQUEST_ASK)
        return same_heed(model, &real->heed);
    if (model->answer != ANSWER_YES || real->tag.kind != REQUEST_OBSERVE)
        return true;
    struct model_said told = number_all(&real->said);
    return is_same(&model->said, &told) &&
           llabs(model->remaining_ms - real->said.remaining_ms) <= 1;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool same_record(redisContext *context, struct model_said *model, unsigned name)
{
    char text[KEY_TEXT];
    said_spell_name(name, text);
    int64_t expires = real_integer(context, "PEXPIRETIME redlock:leader:%s", text);
    redisReply *record = real_ask(context, "GET redlock:leader:%s", text);
    int64_t now = real_ms(context);
    struct said said;
    struct model_said real = {0};
    if (record->type == REDIS_REPLY_STRING && expires > 0 &&
        said_read(record->str, record->len, &said))
        real = number_all(&said);
    freeReplyObject(record);
    if (!real.token || real.value == UINT32_MAX || expires <= now + 1)
        return !model->token || model->expires_ms <= now + 2;
    if (!is_same(model, &real) || llabs(model->expires_ms - expires) > 1)
        return false;
    model->expires_ms = expires;
    return true;
}

static struct model_observer *find_observer(struct model_data *data, unsigned name,
                                            uint32_t channel)
{
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++)
        if (data->observers[i].channel == channel && data->observers[i].name == name)
            return &data->observers[i];
    return NULL;
}

/* Those who are not about to end; their key lasts as long as the last of them. */
static bool same_observers(redisContext *context, struct model_data *data, unsigned name)
{
    char text[KEY_TEXT];
    said_spell_name(name, text);
    int64_t expires = real_integer(context, "PEXPIRETIME redlock:observers:%s", text);
    redisReply *set = real_ask(context, "ZRANGE redlock:observers:%s 0 -1 WITHSCORES", text);
    int64_t soon = real_ms(context) + 1;
    bool same = true;
    unsigned found = 0, wanted = 0;
    for (unsigned i = 0; set->type == REDIS_REPLY_ARRAY && i + 1 < set->elements; i += 2) {
        int64_t end = strtoll(set->element[i + 1]->str, NULL, 10);
        struct model_observer *observer =
            find_observer(data, name, number_in(set->element[i]->str));
        if (observer && llabs(observer->expires_ms - end) <= 1)
            observer->expires_ms = end;
        else
            same &= end <= soon;
        same &= end <= expires + 1;
        found += end > soon;
    }
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++)
        wanted += data->observers[i].channel && data->observers[i].name == name &&
                  data->observers[i].expires_ms > soon;
    freeReplyObject(set);
    return same && found == wanted;
}

bool said_same_keys(redisContext *context, struct model_master *model, unsigned name)
{
    return same_record(context, &model->data.said[name], name) &&
           same_observers(context, &model->data, name);
}

/* ---- others, and ends -------------------------------------------------------------------------
 */

static void write_nonsense(redisContext *context, struct chance *chance, unsigned name)
{
    static const char *const records[] = {"",
                                          "1 1 value-1",
                                          "0 1 value-1 x",
                                          "01 1 value-1 x",
                                          "1 1.5 value-1 x",
                                          "9007199254740993 1 value-1 x"};
    unsigned which = chance_below(chance, 8);
    redisReply *done =
        which < 6
            ? redisCommand(context, "SET redlock:leader:name:%u %s PX 60", name, records[which])
        : which == 6 ? redisCommand(context, "SET redlock:leader:name:%u %s", name, "1 1 value-1 x")
                     : redisCommand(context, "LPUSH redlock:leader:name:%u x", name);
    freeReplyObject(done);
}

void said_spoil(redisContext *context, struct chance *chance, struct model_master *model)
{
    unsigned name = chance_below(chance, NAMES);
    if (chance_permille(chance, 300)) {
        (void)real_integer(context, "DEL redlock:observers:name:%u", name);
        for (unsigned i = 0; i < MODEL_OBSERVERS; i++)
            if (model->data.observers[i].name == name)
                model->data.observers[i] = (struct model_observer){0};
        return;
    }
    (void)real_integer(context, "DEL redlock:leader:name:%u", name);
    if (chance_permille(chance, 500))
        write_nonsense(context, chance, name);
    model->data.said[name] = (struct model_said){0};
}

bool said_ends_between(const struct model_data *data, unsigned name, int64_t from_ms,
                       int64_t until_ms)
{
    const struct model_said *said = &data->said[name];
    bool any = said->token && said->expires_ms >= from_ms && said->expires_ms <= until_ms;
    for (unsigned i = 0; i < MODEL_OBSERVERS; i++) {
        const struct model_observer *observer = &data->observers[i];
        any |= observer->channel && observer->name == name && observer->expires_ms >= from_ms &&
               observer->expires_ms <= until_ms;
    }
    return any;
}
