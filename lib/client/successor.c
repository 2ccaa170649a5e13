#define _GNU_SOURCE /* explicit_bzero, memrchr; NOLINT(bugprone-reserved-identifier) */

#include "successor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lists_in_use.h"

/* ---- The list that masters tell -------------------------------------------------- */

/* Empty: it tells none. */
static struct client_text told_by(const redlock *client, unsigned master)
{
    struct master_view view = engine_master(client->engine, master);
    return view.ended_ours ? (struct client_text){view.successor.bytes, view.successor.length}
                           : (struct client_text){0};
}

static unsigned count_tellers(const redlock *client, struct client_text list)
{
    unsigned tell = 0;
    for (unsigned i = 0; i < client->masters; i++)
        tell += redlock_lists_are_same(told_by(client, i), list);
    return tell;
}

/* Half of the masters might tell one, and the others another. */
struct client_text successor_told(const redlock *client)
{
    unsigned quorum = redlock_quorum(client->masters, client->config.spare);
    for (unsigned i = 0; i < client->masters; i++) {
        struct client_text list = told_by(client, i);
        if (list.length && count_tellers(client, list) >= quorum)
            return list;
    }
    return (struct client_text){0};
}

/* ---- A master in it ----------------------------------------------------------------- */

static const char unix_path[] = "unix:", under_tls[] = "rediss://";

static bool text_begins_with(struct client_text text, const char *head)
{
    size_t length = strlen(head);
    return text.length > length && memcmp(text.bytes, head, length) == 0;
}

static bool says_word(struct client_text text, const char *word)
{
    return word && strlen(word) == text.length && strncasecmp(text.bytes, word, text.length) == 0;
}

/* Our own entry for the place; NULL: there is none. */
static const struct address *find_own_entry(const redlock *client, struct client_text place)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (says_word(place, client->addresses[i].shown))
            return &client->addresses[i];
    return NULL;
}

struct told_node {
    struct client_text place;
    bool tls; /* it is marked so, or our own entry for the place is */
};

static bool take_node(const redlock *client, struct client_text *list, struct told_node *node)
{
    struct client_text *place = &node->place;
    if (!redlock_list_take_node(list, place))
        return false;
    size_t mark = text_begins_with(*place, under_tls) ? strlen(under_tls) : 0;
    *place = (struct client_text){place->bytes + mark, place->length - mark};
    const struct address *own = find_own_entry(client, *place);
    node->tls = mark || (own && own->tls.wanted);
    return true;
}

/* ---- Whose login and terms of TLS it gets ------------------------------------------- */

/* Of "host:port" or "host:port/db", without brackets. */
static struct client_text host_of(struct client_text place)
{
    const char *colon = memrchr(place.bytes, ':', place.length);
    size_t length = colon ? (size_t)(colon - place.bytes) : place.length;
    bool bracketed = length > 1 && place.bytes[0] == '[' && place.bytes[length - 1] == ']';
    return (struct client_text){place.bytes + bracketed, length - 2 * (size_t)bracketed};
}

/* How well the entry fits: the same place, one of the same host, or any. */
static unsigned fit_of(const struct address *address, struct client_text place)
{
    bool of_host = text_begins_with(place, unix_path) ? address->path != NULL
                                                      : says_word(host_of(place), address->host);
    return says_word(place, address->shown) ? 3 : of_host ? 2 : 1;
}

/* The best of those with TLS, or of those without; NULL: there is none. */
static const struct address *find_best(const redlock *client, struct client_text place, bool tls)
{
    const struct address *best = NULL;
    for (unsigned i = 0; i < client->masters; i++) {
        const struct address *address = &client->addresses[i];
        if (address->tls.wanted == tls && (!best || fit_of(address, place) > fit_of(best, place)))
            best = address;
    }
    return best;
}

/* NULL: none may go there.  A login that was sent under TLS alone is never sent in the clear. */
static const struct address *find_login(const redlock *client, const struct told_node *node)
{
    const struct address *plain = find_best(client, node->place, false),
                         *tls = node->tls ? find_best(client, node->place, true) : NULL;
    bool is_tls = !plain || (tls && fit_of(tls, node->place) >= fit_of(plain, node->place));
    return is_tls ? tls : plain;
}

