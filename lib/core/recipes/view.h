/*
 * view.h - a task as the shell has it: made, asked for news.  All that happens to it between goes
 * through engine_step() (EVENT_TASK_BEGIN and END).  Its struct is in task.h and in the file of its
 * recipe.
 *
 *   An announcer says a value on the masters while its lease holds their name.
 *   An observer learns what a quorum of masters says of a name.
 *   A party arrives at a barrier, and waits until all parties have.
 *   A latcher makes a latch, arrives at it, waits until it is open, or asks how it stands.
 *   An asker tells the holder of a name that somebody wishes to have it.
 *   A heeder learns of such wishes while its lease holds their name.
 *   A watcher renews its lease when masters say that its token was taken; a heeder does, too.
 *   A surveyor learns which names are held or waited for on each master.
 */
#ifndef REDLOCK_CORE_RECIPES_VIEW_H
#define REDLOCK_CORE_RECIPES_VIEW_H

#include "ground/names.h"

struct engine;

/* The state that an observer reports. */
enum observed {
    OBSERVED_NOT_YET, /* the masters have not answered */
    OBSERVED_SAID,    /* a quorum of masters says the same */
    OBSERVED_NOTHING, /* a quorum answered, and no quorum can say anything */
    OBSERVED_UNKNOWN  /* too few masters answer to know */
};

/* How it went at a barrier. */
enum passage {
    PASSAGE_NONE, /* not yet told */
    PASSAGE_PASSED,
    PASSAGE_NOT, /* it did not pass, and no party passes that counted it */
    PASSAGE_UNKNOWN
};

/* The calls about a latch. */
enum latch_call { LATCH_CREATE, LATCH_ARRIVE, LATCH_AWAIT, LATCH_COUNT };

/* How that went. */
enum latch_end {
    LATCH_PENDING,
    LATCH_MADE,    /* CREATE */
    LATCH_HELD,    /* CREATE: the name has another latch */
    LATCH_ARRIVED, /* ARRIVE: a quorum counts the arrival */
    LATCH_OPEN,    /* AWAIT, COUNT */
    LATCH_SHUT,    /* AWAIT, COUNT: its time was over; too few have arrived */
    LATCH_GONE,    /* no quorum of masters has it */
    LATCH_UNKNOWN
};

/* How far a survey of one master is. */
enum survey_end {
    SURVEY_GOES_ON, /* as soon as the user has this: EVENT_TASK_BEGIN */
    SURVEY_DONE,    /* all its keys were looked at */
    SURVEY_FAILED   /* it says no more */
};

/* How a question to a holder went. */
enum ask_end {
    ASK_PENDING,
    ASK_TOLD, /* a quorum of masters says that the name is held */
    ASK_FREE, /* a quorum says that nobody has it alone */
    ASK_UNKNOWN
};

/* ---- news: what task_tell() tells of a task of each kind ---- */

struct announcer_news {
    unsigned stored; /* masters that have stored what it says */
};

struct observer_news {
    enum observed observed;
    struct said said;    /* SAID; it stays until the next step */
    unsigned masters;    /* that say so */
    enum cause cause;    /* UNKNOWN: what is wrong with the list; else NONE */
    const char *trouble; /* UNKNOWN: the error of a master, or ""; it stays likewise */
};

struct party_news {
    enum passage passage;
    enum cause cause;  /* why it left. CANCELLED, CLOSED; UNAVAILABLE: no quorum was heard of for
                          long; HELD: others wait for another number. OVER: a later generation was
                          passed, or this one before it came; NONE: its time was over */
    bool hears;        /* what a quorum of masters said last counts */
    unsigned answered; /* masters that have answered its arrival well */
    unsigned arrived;  /* most parties that a master counts */
    unsigned others;   /* HELD: the number that others wait for; else 0 */
    int64_t latest;    /* OVER: the latest generation that was passed; else 0 */
    const char *token; /* it stays until the task ends */
};

struct latch_news {
    enum latch_call call;
    enum latch_end end;
    enum cause cause;         /* UNKNOWN: CANCELLED or CLOSED, if that ended it; else NONE */
    bool open;                /* the latch is open on a quorum */
    bool undecided;           /* UNKNOWN: what was asked for may have been carried out */
    unsigned answered;        /* masters that have answered well */
    unsigned arrived;         /* the most that is known */
    unsigned arrivals;        /* the number that the latch waits for; 0: not known */
    const char *id, *arrival; /* the latch's, and its own; they stay until the task ends */
    const char *who;          /* the name of an arrival, or ""; likewise */
};

