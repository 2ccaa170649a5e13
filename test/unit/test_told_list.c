/* The text in which a master tells of lists: a liar may send any bytes.  rule: A3, A6, D1 */
#include "unit.h"

#include <stdio.h>

#include "ground/told_list.h"

#define HEAD  "< 5000000 1000 2 2 0 30000 3 web-1"
#define THREE "\n900 100 run-1 10.0.0.1:6379\n0 0 - 10.0.0.2:6379\n-5 0 run-3 [::1]:6379"

/* The text in a block of its own, so that a sanitizer sees any byte that is read beyond it. */
struct block {
    char *bytes;
    struct slice left;
};

static struct block block_of(const char *text, size_t length)
{
    char *bytes = malloc(length ? length : 1);
    memcpy(bytes, text, length);
    return (struct block){bytes, {bytes, length}};
}

static bool is(struct slice slice, const char *text)
{
    return slices_are_same(slice, slice_of(text));
}

/* How many lists are taken; then nothing is left. */
static unsigned count_lists(const char *text)
{
    struct told_list list;
    struct block block = block_of(text, strlen(text));
    unsigned count = 0;
    while (told_list_next(&block.left, &list))
        count++;
    assert_int_equal(block.left.length, 0);
    assert_false(told_list_next(&block.left, &list));
    free(block.bytes);
    return count;
}

static void take_one(struct told_list *list, const char *text)
{
    struct slice left = slice_of(text);
    assert_true(told_list_next(&left, list));
    assert_int_equal(left.length, 0);
}

/* ---- what an honest master tells ------------------------------------------------------ */

CASE(all_of_a_list_is_taken)
{
    struct told_list list;
    take_one(&list, HEAD THREE);
    assert_int_equal(list.place, '<');
    assert_int_equal(list.first_ago, 5000000);
    assert_int_equal(list.last_ago, 1000);
    assert_int_equal(list.clients, 2);
    assert_int_equal(list.quorum, 2);
    assert_int_equal(list.spare, 0);
    assert_int_equal(list.max_ttl_ms, 30000);
    assert_int_equal(list.masters, 3);
    assert_true(is(list.label, "web-1"));
    assert_int_equal(list.processes[0].since_ago, 900);
    assert_int_equal(list.processes[0].until_ago, 100);
    assert_true(is(list.processes[0].run_id, "run-1"));
    assert_true(is(list.processes[0].address, "10.0.0.1:6379"));
    assert_true(is(list.processes[1].run_id, ""));
    assert_int_equal(list.processes[2].since_ago, -5); /* a clock was set back */
    assert_true(is(list.processes[2].address, "[::1]:6379"));
}

CASE(lists_follow_each_other)
{
    assert_int_equal(count_lists(""), 0);
    assert_int_equal(count_lists(HEAD THREE), 1);
    assert_int_equal(count_lists(HEAD THREE "\n"), 1);
    assert_int_equal(count_lists(HEAD THREE "\n= 0 0 1 1 0 1 1 \n0 0 - a:1\n" HEAD THREE), 3);
}

CASE(a_list_needs_no_label)
{
    struct told_list list;
    take_one(&list, "> 0 0 1 1 0 1 1\n0 0 - a:1");
    assert_true(is(list.label, ""));
    take_one(&list, "> 0 0 1 1 0 1 1 \n0 0 - a:1");
    assert_true(is(list.label, ""));
}

