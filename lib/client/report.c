/*
 * report.c - the sentence for the last call that failed, and the log.
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

void client_explain(redlock *client, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->error, sizeof client->error, format, arguments);
    va_end(arguments);
}

redlock_code client_may_act(redlock *client)
{
    if (!client->config.looks_only)
        return REDLOCK_OK;
    return client_fail(client, REDLOCK_E_ARGUMENT, "this client only looks (options.looks_only)");
}

void client_log(redlock *client, redlock_level level, const char *format, ...)
{
    if (!client->on_log || level > client->log_level || client->dying)
        return;
    char text[sizeof client->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    client->logging = true;
    client->on_log(level, text, client->data);
    client->logging = false;
}
