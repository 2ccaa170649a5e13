#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "link.h"
#include "notify.h"
#include "queues.h"
#include "step.h"
#include "successor.h"
#include "tasks.h"
#include "views.h"

static void hear_look(redlock *client, usec now, const struct event *event)
{
    if (event->reply->answer != ANSWER_LOST)
        queues_note_look(client, event->master, now - event->reply->tag.sent_at);
    views_note(client, event);
}

static void hear_lists(redlock *client, const struct event *event)
{
    client_step(client, event);
    successor_note(client, event->master);
}

static void deliver_to_core(void *owner, usec now, const struct event *event)
{
    redlock *client = owner;
    client->now = now;
    if (event->kind == EVENT_CONNECTED) {
        randomness_forget(&client->random);
    } else if (event->kind == EVENT_REPLY && event->reply->tag.kind == REQUEST_PEEK) {
        hear_look(client, now, event);
    } else if (event->kind == EVENT_REPLY && event->reply->tag.kind == REQUEST_AGREE) {
        hear_lists(client, event);
        return;
    }
    client_step(client, event);
}

static redlock_code make_links(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++) {
        client->links[i] =
            link_new(client->io, &client->addresses[i], client->client_name,
                     (struct link_owner){.deliver = deliver_to_core, .owner = client, .master = i});
        if (!client->links[i])
            return REDLOCK_E_MEMORY;
    }
    return REDLOCK_OK;
}

static uint64_t draw_seed(redlock *client)
{
    struct randomness random = randomness_lend(&client->random);
    uint64_t number = 0;
    for (unsigned i = 0; i < sizeof number; i++) /* the same on every machine */
        number |= (uint64_t)random.bytes[i] << 8 * i;
    random.bytes += sizeof number;
    random.left -= sizeof number;
    randomness_settle(&client->random, random);
    return number;
}

static redlock_code make_engine(redlock *client)
{
    struct sink sink = {effects_emit, client};
    uint64_t seed = draw_seed(client), high = draw_seed(client), low = draw_seed(client);
    snprintf(client->config.channel, sizeof client->config.channel, OWN "%016llx%08llx",
             (unsigned long long)high, (unsigned long long)low & 0xffffffff);
    client->engine = (struct engine *)(void *)client->engine_room;
    client->memory = client_memory(&client->pool);
    bool made = engine_init(client->engine, &client->config, &client->memory, &sink, seed);
    return made ? REDLOCK_OK : REDLOCK_E_MEMORY;
}

redlock_code parts_make(redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        client->each_vote[i] = &client->votes[i];
    redlock_code code = make_links(client);
    return code ? code : make_engine(client);
}

void parts_free(redlock *client)
{
    if (client->engine) {
        queues_free(client);
        engine_free(client->engine);
        client_tasks_free(client);
        pool_end(&client->pool);
    }
    notify_free(client);
    for (unsigned i = 0; i < client->masters; i++) {
        if (client->links[i])
            link_free(client->links[i]);
        free(client->logged[i]);
    }
    addresses_clear(client->addresses, (int)client->masters);
    successor_forget(client);
    free(client->nodes_file);
    free(client->prefix);
    free(client->fleet);
    free(client->client_name);
    free(client);
}
