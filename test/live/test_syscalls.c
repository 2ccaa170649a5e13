/*
 * A quiet acquire costs at most three system calls for each master: a write, a read, and a
 * wait.  Counted by strace, as the difference between a long run and a short one, so that
 * start and end do not count.
 * rule: C3
 */
#include "fixture.h"
#include "user.h"

#include <unistd.h>

#define SHORT 100
#define LONG  600

static char self[256];

/* ---- The program that is counted: acquires, one after the other, and nothing else ---- */

static unsigned wanted;
static redlock *driven;

static void next_one(redlock_lease *lease, const redlock_event *event, void *data)
{
    (void)lease, (void)data;
    if (event->kind != REDLOCK_ACQUIRED)
        _exit(5);
    if (wanted-- == 0)
        _exit(0); /* the keys expire, or the masters end */
    char name[32];
    redlock_lease_options terms = lease_terms(30000, 0);
    terms.no_renew = true;
    snprintf(name, sizeof name, "%ld %u", (long)getpid(), wanted);
    if (redlock_acquire(driven, &lease, name, &terms, next_one, NULL))
        _exit(2);
}

static void ready(redlock *client, redlock_code code, const char *text, void *data)
{
    (void)client, (void)text, (void)data;
    if (code)
        _exit(3);
    next_one(NULL, &(redlock_event){.kind = REDLOCK_ACQUIRED}, NULL);
}

static int drive(const char *count)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.on_ready = ready;
    options.request_timeout_ms = 5000; /* tracing is slow */
    wanted = (unsigned)atoi(count);
    if (redlock_open(&driven, ev_default_loop(0), &options, NULL, 0))
        return 1;
    ev_run(ev_default_loop(0), 0);
    return 4;
}

/* ---- Counting ---- */

/* The last line of strace -c: "100.00  0.001  2  1234  12 total". */
static long calls(unsigned acquires, bool print)
{
    char command[600], line[200];
    long total = -1, count;
    snprintf(command, sizeof command, "strace -f -c -o /dev/fd/3 %s %u 3>&1 >/dev/null 2>&1", self,
             acquires);
    setenv("REDLOCK_NODES", cluster.nodes, 1);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe)) {
        if (print && (strstr(line, "send") || strstr(line, "read\n") || strstr(line, "epoll")))
            print_message("    %s", line);
        if (strstr(line, "total") && sscanf(line, "%*s %*s %*s %ld", &count) == 1)
            total = count;
    }
    return pclose(pipe) == 0 ? total : -1;
}

static double calls_each(void)
{
    long few = calls(SHORT, false), many = calls(LONG, true);
    assert_true(few > 0 && many > few);
    return (double)(many - few) / (LONG - SHORT) / cluster.count;
}

/* The best of some tries: answers that come apart, on a busy machine, are read one by one. */
CASE(test_quiet_acquire)
{
    if (system("strace -o /dev/null true >/dev/null 2>&1") != 0) {
        print_message("    SKIPPED: strace is not there, or may not trace\n");
        skip();
    }
    double each = calls_each();
    for (unsigned tries = 1; tries < 8 && each > 3.0; tries++)
        each = calls_each();
    print_message("    %.2f system calls for each acquire and master\n", each);
    assert_true(each <= 3.0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return drive(argv[1]);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    return RUN_WITH(.masters = 5);
}
