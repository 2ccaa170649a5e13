/*
 * Keys that last for ever, nearly: a waiter does not ask about them again and again.
 */
#include "scene.h"

SCENE(test_far_expiries, .masters = 3)
{
    static const char *const names[] = {"far", "farthest"};
    static const char *const ends[] = {"9007199254740991", "9223372036854775807"};
    struct user waits;
    struct take takes[2];
    long long before[3];
    static const char stranger[] = "0123456789abcdefghijkl:stranger"; /* of this library */
    redlock_lease_options terms = lease_terms(10000, 3000);
    scene_enter(&scene, &waits, "waiter", 0);
    for (unsigned i = 0; i < 3; i++) {
        before[i] = scene_scripts(&scene, i);
        for (unsigned j = 0; j < 2; j++)
            cluster_tell(&scene.cluster, i, "SET %s %s PXAT %s", names[j], stranger, ends[j]);
    }
    int64_t begin = now_us();
    for (unsigned j = 0; j < 2; j++)
        take_ask(&takes[j], &waits, names[j], &terms);
    AWAIT(&waits, takes[0].outcomes && takes[1].outcomes);
    for (unsigned j = 0; j < 2; j++) {
        const struct told *told = &takes[j].told[REDLOCK_NOT_ACQUIRED];
        assert_int_equal(told->times, 1);
        assert_code(told->event.code, REDLOCK_E_HELD);
        assert_in_range(told->at_us - begin, 3000000, 4500000);
        take_free(&takes[j]);
    }
    for (unsigned i = 0; i < 3; i++) {
        long long scripts = scene_scripts(&scene, i) - before[i];
        if (scripts >= 50)
            fail_msg("%lld scripts on master %u", scripts, i + 1);
    }
    scene_leave(&waits);
}

PROGRAM(.masters = 0)
