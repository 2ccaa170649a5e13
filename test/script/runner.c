/*
 * runner - plays scenarios to the core, and compares the whole of what it did.
 *
 *     runner FILE…            each trace must be as written
 *     runner --update FILE…   writes the traces anew
 *     runner --why FILE…      prints each scenario with lines "=?" behind what the core did: what
 *                             happened, and how the votes of the leases stood
 *     runner --starve FILE…   each scenario again and again, the n-th allocation failing, for
 *                             n = 1, 2, … until one goes through
 *
 * A scenario is one command per line. '#' begins a comment, and "=>" a line of the trace, which
 * follows the command that caused it; a long one goes on, indented. At the end of every scenario
 * the engine closes. It must come to rest with nothing owed, nothing leaked and an outcome for each
 * lease.
 *
 *     masters N [spare F] [max-ttl T] [drift P] [timeout T] [connect-timeout T] [trust] [looks]
 *             [all-answers] [local-turn T] [strict] [fleet] [backlog N] [up]: `up` is `silently
 *             connect all`
 *     connect WHO [HELLO]      the connection is made and hello answered
 *     connected WHO            only made
 *     reply WHO ANSWER         to the oldest request: yes, healed, held [HOLDER [T]],
 *                              absent, late, noscript, no-clock, error TEXT, hello [HELLO];
 *                              to a grant or raise yes, held, absent: each with clock T;
 *                              to a queue yes, ahead, queued [left T] [behind N] [foreign], with
 *                              clock T; of a slot held and queued offer others: [free SLOT]
 *                              [line SLOT], [free SLOT] [younger SLOT]
 *                              to announce yes, held, absent; to unsay yes, absent; to observe
 *                              yes with SAID (see `said`), absent; to ask held by TOKEN with
 *                              heeding N and waiting N, absent
 *                              to arrive yes, open TOKENS, queued, held of N, over at G; to depart
 *                              yes, open, absent, held, over; all with [counted N]
 *                              to tally, mend yes, open: latch ID of N ends T [left T] [for T]
 *                              [arrived A,B]; or absent; to drop yes, absent
 *                              to a survey yes, cursor C of N [without N] [names A,B]
 *                              to agree yes, [over] [before 1,2] [behind 1,2]: others have these
 *                              masters
 *     greet WHO                answers every open hello, if there is one
 *     lose WHO [TEXT]          the connection ends, or cannot be made
 *     subscribed WHO [same]    its notification connection is subscribed: to another process, if
 *                              a subscribed one has ended while the other connection stands;
 *                              `same`: to the same
 *     alive WHO                it answers a probe
 *     unsubscribed WHO         it ends, or cannot be made
 *     push WHO TOKEN clock T   it has handed the names to that token
 *     hint WHO TOKEN slot N    it offers the waiter with that token a free slot
 *     hang WHO                 it never answers again on this connection
 *     clock WHO T              its wall clock less ours
 *     advance T                time passes, timers fire when they are due
 *     until sent|told|connect  time passes until the core does that
 *     jump T                   the clock jumps, nothing fires
 *     acquire LEASE NAMES TERMS     attach LEASE NAMES TOKEN TERMS
 *     inspect LEASE NAMES           release-token LEASE NAMES TOKEN
 *     extend LEASE [T]   release LEASE   cancel LEASE   free LEASE   detach LEASE
 *     leave LEASE              its user detaches it; the core learns that later
 *     downgrade LEASE   upgrade LEASE
 *     adopt WHO   close   give-up
 *     announce LEASE VALUE     replaces its announcement; a call that ends or shares the lease
 *                              takes it back
 *     observe OBSERVER NAME [later]   begin OBSERVER   unobserve OBSERVER
 *     ask ASKER NAME [text WORD] [wait TIME] [again]   drop ASKER
 *     heed|watch HEEDER NAME LEASE   unobserve HEEDER
 *     survey SURVEY BEGINNING [foreign]   unobserve SURVEY
 *     arrive PARTY NAME of N [generation G] [ttl T] [wait T] [as TOKEN]    at a barrier
 *     latch CALL create|arrive|await|count NAME [of N] [life T] [wait T] [id ID] [as ARRIVAL]
 *     depart PARTY|CALL   drop PARTY|CALL
 *     said WHO NAME SAID       a push about a word: term T number N by TOKEN value VALUE;
 *                              a wish has `wish WHO,TEXT` in place of the value
 *                              left T; or "nothing"
 *     tells wait | tells       outcomes wait until `tell`, or come at once
 *     valid LEASE   fence LEASE   mode LEASE   place LEASE   owed   leases   lines
 *                              print the engine's answer
 *     silently COMMAND         without its trace
 *     repeat N COMMAND         N times
 *     repeat N                 the lines up to `end` N times; {n} in them is 1, 2, … N, and the
 *                              trace of all of them follows `end`
 *
 *     LEASE: a name; "*" stands for one more of many, *1, *2, and so on.
 *     WHO: numbers, or "all".  T: 10s, 3ms, 250us.  NAMES: with commas between them, and
 *          "/shared" behind a name that is shared.
 *     TERMS: ttl T [wait T | wait forever] [margin T] [max-hold T] [no-renew] [fence]
 *            [at-least T] [permits K]
 *     HELLO: [run ID] [role ROLE] [abstains T] [max-ttl T] [age T] [clock T] [uptime T]
 *            [no-id]: without the number of the connection
 *
 * Logical clocks, proposals and fences are written as the time of a scenario at which a right wall
 * clock has that value: 0s is its beginning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_tasks.h"
#include "why.h"

#define WORDS_MAX   48
#define LINE_MAX    512
#define REPEATS_MAX 10000

struct block {
    unsigned times; /* 0: there is no block */
    unsigned turn;  /* the first is 1 */
    unsigned line;  /* of its `repeat` */
    size_t body;    /* where its first line begins */
    bool silent;
    struct text trace; /* of all turns so far */
};

struct scenario {
    const char *path;
    unsigned line;
    size_t next; /* where the next line begins */
    struct block block;
    const struct watcher *watcher;
    bool starving; /* an event that the script answers may be missing */
    bool quiet;    /* it is known how it fails */
    bool failed;
    unsigned numbered;
    struct fake fake;
};

struct words {
    char *word[WORDS_MAX];
    unsigned count, next;
};

