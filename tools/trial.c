#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "list_text.h"

#define TTL_MS             5000
#define MAX_TTL_MS         30000 /* for a master that knows none */
#define WAIT_MS            3000  /* of which hearing of a grant late takes one second */
#define REQUEST_TIMEOUT_MS 1000  /* a slow master does not refuse */
#define CLOSE_TIMEOUT_MS   500
#define LOOK_S             0.005
#define UNTOLD             "PUBLISH in its scripts told nobody"

/* ---- The end ------------------------------------------------------------ */

static void count_down(struct trials *trials)
{
    if (--trials->left == 0) {
        ev_timer_stop(trials->loop, &trials->look);
        trials->done(trials->data);
    }
}

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct trial *trial = data;
    (void)left; /* the keys end with the ttl */
    redlock_free(client);
    count_down(trial->all);
}

/* Both answer at this moment; or the trial has found it, as its subscription is to another. */
static bool is_another(const struct trial *trial)
{
    redlock_node met = {.size = sizeof(met)}, tried = {.size = sizeof(tried)};
    unsigned index = (unsigned)(trial - trial->all->of);
    if (redlock_node_get(trial->all->known, index, &met) != REDLOCK_OK ||
        redlock_node_get(trial->client, 0, &tried) != REDLOCK_OK || met.state != REDLOCK_NODE_UP)
        return false;
    return tried.state == REDLOCK_NODE_REFUSED ||
           (tried.run_id[0] && strcmp(met.run_id, tried.run_id) != 0);
}

/* Gives all back. */
static void end(struct trial *trial)
{
    if (!trial->ended) {
        trial->ended = true;
        trial->finding.is_another = is_another(trial);
        redlock_close(trial->client, CLOSE_TIMEOUT_MS, on_closed, trial);
    }
}

/* ---- What came of it ---------------------------------------------------- */

/* A clock so far ahead that its fences do not count, say, is no refusal: that has advice of its
 * own. */
static bool is_refusal(const redlock_vote *vote)
{
    return vote->kind == REDLOCK_VOTE_REFUSED || vote->kind == REDLOCK_VOTE_UNREACHABLE ||
           vote->kind == REDLOCK_VOTE_TIMEOUT;
}

static bool is_about_name(const redlock_vote *vote)
{
    return strstr(vote->text, "NOPERM") && strstr(vote->text, "key");
}

static void note(struct text *text, const redlock_event *event)
{
    const redlock_vote *vote = event->votes[0];
    const char *why = vote->kind == REDLOCK_VOTE_TIMEOUT ? "no answer in time" : vote->text;
    text_format(text, "%s", why[0] ? why : redlock_code_text(event->code));
}

/* It has the lock by what it found at its next look, for what the master told did not come. */
static bool heard_nothing(const struct trial *trial)
{
    redlock_stats stats = {.size = sizeof(stats)};
    redlock_stats_get(trial->client, &stats);
    return trial->released && stats.found > 0 && stats.pushes == 0;
}

static void on_waiter(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct trial *trial = data;
    (void)lease;
    if (!trial->ended && event->kind == REDLOCK_NOT_ACQUIRED &&
        event->votes[0]->kind == REDLOCK_VOTE_REFUSED)
        note(&trial->finding.no_queue, event);
    if (!trial->ended && event->kind == REDLOCK_ACQUIRED && heard_nothing(trial))
        text_format(&trial->finding.unheard, UNTOLD);
    end(trial);
}

static bool ask(struct trial *trial, redlock_lease **lease, int64_t wait_ms,
                redlock_lease_callback *callback)
{
    redlock_lease_options terms = {.size = sizeof(redlock_lease_options)};
    redlock_name names[2];
    char texts[2][40];
    for (int i = 0; i < 2; i++) {
        int length = snprintf(texts[i], sizeof(texts[i]), "redlock-nodes:%016" PRIx64 ":%d",
                              trial->all->mark, i + 1);
        names[i] = (redlock_name){
            .size = sizeof(redlock_name), .bytes = texts[i], .length = (size_t)length};
    }
    terms.ttl_ms = trial->max_ttl_ms < TTL_MS ? trial->max_ttl_ms : TTL_MS;
    terms.wait_ms = wait_ms;
    terms.fence = true;
    return redlock_acquire_names(trial->client, lease, names, 2, &terms, callback, trial) ==
           REDLOCK_OK;
}

static void on_holder(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct trial *trial = data;
    const redlock_vote *vote = event->votes[0];
    struct finding *finding = &trial->finding;
    bool decides = event->kind == REDLOCK_ACQUIRED || event->kind == REDLOCK_NOT_ACQUIRED;
    (void)lease;
    if (trial->ended || !decides)
        return;
    finding->grants = event->kind == REDLOCK_ACQUIRED;
    finding->name_denied = !finding->grants && is_about_name(vote);
    finding->tried = finding->grants || (is_refusal(vote) && !finding->name_denied);
    if (!finding->grants && finding->tried)
        note(&finding->refusal, event);
    if (!finding->grants || !ask(trial, &trial->waiter, WAIT_MS, on_waiter))
        end(trial);
}

