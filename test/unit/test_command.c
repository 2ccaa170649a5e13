/* Requests → RESP bytes, compared with what a slow and plain writer makes of the
 * words that the request must become. The simulator redlock-sim-bytes reads each kind. */
#define _GNU_SOURCE
#include "command.h"

#include <stdio.h>

#include "eval.h"
#include "ground/slots.h"
#include "scripts.h"
#include "unit.h"

/* ---- Exactly the room that was asked for, so that a byte too many is seen ---- */

char *__wrap_buffer_reserve(struct buffer *buffer, size_t size);
void __wrap_buffer_advance(struct buffer *buffer, size_t size);

static bool memory_is_out;

char *__wrap_buffer_reserve(struct buffer *buffer, size_t size)
{
    if (memory_is_out) {
        buffer->failed = true;
        return NULL;
    }
    buffer->capacity = buffer->length + size;
    buffer->data = realloc(buffer->data, buffer->capacity);
    return buffer->data + buffer->length;
}

void __wrap_buffer_advance(struct buffer *buffer, size_t size)
{
    buffer->length += size;
    assert_true(buffer->length <= buffer->capacity);
}

/* ---- The plain writer ---- */

#define WORDS_MAX 200
struct words {
    unsigned count;
    const char *word[WORDS_MAX];
};

static char *wanted;
static size_t wanted_length;
static FILE *expected; /* the command is printed there */

static void expect_command(const struct words *words)
{
    if (!expected)
        expected = open_memstream(&wanted, &wanted_length);
    fprintf(expected, "*%u\r\n", words->count);
    for (unsigned i = 0; i < words->count; i++)
        fprintf(expected, "$%zu\r\n%s\r\n", strlen(words->word[i]), words->word[i]);
}

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const char *list[] = {__VA_ARGS__};                                                        \
        struct words words = {.count = COUNT(list)};                                               \
        memcpy(words.word, list, sizeof list);                                                     \
        expect_command(&words);                                                                    \
    } while (0)

static struct buffer written;
static enum step steps[STEPS_MAX];

/* Each test ends with it. */
static void assert_written(void)
{
    if (!expected)
        return;
    fclose(expected);
    expected = NULL;
    assert_int_equal(written.length, wanted_length);
    assert_memory_equal(written.data, wanted, wanted_length);
    free(wanted);
    wanted = NULL;
}

static void assert_starts_with(const char *bytes)
{
    assert_true(written.length >= strlen(bytes));
    assert_memory_equal(written.data, bytes, strlen(bytes));
}

static struct names *made[8]; /* by the test */
static unsigned made_count;
static struct names *jobs;

static struct names *keep(struct names *names)
{
    assert_in_range(made_count, 0, COUNT(made) - 1);
    return made[made_count++] = names;
}

#define NAMES(...)                                                                                 \
    keep(unit_names(COUNT(((const char *const[]){__VA_ARGS__})),                                   \
                    (const char *const[]){__VA_ARGS__}))

static struct names *share(struct names *names, unsigned which)
{
    names_set_shared(names, which);
    return names;
}

static struct names *slot_12(void)
{
    return keep(slot_new(&unit_memory, (struct slice){"jobs", 4}, 12));
}

static int set_up(void **state)
{
    (void)state;
    jobs = NAMES("jobs");
    written = (struct buffer){0};
    memory_is_out = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    while (made_count)
        names_drop(&unit_memory, made[--made_count]);
    assert_written();
    buffer_free(&written);
    return 0;
}

static struct request request_of(enum request_kind kind, const struct names *names)
{
    return (struct request){.tag = {.kind = kind},
                            .names = names,
                            .token = "AAAAAAAAAAAAAAAAAAAAAA:me",
                            .token_length = 25,
                            .ttl_ms = kind == REQUEST_RELEASE ? 0 : 30000,
                            .channel = "redlock:me"};
}

static void write_one(const struct request *request)
{
    assert_int_equal(command_write(&written, request, NULL, steps), 1);
    assert_int_equal(steps[0], STEP_FINAL);
}

