#include "liar.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "front.h"
#include "listener.h"

#define CONNECTIONS 16
#define INPUT_MAX   (1 << 20)
#define WORDS_MAX   256
#define CLOCK_MOST  (1LL << 53)

struct connection {
    int fd; /* -1: free */
    bool silent, flooding, greeted;
    size_t used;
    char *input;
};

struct liar {
    pthread_t thread;
    pthread_mutex_t mutex;
    struct lie lie; /* under the mutex */
    int listener, port, stop[2];
    char run_id[41];
    atomic_llong clock; /* the logical one */
    atomic_uint batches;
    atomic_size_t flooded;
    struct front *front; /* NULL: clients come without TLS */
    struct connection open[CONNECTIONS];
};

/* ---- Taking requests apart ---- */

struct request {
    unsigned count;
    const char *words[WORDS_MAX];
    size_t lengths[WORDS_MAX];
    size_t size;
};

static const char *read_header(const char *at, const char *end, char type, long *number)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line || *at != type)
        return NULL;
    *number = strtol(at + 1, NULL, 10);
    return line + 1;
}

static bool read_request(const char *input, size_t used, struct request *request)
{
    long count, length;
    const char *end = input + used, *at = read_header(input, end, '*', &count);
    request->count = 0;
    for (long i = 0; at && i < count; i++) {
        at = at < end ? read_header(at, end, '$', &length) : NULL;
        if (!at || end - at < length + 2)
            return false;
        if (request->count < WORDS_MAX) {
            request->words[request->count] = at;
            request->lengths[request->count++] = (size_t)length;
        }
        at += length + 2;
    }
    request->size = at ? (size_t)(at - input) : 0;
    return at != NULL;
}

static bool is_word(const struct request *request, unsigned index, const char *word)
{
    return request->count > index && request->lengths[index] == strlen(word) &&
           strncasecmp(request->words[index], word, strlen(word)) == 0;
}

static bool is_script(const struct request *request)
{
    return is_word(request, 0, "EVALSHA") || is_word(request, 0, "EVAL");
}

/* The only one whose first key is the clock. */
static bool is_hello(const struct request *request)
{
    return is_script(request) && is_word(request, 3, "redlock:clock");
}

static bool is_about_locks(const struct request *request)
{
    return is_word(request, 0, "SET") || (is_script(request) && !is_hello(request));
}

static unsigned names_of(const struct request *request)
{
    return (unsigned)strtoul(request->words[2], NULL, 10);
}

/* Its last key is the logical clock. */
static bool is_clocked(const struct request *request)
{
    if (!is_script(request))
        return false;
    unsigned names = names_of(request);
    return names > 1 && is_word(request, 2 + names, "redlock:clock");
}

/* Several releases (a token for each name) or renewals (four words for each) in one
 * command: how many; else 0. */
static unsigned batch_of(const struct request *request)
{
    if (!is_script(request))
        return 0;
    unsigned names = names_of(request);
    unsigned arguments = request->count - 3 - names;
    bool tokens = arguments == names && request->lengths[request->count - 1] > 20;
    return names > 1 && (tokens || arguments == 4 * names) ? names : 0;
}

/* ---- Answering ---- */

static void hang_up(struct connection *connection)
{
    close(connection->fd);
    free(connection->input);
    *connection = (struct connection){.fd = -1};
}

