/*
 * command_reader.h - what a client writes, byte for byte → what it asks of a master.
 *
 * Written from the documents of Redis and the heads of lib/wire/scripts, not from
 * lib/wire/command.c, which it judges.
 */
#ifndef TESTING_COMMAND_READER_H
#define TESTING_COMMAND_READER_H

#include <sys/types.h>

#include "command.h"
#include "ground/names.h"
#include "model_master.h"

#define WORDS_MAX (8 + 5 * BATCH_MAX)

struct words {
    unsigned count;
    struct slice each[WORDS_MAX];
};

/* The first whole command.  Returns its length; 0: it has not come as a whole; -1: it is none. */
ssize_t words_read(struct words *words, const char *bytes, size_t length);

/* The meaning of the words of clients, for the owner of the master. */
struct dictionary {
    void *owner;
    unsigned (*name)(void *owner, struct slice key); /* MODEL_KEYS: it is none */
    uint32_t (*token)(void *owner, struct slice token);
    uint32_t (*value)(void *owner, struct slice value); /* that is announced */
    /* The number of a client's channel; 0: it is none. */
    uint32_t (*channel)(void *owner, struct slice channel);
    bool (*is_login)(void *owner, struct slice user, struct slice password);
    bool (*is_database)(void *owner, struct slice number);
    /* AGREE, by its words from the `at`-th on; false: they are nonsense. */
    bool (*agree)(void *owner, const struct words *words, unsigned at);
};

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
    struct slice word; /* NAME, SUBSCRIBE; of a SURVEY how the names begin */
    const char *hash;  /* LOAD: of the script */
    unsigned count;    /* REQUESTS */
    struct model_call calls[BATCH_MAX];
    int64_t kill_id;
};

void command_read(const struct dictionary *dictionary, const struct words *words,
                  struct asked *asked);

#endif
