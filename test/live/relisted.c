#include "relisted.h"

struct user former, next, other;
unsigned former_closed;

void relisted_join(struct user *user, unsigned first, unsigned count)
{
    scene_join_list(&scene, user, FLEET, first, count);
}

static void hear_closed(redlock *client, unsigned left, void *data)
{
    assert_ptr_equal(client, former.client);
    assert_ptr_equal(data, &former);
    assert_int_equal(left, 0);
    former_closed++;
}

void relisted_begin(void)
{
    former_closed = 0;
    relisted_join(&former, 0, 6);
    relisted_join(&next, 1, 5);
    relisted_join(&other, 1, 5);
}

redlock_code relisted_leave_for(struct user *to)
{
    return redlock_relist(former.client, to->client, hear_closed, &former);
}

void relisted_ask(void)
{
    assert_code(relisted_leave_for(&next), REDLOCK_OK);
}

void relisted_kill_former(void)
{
    user_meanwhile(&next, &scene.cluster, "kill 1 2 3");
    AWAIT(&next, node_of(&next, 0).state == REDLOCK_NODE_DOWN &&
                     node_of(&next, 1).state == REDLOCK_NODE_DOWN);
}

void relisted_leave(void)
{
    AWAIT(&next, former_closed);
    redlock_free(former.client);
}

void relisted_end(void)
{
    assert_int_equal(user_end(&other, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

void relisted_begin_without_next(void)
{
    former_closed = 0;
    relisted_join(&former, 0, 5);
    relisted_join(&other, 0, 5);
    user_meanwhile(&former, &scene.cluster, "pause 1 2 6");
    scene_list(&scene, &next, FLEET, 0, 6);
}

void relisted_run_next(void)
{
    cluster_do(&scene.cluster, "resume 1 2 6");
}

void relisted_end_with_dead(void)
{
    user_end(&other, 0);
    user_end(&next, 0);
}
