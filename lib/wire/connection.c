#include "connection.h"

#include "eval.h"

#define LISTS_KEY "redlock:lists:"

_Static_assert(SCRIPT_AGREE + 1 == (int)SCRIPTS_LOADED,
               "a whole hello loads those of claims, and agree");

/* A time of 1 us would be taken for an adoption. */
static int64_t adopt_or_ago(const struct request *request)
{
    usec ago = request->terms.other_ago;
    return request->tag.kind == REQUEST_ADOPT ? 1 : ago > 1 ? ago : 0;
}

static char *put_hello(char *to, const struct request *request)
{
    const struct quarantine_terms *terms = &request->terms;
    to = put_script(to, &scripts[SCRIPT_HELLO], request->whole, 1, 6);
    to = PUT(to, CLOCK_KEY);
    to = put_integer(to, terms->max_ttl_ms);
    to = put_integer(to, terms->drift_ppm);
    to = put_integer(to, terms->skew_ms);
    to = put_flag(to, terms->trust);
    to = put_integer(to, adopt_or_ago(request));
    return put_integer(to, CLOCK_WINDOW);
}

static char *put_adopt(char *to, const struct request *request)
{
    return put_hello(to, request);
}

static char *put_kill(char *to, const struct request *request)
{
    to = PUT(to, "*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n");
    return put_integer(to, request->kill_id);
}

static char *put_agree(char *to, const struct request *request)
{
    const struct agree_request *agree = request->agree;
    const struct engine_config *config = agree->config;
    bool ends = agree->says == SAYS_OVER, revives = agree->says == SAYS_NOT_OVER;
    to = put_script(to, &scripts[SCRIPT_AGREE], request->whole, 1,
                    8 + 2 * config->masters + (ends || revives));
    to = put_header(to, '$', sizeof LISTS_KEY - 1 + strlen(config->fleet));
    to = PUT(put_bytes(PUT(to, LISTS_KEY), config->fleet, strlen(config->fleet)), "\r\n");
    to = put_integer(to, agree->says);
    to = put_string(to, config->channel);
    to = put_string(to, config->label);
    to = put_integer(to, agree->kept);
    to = put_integer(to, agree->quorum);
    to = put_integer(to, config->spare);
    to = put_integer(to, config->max_ttl_ms);
    to = put_integer(to, agree->told_time);
    for (unsigned i = 0; i < config->masters; i++) {
        to = put_string(to, config->addresses[i]);
        to = put_string(to, agree->run_ids[i]);
    }
    return ends ? put_string(to, agree->successor) : revives ? put_integer(to, agree->changes) : to;
}

static char *put_auth(char *to, const struct credentials *login)
{
    to = login->user ? put_string(PUT(to, "*3\r\n$4\r\nAUTH\r\n"), login->user)
                     : PUT(to, "*2\r\n$4\r\nAUTH\r\n");
    return put_string(to, login->password ? login->password : "");
}

static char *put_account(char *to, const struct credentials *login, int db, enum step *steps,
                         unsigned *count)
{
    if (login->user || login->password) {
        to = put_auth(to, login);
        steps[(*count)++] = STEP_AUTH;
    }
    if (db > 0) {
        to = put_integer(PUT(to, "*2\r\n$6\r\nSELECT\r\n"), db);
        steps[(*count)++] = STEP_SELECT;
    }
    if (login->client_name) {
        to = PUT(to, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n");
        to = put_string(to, login->client_name);
        steps[(*count)++] = STEP_SETNAME;
    }
    return to;
}

/* The text of hello changes with any of them, and hello comes last: a master that has it has them
 * all. */
static char *put_loads(char *to, enum step *steps, unsigned *count)
{
    for (unsigned i = 0; i < SCRIPTS_LOADED; i++) {
        to = PUT(to, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n");
        to = put_bulk(to, scripts[i].text, scripts[i].length);
        steps[(*count)++] = STEP_LOAD;
    }
    return to;
}

/* Channels know no databases, and a subscription asks only for the process at its other end. */
static char *put_subscription(char *to, const struct credentials *login, const char *channel,
                              enum step *steps, unsigned *count)
{
    to = put_account(to, login, 0, steps, count);
    to = PUT(to, "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n");
    steps[(*count)++] = STEP_INFO;
    to = put_string(PUT(to, "*2\r\n$9\r\nSUBSCRIBE\r\n"), channel);
    steps[(*count)++] = STEP_SUBSCRIBE;
    return to;
}

/* ---- All of them ---- */

char *connection_put(char *to, const struct request *request)
{
    switch ((unsigned)request->tag.kind) {
#define PUT_KIND(kind, name, ...)                                                                  \
    case REQUEST_##kind:                                                                           \
        return put_##name(to, request);
        CONNECTION_REQUESTS(PUT_KIND)
#undef PUT_KIND
    }
    return to;
}

char *connection_put_greeting(char *to, const struct request *request,
                              const struct credentials *login, enum step *steps, unsigned *count)
{
    if (login) {
        to = put_account(to, login, login->db, steps, count);
        to = PUT(to, "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n");
        steps[(*count)++] = STEP_CLIENT_ID;
    }
    return request->whole ? put_loads(to, steps, count) : to;
}

static size_t login_room(const struct credentials *login)
{
    const char *strings[] = {login->user, login->password, login->client_name};
    size_t room = 0;
    for (unsigned i = 0; i < sizeof strings / sizeof *strings; i++)
        room += strings[i] ? strlen(strings[i]) : 0;
    return room;
}

static size_t agree_room(const struct agree_request *agree)
{
    const struct engine_config *config = agree->config;
    size_t room = strlen(config->fleet);
    if (agree->says == SAYS_OVER)
        room += strlen(agree->successor) + FRAME_MAX;
    for (unsigned i = 0; i < config->masters; i++)
        room += strlen(config->addresses[i]) + RUN_ID_MAX + 3 * FRAME_MAX;
    return room;
}

size_t connection_room(const struct request *request, const struct credentials *login)
{
    if (request->tag.kind == REQUEST_AGREE)
        return agree_room(request->agree);
    return login ? login_room(login) : 0;
}

unsigned connection_write_subscribe(struct buffer *buffer, const struct credentials *login,
                                    const char *channel, enum step steps[STEPS_MAX])
{
    unsigned count = 0;
    char *start = buffer_reserve(buffer, FIXED_MAX + login_room(login) + strlen(channel));
    if (start)
        buffer_advance(buffer,
                       (size_t)(put_subscription(start, login, channel, steps, &count) - start));
    return count;
}

void connection_write_probe(struct buffer *buffer)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    char *start = buffer_reserve(buffer, sizeof ping);
    if (start)
        buffer_advance(buffer, (size_t)(PUT(start, ping) - start));
}
