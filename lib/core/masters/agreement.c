#include "masters/agreement_parts.h"

#include "masters/master.h"
#include "masters/master_parts.h"
#include "ground/quorum.h"
#include "ground/sanity.h"

#define WORD_LASTS  MS(120000)        /* a word counts for as long after its question was sent */
#define WORD_AGES   MS(75000)         /* looks are a minute apart */
#define LONG_AGO    (-WORD_LASTS - 1) /* no word of then counts */
#define KEPT_MORE   MS(5000)
#define LISTS_MOST  8 /* of which a master tells */
#define ENDS_WITHIN MS(1000)

bool agreement_has_word(const struct engine *e, unsigned index)
{
    const struct word *word = &e->masters[index].word;
    return word->sent_at && e->now <= word->sent_at + WORD_LASTS;
}

/* ---- what we say -------------------------------------------------------------------- */

/* Something that was asked for under our list may still be relied on.  A client that closes has
 * given back all leases, also those of which only the release is owed. */
static bool has_anything(const struct engine *e)
{
    bool is_owed = e->abandoned && !e->closing;
    return e->busy.count || e->throttled.count || e->held.count || is_owed || e->left_behind;
}

bool agreement_is_over(const struct engine *e)
{
    return !e->config.looks_only && (e->differs || e->closing) && !has_anything(e);
}

bool agreement_may_say(const struct engine *e)
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
        .says = e->config.ends_at >> index & 1 ? SAYS_OVER
                : e->config.revives            ? SAYS_NOT_OVER
                : agreement_is_over(e)         ? SAYS_NO_MORE
                : agreement_may_say(e)         ? SAYS_OURS
                                               : SAYS_NOTHING,
        .successor = e->config.successor,
        .changes = e->config.changes[index],
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

static void drop_text(struct engine *e, struct master *master)
{
    struct word *word = &master->word;
    if (word->bytes)
        e->memory.give(e->memory.pool, word->bytes, word->length);
    word->bytes = NULL;
    word->length = 0;
    word->successor = 0;
    master->over = false;
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
        is_one_unread |= !word->sent_at && word->heard_at && !e->masters[i].over;
        e->in_question |= word->length > word->successor;
    }
    bool is_known = e->oldest_word != NEVER;
    bool look = !is_known || is_one_missing || e->in_question || e->differs;
    e->say_again_at = is_one_unread ? 0 : is_known ? e->oldest_word + WORD_AGES : NEVER;
    bool always = !e->config.fleet || e->config.looks_only;
    e->words_hold_until = always ? NEVER : look ? LONG_AGO : e->oldest_word + WORD_LASTS;
}

void agreement_forget(struct engine *e, unsigned index)
{
    drop_text(e, &e->masters[index]);
    e->masters[index].word = (struct word){0};
    e->masters[index].agree_round = 0;
    note_words(e);
}

