#include <stdio.h>

#include "world.h"

static void print_master(const struct rules *rules, const struct master *master, int i)
{
    static const char *const said[] = {[FORGOT] = "nothing", [KNEW] = "what it knows"};
    printf("  %d: [%s", i + 1, master->knows ? "" : "has forgotten");
    if (master->owner)
        printf(" of %c", letter(master->owner - 1));
    if (master->fence)
        printf(" list %d, fence %d", master->list, master->fence);
    for (int t = 0; t < rules->tries; t++)
        if (master->said[t])
            printf(" said %s to %c", said[master->said[t]], letter(t));
    printf("]");
}

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        ");
    for (int i = 0; i < rules->masters; i++)
        print_master(rules, &world->master[i], i);
    for (int t = 0; t < rules->tries; t++)
        if (world->try[t].fence)
            printf("  %c: fence %d%s", letter(t), world->try[t].fence,
                   world->try[t].writes ? ", writes" : "");
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    static const char *const words[] = {[TAKE] = "gets the lease of master",
                                        [GIVE_UP] = "loses the lease of master",
                                        [WIN] = "has a quorum and a fence",
                                        [READ] = "reads master",
                                        [DECIDE] = "has read enough",
                                        [WRITE] = "writes to master",
                                        [RESTART] = "without data restarts master"};
    bool is_bare = step->act == WIN || step->act == DECIDE;
    if (step->act != RESTART)
        printf("%c ", letter(step->try));
    printf("%s", words[step->act]);
    if (!is_bare)
        printf(" %d", step->master + 1);
}

const char *const story_wrongs[] = {[FINE] = "", [TWO_FOLLOWED] = "two lists may be followed"};
