#include <stdio.h>

#include "world.h"

static void print_lists(const struct rules *rules, const struct world *world)
{
    static const char *const words[] = {"", " alone", " ours first", " theirs first"};
    for (int i = 0; i < honest(rules); i++) {
        const struct master *master = &world->master[i];
        printf("  %d: [%s", i + 1, master->first == LIST_A ? "A" : master->first ? "B" : "-");
        for (int c = 0; c < clients(rules); c++)
            if (master->keeps[c])
                printf(" %c for %d", letter(c), master->keeps[c]);
        for (int c = 0; c < clients(rules); c++)
            if (master->link[c].word)
                printf("; %c heard%s", letter(c), words[master->link[c].word]);
        printf("]");
    }
    for (int c = 0; c < clients(rules); c++)
        if (world->client[c].held)
            printf("  %c holds", letter(c));
}

static void print_fact(const char *what, const struct fact *fact)
{
    if (fact->run)
        printf("  %s: %d since %d until %d", what, fact->run, fact->since, fact->until);
}

static void print_entries(const struct entries *entries)
{
    const struct looker *looker = &entries->looker;
    printf("  at %d: process %d since %d", entries->now, entries->server[0].run,
           entries->server[0].started);
    print_fact("kept", &entries->fact);
    printf("  it has %d since %d, answered at %d", looker->run, looker->started, looker->answered);
    print_fact("it heard", &looker->word);
}

void story_world(const struct rules *rules, const struct world *world)
{
    const struct numbers *n = &world->numbers;
    printf("      ");
    if (rules->question == LISTS)
        printf("  %d masters and %d spare, %d and %d; %d in common, of which %d look different",
               n->a, n->spare_a, n->b, n->spare_b, n->common, n->lied);
    else if (is_about_entries(rules))
        print_entries(&world->entries);
    else
        print_lists(rules, world);
}

void story_step(const struct move *move)
{
    static const char *const words[] = {
        [SAY] = "says its list to master",
        [HEAR] = "hears the word of master",
        [TAKE] = "takes a lease",
        [RELEASE] = "releases it",
        [CLOSE] = "closes",
        [UNSAY] = "takes its list back from master",
        [CONNECT] = "connects to B's entry",
        [PROVE] = "hears from B's entry",
        [SEND] = "sends which process B's entry has",
        [CARRY_OUT] = "is answered by the master",
    };
    static const char *const others[] = {
        [RESTART] = "a master restarts",
        [LOOKER_CONNECTS] = "it connects to A's entry",
        [ASK_PROCESS] = "it asks A's entry",
        [PROCESS_ANSWERS] = "the process answers",
        [HEAR_PROCESS] = "it hears that",
        [LOOK] = "it asks the master about B",
        [MASTER_TELLS] = "the master answers",
        [HEAR_MASTER] = "it hears that",
        [SERVER_RESTARTS] = "the server restarts",
        [JUDGE] = "the client of the first list reckons",
        [TICK] = "a tick",
    };
    const struct step *step = move->step;
    if (step->act >= sizeof words / sizeof *words || !words[step->act]) {
        printf("%s", others[step->act]);
        return;
    }
    printf("%c %s", letter(step->client), words[step->act]);
    if (step->act == SAY || step->act == HEAR || step->act == UNSAY)
        printf(" %d", step->master + 1);
}

const char *const story_wrongs[] = {[FINE] = "",
                                    [TWO_HOLD] = "two lists that may not meet have holders",
                                    [IS_REFUSED] = "a client is refused that need not be",
                                    [LOOKS_OTHER] = "one server looks like two",
                                    [LOOKS_SAME] = "what was proved is kept no more"};
