/*
 * option_file.h - what the file of settings says where command line and environment say nothing.
 */
#ifndef REDLOCK_TOOLS_OPTION_FILE_H
#define REDLOCK_TOOLS_OPTION_FILE_H

#include "misuse.h"

/* Notes this origin for each setting that has a value by now, and had none before. */
void option_note_origin(struct options *options, enum origin origin);

/* GO_ON, or the exit status after an error message. */
int option_file(struct options *options);

#endif
