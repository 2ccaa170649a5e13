#include "masters/agreement.h"

#include "masters/master.h"
#include "masters/master_parts.h"
#include "ground/quorum.h"
#include "ground/sanity.h"

#define WORD_LASTS MS(120000)        /* a word counts for as long after its question was sent */
#define WORD_AGES  MS(75000)         /* looks are a minute apart */
#define LONG_AGO   (-WORD_LASTS - 1) /* no word of then counts */
#define KEPT_MORE  MS(5000)
#define LISTS_MOST 8        /* of which a master tells */
#define DRIFT_PPM  10000    /* of any clock here against another one */
#define CUT        MS(1000) /* uptime is cut to seconds at both ends */

static bool has_word(const struct engine *e, unsigned index)
{
    const struct word *word = &e->masters[index].word;
    return word->sent_at && e->now <= word->sent_at + WORD_LASTS;
}

/* ---- what we say -------------------------------------------------------------------- */

/* Something that was asked for under our list may still be relied on. */
static bool has_anything(const struct engine *e)
{
    return e->busy.count || e->held.count || e->abandoned || e->left_behind;
}

bool agreement_is_over(const struct engine *e)
{
    return !e->config.looks_only && (e->differs || e->closing) && !has_anything(e);
}

static bool may_say(const struct engine *e)
{
    return !e->config.looks_only && !e->differs && !e->closing;
}

/* The process has answered what was asked after the master's last word was heard. */
static bool has_lived_since(const struct master *master, const struct word *word)
{
    return word->sent_at && master_is_up(master) && master->heard &&
           master->lived_at > word->heard_at;
}

const struct agree_request *agreement_say(struct engine *e, unsigned index)
{
    struct agree_request *agree = &e->agree;
    const struct word *word = &e->masters[index].word;
    usec longest = MS(e->config.max_ttl_ms);
    usec kept =
        WORD_LASTS + longest + quorum_drift(longest, e->config.drift_ppm) + MS(e->config.skew_ms);
    *agree = (struct agree_request){
        .says = agreement_is_over(e) ? -1 : may_say(e),
        .kept = kept + quorum_drift(kept, DRIFT_PPM) + KEPT_MORE,
        .quorum = e->quorum,
        .config = &e->config,
        .told_time = word->time,
    };
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        agree->run_ids[i] = has_lived_since(master, word) ? master->facts.run_id : "";
    }
    return agree;
}

/* ---- words -------------------------------------------------------------------------- */

static void drop_text(struct engine *e, struct word *word)
{
    if (word->bytes)
        e->memory.give(e->memory.pool, word->bytes, word->length);
    word->bytes = NULL;
    word->length = 0;
}

static void note_words(struct engine *e)
{
    bool is_one_missing = false, is_one_unread = false;
    e->oldest_word = NEVER;
    e->in_question = false;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct word *word = &e->masters[i].word;
        if (word->sent_at && word->sent_at < e->oldest_word)
            e->oldest_word = word->sent_at;
        is_one_missing |= !word->sent_at && master_is_up(&e->masters[i]);
        is_one_unread |= !word->sent_at && word->heard_at;
        e->in_question |= word->length != 0;
    }
    bool is_known = e->oldest_word != NEVER;
    bool look = !is_known || is_one_missing || e->in_question || e->differs;
    e->say_again_at = is_one_unread ? 0 : is_known ? e->oldest_word + WORD_AGES : NEVER;
    bool always = !e->config.fleet || e->config.looks_only;
    e->words_hold_until = always ? NEVER : look ? LONG_AGO : e->oldest_word + WORD_LASTS;
}

void agreement_forget(struct engine *e, unsigned index)
{
    drop_text(e, &e->masters[index].word);
    e->masters[index].word = (struct word){0};
    e->masters[index].agree_round = 0;
    note_words(e);
}

void agreement_expire(struct engine *e, unsigned index)
{
    struct word *word = &e->masters[index].word;
    drop_text(e, word);
    word->sent_at = word->sent_at ? LONG_AGO : 0;
    e->masters[index].agree_round = 0;
    note_words(e);
}

