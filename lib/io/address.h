/*
 * address.h - the place of a master and the login there, from one of these.
 *
 *   redis://[user[:password]@]host[:port][/db]
 *   host:port                         as redis://host:port; [::1]:6379 for IPv6
 *   rediss://...[?ca=PATH&name=HOST...]   the same under TLS
 *   unix:///path[?db=N]
 *   memory://N                        N masters inside this process, in libredlock-testing alone
 */
#ifndef REDLOCK_IO_ADDRESS_H
#define REDLOCK_IO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "tls_terms.h"

struct address {
    char *host; /* NULL for a unix socket; IPv6 without its brackets */
    int port;
    bool inside; /* it is the master `port` of this process: see double.h */
    char *path;  /* of a unix socket; else NULL */
    char *user;  /* NULL: none */
    char *password;
    int db;
    struct tls_terms tls;
    char *shown; /* "host:port", "[::1]:port" or "unix:/path"; with "/N" or "?db=N"
                    if db > 0; never a password */
};

/* Fills `addresses` (at most `max`) from a list separated by commas or white space.  Returns their
 * number, or -1 with a sentence in `why`, which never has a password, or ADDRESSES_NO_MEMORY.  The
 * caller frees them with addresses_clear().  Two entries for the same place are an error. */
#define ADDRESSES_NO_MEMORY (-2)
int addresses_parse(struct address *addresses, int max, const char *list, char *why,
                    size_t why_size);
void addresses_clear(struct address *addresses, int count);

/* Gives the address the user and the password of the entry of the list for the same place, database
 * and use of TLS; that one has the former ones then. */
enum login_change { LOGIN_UNKNOWN /* there is no such entry */, LOGIN_SAME, LOGIN_NEW };
enum login_change address_take_login(struct address *address, struct address *list, int count);

/* Gives `usual` terms to addresses with TLS that have none; false if memory is out. */
bool addresses_complete(struct address *addresses, int count,
                        const char *const usual[TLS_SETTINGS]);

/* False if an address has terms of TLS that make no sense, with a sentence in `why` as above. */
bool addresses_check(const struct address *addresses, int count, char *why, size_t why_size);

#endif
