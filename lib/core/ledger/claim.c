#include "ledger/claim.h"

#include <string.h>

#include "masters/master.h"
#include "ground/quorum.h"
#include "ground/sanity.h"
#include "ground/shared.h"
#include "ground/token.h"

#define RELEASE_AGAIN MS(200) /* after a master answered a release with an error */
#define LOOK_AGAIN    MS(200) /* at claims without a deadline of their own */
#define END_SLACK     MS(500) /* a request may wait on a stalled link before it is carried out */

static size_t size_of_claim(const struct engine *e, size_t token_length)
{
    return sizeof(struct claim) + e->config.masters * sizeof(struct ledger_entry) + token_length;
}

static char *token_of_claim(const struct engine *e, const struct claim *claim)
{
    return (char *)&claim->at[e->config.masters];
}

/* The end of the token, which is kept once for all tokens of ours. */
static struct slice label_of(const struct engine *e, const struct claim *claim)
{
    return claim->foreign ? (struct slice){"", 0} : (struct slice){e->label, e->label_length};
}

bool claim_new(struct engine *e, struct claim **home, struct names *names, const char *token,
               size_t token_length)
{
    size_t length = token ? token_length : TOKEN_TEXT;
    ASSERT(names && length <= TOKEN_MAX);
    struct claim *claim = e->memory.take(e->memory.pool, size_of_claim(e, length));
    *home = claim;
    if (!claim)
        return false;
    claim->home = home;
    claim->deadline.owner = OWNER_CLAIM;
    claim->names = names_share(names);
    claim->token_length = length;
    if (token) {
        claim->foreign = claim->not_held = true;
        memcpy(token_of_claim(e, claim), token, length);
        for (unsigned i = 0; i < e->config.masters; i++)
            claim->at[i].presence = UNSURE;
    }
    return true;
}

void claim_pass(struct claim **from, struct claim **to)
{
    ASSERT(*from && (*from)->home == from && !*to);
    *to = *from;
    (*to)->home = to;
    *from = NULL;
}

void claim_fresh_token(struct engine *e, struct claim *claim)
{
    ASSERT(!claim->abandoned && !claim->foreign && !claim->in_flight);
    token_draw(e, token_of_claim(e, claim));
}

void claim_copy_token(const struct engine *e, struct claim *claim, const struct claim *from)
{
    memcpy(token_of_claim(e, claim), token_of_claim(e, from), TOKEN_TEXT);
}

/* ---- enqueued -------------------------------------------------------------- */

static unsigned bucket_of_token(const char *token)
{
    unsigned hash = (unsigned char)token[0] * 8U ^ (unsigned char)token[1];
    return hash % CLAIM_BUCKETS;
}

void claim_enqueue(struct engine *e, struct claim *claim)
{
    ASSERT(!claim->enqueued && !claim->abandoned && claim->home);
    struct claim **bucket = &e->enqueued[bucket_of_token(token_of_claim(e, claim))];
    claim->enqueued = true;
    claim->next = *bucket;
    if (claim->next)
        claim->next->prev = claim;
    *bucket = claim;
}

static void leave_bucket(struct engine *e, struct claim *claim)
{
    if (!claim->enqueued || claim->abandoned)
        return;
    if (claim->prev)
        claim->prev->next = claim->next;
    else
        e->enqueued[bucket_of_token(token_of_claim(e, claim))] = claim->next;
    if (claim->next)
        claim->next->prev = claim->prev;
    claim->prev = claim->next = NULL;
}

/* The random part alone tells tokens apart. */
struct claim *claim_enqueued(const struct engine *e, struct slice token)
{
    if (token.length < TOKEN_TEXT)
        return NULL;
    for (struct claim *claim = e->enqueued[bucket_of_token(token.bytes)]; claim;
         claim = claim->next)
        if (memcmp(token_of_claim(e, claim), token.bytes, TOKEN_TEXT) == 0)
            return claim;
    return NULL;
}

/* The end of validity for a lease that asks for `ttl` from now on. */
static usec wanted_until(const struct engine *e, usec ttl)
{
    return quorum_promise(e->now, ttl, e->config.drift_ppm);
}

/* A request of the lease that handed the claim on, or for a place, may have had a longer ttl. */
static usec promised(const struct engine *e, usec from, usec ttl, usec wanted)
{
    usec promise = quorum_promise(from, ttl, e->config.drift_ppm);
    if (ttl <= wanted) /* and the request was sent before now */
        return promise;
    usec most = wanted_until(e, wanted);
    return promise < most ? promise : most;
}

