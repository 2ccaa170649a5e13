/*
 * break.c - takes a lock away from the holder that the user names.
 *
 * It looks whether the holder has the lock and still renews it, asks the user, and looks again.
 * Then it deletes exactly that holder's token on all masters, as a release does, and looks again.
 */
#include <string.h>
#include <unistd.h>

#include "break_report.h"
#include "commands.h"
#include "crowds.h"
#include "duration.h"
#include "failure.h"
#include "question.h"
#include "say.h"
#include "session.h"

const char break_help[] =
    "usage: redlock break --holder TOKEN [--yes] NAME\n"
    "\n"
    "Takes a lock away from its holder, and gives it to the next waiter: deletes that\n"
    "holder's token on all masters, and no other. Use it when a holder hangs, or is\n"
    "gone and left a long ttl or none. (A holder that ends gives its lock back by\n"
    "itself; `redlock unlock` gives back a lock of yours.)\n"
    "\n"
    "  --holder TOKEN   the holder, as `redlock status` or `redlock list` shows it,\n"
    "                   with or without the label; also the token of a reader or of a\n"
    "                   permit, or the whole value of other software\n"
    "  --yes            do not ask; needed without a terminal, and with --json\n"
    "\n"
    "First it looks for up to 4 s whether the holder still renews the lock, and asks.\n"
    "(With a ttl above 11 s no renewal may be due in that time.) Of a lease with\n"
    "several names it takes this one: `redlock list` shows the others.\n"
    "Then it prints the result on each master, and how long the holder may still\n"
    "write: until the holder learns of the loss by its next renewal (`redlock run`\n"
    "of one name mostly hears it at once), or its lease ends. A stopped holder learns\n"
    "it when it wakes. Only fences stop late writes.\n"
    "Masters that restart right after this may come up with older data. If these and\n"
    "the masters that were not reached are a quorum, the holder may go on: look again\n"
    "with `redlock status`.\n"
    "\n"
    "Exit status: 0 a quorum of masters no longer has it, 1 you said no, 64 usage,\n"
    "69 too few masters answered, 75 somebody else has the lock and nothing was\n"
    "deleted, or its holder takes it again each time, 76 nobody has it any more,\n"
    "78 the list of masters is wrong, 128+N ended by signal N.\n"
    "\n"
    "Example:\n"
    "  redlock status deploy\n"
    "  redlock break --holder c4mJ-2Z0CVMxVxWXSOqGGA deploy\n";

#define LOOK_MOST_MS 4000 /* a lease of 10 s is renewed within 3.4 s */
#define LOOK_MS      100
#define LOOKS_MOST   5 /* for the sake of a slow master */
#define ANSWERS_MS   1000
#define ROUNDED_MS   2 /* the time that is left, and a difference of two times */
#define AT_ONCE_MOST 8 /* releases, so that no master answers them late */
#define TRIES_MOST   5 /* a holder that renews between two masters' deletes sets it again */

enum phase { LOOKS, ASKS, LOOKS_AGAIN, BREAKS, CHECKS };

struct breaker {
    struct session session;
    ev_timer again;
    struct question question;
    enum phase phase;
    struct breakage breakage;
    struct text given, value;
    int64_t began;        /* boot_ms() of the first answer */
    int64_t asked_at;     /* likewise of the last question */
    int64_t asked_before; /* likewise of the one before */
    int64_t broken_at;    /* likewise when it was deleted last */
    int64_t ends;         /* no later it ends, as was seen first; 0: not known */
    unsigned permits;     /* of the name; 0: it is not about permits */
    unsigned slots, next; /* to be released, and which is next */
    unsigned left;        /* releases under way */
    unsigned looks;       /* that a slow master did not answer in time */
    unsigned tries;
};

/* ---- Who has it --------------------------------------------------------- */

static bool is_given(const struct breaker *breaker, const char *value)
{
    const char *given = breaker->given.bytes;
    return strcmp(value, given) == 0 || (token_is_bare(given) && holder_split(value).label &&
                                         strncmp(value, given, strlen(given)) == 0);
}

