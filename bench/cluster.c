#include "cluster.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEPARATORS ", \t\n"

static char script[512], folder[] = "/tmp/redlock-bench.XXXXXX";
static char nodes[8192];
static pid_t started_by;

/* cluster-scripts/cluster, two folders above the one of this program. */
static bool find_script(void)
{
    const char *given = getenv("REDLOCK_CLUSTER");
    char self[400];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    for (int level = 0; level < 3 && strrchr(self, '/'); level++)
        *strrchr(self, '/') = '\0';
    snprintf(script, sizeof script, "%s%s", given ? given : self,
             given ? "" : "/cluster-scripts/cluster");
    return access(script, X_OK) == 0;
}

static bool start(unsigned masters)
{
    char command[1200];
    snprintf(command, sizeof command,
             "'%s' start --dir '%s' -n %u >/dev/null && '%s' nodes --dir '%s'", script, folder,
             masters, script, folder);
    FILE *output = popen(command, "r");
    bool got = output && fgets(nodes, sizeof nodes, output);
    return output && pclose(output) == 0 && got;
}

static bool start_own(struct cluster *cluster, unsigned masters)
{
    if (!find_script() || !mkdtemp(folder)) {
        fprintf(stderr, "redlock-bench: no masters given (--nodes, REDLOCK_NODES), and "
                        "cluster-scripts/cluster cannot be found (REDLOCK_CLUSTER)\n");
        return false;
    }
    started_by = getpid();
    atexit(cluster_close);
    if (!start(masters)) {
        fprintf(stderr, "redlock-bench: cannot start masters\n");
        return false;
    }
    cluster->nodes = nodes;
    return true;
}

void cluster_close(void)
{
    char command[1200];
    if (started_by != getpid())
        return;
    started_by = 0;
    snprintf(command, sizeof command, "'%s' stop --dir '%s' >/dev/null", script, folder);
    if (system(command) != 0)
        fprintf(stderr, "redlock-bench: could not stop the masters in %s\n", folder);
    rmdir(folder);
}

/* [user][:password]; only redlock can use one that needs % escapes. */
static void read_login(struct cluster *cluster, char *login)
{
    char *colon = strchr(login, ':');
    if (colon)
        *colon = '\0';
    snprintf(cluster->at[cluster->count].user, sizeof cluster->at[0].user, "%.63s", login);
    snprintf(cluster->at[cluster->count].password, sizeof cluster->at[0].password, "%.127s",
             colon ? colon + 1 : "");
}

/* The address of one node, for the parts that run without redlock. */
static void read_address(struct cluster *cluster, const char *node, size_t length)
{
    char text[400];
    snprintf(text, sizeof text, "%.*s", (int)length, node);
    char *host = strstr(text, "://");
    host = host ? host + 3 : text;
    char *at = strrchr(host, '@');
    if (at) {
        *at = '\0';
        read_login(cluster, host);
        host = at + 1;
    }
    host[strcspn(host, "/?")] = '\0';
    char *port = strrchr(host, ':');
    if (port)
        *port = '\0';
    cluster->at[cluster->count].port = port ? atoi(port + 1) : 6379;
    snprintf(cluster->at[cluster->count].host, sizeof cluster->at[0].host, "%.63s", host);
    cluster->count++;
}

int cluster_login(const struct cluster *cluster, unsigned i, const char *words[3])
{
    int count = 0;
    if (!cluster->at[i].password[0])
        return 0;
    words[count++] = "AUTH";
    if (cluster->at[i].user[0])
        words[count++] = cluster->at[i].user;
    words[count++] = cluster->at[i].password;
    return count;
}

/* A wrong password shows at the first command. */
redisContext *cluster_connect(const struct cluster *cluster, unsigned i,
                              const struct timeval *timeout)
{
    const char *host = cluster->at[i].host, *words[3];
    redisContext *context = timeout ? redisConnectWithTimeout(host, cluster->at[i].port, *timeout)
                                    : redisConnect(host, cluster->at[i].port);
    int count = cluster_login(cluster, i, words);
    if (context && !context->err && timeout)
        redisSetTimeout(context, *timeout);
    if (context && !context->err && count) {
        redisReply *reply = redisCommandArgv(context, count, words, NULL);
        if (reply)
            freeReplyObject(reply);
    }
    return context;
}

redisReply *cluster_ask(const struct cluster *cluster, unsigned i, const char *command)
{
    struct timeval timeout = {1, 0};
    redisContext *context = cluster_connect(cluster, i, &timeout);
    redisReply *reply = context && !context->err ? redisCommand(context, command) : NULL;
    redisFree(context);
    return reply;
}

bool cluster_open(struct cluster *cluster, const struct options *options)
{
    *cluster = (struct cluster){0};
    if (!options->nodes) {
        if (!start_own(cluster, options->masters ? options->masters : 5))
            return false;
    } else {
        snprintf(nodes, sizeof nodes, "%s", options->nodes);
        cluster->nodes = nodes;
    }
    char *at = nodes + strspn(nodes, SEPARATORS);
    unsigned most = options->masters ? options->masters : 15;
    while (*at && cluster->count < most) {
        size_t length = strcspn(at, SEPARATORS);
        read_address(cluster, at, length);
        at += length;
        if (cluster->count == most)
            *at = '\0';
        at += strspn(at, SEPARATORS);
    }
    return cluster->count > 0;
}
