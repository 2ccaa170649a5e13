/* The table of codes: enum, names, texts and classes belong together. */
#include "unit.h"

#include <ctype.h>
#include <stdio.h>

#include "ground/event.h"
#include "redlock.h"

static const struct {
    redlock_code code;
    const char *name;
    redlock_class class;
} codes[] = {
#define ENTRY(name, class, text) {REDLOCK_##name, "REDLOCK_" #name, REDLOCK_CLASS_##class},
    REDLOCK_CODES(ENTRY)
#undef ENTRY
};

CASE(test_every_code)
{
    for (size_t i = 0; i < COUNT(codes); i++) {
        const char *text = redlock_code_text(codes[i].code);
        assert_int_equal(codes[i].code, i);
        assert_string_equal(redlock_code_name(codes[i].code), codes[i].name);
        assert_int_equal(redlock_code_class(codes[i].code), codes[i].class);
        /* One line that fits behind "redlock: ". */
        assert_true(islower((unsigned char)text[0]));
        assert_null(strpbrk(text, "\n.;"));
        assert_in_range(strlen(text), 2, 80);
    }
    assert_int_equal(REDLOCK_OK, 0);
    assert_int_equal(REDLOCK_CLASS_OK, 0);
}

/* Numbers are part of the ABI: new codes go to the end. */
CASE(test_numbers_stay)
{
    assert_int_equal(REDLOCK_E_HELD, 8);
    assert_int_equal(REDLOCK_E_GONE, 12);
    assert_int_equal(REDLOCK_E_CLOSED, 15);
    assert_int_equal(REDLOCK_E_SYSTEM, 18);
    assert_int_equal(REDLOCK_E_NOT_PASSED, 19);
    assert_int_equal(REDLOCK_E_PARTIES, 20);
    assert_int_equal(REDLOCK_E_NO_MASTER, 22);
    assert_int_equal(REDLOCK_E_OVER, 23);
    assert_int_equal(REDLOCK_E_UNDECIDED, 24);
}

CASE(test_unknown_codes)
{
    static const int unknown[] = {-1, COUNT(codes), INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(unknown); i++) {
        redlock_code code = (redlock_code)unknown[i];
        assert_string_equal(redlock_code_name(code), "REDLOCK_E_UNKNOWN");
        assert_string_equal(redlock_code_text(code), "unknown code");
        assert_int_equal(redlock_code_class(code), REDLOCK_CLASS_SYSTEM);
        assert_string_equal(redlock_vote_name((redlock_vote_kind)unknown[i]), "unknown");
        assert_string_equal(redlock_event_name((redlock_event_kind)unknown[i]), "unknown");
    }
}

CASE(test_votes_and_events)
{
    assert_string_equal(redlock_vote_name(REDLOCK_VOTE_NONE), "none");
    assert_string_equal(redlock_vote_name(REDLOCK_VOTE_ABSTAINS), "abstains");
    assert_string_equal(redlock_event_name(REDLOCK_ACQUIRED), "acquired");
    assert_string_equal(redlock_event_name(REDLOCK_RELEASED), "released");
    assert_string_equal(redlock_event_name(REDLOCK_CHANGED), "changed");
    assert_string_equal(redlock_event_name(REDLOCK_ANNOUNCED), "announced");
    assert_string_equal(redlock_event_name(REDLOCK_MOVED), "moved");
    assert_string_equal(redlock_event_name(REDLOCK_NOT_MOVED), "not moved");
    assert_string_equal(redlock_event_name(REDLOCK_NOT_MOVED + 1), "unknown");
}

CASE(test_version)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", REDLOCK_VERSION_MAJOR, REDLOCK_VERSION_MINOR,
             REDLOCK_VERSION_PATCH);
    assert_string_equal(redlock_version(), version);
    assert_string_equal(REDLOCK_VERSION, version);
}

PROGRAM_OF_CASES(NULL, NULL)