/* How much of the text is kept: what an honest master tells, and none of it if it tells of the list
 * alone that we say. */
static size_t worth_keeping(const struct engine *e, struct slice lists)
{
    struct told_list list;
    size_t whole = lists.length, kept = 0;
    for (unsigned i = 0; i < LISTS_MOST && told_list_next(&lists, &list); i++)
        if (list.place != '=' || e->config.looks_only)
            kept = whole - lists.length;
    return kept;
}

void agreement_hear(struct engine *e, unsigned index, usec sent_at, struct slice lists)
{
    struct word *word = &e->masters[index].word;
    drop_text(e, word);
    *word = (struct word){.sent_at = sent_at, .heard_at = e->now, .time = told_time(&lists)};
    size_t kept = worth_keeping(e, lists);
    word->bytes = kept ? e->memory.take(e->memory.pool, kept) : NULL;
    if (word->bytes)
        memcpy(word->bytes, lists.bytes, word->length = kept);
    else if (kept) /* no memory: what it tells must not count as nothing */
        *word = (struct word){.heard_at = e->now};
    note_words(e);
}

static struct slice text_of(const struct engine *e, unsigned index)
{
    const struct word *word = &e->masters[index].word;
    return has_word(e, index) ? (struct slice){word->bytes, word->length} : (struct slice){0};
}

/* ---- whether two lists may meet -------------------------------------------------------- */

/* The facts about the server of an entry; times are by our clock. */
struct server {
    struct slice address, run_id;
    bool is_heard;
    usec begun_by, lived_at; /* its process began no later; it lived no earlier */
};

static struct server server_of_ours(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    return (struct server){.address = slice_of(e->config.addresses[index]),
                           .run_id = slice_of(master->facts.run_id),
                           .is_heard = master_is_up(master) && master->heard,
                           .begun_by = master->begun_by + CUT + MS(e->config.skew_ms),
                           .lived_at = master->lived_at};
}

/* A negative age: the master's clock was set back. */
static struct server server_of_theirs(const struct told_process *theirs, const struct word *word)
{
    usec since = theirs->since_ago, until = theirs->until_ago;
    return (struct server){
        .address = theirs->address,
        .run_id = theirs->run_id,
        .is_heard = theirs->run_id.length,
        .begun_by = since < 0 ? NEVER : word->heard_at - since + quorum_drift(since, DRIFT_PPM),
        .lived_at = until < 0 ? -NEVER : word->sent_at - until - quorum_drift(until, DRIFT_PPM)};
}

/* Both processes were alive at one moment.  Else one may have followed the other at one server. */
static bool lived_together(const struct server *a, const struct server *b)
{
    return a->begun_by < b->lived_at && b->begun_by < a->lived_at;
}

static bool may_be_same(const struct server *a, const struct server *b)
{
    return !a->is_heard || !b->is_heard || slices_are_same(a->address, b->address) ||
           slices_are_same(a->run_id, b->run_id) || !lived_together(a, b);
}

/* One side of the comparison: the list of one client or of many. */
struct side {
    unsigned masters, quorum, spare;
    struct server servers[MASTERS_MAX];
};

static struct side side_of_ours(const struct engine *e)
{
    struct side ours = {e->config.masters, e->quorum, e->config.spare, {{{0}, {0}, 0, 0, 0}}};
    for (unsigned i = 0; i < ours.masters; i++)
        ours.servers[i] = server_of_ours(e, i);
    return ours;
}

static struct side side_of_theirs(const struct told_list *list, const struct word *word)
{
    struct side theirs = {list->masters, list->quorum, list->spare, {{{0}, {0}, 0, 0, 0}}};
    for (unsigned i = 0; i < theirs.masters; i++)
        theirs.servers[i] = server_of_theirs(&list->processes[i], word);
    return theirs;
}

struct pairs {
    uint16_t may[MASTERS_MAX]; /* of each of ours: a bit for each of theirs that it may be */
    int taken_by[MASTERS_MAX]; /* of each of theirs; below 0: none */
};

