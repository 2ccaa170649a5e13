#include <stdio.h>

#include "world.h"

static void print_masters(const struct rules *rules, const struct world *world)
{
    for (int i = 0; i < up(rules); i++) {
        printf("  %d%s:", i + 1, world->master[i].abstains ? " abstains" : "");
        for (int j = 0; j < rules->slots; j++) {
            const struct slot *slot = &world->master[i].slot[j];
            printf(" [");
            if (slot->owner == FREE)
                printf("-");
            else if (slot->owner == STRANGER)
                printf("somebody");
            else
                printf("%c%s", letter((slot->owner - TOKEN) % CLIENTS),
                       slot->owner >= GIVEN_BACK ? "'" : "");
            print_letters(" line ", slot->line);
            print_letters(" given back ", slot->ghosts);
            print_letters(" releasing ", slot->giving);
            print_letters(" told ", slot->told);
            print_letters(" hinted ", slot->hinted);
            printf("]");
        }
    }
}

static void print_clients(const struct rules *rules, const struct world *world)
{
    for (int c = 0; c < rules->clients; c++) {
        const struct client *client = &world->client[c];
        if (client->phase == HOLDING)
            printf("  %c HOLDS %d", letter(c), client->holds);
        if (client->phase == WAITING)
            printf("  %c waits, %d%s", letter(c), client->ticket, client->tries ? ", tries" : "");
    }
}

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        ");
    print_masters(rules, world);
    print_clients(rules, world);
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    static const char *const words[] = {[TRY] = "%c tries slot %d for the first time",
                                        [STAND] = "%c takes a ticket and stands in the line of %d",
                                        [REFRESH] = "%c refreshes its places",
                                        [MOVE] = "%c moves to the line of %d",
                                        [FOLLOW] = "%c follows a hint and tries %d",
                                        [END_TRY] = "%c gives up trying %d",
                                        [YIELD] = "%c yields in the line of %d",
                                        [RELEASE] = "%c releases %d",
                                        [CARRY_OUT] = "%c is heard late, about slot %d",
                                        [CARRY_OUT_RELEASE] = "%c's release of %d arrives late",
                                        [HEAR] = "%c hears a push of slot %d",
                                        [COME_AGAIN] = "%c comes again",
                                        [CRASH] = "%c crashes",
                                        [EXPIRE] = "%c's keys expire",
                                        [RESTART] = "a master restarts without data",
                                        [END_QUARANTINE] = "a quarantine ends"};
    printf(words[step->act], letter(step->client), step->slot);
    if (step->act == CARRY_OUT || step->act == CARRY_OUT_RELEASE || step->act == HEAR ||
        step->act == RESTART || step->act == END_QUARANTINE)
        printf(", master %d", step->master + 1);
    for (int i = 0; i < MASTERS; i++)
        if (step->late & 1 << i)
            printf("; late or lost at %d", i + 1);
}

const char *const story_wrongs[] = {[FINE] = "",
                                    [TWO_HOLD] = "two hold one slot",
                                    [TOO_MANY] = "more hold one than there are",
                                    [TWO_SLOTS] = "one has two slots",
                                    [PASSED] = "the oldest is passed"};