void claim_note_promise(struct engine *e, struct claim *claim, unsigned master, usec from, usec ttl,
                        usec wanted)
{
    struct ledger_entry *at = &claim->at[master];
    ASSERT(claim->enqueued);
    ASSERT(from <= e->now && ttl > 0 && wanted > 0);
    usec promise = promised(e, from, ttl, wanted);
    at->presence = PRESENT;
    if (promise > at->promise)
        at->promise = promise;
}

void claim_note_taken(const struct engine *e, struct claim *claim)
{
    ASSERT(!claim->abandoned);
    claim->taken_at = e->now;
    claim->not_held = false;
}

void claim_shorten(struct engine *e, struct claim *claim, usec ttl)
{
    ASSERT(ttl > 0 && !claim->abandoned);
    usec most = wanted_until(e, ttl);
    for (unsigned i = 0; i < e->config.masters; i++)
        if (claim->at[i].promise > most)
            claim->at[i].promise = most;
}

void claim_token(const struct engine *e, const struct claim *claim, char token[TOKEN_MAX + 1])
{
    const char *text = token_of_claim(e, claim);
    struct slice label = label_of(e, claim);
    token[0] = '\0';
    if (!text[0])
        return;
    memcpy(token, text, claim->token_length);
    memcpy(token + claim->token_length, label.bytes, label.length);
    token[claim->token_length + label.length] = '\0';
}

/* ---- asking -------------------------------------------------------------- */

/* They may set it on a master that has told us it lacks it. */
void claim_expect_other_askers(const struct engine *e, struct claim *claim)
{
    claim->moves = true;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (claim->at[i].presence == ABSENT)
            claim->at[i].presence = UNSURE;
}

/* Others may have asked a master to renew it. */
static bool has_other_askers(const struct claim *claim)
{
    return claim->foreign || claim->moves;
}

/* A promise that is asked for now, or was before, is over in that time on every clock. */
static usec whole_life(const struct engine *e, const struct claim *claim, usec asked_ttl)
{
    usec ttl = has_other_askers(claim) ? MS(e->max_ttl_ms) : asked_ttl;
    return ttl + quorum_drift(ttl, e->config.drift_ppm) + END_SLACK;
}

/* A master may set the token for that long, or may just have set it. */
static void prolong_life(const struct engine *e, struct claim *claim, usec asked_ttl)
{
    usec end = e->now + whole_life(e, claim, asked_ttl);
    if (end > claim->last_end)
        claim->last_end = end;
}

/* A request of this kind only prolongs what the token has. */
static bool only_prolongs(const struct question *question)
{
    return question->kind == REQUEST_UPGRADE ||
           (question->kind == REQUEST_RENEW && !question->heal);
}

static void expect_to_be_set(struct engine *e, struct claim *claim, struct ledger_entry *at,
                             const struct question *question)
{
    if (at->setting < SETTING_MANY)
        at->setting++;
    if (at->presence == ABSENT && !only_prolongs(question))
        at->presence = UNSURE;
    prolong_life(e, claim, question->ttl);
}

static usec on_clock_of(const struct master *master, usec ours)
{
    return ours ? ours + master->offset : 0;
}

static void fill_in_kind(const struct engine *e, unsigned master, const struct question *question,
                         struct request *request)
{
    switch ((unsigned)question->kind) {
    case REQUEST_GRANT:
    case REQUEST_UPGRADE:
        request->grant = (struct grant_request){question->proposal, question->permits};
        break;
    case REQUEST_RAISE:
        request->fence = question->fence;
        break;
    case REQUEST_QUEUE:
        request->queue = (struct queue_request){question->ticket, question->permits};
        break;
    case REQUEST_RENEW:
        request->renew = (struct renew_request){
            question->heal, on_clock_of(&e->masters[master], question->not_after)};
        break;
    case REQUEST_PEEK:
        request->tokens_told = question->tokens_told;
        break;
    }
}

