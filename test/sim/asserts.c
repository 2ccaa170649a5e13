/*
 * asserts.c - the simulator's core aborts at a call that breaks its assumptions: each case runs in
 * a process of its own, which must abort.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../plain_memory.h"
#include "engine.h"
#include "ground/shared.h"
#include "lease/lease.h"

static struct engine engine;
static bool calls_back;

static void step(const struct event *event)
{
    engine_step(&engine, 1, &(struct randomness){0}, event);
}

static void emit(void *shell, const struct effect *effect)
{
    (void)shell, (void)effect;
    if (calls_back)
        step(&(struct event){.kind = EVENT_TIMER});
}

static void begin(void)
{
    struct engine_config config = {.masters = 1, .max_ttl_ms = 1000, .connect_timeout = MS(100)};
    struct memory memory = PLAIN_MEMORY;
    struct sink sink = {emit, NULL};
    if (!engine_init(&engine, &config, &memory, &sink, 1))
        exit(1);
    engine_start(&engine, 1);
}

static void an_honest_shell(void)
{
    step(&(struct event){.kind = EVENT_CLOSE});
}

static void an_effect_that_calls_the_core(void)
{
    calls_back = true;
    step(&(struct event){.kind = EVENT_CLOSE});
}

static void a_master_that_is_not_there(void)
{
    step(&(struct event){.kind = EVENT_CONNECTED, .master = 1});
}

static void a_connection_that_ends_twice(void)
{
    step(&(struct event){.kind = EVENT_CLOSED});
    step(&(struct event){.kind = EVENT_CLOSED});
}

static void an_answer_to_nothing(void)
{
    struct reply reply = {.tag.kind = REQUEST_KILL, .answer = ANSWER_YES};
    step(&(struct event){.kind = EVENT_REPLY, .reply = &reply});
}

static void a_clock_that_goes_back(void)
{
    engine_step(&engine, 0, NULL, &(struct event){.kind = EVENT_CLOSE});
}

static bool aborts(void (*what)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        begin();
        what();
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

int main(void)
{
    void (*const broken[])(void) = {an_effect_that_calls_the_core, a_master_that_is_not_there,
                                    a_connection_that_ends_twice, an_answer_to_nothing,
                                    a_clock_that_goes_back};
    unsigned unnoticed = aborts(an_honest_shell);
    for (unsigned i = 0; i < sizeof broken / sizeof *broken; i++)
        unnoticed += !aborts(broken[i]);
    printf("%u of %zu cases are not as expected\n", unnoticed, 1 + sizeof broken / sizeof *broken);
    return unnoticed != 0;
}