static void fail(struct scenario *s, const char *what, const char *about)
{
    if (s->failed)
        return;
    s->failed = true;
    if (s->quiet)
        return;
    fprintf(stderr, "%s:%u: %s%s%s", s->path, s->line, what, about[0] ? ": " : "", about);
    if (s->block.times)
        fprintf(stderr, " (turn %u of %u)", s->block.turn, s->block.times);
    fprintf(stderr, "\n");
}

/* The scenario asks for what cannot be. */
static void complain(struct scenario *s, const char *what, const char *about)
{
    if (!s->starving)
        fail(s, what, about);
}

/* ---- words -------------------------------------------------------------------- */

static const char *next_word(struct words *words)
{
    return words->next < words->count ? words->word[words->next++] : "";
}

/* Takes "KEY VALUE" from any place in the line; "" if it is not there. */
static const char *value_of(const struct words *words, const char *key)
{
    for (unsigned i = words->next; i + 1 < words->count; i++)
        if (strcmp(words->word[i], key) == 0)
            return words->word[i + 1];
    return "";
}

static bool has(const struct words *words, const char *key)
{
    for (unsigned i = words->next; i < words->count; i++)
        if (strcmp(words->word[i], key) == 0)
            return true;
    return false;
}

static usec read_time(struct scenario *s, const char *text)
{
    static const struct {
        const char *unit;
        double size;
    } units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"h", 3600e6}};
    char *unit;
    double number = strtod(text, &unit);
    for (size_t i = 0; unit != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].unit) == 0)
            return (usec)(number * units[i].size + (number < 0 ? -0.5 : 0.5));
    complain(s, "not a time", text);
    return 0;
}

static usec time_of(struct scenario *s, const struct words *words, const char *key, usec otherwise)
{
    const char *text = value_of(words, key);
    return *text ? read_time(s, text) : otherwise;
}

/* The masters that a command is about: a bit for each. */
static unsigned read_who(struct scenario *s, struct words *words)
{
    unsigned who = 0, masters = s->fake.engine.config.masters;
    while (words->next < words->count) {
        const char *word = words->word[words->next];
        bool digits = word[strspn(word, "0123456789")] == '\0';
        unsigned number = digits ? (unsigned)atoi(word) : 0;
        if (strcmp(word, "all") == 0)
            who = (1U << masters) - 1;
        else if (number >= 1 && number <= masters)
            who |= 1U << (number - 1);
        else
            break;
        words->next++;
    }
    if (!who)
        complain(s, "which master?", "");
    return who;
}

#define FOR_EACH(i, who)                                                                           \
    for (unsigned i = 0; i < MASTERS_MAX; i++)                                                     \
        if ((who)&1U << i)

static void join(char *to, size_t size, struct words *words)
{
    to[0] = '\0';
    while (words->next < words->count) {
        size_t used = strlen(to);
        snprintf(to + used, size - used, "%s%s", used ? " " : "", next_word(words));
    }
}

/* ---- masters --------------------------------------------------------------------- */

static void connect_all_silently(struct scenario *s, const struct engine_config *config)
{
    s->fake.silent = true;
    fake_start(&s->fake, config);
    for (unsigned i = 0; i < config->masters; i++)
        fake_connected(&s->fake, i);
    for (unsigned i = 0; i < config->masters; i++)
        fake_answer_hello(&s->fake, i);
    fake_flush(&s->fake);
    s->fake.silent = false;
}

static void be_of_a_fleet(struct engine_config *config)
{
    static const char *const addresses[MASTERS_MAX] = {"m1", "m2", "m3", "m4", "m5",
                                                       "m6", "m7", "m8", "m9"};
    config->fleet = "fleet";
    memcpy(config->addresses, addresses, sizeof config->addresses);
}

static void do_masters(struct scenario *s, struct words *words)
{
    struct engine_config config = {.masters = (unsigned)atoi(next_word(words))};
    if (!config.masters || config.masters > MASTERS_MAX || s->fake.started) {
        complain(s, "how many masters?", "");
        return;
    }
    config.spare = (unsigned)atoi(value_of(words, "spare"));
    config.max_ttl_ms = time_of(s, words, "max-ttl", MS(30000)) / 1000;
    config.connect_timeout = time_of(s, words, "connect-timeout", MS(1000));
    config.request_timeout = time_of(s, words, "timeout", 0);
    config.backlog = (unsigned)atoi(value_of(words, "backlog"));
    const char *drift = value_of(words, "drift");
    config.drift_ppm = *drift ? (int64_t)(atof(drift) * 1e4 + 0.5) : 10000;
    config.skew_ms = 1000;
    config.trust_restarts = has(words, "trust");
    config.looks_only = has(words, "looks");
    config.local_turn = time_of(s, words, "local-turn", 0);
    config.strict_order = has(words, "strict");
    if (has(words, "fleet"))
        be_of_a_fleet(&config);
    if (has(words, "up"))
        connect_all_silently(s, &config);
    else
        fake_start(&s->fake, &config);
}

/* 0: none */
static usec read_logical(struct scenario *s, const struct words *words)
{
    const char *clock = value_of(words, "clock");
    return *clock ? EPOCH + read_time(s, clock) : 0;
}

static void set_facts(struct scenario *s, struct fake_master *master, const struct words *words)
{
    const char *run = value_of(words, "run"), *role = value_of(words, "role");
    if (*run)
        snprintf(master->run_id, sizeof master->run_id, "%s", run);
    if (*role)
        snprintf(master->role, sizeof master->role, "%s", role);
    if (has(words, "abstains"))
        master->quarantined = s->fake.now + time_of(s, words, "abstains", 0);
    if (has(words, "age"))
        master->age = time_of(s, words, "age", 0) - (s->fake.now - EPOCH);
    if (has(words, "uptime"))
        master->uptime_s = time_of(s, words, "uptime", 0) / MS(1000);
    if (has(words, "max-ttl"))
        master->max_ttl_ms = time_of(s, words, "max-ttl", 0) / 1000;
    if (has(words, "clock"))
        master->logical = read_logical(s, words);
    if (has(words, "no-id"))
        master->client_id = 0;
}

