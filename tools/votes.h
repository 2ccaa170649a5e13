/*
 * votes.h - what the masters had to say, for people and as JSON.
 */
#ifndef REDLOCK_TOOLS_VOTES_H
#define REDLOCK_TOOLS_VOTES_H

#include "json.h"
#include "redlock.h"
#include "text.h"

/* The masters on which one holder has the name. */
struct holding {
    const char *holder; /* NULL: they did not say who */
    unsigned masters;
    int64_t remaining_ms; /* the longest of them; -1 unknown, -2 never expires */
};

/* The holdings of the event, largest first; returns how many. */
unsigned votes_holdings(const redlock_event *event, struct holding holdings[REDLOCK_MASTERS_MAX]);

/* The value of a key is a token with a label behind it; of other software it is
 * anything, and then it is all token. */
struct holder {
    size_t token_length;
    const char *label; /* NULL: none */
};
struct holder holder_split(const char *value);

/* "HOLDER (LABEL)" */
void holder_show(struct text *out, const char *value);
/* members holder, token, label */
void holder_json(struct json *json, const char *value);
/* member remaining_ms, null if unknown, and never_expires if so */
void remaining_json(struct json *json, int64_t remaining_ms);

/* Why it is as it is, one indented line for each holder and for each master
 * with a trouble of its own. */
void votes_explain(struct text *out, const redlock_event *event);

/* The sentence to stand above: the event's own text has the reasons in it, once
 * is enough. */
const char *votes_headline(const redlock_event *event);

/* One indented line for each master. */
void votes_table(struct text *out, const redlock_event *event);

/* The members masters, quorum, granted, votes. */
void votes_json(struct json *json, const redlock_event *event);

/* Quoted, separated by commas. */
void names_show(struct text *out, const redlock_name *names, size_t count);
void names_json(struct json *json, const redlock_name *names, size_t count);

#endif