/* The log is where the library tells of its notification connections. */
static void on_log(redlock_level level, const char *line, void *data)
{
    static const char denied[] = "cannot subscribe: ";
    struct trial *trial = data;
    const char *why = strstr(line, denied), *end = why ? strchr(why, ';') : NULL;
    (void)level;
    trial->listened |= why || strstr(line, ": tells of grants");
    if (end && trial->finding.unheard.length == 0)
        text_add(&trial->finding.unheard, why, (size_t)(end - why));
}

/* The waiter is enqueued, and the master says for how long the name is held. */
static bool is_queued(const struct trial *trial)
{
    redlock_place place = {.size = sizeof place};
    return redlock_lease_place(trial->waiter, &place) == REDLOCK_OK && place.expires_ms >= 0;
}

/* The master hands the lock over in the script that releases it, and tells the waiter there. */
static void give_to_waiter(struct trial *trial)
{
    trial->released = true;
    if (trial->finding.unheard.length > 0 || redlock_lease_release(trial->holder) != REDLOCK_OK)
        end(trial);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct trials *trials = timer->data;
    (void)loop;
    (void)events;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++) {
        struct trial *trial = &trials->of[i];
        bool waits = trial->waiter && !trial->ended && !trial->released;
        if (waits && trial->listened && is_queued(trial))
            give_to_waiter(trial);
    }
}

/* ---- The beginning ------------------------------------------------------ */

static bool open_client(struct trial *trial, const char *master)
{
    const struct options *given = trial->all->options;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = master;
    options.config = given->config; /* for TLS */
    options.spare = REDLOCK_ZERO;
    options.label = given->text[SETTING_LABEL];
    options.prefix = given->text[SETTING_PREFIX];
    options.fleet = ""; /* one master is no list of it */
    options.max_ttl_ms = trial->max_ttl_ms;
    options.connect_timeout_ms = given->connect_timeout_ms;
    options.on_log = on_log;
    options.log_level = REDLOCK_LOG_DEBUG;
    options.data = trial;
    if (strncasecmp(master, "rediss:", 7) == 0)
        options_of_tls(given, &options);
    options.request_timeout_ms = given->request_timeout_ms > REQUEST_TIMEOUT_MS
                                     ? given->request_timeout_ms
                                     : REQUEST_TIMEOUT_MS;
    return redlock_open(&trial->client, trial->all->loop, &options, NULL, 0) == REDLOCK_OK;
}

/* The max_ttl that the master knows already: a trial makes no master abstain longer. */
static int64_t longest_ttl(const struct trials *trials, unsigned index)
{
    int64_t given = trials->options->max_ttl_ms;
    redlock_node node = {.size = sizeof(node)};
    if (redlock_node_get(trials->known, index, &node) == REDLOCK_OK && node.max_ttl_ms > 0)
        return node.max_ttl_ms;
    return given > 0 && given < MAX_TTL_MS ? given : MAX_TTL_MS;
}

static void try_master(struct trials *trials, unsigned index, const char *master)
{
    struct trial *trial = &trials->of[index];
    trial->all = trials;
    trial->max_ttl_ms = longest_ttl(trials, index);
    if (!open_client(trial, master))
        return;
    trials->left++;
    if (!ask(trial, &trial->holder, 0, on_holder))
        end(trial);
}

static void try_all(struct trials *trials, unsigned masters, const char *list)
{
    struct client_text entry;
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX && list_take_entry(&list, &entry); i++) {
        struct text master = {0};
        if (masters & 1U << i) {
            text_add(&master, entry.bytes, entry.length);
            try_master(trials, i, master.bytes);
        }
        text_free(&master);
    }
}

void trials_begin(struct trials *trials, const struct options *options, struct ev_loop *loop,
                  redlock *known, unsigned masters, void (*done)(void *data), void *data)
{
    char *file;
    const char *list = list_entries(options, &file);
    *trials = (struct trials){
        .options = options, .loop = loop, .known = known, .done = done, .data = data};
    (void)!getrandom(&trials->mark, sizeof(trials->mark), 0);
    ev_timer_init(&trials->look, on_look, LOOK_S, LOOK_S);
    trials->look.data = trials;
    ev_timer_start(loop, &trials->look);
    trials->left = 1; /* this function */
    if (list)
        try_all(trials, masters, list);
    redlock_list_free(file);
    count_down(trials);
}

void trials_free(struct trials *trials)
{
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++) {
        text_free(&trials->of[i].finding.refusal);
        text_free(&trials->of[i].finding.no_queue);
        text_free(&trials->of[i].finding.unheard);
    }
}
