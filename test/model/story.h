/*
 * What a search has found, in words: one line for each step.
 */
#ifndef MODEL_STORY_H
#define MODEL_STORY_H

#include "search.h"

void story_print(const struct search *search);

#endif
