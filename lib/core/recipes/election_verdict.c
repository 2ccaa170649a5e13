#include "recipes/election_verdict.h"

#include "ground/mutant.h"
#include "masters/master.h"

/* A master that abstains may have come up with what was said before something else. */
static bool observer_counts_on(const struct engine *e, unsigned master)
{
    return master_is_up(&e->masters[master]) &&
           (!master_abstains(e, &e->masters[master]) || MUTANT(OBSERVE_QUARANTINED));
}

static bool verdict_is_known(const struct engine *e, const struct observer *observer,
                             unsigned master, usec from)
{
    const struct heard *heard = &observer->of[master];
    return observer_counts_on(e, master) && heard->known && heard->asked_at >= from;
}

unsigned verdict_count(const struct engine *e, const struct observer *observer,
                       const struct saying *saying)
{
    unsigned count = 0;
    for (unsigned i = 0; saying && i < e->config.masters; i++)
        count +=
            observer_counts_on(e, i) && observer->of[i].known && observer->of[i].saying == saying;
    return count;
}

/* An observer is told nothing that was said before what it was told last. */
static bool verdict_may_be_told(const struct observer *observer, const struct saying *saying)
{
    if (!observer->latest_term)
        return true;
    struct said latest = {.term = observer->latest_term, .number = observer->latest_number};
    struct said said = saying_said(saying);
    return said_order(&said, &latest) >= 0;
}

/* A quorum may say so, if those say it that are not known. */
static bool verdict_can_be_said(const struct engine *e, const struct observer *observer,
                                const struct saying *saying, usec from)
{
    unsigned most = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool says =
            observer_counts_on(e, i) && observer->of[i].known && observer->of[i].saying == saying;
        most += says || !verdict_is_known(e, observer, i, from);
    }
    return most >= e->quorum;
}

bool verdict_is_said(const struct engine *e, const struct observer *observer,
                     const struct saying *saying)
{
    unsigned enough = MUTANT(OBSERVE_MINORITY) ? e->quorum - 1 : e->quorum;
    return verdict_count(e, observer, saying) >= enough;
}

static struct saying *verdict_find_said(const struct engine *e, const struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct saying *saying = observer->of[i].saying;
        if (saying && verdict_is_said(e, observer, saying) && verdict_may_be_told(observer, saying))
            return saying;
    }
    return NULL;
}

static bool verdict_is_nothing(const struct engine *e, const struct observer *observer, usec from)
{
    unsigned known = 0;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct saying *saying = observer->of[i].saying;
        known += verdict_is_known(e, observer, i, from);
        if (saying && verdict_may_be_told(observer, saying) &&
            verdict_can_be_said(e, observer, saying, from))
            return false;
    }
    return known >= e->quorum;
}

struct verdict verdict_now(const struct engine *e, const struct observer *observer, usec from)
{
    struct saying *said = verdict_find_said(e, observer);
    if (said)
        return (struct verdict){OBSERVED_SAID, said};
    bool nothing = verdict_is_nothing(e, observer, from);
    return (struct verdict){nothing ? OBSERVED_NOTHING : OBSERVED_UNKNOWN, NULL};
}

bool verdict_is_last(const struct engine *e, const struct observer *observer)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        bool has_answered = observer->of[i].answered >= observer->verified_from;
        if (master_is_up(master) ? observer_counts_on(e, i) && !has_answered
                                 : !master->tried || master_is_connecting(master))
            return false;
    }
    return true;
}
