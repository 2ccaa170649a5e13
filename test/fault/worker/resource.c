#include "resource.h"

#include <hiredis/hiredis.h>
#include <hiredis/async.h>
#include <hiredis/adapters/libev.h>
#include <stdio.h>
#include <stdlib.h>

#include "register_script.h"

#define AGAIN_S        0.1
#define IN_FLIGHT_MOST 1000 /* a register that hangs must not fill the memory */

struct call {
    struct resource *resource;
    void *user;
    unsigned number;
};

/* hiredis frees the context by itself. */
static void gone(struct resource *resource)
{
    resource->context = NULL;
    if (resource->closing)
        return;
    ev_timer_set(&resource->again, AGAIN_S, 0.);
    ev_timer_start(resource->loop, &resource->again);
}

static void on_connected(const redisAsyncContext *context, int status)
{
    if (status != REDIS_OK)
        gone(context->data);
}

static void on_disconnected(const redisAsyncContext *context, int status)
{
    (void)status;
    gone(context->data);
}

static void connect_it(struct resource *resource)
{
    redisAsyncContext *context = redisAsyncConnect(resource->host, resource->port);
    if (!context || context->err) {
        if (context)
            redisAsyncFree(context);
        gone(resource);
        return;
    }
    resource->context = context;
    context->data = resource;
    redisLibevAttach(resource->loop, context);
    if (resource->password)
        redisAsyncCommand(context, NULL, NULL, "AUTH %s", resource->password);
    redisAsyncSetConnectCallback(context, on_connected);
    redisAsyncSetDisconnectCallback(context, on_disconnected);
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)events;
    connect_it(timer->data);
}

void resource_open(struct resource *resource)
{
    resource->again.data = resource;
    ev_timer_init(&resource->again, on_again, AGAIN_S, 0.);
    connect_it(resource);
}

static void on_reply(redisAsyncContext *context, void *data, void *privdata)
{
    redisReply *reply = data;
    struct call call = *(struct call *)privdata;
    (void)context;
    free(privdata);
    call.resource->in_flight--;
    bool is_verdict = reply && reply->type == REDIS_REPLY_STRING;
    if (reply && !is_verdict)
        fprintf(stderr, "worker: the register: %s\n", reply->str ? reply->str : "?");
    if (!call.resource->closing)
        call.resource->answered(call.user, call.number, is_verdict ? reply->str : NULL);
}

bool resource_use(struct resource *resource, const struct use *use, void *user)
{
    if (!resource->context || resource->in_flight >= IN_FLIGHT_MOST)
        return false;
    struct call *call = malloc(sizeof *call);
    if (!call)
        return false;
    *call = (struct call){resource, user, use->number};
    if (redisAsyncCommand(resource->context, on_reply, call,
                          "EVAL %s 2 register register:fences %s %lld %s %u %s",
                          SCRIPT_REGISTER_TEXT, use->name, (long long)use->fence, resource->label,
                          use->number, use->reads ? "read" : "write") != REDIS_OK) {
        free(call);
        return false;
    }
    resource->in_flight++;
    return true;
}

void resource_close(struct resource *resource)
{
    resource->closing = true;
    ev_timer_stop(resource->loop, &resource->again);
    if (resource->context)
        redisAsyncFree(resource->context);
}
