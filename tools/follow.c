#include "follow.h"

#include <string.h>
#include <sys/stat.h>

#include "failure.h"
#include "list_text.h"
#include "say.h"

#define FILE_EVERY_S 1.0
#define SETTLED_S    1.02 /* libev does not tell two changes of one second apart */
#define AGAIN_S      0.3

/* ---- Clients ------------------------------------------------------------ */

/* A lease that waits gives its place up, so it goes only where a quorum votes. */
static bool may_try(const struct follow *follow)
{
    return follow->lease && follow->next &&
           (follow->votes || redlock_lease_valid_for(follow->lease) > 0);
}

/* A timer of libev that is started again without a time would end at once. */
static void try_again_soon(struct follow *follow)
{
    ev_timer_stop(follow->session->loop, &follow->again);
    ev_timer_set(&follow->again, AGAIN_S, 0);
    ev_timer_start(follow->session->loop, &follow->again);
}

static void try_to_move(struct follow *follow)
{
    ev_timer_stop(follow->session->loop, &follow->again);
    if (!may_try(follow))
        return;
    redlock_code code = redlock_lease_move(follow->lease, follow->next);
    if (code == REDLOCK_E_STATE) /* another call about it is under way */
        try_again_soon(follow);
    else if (code != REDLOCK_OK)
        say("cannot go on with another list of masters: %s",
            redlock_last_error(follow->session->client));
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    try_to_move(timer->data);
}

static void drop_next(struct follow *follow)
{
    ev_timer_stop(follow->session->loop, &follow->again);
    redlock_free(follow->next);
    follow->next = NULL;
    follow->tried = follow->votes = false;
}

/* The list of the file may be gone to later: when a lease is there again, or has another list. */
static void set_next_aside(struct follow *follow)
{
    follow->changed |= follow->next && !follow->is_led;
    drop_next(follow);
}

/* ---- The next client was tried ------------------------------------------ */

static void say_stays(const struct follow *follow, const char *why)
{
    struct text next = {0};
    list_put_nodes(&next, follow->next);
    say_at(REDLOCK_LOG_WARNING, "does not go on with the list %s: %s", next.bytes, why);
    text_free(&next);
}

/* A server with a new address is known by then.  False after a warning. */
static bool may_follow(const struct follow *follow)
{
    bool may = redlock_may_move(follow->session->client, follow->next) == REDLOCK_OK;
    if (!may)
        say_stays(follow, redlock_last_error(follow->session->client));
    return may;
}

static void on_ready(redlock *client, redlock_code code, const char *text, void *data)
{
    struct follow *follow = data;
    (void)text;
    if (client != follow->next)
        return;
    follow->tried = true;
    follow->votes = code == REDLOCK_OK;
    if (may_follow(follow))
        try_to_move(follow);
    else
        set_next_aside(follow);
}

/* Nobody can take the lease there, and the list in place of ours may be asked for meanwhile. */
static void leave_list_that_is_over(struct follow *follow)
{
    say_stays(follow, "it is over");
    set_next_aside(follow);
    if (redlock_successor(follow->session->client))
        follow_next(follow);
}

/* It is the session's once the lease is there. */
static void on_node(redlock *client, unsigned index, void *data)
{
    struct follow *follow = data;
    bool is_of_file = client == follow->next && !follow->is_led;
    session_hears_node(follow->session, client, index);
    if (is_of_file && redlock_successor(client))
        leave_list_that_is_over(follow);
}

/* With that list, or with that of the file. */
static bool open_next(struct follow *follow, const char *nodes)
{
    redlock_options settings = session_settings(follow->session);
    char why[500] = "";
    drop_next(follow);
    follow->is_led = nodes;
    if (nodes)
        settings.nodes = nodes; /* its file tells of new logins */
    settings.on_ready = on_ready;
    settings.on_node = on_node;
    settings.data = follow;
    redlock_code code =
        redlock_open(&follow->next, follow->session->loop, &settings, why, sizeof why);
    if (code != REDLOCK_OK)
        say_at(REDLOCK_LOG_WARNING, "cannot use another list of masters: %s",
               why[0] ? why : redlock_code_text(code));
    return code == REDLOCK_OK;
}

/* ---- The list in the file --------------------------------------------------- */

static bool is_present_list(const struct follow *follow)
{
    struct text ours = {0}, next = {0};
    list_put_nodes(&ours, follow->session->client);
    list_put_nodes(&next, follow->next);
    struct client_text one = {ours.bytes, ours.length}, other = {next.bytes, next.length};
    bool same = redlock_lists_are_same(one, other);
    text_free(&ours);
    text_free(&next);
    return same;
}

