/*
 * change_next.c - the list to come: whether clients can use it.
 *
 * It may have been in use before, and be over since another change.  Then that end is taken back.
 */
#include "change_checks.h"
#include "change_parts.h"
#include "duration.h"
#include "plan_report.h"

#define REVIVALS_MOST 4

void change_open_next(struct change *change)
{
    change->phase = OPENS;
    change_look_anew(change);
}

static bool is_unsafe(struct change *change, const struct list_seen *seen)
{
    const struct list_used *list = list_watch_unsafe(&change->next, seen);
    struct text why = {0};
    if (!list)
        return false;
    text_format(&why, "the next list is over, and one in use may not meet it: ");
    change_put_used(&why, list);
    change_refuse(change, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* It was in use before, and ended by another change.  Nobody can take a lease under it yet. */
static void revive(struct change *change, const struct list_seen *now, const struct list_seen *next)
{
    unsigned masters = list_watch_behind(&change->next, &change->now, now);
    change->phase = REVIVES;
    if (!list_watch_revive(&change->next, change->session.loop, &change->plan.options,
                           masters & list_seen_others(next)))
        session_end(&change->session, EXIT_INTERNAL, 0);
}

/* The present list is asked again when the next one has told: an end that came in between shows
 * there, or makes the number of its changes another one. */
static bool look_at_next(struct change *change)
{
    struct list_seen now, next;
    list_watch_look(&change->now, &now);
    list_watch_look(&change->next, &next);
    if (change_is_taken(change, &change->now, &now) || !now.is_settled || !next.is_settled)
        return false;
    if (!list_seen_others(&next))
        return true;
    list_watch_note(&change->next, &next);
    change->phase = LOOKS_TWICE;
    change_watch(change, &change->now, change->step - 1, false);
    return false;
}

static void look_whether_to_revive(struct change *change)
{
    struct list_seen now, next;
    list_watch_look(&change->now, &now);
    list_watch_look(&change->next, &next);
    if (change_is_taken(change, &change->now, &now) || !now.is_settled)
        return;
    if (!change_do_quorums_tell(change, &now, &next) || !list_watch_is_free(&change->now, &now))
        change_put_progress(change, &change->now, &now);
    else if (!is_unsafe(change, &now) && !is_unsafe(change, &next))
        revive(change, &now, &next);
}

static void refuse_revival(struct change *change, const struct list_seen *seen)
{
    struct text why = {0};
    text_format(&why, "the next list ");
    plan_put_nodes(&why, &change->plan, change->step, plan_member);
    text_format(&why, " was over before, and is valid again on %u of %u masters, and %u must",
                masters_in(seen->told & ~list_seen_others(seen)), change->next.masters,
                change->next.quorum);
    change_refuse(change, REDLOCK_E_UNAVAILABLE, &why);
}

/* An end that changed since the look is not taken back. */
static bool look_whether_revived(struct change *change)
{
    struct list_seen seen;
    list_watch_look(&change->next, &seen);
    bool is_late = boot_ms() >= change->next.until;
    unsigned over = list_seen_others(&seen);
    bool is_valid = masters_in(seen.told & ~over) >= change->next.quorum;
    if (seen.is_settled && is_valid && (is_late || !over))
        return change_watch(change, &change->next, change->step, false);
    if (is_late && ++change->revivals >= REVIVALS_MOST)
        refuse_revival(change, &seen);
    else if (is_late)
        change_open_next(change);
    return false;
}

bool change_is_next_ready(struct change *change)
{
    if (change->phase == OPENS)
        return look_at_next(change);
    if (change->phase == REVIVES)
        return look_whether_revived(change);
    look_whether_to_revive(change);
    return false;
}