static void connected_at(struct scenario *s, unsigned i)
{
    if (s->fake.masters[i].wire != WIRE_CONNECTING)
        complain(s, "not being connected", "");
    fake_connected(&s->fake, i);
}

static void do_connect(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH (i, who) {
        connected_at(s, i);
        set_facts(s, &s->fake.masters[i], words);
    }
    FOR_EACH (i, who)
        fake_answer_hello(&s->fake, i);
}

static void greet_at(struct scenario *s, unsigned i)
{
    while (s->fake.masters[i].count && s->fake.masters[i].waiting[0].kind == REQUEST_HELLO)
        fake_answer_hello(&s->fake, i);
}

static void do_lose(struct scenario *s, struct words *words)
{
    char why[VOTE_TEXT_MAX];
    unsigned who = read_who(s, words);
    join(why, sizeof why, words);
    FOR_EACH (i, who) {
        if (s->fake.masters[i].wire == WIRE_DOWN)
            complain(s, "not connected", "");
        fake_lose(&s->fake, i, why[0] ? why : "connection lost");
    }
}

static void hang_at(struct scenario *s, unsigned i)
{
    s->fake.masters[i].hangs = true;
}

static void adopt_at(struct scenario *s, unsigned i)
{
    fake_step(&s->fake, &(struct event){.kind = EVENT_ADOPT, .master = i});
}

static void do_clock(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    usec clock = read_time(s, next_word(words));
    FOR_EACH (i, who)
        s->fake.masters[i].clock = clock;
}

/* ---- replies ---------------------------------------------------------------------- */

static bool read_answer(struct scenario *s, struct words *words, enum answer *read)
{
    const char *word = next_word(words);
    for (enum answer answer = ANSWER_YES; answer <= ANSWER_OVER; answer++)
        if (answer != ANSWER_LOST && strcmp(word, fake_answer_name(answer)) == 0) {
            *read = answer;
            return true;
        }
    complain(s, "not an answer", word);
    return false;
}

/* -1: none */
static int16_t slot_of(struct words *words, const char *word)
{
    const char *value = value_of(words, word);
    return *value ? (int16_t)atoi(value) : -1;
}

/* Scenarios number the tokens in the order in which the core draws them. */
static const char *spelled(const struct scenario *s, const char *token)
{
    unsigned number = strncmp(token, "token-", 6) == 0 ? (unsigned)atoi(token + 6) : 0;
    bool is_ours = number && number <= TOKENS_MAX && s->fake.tokens[number - 1][0];
    return is_ours ? s->fake.tokens[number - 1] : token;
}

static struct heed_reply read_heed(struct scenario *s, struct words *words)
{
    const char *by = value_of(words, "by");
    return (struct heed_reply){.value = slice_of(spelled(s, by)),
                               .remaining_ms = 5000,
                               .waiting = (unsigned)atoi(value_of(words, "waiting")),
                               .heeding = (unsigned)atoi(value_of(words, "heeding"))};
}

/* The first comma stands for a space, ^ and ~ for bytes that steer a terminal, a final @ for 264 x.
 */
static struct slice words_of_wish(const char *word)
{
    static char text[400];
    snprintf(text, sizeof text, "%s", word);
    char *comma = strchr(text, ','), *many = strchr(text, '@');
    if (comma)
        *comma = ' ';
    if (many)
        memset(many, 'x', 264);
    for (char *at = text; *at; at++)
        *at = *at == '^' ? '\033' : *at == '~' ? '\177' : *at;
    return slice_of(text);
}

static struct said read_said(struct scenario *s, const struct words *words)
{
    const char *term = value_of(words, "term"), *token = spelled(s, value_of(words, "by"));
    const char *wish = value_of(words, "wish");
    if (!*term)
        return (struct said){0};
    return (struct said){.term = EPOCH + read_time(s, term),
                         .number = atoi(value_of(words, "number")),
                         .token = slice_of(token),
                         .value = *wish ? words_of_wish(wish) : slice_of(value_of(words, "value")),
                         .remaining_ms = time_of(s, words, "left", 0) / 1000};
}

/* With commas between them; in the reply one a line. */
static struct slice read_tokens(const struct scenario *s, const char *tokens)
{
    static char lines[8 * (TOKEN_MAX + 1)];
    char list[sizeof lines], *rest = NULL;
    size_t used = 0;
    lines[0] = '\0';
    snprintf(list, sizeof list, "%s", tokens);
    for (char *token = strtok_r(list, ",", &rest); token; token = strtok_r(NULL, ",", &rest))
        used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%s", used ? "\n" : "",
                                 spelled(s, token));
    return (struct slice){lines, used};
}

/* The names, as a master spells them. */
static struct survey_reply read_survey(const struct words *words)
{
    static char found[400];
    const char *names = value_of(words, "names");
    size_t used = 0;
    while (*names) {
        size_t length = strcspn(names, ",");
        used += (size_t)snprintf(found + used, sizeof found - used, "%zu:%.*s", length, (int)length,
                                 names);
        names += length + (names[length] == ',');
    }
    return (struct survey_reply){.cursor = slice_of(value_of(words, "cursor")),
                                 .keys = atoi(value_of(words, "of")),
                                 .left_out = (unsigned)atoi(value_of(words, "without")),
                                 .names = {found, used}};
}

/* How long something still lasts. */
static int64_t left_of(struct scenario *s, const struct words *words, int64_t untold)
{
    return *value_of(words, "left") ? time_of(s, words, "left", 0) / 1000 : untold;
}

static struct latch_reply read_latch(struct scenario *s, const struct words *words)
{
    usec ends = EPOCH + time_of(s, words, "ends", 0);
    return (struct latch_reply){.id = slice_of(spelled(s, value_of(words, "latch"))),
                                .arrivals = (uint16_t)atoi(value_of(words, "of")),
                                .ends_ms = ends / 1000,
                                .remaining_ms = left_of(s, words, (ends - s->fake.now) / 1000),
                                .age = time_of(s, words, "for", 0),
                                .arrived = read_tokens(s, value_of(words, "arrived"))};
}

static struct barrier_reply read_barrier(struct scenario *s, struct words *words,
                                         enum answer answer)
{
    return (struct barrier_reply){
        .parties = (uint16_t)atoi(value_of(words, "of")),
        .counted = (unsigned)atoi(value_of(words, "counted")),
        .tokens = answer == ANSWER_OPEN ? read_tokens(s, next_word(words)) : (struct slice){0},
        .latest = answer == ANSWER_OVER ? atoi(value_of(words, "at")) : 0};
}

