#include "masters/master_parts.h"

#include <stdio.h>
#include <string.h>

#include "ground/quorum.h"
#include "ground/sanity.h"
#include "ground/shared.h"
#include "masters/agreement.h"

#define TIMEOUT_LEAST       MS(50) /* the paper says tens of milliseconds, for a ttl of 10 s */
#define TIMEOUT_ROUND_TRIPS 4
#define LOOK_TIMEOUTS       4
#define ROUND_TRIP_FIRST    MS(250) /* the first sample counts as no more; later ones tell better */
#define STALL_TIMEOUTS      10      /* without any answer for that long a master hangs */
#define BACKOFF_FIRST       MS(20)
#define BACKOFF_LAST        MS(1000)
#define BRIEF               MS(1000)
#define GIVE_UP_AFTER       MS(500) /* closing: some six attempts that are refused, or two that hang */
#define ASK_AGAIN           MS(1000) /* a master that may not grant: an operator may have adopted it */
#define ASK_ANYHOW          MS(60000) /* any master: clocks drift, and longer ttls come into use */
#define ASK_SPREAD          (ASK_ANYHOW / 10)
#define ASK_SOON            MS(10000) /* lists differ; or ours was said before the processes were known */
#define ASK_TO_SHOW         MS(5000) /* who only looks shows it to people */

bool master_abstains(const struct engine *e, const struct master *master)
{
    return master_is_up(master) && e->now < master->abstains_until;
}

int64_t master_abstains_ms(const struct engine *e, const struct master *master)
{
    return (master->abstains_until - e->now + 999) / 1000;
}

bool master_may_grant(const struct engine *e, const struct master *master)
{
    return master_is_up(master) && !master_abstains(e, master) && !master->over;
}

bool master_is_connecting(const struct master *master)
{
    return master->failures == 0 && !master->refused &&
           (master->state == MASTER_CONNECTING || master->state == MASTER_PREPARING ||
            (master->state == MASTER_DOWN && master->tried));
}

static usec answer_timeout(const struct engine *e, const struct master *master)
{
    if (e->config.request_timeout)
        return e->config.request_timeout;
    usec trips = TIMEOUT_ROUND_TRIPS * master->round_trip;
    return trips < TIMEOUT_LEAST ? TIMEOUT_LEAST : trips;
}

bool master_is_silent(const struct engine *e, const struct master *master)
{
    return master->in_flight && e->now >= master->progress_at + answer_timeout(e, master);
}

bool masters_have_room(const struct engine *e, unsigned requests)
{
    unsigned ready = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        ready += master_may_grant(e, &e->masters[i]) && master_has_room(&e->masters[i], requests);
    return ready >= e->quorum;
}

