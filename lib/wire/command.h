/*
 * command.h - requests → RESP bytes.  With reply.h the only room that knows Redis.
 */
#ifndef REDLOCK_WIRE_COMMAND_H
#define REDLOCK_WIRE_COMMAND_H

#include "buffer.h"
#include "event.h"

/* Who to be on this master; what is NULL is not sent. */
struct credentials {
    const char *user;
    const char *password;
    int db;
    const char *client_name;
};

/* One reply to expect for each command written. */
enum step {
    STEP_AUTH,
    STEP_SELECT,
    STEP_SETNAME,   /* an error here does not matter */
    STEP_CLIENT_ID, /* nor here */
    STEP_LOAD,      /* one for each script */
    STEP_INFO,      /* of a listener: which process it listens to */
    STEP_SUBSCRIBE, /* the last of a listener; messages follow */
    STEP_FINAL      /* the reply that answers the request itself */
};

#define STEPS_MAX 16
#define BATCH_MAX 32 /* requests in one command */

/* Appends the commands of `request` to `buffer` and lists the replies to expect;
 * returns how many, the last being STEP_FINAL.  A REQUEST_HELLO with `login` not
 * NULL is preceded by the login and by the loading of the scripts; NULL says that
 * this connection has done so already.  If memory is out the buffer says so
 * (buffer->failed) and the connection must be given up. */
unsigned command_write(struct buffer *buffer, const struct request *request,
                       const struct credentials *login, enum step steps[STEPS_MAX]);

/* Appends what makes a connection listen: the login, who is there, and the subscription; lists
 * the replies to expect and returns how many.  None if memory is out. */
unsigned command_write_listen(struct buffer *buffer, const struct credentials *login,
                              const char *channel, enum step steps[STEPS_MAX]);

/* Appends what a listener sends to hear a sign of life: reply_is_alive(). */
void command_write_probe(struct buffer *buffer);

/* May go with others of its kind in one command. */
bool command_is_shared(const struct request *request);

/* Appends one command for `count` (2 to BATCH_MAX) such requests of one kind; one reply
 * answers them all.  `whole`: with the script itself, for the master may not have it. */
void command_write_each(struct buffer *buffer, const struct request *requests, unsigned count,
                        bool whole);

#endif