static bool find_holder(struct breaker *breaker, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    unsigned count = look_holdings(result, holdings);
    for (unsigned i = 0; i < count; i++) {
        const char *holder = holdings[i].holder;
        if (!holder || is_marker(holder) || !is_given(breaker, holder))
            continue;
        breaker->value.length = 0;
        text_add(&breaker->value, holder, strlen(holder));
        breaker->breakage.kind = SHARE_HOLDS;
        breaker->breakage.remaining_ms = holdings[i].remaining_ms;
        return true;
    }
    return false;
}

/* The masters' time for a shared name is that of its last reader, that for permits of another. */
static bool find_member(struct breaker *breaker, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    const char *value = look_find_member(result, breaker->given.bytes);
    if (value) {
        breaker->value.length = 0;
        text_add(&breaker->value, value, strlen(value));
        for (unsigned i = 0; i < result->masters; i++)
            if (result->views[i]->permits > breaker->permits)
                breaker->permits = result->views[i]->permits;
        breaker->breakage.kind = breaker->permits ? SHARE_HAS_PERMIT : SHARE_READS;
        look_holdings(result, holdings);
        breaker->breakage.remaining_ms = breaker->permits ? -1 : holdings[0].remaining_ms;
    }
    return value != NULL;
}

static bool names_it(const struct breaker *breaker, const redlock_view *view)
{
    const char *value = breaker->value.bytes;
    return view_find_member(view, value) ||
           (view->kind == REDLOCK_VOTE_HELD && view->holder && strcmp(view->holder, value) == 0);
}

static bool find(struct breaker *breaker, const redlock_look_result *result)
{
    if (!find_holder(breaker, result) && !find_member(breaker, result))
        return false;
    breaker->breakage.value = breaker->value.bytes;
    for (unsigned i = 0; i < result->masters; i++)
        breaker->breakage.of[i].had |= names_it(breaker, result->views[i]);
    return true;
}

/* Connected, or being connected for the first time: it may answer if it is asked again. */
static bool is_there(const struct breaker *breaker, unsigned master)
{
    redlock_node node = {.size = sizeof(node)};
    return redlock_node_get(breaker->session.client, master, &node) == REDLOCK_OK &&
           (node.state == REDLOCK_NODE_UP || node.state == REDLOCK_NODE_ABSTAINS ||
            node.state == REDLOCK_NODE_CONNECTING);
}

/* Some that were asked did not answer in time, or come too late to be asked. */
static bool misses_any(const struct breaker *breaker, const redlock_look_result *result)
{
    bool any = !answer_is_whole(result);
    for (unsigned i = 0; i < result->masters; i++)
        any |= result->views[i]->kind == REDLOCK_VOTE_UNREACHABLE && is_there(breaker, i);
    return any;
}

/* A renewal makes it end later.  The latest end as it was seen first is compared with the earliest
 * as it is seen now, so that a slow answer does not look like one. */
static void look_for_life(struct breaker *breaker)
{
    struct breakage *breakage = &breaker->breakage;
    if (breakage->kind != SHARE_HOLDS || breakage->remaining_ms < 0)
        return;
    if (breaker->ends == 0)
        breaker->ends = boot_ms() + breakage->remaining_ms + 5;
    else if (breaker->asked_at + breakage->remaining_ms > breaker->ends)
        breakage->alive = true;
}

/* The longest time since the last renewal: since the question before.  If that is long ago, it is
 * the time that is left: a live holder renews in each third of its lease. */
static int64_t since_renewal(const struct breaker *breaker, int64_t remaining_ms)
{
    int64_t since_question = boot_ms() - breaker->asked_before + ROUNDED_MS;
    return since_question < remaining_ms ? since_question : remaining_ms;
}

/* A holder that lives may have renewed it behind the last look: then it has again what it had just
 * after the renewal that was seen. */
