/*
 * command_reader.h - what a client writes, byte for byte → what it asks of a master.
 *
 * Written from the documents of Redis and the heads of lib/wire/scripts, not from
 * lib/wire/command.c, which it judges.
 */
#ifndef SIM_COMMAND_READER_H
#define SIM_COMMAND_READER_H

#include <sys/types.h>

#include "client_shell.h"
#include "command.h"
#include "ground/names.h"

#define WORDS_MAX (8 + 5 * BATCH_MAX)

struct words {
    unsigned count;
    struct slice each[WORDS_MAX];
};

/* The first whole command.  Returns its length; 0: it has not come as a whole; -1: it is none. */
ssize_t words_read(struct words *words, const char *bytes, size_t length);

enum asks {
    ASKS_NONSENSE,
    ASKS_REQUESTS,
    ASKS_LOGIN, /* when a connection begins, these */
    ASKS_DATABASE,
    ASKS_NAME,
    ASKS_ID,
    ASKS_LOAD,
    ASKS_INFO,
    ASKS_SUBSCRIBE,
    ASKS_PING
};

struct asked {
    enum asks asks;
    struct slice word; /* NAME, SUBSCRIBE */
    const char *hash;  /* LOAD: of the script */
    unsigned count;    /* REQUESTS */
    struct model_call calls[BATCH_MAX];
    int64_t kill_id;
};

void command_read(struct shell *shell, const struct words *words, struct asked *asked);

#endif
