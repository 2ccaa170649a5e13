#include "syscalls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEW                                                                                        \
    200 /* pairs of the shorter run; the difference of the two runs has no start or end in it */

#define WORDS_MAX 128

/* Adds words, up to a NULL, to a command that ends with one. */
static void add_words(char *command[WORDS_MAX], char *const *words)
{
    unsigned at = 0;
    while (command[at])
        at++;
    for (; *words && at < WORDS_MAX - 1; at++, words++)
        command[at] = *words;
    command[at] = NULL;
}

/* Our own command line again; of an option given twice the last counts. */
static void run_traced(const struct options *options, const struct cluster *cluster, char *output,
                       uint64_t pairs)
{
    char self[512], limit[24], *command[WORDS_MAX] = {NULL};
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    setenv("REDLOCK_NODES", cluster->nodes, 1); /* not an argument: it has passwords in it */
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)pairs);
    add_words(command, (char *[]){"strace", "-f", "-c", "-o", output, self, NULL});
    add_words(command, options->command + 1);
    add_words(command, (char *[]){"--pairs", limit, "--json", "--no-syscalls", NULL});
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execvp(command[0], command);
    _exit(127);
}

/* The line `100.00 seconds usecs/call CALLS [errors] total` of strace -c. */
static double read_total(const char *path)
{
    char line[200];
    double calls = -1;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long count;
        if (strstr(line, " total") && sscanf(line, "%*f %*f %*f %llu", &count) == 1)
            calls = (double)count;
    }
    if (file)
        fclose(file);
    return calls;
}

static double count_calls(const struct options *options, const struct cluster *cluster,
                          uint64_t pairs)
{
    char output[] = "/tmp/redlock-bench-strace.XXXXXX";
    int file = mkstemp(output), status;
    if (file < 0)
        return -1;
    close(file);
    pid_t pid = fork();
    if (pid == 0)
        run_traced(options, cluster, output, pairs);
    double calls = -1;
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        calls = read_total(output);
    unlink(output);
    return calls;
}

double syscalls_per_pair(const struct options *options, const struct cluster *cluster)
{
    uint64_t few = FEW + (uint64_t)options->concurrency * 10, many = 3 * few;
    double one = count_calls(options, cluster, few);
    double other = one < 0 ? -1 : count_calls(options, cluster, many);
    return one < 0 || other < 0 ? -1 : (other - one) / (double)(many - few);
}
