/* Many processes read a file, and one refreshes it when it is a second old.  The masters:
 * REDLOCK_NODES; the file: the first argument.  A reader holds the name shared, so readers do not
 * wait for each other.  A writer holds it alone, so nobody reads a half-written file.  Then the
 * writer becomes a reader, to show the new content while the others read. */
#include <err.h>
#include <redlock.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

/* One step of work takes less than this, so none is begun with less validity. */
#define STEP_MS 200

static bool is_fresh(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && is.st_size > 0 && time(NULL) - is.st_mtime < 2;
}

static bool show(const char *path)
{
    char line[80] = "";
    FILE *file = fopen(path, "r");
    bool read = file && fgets(line, sizeof line, file);
    printf("%s", read ? line : "nothing\n");
    if (file)
        fclose(file);
    return read;
}

static bool refresh(const char *path)
{
    FILE *file = fopen(path, "w");
    bool written = file && fprintf(file, "made at %lld\n", (long long)time(NULL)) > 0;
    return file && fclose(file) == 0 && written;
}

static redlock_sync_lease *take(redlock_sync *client, redlock_mode mode)
{
    redlock_sync_lease *lease;
    redlock_lease_options options = {.size = sizeof options, .wait_ms = 30000, .mode = mode};
    redlock_sync_result result = {.size = sizeof result};
    if (redlock_sync_acquire(client, &lease, "cache", &options, &result) == REDLOCK_OK &&
        redlock_sync_lease_valid_for(lease) > STEP_MS)
        return lease;
    fprintf(stderr, "%s\n%s", result.text, result.votes);
    redlock_sync_lease_free(lease);
    return NULL;
}

static void give_back(redlock_sync_lease *lease)
{
    redlock_sync_lease_release(lease, NULL);
    redlock_sync_lease_free(lease);
}

/* Another process may have refreshed the file while this one waited to write. */
static bool write_and_read(redlock_sync_lease *lease, const char *path)
{
    if (!is_fresh(path) && (redlock_sync_lease_exclusive_for(lease) <= STEP_MS || !refresh(path)))
        return false;
    return redlock_sync_lease_downgrade(lease, NULL) == REDLOCK_OK &&
           redlock_sync_lease_valid_for(lease) > STEP_MS && show(path);
}

static bool use(redlock_sync *client, const char *path)
{
    redlock_sync_lease *lease = take(client, REDLOCK_SHARED);
    if (!lease)
        return false;
    bool fresh = is_fresh(path), done = fresh && show(path);
    give_back(lease);
    if (fresh)
        return done;
    lease = take(client, REDLOCK_EXCLUSIVE);
    if (!lease)
        return false;
    done = write_and_read(lease, path);
    give_back(lease);
    return done;
}

int main(int argc, char **argv)
{
    char why[256];
    redlock_sync *client;
    if (argc != 2 || redlock_sync_open(&client, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", argc == 2 ? why : "usage: cache FILE");
    bool done = use(client, argv[1]);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return !done;
}
