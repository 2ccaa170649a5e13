/*
 * testing.c - the functions of redlock/testing.h.
 */
#include "redlock/testing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "conns.h"
#include "double.h"
#include "test_loop.h"

#define TEN_YEARS_MS INT64_C(315360000000)
#define DAY_MS       86400000
#define MARKED_MS    DAY_MS                           /* the longest ttl */
#define OTHER_HOLDER "anotherHolderOfTests_A:another" /* as tokens of clients are */

static _Thread_local char why[256];

const char *redlock_testing_why(void)
{
    return why;
}

__attribute__((format(printf, 2, 3))) static redlock_code refuse(redlock_code code,
                                                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return code;
}

/* ---- time ------------------------------------------------------------------------------------ */

redlock_code redlock_testing_begin(redlock_testing_time time)
{
    if (time != REDLOCK_TESTING_REAL && time != REDLOCK_TESTING_VIRTUAL)
        return refuse(REDLOCK_E_ARGUMENT, "there is no time of the kind %d", (int)time);
    masters_are_needed();
    masters_lock();
    bool is_used = conns_clients() > 0;
    if (!is_used) {
        clock_begin(time == REDLOCK_TESTING_VIRTUAL);
        test_loop_begin();
        conns_forget();
        masters_begin();
    }
    masters_unlock();
    return is_used
               ? refuse(REDLOCK_E_STATE, "a client of the masters is still there: free it first")
               : REDLOCK_OK;
}

redlock_code redlock_testing_advance(int64_t ms)
{
    if (ms < 0 || ms > TEN_YEARS_MS)
        return refuse(REDLOCK_E_ARGUMENT, "time goes on by 0 ms to 10 years, not by %lld ms",
                      (long long)ms);
    if (!double_is_virtual())
        return refuse(REDLOCK_E_STATE, "time is real: call "
                                       "redlock_testing_begin(REDLOCK_TESTING_VIRTUAL) first");
    if (!double_is_here())
        return refuse(REDLOCK_E_STATE, "virtual time belongs to the thread that began it");
    if (double_runs())
        return refuse(REDLOCK_E_STATE, "a callback cannot advance the time that it is called in");
    if (!test_loop_run(MS(ms)))
        return refuse(REDLOCK_E_STATE, "the clients never come to rest: perhaps a callback asks "
                                       "again at once, each time");
    return REDLOCK_OK;
}

int64_t redlock_testing_now_ms(void)
{
    return double_is_virtual() ? clock_since_begin() / 1000 : 0;
}

/* ---- what befalls a master --------------------------------------------------------------------
 */

/* With the lock, if there is such a master; NULL without it. */
static struct inside *take_master(unsigned master)
{
    if (master >= MASTERS_MAX) {
        refuse(REDLOCK_E_ARGUMENT, "there is no master %u: the last one is %u", master,
               MASTERS_MAX - 1);
        return NULL;
    }
    masters_are_needed();
    masters_lock();
    return &masters[master];
}

static redlock_code leave_master(const struct inside *master)
{
    conns_look((unsigned)(master - masters));
    masters_unlock();
    return REDLOCK_OK;
}

redlock_code redlock_testing_kill(unsigned index)
{
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    master->up = master->hangs = false;
    conns_end(index);
    return leave_master(master);
}

redlock_code redlock_testing_restart(unsigned index, bool with_data)
{
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    conns_end(index);
    master_restart(master, with_data);
    return leave_master(master);
}

redlock_code redlock_testing_hang(unsigned index, bool hangs)
{
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    bool may = master->up || !hangs;
    master->hangs = hangs && may;
    leave_master(master);
    return may ? REDLOCK_OK
               : refuse(REDLOCK_E_STATE, "master %u was killed: start it again first", index);
}

redlock_code redlock_testing_cut(unsigned index, bool cut)
{
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    master->is_cut = cut;
    return leave_master(master);
}

redlock_code redlock_testing_forget(unsigned index)
{
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    master_forget(master);
    return leave_master(master);
}

redlock_code redlock_testing_lie(unsigned index, bool lies)
{
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    master->lies = lies;
    return leave_master(master);
}

redlock_code redlock_testing_step_clock(unsigned index, int64_t ms)
{
    if (ms < -TEN_YEARS_MS || ms > TEN_YEARS_MS)
        return refuse(REDLOCK_E_ARGUMENT, "a clock is stepped by 10 years at most");
    struct inside *master = take_master(index);
    if (!master)
        return REDLOCK_E_ARGUMENT;
    usec stepped = master->stepped + MS(ms);
    bool may = stepped >= -MS(TEN_YEARS_MS) && stepped <= MS(TEN_YEARS_MS);
    master->stepped = may ? stepped : master->stepped;
    leave_master(master);
    return may ? REDLOCK_OK
               : refuse(REDLOCK_E_ARGUMENT, "a clock is stepped by 10 years at most, in all");
}

