#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CGROUP2_MAGIC 0x63677270

/* Where version 2 is: alone, or beside version 1.  NULL: nowhere. */
static const char *mount_point(void)
{
    static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    struct statfs facts;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (statfs(places[i], &facts) == 0 && facts.f_type == CGROUP2_MAGIC)
            return places[i];
    return NULL;
}

/* Fills the path of our own cgroup, below the mount point: "/" is its root. */
static bool read_own(char *path, int size)
{
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(path, size, file))
        found = strncmp(path, "0::/", 4) == 0;
    if (file)
        fclose(file);
    if (!found)
        return false;
    path[strcspn(path, "\n")] = '\0';
    memmove(path, path + 3, strlen(path + 3) + 1);
    return strncmp(path, "/..", 3) != 0;
}

static bool is_delegated(const char *path)
{
    char value = '0';
    return (getxattr(path, "user.delegate", &value, 1) == 1 && value == '1') ||
           (getxattr(path, "trusted.delegate", &value, 1) == 1 && value == '1');
}

/* A folder that an earlier process with our pid left is empty. */
static bool make_folder(const char *path)
{
    return mkdir(path, 0755) == 0 ||
           (errno == EEXIST && rmdir(path) == 0 && mkdir(path, 0755) == 0);
}

static bool find_path(char *path, size_t size)
{
    char own[PATH_MAX];
    const char *mount = mount_point();
    if (!mount || !read_own(own, sizeof(own)))
        return false;
    int length = snprintf(path, size, "%s%s", mount, own);
    if (length < 0 || (size_t)length >= size || (own[1] != '\0' && !is_delegated(path)))
        return false;
    int more = snprintf(path + length, size - (size_t)length, "%sredlock-%d",
                        own[1] != '\0' ? "/" : "", (int)getpid());
    return more > 0 && (size_t)more < size - (size_t)length;
}

void cgroup_make(struct cgroup *cgroup)
{
    cgroup->folder = -1;
    if (!find_path(cgroup->path, sizeof(cgroup->path)) || !make_folder(cgroup->path))
        return;
    cgroup->folder = open(cgroup->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (cgroup->folder < 0)
        rmdir(cgroup->path);
    else if (faccessat(cgroup->folder, "cgroup.kill", W_OK, 0) < 0) /* before Linux 5.14 */
        cgroup_remove(cgroup);
}

void cgroup_kill(const struct cgroup *cgroup)
{
    int file =
        cgroup->folder < 0 ? -1 : openat(cgroup->folder, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t told = write(file, "1", 1);
    (void)told;
    close(file);
}

void cgroup_remove(struct cgroup *cgroup)
{
    if (cgroup->folder >= 0) {
        close(cgroup->folder);
        rmdir(cgroup->path);
    }
    cgroup->folder = -1;
}
