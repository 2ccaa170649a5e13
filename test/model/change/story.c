#include <stdio.h>

#include "world.h"

static void print_link(const struct link *link, int c)
{
    if (link->said_for)
        printf(" %c said for %d", letter(c), link->said_for);
    if (link->word_for)
        printf(" %c word for %d", letter(c), link->word_for);
    for (int ledger = 0; ledger < LEDGERS; ledger++)
        if (link->promise[ledger])
            printf(" %c promise%s for %d", letter(c), ledger ? " by the next list" : "",
                   link->promise[ledger]);
}

void story_world(const struct rules *rules, const struct world *world)
{
    static const char *const states[] = {"", ", holds", ", is late", ", another has held since"};
    printf("        ");
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        printf("  %d: [%s", i + 1, master->over ? "over" : "");
        if (master->owner)
            printf(" of %c for %d", letter(master->owner - 1), master->owned_for);
        if (master->abstains_for)
            printf(" abstains for %d", master->abstains_for);
        for (int c = 0; c < CLIENTS; c++)
            print_link(&master->link[c], c);
        printf("]");
    }
    for (int c = 0; c < CLIENTS; c++)
        printf("  %c: list %d%s", letter(c), world->client[c].list + 1,
               states[world->client[c].state]);
    if (world->wait)
        printf("  waits for %d", world->wait - 1);
    printf("%s", world->open ? "  open" : "");
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    static const char *const words[] = {[START] = "begins with list",
                                        [SAY] = "says the first list to master",
                                        [ASK] = "asks master",
                                        [ATTACH] = "asks by the next list, master",
                                        [HOLD] = "holds",
                                        [MOVE] = "has moved",
                                        [RELEASE] = "gives back",
                                        [TAKE_BACK] = "takes its list back on master",
                                        [END] = "the tool ends the first list on master",
                                        [OPEN] = "the tool opens the third list",
                                        [RESTART] = "without data restarts master",
                                        [TICK] = "a tick"};
    bool is_of_client = step->act <= TAKE_BACK;
    bool is_bare = step->act == HOLD || step->act == MOVE || step->act == RELEASE ||
                   step->act == OPEN || step->act == TICK;
    if (is_of_client)
        printf("%c ", letter(step->client));
    printf("%s", words[step->act]);
    if (!is_bare)
        printf(" %d", step->master + 1);
}

const char *const story_wrongs[] = {[FINE] = "",
                                    [TWO_HOLD] = "two hold the name",
                                    [HELD_BETWEEN] = "another has held the lease meanwhile"};