CASE(the_time_comes_first)
{
    static const struct {
        const char *text;
        usec time;
        const char *left;
    } rows[] = {{"1700000000000000\n" HEAD, 1700000000000000, HEAD},
                {"12", 12, ""},
                {"0\n", 0, ""},
                {"", 0, ""},
                {"\nrest", 0, "rest"},
                {"-1\nrest", 0, "rest"},
                {"1e9\nrest", 0, "rest"},
                {"9007199254740993\nrest", 0, "rest"},
                {"99999999999999999999999999\nrest", 0, "rest"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct block block = block_of(rows[i].text, strlen(rows[i].text));
        struct slice over;
        int64_t changes;
        assert_int_equal(told_time(&block.left, &changes, &over), rows[i].time);
        assert_null(over.bytes);
        assert_true(is(block.left, rows[i].left));
        free(block.bytes);
    }
}

CASE(a_list_that_is_over_has_another_in_its_place)
{
    static const struct {
        const char *text, *over;
    } rows[] = {{"12 over a:1,b:1\n" HEAD, "a:1,b:1"},
                {"12 over a:1", "a:1"},
                {"12 over a b\n", "a b"},
                {"12 over\n", ""},
                {"12 over ", ""},
                {"12 changed 7 over a:1\n", "a:1"},
                {"x over a:1\n", "a:1"},
                {"12 over a\x1b[2J\n", ""}}; /* nothing that a terminal would obey */
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct block block = block_of(rows[i].text, strlen(rows[i].text));
        struct slice over;
        int64_t changes;
        told_time(&block.left, &changes, &over);
        assert_non_null(over.bytes);
        assert_true(is(over, rows[i].over));
        free(block.bytes);
    }
}

CASE(changes_of_ends_have_a_number)
{
    static const struct {
        const char *text;
        int64_t changes;
    } rows[] = {{"12\n", 0},         {"12 changed 7\n", 7}, {"12 changed 7 over a:1\n", 7},
                {"12 changed\n", 0}, {"12 changed x\n", 0}, {"12 over changed 7\n", 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct slice text = slice_of(rows[i].text), over;
        int64_t changes;
        assert_int_equal(told_time(&text, &changes, &over), 12);
        assert_int_equal(changes, rows[i].changes);
    }
}

/* Nobody keeps more than sixteen addresses. */
CASE(an_endless_list_is_not_shown)
{
    static char bytes[SUCCESSOR_MAX + 20] = "1 over ";
    for (size_t longer = 0; longer < 2; longer++) {
        size_t length = 7 + SUCCESSOR_MAX + longer;
        memset(bytes + 7, 'a', SUCCESSOR_MAX + longer);
        struct slice text = {bytes, length}, over;
        int64_t changes;
        assert_int_equal(told_time(&text, &changes, &over), 1);
        assert_non_null(over.bytes);
        assert_int_equal(over.length, longer ? 0 : SUCCESSOR_MAX);
    }
}

/* A master that answers with an error tells no text at all. */
CASE(no_bytes_are_no_list)
{
    struct told_list list;
    struct slice nothing = {NULL, 0}, over;
    int64_t changes;
    assert_int_equal(told_time(&nothing, &changes, &over), 0);
    assert_null(over.bytes);
    assert_false(told_list_next(&nothing, &list));
}

/* ---- what no honest master tells -------------------------------------------------------- */

CASE(a_wrong_head_ends_the_text)
{
    static const char *const heads[] = {
        "\n",
        " ",
        "<",
        "< ",
        "<\n",
        "? 0 0 1 1 0 1 1 x",
        "<< 0 0 1 1 0 1 1 x",
        " < 0 0 1 1 0 1 1 x",
        "0 0 1 1 0 1 1 x",    /* no place */
        "<  0 0 1 1 0 1 1 x", /* a number is empty */
        "< 0  1 1 0 1 1 x",
        "< 0 0 1 1 0 1", /* one is missing */
        "< - 0 1 1 0 1 1 x",
        "< -- 0 1 1 0 1 1", /* no digits */
        "< 0x1 0 1 1 0 1 1 x",
        "< +1 0 1 1 0 1 1 x",
        "< 1.5 0 1 1 0 1 1 x",
        "< 0\t0 1 1 0 1 1 x",
        "< 0 0 -1 1 0 1 1 x",         /* clients */
        "< 0 0 2147483648 1 0 1 1 x", /* the same */
        "< 0 0 1 0 0 1 1 x",          /* no quorum */
        "< 0 0 1 2 0 1 1 x",          /* one of more than all */
        "< 0 0 1 -1 0 1 1 x",
        "< 0 0 1 1 -1 1 1 x",
        "< 0 0 1 1 16 1 1 x", /* spare votes */
        "< 0 0 1 1 0 -1 1 x",
        "< 0 0 1 1 0 86400001 1 x", /* ttl */
        "< 0 0 1 1 0 1 0 x",
        "< 0 0 1 0 0 1 0 x",
        "< 0 0 1 1 0 1 -1 x", /* masters */
        "< 0 0 1 1 0 1 16 x",
        "< 0 0 1 1 0 1 4294967297 x",
        "< 0 0 1 1 0 1 1 \x1b[2J",
        "< 0 0 1 1 0 1 1 a\tb",
        "< 0 0 1 1 0 1 1 \x7f", /* its label */
    };
    char text[256];
    for (size_t i = 0; i < COUNT(heads); i++) {
        snprintf(text, sizeof text, "%s\n0 0 - a:1\n" HEAD THREE, heads[i]);
        if (count_lists(text))
            fail_msg("believed: %s", heads[i]);
    }
}

CASE(a_wrong_process_ends_the_text)
{
    static const char *const lines[] = {
        "",
        " ",
        "0",
        "0 0",
        "0 0 ",
        "0 0 -",
        "0 0 - ", /* no address */
        "0 0 run-1",
        "x 0 - a:1",
        "0 x - a:1",
        " 0 - a:1",
        "- 0 - a:1",
        "0 0 0123456789012345678901234567890123456789abcd a:1", /* a run_id of 44 */
        "9007199254740993 0 - a:1",
        "0 -9007199254740993 - a:1",
        "0 0 - a\r",
        "0 0 - \x1b[2J", /* shown on terminals */
    };
    char text[256];
    for (size_t i = 0; i < COUNT(lines); i++) {
        snprintf(text, sizeof text, "< 0 0 1 1 0 1 1 x\n%s\n" HEAD THREE, lines[i]);
        if (count_lists(text))
            fail_msg("believed: %s", lines[i]);
    }
}

CASE(what_came_before_is_believed)
{
    assert_int_equal(count_lists(HEAD THREE "\n" HEAD THREE "\nnonsense\n" HEAD THREE), 2);
}

CASE(a_list_ends_with_its_text)
{
    assert_int_equal(count_lists("< 0 0 1 2 0 1 3 x\n0 0 - a:1\n0 0 - b:1"), 0);
    assert_int_equal(count_lists("< 0 0 1 2 0 1 3 x"), 0);
    assert_int_equal(count_lists("< 0 0 1 2 0 1 3 x\n"), 0);
}

/* ---- bounds ----------------------------------------------------------------------------- */

static unsigned count_with(unsigned masters)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "< 0 0 1 1 0 1 %u x", masters);
    for (unsigned i = 0; i < masters; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\n0 0 - host-%u:1", i);
    return count_lists(text);
}

