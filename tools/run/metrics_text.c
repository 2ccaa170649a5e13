#include "metrics_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"

#define VALUE_MOST 128 /* bytes of a label: a name may have 1 KiB */

static const char end_mark[] = "# EOF\n";

/* ---- labels ------------------------------------------------------------- */

/* The collector refuses a file with a byte that is no UTF-8. */
static void add_label(struct text *labels, const char *name, const char *bytes, size_t length)
{
    struct text shown = {0};
    size_t most = utf8_cut(bytes, length, VALUE_MOST);
    text_shown(&shown, bytes, most);
    text_format(labels, "%s%s=\"", labels->length > 0 ? "," : "", name);
    for (size_t i = 0; i < shown.length; i++) {
        if (shown.bytes[i] == '"' || shown.bytes[i] == '\\')
            text_add(labels, "\\", 1);
        text_add(labels, shown.bytes + i, 1);
    }
    text_format(labels, "%s\"", most < length ? "..." : "");
    text_free(&shown);
}

/* The files of one machine are read together, and no two may have a sample with the same labels. */
static void add_labels(struct text *labels, const struct options *options)
{
    add_label(labels, "lock", options->names[0].bytes, options->names[0].length);
    const char *label = options->text[SETTING_LABEL];
    if (label)
        add_label(labels, "label", label, strlen(label));
}

/* A sample is a name, its labels in braces if it has any, a space and a value; no name has a brace
 * or a space. */
static void add_sample(struct text *out, const char *line, size_t length, const struct text *labels)
{
    size_t name = strcspn(line, "{ ");
    bool has_labels = line[name] == '{';
    text_add(out, line, name);
    text_format(out, "{%s%s", labels->bytes, has_labels ? "," : "}");
    name += has_labels;
    text_add(out, line + name, length - name);
}

/* node_exporter reads the older format, in which the head of a counter has the name of its sample.
 */
static void add_head(struct text *out, const char *line, size_t length, bool *of_counter)
{
    static const char type[] = "# TYPE ", help[] = "# HELP ";
    size_t begin = sizeof type - 1, end = begin + strcspn(line + begin, " \n");
    bool is_type = strncmp(line, type, begin) == 0;
    if (is_type)
        *of_counter = strncmp(line + end, " counter\n", 9) == 0;
    bool is_longer = *of_counter && (is_type || strncmp(line, help, begin) == 0);
    text_add(out, line, is_longer ? end : length);
    if (is_longer)
        text_format(out, "_total%.*s", (int)(length - end), line + end);
}

/* The file stays when the command has ended: what it last saw of the masters is not so any more. */
static bool is_outdated(const char *line, bool ended)
{
    static const char of_masters[] = "redlock_master_";
    return ended && strncmp(line, of_masters, sizeof of_masters - 1) == 0;
}

static void add_labelled(struct text *out, const struct text *page, const struct text *labels,
                         bool ended)
{
    bool of_counter = false;
    for (const char *line = page->bytes; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (*line == '#')
            add_head(out, line, length, &of_counter);
        else if (!is_outdated(line, ended))
            add_sample(out, line, length, labels);
        line += length;
    }
}

/* ---- metrics ------------------------------------------------------------ */

/* The text of the library, without its end. */
static void add_client(struct text *page, const redlock *client)
{
    size_t size = redlock_stats_text(client, NULL, 0) + 64; /* for what is longer a moment later */
    char *text = memory_or_end(malloc(size));
    redlock_stats_text(client, text, size);
    text_format(page, "%s", text);
    page->length -= strlen(end_mark);
    free(text);
}

static void add_run(struct text *page, const struct session *session, bool ended)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    text_format(page,
                "# TYPE redlock_run_written_timestamp_seconds gauge\n"
                "# UNIT redlock_run_written_timestamp_seconds seconds\n"
                "# HELP redlock_run_written_timestamp_seconds when this was written.\n"
                "redlock_run_written_timestamp_seconds %lld.%03ld\n",
                (long long)now.tv_sec, now.tv_nsec / 1000000);
    text_format(page, "# TYPE redlock_run_exit_status gauge\n"
                      "# HELP redlock_run_exit_status exit status, once it has ended.\n");
    if (ended)
        text_format(page, "redlock_run_exit_status %d\n", session->status);
}

void metrics_text(struct text *out, const struct session *session, bool ended)
{
    struct text page = {0}, labels = {0};
    add_labels(&labels, session->options);
    add_client(&page, session->client);
    add_run(&page, session, ended);
    text_format(&page, "%s", end_mark);
    add_labelled(out, &page, &labels, ended);
    text_free(&page);
    text_free(&labels);
}
