/*
 * runner - plays scenarios to the core, and compares the whole of what it did.
 *
 *     runner FILE…            each trace must be as written
 *     runner --update FILE…   writes the traces anew
 *     runner --starve FILE…   each scenario again and again, the n-th allocation
 *                             failing, for n = 1, 2, … until one goes through
 *
 * A scenario is one command per line; '#' begins a comment, and "=>" a line of the
 * trace, which follows the command that caused it.  At the end of every scenario the
 * engine is closed, and must come to rest with nothing owed, nothing leaked and each
 * lease told how it ended.
 *
 *   masters N [max-ttl T] [drift P] [timeout T] [connect-timeout T] [trust]
 *   connect WHO [HELLO]      the connection is made and hello answered
 *   connected WHO            only made
 *   reply WHO ANSWER         to the oldest request: yes, healed, held [HOLDER [T]],
 *                            absent, late, noscript, no-clock, error TEXT, hello [HELLO];
 *                            to a grant or raise yes, held, absent: each with clock T;
 *                            to a queue yes, ahead, queued [left T] [behind N], with clock T
 *   greet WHO                every hello that is asked for is answered, if any is
 *   lose WHO [TEXT]          the connection ends, or cannot be made
 *   listening WHO [same]     its notification connection is subscribed: to another process, if
 *                            one that was subscribed has ended while the other connection
 *                            stands; `same`: to the same
 *   alive WHO                it answers a probe
 *   deaf WHO                 it ends, or cannot be made
 *   push WHO TOKEN clock T   it has given the names to that token
 *   hang WHO                 it will not answer any more on this connection
 *   clock WHO T              what its wall clock is ahead of ours
 *   advance T                time passes, timers fire when they are due
 *   until sent|told|connect  time passes until the core does that
 *   jump T                   the clock jumps, nothing fires
 *   acquire LEASE NAMES TERMS     attach LEASE NAMES TOKEN TERMS
 *   inspect LEASE NAMES           release-token LEASE NAMES TOKEN
 *   extend LEASE [T]   release LEASE   cancel LEASE   free LEASE   detach LEASE
 *   adopt WHO   close   give-up
 *   tells wait | tells       outcomes wait until `tell`, or are told at once
 *   valid LEASE   fence LEASE   place LEASE   owed   leases   lines   print what the engine says of
 * it silently COMMAND         without its trace repeat N COMMAND
 *
 * LEASE: a name; "*" stands for one more of many, *1, *2, and so on.
 * WHO: numbers, or "all".  T: 10s, 3ms, 250us.  NAMES: with commas between them.
 * TERMS: ttl T [wait T | wait forever] [margin T] [max-hold T] [no-renew] [fence]
 * HELLO: [run ID] [role ROLE] [abstains T] [max-ttl T] [age T] [clock T]
 * Logical clocks, proposals and fences are written as the time of a scenario at which a
 * right wall clock says so: 0s is its beginning.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define WORDS_MAX 48

struct scenario {
    const char *path;
    unsigned line;
    bool starving; /* the script may ask for what did not come about */
    bool failed;
    unsigned numbered;
    struct fake fake;
};

/* The words of a command, from the front. */
struct words {
    char *word[WORDS_MAX];
    unsigned count, next;
};

static void complain(struct scenario *s, const char *what, const char *about)
{
    if (s->starving || s->failed)
        return;
    s->failed = true;
    fprintf(stderr, "%s:%u: %s%s%s\n", s->path, s->line, what, about[0] ? ": " : "", about);
}

/* ---- words -------------------------------------------------------------------- */

static const char *next_word(struct words *words)
{
    return words->next < words->count ? words->word[words->next++] : "";
}

/* Takes "KEY VALUE" from wherever it stands; "" if it does not. */
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

