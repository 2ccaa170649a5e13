/* rule: C3, C4, V13, V14 */
#include "client_rules.h"

#include <stdio.h>
#include <string.h>

#include "ground/slots.h"
#include "links.h"
#include "lists.h"
#include "movers.h"
#include "recipe_users.h"
#include "recipes/view.h"
#include "wrong.h"

/* ---- options ---------------------------------------------------------------------- */

static void must_be(struct shell *s, const char *what, int64_t is, int64_t should_be)
{
    if (is != should_be)
        world_violated(s->world, "options", "client %u: %s is %lld, and was asked to be %lld",
                       s->index + 1, what, (long long)is, (long long)should_be);
}

static int64_t or_default(int64_t value, int64_t standard)
{
    return value ? value : standard;
}

void check_configured(struct shell *s, const redlock_options *options)
{
    const struct engine_config *is = &s->client->engine->config;
    must_be(s, "masters", redlock_node_count(s->client), s->masters);
    must_be(s, "spare", is->spare, options->spare);
    must_be(s, "drift", is->drift_ppm, DRIFT_PPM);
    must_be(s, "max_ttl_ms", is->max_ttl_ms, options->max_ttl_ms);
    must_be(s, "clock_skew_ms", is->skew_ms, s->world->skew_ms);
    must_be(s, "connect_timeout_ms", is->connect_timeout / 1000,
            or_default(options->connect_timeout_ms, 1000));
    must_be(s, "request_timeout_ms", is->request_timeout / 1000, options->request_timeout_ms);
    must_be(s, "strict_order", is->strict_order, options->local_turn_ms == REDLOCK_ZERO);
    must_be(s, "local_turn_ms", is->strict_order ? REDLOCK_ZERO : is->local_turn / 1000,
            options->local_turn_ms);
    must_be(s, "restart_policy", is->trust_restarts, options->restart_policy);
    must_be(s, "quorum", s->client->engine->quorum, s->quorum);
}

/* As it is shown to people. */
static const char *node_text(const struct shell *s, unsigned entry)
{
    static char texts[2][MASTERS_MAX][24];
    unsigned server = s->servers[entry], host = lists_host(s, server);
    char *text = texts[host][server];
    if (!*text)
        snprintf(text, sizeof *texts[0], "10.0.%u.%u:6379%s", host, server + 1,
                 server % 2 ? "" : links_kind.database);
    return text;
}

void check_address(struct shell *s, unsigned entry, const struct address *address)
{
    const char *node = node_text(s, entry);
    if (strcmp(address->shown, node) != 0)
        world_violated(s->world, "options", "client %u takes %s for %s", s->index + 1,
                       address->shown, node);
}

uint8_t check_name(struct shell *s, struct slice key)
{
    size_t prefix = strlen(s->world->prefix),
           of_slot = sizeof SLOT_PREFIX + 1; /* a digit, a colon */
    const unsigned char *bytes = (const unsigned char *)key.bytes;
    if (key.length == of_slot + prefix + 1 && memcmp(bytes, SLOT_PREFIX, of_slot - 2) == 0 &&
        bytes[of_slot - 1] == ':' && memcmp(bytes + of_slot, s->world->prefix, prefix) == 0)
        return (uint8_t)model_slot(bytes[of_slot + prefix] - 'a', bytes[of_slot - 2] - '0');
    if (key.length == prefix + 1 && memcmp(bytes, s->world->prefix, prefix) == 0)
        return (uint8_t)(bytes[prefix] - 'a');
    size_t of_work = sizeof WORK_NAME - 1;
    if (key.length == prefix + 1 + of_work && memcmp(bytes, s->world->prefix, prefix) == 0 &&
        memcmp(bytes + prefix + 1, WORK_NAME, of_work) == 0)
        return (uint8_t)works_of(bytes[prefix] - 'a');
    size_t of_wish = sizeof WISHES - 1;
    if (key.length == of_wish + prefix + 1 && memcmp(bytes, WISHES, of_wish) == 0 &&
        memcmp(bytes + of_wish, s->world->prefix, prefix) == 0)
        return (uint8_t)wishes_of(bytes[of_wish + prefix] - 'a');
    size_t of_taken = sizeof TAKEN - 1;
    if (key.length == of_taken + prefix + 1 && memcmp(bytes, TAKEN, of_taken) == 0 &&
        memcmp(bytes + of_taken, s->world->prefix, prefix) == 0)
        return (uint8_t)takens_of(bytes[of_taken + prefix] - 'a');
    world_violated(s->world, "options", "client %u uses a key of %zu bytes without the prefix",
                   s->index + 1, key.length);
    return 0;
}

