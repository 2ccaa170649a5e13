#define _GNU_SOURCE /* asprintf, memmem, memrchr; NOLINT(bugprone-reserved-identifier) */

#include "address.h"

#include <ctype.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "double.h"
#include "tls.h"

#define PORT_DEFAULT    6379
#define DB_MAX          65535
#define HOST_MAX        253
#define PATH_LENGTH_MAX (sizeof((struct sockaddr_un *)0)->sun_path - 1)
#define EXPECTED                                                                                   \
    "expected redis://[user[:password]@]host[:port][/db], rediss:// for TLS, host:port, or "       \
    "unix:///path[?db=N]"

struct text {
    const char *start, *end;
};

/* The entry that is being parsed, and the buffer for a complaint. */
struct entry {
    struct text text;
    int number;
    bool *no_memory;
    char *why;
    size_t why_size;
};

static size_t length_of_text(struct text text)
{
    return (size_t)(text.end - text.start);
}

static const char *find_char(struct text text, char wanted)
{
    return memchr(text.start, wanted, length_of_text(text));
}

static const char *find_last(struct text text, char wanted)
{
    return memrchr(text.start, wanted, length_of_text(text));
}

/* ---- Complaints.  They show the entry without anything that could be a password:
 * all before the last '@', all after a ':' that is no port number, and all before
 * "://" that is no scheme. ---- */

static const char *after_scheme(struct text text)
{
    const char *sign = memmem(text.start, length_of_text(text), "://", 3);
    return sign ? sign + 3 : text.start;
}

static const char *end_of_showable(struct text place)
{
    const char *bracket =
        place.start < place.end && *place.start == '[' ? find_char(place, ']') : NULL;
    struct text rest = {bracket ? bracket : place.start, place.end};
    const char *colon = find_char(rest, ':'), *at = colon ? colon + 1 : place.end;
    while (at < place.end && isdigit((unsigned char)*at))
        at++;
    bool is_port = at == place.end || (at > colon + 1 && (*at == '/' || *at == '?'));
    return is_port ? place.end : colon + 1;
}

static bool is_scheme(const char *start, const char *body)
{
    for (const char *at = start; at + 3 < body; at++)
        if (!isalnum((unsigned char)*at))
            return false;
    return true;
}

static void describe_entry(const struct entry *entry, char *shown, size_t size)
{
    const char *body = after_scheme(entry->text);
    const char *at = find_last((struct text){body, entry->text.end}, '@');
    struct text place = {at ? at + 1 : body, entry->text.end};
    const char *end = *place.start == '/' ? place.end : end_of_showable(place);
    bool scheme = is_scheme(entry->text.start, body);
    snprintf(shown, size, "%s%.*s%s%.*s%s", scheme ? "" : "***",
             scheme ? (int)(body - entry->text.start) : 0, entry->text.start, at ? "***@" : "",
             (int)(end - place.start), place.start, end < place.end ? "***" : "");
    for (; *shown; shown++)
        if (*shown < ' ' || *shown > '~')
            *shown = '?';
}

__attribute__((format(printf, 2, 3))) static bool complain(const struct entry *entry,
                                                           const char *format, ...)
{
    char shown[160], what[256];
    va_list arguments;
    describe_entry(entry, shown, sizeof shown);
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(entry->why, entry->why_size, "master %d, \"%s\": %s", entry->number, shown, what);
    return false;
}

static bool no_memory(const struct entry *entry)
{
    snprintf(entry->why, entry->why_size, "out of memory");
    *entry->no_memory = true;
    return false;
}

/* ---- Parts ---- */

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)tolower((unsigned char)digit);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The byte that the escape at `at` stands for; 0 if there is no valid escape. */
static char unescape(const char *at, const char *end)
{
    if (end - at < 3)
        return 0;
    int high = hex_value(at[1]), low = hex_value(at[2]);
    return high < 0 || low < 0 ? 0 : (char)(high * 16 + low);
}

static bool decode(const struct entry *entry, struct text text, const char *part, char **decoded)
{
    char *to = *decoded = calloc(1, length_of_text(text) + 1);
    if (!to)
        return no_memory(entry);
    for (const char *at = text.start; at < text.end; at++) {
        char byte = *at;
        if (byte == '%') {
            byte = unescape(at, text.end);
            at += 2;
        }
        if (byte == '\0')
            return complain(entry,
                            "the %s has a '%%' that is not followed by two hexadecimal "
                            "digits (01 to FF); write %%25 for a plain one",
                            part);
        *to++ = byte;
    }
    return true;
}

