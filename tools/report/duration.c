#include "duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   INT64_C(3600000)

const char *duration_show(char buffer[DURATION_SIZE], int64_t ms)
{
    if (ms < 1000) {
        snprintf(buffer, DURATION_SIZE, "%" PRId64 " ms", ms);
    } else if (ms < MINUTE_MS) {
        snprintf(buffer, DURATION_SIZE, "%" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
    } else if (ms < HOUR_MS) {
        snprintf(buffer, DURATION_SIZE, "%" PRId64 " min %" PRId64 " s", ms / MINUTE_MS,
                 ms % MINUTE_MS / 1000);
    } else {
        snprintf(buffer, DURATION_SIZE, "%" PRId64 " h %" PRId64 " min", ms / HOUR_MS,
                 ms % HOUR_MS / MINUTE_MS);
    }
    return buffer;
}

const char *now_show(char buffer[NOW_SIZE])
{
    struct tm parts;
    time_t seconds = time(NULL);
    if (!localtime_r(&seconds, &parts) || !strftime(buffer, NOW_SIZE, "%H:%M:%S ", &parts))
        buffer[0] = '\0';
    return buffer;
}

int64_t boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
