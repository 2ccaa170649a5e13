#include "recipes/latch.h"
#include <string.h>

#include "masters/master.h"

/* ---- which masters count ------------------------------------------------------------ */

static bool tally_has_some(const struct latched_at *at)
{
    return at->stands == LATCHED_SHUT || at->stands == LATCHED_OPEN;
}

static bool records_are_same(const struct latch_record *a, const struct latch_record *b)
{
    return a->arrivals == b->arrivals && a->ends_ms == b->ends_ms && strcmp(a->id, b->id) == 0;
}

/* It counts, and has this. */
static bool tally_says(const struct engine *e, const struct latcher *latcher, unsigned master,
                       const struct latch_record *record)
{
    const struct latched_at *at = &latcher->at[master];
    return task_counts_on(e, master) && tally_has_some(at) && records_are_same(&at->record, record);
}

bool tally_has(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    return tally_says(e, latcher, master, &latcher->record);
}

unsigned tally_readers(const struct engine *e, const struct latcher *latcher, usec from)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += tally_has(e, latcher, i) && latcher->at[i].asked_at >= from;
    return count;
}

unsigned tally_readers_enough(const struct engine *e)
{
    unsigned vouched = e->config.masters - e->quorum + 2 * e->config.spare + 1;
    return vouched > e->quorum ? vouched : e->quorum;
}

static unsigned tally_count_same(const struct engine *e, const struct latcher *latcher,
                                 const struct latch_record *record)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += tally_says(e, latcher, i, record);
    return count;
}

bool tally_has_quorum(const struct engine *e, const struct latcher *latcher,
                      const struct latch_record *record)
{
    return tally_count_same(e, latcher, record) >= e->quorum;
}

static bool tally_is_asked_for(const struct latcher *latcher, const struct latch_record *record)
{
    return latcher->any || strcmp(record->id, latcher->record.id) == 0;
}

const struct latch_record *tally_found(const struct engine *e, const struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct latched_at *at = &latcher->at[i];
        if (tally_has_some(at) && tally_is_asked_for(latcher, &at->record) &&
            tally_count_same(e, latcher, &at->record) >= e->quorum)
            return &at->record;
    }
    return NULL;
}

/* ---- whether any quorum can have it --------------------------------------------------- */

static bool tally_is_known(const struct engine *e, const struct latcher *latcher, unsigned master,
                           usec from)
{
    const struct latched_at *at = &latcher->at[master];
    return task_counts_on(e, master) && at->stands != LATCHED_UNKNOWN && at->asked_at >= from;
}

/* A master may be given what is made until it has answered. */
static bool tally_is_being_made(const struct latcher *latcher, unsigned master)
{
    return latcher->call == LATCH_CREATE && task_is_asking(&latcher->task, master);
}

/* Of those that have something else to say, `spare` may be wrong. */
static bool tally_can_have(const struct engine *e, const struct latcher *latcher,
                           const struct latch_record *record, usec from)
{
    unsigned may = e->config.spare;
    for (unsigned i = 0; i < e->config.masters; i++)
        may += (record && tally_says(e, latcher, i, record)) ||
               !tally_is_known(e, latcher, i, from) || tally_is_being_made(latcher, i);
    return may >= e->quorum;
}

bool tally_is_gone(const struct engine *e, const struct latcher *latcher, usec from)
{
    if (latcher->record.arrivals)
        return !tally_can_have(e, latcher, &latcher->record, from);
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct latched_at *at = &latcher->at[i];
        if (tally_has_some(at) && tally_is_asked_for(latcher, &at->record) &&
            tally_can_have(e, latcher, &at->record, from))
            return false;
    }
    return !tally_can_have(e, latcher, NULL, from);
}

static bool tally_is_of_another(const struct engine *e, const struct latcher *latcher,
                                unsigned master)
{
    const struct latched_at *at = &latcher->at[master];
    return task_counts_on(e, master) && tally_has_some(at) &&
           strcmp(at->record.id, latcher->record.id) != 0;
}

const struct latch_record *tally_other(const struct engine *e, const struct latcher *latcher)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (tally_is_of_another(e, latcher, i) &&
            tally_can_have(e, latcher, &latcher->at[i].record, 0))
            return &latcher->at[i].record;
    return NULL;
}

bool tally_is_split(const struct engine *e, const struct latcher *latcher)
{
    unsigned others = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        others += tally_is_of_another(e, latcher, i);
    return others && tally_is_gone(e, latcher, 0) && !tally_other(e, latcher);
}

/* ---- who has arrived.  The lists of all masters are gone through side by side. ---------- */

struct lists {
    struct slice rest[MASTERS_MAX], next[MASTERS_MAX];
    bool has_next[MASTERS_MAX];
    bool is_full[MASTERS_MAX];
    unsigned masters;
};

/* It has had no room for others: of each of them it says at least that enough have arrived. */
static bool tally_is_full(const struct engine *e, const struct latcher *latcher, unsigned master)
{
    return tally_has(e, latcher, master) && latcher->at[master].count >= latcher->record.arrivals;
}

