#include "masters/master_parts.h"

#include <string.h>

#include "masters/agreement.h"
#include "masters/logical.h"
#include "ground/quorum.h"
#include "ground/sanity.h"
#include "ground/shared.h"

/* A master's clock that gained more than this and the drift was stepped, or ours stood still. */
#define STEP_LEAST MS(250)
#define TELLS_TIME MS(1000) /* an answer that took longer hardly does */
#define TIME_MOST  (INT64_C(1) << 53)

void master_set_clock(struct master *master, usec its, usec ours)
{
    master->offset = master_believable(its, TIME_MOST) - ours;
    master->offset_at = ours;
}

/* A master that called a renewal late may have told its clock since this hello was sent. */
static usec may_have_gained(const struct engine *e, const struct master *master, usec ours)
{
    usec since = ours > master->offset_at ? ours - master->offset_at : 0;
    return STEP_LEAST + quorum_drift(since, e->config.drift_ppm);
}

/* While leases are held, a master's clock that seems to have leapt ahead is not believed here.  If
 * our own clock stood still (a frozen virtual machine), a quorum will call the renewals late, and
 * the leases are lost. */
static void believe_clock(struct engine *e, struct master *master, usec its, usec ours)
{
    usec offset = its - ours;
    if (!master->met || master->clock_rough || !e->held.count ||
        offset <= master->offset + may_have_gained(e, master, ours))
        master_set_clock(master, its, ours);
}

/* The master read its clock when it was asked, now, or in between.  The former offset stays if that
 * can be. */
static void bound_clock(struct engine *e, struct master *master, usec its, usec asked_at)
{
    if (its - e->now > master->offset)
        believe_clock(e, master, its, e->now);
    else if (its - asked_at < master->offset)
        believe_clock(e, master, its, asked_at);
}

static void learn_clock(struct engine *e, struct master *master, usec its, usec asked_at,
                        bool is_another)
{
    usec took = e->now - asked_at;
    bool is_late = took > TELLS_TIME, was_late = master->heard && master->hello_late;
    bool is_rough = is_another || master->clock_rough;
    if (is_late && !is_rough)
        bound_clock(e, master, its, asked_at);
    else
        believe_clock(e, master, its, asked_at + took / 2);
    master->clock_rough = is_late && is_rough;
    master->hello_late = is_late && !was_late; /* twice in a row: the way is as long as that */
    master->met = master->heard = true;
}

/* The quarantine is worked out here where the master's record knows shorter ttls only: other
 * clients told them, or the master has forgotten. */
static void reckon_quarantine(const struct engine *e, struct master *master)
{
    usec ttl = MS(e->max_ttl_ms), until = master->told_until;
    usec end =
        master->started + MS(e->config.skew_ms) + ttl + quorum_drift(ttl, e->config.drift_ppm);
    if (master->facts.max_ttl_ms < e->max_ttl_ms && end > until)
        until = end;
    master->abstains_until = until > e->now && !e->config.trust_restarts ? until : 0;
}

static void forget_process(const struct engine *e, struct master *master)
{
    memset(master->kills, 0, sizeof master->kills);
    master->subscription.run_id[0] = '\0'; /* it was of the former process */
    entries_note_former(e, master);
}

static enum master_news learn_hello(struct engine *e, unsigned index, const struct reply *reply)
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
    learn_clock(e, master, master_believable(hello->time, TIME_MOST), reply->tag.sent_at,
                is_another);
    master->begun_by = entries_begun_by(e, hello);
    master->told_until = e->now + master_believable(hello->abstains, TIME_MOST);
    master->started = e->now - master_believable(hello->age, TIME_MOST);
    reckon_quarantine(e, master);
    if (hello->clock)
        logical_hear(e, index, hello->clock);
    return is_another ? MASTER_IS_ANOTHER : MASTER_ANSWERED;
}

static void fail_hello(struct engine *e, unsigned index, const char *text)
{
    struct master *master = &e->masters[index];
    if (master->state == MASTER_PREPARING)
        master_leave(e, index, text);
    else if (master->state == MASTER_UP)
        master_watch(e, master);
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
        master_watch(e, master);
        if (abstained != (master->abstains_until != 0))
            engine_emit(e, EFFECT_NOTICE, i, NULL);
    }
}

