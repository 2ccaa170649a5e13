#include <stdio.h>

#include "world.h"

static void print_end(const char *list, uint8_t next)
{
    if (next)
        printf(" %s>%c", list, letter(next - LIST_A));
}

void story_world(const struct rules *rules, const struct world *world)
{
    static const char *const heard[] = {"", " free", " taken"};
    printf("        ");
    for (int i = 0; i < rules->both + rules->former + rules->later; i++) {
        const struct master *master = &world->master[i];
        printf("  %s%s%s [", master->lies ? "liar of " : "", master->in_a ? "A" : "",
               master->in_b ? "B" : "");
        print_end("A", master->next_of_a);
        print_end("B", master->next_of_b);
        printf("%s%s%s%s%s%s ]", master->told_b ? " told B" : "", master->told_a ? " told A" : "",
               master->says_a ? " said A" : "", master->seen ? " seen" : "", heard[master->heard],
               master->pending ? " asked" : "");
    }
}

void story_step(const struct move *move)
{
    static const char *const words[] = {
        [END_A] = "A is over",
        [END_B] = "B is over",
        [LOOK_A] = "the undo hears the number",
        [LOOK_B] = "the undo hears of B",
        [TAKE_BACK_A] = "a tool takes the end of A back",
        [TAKE_BACK_B] = "a tool takes the end of B back",
        [SAY_A] = "a client says A",
        [UNSAY_A] = "the client takes A back",
    };
    const struct step *step = move->step;
    if (step->act >= USE_C) {
        printf("%s", step->act == USE_C  ? "C may be used"
                     : step->act == SEND ? "the undo asks these masters to take the end of A back"
                                         : "the undo looks anew");
        return;
    }
    printf("on master %d: %s", step->master + 1, words[step->act]);
    if (step->next)
        printf(", %c follows", letter(step->next - LIST_A));
}

const char *const story_wrongs[] = {[FINE] = "", [BOTH_USED] = "A and C may be used"};
