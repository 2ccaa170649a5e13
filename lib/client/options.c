#define _GNU_SOURCE /* secure_getenv; NOLINT(bugprone-reserved-identifier) */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configured.h"
#include "margin.h"
#include "nodes_file.h"
#include "options.h"
#include "report.h"
#include "sized.h"

#define DEFAULT_MAX_TTL         30000
#define DEFAULT_DRIFT           0.01
#define DEFAULT_SKEW            1000
#define DEFAULT_CONNECT_TIMEOUT 1000
#ifndef BACKLOG      /* the simulator has a variable here */
#define BACKLOG 8192 /* answered in a fraction of any usual ttl; fewer keep masters busy */
#endif
#define LONGEST_TIMEOUT (INT64_C(3600) * 1000)

static const struct sized sized_options = SIZED_OPTIONS;
static const struct sized sized_terms = SIZED_LEASE_OPTIONS;

static redlock_code refuse_options(char *why, size_t size, redlock_code code, const char *text)
{
    if (why && size)
        snprintf(why, size, "%s", text);
    return code;
}

static int64_t or_default(int64_t value, int64_t standard)
{
    return value ? value : standard;
}

/* Of a field whose 0 is its default. */
static int64_t or_zero(int64_t value, int64_t standard)
{
    return value == REDLOCK_ZERO ? 0 : or_default(value, standard);
}

