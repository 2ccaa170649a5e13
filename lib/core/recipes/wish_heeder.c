/*
 * wish_heeder.c - hears of the wishes for a name while a lease holds it.
 *
 * The user hears of a wish once, when more masters tell it than may be wrong.  A wish that was said
 * to another token is none.  A lease may have its token from a lease of this client before it.  So
 * the heeder also leaves out what was said before it began.
 */
#include <string.h>

#include "lease/view.h"
#include "masters/master.h"
#include "masters/subscription.h"
#include "recipes/task.h"
#include "recipes/wish.h"

#define AFTER_ERROR MS(1000)
#define OPEN_MOST   64   /* wishes that too few masters tell, of those that one master told first */
#define UNTOLD_MOST 1024 /* wishes that the user is about to hear of */
#define TOLD_MOST   1024 /* wishes that the user does not hear of again */

struct wish {
    struct wish *next; /* it came later */
    usec id;
    usec until;       /* then the first master to tell it has forgotten that */
    unsigned first;   /* that master */
    uint16_t masters; /* (bits) that tell it */
    bool untold;
    unsigned waiting;
    size_t length;
    char words[WISH_WORDS_MAX];
};

struct heeder {
    struct task task;
    usec since;     /* what was said before is left out */
    uint16_t again; /* masters (bits) whose answer to come may be from before the subscription */
    struct taken taken;
    char token[TOKEN_MAX + 1];
    struct wish *known, **last;   /* those of which masters tell now, as they came */
    char telling[WISH_WORDS_MAX]; /* the words of the one that the user hears */
    usec told[TOLD_MOST];
    unsigned next_told;
    usec due[]; /* each master is asked again then */
};

static struct heeder *heeder_of(struct task *task)
{
    return (struct heeder *)(void *)task;
}

/* ---- what the masters tell ------------------------------------------------------------ */

/* They have a name, a space, and a text without control characters. */
static bool words_are_good(struct slice words)
{
    const char *space = words.length ? memchr(words.bytes, ' ', words.length) : NULL;
    if (!space || space == words.bytes || words.length > WISH_WORDS_MAX)
        return false;
    for (size_t i = 0; i < words.length; i++)
        if ((unsigned char)words.bytes[i] < ' ' || words.bytes[i] == 0x7f)
            return false;
    return true;
}

static bool heeder_has_told(const struct heeder *heeder, usec id)
{
    for (unsigned i = 0; i < TOLD_MOST; i++)
        if (heeder->told[i] == id)
            return true;
    return false;
}

/* `from`: the earliest time at which the master may have said that this much of its life is left.
 */
static bool heeder_wants(const struct engine *e, const struct heeder *heeder,
                         const struct said *said, usec from)
{
    usec age = MS(WISH_LIFE - said->remaining_ms);
    return slices_are_same(said->token, slice_of(heeder->token)) && words_are_good(said->value) &&
           !wish_is_ours(e, said->term) && !heeder_has_told(heeder, said->term) &&
           from - (age > 0 ? age : 0) >= heeder->since;
}

static struct wish *wish_find(const struct heeder *heeder, const struct said *said)
{
    struct wish *wish = heeder->known;
    while (wish && (wish->id != said->term ||
                    !slices_are_same((struct slice){wish->words, wish->length}, said->value)))
        wish = wish->next;
    return wish;
}

static void wish_drop(struct engine *e, struct heeder *heeder, struct wish **at)
{
    struct wish *wish = *at;
    *at = wish->next;
    if (heeder->last == &wish->next)
        heeder->last = at;
    e->memory.give(e->memory.pool, wish, sizeof *wish);
}

/* A vote of long ago must not meet one of now. */
static void heeder_drop_expired(struct engine *e, struct heeder *heeder)
{
    struct wish **at = &heeder->known;
    while (*at)
        if (!(*at)->untold && (*at)->until <= e->now)
            wish_drop(e, heeder, at);
        else
            at = &(*at)->next;
}

/* A master that tells of many, perhaps as it is wrong, takes only the place of its own: if it can,
 * of one that no other master tells. */
static void heeder_make_room(struct engine *e, struct heeder *heeder, unsigned master)
{
    struct wish **oldest = NULL, **alone = NULL;
    unsigned open = 0;
    for (struct wish **at = &heeder->known; *at; at = &(*at)->next) {
        if ((*at)->untold || (*at)->first != master)
            continue;
        open++;
        if (!oldest)
            oldest = at;
        if (!alone && (*at)->masters == 1U << master)
            alone = at;
    }
    if (open == OPEN_MOST)
        wish_drop(e, heeder, alone ? alone : oldest);
}

static bool heeder_has_room(const struct heeder *heeder)
{
    unsigned untold = 0;
    for (const struct wish *wish = heeder->known; wish; wish = wish->next)
        untold += wish->untold;
    return untold < UNTOLD_MOST;
}

/* NULL: there is no room. */
static struct wish *wish_new(struct engine *e, struct heeder *heeder, unsigned master,
                             const struct said *said)
{
    heeder_make_room(e, heeder, master);
    struct wish *wish =
        heeder_has_room(heeder) ? e->memory.take(e->memory.pool, sizeof *wish) : NULL;
    if (!wish)
        return NULL;
    *wish = (struct wish){.id = said->term,
                          .until = e->now + MS(WISH_LIFE),
                          .first = master,
                          .length = said->value.length};
    memcpy(wish->words, said->value.bytes, said->value.length);
    *heeder->last = wish;
    heeder->last = &wish->next;
    return wish;
}

