/*
 * change.h - one list of masters is replaced by another: the profile change.
 *
 * The lists of a run may not meet.  At first all clients have the first one.  A tool tells its
 * masters that it is over, one after the other; it may stop for minutes, and then begins anew.
 * Enough masters that do not abstain must say in one round that it is over, and that no client says
 * it.  Then the second list may be used.  Processes choose it from then on when they begin.  Some
 * go on with the first one for ever.  In some runs the tool takes the end back before.
 *
 * - change: from then on no lease of the first list is held, and none that was left behind may be
 *   relied on.  So no lease of the second one is held beside it.  A client is refused if more
 *   masters than a quorum can do without tell it that its list is over; fewer do not refuse it.  An
 *   end that was taken back refuses no client.
 *
 * The rule is not judged if masters have forgotten, and fewer are intact than any quorum of the
 * first list must have one of.  A master is not intact if it lies, or has lost the end since it was
 * counted.  It is not, either, if a step of its clock made it forget who says the list.  That
 * counts if clients may still rely on it when the master is counted.
 */
#ifndef SIM_CHANGE_H
#define SIM_CHANGE_H

#include "user_lease.h"

/* ---- change.c: the tool ---- */

static inline bool is_change(const struct world *world)
{
    return world->options.habit == HABIT_CHANGE;
}

void change_begin(struct world *world);
/* The tool goes on. */
void change_acts(struct world *world);
/* Peace: what the tool takes back, it has taken back everywhere. */
void change_end(struct world *world);
/* The second list may yet be used, so users go on without an end. */
bool change_is_under_way(const struct world *world);
/* The list of the process that starts now. */
const struct list_kind *change_choose(const struct shell *shell);
/* A master crashes, and comes back with this or that. */
void change_crashed(struct world *world, enum fault_kind kind, unsigned master);
/* The clock of a master is set, so that it forgets who says a list; false: not this time. */
bool change_forgets(struct world *world, unsigned master);
/* A master whose memory is full prolongs what it has, and has no room for more: it does not list a
 * client that says its list. */
bool change_has_no_room_for(const struct world *world, unsigned master,
                            const struct model_call *call);
/* The first list is over there. */
bool change_is_over_on(const struct world *world, unsigned master);
/* Puts lies in place of what a master tells of an end. */
void change_lie(struct world *world, struct model_agree *agree);

/* ---- change_rules.c ---- */

/* The second list may be used from now on. */
void change_opened(struct world *world);
void change_step(struct shell *shell);
/* A user hears of its lease. */
void change_told(const struct user_lease *lease, const redlock_event *event);
/* The pump has come to rest. */
void change_idle(const struct shell *shell);
void change_acquired(const struct user_lease *lease);
/* A lease is about to be detached: another process relies on it. */
void change_leaves_behind(const struct user_lease *lease);
/* They hold one name, one by the first list and one by the second. */
void change_held_at_once(const struct user_lease *old, const struct user_lease *new);
/* The end was taken back, and a client has yet to hear that. */
bool change_is_felt(const struct world *world);
/* As long as that may take. */
usec change_heard_within(const struct world *world);
/* A client has heard from the master that its list is over. */
bool change_takes_vote(const struct shell *shell, unsigned master);
/* The tool was interrupted: with what it has ended, and with a liar, no quorum of the first list is
 * left, and its clients cannot know that. */
bool change_leaves_no_quorum(const struct world *world);

#endif
