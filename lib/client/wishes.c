/*
 * wishes.c - the calls about wishes for a name: asking its holder, heeding.
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "events.h"
#include "options.h"
#include "redlock/recipes.h"
#include "report.h"
#include "sized.h"
#include "task_calls.h"

static const struct sized options_kind = SIZED(redlock_ask_options, again);

struct redlock_asker {
    struct client_task task;
    redlock_ask_callback *callback;
    void *data;
};

struct redlock_heeder {
    struct client_task task;
    redlock_wish_callback *callback;
    void *data;
};

/* ---- asking -------------------------------------------------------------------------- */

static redlock_code code_of_end(const struct asker_news *news)
{
    if (news->end == ASK_TOLD)
        return REDLOCK_OK;
    if (news->end == ASK_FREE)
        return REDLOCK_E_GONE;
    return news->cause ? code_of(news->cause) : REDLOCK_E_UNAVAILABLE;
}

static bool tell_asker(redlock *client, struct client_task *task)
{
    redlock_asker *asker = (redlock_asker *)(void *)task;
    struct task_news news;
    if (!task->owes || !task_tell(client->engine, task->core, &news))
        return false;
    const struct asker_news *of = &news.asker;
    redlock_asked asked = {.size = sizeof asked,
                           .code = code_of_end(of),
                           .heard = of->heeding,
                           .waiting = of->waiting,
                           .told = of->on,
                           .masters = client->masters};
    snprintf(asked.holder, sizeof asked.holder, "%s", of->holder);
    task->owes = false;
    asker->callback(asker, &asked, asker->data);
    return true;
}

/* The holder shows it on a terminal. */
static redlock_code check_text(redlock *client, const char *text)
{
    size_t length = strlen(text);
    if (length > WISH_TEXT_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "the text of a wish has at most %d bytes, not %zu", WISH_TEXT_MAX,
                           length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return client_fail(client, REDLOCK_E_ARGUMENT,
                               "the text of a wish has no control characters, and byte %zu is one: "
                               "write it in one line",
                               i + 1);
    return REDLOCK_OK;
}

static redlock_code read_ask_options(redlock *client, const redlock_ask_options *options,
                                     struct asker_terms *terms)
{
    redlock_ask_options o = {.size = sizeof o};
    if (options && !sized_take(&options_kind, &o, options))
        return client_fail_size(client, &options_kind, options->size);
    const char *text = o.text ? o.text : "";
    redlock_code code = task_calls_wait(client, o.timeout_ms, &terms->wait);
    if (!code && o.again && o.timeout_ms)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a wish that is said again ends when it is freed: no timeout_ms");
    terms->text = slice_of(text);
    terms->again = o.again;
    return code ? code : check_text(client, text);
}

/* The name, and that of its wishes, both with the prefix. */
static struct names *make_both(redlock *client, const struct names *names)
{
    char wishes[sizeof WISHES + REDLOCK_NAME_MAX];
    struct slice name = names_at(names, 0);
    int length = snprintf(wishes, sizeof wishes, "%s", WISHES);
    memcpy(wishes + length, name.bytes, name.length);
    struct slice both[] = {name, {wishes, (size_t)length + name.length}};
    return names_new(&client->memory, (struct slice){"", 0}, both, 2);
}

static redlock_code begin_asker(redlock *client, redlock_asker **out, const char *name,
                                const struct asker_terms *terms, redlock_asker **made)
{
    struct names *names;
    redlock_code code = task_calls_check(client, name, &names);
    if (code)
        return code;
    struct names *both = make_both(client, names);
    redlock_asker *asker = both ? task_calls_new(client, sizeof *asker, tell_asker) : NULL;
    struct task *core = asker ? asker_new(client->engine, both, terms, &asker->task) : NULL;
    names_drop(&client->memory, names);
    if (both)
        names_drop(&client->memory, both);
    code = task_calls_enter(client, asker, core);
    *out = *made = code ? NULL : asker;
    return code;
}

redlock_code redlock_ask(redlock *client, redlock_asker **out, const char *name,
                         const redlock_ask_options *options, redlock_ask_callback *callback,
                         void *data)
{
    struct asker_terms terms;
    redlock_asker *asker = NULL;
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT, "an asker needs a callback and a handle");
    redlock_code code = calls_check(client);
    if (!code)
        code = client_may_act(client);
    if (!code)
        code = read_ask_options(client, options, &terms);
    if (!code)
        code = begin_asker(client, out, name, &terms, &asker);
    if (code || !asker)
        return code;
    asker->callback = callback;
    asker->data = data;
    asker->task.owes = true;
    asker->task.go = task_calls_go_over;
    task_calls_ask(&asker->task);
    return REDLOCK_OK;
}