/* An augmenting path, from one of ours that has no pair. */
static bool find_pair(struct pairs *pairs, unsigned ours, unsigned theirs_count, uint16_t *tried)
{
    for (unsigned i = 0; i < theirs_count; i++) {
        uint16_t bit = (uint16_t)(1U << i);
        if (!(pairs->may[ours] & bit) || *tried & bit)
            continue;
        *tried |= bit;
        if (pairs->taken_by[i] < 0 ||
            find_pair(pairs, (unsigned)pairs->taken_by[i], theirs_count, tried)) {
            pairs->taken_by[i] = (int)ours;
            return true;
        }
    }
    return false;
}

/* The most masters that both lists may share. */
static unsigned most_shared(const struct side *ours, const struct side *theirs)
{
    struct pairs pairs = {{0}, {0}};
    unsigned shared = 0;
    for (unsigned i = 0; i < theirs->masters; i++)
        pairs.taken_by[i] = -1;
    for (unsigned i = 0; i < ours->masters; i++)
        for (unsigned j = 0; j < theirs->masters; j++)
            if (may_be_same(&ours->servers[i], &theirs->servers[j]))
                pairs.may[i] |= (uint16_t)(1U << j);
    for (unsigned i = 0; i < ours->masters; i++) {
        uint16_t tried = 0;
        shared += find_pair(&pairs, i, theirs->masters, &tried);
    }
    return shared;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Two quorums may miss each other, however many of the masters that look different are the same.
 * As many as may be wrong may tell a false run_id: each makes one pair look different. */
static bool may_not_meet(const struct side *ours, const struct side *theirs)
{
    unsigned all = ours->masters + theirs->masters - most_shared(ours, theirs), f = ours->spare;
    unsigned least = larger(larger(all - smaller(f, all), ours->masters), theirs->masters);
    return ours->quorum + theirs->quorum < least + 1 + smaller(f, theirs->spare);
}

/* ---- whose list goes ------------------------------------------------------------------- */

/* One other list, by the words of all masters. */
struct other {
    struct told_list list;
    unsigned teller;                   /* the first of the masters that tell it */
    unsigned unsafe, before, behind;   /* the number of words that say so of it */
    uint16_t told;                     /* by these masters */
    uint16_t listed;                   /* ours whose addresses it has */
    unsigned char as_run[MASTERS_MAX]; /* of each of ours, the words that have its run_id there */
};

static bool runs_as(const struct master *master, const struct told_process *theirs)
{
    return theirs->run_id.length && master_is_up(master) && master->heard &&
           slices_are_same(slice_of(master->facts.run_id), theirs->run_id);
}

static void note_named(const struct engine *e, struct other *other, const struct told_list *list)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool is_run = false; /* a liar may tell the run_id of several entries */
        for (unsigned j = 0; j < list->masters; j++) {
            const struct told_process *theirs = &list->processes[j];
            bool is_listed = slices_are_same(slice_of(e->config.addresses[i]), theirs->address);
            other->listed |= (uint16_t)(is_listed << i);
            is_run |= runs_as(&e->masters[i], theirs);
        }
        other->as_run[i] += is_run;
    }
}

static void add_word_on(const struct engine *e, struct other *other, unsigned teller,
                        const struct told_list *list)
{
    struct side ours = side_of_ours(e), theirs = side_of_theirs(list, &e->masters[teller].word);
    other->told |= (uint16_t)(1U << teller);
    other->unsafe += may_not_meet(&ours, &theirs);
    other->before += list->place == '<';
    other->behind += list->place == '>';
    note_named(e, other, list);
}

/* Adds up the words of all masters about this list. */
static void gather(const struct engine *e, struct other *other)
{
    struct told_list list;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = text_of(e, i);
        while (told_list_next(&text, &list))
            if (list.place != '=' && !(other->told >> i & 1) &&
                told_lists_are_same(&list, &other->list))
                add_word_on(e, other, i, &list); /* once, however often a liar tells it */
    }
}

/* The master is the other list's, too, and its word is for us: it tells nothing of that list. */
static bool knows_us_alone(const struct engine *e, const struct other *other, unsigned index)
{
    bool is_named = other->listed >> index & 1 || other->as_run[index] > e->config.spare;
    return has_word(e, index) && is_named && !(other->told >> index & 1);
}

