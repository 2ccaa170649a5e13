/*
 * ears.c - notification connections: what masters say on this client's channel.
 */
#include "client.h"

static void deliver(void *owner, const struct event *event)
{
    redlock *client = owner;
    struct event heard = *event;
    if (event->kind == EVENT_CONNECTED)
        return; /* it is not subscribed yet */
    if (event->kind == EVENT_CLOSED)
        heard.kind = EVENT_DEAF;
    client_step(client, &heard);
}

static struct link *make(redlock *client, unsigned master)
{
    return link_new(client->loop, &client->addresses[master], client->client_name,
                    (struct link_owner){.deliver = deliver, .owner = client, .master = master});
}

void ears_listen(redlock *client, unsigned master)
{
    struct link **ear = &client->ears[master];
    if (!*ear)
        *ear = make(client, master);
    if (*ear)
        link_listen(*ear, client->engine.config.channel);
    else
        client->deaf |= 1U << master; /* out of memory */
}

void ears_probe(redlock *client, unsigned master)
{
    if (client->ears[master])
        link_probe(client->ears[master]);
}

void ears_deafen(redlock *client, unsigned master)
{
    if (client->ears[master])
        link_close(client->ears[master]);
}

void ears_read(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (client->ears[i])
            link_read(client->ears[i]);
}

bool ears_pump(redlock *client)
{
    bool any = client->deaf != 0;
    for (unsigned i = 0; i < client->masters; i++) {
        if (client->deaf & 1U << i)
            client_step(client, &(struct event){.kind = EVENT_DEAF, .master = i});
        client->deaf &= ~(1U << i);
        if (client->ears[i])
            any |= link_pump(client->ears[i]);
    }
    return any;
}

bool ears_flush(redlock *client)
{
    bool breaks = false;
    for (unsigned i = 0; i < client->masters; i++) {
        if (!client->ears[i])
            continue;
        link_flush(client->ears[i]);
        breaks |= link_breaks(client->ears[i]);
    }
    return breaks;
}

void ears_free(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (client->ears[i])
            link_free(client->ears[i]);
}