static struct queue_reply read_queue(struct scenario *s, struct words *words)
{
    return (struct queue_reply){.slots = {slot_of(words, "free"), slot_of(words, "younger")},
                                .position = (unsigned)atoi(value_of(words, "behind")),
                                .remaining_ms = left_of(s, words, -1),
                                .foreign = has(words, "foreign")};
}

/* HOLDER [T] */
static struct peek_reply read_peek(struct scenario *s, struct words *words)
{
    struct peek_reply peek = {.remaining_ms = left_of(s, words, -1),
                              .permits = (uint16_t)atoi(value_of(words, "of"))};
    if (!peek.permits)
        peek.value = slice_of(next_word(words));
    if (!peek.permits && words->next < words->count)
        peek.remaining_ms = read_time(s, next_word(words)) / 1000;
    return peek;
}

/* One list, as a master tells it. */
static size_t put_list(char *to, size_t size, char place, const char *masters)
{
    unsigned count = 1;
    for (const char *c = masters; *c; c++)
        count += *c == ',';
    size_t used = (size_t)snprintf(to, size, "%c 9000000 1000000 1 %u 0 30000 %u web\n", place,
                                   quorum_of(count, 0), count);
    while (*masters) {
        size_t length = strcspn(masters, ",");
        used += (size_t)snprintf(to + used, size - used, "0 0 - m%.*s\n", (int)length, masters);
        masters += length + (masters[length] == ',');
    }
    return used;
}

static struct slice read_lists(const struct words *words)
{
    static char lists[1000];
    const char *before = value_of(words, "before"), *behind = value_of(words, "behind");
    const char *over = has(words, "over") ? " over 10.0.0.9:1" : "";
    size_t used = (size_t)snprintf(lists, sizeof lists, "1700000000000000%s\n", over);
    if (*before)
        used += put_list(lists + used, sizeof lists - used, '<', before);
    if (*behind)
        used += put_list(lists + used, sizeof lists - used, '>', behind);
    return (struct slice){lists, used};
}

static void read_details(struct scenario *s, struct words *words, struct reply *reply)
{
    static char text[VOTE_TEXT_MAX];
    text[0] = '\0';
    reply->clock = read_logical(s, words);
    if (reply->answer == ANSWER_ERROR)
        join(text, sizeof text, words);
    reply->text = slice_of(text);
    if (reply->answer == ANSWER_ERROR)
        return;
    if (reply->tag.kind == REQUEST_AGREE && reply->answer == ANSWER_YES)
        reply->lists = read_lists(words);
    else if (reply->tag.kind == REQUEST_GRANT)
        reply->grant = (struct slots_reply){slot_of(words, "free"), slot_of(words, "line")};
    else if (reply->tag.kind == REQUEST_QUEUE)
        reply->queue = read_queue(s, words);
    else if (reply->tag.kind == REQUEST_PEEK && reply->answer == ANSWER_HELD)
        reply->peek = read_peek(s, words);
    else if (reply->tag.kind == REQUEST_OBSERVE && reply->answer == ANSWER_YES)
        reply->said = read_said(s, words);
    else if (reply->tag.kind == REQUEST_ASK && reply->answer == ANSWER_HELD)
        reply->heed = read_heed(s, words);
    else if (reply->tag.kind == REQUEST_ARRIVE || reply->tag.kind == REQUEST_DEPART)
        reply->barrier = read_barrier(s, words, reply->answer);
    else if (*value_of(words, "latch"))
        reply->latch = read_latch(s, words);
    else if (reply->tag.kind == REQUEST_SURVEY)
        reply->survey = read_survey(words);
}

static bool tells_clock(enum request_kind kind, enum answer answer)
{
    if (kind == REQUEST_QUEUE)
        return answer == ANSWER_YES || answer == ANSWER_AHEAD || answer == ANSWER_QUEUED;
    return (kind == REQUEST_GRANT || kind == REQUEST_RAISE) &&
           (answer == ANSWER_YES || answer == ANSWER_HELD || answer == ANSWER_ABSENT);
}

/* Grants and upgrades carry it if there is a fence. */
static bool fits_clock(enum request_kind kind, enum answer answer, usec clock)
{
    if (request_is_of_task(kind))
        return true;
    if ((kind == REQUEST_UPGRADE || kind == REQUEST_GRANT) && answer == ANSWER_YES)
        return true;
    return tells_clock(kind, answer) == (clock != 0);
}

static bool fits(enum request_kind kind, const struct reply *reply)
{
    if (kind > REQUEST_ADOPT)
        return reply->answer != ANSWER_HELLO && fits_clock(kind, reply->answer, reply->clock);
    bool is_refused = reply->answer == ANSWER_ERROR ||
                      (reply->answer == ANSWER_NOSCRIPT && kind == REQUEST_HELLO);
    return reply->answer == ANSWER_HELLO || is_refused;
}

static void reply_once(struct scenario *s, unsigned index, enum answer answer, struct words *words)
{
    struct fake_master *master = &s->fake.masters[index];
    bool knows = master->count && !master->hangs && master->wire == WIRE_UP;
    if (!knows) {
        complain(s, master->count ? "that master cannot answer" : "nothing was asked", "");
        return;
    }
    struct reply reply;
    reply_begin(&reply, &master->waiting[0]);
    reply.answer = answer;
    read_details(s, words, &reply);
    if (!fits(reply.tag.kind, &reply)) {
        complain(s, "that is no answer to what was asked", "");
        return;
    }
    if (reply.tag.kind == REQUEST_RENEW)
        reply.master_time = s->fake.now + master->clock;
    if (answer == ANSWER_HELLO)
        fake_answer_hello(&s->fake, index);
    else
        fake_answer(&s->fake, index, &reply);
}

static void do_reply(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    enum answer answer;
    if (!read_answer(s, words, &answer))
        return;
    if (answer == ANSWER_HELLO)
        FOR_EACH (i, who)
            set_facts(s, &s->fake.masters[i], words);
    unsigned details = words->next;
    FOR_EACH (i, who) {
        words->next = details;
        reply_once(s, i, answer, words);
    }
}

