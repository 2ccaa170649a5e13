/* Spans of time that a person wrote. */
#include "span.h"

#include "unit.h"

CASE(a_span_has_a_unit)
{
    static const struct {
        const char *text;
        int64_t ms;
    } spans[] = {{"250ms", 250},  {"1.5s", 1500}, {"5m", 300000},
                 {"2h", 7200000}, {"0", 0},       {"forever", INT64_MAX}};
    char why[200];
    for (size_t i = 0; i < COUNT(spans); i++) {
        int64_t ms = -1;
        assert_true(span_parse(spans[i].text, &ms, why, sizeof why));
        assert_int_equal(ms, spans[i].ms);
    }
}

CASE(what_is_no_span_says_why)
{
    static const char *const wrong[][2] = {{"", "is no duration"},
                                           {"soon", "is no duration"},
                                           {"10", "has no unit: write 10ms"},
                                           {"5 s", "is no duration"},
                                           {"-1s", "is no duration"},
                                           {"0.1ms", "less than a millisecond"},
                                           {"9999999999999h", "is too long"}};
    char why[200];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        int64_t ms;
        assert_false(span_parse(wrong[i][0], &ms, why, sizeof why));
        assert_non_null(strstr(why, wrong[i][1]));
    }
}

PROGRAM_OF_CASES(NULL, NULL)