static void note_left(struct breaker *breaker, int64_t remaining_ms)
{
    struct breakage *breakage = &breaker->breakage;
    int64_t full = remaining_ms + since_renewal(breaker, remaining_ms);
    if (!breakage->alive || remaining_ms < 0)
        breakage->lasts_ms = remaining_ms;
    else if (full > breakage->lasts_ms)
        breakage->lasts_ms = full;
}

/* ---- The end without breaking anything ---------------------------------- */

static void refuse(struct breaker *breaker, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    bool is_held = look_holdings(result, holdings) > 0;
    redlock_code code = result->code ? result->code : is_held ? REDLOCK_E_HELD : REDLOCK_E_GONE;
    const char *text = result->code ? redlock_code_text(result->code)
                       : is_held    ? "that holder does not have it; nothing was deleted"
                                    : "nobody has it any more; nothing was deleted";
    struct seen seen;
    look_as_event(result, &seen);
    say_line_end();
    failure_tell(breaker->session.options, "cannot break", code, text, &seen.event);
    session_end(&breaker->session, exit_for(code), 0);
}

static void declined(struct breaker *breaker)
{
    if (!breaker->session.options->quiet)
        say("nothing was deleted");
    session_end(&breaker->session, EXIT_NOBODY, 0);
}

static void look_soon(struct breaker *breaker)
{
    ev_timer_set(&breaker->again, LOOK_MS / 1000.0, 0);
    ev_timer_start(breaker->session.loop, &breaker->again);
}

/* ---- Breaking ----------------------------------------------------------- */

static void look(struct breaker *breaker, enum phase phase);
static void release_next(struct breaker *breaker);

static void on_released(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct breaker *breaker = data;
    for (unsigned i = 0; i < event->masters; i++)
        breaker->breakage.of[i].had |= event->votes[i]->kind == REDLOCK_VOTE_RELEASED;
    redlock_lease_free(lease);
    breaker->left--;
    if (!breaker->session.ending)
        release_next(breaker);
    if (breaker->left == 0 && !breaker->session.ending)
        look(breaker, CHECKS);
}

/* Which slot a permit is, no master says: it is given back in whichever has the token. */
static redlock_code release(struct breaker *breaker, unsigned slot)
{
    redlock_name name = breaker->session.options->names[0];
    redlock_lease *lease;
    if (breaker->breakage.kind == SHARE_HAS_PERMIT) {
        name.mode = REDLOCK_SLOT;
        name.slot = (int)slot;
    }
    return redlock_release_token(breaker->session.client, &lease, &name, 1, breaker->value.bytes,
                                 on_released, breaker);
}

static void release_next(struct breaker *breaker)
{
    while (breaker->next < breaker->slots && breaker->left < AT_ONCE_MOST) {
        redlock_code code = release(breaker, breaker->next);
        if (code != REDLOCK_OK) {
            session_refused(&breaker->session, "cannot break", code);
            return;
        }
        breaker->broken_at = boot_ms();
        breaker->next++;
        breaker->left++;
    }
}

static void break_now(struct breaker *breaker)
{
    breaker->phase = BREAKS;
    breaker->tries++;
    breaker->slots = breaker->breakage.kind == SHARE_HAS_PERMIT ? breaker->permits : 1;
    breaker->next = 0;
    release_next(breaker);
}

/* ---- What came of it ---------------------------------------------------- */

/* The answer of a master still holds if it is late in the next round.  Not so if the holder lives:
 * it may have set the key again. */
static bool stands(const struct breakage *breakage, const struct broken *broken)
{
    return !breakage->alive &&
           (broken->outcome == BROKEN_DELETED || broken->outcome == BROKEN_ABSENT);
}

