#include "masters/master.h"

#include <stdio.h>
#include <string.h>

#include "masters/logical.h"
#include "ground/mutant.h"
#include "ground/quorum.h"
#include "ground/sanity.h"
#include "ground/shared.h"

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
#define UPTIME_MOST         (INT64_C(1) << 32) /* s */
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

int64_t master_abstains_ms(const struct engine *e, const struct master *master)
{
    return (master->abstains_until - e->now + 999) / 1000;
}

bool master_may_grant(const struct engine *e, const struct master *master)
{
    return master_is_up(master) && !master_abstains(e, master);
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

/* What looks has no ttl that runs, and may be dear. */
static unsigned look_timeouts(const struct engine *e)
{
    return e->config.request_timeout ? 1 : LOOK_TIMEOUTS;
}

usec master_overdue(const struct engine *e, const struct master *master, usec asked_at, usec ttl)
{
    ASSERT(asked_at <= e->now && ttl >= 0);
    usec heard_at = master->progress_at > asked_at ? master->progress_at : asked_at;
    usec overdue = heard_at + answer_timeout(e, master) * (ttl ? 1 : look_timeouts(e));
    usec latest = asked_at + (ttl ? ttl / 4 : stall(e, master));
    return overdue < latest ? overdue : latest;
}

void master_send(struct engine *e, unsigned index, const struct request *request)
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
    master->connect_by = e->now + e->config.connect_timeout;
    e->counters.connects++;
    deadlines_set(&e->deadlines, &master->deadline, master->connect_by);
    engine_emit(e, EFFECT_CONNECT, index, NULL);
}

/* A master's record keeps the longest ttl that it is told; of 0 it writes nothing. */
static int64_t told_ttl_ms(const struct engine *e)
{
    return e->config.looks_only ? 0 : e->config.max_ttl_ms;
}

static void ask_kind_of_hello(struct engine *e, unsigned index, enum request_kind kind, bool whole)
{
    e->masters[index].hello_asked = true;
    master_send(e, index,
                &(struct request){.tag = {.kind = kind, .sent_at = e->now},
                                  .whole = whole,
                                  .terms = {.max_ttl_ms = told_ttl_ms(e),
                                            .drift_ppm = e->config.drift_ppm,
                                            .skew_ms = e->config.skew_ms,
                                            .trust = e->config.trust_restarts}});
}

static void say_hello(struct engine *e, unsigned index, bool whole)
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
    say_hello(e, index, false);
}

/* No quorum is possible without the wrong entries.  If one was there before, the list was right,
 * and what is wrong now is the masters': they are waited for. */
static void judge_list(struct engine *e)
{
    unsigned wrong = 0, up = 0;
    enum cause cause = CAUSE_NONE;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        up += master_is_up(master);
        wrong += master->refused != CAUSE_NONE;
        cause = cause ? cause : master->refused;
    }
    e->had_quorum |= up >= e->quorum;
    bool none_is_left = wrong > e->config.masters - e->quorum;
    e->misconfigured = none_is_left && !e->had_quorum ? cause : CAUSE_NONE;
}

/* What cannot be asked any more may be right when it can. */
static void may_be_right(struct engine *e, struct master *master)
{
    master->refused = CAUSE_NONE;
    judge_list(e);
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
    may_be_right(e, master);
}

static void leave(struct engine *e, unsigned index, const char *why)
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
    master->facts.client_id = 0;
    master->facts.max_ttl_ms = 0;
    master->clock = 0;
    master->heard = false;
    master->left_unanswered = false;
    master->state = MASTER_DOWN;
    master->hello_asked = false;
    master->tried = true;
    master->in_flight = 0;
    deadlines_set(&e->deadlines, &master->deadline, e->now + backoff(e, master));
    engine_emit(e, EFFECT_NOTICE, index, NULL);
}

/* ---- preparing ----------------------------------------------------------- */

/* A master may tell any number: no sum with it may overflow. */
static int64_t believable(int64_t number, int64_t most)
{
    return number < 0 ? 0 : number > most ? most : number;
}

/* Whatever a process has promised is over so long after it was asked. */
static usec promises_last(const struct engine *e)
{
    usec longest = MS(e->config.max_ttl_ms);
    return longest + quorum_drift(longest, e->config.drift_ppm);
}

/* The process answers at this entry, or what it promised there may still count. */
static bool has_vote_of(const struct engine *e, const struct master *master, const char *run_id)
{
    usec until = master_is_up(master) ? NEVER : master->lived_at + promises_last(e);
    bool is_it = master->met && strcmp(master->facts.run_id, run_id) == 0 && e->now < until;
    return is_it || (e->now < master->former_until && strcmp(master->former, run_id) == 0);
}

static unsigned same_as(const struct engine *e, unsigned index, const char *run_id)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (i != index && has_vote_of(e, &e->masters[i], run_id))
            return i;
    return index;
}

/* Another process than before, on the same connection, or it had begun before that one answered for
 * the last time: it is no restart.  Uptime is cut to seconds at both ends. */
