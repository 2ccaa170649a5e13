#include "proc.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOWEST 64

/* As the kernel writes it; opendir() would allocate. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* -1: the name is no number. */
static int number_of(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    return end > name && *end == '\0' && number >= 0 && number <= INT32_MAX ? (int)number : -1;
}

static void look_at_entries(const char *bytes, size_t count, void (*seen)(void *data, int number),
                            void *data)
{
    for (size_t at = 0; at < count;) {
        const struct entry *entry = (const void *)(bytes + at);
        int number = number_of(entry->name);
        if (number >= 0)
            seen(data, number);
        at += entry->length;
    }
}

static void each(int list, void (*seen)(void *data, int number), void *data)
{
    _Alignas(struct entry) char bytes[8192];
    long count;
    while ((count = syscall(SYS_getdents64, list, bytes, sizeof(bytes))) > 0)
        look_at_entries(bytes, (size_t)count, seen, data);
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool proc_is_ours(void)
{
    char target[16];
    ssize_t length = readlink("/proc/self", target, sizeof(target) - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    return number_of(target) == getpid();
}

void proc_each(const char *folder, void (*seen)(void *data, int number), void *data)
{
    int list = open_folder(folder);
    if (list < 0)
        return;
    each(list, seen, data);
    close(list);
}

struct kept {
    const int *descriptors;
    int count;
    int list; /* being read */
};

static void close_one(void *data, int number)
{
    const struct kept *kept = data;
    bool keep = number == kept->list;
    for (int i = 0; i < kept->count; i++)
        keep |= number == kept->descriptors[i];
    if (!keep)
        close(number);
}

/* The lowest ones without looking: there is room to look for the rest then, and /proc may be
 * missing. */
void proc_close_all_but(const int *descriptors, int count)
{
    struct kept kept = {descriptors, count, -1};
    for (int number = 0; number < LOWEST; number++)
        close_one(&kept, number);
    kept.list = open_folder("/proc/self/fd");
    if (kept.list < 0)
        return;
    each(kept.list, close_one, &kept);
    close(kept.list);
}

/* The beginning of the file, as a string; false if it cannot be read. */
static bool read_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, size - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* As proc(5) counts them. */
#define GROUP_FIELD   5
#define THREADS_FIELD 20

/* A main thread that has ended is shown as a zombie, though others of its process go on. */
static bool runs(char state, char *behind_group)
{
    char *at = behind_group;
    long threads = 0;
    for (int field = GROUP_FIELD; field < THREADS_FIELD; field++)
        threads = strtol(at, &at, 10);
    return (state != 'Z' && state != 'X') || threads > 1;
}

bool proc_facts(pid_t pid, struct proc_facts *facts)
{
    char path[32], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (!read_file(path, text, sizeof(text)))
        return false;
    /* "12 (name) S parent group ...", where the name may have anything in it. */
    char *at = strrchr(text, ')');
    if (!at || strlen(at) < 4)
        return false;
    char state = at[2];
    facts->parent = (pid_t)strtol(at + 3, &at, 10);
    facts->group = (pid_t)strtol(at, &at, 10);
    facts->runs = runs(state, at);
    return true;
}
