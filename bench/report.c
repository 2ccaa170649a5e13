/*
 * report.c - writes a result as JSON for programs, or as a few lines for people.
 */
#include <stdio.h>

#include "result.h"

static const struct {
    const char *name;
    double share;
} marks[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

#define MARKS (sizeof marks / sizeof marks[0])

static double per_pair_us(double seconds, uint64_t pairs)
{
    return pairs ? seconds * 1e6 / (double)pairs : 0;
}

static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    putchar('"');
}

static void print_marks(const char *name, const struct histogram *histogram)
{
    printf(",\"%s_us\":{", name);
    for (unsigned i = 0; i < MARKS; i++)
        printf("%s\"%s\":%.3f", i ? "," : "", marks[i].name,
               (double)histogram_at(histogram, marks[i].share) / 1e3);
    putchar('}');
}

static void print_buckets(const char *name, const struct histogram *histogram)
{
    bool any = false;
    printf(",\"%s_histogram_ns\":[", name);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (histogram->buckets[i]) {
            printf("%s[%lld,%llu]", any ? "," : "", (long long)histogram_floor(i),
                   (unsigned long long)histogram->buckets[i]);
            any = true;
        }
    putchar(']');
}

static void report_json(const struct options *options, const struct result *result,
                        unsigned masters)
{
    printf("{\"scenario\":");
    print_string(options->scenario);
    printf(",\"masters\":%u,\"c\":%u,\"rate\":%.3f,\"ttl_ms\":%lld,\"names\":%u,\"name_size\":%u",
           masters, options->concurrency, options->rate, (long long)options->ttl_ms, options->names,
           options->name_size);
    printf(",\"seconds\":%.6f,\"pairs\":%llu,\"failed\":%llu,\"pairs_per_s\":%.1f", result->seconds,
           (unsigned long long)result->pairs, (unsigned long long)result->failed,
           result->seconds > 0 ? (double)result->pairs / result->seconds : 0);
    printf(",\"cpu_us_per_pair\":%.3f,\"user_us_per_pair\":%.3f,\"system_us_per_pair\":%.3f",
           per_pair_us(result->user + result->system, result->pairs),
           per_pair_us(result->user, result->pairs), per_pair_us(result->system, result->pairs));
    for (unsigned i = 0; i < result->fact_count; i++)
        printf(",\"%s\":%.6g", result->facts[i].name, result->facts[i].value);
    print_marks("acquire", &result->acquire);
    print_marks("release", &result->release);
    printf(",\"note\":");
    print_string(result->note);
    print_buckets("acquire", &result->acquire);
    print_buckets("release", &result->release);
    printf("}\n");
}

static void say_marks(const char *name, const struct histogram *histogram)
{
    if (!histogram->count)
        return;
    printf("  %-8s", name);
    for (unsigned i = 0; i < MARKS; i++)
        printf("  %s %.1f", marks[i].name, (double)histogram_at(histogram, marks[i].share) / 1e3);
    printf("  us\n");
}

static void report_text(const struct options *options, const struct result *result,
                        unsigned masters)
{
    printf("%s: %u masters, ", options->scenario, masters);
    if (options->rate > 0)
        printf("open loop at %.0f pairs/s\n", options->rate);
    else
        printf("%u in flight\n", options->concurrency);
    if (result->pairs)
        printf("  %llu pairs in %.2f s: %.0f pairs/s, %llu failed\n",
               (unsigned long long)result->pairs, result->seconds,
               (double)result->pairs / result->seconds, (unsigned long long)result->failed);
    else if (result->failed)
        printf("  no pair succeeded, %llu failed\n", (unsigned long long)result->failed);
    say_marks("acquire", &result->acquire);
    say_marks("release", &result->release);
    if (result->pairs)
        printf("  client CPU a pair: %.2f us user, %.2f us system\n",
               per_pair_us(result->user, result->pairs),
               per_pair_us(result->system, result->pairs));
    for (unsigned i = 0; i < result->fact_count; i++)
        printf("  %s: %.6g\n", result->facts[i].name, result->facts[i].value);
    if (result->note[0])
        printf("  note: %s\n", result->note);
}

void report(const struct options *options, const struct result *result, unsigned masters)
{
    if (options->json || options->slices)
        report_json(options, result, masters);
    else
        report_text(options, result, masters);
    fflush(stdout);
}
