#include "record.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LINE_MOST 512

int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

bool record_open(struct record *record, const char *path)
{
    record->lines = 0;
    record->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    return record->fd >= 0;
}

static void put_line(struct record *record, const char *line, int length)
{
    if (write(record->fd, line, (size_t)length) != length) {
        perror("worker: the record");
        _exit(1);
    }
    record->lines++;
}

void record_put(struct record *record, int64_t at, const char *fact, ...)
{
    char line[LINE_MOST];
    va_list arguments;
    int length = snprintf(line, sizeof line, "%" PRId64 " ", at);
    va_start(arguments, fact);
    length += vsnprintf(line + length, sizeof line - (size_t)length, fact, arguments);
    va_end(arguments);
    if (length >= LINE_MOST - 1)
        length = LINE_MOST - 2;
    line[length++] = '\n';
    put_line(record, line, length);
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* the folder's own */
}

void record_usage(struct record *record)
{
    record_put(record, now_us(), "usage %ld %u", resident_kb(), open_descriptors());
}
