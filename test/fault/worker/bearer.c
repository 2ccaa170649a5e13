/*
 * bearer.c - one process of a chaos run that bears leases by their tokens.
 *
 * It acquires a lease, or takes over one that another process left. It holds the lease, gives it
 * back or leaves it to others. It also asks again for tokens that it had before, of which most were
 * given back since.
 *
 *   redlock-bearer NAME TTL_MS LABEL SEED RECORD BOX [MAX_TTL_MS]      the masters: REDLOCK_NODES
 *
 * The facts, after the moment in us of CLOCK_BOOTTIME; UNTIL is when validity ends, as computed
 * then: begin PID                   the first
 *   asks WAY TOKEN                  acquire (TOKEN is -), attach, extend, or unlock
 *   holds TOKEN UNTIL               what it asked for
 *   valid TOKEN UNTIL               it has moved
 *   refused TOKEN CODE
 *   detaching TOKEN UNTIL           leaves it, and then it is
 *   detached TOKEN                  in the box for others, unless it was but extended
 *   lost TOKEN
 *   releasing TOKEN                 gives it back
 *   released TOKEN CODE             also the outcome of unlock
 *   end                             the last
 */
#include <ev.h>
#include <inttypes.h>
#include <redlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box.h"
#include "record.h"

#define TOKENS_KEPT 6  /* of those that it had */
#define AGAIN       50 /* percent of the acts: with a former token */
#define UNLOCKS     10 /* percent of these: gives it back */
#define WAITS       50 /* percent of what it asks for: waits */
#define LEAVES      60 /* percent of what it holds: for others */
#define LONG_ONE_IN 50 /* of what it holds: for up to LONG_S */
#define WAIT_MS     100
#define HOLD_MOST_S 0.15
#define LONG_S      4.
#define REST_MOST_S 0.01
#define JITTER_US   2000 /* events tell validity in whole ms */
#define PATIENCE_MS 1000

enum way { ACQUIRE, ATTACH, EXTEND, UNLOCK };

static const char *const words[] = {
    [ACQUIRE] = "acquire", [ATTACH] = "attach", [EXTEND] = "extend", [UNLOCK] = "unlock"};

struct bearer {
    struct record record;
    struct box box;
    redlock *client;
    redlock_lease *lease;
    redlock_name name;
    int64_t ttl_ms, until;
    enum way way;
    bool holds, ending;
    char token[REDLOCK_TOKEN_SIZE]; /* of the present act */
    char had[TOKENS_KEPT][REDLOCK_TOKEN_SIZE];
    unsigned count; /* of all tokens that it had */
    ev_timer timer;
    ev_prepare look;
    ev_signal end;
};

static bool with_chance(unsigned percent)
{
    return (unsigned)rand() % 100 < percent;
}

static double anything_up_to(double most)
{
    return most * rand() / RAND_MAX;
}

static void wake_in(struct bearer *bearer, double seconds)
{
    ev_now_update(EV_DEFAULT);
    ev_timer_stop(EV_DEFAULT, &bearer->timer);
    ev_timer_set(&bearer->timer, seconds, 0.);
    ev_timer_start(EV_DEFAULT, &bearer->timer);
}

/* ---- Recording ---- */

static void put(struct bearer *bearer, const char *fact)
{
    record_put(&bearer->record, now_us(), "%s %s", fact, bearer->token);
}

static void put_code(struct bearer *bearer, const char *fact, redlock_code code)
{
    record_put(&bearer->record, now_us(), "%s %s %s", fact, bearer->token, redlock_code_name(code));
}

/* The time is read first: this process may be stopped in between, and must not seem to hold for
 * longer than it believes. */
static int64_t validity(const struct bearer *bearer)
{
    int64_t now = now_us();
    return now + redlock_lease_valid_for(bearer->lease) * 1000;
}

static void put_until(struct bearer *bearer, const char *fact)
{
    bearer->until = validity(bearer);
    record_put(&bearer->record, now_us(), "%s %s %" PRId64, fact, bearer->token, bearer->until);
}

static void on_look(struct ev_loop *loop, ev_prepare *look, int events)
{
    struct bearer *bearer = look->data;
    (void)loop, (void)events;
    if (bearer->holds && llabs(validity(bearer) - bearer->until) > JITTER_US &&
        redlock_lease_valid_for(bearer->lease) > 0)
        put_until(bearer, "valid");
}

/* ---- Asking ---- */

static void on_event(redlock_lease *lease, const redlock_event *event, void *data);

static void remember(struct bearer *bearer)
{
    memcpy(bearer->had[bearer->count++ % TOKENS_KEPT], bearer->token, sizeof bearer->token);
}

static bool draw_token(struct bearer *bearer)
{
    unsigned kept = bearer->count < TOKENS_KEPT ? bearer->count : TOKENS_KEPT;
    if (kept == 0 || !with_chance(AGAIN))
        return false;
    memcpy(bearer->token, bearer->had[(unsigned)rand() % kept], sizeof bearer->token);
    return true;
}

static void draw_act(struct bearer *bearer)
{
    if (draw_token(bearer))
        bearer->way = with_chance(UNLOCKS) ? UNLOCK : EXTEND;
    else if (box_take(&bearer->box, bearer->token))
        bearer->way = ATTACH;
    else
        bearer->way = ACQUIRE;
}

