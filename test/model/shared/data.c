/*
 * The keys of one name on a master.  The name is free, or has a writer's token, or the
 * marker, which stands for the readers of the set.  A reader is there only if the name has
 * the marker and its own score is not over (R1).  Marker and set end together, with the last
 * reader (R3).  Where there is no time, all that is there lasts.
 */
#include "world.h"

static bool is_member(const struct data *data, int owner)
{
    return (owner >= GIVEN_BACK ? data->ghosts : data->members) & bit_of(owner);
}

bool data_is_reader(const struct rules *rules, const struct data *data, int owner)
{
    if (data->name != MARK || !is_member(data, owner))
        return false;
    return owner >= GIVEN_BACK || data->score[owner - TOKEN] ||
           broken(rules, EXPIRED_READER_COUNTS);
}

bool data_is_only_reader(const struct data *data, int owner)
{
    if (data->ghosts)
        return false;
    for (int c = 0; c < CLIENTS; c++)
        if (TOKEN + c != owner && data->score[c])
            return false;
    return true;
}

bool data_has(const struct rules *rules, const struct data *data, int owner)
{
    return data->name == owner || data_is_reader(rules, data, owner);
}

bool data_can_have(const struct rules *rules, const struct data *data, bool alone)
{
    if (data->name == FREE)
        return true;
    if (alone)
        return data->name == MARK && broken(rules, TAKES_FROM_READERS);
    return data->name == MARK || broken(rules, JOINS_WRITER);
}

static void delete_set(struct data *data)
{
    data->members = data->ghosts = 0;
    for (int c = 0; c < CLIENTS; c++)
        data->score[c] = 0;
}

static void add_reader(const struct rules *rules, struct data *data, int owner)
{
    int c = (owner - TOKEN) % CLIENTS;
    uint8_t ttl = ttl_of(rules, c);
    if (owner >= GIVEN_BACK) {
        data->ghosts |= bit_of(owner);
    } else {
        data->members |= bit_of(owner);
        data->score[c] = larger(data->score[c], ttl);
    }
    data->left = broken(rules, READERS_OWN_TTL) ? ttl : larger(data->left, ttl);
}

void data_give(const struct rules *rules, struct data *data, int owner, bool alone)
{
    if (alone) {
        data->left = ttl_of(rules, (owner - TOKEN) % CLIENTS);
        data->name = owner;
        return;
    }
    if (data->name != MARK) {
        if (!broken(rules, SET_NOT_DELETED))
            delete_set(data);
        data->name = MARK;
        data->left = 0;
    }
    add_reader(rules, data, owner);
}

void data_prolong(const struct rules *rules, struct data *data, int owner)
{
    if (data->name == owner)
        data->left = larger(data->left, ttl_of(rules, (owner - TOKEN) % CLIENTS));
    else
        add_reader(rules, data, owner);
}

static uint8_t last_score(const struct data *data)
{
    uint8_t last = data->ghosts != 0;
    for (int c = 0; c < CLIENTS; c++)
        last = larger(last, data->score[c]);
    return last;
}

static void remove_reader(const struct rules *rules, struct data *data, int owner)
{
    if (owner >= GIVEN_BACK) {
        data->ghosts &= ~bit_of(owner);
    } else {
        data->members &= ~bit_of(owner);
        data->score[owner - TOKEN] = 0;
    }
    if (data->name != MARK)
        return;
    bool is_last = !last_score(data) && !broken(rules, MARKER_LEFT);
    data->left = last_score(data);
    if (is_last || broken(rules, MARKER_DELETED)) {
        data->name = FREE;
        delete_set(data);
    }
}

void data_take_back(const struct rules *rules, struct data *data, int owner, bool alone)
{
    bool by_mode = broken(rules, RELEASED_BY_MODE);
    if (data->name == owner && !(by_mode && !alone))
        data->name = FREE;
    else if (is_member(data, owner) && !(by_mode && alone))
        remove_reader(rules, data, owner);
}

void data_tick(const struct rules *rules, struct data *data)
{
    pass(&data->left);
    for (int c = 0; c < CLIENTS; c++) {
        pass(&data->score[c]);
        if (!data->score[c] && !broken(rules, EXPIRED_READER_COUNTS))
            data->members &= ~(1 << c);
    }
    if (!data->left && data->name == MARK)
        delete_set(data);
    if (!data->left)
        data->name = FREE;
}
