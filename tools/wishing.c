#include "wishing.h"

#include "crowds.h"
#include "say.h"

static void on_asked(redlock_asker *asker, const redlock_asked *asked, void *data)
{
    const struct session *session = data;
    struct text who = {0};
    (void)asker;
    if (asked->code != REDLOCK_OK || !session->options->verbose)
        return;
    who_show(&who, asked->holder);
    say_at(REDLOCK_LOG_INFO, "asked %s to let go, which %s", who.bytes,
           asked->heard ? "hears it" : "does not heed wishes");
    text_free(&who);
}

void wishing_start(struct wishing *wishing, struct session *session)
{
    const struct options *options = session->options;
    redlock_ask_options terms = {.size = sizeof terms, .text = options->wish, .again = true};
    if (!options->wish)
        return;
    redlock_code code = redlock_ask(session->client, &wishing->asker, options->names[0].bytes,
                                    &terms, on_asked, session);
    if (code != REDLOCK_OK)
        say("cannot ask the holder: %s", redlock_last_error(session->client));
}

void wishing_stop(struct wishing *wishing)
{
    redlock_asker_free(wishing->asker);
    wishing->asker = NULL;
}

void wishing_go_over(struct wishing *wishing, struct session *session)
{
    bool asks = wishing->asker;
    wishing_stop(wishing);
    if (asks)
        wishing_start(wishing, session);
}
