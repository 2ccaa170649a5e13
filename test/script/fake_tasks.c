#include "fake_tasks.h"

#include <stdio.h>
#include <string.h>

#include "recipes/lines.h"

static void write_barrier(struct fake *fake, char *to, size_t size, const struct request *request)
{
    const char *token = fake_token(fake, request->token, request->token_length);
    const struct barrier_request *barrier = &request->barrier;
    if (request->tag.kind == REQUEST_DEPART)
        snprintf(to, size, " %lld %s of %u", (long long)barrier->generation, token,
                 barrier->parties);
    else
        snprintf(to, size, " %lld %s of %u for %s kept %s%s", (long long)barrier->generation, token,
                 barrier->parties, fake_time(MS(request->ttl_ms)), fake_time(MS(barrier->kept_ms)),
                 barrier->passed ? " passed" : "");
}

/* With commas between the lines. */
static const char *write_arrived(struct fake *fake, struct slice lines)
{
    static char text[256];
    struct slice line;
    size_t used = 0;
    text[0] = '\0';
    while (used < sizeof text && lines_next(&lines, &line))
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "," : "",
                                 fake_token(fake, line.bytes, line.length));
    return text;
}

static const char *write_id(struct fake *fake, struct slice id)
{
    return id.length ? fake_token(fake, id.bytes, id.length) : "any";
}

static void write_tally(struct fake *fake, char *to, size_t size, const struct request *request)
{
    const struct tally_request *tally = &request->tally;
    const char *arrived = write_arrived(fake, tally->arrival);
    snprintf(to, size, " %s%s%s%s%s%s", write_id(fake, tally->id), *arrived ? " arrived " : "",
             arrived, tally->open ? " open" : "", request->ttl_ms ? " told for " : "",
             request->ttl_ms ? fake_time(MS(request->ttl_ms)) : "");
}

static void write_mend(struct fake *fake, char *to, size_t size, const struct request *request)
{
    const struct mend_request *mend = &request->mend;
    const char *arrived = write_arrived(fake, mend->arrived);
    snprintf(to, size, " %s of %u ends %s for %s%s%s%s", write_id(fake, mend->id), mend->arrivals,
             fake_time(MS(mend->ends_ms) - EPOCH), mend->run, mend->open ? " open" : "",
             *arrived ? " arrived " : "", arrived);
}

static void write_drop(struct fake *fake, char *to, size_t size, const struct request *request)
{
    const struct drop_request *drop = &request->drop;
    snprintf(to, size, " %s%s%s", write_id(fake, drop->id), drop->age_ms ? " if there for " : "",
             drop->age_ms ? fake_time(MS(drop->age_ms)) : "");
}

static void write_announcement(struct fake *fake, char *to, size_t size,
                               const struct request *request)
{
    const struct announce_request *announce = &request->announce;
    int used =
        snprintf(to, size, " %s term %s", fake_token(fake, request->token, request->token_length),
                 fake_time(announce->term - EPOCH));
    if (request->tag.kind == REQUEST_ANNOUNCE)
        snprintf(to + used, size - (size_t)used, " number %lld value %.*s for %s",
                 (long long)announce->number, (int)announce->value.length, announce->value.bytes,
                 fake_time(MS(request->ttl_ms)));
}

static void write_survey(char *to, size_t size, const struct survey_request *survey)
{
    snprintf(to, size, " from %.*s, %u keys%s", (int)survey->cursor.length, survey->cursor.bytes,
             survey->keys, survey->foreign ? ", foreign too" : "");
}

static void write_words(struct fake *fake, char *to, size_t size, const struct request *request)
{
    switch ((unsigned)request->tag.kind) {
    case REQUEST_ARRIVE:
    case REQUEST_DEPART:
        write_barrier(fake, to, size, request);
        break;
    case REQUEST_TALLY:
        write_tally(fake, to, size, request);
        break;
    case REQUEST_MEND:
        write_mend(fake, to, size, request);
        break;
    case REQUEST_DROP:
        write_drop(fake, to, size, request);
        break;
    case REQUEST_SURVEY:
        write_survey(to, size, &request->survey);
        break;
    case REQUEST_ASK:
        snprintf(to, size, " id %lld by %.*s for %s", (long long)request->ask.id,
                 (int)request->ask.words.length, request->ask.words.bytes,
                 fake_time(MS(request->ttl_ms)));
        break;
    case REQUEST_OBSERVE:
        snprintf(to, size, " for %s%s", fake_time(MS(request->ttl_ms)),
                 request->channel ? "" : " unheard");
        break;
    default:
        write_announcement(fake, to, size, request);
    }
}