static void do_masters(struct scenario *s, struct words *words)
{
    struct engine_config config = {.masters = (unsigned)atoi(next_word(words))};
    if (!config.masters || config.masters > MASTERS_MAX || s->fake.started) {
        complain(s, "how many masters?", "");
        return;
    }
    config.max_ttl_ms = time_of(s, words, "max-ttl", MS(30000)) / 1000;
    config.connect_timeout = time_of(s, words, "connect-timeout", MS(1000));
    config.request_timeout = time_of(s, words, "timeout", 0);
    const char *drift = value_of(words, "drift");
    config.drift_ppm = *drift ? (int64_t)(atof(drift) * 1e4 + 0.5) : 10000;
    config.skew_ms = 1000;
    config.trust_restarts = has(words, "trust");
    fake_start(&s->fake, &config);
}

/* 0: not told. */
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
    if (has(words, "max-ttl"))
        master->max_ttl_ms = time_of(s, words, "max-ttl", 0) / 1000;
    if (has(words, "clock"))
        master->logical = read_logical(s, words);
}

static void do_connected(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    {
        if (s->fake.masters[i].wire != WIRE_CONNECTING)
            complain(s, "not being connected", "");
        fake_connected(&s->fake, i);
    }
}

static void do_connect(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    {
        if (s->fake.masters[i].wire != WIRE_CONNECTING)
            complain(s, "not being connected", "");
        set_facts(s, &s->fake.masters[i], words);
        fake_connected(&s->fake, i);
    }
    FOR_EACH(i, who)
    fake_answer_hello(&s->fake, i);
}

static void do_greet(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    while (s->fake.masters[i].count && s->fake.masters[i].waiting[0].kind == REQUEST_HELLO)
        fake_answer_hello(&s->fake, i);
}

static void do_lose(struct scenario *s, struct words *words)
{
    char why[SAYING_MAX];
    unsigned who = read_who(s, words);
    join(why, sizeof why, words);
    FOR_EACH(i, who)
    {
        if (s->fake.masters[i].wire == WIRE_DOWN)
            complain(s, "not connected", "");
        fake_lose(&s->fake, i, why[0] ? why : "connection lost");
    }
}

static void do_hang(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    s->fake.masters[i].hangs = true;
}

static void do_clock(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    usec clock = read_time(s, next_word(words));
    FOR_EACH(i, who)
    s->fake.masters[i].clock = clock;
}

static void do_adopt(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    fake_step(&s->fake, &(struct event){.kind = EVENT_ADOPT, .master = i});
}

/* ---- replies ---------------------------------------------------------------------- */

static bool read_answer(struct scenario *s, struct words *words, struct reply *reply)
{
    static const struct {
        const char *word;
        enum answer answer;
    } answers[] = {
        {"yes", ANSWER_YES},           {"healed", ANSWER_HEALED}, {"held", ANSWER_HELD},
        {"absent", ANSWER_ABSENT},     {"late", ANSWER_LATE},     {"noscript", ANSWER_NOSCRIPT},
        {"no-clock", ANSWER_NO_CLOCK}, {"error", ANSWER_ERROR},   {"hello", ANSWER_HELLO},
        {"ahead", ANSWER_AHEAD},       {"queued", ANSWER_QUEUED}};
    const char *word = next_word(words);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (strcmp(word, answers[i].word) == 0) {
            reply->answer = answers[i].answer;
            return true;
        }
    complain(s, "not an answer", word);
    return false;
}

static void read_details(struct scenario *s, struct words *words, struct reply *reply, char *text,
                         size_t size)
{
    reply->remaining_ms = -1;
    reply->text = text;
    reply->clock = read_logical(s, words);
    if (*value_of(words, "left"))
        reply->remaining_ms = time_of(s, words, "left", 0) / 1000;
    reply->position = (unsigned)atoi(value_of(words, "behind"));
    if (reply->clock)
        return;
    if (reply->answer == ANSWER_ERROR)
        join(text, size, words);
    else if (reply->answer == ANSWER_HELD && words->next < words->count) {
        snprintf(text, size, "%s", next_word(words));
        if (words->next < words->count)
            reply->remaining_ms = read_time(s, next_word(words)) / 1000;
    }
    reply->text_length = strlen(text);
}

static bool tells_clock(enum request_kind kind, enum answer answer)
{
    if (kind == REQUEST_QUEUE)
        return answer == ANSWER_YES || answer == ANSWER_AHEAD || answer == ANSWER_QUEUED;
    return (kind == REQUEST_GRANT || kind == REQUEST_RAISE) &&
           (answer == ANSWER_YES || answer == ANSWER_HELD || answer == ANSWER_ABSENT);
}

