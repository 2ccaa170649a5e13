/*
 * address.h - where a master is and how to log in there, from
 * redis://[user[:password]@]host[:port][/db] and unix:///path[?db=N].
 */
#ifndef REDLOCK_IO_ADDRESS_H
#define REDLOCK_IO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

struct address {
    char *host; /* NULL for a unix socket; IPv6 without its brackets */
    int port;
    char *path; /* unix socket */
    char *user; /* NULL: none */
    char *password;
    int db;
    char *shown; /* "host:port", "[::1]:port" or "unix:/path"; with "/N" or "?db=N"
                    if db > 0; never a password */
};

/* Fills `addresses` (at most `max`) from a list separated by commas or white
 * space; returns how many, or -1 with a sentence in `why` (which entry, what is
 * wrong, what is expected; never a password in it), or ADDRESSES_NO_MEMORY.  The caller frees with
 * addresses_clear().  Two entries that are the same place are an error. */
#define ADDRESSES_NO_MEMORY (-2)
int addresses_parse(struct address *addresses, int max, const char *list, char *why,
                    size_t why_size);
void addresses_clear(struct address *addresses, int count);

#endif
