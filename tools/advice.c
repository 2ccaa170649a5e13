#include "advice.h"

#include <inttypes.h>
#include <string.h>

#include "duration.h"

#define OFFSET_LIMIT_US 500000
#define DAY_S           86400
#define EXPIRY_LIMIT_S  (INT64_C(14) * DAY_S)
#define CLUSTER                                                                                    \
    "it is in cluster mode: locks need independent masters (cluster-enabled no), for a cluster "   \
    "takes no script on several names and replaces masters by replicas that lack a lock"

/* ---- What its errors mean ------------------------------------------------ */
#define MUTE                                                                                       \
    "it closes the connection at once: if this is a TLS port, write rediss://; else look at its "  \
    "log"

/* The first that fits. */
static const struct {
    const char *says, *advice;
} meanings[] = {
    {"not trusted here", "give the CA that made it: with ca= in the list, --tls-ca or "
                         "REDLOCK_TLS_CA"},
    {"its certificate is for", "list it by the name of its certificate, or give that name: with "
                               "name= in the list, --tls-name or REDLOCK_TLS_NAME"},
    {"expired on", "renew that certificate, unless this machine's clock is wrong"},
    {"is not valid before", "look at the clock of this machine and of the one that made it"},
    {"wants a certificate of this client",
     "give one: with cert= and key= in the list, or --tls-cert and --tls-key; or set "
     "tls-auth-clients no there"},
    {"to it the certificate of this client",
     "give one of the CA that its tls-ca-cert-file has: with cert= in the list, or --tls-cert"},
    {"neither TLS 1.2 nor", "set tls-protocols \"TLSv1.2 TLSv1.3\" there"},
    {"does not speak TLS", "write redis:// for its port, or give its tls-port"},
    {"no answer within the time to connect",
     "if it is a plain port write redis://; else see what is on the way, or whether it hangs"},
    {"it speaks TLS", "write rediss:// for its tls-port, or give its port"},
    {"TLS: cannot use the", "see that the file is there, is PEM without a passphrase, and that "
                            "this user may read it"},
    {"WRONGPASS", "user or password are wrong: check redis://USER:PASSWORD@HOST"},
    {"invalid password", "user or password are wrong: check redis://USER:PASSWORD@HOST"},
    {"without any password configured",
     "no password is set there: write redis://HOST without one, or set requirepass"},
    {"NOAUTH", "it wants a password: redis://:PASSWORD@HOST, or redis://USER:PASSWORD@HOST"},
    {"NOPERM", "its ACL forbids this user what locks need: deploy/users.acl has a user "
               "that may do that and no more"},
    {"protected mode", "it takes connections from its own machine only: set a password or an ACL "
                       "there"},
    {"max number of clients", "it has no room for another connection: raise its maxclients"},
    {"cluster mode", CLUSTER},
    {"MOVED ", CLUSTER},
    {"CLUSTERDOWN", CLUSTER},
    {"CROSSSLOT", CLUSTER},
    {"unknown command", "it lacks a command that locks need: if it is a sentinel, list the masters "
                        "themselves; if the command was renamed, give it back its name"},
    {"Connection reset", MUTE},
    {"malformed reply", "it does not speak as Redis does: it is another service"},
    {"OOM ", "its memory is full: raise maxmemory, or find out what fills it"},
    {"NOREPLICAS", "it takes no writes without replicas: set min-replicas-to-write 0 there"},
    {"MISCONF", "it takes no writes since it could not save: see its log and its disk"},
    {"READONLY", "it is read-only: list independent masters only, no replicas"},
    {"LOADING", "it still loads its data: try again when it has"},
    {"closed by the master", MUTE},
    {"WRONGTYPE", "another program uses the key redlock:clock: redlock:* is for locks alone"},
};

static void advise_on_words(struct text *out, const char *words)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        if (strstr(words, meanings[i].says)) {
            text_format(out, "%s\n", meanings[i].advice);
            return;
        }
    }
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

void advise_on_tls(struct text *out, const redlock_tls *tls)
{
    if (tls->expires_s < EXPIRY_LIMIT_S) {
        text_format(out,
                    "its certificate expires in %" PRId64
                    " days: renew it; clients see the new one "
                    "from their next connection on\n",
                    tls->expires_s / DAY_S);
    }
    if (!tls->verified) {
        text_format(out, "anybody on the way can take its place: leave out verify=none, and give "
                         "its CA\n");
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
                    "no lease is held, `redlock nodes --adopt` lifts that\n",
                    duration_show(span, node->abstains_ms));
    }
}

/* ---- What came of the trial ---------------------------------------------- */

static void advise_on_finding(struct text *out, const struct finding *finding)
{
    if (finding->name_denied) {
        text_format(out, "no lock was tried: its ACL forbids this user the names of `redlock "
                         "nodes`; give a prefix that the user may use, with --prefix\n");
    }
    if (finding->refusal.length > 0)
        advise_on_words(out, finding->refusal.bytes);
    if (finding->no_queue.length > 0) {
        text_format(out, "locks work, but waiting for one does not: ");
        text_shown(out, finding->no_queue.bytes, finding->no_queue.length);
        text_format(out, "\n");
        advise_on_words(out, finding->no_queue.bytes);
    }
}

void advise_on_node(struct text *out, const redlock_node *node, const struct finding *finding)
{
    advise_on_state(out, node);
    if (node->state != REDLOCK_NODE_UP)
        advise_on_words(out, node->text);
    advise_on_finding(out, finding);
    advise_on_clock(out, node);
    advise_on_memory(out, node);
}
