#include "lasting.h"

#include "client_shell.h"
#include "trace.h"

#define FOR_GOOD MS(1000000000)
#define MUTED    200 /* per mille of links that carry no notifications, whatever else they do */

bool lasting_reaches(const struct world *w, unsigned client, unsigned master)
{
    return !w->servers[master].gone && !w->paths[client][master].cut;
}

static unsigned reached(const struct world *w, unsigned client)
{
    unsigned count = 0;
    for (unsigned i = 0; i < w->masters; i++)
        count += lasting_reaches(w, client, i);
    return count;
}

bool lasting_reaches_quorum(const struct world *w, unsigned client)
{
    return reached(w, client) >= w->quorum;
}

bool lasting_reaches_all(const struct world *w, unsigned client)
{
    return reached(w, client) == w->masters;
}

/* ---- masters ------------------------------------------------------------------ */

static void leave_down(struct world *w, unsigned count)
{
    for (unsigned master = chance_below(&w->chance, w->masters); count; count--) {
        struct server *server = &w->servers[master];
        TRACE(w, "FAULT master %u stays down", master + 1);
        server->gone = true;
        if (server->up)
            net_server_down(w, master);
        server->up = false;
        master = (master + 1) % w->masters;
    }
}

/* ---- links -------------------------------------------------------------------- */

static void block(struct world *w, struct path *path)
{
    unsigned dice = chance_below(&w->chance, 4);
    path->cut = true;
    if (dice != 0)
        path->out_blocked = w->now + FOR_GOOD;
    if (dice != 1)
        path->in_blocked = w->now + FOR_GOOD;
}

static void cut(struct world *w, unsigned client, unsigned master)
{
    struct conn *conn = w->shells[client]->links[master].conn;
    TRACE(w, "FAULT client %u and master %u stay apart", client + 1, master + 1);
    block(w, &w->paths[client][master]);
    if (conn && chance_permille(&w->chance, 500))
        conn_break_silently(conn, chance_range(&w->chance, 0, MS(500)));
    if (!chance_permille(&w->chance, MUTED))
        block(w, &w->push_paths[client][master]);
}

static void cut_some(struct world *w, unsigned client, unsigned count)
{
    unsigned first = chance_below(&w->chance, w->masters);
    for (unsigned i = 0; i < count; i++)
        cut(w, client, (first + i) % w->masters);
}

static void lose_notifications(struct world *w)
{
    for (unsigned c = 0; c < w->clients; c++)
        for (unsigned i = 0; i < w->masters; i++)
            if (chance_permille(&w->chance, MUTED))
                block(w, &w->push_paths[c][i]);
}

/* ---- drawing ------------------------------------------------------------------- */

/* Each client may have lost others. */
static void cut_minorities(struct world *w, unsigned most)
{
    for (unsigned c = 0; c < w->clients; c++)
        cut_some(w, c, chance_below(&w->chance, most + 1));
}

/* Some clients keep a minority only, one all. */
static void cut_majorities(struct world *w)
{
    unsigned whole = chance_below(&w->chance, w->clients);
    for (unsigned c = 0; c < w->clients; c++)
        if (c != whole && chance_permille(&w->chance, 800))
            cut_some(w, c, w->masters - chance_below(&w->chance, w->quorum));
}

void lasting_begin(struct world *w)
{
    unsigned most = w->masters - w->quorum;
    if (!(w->faults & 1U << FAULT_LASTING) || !most)
        return;
    unsigned dice = chance_below(&w->chance, 3);
    if (dice == 0)
        leave_down(w, 1 + chance_below(&w->chance, most));
    else if (dice == 1)
        cut_minorities(w, most);
    else
        cut_majorities(w);
    if (chance_permille(&w->chance, 300))
        lose_notifications(w);
}
