#include "lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer_writer.h"
#include "model_tasks.h"
#include "texts.h"

#define KEY         "redlock:lists:"
#define FLEETS      8
#define FIRST_ENTRY 10 /* behind the count of keys, the key, and the arguments of all lists */

/* One master's lists of one fleet. */
struct fleet {
    uint32_t name; /* 0: none */
    struct model_list lists[MODEL_LISTS];
    int64_t places;
};

static struct fleet fleets[MASTERS_MAX][FLEETS];
static struct texts fleet_names, clients, addresses = {.most = UINT8_MAX};
static struct model_master one; /* of which only the lists are used */

static struct {
    uint32_t fleet;
    struct model_agree agree;
} heard;

/* ---- hearing --------------------------------------------------------------------------------- */

static int64_t number_of(struct slice word)
{
    return strtoll(word.bytes, NULL, 10); /* a line end follows */
}

static uint64_t run_id_of(struct slice word)
{
    char digits[17] = ""; /* the model knows the first ones */
    memcpy(digits, word.bytes, word.length < 16 ? word.length : 16);
    return strtoull(digits, NULL, 16);
}

/* Addresses ascend by their numbers. */
static void add_entry(struct model_agree *agree, uint8_t address, uint64_t run_id)
{
    unsigned at = agree->kind.masters++;
    for (; at > 0 && agree->kind.addresses[at - 1] > address; at--) {
        agree->kind.addresses[at] = agree->kind.addresses[at - 1];
        agree->run_ids[at] = agree->run_ids[at - 1];
    }
    agree->kind.addresses[at] = address;
    agree->run_ids[at] = run_id;
}

static bool hear_entries(const struct words *words, unsigned at, struct model_agree *agree)
{
    for (; at + 1 < words->count; at += 2) {
        uint32_t address = texts_number(&addresses, words->each[at]);
        if (!address || agree->kind.masters == MASTERS_MAX)
            return false;
        add_entry(agree, (uint8_t)address, run_id_of(words->each[at + 1]));
    }
    return at == words->count && agree->kind.masters;
}

static bool is_key(struct slice key)
{
    return key.length >= sizeof KEY - 1 && memcmp(key.bytes, KEY, sizeof KEY - 1) == 0;
}

bool lists_hear(void *owner, const struct words *words, unsigned at)
{
    const struct slice *each = words->each + at;
    (void)owner;
    if (words->count < at + FIRST_ENTRY + 2 || number_of(each[0]) != 1 || !is_key(each[1]))
        return false;
    struct model_agree agree = {.says = (enum list_saying)number_of(each[2]),
                                .client = texts_number(&clients, each[3]),
                                .kept = number_of(each[5]),
                                .kind.quorum = (uint8_t)number_of(each[6]),
                                .kind.spare = (uint8_t)number_of(each[7]),
                                .kind.max_ttl_ms = number_of(each[8]),
                                .told_time = number_of(each[9])};
    heard.fleet = texts_number(&fleet_names, each[1]);
    if (agree.says > SAYS_OURS || !heard.fleet || !hear_entries(words, at + FIRST_ENTRY, &agree))
        return false;
    heard.agree = agree;
    return true;
}

/* ---- telling --------------------------------------------------------------------------------- */

static struct fleet *fleet_of(unsigned master, uint32_t name)
{
    struct fleet *free = NULL;
    for (unsigned i = 0; i < FLEETS; i++) {
        struct fleet *fleet = &fleets[master][i];
        if (fleet->name == name)
            return fleet;
        if (!free && !fleet->name)
            free = fleet;
    }
    if (free)
        free->name = name;
    return free;
}

static void ask_model(struct fleet *fleet, usec wall)
{
    memcpy(one.data.lists, fleet->lists, sizeof one.data.lists);
    one.data.places = fleet->places;
    model_agree(&one, wall, &heard.agree);
    memcpy(fleet->lists, one.data.lists, sizeof one.data.lists);
    fleet->places = one.data.places;
}

static void put_entry(struct buffer *text, const struct model_told *told, unsigned i)
{
    const struct model_process *process = &told->processes[i];
    char line[128];
    int length = process->run_id ? snprintf(line, sizeof line, "\n%lld %lld %016llx%024d ",
                                            (long long)process->since, (long long)process->until,
                                            (unsigned long long)process->run_id, 0)
                                 : snprintf(line, sizeof line, "\n0 0 - ");
    struct slice address = texts_spell(&addresses, told->kind.addresses[i]);
    buffer_append(text, line, (size_t)length);
    buffer_append(text, address.bytes, address.length);
}

static void put_list(struct buffer *text, const struct model_told *told)
{
    char line[192];
    const struct model_kind *kind = &told->kind;
    int length = snprintf(line, sizeof line, "\n%c %lld %lld %u %u %u %lld %u ", told->place,
                          (long long)told->first_ago, (long long)told->last_ago, told->clients,
                          kind->quorum, kind->spare, (long long)kind->max_ttl_ms, kind->masters);
    buffer_append(text, line, (size_t)length);
    for (unsigned i = 0; i < kind->masters; i++)
        put_entry(text, told, i);
}

void lists_tell(unsigned master, usec wall, struct buffer *to)
{
    struct fleet *fleet = fleet_of(master, heard.fleet);
    struct buffer text = {0};
    char line[32];
    if (!fleet) {
        answer_write_error(to, "ERR the test double has no room for one more fleet");
        return;
    }
    ask_model(fleet, wall);
    buffer_append(&text, line, (size_t)snprintf(line, sizeof line, "%lld", (long long)wall));
    for (unsigned i = 0; i < heard.agree.told_count; i++)
        put_list(&text, &heard.agree.told[i]);
    answer_write_slice(to, (struct slice){text.data ? text.data : "", text.length});
    to->failed |= text.failed;
    buffer_free(&text);
}

void lists_forget(unsigned master)
{
    if (fleets[master][0].name)
        memset(fleets[master], 0, sizeof fleets[master]);
}

void lists_begin(void)
{
    texts_clear(&fleet_names);
    texts_clear(&clients);
    texts_clear(&addresses);
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        lists_forget(i);
}
