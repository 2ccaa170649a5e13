/*
 * syscalls.h - system calls a pair, counted in runs of their own under strace.
 */
#ifndef BENCH_SYSCALLS_H
#define BENCH_SYSCALLS_H

#include "scenario.h"

/* Negative: not measured, because strace is missing or not allowed to trace. */
double syscalls_per_pair(const struct options *options, const struct cluster *cluster);

#endif
