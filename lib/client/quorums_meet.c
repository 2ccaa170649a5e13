#include "quorums_meet.h"

#include <string.h>
#include <strings.h>

typedef bool are_same(const redlock *one, unsigned i, const redlock *other, unsigned j);

static bool have_same_address(const redlock *one, unsigned i, const redlock *other, unsigned j)
{
    return strcmp(one->addresses[i].shown, other->addresses[j].shown) == 0;
}

/* NULL: the client does not hear it now. */
static const char *run_id_of(const redlock *client, unsigned master)
{
    struct master_view view = engine_master(client->engine, master);
    bool is_heard = view.state == MASTER_UP && view.met && !view.refused;
    return is_heard && view.facts->run_id[0] ? view.facts->run_id : NULL;
}

/* One of them is for TLS, the other is not, and the host is the same.  Databases share nothing. */
static bool may_be_two_ports(const struct address *a, const struct address *b)
{
    return a->host && b->host && strcasecmp(a->host, b->host) == 0 && a->db == b->db &&
           a->tls.wanted != b->tls.wanted;
}

static bool have_same_process(const redlock *one, unsigned i, const redlock *other, unsigned j)
{
    const char *run_id = run_id_of(one, i), *others = run_id_of(other, j);
    return run_id && others && strcmp(run_id, others) == 0;
}

static bool are_one_master(const redlock *one, unsigned i, const redlock *other, unsigned j)
{
    return have_same_address(one, i, other, j) ||
           (may_be_two_ports(&one->addresses[i], &other->addresses[j]) &&
            have_same_process(one, i, other, j));
}

static bool may_be_one_master(const redlock *one, unsigned i, const redlock *other, unsigned j)
{
    bool is_open = may_be_two_ports(&one->addresses[i], &other->addresses[j]) &&
                   !engine_master(other->engine, j).tried;
    return is_open || are_one_master(one, i, other, j);
}

/* Those of `one` that are in the other list. */
static unsigned count_common(const redlock *one, const redlock *other, are_same *are_same)
{
    unsigned count = 0;
    for (unsigned i = 0; i < one->masters; i++) {
        unsigned j = 0;
        while (j < other->masters && !are_same(one, i, other, j))
            j++;
        count += j < other->masters;
    }
    return count;
}

/* A liar may tell the process of another master, and so be two of ours. */
static unsigned count_at_most(const redlock *one, const redlock *other, are_same *are_same)
{
    unsigned common = count_common(one, other, are_same);
    return common < other->masters ? common : other->masters;
}

static bool do_meet(const redlock *one, const redlock *other, are_same *are_same)
{
    unsigned spare = one->config.spare, others_spare = other->config.spare;
    unsigned all = one->masters + other->masters - count_at_most(one, other, are_same);
    unsigned wrong = spare > others_spare ? spare : others_spare;
    return redlock_quorum(one->masters, spare) + redlock_quorum(other->masters, others_spare) >
           all + wrong;
}

bool quorums_meet(const redlock *one, const redlock *other)
{
    return do_meet(one, other, are_one_master);
}

bool quorums_may_meet(const redlock *one, const redlock *other)
{
    return do_meet(one, other, may_be_one_master);
}
