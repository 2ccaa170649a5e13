/*
 * worker.c - one process of a storm: contends for every name, fenced, holds each lease for
 * a moment, and records what it was told.  What it makes of that, others judge (check).
 *
 * A fact is a line, us of CLOCK_BOOTTIME first.  UNTIL is when validity ends, as computed at
 * that moment; the moment itself if there is none left.
 *   T attempt NAME NUMBER                          T releasing NAME NUMBER UNTIL
 *   T acquired NAME NUMBER UNTIL TOKEN FENCE       T released NAME NUMBER CODE
 *   T at_risk | healthy | lost NAME NUMBER UNTIL   T failed NAME NUMBER CODE
 *   T end LINES ACQUIRED ROUNDS RAISES             the last line, or the file is not whole
 */
#include <ev.h>
#include <getopt.h>
#include <inttypes.h>
#include <redlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NAMES_MOST   64
#define PATIENCE_MS  5000
#define PAUSE_MOST_S 0.004 /* between one lease on a name and asking for the next */

struct options {
    const char *nodes, *record;
    double seconds, hold_s;
    unsigned seed, long_every; /* one in so many leases is held beyond its ttl */
    int64_t ttl_ms, wait_ms, max_ttl_ms, skew_ms;
    char **names;
    unsigned count;
};

/* One name, and our lease on it. */
struct lane {
    struct worker *worker;
    const char *name;
    redlock_lease *lease;
    unsigned number; /* of the attempt */
    bool held;
    ev_timer timer; /* end of the hold, or of the pause */
};

struct worker {
    struct options options;
    struct ev_loop *loop;
    redlock *client;
    FILE *record;
    unsigned lines;
    bool ending;
    ev_timer end;
    ev_signal stop;
    struct lane lanes[NAMES_MOST];
};

static int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- Recording ---- */

static void put(struct lane *lane, const char *fact, const char *rest)
{
    lane->worker->lines++;
    fprintf(lane->worker->record, "%" PRId64 " %s %s %u%s%s\n", now_us(), fact, lane->name,
            lane->number, rest[0] ? " " : "", rest);
}

/* The moment is read first: what is said of validity then ends no later than it does. */
static void put_validity(struct lane *lane, const char *fact, const char *rest)
{
    int64_t now = now_us();
    lane->worker->lines++;
    fprintf(lane->worker->record, "%" PRId64 " %s %s %u %" PRId64 "%s\n", now, fact, lane->name,
            lane->number, now + redlock_valid_for(lane->lease) * 1000, rest);
}

static void put_acquired(struct lane *lane)
{
    char rest[REDLOCK_TOKEN_SIZE + 32];
    snprintf(rest, sizeof rest, " %s %" PRId64, redlock_token(lane->lease),
             redlock_fence(lane->lease));
    put_validity(lane, "acquired", rest);
}

static void put_end(struct worker *worker)
{
    redlock_stats stats;
    redlock_stats_get(worker->client, &stats, sizeof stats);
    fprintf(worker->record, "%" PRId64 " end %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now_us(),
            worker->lines, stats.acquired, stats.rounds, stats.raises);
}

/* ---- The life of a lane ---- */

static void on_event(redlock_lease *lease, const redlock_event *event, void *data);

static double anything_up_to(double most)
{
    return most * rand() / RAND_MAX;
}

static void wake_in(struct lane *lane, double seconds)
{
    ev_now_update(lane->worker->loop);
    ev_timer_set(&lane->timer, seconds, 0.);
    ev_timer_start(lane->worker->loop, &lane->timer);
}

static void ask(struct lane *lane)
{
    redlock_lease_options terms = REDLOCK_LEASE_INIT;
    terms.ttl_ms = lane->worker->options.ttl_ms;
    terms.wait_ms = lane->worker->options.wait_ms;
    terms.fence = true;
    lane->number++;
    put(lane, "attempt", "");
    redlock_code code =
        redlock_acquire(lane->worker->client, &lane->lease, lane->name, &terms, on_event, lane);
    if (code != REDLOCK_OK) {
        put(lane, "failed", redlock_code_name(code));
        wake_in(lane, PAUSE_MOST_S);
    }
}

static void give_back(struct lane *lane)
{
    ev_timer_stop(lane->worker->loop, &lane->timer);
    lane->held = false;
    put_validity(lane, "releasing", "");
    redlock_release(lane->lease);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct lane *lane = timer->data;
    (void)loop, (void)events;
    if (lane->held)
        give_back(lane);
    else
        ask(lane);
}

static void hold(struct lane *lane)
{
    const struct options *options = &lane->worker->options;
    bool is_long = options->long_every && rand() % options->long_every == 0;
    lane->held = true;
    wake_in(lane, is_long ? 0.0015 * (double)options->ttl_ms : options->hold_s);
}

