#include "message_writer.h"

#include "exchange.h"

#define REFUSED_WHOLE 500 /* per mille of the errors to all of a batch */

/* ---- what can be said ------------------------------------------------------------------- */

static void settle_one(const struct model_call *call, struct model_answer *answer)
{
    if (answer_is_error(answer->answer))
        return;
    if (answer_tells_clock(call, answer->answer) && answer->clock <= 0)
        *answer = (struct model_answer){.answer = ANSWER_ERROR, .error = "ERR whatever"};
    if (answer->answer == ANSWER_QUEUED && answer->remaining_ms < -2)
        answer->remaining_ms = -2;
}

static bool all_answer(const struct message *message, enum answer answer)
{
    for (; message; message = message->shares)
        if (message->answer.answer != answer)
            return false;
    return true;
}

/* As a server that is loading refuses a command, before any script runs. */
static void refuse_whole(struct message *message)
{
    const char *error = message->answer.error;
    for (; message; message = message->shares)
        message->answer = (struct model_answer){.answer = ANSWER_NOSCRIPT, .error = error};
}

void message_settle(struct message *message, struct chance *chance)
{
    for (struct message *each = message; each; each = each->shares)
        settle_one(&each->call, &each->answer);
    if (message->shares && all_answer(message, ANSWER_ERROR) &&
        chance_permille(chance, REFUSED_WHOLE))
        refuse_whole(message);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void write_one(struct buffer *to, const struct world *w, const struct message *message)
{
    struct hello hello;
    struct reply reply;
    exchange_read(w, message, &(struct tag){.kind = message->call.kind}, &hello, &reply);
    answer_write_one(to, &message->call, &message->answer, &reply);
}

void message_write(struct buffer *to, const struct world *w, const struct message *message)
{
    unsigned count = 0;
    for (const struct message *each = message; each; each = each->shares)
        count++;
    bool is_error_alone = count == 1 && answer_is_error(message->answer.answer);
    if (count == 1 && !message->call.each && !is_error_alone) {
        write_one(to, w, message);
    } else if (is_error_alone || all_answer(message, ANSWER_NOSCRIPT)) {
        answer_write_refusal(to, &message->answer);
    } else {
        answer_write_array(to, count);
        for (const struct message *each = message; each; each = each->shares)
            answer_write_of_each(to, &each->call, &each->answer);
    }
}