static void reply_once(struct scenario *s, unsigned index, struct reply *reply)
{
    struct fake_master *master = &s->fake.masters[index];
    bool knows = master->count && !master->hangs && master->wire == WIRE_UP;
    if (!knows) {
        complain(s, master->count ? "that master cannot answer" : "nothing was asked", "");
        return;
    }
    enum request_kind kind = master->waiting[0].kind;
    bool hello = kind <= REQUEST_ADOPT;
    if ((hello != (reply->answer == ANSWER_HELLO) && reply->answer != ANSWER_ERROR) ||
        (!hello && tells_clock(kind, reply->answer) != (reply->clock != 0))) {
        complain(s, "that is no answer to what was asked", "");
        return;
    }
    reply->master_time = s->fake.now + master->clock;
    if (hello && reply->answer == ANSWER_HELLO)
        fake_answer_hello(&s->fake, index);
    else
        fake_answer(&s->fake, index, reply);
}

static void do_reply(struct scenario *s, struct words *words)
{
    char text[SAYING_MAX] = "";
    struct reply reply = {0};
    unsigned who = read_who(s, words);
    if (!read_answer(s, words, &reply))
        return;
    if (reply.answer == ANSWER_HELLO)
        FOR_EACH(i, who)
    set_facts(s, &s->fake.masters[i], words);
    read_details(s, words, &reply, text, sizeof text);
    FOR_EACH(i, who)
    reply_once(s, i, &reply);
}

/* ---- notification connections ------------------------------------------------------- */

static void do_listening(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    {
        bool other = s->fake.masters[i].was_deaf && !has(words, "same");
        if (!fake_listening(&s->fake, i, other))
            complain(s, "nobody wants to listen", "");
    }
}

static void do_alive(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    {
        if (!fake_alive(&s->fake, i))
            complain(s, "nobody listens", "");
    }
}

static void do_deaf(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    FOR_EACH(i, who)
    {
        if (!fake_deaf(&s->fake, i))
            complain(s, "nobody listens", "");
    }
}

