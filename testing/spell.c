#include "spell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_TOLD 16 /* as peek.lua tells if it is not asked for another number */

/* ---- lists of tokens, one a line ------------------------------------------------------- */

struct lines {
    char *text;
    size_t length, room;
    unsigned count, most;
    bool failed;
};

static void add_line(struct lines *lines, uint32_t token)
{
    struct slice text = texts_spell(&tokens, token);
    if (lines->count == lines->most || lines->failed)
        return;
    size_t room = lines->length + text.length + 2;
    char *grown = room > lines->room ? realloc(lines->text, 2 * room) : lines->text;
    if (!grown) {
        lines->failed = true;
        return;
    }
    lines->room = room > lines->room ? 2 * room : lines->room;
    lines->text = grown;
    if (lines->count++)
        lines->text[lines->length++] = '\n';
    memcpy(lines->text + lines->length, text.bytes, text.length + 1);
    lines->length += text.length;
}

static struct slice slice_of_lines(const struct lines *lines)
{
    return lines->text ? (struct slice){lines->text, lines->length} : (struct slice){"", 0};
}

/* ---- each kind ----------------------------------------------------------------------------- */

void spell_run_id(char text[RUN_ID_TEXT], uint64_t run_id)
{
    /* The model knows the first 16 digits. */
    snprintf(text, RUN_ID_TEXT, "%016llx%024d", (unsigned long long)run_id, 0);
}

static void spell_hello(const struct model_answer *answer, struct hello *hello)
{
    *hello = (struct hello){.role = "master",
                            .version = "7.0.15",
                            .eviction = "noeviction",
                            .uptime_s = answer->uptime_s,
                            .time = answer->time,
                            .abstains = answer->abstains,
                            .max_ttl_ms = answer->max_ttl_ms,
                            .age = answer->age,
                            .clock = answer->clock};
    spell_run_id(hello->run_id, answer->run_id);
}

/* As foreign.lua has it. */
static bool is_foreign(struct slice value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bool is_bare = value.length == TOKEN_TEXT && strspn(value.bytes, digits) == TOKEN_TEXT &&
                   strchr("AQgw", value.bytes[TOKEN_TEXT - 1]);
    bool has_label = value.length > TOKEN_TEXT && value.bytes[TOKEN_TEXT] == ':';
    return !is_bare && !has_label;
}

static bool are_all_foreign(const struct model_answer *answer)
{
    bool all = answer->holder_count > 0;
    for (unsigned i = 0; i < answer->holder_count; i++)
        all &= answer->holders[i] != MODEL_MARK &&
               is_foreign(texts_spell(&tokens, answer->holders[i]));
    return all;
}

static bool spell_said(const struct model_said *it, int64_t left_ms, struct said *said)
{
    *said = (struct said){0};
    if (!it->token)
        return false;
    *said = (struct said){.term = it->term,
                          .number = it->number,
                          .token = texts_spell(&tokens, it->token),
                          .value = it->value == MODEL_TAKEN ? slice_of("taken")
                                                            : texts_spell(&tokens, it->value),
                          .remaining_ms = left_ms};
    return true;
}

static struct lines lines_of_waiters(struct inside *master, unsigned name, unsigned most,
                                     unsigned *count)
{
    struct lines lines = {.most = most};
    const struct model_waiter *waiter;
    usec wall = master_wall(master);
    for (*count = 0; (waiter = model_waiter(&master->model, wall, name, *count)); ++*count)
        add_line(&lines, waiter->value);
    return lines;
}

static struct lines lines_of_readers(struct inside *master, unsigned name, unsigned most)
{
    struct lines lines = {.most = most};
    int64_t now = master_wall(master) / 1000;
    for (unsigned i = 0; i < MODEL_READERS; i++) {
        const struct model_reader *reader = &master->model.data.readers[i];
        if (reader->value && reader->name == name && reader->expires_ms > now)
            add_line(&lines, reader->value);
    }
    return lines;
}

static struct lines lines_of_permits(struct inside *master, unsigned name, unsigned most)
{
    struct lines lines = {.most = most};
    for (unsigned slot = 0; slot < MODEL_PERMITS; slot++) {
        uint32_t value = model_value(&master->model, master_wall(master), model_slot(name, slot));
        if (value)
            add_line(&lines, value);
    }
    return lines;
}

/* The first name that is held; of a name with permits out the name itself. */
static unsigned name_looked_at(struct inside *master, const struct model_call *call)
{
    for (unsigned i = 0; i < call->count; i++)
        if (model_value(&master->model, master_wall(master), call->names[i]))
            return call->names[i];
    return call->names[0];
}

