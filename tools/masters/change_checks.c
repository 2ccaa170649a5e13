#include "change_checks.h"

#include <stdio.h>
#include <string.h>

#include "duration.h"

/* ---- Lists in use ------------------------------------------------------------------- */

void change_put_used(struct text *out, const struct list_used *list)
{
    text_format(out, "%u client%s, the last one ", list->clients, list->clients == 1 ? "" : "s");
    text_shown(out, list->label.bytes, list->label.length);
    text_format(out, ", count%s on ", list->clients == 1 ? "s" : "");
    for (unsigned i = 0; i < list->masters; i++) {
        text_format(out, "%s", i ? "," : "");
        text_shown(out, list->nodes[i].bytes, list->nodes[i].length);
    }
}

static bool is_list(const struct plan *plan, unsigned list, const struct list_used *used)
{
    bool is = used->masters == plan_masters(plan, list);
    for (unsigned i = 0; is && i < used->masters; i++) {
        char node[NODE_SIZE] = "";
        if (used->nodes[i].length < NODE_SIZE)
            memcpy(node, used->nodes[i].bytes, used->nodes[i].length);
        is = plan_has(plan, list, node);
    }
    return is;
}

static bool is_on_way(const struct plan *plan, const struct list_used *used)
{
    bool is = false;
    for (unsigned list = 0; list < plan->chain.count; list++)
        is |= is_list(plan, list, used);
    return is;
}

redlock_code change_check_used(struct text *why, const struct plan *plan,
                               const struct list_seen *seen)
{
    for (unsigned i = 0; i < seen->used.count; i++) {
        const struct list_used *list = &seen->used.lists[i];
        if (is_on_way(plan, list))
            continue;
        change_put_used(why, list);
        text_format(why, ", which is not on the way: begin with the list that clients have now");
        return REDLOCK_E_DIFFERS;
    }
    return REDLOCK_OK;
}

/* ---- Masters ------------------------------------------------------------------------ */

static bool find_node(const struct list_watch *watch, const char *name, redlock_node *node)
{
    *node = (redlock_node){.size = sizeof *node, .text = "", .run_id = ""};
    for (unsigned i = 0; i < watch->masters; i++)
        if (redlock_node_get(watch->client, i, node) == REDLOCK_OK && strcmp(node->node, name) == 0)
            return true;
    return false;
}

static bool is_connected(const redlock_node *node)
{
    return node->state == REDLOCK_NODE_UP || node->state == REDLOCK_NODE_ABSTAINS;
}

static redlock_code check_new(struct text *why, const struct checked *checked, const char *name)
{
    redlock_node node;
    char span[DURATION_SIZE];
    find_node(checked->last, name, &node);
    if (node.state == REDLOCK_NODE_REFUSED) {
        text_format(why, "the new master %s %s", name, node.text);
        return REDLOCK_E_NO_MASTER;
    }
    if (!is_connected(&node)) {
        text_format(why, "the new master %s cannot be reached: %s", name,
                    node.text[0] ? node.text : "no answer in time");
        return REDLOCK_E_UNAVAILABLE;
    }
    if (node.state == REDLOCK_NODE_UP)
        return REDLOCK_OK;
    text_format(why,
                "the new master %s abstains %s more: wait, or if it was never in use: "
                "redlock nodes --adopt --nodes %s",
                name, duration_show(span, node.abstains_ms), name);
    return REDLOCK_E_UNAVAILABLE;
}

static redlock_code check_all_new(struct text *why, const struct plan *plan,
                                  const struct checked *checked)
{
    redlock_code code = REDLOCK_OK;
    for (unsigned i = 0; !code && i < plan->coming.count; i++)
        code = check_new(why, checked, plan->coming.of[i].node);
    return code;
}

/* An end must reach a quorum. */
static redlock_code check_present(struct text *why, const struct checked *checked)
{
    unsigned told = masters_in(checked->now_seen->told);
    if (told >= checked->now->quorum)
        return REDLOCK_OK;
    text_format(why,
                "%u of %u masters of the present list tell which lists are in use, and %u must; "
                "`redlock masters` says what is wrong with the others",
                told, checked->now->masters, checked->now->quorum);
    return REDLOCK_E_UNAVAILABLE;
}

static bool is_up(const struct checked *checked, const char *name)
{
    redlock_node node;
    return (find_node(checked->last, name, &node) || find_node(checked->now, name, &node)) &&
           is_connected(&node);
}

static redlock_code check_quorums(struct text *why, const struct plan *plan,
                                  const struct checked *checked)
{
    for (unsigned list = 1; list < plan->chain.count; list++) {
        const struct entry *entry;
        unsigned up = 0;
        for (unsigned n = 0; (entry = plan_member(plan, list, n)); n++)
            up += is_up(checked, entry->node);
        if (up >= plan_quorum(plan, list))
            continue;
        text_format(why, "too few masters of the list ");
        plan_put_nodes(why, plan, list, plan_member);
        text_format(why, " are up: %u of %u, and %u must", up, plan_masters(plan, list),
                    plan_quorum(plan, list));
        return REDLOCK_E_UNAVAILABLE;
    }
    return REDLOCK_OK;
}

/* ---- Servers of both lists ------------------------------------------------------------ */

static const char *find_same_process(const struct list_watch *now, const redlock_node *new,
                                     redlock_node *node)
{
    for (unsigned i = 0; i < now->masters; i++) {
        *node = (redlock_node){.size = sizeof *node};
        if (redlock_node_get(now->client, i, node) == REDLOCK_OK && node->run_id[0] &&
            strcmp(node->run_id, new->run_id) == 0)
            return node->node;
    }
    return NULL;
}

/* Two entries of one list for a server would have two votes. */
static redlock_code join(struct text *why, struct plan *plan, const char *now, const char *name)
{
    if (!plan_may_join(plan, now, name)) {
        text_format(why,
                    "the new master %s is the same server as %s: write it as before. Only a port "
                    "for TLS of the same host may take its place, or it may take that of one",
                    name, now);
        return REDLOCK_E_SAME_MASTER;
    }
    if (plan_join(plan, now, name))
        return REDLOCK_OK;
    text_format(why, "with these spare votes no chain of lists leads there");
    return REDLOCK_E_ARGUMENT;
}

redlock_code change_find_servers(struct text *why, struct plan *plan, const struct checked *checked)
{
    redlock_code code = REDLOCK_OK;
    for (unsigned i = 0, count = plan->coming.count; !code && i < plan->coming.count;) {
        redlock_node new, now;
        char name[NODE_SIZE];
        snprintf(name, sizeof name, "%s", plan->coming.of[i].node);
        find_node(checked->last, name, &new);
        const char *same = new.run_id[0] ? find_same_process(checked->now, &new, &now) : NULL;
        code = same ? join(why, plan, same, name) : code;
        i += plan->coming.count == count;
        count = plan->coming.count;
    }
    return code;
}

/* ---- All of it -------------------------------------------------------------------------- */

redlock_code change_check(struct text *why, const struct plan *plan, const struct checked *checked)
{
    redlock_code code = check_all_new(why, plan, checked);
    code = code ? code : check_present(why, checked);
    code = code ? code : check_quorums(why, plan, checked);
    code = code ? code : change_check_used(why, plan, checked->now_seen);
    return code ? code : change_check_used(why, plan, checked->last_seen);
}
