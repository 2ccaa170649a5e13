#include "change_report.h"

#include <stdio.h>

#include "duration.h"
#include "plan_report.h"

void change_put_masters(struct text *out, const struct list_watch *watch, unsigned bits)
{
    redlock_node node = {.size = sizeof node};
    const char *comma = "";
    for (unsigned i = 0; i < watch->masters; i++)
        if (bits >> i & 1 && redlock_node_get(watch->client, i, &node) == REDLOCK_OK) {
            text_format(out, "%s%s", comma, node.node);
            comma = ",";
        }
}

void change_show_step(struct text *out, const struct plan *plan, unsigned step)
{
    char what[80];
    snprintf(what, sizeof what, "step %u of %u: give all clients this list", step,
             plan->chain.count - 1);
    plan_show_list(out, plan, step, what);
}

static void show_where(struct text *out, const struct list_watch *watch, unsigned bits)
{
    text_format(out, " on %u of %u masters", masters_in(bits), watch->masters);
    if (bits && masters_in(bits) < watch->masters) {
        text_format(out, " (");
        change_put_masters(out, watch, bits);
        text_format(out, ")");
    }
}

static void show_last(struct text *out, const struct list_seen *seen)
{
    char span[DURATION_SIZE];
    text_format(out, "; the last one %s ago: ", duration_show(span, seen->last.last_ms));
    text_shown(out, seen->last.label.bytes, seen->last.label.length);
}

static void show_next(struct text *out, const struct list_watch *next)
{
    unsigned up = list_watch_up(next);
    if (up < next->quorum)
        text_format(out, "; %u of %u masters of the next list are up, and %u must", up,
                    next->masters, next->quorum);
}

void change_show_sayers(struct text *out, const struct list_watch *watch,
                        const struct list_seen *seen, const struct list_watch *next)
{
    if (seen->clients)
        text_format(out, "%u client%s the former list", seen->clients,
                    seen->clients == 1 ? " says" : "s say");
    else if (seen->saying)
        text_format(out, "there may be more lists than the masters remember");
    else
        text_format(out, "no client says the former list");
    show_where(out, watch, seen->saying ? seen->saying : seen->told);
    if (seen->clients)
        show_last(out, seen);
    if (masters_in(seen->told) < watch->quorum)
        text_format(out, "; too few masters tell, %u must", watch->quorum);
    else
        show_next(out, next);
    text_format(out, "\n");
}

void change_show_end(struct text *out, const struct list_watch *watch, const struct list_seen *seen,
                     bool done)
{
    unsigned ended = seen->ours & ~seen->saying;
    text_format(out, "the former list is over");
    show_where(out, watch, seen->ours);
    if (done && ended == seen->ours)
        text_format(out, ", no client says it, and none can use it again");
    else if (done)
        text_format(out, ", and no client can use it again");
    else if (seen->saying && !seen->clients)
        text_format(out, ", but there may be more lists than the masters remember");
    else if (seen->saying)
        text_format(out, ", but %u client%s to %u of these", seen->clients,
                    seen->clients == 1 ? " says it" : "s say it",
                    masters_in(seen->saying & seen->ours));
    if (!done && seen->clients)
        show_last(out, seen);
    unsigned young = masters_in(ended & ~seen->vote);
    if (!done && young)
        text_format(out, "; %u abstain%s after a restart", young, young == 1 ? "s" : "");
    if (!done && masters_in(seen->ours) < watch->quorum)
        text_format(out, "; %u must know it", watch->quorum);
    text_format(out, "\n");
}

void change_show_all(struct text *out, const struct plan *plan, const int64_t *took_ms)
{
    char span[DURATION_SIZE];
    text_format(out, "done");
    for (unsigned step = 1; step < plan->chain.count; step++)
        text_format(out, "%s step %u took %s", step == 1 ? ":" : ",", step,
                    duration_show(span, took_ms[step]));
    text_format(out, "\n");
    const char *comma = "you may stop ";
    for (unsigned i = 0; i < plan->going.count; i++, comma = ",")
        text_format(out, "%s%s", comma, plan->going.of[i].node);
    if (plan->going.count)
        text_format(out, "\n");
    comma = "no client uses these addresses of masters that stay: ";
    for (unsigned i = 0; i < plan->former.count; i++, comma = ",")
        text_format(out, "%s%s", comma, plan->former.of[i].node);
    if (plan->former.count)
        text_format(out, "\n");
}