/* The release went before the question, on the same connection. */
static void note_view(struct breaker *breaker, unsigned master, const redlock_view *view)
{
    struct broken *broken = &breaker->breakage.of[master];
    bool answered = view->kind == REDLOCK_VOTE_HELD || view->kind == REDLOCK_VOTE_FREE ||
                    view->kind == REDLOCK_VOTE_ABSTAINS;
    if (!answered && stands(&breaker->breakage, broken))
        return;
    text_free(&broken->why);
    broken->outcome = !answered                 ? BROKEN_UNKNOWN
                      : names_it(breaker, view) ? BROKEN_BACK
                      : broken->had             ? BROKEN_DELETED
                                                : BROKEN_ABSENT;
    breaker->breakage.alive |= broken->outcome == BROKEN_BACK;
    if (broken->outcome == BROKEN_BACK && breaker->breakage.kind == SHARE_HOLDS)
        note_left(breaker, view->remaining_ms);
    if (!answered)
        text_format(&broken->why, "%s", view->text[0] ? view->text : "no answer in time");
}

static unsigned count_outcome(const struct breaker *breaker, enum broken_outcome outcome)
{
    unsigned count = 0;
    for (unsigned i = 0; i < breaker->breakage.masters; i++)
        count += breaker->breakage.of[i].outcome == outcome;
    return count;
}

/* A question ends with the answers of a quorum; the others have a second more. */
static bool may_answer_yet(const struct breaker *breaker)
{
    bool any = false;
    for (unsigned i = 0; i < breaker->breakage.masters; i++)
        any |= breaker->breakage.of[i].outcome == BROKEN_UNKNOWN && is_there(breaker, i);
    return any && boot_ms() < breaker->broken_at + ANSWERS_MS;
}

static void report(struct breaker *breaker, const redlock_look_result *result)
{
    const struct options *options = breaker->session.options;
    struct text out = {0};
    if (options->json)
        break_json(&out, &breaker->breakage, result);
    else if (!options->quiet)
        break_show(&out, &breaker->breakage, result);
    bool done = session_put(&breaker->session, &out);
    int status = exit_for(break_code(&breaker->breakage));
    session_end(&breaker->session, done ? status : EXIT_OUTPUT, OWED_TIMEOUT_MS);
}

/* The next renewal of a live holder sets the absent names again, before the holder learns that it
 * lost them: delete them once more.  Not so if another holder has them. */
static bool may_come_back(const struct breaker *breaker, const redlock_look_result *result)
{
    struct holding holdings[REDLOCK_MASTERS_MAX];
    return breaker->breakage.alive && breaker->tries == 1 && look_holdings(result, holdings) == 0 &&
           boot_ms() < breaker->broken_at + breaker->breakage.looked_ms;
}

static void check(struct breaker *breaker, const redlock_look_result *result)
{
    for (unsigned i = 0; i < result->masters; i++)
        note_view(breaker, i, result->views[i]);
    if (count_outcome(breaker, BROKEN_BACK) > 0 && breaker->tries < TRIES_MOST)
        break_now(breaker);
    else if (may_come_back(breaker, result) || may_answer_yet(breaker))
        look_soon(breaker);
    else
        report(breaker, result);
}

/* ---- Asking the user ---------------------------------------------------- */

static void on_answer(void *owner, bool yes)
{
    struct breaker *breaker = owner;
    if (yes)
        look(breaker, LOOKS_AGAIN);
    else
        declined(breaker);
}

static void ask_user(struct breaker *breaker)
{
    struct text line = {0};
    breaker->phase = ASKS;
    breaker->question = (struct question){.answered = on_answer, .owner = breaker};
    break_show_found(&line, &breaker->breakage);
    text_format(&line, "\nbreak it?");
    question_ask(&breaker->question, breaker->session.loop, &line);
}

/* ---- Looking ------------------------------------------------------------ */

static void tell_looking(const struct breaker *breaker)
{
    const struct options *options = breaker->session.options;
    struct text line = {0};
    if (options->quiet || options->json || !isatty(STDERR_FILENO))
        return;
    text_format(&line, "redlock: looking whether its holder renews ");
    names_show(&line, options->names, 1);
    say_line(&line);
    text_free(&line);
}

/* A third of the time that is left is no less than a holder lets go by between renewals.  A
 * long lease is not waited for: then it is not known whether the holder is alive. */