void agreement_expire(struct engine *e, unsigned index)
{
    struct word *word = &e->masters[index].word;
    drop_text(e, &e->masters[index]);
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

static void copy_text(char *to, struct slice bytes)
{
    if (bytes.bytes)
        memcpy(to, bytes.bytes, bytes.length);
}

/* The two together; false: there is no memory for them. */
static bool keep_text(struct engine *e, struct word *word, struct slice successor,
                      struct slice lists)
{
    size_t length = successor.length + lists.length;
    if (!length)
        return true;
    word->bytes = e->memory.take(e->memory.pool, length);
    if (!word->bytes)
        return false;
    copy_text(word->bytes, successor);
    copy_text(word->bytes + successor.length, lists);
    word->length = (uint32_t)length;
    return true;
}

/* Other lists are nothing to a client whose own is over, unless it only looks. */
void agreement_hear(struct engine *e, unsigned index, usec sent_at, struct slice lists)
{
    struct master *master = &e->masters[index];
    struct word *word = &master->word;
    struct slice successor;
    drop_text(e, master);
    *word = (struct word){.sent_at = sent_at, .heard_at = e->now};
    word->time = told_time(&lists, &word->changes, &successor);
    master->over = successor.bytes;
    bool counts = !master->over || e->config.looks_only;
    lists.length = counts ? worth_keeping(e, lists) : 0;
    if (!keep_text(e, word, successor, lists)) /* what it tells must not count as nothing */
        *word = (struct word){.heard_at = e->now};
    else
        word->successor = (uint32_t)successor.length;
    if (!counts)
        word->sent_at = 0;
    note_words(e);
}

void agreement_hear_nothing(struct engine *e, unsigned index)
{
    struct word *word = &e->masters[index].word;
    if (!word->sent_at)
        word->heard_at = e->now;
    note_words(e);
}

struct slice agreement_text(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    const struct word *word = &master->word;
    const char *lists = word->bytes ? word->bytes + word->successor : NULL;
    return agreement_has_word(e, index) ? (struct slice){lists, word->length - word->successor}
                                        : (struct slice){0};
}

/* ---- whose list goes ------------------------------------------------------------------- */

/* One other list, by the words of all masters. */
struct other {
    struct told_list list;
    bool foresees;                     /* see side_of_ours() */
    unsigned teller;                   /* the first of the masters that tell it */
    unsigned unsafe, before, behind;   /* the number of words that say so of it */
    uint16_t told;                     /* by these masters */
    uint16_t listed;                   /* ours whose addresses it has */
    unsigned char as_run[MASTERS_MAX]; /* of each of ours, the words that have its run_id there */
};

static bool runs_as(const struct engine *e, unsigned index, const struct told_process *theirs)
{
    const struct master *master = &e->masters[index];
    return theirs->run_id.length && master_is_up(master) && master->heard &&
           slices_are_same(slice_of(master->facts.run_id), theirs->run_id) &&
           sides_share_database(slice_of(e->config.addresses[index]), theirs->address);
}

static void note_named(const struct engine *e, struct other *other, const struct told_list *list)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool is_run = false; /* a liar may tell the run_id of several entries */
        for (unsigned j = 0; j < list->masters; j++) {
            const struct told_process *theirs = &list->processes[j];
            bool is_listed = slices_are_same(slice_of(e->config.addresses[i]), theirs->address);
            other->listed |= (uint16_t)(is_listed << i);
            is_run |= runs_as(e, i, theirs);
        }
        other->as_run[i] += is_run;
    }
}

static void add_word_on(const struct engine *e, struct other *other, unsigned teller,
                        const struct told_list *list)
{
    struct side ours = side_of_ours(e, other->foresees),
                theirs = side_of_theirs(list, &e->masters[teller].word);
    other->told |= (uint16_t)(1U << teller);
    other->unsafe += sides_may_not_meet(&ours, &theirs);
    other->before += list->place == '<';
    other->behind += list->place == '>';
    note_named(e, other, list);
}

/* Adds up the words of all masters about this list. */
static void gather(const struct engine *e, struct other *other)
{
    struct told_list list;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = agreement_text(e, i);
        while (told_list_next(&text, &list))
            if (list.place != '=' && !(other->told >> i & 1) &&
                told_lists_are_same(&list, &other->list))
                add_word_on(e, other, i, &list); /* once, however often a liar tells it */
    }
}

/* The master is the other list's, too, and its word is for us: it tells nothing of that list.  An
 * error tells nothing because the master has not looked. */
static bool knows_us_alone(const struct engine *e, const struct other *other, unsigned index)
{
    bool is_named = other->listed >> index & 1 || other->as_run[index] > e->config.spare;
    bool has_looked = agreement_has_word(e, index) && e->masters[index].word.time;
    return has_looked && is_named && !(other->told >> index & 1);
}

/* A word may still come. */
static bool is_expected(const struct engine *e, unsigned index)
{
    const struct master *master = &e->masters[index];
    return !agreement_has_word(e, index) && !master->refused && !master->failures && !master->over;
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
        struct slice text = agreement_text(e, i);
        while (told_list_next(&text, &earlier))
            if (earlier.place != '=' && told_lists_are_same(&earlier, list) &&
                told_lists_are_same(list, &earlier))
                return true;
    }
    return false;
}

