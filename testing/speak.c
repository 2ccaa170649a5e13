#include "speak.h"

#include <stdio.h>
#include <string.h>

#include "answer_writer.h"
#include "ground/slots.h"
#include "lists.h"
#include "spell.h"

/* ---- words -------------------------------------------------------------------------------- */

/* "redlock:permit:3:name" → 3, and the name; false: it is no slot. */
static bool take_slot(struct slice *key, unsigned *slot)
{
    const size_t before = sizeof SLOT_PREFIX - 1;
    if (key->length <= before || memcmp(key->bytes, SLOT_PREFIX, before) != 0)
        return false;
    size_t at = before;
    for (*slot = 0;
         at < key->length && key->bytes[at] >= '0' && key->bytes[at] <= '9' && *slot < 10000; at++)
        *slot = 10 * *slot + (unsigned)(key->bytes[at] - '0');
    if (at == key->length || key->bytes[at] != ':')
        return false;
    *key = (struct slice){key->bytes + at + 1, key->length - at - 1};
    return true;
}

static unsigned name_meant(void *owner, struct slice key)
{
    unsigned slot = 0;
    (void)owner;
    bool is_slot = take_slot(&key, &slot);
    uint32_t name = texts_number(&names, key);
    if (!name || slot >= MODEL_PERMITS)
        return MODEL_KEYS;
    return is_slot ? model_slot(name, slot) : name;
}

static uint32_t token_meant(void *owner, struct slice token)
{
    (void)owner;
    return texts_number(&tokens, token);
}

static uint32_t channel_meant(void *owner, struct slice channel)
{
    (void)owner;
    return texts_number(&channels, channel);
}

static bool is_login_meant(void *owner, struct slice user, struct slice password)
{
    (void)owner, (void)user, (void)password;
    return true;
}

static bool is_database_meant(void *owner, struct slice number)
{
    (void)owner, (void)number;
    return true;
}

const struct dictionary speak_dictionary = {.name = name_meant,
                                            .token = token_meant,
                                            .value = token_meant,
                                            .channel = channel_meant,
                                            .is_login = is_login_meant,
                                            .is_database = is_database_meant,
                                            .agree = lists_hear};

/* ---- which names there are ---------------------------------------------------------------- */

static bool begins_with(struct slice text, struct slice beginning)
{
    return text.length >= beginning.length &&
           memcmp(text.bytes, beginning.bytes, beginning.length) == 0;
}

static bool is_there(struct inside *master, unsigned name)
{
    usec wall = master_wall(master);
    bool is =
        model_value(&master->model, wall, name) || model_waiter(&master->model, wall, name, 0);
    for (unsigned slot = 0; slot < MODEL_PERMITS && !is; slot++)
        is = model_value(&master->model, wall, model_slot(name, slot)) != 0;
    return is;
}

/* All at once: the cursor is at its end. */
static void speak_survey(struct speech *speech, struct slice beginning)
{
    struct inside *master = &masters[speech->master];
    struct buffer list = {0};
    unsigned keys = 0;
    for (unsigned name = 1; name < MODEL_SLOTS_AT; name++) {
        struct slice text = texts_spell(&names, name);
        if (!text.length || !is_there(master, name))
            continue;
        keys++;
        if (!begins_with(text, beginning))
            continue;
        char length[16];
        buffer_append(&list, length, (size_t)snprintf(length, sizeof length, "%zu:", text.length));
        buffer_append(&list, text.bytes, text.length);
    }
    answer_write_array(speech->to, 4);
    answer_write_text(speech->to, "0");
    answer_write_integer(speech->to, keys);
    answer_write_integer(speech->to, 0);
    answer_write_slice(speech->to, (struct slice){list.data ? list.data : "", list.length});
    speech->to->failed |= list.failed;
    buffer_free(&list);
}

/* ---- requests ------------------------------------------------------------------------------- */

static void speak_one(struct speech *speech, const struct model_call *call,
                      const struct model_answer *answer)
{
    struct spelled spelled;
    if (!spell_answer(&masters[speech->master], call, answer, &spelled))
        speech->to->failed = true;
    answer_write_one(speech->to, call, answer, &spelled.reply);
    spelled_end(&spelled);
}

/* None of those that share a command is carried out without its script. */
static bool lacks_script(const struct speech *speech, const struct model_call *call)
{
    return !call->whole && request_has_script(call->kind) &&
           !(masters[speech->master].model.scripts & model_script(call));
}

static void speak_each(struct speech *speech, const struct asked *asked)
{
    static struct model_answer answer;
    if (lacks_script(speech, &asked->calls[0])) {
        answer = (struct model_answer){.answer = ANSWER_NOSCRIPT};
        answer_write_refusal(speech->to, &answer);
        return;
    }
    if (asked->count > 1)
        answer_write_array(speech->to, asked->count);
    for (unsigned i = 0; i < asked->count; i++) {
        master_execute(&masters[speech->master], &asked->calls[i], &answer);
        speech->publish(speech->master, &answer);
        if (asked->count == 1 && !answer_is_error(answer.answer))
            answer_write_array(speech->to, 1);
        answer_write_of_each(speech->to, &asked->calls[i], &answer);
    }
}

void speak_answers(struct speech *speech, const struct asked *asked)
{
    static struct model_answer answer;
    const struct model_call *call = &asked->calls[0];
    if (call->each) {
        speak_each(speech, asked);
        return;
    }
    if (call->kind == REQUEST_SURVEY && !lacks_script(speech, call)) {
        masters[speech->master].model.scripts |= model_scripts_with(call);
        speak_survey(speech, asked->word);
        return;
    }
    if (call->kind == REQUEST_AGREE && !lacks_script(speech, call)) {
        masters[speech->master].model.scripts |= model_scripts_with(call);
        lists_tell(speech->master, master_wall(&masters[speech->master]), speech->to);
        return;
    }
    master_execute(&masters[speech->master], call, &answer);
    speech->publish(speech->master, &answer);
    if (answer_is_error(answer.answer))
        answer_write_refusal(speech->to, &answer);
    else
        speak_one(speech, call, &answer);
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

void speak_greeting(struct speech *speech, const struct asked *asked, int64_t id)
{
    char run_id[RUN_ID_TEXT];
    switch (asked->asks) {
    case ASKS_ID:
        answer_write_integer(speech->to, id);
        break;
    case ASKS_LOAD:
        answer_write_text(speech->to, asked->hash);
        break;
    case ASKS_INFO:
        spell_run_id(run_id, masters[speech->master].model.run_id);
        answer_write_info(speech->to, run_id);
        break;
    default:
        answer_write_status(speech->to, "OK");
    }
}

void speak_subscribed(struct buffer *to, struct slice channel)
{
    answer_write_array(to, 3);
    answer_write_text(to, "subscribe");
    answer_write_slice(to, channel);
    answer_write_integer(to, 1);
}

void speak_pong(struct buffer *to, bool is_subscribed)
{
    if (!is_subscribed) {
        answer_write_status(to, "PONG");
        return;
    }
    answer_write_array(to, 2);
    answer_write_text(to, "pong");
    answer_write_text(to, "");
}

void speak_nonsense(struct buffer *to)
{
    answer_write_error(to, "ERR the test double has no room for this, or does not know it: see "
                           "LIMITS in testing.md");
}

void speak_push(struct buffer *to, const struct model_push *it)
{
    struct push push;
    spell_push(it, &push);
    answer_write_push(to, texts_spell(&channels, it->channel).bytes, &push);
}
