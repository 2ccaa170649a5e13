/* A job of many parts that ends early when somebody wants its lock: `redlock ask batch --text WHY`.
 * It runs on a loop of libev; the masters: REDLOCK_NODES. */
#include <err.h>
#include <ev.h>
#include <redlock.h>
#include <redlock/recipes.h>
#include <stdio.h>

#define PARTS  600
#define PART_S 0.1
/* A part takes less, so none is begun with less validity. */
#define PART_MS 200

struct batch {
    redlock *client;
    redlock_lease *lease;
    redlock_heeder *heeder;
    struct ev_loop *loop;
    ev_timer timer;
    int done;
};

/* The heeder goes before its lease. */
static void give_back(struct batch *batch)
{
    ev_timer_stop(batch->loop, &batch->timer);
    redlock_heeder_free(batch->heeder);
    batch->heeder = NULL;
    redlock_lease_release(batch->lease);
}

static void do_part(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct batch *batch = timer->data;
    (void)loop, (void)events;
    if (redlock_lease_valid_for(batch->lease) <= PART_MS)
        return; /* LOST comes, or the next renewal */
    batch->done++;
    if (batch->done == PARTS)
        give_back(batch);
}

static void on_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    struct batch *batch = data;
    (void)heeder;
    printf("%s wants the lock%s%s; %d parts are done\n", wish->who, *wish->text ? ": " : "",
           wish->text, batch->done);
    give_back(batch);
}

static void begin(struct batch *batch)
{
    redlock_code code = redlock_heed(batch->lease, &batch->heeder, on_wish, batch);
    if (code)
        warnx("it hears no wishes: %s", redlock_code_text(code));
    printf("begins\n");
    fflush(stdout);
    ev_timer_start(batch->loop, &batch->timer);
}

static void on_event(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct batch *batch = data;
    (void)lease;
    if (event->kind == REDLOCK_ACQUIRED)
        begin(batch);
    if (event->kind == REDLOCK_LOST)
        give_back(batch);
    if (event->kind == REDLOCK_NOT_ACQUIRED || event->kind == REDLOCK_LOST)
        warnx("%s", event->text);
    if (event->kind == REDLOCK_NOT_ACQUIRED || event->kind == REDLOCK_RELEASED)
        ev_break(batch->loop, EVBREAK_ALL);
}

int main(void)
{
    char why[256];
    struct batch batch = {.loop = EV_DEFAULT};
    redlock_lease_options options = {.size = sizeof options, .wait_ms = REDLOCK_FOREVER};
    ev_timer_init(&batch.timer, do_part, 0., PART_S);
    batch.timer.data = &batch;
    if (redlock_open(&batch.client, batch.loop, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", why);
    if (redlock_acquire(batch.client, &batch.lease, "batch", &options, on_event, &batch))
        errx(1, "%s", redlock_last_error(batch.client));
    ev_run(batch.loop, 0);
    redlock_lease_free(batch.lease);
    redlock_free(batch.client);
    printf("%d of %d\n", batch.done, PARTS);
    return batch.done < PARTS;
}
