#include "checks.h"

#include <stdio.h>
#include <string.h>

#include "ground/told_list.h"

#define ADDRESSES 5 /* few, so that the same lists come again; but more of them than are kept */
#define CLIENTS   3
#define RUNS      3
#define TEXT      24

static void spell(char text[TEXT], const char *format, unsigned number)
{
    snprintf(text, TEXT, format, number);
}

/* ---- asking ------------------------------------------------------------------------- */

static struct model_kind draw_kind(struct chance *chance)
{
    unsigned first = chance_below(chance, ADDRESSES);
    struct model_kind kind = {.max_ttl_ms = 1000};
    kind.masters = (uint8_t)(1 + chance_below(chance, ADDRESSES - first));
    kind.spare = (uint8_t)chance_permille(chance, 100);
    kind.quorum = (uint8_t)(kind.masters / 2 + 1);
    for (unsigned i = 0; i < kind.masters; i++)
        kind.addresses[i] = (uint8_t)(first + i);
    return kind;
}

struct model_agree agree_draw(struct chance *chance, usec now, int64_t longest_ms)
{
    struct model_agree agree = {.kind = draw_kind(chance)};
    agree.client = 1 + chance_below(chance, CLIENTS);
    unsigned dice = chance_below(chance, 10);
    bool is_short = chance_permille(chance, 500);
    agree.says = dice == 0 ? SAYS_NOTHING : dice == 1 ? SAYS_NO_MORE : SAYS_OURS;
    if (chance_permille(chance, 60))
        agree.says = SAYS_NOT_OVER;
    if (chance_permille(chance, 30))
        agree.says = SAYS_OVER;
    agree.successor = 1 + chance_below(chance, 3);
    agree.kept = chance_range(chance, 1, 1000 * longest_ms) * (is_short ? 1 : 50);
    if (chance_permille(chance, 800))
        agree.told_time = now - chance_range(chance, 0, 1000 * longest_ms);
    for (unsigned i = 0; i < agree.kind.masters; i++)
        agree.run_ids[i] = chance_below(chance, RUNS + 1);
    return agree;
}

void agree_spell(const struct model_agree *agree, struct request *request)
{
    static char addresses[ADDRESSES][TEXT], runs[ADDRESSES][TEXT], successor[TEXT];
    static struct engine_config config;
    static struct agree_request says;
    config = (struct engine_config){.masters = agree->kind.masters,
                                    .spare = agree->kind.spare,
                                    .max_ttl_ms = agree->kind.max_ttl_ms,
                                    .label = "a label",
                                    .fleet = "fleet"};
    spell(config.channel, "client-%u", agree->client);
    spell(successor, "address-%u", agree->successor);
    says = (struct agree_request){.says = agree->says,
                                  .successor = successor,
                                  .changes = agree->changes,
                                  .kept = agree->kept,
                                  .quorum = agree->kind.quorum,
                                  .config = &config,
                                  .told_time = agree->told_time};
    for (unsigned i = 0; i < agree->kind.masters; i++) {
        spell(addresses[i], "address-%u", agree->kind.addresses[i]);
        spell(runs[i], "run-%u", (unsigned)agree->run_ids[i]);
        config.addresses[i] = addresses[i];
        says.run_ids[i] = agree->run_ids[i] ? runs[i] : "";
    }
    *request = (struct request){.tag.kind = REQUEST_AGREE, .whole = true, .agree = &says};
}

/* ---- the answer --------------------------------------------------------------------- */

static bool is_process(const struct model_process *model, const struct told_process *real)
{
    char run[TEXT];
    spell(run, "run-%u", (unsigned)model->run_id);
    if (!model->run_id)
        return !real->run_id.length && !real->since_ago && !real->until_ago;
    return slices_are_same(real->run_id, slice_of(run)) && real->since_ago == model->since &&
           real->until_ago == model->until;
}

static bool has_process(const struct model_told *model, const struct told_process *real)
{
    char address[TEXT];
    for (unsigned i = 0; i < model->kind.masters; i++) {
        spell(address, "address-%u", model->kind.addresses[i]);
        if (slices_are_same(real->address, slice_of(address)))
            return is_process(&model->processes[i], real);
    }
    return false;
}

static bool is_list(const struct model_told *model, const struct told_list *real)
{
    bool is = real->place == model->place && real->first_ago == model->first_ago &&
              real->last_ago == model->last_ago && real->clients == model->clients &&
              real->quorum == model->kind.quorum && real->spare == model->kind.spare &&
              real->masters == model->kind.masters && real->max_ttl_ms == model->kind.max_ttl_ms;
    for (unsigned i = 0; is && i < real->masters; i++)
        is = has_process(model, &real->processes[i]);
    return is;
}

static bool is_end(unsigned successor, struct slice real)
{
    char text[TEXT];
    spell(text, "address-%u", successor);
    return successor ? slices_are_same(real, slice_of(text)) : !real.bytes;
}

/* In any order. */
bool agree_same_answer(const struct model_agree *model, struct slice text)
{
    struct told_list real;
    struct slice over;
    unsigned count = 0;
    int64_t changes;
    (void)told_time(&text, &changes, &over);
    if (!is_end(model->successor, over) || changes != model->changes)
        return false;
    while (told_list_next(&text, &real)) {
        unsigned i = 0;
        while (i < model->told_count && !is_list(&model->told[i], &real))
            i++;
        if (i == model->told_count)
            return false;
        count++;
    }
    return count == model->told_count;
}
