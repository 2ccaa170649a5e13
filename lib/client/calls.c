/*
 * calls.c - the calls about one lease, and about one master: check, queue, return.
 */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "calls.h"
#include "loop.h"
#include "options.h"
#include "owner.h"
#include "pump.h"
#include "report.h"
#include "sized.h"

static const struct sized sized_name = SIZED_NAME;
static const struct sized sized_place = SIZED(redlock_place, expires_ms);

redlock *client_of_lease(const redlock_lease *lease)
{
    return lease->client;
}

const char *name_of_lease(const redlock_lease *lease, size_t *length)
{
    const struct names *names = lease_names(core_of(lease));
    size_t prefix = strlen(lease->client->prefix);
    if (!names || names->count != 1 || lease->slot >= 0 || redlock_lease_is_shared(lease) ||
        !redlock_lease_valid_for(lease))
        return NULL;
    struct slice name = names_at(names, 0);
    *length = name.length - prefix;
    return name.bytes + prefix;
}

bool client_moves_lease(const redlock_lease *lease)
{
    return lease->moves;
}

/* ---- asking for a lease ----------------------------------------------------- */

static redlock_code check_name(redlock *client, const redlock_name *name)
{
    size_t prefix = strlen(client->prefix), own = strlen(OWN);
    if (!name->bytes || name->length == 0)
        return client_fail(client, REDLOCK_E_NAME, "the name of a lock cannot be empty");
    if (name->length > REDLOCK_NAME_MAX - prefix)
        return client_fail(client, REDLOCK_E_NAME,
                           "a name of %zu bytes (and a prefix of %zu) is over the limit of %d: "
                           "lock a hash of it",
                           name->length, prefix, REDLOCK_NAME_MAX);
    char head[sizeof OWN - 1] = "";
    size_t from_prefix = prefix < own ? prefix : own;
    memcpy(head, client->prefix, from_prefix);
    size_t from_name = name->length < own - from_prefix ? name->length : own - from_prefix;
    memcpy(head + from_prefix, name->bytes, from_name);
    bool reserved = memcmp(head, OWN, own) == 0;
    if (reserved)
        return client_fail(client, REDLOCK_E_NAME,
                           "names that begin with \"redlock:\" are kept for redlock itself");
    return REDLOCK_OK;
}

static bool are_same_names(const redlock_name *a, const redlock_name *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static redlock_code take_name(redlock *client, const redlock_name *names, size_t index,
                              redlock_name *to)
{
    if (!sized_take_element(&sized_name, to, names, index))
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "redlock_name.size of name %zu of an array that begins with %zu is not "
                           "%zu: set it to sizeof(redlock_name)",
                           index, names->size, sized_name.sizes[0]);
    if (to->mode == REDLOCK_EXCLUSIVE || to->mode == REDLOCK_SHARED || to->mode == REDLOCK_SLOT)
        return check_name(client, to);
    return client_fail(client, REDLOCK_E_ARGUMENT,
                       "the mode of a name is %d, and must be REDLOCK_EXCLUSIVE, REDLOCK_SHARED or "
                       "REDLOCK_SLOT",
                       (int)to->mode);
}

static redlock_code take_names(redlock *client, const redlock_name *names, size_t count,
                               redlock_name *to)
{
    if (!names || count == 0 || count > REDLOCK_NAMES_MAX)
        return client_fail(client, REDLOCK_E_NAME, "a lease has 1 to %d names, not %zu",
                           REDLOCK_NAMES_MAX, count);
    for (size_t i = 0; i < count; i++) {
        redlock_code code = take_name(client, names, i, &to[i]);
        if (code)
            return code;
        for (size_t j = 0; j < i; j++)
            if (are_same_names(&to[i], &to[j]))
                return client_fail(client, REDLOCK_E_NAME, "a name is given twice: \"%.*s\"",
                                   (int)(to[i].length < 80 ? to[i].length : 80),
                                   (const char *)to[i].bytes);
    }
    return REDLOCK_OK;
}

redlock_code calls_check_token(redlock *client, const char *token)
{
    if (!token || !*token || strlen(token) > TOKEN_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a token is 1 to %d bytes long", TOKEN_MAX);
    if (strcmp(token, REDLOCK_READERS) == 0) /* else it would stand for all readers */
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "%s is no token: it stands for all readers or permits", token);
    return REDLOCK_OK;
}