static void say(struct connection *connection, const char *bytes, size_t length)
{
    if (send(connection->fd, bytes, length, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
        hang_up(connection);
}

static void say_text(struct connection *connection, const char *text)
{
    say(connection, text, strlen(text));
}

static int64_t wall_us(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

static void say_hello(struct liar *liar, struct connection *connection)
{
    char text[400];
    snprintf(
        text, sizeof text,
        "*11\r\n$40\r\n%s\r\n$6\r\n7.0.15\r\n$6\r\nmaster\r\n:%lld\r\n:0\r\n:30000\r\n:9999\r\n"
        ":0\r\n$0\r\n\r\n:%lld\r\n:9999000000\r\n",
        liar->run_id, (long long)wall_us(), atomic_load(&liar->clock));
    say_text(connection, text);
}

static void say_yes_to_each(struct connection *connection, unsigned count)
{
    char text[WORDS_MAX * 4 + 16];
    int used = snprintf(text, sizeof text, "*%u\r\n", count);
    for (unsigned i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, ":1\r\n");
    say_text(connection, text);
}

/* Moves its clock on, as a master does, but up to whatever it is asked to. */
static long long move_clock(struct liar *liar, const char *wanted)
{
    long long to = strtoll(wanted, NULL, 10), clock = atomic_load(&liar->clock);
    if (clock < CLOCK_MOST)
        clock = to > clock ? to : clock + 1;
    atomic_store(&liar->clock, clock);
    return clock;
}

/* A grant that carries a proposal, or a fence to be stored. */
static void say_clock(struct liar *liar, struct connection *connection,
                      const struct request *request)
{
    char text[64];
    unsigned names = names_of(request);
    bool is_grant = request->count - 3 - names == 4;
    long long clock = move_clock(liar, request->words[3 + names + (is_grant ? 2 : 1)]);
    snprintf(text, sizeof text, "*2\r\n:1\r\n:%lld\r\n", clock);
    say_text(connection, text);
}

/* Several grants in one command: how many; else 0. Each has three words, or all but the first only
 * a token. */
static unsigned grants_of(const struct request *request)
{
    unsigned names = names_of(request), count = names - 1, words = request->count - 3 - names;
    return count > 1 && (words == 1 + 3 * count || words == 3 + count) ? count : 0;
}

static const char *proposal_of(const struct request *request, unsigned index)
{
    unsigned names = names_of(request), first = 3 + names + 2;
    bool alike = request->count - 3 - names == 3 + grants_of(request);
    return request->words[alike ? first : first + 3 * index];
}

static void say_clock_to_each(struct liar *liar, struct connection *connection,
                              const struct request *request)
{
    char text[WORDS_MAX * 20 + 16];
    unsigned count = grants_of(request);
    int used = snprintf(text, sizeof text, "*%u\r\n", count);
    for (unsigned i = 0; i < count; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, ":%lld\r\n",
                         move_clock(liar, proposal_of(request, i)));
    }
    say_text(connection, text);
}

static void answer_properly(struct liar *liar, struct connection *connection,
                            const struct request *request)
{
    if (is_hello(request))
        say_hello(liar, connection);
    else if (is_word(request, 0, "CLIENT") && is_word(request, 1, "ID"))
        say_text(connection, ":77\r\n");
    else if (is_word(request, 0, "SCRIPT"))
        say_text(connection, "$40\r\n0123456789012345678901234567890123456789\r\n");
    else if (is_clocked(request) && grants_of(request))
        say_clock_to_each(liar, connection, request);
    else if (is_clocked(request))
        say_clock(liar, connection, request);
    else if (batch_of(request))
        say_yes_to_each(connection, batch_of(request));
    else if (is_script(request) || is_word(request, 1, "KILL"))
        say_text(connection, ":1\r\n");
    else
        say_text(connection, "+OK\r\n");
}

static void tell(struct connection *connection, const struct lie *lie)
{
    if (lie->bytes)
        say(connection, lie->bytes, lie->length ? lie->length : strlen(lie->bytes));
    if (connection->fd < 0)
        return;
    connection->silent = lie->then == THEN_SILENCE || lie->then == THEN_FLOOD;
    connection->flooding = lie->then == THEN_FLOOD;
    if (lie->then == THEN_CLOSE)
        hang_up(connection);
}

static void serve(struct liar *liar, struct connection *connection, const struct request *request)
{
    struct lie lie;
    pthread_mutex_lock(&liar->mutex);
    lie = liar->lie;
    pthread_mutex_unlock(&liar->mutex);
    bool first = !connection->greeted;
    connection->greeted = true;
    if (batch_of(request))
        atomic_fetch_add(&liar->batches, 1);
    if ((first && lie.when == AT_LOGIN) || (is_hello(request) && lie.when == AT_HELLO) ||
        (is_about_locks(request) && lie.when == AT_REQUEST) ||
        (batch_of(request) && lie.when == AT_BATCH)) {
        tell(connection, &lie);
        return;
    }
    answer_properly(liar, connection, request);
    if (connection->fd >= 0 && is_hello(request) && lie.when == AT_IDLE)
        tell(connection, &lie);
}

static void listen_to(struct liar *liar, struct connection *connection)
{
    ssize_t got =
        recv(connection->fd, connection->input + connection->used, INPUT_MAX - connection->used, 0);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN)
            hang_up(connection);
        return;
    }
    connection->used += (size_t)got;
    struct request request;
    size_t done = 0;
    while (connection->fd >= 0 && !connection->silent &&
           read_request(connection->input + done, connection->used - done, &request)) {
        serve(liar, connection, &request);
        done += request.size;
    }
    if (connection->fd < 0)
        return;
    if (connection->silent)
        done = connection->used;
    memmove(connection->input, connection->input + done, connection->used - done);
    connection->used -= done;
}

