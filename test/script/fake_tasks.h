/* fake_tasks.h - observers, announcements, parties and calls about latches in the fake shell. */
#ifndef REDLOCK_TEST_FAKE_TASKS_H
#define REDLOCK_TEST_FAKE_TASKS_H

#include "fake.h"

/* The words behind the kind of a request of a task. */
void fake_tasks_write_request(struct fake *fake, char *to, size_t size,
                              const struct request *request);
void fake_tasks_note(struct fake *fake, struct task *core);
void fake_tasks_tell_all(struct fake *fake);
/* The lease is given back, left or shared: its announcement ends, as in lib/client/pump.c. */
void fake_tasks_end_of(struct fake *fake, const struct actor *actor);
/* The engine closes: all end but parties and calls about latches, which still get outcomes. */
void fake_tasks_close(struct fake *fake);
void fake_tasks_end_all(struct fake *fake);

/* False if memory is out, or there are too many. */
bool fake_tasks_announce(struct fake *fake, const struct actor *actor, const char *value);
bool fake_tasks_observe(struct fake *fake, const char *name, struct names *names, bool begins);
/* False if there is no observer, or survey, of that name. */
bool fake_tasks_begin(struct fake *fake, const char *name);
bool fake_tasks_unobserve(struct fake *fake, const char *name);
bool fake_tasks_arrive(struct fake *fake, const char *name, struct names *names,
                       const struct barrier_terms *terms, const char *token);
bool fake_tasks_latch(struct fake *fake, const char *name, struct names *names,
                      const struct latch_terms *terms);
bool fake_tasks_survey(struct fake *fake, const char *name, struct names *begins, bool foreign);
bool fake_tasks_ask(struct fake *fake, const char *name, struct names *names,
                    const struct asker_terms *terms);
/* It hears of wishes; or else only whether the token was taken. */
bool fake_tasks_heed(struct fake *fake, const char *name, struct names *names,
                     const struct lease *lease, bool heeds);
/* A party, or a call about a latch, leaves and gets its outcome; with `drop` it gets none.  False
 * if there is none of that name. */
bool fake_tasks_depart(struct fake *fake, const char *name, bool drop);
/* A push about the word on a name.  False if the client is not subscribed. */
bool fake_tasks_push(struct fake *fake, unsigned master, const char *name, const struct said *said);

#endif
