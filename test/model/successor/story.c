#include <stdio.h>

#include "world.h"

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        ");
    for (int i = 0; i < rules->masters; i++) {
        printf("  %d: [", i + 1);
        print_letters("", world->master[i].end);
        print_letters(" told ", world->master[i].told);
        printf("]");
    }
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    if (step->act == END)
        printf("%c ends the list on master %d", letter(step->command), step->master + 1);
    else
        printf("master %d loses the end", step->master + 1);
}

const char *const story_wrongs[] = {[FINE] = "", [TWO_FOLLOWED] = "two lists may be followed"};
