/*
 * nodes_file.h - reads a list of masters from a file, so that no password needs to
 * stand in an environment or on a command line.
 */
#ifndef REDLOCK_IO_NODES_FILE_H
#define REDLOCK_IO_NODES_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The text of the file without its comments, to be freed with nodes_file_free(); NULL with a
 * sentence in `why` on failure; errno is 0 if the file is no list.  `again`: it was read before, so
 * it must be a plain file: what came through a pipe is gone, and a pipe may keep its reader. */
char *nodes_file_read(const char *path, bool again, char *why, size_t why_size);

/* Wipes the list before it frees it. */
void nodes_file_free(char *list);

#endif
