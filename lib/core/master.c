#include "master.h"

#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "listening.h"
#include "logical.h"
#include "mutant.h"

#define PATIENCE_FLOOR       MS(50) /* the paper: tens of milliseconds for a ttl of 10 s */
#define PATIENCE_ROUND_TRIPS 4
#define ROUND_TRIP_FIRST     MS(250) /* at most; those that follow tell more */
#define STALL_PATIENCES      10      /* so long without any answer: the master hangs */
#define BACKOFF_FIRST        MS(20)
#define BACKOFF_LAST         MS(1000)
#define ASK_AGAIN            MS(1000) /* a master that may not grant: somebody may have adopted it */
#define ASK_ANYHOW           MS(60000) /* any master: clocks drift, longer ttls are told of */
#define STEP_LEAST                                                                                 \
    MS(250) /* a master's clock that gained more since hello was stepped, or ours stood still */
#define TIME_MOST (INT64_C(1) << 53)

bool master_is_up(const struct master *master)
{
    return master->state == MASTER_UP;
}

bool master_abstains(const struct engine *e, const struct master *master)
{
    return master_is_up(master) && e->now < master->abstains_until;
}

bool master_may_grant(const struct engine *e, const struct master *master)
{
    return master_is_up(master) && !master_abstains(e, master);
}

bool master_is_hopeful(const struct master *master)
{
    return master->failures == 0 && !master->refused &&
           (master->state == MASTER_CONNECTING || master->state == MASTER_PREPARING ||
            (master->state == MASTER_DOWN && master->tried));
}

static usec patience(const struct engine *e, const struct master *master)
{
    if (e->config.request_timeout)
        return e->config.request_timeout;
    usec trips = PATIENCE_ROUND_TRIPS * master->round_trip;
    return trips < PATIENCE_FLOOR ? PATIENCE_FLOOR : trips;
}

bool master_is_silent(const struct engine *e, const struct master *master)
{
    return master->in_flight && e->now >= master->progress_at + patience(e, master);
}

static usec stall(const struct engine *e, const struct master *master)
{
    return STALL_PATIENCES * patience(e, master);
}

usec master_overdue(const struct engine *e, const struct master *master, usec asked_at, usec ttl)
{
    usec heard_at = master->progress_at > asked_at ? master->progress_at : asked_at;
    usec overdue = heard_at + patience(e, master);
    usec latest = asked_at + (ttl ? ttl / 4 : stall(e, master));
    return overdue < latest ? overdue : latest;
}

static void set_trouble(struct master *master, const char *text)
{
    snprintf(master->trouble, sizeof master->trouble, "%s", text);
}

/* ---- connecting ---------------------------------------------------------- */

void master_start(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    master->state = MASTER_CONNECTING;
    master->connect_by = e->now + e->config.connect_timeout;
    e->counters.connects++;
    deadlines_set(&e->deadlines, &master->deadline, master->connect_by);
    engine_emit(e, EFFECT_CONNECT, index, NULL);
}

static void say_hello(struct engine *e, unsigned index, enum request_kind kind)
{
    e->masters[index].hello_asked = true;
    engine_send(e, index,
                &(struct request){.tag = {.kind = kind, .sent_at = e->now},
                                  .whole = true,
                                  .terms = {.max_ttl_ms = e->config.max_ttl_ms,
                                            .drift_ppm = e->config.drift_ppm,
                                            .skew_ms = e->config.skew_ms,
                                            .trust = e->config.trust_restarts}});
}

void master_connected(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    if (master->state != MASTER_CONNECTING)
        return;
    master->state = MASTER_PREPARING;
    master->round_trip = 0; /* by another way, perhaps */
    say_hello(e, index, REQUEST_HELLO);
}

static void leave(struct engine *e, unsigned index, const char *why)
{
    struct master *master = &e->masters[index];
    set_trouble(master, why);
    master->state = MASTER_LEAVING;
    master->failures++;
    deadlines_set(&e->deadlines, &master->deadline, NEVER);
    engine_emit(e, EFFECT_DISCONNECT, index, NULL);
}

