#include "near.h"

#include <string.h>

#define LONGEST   40 /* letters of a word that is compared */
#define SLIPS_OF  3  /* letters, for each slip that is believed */
#define MOST_EVER 2

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters were left out, added, mistaken, or swapped with their neighbour. */
static unsigned count_slips(const char *a, const char *b)
{
    unsigned slips[LONGEST + 1][LONGEST + 1];
    size_t rows = strlen(a), columns = strlen(b);
    for (size_t i = 0; i <= rows; i++) {
        for (size_t k = 0; k <= columns; k++) {
            unsigned here =
                i && k ? slips[i - 1][k - 1] + (a[i - 1] != b[k - 1]) : (unsigned)(i + k);
            if (i && k)
                here = least(here, 1 + least(slips[i - 1][k], slips[i][k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                here = least(here, 1 + slips[i - 2][k - 2]);
            slips[i][k] = here;
        }
    }
    return slips[rows][columns];
}

struct near near_to(const char *word)
{
    size_t length = strlen(word);
    unsigned most = least(MOST_EVER, (unsigned)length / SLIPS_OF);
    return (struct near){.word = word, .most = length <= LONGEST ? most : 0};
}

void near_try(struct near *near, const char *candidate)
{
    unsigned slips = near->most && strlen(candidate) <= LONGEST ? count_slips(near->word, candidate)
                                                                : MOST_EVER + 1;
    if (slips > near->most)
        return;
    near->best = candidate;
    near->most = slips ? slips - 1 : 0;
}
