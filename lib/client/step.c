#include "step.h"

usec client_look(redlock *client)
{
    client->now = system_now();
    return client->now;
}

void client_step(redlock *client, const struct event *event)
{
    struct randomness random = {0};
    bool draws = event_may_draw(event->kind);
    if (draws)
        random = randomness_lend(&client->random);
    engine_step(client->engine, client->now, &random, event);
    if (draws)
        randomness_settle(&client->random, random);
}
