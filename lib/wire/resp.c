#include "resp.h"

/* Of a number that an int64_t can have: its last limit has 20 digits. */
static unsigned count_digits(uint64_t number)
{
    if (number < 100)
        return number < 10 ? 1 : 2;
    if (number < 100000) /* most ttls */
        return number < 1000 ? 3 : number < 10000 ? 4 : 5;
    unsigned count = 6;
    for (uint64_t limit = 1000000; number >= limit; limit *= 10)
        count++;
    return count;
}

/* Two at a time: each request has some. */
static char *put_digits(char *to, uint64_t number, unsigned count)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    char *end = to + count, *at = end;
    for (; number >= 100; number /= 100)
        at = memcpy(at - 2, pairs + 2 * (number % 100), 2);
    if (number >= 10)
        memcpy(to, pairs + 2 * number, 2);
    else
        *to = (char)('0' + number);
    return end;
}

char *put_header(char *to, char type, uint64_t number)
{
    *to++ = type;
    if (number < 10)
        *to++ = (char)('0' + number);
    else
        to = put_digits(to, number, count_digits(number));
    return PUT(to, "\r\n");
}

char *put_bulk(char *to, const void *bytes, size_t length)
{
    to = put_header(to, '$', length);
    to = put_bytes(to, bytes, length);
    return PUT(to, "\r\n");
}

char *put_integer(char *to, int64_t number)
{
    bool negative = number < 0;
    uint64_t magnitude = negative ? -(uint64_t)number : (uint64_t)number;
    unsigned digits = count_digits(magnitude);
    to = put_header(to, '$', negative + digits);
    if (negative)
        *to++ = '-';
    to = put_digits(to, magnitude, digits);
    return PUT(to, "\r\n");
}
