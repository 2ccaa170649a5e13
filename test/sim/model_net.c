#include "model_net.h"

#include <stdlib.h>

#include "change.h"
#include "client_shell.h"
#include "invariants.h"
#include "recipe_users.h"
#include "liar.h"
#include "rules.h"
#include "trace.h"

#define HELD_UP   500 /* per mille of messages that are delayed on the way, as if sent again */
#define LINGERS   700 /* per mille of closed connections whose last requests still arrive */
#define LOST_FINS 600 /* per mille of farewells, where any get lost */

/* ---- messages --------------------------------------------------------------- */

struct message *message_new(struct world *w)
{
    struct message *message = w->spare_messages;
    if (message)
        w->spare_messages = message->next;
    else
        message = malloc(sizeof *message);
    message->next = message->shares = NULL;
    message->call.agree = NULL;
    return message;
}

void message_free(struct world *w, struct message *message)
{
    for (struct message *shares; message; message = shares) {
        shares = message->shares;
        free(message->call.agree);
        message->next = w->spare_messages;
        w->spare_messages = message;
    }
}

void queue_add(struct queue *queue, struct message *message)
{
    message->next = NULL;
    if (queue->first)
        queue->last->next = message;
    else
        queue->first = message;
    queue->last = message;
}

struct message *queue_take(struct queue *queue)
{
    struct message *message = queue->first;
    if (message)
        queue->first = message->next;
    return message;
}

static void queue_clear(struct world *w, struct queue *queue)
{
    struct message *message;
    while ((message = queue_take(queue)))
        message_free(w, message);
}

/* Keeps a part of it, as a broken stream does. */
static void queue_truncate(struct world *w, struct queue *queue)
{
    unsigned length = 0;
    for (struct message *m = queue->first; m; m = m->next)
        length++;
    if (!length)
        return;
    unsigned keep = chance_below(&w->chance, length + 1);
    struct queue kept = {.latest = queue->latest};
    while (keep--)
        queue_add(&kept, queue_take(queue));
    queue_clear(w, queue);
    *queue = kept;
}

/* ---- paths ------------------------------------------------------------------ */

usec path_delay(struct world *w, const struct path *path, enum way way)
{
    usec delay = path->farther + chance_range(&w->chance, 50, 600);
    bool is_slow = way == WAY_OUT ? path->slow_out : path->slow_in;
    if (w->now < path->slow_until && is_slow)
        delay += chance_range(&w->chance, path->least_slowness, path->slowness);
    return delay;
}

usec path_trip(struct world *w, const struct path *path)
{
    usec out = path_delay(w, path, WAY_OUT);
    return out + path_delay(w, path, WAY_IN);
}

usec path_blocked(const struct path *path)
{
    return path->out_blocked > path->in_blocked ? path->out_blocked : path->in_blocked;
}

static struct path *path_of(const struct conn *conn)
{
    return &conn->world->paths[conn->client][conn->master];
}

static usec arrival(struct conn *conn, enum way way, usec latest)
{
    struct world *w = conn->world;
    const struct path *path = path_of(conn);
    usec blocked = way == WAY_OUT ? path->out_blocked : path->in_blocked;
    usec at = (blocked > w->now ? blocked : w->now) + path_delay(w, path, way);
    return at > latest ? at : latest;
}

/* A packet that is lost is sent again, for as long as a stall of the network lasts. */
usec late_fin(struct world *w)
{
    bool gets_lost = w->faults & 1U << FAULT_LATE_FIN && chance_permille(&w->chance, LOST_FINS);
    return gets_lost ? chance_range(&w->chance, 0, LATE_FIN) : 0;
}

/* ---- connections -------------------------------------------------------------- */

struct conn *conn_new(struct shell *shell, unsigned client, unsigned master)
{
    struct world *w = shell->world;
    struct conn *conn = calloc(1, sizeof *conn);
    *conn = (struct conn){.next = w->conns,
                          .world = w,
                          .shell = shell,
                          .client = client,
                          .master = master,
                          .client_open = true};
    w->conns = conn;
    const struct path *path = path_of(conn);
    usec there = (path_blocked(path) > w->now ? path_blocked(path) : w->now);
    world_plan(w, there + path_trip(w, path), HAPPENS_CONNECT, conn, 0);
    return conn;
}

static void connect_ends(struct conn *conn)
{
    struct world *w = conn->world;
    struct server *server = &w->servers[conn->master];
    const struct path *path = path_of(conn);
    if (!conn->client_open)
        return;
    if (path_blocked(path) > w->now) {
        world_plan(w, path_blocked(path) + path_delay(w, path, WAY_IN), HAPPENS_CONNECT, conn, 0);
        return;
    }
    if (server->up && w->now >= server->refuses_until) {
        conn->established = conn->server_open = true;
        conn->epoch = server->epoch;
        conn->id = ++server->last_id;
    } else {
        conn->broken = true;
    }
    shell_readable(conn->shell);
}

