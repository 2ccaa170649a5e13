#define _GNU_SOURCE /* explicit_bzero; NOLINT(bugprone-reserved-identifier) */

#include "nodes_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_MAX 65536

/* -1 on failure, which errno tells: ESPIPE if it is no plain file. */
static int open_list(const char *path, bool again)
{
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (again ? O_NONBLOCK : 0));
    if (fd < 0 || !again || (fstat(fd, &file) == 0 && S_ISREG(file.st_mode)))
        return fd;
    close(fd);
    errno = ESPIPE;
    return -1;
}

/* False on failure, which errno tells. */
static bool fill(int fd, char *list, size_t *length)
{
    *length = 0;
    while (*length < LIST_MAX) {
        ssize_t got = read(fd, list + *length, LIST_MAX - *length);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        *length += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static const char *complaint(bool filled, const char *list, size_t length)
{
    if (!filled)
        return errno == ESPIPE ? "it is no plain file, so it was read once" : strerror(errno);
    if (length == LIST_MAX)
        return "it is too long for a list of masters";
    if (strlen(list) != length)
        return "it has a zero byte in it, so it is no list of masters";
    return length == 0 ? "it is empty: write the masters into it, one a line" : NULL;
}

/* A comment goes from a '#' that begins a word to the end of its line. */
static void drop_comments(char *list)
{
    for (char *at = list; *at;) {
        bool begins = at == list || at[-1] == ',' || isspace((unsigned char)at[-1]);
        size_t comment = begins && *at == '#' ? strcspn(at, "\n") : 0;
        memset(at, ' ', comment);
        at += comment ? comment : 1;
    }
}

char *nodes_file_read(const char *path, bool again, char *why, size_t why_size)
{
    size_t length = 0;
    char *list = calloc(1, LIST_MAX + 1);
    int fd = open_list(path, again);
    bool filled = list && fd >= 0 && fill(fd, list, &length);
    int error = !list ? ENOMEM : filled ? 0 : errno;
    const char *what = list ? complaint(filled, list, length) : "out of memory";
    if (what)
        snprintf(why, why_size, "the list of masters cannot be read from %s: %s", path, what);
    if (fd >= 0)
        close(fd);
    if (!what) {
        drop_comments(list);
        return list;
    }
    nodes_file_free(list);
    errno = error;
    return NULL;
}

void nodes_file_free(char *list)
{
    if (list)
        explicit_bzero(list, LIST_MAX);
    free(list);
}
