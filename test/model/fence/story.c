#include "story.h"

#include <stdio.h>

#include "fence.h"

struct story {
    int steps;
    struct world before;
};

static void print_clocks(const struct world *world)
{
    printf("clocks");
    for (int i = 0; i < MASTERS && world->master[i].clock; i++)
        printf(" %d", world->master[i].clock);
}

static void print_heard(int heard)
{
    for (int i = 0; i < MASTERS; i++)
        if (heard & 1 << i)
            printf(" %d", i + 1);
}

static void print_attempts_act(const struct step *step, const struct story *story,
                               const struct world *next)
{
    const struct attempt *before = &story->before.attempt[step->attempt];
    printf("%c ", 'A' + step->attempt);
    switch (step->act) {
    case ASK:
        printf("asks all masters");
        break;
    case CHOOSE:
        printf("hears the grants of masters");
        print_heard(step->heard);
        printf(": its fence is %d", next->attempt[step->attempt].fence);
        break;
    case SHOW:
        printf("shows fence %d%s", before->fence,
               step->wrong ? ", which is not above one shown before" : "");
        break;
    default:
        printf(before->phase == SHOWN ? "holds no longer" : "gives up");
    }
}

static void print_restart(const struct master *after)
{
    if (after->owner)
        printf("restarts with a key of %c", 'A' + after->owner - 1);
    else
        printf("restarts without a key");
}

static void print_masters_act(const struct step *step, const struct story *story,
                              const struct world *next)
{
    const struct master *before = &story->before.master[step->master];
    const struct master *after = &next->master[step->master];
    static const char *const words[] = {[GRANT] = "grants to",
                                        [REFUSE] = "refuses",
                                        [LIE] = "lies to",
                                        [RAISE] = "raises for",
                                        [REFUSE_RAISE] = "refuses to raise for",
                                        [VANISH] = "loses the key of"};
    printf("    master %d ", step->master + 1);
    if (step->act == RESTART)
        print_restart(after);
    else
        printf("%s %c", words[step->act], 'A' + step->attempt);
    if (step->act == GRANT || step->act == RAISE || step->act == RESTART)
        printf(": clock %d, was %d", after->clock, before->clock);
}

static void print_step(void *visitor, const struct step *step, const struct world *next)
{
    struct story *story = visitor;
    if (!step) {
        printf("       ");
        print_clocks(next);
    } else {
        printf("  %2d.  ", ++story->steps);
        (step->act <= LAST_OF_ATTEMPT ? print_attempts_act : print_masters_act)(step, story, next);
    }
    printf("\n");
    story->before = *next;
}

void fence_story(const struct search *search)
{
    search_tell(search, print_step, &(struct story){0});
}