CASE(a_list_has_as_many_masters_as_a_client_may)
{
    assert_int_equal(count_with(1), 1);
    assert_int_equal(count_with(MASTERS_MAX), 1);
    assert_int_equal(count_with(MASTERS_MAX + 1), 0);
    assert_int_equal(count_with(100), 0);
}

CASE(the_longest_run_id_is_taken)
{
    struct told_list list;
    take_one(&list, "< 0 0 1 1 0 1 1 x\n0 0 0123456789012345678901234567890123456789abc a:1");
    assert_int_equal(list.processes[0].run_id.length, RUN_ID_MAX);
}

CASE(the_longest_times_are_taken)
{
    struct told_list list;
    take_one(&list, "< 9007199254740992 -9007199254740992 2147483647 1 15 86400000 1 x\n"
                    "-9007199254740992 9007199254740992 - a:1");
    assert_int_equal(list.first_ago, INT64_C(1) << 53);
    assert_int_equal(list.last_ago, -(INT64_C(1) << 53));
    assert_int_equal(list.processes[0].since_ago, -(INT64_C(1) << 53));
}

CASE(no_number_overflows)
{
    static const char *const numbers[] = {
        "9007199254740993",       "90071992547409930",    "9223372036854775807",
        "9223372036854775808",    "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615",   "18446744073709551616", "99999999999999999999999999999999999999",
        "-9999999999999999999999"};
    char text[256];
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (unsigned at = 0; at < 9; at++) {
            const char *n[9] = {"0", "0", "1", "1", "0", "1", "1", "0", "0"};
            n[at] = numbers[i];
            snprintf(text, sizeof text, "< %s %s %s %s %s %s %s x\n%s %s - a:1", n[0], n[1], n[2],
                     n[3], n[4], n[5], n[6], n[7], n[8]);
            assert_int_equal(count_lists(text), 0);
        }
}

