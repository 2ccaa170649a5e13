#include <stdio.h>

#include "world.h"

const char *const story_wrongs[] = {[FINE] = "",
                                    [TWO_COUNT] =
                                        "two count the same master, and one of them is a writer",
                                    [TWO_HOLD] = "two hold it, and one of them is a writer",
                                    [RISEN] = "what was released is there again",
                                    [OVERTAKEN] = "who was enqueued before is overtaken"};

static void print_readers(const struct data *data)
{
    for (int c = 0; c < CLIENTS; c++) {
        if (data->members & 1 << c)
            printf(" %c%d", letter(c), data->score[c]);
        if (data->ghosts & 1 << c)
            printf(" %c'", letter(c));
    }
}

static void print_data(const struct data *data)
{
    if (data->name == FREE)
        printf("-");
    else if (data->name == MARK)
        printf("shared%d", data->left);
    else
        printf("%c%s%d", letter((data->name - TOKEN) % CLIENTS),
               data->name >= GIVEN_BACK ? "'" : "", data->left);
    print_readers(data);
}

static void print_queue(const struct master *master)
{
    if (master->queue | master->ghosts)
        printf(" |");
    for (int c = 0; c < CLIENTS; c++) {
        if (master->ghosts & 1 << c)
            printf(" %c'", letter(c));
        if (master->queue & 1 << c)
            printf(" %c", letter(c));
    }
}

/* The master's holders; behind each, for how long the client counts on it, and as what. */
static void print_master(const struct rules *rules, const struct master *master, int i)
{
    printf("  %d: ", i + 1);
    print_data(&master->data);
    print_queue(master);
    if (master->has_saved) {
        printf(", saved ");
        print_data(&master->saved);
    }
    if (master->quarantine)
        printf(" q%d", master->quarantine);
    if (rules->question == ORDER)
        printf(" h%d", master->clock);
    for (int c = 0; c < rules->clients; c++) {
        const struct link *link = &master->link[c];
        if (link->promise)
            printf(" (%c counts %d", letter(c), link->promise);
        if (link->promise && link->alone)
            printf(", alone %d", link->alone);
        if (link->promise)
            printf(")");
    }
}

static void print_holders(const struct rules *rules, const struct world *world)
{
    for (int c = 0; c < rules->clients; c++) {
        const struct client *client = &world->client[c];
        if (client->phase == HOLDING || client->phase == UPGRADING)
            printf("  %c %s%s", letter(c), client->alone ? "WRITES" : "READS",
                   client->phase == UPGRADING ? " and upgrades" : "");
    }
}

static const char *kind_name(int kind, bool alone)
{
    static const char *const names[] = {
        [TAKE] = "asks for it",        [RENEW] = "renews",      [CONVERT] = "asks to convert",
        [UPGRADE] = "asks to upgrade", [QUEUE] = "is enqueued", [RELEASE] = "releases"};
    static const char *const alones[] = {
        [TAKE] = "asks for it alone", [RENEW] = "renews as a writer"};
    return alone && (kind == TAKE || kind == RENEW) ? alones[kind] : names[kind];
}

static const char *vote_name(int vote)
{
    static const char *const names[] = {
        [REFUSED] = "no",          [YOURS] = "yes",     [ALONE] = "yes, alone",
        [ABSENT] = "it is absent", [QUEUED] = "queued", [AHEAD] = "yes, but somebody is ahead"};
    return names[vote];
}

static void print_message(const struct move *move)
{
    const struct step *step = move->step;
    const struct link *before = &move->before->master[step->master].link[step->client];
    const struct link *after = &move->next->master[step->master].link[step->client];
    const struct message *message = &before->flight[step->message];
    const char *name = kind_name(message->kind, message->alone);
    if (step->act == HEAR) {
        printf("%c hears master %d, which it %s: %s", letter(step->client), step->master + 1, name,
               vote_name(message->vote));
        return;
    }
    printf("master %d hears late that %c %s%s", step->master + 1, letter(step->client), name,
           message->stage == DEAD ? ", on a connection that has ended" : "");
    if (after->flight[step->message].stage == ANSWERED)
        printf(": %s", vote_name(after->flight[step->message].vote));
}

static void print_clients_act(const struct step *step, const struct world *next)
{
    static const char *const words[] = {[RECONNECT] = "'s connection to master %d ends",
                                        [NOTICE] = " notices the restart of master %d",
                                        [ACQUIRE] = " hears that it has the name",
                                        [DOWNGRADE] = " downgrades",
                                        [BEGIN_UPGRADE] = " begins to upgrade",
                                        [END_UPGRADE] = " hears that it is upgraded",
                                        [FAIL_UPGRADE] = " gives up upgrading",
                                        [TAKE_TICKET] = " takes a ticket",
                                        [YIELD] =
                                            " gives back what it has, and goes on with a new token",
                                        [GIVE_UP] = " gives up",
                                        [LEAVE] = " releases",
                                        [CARRY_OUT_RELEASE] = "'s release arrives late at %d"};
    const struct client *client = &next->client[step->client];
    printf("%c", letter(step->client));
    if (step->act == ASK)
        printf(" %s", step->kind == RENEW ? "renews or converts"
                                          : kind_name(step->kind, client->wants_alone));
    else
        printf(words[step->act], step->master + 1);
    if (step->act == TAKE_TICKET)
        printf(": %d", client->ticket);
}

static void print_others_act(const struct step *step)
{
    if (step->act == SAVE)
        printf("master %d is saved", step->master + 1);
    if (step->act == RESTART)
        printf("master %d restarts %s", step->master + 1,
               step->is_empty ? "without data" : "as it was saved");
    if (step->act == TICK)
        printf("-- a tick --");
}

static void print_fates(const struct rules *rules, const struct step *step)
{
    static const char *const names[] = {[NOT_SENT] = "not sent",
                                        [REQUEST_LATE] = "on its way",
                                        [ANSWER_LATE] = "the answer is on its way",
                                        [PROMPT] = "prompt"};
    bool is_round = step->act == ASK || step->act == YIELD || step->act == GIVE_UP ||
                    step->act == LEAVE || step->act == TAKE_TICKET;
    for (int i = 0; is_round && i < rules->masters; i++)
        if (step->of[i])
            printf("; %d: %s", i + 1, names[step->of[i]]);
}

void story_step(const struct move *move)
{
    const struct step *step = move->step;
    if (step->act == CARRY_OUT || step->act == HEAR)
        print_message(move);
    else if (step->act <= LAST_OF_CLIENT)
        print_clients_act(step, move->next);
    else
        print_others_act(step);
    print_fates(move->rules, step);
}

void story_world(const struct rules *rules, const struct world *world)
{
    printf("        ");
    for (int i = 0; i < rules->masters; i++)
        print_master(rules, &world->master[i], i);
    print_holders(rules, world);
}
