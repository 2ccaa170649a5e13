/*
 * What a search has found, in words: one line for each step.
 */
#ifndef SHARED_STORY_H
#define SHARED_STORY_H

#include "world.h"

const char *story_wrong(enum wrong wrong);
void story_print(const struct search *search);

#endif
