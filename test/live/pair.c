#include "pair.h"

struct user ours, theirs;
static struct ev_loop *loop;

int pair_join(void **state)
{
    (void)state;
    loop = ev_loop_new(0);
    user_join(&ours, loop, &cluster);
    user_join(&theirs, loop, &cluster);
    return 0;
}

int pair_leave(void **state)
{
    (void)state;
    assert_int_equal(user_end(&ours, 10000), 0);
    assert_int_equal(user_end(&theirs, 10000), 0);
    ev_loop_destroy(loop);
    return 0;
}