#define EXPECT_BOTH(script, ...)                                                                   \
    do {                                                                                           \
        EXPECT("EVALSHA", script##_SHA1, __VA_ARGS__);                                             \
        EXPECT("EVAL", script##_TEXT, __VA_ARGS__);                                                \
    } while (0)

#define WRITES(request, ...)                                                                       \
    do {                                                                                           \
        write_one(&(request));                                                                     \
        EXPECT(__VA_ARGS__);                                                                       \
    } while (0)

/* By the script's hash, and whole. */
#define WRITES_BOTH(request, ...)                                                                  \
    do {                                                                                           \
        write_one(&(request));                                                                     \
        (request).whole = true;                                                                    \
        write_one(&(request));                                                                     \
        EXPECT_BOTH(__VA_ARGS__);                                                                  \
    } while (0)

#define WRITES_EACH(requests, ...)                                                                 \
    do {                                                                                           \
        command_write_each(&written, requests, COUNT(requests), false);                            \
        command_write_each(&written, requests, COUNT(requests), true);                             \
        EXPECT_BOTH(__VA_ARGS__);                                                                  \
    } while (0)

#define TOKEN "AAAAAAAAAAAAAAAAAAAAAA:me"
#define SLOT  "redlock:permit:12:jobs"

/* ---- */

#define TEST(name) CASE_WITH(name, set_up, tear_down)

TEST(acquire_of_one_name_is_the_published_set)
{
    struct request request = request_of(REQUEST_ACQUIRE, jobs);
    write_one(&request);
    const char bytes[] = "*6\r\n$3\r\nSET\r\n$4\r\njobs\r\n$25\r\nAAAAAAAAAAAAAAAAAAAAAA:me\r\n"
                         "$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n";
    assert_int_equal(written.length, sizeof bytes - 1);
    assert_memory_equal(written.data, bytes, sizeof bytes - 1);
}

TEST(label_ends_the_token)
{
    struct request request = request_of(REQUEST_RELEASE, jobs);
    request.token = "somebody";
    request.token_length = 11;
    request.label = ":me";
    request.label_length = 3;
    WRITES(request, "EVALSHA", SCRIPT_RELEASE_SHA1, "1", "jobs", "somebody:me");
}

/* By a token that came from another process. */
TEST(a_release_says_how_long_no_renewal_heals)
{
    struct request request = request_of(REQUEST_RELEASE, jobs);
    request.ttl_ms = 30802;
    WRITES(request, "EVALSHA", SCRIPT_RELEASE_SHA1, "1", "jobs", TOKEN, "30802");
    assert_false(command_may_batch(&request));
    request.names = slot_12();
    WRITES(request, "EVALSHA", SCRIPT_RELEASE_SLOT_SHA1, "1", SLOT, TOKEN, "30802");
}

TEST(kill_names_the_connection)
{
    struct request request = {.tag = {.kind = REQUEST_KILL}, .kill_id = INT64_MAX};
    write_one(&request);
    const char bytes[] = "*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n"
                         "$19\r\n9223372036854775807\r\n";
    assert_int_equal(written.length, sizeof bytes - 1);
    assert_memory_equal(written.data, bytes, sizeof bytes - 1);
}

static struct request hello_request(enum request_kind kind)
{
    return (struct request){.tag = {.kind = kind},
                            .terms = {.max_ttl_ms = 30000, .drift_ppm = 10000, .skew_ms = 1000}};
}

#define HELLO_ARGUMENTS "1", "redlock:clock", "30000", "10000", "1000"

static void expect_scripts(void)
{
    EXPECT("SCRIPT", "LOAD", SCRIPT_ACQUIRE_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_GRANT_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_GRANT_EACH_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_GRANT_SHARED_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_GRANT_SHARED_EACH_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_GRANT_SLOT_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RAISE_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_QUEUE_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_QUEUE_SLOT_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RENEW_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RENEW_EACH_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RENEW_SHARED_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RENEW_SHARED_EACH_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RENEW_SLOT_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_UPGRADE_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RELEASE_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RELEASE_EACH_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_RELEASE_SLOT_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_PEEK_TEXT);
    EXPECT("SCRIPT", "LOAD", SCRIPT_AGREE_TEXT);
}

TEST(a_whole_login_comes_before_hello)
{
    struct request hello = hello_request(REQUEST_HELLO);
    struct credentials login = {"ann", "p w", 12, "redlock"};
    const enum step order[] = {STEP_AUTH, STEP_SELECT, STEP_SETNAME, STEP_CLIENT_ID, STEP_FINAL};
    assert_int_equal(command_write(&written, &hello, &login, steps), COUNT(order));
    assert_memory_equal(steps, order, sizeof order);
    EXPECT("AUTH", "ann", "p w");
    EXPECT("SELECT", "12");
    EXPECT("CLIENT", "SETNAME", "redlock");
    EXPECT("CLIENT", "ID");
    EXPECT("EVALSHA", SCRIPT_HELLO_SHA1, HELLO_ARGUMENTS, "0", "0", "60000000");
}

/* Hello comes behind the others: a master that has it has them all. */
TEST(a_whole_hello_brings_all_scripts)
{
    struct request hello = hello_request(REQUEST_HELLO);
    struct credentials login = {"ann", "p w", 1, "redlock"};
    hello.whole = true;
    hello.terms.other_ago = 20000;
    assert_int_equal(command_write(&written, &hello, &login, steps), STEPS_MAX);
    assert_int_equal(steps[3], STEP_CLIENT_ID);
    for (unsigned i = 4; i < STEPS_MAX - 1; i++)
        assert_int_equal(steps[i], STEP_LOAD);
    assert_int_equal(steps[STEPS_MAX - 1], STEP_FINAL);
    written.length = 0;
    assert_int_equal(command_write(&written, &hello, NULL, steps), SCRIPTS_LOADED + 1);
    expect_scripts();
    EXPECT("EVAL", SCRIPT_HELLO_TEXT, HELLO_ARGUMENTS, "0", "20000", "60000000");
}

TEST(no_time_is_an_adoption)
{
    struct request hello = hello_request(REQUEST_HELLO);
    hello.terms.other_ago = 1;
    command_write(&written, &hello, NULL, steps);
    EXPECT("EVALSHA", SCRIPT_HELLO_SHA1, HELLO_ARGUMENTS, "0", "0", "60000000");
}

TEST(auth_with_a_password_or_a_user_only)
{
    struct request hello = hello_request(REQUEST_HELLO);
    command_write(&written, &hello, &(struct credentials){.password = "pw"}, steps);
    assert_starts_with("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*");
    written.length = 0;
    command_write(&written, &hello, &(struct credentials){.user = "ann"}, steps);
    assert_starts_with("*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$0\r\n\r\n*");
}

TEST(only_hello_logs_in)
{
    struct request request = request_of(REQUEST_RELEASE, jobs);
    struct credentials login = {"ann", "pw", 1, "redlock"};
    assert_int_equal(command_write(&written, &request, &login, steps), 1);
    EXPECT("EVALSHA", SCRIPT_RELEASE_SHA1, "1", "jobs", TOKEN);
}

TEST(names_may_hold_any_bytes)
{
    struct slice slice = {"\0\r\n$\xff", 5};
    struct names *names = keep(names_new(&unit_memory, (struct slice){"p:", 2}, &slice, 1));
    struct request request = request_of(REQUEST_PEEK, names);
    write_one(&request);
    assert_memory_equal(written.data + written.length - 13, "$7\r\np:\0\r\n$\xff\r\n", 13);
}

TEST(a_look_may_want_one_token)
{
    struct request request = request_of(REQUEST_PEEK, jobs);
    request.tokens_told = 1;
    WRITES(request, "EVALSHA", SCRIPT_PEEK_SHA1, "1", "jobs", "1");
}

/* ---- Slots ---- */

TEST(a_slot_has_scripts_of_its_own)
{
    struct names *names = slot_12();
    struct request grant = request_of(REQUEST_GRANT, names);
    grant.grant.proposal = 7;
    grant.grant.permits = 16;
    WRITES_BOTH(grant, SCRIPT_GRANT_SLOT, "2", SLOT, "redlock:clock", "60000000", TOKEN, "30000",
                "7", "16");
    struct request place = request_of(REQUEST_QUEUE, names);
    place.queue.ticket = 9;
    place.queue.permits = PERMITS_MOST;
    WRITES(place, "EVALSHA", SCRIPT_QUEUE_SLOT_SHA1, "2", SLOT, "redlock:clock", TOKEN, "9",
           "30000", "redlock:me", "1024");
    struct request release = request_of(REQUEST_RELEASE, names);
    WRITES(release, "EVALSHA", SCRIPT_RELEASE_SLOT_SHA1, "1", SLOT, TOKEN);
    struct request renew = request_of(REQUEST_RENEW, names);
    WRITES(renew, "EVALSHA", SCRIPT_RENEW_SLOT_SHA1, "1", SLOT, TOKEN, "30000", "0", "0");
    assert_false(command_may_batch(&place));
    grant.whole = false;
    grant.grant.permits = 256;
    assert_true(command_may_batch(&grant));
    grant.grant.permits = 257;
    assert_false(command_may_batch(&grant));
}

/* ---- Requests of tasks ---- */

static struct request announcement(const struct names *names, const char *value, size_t length)
{
    struct request request = request_of(REQUEST_ANNOUNCE, names);
    request.announce = (struct announce_request){1785000000123457, 12, {value, length}};
    return request;
}

TEST(a_value_may_hold_any_bytes)
{
    static char value[65536];
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (char)(i * 7);
    struct request request = announcement(jobs, value, sizeof value);
    write_one(&request);
    const char before[] = "$2\r\n12\r\n$65536\r\n";
    size_t at = written.length - sizeof value - 2;
    assert_memory_equal(written.data + at - sizeof before + 1, before, sizeof before - 1);
    assert_memory_equal(written.data + at, value, sizeof value);
    assert_memory_equal(written.data + at + sizeof value, "\r\n", 2);
}

TEST(a_survey_goes_on_from_its_cursor)
{
    struct request request = request_of(REQUEST_SURVEY, jobs);
    request.survey = (struct survey_request){slice_of("18446744073709551615"), 250, false};
    WRITES(request, "EVALSHA", SCRIPT_SURVEY_SHA1, "1", "jobs", "18446744073709551615", "250", "0");
    request.survey = (struct survey_request){slice_of("0"), 250, true};
    request.whole = true;
    WRITES(request, "EVAL", SCRIPT_SURVEY_TEXT, "1", "jobs", "0", "250", "1");
}

TEST(a_wish_has_two_names)
{
    struct names *both = NAMES("jobs", "redlock:wish:jobs");
    struct request request = request_of(REQUEST_ASK, both);
    request.ttl_ms = 15000;
    request.ask = (struct ask_request){9007199254740991, slice_of("web-3 please, go"), 1};
    WRITES(request, "EVALSHA", SCRIPT_ASK_SHA1, "2", "jobs", "redlock:wish:jobs",
           "9007199254740991", "15000", "web-3 please, go", "1");
    request.ask.words = slice_of("- ");
    request.ask.least = 0;
    request.whole = true;
    WRITES(request, "EVAL", SCRIPT_ASK_TEXT, "2", "jobs", "redlock:wish:jobs", "9007199254740991",
           "15000", "- ", "0");
}

TEST(a_script_is_known_by_its_hash)
{
#define ROW(kind, name) assert_string_equal(eval_text(SCRIPT_##kind##_SHA1), SCRIPT_##kind##_TEXT);
    ALL_SCRIPTS
#undef ROW
    assert_null(eval_text("0123456789012345678901234567890123456789"));
}

/* ---- Listeners ---- */

static void write_subscribe(const struct credentials *login, const enum step *order, unsigned count)
{
    assert_int_equal(connection_write_subscribe(&written, login, "redlock:me", steps), count);
    assert_memory_equal(steps, order, count * sizeof *order);
}

TEST(a_listener_logs_in_and_subscribes)
{
    const enum step order[] = {STEP_AUTH, STEP_SETNAME, STEP_INFO, STEP_SUBSCRIBE};
    struct credentials login = {"ann", "p w", 12, "redlock"};
    write_subscribe(&login, order, COUNT(order));
    EXPECT("AUTH", "ann", "p w");
    EXPECT("CLIENT", "SETNAME", "redlock");
    EXPECT("INFO", "server");
    EXPECT("SUBSCRIBE", "redlock:me");
}

TEST(a_probe_is_a_ping)
{
    connection_write_probe(&written);
    EXPECT("PING");
}

TEST(the_longest_listener_fits_its_room)
{
    static char text[5000];
    memset(text, 't', sizeof text - 1);
    struct credentials login = {text, text, 0, text};
    connection_write_subscribe(&written, &login, text, steps);
    assert_true(written.length > 4 * (sizeof text - 1));
}

/* ---- Room ---- */

static void fill_to_the_brim(struct request *request, struct slice bytes, const char *run)
{
    switch ((unsigned)request->tag.kind) {
    case REQUEST_GRANT:
    case REQUEST_UPGRADE:
        request->grant = (struct grant_request){INT64_MIN, UINT16_MAX};
        break;
    case REQUEST_RAISE:
        request->fence = INT64_MIN;
        break;
    case REQUEST_QUEUE:
        request->queue = (struct queue_request){INT64_MIN, UINT16_MAX};
        break;
    case REQUEST_RENEW:
        request->renew = (struct renew_request){true, INT64_MIN};
        break;
    case REQUEST_PEEK:
        request->tokens_told = UINT16_MAX;
        break;
    case REQUEST_ANNOUNCE:
    case REQUEST_UNSAY:
        request->announce = (struct announce_request){INT64_MIN, INT64_MIN, bytes};
        break;
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        request->barrier = (struct barrier_request){INT64_MIN, INT64_MIN, UINT16_MAX, true};
        break;
    case REQUEST_TALLY:
        request->tally = (struct tally_request){bytes, bytes, true};
        break;
    case REQUEST_MEND:
        request->mend = (struct mend_request){bytes, run, bytes, INT64_MIN, UINT16_MAX, true};
        break;
    case REQUEST_DROP:
        request->drop = (struct drop_request){bytes, INT64_MIN};
        break;
    case REQUEST_SURVEY:
        request->survey = (struct survey_request){bytes, UINT16_MAX, true};
        break;
    case REQUEST_ASK:
        request->ask = (struct ask_request){INT64_MIN, bytes, UINT16_MAX};
        break;
    }
}

TEST(the_largest_requests_fit_their_room)
{
    static char bytes[65536];
    static char channel[10000], run[RUN_ID_MAX + 1];
    struct slice slices[64];
    memset(run, 'r', RUN_ID_MAX);
    memset(bytes, 'n', sizeof bytes);
    memset(channel, 'c', sizeof channel - 1);
    for (unsigned i = 0; i < COUNT(slices); i++)
        slices[i] = (struct slice){bytes, sizeof bytes};
    struct names *names =
        keep(names_new(&unit_memory, (struct slice){"", 0}, slices, COUNT(slices)));
    struct names *const both[] = {names, NAMES("")}; /* one leaves no room to spare */
    for (int kind = REQUEST_ACQUIRE; kind < REQUEST_KINDS; kind++)
        for (unsigned i = 0; i < COUNT(both); i++) {
            if (kind == REQUEST_GRANT)
                names_set_shared(both[i], 0);
            struct request request = request_of((enum request_kind)kind, both[i]);
            request.ttl_ms = INT64_MIN;
            request.channel = channel;
            fill_to_the_brim(&request, (struct slice){bytes, sizeof bytes}, run);
            write_one(&request);
            request.whole = true;
            write_one(&request);
        }
    assert_true(written.length > (size_t)11 * 64 * sizeof bytes);
}

TEST(the_longest_list_fits_its_room)
{
    struct engine_config config = {.masters = MASTERS_MAX, .channel = "", .label = ""};
    struct agree_request agree = {.config = &config};
    static char address[5000], run[RUN_ID_MAX + 1];
    memset(address, 'a', sizeof address - 1);
    memset(run, 'r', RUN_ID_MAX);
    config.fleet = address;
    for (unsigned i = 0; i < MASTERS_MAX; i++) {
        config.addresses[i] = address;
        agree.run_ids[i] = run;
    }
    write_one(&(struct request){.tag = {.kind = REQUEST_AGREE}, .agree = &agree});
    assert_true(written.length > (MASTERS_MAX + 1) * (sizeof address - 1));
    agree.says = SAYS_OVER;
    agree.successor = address;
    write_one(&(struct request){.tag = {.kind = REQUEST_AGREE}, .agree = &agree});
    assert_true(written.length > (MASTERS_MAX + 2) * (sizeof address - 1));
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        config.addresses[i] = "";
    agree.says = SAYS_NOTHING;
    write_one(&(struct request){.tag = {.kind = REQUEST_AGREE}, .agree = &agree});
}

TEST(extreme_numbers_fit_their_room)
{
    struct request request = request_of(REQUEST_RENEW, NAMES(""));
    request.token_length = 0;
    request.ttl_ms = request.renew.not_after = INT64_MIN;
    WRITES(request, "EVALSHA", SCRIPT_RENEW_SHA1, "1", "", "", "-9223372036854775808", "0",
           "-9223372036854775808");
}

TEST(the_longest_login_fits_its_room)
{
    static char user[5000], password[5000], name[5000];
    memset(user, 'u', sizeof user - 1);
    memset(password, 'p', sizeof password - 1);
    memset(name, 'n', sizeof name - 1);
    struct request hello = hello_request(REQUEST_HELLO);
    hello.terms = (struct quarantine_terms){INT64_MIN, INT64_MIN, INT64_MIN, true, INT64_MIN};
    command_write(&written, &hello, &(struct credentials){user, password, INT32_MAX, name}, steps);
    assert_true(written.length > 15000);
}

TEST(many_short_names_fit_their_room)
{
    const char *strings[64];
    for (unsigned i = 0; i < COUNT(strings); i++)
        strings[i] = "n";
    struct names *names = keep(unit_names(COUNT(strings), strings));
    struct request request = request_of(REQUEST_ACQUIRE, names);
    write_one(&request);
}

/* ---- Several in one ---- */

TEST(releases_share_a_command)
{
    struct request requests[] = {request_of(REQUEST_RELEASE, NAMES("a")),
                                 request_of(REQUEST_RELEASE, NAMES("bb"))};
    requests[1].token = "other";
    requests[1].token_length = 5;
    WRITES_EACH(requests, SCRIPT_RELEASE_EACH, "2", "a", "bb", TOKEN, "other");
}

TEST(renewals_share_a_command)
{
    struct request requests[] = {request_of(REQUEST_RENEW, NAMES("a")),
                                 request_of(REQUEST_RENEW, NAMES("bb"))};
    requests[1].ttl_ms = 500;
    requests[1].renew.heal = true;
    requests[1].renew.not_after = 1785000000123456;
    assert_true(command_may_batch(&requests[1]));
    WRITES_EACH(requests, SCRIPT_RENEW_EACH, "2", "a", "bb", TOKEN, "30000", "0", "0", TOKEN, "500",
                "1", "1785000000123456");
}

TEST(grants_share_a_command)
{
    struct request requests[] = {request_of(REQUEST_GRANT, NAMES("a")),
                                 request_of(REQUEST_GRANT, NAMES("bb"))};
    requests[1].ttl_ms = 500;
    requests[1].grant.proposal = 1785000000123456;
    WRITES_EACH(requests, SCRIPT_GRANT_EACH, "3", "a", "bb", "redlock:clock", "60000000", "30000",
                "0", TOKEN, "500", "1785000000123456", TOKEN);
}

TEST(grants_that_are_alike_say_so_once)
{
    struct request requests[] = {request_of(REQUEST_GRANT, NAMES("a")),
                                 request_of(REQUEST_GRANT, NAMES("bb"))};
    WRITES_EACH(requests, SCRIPT_GRANT_EACH, "3", "a", "bb", "redlock:clock", "60000000", "30000",
                "0", TOKEN, TOKEN);
    requests[0].grant.proposal = 7;
    requests[1].grant.proposal = 8;
    WRITES_EACH(requests, SCRIPT_GRANT_EACH, "3", "a", "bb", "redlock:clock", "60000000", "30000",
                "7", TOKEN, TOKEN);
    static const usec others[] = {0, 7, 9};
    for (unsigned i = 0; i < COUNT(others); i++) {
        char text[] = {(char)('0' + others[i]), '\0'};
        requests[1].grant.proposal = others[i];
        WRITES_EACH(requests, SCRIPT_GRANT_EACH, "3", "a", "bb", "redlock:clock", "60000000",
                    "30000", "7", TOKEN, "30000", text, TOKEN);
    }
    requests[1].grant.proposal = 8;
    requests[1].ttl_ms = 500;
    WRITES_EACH(requests, SCRIPT_GRANT_EACH, "3", "a", "bb", "redlock:clock", "60000000", "30000",
                "7", TOKEN, "500", "8", TOKEN);
}

TEST(grants_and_renewals_of_shared_names_have_scripts_of_their_own)
{
    struct names *a = share(NAMES("a"), 0);
    struct names *b = share(NAMES("bb"), 0);
    struct request grants[] = {request_of(REQUEST_GRANT, a), request_of(REQUEST_GRANT, b)};
    struct request renewals[] = {request_of(REQUEST_RENEW, a), request_of(REQUEST_RENEW, b)};
    struct request releases[] = {request_of(REQUEST_RELEASE, a), request_of(REQUEST_RELEASE, b)};
    command_write_each(&written, grants, 2, false);
    command_write_each(&written, renewals, 2, true);
    command_write_each(&written, releases, 2, false);
    EXPECT("EVALSHA", SCRIPT_GRANT_SHARED_EACH_SHA1, "3", "a", "bb", "redlock:clock", "60000000",
           "30000", "0", TOKEN, TOKEN);
    EXPECT("EVAL", SCRIPT_RENEW_SHARED_EACH_TEXT, "2", "a", "bb", TOKEN, "30000", "0", "0", TOKEN,
           "30000", "0", "0");
    EXPECT("EVALSHA", SCRIPT_RELEASE_EACH_SHA1, "2", "a", "bb", TOKEN, TOKEN);
}

TEST(requests_for_slots_share_a_command)
{
    struct names *names = slot_12();
    struct request grants[] = {request_of(REQUEST_GRANT, names), request_of(REQUEST_GRANT, names)};
    grants[0].grant = (struct grant_request){7, 16};
    grants[1].grant = (struct grant_request){0, PERMITS_MOST};
    WRITES_EACH(grants, SCRIPT_GRANT_SLOT, "3", SLOT, SLOT, "redlock:clock", "60000000", TOKEN,
                "30000", "7", "16", TOKEN, "30000", "0", "1024");
    struct request releases[] = {request_of(REQUEST_RELEASE, names),
                                 request_of(REQUEST_RELEASE, names)};
    WRITES_EACH(releases, SCRIPT_RELEASE_SLOT, "2", SLOT, SLOT, TOKEN, TOKEN);
    struct request renewals[] = {request_of(REQUEST_RENEW, names),
                                 request_of(REQUEST_RENEW, names)};
    WRITES_EACH(renewals, SCRIPT_RENEW_SLOT, "2", SLOT, SLOT, TOKEN, "30000", "0", "0", TOKEN,
                "30000", "0", "0");
}

TEST(a_batch_is_about_slots_or_about_none)
{
    struct names *names = slot_12();
    static const enum request_kind kinds[] = {REQUEST_GRANT, REQUEST_RENEW, REQUEST_RELEASE};
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        struct request slot = request_of(kinds[i], names), name = request_of(kinds[i], jobs);
        assert_true(command_may_batch(&slot));
        assert_false(command_joins(&name, 1, &slot) || command_joins(&slot, 1, &name));
        assert_true(command_joins(&slot, BATCH_OF_SLOTS_MAX - 1, &slot));
        assert_false(command_joins(&slot, BATCH_OF_SLOTS_MAX, &slot));
        assert_true(command_joins(&name, BATCH_MAX - 1, &name));
        assert_false(command_joins(&name, BATCH_MAX, &name));
    }
}

TEST(a_batch_is_of_one_kind_and_of_one_mode)
{
    struct names *shared = share(NAMES("a"), 0);
    for (int kind = REQUEST_GRANT; kind <= REQUEST_RELEASE; kind++) {
        struct request one = request_of((enum request_kind)kind, jobs);
        struct request other = request_of((enum request_kind)kind, shared);
        bool has_modes = kind == REQUEST_GRANT || kind == REQUEST_RENEW;
        assert_true(command_joins(&one, 1, &one));
        assert_true(command_joins(&other, 1, &other));
        assert_true(command_joins(&one, 1, &other) == !has_modes);
        assert_true(command_joins(&other, 1, &one) == !has_modes);
        other.tag.kind = REQUEST_PEEK;
        assert_false(command_joins(&one, 1, &other));
    }
}

TEST(only_some_of_one_name_may_go_in_one_command)
{
    struct names *two = NAMES("a", "b");
    for (int kind = REQUEST_ACQUIRE; kind < REQUEST_KINDS; kind++) {
        bool may = kind == REQUEST_RELEASE || kind == REQUEST_RENEW || kind == REQUEST_GRANT;
        struct request request = request_of((enum request_kind)kind, jobs);
        assert_true(command_may_batch(&request) == may);
        request.whole = true;
        assert_false(command_may_batch(&request));
        request = request_of((enum request_kind)kind, two);
        assert_false(command_may_batch(&request));
    }
    for (int kind = REQUEST_HELLO; kind <= REQUEST_KILL; kind++)
        assert_false(
            command_may_batch(&(struct request){.tag = {.kind = (enum request_kind)kind}}));
}

TEST(the_largest_batches_fit_their_room)
{
    static char bytes[65536], token[TOKEN_MAX];
    struct request requests[BATCH_MAX];
    const size_t lengths[] = {0, 1, sizeof bytes};
    const enum request_kind kinds[] = {REQUEST_RENEW, REQUEST_RELEASE, REQUEST_GRANT};
    for (unsigned size = 0; size < COUNT(lengths); size++) {
        struct slice slice = {bytes, lengths[size]};
        struct names *names = keep(names_new(&unit_memory, (struct slice){"", 0}, &slice, 1));
        for (unsigned which = 0; which < COUNT(kinds); which++) {
            for (unsigned i = 0; i < BATCH_MAX; i++) {
                requests[i] = request_of(kinds[which], names);
                requests[i].ttl_ms = INT64_MIN;
                fill_to_the_brim(&requests[i], slice, NULL);
                requests[i].token = token;
                requests[i].token_length = lengths[size] ? sizeof token : 0;
            }
            command_write_each(&written, requests, BATCH_MAX, false);
            command_write_each(&written, requests, BATCH_MAX, true);
        }
    }
    assert_false(written.failed);
    assert_true(written.length > 6 * BATCH_MAX * sizeof bytes);
}

TEST(memory_out_is_told_by_the_buffer)
{
    struct request request = request_of(REQUEST_RELEASE, jobs);
    struct request hello = hello_request(REQUEST_HELLO);
    memory_is_out = true;
    write_one(&request);
    assert_true(written.failed);
    written.failed = false;
    command_write(&written, &hello, &(struct credentials){.password = "pw"}, steps);
    assert_true(written.failed);
    written.failed = false;
    command_write_each(&written, (struct request[]){request, request}, 2, false);
    assert_true(written.failed);
    written.failed = false;
    assert_int_equal(connection_write_subscribe(&written, &(struct credentials){0}, "c", steps), 0);
    assert_true(written.failed);
    assert_int_equal(written.length, 0);
}

PROGRAM_OF_CASES(NULL, NULL)
