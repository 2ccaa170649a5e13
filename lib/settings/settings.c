#define _GNU_SOURCE /* explicit_bzero; NOLINT(bugprone-reserved-identifier) */

#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "span.h"

#define FILE_MAX   65536
#define MAX_TTL_MS (INT64_C(24) * 3600 * 1000)

static const struct row {
    const char *key, *variable;
    const char *example; /* what to write */
    bool may_be_empty;
} rows[SETTINGS] = {
#define ROW(name, key, ...) {#key, "REDLOCK_" #name, __VA_ARGS__},
    ALL_SETTINGS(ROW)
#undef ROW
};

const char *settings_key(enum setting setting)
{
    return rows[setting].key;
}

const char *settings_variable(enum setting setting)
{
    return rows[setting].variable;
}

/* ---- Complaints --------------------------------------------------------- */

/* The file, and the line that is read. */
struct place {
    struct settings *settings;
    const char *path;
    unsigned line; /* 0: the file as a whole */
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3))) static bool complain_at(const struct place *place,
                                                              const char *format, ...)
{
    char what[320], line[16] = "";
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (place->line)
        snprintf(line, sizeof line, "%u:", place->line);
    snprintf(place->why, place->why_size, "%s:%s %s", place->path, line, what);
    return false;
}

/* ---- The file ----------------------------------------------------------- */