static void remember_to_kill(struct master *master)
{
    if (!master->facts.client_id || !master->left_unanswered)
        return;
    memmove(&master->kills[1], &master->kills[0], sizeof master->kills - sizeof master->kills[0]);
    master->kills[0] = master->facts.client_id;
}

static usec backoff(struct engine *e, const struct master *master)
{
    if (master->failures == 0)
        return engine_jitter(e, 0, BACKOFF_FIRST / 2);
    usec delay = BACKOFF_FIRST << (master->failures < 7 ? master->failures - 1 : 6);
    if (delay > BACKOFF_LAST)
        delay = BACKOFF_LAST;
    return engine_jitter(e, delay / 2, delay);
}

void master_closed(struct engine *e, unsigned index, const char *why)
{
    struct master *master = &e->masters[index];
    if (why)
        set_trouble(master, why);
    if (master->state == MASTER_UP)
        e->counters.disconnects++;
    else if (master->state != MASTER_LEAVING)
        master->failures++;
    remember_to_kill(master);
    master->facts.client_id = 0;
    master->left_unanswered = false;
    master->state = MASTER_DOWN;
    master->hello_asked = false;
    master->tried = true;
    master->in_flight = 0;
    deadlines_set(&e->deadlines, &master->deadline, e->now + backoff(e, master));
    engine_emit(e, EFFECT_NOTICE, index, NULL);
    listening_lost(e, index);
    engine_master_down(e, index);
}

/* ---- preparing ----------------------------------------------------------- */

static unsigned same_as(const struct engine *e, unsigned index, const char *run_id)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *other = &e->masters[i];
        if (i != index && other->met && !other->refused && strcmp(other->facts.run_id, run_id) == 0)
            return i;
    }
    return index;
}

static void refuse(struct engine *e, unsigned index, enum cause cause, const char *why)
{
    e->masters[index].refused = cause;
    if (!e->ready_told)
        e->misconfigured = cause;
    leave(e, index, why);
}

static bool is_acceptable(struct engine *e, unsigned index, const struct hello *hello)
{
    if (strcmp(hello->role, "master") != 0) {
        refuse(e, index, CAUSE_REPLICA, "is a replica: list independent masters only");
        return false;
    }
    unsigned twin = same_as(e, index, hello->run_id);
    if (twin != index) {
        char why[SAYING_MAX];
        snprintf(why, sizeof why, "is the same server as master %u of the list: name each once",
                 twin + 1);
        refuse(e, index, CAUSE_SAME_MASTER, why);
        return false;
    }
    e->masters[index].refused = CAUSE_NONE;
    return true;
}

static void end_former_connections(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    for (unsigned i = 0; i < KILLS_MAX && !MUTANT(NO_KILL); i++)
        if (master->kills[i])
            engine_send(e, index,
                        &(struct request){.tag = {.kind = REQUEST_KILL, .sent_at = e->now},
                                          .kill_id = master->kills[i]});
}

/* A master may say what it likes: no sum with its numbers shall overflow. */
static int64_t believable(int64_t number, int64_t most)
{
    return number < 0 ? 0 : number > most ? most : number;
}

void master_set_clock(struct master *master, usec its, usec ours)
{
    master->offset = believable(its, TIME_MOST) - ours;
}

/* While leases are held, a master's clock that seems to have leapt ahead is not
 * believed here: if ours stood still (a frozen virtual machine), a quorum will call
 * the renewals late, and the leases are lost (lease.c). */
static void learn_clock(struct engine *e, struct master *master, usec its, usec ours)
{
    usec offset = believable(its, TIME_MOST) - ours;
    if (!master->met || !e->held.count || offset <= master->offset + STEP_LEAST)
        master_set_clock(master, its, ours);
    master->met = true;
}

/* Where its record knows of shorter ttls only, its quarantine is worked out here: it was told by
 * others, or has forgotten. */