/* A pipe would keep us from renewing the lease. */
static bool is_plain_file(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

static void look_at_file(struct follow *follow)
{
    if (!follow->changed || !follow->lease || ev_is_active(&follow->settling))
        return;
    follow->changed = false;
    if (is_plain_file(follow->file.path) && open_next(follow, NULL) && is_present_list(follow))
        drop_next(follow);
}

/* A part of a list is a list, too.  The whole one need not meet it, so there would be no way on. */
static void on_file(struct ev_loop *loop, ev_stat *file, int events)
{
    struct follow *follow = file->data;
    (void)events;
    ev_timer_again(loop, &follow->settling);
}

static void on_settled(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct follow *follow = timer->data;
    (void)events;
    ev_timer_stop(loop, timer);
    follow->changed = true;
    look_at_file(follow);
}

static const char *path_of_list(const struct options *options)
{
    bool in_settings = options->origin[SETTING_NODES] == ORIGIN_FILE;
    return options->nodes_file ? options->nodes_file : in_settings ? options->config : NULL;
}

/* ---- Going over -------------------------------------------------------------- */

/* A warning says that somebody should change the file, too. */
static void say_list(const struct follow *follow)
{
    struct text list = {0};
    if (follow->is_led) {
        session_say_led(follow->session);
        return;
    }
    list_put_nodes(&list, follow->session->client);
    say_at(REDLOCK_LOG_INFO, "goes on with another list of masters: %s", list.bytes);
    text_free(&list);
}

/* The session's client is that of the next list from now on. */
static void go_over(struct follow *follow)
{
    session_take_client(follow->session, follow->next);
    follow->next = NULL;
    if (!follow->session->options->quiet)
        say_list(follow);
    look_at_file(follow);
}

/* ---- The list in place of ours -------------------------------------------- */

static bool open_successor(struct follow *follow)
{
    struct session *session = follow->session;
    const char *nodes = session->lists < LED_MOST ? redlock_successor(session->client) : NULL;
    if (!nodes)
        return false;
    set_next_aside(follow);
    bool is_open = open_next(follow, nodes);
    session->lists += is_open;
    return is_open;
}

bool follow_to_successor(struct follow *follow)
{
    bool is_open = open_successor(follow);
    if (is_open)
        go_over(follow);
    return is_open;
}

/* ---- The lease -------------------------------------------------------------- */

void follow_start(struct follow *follow, struct session *session)
{
    const char *path = path_of_list(session->options);
    *follow = (struct follow){.session = session};
    ev_init(&follow->again, on_again);
    follow->again.data = follow;
    ev_timer_init(&follow->settling, on_settled, 0, SETTLED_S);
    follow->settling.data = follow;
    ev_stat_init(&follow->file, on_file, path ? path : "", FILE_EVERY_S);
    follow->file.data = follow;
    if (!path)
        return;
    ev_stat_start(session->loop, &follow->file);
    ev_unref(session->loop);
}

void follow_takes(struct follow *follow, redlock_lease *lease)
{
    follow->lease = lease;
    look_at_file(follow);
    if (follow->tried)
        try_to_move(follow);
}

void follow_drops(struct follow *follow)
{
    follow->lease = NULL;
    set_next_aside(follow);
}

/* Nobody can take the lease by the list of the file, or not now. */
static bool is_in_vain(const struct follow *follow)
{
    return follow->next && !follow->is_led && follow->tried && !follow->votes;
}

void follow_next(struct follow *follow)
{
    if (follow->lease && (!follow->next || is_in_vain(follow)))
        open_successor(follow);
}

/* Our list may be over, and that of the file not take the lease. */
static void go_on_trying(struct follow *follow)
{
    if (follow->is_led || !open_successor(follow))
        try_again_soon(follow);
}

void follow_hears(struct follow *follow, const redlock_event *event)
{
    if (event->kind == REDLOCK_MOVED)
        go_over(follow);
    else if (event->kind == REDLOCK_NOT_MOVED)
        go_on_trying(follow);
    else if (event->kind == REDLOCK_AT_RISK)
        follow_next(follow);
}

void follow_stop(struct follow *follow)
{
    follow_drops(follow);
    ev_timer_stop(follow->session->loop, &follow->settling);
    if (!ev_is_active(&follow->file))
        return;
    ev_ref(follow->session->loop);
    ev_stat_stop(follow->session->loop, &follow->file);
}
