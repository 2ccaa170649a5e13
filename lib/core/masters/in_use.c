#include "masters/agreement_parts.h"

/* NULL: there is no room for one more. */
static struct list_in_use *find_in_use(struct list_in_use *lists, unsigned *count,
                                       const struct told_list *list)
{
    unsigned i = 0;
    while (i < *count && !told_lists_are_same(&lists[i].list, list))
        i++;
    if (i == LISTS_IN_USE_MOST)
        return NULL;
    if (i == *count)
        lists[(*count)++] = (struct list_in_use){.list = *list};
    return &lists[i];
}

/* One text of the list and the last saying of it; the first saying of all. */
static void add_telling(struct list_in_use *in_use, unsigned teller, const struct told_list *list)
{
    usec first_ago = in_use->list.first_ago;
    unsigned clients = in_use->list.clients;
    if (!in_use->told || list->last_ago < in_use->list.last_ago)
        in_use->list = *list;
    in_use->list.first_ago = first_ago > list->first_ago ? first_ago : list->first_ago;
    in_use->list.clients = clients > list->clients ? clients : list->clients;
    in_use->told |= (uint16_t)(1U << teller);
}

/* Finds the list in what the master tells. */
static bool find_told(const struct engine *e, unsigned teller, const struct told_list *list,
                      struct side *side)
{
    struct told_list told;
    struct slice text = agreement_text(e, teller);
    while (told_list_next(&text, &told))
        if (told_lists_are_same(&told, list)) {
            *side = side_of_theirs(&told, &e->masters[teller].word);
            return true;
        }
    return false;
}

/* The number of masters that tell facts of list a by which it may not be used beside b, as some
 * master tells that. */
static unsigned count_unsafe(const struct engine *e, const struct list_in_use *a,
                             const struct list_in_use *b)
{
    unsigned unsafe = 0;
    struct side ours, theirs;
    for (unsigned i = 0; i < e->config.masters; i++) {
        bool is_unsafe = false;
        if (!find_told(e, i, &a->list, &ours))
            continue;
        for (unsigned j = 0; j < e->config.masters && !is_unsafe; j++)
            is_unsafe = find_told(e, j, &b->list, &theirs) &&
                        (sides_may_not_meet(&ours, &theirs) || sides_may_not_meet(&theirs, &ours));
        unsafe += is_unsafe;
    }
    return unsafe;
}

static void compare(const struct engine *e, struct list_in_use *lists, unsigned i, unsigned j)
{
    const struct told_list *a = &lists[i].list, *b = &lists[j].list;
    unsigned f = a->spare < b->spare ? a->spare : b->spare;
    bool is_unsafe =
        count_unsafe(e, &lists[i], &lists[j]) > f && count_unsafe(e, &lists[j], &lists[i]) > f;
    lists[i].unsafe |= (uint16_t)(is_unsafe << j);
    lists[j].unsafe |= (uint16_t)(is_unsafe << i);
}

static unsigned gather_lists(const struct engine *e, struct list_in_use *lists)
{
    unsigned count = 0;
    struct told_list list;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct slice text = agreement_text(e, i);
        while (told_list_next(&text, &list)) {
            struct list_in_use *in_use = find_in_use(lists, &count, &list);
            usec age = e->now - e->masters[i].word.heard_at;
            list.first_ago += age;
            list.last_ago += age;
            if (in_use)
                add_telling(in_use, i, &list);
        }
    }
    return count;
}

/* The list that was said first comes first. */
static void sort_lists(struct list_in_use *lists, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j && lists[j].list.first_ago > lists[j - 1].list.first_ago; j--) {
            struct list_in_use later = lists[j - 1];
            lists[j - 1] = lists[j];
            lists[j] = later;
        }
}

unsigned agreement_lists(const struct engine *e, struct list_in_use *lists)
{
    unsigned count = gather_lists(e, lists);
    sort_lists(lists, count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            compare(e, lists, i, j);
    return count;
}

unsigned agreement_count(const struct engine *e)
{
    struct list_in_use lists[LISTS_IN_USE_MOST];
    unsigned count = gather_lists(e, lists);
    bool is_ours = false, is_said = false;
    for (unsigned i = 0; i < count; i++)
        is_ours |= lists[i].list.place == '=';
    for (unsigned i = 0; i < e->config.masters; i++)
        is_said |= agreement_has_word(e, i) && e->masters[i].word.time && agreement_may_say(e);
    return count + (is_said && !is_ours);
}
