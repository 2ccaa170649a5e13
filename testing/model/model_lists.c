#include "model_tasks.h"

#include <string.h>

static bool is_same(const struct model_kind *a, const struct model_kind *b)
{
    return a->masters == b->masters && a->quorum == b->quorum && a->spare == b->spare &&
           a->max_ttl_ms == b->max_ttl_ms && memcmp(a->addresses, b->addresses, a->masters) == 0;
}

static struct model_list *find(struct model_master *master, const struct model_kind *kind)
{
    for (unsigned i = 0; i < MODEL_LISTS; i++)
        if (master->data.lists[i].place && is_same(&master->data.lists[i].kind, kind))
            return &master->data.lists[i];
    return NULL;
}

/* ---- who says it ----------------------------------------------------------------- */

static unsigned clients(const struct model_list *list, usec wall)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MODEL_SAYERS; i++)
        count += list->sayers[i].client && list->sayers[i].at >= wall - list->kept;
    return count;
}

/* Those of the future say it now; those of long ago do so no more. */
static void sweep(struct model_list *list, usec wall)
{
    for (unsigned i = 0; i < MODEL_SAYERS; i++) {
        struct model_sayer *sayer = &list->sayers[i];
        if (sayer->at > wall)
            sayer->at = wall;
        if (sayer->at < wall - list->kept)
            sayer->client = 0;
    }
}

static struct model_sayer *find_sayer(struct model_list *list, uint32_t client)
{
    for (unsigned i = 0; i < MODEL_SAYERS; i++)
        if (list->sayers[i].client == client)
            return &list->sayers[i];
    return NULL;
}

/* A place for one more: a free one, or that of the sayer who would be forgotten first. */
static struct model_sayer *find_place(struct model_list *list)
{
    struct model_sayer *place = &list->sayers[0];
    for (unsigned i = 0; i < MODEL_SAYERS && place->client; i++)
        if (!list->sayers[i].client || list->sayers[i].at < place->at)
            place = &list->sayers[i];
    return place;
}

/* ---- saying ---------------------------------------------------------------------- */

static struct model_list *make(struct model_master *master, usec wall,
                               const struct model_kind *kind)
{
    for (unsigned i = 0; i < MODEL_LISTS; i++) {
        struct model_list *list = &master->data.lists[i];
        if (list->place)
            continue;
        *list = (struct model_list){
            .place = ++master->data.places, .first = wall, .last = wall, .kind = *kind};
        return list;
    }
    return NULL;
}

static void hear_processes(struct model_list *list, usec wall, const struct model_agree *agree)
{
    for (unsigned i = 0; i < agree->kind.masters; i++) {
        struct model_process *process = &list->processes[i];
        if (!agree->run_ids[i])
            continue;
        if (process->run_id != agree->run_ids[i])
            *process = (struct model_process){agree->run_ids[i], wall, agree->told_time};
        if (process->until < agree->told_time)
            process->until = agree->told_time;
    }
}

static void say(struct model_master *master, usec wall, const struct model_agree *agree)
{
    struct model_list *list = find(master, &agree->kind);
    if (!list)
        list = make(master, wall, &agree->kind);
    if (!list)
        return;
    struct model_sayer *sayer = find_sayer(list, agree->client);
    if (!sayer)
        sayer = find_place(list);
    list->last = wall;
    list->kept = agree->kept > list->kept ? agree->kept : list->kept;
    hear_processes(list, wall, agree);
    *sayer = (struct model_sayer){agree->client, wall};
}

static void take_back(struct model_master *master, const struct model_agree *agree)
{
    struct model_list *list = find(master, &agree->kind);
    struct model_sayer *sayer = list ? find_sayer(list, agree->client) : NULL;
    if (sayer)
        sayer->client = 0;
}

/* ---- the end of a list -------------------------------------------------------------- */

/* Of these masters; without any it finds a free place. */
static struct model_end *find_end(struct model_master *master, const struct model_kind *kind)
{
    for (unsigned i = 0; i < MODEL_ENDS; i++) {
        struct model_end *end = &master->data.ends[i];
        if (end->masters == kind->masters &&
            memcmp(end->addresses, kind->addresses, kind->masters) == 0)
            return end;
    }
    return NULL;
}

void model_end_list(struct model_master *master, const struct model_kind *kind, unsigned successor)
{
    static const struct model_kind none;
    struct model_end *end = find_end(master, kind);
    if (!end)
        end = find_end(master, &none);
    if (!end) {
        master->data.is_full = true;
        return;
    }
    *end = (struct model_end){.masters = kind->masters, .successor = successor};
    memcpy(end->addresses, kind->addresses, kind->masters);
}

static void note_change(struct model_master *master, usec wall)
{
    usec last = master->data.changes;
    master->data.changes = wall > last ? wall : last + 1;
}

/* True: it is over from now on. */
static bool hear_of_end(struct model_master *master, usec wall, const struct model_agree *agree)
{
    struct model_end *end = find_end(master, &agree->kind);
    bool ends = agree->says == SAYS_OVER && !end;
    bool is_taken_back =
        agree->says == SAYS_NOT_OVER && end && agree->changes == master->data.changes;
    if (ends)
        model_end_list(master, &agree->kind, agree->successor);
    else if (is_taken_back)
        end->masters = 0;
    if (ends || is_taken_back)
        note_change(master, wall);
    return ends;
}

/* ---- telling --------------------------------------------------------------------- */

static void tell(const struct model_list *list, const struct model_list *own, usec wall,
                 struct model_told *told)
{
    *told = (struct model_told){.place = list == own                       ? '='
                                         : own && own->place < list->place ? '>'
                                                                           : '<',
                                .first_ago = wall - list->first,
                                .last_ago = wall - list->last,
                                .clients = clients(list, wall),
                                .kind = list->kind};
    for (unsigned i = 0; i < list->kind.masters; i++) {
        const struct model_process *process = &list->processes[i];
        if (process->run_id)
            told->processes[i] = (struct model_process){process->run_id, wall - process->since,
                                                        wall - process->until};
    }
}

static void sweep_all(struct model_master *master, usec wall)
{
    for (unsigned i = 0; i < MODEL_LISTS; i++) {
        struct model_list *list = &master->data.lists[i];
        sweep(list, wall);
        if (!clients(list, wall))
            list->place = 0;
    }
}

void model_agree(struct model_master *master, usec wall, struct model_agree *agree)
{
    bool stands_in = hear_of_end(master, wall, agree) && master->refused_writes;
    const struct model_end *end = find_end(master, &agree->kind);
    if (agree->says == SAYS_NO_MORE)
        take_back(master, agree);
    bool says = stands_in || (agree->says == SAYS_OURS && !end);
    if (says || agree->says == SAYS_NO_MORE)
        sweep_all(master, wall);
    if (says)
        say(master, wall, agree);
    const struct model_list *own = find(master, &agree->kind);
    own = own && clients(own, wall) ? own : NULL;
    agree->successor = end ? end->successor : 0;
    agree->changes =
        agree->says == SAYS_OURS || agree->says == SAYS_NO_MORE ? 0 : master->data.changes;
    agree->told_count = 0;
    for (unsigned i = 0; i < MODEL_LISTS; i++)
        if (master->data.lists[i].place && clients(&master->data.lists[i], wall))
            tell(&master->data.lists[i], own, wall, &agree->told[agree->told_count++]);
}
