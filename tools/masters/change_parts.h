/*
 * change_parts.h - what the files of `redlock masters change` share.
 */
#ifndef REDLOCK_TOOLS_CHANGE_PARTS_H
#define REDLOCK_TOOLS_CHANGE_PARTS_H

#include "list_watch.h"
#include "plan.h"
#include "question.h"
#include "session.h"

#define LISTS_MOST_ON_WAY (2 * REDLOCK_MASTERS_MAX + 1)

enum phase { CHECKS, ASKS, OPENS, LOOKS_TWICE, REVIVES, WAITS, ENDS };

struct change {
    struct session session;
    struct plan plan;
    ev_timer look;
    struct question question;
    enum phase phase;
    unsigned step;               /* from its list to the next one, from 1 on */
    struct list_watch now, next; /* of the step: the former list, and the list to come */
    struct list_watch ends[LISTS_MOST_ON_WAY]; /* each says on that a former list is over */
    int64_t began, looked_at, enough_at;       /* boot_ms(); 0: not yet */
    bool looks_back;   /* at the list before the former one, as its end may have been taken back */
    unsigned revivals; /* of the list to come, in this step */
    bool asks_next;    /* whether clients use it, since an earlier list is valid again */
    unsigned ended;    /* masters that had told the end of the former one by then */
    int64_t took_ms[LISTS_MOST_ON_WAY];
    struct text mark; /* what was printed last, without times */
    int64_t printed;  /* boot_ms() */
};

/* ---- Its lists ---- */

/* Opens the watch anew, of a list of the plan.  The one in place of it is the next one of the plan,
 * if there is one.  False: the command ends, after a message. */
bool change_watch(struct change *change, struct list_watch *watch, unsigned list, bool says);
/* The present list of the step, and the next one. */
void change_look_anew(struct change *change);
void change_drop(struct change *change, struct list_watch *watch);

/* ---- Its lines ---- */

/* Frees the text. */
void change_put(struct change *change, struct text *text);
/* "15:04:05 " */
void change_begin_line(struct text *out);
/* At each change, which the mark shows, and now and then.  Frees the mark. */
bool change_is_due(struct change *change, struct text *mark);
void change_put_progress(struct change *change, const struct list_watch *watch,
                         const struct list_seen *seen);
/* Ends the command.  Frees the sentence. */
void change_refuse(struct change *change, redlock_code code, struct text *sentence);

/* ---- Other commands ---- */

/* Another command leads clients of this list, or of the list to come, elsewhere.  True: this one
 * ends, after a message. */
bool change_is_taken(struct change *change, const struct list_watch *watch,
                     const struct list_seen *seen);
bool change_is_next_taken(struct change *change);
/* Another command took back that the former list is over.  Likewise. */
bool change_is_taken_back(struct change *change);
/* Says on that earlier lists are over, also where another command took that back once a list that
 * may not meet them is in use.  Before that the command ends, after a message. */
void change_hold_former_ends(struct change *change);
/* Two quorums of the present list share a master, and that keeps one end.  So no other command can
 * lead clients elsewhere beyond a network that has parted.  Without a quorum of the next list an
 * end would leave them none, and a third list in use might go unheard. */
bool change_do_quorums_tell(const struct change *change, const struct list_seen *now,
                            const struct list_seen *next);

/* ---- The list to come ---- */

/* It may be in use already, or may have been over. */
void change_open_next(struct change *change);
/* Looks at it, and takes back that it is over.  True: clients can use it. */
bool change_is_next_ready(struct change *change);

#endif
