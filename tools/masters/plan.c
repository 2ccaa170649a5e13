#include "plan.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "client/lists_in_use.h"
#include "exits.h"
#include "failure.h"

/* ---- Both lists -------------------------------------------------------------- */

/* The client has them in the order of the text. */
static void take_entries(struct entries *entries, redlock *client, const char *text)
{
    redlock_node node = {.size = sizeof node};
    entries->count = redlock_node_count(client);
    for (unsigned i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->of[i];
        list_take_entry(&text, &entry->text);
        redlock_node_get(client, i, &node);
        snprintf(entry->node, NODE_SIZE, "%s", node.node);
    }
}

/* A client that nothing runs begins to connect at most. */
static bool read_entries(struct entries *entries, const struct options *options, const char *list)
{
    redlock_options settings = options_of_client(options);
    redlock *client = NULL;
    char why[500] = "";
    settings.looks_only = true;
    settings.nodes = list;
    redlock_code code = redlock_open(&client, NULL, &settings, why, sizeof why);
    if (code == REDLOCK_OK)
        take_entries(entries, client, list);
    else
        failure_tell(options, list == options->to ? "cannot use the new list" : "cannot use", code,
                     why, NULL);
    redlock_free(client);
    return code == REDLOCK_OK;
}

/* A file may be a pipe, so it is read once. */
static bool read_file(struct plan *plan, const struct options *options)
{
    char why[500];
    plan->options = *options;
    if (options->nodes_file) {
        plan->read = redlock_list_read(options->nodes_file, why, sizeof why);
        if (!plan->read) {
            failure_tell(options, "cannot use", REDLOCK_E_NODES, why, NULL);
            return false;
        }
        plan->options.nodes = plan->read;
        plan->options.nodes_file = NULL;
    }
    plan->options.origin[SETTING_NODES] = ORIGIN_OPTION;
    return true;
}

/* Its place; `count` if it is not there. */
static unsigned place_of(const struct entries *entries, const char *node)
{
    unsigned i = 0;
    while (i < entries->count && strcmp(entries->of[i].node, node) != 0)
        i++;
    return i;
}

static void add_missing(struct entries *missing, const struct entries *of, const struct entries *in)
{
    for (unsigned i = 0; i < of->count; i++)
        if (place_of(in, of->of[i].node) == in->count)
            missing->of[missing->count++] = of->of[i];
}

/* Servers that have another address there stay: then there is a step if nothing else changes. */
static bool find_chain(struct plan *plan)
{
    plan->chain = (struct list_chain){.staying = plan->from.count - plan->going.count,
                                      .going = plan->going.count,
                                      .coming = plan->coming.count,
                                      .spare = (unsigned)plan->options.spare};
    bool is_found = chain_find(&plan->chain);
    if (is_found && plan->chain.count == 1 && plan->former.count) {
        plan->chain.lists[1] = plan->chain.lists[0];
        plan->chain.count = 2;
    }
    return is_found;
}

static int fill(struct plan *plan)
{
    struct entries to;
    if (!read_entries(&to, &plan->options, plan->options.to))
        return EXIT_NODES;
    add_missing(&plan->going, &plan->from, &to);
    add_missing(&plan->coming, &to, &plan->from);
    if (find_chain(plan))
        return EXIT_DONE;
    failure_tell(&plan->options, "cannot change", REDLOCK_E_ARGUMENT,
                 "with these spare votes no chain of lists leads there", NULL);
    return EXIT_NODES;
}

int plan_begin(struct plan *plan, const struct options *options)
{
    *plan = (struct plan){.read = NULL};
    if (read_file(plan, options) && read_entries(&plan->from, &plan->options, plan->options.nodes))
        return EXIT_DONE;
    plan_free(plan);
    return EXIT_NODES;
}

int plan_make(struct plan *plan, const struct options *options)
{
    int status = plan_begin(plan, options);
    if (status != EXIT_DONE)
        return status;
    status = fill(plan);
    if (status != EXIT_DONE)
        plan_free(plan);
    return status;
}

void plan_free(struct plan *plan)
{
    redlock_list_free(plan->read);
    plan->read = NULL;
}

/* ---- Servers with two addresses ------------------------------------------------ */

static void move_entry(struct entries *to, struct entries *from, const char *node)
{
    unsigned place = place_of(from, node);
    to->of[to->count++] = from->of[place];
    for (from->count--; place < from->count; place++)
        from->of[place] = from->of[place + 1];
}

static bool has_tls(const struct entry *entry)
{
    static const char scheme[] = "rediss://";
    size_t length = sizeof scheme - 1;
    return entry->text.length > length && strncasecmp(entry->text.bytes, scheme, length) == 0;
}

