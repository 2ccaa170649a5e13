#include <stdio.h>

#include "world.h"

static void print_word(const struct rules *rules, const struct word *word)
{
    static const char *const words[] = {[SHUT] = "shut", [OPEN] = "open with ", [PASSED] = "passed",
                                        [GONE] = "gone", [OTHER] = "others",    [OVER] = "over"};
    print_letters(words[word->stand], word->stand == OPEN ? word->tokens : 0);
    if (word->stand != OPEN)
        printf("%s", words[word->stand]);
    if (word->age <= rules->lasts)
        printf(" (%d)", word->age);
}

static void print_link(const struct rules *rules, const struct link *link, int c)
{
    static const char *const stages[] = {
        [IDLE] = "", [SENT] = " asks", [ANSWERED] = " is answered"};
    if (link->known.age > rules->lasts && link->known.stand == SHUT && link->stage == IDLE &&
        !link->stale)
        return;
    printf(" %c%s%s: ", letter(c), link->stale ? " (to the former process)" : "",
           stages[link->stage]);
    print_word(rules, link->stage == ANSWERED ? &link->flight : &link->known);
}

static void print_masters(const struct rules *rules, const struct world *world)
{
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        printf("  %d%s%s%s%s%s:", i + 1, master->abstains ? " abstains" : "",
               master->barred ? " OTHERS" : "", master->data.open ? " OPEN" : "",
               master->data.passed ? " PASSED" : "", master->data.record ? " RECORD" : "");
        print_letters(" counts ", master_counts(rules, master));
        printf(" [");
        for (int c = 0; c < rules->parties; c++)
            print_link(rules, &master->link[c], c);
        printf(" ]");
    }
}

static void print_parties(const struct rules *rules, const struct world *world)
{
    static const char *const phases[] = {
        [AWAY] = "is away",      [WAITS] = "waits",        [LEAVES] = "leaves",
        [HAS_PASSED] = "PASSED", [HAS_NOT] = "NOT PASSED", [UNDECIDED] = "UNDECIDED",
        [DEAD] = "is dead"};
    for (int c = 0; c < rules->parties; c++)
        printf("  %c %s%s", letter(c), phases[world->party[c].phase],
               world->party[c].decided ? ", decided" : "");
}

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        ");
    print_masters(rules, world);
    print_parties(rules, world);
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    static const char *const words[] = {[ASK] = "%c asks master %d",
                                        [CARRY_OUT] = "%c's request arrives at %d",
                                        [CARRY_OUT_ORPHAN] =
                                            "%c's request of a former connection arrives at %d",
                                        [HEAR] = "%c hears the answer of %d",
                                        [RECONNECT] = "%c's connection to %d ends",
                                        [LEAVE] = "%c leaves",
                                        [GIVE_UP] = "%c hears that it is undecided",
                                        [DIE] = "%c dies",
                                        [COME_BACK] = "%c comes back with its token",
                                        [EXPIRE] = "%c is not counted any more at %d",
                                        [OTHERS_COME] = "%.0sothers come to %d",
                                        [OTHERS_GO] = "%.0sothers go from %d",
                                        [OTHERS_PASS] = "%.0sothers have passed at %d",
                                        [SAVE] = "%.0smaster %d is saved",
                                        [RESTART] = "%.0smaster %d restarts",
                                        [TICK] = "%.0s-- a tick --"};
    static const char *const errands[] = {
        [ARRIVE] = "arrives", [TELL_PASSED] = "tells that it was passed", [DEPART] = "departs"};
    static const char *const fates[] = {
        [PROMPT] = "", [REQUEST_LATE] = "; it is on its way", [ANSWER_LATE] = "; its answer is"};
    static const char *const memories[] = {
        [EMPTY] = " without data", [AS_IT_WAS] = " as it was", [AS_SAVED] = " as it was saved"};
    if (step->act == ASK) {
        printf("%c %s at %d%s", letter(step->party), errands[step->errand], step->master + 1,
               fates[step->fate]);
        return;
    }
    if (step->party >= 0)
        printf(words[step->act], letter(step->party), step->master + 1);
    else
        printf(words[step->act], "", step->master + 1);
    if (step->act == RESTART)
        printf("%s", memories[step->memory]);
}

const char *const story_wrongs[] = {[FINE] = "",
                                    [TOO_FEW] = "passed with too few",
                                    [LEFT_AND_COUNTED] =
                                        "somebody passed with a party that hears that it has not"};
