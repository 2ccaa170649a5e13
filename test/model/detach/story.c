#include <stdio.h>

#include "world.h"

static void print_renewals(const struct rules *rules, const struct master *master)
{
    static const char *const words[] = {
        [UNWRITTEN] = "unwritten", [ON_ITS_WAY] = "on its way", [UNHEARD] = "forgotten"};
    for (int k = 0; k < rules->renewals; k++)
        if (master->renewal[k].stage)
            printf(" renewal %s, late in %d", words[master->renewal[k].stage],
                   master->renewal[k].late_in);
}

static void print_heir(const struct heir_link *link)
{
    static const char *const answers[] = {"", " heir's renewal", " heir's yes", " heir's absent"};
    static const char *const releases[] = {"", " release", " done", " noscript"};
    printf("%s%s%s%s", answers[link->renewal], link->heals ? " heals" : "", releases[link->release],
           link->owed ? " owed" : "");
}

void story_world(const struct rules *rules, const struct world *world)
{
    static const char *const owners[] = {"-", "token", "another's"};
    static const char *const seconds[] = {"", " second's renewal", " second's yes",
                                          " second's absent"};
    static const char *const phases[] = {"", "  heir has the token", "  heir attaches",
                                         "  heir holds", "  heir gave it back"};
    printf("        ");
    for (int i = 0; i < rules->masters; i++) {
        const struct master *master = &world->master[i];
        printf("  %d: [%s", i + 1, owners[master->owner]);
        if (master->mark)
            printf(" marked for %d", master->mark);
        print_renewals(rules, master);
        print_heir(&master->heir);
        printf("%s%s]", master->taking ? " taking" : "", seconds[master->second]);
    }
    printf("%s%s", world->left ? "  detached" : "", phases[world->heir]);
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    static const char *const words[] = {
        [ASK] = "the holder asks to renew",
        [WRITE] = "the holder's link writes",
        [HEAR_FORGOTTEN] = "the holder hears that the script was forgotten",
        [DETACH] = "the holder detaches",
        [HAND_ON] = "the heir is given the token",
        [ATTACH] = "the heir attaches",
        [ATTACH_SECOND] = "a second heir attaches",
        [RENEW] = "the heir asks to renew",
        [HEAR_RENEWAL] = "the heir hears of its renewal",
        [GIVE_BACK] = "the heir gives the token back",
        [HEAR_RELEASE] = "the heir hears of its release",
        [CUT] = "the heir's connection ends",
        [CARRY_OUT] = "the holder's renewal is carried out",
        [FORGET] = "the holder's renewal meets a forgotten script",
        [CARRY_OUT_HEIRS] = "the heir's renewal is carried out",
        [CARRY_OUT_SECONDS] = "the second heir's renewal is carried out",
        [CARRY_OUT_RELEASE] = "the release is carried out",
        [FORGET_RELEASE] = "the release meets a forgotten script",
        [LOSE] = "the name is lost",
        [OTHER_TAKES] = "somebody else takes the name",
        [OTHER_GIVES_BACK] = "somebody else gives the name back",
        [TAKE] = "a late request of the holder takes the name",
        [RESTART] = "the master restarts without data",
        [TICK] = "a tick"};
    bool is_of_all = step->act == DETACH || step->act == HAND_ON || step->act == ATTACH ||
                     step->act == ATTACH_SECOND || step->act == GIVE_BACK || step->act == TICK;
    printf("%s", words[step->act]);
    if (!is_of_all)
        printf(", master %d", step->master + 1);
}

const char *const story_wrongs[] = {[FINE] = "",
                                    [WRITTEN_LATE] = "written after the detach",
                                    [HEALED] = "it heals what was given back",
                                    [TAKEN_OVER] = "it has what was given back"};