/* Of "host:port" or "host:port/N"; a path has no such host. */
static size_t length_of_host(const char *node)
{
    const char *colon = strrchr(node, ':');
    return colon ? (size_t)(colon - node) : 0;
}

/* "/N" or "". */
static const char *database_of(const char *node)
{
    const char *mark = strchr(node + length_of_host(node), '/');
    return mark ? mark : "";
}

static bool are_of_one_host(const char *one, const char *other)
{
    size_t length = length_of_host(one);
    return length && length == length_of_host(other) && strncasecmp(one, other, length) == 0 &&
           strcmp(database_of(one), database_of(other)) == 0;
}

bool plan_may_join(const struct plan *plan, const char *going, const char *coming)
{
    unsigned i = place_of(&plan->going, going), j = place_of(&plan->coming, coming);
    return i < plan->going.count && j < plan->coming.count && are_of_one_host(going, coming) &&
           has_tls(&plan->going.of[i]) != has_tls(&plan->coming.of[j]);
}

bool plan_join(struct plan *plan, const char *going, const char *coming)
{
    move_entry(&plan->former, &plan->going, going);
    move_entry(&plan->latter, &plan->coming, coming);
    return find_chain(plan);
}

/* Of those that change in that step. */
static unsigned count_other_addresses(const struct plan *plan, unsigned list)
{
    return list == 1 ? plan->former.count : 0;
}

/* ---- One list ---------------------------------------------------------------- */

/* Those that go leave from the first on. */
const struct entry *plan_leaving(const struct plan *plan, unsigned list, unsigned n)
{
    const struct chain_list *before = &plan->chain.lists[list - 1], *now = before + 1;
    unsigned others = count_other_addresses(plan, list);
    if (n < others)
        return &plan->former.of[n];
    n -= others;
    return n < before->going - now->going ? &plan->going.of[plan->going.count - before->going + n]
                                          : NULL;
}

const struct entry *plan_joining(const struct plan *plan, unsigned list, unsigned n)
{
    const struct chain_list *before = &plan->chain.lists[list - 1], *now = before + 1;
    unsigned others = count_other_addresses(plan, list);
    if (n < others)
        return &plan->latter.of[n];
    n -= others;
    return n < now->coming - before->coming ? &plan->coming.of[before->coming + n] : NULL;
}

static bool has_left(const struct plan *plan, struct chain_list list, const char *node)
{
    return place_of(&plan->going, node) < plan->going.count - list.going;
}

/* With its address of that list. */
static const struct entry *stayer(const struct plan *plan, unsigned list, const struct entry *entry)
{
    unsigned place = place_of(&plan->former, entry->node);
    return list && place < plan->former.count ? &plan->latter.of[place] : entry;
}

const struct entry *plan_member(const struct plan *plan, unsigned list, unsigned n)
{
    struct chain_list now = plan->chain.lists[list];
    for (unsigned i = 0; i < plan->from.count; i++)
        if (!has_left(plan, now, plan->from.of[i].node) && n-- == 0)
            return stayer(plan, list, &plan->from.of[i]);
    return n < now.coming ? &plan->coming.of[n] : NULL;
}

unsigned plan_masters(const struct plan *plan, unsigned list)
{
    return chain_masters(&plan->chain, plan->chain.lists[list]);
}

unsigned plan_quorum(const struct plan *plan, unsigned list)
{
    return redlock_quorum(plan_masters(plan, list), plan->chain.spare);
}

bool plan_has(const struct plan *plan, unsigned list, const char *node)
{
    const struct entry *entry;
    bool has = false;
    for (unsigned n = 0; (entry = plan_member(plan, list, n)); n++)
        has |= strcmp(entry->node, node) == 0;
    return has;
}

void plan_put_nodes(struct text *out, const struct plan *plan, unsigned list, plan_pick *pick)
{
    const struct entry *entry;
    for (unsigned n = 0; (entry = pick(plan, list, n)); n++)
        text_format(out, "%s%s", n ? "," : "", entry->node);
}

void plan_put_told(struct text *out, const struct plan *plan, unsigned list)
{
    const struct entry *entry;
    for (unsigned n = 0; (entry = plan_member(plan, list, n)); n++)
        text_format(out, "%s%s%s", n ? "," : "", has_tls(entry) ? "rediss://" : "", entry->node);
}

void plan_put_entries(struct text *out, const struct plan *plan, unsigned list)
{
    const struct entry *entry;
    for (unsigned n = 0; (entry = plan_member(plan, list, n)); n++)
        text_format(out, "%s%.*s", n ? "," : "", (int)entry->text.length, entry->text.bytes);
}