static redlock_code start(struct bearer *bearer)
{
    redlock_lease_options wanted = {.size = sizeof(redlock_lease_options)};
    wanted.ttl_ms = bearer->ttl_ms;
    switch (bearer->way) {
    case ACQUIRE:
        wanted.wait_ms = with_chance(WAITS) ? WAIT_MS : 0;
        return redlock_acquire_names(bearer->client, &bearer->lease, &bearer->name, 1, &wanted,
                                     on_event, bearer);
    case UNLOCK:
        return redlock_release_token(bearer->client, &bearer->lease, &bearer->name, 1,
                                     bearer->token, on_event, bearer);
    default:
        return redlock_attach(bearer->client, &bearer->lease, &bearer->name, 1, bearer->token,
                              &wanted, on_event, bearer);
    }
}

static void act(struct bearer *bearer)
{
    strcpy(bearer->token, "-");
    draw_act(bearer);
    record_put(&bearer->record, now_us(), "asks %s %s", words[bearer->way], bearer->token);
    redlock_code code = start(bearer);
    if (code != REDLOCK_OK) {
        fprintf(stderr, "bearer: cannot %s: %s\n", words[bearer->way], redlock_code_text(code));
        exit(1);
    }
}

/* ---- Holding, and what comes then ---- */

static void rest(struct bearer *bearer)
{
    redlock_lease_free(bearer->lease);
    bearer->lease = NULL;
    if (!bearer->ending)
        wake_in(bearer, anything_up_to(REST_MOST_S));
}

static void give_back(struct bearer *bearer)
{
    ev_timer_stop(EV_DEFAULT, &bearer->timer);
    bearer->holds = false;
    put(bearer, "releasing");
    redlock_lease_release(bearer->lease);
}

static void leave(struct bearer *bearer)
{
    put_until(bearer, "detaching");
    if (redlock_lease_detach(bearer->lease) != REDLOCK_OK) {
        give_back(bearer);
        return;
    }
    put(bearer, "detached");
    bearer->holds = false;
    bearer->lease = NULL;
    if (bearer->way != EXTEND)
        box_put(&bearer->box, bearer->token);
    rest(bearer);
}

static void hold(struct bearer *bearer)
{
    snprintf(bearer->token, sizeof bearer->token, "%s", redlock_lease_token(bearer->lease));
    bearer->holds = true;
    put_until(bearer, "holds");
    if (bearer->way == EXTEND) {
        leave(bearer);
        return;
    }
    remember(bearer);
    wake_in(bearer, anything_up_to(rand() % LONG_ONE_IN ? HOLD_MOST_S : LONG_S));
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct bearer *bearer = timer->data;
    (void)loop, (void)events;
    if (!bearer->holds)
        act(bearer);
    else if (with_chance(LEAVES))
        leave(bearer);
    else
        give_back(bearer);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct bearer *bearer = data;
    (void)lease;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        hold(bearer);
        break;
    case REDLOCK_NOT_ACQUIRED:
        put_code(bearer, "refused", event->code);
        rest(bearer);
        break;
    case REDLOCK_LOST:
        put(bearer, "lost");
        if (bearer->holds)
            give_back(bearer);
        break;
    case REDLOCK_RELEASED:
        put_code(bearer, "released", event->code);
        rest(bearer);
        break;
    default:
        break;
    }
}

/* ---- The process ---- */

static void on_closed(redlock *client, unsigned left, void *data)
{
    (void)client, (void)left, (void)data;
    ev_break(EV_DEFAULT, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, ev_signal *signal, int events)
{
    struct bearer *bearer = signal->data;
    (void)loop, (void)events;
    bearer->ending = true;
    ev_timer_stop(EV_DEFAULT, &bearer->timer);
    if (bearer->holds)
        give_back(bearer);
    redlock_close(bearer->client, PATIENCE_MS, on_closed, bearer);
}

static bool open_client(struct bearer *bearer, char **argv)
{
    char why[256] = "";
    redlock_options options = {.size = sizeof(redlock_options)};
    options.label = argv[3];
    if (argv[7])
        options.max_ttl_ms = atoll(argv[7]);
    bool good = record_open(&bearer->record, argv[5]) &&
                redlock_open(&bearer->client, EV_DEFAULT, &options, why, sizeof why) == REDLOCK_OK;
    if (!good)
        fprintf(stderr, "bearer: cannot begin: %s\n", why);
    return good;
}

static void begin(struct bearer *bearer)
{
    record_put(&bearer->record, now_us(), "begin %d", (int)getpid());
    bearer->timer.data = bearer->look.data = bearer->end.data = bearer;
    ev_timer_init(&bearer->timer, on_timer, 0., 0.);
    ev_prepare_init(&bearer->look, on_look);
    ev_prepare_start(EV_DEFAULT, &bearer->look);
    ev_signal_init(&bearer->end, on_signal, SIGTERM);
    ev_signal_start(EV_DEFAULT, &bearer->end);
    act(bearer);
}

int main(int argc, char **argv)
{
    static struct bearer bearer;
    if (argc < 7 || argc > 8) {
        fprintf(stderr, "usage: %s NAME TTL_MS LABEL SEED RECORD BOX [MAX_TTL_MS]\n", argv[0]);
        return 64;
    }
    bearer.name = redlock_name_of(argv[1]);
    bearer.ttl_ms = atoll(argv[2]);
    bearer.box.folder = argv[6];
    srand((unsigned)strtoul(argv[4], NULL, 10));
    if (!open_client(&bearer, argv))
        return 1;
    begin(&bearer);
    ev_run(EV_DEFAULT, 0);
    record_put(&bearer.record, now_us(), "end");
    redlock_free(bearer.client);
    return 0;
}