static bool fill_bytes(int fd, char *bytes, size_t *length)
{
    *length = 0;
    while (*length <= FILE_MAX) {
        ssize_t got = read(fd, bytes + *length, FILE_MAX + 1 - *length);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        *length += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool is_no_file(const char *path)
{
    return strcmp(path, SETTINGS_NONE) == 0;
}

/* Only who lacks a right can do something about the file. */
static const char *advice_for(int error)
{
    bool is_of_rights = error == EACCES || error == EPERM;
    return is_of_rights ? "; let this user read it, or name " SETTINGS_NONE " for none" : "";
}

/* Only a plain file can be read by each client that is to have the settings, and again for a new
 * login.  A pipe would keep its reader, so nothing waits for one to open. */
static enum settings_result load(const struct place *place, size_t *length, mode_t *mode)
{
    struct stat file;
    int fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool missing = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    bool known = fd >= 0 && fstat(fd, &file) == 0;
    bool plain = known && (S_ISREG(file.st_mode) || is_no_file(place->path));
    bool filled = plain && fill_bytes(fd, place->settings->bytes, length);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (filled) {
        *mode = file.st_mode;
        return SETTINGS_READ;
    }
    if (missing)
        complain_at(place, "there is no such file; write it, or name " SETTINGS_NONE " for none");
    else if (known && !plain)
        complain_at(place, "it is no plain file; write the settings into one, or give a list of "
                           "masters from a pipe with REDLOCK_NODES_FILE");
    else
        complain_at(place, "it cannot be read: %s%s", strerror(error), advice_for(error));
    bool short_of = !known && (error == EMFILE || error == ENFILE || error == ENOMEM);
    return short_of ? SETTINGS_SHORT : missing ? SETTINGS_MISSING : SETTINGS_WRONG;
}

static unsigned line_at(const char *bytes, const char *at)
{
    unsigned line = 1;
    for (; bytes < at; bytes++)
        line += *bytes == '\n';
    return line;
}

static bool begins_with_mark(const char *bytes)
{
    return strncmp(bytes, "\xef\xbb\xbf", 3) == 0 || strncmp(bytes, "\xff\xfe", 2) == 0 ||
           strncmp(bytes, "\xfe\xff", 2) == 0;
}

static bool check_bytes(struct place *place, size_t length)
{
    const char *bytes = place->settings->bytes;
    const char *zero = memchr(bytes, '\0', length);
    if (length > FILE_MAX)
        return complain_at(place, "it has more than %d bytes; write only settings into it",
                           FILE_MAX);
    place->line = 1;
    if (begins_with_mark(bytes))
        return complain_at(place, "a byte order mark (BOM) begins the file; save it as UTF-8 "
                                  "without one");
    if (zero) {
        place->line = line_at(bytes, zero);
        return complain_at(place, "a zero byte; write plain text, in UTF-8");
    }
    return true;
}

/* ---- Values ------------------------------------------------------------- */

static bool is_count(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < 10 && strspn(text, "0123456789") == length;
}

bool settings_number(enum setting setting, const char *text, int64_t *number, char *why,
                     size_t why_size)
{
    char what[160];
    if (setting == SETTING_MAX_TTL && !span_parse(text, number, what, sizeof what)) {
        snprintf(why, why_size, "is no duration with a unit from 1ms to 24h");
        return false;
    }
    if (setting == SETTING_MAX_TTL) {
        snprintf(why, why_size, "is not from 1ms to 24h");
        return *number >= 1 && *number <= MAX_TTL_MS;
    }
    snprintf(why, why_size, "is not a number of masters from 0 to %d", SETTINGS_MASTERS_MAX - 1);
    *number = is_count(text) ? strtoll(text, NULL, 10) : -1;
    return *number >= 0 && *number < SETTINGS_MASTERS_MAX;
}

bool settings_is_label(const char *text)
{
    size_t length = 0;
    while (isgraph((unsigned char)text[length]))
        length++;
    return !text[length] && length <= SETTINGS_LABEL_MAX;
}

static bool check_text(const struct place *place, enum setting setting, const char *text)
{
    const struct row *row = &rows[setting];
    size_t length = strlen(text);
    if (!length && !row->may_be_empty)
        return complain_at(place, "%s has no value; write %s = %s, or leave the line out", row->key,
                           row->key, row->example);
    if (length && (strchr("'\"", text[0]) || strchr("'\"", text[length - 1])))
        return complain_at(place, "quotes would belong to the value; write %s = %s without them",
                           row->key, row->example);
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return complain_at(place, "a control character; write %s = %s", row->key, row->example);
    return true;
}

/* As the list is cut in address.c: white space or one comma stands between two entries. */
static bool note_masters(const struct place *place, const char *text)
{
    struct settings *settings = place->settings;
    const char *at = text;
    while (*at) {
        if (settings->masters == SETTINGS_MASTERS_MAX)
            return complain_at(place, "too many masters; write at most %d", SETTINGS_MASTERS_MAX);
        settings->master_line[settings->masters++] = place->line;
        at += strcspn(at, ", \t\r\v\f");
        at += strspn(at, " \t\r\v\f");
        at += *at == ',';
        at += strspn(at, " \t\r\v\f");
    }
    size_t used = strlen(settings->list);
    if (used)
        settings->list[used++] = ' ';
    memcpy(settings->list + used, text, strlen(text) + 1);
    return true;
}

static bool check_value(const struct place *place, enum setting setting, const char *text)
{
    char why[160];
    bool right = true;
    switch (setting) {
    case SETTING_NODES:
        return note_masters(place, text);
    case SETTING_SPARE:
    case SETTING_MAX_TTL:
        right = settings_number(setting, text, &place->settings->number[setting], why, sizeof why);
        break;
    case SETTING_LABEL:
        right = settings_is_label(text);
        snprintf(why, sizeof why, "is not printable ASCII without spaces, at most %d bytes",
                 SETTINGS_LABEL_MAX);
        break;
    case SETTING_PREFIX:
    case SETTING_FLEET:
        right = strlen(text) <= SETTINGS_PREFIX_MAX;
        snprintf(why, sizeof why, "is longer than a name may be");
        break;
    case SETTING_TLS_VERIFY:
        right = strcmp(text, "full") == 0 || strcmp(text, "none") == 0;
        snprintf(why, sizeof why, "is neither full nor none");
        break;
    default:
        break;
    }
    const struct row *row = &rows[setting];
    return right ||
           complain_at(place, "%s %s; write %s = %s", row->key, why, row->key, row->example);
}

/* ---- Lines -------------------------------------------------------------- */

/* Without the white space around it, in place. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static void drop_comment(char *line)
{
    for (char *at = line; *at; at++)
        if (*at == '#' && (at == line || isspace((unsigned char)at[-1]))) {
            *at = '\0';
            return;
        }
}

/* Whether two words differ by -, _ and capital letters alone. */
static bool is_like(const char *one, const char *other)
{
    for (;;) {
        one += strspn(one, "-_");
        other += strspn(other, "-_");
        if (tolower((unsigned char)*one) != tolower((unsigned char)*other))
            return false;
        if (!*one)
            return true;
        one++;
        other++;
    }
}

/* SETTINGS, after a complaint, if there is none. */
static enum setting find_key(const struct place *place, const char *key)
{
    int like = -1;
    if (strcmp(key, "masters") == 0)
        key = "master";
    for (int i = 0; i < SETTINGS; i++) {
        if (strcmp(key, rows[i].key) == 0)
            return (enum setting)i;
        if (is_like(key, rows[i].key))
            like = i;
    }
#define ROW(name, key, ...) ", " #key
    static const char keys[] = ALL_SETTINGS(ROW);
#undef ROW
    complain_at(place, "there is no such key; write %s%s", like < 0 ? "one of " : "",
                like < 0 ? keys + 2 : rows[like].key);
    return SETTINGS;
}

static bool take_line(const struct place *place, char *line)
{
    struct settings *settings = place->settings;
    drop_comment(line);
    char *key = trim(line), *sign = strchr(key, '=');
    if (!*key)
        return true;
    if (!sign)
        return complain_at(place, "this is no setting; write key = value, with a # before a "
                                  "comment");
    *sign = '\0';
    enum setting setting = find_key(place, trim(key));
    if (setting == SETTINGS)
        return false;
    char *value = trim(sign + 1);
    if (settings->value[setting] && setting != SETTING_NODES)
        return complain_at(place, "%s stands in line %u, too; write it once", rows[setting].key,
                           settings->line[setting]);
    if (!check_text(place, setting, value) || !check_value(place, setting, value))
        return false;
    if (!settings->value[setting])
        settings->line[setting] = place->line;
    settings->value[setting] = setting == SETTING_NODES ? settings->list : value;
    return true;
}

/* A person with these lines believes that the connections are secret. */
static bool check_tls(struct place *place)
{
    const struct settings *settings = place->settings;
    bool uses_tls = !settings->masters || strcasestr(settings->list, "rediss://");
    for (int i = SETTING_TLS_CA; i <= SETTING_TLS_VERIFY && !uses_tls; i++) {
        place->line = settings->line[i];
        if (settings->value[i])
            return complain_at(place,
                               "%s is for rediss:// alone, and no master is one; write "
                               "master = rediss://HOST:PORT, or leave the line out",
                               rows[i].key);
    }
    return true;
}

static bool check_spare(struct place *place)
{
    const struct settings *settings = place->settings;
    long long spare = settings->number[SETTING_SPARE];
    place->line = settings->line[SETTING_SPARE];
    return !spare || !settings->masters || settings->masters >= spare + 3 ||
           complain_at(place,
                       "spare = %lld needs at least %lld masters, and %u %s listed; list more, or "
                       "write a smaller spare",
                       spare, spare + 3, settings->masters, settings->masters == 1 ? "is" : "are");
}

static bool take_lines(struct place *place)
{
    char *next = place->settings->bytes;
    for (place->line = 1; next; place->line++) {
        char *line = strsep(&next, "\n");
        if (!take_line(place, line))
            return false;
    }
    return check_tls(place) && check_spare(place);
}

/* ---- All of it ---------------------------------------------------------- */

enum settings_result settings_read(struct settings *settings, const char *path, char *why,
                                   size_t why_size)
{
    struct place place = {.settings = settings, .path = path, .why = why, .why_size = why_size};
    size_t length;
    mode_t mode;
    *settings =
        (struct settings){.bytes = calloc(1, FILE_MAX + 2), .list = calloc(1, FILE_MAX + 2)};
    if (!settings->bytes || !settings->list) {
        complain_at(&place, "out of memory");
        return SETTINGS_SHORT;
    }
    enum settings_result result = load(&place, &length, &mode);
    if (result != SETTINGS_READ)
        return result;
    if (!check_bytes(&place, length) || !take_lines(&place))
        return SETTINGS_WRONG;
    settings->others_read = mode & S_IROTH && strchr(settings->list, '@');
    return SETTINGS_READ;
}

void settings_free(struct settings *settings)
{
    if (settings->bytes)
        explicit_bzero(settings->bytes, FILE_MAX + 1);
    if (settings->list)
        explicit_bzero(settings->list, FILE_MAX + 1);
    free(settings->bytes);
    free(settings->list);
    *settings = (struct settings){0};
}

unsigned settings_line_of(const struct settings *settings, const char *complaint)
{
    unsigned number;
    bool is_about_one = sscanf(complaint, "master %u,", &number) == 1;
    return is_about_one && number >= 1 && number <= settings->masters
               ? settings->master_line[number - 1]
               : 0;
}