static bool is_in(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

static const char *find_wrong_number(const redlock_options *o)
{
    if (!is_in(o->connect_timeout_ms, 0, LONGEST_TIMEOUT) ||
        !is_in(o->request_timeout_ms, 0, LONGEST_TIMEOUT))
        return "connect_timeout_ms and request_timeout_ms must be between 0 and one hour";
    if (!is_in(o->max_ttl_ms, 0, TTL_MS_MOST))
        return "max_ttl_ms must be between 1 ms and 24 hours, or 0 for 30 s";
    if (!(o->drift_factor >= 0 && o->drift_factor <= 0.25))
        return "drift_factor must be above 0 and at most 0.25, or 0 for 0.01";
    if (!is_in(o->clock_skew_ms, REDLOCK_ZERO, TTL_MS_MOST))
        return "clock_skew_ms must be at most 24 hours, 0 for 1 s, or REDLOCK_ZERO";
    if (o->restart_policy != REDLOCK_RESTART_ABSTAIN && o->restart_policy != REDLOCK_RESTART_TRUST)
        return "restart_policy is not a known one";
    if (!is_in((int)o->log_level, REDLOCK_LOG_ERROR, REDLOCK_LOG_DEBUG))
        return "log_level must be between REDLOCK_LOG_ERROR and REDLOCK_LOG_DEBUG";
    if (!is_in(o->local_turn_ms, REDLOCK_ZERO, REDLOCK_LOCAL_TURN_MAX))
        return "local_turn_ms must be 1 to 500, 0 for the default, or REDLOCK_ZERO";
    if (!is_in(o->follow, REDLOCK_ZERO, 0))
        return "follow must be 0, which follows, or REDLOCK_ZERO";
    if (o->spare < REDLOCK_ZERO)
        return "spare is negative: 0 for a plain majority, or how many masters may be wrong";
    if (o->spare > REDLOCK_MASTERS_MAX)
        return "spare is larger than any list of masters";
    if (!sized_is_flag(&o->looks_only))
        return "a flag is neither true nor false: clear the struct before you fill it";
    return NULL;
}

static void read_numbers(struct engine_config *config, const redlock_options *o)
{
    config->max_ttl_ms = or_default(o->max_ttl_ms, DEFAULT_MAX_TTL);
    config->skew_ms = or_zero(o->clock_skew_ms, DEFAULT_SKEW);
    config->connect_timeout = MS(or_default(o->connect_timeout_ms, DEFAULT_CONNECT_TIMEOUT));
    config->request_timeout = MS(o->request_timeout_ms);
    config->backlog = BACKLOG;
    config->trust_restarts = o->restart_policy == REDLOCK_RESTART_TRUST;
    config->strict_order = o->local_turn_ms == REDLOCK_ZERO;
    config->local_turn = MS(or_zero(o->local_turn_ms, 0));
    config->drift_ppm =
        (int64_t)((o->drift_factor != 0 ? o->drift_factor : DEFAULT_DRIFT) * 1e6 + 0.5);
    if (config->drift_ppm == 0)
        config->drift_ppm = 1;
    config->spare = (unsigned)or_zero(o->spare, 0);
    config->looks_only = o->looks_only;
}

unsigned redlock_quorum(unsigned masters, unsigned spare)
{
    return quorum_of(masters, spare);
}

static redlock_code check_spare(const struct engine_config *config, char *why, size_t size)
{
    if (!config->spare || config->masters >= quorum_least_masters(config->spare))
        return REDLOCK_OK;
    char text[160];
    snprintf(text, sizeof text,
             "spare %u needs at least %u masters, and %u %s listed: none of them could fail",
             config->spare, quorum_least_masters(config->spare), config->masters,
             config->masters == 1 ? "is" : "are");
    return refuse_options(why, size, REDLOCK_E_ARGUMENT, text);
}

static redlock_code read_texts(redlock *client, struct engine_config *config,
                               const redlock_options *o, char *why, size_t size)
{
    if (o->label && !settings_is_label(o->label))
        return refuse_options(why, size, REDLOCK_E_ARGUMENT,
                              "label must be printable ASCII without spaces, at most 64 bytes");
    if (o->label)
        snprintf(config->label, sizeof config->label, "%s", o->label);
    else
        system_label(config->label, sizeof config->label);
    const char *prefix = o->prefix ? o->prefix : "";
    if (strlen(prefix) >= REDLOCK_NAME_MAX)
        return refuse_options(why, size, REDLOCK_E_ARGUMENT, "prefix is longer than a name may be");
    client->prefix = strdup(prefix);
    size_t room = sizeof "redlock:" + strlen(config->label);
    client->client_name = malloc(room);
    if (!client->prefix || !client->client_name)
        return refuse_options(why, size, REDLOCK_E_MEMORY, "out of memory");
    snprintf(client->client_name, room, "redlock:%s", config->label);
    return REDLOCK_OK;
}

static redlock_code read_fleet(redlock *client, const redlock_options *o, char *why, size_t size)
{
    if (o->fleet && !o->fleet[0])
        return REDLOCK_OK;
    const char *fleet = o->fleet ? o->fleet : client->prefix;
    if (strlen(fleet) >= REDLOCK_NAME_MAX)
        return refuse_options(why, size, REDLOCK_E_ARGUMENT, "fleet is longer than a name may be");
    client->fleet = strdup(fleet);
    if (!client->fleet)
        return refuse_options(why, size, REDLOCK_E_MEMORY, "out of memory");
    client->config.fleet = client->fleet;
    for (unsigned i = 0; i < client->masters; i++)
        client->config.addresses[i] = client->addresses[i].shown;
    return REDLOCK_OK;
}

static redlock_code take_nodes(redlock *client, const char *nodes, char *why, size_t size)
{
    if (!nodes || !*nodes)
        return refuse_options(
            why, size, REDLOCK_E_NODES,
            "no masters given: set options.nodes or REDLOCK_NODES to a list such as "
            "redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3");
    int count = addresses_parse(client->addresses, REDLOCK_MASTERS_MAX, nodes, why, size);
    if (count < 1)
        return count == ADDRESSES_NO_MEMORY ? REDLOCK_E_MEMORY : REDLOCK_E_NODES;
    client->masters = (unsigned)count;
    return REDLOCK_OK;
}

/* This machine is short of something, and the list may be right. */
static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static redlock_code read_nodes_file(redlock *client, const char *path, char *why, size_t size)
{
    char text[256];
    char *list = nodes_file_read(path, false, text, sizeof text);
    if (!list)
        return refuse_options(why, size, is_shortage(errno) ? REDLOCK_E_SYSTEM : REDLOCK_E_NODES,
                              text);
    redlock_code code = take_nodes(client, list, why, size);
    nodes_file_free(list);
    client->nodes_file = strdup(path);
    return code || client->nodes_file ? code : REDLOCK_E_MEMORY;
}

/* Of the settings, where a login is looked up again, too. */
static redlock_code take_configured_nodes(redlock *client, const struct configured *configured,
                                          char *why, size_t size)
{
    redlock_code code = take_nodes(client, configured->file.list, why, size);
    client->nodes_file = strdup(configured->path);
    client->has_settings = true;
    return code || client->nodes_file ? code : REDLOCK_E_MEMORY;
}

static redlock_code read_nodes(redlock *client, const redlock_options *o,
                               const struct configured *configured, char *why, size_t size)
{
    const char *list = secure_getenv("REDLOCK_NODES"), *path = secure_getenv("REDLOCK_NODES_FILE");
    if (o->nodes)
        return take_nodes(client, o->nodes, why, size);
    if (o->nodes_file)
        return read_nodes_file(client, o->nodes_file, why, size);
    if ((!list || !*list) && path && *path)
        return read_nodes_file(client, path, why, size);
    if ((!list || !*list) && configured->file.masters)
        return take_configured_nodes(client, configured, why, size);
    return take_nodes(client, list, why, size);
}

/* Of a list that was given the file is looked up for new logins alone. */
static redlock_code note_logins(redlock *client, const redlock_options *o,
                                const struct configured *configured)
{
    const char *path = o->nodes_file              ? o->nodes_file
                       : configured->file.masters ? configured->path
                                                  : NULL;
    if (!o->nodes || !path)
        return REDLOCK_OK;
    client->nodes_file = strdup(path);
    client->has_settings = !o->nodes_file;
    return client->nodes_file ? REDLOCK_OK : REDLOCK_E_MEMORY;
}

/* ---- TLS ----------------------------------------------------------------- */

static bool any_wants_tls(const redlock *client)
{
    for (unsigned i = 0; i < client->masters; i++)
        if (client->addresses[i].tls.wanted)
            return true;
    return false;
}

/* Of the list, of the options, of the environment, of the settings: what is said first counts. */
static redlock_code read_tls_options(redlock *client, const redlock_options *o,
                                     const struct configured *configured, char *why, size_t size)
{
    const char *const said[TLS_SETTINGS] = {
        [TLS_CA] = o->tls_ca,     [TLS_CERT] = o->tls_cert, [TLS_KEY] = o->tls_key,
        [TLS_NAME] = o->tls_name, [TLS_SNI] = o->tls_sni,   [TLS_VERIFY] = o->tls_verify,
    };
    int masters = (int)client->masters;
    if (configured->says_tls && !any_wants_tls(client))
        return refuse_options(
            why, size, REDLOCK_E_ARGUMENT,
            "there are settings of TLS, but no master of the list is a rediss://: write "
            "that for a port that speaks TLS, or leave them out");
    if (!addresses_complete(client->addresses, masters, said))
        return REDLOCK_E_MEMORY;
    return addresses_check(client->addresses, masters, why, size) ? REDLOCK_OK : REDLOCK_E_NODES;
}

static redlock_code take_options(redlock_options *o, const redlock_options *options, char *why,
                                 size_t size)
{
    memset(o, 0, sizeof *o);
    if (options && !sized_take(&sized_options, o, options)) {
        if (why && size)
            snprintf(why, size, SIZED_COMPLAINT, sized_options.name, options->size,
                     sized_options.sizes[0], sized_options.name);
        return REDLOCK_E_ARGUMENT;
    }
    const char *wrong = find_wrong_number(o);
    return wrong ? refuse_options(why, size, REDLOCK_E_ARGUMENT, wrong) : REDLOCK_OK;
}

static void read_callbacks(redlock *client, const redlock_options *o)
{
    client->on_ready = o->on_ready;
    client->on_log = o->on_log;
    client->on_node = o->on_node;
    client->log_level = o->log_level;
    client->data = o->data;
}

static redlock_code read_masters(redlock *client, const redlock_options *o,
                                 const struct configured *configured, char *why, size_t size)
{
    redlock_code code = read_nodes(client, o, configured, why, size);
    client->config.masters = client->masters;
    if (!code)
        code = read_tls_options(client, o, configured, why, size);
    if (code && client->has_settings)
        configured_place(configured, why, size);
    if (!code)
        code = check_spare(&client->config, why, size);
    return code ? code : note_logins(client, o, configured);
}

redlock_code options_read(redlock *client, const redlock_options *options, char *why,
                          size_t why_size)
{
    struct configured configured = {0};
    redlock_options o;
    redlock_code code = take_options(&o, options, why, why_size);
    if (!code)
        code = configured_read(&configured, &o, why, why_size);
    if (!code) {
        read_numbers(&client->config, &o);
        read_callbacks(client, &o);
        code = read_masters(client, &o, &configured, why, why_size);
    }
    if (!code)
        code = read_texts(client, &client->config, &o, why, why_size);
    if (!code)
        code = read_fleet(client, &o, why, why_size);
    if (!code && configured.file.others_read)
        client_log(client, REDLOCK_LOG_WARNING,
                   "every user of this machine may read the passwords in %s: chmod o-r it",
                   configured.path);
    configured_free(&configured);
    return code;
}

/* ---- one lease's terms ---------------------------------------------------- */

redlock_code ttl_check(redlock *client, int64_t ttl_ms, usec margin)
{
    if (ttl_ms <= 0)
        return client_fail(client, REDLOCK_E_TTL, "a ttl of %lld ms is not above 0",
                           ttl_ms == REDLOCK_ZERO ? 0 : (long long)ttl_ms);
    if (ttl_ms > client->config.max_ttl_ms)
        return client_fail(
            client, REDLOCK_E_TTL,
            "a ttl of %lld ms is above max_ttl_ms (%lld): keep it short, for leases are "
            "renewed, or raise max_ttl_ms in all clients (a restarted master abstains "
            "as long)",
            (long long)ttl_ms, (long long)client->config.max_ttl_ms);
    usec drift = quorum_drift(MS(ttl_ms), client->config.drift_ppm);
    if (MS(ttl_ms) - drift - margin <= 0)
        return client_fail(client, REDLOCK_E_TTL,
                           "a ttl of %lld ms leaves no validity: clock drift takes %.1f ms of it "
                           "and the margin %.1f ms",
                           (long long)ttl_ms, (double)drift / 1000, (double)margin / 1000);
    return REDLOCK_OK;
}

usec in_usec(int64_t ms)
{
    return ms > INT64_MAX / 4000 ? NEVER : MS(ms);
}

/* A master that restarts after ACQUIRED abstains until a max_ttl, its drift and the skew are over
 * by its own clock, which may be the fastest. */
static int64_t longest_at_least_ms(const redlock *client)
{
    usec longest = MS(client->config.max_ttl_ms), ppm = client->config.drift_ppm;
    usec abstains = longest + quorum_drift(longest, ppm) + MS(client->config.skew_ms);
    usec covered = abstains - quorum_drift(abstains, ppm);
    return (covered < longest ? covered : longest) / 1000;
}

static redlock_code check_modes(redlock *client, const redlock_lease_options *o)
{
    if (o->mode != REDLOCK_EXCLUSIVE && o->mode != REDLOCK_SHARED)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "mode is %d, and must be REDLOCK_EXCLUSIVE or REDLOCK_SHARED",
                           (int)o->mode);
    if (!sized_is_flag(&o->no_renew) || !sized_is_flag(&o->fence) || !sized_is_flag(&o->reentrant))
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "a flag is neither true nor false: clear the struct before you fill it");
    if (o->reentrant || o->on_event)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "reentrant and on_event are for threads that wait, with redlock/sync.h: "
                           "a program with callbacks keeps its handle");
    return REDLOCK_OK;
}