static bool parse_number(struct text text, int low, int high, int *number)
{
    size_t length = length_of_text(text);
    if (length == 0 || length > 5)
        return false;
    *number = 0;
    for (const char *at = text.start; at < text.end; at++) {
        if (!isdigit((unsigned char)*at))
            return false;
        *number = *number * 10 + (*at - '0');
    }
    return *number >= low && *number <= high;
}

static bool parse_db(const struct entry *entry, struct text text, struct address *address)
{
    if (!parse_number(text, 0, DB_MAX, &address->db))
        return complain(entry, "the database must be a number from 0 to %d", DB_MAX);
    return true;
}

/* user, user:password or :password; the text may be empty */
static bool parse_login(const struct entry *entry, struct text text, struct address *address)
{
    const char *colon = find_char(text, ':');
    struct text user = {text.start, colon ? colon : text.end};
    if (length_of_text(user) > 0 && !decode(entry, user, "user", &address->user))
        return false;
    if (!colon)
        return true;
    struct text password = {colon + 1, text.end};
    if (!address->user && length_of_text(password) == 0)
        return complain(entry, "there is no password after the ':'");
    return decode(entry, password, "password", &address->password);
}

static bool is_host(struct text host, const char *punctuation)
{
    for (const char *at = host.start; at < host.end; at++)
        if (!isalnum((unsigned char)*at) && !strchr(punctuation, *at))
            return false;
    return length_of_text(host) > 0 && length_of_text(host) <= HOST_MAX;
}

static bool parse_host(const struct entry *entry, struct text host, struct address *address)
{
    bool bracketed = length_of_text(host) > 1 && *host.start == '[' && host.end[-1] == ']';
    if (bracketed) {
        host.start++;
        host.end--;
    }
    if (!is_host(host, bracketed ? ":.%-_" : ".-_") || (bracketed && !find_char(host, ':')))
        return complain(entry, "the host is missing or has a character that no host name has; %s",
                        EXPECTED);
    address->host = strndup(host.start, length_of_text(host));
    return address->host ? true : no_memory(entry);
}

static bool parse_host_and_port(const struct entry *entry, struct text place,
                                struct address *address)
{
    const char *bracket =
        place.start < place.end && *place.start == '[' ? find_char(place, ']') : NULL;
    struct text rest = {bracket ? bracket : place.start, place.end};
    const char *colon = find_char(rest, ':');
    if (!bracket && colon && colon != find_last(rest, ':'))
        return complain(entry, "an IPv6 address goes into brackets, as in redis://[::1]:6379");
    address->port = PORT_DEFAULT;
    if (colon && !parse_number((struct text){colon + 1, place.end}, 1, 65535, &address->port))
        return complain(entry, "the port must be a number from 1 to 65535");
    return parse_host(entry, (struct text){place.start, colon ? colon : place.end}, address);
}

/* ---- TLS ---- */

static bool is_word(struct text text, const char *word)
{
    return length_of_text(text) == strlen(word) && memcmp(text.start, word, strlen(word)) == 0;
}

static bool parse_parameter(const struct entry *entry, struct text text, struct address *address)
{
    const char *sign = find_char(text, '=');
    struct text key = {text.start, sign ? sign : text.end};
    struct text value = {sign ? sign + 1 : text.end, text.end};
    for (int i = 0; i < TLS_SETTINGS; i++) {
        if (!sign || !is_word(key, tls_setting_names[i]))
            continue;
        if (address->tls.said[i])
            return complain(entry, "%s is given twice", tls_setting_names[i]);
        return decode(entry, value, tls_setting_names[i], &address->tls.said[i]);
    }
    return complain(entry,
                    "behind the '?' may stand ca=, cert=, key=, name=, sni= and verify=none, "
                    "with '&' between them");
}

/* key=value&key=value, where the values are %-encoded */
static bool parse_parameters(const struct entry *entry, struct text text, struct address *address)
{
    while (length_of_text(text) > 0) {
        const char *sign = find_char(text, '&');
        struct text first = {text.start, sign ? sign : text.end};
        if (!parse_parameter(entry, first, address))
            return false;
        text.start = sign ? sign + 1 : text.end;
    }
    return true;
}

/* [user[:password]@]host[:port][/db] */
static bool parse_redis(const struct entry *entry, struct text body, struct address *address)
{
    const char *at = find_last(body, '@');
    if (at && !parse_login(entry, (struct text){body.start, at}, address))
        return false;
    struct text place = {at ? at + 1 : body.start, body.end};
    if (find_char(place, '?'))
        return complain(entry, "parameters behind a '?' are for rediss://, which is TLS");
    const char *slash = find_char(place, '/');
    struct text db = {slash ? slash + 1 : place.end, place.end};
    if (length_of_text(db) > 0 && !parse_db(entry, db, address))
        return false;
    place.end = slash ? slash : place.end;
    return parse_host_and_port(entry, place, address);
}

