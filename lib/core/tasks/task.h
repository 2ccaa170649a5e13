/*
 * task.h - a task: something that asks all masters again and again, and is no lease.
 *
 * Nothing that a lease promises rests on a task.  Its requests belong to no claim; their tags
 * bear its number, so that an answer to a task that is gone finds nobody.  A task that its
 * user has dropped stays until the last answer: the requests point into its memory.
 */
#ifndef REDLOCK_CORE_TASKS_TASK_H
#define REDLOCK_CORE_TASKS_TASK_H

#include "ground/names.h"
#include "ground/shared.h"
#include "tasks/lines.h"
#include "tasks/saying.h"
#include "tasks/view.h"

enum task_kind { TASK_ANNOUNCER, TASK_OBSERVER, TASK_PARTY, TASK_LATCHER, TASK_SURVEYOR };

struct task {
    struct task *next;
    struct names *names;
    void *owner; /* of the shell */
    enum task_kind kind;
    uint32_t number;
    uint32_t in_flight; /* requests not yet answered */
    bool begun, ended;
    uint16_t outstanding; /* masters (bits) that have a question to answer */
    uint16_t whole;       /* masters (bits) that have forgotten the script */
    struct deadline deadline;
};

struct announced_at {
    int64_t stored;      /* the number that this master has stored; 0: none */
    int64_t asked;       /* the number of the request that is outstanding */
    usec due;            /* it is asked again then */
    struct saying *sent; /* what that request points to */
};

struct announcer {
    struct task task;
    struct lease *lease;
    char token[TOKEN_MAX + 1];
    usec term;
    struct saying *saying; /* what is to be said; its number counts up */
    int64_t told;          /* the number that a quorum was told to have stored */
    uint16_t touched;      /* masters (bits) where something may be said */
    struct announced_at at[];
};

/* What a master has said, as far as an observer knows. */
struct heard {
    bool known;            /* something, or that nothing is said */
    struct saying *saying; /* NULL: nothing */
    usec asked_at;         /* it was so at some time after that; 0: a push says so */
    usec expires;          /* it is not known any more from then on */
    bool overtaken;        /* since it was asked, a push came, or pushes have begun to be heard */
    usec answered;         /* when that was asked which was answered last, well or not; 0: ask it */
    usec due;              /* it is asked again then */
};

struct observer {
    struct task task;
    enum observed state, told;       /* what is known, and what the user was told */
    struct saying *said, *said_told; /* likewise; NULL unless SAID */
    usec latest_term;                /* of the last that was SAID; 0: none was */
    int64_t latest_number;
    usec verified_from; /* nothing asked before counts for what is to replace the state; 0: the
                           state stands */
    char trouble[VOTE_TEXT_MAX]; /* the last error of a master that answers with one still, or "" */
    uint8_t troubled;            /* that master */
    struct heard of[];
};

/* What a master said of a barrier when it was asked last. */
enum stand {
    STAND_UNKNOWN,
    STAND_WAITS,
    STAND_OPEN,
    STAND_PASSED,
    STAND_GONE,  /* it counts us no more, and was not open */
    STAND_OTHER, /* others wait there for another number of parties */
    STAND_OVER   /* it counts nobody: that generation, or a later one, was passed */
};

/* What a party wants of the masters. */
enum errand { ERRAND_NONE, ERRAND_ARRIVE, ERRAND_TELL_PASSED, ERRAND_DEPART };

struct stood_at {
    enum stand stand;
    usec asked_at;       /* it was so at some time after that */
    usec answered;       /* when the last question was asked that was answered well; 0: none */
    usec due;            /* it is asked again then */
    enum errand asked;   /* of the request that is outstanding */
    enum errand carried; /* of the last one that was answered, well or not */
    bool heard;          /* it has answered an arrival well */
    bool has_counted;    /* it has counted the party */
    int64_t latest;      /* OVER: the latest generation that was passed */
    unsigned counted;    /* the most parties that it has told of */
    struct lines tokens; /* OPEN: theirs */
    char refusal[VOTE_TEXT_MAX]; /* the error that it answered the last arrival with, or "" */
};

