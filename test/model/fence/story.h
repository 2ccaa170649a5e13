/*
 * What a search has found, in words: one line for each step.
 */
#ifndef FENCE_STORY_H
#define FENCE_STORY_H

#include "../search.h"

void fence_story(const struct search *search);

#endif