struct survey_news {
    unsigned master; /* its index; another one may have news as well */
    enum survey_end end;
    struct slice
        names; /* of each its length, a colon and its bytes; they stay until the next step */
    uint64_t looked_at, there_are; /* keys */
    uint64_t left_out;             /* names that are too long to report */
    const char *why;               /* FAILED */
};

struct asker_news {
    enum ask_end end;
    enum cause cause;   /* UNKNOWN: CLOSED, if that ended it; else NONE */
    const char *holder; /* the value that most masters tell, or ""; it stays until the task ends */
    unsigned on;        /* masters that tell it */
    unsigned heeding;   /* masters on which somebody hears of the wish */
    unsigned waiting;   /* most waiters that a master tells */
    unsigned answered;
};

struct heeder_news {
    struct slice who, text; /* they stay until the next step */
    unsigned waiting;
};

struct task_news {
    union { /* by the kind of the task */
        struct announcer_news announcer;
        struct observer_news observer;
        struct party_news party;
        struct latch_news latch;
        struct survey_news survey;
        struct asker_news asker;
        struct heeder_news heeder;
    };
};

/* The terms on which a party arrives; times in microseconds. */
struct barrier_terms {
    int64_t generation;
    unsigned parties;
    usec ttl;  /* for how long it counts after masters last heard of it */
    usec wait; /* NEVER: for ever */
};

/* The terms of a call about a latch; times in microseconds. */
struct latch_terms {
    enum latch_call call;
    unsigned arrivals;   /* CREATE: how many it waits for */
    usec life;           /* CREATE */
    usec wait;           /* NEVER: for ever */
    const char *id;      /* others: of the latch; NULL: of that which the name has */
    const char *arrival; /* ARRIVE; NULL: one is drawn */
};

#define WISHES "redlock:wish:"  /* before a name: that of its wishes */
#define TAKEN  "redlock:taken:" /* likewise: that on which masters tell of a break alone */

/* The terms on which a holder is asked; times in microseconds. */
struct asker_terms {
    struct slice text;
    usec wait; /* NEVER: for ever */
    bool
        again; /* it goes on until it is dropped, whoever holds the name, and tells ASK_TOLD once */
};

/* The news of each task bear `owner`; it shares `names`.  NULL when memory is out. EVENT_TASK_BEGIN
 * follows. */
struct task *observer_new(struct engine *engine, struct names *names, void *owner);
/* The lease is held and has a fence; it must outlive EVENT_TASK_END. */
struct task *announcer_new(struct engine *engine, struct names *names, struct lease *lease,
                           void *owner);
/* An announcer for the engine to which the lease of `task` is to move: engine_move_announcement()
 * follows when it has.  The names are those of `to`. */
struct task *announcer_copy(struct engine *to, const struct task *task, struct names *names,
                            void *owner);
/* A task of `to` that goes on where `task` is now, which is to end.  It is an observer, a party
 * that has left, a call that arrives at a latch or awaits it.  NULL when memory is out. */
struct task *task_again(struct engine *to, const struct task *task, void *owner);
/* `token` is that of an earlier call, or NULL. */
struct task *party_new(struct engine *engine, struct names *names,
                       const struct barrier_terms *terms, const char *token, void *owner);
/* The error with which the master refuses to count the party; "": none that is known. */
const char *party_refusal(const struct task *task, unsigned master);
/* The bytes behind the terms are copied. */
struct task *latcher_new(struct engine *engine, struct names *names,
                         const struct latch_terms *terms, void *owner);
/* `foreign`: it also tells names whose values may be locks of other software. */
struct task *surveyor_new(struct engine *engine, struct names *begins, bool foreign, void *owner);
/* The names are the name, and that of its wishes.  `text` is copied. */
struct task *asker_new(struct engine *engine, struct names *names, const struct asker_terms *terms,
                       void *owner);
/* The name is that of the wishes.  The lease is held, and is used no more. */
struct task *heeder_new(struct engine *engine, struct names *names, const struct lease *lease,
                        void *owner);
/* Likewise, with a name of TAKEN. */
struct task *watcher_new(struct engine *engine, struct names *names, const struct lease *lease,
                         void *owner);
/* The value to say from the next EVENT_TASK_BEGIN on; the bytes are copied.  False when memory is
 * out; then it says what it said before. */
bool announcer_set(struct engine *engine, struct task *task, const void *value, size_t length);

void *task_owner(const struct task *task);
/* After EFFECT_TELL_TASK: takes the news; false if there is none any more. */
bool task_tell(struct engine *engine, struct task *task, struct task_news *news);

#endif
