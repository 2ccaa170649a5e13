/*
 * turns.c - readers and writers want one name. Measures the time from a writer's release to each
 * reader that waited, and from the last reader's release to the writer.
 */
#include <stdlib.h>

#include "crowd.h"

/* The readers between two writers. */
struct reading {
    uint64_t readers;
    int64_t begun, ended, held; /* the first acquired; the last released; all together */
};

struct turns {
    struct crowd crowd;
    struct histogram to_reader, to_writer, writer_wait;
    uint64_t holdings, overlaps, readings, readers;
    int64_t read, held; /* ns: at least one reader had it; all together */
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void count_reader(struct turns *turns, struct reading *reading, const struct holding *reader,
                         int64_t written)
{
    turns->overlaps += reader->acquired < written;
    if (reader->asked < written)
        histogram_add(&turns->to_reader, reader->acquired - written);
    if (!reading->readers++)
        reading->begun = reader->acquired;
    reading->ended = later(reading->ended, reader->released);
    reading->held += reader->released - reader->acquired;
}

static void count_writer(struct turns *turns, const struct reading *reading,
                         const struct holding *writer, int64_t written)
{
    turns->overlaps += writer->acquired < later(reading->ended, written);
    histogram_add(&turns->writer_wait, writer->acquired - writer->asked);
    if (!reading->readers)
        return;
    if (writer->asked < reading->ended)
        histogram_add(&turns->to_writer, writer->acquired - reading->ended);
    turns->readings++;
    turns->readers += reading->readers;
    turns->read += reading->ended - reading->begun;
    turns->held += reading->held;
}

/* `written`: when the last writer released. */
static void measure(struct turns *turns)
{
    struct reading reading = {0};
    int64_t written = 0;
    for (size_t i = 0; i < turns->crowd.count; i++) {
        const struct holding *holding = &turns->crowd.holdings[i];
        if (!crowd_saw(&turns->crowd, holding))
            continue;
        turns->holdings++;
        if (holding->worker < turns->crowd.options->readers) {
            count_reader(turns, &reading, holding, written);
            continue;
        }
        count_writer(turns, &reading, holding, written);
        reading = (struct reading){0};
        written = holding->released;
    }
}

static void tell(const struct turns *turns, struct result *result)
{
    const struct options *options = turns->crowd.options;
    double holdings = turns->holdings ? (double)turns->holdings : 1;
    result->pairs = turns->holdings;
    result_fact(result, "writers", options->workers - options->readers);
    result_fact(result, "readers", options->readers);
    result_fact(result, "hold_ms", options->hold_ms);
    result_fact(result, "to_reader_p50_us", (double)histogram_at(&turns->to_reader, 0.5) / 1e3);
    result_fact(result, "to_reader_p99_us", (double)histogram_at(&turns->to_reader, 0.99) / 1e3);
    result_fact(result, "to_writer_p50_us", (double)histogram_at(&turns->to_writer, 0.5) / 1e3);
    result_fact(result, "to_writer_p99_us", (double)histogram_at(&turns->to_writer, 0.99) / 1e3);
    result_fact(result, "writer_wait_p50_us", (double)histogram_at(&turns->writer_wait, 0.5) / 1e3);
    result_fact(result, "writer_wait_max_us", (double)turns->writer_wait.max / 1e3);
    result_fact(result, "commands_per_holding", (double)turns->crowd.commands / holdings);
    result_fact(result, "overlaps", (double)turns->overlaps);
    if (turns->readings) {
        result_fact(result, "turns_of_readers", (double)turns->readings);
        result_fact(result, "readers_per_turn", (double)turns->readers / (double)turns->readings);
        result_fact(result, "readers_at_once", (double)turns->held / (double)turns->read);
    } else {
        result_note(result, "readers and writers did not take turns in %.0f s", result->seconds);
    }
    if (turns->overlaps)
        result_note(result, "%llu times a writer had it beside another",
                    (unsigned long long)turns->overlaps);
}

static void *open_turns(const struct options *options, const struct cluster *cluster,
                        struct ev_loop *loop, struct result *result)
{
    struct turns *turns = calloc(1, sizeof *turns);
    (void)loop, (void)result;
    turns->crowd = (struct crowd){.work = turn_run, .options = options, .cluster = cluster};
    return turns;
}

static void run_turns(void *self, double warm, double seconds, struct result *result)
{
    struct turns *turns = self;
    *turns = (struct turns){.crowd = turns->crowd};
    crowd_run(&turns->crowd, warm, seconds, result);
    measure(turns);
    tell(turns, result);
}

static void close_turns(void *self)
{
    struct turns *turns = self;
    crowd_free(&turns->crowd);
    free(turns);
}

const struct scenario turns_scenario = {
    .name = "turns",
    .summary = "one name that --readers of --workers share: writer, readers, writer",
    .open = open_turns,
    .run = run_turns,
    .close = close_turns};