void check_asked(struct user_lease *lease)
{
    struct shell *s = lease->shell;
    const struct held_terms *is = &core_of(lease->handle)->terms;
    if (lease->known != KNOWN_ASKED)
        return;
    must_be(s, "ttl", is->ttl, lease->terms.ttl);
    must_be(s, "renew", is->renew, lease->terms.renew);
    must_be(s, "fence", is->fence, lease->terms.fence);
}

/* ---- words --------------------------------------------------------------------------- */

static void wrong_words(struct user_lease *lease, const redlock_event *event, const char *why)
{
    world_violated(lease->shell->world, "words", "lease %u of client %u hears %s, %s: \"%s\"",
                   lease->number, CLIENT(lease), redlock_event_name(event->kind), why, event->text);
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void spell_start(const struct user_lease *lease, const redlock_event *event, char *text,
                        size_t size)
{
    bool was_lost = event->code == REDLOCK_E_GONE && lease->stop_by;
    char fence[40] = "";
    const char *ends = event->ends_ms < 0 ? "after" : "before";
    long long off = event->ends_ms < 0 ? -event->ends_ms : event->ends_ms;
    long long valid = (long long)event->valid_ms;
    *text = '\0';
    if (event->kind == TOLD_SEEN)
        return;
    if (event->fence)
        snprintf(fence, sizeof fence, ", fence %lld", (long long)event->fence);
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        snprintf(text, size, "acquired, valid for %lld ms%s", valid, fence);
        break;
    case REDLOCK_EXTENDED:
        snprintf(text, size, "extended, valid for %lld ms", valid);
        break;
    case REDLOCK_ANNOUNCED:
        snprintf(text, size, "announced on %u of %u masters", event->granted, event->masters);
        break;
    case REDLOCK_CHANGED:
        snprintf(text, size, "%s from now on, valid for %lld ms",
                 redlock_lease_is_shared(lease->handle) ? "shared" : "exclusive", valid);
        break;
    case REDLOCK_NOT_CHANGED:
        snprintf(text, size, "%s",
                 event->code == REDLOCK_E_HELD ? "others read it" : redlock_code_text(event->code));
        break;
    case REDLOCK_MOVED:
        if (lease->known == KNOWN_ASKED)
            snprintf(text, size, "moved, and waits there");
        else
            snprintf(text, size, "moved, valid for %lld ms", valid);
        break;
    case REDLOCK_NOT_MOVED:
        snprintf(text, size, "not moved, valid for %lld ms more: %s", valid,
                 redlock_code_text(event->code));
        break;
    case REDLOCK_LOST:
        if (event->code == REDLOCK_E_GONE)
            snprintf(text, size, "lost, not known since when: %s", redlock_code_text(event->code));
        else
            snprintf(text, size, "lost, %lld ms %s its end: %s", off, ends,
                     redlock_code_text(event->code));
        break;
    case REDLOCK_RELEASED:
        snprintf(text, size, "%s",
                 was_lost      ? "released the rest; it was lost before"
                 : event->code ? redlock_code_text(event->code)
                               : "released");
        break;
    case REDLOCK_NOT_ACQUIRED:
        snprintf(text, size, "%s",
                 event->code == REDLOCK_E_HELD ? "held by " : redlock_code_text(event->code));
        break;
    default:
        snprintf(text, size, "on %u of %u masters, valid for %lld ms", event->granted,
                 event->masters, valid);
    }
}

static bool is_about_masters(const redlock_event *event)
{
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
    case REDLOCK_EXTENDED:
    case REDLOCK_CHANGED:
    case REDLOCK_MOVED:
        return false;
    case REDLOCK_NOT_ACQUIRED:
        return event->code == REDLOCK_E_HELD || event->code == REDLOCK_E_UNAVAILABLE ||
               event->code == REDLOCK_E_TOO_SLOW;
    default:
        return true;
    }
}

static bool is_trouble(redlock_vote_kind kind)
{
    return kind == REDLOCK_VOTE_REFUSED || kind == REDLOCK_VOTE_UNREACHABLE ||
           kind == REDLOCK_VOTE_TIMEOUT || kind == REDLOCK_VOTE_ABSTAINS;
}

