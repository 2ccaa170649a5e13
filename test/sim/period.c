/* rule: T1 */
#include "rules.h"

#include "wrong.h"

void period_begins(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    if (lease->terms.at_least)
        lease->keep_until = clock_when(&s->clock, shell_now(s) + lease->terms.at_least);
}

static void remember(const struct user_lease *lease, unsigned i)
{
    struct world *w = lease->shell->world;
    w->periods[w->periods_made++ % PERIODS] = (struct period){.name = lease->names[i],
                                                              .shared = lease->shared >> i & 1,
                                                              .lease = lease->number,
                                                              .token = lease->token,
                                                              .client = CLIENT(lease),
                                                              .quorum = lease->shell->quorum,
                                                              .until = lease->keep_until};
}

/* Its keys end with their ttl. */
void period_let_go(struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    if (w->now < lease->keep_until && lease->token)
        w->tokens[lease->token].excused = true;
}

void period_released(struct user_lease *lease, const redlock_event *event)
{
    period_let_go(lease);
    bool is_kept = event->kind == REDLOCK_RELEASED && event->code == REDLOCK_OK;
    for (unsigned i = 0; is_kept && i < lease->count; i++)
        remember(lease, i);
}

/* A master that loses single keys keeps nothing. */
void period_is_kept(const struct user_lease *lease)
{
    struct world *w = lease->shell->world;
    bool matters = !(w->faults & 1U << FAULT_EVICT) && !lease->undermined;
    for (unsigned k = 0; k < PERIODS && matters; k++) {
        const struct period *period = &w->periods[k];
        for (unsigned i = 0; i < lease->count; i++)
            if (w->now < period->until && period->name == lease->names[i] &&
                period->token != lease->token && !w->tokens[period->token].given_back &&
                !(period->shared && lease->shared >> i & 1) &&
                wrong_pair_tolerated(w, lease->shell->quorum, period->quorum))
                world_violated(
                    w, "period",
                    "client %u holds lease %u, and lease %u of client %u keeps %c for %lld us more",
                    CLIENT(lease), lease->number, period->lease, period->client, 'a' + period->name,
                    (long long)(period->until - w->now));
    }
}