struct party {
    struct task task;
    char token[TOKEN_MAX + 1];
    size_t token_length;
    struct barrier_terms terms;
    usec leaves_at;       /* its time is over then */
    usec gives_up_at;     /* likewise of leaving; 0: it does not leave */
    usec heard_until;     /* a quorum was heard of so short a time ago; NEVER: it may be counted on
                             less than a quorum of masters */
    uint16_t touched;     /* masters (bits) that may count it */
    bool comes_back;      /* it was here before, and may have been counted then */
    bool was_open;        /* a master said that it is open */
    bool unheard;         /* no quorum was heard of for too long */
    bool tried;           /* all masters that can be asked have answered */
    bool decided;         /* parties may pass; what follows is that a quorum is told */
    bool hears;           /* what a quorum of masters had said counted when it ended */
    int64_t latest;       /* OVER: the latest generation that was passed */
    enum cause cause;     /* why it leaves */
    unsigned others;      /* HELD: the number that others wait for */
    enum passage passage; /* how it ended; NONE: not yet */
    struct stood_at at[];
};

/* What a master keeps of a latch; all of them keep the same. */
struct latch_record {
    char id[LATCH_ID_MAX + 1];
    unsigned arrivals; /* how many it waits for; 0: not known */
    int64_t ends_ms;   /* by the masters' wall clocks */
};

/* What a master said of the name's latch when it was asked last. */
enum latched {
    LATCHED_UNKNOWN,
    LATCHED_NONE, /* its process has none */
    LATCHED_SHUT,
    LATCHED_OPEN
};

struct latched_at {
    enum latched stands;
    struct latch_record record; /* SHUT, OPEN */
    struct lines arrived;       /* likewise: the arrivals, sorted */
    unsigned count;             /* of these */
    usec asked_at;              /* it was so at some time after that */
    usec answered;    /* when the last question was asked that was answered well; 0: none */
    usec none_since;  /* NONE, or of a latch at which nobody has arrived, which may be taken away if
                         it is another one: when that was heard; 0: the latch cannot be put there */
    bool is_young;    /* of such a latch: it may still be made, see latch_old_age() */
    usec lasts_until; /* SHUT, OPEN: it does not end there before */
    usec arrived_at;  /* what was asked then has put the arrival there; 0: nothing has */
    usec opened_at;   /* likewise that it is open */
    usec due;         /* it is asked again then */
    usec paused_until; /* it answered with an error, and is not asked before then */

    /* of the request that is outstanding */
    bool carries_arrival, mends, clears;
    struct lines sent; /* what it points to */

    char run[RUN_ID_MAX + 1]; /* CREATE: the process that the latch was begun for; "": none yet */
};

struct latcher {
    struct task task;
    enum latch_call call;
    bool any;                   /* of whichever latch the name has */
    struct latch_record record; /* CREATE: to be made; else, if arrivals are known, what a quorum
                                   has said */
    char arrival[LATCH_ID_MAX + 1];
    usec life, wait;
    usec begun_at;
    usec grace_until;   /* so long the other masters may answer, once a quorum has; 0: none has */
    usec leaves_at;     /* its time is over then */
    usec gives_up_at;   /* what it found out by then is told */
    usec verified_from; /* no quorum had the latch then, as was heard; 0: not so */
    uint16_t touched;   /* masters (bits) where it may have put the latch */
    usec again_at;      /* CREATE: others were making one too; it is tried again then */
    unsigned again;     /* so often */
    usec tried_at;      /* CREATE: when this try was begun */
    const struct latch_record *other; /* CREATE: that a quorum may have instead */
    bool sent;                        /* CREATE, ARRIVE: something may have been carried out */
    bool decided;                     /* the latch may be opened: a quorum is told so */
    bool open;                        /* and knows it */
    enum cause cause;                 /* why it ended before: CANCELLED, CLOSED */
    enum latch_end end;               /* how it ended; PENDING: not yet */
    unsigned arrived;                 /* when it ended */
    struct latched_at at[];
};

struct surveyed_at {
    char cursor[CURSOR_MAX + 1]; /* the next keys stand behind it */
    uint16_t keys;               /* how many of them it is to look at */
    bool begun;                  /* it was asked */
    bool untold;                 /* what it said, or that it says no more, is yet to be told */
    enum survey_end end;
    struct lines names;      /* what it said last */
    uint64_t looked_at;      /* keys, so far */
    uint64_t there_are;      /* likewise, as it said last */
    uint64_t left_out;       /* names that are too long to be told */
    char why[VOTE_TEXT_MAX]; /* FAILED */
};

