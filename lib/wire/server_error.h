/*
 * server_error.h - the text of an error → a sentence for people.  It is without the noise of a
 * failed script, has the name of the denied command, and is cut between words.
 */
#ifndef REDLOCK_WIRE_SERVER_ERROR_H
#define REDLOCK_WIRE_SERVER_ERROR_H

#include <stddef.h>

/* Rewrites the text of an error in place, to less than VOTE_TEXT_MAX bytes; never makes it longer.
 * Returns its length. */
size_t server_error_tidy(char *text, size_t length);

/* Cuts the text to less than VOTE_TEXT_MAX bytes, between two words, and says so with "...".
 * Returns its length. */
size_t server_error_fit(char *text, size_t length);

#endif
