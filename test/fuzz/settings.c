/*
 * settings.c - any bytes as a file of settings: what is read is in its range, and what is refused
 * leaves a sentence.
 */
#define _GNU_SOURCE /* memfd_create; NOLINT(bugprone-reserved-identifier) */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "settings.h"

static void want(bool holds)
{
    if (!holds)
        abort();
}

static void see_settings(const struct settings *settings)
{
    want(settings->number[SETTING_SPARE] >= 0 &&
         settings->number[SETTING_SPARE] < SETTINGS_MASTERS_MAX);
    want(settings->number[SETTING_MAX_TTL] >= 0 &&
         settings->number[SETTING_MAX_TTL] <= INT64_C(24) * 3600 * 1000);
    want(settings->masters <= SETTINGS_MASTERS_MAX);
    for (int i = 0; i < SETTINGS; i++)
        want(!settings->value[i] || (settings->line[i] > 0 && strlen(settings->value[i]) < 65536));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64], why[256] = "";
    struct settings settings;
    if (fd < 0)
        fd = memfd_create("settings", 0);
    want(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum settings_result result = settings_read(&settings, path, why, sizeof why);
    if (result == SETTINGS_READ)
        see_settings(&settings);
    else
        want(result == SETTINGS_WRONG && strstr(why, path));
    settings_free(&settings);
    return 0;
}
