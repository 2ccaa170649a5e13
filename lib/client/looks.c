/*
 * looks.c - the calls about who has a name.
 */
#include "ask.h"
#include "calls.h"
#include "report.h"
#include "sized.h"

#define TOKENS_USUAL 16 /* as the script has it */

static redlock_code read_options(redlock *client, const redlock_look_options *options,
                                 struct terms *terms)
{
    static const struct sized type = SIZED(redlock_look_options, all_answers);
    redlock_look_options o = {0};
    if (options && !sized_take(&type, &o, options))
        return client_fail_size(client, &type, options->size);
    if (o.tokens < 0 || o.tokens > REDLOCK_TOKENS_TOLD_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "tokens is %d, and must be 1 to %d, or 0 for 16", o.tokens,
                           REDLOCK_TOKENS_TOLD_MAX);
    if (!sized_is_flag(&o.all_answers))
        return client_fail(
            client, REDLOCK_E_ARGUMENT,
            "all_answers is neither true nor false: clear the struct before you fill it");
    *terms = (struct terms){
        .inspects = true, .tokens_told = (uint16_t)o.tokens, .all_answers = o.all_answers};
    return REDLOCK_OK;
}

redlock_code redlock_look_begin(redlock *client, redlock_look **out, const redlock_name *names,
                                size_t count, const redlock_look_options *options,
                                redlock_look_callback *callback, void *data)
{
    struct terms terms;
    redlock_lease *lease = NULL;
    if (out)
        *out = NULL;
    if (client && (!out || !callback))
        client_explain(client, "a look needs a callback and a handle");
    if (!client || !out || !callback)
        return REDLOCK_E_ARGUMENT;
    redlock_code code = calls_check(client);
    if (!code)
        code = read_options(client, options, &terms);
    if (!code)
        code = calls_new_look(client, &lease, names, count, &terms);
    if (code)
        return code;
    lease->look_callback = callback;
    lease->data = data;
    lease->tokens = (int16_t)(terms.tokens_told ? terms.tokens_told : TOKENS_USUAL);
    *out = look_of(lease);
    client_ask(lease, OP_INSPECT);
    return REDLOCK_OK;
}

void redlock_look_free(redlock_look *look)
{
    if (look)
        redlock_lease_free(lease_of_look(look));
}