static bool is_beside(const struct engine *e, const struct master *master,
                      const struct hello *hello)
{
    usec uptime = MS(1000 * (believable(hello->uptime_s, UPTIME_MOST) - 1));
    if (!master->met || strcmp(master->facts.run_id, hello->run_id) == 0)
        return false;
    if (master->heard || uptime <= 0)
        return master->heard;
    return e->now - (uptime - quorum_drift(uptime, e->config.drift_ppm)) < master->lived_at;
}

static void note_several(struct engine *e, struct master *master, const char *run_id)
{
    memcpy(master->answered_by, run_id, strlen(run_id) + 1);
    master->several_until = e->now + promises_last(e);
}

/* From when another process has answered beside the one that voted, until only one has for so long
 * that nothing counts that another one promised. */
static bool are_several(struct engine *e, struct master *master, const struct hello *hello)
{
    bool is_other = strcmp(master->answered_by, hello->run_id) != 0;
    if (master->several_until ? is_other : is_beside(e, master, hello))
        note_several(e, master, hello->run_id);
    if (e->now >= master->several_until)
        master->several_until = 0;
    return master->several_until != 0;
}

/* It counts as a master that is down: others may be enough. */
static void refuse(struct engine *e, unsigned index, enum cause cause, const char *why)
{
    leave(e, index, why);
    e->masters[index].refused = cause;
    judge_list(e);
}

static void refuse_several(struct engine *e, unsigned index)
{
    char why[VOTE_TEXT_MAX];
    snprintf(why, sizeof why,
             "is an address of several servers: list each master, and no balancer; "
             "one that answers alone for %lld s votes",
             (long long)(promises_last(e) + MS(1000) - 1) / MS(1000));
    refuse(e, index, CAUSE_NO_MASTER, why);
}

static void refuse_role(struct engine *e, unsigned index, const char *role)
{
    if (strcmp(role, "cluster") == 0)
        refuse(e, index, CAUSE_NO_MASTER, "is in cluster mode: list independent masters only");
    else
        refuse(e, index, CAUSE_REPLICA, "is a replica: list independent masters only");
}

static void refuse_twin(struct engine *e, unsigned index, unsigned twin)
{
    char why[VOTE_TEXT_MAX];
    snprintf(why, sizeof why, "is the same server as master %u of the list: name each once",
             twin + 1);
    refuse(e, index, CAUSE_SAME_MASTER, why);
}

static bool is_acceptable(struct engine *e, unsigned index, const struct hello *hello)
{
    struct master *master = &e->masters[index];
    if (strcmp(hello->role, "master") != 0) {
        refuse_role(e, index, hello->role);
        return false;
    }
    if (are_several(e, master, hello)) {
        refuse_several(e, index);
        return false;
    }
    unsigned twin = same_as(e, index, hello->run_id);
    if (twin != index) {
        refuse_twin(e, index, twin);
        return false;
    }
    master->refused = CAUSE_NONE;
    return true;
}

static void end_former_connections(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    for (unsigned i = 0; i < KILLS_MAX && !MUTANT(NO_KILL); i++)
        if (master->kills[i])
            master_send(e, index,
                        &(struct request){.tag = {.kind = REQUEST_KILL, .sent_at = e->now},
                                          .kill_id = master->kills[i]});
}

void master_set_clock(struct master *master, usec its, usec ours)
{
    master->offset = believable(its, TIME_MOST) - ours;
}

/* While leases are held, a master's clock that seems to have leapt ahead is not believed here.  If
 * our own clock stood still (a frozen virtual machine), a quorum will call the renewals late, and
 * the leases are lost. */
static void learn_clock(struct engine *e, struct master *master, usec its, usec ours)
{
    usec offset = believable(its, TIME_MOST) - ours;
    if (!master->met || !e->held.count || offset <= master->offset + STEP_LEAST)
        master_set_clock(master, its, ours);
    master->met = master->heard = true;
}

/* The quarantine is worked out here where the master's record knows shorter ttls only: other
 * clients told them, or the master has forgotten. */
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

/* What the process has promised counts on.  Of two, the former one is kept: the one after it was
 * young, and abstained. */
static void remember_former(const struct engine *e, struct master *master)
{
    if (!master->met || e->now < master->former_until)
        return;
    memcpy(master->former, master->facts.run_id, sizeof master->former);
    master->former_until = master->lived_at + promises_last(e);
}

static void forget_process(const struct engine *e, struct master *master)
{
    memset(master->kills, 0, sizeof master->kills);
    master->subscription.run_id[0] = '\0'; /* it was of the former process */
    remember_former(e, master);
}