/* ---- notification connections ------------------------------------------------------- */

static void do_subscribed(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH (i, who) {
        bool other = s->fake.masters[i].lost_it && !has(words, "same");
        if (!fake_subscribed(&s->fake, i, other))
            complain(s, "no subscription was asked for", "");
    }
}

static void alive_at(struct scenario *s, unsigned i)
{
    if (!fake_alive(&s->fake, i))
        complain(s, "nobody listens", "");
}

static void unsubscribed_at(struct scenario *s, unsigned i)
{
    if (!fake_unsubscribed(&s->fake, i))
        complain(s, "nobody listens", "");
}

static void push(struct scenario *s, unsigned who, const char *token, usec clock, int slot)
{
    FOR_EACH (i, who)
        if (!fake_push(&s->fake, i, token, clock, slot))
            complain(s, "nobody listens, or there is no such token", token);
}

static void do_push(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    const char *token = next_word(words);
    push(s, who, token, read_logical(s, words), -1);
}

static void do_hint(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    const char *token = next_word(words);
    int slot = slot_of(words, "slot");
    if (slot < 0)
        complain(s, "a hint names a slot", token);
    push(s, who, token, 0, slot);
}

/* ---- what is said ----------------------------------------------------------------- */

static void do_said(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    const char *name = next_word(words);
    struct said said = read_said(s, words);
    FOR_EACH (i, who)
        if (!fake_tasks_push(&s->fake, i, name, &said))
            complain(s, "nobody listens", "");
}

static void do_announce(struct scenario *s, struct words *words)
{
    const char *name = next_word(words), *value = next_word(words);
    const struct actor *actor = fake_actor(&s->fake, name);
    if (!actor || !lease_fence(&actor->core) || !lease_names(&actor->core))
        complain(s, "no such leader", name);
    else if (!fake_tasks_announce(&s->fake, actor, value))
        complain(s, "out of memory, or too many announce", "");
}

static void do_observe(struct scenario *s, struct words *words)
{
    const char *observer = next_word(words);
    struct names *names = fake_names(&s->fake, next_word(words));
    if (!names || !fake_tasks_observe(&s->fake, observer, names, !has(words, "later")))
        complain(s, "out of memory, or too many observers", "");
    if (names)
        names_drop(&s->fake.memory, names);
}

/* A name, and that of its wishes. */
static struct names *names_to_ask(struct scenario *s, const char *name)
{
    char wishes[64];
    snprintf(wishes, sizeof wishes, "%s%s", WISHES, name);
    struct slice both[] = {slice_of(name), slice_of(wishes)};
    return names_new(&s->fake.memory, slice_of(""), both, 2);
}

static void do_ask(struct scenario *s, struct words *words)
{
    const char *asker = next_word(words);
    struct names *names = names_to_ask(s, next_word(words));
    const struct asker_terms terms = {.text = slice_of(value_of(words, "text")),
                                      .wait = time_of(s, words, "wait", NEVER),
                                      .again = has(words, "again")};
    if (!names || !fake_tasks_ask(&s->fake, asker, names, &terms))
        complain(s, "out of memory, or too many askers", "");
    if (names)
        names_drop(&s->fake.memory, names);
}

static void hear_for(struct scenario *s, struct words *words, bool heeds)
{
    const char *heeder = next_word(words);
    struct slice name = slice_of(next_word(words));
    const struct actor *actor = fake_actor(&s->fake, next_word(words));
    struct names *names = names_new(&s->fake.memory, slice_of(heeds ? WISHES : TAKEN), &name, 1);
    if (!actor || !lease_names(&actor->core))
        complain(s, "no such lease", "");
    else if (!names || !fake_tasks_heed(&s->fake, heeder, names, &actor->core, heeds))
        complain(s, "out of memory, or too many heeders", "");
    if (names)
        names_drop(&s->fake.memory, names);
}

static void do_heed(struct scenario *s, struct words *words)
{
    hear_for(s, words, true);
}

static void do_watch(struct scenario *s, struct words *words)
{
    hear_for(s, words, false);
}

static void do_survey(struct scenario *s, struct words *words)
{
    const char *survey = next_word(words);
    struct names *begins = fake_names(&s->fake, next_word(words));
    if (!begins || !fake_tasks_survey(&s->fake, survey, begins, has(words, "foreign")))
        complain(s, "out of memory, or too many surveys", "");
    if (begins)
        names_drop(&s->fake.memory, begins);
}

/* ---- barriers, latches ------------------------------------------------------------- */

static void do_arrive(struct scenario *s, struct words *words)
{
    const char *party = next_word(words), *token = value_of(words, "as");
    struct names *names = fake_names(&s->fake, next_word(words));
    const struct barrier_terms terms = {.generation = atoi(value_of(words, "generation")),
                                        .parties = (unsigned)atoi(value_of(words, "of")),
                                        .ttl = time_of(s, words, "ttl", MS(9000)),
                                        .wait = time_of(s, words, "wait", NEVER)};
    if (!names || !fake_tasks_arrive(&s->fake, party, names, &terms, *token ? token : NULL))
        complain(s, "out of memory, or too many parties", "");
    if (names)
        names_drop(&s->fake.memory, names);
}

static bool read_call(const char *word, enum latch_call *call)
{
    static const char *const names[] = {[LATCH_CREATE] = "create",
                                        [LATCH_ARRIVE] = "arrive",
                                        [LATCH_AWAIT] = "await",
                                        [LATCH_COUNT] = "count"};
    for (*call = LATCH_CREATE; *call <= LATCH_COUNT; ++*call)
        if (strcmp(names[*call], word) == 0)
            return true;
    return false;
}

static void do_latch(struct scenario *s, struct words *words)
{
    const char *caller = next_word(words), *what = next_word(words);
    struct names *names = fake_names(&s->fake, next_word(words));
    const char *id = value_of(words, "id"), *arrival = value_of(words, "as");
    struct latch_terms terms = {.arrivals = (unsigned)atoi(value_of(words, "of")),
                                .life = time_of(s, words, "life", MS(100000)),
                                .wait = time_of(s, words, "wait", NEVER),
                                .id = *id ? spelled(s, id) : NULL,
                                .arrival = *arrival ? arrival : NULL};
    if (!read_call(what, &terms.call))
        complain(s, "create, arrive, await or count?", what);
    else if (!names || !fake_tasks_latch(&s->fake, caller, names, &terms))
        complain(s, "out of memory, or too many calls", "");
    if (names)
        names_drop(&s->fake.memory, names);
}