/* The master has forgotten how long a ttl may be.  Another one may have heard of a longer ttl since
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
    struct master *master = &e->masters[index];
    if (reply->answer == ANSWER_NOSCRIPT && is_greeted(master) && !master->hello_whole) {
        master->connect_by += SCRIPTS_TIMEOUTS * e->config.connect_timeout;
        master_say_hello(e, index, true);
    } else if (reply->answer == ANSWER_NOSCRIPT || reply->answer == ANSWER_ERROR)
        fail_hello(e, index, reply->text.bytes);
}

/* A refused entry counts as a master that is down: others may be enough. */
static bool refuse_entry(struct engine *e, unsigned index, const struct reply *reply)
{
    char why[VOTE_TEXT_MAX];
    enum cause cause = entries_refuse(e, index, reply, why);
    if (cause)
        master_leave(e, index, why);
    e->masters[index].refused = cause;
    if (cause)
        entries_judge(e);
    return cause != CAUSE_NONE;
}

static enum master_news hear_hello(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    master->hello_asked = false;
    if (reply->answer != ANSWER_HELLO)
        hear_no_hello(e, index, reply);
    if (reply->answer != ANSWER_HELLO || !is_greeted(master))
        return MASTER_NO_NEWS;
    bool beside = entries_is_subscribed_beside(master, reply->hello);
    if (refuse_entry(e, index, reply))
        return MASTER_NO_NEWS;
    bool abstained = master->abstains_until != 0;
    bool is_new = !abstained || master->state == MASTER_PREPARING;
    enum master_news news = learn_hello(e, index, reply);
    if (master->state == MASTER_PREPARING)
        master_come_up(e, index);
    else if (abstained != (master->abstains_until != 0))
        engine_emit(e, EFFECT_NOTICE, index, NULL);
    master_agree(e, index, false);
    master_judge_list(e); /* by its process */
    if (is_new && master->abstains_until)
        ask_the_others(e, index);
    master_watch(e, master);
    learn_longest_ttl(e);
    if (beside || master->hello_late) /* it was asked before; it tells no time */
        master_look(e, index);
    return news;
}

/* It can note us later, and may still know that our list is over. */
static bool is_busy(const struct reply *reply)
{
    struct slice busy = slice_of("BUSY ");
    return reply->answer == ANSWER_ERROR && reply->text.length >= busy.length &&
           slices_are_same((struct slice){reply->text.bytes, busy.length}, busy);
}

static void ask_for_more_ends(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (!e->masters[i].over)
            master_agree(e, i, false);
}

/* A master that cannot remember, as its users may not write there, agrees with everybody. */
static void hear_agree(struct engine *e, unsigned index, const struct reply *reply)
{
    struct master *master = &e->masters[index];
    if (reply->tag.round != master->agree_round)
        return; /* since then we say something else */
    master->agree_round = 0;
    if (is_busy(reply))
        agreement_hear_nothing(e, index);
    if (reply->answer == ANSWER_LOST || is_busy(reply))
        return;
    if (reply->answer == ANSWER_NOSCRIPT && !master->agree_whole) {
        master_agree(e, index, true);
        return;
    }
    struct slice lists = {0};
    bool told = e->in_question;
    agreement_hear(e, index, reply->tag.sent_at,
                   reply->answer == ANSWER_YES ? reply->lists : lists);
    if (master->over && agreement_wants_ends(e))
        ask_for_more_ends(e);
    master_judge_list(e);
    if (told || e->in_question)
        engine_emit(e, EFFECT_LISTS, index, NULL);
    if (master_is_up(master))
        master_watch(e, master); /* it is asked more often while lists differ */
}

enum master_news master_hear(struct engine *e, unsigned index, const struct reply *reply)
{
    if (reply->tag.kind == REQUEST_HELLO || reply->tag.kind == REQUEST_ADOPT)
        return hear_hello(e, index, reply);
    if (reply->tag.kind == REQUEST_AGREE)
        hear_agree(e, index, reply);
    else
        master_end_kill(e, index, reply);
    return MASTER_NO_NEWS;
}
