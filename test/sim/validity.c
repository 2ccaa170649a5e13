/* rule: V14 */
#include "rules.h"

#include "wrong.h"

#define PUNCTUAL MS(4) /* how late a loop may be without having been stopped */

/* A quorum of masters has promised to keep the key until then, in true time.  The quarantine cares
 * for what a restart makes them forget. */
static void is_backed(struct user_lease *lease)
{
    const struct shell *s = lease->shell;
    const struct token *token = token_of(lease);
    usec end = clock_when(&s->clock, lease->end);
    unsigned backing = 0;
    for (unsigned i = 0; i < s->masters; i++) {
        unsigned server = s->servers[i];
        backing += (lease->shared ? token->backed : token->alone)[server] >= end ||
                   is_wrong(s->world, server);
    }
    if (backing < s->quorum && !lease->undermined)
        world_violated(
            s->world, "backing",
            "lease %u of client %u counts on more than the %u masters that keep t%u till then",
            lease->number, CLIENT(lease), backing, lease->token);
}

/* The token may be handed on to a lease that ends sooner. */
static void note_for_token(const struct user_lease *lease)
{
    struct token *token = token_of(lease);
    if (lease->end > token->farthest_end)
        token->farthest_end = lease->end;
}

/* Once it has passed it never comes back. */
void validity_looked_at(struct user_lease *lease, usec now)
{
    if (lease->known != KNOWN_HELD || lease->let_go)
        return;
    usec end = lease_valid_until(core_of(lease->handle));
    if (end > now && lease->end && lease->end <= now)
        world_violated(lease->shell->world, "resurrection",
                       "lease %u of client %u ended %lld us ago and is valid again", lease->number,
                       CLIENT(lease), (long long)(now - lease->end));
    if (end && end != lease->end) {
        lease->end = end;
        lease->end_known_at = now;
        if (end > lease->farthest_end)
            lease->farthest_end = end;
        note_for_token(lease);
        is_backed(lease);
    }
}

/* Tested last: the validity that is left then is more than the margin, and less than was asked for.
 */
static void acquired_in_time(struct user_lease *lease)
{
    usec valid = lease_valid_until(core_of(lease->handle)) - shell_now(lease->shell);
    if (valid >= lease->terms.ttl)
        world_violated(lease->shell->world, "validity",
                       "lease %u of client %u is acquired with %lld us left, and a ttl of %lld",
                       lease->number, CLIENT(lease), (long long)valid, (long long)lease->terms.ttl);
    if (valid <= lease->terms.margin)
        world_violated(lease->shell->world, "validity",
                       "lease %u of client %u is acquired with %lld us left, and a margin of %lld",
                       lease->number, CLIENT(lease), (long long)valid,
                       (long long)lease->terms.margin);
}

void validity_acquired(struct user_lease *lease)
{
    acquired_in_time(lease);
    note_for_token(lease);
    is_backed(lease);
}

/* Its end may be the same as before: but others back it. */
void validity_moved(struct user_lease *lease)
{
    validity_looked_at(lease, shell_now(lease->shell));
    is_backed(lease);
}

void validity_shared(struct user_lease *lease)
{
    if (lease->known == KNOWN_HELD && !lease->shared && user_lease_is_held(lease))
        is_backed(lease);
}

/* It reaches at least as far as one ttl from the call. */
void validity_extended(struct user_lease *lease)
{
    usec end = lease_valid_until(core_of(lease->handle));
    if (end < lease->extend_until)
        world_violated(lease->shell->world, "extension",
                       "lease %u of client %u is extended, but ends %lld us too early",
                       lease->number, CLIENT(lease), (long long)(lease->extend_until - end));
}

/* LOST says how long before the end it comes, or since when the lease is over.  A release that was
 * asked for before it comes has ended the lease. */
static void says_when_it_ends(const struct user_lease *lease, const redlock_event *event)
{
    int64_t ends_ms = (lease->end - shell_now(lease->shell)) / 1000;
    bool was_released = lease->released || lease->shell->client->closing;
    if (event->ends_ms != ends_ms && !(was_released && ends_ms > 0 && !event->ends_ms))
        world_violated(lease->shell->world, "validity",
                       "lease %u of client %u is said to end in %lld ms, and ends in %lld ms",
                       lease->number, CLIENT(lease), (long long)event->ends_ms, (long long)ends_ms);
}

/* LOST comes a margin before the end, unless the process was not running then. */
void validity_lost(struct user_lease *lease, const redlock_event *event)
{
    struct shell *s = lease->shell;
    if (event->code == REDLOCK_E_GONE)
        return;
    says_when_it_ends(lease, event);
    usec due = lease->end - lease->terms.margin;
    if (due < lease->end_known_at)
        due = lease->end_known_at;
    if (s->ran_again_local > due - PUNCTUAL || shell_now(s) <= due + PUNCTUAL)
        return;
    world_violated(s->world, "punctuality", "lease %u of client %u hears LOST %lld us late",
                   lease->number, CLIENT(lease), (long long)(shell_now(s) - due));
}
