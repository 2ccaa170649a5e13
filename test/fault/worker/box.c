#include "box.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_MOST 4096

static const char *path_of(const struct box *box, const char *token, char path[static PATH_MOST])
{
    snprintf(path, PATH_MOST, "%s/%s", box->folder, token);
    return path;
}

void box_put(const struct box *box, const char *token)
{
    char path[PATH_MOST];
    int fd = open(path_of(box, token, path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    close(fd);
}

bool box_take(const struct box *box, char token[static REDLOCK_TOKEN_SIZE])
{
    char path[PATH_MOST];
    bool taken = false;
    DIR *folder = opendir(box->folder);
    if (!folder)
        return false;
    for (struct dirent *entry; !taken && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && unlink(path_of(box, entry->d_name, path)) == 0) {
            snprintf(token, REDLOCK_TOKEN_SIZE, "%.*s", REDLOCK_TOKEN_SIZE - 1, entry->d_name);
            taken = true;
        }
    closedir(folder);
    return taken;
}