static int lines_compare(struct slice a, struct slice b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static void lists_begin(const struct engine *e, const struct latcher *latcher, struct lists *lists)
{
    lists->masters = e->config.masters;
    for (unsigned i = 0; i < lists->masters; i++) {
        const struct latched_at *at = &latcher->at[i];
        lists->rest[i] = tally_has(e, latcher, i) ? lines_all(&at->arrived) : (struct slice){"", 0};
        lists->is_full[i] = tally_is_full(e, latcher, i);
        lists->has_next[i] = lines_next(&lists->rest[i], &lists->next[i]);
    }
}

static bool pass_listed(struct lists *lists, unsigned master, struct slice taken)
{
    bool is = lists->has_next[master] && lines_compare(lists->next[master], taken) == 0;
    if (is)
        lists->has_next[master] = lines_next(&lists->rest[master], &lists->next[master]);
    return is;
}

/* The first of all that are next, and how many masters say it; false at the end. */
static bool take_listed(struct lists *lists, struct slice *first, unsigned *said)
{
    bool any = false;
    for (unsigned i = 0; i < lists->masters; i++)
        if (lists->has_next[i] && (!any || lines_compare(lists->next[i], *first) < 0)) {
            *first = lists->next[i];
            any = true;
        }
    struct slice taken = any ? *first : (struct slice){"", 0};
    *said = 0;
    for (unsigned i = 0; any && i < lists->masters; i++)
        *said += pass_listed(lists, i, taken) || lists->is_full[i];
    return any;
}

unsigned tally_arrived(const struct engine *e, const struct latcher *latcher, unsigned least)
{
    struct lists lists;
    struct slice arrival;
    unsigned said, count = 0;
    lists_begin(e, latcher, &lists);
    while (take_listed(&lists, &arrival, &said))
        count += said >= least;
    return count;
}

size_t tally_list(const struct engine *e, const struct latcher *latcher, unsigned least, char *to)
{
    struct lists lists;
    struct slice arrival;
    unsigned said, left = latcher->record.arrivals;
    size_t used = 0;
    lists_begin(e, latcher, &lists);
    while (left && take_listed(&lists, &arrival, &said)) {
        if (said < least)
            continue;
        left--;
        if (to && used)
            to[used] = '\n';
        used += used != 0;
        if (to)
            memcpy(to + used, arrival.bytes, arrival.length);
        used += arrival.length;
    }
    return used;
}

/* As ids are where users give them: a master's word goes to terminals. */
static bool arrival_is_shown(struct slice arrival)
{
    for (size_t i = 0; i < arrival.length; i++)
        if (arrival.bytes[i] <= ' ' || arrival.bytes[i] > '~')
            return false;
    return arrival.length <= LATCH_ID_MAX;
}

/* That a master is full says nothing of names. */
void tally_name(const struct engine *e, const struct latcher *latcher, char *to)
{
    struct lists lists;
    struct slice arrival;
    unsigned said, most = e->config.spare;
    lists_begin(e, latcher, &lists);
    memset(lists.is_full, false, sizeof lists.is_full);
    to[0] = '\0';
    while (take_listed(&lists, &arrival, &said)) {
        if (said <= most || !arrival_is_shown(arrival))
            continue;
        most = said;
        memcpy(to, arrival.bytes, arrival.length);
        to[arrival.length] = '\0';
    }
}

/* ---- what follows ----------------------------------------------------------------------- */

static unsigned tally_count_open(const struct engine *e, const struct latcher *latcher)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += tally_has(e, latcher, i) && latcher->at[i].stands == LATCHED_OPEN;
    return count;
}

bool tally_is_open(const struct engine *e, const struct latcher *latcher)
{
    unsigned least = e->config.spare + 1;
    return tally_count_open(e, latcher) >= least ||
           tally_arrived(e, latcher, least) >= latcher->record.arrivals;
}

/* A wrong master may have invented who arrived, but an honest one may be the only one to know it.
 * So what any master says is not denied. */
bool tally_is_shut(const struct engine *e, const struct latcher *latcher)
{
    return tally_readers(e, latcher, 0) >= e->quorum && !tally_count_open(e, latcher) &&
           tally_arrived(e, latcher, 1) < latcher->record.arrivals;
}

/* An answer to a question of that time counts: a process that forgets it votes again only when the
 * answer counts no more. */
static bool tally_stands(const struct engine *e, usec asked_at)
{
    return asked_at && e->now < asked_at + task_word_lasts(e);
}

bool tally_counts_arrival(const struct engine *e, const struct latcher *latcher)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += tally_has(e, latcher, i) && tally_stands(e, latcher->at[i].arrived_at);
    return count >= e->quorum;
}

bool tally_knows_open(const struct engine *e, const struct latcher *latcher)
{
    unsigned count = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        count += tally_has(e, latcher, i) && tally_stands(e, latcher->at[i].opened_at);
    return count >= e->quorum;
}
