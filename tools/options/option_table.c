#include "option_table.h"

#include "commands.h"
#include "exits.h"
#include "options.h"
#include "redlock/recipes.h"

#define IN(field)               .at = offsetof(struct options, field)
#define FLAG(field)             .kind = OPTION_FLAG, IN(field)
#define TEXT(field)             .kind = OPTION_TEXT, IN(field)
#define SETTING(name)           TEXT(text[SETTING_##name])
#define SPAN(field)             .kind = OPTION_SPAN, IN(field)
#define SPAN_ABOVE_0(field)     .kind = OPTION_SPAN_ABOVE_0, IN(field)
#define SPAN_OR_FOREVER(field)  .kind = OPTION_SPAN_OR_FOREVER, IN(field)
#define NUMBER(field, from, to) .kind = OPTION_NUMBER, IN(field), .least = (from), .most = (to)
#define OWN(word)               .kind = OPTION_##word

/* clang-format off */
static const struct option_row rows[] = {
    {"nodes", FOR_ALL, TEXT(nodes)},
    {"nodes-file", FOR_ALL, TEXT(nodes_file)},
    {"config", FOR_ALL, TEXT(config)},
    {"max-ttl", FOR_ALL, SPAN_ABOVE_0(max_ttl_ms)},
    {"spare", FOR_ALL, OWN(SPARE)},
    {"prefix", FOR_ALL, SETTING(PREFIX)},
    {"fleet", FOR_ALL, SETTING(FLEET)},
    {"label", FOR_ALL, SETTING(LABEL)},
    {"request-timeout", FOR_ALL, SPAN_ABOVE_0(request_timeout_ms)},
    {"connect-timeout", FOR_ALL, SPAN_ABOVE_0(connect_timeout_ms)},
    {"tls-ca", FOR_ALL, SETTING(TLS_CA)},
    {"tls-cert", FOR_ALL, SETTING(TLS_CERT)},
    {"tls-key", FOR_ALL, SETTING(TLS_KEY)},
    {"tls-name", FOR_ALL, SETTING(TLS_NAME)},
    {"tls-sni", FOR_ALL, SETTING(TLS_SNI)},
    {"tls-verify", FOR_ALL, SETTING(TLS_VERIFY)},
    {"json", FOR_ALL, FLAG(json)},
    {"quiet", FOR_ALL, FLAG(quiet), .letter = 'q'},
    {"verbose", FOR_ALL, FLAG(verbose), .letter = 'v'},
    {"version", FOR_ALL, OWN(VERSION), .letter = 'V'},
    {"help", FOR_ALL, OWN(HELP), .letter = 'h'},
    {"ttl", FOR_RUN | FOR_ONCE | FOR_LOCK | FOR_EXTEND | FOR_ELECT | FOR_BARRIER, SPAN_ABOVE_0(ttl_ms)},
    {"wait", FOR_RUN | FOR_ONCE | FOR_LOCK | FOR_ELECT | FOR_BARRIER | FOR_LATCH | FOR_NODES,
     SPAN_OR_FOREVER(wait_ms)},
    {"timeout", FOR_RUN | FOR_ONCE | FOR_LOCK, .kind = OPTION_SECONDS_OR_SPAN, IN(wait_ms), .letter = 'w'},
    {"nonblock", FOR_RUN | FOR_ONCE | FOR_LOCK, OWN(NONBLOCK), .letter = 'n'},
    {"kill-after", FOR_RUN | FOR_ONCE | FOR_ELECT, SPAN(kill_after_ms)},
    {"margin", FOR_RUN | FOR_ONCE | FOR_ELECT, SPAN(margin_ms)},
    {"leave-children", FOR_RUN | FOR_ONCE | FOR_ELECT, FLAG(leave_children)},
    {"max-hold", FOR_RUN | FOR_ONCE | FOR_ELECT, SPAN(max_hold_ms)},
    {"at-least", FOR_RUN, SPAN(at_least_ms)},
    {"reentrant", FOR_RUN, FLAG(reentrant)},
    {"token", FOR_EXTEND | FOR_UNLOCK | FOR_BARRIER, TEXT(token)},
    {"adopt", FOR_NODES, FLAG(adopt)},
    {"all", FOR_NODES, FLAG(all)},
    {"check", FOR_STATUS, FLAG(check)},
    {"fence", FOR_RUN | FOR_ONCE | FOR_LOCK, FLAG(fence)},
    {"shared", FOR_RUN | FOR_LOCK | FOR_EXTEND, OWN(SHARED)},
    {"permits", FOR_RUN, OWN(PERMITS)},
    {"value", FOR_ELECT, OWN(VALUE)},
    {"again", FOR_ELECT, FLAG(again)},
    {"watch", FOR_LEADER | FOR_STATUS | FOR_MASTERS, FLAG(watch)},
    {"plan", FOR_MASTERS, FLAG(plan)},
    {"patience", FOR_MASTERS, SPAN(patience_ms)},
    {"undo", FOR_MASTERS, FLAG(undo)},
    {"parties", FOR_BARRIER, NUMBER(parties, 1, REDLOCK_PARTIES_MAX)},
    {"generation", FOR_BARRIER, NUMBER(generation, 0, REDLOCK_GENERATION_MAX)},
    {"arrivals", FOR_LATCH, NUMBER(arrivals, 1, REDLOCK_ARRIVALS_MAX)},
    {"life", FOR_LATCH | FOR_ONCE, SPAN_ABOVE_0(life_ms)},
    {"key", FOR_ONCE, TEXT(key)},
    {"id", FOR_LATCH, TEXT(id)},
    {"arrival", FOR_LATCH, TEXT(arrival)},
    {"foreign", FOR_LIST, FLAG(foreign)},
    {"holder", FOR_BREAK, TEXT(holder)},
    {"yes", FOR_BREAK | FOR_MASTERS, FLAG(yes)},
    {"conflict-exit-code", FOR_RUN | FOR_ONCE | FOR_LOCK | FOR_ELECT, NUMBER(conflict_exit, 1, EXIT_MOST),
     .letter = 'E'},
    {"unavailable-exit-code", FOR_RUN | FOR_ONCE | FOR_LOCK | FOR_ELECT,
     NUMBER(unavailable_exit, 1, EXIT_MOST)},
    {"text", FOR_ASK, TEXT(wish)},
    {"ask", FOR_RUN | FOR_LOCK, TEXT(wish)},
    {"on-wanted", FOR_RUN | FOR_ELECT, TEXT(on_wanted)},
    {"yield-when-wanted", FOR_RUN | FOR_ELECT, FLAG(yields)},
    {"on-lost", FOR_RUN | FOR_ONCE | FOR_ELECT, TEXT(on_lost)},
    {"watchdog", FOR_RUN | FOR_ONCE | FOR_ELECT, TEXT(watchdog)},
    {"watchdog-timeout", FOR_RUN | FOR_ONCE | FOR_ELECT, SPAN_ABOVE_0(watchdog_timeout_ms)},
    {"metrics-file", FOR_RUN | FOR_ONCE | FOR_ELECT, OWN(METRICS_FILE)},
};
/* clang-format on */

#define COUNT       ((int)(sizeof rows / sizeof *rows))
#define FIRST_INDEX 256 /* behind all letters */

static int argument_of(const struct option_row *row)
{
    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_VERSION:
    case OPTION_HELP:
    case OPTION_NONBLOCK:
        return no_argument;
    case OPTION_SHARED:
        return optional_argument;
    default:
        return required_argument;
    }
}

struct option_words option_words(void)
{
    static struct option names[COUNT + 1];
    static char letters[2 * COUNT + 1];
    char *letter = letters;
    for (int i = 0; i < COUNT; i++) {
        const struct option_row *row = &rows[i];
        int argument = argument_of(row);
        names[i] =
            (struct option){row->name, argument, NULL, row->letter ? row->letter : FIRST_INDEX + i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && argument == required_argument)
            *letter++ = ':';
    }
    return (struct option_words){names, letters};
}

const struct option_row *option_row(int id)
{
    if (id >= FIRST_INDEX && id < FIRST_INDEX + COUNT)
        return &rows[id - FIRST_INDEX];
    for (int i = 0; i < COUNT; i++)
        if (rows[i].letter && rows[i].letter == id)
            return &rows[i];
    return NULL;
}
