#include "lists.h"

#include <string.h>

#include "change.h"

#define LONG_AGO MS(86400000)

static bool chance(struct world *w, unsigned permille)
{
    return chance_permille(&w->listing, permille);
}

/* Two processes look like one, or one like two. */
static void lie_about_processes(struct world *w, struct model_told *told)
{
    for (unsigned i = 0; i < told->kind.masters; i++) {
        struct model_process *process = &told->processes[i];
        unsigned server = chance_below(&w->listing, w->masters);
        if (chance(w, 400))
            process->run_id =
                chance(w, 500) ? chance_next(&w->listing) : w->servers[server].model.run_id;
        if (chance(w, 500))
            process->since = chance(w, 500) ? 0 : LONG_AGO;
        if (chance(w, 500))
            process->until = chance(w, 500) ? 0 : LONG_AGO;
    }
}

/* A list that nobody has, and that meets no other. */
static void invent(struct world *w, struct model_agree *agree)
{
    struct model_told *told = &agree->told[agree->told_count];
    if (agree->told_count == MODEL_LISTS)
        return;
    agree->told_count++;
    *told = (struct model_told){.place = chance(w, 500) ? '<' : '>', .clients = 1};
    told->kind = (struct model_kind){.masters = 3, .quorum = 2, .max_ttl_ms = w->max_ttl_ms};
    for (unsigned i = 0; i < 3; i++)
        told->kind.addresses[i] = (uint8_t)(i + chance_below(&w->listing, 5));
    lie_about_processes(w, told);
}

void lists_lie(struct world *w, struct model_agree *agree)
{
    for (unsigned i = 0; i < agree->told_count; i++) {
        struct model_told *told = &agree->told[i];
        if (chance(w, 300))
            told->place = told->place == '<' ? '>' : '<';
        if (chance(w, 300))
            lie_about_processes(w, told);
    }
    if (chance(w, 200))
        agree->told_count = 0;
    if (chance(w, 200))
        invent(w, agree);
    change_lie(w, agree);
}