static void flood(struct liar *liar, struct connection *connection)
{
    static const char bytes[65536];
    ssize_t sent = send(connection->fd, bytes, sizeof bytes, MSG_NOSIGNAL);
    if (sent > 0)
        atomic_fetch_add(&liar->flooded, (size_t)sent);
    else if (sent < 0 && errno != EAGAIN)
        hang_up(connection);
}

/* ---- The thread ---- */

static void welcome(struct liar *liar)
{
    int fd = accept(liar->listener, NULL, NULL);
    for (unsigned i = 0; fd >= 0 && i < CONNECTIONS; i++) {
        struct connection *connection = &liar->open[i];
        if (connection->fd >= 0)
            continue;
        fcntl(fd, F_SETFL, O_NONBLOCK);
        *connection = (struct connection){.fd = fd, .input = malloc(INPUT_MAX)};
        pthread_mutex_lock(&liar->mutex);
        struct lie lie = liar->lie;
        pthread_mutex_unlock(&liar->mutex);
        if (lie.when == AT_CONNECT)
            tell(connection, &lie);
        return;
    }
    if (fd >= 0)
        close(fd);
}

static void *run(void *argument)
{
    struct liar *liar = argument;
    for (;;) {
        struct pollfd polled[CONNECTIONS + 2] = {{liar->stop[0], POLLIN, 0},
                                                 {liar->listener, POLLIN, 0}};
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            short events = liar->open[i].flooding ? POLLIN | POLLOUT : POLLIN;
            polled[i + 2] = (struct pollfd){liar->open[i].fd, events, 0};
        }
        if (poll(polled, CONNECTIONS + 2, -1) < 0)
            continue;
        if (polled[0].revents)
            return NULL;
        for (unsigned i = 0; i < CONNECTIONS; i++) {
            struct connection *connection = &liar->open[i];
            if (connection->fd >= 0 && polled[i + 2].revents & ~POLLOUT)
                listen_to(liar, connection);
            if (connection->fd >= 0 && polled[i + 2].revents & POLLOUT)
                flood(liar, connection);
        }
        if (polled[1].revents)
            welcome(liar);
    }
}

/* ---- From outside ---- */

struct liar *liar_start(const struct lie *lie)
{
    static atomic_uint count;
    struct liar *liar = calloc(1, sizeof *liar);
    liar->listener = listen_anywhere(CONNECTIONS, &liar->port);
    if (fcntl(liar->listener, F_SETFL, O_NONBLOCK) != 0 || pipe(liar->stop) != 0)
        abort();
    snprintf(liar->run_id, sizeof liar->run_id, "%040u", 1 + atomic_fetch_add(&count, 1));
    for (unsigned i = 0; i < CONNECTIONS; i++)
        liar->open[i].fd = -1;
    atomic_store(&liar->clock, wall_us());
    pthread_mutex_init(&liar->mutex, NULL);
    liar->lie = lie ? *lie : (struct lie){.when = NEVER_LIES};
    if (pthread_create(&liar->thread, NULL, run, liar) != 0)
        abort();
    liar->front = front_start(liar->port);
    return liar;
}

int liar_port(const struct liar *liar)
{
    return liar->front ? front_port(liar->front) : liar->port;
}

void liar_change(struct liar *liar, const struct lie *lie)
{
    pthread_mutex_lock(&liar->mutex);
    liar->lie = lie ? *lie : (struct lie){.when = NEVER_LIES};
    pthread_mutex_unlock(&liar->mutex);
}

void liar_set_clock(struct liar *liar, int64_t clock)
{
    atomic_store(&liar->clock, clock);
}

unsigned liar_batches(struct liar *liar)
{
    return atomic_load(&liar->batches);
}

size_t liar_flooded(struct liar *liar)
{
    return atomic_load(&liar->flooded);
}

void liar_stop(struct liar *liar)
{
    front_stop(liar->front);
    if (write(liar->stop[1], "", 1) != 1)
        abort();
    pthread_join(liar->thread, NULL);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (liar->open[i].fd >= 0)
            hang_up(&liar->open[i]);
    close(liar->listener);
    close(liar->stop[0]);
    close(liar->stop[1]);
    pthread_mutex_destroy(&liar->mutex);
    free(liar);
}