static bool depart(struct fake *fake, const char *party)
{
    return fake_tasks_depart(fake, party, false);
}

static bool drop(struct fake *fake, const char *party)
{
    return fake_tasks_depart(fake, party, true);
}

/* ---- time ------------------------------------------------------------------------- */

static void do_advance(struct scenario *s, struct words *words)
{
    fake_advance(&s->fake, read_time(s, next_word(words)));
}

static void do_until(struct scenario *s, struct words *words)
{
    const char *what = next_word(words);
    const unsigned *events = strcmp(what, "sent") == 0      ? &s->fake.sent
                             : strcmp(what, "told") == 0    ? &s->fake.told
                             : strcmp(what, "connect") == 0 ? &s->fake.connects
                                                            : NULL;
    if (!events)
        complain(s, "until what?", what);
    else if (!fake_until(&s->fake, s->fake.now + MS(3600 * 1000), events))
        complain(s, "that does not come to pass", what);
}

static void do_jump(struct scenario *s, struct words *words)
{
    s->fake.now += read_time(s, next_word(words));
}

/* ---- leases ----------------------------------------------------------------------- */

/* As redlock_lease_options has it. */
static usec usual_margin(usec ttl)
{
    usec margin = ttl / 20 < MS(10) ? MS(10) : ttl / 20;
    return margin < ttl / 4 ? margin : ttl / 4;
}

static struct terms read_terms(struct scenario *s, const struct words *words)
{
    struct terms terms = {.ttl = time_of(s, words, "ttl", 0)};
    terms.margin = time_of(s, words, "margin", usual_margin(terms.ttl));
    if (strcmp(value_of(words, "wait"), "forever") == 0)
        terms.wait = NEVER;
    else
        terms.wait = time_of(s, words, "wait", 0);
    terms.max_hold = time_of(s, words, "max-hold", 0);
    terms.at_least = time_of(s, words, "at-least", 0);
    terms.permits = (unsigned)atoi(value_of(words, "permits"));
    terms.renew = !has(words, "no-renew");
    terms.fence = has(words, "fence");
    terms.all_answers = has(words, "all-answers");
    return terms;
}

static void begin(struct scenario *s, struct words *words, enum event_kind kind, bool token)
{
    const char *name = next_word(words), *names = next_word(words);
    const char *by = token ? next_word(words) : NULL;
    struct terms terms = read_terms(s, words);
    char numbered[32];
    if (strcmp(name, "*") == 0) { /* of many */
        snprintf(numbered, sizeof numbered, "*%u", ++s->numbered);
        name = numbered;
    }
    if (fake_actor(&s->fake, name)) {
        complain(s, "there is one of that name", name);
        return;
    }
    if (fake_new(&s->fake, name, names, &terms, by))
        fake_call(&s->fake, fake_actor(&s->fake, name), kind, 0);
    else
        complain(s, "out of memory, or too many leases", "");
}

/* A lease without a handle, or with a freed one, cannot be called. */
static void call(struct scenario *s, struct words *words, enum event_kind kind)
{
    const char *name = next_word(words);
    struct actor *actor = fake_actor(&s->fake, name);
    usec ttl = words->next < words->count ? read_time(s, next_word(words)) : 0;
    if (!actor)
        complain(s, "no such lease", name);
    else
        fake_call(&s->fake, actor, kind, ttl);
}

/* The user detaches it; the core learns that later. */
static void leave(struct scenario *s, struct actor *actor)
{
    (void)s;
    lease_leave(&actor->core);
}

static void do_close(struct scenario *s, struct words *words)
{
    (void)words;
    fake_tasks_close(&s->fake);
    s->fake.closing = true;
    fake_step(&s->fake, &(struct event){.kind = EVENT_CLOSE});
}

static void do_give_up(struct scenario *s, struct words *words)
{
    (void)words;
    fake_step(&s->fake, &(struct event){.kind = EVENT_GIVE_UP});
}

static void do_tells(struct scenario *s, struct words *words)
{
    s->fake.telling = !has(words, "wait");
    if (s->fake.telling)
        fake_tell_all(&s->fake);
}

static void do_tell(struct scenario *s, struct words *words)
{
    (void)words;
    fake_tell_all(&s->fake);
}

/* ---- asking the engine --------------------------------------------------------------- */

static void note_validity(struct scenario *s, struct actor *actor)
{
    usec left = lease_valid_until(&actor->core) - s->fake.now;
    fake_note(&s->fake, "%s is valid for %s", actor->name, fake_time(left > 0 ? left : 0));
}

static void note_fence(struct scenario *s, struct actor *actor)
{
    usec fence = lease_fence(&actor->core);
    fake_note(&s->fake, "%s has %s%s", actor->name, fence ? "fence " : "no fence",
              fence ? fake_time(fence - EPOCH) : "");
}

static void note_mode(struct scenario *s, struct actor *actor)
{
    fake_note(&s->fake, "%s is %s", actor->name,
              lease_is_shared(&actor->core) ? "shared" : "exclusive");
}

static void note_place(struct scenario *s, struct actor *actor)
{
    unsigned position;
    usec expires;
    if (!place_look(&s->fake.engine, &actor->core, &position, &expires))
        fake_note(&s->fake, "%s does not wait", actor->name);
    else
        fake_note(&s->fake, "%s is behind %u, the holder has %s", actor->name, position,
                  expires == NEVER ? "no known end" : fake_time(expires));
}

static void do_lines(struct scenario *s, struct words *words)
{
    (void)words;
    const struct engine *e = &s->fake.engine;
    const struct engine_counters *counters = &e->counters;
    fake_note(&s->fake,
              "%llu waiting; %llu handed over, %llu here; %llu pushes, %llu found, "
              "%llu yields",
              (unsigned long long)e->waiters, (unsigned long long)counters->handoffs,
              (unsigned long long)counters->handed_here, (unsigned long long)counters->pushes,
              (unsigned long long)counters->found, (unsigned long long)counters->yields);
}

