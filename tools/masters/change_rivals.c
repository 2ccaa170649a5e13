/*
 * change_rivals.c - other commands that lead clients of the same lists elsewhere.
 */
#include "change_parts.h"
#include "plan_report.h"

/* Once a quorum knows our end, no other command can have one.  Before our end begins one that does
 * not may be enough for another command; later they are too many if the rest is none. */
static bool has_lost(const struct change *change, const struct list_watch *watch,
                     const struct list_seen *seen)
{
    unsigned others = masters_in(list_seen_others(seen));
    unsigned most = change->phase == ENDS ? watch->masters - watch->quorum : watch->spare;
    return others > most && masters_in(seen->ours) < watch->quorum;
}

/* The list is over in favour of another one, by that many masters. */
static void put_way_out(struct text *out, const struct list_watch *watch,
                        const struct list_seen *seen, unsigned tell)
{
    unsigned others = masters_in(list_seen_others(seen));
    if (tell >= watch->quorum)
        text_format(out, ": begin with that one, or take the end back (--undo)");
    else if (seen->ours && others > watch->masters - watch->quorum)
        text_format(out,
                    " on %u of %u masters, and of ours on %u: neither has a quorum. Take both "
                    "ends back (--undo), and run one command alone",
                    tell, watch->masters, masters_in(seen->ours));
    else
        text_format(out,
                    " on %u of %u masters: let that command end it, or take the end back (--undo)",
                    tell, watch->masters);
}

/* Another command leads its clients elsewhere.  True: this one must not go on. */
bool change_is_taken(struct change *change, const struct list_watch *watch,
                     const struct list_seen *seen)
{
    if (!has_lost(change, watch, seen))
        return false;
    const struct client_text *other = list_watch_other(seen);
    struct text why = {0};
    text_format(&why, "the list ");
    plan_put_nodes(&why, &change->plan, change->step - 1, plan_member);
    text_format(&why, " is over in favour of another one, ");
    text_shown(&why, other->bytes, other->length);
    put_way_out(&why, watch, seen, list_watch_tellers(seen, other));
    change_refuse(change, REDLOCK_E_DIFFERS, &why);
    return true;
}

/* Another command led clients away from the list to come: an end would leave them none. */
bool change_is_next_taken(struct change *change)
{
    struct list_seen next;
    list_watch_look(&change->next, &next);
    unsigned other = list_seen_others(&next);
    if (masters_in(other) <= change->next.masters - change->next.quorum)
        return false;
    const struct client_text *list = &next.used.successors[__builtin_ctz(other)];
    struct text why = {0};
    text_format(&why, "the next list ");
    plan_put_nodes(&why, &change->plan, change->step, plan_member);
    text_format(&why, " is over in favour of ");
    text_shown(&why, list->bytes, list->length);
    text_format(&why, ", by another command. When that has ended, run this one again to go on");
    change_refuse(change, REDLOCK_E_DIFFERS, &why);
    return true;
}

static void refuse_beside(struct change *change, unsigned list)
{
    struct text why = {0};
    text_format(&why, "the list ");
    plan_put_nodes(&why, &change->plan, list, plan_member);
    text_format(&why, " is valid again, by another command. When that has ended, run this one "
                      "again to go on, and give no client a later list before");
    change_refuse(change, REDLOCK_E_DIFFERS, &why);
}

/* By an undo, or a change that leads back.  Said again, the end might leave both lists over. */
bool change_is_taken_back(struct change *change)
{
    struct list_watch *watch = &change->ends[change->step];
    if (masters_in(list_watch_say_on(watch, false)) <= watch->spare)
        return false;
    refuse_beside(change, change->step - 1);
    return true;
}

/* Clients may have come to the next list since it was asked, and silence tells nothing of them. */
static void refuse_if_unused(struct change *change, unsigned step)
{
    struct list_seen next;
    if (!change->asks_next) {
        change->asks_next = change_watch(change, &change->next, change->step, false);
        return;
    }
    list_watch_look(&change->next, &next);
    if (!next.is_settled)
        return;
    if (masters_in(next.told) >= list_watch_enough(&change->next))
        refuse_beside(change, step - 1);
    else
        list_watch_say_on(&change->ends[step], true);
}

/* The list before the former one may be valid beside that, but not beside the next one.  A single
 * master that tells of a client of that one is enough, as exclusion comes first. */
void change_hold_former_ends(struct change *change)
{
    bool is_one_valid = false;
    for (unsigned i = 1; i < change->step && !change->session.ending; i++) {
        struct list_watch *watch = &change->ends[i];
        struct list_seen next;
        list_watch_look(&change->next, &next);
        bool must_end = change->phase == ENDS || i + 1 < change->step || next.saying;
        unsigned taken = list_watch_say_on(watch, must_end);
        if (must_end || masters_in(taken) <= watch->spare)
            continue;
        is_one_valid = true;
        refuse_if_unused(change, i);
    }
    change->asks_next &= is_one_valid;
}

bool change_do_quorums_tell(const struct change *change, const struct list_seen *now,
                            const struct list_seen *next)
{
    return masters_in(now->told) >= change->now.quorum &&
           masters_in(next->told) >= change->next.quorum;
}
