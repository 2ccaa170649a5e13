/*
 * sized.h - structs that the caller allocates, which begin with their size.
 *
 * A struct grows at its end only, so its size tells which version of it a caller was compiled with.
 * A size that no version had is that of a struct which nobody has filled: it is refused, and
 * nothing behind the size is touched.
 */
#ifndef REDLOCK_SIZED_H
#define REDLOCK_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct sized {
    const char *name;
    size_t sizes[4]; /* the size now, then those of earlier versions; 0 ends them */
};

/* The size of a struct whose last field was `last`. */
#define SIZE_UP_TO(type, last)                                                                     \
    ((offsetof(type, last) + sizeof(((type *)NULL)->last) + _Alignof(type) - 1) / _Alignof(type) * \
     _Alignof(type))

/* `last` was the last field in version 0.2.0. */
#define SIZED(type, last)                                                                          \
    {                                                                                              \
#type,                                                                                     \
        {                                                                                          \
            sizeof(type), SIZE_UP_TO(type, last)                                                   \
        }                                                                                          \
    }

/* Those that several rooms take. */
#define SIZED_OPTIONS       SIZED(redlock_options, follow)
#define SIZED_LEASE_OPTIONS SIZED(redlock_lease_options, data)
#define SIZED_NAME          SIZED(redlock_name, slot)

/* For printf, of the struct's name, the size that it has, sizes[0], and the name once more. */
#define SIZED_COMPLAINT "%s.size is %zu, and not %zu: set it to sizeof(%s)"

static inline bool sized_is_known(const struct sized *sized, size_t size)
{
    for (size_t i = 0; sized->sizes[i]; i++)
        if (sized->sizes[i] == size)
            return true;
    return false;
}

/* The caller's struct, with zeros in the fields that it lacks; all zeros, and false, if its size is
 * not known. */
static inline bool sized_take(const struct sized *sized, void *to, const void *from)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    memset(to, 0, sized->sizes[0]);
    if (!sized_is_known(sized, size))
        return false;
    memcpy(to, from, size);
    memcpy(to, &sized->sizes[0], sizeof size);
    return true;
}

/* Likewise an element of the caller's array, whose elements have the size of the first. */
static inline bool sized_take_element(const struct sized *sized, void *to, const void *array,
                                      size_t index)
{
    size_t first, size;
    memset(to, 0, sized->sizes[0]);
    memcpy(&first, array, sizeof first);
    const char *at = (const char *)array + index * first;
    if (!sized_is_known(sized, first))
        return false;
    memcpy(&size, at, sizeof size);
    return size == first && sized_take(sized, to, at);
}

/* Fills the caller's struct, whose size is known, as far as that goes. */
static inline void sized_give(void *to, const void *from)
{
    size_t size;
    memcpy(&size, to, sizeof size);
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, size - sizeof size);
}

/* False of a byte that is neither true nor false, which must not be read as a bool. */
static inline bool sized_is_flag(const bool *flag)
{
    unsigned char byte;
    memcpy(&byte, flag, sizeof byte);
    return byte <= 1;
}

#endif
