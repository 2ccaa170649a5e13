#include "said.h"

#include "numbers.h"

/* "<term> <number> <token> <value>".  Its numbers are those of a reply. */
bool said_read(const char *text, size_t length, struct said *said)
{
    const char *end = text + length, *number, *token, *value;
    if (!(number = memchr(text, ' ', length)) ||
        !(token = memchr(number + 1, ' ', (size_t)(end - number - 1))) ||
        !(value = memchr(token + 1, ' ', (size_t)(end - token - 1))))
        return false;
    *said = (struct said){.token = {token + 1, (size_t)(value - token - 1)},
                          .value = {value + 1, (size_t)(end - value - 1)}};
    return said->token.length > 0 && said->token.length <= TOKEN_MAX &&
           said->value.length <= VALUE_MOST &&
           get_digits(text, (size_t)(number - text), &said->term) &&
           get_digits(number + 1, (size_t)(token - number - 1), &said->number);
}

/* "said <length of the name> <name> <ms left> <record>"; nothing is said any more: 0 ms, and no
 * record. */
bool said_read_push(const char *text, const char *end, struct push *push)
{
    static const char word[] = "said ";
    const size_t before = sizeof word - 1;
    int64_t length, left;
    if ((size_t)(end - text) < before || memcmp(text, word, before) != 0)
        return false;
    text += before;
    *push = (struct push){.free_slot = -1};
    const char *name = memchr(text, ' ', (size_t)(end - text));
    if (!name || !get_digits(text, (size_t)(name - text), &length) || length >= end - name - 1)
        return false;
    push->name = (struct slice){name + 1, (size_t)length};
    const char *time = name + 1 + length + 1;
    const char *record = time[-1] == ' ' ? memchr(time, ' ', (size_t)(end - time)) : NULL;
    if (!record)
        return false;
    if (record + 1 == end && record == time + 1 && *time == '0')
        return true;
    bool read = get_digits(time, (size_t)(record - time), &left) &&
                said_read(record + 1, (size_t)(end - record - 1), &push->said);
    push->said.remaining_ms = read && left < LEFT_MOST ? left : LEFT_MOST;
    return read;
}
