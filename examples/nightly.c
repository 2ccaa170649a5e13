/* A job of the night, which cron starts on each host: one host does it, and if it fails the next
 * one tries.  The argument says what is done once, such as the day: nightly "$(date +%F)".  The
 * masters: REDLOCK_NODES. */
#include <err.h>
#include <redlock.h>
#include <redlock/recipes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOURS   (3600 * INT64_C(1000)) /* ms */
#define STEP_MS 200                    /* a step takes less, so none is begun with less validity */

static bool write_report(const redlock_sync_lease *lease)
{
    for (int part = 1; part <= 3; part++) {
        if (redlock_sync_lease_valid_for(lease) <= STEP_MS)
            return false;
        printf("part %d of the report\n", part);
    }
    return true;
}

/* The note says who did it, and when.  It has no spaces. */
static const char *sign(char *note, size_t size)
{
    char host[32] = "", when[24] = "";
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(note, size, "%s@%s", host, when);
    return note;
}

/* The report is written.  Without its record the next host writes it again. */
static int record_report(redlock_sync_lease *lease, const char *key)
{
    char note[REDLOCK_LATCH_ID_SIZE];
    redlock_once_options options = {.size = sizeof options, .key = key, .life_ms = 36 * HOURS};
    redlock_latch_result record = {.size = sizeof record};
    redlock_sync_result result = {.size = sizeof result};
    options.note = sign(note, sizeof note);
    if (redlock_sync_once_record(lease, &options, &record, &result) == REDLOCK_OK)
        return 0;
    warnx("it is done, and %s: %s", record.undecided ? "perhaps recorded" : "not recorded",
          result.text);
    return 2;
}

static int do_once(redlock_sync_lease *lease, const char *key)
{
    redlock_once_options options = {.size = sizeof options, .key = key};
    redlock_latch_result record = {.size = sizeof record};
    redlock_sync_result result = {.size = sizeof result};
    if (redlock_sync_once_look(lease, &options, &record, &result) != REDLOCK_OK) {
        warnx("it is not known whether it was done: %s", result.text);
        return 1;
    }
    if (record.open) {
        printf("done by %s\n", record.who);
        return 0;
    }
    return write_report(lease) ? record_report(lease, key) : 1;
}

/* Another host may be at it: this one waits, to take over if that one fails. */
static int work(redlock_sync *client, const char *key)
{
    redlock_sync_lease *lease;
    redlock_lease_options options = {.size = sizeof options, .wait_ms = 1 * HOURS};
    redlock_sync_result result = {.size = sizeof result};
    if (redlock_sync_acquire(client, &lease, "nightly", &options, &result) != REDLOCK_OK) {
        warnx("%s\n%s", result.text, result.votes);
        return 1;
    }
    int status = do_once(lease, key);
    redlock_sync_lease_release(lease, NULL);
    redlock_sync_lease_free(lease);
    return status;
}

int main(int argc, char **argv)
{
    char why[256];
    redlock_sync *client;
    if (argc != 2 || redlock_sync_open(&client, NULL, why, sizeof why) != REDLOCK_OK)
        errx(1, "%s", argc == 2 ? why : "usage: nightly KEY");
    int status = work(client, argv[1]);
    redlock_sync_close(client, 1000);
    redlock_sync_free(client);
    return status;
}