static bool has_all_logins(const redlock *client, struct client_text list)
{
    bool has = true;
    for (struct told_node node; take_node(client, &list, &node);)
        has &= find_login(client, &node) != NULL;
    return has;
}

bool successor_gives_tls_up(const redlock *client)
{
    return !has_all_logins(client, successor_told(client));
}

/* ---- Its text ----------------------------------------------------------------------- */

/* It counts the bytes, or writes them, too: a buffer that grows would leave passwords behind. */
struct entries {
    char *bytes; /* NULL: they are counted */
    size_t length;
};

static void put_byte(struct entries *to, char byte)
{
    if (to->bytes)
        to->bytes[to->length] = byte;
    to->length++;
}

static void put_plain(struct entries *to, const char *text)
{
    for (; *text; text++)
        put_byte(to, *text);
}

/* %-encoded, but for bytes that mean nothing anywhere in an entry, and those of `kept`. */
static void put_encoded(struct entries *to, const char *bytes, size_t length, const char *kept)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte && (isalnum(byte) || strchr("-._~", byte) || strchr(kept, byte))) {
            put_byte(to, (char)byte);
            continue;
        }
        put_byte(to, '%');
        put_byte(to, digits[byte >> 4]);
        put_byte(to, digits[byte & 15]);
    }
}

static void put_login(struct entries *to, const struct address *address)
{
    if (address->user)
        put_encoded(to, address->user, strlen(address->user), "");
    if (address->password) {
        put_byte(to, ':');
        put_encoded(to, address->password, strlen(address->password), "");
    }
    if (address->user || address->password)
        put_byte(to, '@');
}

static void put_tls(struct entries *to, const struct tls_terms *terms)
{
    char before = '?';
    for (int i = 0; i < TLS_SETTINGS; i++) {
        const char *said = terms->said[i];
        if (!said)
            continue;
        put_byte(to, before);
        put_plain(to, tls_setting_names[i]);
        put_byte(to, '=');
        put_encoded(to, said, strlen(said), "/");
        before = '&';
    }
}

/* A liar may tell more than a place: no byte of it may begin a login, or terms of TLS. */
static void put_node(struct entries *to, const redlock *client, const struct told_node *node)
{
    struct client_text place = node->place;
    const struct address *terms = node->tls ? find_best(client, place, true) : NULL;
    bool path = !node->tls && text_begins_with(place, unix_path);
    size_t head = path ? strlen(unix_path) : 0;
    put_plain(to, path ? "unix://" : node->tls ? under_tls : "redis://");
    put_login(to, find_login(client, node));
    put_encoded(to, place.bytes + head, place.length - head, path ? "/?=" : "/:[]%");
    if (terms)
        put_tls(to, &terms->tls);
}

static void put_entries(struct entries *to, const redlock *client, struct client_text list)
{
    for (struct told_node node; take_node(client, &list, &node);) {
        if (to->length)
            put_byte(to, ',');
        put_node(to, client, &node);
    }
    put_byte(to, '\0');
}

/* ---- */

static void wipe(char *entries)
{
    if (entries)
        explicit_bzero(entries, strlen(entries));
    free(entries);
}

void successor_forget(redlock *client)
{
    wipe(client->successor);
    client->successor = NULL;
}

char *redlock_list_entries(const redlock *client, struct client_text list)
{
    struct entries entries = {0};
    if (!list.length || !has_all_logins(client, list))
        return NULL;
    put_entries(&entries, client, list);
    entries = (struct entries){.bytes = malloc(entries.length)};
    if (entries.bytes)
        put_entries(&entries, client, list);
    return entries.bytes;
}

const char *redlock_successor(redlock *client)
{
    char *entries =
        client_is_usable(client) ? redlock_list_entries(client, successor_told(client)) : NULL;
    successor_forget(client);
    client->successor = entries;
    return entries;
}

void successor_note(redlock *client, unsigned master)
{
    char *former = client->successor;
    if (!client->on_node)
        return;
    client->successor = NULL;
    const char *now = redlock_successor(client);
    bool is_new = now && !(former && strcmp(former, now) == 0);
    client->changed |= is_new ? 1U << master : 0;
    wipe(former);
}
