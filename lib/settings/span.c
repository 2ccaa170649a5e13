#include "span.h"

#include <stdio.h>
#include <string.h>

/* No duration may overflow when times and durations are added up. */
#define LONGEST_MS (INT64_C(1) << 50)
#define MINUTE_MS  INT64_C(60000)
#define HOUR_MS    INT64_C(3600000)

static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", MINUTE_MS}, {"h", HOUR_MS}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    return 0;
}

/* Reads "12" or "12.345" as thousandths; the rest of the text is the unit. */
static const char *read_thousandths(const char *text, int64_t *thousandths)
{
    int64_t value = 0;
    int64_t digit_is_worth = 1000;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value < LONGEST_MS; at++)
        value = value * 10 + (int64_t)(*at - '0') * 1000;
    if (at > text && *at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            digit_is_worth /= 10;
            value += (*at - '0') * digit_is_worth;
        }
    }
    *thousandths = value;
    return at;
}

bool span_parse(const char *text, int64_t *ms, char *why, size_t why_size)
{
    int64_t value;
    if (strcmp(text, "forever") == 0) {
        *ms = INT64_MAX;
        return true;
    }
    const char *unit = read_thousandths(text, &value);
    int64_t factor = unit_ms(unit);
    if (unit == text || (factor == 0 && *unit)) {
        snprintf(why, why_size, "is no duration: write 250ms, 10s, 5m or 2h");
        return false;
    }
    if (factor == 0 && value > 0) {
        snprintf(why, why_size, "has no unit: write %sms, %ss, %sm or %sh", text, text, text, text);
        return false;
    }
    if (factor > 0 && value > LONGEST_MS / factor) {
        snprintf(why, why_size, "is too long");
        return false;
    }
    *ms = value * factor / 1000;
    if (*ms == 0 && value > 0) {
        snprintf(why, why_size, "is less than a millisecond");
        return false;
    }
    return true;
}
