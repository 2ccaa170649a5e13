/*
 * asserts.h - asserts about the library's texts; a failure shows the text that came instead.
 */
#ifndef REDLOCK_TEST_ASSERTS_H
#define REDLOCK_TEST_ASSERTS_H

/* Does a text, of one line or of many, contain this? */
#define assert_says(text, words)                                                                   \
    do {                                                                                           \
        if (!strstr((text), (words)))                                                              \
            fail_msg("\"%s\" does not say \"%s\"", (text), (words));                               \
    } while (0)
#define assert_vote(said, kind_)                                                                   \
    do {                                                                                           \
        if ((said)->kind != (kind_))                                                               \
            fail_msg("vote is %s (%s), not %s", redlock_vote_name((said)->kind), (said)->text,     \
                     redlock_vote_name(kind_));                                                    \
    } while (0)
#define assert_code(got, wanted)                                                                   \
    do {                                                                                           \
        redlock_code got_ = (got), wanted_ = (wanted);                                             \
        if (got_ != wanted_)                                                                       \
            fail_msg("%s, not %s", redlock_code_name(got_), redlock_code_name(wanted_));           \
    } while (0)

#endif