usec master_quorum_trip(const struct engine *e)
{
    usec trips[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        trips[i] = e->masters[i].round_trip;
    return quorum_ranked(trips, e->config.masters, e->quorum);
}

static usec stall(const struct engine *e, const struct master *master)
{
    return STALL_TIMEOUTS * answer_timeout(e, master);
}

/* A look has no ttl that runs, and may cost a master much. */
static unsigned look_timeouts(const struct engine *e)
{
    return e->config.request_timeout ? 1 : LOOK_TIMEOUTS;
}

usec master_overdue(const struct engine *e, const struct master *master, usec asked_at, usec ttl,
                    bool longer)
{
    ASSERT(asked_at <= e->now && ttl >= 0);
    usec heard_at = master->progress_at > asked_at ? master->progress_at : asked_at;
    usec overdue = heard_at + answer_timeout(e, master) * (longer || !ttl ? look_timeouts(e) : 1);
    usec latest = asked_at + (ttl ? ttl / 4 : stall(e, master));
    return overdue < latest ? overdue : latest;
}

static inline void send_request(struct engine *e, unsigned index, const struct request *request)
{
    struct master *master = &e->masters[index];
    ASSERT(master_is_up(master) || request->tag.kind == REQUEST_HELLO);
    ASSERT(master_is_up(master) || master->state == MASTER_PREPARING);
    if (master->in_flight++ == 0)
        master->progress_at = e->now;
    if (master_is_up(master))
        deadlines_at_latest(&e->deadlines, &master->deadline,
                            master->progress_at + stall(e, master));
    e->sink.emit(e->sink.shell,
                 &(struct effect){.kind = EFFECT_SEND, .master = index, .request = request});
}

void master_agree(struct engine *e, unsigned index, bool whole)
{
    struct master *master = &e->masters[index];
    if (!e->config.fleet || !master_is_up(master) || master->agree_round)
        return;
    master->agree_round = engine_next_round(e);
    master->agree_whole = whole;
    send_request(
        e, index,
        &(struct request){
            .tag = {.kind = REQUEST_AGREE, .round = master->agree_round, .sent_at = e->now},
            .whole = whole,
            .agree = agreement_say(e, index)});
}

static void agree_all(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        master_agree(e, i, false);
}

void master_judge_list(struct engine *e)
{
    if (!agreement_judge(e) || e->differs)
        return;
    for (unsigned i = 0; i < e->config.masters; i++)
        agreement_expire(e, i); /* these words came while we said nothing */
    agree_all(e);
}

void master_take_back(struct engine *e)
{
    if (!agreement_is_over(e))
        return;
    for (unsigned i = 0; i < e->config.masters; i++)
        agreement_forget(e, i);
    agree_all(e);
}

void master_send(struct engine *e, unsigned index, const struct request *request)
{
    if (agreement_is_due(e) && request_sets_token(request->tag.kind))
        agree_all(e); /* after a sleep our list may be forgotten, and another one in use */
    send_request(e, index, request);
}

static void set_trouble(struct master *master, const char *text)
{
    snprintf(master->trouble, sizeof master->trouble, "%s", text);
}

/* ---- connecting ---------------------------------------------------------- */

void master_start(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    ASSERT(master->state == MASTER_DOWN && !master->in_flight);
    master->state = MASTER_CONNECTING;
    master->hello_whole = false;
    master->connect_by = e->now + e->config.connect_timeout;
    e->counters.connects++;
    deadlines_set(&e->deadlines, &master->deadline, master->connect_by);
    engine_emit(e, EFFECT_CONNECT, index, NULL);
}

/* A master's record keeps the longest ttl that clients send; of 0 it writes nothing. */
static int64_t told_ttl_ms(const struct engine *e)
{
    return e->config.looks_only ? 0 : e->config.max_ttl_ms;
}

static void ask_kind_of_hello(struct engine *e, unsigned index, enum request_kind kind, bool whole)
{
    e->masters[index].hello_asked = true;
    e->masters[index].hello_at = e->now;
    master_send(e, index,
                &(struct request){.tag = {.kind = kind, .sent_at = e->now},
                                  .whole = whole,
                                  .terms = {.max_ttl_ms = told_ttl_ms(e),
                                            .drift_ppm = e->config.drift_ppm,
                                            .skew_ms = e->config.skew_ms,
                                            .trust = e->config.trust_restarts,
                                            .other_ago = entries_other_ago(e, index)}});
}

void master_say_hello(struct engine *e, unsigned index, bool whole)
{
    e->masters[index].hello_whole = whole;
    ask_kind_of_hello(e, index, REQUEST_HELLO, whole);
}

void master_connected(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    if (master->state != MASTER_CONNECTING)
        return;
    master->state = MASTER_PREPARING;
    master->round_trip = 0; /* the way may be another one */
    master_say_hello(e, index, false);
}

/* One attempt may fail for many reasons; those of a master that is there do not last. */
static void note_closing(const struct engine *e, struct master *master)
{
    if (!e->closing || master_is_up(master))
        return;
    if (!master->vain_since)
        master->vain_since = e->now;
    master->given_up |= e->now >= master->vain_since + GIVE_UP_AFTER;
}

static void count_failure(struct engine *e, struct master *master)
{
    note_closing(e, master);
    master->failures++;
    entries_forgive(e, master);
}

void master_leave(struct engine *e, unsigned index, const char *why)
{
    struct master *master = &e->masters[index];
    ASSERT(master->state != MASTER_DOWN && master->state != MASTER_LEAVING);
    set_trouble(master, why);
    count_failure(e, master);
    master->state = MASTER_LEAVING;
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
    unsigned vain = master->failures + (master->brief ? master->brief - 1 : 0);
    if (vain == 0)
        return engine_jitter(e, 0, BACKOFF_FIRST / 2);
    usec delay = BACKOFF_FIRST << (vain < 7 ? vain - 1 : 6);
    if (delay > BACKOFF_LAST)
        delay = BACKOFF_LAST;
    return engine_jitter(e, delay / 2, delay);
}

/* A master that comes up and ends its connection again and again is asked ever later: each hello
 * may be news for the other masters. */
static void count_brief(struct engine *e, struct master *master)
{
    bool is_brief = e->now < master->up_since + BRIEF;
    master->brief = is_brief ? master->brief + 1 : 0;
    e->counters.disconnects++;
}

void master_closed(struct engine *e, unsigned index, const char *why)
{
    struct master *master = &e->masters[index];
    ASSERT(master->state != MASTER_DOWN && !master->in_flight);
    if (why)
        set_trouble(master, why);
    if (master->state == MASTER_UP)
        count_brief(e, master);
    else if (master->state != MASTER_LEAVING)
        count_failure(e, master);
    remember_to_kill(master);
    agreement_forget(e, index);
    master->facts.client_id = 0;
    master->facts.max_ttl_ms = 0;
    master->clock = 0;
    master->heard = false;
    master->left_unanswered = false;
    master->state = MASTER_DOWN;
    master->hello_asked = false;
    master->tried = true;
    master->in_flight = 0;
    master_judge_list(e);
    deadlines_set(&e->deadlines, &master->deadline, e->now + backoff(e, master));
    engine_emit(e, EFFECT_NOTICE, index, NULL);
}

/* ---- up ----------------------------------------------------------------- */

static void end_former_connections(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    for (unsigned i = 0; i < KILLS_MAX; i++)
        if (master->kills[i])
            master_send(e, index,
                        &(struct request){.tag = {.kind = REQUEST_KILL, .sent_at = e->now},
                                          .kill_id = master->kills[i]});
}

/* Clients that came back together, as after a restart, would else make the master late each minute:
 * a hello costs it as much as several grants. */
static usec ask_anyhow_at(const struct engine *e, const struct master *master)
{
    bool is_first = e->config.fleet && master->hello_at <= master->up_since;
    if (e->config.fleet && e->config.looks_only)
        return master->hello_at + ASK_TO_SHOW;
    if (is_first || e->differs || master->over)
        return master->hello_at + ASK_SOON;
    return master->hello_at + ASK_ANYHOW - e->phase % ASK_SPREAD;
}

void master_watch(struct engine *e, struct master *master)
{
    usec at = NEVER, again = NEVER;
    ASSERT(master_is_up(master));
    if (master->in_flight)
        at = master->progress_at + stall(e, master);
    if (!master->hello_asked)
        again = master_abstains(e, master) ? e->now + ASK_AGAIN : ask_anyhow_at(e, master);
    if (master_abstains(e, master) && again > master->abstains_until)
        again = master->abstains_until;
    if (again < at)
        at = again;
    deadlines_set(&e->deadlines, &master->deadline, at);
}

void master_come_up(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    ASSERT(master->state == MASTER_PREPARING && master->met);
    master->state = MASTER_UP;
    master->up_since = e->now;
    master->failures = 0;
    master->given_up = false;
    master->vain_since = 0;
    master->tried = true;
    master->trouble[0] = '\0';
    entries_judge(e);
    agreement_forget(e, index);
    master_agree(e, index, false);
    end_former_connections(e, index);
    engine_emit(e, EFFECT_NOTICE, index, NULL);
}

void master_end_kill(struct engine *e, unsigned index, const struct reply *reply)
{
    /* A refusal (by an ACL, say) counts as done: asking again will not help. */
    int64_t *kills = e->masters[index].kills;
    for (unsigned i = 0; reply->answer != ANSWER_LOST && i < KILLS_MAX; i++) {
        if (!kills[i])
            continue;
        kills[i] = 0; /* answers come in the order of the requests */
        return;
    }
}

/* ---- watching ------------------------------------------------------------ */

/* A round trip that is as long as a hang says nothing about the distance: this process was stopped,
 * say.  If it counted, hangs would be noticed ever later. */
static void learn_round_trip(const struct engine *e, struct master *master, usec sample)
{
    ASSERT(sample >= 0);
    if (!master->round_trip)
        master->round_trip = sample < ROUND_TRIP_FIRST ? sample : ROUND_TRIP_FIRST;
    else if (sample <= stall(e, master))
        master->round_trip += (sample - master->round_trip) / 8;
}

void master_answered(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    ASSERT(master->in_flight > 0);
    ASSERT(reply->tag.sent_at <= e->now);
    if (master->in_flight)
        master->in_flight--;
    if (reply->answer == ANSWER_LOST) {
        master->left_unanswered |= reply->tag.claim != NULL || request_is_of_task(reply->tag.kind);
        return;
    }
    master->progress_at = e->now;
    if (reply->tag.kind != REQUEST_HELLO && reply->tag.kind != REQUEST_ADOPT)
        master->lived_at = reply->tag.sent_at;
    learn_round_trip(e, master, e->now - reply->tag.sent_at);
    if (reply->answer == ANSWER_NO_CLOCK && !master->hello_asked)
        master_say_hello(e, index, false);
}

static void watch_connecting(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    char why[VOTE_TEXT_MAX];
    if (e->now < master->connect_by) {
        deadlines_set(&e->deadlines, &master->deadline, master->connect_by);
        return;
    }
    bool whole = master->hello_whole;
    snprintf(why, sizeof why,
             master->state == MASTER_CONNECTING ? "no connection within %lld ms"
             : whole ? "connected, but it has not taken the scripts within %lld ms"
                     : "connected, but no answer within %lld ms",
             (long long)e->config.connect_timeout * (whole ? 1 + SCRIPTS_TIMEOUTS : 1) / 1000);
    master_leave(e, index, why);
}

static void watch_up(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    if (master->in_flight && e->now >= master->progress_at + stall(e, master)) {
        char why[VOTE_TEXT_MAX];
        snprintf(why, sizeof why, "hangs: no answer for %lld ms",
                 (long long)(e->now - master->progress_at) / 1000);
        master_leave(e, index, why);
        return;
    }
    if (master->abstains_until || e->now >= ask_anyhow_at(e, master))
        master_look(e, index);
    master_watch(e, master);
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

void master_hurry(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    if (master->failures > 1)
        master->failures = 1;
    if (master->state == MASTER_DOWN)
        deadlines_set(&e->deadlines, &master->deadline, e->now);
}

void master_look(struct engine *e, unsigned index)
{
    if (master_is_up(&e->masters[index]) && !e->masters[index].hello_asked)
        master_say_hello(e, index, false);
}

void master_adopt(struct engine *e, unsigned index)
{
    if (master_is_up(&e->masters[index]))
        ask_kind_of_hello(e, index, REQUEST_ADOPT, true);
}
