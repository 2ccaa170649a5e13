#include "user_lease.h"

#include <stdlib.h>
#include <string.h>

#include "client_rules.h"
#include "invariants.h"
#include "lease/further.h"
#include "movers.h"
#include "recipe_users.h"
#include "rules.h"
#include "queues.h"
#include "trace.h"
#include "users.h"

struct user_lease *user_lease_of(struct lease *core)
{
    if (core && core->further)
        core = further_owner(core);
    return core ? movers_lease_of(lease_of_core(core)) : NULL;
}

bool user_lease_is_held(const struct user_lease *lease)
{
    return !lease->let_go && !lease->released &&
           lease_valid_until(core_of(lease->handle)) > shell_now(lease->shell);
}

bool user_lease_has_calls(const struct user_lease *lease)
{
    return lease->let_go || lease->handle->operations;
}

/* ---- options: from our own reading of redlock.h ------------------------------------ */

usec user_lease_usual_margin(usec ttl)
{
    usec margin = ttl / 20 < MS(10) ? MS(10) : ttl / 20;
    return margin > ttl / 4 ? ttl / 4 : margin;
}

static redlock_lease_options options_of(const struct terms *terms)
{
    redlock_lease_options options = {.size = sizeof(redlock_lease_options)};
    options.ttl_ms = terms->ttl / 1000;
    options.wait_ms = terms->wait == NEVER ? REDLOCK_FOREVER : terms->wait / 1000;
    if (terms->margin != user_lease_usual_margin(terms->ttl))
        options.margin_ms = terms->margin ? terms->margin / 1000 : REDLOCK_ZERO;
    options.max_hold_ms = terms->max_hold / 1000;
    options.permits = terms->permits;
    options.at_least_ms = terms->at_least / 1000;
    options.no_renew = !terms->renew;
    options.fence = terms->fence;
    return options;
}

/* ---- asking for one ------------------------------------------------------------------ */

static void on_event(redlock_lease *handle, const redlock_event *event, void *data)
{
    struct user_lease *lease = data;
    check_freed_is_left_alone(lease, handle);
    if (event->kind == REDLOCK_MOVED)
        movers_moved(lease);
    check_told(lease, event);
    if (lease->shell->world->violation.rule)
        return;
    user_told(lease, event);
}

static void on_look(redlock_look *look, const redlock_look_result *result, void *data)
{
    redlock_vote votes[REDLOCK_MASTERS_MAX];
    const redlock_vote *each[REDLOCK_MASTERS_MAX];
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        votes[i] = (redlock_vote){.node = view->node, .kind = view->kind, .text = view->text};
        each[i] = &votes[i];
    }
    redlock_event event = {.kind = TOLD_SEEN,
                           .code = result->code,
                           .masters = result->masters,
                           .quorum = result->quorum,
                           .granted = result->agreed,
                           .votes = each,
                           .text = result->text};
    on_event(lease_of_look(look), &event, data);
}

struct spelled {
    char bytes[MODEL_NAMES];
    redlock_name names[MODEL_NAMES];
};

static void spell(struct spelled *spelled, const uint8_t *names, unsigned count, unsigned shared)
{
    for (unsigned i = 0; i < count; i++) {
        spelled->bytes[i] = (char)('a' + names[i]); /* a byte, not always a letter */
        spelled->names[i] =
            (redlock_name){.size = sizeof(redlock_name),
                           .bytes = &spelled->bytes[i],
                           .length = 1,
                           .mode = shared >> i & 1 ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE};
    }
}

static struct user_lease *record_new(struct shell *s, const uint8_t *names, unsigned count,
                                     unsigned shared)
{
    struct user_lease *lease = calloc(1, sizeof *lease);
    lease->shell = shell_present = s;
    lease->count = (uint8_t)count;
    memcpy(lease->names, names, count);
    lease->shared = shared;
    lease->began = s->world->now;
    return lease;
}

/* Into the list, or nowhere. */
static struct user_lease *entered(struct user_lease *lease, redlock_code code)
{
    struct shell *s = lease->shell;
    if (code && code != REDLOCK_E_MEMORY)
        world_violated(s->world, "options", "client %u is refused a lease: %s", s->index + 1,
                       redlock_last_error(s->client));
    if (code) {
        free(lease);
        return NULL;
    }
    lease->number = ++s->world->leases_made;
    s->leases_made++;
    lease->next_all = s->all;
    s->all = lease;
    check_asked(lease);
    return lease;
}

struct user_lease *user_lease_acquire(struct shell *s, const uint8_t *names, unsigned count,
                                      unsigned shared, const struct terms *terms)
{
    struct user_lease *lease = record_new(s, names, count, shared);
    redlock_lease_options options = options_of(terms);
    struct spelled spelled;
    spell(&spelled, names, count, shared);
    lease->terms = *terms;
    return entered(lease, redlock_acquire_names(s->client, &lease->handle, spelled.names, count,
                                                &options, on_event, lease));
}

