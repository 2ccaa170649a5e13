/*
 * commands.h - a command: its name, its help and what performs it; main.c has the table.
 */
#ifndef REDLOCK_TOOLS_COMMANDS_H
#define REDLOCK_TOOLS_COMMANDS_H

struct options;

/* One bit each, to say which options a command takes. */
enum command_bit {
    FOR_RUN = 1,
    FOR_LOCK = 2,
    FOR_EXTEND = 4,
    FOR_UNLOCK = 8,
    FOR_STATUS = 16,
    FOR_NODES = 32,
    FOR_ELECT = 64,
    FOR_LEADER = 128,
    FOR_BARRIER = 256,
    FOR_LATCH = 512,
    FOR_LIST = 1024,
    FOR_BREAK = 2048,
    FOR_CONFIG = 4096,
    FOR_MASTERS = 8192,
    FOR_ONCE = 16384,
    FOR_ASK = 32768,
    FOR_ALL = 65535
};

struct command {
    const char *name;
    enum command_bit bit;
    int (*perform)(const struct options *options); /* returns the exit status */
    const char *help;
};

int perform_run(const struct options *options);
int perform_lock(const struct options *options);
int perform_extend(const struct options *options);
int perform_unlock(const struct options *options);
int perform_status(const struct options *options);
int perform_list(const struct options *options);
int perform_break(const struct options *options);
int perform_nodes(const struct options *options);
int perform_masters(const struct options *options);
int perform_barrier(const struct options *options);
int perform_latch(const struct options *options);
int perform_leader(const struct options *options);
int perform_ask(const struct options *options);
int perform_config(const struct options *options);

extern const char run_help[], lock_help[], extend_help[], unlock_help[], status_help[],
    nodes_help[], elect_help[], leader_help[], barrier_help[], latch_help[], list_help[],
    break_help[], config_help[], masters_help[], once_help[], ask_help[];

#endif
