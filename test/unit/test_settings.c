/* Files of settings: what is read from them, and what is said of wrong ones. */
#define _GNU_SOURCE /* memfd_create; NOLINT(bugprone-reserved-identifier) */

#include "settings.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char path[64], why[512];
static int fd = -1;
static struct settings settings;

static int set_up(void **state)
{
    (void)state;
    fd = memfd_create("settings", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    settings = (struct settings){0};
    return fd < 0;
}

static int tear_down(void **state)
{
    (void)state;
    settings_free(&settings);
    return close(fd);
}

#define TEST(name) CASE_WITH(name, set_up, tear_down)

static enum settings_result read_bytes(const char *bytes, size_t length)
{
    settings_free(&settings);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bytes, length, 0), length);
    why[0] = '\0';
    return settings_read(&settings, path, why, sizeof why);
}

static void read_text(const char *text)
{
    if (read_bytes(text, strlen(text)) != SETTINGS_READ)
        fail_msg("%s", why);
}

/* The complaint begins "FILE:LINE: ", and has this in it. */
static void is_refused(const char *text, unsigned line, const char *complaint)
{
    char begin[96];
    assert_int_equal(read_bytes(text, strlen(text)), SETTINGS_WRONG);
    snprintf(begin, sizeof begin, line ? "%s:%u: " : "%s: ", path, line);
    if (strncmp(why, begin, strlen(begin)) != 0 || !strstr(why, complaint))
        fail_msg("%s, and not %s... %s", why, begin, complaint);
}

TEST(each_setting_is_read)
{
    read_text("# for all jobs\n"
              "master = 10.0.0.1:6379 [::1]:6379\n"
              "master = rediss://10.0.0.2, redis://u:p#q@10.0.0.3 # the last\n"
              "\n"
              "prefix=app:\nfleet = jobs\n"
              "  spare =\t1\n"
              "max_ttl = 1.5m\n"
              "label = web-1\n"
              "tls_ca = /ca\ntls_cert = /cert\ntls_key = /key\n"
              "tls_name = host\ntls_sni =\ntls_verify = full");
    assert_string_equal(settings.value[SETTING_NODES],
                        "10.0.0.1:6379 [::1]:6379 rediss://10.0.0.2, redis://u:p#q@10.0.0.3");
    assert_int_equal(settings.masters, 4);
    assert_int_equal(settings.master_line[0], 2);
    assert_int_equal(settings.master_line[2], 3);
    assert_string_equal(settings.value[SETTING_PREFIX], "app:");
    assert_int_equal(settings.line[SETTING_PREFIX], 5);
    assert_string_equal(settings.value[SETTING_FLEET], "jobs");
    assert_int_equal(settings.number[SETTING_SPARE], 1);
    assert_int_equal(settings.number[SETTING_MAX_TTL], 90000);
    assert_string_equal(settings.value[SETTING_LABEL], "web-1");
    assert_string_equal(settings.value[SETTING_TLS_CA], "/ca");
    assert_string_equal(settings.value[SETTING_TLS_CERT], "/cert");
    assert_string_equal(settings.value[SETTING_TLS_KEY], "/key");
    assert_string_equal(settings.value[SETTING_TLS_NAME], "host");
    assert_string_equal(settings.value[SETTING_TLS_SNI], "");
    assert_string_equal(settings.value[SETTING_TLS_VERIFY], "full");
}

TEST(what_a_file_leaves_out_is_not_there)
{
    read_text("");
    for (int i = 0; i < SETTINGS; i++)
        assert_null(settings.value[i]);
    read_text("\n \n# spare = 1\n#\n");
    for (int i = 0; i < SETTINGS; i++)
        assert_null(settings.value[i]);
    settings_free(&settings);
    assert_int_equal(settings_read(&settings, SETTINGS_NONE, why, sizeof why), SETTINGS_READ);
}

TEST(lines_may_end_as_on_windows)
{
    read_text("masters = a:1 b:2,\r\nspare = 0\r\n");
    assert_int_equal(settings.masters, 2);
    assert_string_equal(settings.value[SETTING_SPARE], "0");
}

TEST(wrong_lines_say_what_to_write)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *complaint;
    } wrong[] = {
        {"spare = 1\nmax-ttl = 30s\n", 2, "there is no such key; write max_ttl"},
        {"MaxTTL = 30s", 1, "write max_ttl"},
        {"password = hunter2", 1, "there is no such key; write one of master, spare, max_ttl"},
        {"= 1", 1, "there is no such key"},
        {"[redlock]", 1, "no setting; write key = value"},
        {"\n\nspare 1", 3, "no setting; write key = value"},
        {"spare =", 1, "spare has no value; write spare = 0"},
        {"spare = -1", 1, "a number of masters from 0 to 14"},
        {"spare = 15", 1, "a number of masters from 0 to 14"},
        {"spare = 1x", 1, "a number of masters from 0 to 14"},
        {"spare = 99999999999999999999", 1, "a number of masters from 0 to 14"},
        {"max_ttl = 30", 1, "no duration with a unit from 1ms to 24h; write max_ttl = 30s"},
        {"max_ttl = 0", 1, "not from 1ms to 24h"},
        {"max_ttl = 25h", 1, "not from 1ms to 24h"},
        {"max_ttl = forever", 1, "not from 1ms to 24h"},
        {"spare = 1\n\nspare = 1", 3, "spare stands in line 1, too; write it once"},
        {"prefix = \"app:\"", 1, "quotes would belong to the value"},
        {"label = 'a", 1, "quotes would belong to the value"},
        {"label = two words", 1, "printable ASCII without spaces"},
        {"label = w\xc3\xa9"
         "b",
         1, "printable ASCII without spaces"},
        {"prefix = a\x1b[1m", 1, "a control character"},
        {"fleet = 'jobs'", 1, "write fleet = jobs without them"},
        {"fleet = a\nFleet = b", 2, "write fleet"},
        {"prefix = a\rspare = 1", 1, "a control character"},
        {"tls_verify = no", 1, "neither full nor none"},
        {"master = a:1\ntls_ca = /ca", 2, "no master is one; write master = rediss://"},
        {"spare = 2\nmaster = a:1 b:1 c:1 d:1", 1, "spare = 2 needs at least 5 masters, and 4 are"},
        {"\xef\xbb\xbfspare = 1", 1, "byte order mark"},
        {"\xff\xfes", 1, "byte order mark"},
        {"masters = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\nmaster = 16", 2, "write at most 15"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++)
        is_refused(wrong[i].text, wrong[i].line, wrong[i].complaint);
}

