#include "permits.h"

#include <string.h>

bool is_of_permits(const char *value)
{
    return value && strcmp(value, REDLOCK_PERMITS) == 0;
}

static bool tells_permits(const redlock_view *view)
{
    return view->kind == REDLOCK_VOTE_HELD && is_of_permits(view->holder) && view->permits > 0;
}

static void insert(unsigned *sorted, unsigned count, unsigned value)
{
    unsigned at = count;
    for (; at > 0 && sorted[at - 1] < value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
}

/* The largest that more masters tell than may be wrong; 0: none tells any. */
static unsigned how_many(const redlock_look_result *result)
{
    unsigned told[REDLOCK_MASTERS_MAX], count = 0;
    for (unsigned i = 0; i < result->masters; i++)
        if (tells_permits(result->views[i]))
            insert(told, count++, result->views[i]->permits);
    if (count == 0)
        return 0;
    return told[result->spare < count ? result->spare : count - 1];
}

/* As many as a quorum may say, for masters that did not answer may say the same; one without a
 * holder says none. */
static unsigned how_many_out(const redlock_look_result *result)
{
    unsigned told[REDLOCK_MASTERS_MAX], count = 0;
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        if (tells_permits(view))
            insert(told, count++, view->permits_out.count);
        else if (view->kind == REDLOCK_VOTE_HELD || view->kind == REDLOCK_VOTE_FREE)
            insert(told, count++, 0);
    }
    unsigned silent = result->masters - count;
    if (count == 0)
        return 0;
    return told[silent < result->quorum ? result->quorum - silent - 1 : 0];
}

struct permits look_permits(const redlock_look_result *result)
{
    unsigned out = how_many_out(result);
    struct permits permits = {.count = how_many(result)};
    for (unsigned i = 0; i < result->masters; i++) {
        const redlock_view *view = result->views[i];
        if (tells_permits(view) && view->permits_out.count == out)
            permits.holders = view->permits_out;
    }
    return permits;
}

void permits_show(struct text *out, unsigned taken, unsigned count)
{
    if (count == 0)
        text_format(out, "permits");
    else
        text_format(out, "%u of %u permit%s", taken, count, count == 1 ? "" : "s");
}
