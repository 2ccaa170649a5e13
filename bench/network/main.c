/*
 * main.c - runs a command on a network of its own.  It and each master have a network namespace,
 * and a router between them delays and loses packets.  TCP is the kernel's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "namespaces.h"
#include "router.h"

enum { EXIT_WRONG = 64, EXIT_NO_NETWORK = 77 };

#define READY_MS  10000
#define MS_MOST   10000
#define NODE_MOST 40 /* bytes of one of the list */

static const char usage[] =
    "usage: bench-network LINK... -- COMMAND [ARG]...\n"
    "\n"
    "Runs COMMAND with a master behind each LINK, as REDLOCK_NODES says.  A LINK is\n"
    "RTT[~JITTER][/LOSS]: a round trip in ms, at most how much longer one takes, and how many\n"
    "packets of a hundred are lost on each way; 2~0.5/1, say.  The masters are redis-server, or\n"
    "REDLOCK_SERVER.  It needs /dev/net/tun, and root or user namespaces.\n"
    "\n"
    "Exit status: COMMAND's; 128 and its signal; 1 a master did not start; 64 usage; 77 there can\n"
    "be no such network here.\n";

struct network {
    unsigned count; /* of the places: the client's is 0 */
    struct place places[PLACES_MOST];
    struct link_terms terms[PLACES_MOST];
    pid_t command;
};

/* A number that begins at *text, from 0 to `most`; *text is then behind it. */
static bool read_number(const char **text, double most, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    bool is_number = end != *text && *value >= 0 && *value <= most;
    *text = end;
    return is_number;
}

static bool read_link(const char *text, struct link_terms *terms)
{
    *terms = (struct link_terms){0};
    bool good = read_number(&text, MS_MOST, &terms->rtt_ms);
    if (good && *text == '~') {
        text++;
        good = read_number(&text, MS_MOST, &terms->jitter_ms);
    }
    if (good && *text == '/') {
        text++;
        good = read_number(&text, 100, &terms->loss_percent);
    }
    return good && !*text;
}

/* Returns where the command begins; 0 if this is no use of the program. */
static int read_arguments(int count, char **arguments, struct network *network)
{
    int i = 1;
    network->count = 1;
    for (; i < count && strcmp(arguments[i], "--") != 0; i++, network->count++)
        if (network->count == PLACES_MOST ||
            !read_link(arguments[i], &network->terms[network->count - 1]))
            return 0;
    return network->count > 1 && i + 1 < count ? i + 1 : 0;
}

/* ---- Processes ---- */

/* In the place of this number; it ends no later than this process. */
static pid_t fork_at(const struct network *network, unsigned number)
{
    sigset_t none;
    pid_t parent = getpid(), pid = fork();
    if (pid)
        return pid;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || setns(network->places[number].space, CLONE_NEWNET))
        _exit(EXIT_FAILURE);
    return 0;
}

static void start_master(const struct network *network, unsigned number)
{
    const char *server = getenv("REDLOCK_SERVER");
    server = server && *server ? server : "redis-server";
    if (fork_at(network, number))
        return;
    if (freopen("/dev/null", "w", stdout))
        execlp(server, server, "--bind", network->places[number].address, "--port", "6379",
               "--save", "", "--appendonly", "no", "--protected-mode", "no", (char *)NULL);
    fprintf(stderr, "bench-network: %s: %s\n", server, strerror(errno));
    _exit(EXIT_FAILURE);
}

/* Where it is, for its device would need the router. */
static int await_master(const struct network *network, unsigned number)
{
    pid_t pid = fork_at(network, number);
    int status = -1;
    if (pid) {
        waitpid(pid, &status, 0);
        return status;
    }
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(6379)};
    inet_pton(AF_INET, network->places[number].address, &in.sin_addr);
    for (int tried_ms = 0; tried_ms < READY_MS; tried_ms += 10) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (!connect(fd, (struct sockaddr *)&in, sizeof in))
            _exit(EXIT_SUCCESS);
        close(fd);
        poll(NULL, 0, 10);
    }
    _exit(EXIT_FAILURE);
}

static void set_nodes(const struct network *network)
{
    char nodes[PLACES_MOST * NODE_MOST] = "";
    for (unsigned i = 1; i < network->count; i++)
        snprintf(nodes + strlen(nodes), NODE_MOST, "%sredis://%s:6379", i > 1 ? "," : "",
                 network->places[i].address);
    setenv("REDLOCK_NODES", nodes, 1);
}

static void start_command(struct network *network, char **words)
{
    network->command = fork_at(network, 0);
    if (network->command)
        return;
    set_nodes(network);
    execvp(words[0], words);
    fprintf(stderr, "bench-network: %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

/* ---- The run ---- */

/* The command's status, or -1 while it runs. */
static int hear(const struct network *network, int signals)
{
    struct signalfd_siginfo info;
    int status, ended = -1;
    if (read(signals, &info, sizeof info) != sizeof info)
        return -1;
    if (info.ssi_signo != SIGCHLD)
        kill(network->command, (int)info.ssi_signo);
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == network->command)
            ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        else
            fprintf(stderr, "bench-network: a master ended\n");
    return ended;
}

static int route(const struct network *network, struct router *router, int signals)
{
    struct pollfd wanted[] = {{.fd = signals, .events = POLLIN},
                              {.fd = router_descriptor(router), .events = POLLIN}};
    for (;;) {
        poll(wanted, 2, -1);
        if (wanted[1].revents)
            router_turn(router);
        int ended = wanted[0].revents ? hear(network, signals) : -1;
        if (ended >= 0)
            return ended;
    }
}

static int signals_of(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static int run(struct network *network, char **words)
{
    const char *failed = namespaces_make(network->places, network->count);
    if (failed) {
        fprintf(stderr, "bench-network: no network here: %s: %s\n", failed, strerror(errno));
        return EXIT_NO_NETWORK;
    }
    struct router *router = router_make(network->places, network->count, network->terms);
    if (!router) {
        perror("bench-network");
        return EXIT_FAILURE;
    }
    for (unsigned i = 1; i < network->count; i++)
        start_master(network, i);
    for (unsigned i = 1; i < network->count; i++)
        if (await_master(network, i)) {
            fprintf(stderr, "bench-network: master %u did not start\n", i);
            return EXIT_FAILURE;
        }
    int signals = signals_of();
    start_command(network, words);
    return route(network, router, signals);
}

int main(int count, char **arguments)
{
    struct network network = {0};
    int begins = read_arguments(count, arguments, &network);
    bool asks = count == 2 && strcmp(arguments[1], "--help") == 0;
    if (!begins) {
        fputs(usage, asks ? stdout : stderr);
        return asks ? EXIT_SUCCESS : EXIT_WRONG;
    }
    prctl(PR_SET_TIMERSLACK, 1UL);
    return run(&network, arguments + begins);
}