/* As parse_redis(), with ?parameters behind it.  In a login and in a parameter both marks must be
 * encoded: otherwise a part of one would look like the other. */
static bool parse_rediss(const struct entry *entry, struct text body, struct address *address)
{
    const char *query = find_char(body, '?');
    struct text parameters = {query ? query + 1 : body.end, body.end};
    if (!tls_is_built)
        return complain(entry,
                        "this build has no TLS: build with OpenSSL (REDLOCK_TLS=ON), or write "
                        "redis://");
    if (find_char(parameters, '@'))
        return complain(entry, "a '?' in a user or password is written %%3F, a '@' in a parameter "
                               "%%40");
    address->tls.wanted = true;
    body.end = query ? query : body.end;
    return parse_redis(entry, body, address) && parse_parameters(entry, parameters, address);
}

/* [user[:password]@]/path[?db=N] */
static bool parse_unix(const struct entry *entry, struct text body, struct address *address)
{
    const char *slash = find_char(body, '/');
    if (!slash || (slash > body.start && slash[-1] != '@'))
        return complain(entry, "the path must be absolute, as in unix:///run/redis.sock");
    if (slash > body.start && !parse_login(entry, (struct text){body.start, slash - 1}, address))
        return false;
    struct text path = {slash, body.end};
    const char *query = find_char(path, '?');
    if (query && (body.end - query < 4 || memcmp(query, "?db=", 4) != 0))
        return complain(entry, "after the path only ?db=N may follow");
    if (query && !parse_db(entry, (struct text){query + 4, body.end}, address))
        return false;
    path.end = query ? query : path.end;
    if (!decode(entry, path, "path", &address->path))
        return false;
    if (strlen(address->path) > PATH_LENGTH_MAX)
        return complain(entry, "the path of a socket has at most %zu bytes, this has %zu",
                        PATH_LENGTH_MAX, strlen(address->path));
    return true;
}

