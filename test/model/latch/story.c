#include <stdio.h>

#include "world.h"

static void print_name(const struct rules *rules, int c)
{
    if (is_creator(rules, c))
        printf("the maker of %c", 'X' + c);
    else if (is_reader(rules, c))
        printf("reader %d", c - rules->creators - rules->arrivers + 1);
    else
        printf("%c", 'A' + c - rules->creators);
}

static void print_set(uint8_t set)
{
    for (int a = 0; a < ARRIVERS; a++)
        if (set & 1 << a)
            printf(" %c", 'A' + a);
}

void story_world(const struct rules *rules, const struct world *world)
{
    printf("      ");
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        printf("  %d%s: ", i + 1, master->lies ? " lies" : master->quarantine ? " abstains" : "");
        if (!master->record.id) {
            printf("none");
            continue;
        }
        printf("%c", 'W' + master->record.id);
        print_set(master->record.arrived);
        printf("%s%s", master->record.open ? " open" : "",
               master->record.of_run ? "" : " (former)");
    }
}

static void print_at_master(const struct rules *rules, const struct step *step)
{
    static const char *const words[] = {[ASK] = " asks",
                                        [CARRY_OUT] = ": carried out late at",
                                        [CUT] = " loses its connection to",
                                        [LOSE] = ": what was under way is lost at",
                                        [NOTICE] = " notices the restart of"};
    static const char *const kinds[] = {
        [NOTHING] = "", [TALLY] = "", [PUT] = ": the latch is put there", [DROP] = ": drop"};
    static const char *const fates[] = {
        [PROMPT] = "", [LATE] = "; that is late", [UNHEARD] = "; the answer is lost"};
    print_name(rules, step->client);
    printf("%s master %d%s%s", words[step->act], step->master + 1, kinds[step->kind],
           fates[step->fate]);
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    const struct rules *rules = move->rules;
    static const char *const ends[] = {
        [MADE] = "made",    [HELD] = "there is another", [COUNTED] = "it is counted",
        [IS_OPEN] = "open", [IS_SHUT] = "not open",      [IS_GONE] = "gone"};
    if (step->act == RESTART) {
        printf("master %d restarts", step->master + 1);
    } else if (step->act == START_OVER) {
        print_name(rules, step->client);
        printf(" starts over");
    } else if (step->act == TICK) {
        printf("a tick");
    } else if (step->act == TELL || step->act == GIVE_UP) {
        print_name(rules, step->client);
        printf(step->act == TELL ? " is told: %s" : " gives up", ends[step->end]);
    } else {
        print_at_master(rules, step);
    }
}

const char *const story_wrongs[] = {[FINE] = "",
                                    [OPEN_EARLY] = "too few have begun to arrive",
                                    [SHUT_AFTER_OPEN] = "it was open",
                                    [UNCOUNTED] = "an arrival is missing",
                                    [NOT_GONE] = "a quorum has had it all the time",
                                    [TWO_MADE] = "there is another",
                                    [TAKEN_AWAY] = "it was made, and is not there"};
