#include "forks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_uint last;          /* the largest number given, here or in a parent */
static atomic_uint kept;          /* for systems that wipe no page */
static atomic_uint *ours = &kept; /* the number of this process; 0: not known yet */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int arming;

static void forget_process_id(void)
{
    atomic_store(ours, 0);
}

static void arm(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0)
        ours = page;
    else if (page != MAP_FAILED)
        munmap(page, size);
    arming = pthread_atfork(NULL, NULL, forget_process_id);
}

int forks_watch(void)
{
    return pthread_once(&once, arm) != 0 || arming != 0 ? -1 : 0;
}

/* The first thread to come numbers the process for all its threads. */
static unsigned name_process(void)
{
    unsigned none = 0, number = atomic_fetch_add(&last, 1) + 1;
    return atomic_compare_exchange_strong(ours, &none, number) ? number : none;
}

unsigned forks_process(void)
{
    unsigned number = atomic_load_explicit(ours, memory_order_relaxed);
    return number ? number : name_process();
}
