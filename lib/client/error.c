#include "redlock.h"

struct code_entry {
    const char *name, *text;
    redlock_class class;
};

static const struct code_entry codes[] = {
#define CODE_ENTRY(name, class, text) {"REDLOCK_" #name, text, REDLOCK_CLASS_##class},
    REDLOCK_CODES(CODE_ENTRY)
#undef CODE_ENTRY
};

static const struct code_entry *entry(redlock_code code)
{
    static const struct code_entry unknown = {"REDLOCK_E_UNKNOWN", "unknown code",
                                              REDLOCK_CLASS_SYSTEM};
    return (unsigned)code < sizeof codes / sizeof codes[0] ? &codes[code] : &unknown;
}

const char *redlock_code_name(redlock_code code)
{
    return entry(code)->name;
}

const char *redlock_code_text(redlock_code code)
{
    return entry(code)->text;
}

redlock_class redlock_code_class(redlock_code code)
{
    return entry(code)->class;
}

const char *redlock_version(void)
{
    return REDLOCK_VERSION;
}

const char *redlock_vote_name(redlock_vote_kind kind)
{
    static const char *const names[] = {"none",        "granted",  "healed",  "held",
                                        "free",        "released", "refused", "timeout",
                                        "unreachable", "abstains"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

const char *redlock_event_name(redlock_event_kind kind)
{
    static const char *const names[] = {
        "acquired", "not acquired", "extended",    "not extended", "at risk", "healthy",  "lost",
        "released", "changed",      "not changed", "announced",    "moved",   "not moved"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}
