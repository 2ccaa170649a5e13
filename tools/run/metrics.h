/*
 * metrics.h - the counters of `redlock run`, in a file for the textfile collector of node_exporter.
 *
 * The file is replaced as a whole, so that nobody reads half of it.  If it cannot be written, there
 * is one warning, and all else goes on.
 */
#ifndef REDLOCK_TOOLS_METRICS_H
#define REDLOCK_TOOLS_METRICS_H

#include "session.h"

struct metrics {
    const struct session *session; /* NULL: no file is wanted */
    ev_timer timer;
    bool told; /* that the file cannot be written */
};

/* Writes the file now and then, if options->metrics_file names one.  The session is open. */
void metrics_start(struct metrics *metrics, const struct session *session);
/* Something has changed. */
void metrics_write(struct metrics *metrics);
/* The session is over, with its status. */
void metrics_end(struct metrics *metrics);

#endif
