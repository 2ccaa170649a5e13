#include <stdio.h>

#include "world.h"

const char *const story_wrongs[] = {[FINE] = "",
                                    [TWO_HOLD] = "two hold it",
                                    [TWO_COUNT] = "two count the same master",
                                    [OVERTAKEN] = "a waiter that was enqueued before is overtaken",
                                    [FENCE_BACKWARDS] = "the fence is not above those before"};

static void print_owner(int owner)
{
    if (owner == FREE)
        printf("-");
    else if (owner == HOLDER)
        printf("H");
    else
        printf("%c%s", letter((owner - TOKEN) % WAITERS), owner >= GIVEN_BACK ? "'" : "");
}

/* The owner of the name there, its time, and the waiters. */
static void print_masters(const struct rules *rules, const struct world *world)
{
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        printf("  %d:", i + 1);
        print_owner(master->owner);
        if (master->owner != FREE)
            printf("%d", master->left);
        for (int w = 0; w < rules->waiters; w++) {
            if (master->link[w].ghost)
                printf(" %c'%d", letter(w), master->link[w].ghost);
            if (master->link[w].record)
                printf(" %c%d", letter(w), master->link[w].record);
        }
        if (master->quarantine)
            printf(" q%d", master->quarantine);
        if (rules->question == ORDER || rules->question == FENCES)
            printf(" h%d", master->clock);
    }
}

static const char *way_name(int way)
{
    static const char *const names[] = {[NOTHING] = "nothing",
                                        [ASKED] = "asked",
                                        [VOTE_QUEUED] = "queued",
                                        [VOTE_YOURS] = "yours",
                                        [VOTE_AHEAD] = "yours, but a waiter is ahead",
                                        [VOTE_REFUSED] = "refused"};
    return names[way];
}

/* The master's answer, which is on its way or was heard. */
static void print_answer(const struct step *step, const struct world *next, int i)
{
    const struct link *link = &next->master[i].link[step->waiter];
    enum fates fate = step->of[i].fate;
    if (fate == ANSWER_LATE || fate == BOTH_LATE)
        printf("%s, its answer on its way", way_name(link->way));
    else if (link->promise || next->waiter[step->waiter].phase == HOLDING)
        printf("yours%s", link->ahead ? ", but a waiter is ahead" : "");
    else
        printf("not yours");
}

static bool asks(enum act act)
{
    return act == EXCHANGE || act == CARRY_OUT || act == ASK_FIRST;
}

static void print_fate(const struct step *step, const struct world *next, int i)
{
    const struct fate *of = &step->of[i];
    if (of->fate == NOT_SENT)
        return;
    printf("; %d: ", i + 1);
    if (of->fate == LOST)
        printf("lost");
    else if (of->fate == REQUEST_LATE)
        printf("on its way");
    else if (asks(step->act))
        print_answer(step, next, i);
    else
        printf("carried out");
    if (of->pushed && !(asks(step->act) && of->pushed == 1 + step->waiter))
        printf(", gives it to %c", letter(of->pushed - 1));
    if (of->fate == PUSH_LATE || of->fate == BOTH_LATE)
        printf(", its push on its way");
}

static void print_waiters_act(const struct move *move)
{
    static const char *const words[] = {
        [EXCHANGE] = "asks",
        [ASK_FIRST] = "is heard for the first time",
        [SEND] = "sends a request to master %d",
        [CARRY_OUT] = "is heard late",
        [HEAR] = "hears the answer of master %d, late",
        [HEAR_PUSH] = "hears the push of master %d",
        [YIELD] = "gives back what it has, and goes on with another token",
        [GIVE_UP] = "gives up",
        [RELEASE] = "releases",
        [CARRY_OUT_RELEASE] = "'s release arrives late",
        [NOTICE] = "notices the restart of master %d",
        [CUT] = "is cut off from master %d",
        [TAKE_TICKET] = "takes a ticket",
        [FIX_FENCE] = "fixes its fence",
        [CARRY_OUT_RAISE] = "has its fence stored by master %d",
        [TELL_FENCE] = "hears its fence"};
    const struct step *step = move->step;
    const struct waiter *after = &move->next->waiter[step->waiter];
    printf("%c%s", letter(step->waiter), step->act == CARRY_OUT_RELEASE ? "" : " ");
    if (step->act == SEND && step->master < 0)
        printf("asks all masters for the first time");
    else
        printf(words[step->act], step->master + 1);
    if (step->act == HEAR)
        printf(": %s", way_name(move->before->master[step->master].link[step->waiter].way));
    if (step->act == TAKE_TICKET)
        printf(": %d", after->ticket);
    if (step->act == FIX_FENCE)
        printf(": %d", after->fence);
    if (step->act == CARRY_OUT_RAISE && step->of[step->master].fate != PROMPT)
        printf("; the answer is lost");
}

static void print_others_act(const struct step *step)
{
    static const char *const snapshots[] = {[EMPTY] = "without data",
                                            [SAME] = "with its data",
                                            [OLDER] = "with older data, without the key"};
    if (step->act == RESTART)
        printf("master %d restarts %s", step->master + 1, snapshots[step->snapshot]);
    if (step->act == HOLDER_RELEASES)
        printf("H releases");
    if (step->act == CARRY_OUT_HOLDERS_RELEASE)
        printf("H's release arrives late");
    if (step->act == HOLDERS_KEY_EXPIRES)
        printf("H's keys expire");
    if (step->act == TICK)
        printf("-- a tick --");
}

static void print_who_holds(const struct rules *rules, const struct world *world)
{
    if (world->holds)
        printf("  H holds, %d", world->holds);
    for (int w = 0; w < rules->waiters; w++)
        if (world->waiter[w].phase == HOLDING)
            printf("  %c HOLDS", letter(w));
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    if (step->act <= LAST_OF_WAITER)
        print_waiters_act(move);
    else
        print_others_act(step);
    for (int i = 0; i < move->rules->masters && step->act != CARRY_OUT_RAISE; i++)
        print_fate(step, move->next, i);
}

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        ");
    print_masters(rules, world);
    print_who_holds(rules, world);
}