void fake_tasks_write_request(struct fake *fake, char *to, size_t size,
                              const struct request *request)
{
    struct slice name = names_at(request->names, 0);
    char words[320];
    write_words(fake, words, sizeof words, request);
    snprintf(to, size, " %.*s%s%s", (int)name.length, name.bytes, words,
             request->whole ? " whole" : "");
}

/* ---- news ---------------------------------------------------------------------- */

void fake_tasks_note(struct fake *fake, struct task *core)
{
    struct fake_task *task = task_owner(core);
    if (task->core != core) /* its memory may be gone */
        fake_break(fake, "%s was dropped, and has news", task->name);
    task->untold = true;
}

static void note_said(struct fake *fake, struct fake_task *task, const struct observer_news *news)
{
    const struct said *said = &news->said;
    if (said->term < task->told.term ||
        (said->term == task->told.term && said->number < task->told.number))
        fake_break(fake, "%s gets an older word after a newer one", task->name);
    task->told = *said;
    fake_note(fake, "tell %s said %.*s: term %s number %lld on %u/%u", task->name,
              (int)said->value.length, said->value.bytes, fake_time(said->term - EPOCH),
              (long long)said->number, news->masters, fake->engine.config.masters);
}

static void note_passage(struct fake *fake, struct fake_task *task, const struct party_news *news)
{
    static const char *const names[] = {
        [PASSAGE_PASSED] = "passed", [PASSAGE_NOT] = "not passed", [PASSAGE_UNKNOWN] = "undecided"};
    if (task->ended || !news->passage)
        fake_break(fake, "%s gets its outcome twice, or too early", task->name);
    task->ended = true;
    char why[30] = "";
    if (news->cause == CAUSE_OVER)
        snprintf(why, sizeof why, " at %lld", (long long)news->latest);
    if (news->others)
        snprintf(why, sizeof why, " by parties of %u", news->others);
    fake_note(fake, "tell %s %s%s%s%s: %u counted, %u answered%s", task->name, names[news->passage],
              news->cause ? ", " : "", news->cause ? fake_cause_name(news->cause) : "", why,
              news->arrived, news->answered, news->hears ? "" : ", no quorum heard");
}

static void note_latch(struct fake *fake, struct fake_task *task, const struct latch_news *news)
{
    static const char *const names[] = {
        [LATCH_MADE] = "made",      [LATCH_HELD] = "has another", [LATCH_ARRIVED] = "arrived",
        [LATCH_OPEN] = "open",      [LATCH_SHUT] = "not open",    [LATCH_GONE] = "gone",
        [LATCH_UNKNOWN] = "unknown"};
    char id[TOKEN_MAX + 1] = "any";
    if (news->id[0])
        snprintf(id, sizeof id, "%s", fake_token(fake, news->id, strlen(news->id)));
    if (task->ended || !news->end)
        fake_break(fake, "%s gets its outcome twice, or too early", task->name);
    task->ended = true;
    fake_note(fake, "tell %s %s%s%s%s%s: %s, %u of %u arrived, %u answered", task->name,
              names[news->end], news->undecided ? ", undecided" : "", news->cause ? ", " : "",
              news->cause ? fake_cause_name(news->cause) : "",
              news->open && news->end != LATCH_OPEN ? ", open" : "", id, news->arrived,
              news->arrivals, news->answered);
}

/* False: there is none, for want of memory. */
static bool begin(struct fake *fake, struct fake_task *task)
{
    if (task->core)
        fake_step(fake, &(struct event){.kind = EVENT_TASK_BEGIN, .task = task->core});
    return task->core;
}

