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

/* Empty: no more masters tell one than a quorum can do without. */
static struct client_text find_successor(const redlock *client)
{
    unsigned quorum = redlock_quorum(client->masters, client->config.spare);
    for (unsigned i = 0; i < client->masters; i++) {
        struct client_text list = told_by(client, i);
        if (list.length && count_tellers(client, list) > client->masters - quorum)
            return list;
    }
    return (struct client_text){0};
}

/* ---- Whose login a master gets ---------------------------------------------------- */

static const char unix_path[] = "unix:";

static bool is_unix(struct client_text node)
{
    size_t head = sizeof unix_path - 1;
    return node.length > head && memcmp(node.bytes, unix_path, head) == 0;
}

/* Of "host:port" or "host:port/db", without brackets. */
static struct client_text host_of(struct client_text node)
{
    const char *colon = memrchr(node.bytes, ':', node.length);
    size_t length = colon ? (size_t)(colon - node.bytes) : node.length;
    bool bracketed = length > 1 && node.bytes[0] == '[' && node.bytes[length - 1] == ']';
    return (struct client_text){node.bytes + bracketed, length - 2 * (size_t)bracketed};
}

static bool says_word(struct client_text text, const char *word)
{
    return word && strlen(word) == text.length && strncasecmp(text.bytes, word, text.length) == 0;
}

/* How well the address fits: the same one, one of the same host, or any. */
static unsigned fit_of(const struct address *address, struct client_text node)
{
    bool of_host = is_unix(node) ? address->path != NULL : says_word(host_of(node), address->host);
    return says_word(node, address->shown) ? 3 : of_host ? 2 : 1;
}

static const struct address *find_address(const redlock *client, struct client_text node)
{
    const struct address *best = &client->addresses[0];
    for (unsigned i = 1; i < client->masters; i++)
        if (fit_of(&client->addresses[i], node) > fit_of(best, node))
            best = &client->addresses[i];
    return best;
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
static void put_place(struct entries *to, const redlock *client, struct client_text node)
{
    const struct address *address = find_address(client, node);
    bool path = is_unix(node), tls = !path && address->tls.wanted;
    size_t head = path ? sizeof unix_path - 1 : 0;
    put_plain(to, path ? "unix://" : tls ? "rediss://" : "redis://");
    put_login(to, address);
    put_encoded(to, node.bytes + head, node.length - head, path ? "/?=" : "/:[]%");
    if (tls)
        put_tls(to, &address->tls);
}

static void put_entries(struct entries *to, const redlock *client, struct client_text list)
{
    for (struct client_text node; redlock_list_take_node(&list, &node);) {
        if (to->length)
            put_byte(to, ',');
        put_place(to, client, node);
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

static char *make_entries(const redlock *client)
{
    struct client_text list = find_successor(client);
    struct entries entries = {0};
    if (!list.length)
        return NULL;
    put_entries(&entries, client, list);
    entries = (struct entries){.bytes = malloc(entries.length)};
    if (entries.bytes)
        put_entries(&entries, client, list);
    return entries.bytes;
}

const char *redlock_successor(redlock *client)
{
    char *entries = client_is_usable(client) ? make_entries(client) : NULL;
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
