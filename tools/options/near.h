/*
 * near.h - the word that somebody may have meant.
 */
#ifndef REDLOCK_TOOLS_NEAR_H
#define REDLOCK_TOOLS_NEAR_H

struct near {
    const char *word; /* as it was typed */
    unsigned most;    /* slips */
    const char *best; /* NULL: none was near enough */
};

struct near near_to(const char *word);
/* Of two that are equally near the first one stays. */
void near_try(struct near *near, const char *candidate);

#endif