/* The worst judgement for any other list. */
static enum judgement judge_all(const struct engine *e, bool foresees, struct other *worst)
{
    enum judgement is = MAY_GO_ON;
    struct other other = {0};
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = agreement_text(e, i);
        while (told_list_next(&text, &other.list)) {
            if (other.list.place == '=' || was_judged(e, i, &other.list))
                continue;
            other = (struct other){.list = other.list, .foresees = foresees, .teller = i};
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

static unsigned count_ends(const struct engine *e)
{
    unsigned over = 0;
    for (unsigned i = 0; i < e->config.masters; i++)
        over += e->masters[i].over;
    return over;
}

/* The others are fewer than a quorum.  A liar is one of those that a quorum can do without. */
static bool is_ended(const struct engine *e)
{
    return count_ends(e) > e->config.masters - e->quorum;
}

static void note_ended(struct engine *e)
{
    if (!is_ended(e))
        e->ends_until = 0;
    else if (!e->ends_until)
        e->ends_until = e->now + ENDS_WITHIN;
}

/* An answer that is under way, or a connection, may show another end. */
static bool is_end_expected(const struct engine *e)
{
    bool is_expected = false;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        bool is_coming = !master_is_up(master) && !master->failures;
        is_expected |= !master->over && (master->agree_round || is_coming);
    }
    return is_expected && e->now < e->ends_until;
}

/* The user hears of the end when a quorum tells the next list, if one will. */
static enum judgement judge_end(const struct engine *e)
{
    bool may_be_told = count_ends(e) < e->quorum && is_end_expected(e);
    return may_be_told && !e->differs ? UNDECIDED : MUST_GO;
}

bool agreement_wants_ends(const struct engine *e)
{
    return is_ended(e) && count_ends(e) < e->quorum;
}

bool agreement_awaits_ends(const struct engine *e)
{
    return e->undecided && is_ended(e);
}

bool agreement_judge(struct engine *e)
{
    struct other worst;
    note_ended(e);
    enum judgement is = e->config.looks_only ? MAY_GO_ON
                        : is_ended(e)        ? judge_end(e)
                                             : judge_all(e, false, &worst);
    bool differed = e->differs;
    e->differs = is == MUST_GO;
    e->undecided = is == UNDECIDED;
    if (agreement_awaits_ends(e))
        deadlines_at_latest(&e->deadlines, &e->deadline, e->ends_until);
    if (e->in_question && !e->config.looks_only)
        e->words_hold_until = LONG_AGO; /* see agreement_settle() */
    if (e->differs == differed)
        return false;
    note_words(e);
    entries_judge(e);
    return true;
}

static bool tried_all(const struct engine *e)
{
    bool tried = true;
    for (unsigned i = 0; i < e->config.masters; i++)
        tried &= e->masters[i].tried;
    return tried;
}

bool agreement_may_turn_on_looking(const struct engine *e)
{
    struct other worst;
    return !tried_all(e) && judge_all(e, true, &worst) != MAY_GO_ON;
}

bool agreement_other(const struct engine *e, struct told_list *list, unsigned *master)
{
    struct other worst;
    if (!e->differs || judge_all(e, false, &worst) != MUST_GO)
        return false;
    *list = worst.list;
    *master = worst.teller;
    return true;
}

bool agreement_successor(const struct engine *e, struct slice *successor)
{
    *successor = slice_of("");
    for (unsigned i = 0; i < e->config.masters; i++)
        if (e->masters[i].word.successor)
            *successor = (struct slice){e->masters[i].word.bytes, e->masters[i].word.successor};
    return e->differs && is_ended(e);
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
        struct slice text = agreement_text(e, i);
        while (told_list_next(&text, &other.list)) {
            if (other.list.place == '=' || !asks_for_more(&other.list, list))
                continue;
            other = (struct other){.list = other.list};
            gather(e, &other);
            if (is_unlike(e, &other))
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
    return judge_all(e, false, &worst) == MAY_GO_ON;
}

void agreement_settle(struct engine *e)
{
    usec told_at = 0, lived_at = NEVER;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        if (master->word.heard_at > told_at)
            told_at = master->word.heard_at;
        if (master_is_up(master) && !master->word.sent_at)
            return; /* its promises do not count */
        if (master_is_up(master) && master->lived_at < lived_at)
            lived_at = master->lived_at;
    }
    if (lived_at > told_at + quorum_drift(0, DRIFT_PPM))
        e->words_hold_until = e->oldest_word + WORD_LASTS;
}
