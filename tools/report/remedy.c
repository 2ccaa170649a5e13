#include "remedy.h"

#include <string.h>

#define CLUSTER                                                                                    \
    "it is in cluster mode: use independent masters (cluster-enabled no), for a cluster takes no " \
    "script on several names, and replaces a master by a replica that may lack a lock"

#define LACK                                                                                       \
    "it lacks a command that locks need: if it is a sentinel, list the masters themselves; if "    \
    "the command was renamed (rename-command), give it back its name"

#define MUTE                                                                                       \
    "it closes the connection at once: if this is a TLS port, write rediss://; else look at its "  \
    "log"

#define SHUT "it closes the connection at once: look at its log, and see that this is its tls-port"

/* Below the prefix of the installation. */
#define USERS_ACL "share/doc/redlock/examples/users.acl"

#define OTHERS_KEY                                                                                 \
    "its ACL forbids this user that name, or the keys redlock:*: choose a name that it allows; "   \
    "~lock:* of " USERS_ACL " allows lock:NAME"

#define LIST_RIGHTS                                                                                \
    "`redlock list` needs more rights than a lock: those of redlock-operator from " USERS_ACL

/* The first that fits. */
static const struct {
    const char *says, *advice;
} remedies[] = {
    {"not trusted here", "give the CA that made it: with ca= in the list, --tls-ca or "
                         "REDLOCK_TLS_CA"},
    {"its certificate is for", "list it by the name of its certificate, or give that name: with "
                               "name= in the list, --tls-name or REDLOCK_TLS_NAME"},
    {"expired on", "renew that certificate, unless this machine's clock is wrong"},
    {"is not valid before",
     "check the clocks of this machine and of the machine that made the certificate"},
    {"wants a certificate of this client",
     "give one: with cert= and key= in the list, or --tls-cert and --tls-key; or set "
     "tls-auth-clients no there"},
    {"to it the certificate of this client",
     "give one of the CA that its tls-ca-cert-file has: with cert= in the list, or --tls-cert"},
    {"neither TLS 1.2 nor", "set tls-protocols \"TLSv1.2 TLSv1.3\" there"},
    {"does not speak TLS", "write redis:// for its port, or give its tls-port"},
    {"TLS: no answer ",
     "if it is a plain port write redis://; else see what is on the way, or whether it hangs"},
    {"it speaks TLS", "write rediss:// for its tls-port, or give its port"},
    {"TLS: cannot use the key",
     "give the key of this certificate, PEM without a passphrase: with key= in the list, or "
     "--tls-key"},
    {"TLS: cannot use the", "see that the file is there, is PEM without a passphrase, and that "
                            "this user may read it"},
    {"WRONGPASS", "user or password are wrong: check redis://USER:PASSWORD@HOST"},
    {"invalid password", "user or password are wrong: check redis://USER:PASSWORD@HOST"},
    {"without any password configured",
     "no password is set there: write redis://HOST without one, or set requirepass"},
    {"NOAUTH", "it wants a password: redis://:PASSWORD@HOST, or redis://USER:PASSWORD@HOST"},
    {"access one of the keys", OTHERS_KEY},
    {"access a key", OTHERS_KEY}, /* Redis 7.2 */
    {"run the 'scan' command", LIST_RIGHTS},
    {"run the 'dbsize' command", LIST_RIGHTS},
    {"run the 'getrange' command", LIST_RIGHTS},
    {"run the 'select' command",
     "its ACL forbids this user other databases than the first: leave out the /DB behind the "
     "port, in all clients, or allow +select"},
    {"NOPERM", "its ACL forbids this user a command that locks need: take the rights of redlock "
               "from " USERS_ACL},
    {"PUBLISH in its scripts", "let its user publish on the channels of locks: +publish "
                               "&redlock:*, as in " USERS_ACL "; "
                               "if PUBLISH was renamed (rename-command), give it back its name"},
    {"protected mode", "it takes connections from its own machine only: set a password or an ACL "
                       "there"},
    {"Connection refused", "no server takes connections there: see that it runs, that host and "
                           "port are right, and that its `bind` has this address"},
    {"DB index", "it has no such database: correct the /DB behind its port, in all clients, or "
                 "raise `databases` there"},
    {"max number of clients", "it has no room for another connection: raise its maxclients"},
    {"set back behind its own start",
     "set its clock right; until its clock is past that start it has no vote"},
    {"cluster mode", CLUSTER},
    {"MOVED ", CLUSTER},
    {"CLUSTERDOWN", CLUSTER},
    {"CROSSSLOT", CLUSTER},
    {"unknown command", LACK},
    {"Unknown Redis command", LACK},
    {"TLS: closed by the master", SHUT},
    {"TLS: it closed the connection", SHUT},
    {"TLS: cannot read: Connection reset", SHUT},
    {"TLS: cannot send: ", SHUT},
    {"TLS: Connection reset", SHUT},
    {"Connection reset", MUTE},
    {"malformed reply", "it does not speak as Redis does: it is another service"},
    {"OOM ", "its memory is full: raise maxmemory, or find out what fills it"},
    {"NOREPLICAS", "it takes no writes without replicas: set min-replicas-to-write 0 there"},
    {"MISCONF", "it takes no writes since it could not save: see its log and its disk"},
    {"READONLY", "it is read-only: list independent masters only, no replicas"},
    {"BUSY ", "a script of some program runs there too long: SCRIPT KILL ends one that has "
              "written nothing yet; SLOWLOG GET then shows it"},
    {"LOADING", "it still loads its data: try again later"},
    {"closed by the master", MUTE},
    {"WRONGTYPE", "another program uses the key redlock:clock: redlock:* is for locks alone"},
};

const char *remedy_for(const char *words)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
        if (strstr(words, remedies[i].says))
            return remedies[i].advice;
    return NULL;
}
