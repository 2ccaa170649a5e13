#include "ground/told_list.h"

#define NUMBER_MOST (INT64_C(1) << 53)

/* Takes all before `end` off the front, or the rest of the text, and `end`. */
static void take_until(struct slice *text, char end, struct slice *word)
{
    const char *found = text->length ? memchr(text->bytes, end, text->length) : NULL;
    size_t length = found ? (size_t)(found - text->bytes) : text->length;
    size_t taken = length + (found != NULL);
    *word = (struct slice){text->bytes, length};
    *text = (struct slice){taken ? text->bytes + taken : text->bytes, text->length - taken};
}

/* Takes the first word of the line, which is to be one. */
static bool take_number(struct slice *line, int64_t least, int64_t most, int64_t *number)
{
    const char *bytes = line->bytes;
    bool negative = line->length && bytes[0] == '-', is_number = true;
    size_t at = negative, end = line->length;
    int64_t value = 0;
    for (; at < end && bytes[at] != ' '; at++) {
        is_number = is_number && bytes[at] >= '0' && bytes[at] <= '9' && value <= NUMBER_MOST;
        value = is_number ? value * 10 + (bytes[at] - '0') : value;
    }
    size_t taken = at + (at < end);
    *line = (struct slice){taken ? bytes + taken : bytes, end - taken};
    *number = negative ? -value : value;
    return is_number && at > negative && *number >= least && *number <= most;
}

static bool take_count(struct slice *line, int64_t most, unsigned *count)
{
    int64_t number;
    bool taken = take_number(line, 0, most, &number);
    *count = taken ? (unsigned)number : 0;
    return taken;
}

/* Users see it on terminals. */
static bool is_shown(struct slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.bytes[i] < ' ' || text.bytes[i] == '\x7f')
            return false;
    return true;
}

static bool take_head(struct slice *text, struct told_list *list)
{
    struct slice line, place;
    take_until(text, '\n', &line);
    take_until(&line, ' ', &place);
    list->place = place.length == 1 ? place.bytes[0] : '\0';
    bool taken = (list->place == '=' || list->place == '<' || list->place == '>') &&
                 take_number(&line, -NUMBER_MOST, NUMBER_MOST, &list->first_ago) &&
                 take_number(&line, -NUMBER_MOST, NUMBER_MOST, &list->last_ago) &&
                 take_count(&line, INT32_MAX, &list->clients) &&
                 take_count(&line, MASTERS_MAX, &list->quorum) &&
                 take_count(&line, MASTERS_MAX, &list->spare) &&
                 take_number(&line, 0, TTL_MS_MOST, &list->max_ttl_ms) &&
                 take_count(&line, MASTERS_MAX, &list->masters);
    list->label = line;
    return taken && is_shown(line) && list->masters && list->quorum &&
           list->quorum <= list->masters;
}

static bool take_process(struct slice *text, struct told_process *process)
{
    struct slice line;
    take_until(text, '\n', &line);
    if (!take_number(&line, -NUMBER_MOST, NUMBER_MOST, &process->since_ago) ||
        !take_number(&line, -NUMBER_MOST, NUMBER_MOST, &process->until_ago))
        return false;
    take_until(&line, ' ', &process->run_id);
    if (slices_are_same(process->run_id, slice_of("-")))
        process->run_id.length = 0;
    process->address = line;
    return line.length && is_shown(line) && process->run_id.length <= RUN_ID_MAX;
}

static bool take_word(struct slice *line, const char *word)
{
    struct slice rest = *line, its;
    take_until(&rest, ' ', &its);
    bool is = slices_are_same(its, slice_of(word));
    if (is)
        *line = rest;
    return is;
}

/* A text that cannot be shown is left out; the list is over all the same. */
static struct slice take_successor(struct slice *line)
{
    if (!take_word(line, "over"))
        return (struct slice){0};
    return line->length <= SUCCESSOR_MAX && is_shown(*line) ? *line : slice_of("");
}

usec told_time(struct slice *text, int64_t *changes, struct slice *over)
{
    struct slice line;
    int64_t time;
    take_until(text, '\n', &line);
    bool is_time = take_number(&line, 0, NUMBER_MOST, &time);
    if (!take_word(&line, "changed") || !take_number(&line, 0, NUMBER_MOST, changes))
        *changes = 0;
    *over = take_successor(&line);
    return is_time ? time : 0;
}

bool told_list_next(struct slice *text, struct told_list *list)
{
    bool taken = text->length && take_head(text, list);
    for (unsigned i = 0; taken && i < list->masters; i++)
        taken = take_process(text, &list->processes[i]);
    if (!taken)
        text->length = 0;
    return taken;
}

static bool lists(const struct told_list *list, struct slice address)
{
    unsigned i = 0;
    while (i < list->masters && !slices_are_same(list->processes[i].address, address))
        i++;
    return i < list->masters;
}

/* Masters sort by their locales, so the order says nothing, though it is mostly the same. */
bool told_lists_are_same(const struct told_list *a, const struct told_list *b)
{
    bool same = a->masters == b->masters && a->quorum == b->quorum && a->spare == b->spare &&
                a->max_ttl_ms == b->max_ttl_ms;
    for (unsigned i = 0; same && i < a->masters; i++)
        same = slices_are_same(b->processes[i].address, a->processes[i].address) ||
               lists(b, a->processes[i].address);
    return same;
}