/* Its name is what all names that it is told begin with. */
struct surveyor {
    struct task task;
    bool foreign;
    struct surveyed_at at[];
};

void announcer_work(struct engine *engine, struct announcer *announcer);
void announcer_hear(struct engine *engine, struct announcer *announcer, unsigned master,
                    const struct reply *reply);
/* Its process may be another one when it comes up again, and may have lost what is said. */
void announcer_forget(struct announcer *announcer, unsigned master);
void announcer_end(struct engine *engine, struct announcer *announcer);
void announcer_free(struct engine *engine, struct announcer *announcer);
bool announcer_tell(struct engine *engine, struct announcer *announcer, struct task_news *news);

void observer_work(struct engine *engine, struct observer *observer);
void observer_hear(struct engine *engine, struct observer *observer, unsigned master,
                   const struct reply *reply);
/* The same for what it has said. */
void observer_forget(struct engine *engine, struct observer *observer, unsigned master);
void observer_subscribed(struct engine *engine, struct observer *observer, unsigned master);
void observer_push(struct engine *engine, struct observer *observer, unsigned master,
                   const struct said *said);
/* The masters need not tell it of changes any more. */
void observer_end(struct engine *engine, struct observer *observer);
void observer_free(struct engine *engine, struct observer *observer);
bool observer_tell(struct engine *engine, struct observer *observer, struct task_news *news);

/* It is to begin: it waits from now on.  Draws its token if it has none. */
void party_begin(struct engine *engine, struct party *party);
void party_work(struct engine *engine, struct party *party);
void party_hear(struct engine *engine, struct party *party, unsigned master,
                const struct reply *reply);
void party_forget(struct party *party, unsigned master);
/* Something has changed on this master, or may have changed unheard. */
void party_look(struct engine *engine, struct party *party, unsigned master);
void party_leave(struct engine *engine, struct party *party, enum cause cause);
void party_give_up(struct engine *engine, struct party *party);
/* The masters need not count it any more. */
void party_end(struct engine *engine, struct party *party);
void party_free(struct engine *engine, struct party *party);
bool party_tell(struct engine *engine, struct party *party, struct task_news *news);

/* It is to begin: it waits from now on.  Draws what it needs. */
void latcher_begin(struct engine *engine, struct latcher *latcher);
void latcher_work(struct engine *engine, struct latcher *latcher);
void latcher_hear(struct engine *engine, struct latcher *latcher, unsigned master,
                  const struct reply *reply);
void latcher_forget(struct engine *engine, struct latcher *latcher, unsigned master);
void latcher_look(struct engine *engine, struct latcher *latcher, unsigned master);
void latcher_leave(struct engine *engine, struct latcher *latcher, enum cause cause);
/* Its user drops it: what it began to make is taken away. */
void latcher_end(struct engine *engine, struct latcher *latcher);
void latcher_free(struct engine *engine, struct latcher *latcher);
bool latcher_tell(struct engine *engine, struct latcher *latcher, struct task_news *news);

void surveyor_work(struct engine *engine, struct surveyor *surveyor);
void surveyor_hear(struct engine *engine, struct surveyor *surveyor, unsigned master,
                   const struct reply *reply);
void surveyor_forget(struct engine *engine, struct surveyor *surveyor, unsigned master);
void surveyor_free(struct engine *engine, struct surveyor *surveyor);
bool surveyor_tell(struct engine *engine, struct surveyor *surveyor, struct task_news *news);

/* `size` bytes that begin with a task, one entry of `each` bytes for each master behind them. */
struct task *task_new(struct engine *engine, enum task_kind kind, size_t size, size_t each,
                      struct names *names, void *owner);
/* Sends a request of the task, whose kind, and what goes with it, is filled in. */
void task_send(struct engine *engine, struct task *task, unsigned master, struct request *request);
/* Its last request was answered: the master has forgotten the script. */
static inline bool task_needs_text(const struct task *task, unsigned master)
{
    return task->whole >> master & 1;
}
void task_wake_at(struct engine *engine, struct task *task, usec at);
void task_has_news(struct engine *engine, struct task *task);

#endif