TEST(no_complaint_has_a_password)
{
    static const char *const wrong[] = {
        "hunter2",
        "hunter2 = x",
        "redis://u:hunter2@h",
        "redis://u:hunter2@h = 1",
        "mister = redis://u:hunter2@h",
        "spare = redis://u:hunter2@h",
        "master = 'redis://u:hunter2@h'",
        "master = redis://u:hunter2@h\x01",
        "max_ttl = hunter2",
        "label = redis: hunter2",
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(read_bytes(wrong[i], strlen(wrong[i])), SETTINGS_WRONG);
        assert_null(strstr(why, "hunter2"));
    }
}

TEST(limits)
{
    char text[1100] = "prefix = ";
    memset(text + 9, 'x', SETTINGS_PREFIX_MAX);
    read_text(text);
    text[9 + SETTINGS_PREFIX_MAX] = 'x';
    is_refused(text, 1, "prefix is longer than a name may be; write prefix = app:");
    memcpy(text, " fleet = ", 9);
    is_refused(text, 1, "fleet is longer than a name may be; write fleet = jobs");
    text[9 + SETTINGS_PREFIX_MAX] = '\0';
    read_text(text);
    char label[] = "label = "
                   "0123456789012345678901234567890123456789012345678901234567890123";
    read_text(label);
    is_refused("label = "
               "01234567890123456789012345678901234567890123456789012345678901234",
               1, "at most 64 bytes");
}

TEST(what_is_no_text_is_refused)
{
    assert_int_equal(read_bytes("spare = 1\n\0", 11), SETTINGS_WRONG);
    assert_non_null(strstr(why, ":2: a zero byte"));
    char *large = malloc(1 << 20);
    memset(large, '#', 1 << 20);
    assert_int_equal(read_bytes(large, 1 << 20), SETTINGS_WRONG);
    assert_non_null(strstr(why, "more than 65536 bytes"));
    assert_int_equal(read_bytes(large, 65536), SETTINGS_READ);
    free(large);
}

TEST(what_is_no_plain_file_is_refused_at_once)
{
    char fifo[] = "/tmp/settings-XXXXXX";
    assert_non_null(mkdtemp(fifo));
    assert_int_equal(settings_read(&settings, fifo, why, sizeof why), SETTINGS_WRONG);
    assert_non_null(strstr(why, "no plain file"));
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    settings_free(&settings);
    assert_int_equal(settings_read(&settings, fifo, why, sizeof why), SETTINGS_WRONG);
    assert_non_null(strstr(why, "no plain file"));
    assert_int_equal(unlink(fifo), 0);
    settings_free(&settings);
    assert_int_equal(settings_read(&settings, fifo, why, sizeof why), SETTINGS_MISSING);
    assert_non_null(strstr(why, "no such file"));
}

TEST(a_password_that_all_may_read_is_noted)
{
    assert_int_equal(fchmod(fd, 0644), 0);
    read_text("master = redis://:p@h");
    assert_true(settings.others_read);
    read_text("master = redis://h");
    assert_false(settings.others_read);
    assert_int_equal(fchmod(fd, 0640), 0);
    read_text("master = redis://:p@h");
    assert_false(settings.others_read);
}

TEST(a_complaint_about_a_master_has_a_line)
{
    read_text("\nmaster = a:1 b:1\nmaster = a:1");
    assert_int_equal(settings_line_of(&settings, "master 2, \"b:1\": x"), 2);
    assert_int_equal(settings_line_of(&settings, "master 3, \"a:1\": x"), 3);
    assert_int_equal(settings_line_of(&settings, "master 4, \"a:1\": x"), 0);
    assert_int_equal(settings_line_of(&settings, "no masters"), 0);
}

TEST(keys_have_variables)
{
    assert_string_equal(settings_key(SETTING_MAX_TTL), "max_ttl");
    assert_string_equal(settings_variable(SETTING_MAX_TTL), "REDLOCK_MAX_TTL");
    assert_string_equal(settings_variable(SETTING_NODES), "REDLOCK_NODES");
}

/* Rights are not what is missing, so nothing is said of them. */
TEST(what_is_short_now_is_told_as_that)
{
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum settings_result result = settings_read(&settings, path, why, sizeof why);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(result, SETTINGS_SHORT);
    assert_non_null(strstr(why, "it cannot be read: Too many open files"));
    assert_null(strstr(why, "let this user"));
}

PROGRAM_OF_CASES(NULL, NULL)