static enum master_news learn(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    const struct hello *hello = reply->hello;
    ASSERT(hello && hello->run_id[0]);
    bool is_another = strcmp(master->facts.run_id, hello->run_id) != 0;
    if (is_another)
        forget_process(e, master);
    master->lived_at = reply->tag.sent_at;
    int64_t client_id = hello->client_id ? hello->client_id : master->facts.client_id;
    master->facts = *hello;
    master->facts.client_id = client_id;
    /* A master that tells a longer ttl than any client may ask for lies: the other masters must not
     * abstain for that long. */
    if (hello->max_ttl_ms > TTL_MS_MOST)
        master->facts.max_ttl_ms = 0;
    learn_clock(e, master, hello->time, reply->tag.sent_at + (e->now - reply->tag.sent_at) / 2);
    master->told_until =
        e->now + believable(hello->abstains, TIME_MOST) / (MUTANT(QUARANTINE_SHORT) ? 2 : 1);
    master->started = e->now - believable(hello->age, TIME_MOST);
    reckon_quarantine(e, master);
    if (hello->clock)
        logical_hear(e, index, hello->clock);
    return is_another ? MASTER_IS_ANOTHER : MASTER_ANSWERED;
}

static void watch(struct engine *e, struct master *master)
{
    usec at = NEVER, again = e->now + ASK_ANYHOW;
    ASSERT(master_is_up(master));
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
    ASSERT(master->state == MASTER_PREPARING && master->met);
    master->state = MASTER_UP;
    master->up_since = e->now;
    master->failures = 0;
    master->given_up = false;
    master->vain_since = 0;
    master->tried = true;
    master->trouble[0] = '\0';
    judge_list(e);
    end_former_connections(e, index);
    engine_emit(e, EFFECT_NOTICE, index, NULL);
}

static void hello_failed(struct engine *e, unsigned index, const char *text)
{
    struct master *master = &e->masters[index];
    if (master->state == MASTER_PREPARING)
        leave(e, index, text);
    else if (master->state == MASTER_UP)
        watch(e, master);
}

/* The word of one master about long ttls, or of as many as may be wrong, is neither believed nor
 * passed on: it could silence all the other masters. */
static void learn_longest_ttl(struct engine *e)
{
    int64_t told[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        told[i] = e->masters[i].facts.max_ttl_ms;
    int64_t longest = quorum_longest(told, e->config.masters, e->config.spare);
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

/* The master has forgotten how long a ttl may be; another one may have been told a longer ttl since
 * it was last asked. */
static void ask_the_others(struct engine *e, unsigned index)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (i != index)
            master_look(e, i);
}

static bool is_greeted(const struct master *master)
{
    return master->state == MASTER_PREPARING || master->state == MASTER_UP;
}

/* A master that lacks the first script may lack all. */
static void hear_no_hello(struct engine *e, unsigned index, const struct reply *reply)
{
    const struct master *master = &e->masters[index];
    if (reply->answer == ANSWER_NOSCRIPT && is_greeted(master) && !master->hello_whole)
        say_hello(e, index, true);
    else if (reply->answer == ANSWER_NOSCRIPT || reply->answer == ANSWER_ERROR)
        hello_failed(e, index, reply->text.bytes);
}

/* The process that answers is the same as before, and the subscription is to another one. */
static bool is_subscribed_beside(const struct master *master, const struct hello *hello)
{
    const char *publishes = master->subscription.run_id;
    return publishes[0] && strcmp(publishes, hello->run_id) != 0 &&
           strcmp(master->facts.run_id, hello->run_id) == 0;
}

static enum master_news hear_hello(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    master->hello_asked = false;
    if (reply->answer != ANSWER_HELLO) {
        hear_no_hello(e, index, reply);
        return MASTER_NO_NEWS;
    }
    if (!is_greeted(master))
        return MASTER_NO_NEWS;
    if (!is_acceptable(e, index, reply->hello))
        return MASTER_NO_NEWS;
    bool beside = is_subscribed_beside(master, reply->hello);
    if (beside && reply->tag.sent_at >= master->subscription.begun_at) {
        note_several(e, master, master->subscription.run_id);
        refuse_several(e, index);
        return MASTER_NO_NEWS;
    }
    bool abstained = master->abstains_until != 0;
    bool is_new = !abstained || master->state == MASTER_PREPARING;
    enum master_news news = learn(e, index, reply);
    if (master->state == MASTER_PREPARING)
        come_up(e, index);
    else if (abstained != (master->abstains_until != 0))
        engine_emit(e, EFFECT_NOTICE, index, NULL);
    if (is_new && master->abstains_until)
        ask_the_others(e, index);
    watch(e, master);
    learn_longest_ttl(e);
    if (beside) /* it was asked before */
        master_look(e, index);
    return news;
}

static void hear_kill(struct engine *e, unsigned index, const struct reply *reply)
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

enum master_news master_hear(struct engine *e, unsigned index, const struct reply *reply)
{
    if (reply->tag.kind != REQUEST_KILL)
        return hear_hello(e, index, reply);
    hear_kill(e, index, reply);
    return MASTER_NO_NEWS;
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
        say_hello(e, index, false);
}

static void watch_connecting(struct engine *e, unsigned index)
{
    struct master *master = &e->masters[index];
    char why[VOTE_TEXT_MAX];
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
        char why[VOTE_TEXT_MAX];
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
        say_hello(e, index, false);
}

void master_adopt(struct engine *e, unsigned index)
{
    if (master_is_up(&e->masters[index]))
        ask_kind_of_hello(e, index, REQUEST_ADOPT, true);
}
