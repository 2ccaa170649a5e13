/* The metrics as a scraper reads them, with names of masters that OpenMetrics must quote. */
#include "unit.h"

#include <ev.h>
#include <redlock.h>
#include <stdlib.h>

CASE(labels_are_escaped)
{
    struct ev_loop *loop = ev_loop_new(0);
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock *client;
    options.nodes = "unix:///nowhere/a\"b\\c";
    assert_int_equal(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    size_t length = redlock_stats_text(client, NULL, 0);
    char *text = malloc(length + 1);
    assert_int_equal(redlock_stats_text(client, text, length + 1), length);
    assert_non_null(strstr(text, "\nredlock_master_up{master=\"unix:/nowhere/a\\\"b\\\\c\"} 0\n"));
    free(text);
    redlock_free(client);
    ev_loop_destroy(loop);
}

PROGRAM_OF_CASES(NULL, NULL)
