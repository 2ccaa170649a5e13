/*
 * user_lease.h - a lease as its user has it: the handle, the wish, the outcomes.  Also the calls of
 * redlock.h, with what they are expected to return.
 */
#ifndef SIM_USER_LEASE_H
#define SIM_USER_LEASE_H

#include "client_shell.h"

/* The outcomes so far, which decide those that may follow. */
enum known {
    KNOWN_ASKED, /* ACQUIRED or NOT_ACQUIRED will come */
    KNOWN_HELD,
    KNOWN_LOST,
    KNOWN_ENDED,
    KNOWN_ASKED_BACK, /* release by token: RELEASED will come */
    KNOWN_INSPECTING
};

struct user_lease {
    redlock_lease *handle; /* dangling once it was let go */
    struct shell *shell;
    struct user_lease *next_all;
    struct terms terms; /* as asked for, by our own reading of redlock.h */
    bool let_go;        /* freed or detached: no outcome may come any more */
    bool ended, released;
    bool undermined; /* another process released its token: its user has himself to blame */

    uint32_t number;
    uint8_t names[MODEL_NAMES], count;
    unsigned shared; /* a bit for each of them, as it has them now */
    enum known known;
    bool by_token;
    uint32_t token;    /* its present one */
    unsigned extends;  /* asked and not answered */
    unsigned changes;  /* likewise, downgrades and upgrades */
    bool upgrading;    /* likewise */
    usec extend_until; /* at least so far the last extend must reach; our clock */
    usec end_known_at; /* likewise: since when this is its end */
    usec end;          /* our clock: until then it counts itself the holder */
    usec farthest_end; /* likewise: a promise that is withdrawn brings the end nearer */
    usec stop_by;      /* LOST came: it may be winding down until then */
    usec began;        /* true time at which it was asked for */
    bool is_probe, is_hoarded;
    struct shell *moves_to; /* a move is under way; NULL: none is */
    usec moves_since;       /* true time */
    bool moves_waiting;     /* it was asked to move while it waited */
    bool went_over;         /* and did: the former client gives back its token in its turn */
    bool has_moved;
    bool is_late;        /* see change_rules.c */
    bool announces;      /* something, and ANNOUNCED did not come */
    uint32_t saying;     /* what it announces, as the user knows; 0: nothing */
    usec hold_over;      /* true time; it is given back then */
    usec fence;          /* of the report; 0: none */
    usec keep_until;     /* true time: nobody else has its names before; 0: no such time */
    usec first_sent;     /* true time; its first message about this acquire */
    usec enqueued_since; /* likewise: it is enqueued on a quorum of masters */
    uint16_t enqueued_on;
    bool asked_for_place;
    uint32_t enqueued_by;           /* the token of its place */
    usec passed_since[CLIENTS_MAX]; /* likewise: by leases of that client that asked long after */
};

/* How the checks have the result of a look: as an event, of a kind that the library has none of. */
#define TOLD_SEEN ((redlock_event_kind)(REDLOCK_NOT_MOVED + 1))

/* As people count it. */
#define CLIENT(lease) ((lease)->shell->index + 1)

/* redlock_acquire_names(), with terms.wait 0 to NEVER; NULL when memory is out.  `shared`: a bit
 * for each name. */
struct user_lease *user_lease_acquire(struct shell *shell, const uint8_t *names, unsigned count,
                                      unsigned shared, const struct terms *terms);
struct user_lease *user_lease_attach(struct shell *shell, const struct parcel *parcel,
                                     const struct terms *terms);
struct user_lease *user_lease_release_token(struct shell *shell, const struct parcel *parcel);
struct user_lease *user_lease_inspect(struct shell *shell, const uint8_t *names, unsigned count);

/* False: it was refused, as the lease is not in the state for it. */
bool user_lease_extend(struct user_lease *lease, usec ttl);
bool user_lease_downgrade(struct user_lease *lease);
bool user_lease_upgrade(struct user_lease *lease);
/* Takes its modes from the library's word. */
void user_lease_has_changed(struct user_lease *lease);
/* To the other client of the process. */
bool user_lease_move(struct user_lease *lease);
bool user_lease_release(struct user_lease *lease);
bool user_lease_detach(struct user_lease *lease);
void user_lease_free(struct user_lease *lease);

/* By the library's own word; exact, where redlock_lease_valid_for() counts milliseconds. */
bool user_lease_is_held(const struct user_lease *lease);
/* The margin of a lease that asks for none of its own. */
usec user_lease_usual_margin(usec ttl);

/* Calls that wait for the pump. */
bool user_lease_has_calls(const struct user_lease *lease);
/* The lease of the core; NULL: none. */
struct user_lease *user_lease_of(struct lease *core);

/* Those that were let go are gone for good: when the pump has carried it out, or all of them,
 * when the client is freed. */
void user_leases_drop(struct shell *shell, bool all);

#endif