static void plan_look(struct breakage *breakage)
{
    int64_t third = breakage->remaining_ms / 3 + 200;
    if (breakage->kind != SHARE_HOLDS || breakage->remaining_ms < 0)
        return;
    breakage->watched = third <= LOOK_MOST_MS;
    breakage->looked_ms = breakage->watched ? third : LOOK_MOST_MS;
}

static int64_t look_until(struct breaker *breaker)
{
    if (breaker->began == 0) {
        breaker->began = boot_ms();
        plan_look(&breaker->breakage);
    }
    return breaker->began + breaker->breakage.looked_ms;
}

static bool looks_on(struct breaker *breaker, const redlock_look_result *result)
{
    bool in_time = boot_ms() < look_until(breaker);
    bool again = misses_any(breaker, result) && breaker->looks++ < LOOKS_MOST;
    return breaker->phase == LOOKS && ((in_time && !breaker->breakage.alive) || again);
}

static void looked(struct breaker *breaker, const redlock_look_result *result)
{
    look_for_life(breaker);
    note_left(breaker, breaker->breakage.remaining_ms);
    if (looks_on(breaker, result)) {
        tell_looking(breaker);
        look_soon(breaker);
        return;
    }
    say_line_end();
    if (breaker->phase == LOOKS && !breaker->session.options->yes)
        ask_user(breaker);
    else
        break_now(breaker);
}

static void on_seen(redlock_look *look, const redlock_look_result *result, void *data)
{
    struct breaker *breaker = data;
    if (!breaker->session.ending) {
        if (breaker->phase == CHECKS)
            check(breaker, result);
        else if (exit_for(result->code) == EXIT_NODES || !find(breaker, result))
            refuse(breaker, result);
        else
            looked(breaker, result);
    }
    redlock_look_free(look);
}

static void look(struct breaker *breaker, enum phase phase)
{
    redlock_look *look;
    breaker->phase = phase;
    breaker->asked_before = breaker->asked_at;
    breaker->asked_at = boot_ms();
    redlock_code code =
        redlock_look_begin(breaker->session.client, &look, breaker->session.options->names, 1,
                           &look_at_all, on_seen, breaker);
    if (code != REDLOCK_OK)
        session_refused(&breaker->session, "cannot break", code);
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct breaker *breaker = timer->data;
    (void)loop;
    (void)events;
    if (!breaker->session.ending)
        look(breaker, breaker->phase);
}

/* ---- The command -------------------------------------------------------- */

/* As `redlock lock --fence` prints it, its fence stands behind a token.  A value of other software
 * may have any bytes. */
static void note_given(struct text *given, const char *holder)
{
    text_add(given, holder, token_length(holder));
    if (holder_is_ours(given->bytes))
        return;
    given->length = 0;
    text_add(given, holder, strlen(holder));
}

static void on_begin(void *data)
{
    struct breaker *breaker = data;
    struct breakage *breakage = &breaker->breakage;
    const struct options *options = breaker->session.options;
    breakage->options = options;
    breakage->masters = redlock_node_count(breaker->session.client);
    breakage->quorum = redlock_quorum(breakage->masters, (unsigned)options->spare);
    note_given(&breaker->given, options->holder);
    ev_init(&breaker->again, on_again);
    breaker->again.data = breaker;
    look(breaker, LOOKS);
}

static void on_signal(void *data, int number)
{
    struct breaker *breaker = data;
    say_line_end();
    question_drop(&breaker->question, breaker->session.loop);
    ev_timer_stop(breaker->session.loop, &breaker->again);
    session_end_by_signal(&breaker->session, number, NULL);
}

int perform_break(const struct options *options)
{
    struct breaker breaker = {.session = {.begin = on_begin, .signalled = on_signal}};
    int status = session_perform(&breaker.session, options, &breaker);
    text_free(&breaker.given);
    text_free(&breaker.value);
    for (unsigned i = 0; i < REDLOCK_MASTERS_MAX; i++)
        text_free(&breaker.breakage.of[i].why);
    return status;
}
