#define _GNU_SOURCE
#include "cluster.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user.h"

/* ---- The script ---- */

#define LINE_SIZE 1024

static void script_line(const struct cluster *cluster, const char *command, char line[LINE_SIZE])
{
    snprintf(line, LINE_SIZE, "REDLOCK='%s' '%s' --dir '%s' %s", REDLOCK_COMMAND, CLUSTER_SCRIPT,
             cluster->dir, command);
}

static int script(const struct cluster *cluster, const char *command, char *output, size_t size)
{
    char line[LINE_SIZE];
    script_line(cluster, command, line);
    FILE *pipe = popen(line, "re");
    assert_non_null(pipe);
    size_t used = fread(output, 1, size - 1, pipe);
    output[used] = '\0';
    return pclose(pipe);
}

pid_t cluster_begin(const struct cluster *cluster, const char *command)
{
    char line[LINE_SIZE];
    char *arguments[] = {"sh", "-c", line, NULL};
    pid_t child;
    script_line(cluster, command, line);
    strcat(line, " >/dev/null");
    assert_int_equal(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0);
    return child;
}

void cluster_do(struct cluster *cluster, const char *format, ...)
{
    char command[512], output[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (script(cluster, command, output, sizeof output) != 0)
        fail_msg("cluster %s failed: %s", command, output);
}

/* ---- Whatever ends the test, its masters end too ---- */

static void guard_until_the_end(const char *dir, int guard, int guarded)
{
    char line[512];
    char byte;
    setsid();
    while (read(guard, &byte, 1) > 0)
        ;
    snprintf(line, sizeof line, "'%s' stop --dir '%s' && rmdir '%s'", CLUSTER_SCRIPT, dir, dir);
    int status = system(line);
    if (write(guarded, status ? "!" : ".", 1) < 0)
        _exit(1);
    _exit(0);
}

static void start_guard(struct cluster *cluster)
{
    int ours[2], its[2];
    assert_int_equal(pipe2(ours, O_CLOEXEC), 0);
    assert_int_equal(pipe2(its, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ours[1]);
        if (fork() == 0)
            guard_until_the_end(cluster->dir, ours[0], its[1]);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    close(ours[0]);
    close(its[1]);
    cluster->guard = ours[1];
    cluster->guarded = its[0];
}

/* ---- TLS.  Plain clients of masters that speak TLS alone take their sockets. ---- */

static const struct cluster *latest;

static bool with_tls(void)
{
    const char *said = getenv("REDLOCK_TEST_TLS");
    return said && strcmp(said, "1") == 0;
}

bool cluster_is_inside(void)
{
    return false;
}

const char *cluster_scheme(void)
{
    return with_tls() ? "rediss" : "redis";
}

const char *cluster_mark(void)
{
    return with_tls() ? "rediss://" : "";
}

const char *cluster_tls_folder(void)
{
    static char folder[80];
    if (!with_tls() || !latest)
        return NULL;
    snprintf(folder, sizeof folder, "%s/tls", latest->dir);
    return folder;
}

const char *cluster_socket(int port)
{
    static _Thread_local char path[100];
    for (unsigned i = 0; with_tls() && latest && i < latest->count; i++) {
        if (latest->ports[i] != port)
            continue;
        snprintf(path, sizeof path, "%s/master-%u/redis.sock", latest->dir, i + 1);
        return path;
    }
    return NULL;
}

/* The addresses that tests write down do not name the CA. */
static void prepare_tls(const struct cluster *cluster)
{
    char ca[100];
    latest = cluster;
    if (with_tls()) {
        snprintf(ca, sizeof ca, "%s/ca.crt", cluster_tls_folder());
        setenv("REDLOCK_TLS_CA", ca, 1);
    }
}

/* ---- Life ---- */

static void read_nodes(struct cluster *cluster)
{
    const char *at = cluster->nodes;
    for (unsigned i = 0; i < cluster->count; i++) {
        const char *login = strstr(at, "://:");
        assert_non_null(login);
        assert_int_equal(sscanf(login, "://:%39[0-9a-f]@127.0.0.1:%d", cluster->passwords[i],
                                &cluster->ports[i]),
                         2);
        at += strcspn(at, ",") + 1;
    }
}

void cluster_start(struct cluster *cluster, unsigned count, const char *flags)
{
    char command[128], output[8192];
    *cluster = (struct cluster){.count = count};
    const char *tmp = getenv("TMPDIR");
    snprintf(cluster->dir, sizeof cluster->dir, "%s/redlock-live-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(cluster->dir));
    start_guard(cluster);
    snprintf(command, sizeof command, "start -n %u %s %s 2>&1", count, with_tls() ? "--tls" : "",
             flags ? flags : "");
    if (script(cluster, command, output, sizeof output) != 0)
        fail_msg("cluster %s failed: %s", command, output);
    char *list = strstr(output, "export REDLOCK_NODES=");
    assert_non_null(list);
    list += strlen("export REDLOCK_NODES=");
    snprintf(cluster->nodes, sizeof cluster->nodes, "%.*s", (int)strcspn(list, "\n"), list);
    read_nodes(cluster);
    prepare_tls(cluster);
}

void cluster_stop(struct cluster *cluster)
{
    char byte = '!';
    if (latest == cluster)
        latest = NULL;
    for (unsigned i = 0; i < cluster->count; i++)
        if (cluster->plain[i])
            redisFree(cluster->plain[i]);
    close(cluster->guard);
    assert_int_equal(read(cluster->guarded, &byte, 1), 1);
    assert_int_equal(byte, '.');
    close(cluster->guarded);
}

/* ---- Plain clients ---- */

/* The first command finds out a master that is gone, or refuses us. */
redisContext *cluster_connect(const struct cluster *cluster, unsigned master)
{
    struct timeval timeout = {.tv_sec = 5};
    const char *path = cluster_socket(cluster->ports[master]);
    redisContext *context =
        path ? redisConnectUnixWithTimeout(path, timeout)
             : redisConnectWithTimeout("127.0.0.1", cluster->ports[master], timeout);
    if (context && !context->err) {
        redisSetTimeout(context, timeout);
        redisReply *reply = redisCommand(context, "AUTH %s", cluster->passwords[master]);
        if (reply)
            freeReplyObject(reply);
    }
    return context;
}

/* To write to a local socket whose other end is closed raises SIGPIPE at once. */
static bool has_ended(const redisContext *context)
{
    char byte;
    return recv(context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static redisReply *ask(struct cluster *cluster, unsigned master, const char *format,
                       va_list arguments)
{
    redisContext *context = cluster->plain[master];
    if (context && has_ended(context)) {
        redisFree(context);
        context = NULL;
    }
    for (int try = 0; try < 2; try++) {
        va_list again;
        if (!context)
            context = cluster_connect(cluster, master);
        va_copy(again, arguments);
        redisReply *reply = context && !context->err ? redisvCommand(context, format, again) : NULL;
        va_end(again);
        cluster->plain[master] = context;
        if (reply)
            return reply;
        if (context)
            redisFree(context); /* it may have been restarted since */
        cluster->plain[master] = context = NULL;
    }
    return NULL;
}

redisReply *cluster_ask(struct cluster *cluster, unsigned master, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = ask(cluster, master, format, arguments);
    va_end(arguments);
    return reply;
}

static redisReply *must_answer(redisReply *reply, const char *format)
{
    if (!reply)
        fail_msg("no answer to %s", format);
    else if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, reply->str);
    return reply;
}

void cluster_tell(struct cluster *cluster, unsigned master, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    freeReplyObject(must_answer(ask(cluster, master, format, arguments), format));
    va_end(arguments);
}

void cluster_tell_all(struct cluster *cluster, const char *format, ...)
{
    for (unsigned i = 0; i < cluster->count; i++) {
        va_list arguments;
        va_start(arguments, format);
        freeReplyObject(must_answer(ask(cluster, i, format, arguments), format));
        va_end(arguments);
    }
}

redisReply *cluster_answer(struct cluster *cluster, unsigned master, const char *format,
                           va_list arguments)
{
    return must_answer(ask(cluster, master, format, arguments), format);
}

unsigned cluster_keys(struct cluster *cluster)
{
    unsigned keys = 0;
    for (unsigned i = 0; i < cluster->count; i++) {
        redisReply *reply = cluster_ask(cluster, i, "KEYS *");
        for (size_t k = 0; reply && k < reply->elements; k++)
            keys += strcmp(reply->element[k]->str, "redlock:clock") != 0 &&
                    strncmp(reply->element[k]->str, "redlock:lists:", 14) != 0 &&
                    strncmp(reply->element[k]->str, "redlock:released:", 17) != 0;
        if (reply)
            freeReplyObject(reply);
    }
    return keys;
}

/* ---- This process ---- */

size_t resident_bytes(void)
{
    unsigned long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%lu %lu", &whole, &resident) != 2)
        fail_msg("cannot read /proc/self/statm");
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}