static void finish(struct lane *lane, const char *fact, redlock_code code)
{
    put(lane, fact, redlock_code_name(code));
    redlock_lease_free(lane->lease);
    lane->lease = NULL;
    if (!lane->worker->ending)
        wake_in(lane, anything_up_to(PAUSE_MOST_S));
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct lane *lane = data;
    (void)lease;
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        put_acquired(lane);
        hold(lane);
        break;
    case REDLOCK_AT_RISK:
        put_validity(lane, "at_risk", "");
        break;
    case REDLOCK_HEALTHY:
        put_validity(lane, "healthy", "");
        break;
    case REDLOCK_LOST:
        put_validity(lane, "lost", "");
        if (lane->held)
            give_back(lane);
        break;
    case REDLOCK_RELEASED:
        finish(lane, "released", event->code);
        break;
    default:
        finish(lane, "failed", event->code);
    }
}

/* ---- The process ---- */

static void on_closed(redlock *client, unsigned left, void *data)
{
    struct worker *worker = data;
    (void)client, (void)left;
    ev_break(worker->loop, EVBREAK_ALL);
}

static void end(struct worker *worker)
{
    if (worker->ending)
        return;
    worker->ending = true;
    for (unsigned i = 0; i < worker->options.count; i++) {
        struct lane *lane = &worker->lanes[i];
        ev_timer_stop(worker->loop, &lane->timer);
        if (lane->held)
            give_back(lane);
    }
    redlock_close(worker->client, PATIENCE_MS, on_closed, worker);
}

static void on_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    end(timer->data);
}

static void on_stop(struct ev_loop *loop, ev_signal *stop, int events)
{
    (void)loop, (void)events;
    end(stop->data);
}

static bool open_client(struct worker *worker)
{
    char why[256] = "";
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.nodes = worker->options.nodes;
    options.max_ttl_ms = worker->options.max_ttl_ms;
    options.clock_skew_ms = worker->options.skew_ms;
    redlock_code code = redlock_open(&worker->client, worker->loop, &options, why, sizeof why);
    if (code != REDLOCK_OK)
        fprintf(stderr, "worker: %s\n", why);
    return code == REDLOCK_OK;
}

static void begin(struct worker *worker)
{
    worker->end.data = worker->stop.data = worker;
    ev_timer_init(&worker->end, on_end, worker->options.seconds, 0.);
    ev_timer_start(worker->loop, &worker->end);
    ev_signal_init(&worker->stop, on_stop, SIGTERM);
    ev_signal_start(worker->loop, &worker->stop);
    for (unsigned i = 0; i < worker->options.count; i++) {
        struct lane *lane = &worker->lanes[i];
        *lane = (struct lane){.worker = worker, .name = worker->options.names[i]};
        ev_timer_init(&lane->timer, on_timer, 0., 0.);
        lane->timer.data = lane;
        ask(lane);
    }
}

static int misuse(void)
{
    fputs("usage: redlock-storm-worker --nodes LIST --record FILE --seconds S [--seed N]\n"
          "           [--ttl MS] [--wait MS] [--max-ttl MS] [--skew MS] [--hold US]\n"
          "           [--long-every N] NAME...\n",
          stderr);
    return 64;
}

static bool parse(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {{"nodes", required_argument, NULL, 'n'},
                                          {"record", required_argument, NULL, 'r'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"seed", required_argument, NULL, 'd'},
                                          {"ttl", required_argument, NULL, 't'},
                                          {"wait", required_argument, NULL, 'w'},
                                          {"max-ttl", required_argument, NULL, 'm'},
                                          {"skew", required_argument, NULL, 'k'},
                                          {"hold", required_argument, NULL, 'h'},
                                          {"long-every", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    int option;
    *options = (struct options){
        .hold_s = 0.001, .ttl_ms = 1000, .wait_ms = 2000, .max_ttl_ms = 1000, .skew_ms = 50};
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'n':
            options->nodes = optarg;
            break;
        case 'r':
            options->record = optarg;
            break;
        case 's':
            options->seconds = atof(optarg);
            break;
        case 'd':
            options->seed = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 't':
            options->ttl_ms = atoll(optarg);
            break;
        case 'w':
            options->wait_ms = atoll(optarg);
            break;
        case 'm':
            options->max_ttl_ms = atoll(optarg);
            break;
        case 'k':
            options->skew_ms = atoll(optarg);
            break;
        case 'h':
            options->hold_s = atof(optarg) / 1e6;
            break;
        case 'l':
            options->long_every = (unsigned)strtoul(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    options->names = argv + optind;
    options->count = (unsigned)(argc - optind);
    return options->nodes && options->record && options->seconds > 0 && options->count > 0 &&
           options->count <= NAMES_MOST;
}

int main(int argc, char **argv)
{
    static struct worker worker;
    if (!parse(&worker.options, argc, argv))
        return misuse();
    worker.record = fopen(worker.options.record, "we");
    if (!worker.record) {
        perror(worker.options.record);
        return 1;
    }
    setvbuf(worker.record, NULL, _IOLBF, 0); /* so that it tells all up to a sudden end */
    srand(worker.options.seed);
    worker.loop = ev_loop_new(0);
    if (!open_client(&worker))
        return 1;
    begin(&worker);
    ev_run(worker.loop, 0);
    put_end(&worker);
    redlock_free(worker.client);
    ev_loop_destroy(worker.loop);
    return fclose(worker.record) ? 1 : 0;
}
