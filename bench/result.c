#include "result.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void result_clear(struct result *result)
{
    memset(result, 0, sizeof *result);
}

void result_fact(struct result *result, const char *name, double value)
{
    if (result->fact_count < FACTS_MAX)
        result->facts[result->fact_count++] = (struct fact){name, value};
}

void result_note(struct result *result, const char *format, ...)
{
    if (result->note[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->note, sizeof result->note, format, arguments);
    va_end(arguments);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void usage_of(int whose, double *user, double *system)
{
    struct rusage usage;
    getrusage(whose, &usage);
    *user = seconds_of(usage.ru_utime);
    *system = seconds_of(usage.ru_stime);
}

void usage_now(double *user, double *system)
{
    usage_of(RUSAGE_SELF, user, system);
}

void usage_of_children(double *user, double *system)
{
    usage_of(RUSAGE_CHILDREN, user, system);
}

size_t bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int64_t bytes_resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
