#include "waiting.h"

#include <string.h>
#include <unistd.h>

#include "crowds.h"
#include "duration.h"
#include "permits.h"
#include "say.h"
#include "votes.h"

#define FIRST_S    0.5 /* a shorter wait is not shown */
#define THEN_S     1.0
#define ALONE_S    5.0 /* nobody looks on: the owner only tells others */
#define RENEWED_MS 200 /* an end that is later by less is the same end, read at another moment */

/* ---- The lines ---------------------------------------------------------- */

static void show_permits(struct text *out, const redlock_look_result *result)
{
    struct permits permits = look_permits(result);
    permits_show(out, permits.holders.count, permits.count);
    text_format(out, " out");
}

static void show_holder(struct text *out, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    if (result->code != REDLOCK_OK) {
        text_format(out, "%s", redlock_code_text(result->code));
    } else if (look_holdings(result, holdings) > 0 && is_of_permits(holdings[0].holder)) {
        show_permits(out, result);
    } else if (look_holdings(result, holdings) == 0) {
        text_format(out, "held by nobody");
    } else {
        const char *holder = holdings[0].holder ? holdings[0].holder : "somebody";
        text_format(out, "held by ");
        if (is_marker(holder))
            readers_show(out, look_readers(result).count);
        else
            who_show(out, holder);
    }
}

/* One look cannot tell whether the holder renews: two of them see its lease end later.  A holder
 * renews each third of the ttl, so one that has not done so in half of it renews no more. */
static void note_renewal(struct waiting *waiting, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    bool held = result->code == REDLOCK_OK && look_holdings(result, holdings) > 0;
    const char *holder = held && holder_is_ours(holdings[0].holder) ? holdings[0].holder : "";
    int64_t left = held ? holdings[0].remaining_ms : -1, ends = boot_ms() + left;
    if (waiting->holder.length == 0 || strcmp(waiting->holder.bytes, holder) != 0) {
        waiting->holder.length = 0;
        text_add(&waiting->holder, holder, strlen(holder));
        waiting->longest_ms = left;
        waiting->renews = false;
    } else if (ends > waiting->ends + RENEWED_MS) {
        waiting->renews = true;
    }
    waiting->ends = ends;
    waiting->longest_ms = left > waiting->longest_ms ? left : waiting->longest_ms;
    waiting->renews &= left > waiting->longest_ms / 2;
}

static void show_left(struct text *out, const struct waiting *waiting,
                      const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    char span[DURATION_SIZE];
    bool held = result->code == REDLOCK_OK && look_holdings(result, holdings) > 0;
    if (held && holdings[0].remaining_ms >= 0)
        text_format(out, " (ttl %s%s)", duration_show(span, holdings[0].remaining_ms),
                    waiting->renews ? ", renewed" : "");
    else if (held && holdings[0].remaining_ms == -2)
        text_format(out, " (no ttl)");
}

static void show_place(struct text *out, const redlock_lease *lease)
{
    redlock_place place = {.size = sizeof place};
    if (redlock_lease_place(lease, &place) != REDLOCK_OK)
        return;
    if (place.position == 0)
        text_format(out, ", we are next");
    else
        text_format(out, ", %u ahead of us", place.position);
}

/* Lines that stay have only parts that last, and come only when these have changed. */
static void tell_change(struct waiting *waiting, const struct text *now)
{
    if (waiting->told.length == 0 || strcmp(now->bytes, waiting->told.bytes) != 0) {
        say_at(REDLOCK_LOG_INFO, "waiting: %s", now->bytes);
        waiting->told.length = 0;
        text_add(&waiting->told, now->bytes, now->length);
    }
}

static void tell_now(struct waiting *waiting, const redlock_look_result *result)
{
    const struct options *options = waiting->session->options;
    char span[DURATION_SIZE];
    struct text line = {0};
    text_format(&line, "redlock: waiting %s", duration_show(span, boot_ms() - waiting->since));
    show_place(&line, waiting->lease);
    text_format(&line, ", ");
    show_holder(&line, result);
    show_left(&line, waiting, result);
    text_format(&line, ": "); /* the longest parts come last, for the line is cut */
    names_show(&line, options->names, options->names_count);
    say_line(&line);
    text_free(&line);
}

/* ---- Looking ------------------------------------------------------------ */

static bool is_looked_at(const struct options *options)
{
    bool on_terminal = !options->quiet && !options->json && isatty(STDERR_FILENO);
    return options->verbose || on_terminal;
}

static void on_seen(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct waiting *waiting = data;
    const struct options *options = waiting->session->options;
    struct text now = {0};
    waiting->question = NULL;
    note_renewal(waiting, result);
    show_holder(&now, result);
    show_place(&now, waiting->lease);
    if (options->verbose)
        tell_change(waiting, &now);
    else if (is_looked_at(options))
        tell_now(waiting, result);
    if (waiting->seen)
        waiting->seen(waiting->data, result, now.bytes);
    text_free(&now);
    redlock_look_free(look);
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct waiting *waiting = timer->data;
    const struct options *options = waiting->session->options;
    (void)loop;
    (void)events;
    if (!waiting->question &&
        redlock_look_begin(waiting->session->client, &waiting->question, options->names,
                           options->names_count, NULL, on_seen, waiting) != REDLOCK_OK)
        waiting->question = NULL;
}

/* ---- What the owner calls ----------------------------------------------- */

void waiting_start(struct waiting *waiting, struct session *session, redlock_lease *lease)
{
    const struct options *options = session->options;
    if (options->wait_ms == 0 || !(waiting->seen || is_looked_at(options)))
        return;
    *waiting = (struct waiting){.session = session,
                                .lease = lease,
                                .since = boot_ms(),
                                .active = true,
                                .seen = waiting->seen,
                                .data = waiting->data};
    ev_timer_init(&waiting->timer, on_time, FIRST_S, is_looked_at(options) ? THEN_S : ALONE_S);
    waiting->timer.data = waiting;
    ev_timer_start(session->loop, &waiting->timer);
}

void waiting_stop(struct waiting *waiting)
{
    if (!waiting->active)
        return;
    waiting->active = false;
    ev_timer_stop(waiting->session->loop, &waiting->timer);
    redlock_look_free(waiting->question);
    say_line_end();
    text_free(&waiting->told);
    text_free(&waiting->holder);
}
