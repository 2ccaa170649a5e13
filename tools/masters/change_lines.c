/*
 * change_lines.c - what `redlock masters change` prints as it goes on, and why it ends.
 */
#include <string.h>

#include "change_parts.h"
#include "change_report.h"
#include "duration.h"
#include "failure.h"

#define QUIET_MS 10000 /* between two lines, if nothing changes */

void change_put(struct change *change, struct text *text)
{
    if (change->session.options->quiet)
        text_free(text);
    else if (!session_put(&change->session, text))
        session_end(&change->session, EXIT_OUTPUT, 0);
}

bool change_is_due(struct change *change, struct text *mark)
{
    bool is_news = !change->mark.length || strcmp(change->mark.bytes, mark->bytes) != 0;
    text_free(&change->mark);
    change->mark = *mark;
    if (!is_news && boot_ms() < change->printed + QUIET_MS)
        return false;
    change->printed = boot_ms();
    return true;
}

void change_begin_line(struct text *out)
{
    char now[NOW_SIZE];
    text_format(out, "%s", now_show(now));
}

void change_put_progress(struct change *change, const struct list_watch *watch,
                         const struct list_seen *seen)
{
    struct text mark = {0}, out = {0};
    bool waits = change->phase != ENDS;
    text_format(&mark, "%d %u %x %x %x %x %u", change->phase, seen->clients, seen->told,
                seen->saying, seen->ours, seen->vote, waits ? list_watch_up(&change->next) : 0);
    if (!change_is_due(change, &mark))
        return;
    change_begin_line(&out);
    if (waits)
        change_show_sayers(&out, watch, seen, &change->next);
    else
        change_show_end(&out, watch, seen, false);
    change_put(change, &out);
}

void change_refuse(struct change *change, redlock_code code, struct text *sentence)
{
    failure_tell(change->session.options, "cannot change the list", code, sentence->bytes, NULL);
    text_free(sentence);
    session_end(&change->session, exit_for(code), 0);
}
