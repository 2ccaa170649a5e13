#include "advice.h"

#include <inttypes.h>
#include <string.h>

#include "duration.h"
#include "remedy.h"

#define OFFSET_LIMIT_US 500000
#define DAY_S           86400
#define EXPIRY_LIMIT_S  (INT64_C(14) * DAY_S)

static void advise_on_words(struct text *out, const char *words)
{
    const char *remedy = remedy_for(words);
    if (remedy)
        text_format(out, "%s\n", remedy);
}

/* Of a master that cannot be reached.  Other commands give no such advice: `redlock nodes` is for
 * that. */
static void advise_on_way(struct text *out, const char *words)
{
    static const struct {
        const char *says, *advice;
    } ways[] = {
        {"cannot look up", "correct the name, or the name lookup of this machine"},
        {"No route to host", "see that its host is up, and the route to it"},
        {"Network is unreachable", "see the route to its host"},
        {"no connection within", "see that its host is up, and that no firewall drops this port"},
        {"no answer ", "it takes connections, and answers nothing: see whether it hangs, or is far "
                       "away (--connect-timeout)"},
        {"not taken the scripts", "it is slow, or far away: give it time (--connect-timeout)"},
        {"No such file", "no server made this socket: see unixsocket in its configuration"},
        {"Permission denied", "this user may not open the socket: see unixsocketperm there"},
    };
    size_t i = 0, count = sizeof ways / sizeof ways[0];
    while (i < count && !strstr(words, ways[i].says))
        i++;
    if (i < count)
        text_format(out, "%s\n", ways[i].advice);
}

/* ---- What its facts mean ------------------------------------------------- */

static void advise_on_memory(struct text *out, const redlock_node *node)
{
    if (node->eviction[0] && strcmp(node->eviction, "noeviction") != 0) {
        text_format(out,
                    "evicts keys under memory pressure (%s): a lock may vanish; set "
                    "maxmemory-policy noeviction\n",
                    node->eviction);
    }
}

static void advise_on_tls(struct text *out, const redlock_node *node)
{
    if (!node->tls_protocol[0])
        return;
    if (node->tls_expires_s < EXPIRY_LIMIT_S) {
        text_format(out,
                    "its certificate expires in %" PRId64
                    " days: renew it; clients see the new one "
                    "from their next connection on\n",
                    node->tls_expires_s / DAY_S);
    }
    if (!node->tls_verified) {
        text_format(out, "anybody on the way can take its place: remove verify=none and give its "
                         "CA\n");
    }
}

static void advise_on_clock(struct text *out, const redlock_node *node)
{
    char span[DURATION_SIZE];
    int64_t offset = node->clock_offset_us;
    if (offset > OFFSET_LIMIT_US || offset < -OFFSET_LIMIT_US) {
        text_format(out, "its clock is %s %s this machine's: let NTP set both\n",
                    duration_show(span, (offset < 0 ? -offset : offset) / 1000),
                    offset > 0 ? "ahead of" : "behind");
    }
}

static void advise_on_state(struct text *out, const redlock_node *node)
{
    char span[DURATION_SIZE];
    if (node->state == REDLOCK_NODE_ABSTAINS) {
        text_format(out,
                    "it may have forgotten leases, so it abstains %s more; if it is new, or "
                    "no lease is held, `redlock nodes --adopt` lets it vote now\n",
                    duration_show(span, node->abstains_ms));
    }
}

/* ---- What came of the trial ---------------------------------------------- */

static void advise_on_finding(struct text *out, const struct finding *finding)
{
    if (finding->name_denied) {
        text_format(out, "no lock was tried: its ACL forbids this user the names of `redlock "
                         "nodes`; use --prefix with a prefix that the user may use\n");
    }
    if (finding->refusal.length > 0)
        advise_on_words(out, finding->refusal.bytes);
    if (finding->no_queue.length > 0) {
        text_format(out, "locks work, but waiting for one does not: ");
        text_shown(out, finding->no_queue.bytes, finding->no_queue.length);
        text_format(out, "\n");
        advise_on_words(out, finding->no_queue.bytes);
    }
    if (finding->unheard.length > 0) {
        text_format(out, "waiters get a lock up to a second late: ");
        text_shown(out, finding->unheard.bytes, finding->unheard.length);
        text_format(out, "\n");
        advise_on_words(out, finding->unheard.bytes);
    }
}

void advise_on_node(struct text *out, const redlock_node *node, const struct finding *finding)
{
    advise_on_state(out, node);
    if (node->state != REDLOCK_NODE_UP)
        advise_on_words(out, node->text);
    if (node->state == REDLOCK_NODE_DOWN && !remedy_for(node->text))
        advise_on_way(out, node->text);
    advise_on_finding(out, finding);
    advise_on_clock(out, node);
    advise_on_memory(out, node);
    advise_on_tls(out, node);
}