static void reckon_quarantine(const struct engine *e, struct master *master)
{
    usec ttl = MS(e->max_ttl_ms), until = master->told_until;
    usec end =
        master->started + MS(e->config.skew_ms) + ttl + quorum_drift(ttl, e->config.drift_ppm);
    if (master->facts.max_ttl_ms < e->max_ttl_ms && end > until && !MUTANT(SHORT_TERMS))
        until = end;
    bool trust = e->config.trust_restarts || MUTANT(RESTART_IGNORED);
    master->abstains_until = until > e->now && !trust ? until : 0;
}

static void learn(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    const struct hello *hello = reply->hello;
    bool is_another = strcmp(master->facts.run_id, hello->run_id) != 0;
    if (is_another)
        memset(master->kills, 0, sizeof master->kills);
    int64_t client_id = hello->client_id ? hello->client_id : master->facts.client_id;
    master->facts = *hello;
    master->facts.client_id = client_id;
    /* One that speaks of more than any client may ask for lies: it shall not make the
     * others abstain so long. */
    if (hello->max_ttl_ms > TTL_MS_MOST)
        master->facts.max_ttl_ms = 0;
    learn_clock(e, master, hello->time, reply->tag.sent_at + (e->now - reply->tag.sent_at) / 2);
    master->told_until =
        e->now + believable(hello->abstains, TIME_MOST) / (MUTANT(QUARANTINE_SHORT) ? 2 : 1);
    master->started = e->now - believable(hello->age, TIME_MOST);
    reckon_quarantine(e, master);
    if (hello->clock)
        logical_hear(e, index, hello->clock);
    if (is_another)
        engine_master_replaced(e, index);
}

static void watch(struct engine *e, struct master *master)
{
    usec at = NEVER, again = e->now + ASK_ANYHOW;
    if (master->in_flight)
        at = master->progress_at + stall(e, master);
    if (master_abstains(e, master) && !master->hello_asked)
        again = e->now + ASK_AGAIN;
    if (master_abstains(e, master) && again > master->abstains_until)
        again = master->abstains_until;
    if (again < at)
        at = again;
    deadlines_set(&e->deadlines, &master->deadline, at);
}

static void come_up(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    master->state = MASTER_UP;
    master->failures = 0;
    master->tried = true;
    master->trouble[0] = '\0';
    end_former_connections(e, index);
    engine_emit(e, EFFECT_NOTICE, index, NULL);
}

static void hello_failed(struct engine *e, unsigned index, const char *text)
{
    struct master *master = &e->masters[index];
    if (master->state == MASTER_PREPARING) {
        leave(e, index, text);
    } else if (master->state == MASTER_UP) {
        watch(e, master);
    }
}

/* What one master alone says of long ttls is not believed, or a liar could silence all the
 * others; nor is it passed on to them. */
static void learn_longest_ttl(struct engine *e)
{
    int64_t told[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        told[i] = e->masters[i].facts.max_ttl_ms;
    int64_t longest = quorum_longest(told, e->config.masters);
    if (longest <= e->max_ttl_ms)
        return;
    e->max_ttl_ms = longest;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct master *master = &e->masters[i];
        bool abstained = master->abstains_until != 0;
        if (!master_is_up(master))
            continue;
        reckon_quarantine(e, master);
        watch(e, master);
        if (abstained != (master->abstains_until != 0))
            engine_emit(e, EFFECT_NOTICE, i, NULL);
    }
}

/* It has forgotten how long a ttl may be; another master may have been told of a
 * longer one since we last asked. */
static void ask_the_others(struct engine *e, unsigned index)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (i != index)
            master_look(e, i);
}