struct user_lease *user_lease_attach(struct shell *s, const struct parcel *parcel,
                                     const struct terms *terms)
{
    const struct token *given = &s->world->tokens[parcel->token];
    struct user_lease *lease = record_new(s, parcel->names, parcel->count, parcel->shared);
    redlock_lease_options options = options_of(terms);
    struct spelled spelled;
    spell(&spelled, parcel->names, parcel->count, parcel->shared);
    lease->terms = *terms;
    lease->by_token = true;
    lease->token = parcel->token;
    lease->undermined = given->given_back && !given->settled;
    return entered(lease,
                   redlock_attach(s->client, &lease->handle, spelled.names, parcel->count,
                                  s->world->tokens[parcel->token].text, &options, on_event, lease));
}

struct user_lease *user_lease_release_token(struct shell *s, const struct parcel *parcel)
{
    struct user_lease *lease = record_new(s, parcel->names, parcel->count, parcel->shared);
    struct spelled spelled;
    spell(&spelled, parcel->names, parcel->count, 0); /* a release knows no mode */
    lease->by_token = lease->released = true;
    lease->token = parcel->token;
    lease->known = KNOWN_ASKED_BACK;
    return entered(lease,
                   redlock_release_token(s->client, &lease->handle, spelled.names, parcel->count,
                                         s->world->tokens[parcel->token].text, on_event, lease));
}

struct user_lease *user_lease_inspect(struct shell *s, const uint8_t *names, unsigned count)
{
    struct user_lease *lease = record_new(s, names, count, 0);
    struct spelled spelled;
    spell(&spelled, names, count, 0);
    lease->known = KNOWN_INSPECTING;
    lease->released = true; /* there is nothing to release */
    redlock_look *look;
    redlock_code code =
        redlock_look_begin(s->client, &look, spelled.names, count, NULL, on_look, lease);
    lease->handle = lease_of_look(look);
    return entered(lease, code);
}

/* ---- having one ------------------------------------------------------------------------- */

bool user_lease_extend(struct user_lease *lease, usec ttl)
{
    struct shell *s = shell_present = lease->shell;
    if (redlock_lease_extend(lease->handle, ttl / 1000))
        return false;
    usec lasts = ttl ? ttl : core_of(lease->handle)->terms.ttl;
    lease->extends++;
    lease->extend_until = quorum_promise(shell_now(s), lasts, DRIFT_PPM);
    return true;
}

void user_lease_has_changed(struct user_lease *lease)
{
    lease->shared = redlock_lease_is_shared(lease->handle) ? (1U << lease->count) - 1 : 0;
}

bool user_lease_downgrade(struct user_lease *lease)
{
    shell_present = lease->shell;
    if (redlock_lease_downgrade(lease->handle))
        return false;
    tokens_undermine(lease->shell->world, lease->token, lease);
    lease->changes++;
    user_lease_has_changed(lease);
    return true;
}

bool user_lease_upgrade(struct user_lease *lease)
{
    shell_present = lease->shell;
    if (redlock_lease_upgrade(lease->handle))
        return false;
    lease->changes++;
    lease->upgrading = true;
    return true;
}

bool user_lease_move(struct user_lease *lease)
{
    struct shell *to = lease->shell->mate;
    shell_present = lease->shell;
    bool may = movers_may(lease, to);
    redlock_code code = redlock_lease_move(lease->handle, to->client);
    if ((code == REDLOCK_OK) != may)
        world_violated(lease->shell->world, "options", "lease %u: its move returns %s",
                       lease->number, redlock_code_name(code));
    if (code)
        return false;
    movers_begun(lease, to);
    return true;
}

bool user_lease_release(struct user_lease *lease)
{
    shell_present = lease->shell;
    bool may = !lease->ended && !lease->released;
    redlock_code code = redlock_lease_release(lease->handle);
    if ((code == REDLOCK_OK) != may)
        world_violated(lease->shell->world, "options", "lease %u: its release returns %s",
                       lease->number, redlock_code_name(code));
    lease->released |= code == REDLOCK_OK;
    period_let_go(lease);
    return code == REDLOCK_OK;
}

static void let_go(struct user_lease *lease)
{
    movers_dropped(lease);
    lease->let_go = true;
    lease->shell->let_go++;
}

bool user_lease_detach(struct user_lease *lease)
{
    struct shell *s = shell_present = lease->shell;
    works_end(lease);
    s->written = 0; /* it writes what may be a renewal of the lease, beside what a turn writes */
    if (redlock_lease_detach(lease->handle))
        return false;
    s->written = 0;
    let_go(lease);
    return true;
}

void user_lease_free(struct user_lease *lease)
{
    works_end(lease);
    shell_present = lease->shell;
    redlock_lease_free(lease->handle);
    period_let_go(lease);
    let_go(lease);
}

/* ---- the end ------------------------------------------------------------------------------ */

void user_leases_drop(struct shell *s, bool all)
{
    if (!all && (!s->let_go || !s->client || queues_have_calls(s->client)))
        return;
    struct user_lease **at = &s->all, *lease;
    while ((lease = *at)) {
        if (!all && !lease->let_go) {
            at = &lease->next_all;
            continue;
        }
        *at = lease->next_all;
        check_freed(lease);
        free(lease);
    }
    s->let_go = 0;
}
