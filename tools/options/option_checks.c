#include "option_checks.h"

#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "redlock/recipes.h"
#include "votes.h"

#define NAMELESS (FOR_NODES | FOR_LIST | FOR_CONFIG | FOR_MASTERS)

static int check_permits(const struct options *options)
{
    if (options->permits && (options->shared || options->shared_names_count > 0)) {
        return misuse(options, "--permits and --shared exclude each other: a permit has one "
                               "holder; use a larger K");
    }
    if (options->permits && options->names_count > 1) {
        return misuse(options,
                      "--permits takes one name, not %zu: run one `redlock run` inside another",
                      options->names_count);
    }
    return GO_ON;
}

/* A script that reads them could not tell one name from two. */
static int check_names(const struct options *options)
{
    for (size_t i = 0; i < options->names_count; i++)
        if (memchr(options->names[i].bytes, '\n', options->names[i].length))
            return misuse(options, "a name has a newline, which separates the names in "
                                   "REDLOCK_NAMES: choose another name, or use `redlock lock`");
    return GO_ON;
}

static int check_latch(const struct options *options)
{
    bool creates = strcmp(options->action, "create") == 0;
    bool arrives = strcmp(options->action, "arrive") == 0;
    bool counts = strcmp(options->action, "count") == 0;
    if (creates && !options->arrivals)
        return misuse(options, "--arrivals is missing: the number of arrivals that open the latch");
    if (!creates && (options->arrivals || options->life_ms))
        return misuse(options, "`redlock latch %s` takes no --%s: `redlock latch create` sets that",
                      options->action, options->arrivals ? "arrivals" : "life");
    if (creates && options->id)
        return misuse(options, "`redlock latch create` takes no --id: it prints a new one");
    if (!arrives && options->arrival)
        return misuse(options, "`redlock latch %s` takes no --arrival", options->action);
    if (counts && options->wait_ms >= 0)
        return misuse(options,
                      "`redlock latch count` takes no --wait: it prints the present count");
    return GO_ON;
}

static int check_once(const struct options *options)
{
    size_t length = options->key ? strlen(options->key) : 0;
    if (!options->key)
        return misuse(options, "--key is missing: what is to be done once, such as a day");
    for (size_t i = 0; i < length; i++)
        if (options->key[i] <= ' ' || options->key[i] > '~')
            return misuse(options, "--key: '%s' is not printable ASCII without spaces",
                          options->key);
    if (length < 1 || length >= REDLOCK_LATCH_ID_SIZE)
        return misuse(options, "--key has 1 to %d bytes, not %zu", REDLOCK_LATCH_ID_SIZE - 1,
                      length);
    if (!options->life_ms)
        return misuse(options, "--life is missing: how long it counts as done, such as 36h");
    if (options->life_ms < 1000 || options->life_ms > REDLOCK_LATCH_LIFE_MAX)
        return misuse(options, "--life: a record lasts for 1s to 720h");
    return GO_ON;
}

static int check_status(const struct options *options)
{
    if (options->check && options->watch)
        return misuse(options, "--check looks once, and --watch goes on: give one of them");
    return GO_ON;
}

static int check_on_lost(const struct options *options)
{
    if (options->on_lost && !options->on_lost[0])
        return misuse(options, "--on-lost: the command is empty");
    if (options->on_lost && options->kill_after_ms == 0)
        return misuse(options, "--on-lost has no time to run with --kill-after 0: use a longer "
                               "--kill-after");
    return GO_ON;
}

static bool has_one_name_alone(const struct options *options)
{
    return options->names_count == 1 && !options->shared && !options->shared_names_count &&
           !options->permits;
}

static int check_wishes(const struct options *options)
{
    if (options->on_wanted && !options->on_wanted[0])
        return misuse(options, "--on-wanted: the command is empty");
    if ((options->on_wanted || options->yields) && !has_one_name_alone(options))
        return misuse(options, "--on-wanted and --yield-when-wanted need one name, neither shared "
                               "nor with permits: other holders cannot be asked");
    if (options->wish && options->command->bit != FOR_ASK &&
        (options->names_count > 1 || options->permits))
        return misuse(options, "--ask needs one name, without permits: it asks one holder");
    if (options->wish && options->command->bit != FOR_ASK && options->wait_ms == 0)
        return misuse(options, "--ask is for one who waits: add --wait");
    return GO_ON;
}