static void hear_hello(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    master->hello_asked = false;
    if (reply->answer != ANSWER_HELLO) {
        if (reply->answer == ANSWER_ERROR)
            hello_failed(e, index, reply->text);
        return;
    }
    if (master->state != MASTER_PREPARING && master->state != MASTER_UP)
        return;
    if (!is_acceptable(e, index, reply->hello))
        return;
    bool abstained = master->abstains_until != 0;
    bool news = !abstained || master->state == MASTER_PREPARING;
    learn(e, index, reply);
    if (master->state == MASTER_PREPARING)
        come_up(e, index);
    else if (abstained != (master->abstains_until != 0))
        engine_emit(e, EFFECT_NOTICE, index, NULL);
    if (news && master->abstains_until)
        ask_the_others(e, index);
    watch(e, master);
    learn_longest_ttl(e);
    engine_master_up(e, index);
}

static void hear_kill(struct engine *e, unsigned index, const struct reply *reply)
{
    /* Refused (an ACL may) counts as done too: asking again will not help. */
    int64_t *kills = e->masters[index].kills;
    for (unsigned i = 0; reply->answer != ANSWER_LOST && i < KILLS_MAX; i++) {
        if (!kills[i])
            continue;
        kills[i] = 0; /* they are answered in the order in which they were sent */
        return;
    }
}

void master_hear(struct engine *e, unsigned index, const struct reply *reply)
{
    if (reply->tag.kind == REQUEST_KILL)
        hear_kill(e, index, reply);
    else
        hear_hello(e, index, reply);
}

/* ---- watching ------------------------------------------------------------ */

void master_sent(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    if (master->in_flight++ == 0)
        master->progress_at = e->now;
    if (master_is_up(master))
        deadlines_at_latest(&e->deadlines, &master->deadline,
                            master->progress_at + stall(e, master));
}

/* What took so long that a master hangs tells nothing of how far it is: this process was stopped,
 * say. A hang would be noticed ever later after that. */
static void learn_round_trip(const struct engine *e, struct master *master, usec sample)
{
    if (!master->round_trip)
        master->round_trip = sample < ROUND_TRIP_FIRST ? sample : ROUND_TRIP_FIRST;
    else if (sample <= stall(e, master))
        master->round_trip += (sample - master->round_trip) / 8;
}

void master_answered(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    if (master->in_flight)
        master->in_flight--;
    if (reply->answer == ANSWER_LOST) {
        master->left_unanswered |= reply->tag.claim != NULL;
        return;
    }
    master->progress_at = e->now;
    learn_round_trip(e, master, e->now - reply->tag.sent_at);
    if (reply->answer == ANSWER_NO_CLOCK && !master->hello_asked)
        say_hello(e, index, REQUEST_HELLO);
}

static void watch_connecting(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    char why[SAYING_MAX];
    if (e->now < master->connect_by) {
        deadlines_set(&e->deadlines, &master->deadline, master->connect_by);
        return;
    }
    snprintf(why, sizeof why,
             master->state == MASTER_CONNECTING ? "no connection within %lld ms"
                                                : "connected, but no answer within %lld ms",
             (long long)e->config.connect_timeout / 1000);
    leave(e, index, why);
}

static void watch_up(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    if (master->in_flight && e->now >= master->progress_at + stall(e, master)) {
        char why[SAYING_MAX];
        snprintf(why, sizeof why, "hangs: no answer for %lld ms",
                 (long long)(e->now - master->progress_at) / 1000);
        leave(e, index, why);
        return;
    }
    if (master->abstains_until)
        master_look(e, index);
    watch(e, master);
}

void master_wake(struct engine *e, unsigned index)
{
    switch (e->masters[index].state) {
    case MASTER_DOWN:
        if (!e->closed_told)
            master_start(e, index);
        break;
    case MASTER_CONNECTING:
    case MASTER_PREPARING:
        watch_connecting(e, index);
        break;
    case MASTER_UP:
        watch_up(e, index);
        break;
    default:
        break;
    }
}

void master_look(struct engine *e, unsigned index)
{
    if (master_is_up(&e->masters[index]) && !e->masters[index].hello_asked)
        say_hello(e, index, REQUEST_HELLO);
}

void master_adopt(struct engine *e, unsigned index)
{
    if (master_is_up(&e->masters[index]))
        say_hello(e, index, REQUEST_ADOPT);
}
