#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proc.h"

#define PIDS_MOST   (1 << 22) /* no pid of Linux is that large */
#define PASSES_MOST 10        /* who forks without end must not keep us here */

/* One bit for each pid: it is in the tree; it is not to be; it was there before any signal. */
static uint8_t ours[PIDS_MOST / 8], others[PIDS_MOST / 8], present[PIDS_MOST / 8];

struct search {
    pid_t but_group, nor_group; /* 0: none */
    int number;
    bool later; /* also what was not there at first */
    bool found; /* in this pass */
    struct signalled signalled;
};

static bool is_in(const uint8_t *set, pid_t pid)
{
    return pid < PIDS_MOST && set[pid / 8] & 1U << pid % 8;
}

static void put_in(uint8_t *set, pid_t pid)
{
    if (pid < PIDS_MOST)
        set[pid / 8] |= (uint8_t)(1U << pid % 8);
}

static void note(struct signalled *signalled, pid_t pid, int outcome)
{
    if (outcome == 0) {
        signalled->reached++;
    } else if (errno == EPERM) {
        signalled->refused++;
        signalled->one_refused = pid < 0 ? -pid : pid;
    }
}

/* `pid` is as for kill(). */
static void send_to(struct signalled *signalled, pid_t pid, int number)
{
    note(signalled, pid, kill(pid, number));
    if (number == SIGTERM)
        kill(pid, SIGCONT);
}

/* It is signalled at once: no other process can have its pid so soon. */
static void look_at(void *data, int pid)
{
    struct search *search = data;
    struct proc_facts facts;
    if (is_in(ours, pid) || is_in(others, pid) || !(search->later || is_in(present, pid)) ||
        !proc_facts(pid, &facts) || !is_in(ours, facts.parent))
        return;
    put_in(ours, pid);
    search->found = true;
    if (facts.runs && facts.group != search->but_group && facts.group != search->nor_group)
        send_to(&search->signalled, pid, search->number);
}

/* Most parents are listed before their children: then one pass finds all, and one more nothing. */
static struct signalled signal_all(pid_t root, struct search search)
{
    if (!proc_is_ours())
        return search.signalled;
    memset(ours, 0, sizeof(ours));
    put_in(ours, root);
    search.found = true;
    for (int pass = 0; search.found && pass < PASSES_MOST; pass++) {
        search.found = false;
        proc_each("/proc", look_at, &search);
    }
    return search.signalled;
}

static void look_for_child(void *data, int pid)
{
    const pid_t *parent = data;
    struct proc_facts facts;
    if (proc_facts(pid, &facts) && facts.parent == *parent)
        put_in(others, pid);
}

void tree_leave_out_children(pid_t parent)
{
    proc_each("/proc", look_for_child, &parent);
}

static void note_present(void *data, int pid)
{
    (void)data;
    put_in(present, pid);
}

struct signalled tree_ask(pid_t root, pid_t but_group, pid_t nor_group)
{
    memset(present, 0, sizeof(present));
    proc_each("/proc", note_present, NULL);
    return signal_all(root, (struct search){but_group, nor_group, .number = SIGTERM});
}

struct signalled tree_kill(pid_t root)
{
    return signal_all(root, (struct search){.number = SIGKILL, .later = true});
}

struct signalled group_signal(pid_t group, int number)
{
    struct signalled signalled = {0};
    send_to(&signalled, -group, number);
    return signalled;
}