static redlock_code check_open(redlock *client)
{
    if (!client_is_usable(client))
        return client_fail(client, REDLOCK_E_FORKED, "%s", redlock_code_text(REDLOCK_E_FORKED));
    if (client->close_asked)
        return client_fail(client, REDLOCK_E_CLOSED, "%s", redlock_code_text(REDLOCK_E_CLOSED));
    return REDLOCK_OK;
}

static redlock_code check_client(redlock *client)
{
    redlock_code code = check_open(client);
    if (!code && client->heir)
        return client_fail(client, REDLOCK_E_CLOSED,
                           "this client is left for another one: ask that one");
    return code;
}

static struct names *make_names(const redlock *client, const redlock_name *names, size_t count)
{
    struct slice slices[REDLOCK_NAMES_MAX];
    for (size_t i = 0; i < count; i++)
        slices[i] = (struct slice){names[i].bytes, names[i].length};
    struct slice prefix = {client->prefix, strlen(client->prefix)};
    return names_new(&client->memory, prefix, slices, (unsigned)count);
}

static void set_modes(struct names *copy, const redlock_name *names, bool all_shared)
{
    for (unsigned i = 0; i < copy->count; i++)
        if (all_shared || names[i].mode == REDLOCK_SHARED)
            names_set_shared(copy, i);
}

/* Bytes for the token and its NUL.  All tokens that a client draws are of one length. */
static size_t token_room(const redlock *client, const char *token)
{
    return (token ? strlen(token) : engine_token_length(client->engine)) + 1;
}

static size_t size_of_lease(const redlock *client, const struct terms *terms, const char *token)
{
    size_t rare = terms->inspects || terms->fence ? sizeof(union lease_rare) : 0;
    return sizeof(redlock_lease) + lease_size(terms) + rare + token_room(client, token);
}

static redlock_lease *make_lease(redlock *client, struct names *names, const struct terms *terms,
                                 const char *token)
{
    redlock_lease *lease = calloc(1, size_of_lease(client, terms, token));
    if (!lease || !names ||
        !lease_init(client->engine, core_of(lease), names, terms, token,
                    token ? strlen(token) : 0)) {
        free(lease);
        return NULL;
    }
    return lease;
}

/* One of the permits of a name is a lease on one name, exclusively. */
static redlock_code check_permits(redlock *client, const redlock_name *names, size_t count,
                                  const struct terms *terms, const char *token)
{
    if (!terms->permits)
        return REDLOCK_OK;
    if (token)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a permit cannot be attached by its token");
    if (count > 1)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a permit has one name, not %zu: ask for one lease for each name",
                           count);
    if (terms->shared || names[0].mode == REDLOCK_SHARED)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a permit cannot be shared: give the name more permits");
    size_t length = strlen(client->prefix) + names[0].length;
    if (length * terms->permits > REDLOCK_PERMITS_BYTES_MAX)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a name of %zu bytes has %zu permits at most: lock a hash of it", length,
                           REDLOCK_PERMITS_BYTES_MAX / length);
    return REDLOCK_OK;
}

redlock_lease *calls_enter_lease(redlock *client, struct names *names, const struct terms *terms,
                                 const char *token)
{
    redlock_lease *lease = make_lease(client, names, terms, token);
    if (names)
        names_drop(&client->memory, names);
    if (!lease) {
        client_explain(client, "out of memory");
        return NULL;
    }
    lease->permit = terms->permits != 0;
    lease->inspects = terms->inspects;
    lease->fenced = terms->fence;
    lease->slot = -1;
    lease->client = client;
    return lease;
}

static redlock_code new_lease(redlock *client, redlock_lease **out, const redlock_name *names,
                              size_t count, const struct terms *terms, const char *token)
{
    redlock_code code = check_permits(client, names, count, terms, token);
    if (code)
        return code;
    struct names *copy = make_names(client, names, count);
    if (copy)
        set_modes(copy, names, terms->shared);
    redlock_lease *lease = calls_enter_lease(client, copy, terms, token);
    if (!lease)
        return REDLOCK_E_MEMORY;
    lease->reads = count == 1 && (terms->shared || names[0].mode == REDLOCK_SHARED);
    *out = lease;
    return REDLOCK_OK;
}

