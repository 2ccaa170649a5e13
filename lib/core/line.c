#include "line.h"

#include "engine.h"

static unsigned bucket_of(const struct names *names)
{
    return names_hash(names) % LINE_BUCKETS;
}

struct line *line_of(const struct engine *e, const struct names *names)
{
    for (struct line *line = e->lines[bucket_of(names)]; line; line = line->next)
        if (names_are_same(line->names, names))
            return line;
    return NULL;
}

static struct line *line_new(struct engine *e, struct names *names)
{
    struct line *line = e->memory.take(e->memory.pool, sizeof *line);
    struct line **bucket = &e->lines[bucket_of(names)];
    if (!line)
        return NULL;
    line->names = names_share(names);
    line->next = *bucket;
    if (line->next)
        line->next->prev = line;
    *bucket = line;
    return line;
}

static void line_drop(struct engine *e, struct line *line)
{
    if (line->prev)
        line->prev->next = line->next;
    else
        e->lines[bucket_of(line->names)] = line->next;
    if (line->next)
        line->next->prev = line->prev;
    names_drop(&e->memory, line->names);
    e->memory.give(e->memory.pool, line, sizeof *line);
}

bool line_enter(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    struct line *line = line_of(e, round->names);
    if (!line)
        line = line_new(e, round->names);
    if (!line)
        return false;
    round->line = line;
    round->before = line->last;
    round->behind = NULL;
    if (line->last)
        line->last->round->behind = lease;
    else
        line->first = lease;
    line->last = lease;
    e->in_lines++;
    return true;
}

void line_leave(struct engine *e, struct lease *lease)
{
    struct round *round = lease->round;
    struct line *line = round->line;
    if (round->before)
        round->before->round->behind = round->behind;
    else
        line->first = round->behind;
    if (round->behind)
        round->behind->round->before = round->before;
    else
        line->last = round->before;
    e->in_lines--;
    round->line = NULL;
    round->before = round->behind = NULL;
    if (!line->first)
        line_drop(e, line);
}

unsigned line_position(const struct lease *lease)
{
    unsigned position = 0;
    for (const struct lease *it = lease->round->before; it; it = it->round->before)
        position++;
    return position;
}
