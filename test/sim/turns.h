/*
 * turns.h - before lib/client: how many calls about leases a client carries out in a turn, and with
 * how many unanswered requests a master is behind.
 */
#ifndef SIM_TURNS_H
#define SIM_TURNS_H

extern unsigned calls_a_turn;
#define CALLS_A_TURN calls_a_turn
#define TURN_USUAL   1024

extern unsigned backlog;
#define BACKLOG       backlog
#define BACKLOG_USUAL 8192

#endif
