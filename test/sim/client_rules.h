/*
 * client_rules.h - what a client owes its user besides the lock: options that count, outcomes in
 * words that fit, releases that go together, notification connections that the core knows of.
 */
#ifndef SIM_CLIENT_RULES_H
#define SIM_CLIENT_RULES_H

#include "client_shell.h"
#include "user_lease.h"

/* redlock_open() has returned. */
void check_configured(struct shell *shell, const redlock_options *options);
/* A link was made. */
void check_address(struct shell *shell, unsigned master, const struct address *address);
/* A key on the masters: the number of the name that it is for. */
uint8_t check_name(struct shell *shell, struct slice key);
/* A lease was asked for. */
void check_asked(struct user_lease *lease);
/* on_ready was called. */
void check_ready(struct shell *shell, redlock *client, redlock_code code, const char *text);
/* on_node, on_log were called; redlock_lease_place() has returned. */
void check_node(struct shell *shell, redlock *client, unsigned node);
void check_log(struct shell *shell, redlock_level level, const char *text);
void check_place(const struct user_lease *lease, redlock_code code, const redlock_place *place);
/* A lease's callback was called. */
void check_words(struct user_lease *lease, const redlock_event *event);

/* Likewise: neither the lease nor the client was freed. */
void check_freed_is_left_alone(struct user_lease *lease, const redlock_lease *handle);

/* The loop begins another turn; the pump another step. */
void check_turn(struct shell *shell);
void check_batch_begins(struct shell *shell);
/* A lease's first request, and a release, in the order in which they are sent. */
void check_batch(struct shell *shell, const struct user_lease *lease, const struct request *request,
                 bool first);
/* The requests sent to a master are written. */
void check_flushed(struct shell *shell, unsigned master);

/* The client subscribes at the master, or asks it to enqueue a waiter: more messages may come. */
#define MESSAGES_LEAST 100 /* more with each subscription: doc/design/waiting-client.md */
void check_may_come(struct shell *shell, unsigned master, unsigned messages);
/* A message came, and was delivered; it is still listened to the master, or not. */
void check_came(struct shell *shell, unsigned master, bool subscribed);
/* The core heard a message of a notification connection.  The effect of an old clock shows late, if
 * at all. */
void check_heard_now(struct shell *shell);

/* The pump rests. */
void check_written(struct shell *shell);
void check_notified(struct shell *shell);
void check_held(struct shell *shell);

#endif