static void names_the_masters(struct user_lease *lease, const redlock_event *event)
{
    const struct shell *s = movers_voters(lease, event);
    size_t length = strlen(event->text);
    bool is_cut = length > 3 && strcmp(event->text + length - 3, "...") == 0;
    for (unsigned i = 0; i < event->masters; i++) {
        if (strcmp(event->votes[i]->node, node_text(s, i)) != 0)
            wrong_words(lease, event, "with a vote of another master");
        bool has_text = event->votes[i]->kind == REDLOCK_VOTE_REFUSED ||
                        event->votes[i]->kind == REDLOCK_VOTE_UNREACHABLE;
        if (has_text && !event->votes[i]->text[0])
            wrong_words(lease, event, "with a reason that is empty");
        if (is_about_masters(event) && is_trouble(event->votes[i]->kind) && !is_cut &&
            !strstr(event->text, node_text(s, i)))
            wrong_words(lease, event, "and not why a master did not vote");
    }
}

/* The calls return this at that moment. */
static void agrees_with_calls(struct user_lease *lease, const redlock_event *event)
{
    int64_t valid = redlock_lease_valid_for(lease->handle),
            fence = redlock_lease_fence(lease->handle);
    bool is_exact = event->kind == REDLOCK_ACQUIRED || event->kind == REDLOCK_MOVED ||
                    event->kind == REDLOCK_NOT_MOVED;
    if (is_exact && (valid != event->valid_ms || fence != event->fence))
        world_violated(lease->shell->world, "words",
                       "lease %u of client %u hears %lld ms and fence %lld, and asked, %lld ms "
                       "and fence %lld",
                       lease->number, CLIENT(lease), (long long)event->valid_ms,
                       (long long)event->fence, (long long)valid, (long long)fence);
}

void check_words(struct user_lease *lease, const redlock_event *event)
{
    const struct shell *s = movers_voters(lease, event);
    char start[200];
    if (event->masters != s->masters || event->quorum != s->quorum ||
        event->granted > event->masters)
        wrong_words(lease, event, "with wrong numbers");
    if ((event->kind == REDLOCK_ACQUIRED || event->kind == REDLOCK_EXTENDED ||
         event->kind == REDLOCK_MOVED) &&
        event->code)
        wrong_words(lease, event, redlock_code_name(event->code));
    if ((event->kind == REDLOCK_NOT_ACQUIRED || event->kind == REDLOCK_LOST ||
         event->kind == REDLOCK_NOT_MOVED) &&
        !event->code)
        wrong_words(lease, event, "and not why");
    spell_start(lease, event, start, sizeof start);
    if (!*event->text || strchr(event->text, '\n'))
        wrong_words(lease, event, "in no line");
    if (!begins_with(event->text, start) &&
        !(event->code == REDLOCK_E_HELD && begins_with(event->text, "held by")))
        wrong_words(lease, event, start);
    names_the_masters(lease, event);
    agrees_with_calls(lease, event);
}

void check_ready(struct shell *s, redlock *client, redlock_code code, const char *text)
{
    unsigned up = 0;
    for (unsigned i = 0; i < redlock_node_count(client); i++) {
        redlock_node node = {.size = sizeof node};
        if (redlock_node_get(client, i, &node) == REDLOCK_OK)
            up += node.state == REDLOCK_NODE_UP;
    }
    bool can = up >= s->quorum;
    if (can != (code == REDLOCK_OK) && redlock_code_class(code) != REDLOCK_CLASS_MISUSE)
        world_violated(s->world, "words", "client %u is ready with %s, and %u masters are up: %s",
                       s->index + 1, redlock_code_name(code), up, text);
    if (up < s->masters && !*text)
        world_violated(s->world, "words", "client %u does not hear which master is not up",
                       s->index + 1);
}

void check_node(struct shell *s, redlock *client, unsigned index)
{
    redlock_node node = {.size = sizeof node};
    bool is_known = redlock_node_get(client, index, &node) == REDLOCK_OK;
    if (!is_known || strcmp(node.node, node_text(s, index)) != 0)
        world_violated(s->world, "words", "client %u hears of a change of master %u", s->index + 1,
                       index + 1);
    else if (node.state != REDLOCK_NODE_UP && node.state != REDLOCK_NODE_CONNECTING &&
             node.state != REDLOCK_NODE_ABSTAINS && !*node.text)
        world_violated(s->world, "words", "client %u does not hear why master %u is down",
                       s->index + 1, index + 1);
}

void check_log(struct shell *s, redlock_level level, const char *text)
{
    if (level > REDLOCK_LOG_INFO || !*text || strchr(text, '\n'))
        world_violated(s->world, "words", "client %u logs, at level %d: \"%s\"", s->index + 1,
                       (int)level, text);
}

