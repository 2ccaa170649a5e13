/*
 * votes.h - the answers of the masters, for people and as JSON.
 */
#ifndef REDLOCK_TOOLS_VOTES_H
#define REDLOCK_TOOLS_VOTES_H

#include "json.h"
#include "redlock.h"
#include "text.h"

/* The masters on which one holder has the name. */
struct holding {
    const char *holder; /* NULL: the masters did not name the holder */
    unsigned masters;
    int64_t remaining_ms; /* the longest that more masters tell than may be wrong; -1 unknown, -2
                             never expires */
};

/* The holdings of the event, largest first; returns how many. */
unsigned votes_holdings(const redlock_event *event, struct holding holdings[REDLOCK_MASTERS_MAX]);

/* Words to add when no more masters say so than may be wrong; else "". */
const char *holding_doubt(const struct holding *holding, unsigned spare);

/* The value of a key is a token with a label behind it; of other software it is
 * anything, and then it is all token. */
struct holder {
    size_t token_length;
    const char *label; /* NULL: none */
};
struct holder holder_split(const char *value);

/* Of the token in what `lock` prints, where a fence may stand behind it; 0 if that is none:
 * white space and what cannot be printed is in no token. */
size_t token_length(const char *printed);

/* Is it a token as people are shown it, without the label? */
bool token_is_bare(const char *token);
/* Is it a token of this library, with the label or without? */
bool holder_is_ours(const char *value);

/* The value stands for readers, or for none: other software may write anything. */
bool is_marker(const char *value);

/* "3 readers", or for none what the key holds. */
void readers_show(struct text *out, unsigned count);

/* "HOLDER (LABEL)" */
void holder_show(struct text *out, const char *value);
/* members holder and token, which are the same: the value of the key; and label.  Readers have no
 * token in common. */
void holder_json(struct json *json, const char *value);
/* ", ttl 3 s", or that it has none; nothing if that is not known */
void remaining_show(struct text *out, int64_t remaining_ms);
/* members remaining_ms, null if unknown, and never_expires */
void remaining_json(struct json *json, int64_t remaining_ms);

/* The reasons of the outcome, one indented line for each holder and each master in trouble. */
void votes_explain(struct text *out, const redlock_event *event);
/* Adds what is wrong with this master, never nothing; false if it explains nothing. */
bool vote_explain(struct text *out, const redlock_vote *vote);

/* Why the master does not vote: an indented line, or nothing. */
void node_explain(struct text *out, const redlock_node *node);
/* Of all masters, with what to do about that. */
void nodes_explain(struct text *out, redlock *client);
/* The advice alone, each once: where the reasons stand already. */
void nodes_show_remedies(struct text *out, redlock *client);

/* The sentence above the reasons: without those that the event's own text contains. */
const char *votes_headline(const redlock_event *event);

/* A line with what to do about the words of this master; nothing unless it is the last one that
 * needs it. */
void votes_show_remedy(struct text *out, const redlock_event *event, unsigned master);

/* Opens a document with the members ok, code and text. */
struct json outcome_json(struct text *out, redlock_code code, const char *text);

/* The members masters, quorum, granted, votes; null and none without an event. */
void votes_json(struct json *json, const redlock_event *event);

/* The members rounds and elapsed_ms; null without an event. */
void effort_json(struct json *json, const redlock_event *event);

/* The member fence, if there is one. */
void fence_json(struct json *json, int64_t fence);

/* Quoted, separated by commas; of many the first ones and their number. */
void names_show(struct text *out, const redlock_name *names, size_t count);
void names_json(struct json *json, const redlock_name *names, size_t count);

#endif