/* Fills in the fields of these kinds alone: to clear the whole request first would take longer. */
static void fill_in(const struct engine *e, struct claim *claim, unsigned master,
                    const struct question *question, struct request *request)
{
    struct slice label = label_of(e, claim);
    request->tag = (struct tag){.kind = question->kind,
                                .round = question->round,
                                .claim = claim,
                                .sent_at = e->now,
                                .ttl = question->ttl,
                                .mode = claim->mode,
                                .converts = claim->converts};
    request->whole = question->whole;
    request->names = claim->names;
    request->token = token_of_claim(e, claim);
    request->token_length = claim->token_length + label.length;
    request->label = label.bytes;
    request->label_length = label.length;
    request->ttl_ms = question->ttl / 1000;
    request->channel = e->config.channel;
    fill_in_kind(e, master, question, request);
}

void claim_ask(struct engine *e, struct claim *claim, unsigned master,
               const struct question *question)
{
    struct request request;
    fill_in(e, claim, master, question, &request);
    bool sets = request_sets_token(question->kind);
    ASSERT(!(sets && claim->abandoned)); /* its release is on its way */
    ASSERT(!sets || question->ttl > 0);
    if (sets)
        expect_to_be_set(e, claim, &claim->at[master], question);
    claim->in_flight++;
    ASSERT(claim->in_flight); /* it did not overflow */
    master_send(e, master, &request);
}

/* ---- ending -------------------------------------------------------------- */

/* A claim takes its place among the deadlines only now: while it is merely held it needs none.
 * Where memory is out, the engine looks at it now and then instead. */
static void wake_claim_at(struct engine *e, struct claim *claim, usec at)
{
    if (!claim->timed)
        claim->timed = deadlines_enter(&e->deadlines, &e->memory);
    if (claim->timed) {
        deadlines_set(&e->deadlines, &claim->deadline, at);
        return;
    }
    if (!e->look_at)
        e->look_at = e->now + LOOK_AGAIN;
    deadlines_at_latest(&e->deadlines, &e->deadline, e->look_at);
}

void claim_let_go(struct claim **home)
{
    ASSERT(!*home || (*home)->home == home);
    if (*home)
        (*home)->home = NULL;
    *home = NULL;
}

void claim_drop(struct engine *e, struct claim *claim)
{
    ASSERT(!claim->home || *claim->home == claim);
    leave_bucket(e, claim);
    if (claim->abandoned) {
        if (claim->next)
            claim->next->prev = claim->prev;
        if (claim->prev)
            claim->prev->next = claim->next;
        else
            e->abandoned = claim->next;
    }
    if (claim->home)
        *claim->home = NULL;
    if (claim->timed)
        deadlines_leave(&e->deadlines, &claim->deadline);
    names_drop(&e->memory, claim->names);
    e->memory.give(e->memory.pool, claim, size_of_claim(e, claim->token_length));
}

static void settle(struct engine *e, struct claim *claim)
{
    if (!claim->abandoned || claim->in_flight || claim->not_before)
        return;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (claim->at[i].owed)
            return;
    claim_drop(e, claim);
}

void claim_answered(struct engine *e, struct claim *claim)
{
    ASSERT(claim->in_flight > 0);
    claim->in_flight--;
    settle(e, claim);
}

/* ---- what is owed -------------------------------------------------------- */

static bool pay(struct engine *e, struct claim *claim, unsigned master, bool whole)
{
    struct ledger_entry *at = &claim->at[master];
    ASSERT(claim->abandoned || !at->owed);
    if (!at->owed || at->paying || !master_is_up(&e->masters[master]))
        return false;
    at->paying = whole ? PAYING_WHOLE : PAYING;
    /* These must not heal what is given back now.  Our own requests to a master are carried out in
     * order. */
    bool marks = has_other_askers(claim);
    claim_ask(e, claim, master,
              &(struct question){.kind = REQUEST_RELEASE,
                                 .round = ROUND_OF_RELEASES,
                                 .ttl = marks ? whole_life(e, claim, 0) : 0,
                                 .whole = whole});
    return true;
}

bool claim_pay(struct engine *e, struct claim *claim, unsigned master)
{
    return pay(e, claim, master, false);
}

/* A claim of a given token may be on the masters for a ttl that we do not know. */
static usec give_up_at(const struct engine *e, const struct claim *claim)
{
    usec longest = e->now + MS(e->max_ttl_ms);
    return claim->last_end ? claim->last_end : longest;
}