/* ---- another holder
 * ------------------------------------------------------------------------------ */

static struct model_answer answer; /* under the lock */

static enum answer ask(unsigned index, struct model_call call)
{
    call.whole = true;
    call.count = 1;
    master_execute(&masters[index], &call, &answer);
    conns_publish(index, &answer);
    return answer.answer;
}

static enum answer release(unsigned index, unsigned name, uint32_t token, int64_t marked_ms)
{
    return ask(index, (struct model_call){.kind = REQUEST_RELEASE,
                                          .names[0] = (model_name)name,
                                          .value = token,
                                          .ttl_ms = marked_ms});
}

static uint32_t value_on(unsigned index, unsigned name)
{
    return model_value(&masters[index].model, master_wall(&masters[index]), name);
}

static bool is_there(unsigned index)
{
    const struct inside *master = &masters[index];
    return master->up && !master->hangs && !master->is_cut;
}

/* With the lock, if it is REDLOCK_OK. */
static redlock_code take_key(const char *key, unsigned *name)
{
    size_t length = key ? strlen(key) : 0;
    unsigned there = 0;
    if (!length || length > REDLOCK_NAME_MAX)
        return refuse(REDLOCK_E_ARGUMENT, "a key has 1 to %d bytes", REDLOCK_NAME_MAX);
    masters_are_needed();
    masters_lock();
    masters_sweep();
    *name = texts_number(&names, (struct slice){key, length});
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        there += is_there(i);
    if (*name && there)
        return REDLOCK_OK;
    masters_unlock();
    return *name ? refuse(REDLOCK_E_UNAVAILABLE, "no master can be reached")
                 : refuse(REDLOCK_E_ARGUMENT, "there is no room for one more name");
}

redlock_code redlock_testing_hold(const char *key, int64_t ttl_ms)
{
    unsigned name, held = 0;
    if (ttl_ms < 1 || ttl_ms > DAY_MS)
        return refuse(REDLOCK_E_ARGUMENT, "the ttl must be 1 ms to 24 hours");
    redlock_code code = take_key(key, &name);
    if (code)
        return code;
    uint32_t token = texts_number(&tokens, slice_of(OTHER_HOLDER));
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        held += is_there(i) && value_on(i, name);
    for (unsigned i = 0; i < MASTERS_MAX && !held; i++)
        if (is_there(i))
            ask(i, (struct model_call){.kind = REQUEST_ACQUIRE,
                                       .names[0] = (model_name)name,
                                       .value = token,
                                       .ttl_ms = ttl_ms});
    masters_unlock();
    return held ? refuse(REDLOCK_E_HELD, "%u masters have a holder of \"%.100s\"", held, key)
                : REDLOCK_OK;
}

redlock_code redlock_testing_give(const char *key)
{
    unsigned name, given = 0;
    redlock_code code = take_key(key, &name);
    if (code)
        return code;
    uint32_t token = texts_number(&tokens, slice_of(OTHER_HOLDER));
    for (unsigned i = 0; i < MASTERS_MAX; i++)
        given += is_there(i) && release(i, name, token, 0) == ANSWER_YES;
    masters_unlock();
    return given ? REDLOCK_OK
                 : refuse(REDLOCK_E_STATE, "redlock_testing_hold() does not hold \"%.100s\"", key);
}

static bool take_from_readers(unsigned index, unsigned name)
{
    struct model_master *model = &masters[index].model;
    bool any = false;
    for (unsigned i = 0; i < MODEL_READERS; i++) {
        const struct model_reader *reader = &model->data.readers[i];
        if (reader->value && reader->name == name)
            any |= release(index, name, reader->value, MARKED_MS) == ANSWER_YES;
    }
    return any;
}

redlock_code redlock_testing_break(const char *key)
{
    unsigned name = 0, taken = 0;
    redlock_code code = take_key(key, &name);
    if (code)
        return code;
    for (unsigned i = 0; i < MASTERS_MAX; i++) {
        uint32_t value = is_there(i) ? value_on(i, name) : 0;
        if (value == MODEL_MARK)
            taken += take_from_readers(i, name);
        else if (value)
            taken += release(i, name, value, MARKED_MS) == ANSWER_YES;
    }
    masters_unlock();
    return taken ? REDLOCK_OK : refuse(REDLOCK_E_STATE, "nobody has \"%.100s\"", key);
}
