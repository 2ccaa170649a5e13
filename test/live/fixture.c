#include "fixture.h"

#include "fences.h"

struct cluster cluster;
struct user user;
struct fixture fixture;

void fixture_filter(void)
{
    cmocka_set_test_filter(getenv("REDLOCK_CASE"));
}

int fixture_start(void **state)
{
    (void)state;
    if (fixture.masters == 0)
        return 0;
    if (fixture.fenced)
        fence_cluster(&cluster, fixture.masters, fixture.flags);
    else
        cluster_start(&cluster, fixture.masters, fixture.flags);
    if (fixture.has_user)
        user_open(&user, &cluster, fixture.options);
    if (fixture.begun)
        fixture.begun();
    return 0;
}

int fixture_stop(void **state)
{
    (void)state;
    if (fixture.masters == 0)
        return 0;
    if (fixture.ending)
        fixture.ending();
    if (fixture.has_user)
        user_close_clean(&user, &cluster);
    cluster_stop(&cluster);
    return 0;
}