static bool make_shown(const struct entry *entry, struct address *address)
{
    char db[16] = "";
    const char *open = "", *close = "";
    if (address->host && strchr(address->host, ':')) {
        open = "[";
        close = "]";
    }
    if (address->db > 0)
        snprintf(db, sizeof db, "%s%d", address->path ? "?db=" : "/", address->db);
    int length = address->path ? asprintf(&address->shown, "unix:%s%s", address->path, db)
                               : asprintf(&address->shown, "%s%s%s:%d%s", open, address->host,
                                          close, address->port, db);
    if (length < 0) {
        address->shown = NULL;
        return no_memory(entry);
    }
    for (char *at = address->shown; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return true;
}

static bool has_scheme(struct text text, const char *scheme)
{
    size_t length = strlen(scheme);
    return length_of_text(text) >= length && strncasecmp(text.start, scheme, length) == 0;
}

/* ---- Masters inside this process ---- */

static bool parse_inside(const struct entry *entry, int max, int *masters)
{
    int most = (int)double_masters() < max ? (int)double_masters() : max;
    struct text number = {after_scheme(entry->text), entry->text.end};
    if (!double_masters())
        return complain(entry, "masters inside the process are for tests: link libredlock-testing "
                               "in the place of libredlock (testing.md)");
    if (!parse_number(number, 1, most, masters))
        return complain(entry, "the number of masters inside the process must be 1 to %d", most);
    return true;
}

static bool make_inside(const struct entry *entry, int number, struct address *address)
{
    *address = (struct address){.inside = true, .host = strdup("memory"), .port = number};
    return address->host ? make_shown(entry, address) : no_memory(entry);
}

/* A host alone could be a piece of a list that was cut at the wrong place: the port is wanted. */
static bool is_host_and_port(struct text text)
{
    const char *colon = find_last(text, ':'), *digit = colon ? colon + 1 : text.end;
    while (digit < text.end && isdigit((unsigned char)*digit))
        digit++;
    return colon && digit == text.end && digit > colon + 1 && !find_char(text, '@') &&
           !find_char(text, '/');
}

static bool parse_entry(const struct entry *entry, struct address *address)
{
    struct text text = entry->text, body = {after_scheme(text), text.end};
    *address = (struct address){0};
    bool good;
    if (length_of_text(text) == 0)
        good = complain(entry, "an empty entry; separate masters by one comma or by white space");
    else if (double_is_virtual())
        good = complain(entry, "a server knows no virtual time: the masters must be memory://N");
    else if (has_scheme(text, "redis://"))
        good = parse_redis(entry, body, address);
    else if (has_scheme(text, "unix://"))
        good = parse_unix(entry, body, address);
    else if (has_scheme(text, "rediss://"))
        good = parse_rediss(entry, body, address);
    else if (is_host_and_port(text))
        good = parse_host_and_port(entry, text, address);
    else
        good = complain(entry, "%s", EXPECTED);
    return good && make_shown(entry, address);
}

/* ---- The list ---- */

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Cuts the next entry off the list; false at the end of the list, where a comma may
 * stand.  Between two commas there is an empty entry. */
static bool next_entry(const char **list, struct text *entry)
{
    const char *at = skip_space(*list);
    if (*at == '\0')
        return false;
    entry->start = at;
    while (*at && *at != ',' && !isspace((unsigned char)*at))
        at++;
    entry->end = at;
    at = skip_space(at);
    *list = *at == ',' ? at + 1 : at;
    return true;
}

static bool is_same_place(const struct address *one, const struct address *other)
{
    if (one->path || other->path)
        return one->path && other->path && strcmp(one->path, other->path) == 0;
    return one->port == other->port && strcasecmp(one->host, other->host) == 0;
}

static bool is_new(const struct entry *entry, const struct address *addresses, int count)
{
    for (int i = 0; i < count; i++)
        if (is_same_place(&addresses[i], &addresses[count]))
            return complain(entry, "the same place as master %d, \"%s\"; no master may vote twice",
                            i + 1, addresses[i].shown);
    return true;
}

/* memory://N stands for N of them. */
static bool add_inside(struct address *addresses, int max, const struct entry *entry, int *count)
{
    int masters = 0;
    if (!parse_inside(entry, max - *count, &masters))
        return false;
    for (int number = 1; number <= masters; number++) {
        bool made = make_inside(entry, number, &addresses[*count]);
        bool good = made && is_new(entry, addresses, *count);
        (*count)++;
        if (!good)
            return false;
    }
    return true;
}

static int parse_list(struct address *addresses, int max, const char *list, struct entry *entry,
                      int *count)
{
    while (next_entry(&list, &entry->text)) {
        entry->number = *count + 1;
        if (*count == max)
            return complain(entry, "too many masters, at most %d", max);
        if (has_scheme(entry->text, "memory://")) {
            if (!add_inside(addresses, max, entry, count))
                return false;
            continue;
        }
        bool parsed = parse_entry(entry, &addresses[*count]);
        bool good = parsed && is_new(entry, addresses, *count);
        (*count)++;
        if (!good)
            return false;
    }
    return true;
}

int addresses_parse(struct address *addresses, int max, const char *list, char *why,
                    size_t why_size)
{
    bool no_memory = false;
    struct entry entry = {.no_memory = &no_memory, .why = why, .why_size = why_size};
    int count = 0;
    bool good = parse_list(addresses, max, list, &entry, &count);
    if (good && count == 0) {
        snprintf(why, why_size, "no masters are given; " EXPECTED);
        good = false;
    }
    if (good)
        return count;
    addresses_clear(addresses, count);
    return no_memory ? ADDRESSES_NO_MEMORY : -1;
}

static bool is_equal(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static void swap(char **one, char **other)
{
    char *former = *one;
    *one = *other;
    *other = former;
}

enum login_change address_take_login(struct address *address, struct address *list, int count)
{
    struct address *entry = list;
    while (entry < list + count && !(is_same_place(entry, address) && entry->db == address->db &&
                                     entry->tls.wanted == address->tls.wanted))
        entry++;
    if (entry == list + count)
        return LOGIN_UNKNOWN;
    if (is_equal(entry->user, address->user) && is_equal(entry->password, address->password))
        return LOGIN_SAME;
    swap(&entry->user, &address->user);
    swap(&entry->password, &address->password);
    return LOGIN_NEW;
}

bool addresses_complete(struct address *addresses, int count, const char *const usual[TLS_SETTINGS])
{
    for (int i = 0; i < count; i++)
        if (addresses[i].tls.wanted && !tls_terms_complete(&addresses[i].tls, usual))
            return false;
    return true;
}

bool addresses_check(const struct address *addresses, int count, char *why, size_t why_size)
{
    for (int i = 0; i < count; i++) {
        const char *wrong = tls_terms_wrong(&addresses[i].tls);
        if (!wrong)
            continue;
        snprintf(why, why_size, "master %d, \"%s\": %s", i + 1, addresses[i].shown, wrong);
        return false;
    }
    return true;
}

static void free_secret(char *secret)
{
    if (secret)
        sodium_memzero(secret, strlen(secret));
    free(secret);
}

void addresses_clear(struct address *addresses, int count)
{
    for (int i = 0; i < count; i++) {
        free(addresses[i].host);
        free(addresses[i].path);
        free(addresses[i].user);
        free_secret(addresses[i].password);
        free(addresses[i].shown);
        tls_terms_clear(&addresses[i].tls);
        addresses[i] = (struct address){0};
    }
}