static redlock_code check_terms(redlock *client, const redlock_lease_options *o)
{
    if (o->ttl_ms < 0 || o->ttl_ms > client->config.max_ttl_ms)
        return ttl_check(client, o->ttl_ms, 0);
    if (o->wait_ms < 0 || o->max_hold_ms < 0)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "wait_ms and max_hold_ms cannot be negative");
    if (o->margin_ms < REDLOCK_ZERO)
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "margin_ms is %lld, and must be above 0, 0 for the usual one, or "
                           "REDLOCK_ZERO",
                           (long long)o->margin_ms);
    if (!is_in(o->permits, 0, REDLOCK_PERMITS_MAX))
        return client_fail(client, REDLOCK_E_ARGUMENT,
                           "permits is %lld, and must be 1 to %d, or 0 for the name itself",
                           (long long)o->permits, REDLOCK_PERMITS_MAX);
    if (o->at_least_ms && !is_in(o->at_least_ms, 0, longest_at_least_ms(client)))
        return client_fail(
            client, REDLOCK_E_TTL,
            "at_least_ms is %lld, and must be 0 to %lld: a restarted master abstains "
            "no longer; raise max_ttl_ms in all clients",
            (long long)o->at_least_ms, (long long)longest_at_least_ms(client));
    return REDLOCK_OK;
}