static redlock_code begin_lease(redlock_lease *lease, enum operation operation,
                                redlock_lease_callback *callback, void *data)
{
    lease->callback = callback;
    lease->data = data;
    client_ask(lease, operation);
    return REDLOCK_OK;
}

static redlock_code begin_call(redlock *client, redlock_lease **out,
                               redlock_lease_callback *callback)
{
    if (out)
        *out = NULL;
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (!out || !callback)
        return client_fail(client, REDLOCK_E_ARGUMENT, "a lease needs a callback and a handle");
    redlock_code code = check_client(client);
    return code ? code : client_may_act(client);
}

static bool any_is_slot(const redlock_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].mode == REDLOCK_SLOT)
            return true;
    return false;
}

static redlock_code refuse_slots(redlock *client, const redlock_name *names, size_t count)
{
    if (any_is_slot(names, count))
        return client_fail(
            client, REDLOCK_E_ARGUMENT,
            "REDLOCK_SLOT cannot be acquired: set options.permits, and the library finds a slot");
    return REDLOCK_OK;
}

/* The names are ours, and good. */
static redlock_code acquire_taken(redlock *client, redlock_lease **lease, const redlock_name *names,
                                  size_t count, const redlock_lease_options *options,
                                  redlock_lease_callback *callback, void *data)
{
    struct terms terms;
    redlock_code code = terms_read(client, options, &terms);
    if (!code)
        code = new_lease(client, lease, names, count, &terms, NULL);
    return code ? code : begin_lease(*lease, OP_ACQUIRE, callback, data);
}

/* A call about whole names, which are in `taken` after that. */
static redlock_code begin_with_names(redlock *client, redlock_lease **lease,
                                     const redlock_name *names, size_t count,
                                     redlock_lease_callback *callback, redlock_name *taken)
{
    redlock_code code = begin_call(client, lease, callback);
    if (!code)
        code = take_names(client, names, count, taken);
    return code ? code : refuse_slots(client, taken, count);
}

redlock_code redlock_acquire_names(redlock *client, redlock_lease **lease,
                                   const redlock_name *names, size_t count,
                                   const redlock_lease_options *options,
                                   redlock_lease_callback *callback, void *data)
{
    redlock_name taken[REDLOCK_NAMES_MAX];
    redlock_code code = begin_with_names(client, lease, names, count, callback, taken);
    return code ? code : acquire_taken(client, lease, taken, count, options, callback, data);
}

redlock_code redlock_acquire(redlock *client, redlock_lease **lease, const char *name,
                             const redlock_lease_options *options, redlock_lease_callback *callback,
                             void *data)
{
    redlock_name one = redlock_name_of(name);
    redlock_code code = begin_call(client, lease, callback);
    if (!code)
        code = check_name(client, &one);
    return code ? code : acquire_taken(client, lease, &one, 1, options, callback, data);
}

redlock_code redlock_attach(redlock *client, redlock_lease **lease, const redlock_name *names,
                            size_t count, const char *token, const redlock_lease_options *options,
                            redlock_lease_callback *callback, void *data)
{
    struct terms terms;
    redlock_name taken[REDLOCK_NAMES_MAX];
    redlock_code code = begin_with_names(client, lease, names, count, callback, taken);
    if (!code)
        code = calls_check_token(client, token);
    if (!code)
        code = terms_read(client, options, &terms);
    if (!code && terms.fence)
        code = client_fail(
            client, REDLOCK_E_ARGUMENT,
            "options.fence is refused: only the first holder of a lease knows its fence");
    terms.wait = 0;
    if (!code)
        code = new_lease(client, lease, taken, count, &terms, token);
    return code ? code : begin_lease(*lease, OP_ACQUIRE, callback, data);
}

/* The slot of a name, in place of the name. */
static struct names *make_slot(const redlock *client, const redlock_name *name)
{
    struct names *names = make_names(client, name, 1);
    struct names *made =
        names ? lease_names_of_slot(&client->memory, names, (unsigned)name->slot) : NULL;
    if (names)
        names_drop(&client->memory, names);
    return made;
}

static redlock_code check_slot(redlock *client, const redlock_name *names, size_t count)
{
    if (count == 1 && names[0].slot >= 0 && names[0].slot < REDLOCK_PERMITS_MAX)
        return REDLOCK_OK;
    return client_fail(client, REDLOCK_E_ARGUMENT,
                       "a slot is of one name, and 0 to %d: this is %d, of %zu names",
                       REDLOCK_PERMITS_MAX - 1, names[0].slot, count);
}

