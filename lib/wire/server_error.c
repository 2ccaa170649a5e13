#include "server_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "ground/event.h"

#define HASH   40
#define SCRIPT "user_script:" /* what servers call our scripts */

size_t server_error_fit(char *text, size_t length)
{
    static const char more[] = "...";
    if (length < VOTE_TEXT_MAX)
        return length;
    size_t end = VOTE_TEXT_MAX - sizeof more;
    size_t word = end;
    while (word > 0 && text[word] != ' ')
        word--;
    if (word == 0) /* the text is one long word */
        word = end;
    memcpy(text + word, more, sizeof more);
    return word + sizeof more - 1;
}

/* ---- The denied command of a script, where the server tells only the line ---- */

static const char *find_hash(const char *text)
{
    for (size_t length; *text; text += length ? length : 1) {
        length = strspn(text, "0123456789abcdef");
        if (length == HASH)
            return text;
    }
    return NULL;
}

static const char *find_line(const char *script, long number)
{
    for (; script && number > 1; number--) { /* it may be anything that a long can be */
        script = strchr(script, '\n');
        script = script ? script + 1 : NULL;
    }
    return script;
}

/* Finds the line's first redis.call or redis.pcall. */
static void find_command(const char *line, char *command, size_t size)
{
    static const char call[] = "call('";
    const char *end = strchr(line, '\n'), *at = strstr(line, call);
    *command = '\0';
    if (at && (!end || at < end)) {
        at += sizeof call - 1;
        snprintf(command, size, "%.*s", (int)strcspn(at, "'"), at);
    }
}

static void find_denied(const char *text, const char *hash, char *command, size_t size)
{
    const char *place = strstr(text, SCRIPT);
    const char *script = hash ? eval_text(hash) : NULL;
    *command = '\0';
    if (!script || !place)
        return;
    const char *line = find_line(script, strtol(place + sizeof SCRIPT - 1, NULL, 10));
    if (line)
        find_command(line, command, size);
}

/* ---- */

static size_t rewrite_denial(char *text, size_t room, const char *command)
{
    if (strstr(text, "can't run this command"))
        snprintf(text, room, "NOPERM this user has no permissions to run the '%s' command",
                 command);
    else if (strstr(text, "can't access at least one of the keys"))
        snprintf(text, room, "NOPERM this user has no permissions to access a key of '%s'",
                 command);
    else if (strstr(text, "Unknown Redis command"))
        snprintf(text, room, "ERR unknown command '%s' in a script", command);
    return strlen(text);
}

/* "... script: HASH, on @user_script:7." of Redis 7 */
static void cut_tail(char *text, const char *hash)
{
    static const char before[] = " script: ";
    size_t length = sizeof before - 1;
    if (hash && (size_t)(hash - text) > length && memcmp(hash - length, before, length) == 0)
        text[(size_t)(hash - text) - length] = '\0';
}

/* "ERR Error running script (call to f_HASH): @user_script:7: @user_script: 7: ..." of Redis 6 */
static void cut_head(char *text)
{
    static const char head[] = "ERR Error running script";
    char *last = NULL;
    if (strncmp(text, head, sizeof head - 1) != 0)
        return;
    for (char *at = strstr(text, SCRIPT); at; at = strstr(at, SCRIPT))
        last = at += sizeof SCRIPT - 1;
    if (!last)
        return;
    last += strspn(last, " 0123456789:-");
    memmove(text, last, strlen(last) + 1);
}

/* "ERR ACL failure in script: User ann has no permissions ..." of Redis 7.2 and later, which says
 * NOPERM outside of scripts. */
static void name_denial(char *text)
{
    static const char head[] = "ERR ACL failure in script: ", code[] = "NOPERM ";
    if (strncmp(text, head, sizeof head - 1) != 0)
        return;
    memcpy(text, code, sizeof code - 1);
    memmove(text + sizeof code - 1, text + sizeof head - 1, strlen(text + sizeof head - 1) + 1);
}

size_t server_error_tidy(char *text, size_t length)
{
    char command[32];
    if (!strstr(text, SCRIPT))
        return server_error_fit(text, length);
    const char *hash = find_hash(text);
    find_denied(text, hash, command, sizeof command);
    cut_tail(text, hash);
    cut_head(text);
    name_denial(text);
    return server_error_fit(text,
                            command[0] ? rewrite_denial(text, length + 1, command) : strlen(text));
}
