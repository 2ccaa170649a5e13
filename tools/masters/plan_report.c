#include "plan_report.h"

#include <stdio.h>

#include "duration.h"
#include "exits.h"
#include "json.h"
#include "lists_report.h"
#include "option_times.h"
#include "say.h"
#include "votes.h"

#define SKEW_MS 1000

/* Until all leases of the former list are over. */
static int64_t wait_ms(const struct plan *plan)
{
    int64_t ttl = option_longest_ttl(&plan->options);
    return ttl + ttl / 100 + 2 + SKEW_MS;
}

/* ---- For people ---------------------------------------------------------------- */

static void show_nodes(struct text *out, const char *what, const struct plan *plan, unsigned list,
                       plan_pick *pick)
{
    if (pick(plan, list, 0))
        text_format(out, "%s", what);
    plan_put_nodes(out, plan, list, pick);
}

void plan_show_list(struct text *out, const struct plan *plan, unsigned list, const char *what)
{
    text_format(out, "%s: quorum %u of %u", what, plan_quorum(plan, list),
                plan_masters(plan, list));
    if (list) {
        show_nodes(out, ", with ", plan, list, plan_joining);
        show_nodes(out, ", without ", plan, list, plan_leaving);
    }
    text_format(out, "\n  ");
    plan_put_told(out, plan, list);
    text_format(out, "\n");
}

static void show_fleet(struct text *out, const char *fleet)
{
    if (!fleet)
        return;
    fleet_show(out, fleet);
    text_format(out, "\n");
}

void plan_show(struct text *out, const struct plan *plan)
{
    char what[20] = "now";
    if (plan->chain.count == 1) {
        text_format(out, "Both lists have the same masters.\n");
        return;
    }
    show_fleet(out, options_fleet(&plan->options));
    for (unsigned list = 0; list < plan->chain.count; list++) {
        plan_show_list(out, plan, list, what);
        snprintf(what, sizeof what, "%u", list + 1);
    }
}

static void show_wait(struct text *out, const struct plan *plan)
{
    char span[DURATION_SIZE];
    if (plan->chain.count > 1)
        text_format(out,
                    "By hand: after each step wait until `redlock masters` shows that list alone, "
                    "and %s more.\n",
                    duration_show(span, wait_ms(plan)));
}

/* ---- As JSON --------------------------------------------------------------------- */

static void put_nodes(struct json *json, const char *key, const struct plan *plan, unsigned list,
                      plan_pick *pick)
{
    const struct entry *entry;
    json_open(json, key, '[');
    for (unsigned n = 0; (entry = pick(plan, list, n)); n++)
        json_string(json, NULL, entry->node);
    json_close(json, ']');
}

static void put_step(struct json *json, const struct plan *plan, unsigned list)
{
    json_open(json, NULL, '{');
    put_nodes(json, "joining", plan, list, plan_joining);
    put_nodes(json, "leaving", plan, list, plan_leaving);
    put_nodes(json, "nodes", plan, list, plan_member);
    json_number(json, "quorum", plan_quorum(plan, list));
    json_close(json, '}');
}

static void put(struct text *out, const struct plan *plan)
{
    struct json json = outcome_json(out, REDLOCK_OK, redlock_code_text(REDLOCK_OK));
    json_string(&json, "fleet", options_fleet(&plan->options));
    json_number(&json, "wait_ms", wait_ms(plan));
    json_open(&json, "steps", '[');
    for (unsigned list = 1; list < plan->chain.count; list++)
        put_step(&json, plan, list);
    json_close(&json, ']');
    json_end(&json);
}

int plan_tell(const struct plan *plan)
{
    struct text out = {0};
    if (plan->options.json) {
        put(&out, plan);
    } else {
        plan_show(&out, plan);
        show_wait(&out, plan);
    }
    bool done = put_text(&out);
    text_free(&out);
    return done ? EXIT_DONE : EXIT_OUTPUT;
}
