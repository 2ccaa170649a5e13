/*
 * turns.h - before lib/client/pump.c: how many calls about leases a client carries out in a turn.
 */
#ifndef SIM_TURNS_H
#define SIM_TURNS_H

extern unsigned calls_a_turn;
#define CALLS_A_TURN calls_a_turn
#define TURN_USUAL   1024

#endif