/* A word may still come. */
static bool is_expected(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    return !has_word(e, index) && !master->refused && !master->failures;
}

/* The masters that both lists share are asked which list was there first.  One of them may have
 * restarted and forgotten, so their words are counted. */
enum judgement { MAY_GO_ON, UNDECIDED, MUST_GO };

static enum judgement judge(const struct engine *e, const struct other *other)
{
    unsigned f = e->config.spare, ours = other->behind, expected = 0;
    if (other->unsafe <= f)
        return MAY_GO_ON;
    for (unsigned i = 0; i < e->config.masters; i++) {
        ours += knows_us_alone(e, other, i);
        expected += is_expected(e, i);
    }
    return ours > other->before + f              ? MAY_GO_ON
           : ours + expected > other->before + f ? UNDECIDED
                                                 : MUST_GO;
}

/* An earlier word tells of the list, too.  A liar may repeat addresses, so both are looked up. */
static bool was_judged(const struct engine *e, unsigned index, const struct told_list *list)
{
    struct told_list earlier;
    for (unsigned i = 0; i < index; i++) {
        struct slice text = text_of(e, i);
        while (told_list_next(&text, &earlier))
            if (earlier.place != '=' && told_lists_are_same(&earlier, list) &&
                told_lists_are_same(list, &earlier))
                return true;
    }
    return false;
}

/* The worst judgement for any other list. */
static enum judgement judge_all(const struct engine *e, struct other *worst)
{
    enum judgement is = MAY_GO_ON;
    struct other other = {0};
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = text_of(e, i);
        while (told_list_next(&text, &other.list)) {
            if (other.list.place == '=' || was_judged(e, i, &other.list))
                continue;
            other = (struct other){.list = other.list, .teller = i};
            gather(e, &other);
            enum judgement its = judge(e, &other);
            if (its <= is)
                continue;
            is = its;
            *worst = other;
        }
    }
    return is;
}

bool agreement_judge(struct engine *e)
{
    struct other worst;
    enum judgement is = e->config.looks_only ? MAY_GO_ON : judge_all(e, &worst);
    bool differed = e->differs;
    e->differs = is == MUST_GO;
    e->undecided = is == UNDECIDED;
    if (e->differs == differed)
        return false;
    note_words(e);
    entries_judge(e);
    return true;
}

bool agreement_other(const struct engine *e, struct told_list *list, unsigned *master)
{
    struct other worst;
    if (!e->differs || judge_all(e, &worst) != MUST_GO)
        return false;
    *list = worst.list;
    *master = worst.teller;
    return true;
}

static bool asks_for_more(const struct told_list *a, const struct told_list *b)
{
    return a->max_ttl_ms != b->max_ttl_ms ? a->max_ttl_ms > b->max_ttl_ms : a->spare > b->spare;
}

static bool is_unlike(const struct engine *e, const struct other *other)
{
    bool is_ours =
        other->listed == (1U << e->config.masters) - 1 && other->list.masters == e->config.masters;
    return is_ours && other->before + other->behind > e->config.spare;
}

bool agreement_unlike(const struct engine *e, struct told_list *list)
{
    struct other other = {0};
    *list = (struct told_list){0};
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = text_of(e, i);
        while (told_list_next(&text, &other.list)) {
            other = (struct other){.list = other.list};
            gather(e, &other);
            if (is_unlike(e, &other) && asks_for_more(&other.list, list))
                *list = other.list;
        }
    }
    return list->masters != 0;
}

/* ---- a saying is a lease --------------------------------------------------------------- */

bool agreement_holds_on_looking(const struct engine *e, unsigned master)
{
    if (e->differs || !e->masters[master].word.sent_at || e->oldest_word < e->now - WORD_LASTS)
        return false;
    struct other worst; /* any answer since may have shown that two masters are not the same */
    return !e->in_question || judge_all(e, &worst) == MAY_GO_ON;
}

/* ---- for those who look ------------------------------------------------------------------ */

static usec longer(usec a, usec b)
{
    return a > b ? a : b;
}