static void do_owed(struct scenario *s, struct words *words)
{
    (void)words;
    fake_note(&s->fake, "%u releases owed", engine_owed(&s->fake.engine));
}

static void do_leases(struct scenario *s, struct words *words)
{
    (void)words;
    const struct engine *e = &s->fake.engine;
    fake_note(&s->fake, "%llu held, %llu busy, %u releases owed", (unsigned long long)e->held.count,
              (unsigned long long)e->busy.count, engine_owed(e));
}

/* ---- scenarios ------------------------------------------------------------------------ */

static void obey(struct scenario *s, struct words *words);

static void do_silently(struct scenario *s, struct words *words)
{
    fake_flush(&s->fake);
    s->fake.silent = true;
    obey(s, words);
    fake_flush(&s->fake);
    s->fake.silent = s->block.silent;
}

static void begin_block(struct scenario *s, unsigned times)
{
    if (s->block.times)
        complain(s, "a block inside of a block", "");
    else
        s->block = (struct block){
            .times = times, .turn = 1, .line = s->line, .body = s->next, .silent = s->fake.silent};
}

static void do_end(struct scenario *s, struct words *words)
{
    (void)words;
    if (!s->block.times) {
        complain(s, "end of nothing: no repeat stands before it", "");
    } else if (s->block.turn < s->block.times) {
        s->block.turn++;
        s->line = s->block.line;
        s->next = s->block.body;
    } else {
        s->block.times = 0;
        s->fake.silent = s->block.silent = false;
    }
}

static unsigned read_times(struct scenario *s, const char *text)
{
    char *end;
    unsigned long times = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && times >= 1 && times <= REPEATS_MAX)
        return (unsigned)times;
    complain(s, "repeat takes a number of times from 1 to 10000, and not", text[0] ? text : "none");
    return 0;
}

static void do_repeat(struct scenario *s, struct words *words)
{
    unsigned times = read_times(s, next_word(words)), from = words->next;
    if (from == words->count && times)
        begin_block(s, times);
    else
        for (; times; times--) {
            words->next = from;
            obey(s, words);
        }
}

/* A word of a scenario, and what the runner does then.  The comments name the words behind it. */
struct command {
    const char *word;
    void (*act)(struct scenario *s, struct words *words);
    void (*act_at)(struct scenario *s, unsigned master);     /* each of WHO */
    void (*act_on)(struct scenario *s, struct actor *actor); /* LEASE */
    bool (*act_for)(struct fake *fake, const char *task);    /* OBSERVER, PARTY, … */
    enum event_kind begins;                                  /* LEASE NAMES */
    bool names_token;                                        /* TOKEN comes before TERMS */
    enum event_kind calls;                                   /* LEASE [T] */
};

static const struct command commands[] = {
    {"masters", .act = do_masters},
    {"connect", .act = do_connect},
    {"connected", .act_at = connected_at},
    {"reply", .act = do_reply},
    {"lose", .act = do_lose},
    {"hang", .act_at = hang_at},
    {"clock", .act = do_clock},
    {"advance", .act = do_advance},
    {"jump", .act = do_jump},
    {"acquire", .begins = EVENT_ACQUIRE},
    {"attach", .begins = EVENT_ATTACH, .names_token = true},
    {"inspect", .begins = EVENT_INSPECT},
    {"release-token", .begins = EVENT_RELEASE, .names_token = true},
    {"extend", .calls = EVENT_EXTEND},
    {"downgrade", .calls = EVENT_DOWNGRADE},
    {"upgrade", .calls = EVENT_UPGRADE},
    {"release", .calls = EVENT_RELEASE},
    {"cancel", .calls = EVENT_RELEASE},
    {"free", .calls = EVENT_ABANDON},
    {"detach", .calls = EVENT_DETACH},
    {"leave", .act_on = leave},
    {"mode", .act_on = note_mode},
    {"valid", .act_on = note_validity},
    {"fence", .act_on = note_fence},
    {"place", .act_on = note_place},
    {"adopt", .act_at = adopt_at},
    {"close", .act = do_close},
    {"tells", .act = do_tells},
    {"tell", .act = do_tell},
    {"owed", .act = do_owed},
    {"give-up", .act = do_give_up},
    {"greet", .act_at = greet_at},
    {"until", .act = do_until},
    {"leases", .act = do_leases},
    {"silently", .act = do_silently},
    {"repeat", .act = do_repeat},
    {"subscribed", .act = do_subscribed},
    {"unsubscribed", .act_at = unsubscribed_at},
    {"push", .act = do_push},
    {"hint", .act = do_hint},
    {"lines", .act = do_lines},
    {"alive", .act_at = alive_at},
    {"announce", .act = do_announce},
    {"observe", .act = do_observe},
    {"begin", .act_for = fake_tasks_begin},
    {"unobserve", .act_for = fake_tasks_unobserve},
    {"arrive", .act = do_arrive},
    {"latch", .act = do_latch},
    {"survey", .act = do_survey},
    {"ask", .act = do_ask},
    {"heed", .act = do_heed},
    {"watch", .act = do_watch},
    {"depart", .act_for = depart},
    {"drop", .act_for = drop},
    {"said", .act = do_said},
    {"end", .act = do_end},
};

static void act_on(struct scenario *s, const struct command *command, const char *name)
{
    struct actor *actor = fake_actor(&s->fake, name);
    if (actor)
        command->act_on(s, actor);
    else
        complain(s, "no such lease", name);
}

static void act_for(struct scenario *s, const struct command *command, const char *name)
{
    if (!command->act_for(&s->fake, name))
        complain(s, "no such observer, party, call or survey", name);
}

static void obey_command(struct scenario *s, const struct command *command, struct words *words)
{
    unsigned who = command->act_at ? read_who(s, words) : 0;
    FOR_EACH (i, who)
        command->act_at(s, i);
    if (command->act)
        command->act(s, words);
    else if (command->act_on)
        act_on(s, command, next_word(words));
    else if (command->act_for)
        act_for(s, command, next_word(words));
    else if (command->begins)
        begin(s, words, command->begins, command->names_token);
    else if (command->calls)
        call(s, words, command->calls);
}

static void obey(struct scenario *s, struct words *words)
{
    const char *word = next_word(words);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i].word) == 0) {
            if (s->fake.made || commands[i].act == do_masters)
                obey_command(s, &commands[i], words);
            else
                complain(s, "begin with masters", "");
            return;
        }
    complain(s, "not a command", word);
}