static redlock_code new_slot(redlock *client, redlock_lease **out, const redlock_name *names,
                             size_t count, const struct terms *terms, const char *token)
{
    redlock_code code = check_slot(client, names, count);
    if (code)
        return code;
    *out = calls_enter_lease(client, make_slot(client, names), terms, token);
    return *out ? REDLOCK_OK : REDLOCK_E_MEMORY;
}

/* The names themselves, or one slot of the name. */
static redlock_code new_by_mode(redlock *client, redlock_lease **out, const redlock_name *names,
                                size_t count, const struct terms *terms, const char *token)
{
    return any_is_slot(names, count) ? new_slot(client, out, names, count, terms, token)
                                     : new_lease(client, out, names, count, terms, token);
}

redlock_code redlock_release_token(redlock *client, redlock_lease **lease,
                                   const redlock_name *names, size_t count, const char *token,
                                   redlock_lease_callback *callback, void *data)
{
    redlock_name taken[REDLOCK_NAMES_MAX];
    redlock_code code = begin_call(client, lease, callback);
    if (!code)
        code = take_names(client, names, count, taken);
    if (!code)
        code = calls_check_token(client, token);
    if (!code)
        code = new_by_mode(client, lease, taken, count, &(struct terms){0}, token);
    return code ? code : begin_lease(*lease, OP_RELEASE, callback, data);
}

/* ---- for calls about other things -------------------------------------------- */

redlock_code calls_check(redlock *client)
{
    return check_client(client);
}

redlock_code calls_check_open(redlock *client)
{
    return check_open(client);
}

redlock_code calls_new_look(redlock *client, redlock_lease **out, const redlock_name *names,
                            size_t count, const struct terms *terms)
{
    redlock_name taken[REDLOCK_NAMES_MAX];
    redlock_code code = take_names(client, names, count, taken);
    return code ? code : new_by_mode(client, out, taken, count, terms, NULL);
}

redlock_code calls_check_name(redlock *client, const redlock_name *name)
{
    return check_name(client, name);
}

struct names *calls_make_name(const redlock *client, const redlock_name *name)
{
    return make_names(client, name, 1);
}

/* ---- having a lease --------------------------------------------------------- */

static bool is_held(const redlock_lease *lease)
{
    return client_is_usable(lease->client) &&
           !(lease->operations & (OP_RELEASE | OP_FREE | OP_DETACH)) &&
           lease_valid_until(core_of(lease)) > system_now();
}

int64_t redlock_lease_valid_for(const redlock_lease *lease)
{
    if (!lease || !is_held(lease))
        return 0;
    usec left = lease_valid_until(core_of(lease)) - system_now();
    return left > 0 ? left / 1000 : 0;
}

redlock_code redlock_lease_place(const redlock_lease *lease, redlock_place *place)
{
    usec expires;
    redlock_place found = {.expires_ms = -1};
    if (!sized_is_known(&sized_place, place->size))
        return client_fail_size(lease->client, &sized_place, place->size);
    bool waits = client_is_usable(lease->client) &&
                 place_look(lease->client->engine, core_of(lease), &found.position, &expires);
    if (waits && expires != NEVER)
        found.expires_ms = expires / 1000;
    sized_give(place, &found);
    if (!client_is_usable(lease->client))
        return REDLOCK_E_FORKED;
    return waits ? REDLOCK_OK : REDLOCK_E_STATE;
}

int64_t redlock_lease_fence(const redlock_lease *lease)
{
    return lease ? lease_fence(core_of(lease)) : 0;
}

int redlock_lease_slot(const redlock_lease *lease)
{
    return lease ? lease->slot : -1;
}

redlock_code redlock_lease_extend(redlock_lease *lease, int64_t ttl_ms)
{
    if (!client_is_usable(lease->client))
        return REDLOCK_E_FORKED;
    bool is_busy =
        lease->moves || lease_is_extending(core_of(lease)) || lease->operations & OP_EXTEND;
    if (!is_held(lease) || is_busy)
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "only a lease that is held can be extended, one extend at a time");
    if (ttl_ms != 0) {
        redlock_code code = ttl_check(lease->client, ttl_ms, lease_margin(core_of(lease)));
        if (code)
            return code;
    }
    lease->extend_ttl = (uint32_t)ttl_ms;
    client_ask(lease, OP_EXTEND);
    return REDLOCK_OK;
}