static void plan_request(struct conn *conn)
{
    if (conn->out.first)
        world_plan(conn->world, conn->out.first->at, HAPPENS_REQUEST, conn, 0);
}

void conn_send(struct conn *conn, struct message *message)
{
    struct world *w = conn->world;
    if (conn->reset || !conn->established) {
        message_free(w, message);
        return;
    }
    message->at = conn->out.latest = arrival(conn, WAY_OUT, conn->out.latest);
    bool first = conn->out.first == NULL;
    queue_add(&conn->out, message);
    if (first)
        plan_request(conn);
}

void conn_leave(struct conn *conn)
{
    struct world *w = conn->world;
    conn->client_open = false;
    conn->shell = NULL;
    queue_clear(w, &conn->in);
    queue_clear(w, &conn->readable);
    if (!chance_permille(&w->chance, LINGERS))
        queue_truncate(w, &conn->out);
    if (conn->out.first && chance_permille(&w->chance, HELD_UP))
        conn->out.first->at += chance_range(&w->chance, 0, MS(300));
}

/* The client sees it `late` after it could. */
static void break_late(struct conn *conn, usec late)
{
    struct world *w = conn->world;
    if (conn->reset || !conn->established || !conn->client_open)
        return;
    conn->reset = true;
    queue_truncate(w, &conn->out);
    queue_truncate(w, &conn->in);
    usec at = arrival(conn, WAY_IN, 0);
    if (conn->in.first && conn->in.latest > at)
        at = conn->in.latest;
    world_plan(w, at + late, HAPPENS_BREAK, conn, 0);
}

void conn_break(struct conn *conn)
{
    break_late(conn, 0);
}

/* It carries nothing more; the client sees that when it must, however slow the way is. */
void conn_break_silently(struct conn *conn, usec seen_after)
{
    struct world *w = conn->world;
    if (conn->reset || !conn->established || !conn->client_open)
        return;
    conn->reset = true;
    queue_truncate(w, &conn->out);
    queue_clear(w, &conn->in);
    world_plan(w, w->now + seen_after, HAPPENS_BREAK, conn, 0);
}

void net_server_down(struct world *w, unsigned master)
{
    subscriptions_server_down(w, master);
    for (struct conn *conn = w->conns; conn; conn = conn->next) {
        if (conn->master != master || !conn->server_open)
            continue;
        conn->server_open = false;
        queue_clear(w, &conn->out);
        break_late(conn, late_fin(w));
    }
}

/* ---- the server's side ---------------------------------------------------------- */

static bool kill_connection(struct world *w, unsigned master, int64_t id)
{
    for (struct conn *conn = w->conns; conn; conn = conn->next) {
        if (conn->master != master || conn->id != id || !conn->server_open ||
            conn->epoch != w->servers[master].epoch)
            continue;
        conn->server_open = false;
        queue_clear(w, &conn->out);
        conn_break(conn);
        return true;
    }
    return false;
}

bool net_execute(struct world *w, unsigned master, const struct model_call *call,
                 struct model_answer *answer)
{
    struct server *server = &w->servers[master];
    if (!server->up || w->now < server->stopped_until)
        return false;
    model_execute(&server->model, server_wall(w, master), call, answer);
    subscriptions_publish(w, master, answer);
    return true;
}

/* OOM is the answer to writes only; LOADING, and a wrong ACL, to every request. */
static bool answers_error(struct world *w, unsigned master, const struct message *message)
{
    const struct server *server = &w->servers[master];
    if (w->now >= server->errors_until)
        return false;
    if (is_change(w))
        return change_has_no_room_for(w, master, &message->call);
    bool out_of_memory = server->error[0] == 'O';
    return !out_of_memory || message->call.kind == REQUEST_ACQUIRE ||
           message->call.kind == REQUEST_GRANT || message->call.kind == REQUEST_RAISE ||
           message->call.kind == REQUEST_QUEUE || message->call.kind == REQUEST_RENEW ||
           message->call.kind == REQUEST_UPGRADE || message->call.kind == REQUEST_HELLO;
}

/* One that starts, without spare votes, takes it for the list's fault, by design. */
static bool tolerates_twins(const struct shell *s)
{
    return s && (s->client->engine->ready_told || s->client->engine->config.spare);
}

