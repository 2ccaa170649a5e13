/* Errors of masters, as people read them. */
#include "server_error.h"

#include <stdio.h>

#include "command.h"
#include "ground/event.h"
#include "scripts.h"
#include "unit.h"

static char text[600];

static const char *tidy(const char *error)
{
    snprintf(text, sizeof text, "%s", error);
    size_t length = server_error_tidy(text, strlen(text));
    assert_int_equal(length, strlen(text));
    assert_true(strlen(text) < VOTE_TEXT_MAX);
    return text;
}

/* The line on which a script first has these words. */
static unsigned local_queue_of(const char *script, const char *words)
{
    const char *at = strstr(script, words);
    assert_non_null(at);
    unsigned line = 1;
    for (; script < at; script++)
        line += *script == '\n';
    return line;
}

static const char *denied_by_7(const char *hash, unsigned line)
{
    char error[300];
    snprintf(error, sizeof error,
             "ERR The user executing the script can't run this command or subcommand script: %s, "
             "on @user_script:%u.",
             hash, line);
    return tidy(error);
}

CASE(a_denied_command_is_named)
{
    char error[300];
    assert_string_equal(
        denied_by_7(SCRIPT_HELLO_SHA1, local_queue_of(SCRIPT_HELLO_TEXT, "call('info'")),
        "NOPERM this user has no permissions to run the 'info' command");
    assert_string_equal(
        denied_by_7(SCRIPT_QUEUE_SHA1, local_queue_of(SCRIPT_QUEUE_TEXT, "call('zadd'")),
        "NOPERM this user has no permissions to run the 'zadd' command");
    snprintf(error, sizeof error,
             "ERR Error running script (call to f_" SCRIPT_RENEW_SHA1
             "): @user_script:%u: @user_script: %u: The user executing the script can't run this "
             "command or subcommand",
             local_queue_of(SCRIPT_RENEW_TEXT, "call('pexpire'"),
             local_queue_of(SCRIPT_RENEW_TEXT, "call('pexpire'"));
    assert_string_equal(tidy(error),
                        "NOPERM this user has no permissions to run the 'pexpire' command");
    assert_string_equal(
        tidy("ERR ACL failure in script: User ann has no permissions to run the 'info' command "
             "script: " SCRIPT_HELLO_SHA1 ", on @user_script:1."),
        "NOPERM User ann has no permissions to run the 'info' command");
}

CASE(a_command_that_was_renamed_is_named)
{
    char error[300];
    unsigned line = local_queue_of(SCRIPT_RENEW_TEXT, "call('pexpire'");
    snprintf(error, sizeof error,
             "ERR Unknown Redis command called from script script: " SCRIPT_RENEW_SHA1
             ", on @user_script:%u.",
             line);
    assert_string_equal(tidy(error), "ERR unknown command 'pexpire' in a script");
    snprintf(error, sizeof error,
             "ERR Error running script (call to f_" SCRIPT_RENEW_SHA1
             "): @user_script:%u: @user_script: %u: Unknown Redis command called from Lua script",
             line, line);
    assert_string_equal(tidy(error), "ERR unknown command 'pexpire' in a script");
}

CASE(a_key_that_is_denied_is_told_with_its_command)
{
    char error[300];
    snprintf(error, sizeof error,
             "ERR The user executing the script can't access at least one of the keys mentioned in "
             "the command arguments script: " SCRIPT_HELLO_SHA1 ", on @user_script:%u.",
             local_queue_of(SCRIPT_HELLO_TEXT, "call('hmget'"));
    assert_string_equal(tidy(error),
                        "NOPERM this user has no permissions to access a key of 'hmget'");
}

CASE(what_cannot_be_known_is_left)
{
    static const char known[] =
        "ERR The user executing the script can't run this command or subcommand";
    assert_string_equal(denied_by_7(SCRIPT_HELLO_SHA1, 9999), known);
    assert_string_equal(denied_by_7("0123456789012345678901234567890123456789", 1), known);
    assert_non_null(strstr(denied_by_7("short", 1), "or subcommand script: short, on"));
    assert_string_equal(tidy("ERR on @user_script:"), "ERR on @user_script:");
    assert_string_equal(tidy("ERR Error running script"), "ERR Error running script");
    assert_string_equal(tidy(""), "");
}

/* A lie, or a fault of the server: lines that no script has, the first and the last of all numbers.
 */
CASE(numbers_of_lines_that_no_script_has)
{
    static const char *const numbers[] = {"-1", "0", "-99999999999999999999",
                                          "99999999999999999999"};
    for (unsigned i = 0; i < COUNT(numbers); i++) {
        char error[300];
        snprintf(error, sizeof error, "ERR no script: " SCRIPT_HELLO_SHA1 ", on @user_script:%s.",
                 numbers[i]);
        assert_string_equal(tidy(error), "ERR no");
    }
}

CASE(the_noise_of_scripts_goes)
{
    assert_string_equal(tidy("OOM command not allowed when used memory > 'maxmemory'. "
                             "script: " SCRIPT_GRANT_SHA1 ", on @user_script:1."),
                        "OOM command not allowed when used memory > 'maxmemory'.");
    assert_string_equal(
        tidy("ERR Error running script (call to f_" SCRIPT_GRANT_SHA1
             "): @user_script:9: @user_script: 9: -NOREPLICAS Not enough good replicas to write."),
        "NOREPLICAS Not enough good replicas to write.");
}

CASE(a_long_one_is_cut_between_words)
{
    assert_string_equal(
        tidy("DENIED Redis is running in protected mode because protected mode is enabled and no "
             "password is set for the default user. In this mode connections are only accepted "
             "from the loopback interface."),
        "DENIED Redis is running in protected mode because protected mode is enabled and no "
        "password is set for the default...");
    char word[300];
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = '\0';
    assert_int_equal(strlen(tidy(word)), VOTE_TEXT_MAX - 1);
    word[VOTE_TEXT_MAX - 1] = '\0';
    assert_string_equal(tidy(word), word);
}

PROGRAM_OF_CASES(NULL, NULL)
