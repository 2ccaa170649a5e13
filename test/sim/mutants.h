/*
 * mutants.h - the simulator with one of its rules broken is another program: mutants.sh builds it.
 */
#ifndef SIM_MUTANTS_H
#define SIM_MUTANTS_H

/* Has mutants.sh carry out what the words ask for; returns only if it cannot. */
void mutants_hand_over(char **words);

#endif