static void do_push(struct scenario *s, struct words *words)
{
    unsigned who = read_who(s, words);
    const char *token = next_word(words);
    usec clock = read_logical(s, words);
    FOR_EACH(i, who)
    {
        if (!fake_push(&s->fake, i, token, clock))
            complain(s, "nobody listens, or there is no such token", token);
    }
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
    terms.renew = !has(words, "no-renew");
    terms.fence = has(words, "fence");
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

static void do_acquire(struct scenario *s, struct words *words)
{
    begin(s, words, EVENT_ACQUIRE, false);
}

static void do_attach(struct scenario *s, struct words *words)
{
    begin(s, words, EVENT_ATTACH, true);
}

static void do_inspect(struct scenario *s, struct words *words)
{
    begin(s, words, EVENT_INSPECT, false);
}

static void do_release_token(struct scenario *s, struct words *words)
{
    begin(s, words, EVENT_RELEASE, true);
}

/* Whose handle was never made, or is freed, cannot be called. */
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

static void do_extend(struct scenario *s, struct words *words)
{
    call(s, words, EVENT_EXTEND);
}

static void do_release(struct scenario *s, struct words *words)
{
    call(s, words, EVENT_RELEASE);
}

static void do_free(struct scenario *s, struct words *words)
{
    call(s, words, EVENT_ABANDON);
}

static void do_detach(struct scenario *s, struct words *words)
{
    call(s, words, EVENT_DETACH);
}

static void do_close(struct scenario *s, struct words *words)
{
    (void)words;
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

static void do_valid(struct scenario *s, struct words *words)
{
    const char *name = next_word(words);
    struct actor *actor = fake_actor(&s->fake, name);
    if (!actor) {
        complain(s, "no such lease", name);
        return;
    }
    usec left = lease_valid_until(&actor->core) - s->fake.now;
    fake_note(&s->fake, "%s is valid for %s", name, fake_time(left > 0 ? left : 0));
}

static void do_fence(struct scenario *s, struct words *words)
{
    const char *name = next_word(words);
    const struct actor *actor = fake_actor(&s->fake, name);
    if (!actor) {
        complain(s, "no such lease", name);
        return;
    }
    usec fence = lease_fence(&actor->core);
    fake_note(&s->fake, "%s has %s%s", name, fence ? "fence " : "no fence",
              fence ? fake_time(fence - EPOCH) : "");
}

static void do_place(struct scenario *s, struct words *words)
{
    const char *name = next_word(words);
    const struct actor *actor = fake_actor(&s->fake, name);
    unsigned position;
    usec expires;
    if (!actor)
        complain(s, "no such lease", name);
    else if (!waiting_look(&s->fake.engine, &actor->core, &position, &expires))
        fake_note(&s->fake, "%s does not wait", name);
    else
        fake_note(&s->fake, "%s is behind %u, the holder has %s", name, position,
                  expires == NEVER ? "no known end" : fake_time(expires));
}

static void do_lines(struct scenario *s, struct words *words)
{
    (void)words;
    const struct engine *e = &s->fake.engine;
    const struct engine_counters *counters = &e->counters;
    fake_note(&s->fake,
              "%llu in line; %llu handed over, %llu here; %llu pushes, %llu found, "
              "%llu yields",
              (unsigned long long)e->in_lines, (unsigned long long)counters->handoffs,
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
    s->fake.silent = false;
}

static void do_repeat(struct scenario *s, struct words *words)
{
    unsigned times = (unsigned)atoi(next_word(words)), from = words->next;
    for (; times; times--) {
        words->next = from;
        obey(s, words);
    }
}

static void obey(struct scenario *s, struct words *words)
{
    static const struct {
        const char *word;
        void (*command)(struct scenario *s, struct words *words);
    } commands[] = {
        {"masters", do_masters}, {"connect", do_connect},     {"connected", do_connected},
        {"reply", do_reply},     {"lose", do_lose},           {"hang", do_hang},
        {"clock", do_clock},     {"advance", do_advance},     {"jump", do_jump},
        {"acquire", do_acquire}, {"attach", do_attach},       {"inspect", do_inspect},
        {"extend", do_extend},   {"release", do_release},     {"cancel", do_release},
        {"free", do_free},       {"detach", do_detach},       {"release-token", do_release_token},
        {"adopt", do_adopt},     {"close", do_close},         {"tells", do_tells},
        {"tell", do_tell},       {"valid", do_valid},         {"owed", do_owed},
        {"give-up", do_give_up}, {"greet", do_greet},         {"until", do_until},
        {"leases", do_leases},   {"silently", do_silently},   {"repeat", do_repeat},
        {"fence", do_fence},     {"listening", do_listening}, {"deaf", do_deaf},
        {"push", do_push},       {"place", do_place},         {"lines", do_lines},
        {"alive", do_alive},
    };
    const char *word = next_word(words);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i].word) == 0) {
            if (s->fake.made || commands[i].command == do_masters)
                commands[i].command(s, words);
            else
                complain(s, "begin with masters", "");
            return;
        }
    complain(s, "not a command", word);
}

static void split(char *line, struct words *words)
{
    line[strcspn(line, "#\n")] = '\0';
    for (char *word = strtok(line, " "); word && words->count < WORDS_MAX; word = strtok(NULL, " "))
        words->word[words->count++] = word;
}

static void check_promises(struct scenario *s)
{
    if (!s->fake.broken[0] || s->failed)
        return;
    s->failed = true;
    fprintf(stderr, "%s:%u: %s\n", s->path, s->line, s->fake.broken);
}

/* The scenario as it should read: its own lines, and the trace that came. */
struct text {
    char *bytes;
    size_t length;
};