static void heeder_take(struct engine *e, struct heeder *heeder, unsigned master,
                        const struct said *said, usec from)
{
    if (!heeder_wants(e, heeder, said, from))
        return;
    heeder_drop_expired(e, heeder);
    struct wish *wish = wish_find(heeder, said);
    if (!wish)
        wish = wish_new(e, heeder, master, said);
    if (!wish)
        return;
    wish->masters |= (uint16_t)(1U << master);
    unsigned waiting = (unsigned)(said->number - 1 < 1000000 ? said->number - 1 : 1000000);
    wish->waiting = waiting > wish->waiting ? waiting : wish->waiting;
    if ((unsigned)__builtin_popcount(wish->masters) <= e->config.spare)
        return;
    wish->untold = true;
    task_tell_news(e, &heeder->task);
}

/* ---- asking --------------------------------------------------------------------------- */

static void heeder_ask(struct engine *e, struct task *task, unsigned master, int64_t told_for_ms)
{
    task_send(e, task, master,
              &(struct request){.tag = {.kind = REQUEST_OBSERVE},
                                .ttl_ms = told_for_ms,
                                .channel = e->config.channel});
}

static void heeder_begin(struct engine *e, struct task *task)
{
    struct heeder *heeder = heeder_of(task);
    heeder->since = e->now;
    heeder->last = &heeder->known;
}

static void heeder_work(struct engine *e, struct task *task)
{
    struct heeder *heeder = heeder_of(task);
    usec next = NEVER;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (!master_is_up(&e->masters[i]) || task_is_asking(task, i))
            continue;
        if (e->now >= heeder->due[i])
            heeder_ask(e, task, i, TASK_TOLD_FOR);
        else if (heeder->due[i] < next)
            next = heeder->due[i];
    }
    subscription_keep(e);
    usec renews_at = taken_renew_when_due(e, &heeder->taken, heeder->token);
    task_wake_at(e, task, renews_at < next ? renews_at : next);
}

static void heeder_hear(struct engine *e, struct task *task, unsigned master,
                        const struct reply *reply)
{
    struct heeder *heeder = heeder_of(task);
    bool is_answer = reply->answer == ANSWER_YES || reply->answer == ANSWER_ABSENT;
    heeder->due[master] = e->now + (is_answer ? task_looks_after(e, master) : AFTER_ERROR);
    if (task_needs_text(task, master) || heeder->again >> master & 1)
        heeder->due[master] = 0;
    heeder->again &= (uint16_t) ~(1U << master);
    if (reply->answer == ANSWER_YES)
        heeder_take(e, heeder, master, &reply->said, reply->tag.sent_at);
}

static void heeder_forget(struct engine *e, struct task *task, unsigned master)
{
    (void)e;
    heeder_of(task)->due[master] = 0;
}

static void heeder_look(struct engine *e, struct task *task, unsigned master,
                        const struct said *said)
{
    struct heeder *heeder = heeder_of(task);
    if (said && taken_is_told(said, heeder->token))
        taken_note(&heeder->taken, master);
    else if (said)
        heeder_take(e, heeder, master, said, e->now);
    if (said)
        return;
    heeder->due[master] = 0;
    if (task_is_asking(task, master))
        heeder->again |= (uint16_t)(1U << master);
}

static void heeder_drop(struct engine *e, struct task *task)
{
    for (unsigned i = 0; i < e->config.masters && !task_looks_at(e, task->names); i++)
        if (master_is_up(&e->masters[i]))
            heeder_ask(e, task, i, 0);
}

/* ---- telling -------------------------------------------------------------------------- */

static bool heeder_tell(struct engine *e, struct task *task, struct task_news *news)
{
    struct heeder *heeder = heeder_of(task);
    struct wish **at = &heeder->known;
    while (*at && !(*at)->untold)
        at = &(*at)->next;
    if (!*at)
        return false;
    struct wish wish = **at;
    wish_drop(e, heeder, at);
    memcpy(heeder->telling, wish.words, wish.length);
    const char *space = memchr(heeder->telling, ' ', wish.length);
    size_t who = (size_t)(space - heeder->telling);
    heeder->told[heeder->next_told] = wish.id;
    heeder->next_told = (heeder->next_told + 1) % TOLD_MOST;
    news->heeder = (struct heeder_news){.who = {heeder->telling, who},
                                        .text = {space + 1, wish.length - who - 1},
                                        .waiting = wish.waiting};
    return true;
}

static void heeder_free(struct engine *e, struct task *task)
{
    struct heeder *heeder = heeder_of(task);
    while (heeder->known)
        wish_drop(e, heeder, &heeder->known);
}

/* Its lease goes on with the other engine, and its user has heard what the former one told. */
static bool heeder_inherit(struct engine *e, struct task *task, const struct task *former)
{
    (void)e;
    struct heeder *heeder = heeder_of(task);
    const struct heeder *was = (const struct heeder *)(const void *)former;
    memcpy(heeder->token, was->token, sizeof heeder->token);
    memcpy(heeder->told, was->told, sizeof heeder->told);
    heeder->next_told = was->next_told;
    return true;
}

static const struct task_kind HEEDER = {.size = sizeof(struct heeder),
                                        .each = sizeof(usec),
                                        .begin = heeder_begin,
                                        .work = heeder_work,
                                        .hear = heeder_hear,
                                        .forget = heeder_forget,
                                        .look = heeder_look,
                                        .inherit = heeder_inherit,
                                        .drop = heeder_drop,
                                        .free = heeder_free,
                                        .tell = heeder_tell};

struct task *heeder_new(struct engine *e, struct names *names, const struct lease *lease,
                        void *owner)
{
    struct task *task = task_new(e, &HEEDER, names, owner);
    if (task)
        lease_token(e, lease, heeder_of(task)->token);
    return task;
}
