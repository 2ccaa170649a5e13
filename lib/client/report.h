/*
 * report.h - the sentence for the last call that failed (fail.h), and the log.
 */
#ifndef REDLOCK_CLIENT_REPORT_H
#define REDLOCK_CLIENT_REPORT_H

#include "client.h"
#include "fail.h"

/* E_ARGUMENT if the client only looks. */
redlock_code client_may_act(redlock *client);

/* Hands one line to on_log. */
void client_log(redlock *client, redlock_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