static uint16_t come_due(struct engine *e, struct claim *claim)
{
    uint16_t sent = 0;
    ASSERT(claim->abandoned);
    claim->not_before = 0;
    if (!claim->last_end)
        claim->last_end = give_up_at(e, claim);
    for (unsigned i = 0; i < e->config.masters; i++) {
        claim->at[i].promise = 0;
        if (claim->at[i].presence != ABSENT && !claim->forgotten)
            claim->at[i].owed = true;
        sent |= (uint16_t)(pay(e, claim, i, false) << i);
    }
    wake_claim_at(e, claim, claim->last_end);
    return sent;
}

uint16_t claim_abandon(struct engine *e, struct claim *claim, usec not_before)
{
    if (!claim->abandoned) {
        leave_bucket(e, claim);
        claim->abandoned = true;
        claim->next = e->abandoned;
        if (claim->next)
            claim->next->prev = claim;
        e->abandoned = claim;
    }
    claim->not_before = not_before;
    if (not_before > e->now) {
        wake_claim_at(e, claim, not_before);
        return 0;
    }
    uint16_t sent = come_due(e, claim);
    settle(e, claim);
    return sent;
}

void claim_forget(struct engine *e, struct claim *claim)
{
    claim->forgotten = true; /* also where the answer to a renewal is still to come */
    for (unsigned i = 0; i < e->config.masters; i++) {
        claim->at[i].presence = ABSENT;
        claim->at[i].owed = false;
    }
    claim_abandon(e, claim, 0);
}

bool claim_is_past_help(const struct engine *e, const struct claim *claim)
{
    unsigned owed = 0;
    if (claim->in_flight || claim->not_before)
        return false;
    for (unsigned i = 0; i < e->config.masters; i++) {
        if (claim->at[i].owed && !e->masters[i].given_up)
            return false;
        owed += claim->at[i].owed;
    }
    return owed <= e->config.masters - e->quorum;
}

static void write_off(struct engine *e, struct claim *claim)
{
    ASSERT(claim->abandoned && e->now >= claim->last_end);
    claim->not_before = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        claim->at[i].owed = false;
        claim->at[i].presence = ABSENT;
    }
    if (claim->timed)
        deadlines_set(&e->deadlines, &claim->deadline, NEVER);
}

uint16_t claim_wake(struct engine *e, struct claim *claim)
{
    uint16_t sent = 0;
    ASSERT(claim->abandoned);
    if (e->now < claim->not_before)
        wake_claim_at(e, claim, claim->not_before);
    else if (claim->last_end && e->now >= claim->last_end)
        write_off(e, claim);
    else
        sent = come_due(e, claim);
    settle(e, claim);
    return sent;
}

/* ---- hearing ------------------------------------------------------------- */

/* A renewal, upgrade or raise says "absent" or "held" when one name is not ours: of several names,
 * the others may still be.  An enqueued claim may be given the names later.  A claim that changed
 * may have a name in the other mode.  The process that gave us a token may set it later, by a
 * renewal.  So each master must leave the mark that keeps this renewal from healing. */
static enum presence what_is_left(const struct reply *reply)
{
    const struct claim *claim = reply->tag.claim;
    bool asks_for_all = reply->tag.kind == REQUEST_RENEW || reply->tag.kind == REQUEST_RAISE;
    bool one_of_several = asks_for_all && claim->names->count > 1;
    bool changed = reply->tag.kind == REQUEST_UPGRADE || claim_was_changed(claim);
    bool may_be_set = claim->enqueued || has_other_askers(claim);
    return one_of_several || changed || may_be_set ? UNSURE : ABSENT;
}

static void now_absent(struct ledger_entry *at, enum presence left)
{
    at->promise = 0;
    if (at->setting == 0)
        at->presence = left;
}

/* The master has lost the token, or somebody else gave it back, while we counted on it.  If one of
 * the masters that say so must be right, those that abstain may have the token from before that.
 * Then all that they have promised is void: a promise since they came up looks like one from
 * before. */
static void withdraw_token(const struct engine *e, struct claim *claim, unsigned master)
{
    unsigned count = 0;
    if (claim->at[master].promise <= e->now || e->now < e->masters[master].abstains_until)
        return;
    claim->at[master].withdrew = true;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += claim->at[i].withdrew;
    if (count <= e->config.spare)
        return;
    claim->withdrawn = true;
    for (unsigned i = 0; i < e->config.masters; i++)
        if (e->now < e->masters[i].abstains_until)
            claim->at[i].promise = 0;
}