static void note_survey(struct fake *fake, const struct fake_task *task,
                        const struct survey_news *news)
{
    static const char *const ends[] = {
        [SURVEY_GOES_ON] = "goes on", [SURVEY_DONE] = "done", [SURVEY_FAILED] = "failed: "};
    fake_note(fake, "tell %s master %u: %.*s, %llu of %llu keys, %llu left out, %s%s", task->name,
              news->master + 1, (int)news->names.length, news->names.bytes,
              (unsigned long long)news->looked_at, (unsigned long long)news->there_are,
              (unsigned long long)news->left_out, ends[news->end],
              news->end == SURVEY_FAILED ? news->why : "");
}

static void note_asked(struct fake *fake, struct fake_task *task, const struct asker_news *news)
{
    static const char *const ends[] = {
        [ASK_TOLD] = "told", [ASK_FREE] = "free", [ASK_UNKNOWN] = "not known"};
    if (task->ended || !news->end)
        fake_break(fake, "%s gets its outcome twice, or too early", task->name);
    task->ended = true;
    fake_note(fake, "tell %s %s%s%s: %s on %u, %u heed, %u wait, %u answered", task->name,
              ends[news->end], news->cause ? ", " : "",
              news->cause ? fake_cause_name(news->cause) : "",
              news->holder[0] ? fake_token(fake, news->holder, strlen(news->holder)) : "nobody",
              news->on, news->heeding, news->waiting, news->answered);
}

static void note_wish(struct fake *fake, const struct fake_task *task,
                      const struct heeder_news *news)
{
    fake_note(fake, "tell %s wanted by %.*s: \"%.*s\", %u wait", task->name, (int)news->who.length,
              news->who.bytes, (int)news->text.length, news->text.bytes, news->waiting);
}

static void note_unknown(struct fake *fake, const struct fake_task *task,
                         const struct observer_news *news)
{
    const char *why = news->cause ? fake_cause_name(news->cause) : news->trouble;
    fake_note(fake, "tell %s not known%s%s", task->name, why[0] ? ": " : "", why);
}

static void tell(struct fake *fake, struct fake_task *task)
{
    struct task_news news;
    task->untold = false;
    if (!task_tell(&fake->engine, task->core, &news))
        return;
    fake->told++;
    if (task->is_asker)
        note_asked(fake, task, &news.asker);
    else if (task->is_heeder) {
        note_wish(fake, task, &news.heeder);
        task->untold = true; /* there may be another one */
    } else if (task->is_survey) {
        note_survey(fake, task, &news.survey);
        task->untold = true; /* another master may have an answer */
        begin(fake, task);
    } else if (task->is_party)
        note_passage(fake, task, &news.party);
    else if (task->is_latcher)
        note_latch(fake, task, &news.latch);
    else if (task->lease)
        fake_note(fake, "tell %s announced %u/%u", task->name, news.announcer.stored,
                  fake->engine.config.masters);
    else if (news.observer.observed == OBSERVED_SAID)
        note_said(fake, task, &news.observer);
    else if (news.observer.masters)
        fake_break(fake, "%s learns how many masters say a word, but not the word", task->name);
    else if (news.observer.observed == OBSERVED_NOTHING)
        fake_note(fake, "tell %s nothing is said", task->name);
    else
        note_unknown(fake, task, &news.observer);
}

void fake_tasks_tell_all(struct fake *fake)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core && fake->tasks[i].untold)
            tell(fake, &fake->tasks[i]);
}

/* ---- calls ------------------------------------------------------------------------ */

static void end(struct fake *fake, struct fake_task *task)
{
    struct task *core = task->core;
    task->core = NULL;
    fake_step(fake, &(struct event){.kind = EVENT_TASK_END, .task = core});
}

static bool is_told_its_end(const struct fake_task *task)
{
    return task->is_party || task->is_latcher || task->is_asker;
}

static struct fake_task *task_of(struct fake *fake, const struct actor *actor)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core && fake->tasks[i].lease == actor)
            return &fake->tasks[i];
    return NULL;
}

void fake_tasks_end_of(struct fake *fake, const struct actor *actor)
{
    struct fake_task *task = task_of(fake, actor);
    if (task)
        end(fake, task);
}

void fake_tasks_close(struct fake *fake)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core && !is_told_its_end(&fake->tasks[i]))
            end(fake, &fake->tasks[i]);
}

