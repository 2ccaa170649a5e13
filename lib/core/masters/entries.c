#include "masters/master_parts.h"

#include <stdio.h>
#include <string.h>

#include "ground/quorum.h"
#include "ground/shared.h"

#define UPTIME_MOST (INT64_C(1) << 32) /* s */
#define TELLS_OTHER MS(120000)         /* two hellos */
#define LONG_AGO    (INT64_MIN / 4)    /* no sum with it overflows */

/* ---- the list --------------------------------------------------------------------------- */

/* No quorum is possible without the wrong entries.  If one was there before, the list was right,
 * and what is wrong now is the masters': they are waited for. */
void entries_judge(struct engine *e)
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
    e->misconfigured = none_is_left && !e->had_quorum ? cause
                       : e->differs                   ? CAUSE_DIFFERS
                                                      : CAUSE_NONE;
}

void entries_forgive(struct engine *e, struct master *master)
{
    master->refused = CAUSE_NONE;
    entries_judge(e);
}

/* ---- whose votes count ---------------------------------------------------------------- */

/* How long after a request the promises of a process may last. */
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

static unsigned find_twin(const struct engine *e, unsigned index, const char *run_id)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (i != index && has_vote_of(e, &e->masters[i], run_id))
            return i;
    return index;
}

/* Uptime is cut to seconds at both ends. */
usec entries_begun_by(const struct engine *e, const struct hello *hello)
{
    usec uptime = MS(1000 * (master_believable(hello->uptime_s, UPTIME_MOST) - 1));
    return e->now - (uptime > 0 ? uptime - quorum_drift(uptime, e->config.drift_ppm) : 0);
}

/* Another process than before, on the same connection, or it had begun before that one answered for
 * the last time: it is no restart. */
static bool is_beside(const struct engine *e, const struct master *master,
                      const struct hello *hello)
{
    if (!master->met || strcmp(master->facts.run_id, hello->run_id) == 0)
        return false;
    return master->heard || entries_begun_by(e, hello) < master->lived_at;
}

static void note_several(struct engine *e, struct master *master, const char *run_id)
{
    master->other_at = master->several_until ? LONG_AGO : master->lived_at;
    memcpy(master->answered_by, run_id, strlen(run_id) + 1);
    master->several_until = e->now + promises_last(e);
}

/* The promises of the process still count.  Of two processes the former is kept: the later one was
 * young, and abstained. */
void entries_note_former(const struct engine *e, struct master *master)
{
    if (!master->met || e->now < master->former_until)
        return;
    memcpy(master->former, master->facts.run_id, sizeof master->former);
    master->former_until = master->lived_at + promises_last(e);
}

/* ---- a process in the place of another -------------------------------------------------- */

/* Whose entries changed while we slept may have changed long ago. */
static bool is_known_late(const struct engine *e, usec ago)
{
    return ago > TELLS_OTHER && ago > promises_last(e);
}

/* Silence costs a minority its votes, and no more: if more addresses lead elsewhere, it may be only
 * ours that do. */
static bool are_too_many(const struct engine *e)
{
    unsigned several = 0, spared = e->config.masters - e->quorum;
    for (unsigned i = 0; i < e->config.masters; i++)
        several += e->masters[i].several_until != 0;
    return several > (spared ? spared : 1);
}

usec entries_other_ago(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    usec ago = e->now - master->other_at;
    if (!master->several_until || e->config.looks_only || is_known_late(e, ago) || are_too_many(e))
        return 0;
    bool is_known = find_twin(e, index, master->answered_by) != index; /* its promises are here */
    return is_known ? 0 : ago + quorum_drift(ago, e->config.drift_ppm);
}

/* ---- what an entry says of itself ------------------------------------------------------ */

/* From when another process has answered beside the one that voted, until only one has for so long
 * that nothing counts that another one promised. */
static void note_whether_several(struct engine *e, struct master *master, const struct hello *hello)
{
    bool is_other = strcmp(master->answered_by, hello->run_id) != 0;
    if (master->several_until ? is_other : is_beside(e, master, hello))
        note_several(e, master, hello->run_id);
    if (e->now >= master->several_until)
        master->several_until = 0;
}

static enum cause refuse_several(const struct engine *e, char why[VOTE_TEXT_MAX])
{
    snprintf(why, VOTE_TEXT_MAX,
             "is an address of several servers: list each master, and no balancer; "
             "one that answers alone for %lld s votes",
             (long long)(promises_last(e) + MS(1000) - 1) / MS(1000));
    return CAUSE_NO_MASTER;
}

static enum cause refuse_role(const char *role, char why[VOTE_TEXT_MAX])
{
    bool is_cluster = strcmp(role, "cluster") == 0;
    snprintf(why, VOTE_TEXT_MAX, "%s",
             is_cluster ? "is in cluster mode: list independent masters only"
                        : "is a replica: list independent masters only");
    return is_cluster ? CAUSE_NO_MASTER : CAUSE_REPLICA;
}

static enum cause refuse_twin(unsigned twin, char why[VOTE_TEXT_MAX])
{
    snprintf(why, VOTE_TEXT_MAX, "is the same server as master %u of the list: name each once",
             twin + 1);
    return CAUSE_SAME_MASTER;
}

bool entries_is_subscribed_beside(const struct master *master, const struct hello *hello)
{
    const char *publishes = master->subscription.run_id;
    return publishes[0] && strcmp(publishes, hello->run_id) != 0 &&
           strcmp(master->facts.run_id, hello->run_id) == 0;
}

enum cause entries_refuse(struct engine *e, unsigned index, const struct reply *reply,
                          char why[VOTE_TEXT_MAX])
{
    struct master *master = &e->masters[index];
    const struct hello *hello = reply->hello;
    if (strcmp(hello->role, "master") != 0)
        return refuse_role(hello->role, why);
    note_whether_several(e, master, hello);
    if (master->several_until)
        return refuse_several(e, why);
    unsigned twin = find_twin(e, index, hello->run_id);
    if (twin != index)
        return refuse_twin(twin, why);
    if (!entries_is_subscribed_beside(master, hello) ||
        reply->tag.sent_at < master->subscription.begun_at)
        return CAUSE_NONE;
    note_several(e, master, master->subscription.run_id);
    return refuse_several(e, why);
}