static void hear_setting(struct engine *e, struct claim *claim, unsigned master,
                         const struct reply *reply, usec wanted)
{
    struct ledger_entry *at = &claim->at[master];
    ASSERT(at->setting > 0);
    if (at->setting < SETTING_MANY)
        at->setting--;
    switch (reply->answer) {
    case ANSWER_HEALED:
        withdraw_token(e, claim, master);
        __attribute__((fallthrough));
    case ANSWER_YES:
    case ANSWER_AHEAD:
        at->presence = PRESENT;
        prolong_life(e, claim, reply->tag.ttl); /* the request may have been carried out late */
        if (wanted) {
            usec promise = promised(e, reply->tag.sent_at, reply->tag.ttl, wanted);
            if (promise > at->promise)
                at->promise = promise;
        }
        break;
    case ANSWER_HELD:
    case ANSWER_NO_CLOCK:
        withdraw_token(e, claim, master);
        now_absent(at, what_is_left(reply));
        break;
    case ANSWER_ABSENT:
        withdraw_token(e, claim, master);
        /* A master in quarantine has forgotten the lease, but grants to nobody either: its promise
         * still keeps others out. */
        if (e->now >= e->masters[master].abstains_until)
            now_absent(at, what_is_left(reply));
        else if (at->setting == 0)
            at->presence = what_is_left(reply);
        break;
    case ANSWER_QUEUED:
        prolong_life(e, claim, reply->tag.ttl);
        break;
    default: /* no plain refusal: the presence stays as it was */
        at->doubtful |=
            reply->answer == ANSWER_LOST && reply->tag.kind == REQUEST_RENEW && reply->tag.converts;
        break;
    }
    if (at->presence == ABSENT)
        at->owed = false;
}

/* The master did not store the fence: the token is gone there, or the master has lost its clock and
 * whatever else it kept. */
static void hear_raise(const struct engine *e, struct claim *claim, unsigned master,
                       const struct reply *reply)
{
    struct ledger_entry *at = &claim->at[master];
    bool is_gone = reply->answer == ANSWER_HELD || reply->answer == ANSWER_ABSENT;
    if (is_gone || reply->answer == ANSWER_NO_CLOCK)
        withdraw_token(e, claim, master);
    if (reply->answer == ANSWER_NO_CLOCK)
        at->promise = 0;
    if (is_gone)
        now_absent(at, what_is_left(reply));
}

static bool hear_release(struct engine *e, struct claim *claim, unsigned master,
                         const struct reply *reply)
{
    struct ledger_entry *at = &claim->at[master];
    bool was_whole = at->paying == PAYING_WHOLE;
    ASSERT(at->paying != NOT_PAYING && claim->abandoned);
    at->paying = NOT_PAYING;
    if (!at->owed)
        return false;
    if (reply->answer == ANSWER_NOSCRIPT && !was_whole)
        return pay(e, claim, master, true);
    switch (reply->answer) {
    case ANSWER_LOST: /* sent again when the master is back */
        e->counters.owed++;
        at->owed = true;
        break;
    case ANSWER_NOSCRIPT:
    case ANSWER_ERROR:
        e->counters.owed++;
        if (claim->timed) /* else the engine looks at it soon */
            deadlines_at_latest(&e->deadlines, &claim->deadline, e->now + RELEASE_AGAIN);
        break;
    default:
        at->owed = false;
        now_absent(at, ABSENT);
    }
    return false;
}

bool claim_hear(struct engine *e, struct claim *claim, unsigned master, const struct reply *reply,
                usec wanted)
{
    if (reply->tag.kind == REQUEST_RELEASE)
        return hear_release(e, claim, master, reply);
    if (reply->tag.kind == REQUEST_RAISE)
        hear_raise(e, claim, master, reply);
    else if (request_sets_token(reply->tag.kind))
        hear_setting(e, claim, master, reply, wanted);
    return false;
}

usec claim_valid_until(const struct engine *e, const struct claim *claim)
{
    usec promises[MASTERS_MAX];
    for (unsigned i = 0; i < e->config.masters; i++)
        promises[i] = claim->at[i].promise;
    return quorum_valid_until(promises, e->config.masters, e->quorum);
}

unsigned claim_health(const struct engine *e, const struct claim *claim)
{
    unsigned health = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        health += claim->at[i].presence == PRESENT && claim->at[i].promise > e->now &&
                  master_is_up(&e->masters[i]);
    return health;
}