static bool is_changing(const redlock_lease *lease)
{
    return lease_is_changing(core_of(lease)) || lease->operations & (OP_DOWNGRADE | OP_UPGRADE);
}

static redlock_code begin_change(redlock_lease *lease, bool may, enum operation operation,
                                 const char *why_not)
{
    if (!client_is_usable(lease->client))
        return REDLOCK_E_FORKED;
    if (!is_held(lease) || lease->moves || is_changing(lease))
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "only a lease that is held can be changed, one change at a time");
    if (!may)
        return client_fail(lease->client, REDLOCK_E_STATE, "%s", why_not);
    client_ask(lease, operation);
    return REDLOCK_OK;
}

redlock_code redlock_lease_downgrade(redlock_lease *lease)
{
    bool is_permit = lease->slot >= 0;
    return begin_change(lease, !is_permit && !lease_is_all_shared(core_of(lease)), OP_DOWNGRADE,
                        is_permit ? "a permit cannot be shared"
                                  : "all names of the lease are shared already");
}

redlock_code redlock_lease_upgrade(redlock_lease *lease)
{
    bool is_foreign = lease_is_foreign(core_of(lease));
    return begin_change(lease, lease_is_shared(core_of(lease)) && !is_foreign, OP_UPGRADE,
                        is_foreign ? "a lease that was taken over by its token cannot be upgraded"
                                   : "no name of the lease is shared");
}

bool redlock_lease_is_shared(const redlock_lease *lease)
{
    if (!lease)
        return false;
    return lease->operations & OP_DOWNGRADE || lease_is_shared(core_of(lease));
}

redlock_code redlock_lease_release(redlock_lease *lease)
{
    if (!client_is_usable(lease->client))
        return REDLOCK_E_FORKED;
    if (lease->ended || lease->released)
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "the lease has ended, or its release was asked for already");
    client_ask(lease, OP_RELEASE);
    return REDLOCK_OK;
}

static void forget_lease(redlock_lease *lease, enum operation operation)
{
    redlock *client = lease->client;
    if (client->telling == lease)
        client->telling = NULL;
    client_ask(lease, operation);
}

redlock_code redlock_lease_detach(redlock_lease *lease)
{
    if (!client_is_usable(lease->client))
        return REDLOCK_E_FORKED;
    if (!is_held(lease))
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "only a lease that is held can be detached");
    if (lease->slot >= 0)
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "a permit cannot be detached: no process could attach it");
    if (lease_was_changed(core_of(lease)) || lease->operations & (OP_DOWNGRADE | OP_UPGRADE))
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "a lease that was downgraded or upgraded cannot be detached");
    if (lease->moves) /* the other client may ask for it after this */
        return client_fail(lease->client, REDLOCK_E_STATE,
                           "a lease cannot be detached while it moves");
    if (lease_leave(core_of(lease)))
        pump_write(lease->client); /* from now on no renewal of it is written */
    forget_lease(lease, OP_DETACH);
    return REDLOCK_OK;
}

void redlock_lease_free(redlock_lease *lease)
{
    if (lease)
        forget_lease(lease, OP_FREE);
}

const char *redlock_lease_token(redlock_lease *lease)
{
    char token[TOKEN_MAX + 1];
    lease_token(lease->client->engine, core_of(lease), token);
    if (token[0])
        memcpy(token_text(lease), token, strlen(token)); /* each is of the same length */
    return token_text(lease);
}

/* ---- masters ---------------------------------------------------------------- */

redlock_code redlock_node_adopt(redlock *client, unsigned index)
{
    if (index >= client->masters)
        return client_fail(client, REDLOCK_E_ARGUMENT, "there is no master %u: the list has %u",
                           index, client->masters);
    if (!client_is_usable(client))
        return REDLOCK_E_FORKED;
    redlock_code code = client_may_act(client);
    if (code)
        return code;
    struct master_view master = engine_master(client->engine, index);
    if (master.state != MASTER_UP)
        return client_fail(client, REDLOCK_E_STATE, "%s is not connected: %s",
                           client->addresses[index].shown, master.trouble);
    client->adopt |= 1U << index;
    loop_hold(client);
    return REDLOCK_OK;
}
