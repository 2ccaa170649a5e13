/*
 * connection.h - requests about a connection, and what makes it one: the login, the subscription.
 */
#ifndef REDLOCK_WIRE_CONNECTION_H
#define REDLOCK_WIRE_CONNECTION_H

#include "buffer.h"
#include "ground/event.h"

/* The account to use on this master; a NULL is not sent. */
struct credentials {
    const char *user;
    const char *password;
    int db;
    const char *client_name;
};

/* The reply to expect for each command written. */
enum step {
    STEP_AUTH,
    STEP_SELECT,
    STEP_SETNAME,   /* an error here does not matter */
    STEP_CLIENT_ID, /* an error here does not matter */
    STEP_LOAD,      /* one for each script */
    STEP_INFO,      /* of a subscription: the process at its other end */
    STEP_SUBSCRIBE, /* the last of a subscription; messages follow */
    STEP_FINAL      /* the reply that answers the request itself */
};

/* The number of scripts that a whole hello loads: see requests.h. */
#define SCRIPTS_OF(kind, name, token, takes, sets, clock, batch, modes, slot)                      \
    +(1 + (batch)) * (1 + (modes)) + (slot)
enum { SCRIPTS_LOADED = 1 CLAIM_REQUESTS(SCRIPTS_OF) };

#define STEPS_MAX (4 + SCRIPTS_LOADED + 1) /* before the scripts, and STEP_FINAL */

/* The most bytes of what a REQUEST_HELLO, with its login, or REQUEST_AGREE says. */
size_t connection_room(const struct request *request, const struct credentials *login);
char *connection_put(char *to, const struct request *request);

/* The greeting goes before a hello: see command_write(). */
char *connection_put_greeting(char *to, const struct request *request,
                              const struct credentials *login, enum step *steps, unsigned *count);

/* Appends the commands that make a connection a subscription: the login, INFO and SUBSCRIBE; lists
 * the replies to expect and returns how many.  Returns 0 if memory is out. */
unsigned connection_write_subscribe(struct buffer *buffer, const struct credentials *login,
                                    const char *channel, enum step steps[STEPS_MAX]);

/* Appends the command that asks a subscription for a sign of life: see reply_is_alive(). */
void connection_write_probe(struct buffer *buffer);

#endif
