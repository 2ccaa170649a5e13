#include "clock.h"

#include <stdatomic.h>
#include <time.h>

#include "double.h"

static _Atomic bool is_virtual;
static _Atomic int64_t now_virtual, began, wall_lead;

static usec read_clock(clockid_t which)
{
    struct timespec time;
    clock_gettime(which, &time);
    return (usec)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Time begins with a whole millisecond, so that one of a client is one of the test. */
static usec in_whole_ms(usec time)
{
    return time / 1000 * 1000;
}

void clock_begin(bool begins_virtual)
{
    usec now = in_whole_ms(read_clock(CLOCK_BOOTTIME));
    atomic_store(&wall_lead, in_whole_ms(read_clock(CLOCK_REALTIME)) - now);
    atomic_store(&began, now);
    atomic_store(&now_virtual, now);
    atomic_store(&is_virtual, begins_virtual);
}

usec double_now(usec real)
{
    return atomic_load(&is_virtual) ? atomic_load(&now_virtual) : real;
}

bool double_is_virtual(void)
{
    return atomic_load(&is_virtual);
}

void clock_go_on_to(usec now)
{
    atomic_store(&now_virtual, now);
}

usec clock_since_begin(void)
{
    return atomic_load(&now_virtual) - atomic_load(&began);
}

usec clock_wall(void)
{
    if (!atomic_load(&is_virtual))
        return read_clock(CLOCK_REALTIME);
    return atomic_load(&now_virtual) + atomic_load(&wall_lead);
}