redlock_code terms_read(redlock *client, const redlock_lease_options *options, struct terms *terms)
{
    redlock_lease_options o = {0};
    if (options && !sized_take(&sized_terms, &o, options))
        return client_fail_size(client, &sized_terms, options->size);
    redlock_code code = check_modes(client, &o);
    if (!code)
        code = check_terms(client, &o);
    if (code)
        return code;
    int64_t ttl_ms = or_default(o.ttl_ms, TTL_MS_USUAL);
    usec margin = o.margin_ms ? in_usec(or_zero(o.margin_ms, 0)) : margin_usual(MS(ttl_ms));
    if (margin >= MS(ttl_ms))
        return client_fail(client, REDLOCK_E_TTL, "the margin leaves nothing of a ttl of %lld ms",
                           (long long)ttl_ms);
    usec hold = in_usec(o.max_hold_ms);
    *terms = (struct terms){.ttl = MS(ttl_ms),
                            .margin = margin,
                            .wait = in_usec(o.wait_ms),
                            .max_hold = hold == NEVER ? 0 : hold,
                            .at_least = in_usec(o.at_least_ms),
                            .renew = !o.no_renew,
                            .fence = o.fence,
                            .shared = o.mode == REDLOCK_SHARED,
                            .permits = (unsigned)o.permits};
    return ttl_check(client, ttl_ms, margin);
}