/* Only a lease that waits for an outcome has a place. */
void check_place(const struct user_lease *lease, redlock_code code, const redlock_place *place)
{
    bool has_one = code == REDLOCK_OK;
    if ((has_one && lease->known != KNOWN_ASKED) || (!has_one && code != REDLOCK_E_STATE) ||
        place->expires_ms < -1)
        world_violated(lease->shell->world, "words",
                       "lease %u of client %u has place %u for %lld ms: %s", lease->number,
                       CLIENT(lease), place->position, (long long)place->expires_ms,
                       redlock_code_name(code));
}

/* ---- batches: one write for each link and turn, releases that were asked for together go
 * together ---------------------------------------------------------------------------- */

void check_turn(struct shell *s)
{
    s->written = 0;
}

void check_batch_begins(struct shell *s)
{
    s->began_another = false;
}

void check_batch(struct shell *s, const struct user_lease *lease, const struct request *request,
                 bool first)
{
    if (!lease || s->turn != TURN_PUMP || !first)
        return;
    if (request->tag.kind != REQUEST_RELEASE)
        s->began_another |= !lease->released;
    else if (lease->released && s->began_another)
        world_violated(s->world, "batching",
                       "client %u sends the release of lease %u behind what another lease began",
                       s->index + 1, lease->number);
}

/* Once more just before it hears that it is closed. */
void check_flushed(struct shell *s, unsigned master)
{
    bool again = s->written & 1U << master;
    if (again && !s->client->closed_told)
        world_violated(s->world, "batching", "client %u writes to master %u twice in a turn",
                       s->index + 1, master + 1);
    s->written |= 1U << master;
}

void check_written(struct shell *s)
{
    for (unsigned i = 0; i < s->world->masters; i++)
        if (s->links[i].phase == LINK_UP && s->links[i].output.first)
            world_violated(s->world, "batching",
                           "client %u rests, and has not written to master %u", s->index + 1,
                           i + 1);
}

/* ---- what was freed ---------------------------------------------------------------------- */

void check_freed_is_left_alone(struct user_lease *lease, const redlock_lease *handle)
{
    struct shell *s = lease->shell;
    if (lease->handle != handle)
        world_violated(s->world, "once", "lease %u of client %u hears of another one",
                       lease->number, CLIENT(lease));
    if (lease->let_go || s->client->dying)
        world_violated(s->world, "once", "lease %u of client %u hears something, and %s was freed",
                       lease->number, CLIENT(lease), lease->let_go ? "it" : "the client");
}

/* ---- notifications --------------------------------------------------------------------- */

void check_may_come(struct shell *s, unsigned master, unsigned messages)
{
    s->may_come[master] += messages;
}

void check_came(struct shell *s, unsigned master, bool subscribed)
{
    if (s->may_come[master])
        s->may_come[master]--;
    else if (subscribed)
        world_violated(
            s->world, "notify",
            "client %u stays subscribed to master %u, which sends more than was asked for",
            s->index + 1, master + 1);
}

void check_heard_now(struct shell *s)
{
    usec late = shell_now(s) - s->client->now;
    if (late)
        world_violated(s->world, "notify",
                       "client %u dates what it hears %lld us before it was read", s->index + 1,
                       (long long)late);
}

void check_notified(struct shell *s)
{
    for (unsigned i = 0; i < s->masters; i++) {
        bool thinks = s->client->engine->masters[i].subscription.asked;
        bool is = s->subscribed & 1U << s->servers[i] || s->client->unsubscribed & 1U << i;
        if (thinks != is)
            world_violated(s->world, "notify",
                           "client %u %s a notification connection to master %u, and the core %s",
                           s->index + 1, is ? "has" : "has no", s->servers[i] + 1U,
                           thinks ? "counts on it" : "knows of none");
    }
}

/* An outcome of it will come. */
static bool is_awaited(const struct user_lease *lease)
{
    bool is_over = lease->known == KNOWN_ENDED || (lease->known == KNOWN_LOST && !lease->released);
    return !lease->let_go && !is_over;
}

/* Somebody waits for an outcome: the loop must not end. */
void check_held(struct shell *s)
{
    for (const struct user_lease *lease = s->all; lease && !s->closed_told; lease = lease->next_all)
        if (is_awaited(lease) && !s->holds_loop)
            world_violated(s->world, "loop", "client %u lets the loop end, and lease %u lives",
                           s->index + 1, lease->number);
}
