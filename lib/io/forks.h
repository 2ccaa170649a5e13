/*
 * forks.h - the number of this process, by which a forked child is noticed.
 *
 * fork(), _Fork() and clone(2) are all noticed: the number is kept on a page that the kernel
 * wipes in a child.  Without such pages (Linux before 4.14) fork() alone is noticed.  A process
 * that shares its parent's memory has the parent's number, like a thread.
 */
#ifndef REDLOCK_IO_FORKS_H
#define REDLOCK_IO_FORKS_H

/* Begins to watch for forks; 0 or -1.  To be called before forks_process(); any thread, any number
 * of times. */
int forks_watch(void);

/* A number that no ancestor of this process has had.  Any thread. */
unsigned forks_process(void);

#endif