static void must_be_within(struct slice part, const struct block *block, size_t length)
{
    assert_true(part.bytes >= block->bytes && part.bytes + part.length <= block->bytes + length);
}

/* All that is taken is within its bounds, for any bytes. */
static void read_any(const char *text, size_t length)
{
    struct block block = block_of(text, length);
    struct told_list list;
    struct slice over;
    int64_t changes;
    told_time(&block.left, &changes, &over);
    if (over.length)
        must_be_within(over, &block, length);
    while (told_list_next(&block.left, &list)) {
        assert_in_range(list.masters, 1, MASTERS_MAX);
        assert_in_range(list.quorum, 1, list.masters);
        assert_in_range(list.spare, 0, MASTERS_MAX);
        assert_in_range(list.max_ttl_ms, 0, TTL_MS_MOST);
        must_be_within(list.label, &block, length);
        for (unsigned i = 0; i < list.masters; i++) {
            assert_in_range(list.processes[i].run_id.length, 0, RUN_ID_MAX);
            assert_true(list.processes[i].address.length > 0);
            must_be_within(list.processes[i].address, &block, length);
        }
    }
    free(block.bytes);
}

static const char whole[] = "1700000000000000\n" HEAD THREE "\n= 1 1 1 1 0 5 1 \n7 7 run-9 a:1";

CASE(a_text_may_end_anywhere)
{
    for (size_t length = 0; length < sizeof whole; length++)
        read_any(whole, length);
}

CASE(any_byte_may_be_wrong)
{
    static const char bytes[] = {'\0', '\n', ' ', '-', '0', '9', '<', '\xff', 'a'};
    char text[sizeof whole];
    for (size_t at = 0; at < sizeof whole - 1; at++)
        for (size_t i = 0; i < sizeof bytes; i++) {
            memcpy(text, whole, sizeof whole);
            text[at] = bytes[i];
            read_any(text, sizeof whole - 1);
        }
}

CASE(any_byte_may_be_missing)
{
    char text[sizeof whole];
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        memcpy(text, whole, at);
        memcpy(text + at, whole + at + 1, sizeof whole - at - 1);
        read_any(text, sizeof whole - 2);
    }
}

/* ---- the same list ------------------------------------------------------------------------ */

static bool are_same(const char *a, const char *b)
{
    struct told_list one, other;
    take_one(&one, a);
    take_one(&other, b);
    assert_int_equal(told_lists_are_same(&one, &other), told_lists_are_same(&other, &one));
    return told_lists_are_same(&one, &other);
}

#define NUMBERS "< 0 0 1 2 0 30000 2 x\n"
#define PAIR    "0 0 - a:1\n0 0 - b:1"

CASE(lists_are_the_same_by_numbers_and_masters)
{
    assert_true(are_same(NUMBERS PAIR, NUMBERS PAIR));
    assert_true(are_same(NUMBERS PAIR, "> 5 5 9 2 0 30000 2 y\n3 2 run a:1\n0 0 - b:1"));
    assert_false(are_same(NUMBERS PAIR, "< 0 0 1 1 0 30000 2 x\n" PAIR));
    assert_false(are_same(NUMBERS PAIR, "< 0 0 1 2 1 30000 2 x\n" PAIR));
    assert_false(are_same(NUMBERS PAIR, "< 0 0 1 2 0 30001 2 x\n" PAIR));
    assert_false(are_same(NUMBERS PAIR, NUMBERS "0 0 - a:1\n0 0 - c:1"));
    assert_false(are_same(NUMBERS PAIR, NUMBERS "0 0 - a:1\n0 0 - b:12"));
    assert_false(are_same(NUMBERS PAIR, "< 0 0 1 2 0 30000 3 x\n" PAIR "\n0 0 - c:1"));
}

/* Each master sorts by its locale. */
CASE(the_order_of_masters_says_nothing)
{
    assert_true(are_same(NUMBERS PAIR, NUMBERS "0 0 - b:1\n0 0 - a:1"));
}

PROGRAM_OF_CASES(NULL, NULL)
