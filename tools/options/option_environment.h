/*
 * option_environment.h - what the environment says where the command line says nothing,
 * and what the file of settings says where neither does.
 */
#ifndef REDLOCK_TOOLS_OPTION_ENVIRONMENT_H
#define REDLOCK_TOOLS_OPTION_ENVIRONMENT_H

#include "misuse.h"

int option_environment(struct options *options);

#endif
