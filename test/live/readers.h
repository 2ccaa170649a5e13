/*
 * readers.h - names that are shared, as one real master sees them.
 */
#ifndef LIVE_READERS_H
#define LIVE_READERS_H

#include "one_master.h"

enum answer renew_for(const char *list, const char *token, bool heal, int64_t ttl);
enum answer renew(const char *list, const char *token);
enum answer heal(const char *list, const char *token);
enum answer grant_for(const char *list, const char *token, int64_t ttl);
enum answer raise_to(const char *list, const char *token, usec fence);
void assert_readers(const char *name, unsigned count);
void assert_left(const char *key, long long least, long long most);
void asks_each(enum request_kind kind, const char *const *tokens, const enum answer *answers,
               unsigned count, bool heals, usec proposal);

#endif
