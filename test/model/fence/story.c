#include <stdio.h>

#include "world.h"

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        clocks");
    for (int i = 0; i < rules->masters; i++)
        printf(" %d", world->master[i].clock);
}

static void print_attempts_act(const struct move *move)
{
    static const char *const words[] = {[ASK] = "asks all masters",
                                        [CHOOSE] = "has heard a quorum: its fence is",
                                        [SHOW] = "shows fence",
                                        [END] = "gives up, or holds no longer"};
    const struct step *step = move->step;
    printf("%c %s", letter(step->attempt), words[step->act]);
    if (step->act == CHOOSE)
        printf(" %d", move->next->attempt[step->attempt].fence);
    if (step->act == SHOW)
        printf(" %d", move->before->attempt[step->attempt].fence);
}

static void print_masters_act(const struct move *move)
{
    static const char *const words[] = {[GRANT] = "grants to",
                                        [REFUSE] = "refuses",
                                        [LIE] = "lies to",
                                        [RAISE] = "raises for",
                                        [REFUSE_RAISE] = "refuses to raise for",
                                        [VANISH] = "loses the key of",
                                        [RESTART] = "restarts"};
    const struct step *step = move->step;
    uint8_t owner = move->next->master[step->master].owner;
    printf("master %d %s", step->master + 1, words[step->act]);
    if (step->act != RESTART)
        printf(" %c", letter(step->attempt));
    else if (owner)
        printf(" with a key of %c", letter(owner - 1));
}

void story_step(const struct move *move)
{
    if (move->step->act <= LAST_OF_ATTEMPT)
        print_attempts_act(move);
    else
        print_masters_act(move);
}

const char *const story_wrongs[] = {[FINE] = "", [NOT_ABOVE] = "it is not above one shown before"};