void redlock_asker_free(redlock_asker *asker)
{
    task_calls_drop(asker);
}

/* ---- heeding ------------------------------------------------------------------------- */

static redlock_code check_heed(redlock_lease *lease, bool heeds)
{
    redlock *client = lease->client;
    redlock_code code = calls_check_open(client);
    if (code)
        return code;
    const struct names *names = lease_names(core_of(lease));
    if (!names || !redlock_lease_valid_for(lease))
        return client_fail(client, REDLOCK_E_STATE, "only a lease that is held can heed wishes");
    if (names->count != 1 || lease->slot >= 0)
        return client_fail(client, REDLOCK_E_STATE,
                           "a lease can heed wishes if it has one name and is no permit");
    if (heeds && redlock_lease_is_shared(lease))
        return client_fail(client, REDLOCK_E_STATE,
                           "a shared lease cannot heed wishes: others have the name too");
    return REDLOCK_OK;
}

static bool tell_heeder(redlock *client, struct client_task *task)
{
    redlock_heeder *heeder = (redlock_heeder *)(void *)task;
    struct task_news news;
    char who[sizeof client->config.label], text[WISH_TEXT_MAX + 1];
    if (!task_tell(client->engine, task->core, &news))
        return false;
    const struct heeder_news *of = &news.heeder;
    snprintf(who, sizeof who, "%.*s", (int)of->who.length, of->who.bytes);
    snprintf(text, sizeof text, "%.*s", (int)of->text.length, of->text.bytes);
    redlock_wish wish = {.size = sizeof wish, .who = who, .text = text, .waiting = of->waiting};
    client_task_untold(task); /* there may be another one */
    heeder->callback(heeder, &wish, heeder->data);
    return true;
}

/* Of a lease that heeds no wishes masters tell only that its token was taken. */
static struct task *make_core(const redlock_lease *lease, struct client_task *owner, bool heeds)
{
    redlock *client = lease->client;
    struct lease *core_lease = core_of(lease);
    struct slice name = names_at(lease_names(core_lease), 0);
    struct names *names = names_new(&client->memory, slice_of(heeds ? WISHES : TAKEN), &name, 1);
    if (!names)
        return NULL;
    struct task *core =
        (heeds ? heeder_new : watcher_new)(client->engine, names, core_lease, owner);
    names_drop(&client->memory, names);
    return core;
}

redlock_code redlock_heed(redlock_lease *lease, redlock_heeder **out,
                          redlock_wish_callback *callback, void *data)
{
    redlock *client = lease->client;
    if (out)
        *out = NULL;
    if (!out)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a heeder needs a handle");
    redlock_code code = check_heed(lease, callback);
    if (code)
        return code;
    redlock_heeder *heeder = task_calls_new(client, sizeof *heeder, tell_heeder);
    struct task *core = heeder ? make_core(lease, &heeder->task, callback) : NULL;
    if (heeder)
        heeder->task.quiet = !callback;
    code = task_calls_enter(client, heeder, core);
    if (code || !heeder)
        return REDLOCK_E_MEMORY;
    heeder->callback = callback;
    heeder->data = data;
    heeder->task.go = task_calls_go_over;
    task_calls_ask(&heeder->task);
    *out = heeder;
    return REDLOCK_OK;
}

void redlock_heeder_free(redlock_heeder *heeder)
{
    task_calls_drop(heeder);
}