static bool cannot_ask(const struct options *options)
{
    return !options->yes && (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO));
}

static int check_break(const struct options *options)
{
    if (!options->holder)
        return misuse(options, "--holder is missing: give the token that `redlock status` shows");
    if (!options->holder[0])
        return misuse(options, "--holder: '' is no token: give what `redlock status` shows");
    if ((options->json && !options->yes) || cannot_ask(options))
        return misuse(options, "%s: add --yes if the lock is really to be taken from its holder",
                      options->json ? "--json asks no question" : "no terminal for the question");
    return GO_ON;
}

/* An option that only a change of the list takes. */
static const char *find_change_option(const struct options *options)
{
    return options->plan               ? "plan"
           : options->undo             ? "undo"
           : options->yes              ? "yes"
           : options->patience_ms >= 0 ? "patience"
                                       : NULL;
}

static int check_masters(const struct options *options)
{
    const char *option = find_change_option(options);
    if (!options->action && option)
        return misuse(options, "--%s goes with `redlock masters change`", option);
    if (!options->action)
        return GO_ON;
    if (options->watch)
        return misuse(options, "`redlock masters change` takes no --watch");
    if (options->json && !options->plan)
        return misuse(options, "`redlock masters change` has --json only with --plan");
    if (options->undo && (options->to || options->plan))
        return misuse(options, "--undo is about the present list: it takes no list, and no --plan");
    if (!options->undo && (!options->to || !options->to[0]))
        return misuse(options, "no list given: redlock masters change HOST:PORT,HOST:PORT,...");
    if (!options->undo && !options->plan && cannot_ask(options))
        return misuse(options, "no terminal for the question: add --yes if the list is really to "
                               "be changed");
    return GO_ON;
}

int option_checks(const struct options *options)
{
    enum command_bit bit = options->command->bit;
    if (bit & NAMELESS && options->names_count > 0)
        return misuse(options, "`redlock %s` takes no names%s", options->command->name,
                      bit == FOR_LIST ? ": use --prefix for their beginning" : "");
    if (!(bit & NAMELESS) && options->names_count == 0)
        return misuse(options, "no name given");
    if ((bit & (FOR_RUN | FOR_ELECT | FOR_ONCE)) && (!options->program || !options->program[0]))
        return misuse(options, "no command given: redlock %s NAME -- COMMAND",
                      options->command->name);
    if ((bit &
         (FOR_ELECT | FOR_LEADER | FOR_BARRIER | FOR_LATCH | FOR_BREAK | FOR_ONCE | FOR_ASK)) &&
        options->names_count > 1)
        return misuse(options, "`redlock %s` takes one name, not %zu", options->command->name,
                      options->names_count);
    if (bit == FOR_STATUS)
        return check_status(options);
    if (bit == FOR_MASTERS)
        return check_masters(options);
    if (bit == FOR_BREAK)
        return check_break(options);
    if (bit == FOR_BARRIER && !options->parties)
        return misuse(options, "--parties is missing: the number of parties that must arrive");
    if (bit == FOR_LATCH)
        return check_latch(options);
    if ((bit & (FOR_EXTEND | FOR_UNLOCK)) && !options->token)
        return misuse(options, "--token is missing: give what `redlock lock` printed");
    if ((bit & (FOR_EXTEND | FOR_UNLOCK)) && token_length(options->token) == 0) {
        return misuse(options, "--token: '%s' is no token: give what `redlock lock` printed",
                      options->token);
    }
    int status = bit & (FOR_RUN | FOR_ELECT | FOR_ONCE) ? check_names(options) : GO_ON;
    if (status == GO_ON)
        status = bit == FOR_ONCE ? check_once(options) : check_permits(options);
    if (status == GO_ON)
        status = check_wishes(options);
    return status == GO_ON ? check_on_lost(options) : status;
}