static void put(struct text *text, const char *bytes, size_t length)
{
    text->bytes = realloc(text->bytes, text->length + length + 1);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void play_line(struct scenario *s, const char *line, size_t length, struct text *out)
{
    char copy[512];
    struct words words = {.count = 0};
    if (strncmp(line, "=>", 2) == 0)
        return; /* it is to be told anew */
    put(out, line, length);
    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    split(copy, &words);
    if (!words.count)
        return;
    s->fake.length = 0;
    obey(s, &words);
    fake_flush(&s->fake);
    put(out, s->fake.trace ? s->fake.trace : "", s->fake.length);
    check_promises(s);
}

/* Returns what the scenario reads now; `fail_at`: the allocation that fails, or 0. */
static struct text play(struct scenario *s, const struct text *file, long fail_at)
{
    struct text out = {0};
    fake_init(&s->fake);
    s->fake.countdown = fail_at;
    s->line = s->numbered = 0;
    put(&out, "", 0);
    for (size_t at = 0; at < file->length && !s->failed;) {
        size_t length = strcspn(file->bytes + at, "\n");
        length += file->bytes[at + length] == '\n';
        s->line++;
        play_line(s, file->bytes + at, length, &out);
        at += length;
    }
    fake_finish(&s->fake);
    check_promises(s);
    free(s->fake.trace);
    return out;
}

static bool read_file(const char *path, struct text *text)
{
    char buffer[4096];
    size_t got;
    FILE *file = fopen(path, "r");
    put(text, "", 0);
    while (file && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
        put(text, buffer, got);
    if (!file || fclose(file)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool write_file(const char *path, const struct text *text)
{
    FILE *file = fopen(path, "w");
    bool right = file && fwrite(text->bytes, 1, text->length, file) == text->length;
    if (!file || fclose(file) || !right)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return right;
}

static void show_line(const char *mark, const char *text)
{
    fprintf(stderr, "  %s %.*s\n", mark, (int)strcspn(text, "\n"), text);
}

/* True if both are the same; else shows where they part. */
static bool compare(const char *path, const struct text *expected, const struct text *got)
{
    unsigned line = 1;
    const char *a = expected->bytes, *b = got->bytes;
    while (*a || *b) {
        size_t length = strcspn(a, "\n");
        if (length != strcspn(b, "\n") || memcmp(a, b, length)) {
            fprintf(stderr, "%s:%u: the trace differs\n", path, line);
            show_line("expected", a);
            show_line("got     ", b);
            return false;
        }
        a += length + (a[length] != '\0');
        b += length + (b[length] != '\0');
        line++;
    }
    return true;
}

/* How far it came. */
static void show_end(const struct text *got)
{
    size_t at = got->length;
    for (unsigned lines = 0; at > 0 && lines<8; lines += at> 0 && got->bytes[at - 1] == '\n')
        at--;
    fprintf(stderr, "after\n%s\n", got->bytes + at);
}

static bool starve(struct scenario *s, const struct text *file)
{
    s->starving = true;
    for (long n = 1;; n++) {
        struct text out = play(s, file, n);
        free(out.bytes);
        if (s->failed) {
            fprintf(stderr, "%s: allocation %ld failed\n", s->path, n);
            return false;
        }
        if (!s->fake.starved)
            return true;
    }
}

enum mode { COMPARE, UPDATE, STARVE };

static bool run(const char *path, enum mode mode)
{
    static struct scenario s;
    struct text file = {0}, got = {0};
    s = (struct scenario){.path = path};
    bool right = read_file(path, &file);
    if (right && mode == STARVE) {
        right = starve(&s, &file);
    } else if (right) {
        got = play(&s, &file, 0);
        if (s.failed)
            show_end(&got);
        right = !s.failed && (mode == UPDATE ? write_file(path, &got) : compare(path, &file, &got));
    }
    free(file.bytes);
    free(got.bytes);
    return right;
}

int main(int argc, char **argv)
{
    enum mode mode = COMPARE;
    int first = 1, failures = 0;
    if (argc > 1 && strcmp(argv[1], "--update") == 0)
        mode = UPDATE, first++;
    else if (argc > 1 && strcmp(argv[1], "--starve") == 0)
        mode = STARVE, first++;
    if (first >= argc) {
        fprintf(stderr, "usage: runner [--update | --starve] FILE…\n");
        return 64;
    }
    for (int i = first; i < argc; i++)
        failures += !run(argv[i], mode);
    return failures ? 1 : 0;
}