static bool spell_peek(struct inside *master, const struct model_call *call,
                       const struct model_answer *answer, struct spelled *spelled)
{
    struct peek_reply *peek = &spelled->reply.peek;
    unsigned name = name_looked_at(master, call);
    unsigned most = call->tokens_told ? call->tokens_told : TOKENS_TOLD;
    bool is_shared = answer->value == MODEL_MARK, has_slots = answer->value == MODEL_SLOTS_OUT;
    struct lines waiters = lines_of_waiters(master, name, most, &peek->waiting), holders = {0};
    if (is_shared)
        holders = lines_of_readers(master, name, most);
    else if (has_slots)
        holders = lines_of_permits(master, name, most);
    spelled->lines[0] = waiters.text;
    spelled->lines[1] = holders.text;
    peek->value = is_shared   ? slice_of(READERS)
                  : has_slots ? slice_of(PERMITS)
                              : texts_spell(&tokens, answer->value);
    peek->waiters = slice_of_lines(&waiters);
    peek->readers = slice_of_lines(&holders);
    return !waiters.failed && !holders.failed;
}

static bool spell_parties(const struct model_answer *answer, struct spelled *spelled)
{
    struct lines lines = {.most = MODEL_PARTIES};
    for (unsigned i = 0; answer->answer == ANSWER_OPEN && i < MODEL_PARTIES; i++)
        if (answer->tokens[i])
            add_line(&lines, answer->tokens[i]);
    spelled->lines[0] = lines.text;
    spelled->reply.barrier.tokens = slice_of_lines(&lines);
    return !lines.failed;
}

static int by_text(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return strcmp(texts_spell(&tokens, one).bytes, texts_spell(&tokens, other).bytes);
}

static bool spell_latch(const struct model_answer *answer, struct spelled *spelled)
{
    const struct model_latch *latch = &answer->latch;
    struct lines lines = {.most = MODEL_ARRIVALS};
    uint32_t arrived[MODEL_ARRIVALS];
    unsigned count = 0;
    for (; count < MODEL_ARRIVALS && latch->arrived[count]; count++)
        arrived[count] = latch->arrived[count];
    qsort(arrived, count, sizeof *arrived, by_text);
    for (unsigned i = 0; i < count; i++)
        add_line(&lines, arrived[i]);
    spelled->lines[0] = lines.text;
    spelled->reply.latch = (struct latch_reply){.id = texts_spell(&tokens, latch->id),
                                                .arrivals = (uint16_t)latch->of,
                                                .ends_ms = latch->ends_ms,
                                                .remaining_ms = answer->remaining_ms,
                                                .age = answer->clock,
                                                .arrived = slice_of_lines(&lines)};
    return !lines.failed;
}

bool spell_answer(struct inside *master, const struct model_call *call,
                  const struct model_answer *answer, struct spelled *spelled)
{
    *spelled = (struct spelled){.reply.tag.kind = call->kind, .reply.answer = answer->answer};
    switch (call->kind) {
    case REQUEST_HELLO:
    case REQUEST_ADOPT:
        spell_hello(answer, &spelled->hello);
        spelled->reply.hello = &spelled->hello;
        return true;
    case REQUEST_QUEUE:
        spelled->reply.queue.foreign = are_all_foreign(answer);
        return true;
    case REQUEST_PEEK:
        return answer->answer != ANSWER_HELD || spell_peek(master, call, answer, spelled);
    case REQUEST_OBSERVE:
        spell_said(&answer->said, answer->remaining_ms, &spelled->reply.said);
        return true;
    case REQUEST_ASK:
        spelled->reply.heed.value = answer->value == MODEL_MARK ? slice_of(READERS)
                                    : answer->value ? texts_spell(&tokens, answer->value)
                                                    : slice_of("");
        return true;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        return spell_parties(answer, spelled);
    case REQUEST_TALLY:
    case REQUEST_MEND:
        return answer->answer == ANSWER_ABSENT || spell_latch(answer, spelled);
    default:
        return true;
    }
}

void spelled_end(struct spelled *spelled)
{
    free(spelled->lines[0]);
    free(spelled->lines[1]);
}

void spell_push(const struct model_push *it, struct push *push)
{
    *push = (struct push){.clock = it->clock, .free_slot = it->free_slot};
    if (!it->says) {
        push->token = texts_spell(&tokens, it->value);
        return;
    }
    push->name = texts_spell(&names, it->names[0]);
    spell_said(&it->said, it->left_ms, &push->said);
}