/* NULL: there is no room for one more. */
static struct list_in_use *find_in_use(struct list_in_use *lists, unsigned *count,
                                       const struct told_list *list)
{
    unsigned i = 0;
    while (i < *count && !told_lists_are_same(&lists[i].list, list))
        i++;
    if (i == LISTS_IN_USE_MOST)
        return NULL;
    if (i == *count)
        lists[(*count)++] = (struct list_in_use){.list = *list};
    return &lists[i];
}

/* One text of the list and the last saying of it; the first saying of all. */
static void add_telling(struct list_in_use *in_use, unsigned teller, const struct told_list *list)
{
    usec first_ago = longer(in_use->list.first_ago, list->first_ago);
    unsigned clients = larger(in_use->list.clients, list->clients);
    if (!in_use->told || list->last_ago < in_use->list.last_ago)
        in_use->list = *list;
    in_use->list.first_ago = first_ago;
    in_use->list.clients = clients;
    in_use->told |= (uint16_t)(1U << teller);
}

/* Finds the list in what the master tells. */
static bool find_told(const struct engine *e, unsigned teller, const struct told_list *list,
                      struct side *side)
{
    struct told_list told;
    struct slice text = text_of(e, teller);
    while (told_list_next(&text, &told))
        if (told_lists_are_same(&told, list)) {
            *side = side_of_theirs(&told, &e->masters[teller].word);
            return true;
        }
    return false;
}

/* The number of masters that tell facts of list a by which it may not be used beside b, as some
 * master tells that. */
static unsigned count_unsafe(const struct engine *e, const struct list_in_use *a,
                             const struct list_in_use *b)
{
    unsigned unsafe = 0;
    struct side ours, theirs;
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool is_unsafe = false;
        if (!find_told(e, i, &a->list, &ours))
            continue;
        for (unsigned j = 0; j < e->config.masters && !is_unsafe; j++)
            is_unsafe = find_told(e, j, &b->list, &theirs) &&
                        (may_not_meet(&ours, &theirs) || may_not_meet(&theirs, &ours));
        unsafe += is_unsafe;
    }
    return unsafe;
}

static void compare(const struct engine *e, struct list_in_use *lists, unsigned i, unsigned j)
{
    unsigned f = smaller(lists[i].list.spare, lists[j].list.spare);
    bool is_unsafe =
        count_unsafe(e, &lists[i], &lists[j]) > f && count_unsafe(e, &lists[j], &lists[i]) > f;
    lists[i].unsafe |= (uint16_t)(is_unsafe << j);
    lists[j].unsafe |= (uint16_t)(is_unsafe << i);
}

static unsigned gather_lists(const struct engine *e, struct list_in_use *lists)
{
    unsigned count = 0;
    struct told_list list;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = text_of(e, i);
        while (told_list_next(&text, &list)) {
            struct list_in_use *in_use = find_in_use(lists, &count, &list);
            usec age = e->now - e->masters[i].word.heard_at;
            list.first_ago += age;
            list.last_ago += age;
            if (in_use)
                add_telling(in_use, i, &list);
        }
    }
    return count;
}

/* The list that was said first comes first. */
static void sort_lists(struct list_in_use *lists, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j && lists[j].list.first_ago > lists[j - 1].list.first_ago; j--) {
            struct list_in_use later = lists[j - 1];
            lists[j - 1] = lists[j];
            lists[j] = later;
        }
}

unsigned agreement_lists(const struct engine *e, struct list_in_use *lists)
{
    unsigned count = gather_lists(e, lists);
    sort_lists(lists, count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            compare(e, lists, i, j);
    return count;
}

unsigned agreement_count(const struct engine *e)
{
    struct list_in_use lists[LISTS_IN_USE_MOST];
    unsigned count = gather_lists(e, lists);
    bool is_ours = false, is_said = false;
    for (unsigned i = 0; i < count; i++)
        is_ours |= lists[i].list.place == '=';
    for (unsigned i = 0; i < e->config.masters; i++)
        is_said |= has_word(e, i) && e->masters[i].word.time && may_say(e);
    return count + (is_said && !is_ours);
}