static void execute(struct conn *conn, struct message *message)
{
    struct world *w = conn->world;
    struct server *server = &w->servers[conn->master];
    if (answers_error(w, conn->master, message)) {
        message->answer = (struct model_answer){.answer = ANSWER_ERROR, .error = server->error};
        server->model.refused_writes = true;
    } else {
        if (chance_permille(&w->chance, w->fresh))
            server->snapshot = server->model.data;
        if (message->call.kind == REQUEST_KILL)
            kill_connection(w, conn->master, message->kill_id);
        model_execute(&server->model, server_wall(w, conn->master), &message->call,
                      &message->answer);
        if (message->call.kind == REQUEST_MEND)
            latches_put(w, message->call.value, message->call.names[0]);
        if (server->model.data.is_full &&
            !is_liar(w, conn->master)) /* it may keep what it denies */
            world_violated(w, "model", "master %u has no room for one more waiter or reader",
                           conn->master + 1);
        if (is_liar(w, conn->master))
            liar_answers(w, conn->master, message, tolerates_twins(conn->shell));
        else
            check_executed(w, conn->master, message);
        order_answered(w, conn->master, message);
        subscriptions_publish(w, conn->master, &message->answer);
    }
    world_mark(w, (uint64_t)w->now, (uint64_t)message->call.kind << 8 | message->answer.answer);
    TRACE(w, "    master %u carries out %s %s t%u of client %u%s: %s%s", conn->master + 1,
          request_name(message->call.kind), names_text(message->call.names, message->call.count),
          message->call.value, conn->client + 1, conn->client_open ? "" : " (who has left)",
          answer_name(message->answer.answer), clock_text(message->answer.clock));
}

static void reply(struct conn *conn, struct message *message, usec service)
{
    struct world *w = conn->world;
    if (!conn->client_open || conn->reset) {
        message_free(w, message);
        return;
    }
    message->at = conn->in.latest = service + arrival(conn, WAY_IN, conn->in.latest);
    bool first = conn->in.first == NULL;
    queue_add(&conn->in, message);
    if (first)
        world_plan(w, message->at, HAPPENS_REPLY, conn, 0);
}

static void request_arrives(struct conn *conn)
{
    struct world *w = conn->world;
    struct server *server = &w->servers[conn->master];
    const struct path *path = path_of(conn);
    struct message *message = conn->out.first;
    if (!message)
        return;
    if (!server->up || !conn->server_open || conn->epoch != server->epoch) {
        queue_clear(w, &conn->out);
        return;
    }
    usec wait =
        path->out_blocked > server->stopped_until ? path->out_blocked : server->stopped_until;
    if (wait > w->now && wait > message->at)
        message->at = wait + chance_range(&w->chance, 0, 2000);
    if (message->at > w->now) {
        plan_request(conn);
        return;
    }
    queue_take(&conn->out);
    usec service = 20;
    if (w->now < server->slow_until)
        service += chance_range(&w->chance, 0, server->slowness);
    for (struct message *each = message; each; each = each->shares)
        execute(conn, each);
    reply(conn, message, service);
    if (conn->out.first && conn->out.first->at < w->now + service)
        conn->out.first->at = w->now + service;
    plan_request(conn);
}

/* ---- the client's side ------------------------------------------------------------ */

static void reply_arrives(struct conn *conn)
{
    struct world *w = conn->world;
    struct message *message = conn->in.first;
    if (!message)
        return;
    usec blocked = path_of(conn)->in_blocked;
    if (blocked > w->now && blocked > message->at)
        message->at = blocked + chance_range(&w->chance, 50, 600);
    if (message->at > w->now) {
        world_plan(w, message->at, HAPPENS_REPLY, conn, 0);
        return;
    }
    queue_take(&conn->in);
    if (conn->in.first)
        world_plan(w, conn->in.first->at > w->now ? conn->in.first->at : w->now, HAPPENS_REPLY,
                   conn, 0);
    queue_add(&conn->readable, message);
    shell_readable(conn->shell);
}

void net_happens(struct world *w, const struct happening *happening)
{
    (void)w;
    struct conn *conn = happening->subject;
    switch (happening->kind) {
    case HAPPENS_REQUEST:
        request_arrives(conn);
        break;
    case HAPPENS_REPLY:
        reply_arrives(conn);
        break;
    case HAPPENS_CONNECT:
        connect_ends(conn);
        break;
    default:
        if (conn->client_open) {
            conn->broken = true;
            shell_readable(conn->shell);
        }
    }
}

void net_free(struct world *w)
{
    while (w->conns) {
        struct conn *conn = w->conns;
        w->conns = conn->next;
        queue_clear(w, &conn->out);
        queue_clear(w, &conn->in);
        queue_clear(w, &conn->readable);
        free(conn);
    }
    while (w->spare_messages) {
        struct message *message = w->spare_messages;
        w->spare_messages = message->next;
        free(message);
    }
}