static void split(char *line, struct words *words)
{
    line[strcspn(line, "\n")] = '\0';
    for (char *word = strtok(line, " "); word && words->count < WORDS_MAX; word = strtok(NULL, " "))
        words->word[words->count++] = word;
}

static void check_promises(struct scenario *s)
{
    if (s->fake.broken[0])
        fail(s, s->fake.broken, "");
}

/* A copy of a line without its comment, in which {n} is the turn of the block. */
static void number(struct scenario *s, const char *line, size_t length, char copy[LINE_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < length && line[i] != '#' && used + 12 < LINE_MAX; i++) {
        if (strncmp(line + i, "{n}", 3) != 0) {
            copy[used++] = line[i];
            continue;
        }
        if (!s->block.times)
            complain(s, "{n} outside of a block", "");
        used += (size_t)snprintf(copy + used, LINE_MAX - used, "%u", s->block.turn);
        i += strlen("{n}") - 1;
    }
    copy[used] = '\0';
}

static bool is_reason(const char *line)
{
    return strncmp(line, WHY, strlen(WHY)) == 0;
}

static void play_line(struct scenario *s, const char *line, size_t length, struct text *out)
{
    char copy[LINE_MAX];
    struct words words = {.count = 0};
    if (strncmp(line, "=>", 2) == 0 || is_reason(line))
        return; /* the core writes it anew */
    if (s->block.turn <= 1)
        text_put(out, line, length);
    number(s, line, length, copy);
    split(copy, &words);
    if (!words.count)
        return;
    text_drop(&s->fake.trace);
    obey(s, &words);
    fake_flush(&s->fake);
    text_put_text(&s->block.trace, &s->fake.trace);
    check_promises(s);
}

static void close_block(struct scenario *s, struct text *out)
{
    text_put_text(out, &s->block.trace);
    text_drop(&s->block.trace);
    s->block.turn = 0;
}

/* Returns the scenario with its new trace; `fail_at`: the allocation that fails, or 0. */
static struct text play(struct scenario *s, const struct text *file, long fail_at)
{
    struct text out = {0};
    fake_init(&s->fake);
    s->fake.watcher = s->watcher;
    s->fake.countdown = fail_at;
    s->line = s->numbered = 0;
    s->next = 0;
    s->block = (struct block){0};
    text_put(&out, "", 0);
    while (s->next < file->length && !s->failed) {
        const char *line = file->bytes + s->next;
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        s->line++;
        s->next += length;
        play_line(s, line, length, &out);
        if (!s->block.times)
            close_block(s, &out);
    }
    if (s->block.times) {
        s->line = s->block.line;
        complain(s, "this block has no end", "");
    }
    close_block(s, &out);
    fake_finish(&s->fake);
    check_promises(s);
    fake_drop(&s->fake);
    return out;
}

/* ---- what a scenario is played for --------------------------------------------------- */

static struct text explain(struct scenario *s, const struct text *file)
{
    s->watcher = &why_watcher;
    s->failed = false;
    return play(s, file, 0);
}

/* A few lines up to that one, and their reasons, which do not count. */
static void show_until(const struct text *explained, unsigned line)
{
    unsigned at = 0;
    for (const char *next = explained->bytes; *next;) {
        size_t length = strcspn(next, "\n");
        at += !is_reason(next);
        if (at > line)
            return;
        if (at + 4 > line)
            fprintf(stderr, "  %.*s\n", (int)length, next);
        next += length + (next[length] != '\0');
    }
}

static void show_line(const char *mark, const struct text *text, unsigned line)
{
    size_t length;
    const char *at = text_line(text, line, &length);
    fprintf(stderr, "  %s %.*s\n", mark, (int)length, at);
}

/* Shows where the trace differs, and why. */
static bool compare(struct scenario *s, const struct text *file)
{
    struct text got = play(s, file, 0);
    unsigned line = s->failed ? 0 : text_compare(file, &got);
    bool right = !s->failed && !line;
    s->quiet = true;
    struct text explained = right ? (struct text){0} : explain(s, file);
    if (line) {
        fprintf(stderr, "%s:%u: the trace differs\n", s->path, line);
        show_line("expected", file, line);
        show_line("got     ", &got, line);
        fprintf(stderr, "which came about so:\n");
        show_until(&explained, line);
    } else if (!right) {
        fprintf(stderr, "after\n%s\n", text_tail(&explained, 12));
    }
    text_drop(&got);
    text_drop(&explained);
    return right;
}

static bool update(struct scenario *s, const struct text *file)
{
    struct text got = play(s, file, 0);
    bool right = !s->failed && text_write(&got, s->path);
    text_drop(&got);
    return right;
}

static bool print(struct scenario *s, const struct text *file)
{
    struct text explained = explain(s, file);
    fputs(explained.bytes, stdout);
    text_drop(&explained);
    return !s->failed;
}

static bool starve(struct scenario *s, const struct text *file)
{
    s->starving = true;
    for (long n = 1;; n++) {
        struct text out = play(s, file, n);
        text_drop(&out);
        if (s->failed) {
            fprintf(stderr, "%s: allocation %ld failed\n", s->path, n);
            return false;
        }
        if (!s->fake.starved)
            return true;
    }
}

static const struct mode {
    const char *option;
    bool (*play)(struct scenario *s, const struct text *file);
} modes[] = {{"--update", update}, {"--starve", starve}, {"--why", print}};

static bool run(const char *path, bool (*play)(struct scenario *s, const struct text *file))
{
    static struct scenario s;
    struct text file = {0};
    s = (struct scenario){.path = path};
    bool right = text_read(&file, path) && play(&s, &file);
    text_drop(&file);
    return right;
}

int main(int argc, char **argv)
{
    bool (*play)(struct scenario * s, const struct text *file) = compare;
    int first = 1, failures = 0;
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(argv[1], modes[i].option) == 0)
            play = modes[i].play, first = 2;
    if (first >= argc) {
        fprintf(stderr, "usage: runner [--update | --starve | --why] FILE…\n");
        return 64;
    }
    for (int i = first; i < argc; i++)
        failures += !run(argv[i], play);
    return failures ? 1 : 0;
}