void fake_tasks_end_all(struct fake *fake)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++)
        if (fake->tasks[i].core)
            end(fake, &fake->tasks[i]);
}

static struct fake_task *make(struct fake *fake, const char *name)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++) {
        struct fake_task *task = &fake->tasks[i];
        if (task->core)
            continue;
        *task = (struct fake_task){0};
        snprintf(task->name, sizeof task->name, "%s", name);
        return task;
    }
    return NULL;
}

bool fake_tasks_announce(struct fake *fake, const struct actor *actor, const char *value)
{
    struct fake_task *task = task_of(fake, actor);
    struct lease *lease = (struct lease *)&actor->core;
    if (!task) {
        task = make(fake, actor->name);
        if (!task)
            return false;
        task->lease = actor;
        task->core = announcer_new(&fake->engine, lease_names(lease), lease, task);
    }
    if (!task->core || !announcer_set(&fake->engine, task->core, value, strlen(value)))
        return false;
    return begin(fake, task);
}

bool fake_tasks_observe(struct fake *fake, const char *name, struct names *names, bool begins)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->core = observer_new(&fake->engine, names, task);
    return begins ? begin(fake, task) : task->core != NULL;
}

bool fake_tasks_arrive(struct fake *fake, const char *name, struct names *names,
                       const struct barrier_terms *terms, const char *token)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->is_party = true;
    task->core = party_new(&fake->engine, names, terms, token, task);
    return begin(fake, task);
}

bool fake_tasks_latch(struct fake *fake, const char *name, struct names *names,
                      const struct latch_terms *terms)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->is_latcher = true;
    task->core = latcher_new(&fake->engine, names, terms, task);
    return begin(fake, task);
}

bool fake_tasks_survey(struct fake *fake, const char *name, struct names *begins, bool foreign)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->is_survey = true;
    task->core = surveyor_new(&fake->engine, begins, foreign, task);
    return begin(fake, task);
}

bool fake_tasks_ask(struct fake *fake, const char *name, struct names *names,
                    const struct asker_terms *terms)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->is_asker = true;
    task->core = asker_new(&fake->engine, names, terms, task);
    return begin(fake, task);
}

bool fake_tasks_heed(struct fake *fake, const char *name, struct names *names,
                     const struct lease *lease, bool heeds)
{
    struct fake_task *task = make(fake, name);
    if (!task)
        return false;
    task->is_heeder = true;
    task->core = (heeds ? heeder_new : watcher_new)(&fake->engine, names, lease, task);
    return begin(fake, task);
}

bool fake_tasks_depart(struct fake *fake, const char *name, bool drop)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++) {
        struct fake_task *task = &fake->tasks[i];
        if (!task->core || !is_told_its_end(task) || strcmp(task->name, name) != 0)
            continue;
        if (drop)
            end(fake, task);
        else
            fake_step(fake, &(struct event){.kind = EVENT_TASK_LEAVE, .task = task->core});
        return true;
    }
    return false;
}

static struct fake_task *task_of_name(struct fake *fake, const char *name)
{
    for (unsigned i = 0; i < FAKE_TASKS_MAX; i++) {
        struct fake_task *task = &fake->tasks[i];
        if (task->core && !task->lease && !is_told_its_end(task) && strcmp(task->name, name) == 0)
            return task;
    }
    return NULL;
}

bool fake_tasks_begin(struct fake *fake, const char *name)
{
    struct fake_task *task = task_of_name(fake, name);
    return task && begin(fake, task);
}

bool fake_tasks_unobserve(struct fake *fake, const char *name)
{
    struct fake_task *task = task_of_name(fake, name);
    if (task)
        end(fake, task);
    return task;
}

bool fake_tasks_push(struct fake *fake, unsigned master, const char *name, const struct said *said)
{
    enum subscription_state state = fake->masters[master].subscription;
    if (state != SUBSCRIPTION_UP && state != SUBSCRIPTION_CLOSING)
        return false;
    struct push push = {.name = slice_of(name), .said = *said, .free_slot = -1};
    fake_step(fake, &(struct event){.kind = EVENT_PUSH, .master = master, .push = &push});
    return true;
}
