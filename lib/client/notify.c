#include "notify.h"

#include <string.h>

#include "link.h"
#include "logins.h"
#include "report.h"
#include "step.h"

#define EXPECTED_LEAST 100   /* a master that restarted may repeat handovers that it made before */
#define EXPECTED_MOST  65536 /* a flood of that length costs a moment, once */
#define PAUSE_FIRST    MS(1000)
#define PAUSE_DOUBLES  6 /* 64 s */
#define FORGIVEN       MS(600000)

/* ---- Floods.  Each push tells a grant, and a master grants once for each QUEUE request; or it is
 * a hint.  Each permit of a name may be released, and hinted at, before the first hint is followed.
 * ---- */

static usec pause_of_subscriber(const struct subscriber *subscriber)
{
    unsigned doubles = subscriber->floods - 1;
    return PAUSE_FIRST << (doubles < PAUSE_DOUBLES ? doubles : PAUSE_DOUBLES);
}

#define DENIED "cannot subscribe: "

static void end_flood(redlock *client, unsigned master)
{
    struct subscriber *subscriber = &client->subscribers[master];
    usec now = system_now();
    subscriber->floods = now - subscriber->flooded_at > FORGIVEN ? 1 : subscriber->floods + 1;
    subscriber->flooded_at = now;
    subscriber->paused_until = now + pause_of_subscriber(subscriber);
    link_close(subscriber->link);
    client_log(client, REDLOCK_LOG_WARNING,
               "%s: sends more notifications than were asked for: ignored for %lld s; waiters ask "
               "it each second",
               client->addresses[master].shown,
               (long long)pause_of_subscriber(subscriber) / 1000000);
}

/* Counts a push; false if it is one too many. */
static bool take_expected(struct subscriber *subscriber)
{
    if (!subscriber->expected)
        return false;
    subscriber->expected--;
    return true;
}

void notify_expect(redlock *client, unsigned master, unsigned messages)
{
    struct subscriber *subscriber = &client->subscribers[master];
    if (subscriber->expected < EXPECTED_MOST)
        subscriber->expected += messages;
}

/* ---- */

/* All that wants pushes would do without. */
static bool is_wanted_quietly(const redlock *client)
{
    return !client->loud_tasks && !engine_count(client->engine).waiting;
}

/* A denial is a warning once: each wait tries it anew. */
static void tell_subscription(redlock *client, const struct event *event)
{
    struct subscriber *subscriber = &client->subscribers[event->master];
    const char *node = client->addresses[event->master].shown;
    bool is_denied = event->kind == EVENT_CLOSED && event->text &&
                     strncmp(event->text, DENIED, sizeof DENIED - 1) == 0;
    if (event->kind == EVENT_SUBSCRIBED)
        client_log(client, REDLOCK_LOG_DEBUG, "%s: tells of grants", node);
    else if (is_denied && is_wanted_quietly(client))
        client_log(client, REDLOCK_LOG_DEBUG, "%s: %s", node, event->text);
    else if (is_denied && !subscriber->warned)
        client_log(client, REDLOCK_LOG_WARNING, "%s: %s; waiters ask it each second", node,
                   event->text);
    subscriber->warned |= is_denied && !is_wanted_quietly(client);
    subscriber->denied |= is_denied && strstr(event->text, "NOPERM"); /* a login may change */
}

static void deliver_push(void *owner, usec now, const struct event *event)
{
    redlock *client = owner;
    struct event heard = *event;
    tell_subscription(client, event);
    client->now = now;
    if (event->kind == EVENT_CONNECTED)
        return; /* the connection is not subscribed yet */
    if (event->kind == EVENT_CLOSED)
        heard.kind = EVENT_UNSUBSCRIBED;
    if (event->kind == EVENT_PUSH && !take_expected(&client->subscribers[event->master]))
        end_flood(client, event->master);
    else
        client_step(client, &heard);
}

static struct link *make_subscriber_link(redlock *client, unsigned master)
{
    return link_new(
        client->io, &client->addresses[master], client->client_name,
        (struct link_owner){.deliver = deliver_push, .owner = client, .master = master});
}

void notify_subscribe(redlock *client, unsigned master)
{
    struct subscriber *subscriber = &client->subscribers[master];
    client->has_waited = true;
    if (!subscriber->link)
        subscriber->link = make_subscriber_link(client, master);
    if (subscriber->expected < EXPECTED_LEAST)
        subscriber->expected = EXPECTED_LEAST;
    bool in_vain = subscriber->denied && is_wanted_quietly(client);
    if (subscriber->link && system_now() >= subscriber->paused_until && !in_vain) {
        logins_renew(client, master, subscriber->link);
        link_subscribe(subscriber->link, client->config.channel);
    } else {
        client->unsubscribed |=
            1U << master; /* memory is out, the master sent a flood, or denied it */
    }
}

void notify_probe(redlock *client, unsigned master)
{
    if (client->subscribers[master].link)
        link_probe(client->subscribers[master].link);
}

void notify_end(redlock *client, unsigned master)
{
    if (client->subscribers[master].link)
        link_close(client->subscribers[master].link);
}

void notify_read(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (client->subscribers[i].link)
            link_read(client->subscribers[i].link);
}

bool notify_pump(redlock *client)
{
    bool any = client->unsubscribed != 0;
    if (!client->has_waited)
        return false;
    for (unsigned i = 0; i < client->masters; i++) {
        if (client->unsubscribed & 1U << i)
            client_step(client, &(struct event){.kind = EVENT_UNSUBSCRIBED, .master = i});
        client->unsubscribed &= ~(1U << i);
        if (client->subscribers[i].link)
            any |= link_pump(client->subscribers[i].link);
    }
    return any;
}

bool notify_flush(redlock *client)
{
    bool breaks = false;
    if (!client->has_waited)
        return false;
    for (unsigned i = 0; i < client->masters; i++) {
        if (!client->subscribers[i].link)
            continue;
        link_flush(client->subscribers[i].link);
        breaks |= link_breaks(client->subscribers[i].link);
    }
    return breaks;
}

void notify_free(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (client->subscribers[i].link)
            link_free(client->subscribers[i].link);
}
