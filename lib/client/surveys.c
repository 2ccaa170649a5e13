/*
 * surveys.c - the calls about which names there are.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "report.h"
#include "sized.h"
#include "task_calls.h"

#define NAMES_MOST 512 /* in one answer of a master, as its script has it */

struct redlock_survey {
    struct client_task task;
    redlock_survey_callback *callback;
    void *data;
};

/* Takes the next name off the front; false if there is none. */
static bool next_name(struct slice *names, struct slice *name)
{
    char *colon;
    if (!names->length)
        return false;
    name->length = strtoul(names->bytes, &colon, 10);
    name->bytes = colon + 1;
    size_t taken = (size_t)(name->bytes - names->bytes) + name->length;
    names->bytes += taken;
    names->length -= taken;
    return true;
}

static bool begins_with(struct slice name, const char *text)
{
    size_t length = strlen(text);
    return name.length > length && memcmp(name.bytes, text, length) == 0;
}

/* Other software may have longer keys, and a master that lies may tell anything. */
static bool may_be_locked(const redlock *client, struct slice name)
{
    return name.length <= REDLOCK_NAME_MAX && begins_with(name, client->prefix) &&
           !begins_with(name, OWN);
}

/* The names on a page. */
struct names_told {
    redlock_name names[NAMES_MOST];
    const redlock_name *each[NAMES_MOST];
    size_t count;
};

/* Without the prefix. */
static void read_names(const redlock *client, struct slice from, struct names_told *told)
{
    size_t prefix = strlen(client->prefix);
    struct slice name;
    told->count = 0;
    while (told->count < NAMES_MOST && next_name(&from, &name)) {
        if (!may_be_locked(client, name))
            continue;
        told->names[told->count] = (redlock_name){.size = sizeof(redlock_name),
                                                  .bytes = name.bytes + prefix,
                                                  .length = name.length - prefix};
        told->each[told->count] = &told->names[told->count];
        told->count++;
    }
}

static bool tell_survey(redlock *client, struct client_task *task)
{
    redlock_survey *survey = (redlock_survey *)(void *)task;
    struct task_news news;
    struct names_told told;
    if (!task_tell(client->engine, task->core, &news))
        return false;
    const struct survey_news *of = &news.survey;
    bool failed = of->end == SURVEY_FAILED;
    read_names(client, of->names, &told);
    redlock_survey_page page = {.size = sizeof page,
                                .node = of->master,
                                .code = failed ? REDLOCK_E_UNAVAILABLE : REDLOCK_OK,
                                .last = of->end != SURVEY_GOES_ON,
                                .text = failed ? of->why : "",
                                .names = told.each,
                                .count = told.count,
                                .looked_at = of->looked_at,
                                .keys = of->there_are,
                                .left_out = of->left_out};
    client_task_untold(task); /* another master may have told something */
    task_calls_ask(task);
    survey->callback(survey, &page, survey->data);
    return true;
}

/* The task's name is what the names begin with. */
static struct names *make_beginning(const redlock *client)
{
    struct slice prefix = {client->prefix, strlen(client->prefix)};
    return names_new(&client->memory, (struct slice){0}, &prefix, 1);
}

static redlock_code check_survey(redlock *client, redlock_survey **out,
                                 redlock_survey_callback *callback)
{
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a survey needs a callback and a handle");
    return calls_check(client);
}

static redlock_code read_options(redlock *client, const redlock_survey_options *options,
                                 redlock_survey_options *to)
{
    static const struct sized type = SIZED(redlock_survey_options, foreign);
    *to = (redlock_survey_options){0};
    if (options && !sized_take(&type, to, options))
        return client_fail_size(client, &type, options->size);
    if (!sized_is_flag(&to->foreign))
        return client_fail(
            client, REDLOCK_E_ARGUMENT,
            "foreign is neither true nor false: clear the struct before you fill it");
    return REDLOCK_OK;
}

redlock_code redlock_survey_begin(redlock *client, redlock_survey **out,
                                  const redlock_survey_options *options,
                                  redlock_survey_callback *callback, void *data)
{
    redlock_survey_options o;
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    redlock_code code = check_survey(client, out, callback);
    if (!code)
        code = read_options(client, options, &o);
    if (code || !out)
        return code;
    redlock_survey *survey = task_calls_new(client, sizeof *survey, tell_survey);
    struct names *begins = survey ? make_beginning(client) : NULL;
    struct task *core =
        begins ? surveyor_new(client->engine, begins, o.foreign, &survey->task) : NULL;
    if (begins)
        names_drop(&client->memory, begins);
    code = task_calls_enter(client, survey, core);
    if (code || !survey)
        return REDLOCK_E_MEMORY;
    survey->callback = callback;
    survey->data = data;
    task_calls_ask(&survey->task);
    *out = survey;
    return REDLOCK_OK;
}

void redlock_survey_free(redlock_survey *survey)
{
    task_calls_drop(survey);
}
