/*
 * master_state.h - the knowledge of one master; see masters/master.h.
 */
#ifndef REDLOCK_CORE_MASTER_STATE_H
#define REDLOCK_CORE_MASTER_STATE_H

#include "ground/deadlines.h"

#define KILLS_MAX 4

/* A subscription has a connection of its own.  Its other end may be another process of the master,
 * so what is known of the first connection's process need not be true of this one. */
struct subscription {
    bool asked;    /* its connection was asked for, and has not ended */
    bool leaving;  /* the core has asked for the end of its connection */
    usec heard_at; /* subscribed: the last sign of life; 0: not subscribed yet */
    usec due;      /* the deadline for being subscribed, or for an answer; 0: nothing is awaited */
    usec begun_at; /* when the process of that run_id was heard to publish to it */
    char run_id[RUN_ID_MAX + 1]; /* of the process that publishes to it */
};

/* The last answer of a master, on the present connection, about the lists of masters in use. */
struct word {
    usec sent_at;    /* its question; 0: none */
    usec heard_at;   /* without a question there was no memory for it */
    usec time;       /* then, by the master's wall clock */
    int64_t changes; /* of ends, as it told; 0: none */
    char *bytes; /* what it told of other lists, behind the one in place of ours; NULL: nothing */
    uint32_t length;
    uint32_t successor; /* bytes in front, which name the list in place of ours */
};

struct master {
    struct deadline deadline;
    uint8_t state;        /* enum master_state */
    bool tried;           /* the first attempt has ended, well or not */
    bool met;             /* hello was answered at least once: facts are filled */
    bool heard;           /* hello was answered on this connection: its clocks and ttls count */
    bool hello_asked;     /* a hello is in flight */
    bool hello_whole;     /* the last one brought all scripts */
    bool left_unanswered; /* this connection ended with requests of leases or tasks in flight */
    bool given_up;        /* all attempts failed for long enough while the client closes */
    enum cause refused;   /* CAUSE_REPLICA, CAUSE_SAME_MASTER, CAUSE_NO_MASTER or CAUSE_NONE */
    unsigned failures;    /* failed attempts since the last success */
    unsigned brief;       /* connections in a row that ended soon */
    usec up_since;        /* UP */
    usec vain_since;      /* the client closes: the first failed attempt of this row; 0: none */
    unsigned in_flight;
    unsigned texts;      /* kinds (bits) of tasks whose script's text is under way */
    usec connect_by;     /* CONNECTING, PREPARING: give up then */
    usec hello_at;       /* when the last hello was sent */
    usec progress_at;    /* when the master last answered, or had nothing to answer */
    usec abstains_until; /* by our clock; 0: the master votes */
    usec told_until;     /* likewise, by the master's record, which may know shorter ttls only */
    usec started;        /* its process, by our clock; long ago if it was adopted by hand */
    usec round_trip;     /* smoothed; 0: unknown */
    usec clock;          /* its logical clock, as last told; 0: not told on this connection */
    usec offset;         /* its wall clock less our clock */
    usec offset_at;      /* when that was so, by our clock */
    int64_t kills[KILLS_MAX]; /* former connections that may still hold requests of ours */
    struct word word;
    uint32_t agree_round; /* of the question for another word; 0: none is asked */
    bool agree_whole;     /* the last one brought the script */
    bool hello_late;      /* the answer to hello was on its way for too long to tell the time */
    bool clock_rough;     /* such an answer is all that is known of the process's clock */
    bool over;            /* our list is, by the master's word, which is none to count on */
    usec begun_by;        /* its process began no later, by our clock */
    struct subscription subscription;
    struct hello facts;
    usec lived_at; /* when the process of these facts was asked what it answered last */
    char former[RUN_ID_MAX + 1]; /* the process before it, whose promises may count */
    usec former_until;           /* until then */
    usec several_until;          /* several servers answered here, so it is refused; 0: it is not */
    char answered_by[RUN_ID_MAX + 1]; /* then: which one did last */
    usec other_at; /* then: when the one before it was asked; long ago: more than two answered */
    char trouble[VOTE_TEXT_MAX]; /* why the master is not UP */
};

#endif
