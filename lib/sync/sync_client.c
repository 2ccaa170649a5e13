#include "sync_client.h"
#include "sync_wait.h"

#include <stdlib.h>

redlock_sync *sync_new(void)
{
    redlock_sync *client = forks_watch() ? NULL : calloc(1, sizeof *client);
    if (!client)
        return NULL;
    sync_init_condition(&client->changed);
    pthread_mutex_init(&client->lock, NULL);
    list_init(&client->mailbox);
    list_init(&client->reentrant);
    list_init(&client->sides);
    list_init(&client->pending);
    list_init(&client->held);
    client->process = forks_process();
    client->bell = -1;
    atomic_init(&client->references, 1);
    return client;
}

void sync_forget(redlock_sync *client)
{
    if (atomic_fetch_sub(&client->references, 1) != 1)
        return;
    pthread_cond_destroy(&client->changed);
    pthread_mutex_destroy(&client->lock);
    free(client);
}
