#include <stdio.h>

#include "world.h"

/* Terms are A and B, and their values A1, A2, B1, B2. */
static const char *saying_name(uint8_t saying)
{
    static const char *const names[] = {"nothing", "A1", "A2", "B1", "B2"};
    return saying < UNSAY ? names[saying] : "?";
}

static void print_messages(const struct link *link, char from)
{
    for (int k = 0; k < MESSAGES && link->message[k].what; k++) {
        const struct message *message = &link->message[k];
        bool is_dead = message->connection != link->connection;
        printf(" %s from %c%s;", message->what < UNSAY ? saying_name(message->what) : "unsay", from,
               is_dead ? " (its connection has ended)" : "");
    }
}

static void print_view(const struct view *view)
{
    static const char *const stages[] = {"", " asked", " answers "};
    printf(" | %s%s%s%s%s%s", view->is_up ? "" : "down ", view->is_former ? "former " : "",
           view->subscribed ? "" : "no pushes ", saying_name(view->heard), stages[view->asked],
           view->asked == ANSWERED ? saying_name(view->answer) : "");
    for (int k = 0; k < view->pushes; k++)
        printf(" push %s", saying_name(view->push[k]));
}

void story_world(const struct rules *rules, const struct world *world)
{
    static const char *const states[] = {"told nothing yet", "told %s", "told that nobody",
                                         "told that it is not known"};
    printf("        ");
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        printf("  [%s of %c%s:", master->name == FREE ? "free" : "name",
               master->name == FREE ? '-' : 'A' + master->name - HELD,
               master->abstains ? ", abstains" : "");
        printf(" %s%s", saying_name(master->record), master->is_old ? " (old)" : "");
        for (int term = 0; term < TERMS; term++)
            print_messages(&master->link[term], 'A' + term);
        if (world->observer.begun)
            print_view(&master->view);
        printf("]");
    }
    if (world->observer.begun) {
        printf("  ");
        printf(states[world->observer.state], saying_name(world->observer.latest));
        printf("%s", world->observer.verifying ? ", verifies" : "");
    }
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    static const char *const words[] = {[SET] = "%c has another value",
                                        [SAY] = "%c says its value",
                                        [CARRY_OUT] = "a message of %c arrives",
                                        [BREAK] = "a connection of %c ends",
                                        [RESIGN] = "%c resigns",
                                        [HAND_ON] = "%c hands its token on",
                                        [TAKE] = "%c gets the name",
                                        [RENEW] = "%c renews",
                                        [EXPIRE] = "what is said expires",
                                        [RESTART] = "the process restarts",
                                        [END_QUARANTINE] = "the quarantine ends",
                                        [BEGIN] = "the observer begins",
                                        [ANSWER] = "the question is answered",
                                        [ANSWER_LATE] = "the question arrives",
                                        [HEAR] = "the answer is heard",
                                        [HEAR_PUSH] = "a push is heard",
                                        [FORGET] = "what is known expires",
                                        [LOOK] = "the observer looks",
                                        [DROP] = "the observer's connection ends",
                                        [COME_UP] = "the observer connects",
                                        [SUBSCRIBE] = "it is subscribed",
                                        [UNSUBSCRIBE] = "its subscription ends",
                                        [TICK] = "a tick passes"};
    if (step->act <= LAST_OF_LEADER)
        printf(words[step->act], 'A' + step->term);
    else
        printf("%s", words[step->act]);
    if (step->master >= 0)
        printf(", master %d", step->master + 1);
    if (step->is_late)
        printf("%s", step->act == SAY ? "; it is late" : "; the push or answer is late");
}

const char *const story_wrongs[] = {
    [FINE] = "",
    [OLDER] = "this report is older than the one before",
    [REPLACED] = "the reported value had been replaced when the observer began",
    [NEVER_SAID] = "no quorum ever said so for the holder of the name",
    [IS_SAID] = "a quorum says something all along",
    [IS_KNOWN] = "all masters are up and count all along",
    [TAKEN_BACK] = "what a leader says is taken back by another term",
    [STAYS] = "it is said long after its lease has ended"};
