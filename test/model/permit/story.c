#include <stdio.h>

#include "world.h"

static char letter(int c)
{
    return 'A' + c;
}

static void print_set(const char *what, uint8_t who)
{
    if (who)
        printf("%s", what);
    for (int c = 0; c < CLIENTS; c++)
        if (who & 1 << c)
            printf("%c", letter(c));
}

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
            print_set(" line ", slot->line);
            print_set(" given back ", slot->ghosts);
            print_set(" releasing ", slot->giving);
            print_set(" told ", slot->told);
            print_set(" hinted ", slot->hinted);
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
    printf("\n");
}

static void print_act(const struct step *step)
{
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

static const char *wrong_name(enum wrong wrong)
{
    static const char *const words[] = {[FINE] = "",
                                        [TWO_HOLD] = " -- two hold one slot",
                                        [TOO_MANY] = " -- more hold one than there are",
                                        [TWO_SLOTS] = " -- one has two slots",
                                        [PASSED] = " -- the oldest is passed"};
    return words[wrong];
}

struct story {
    const struct rules *rules;
    int steps;
};

static void print_step(void *visitor, const void *of_step, const void *of_world)
{
    struct story *story = visitor;
    const struct step *step = of_step;
    if (step) {
        printf("  %2d.  ", ++story->steps);
        print_act(step);
        printf("%s\n", wrong_name(step->wrong));
    }
    printf("        ");
    print_masters(story->rules, of_world);
    print_clients(story->rules, of_world);
}

void story_print(const struct search *search)
{
    search_tell(search, print_step, &(struct story){.rules = search->model->rules});
    if (search->is_stuck)
        printf("        from here on nobody who is honest gets any further\n");
    if (search->is_restless)
        printf("        from here on they can go on like that for ever\n");
}
