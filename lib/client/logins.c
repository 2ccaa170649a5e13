#include "logins.h"

#include <stdio.h>

#include "link.h"
#include "nodes_file.h"
#include "report.h"
#include "settings.h"

static int parse_text(const char *text, struct address *list, char *why, size_t size)
{
    int count = addresses_parse(list, REDLOCK_MASTERS_MAX, text, why, size);
    return count < 0 ? 0 : count;
}

static int read_settings(const char *path, struct address *list, char *why, size_t size)
{
    struct settings settings;
    bool read = settings_read(&settings, path, why, size) == SETTINGS_READ;
    int count = read ? parse_text(settings.list, list, why, size) : 0;
    settings_free(&settings);
    return count;
}

static int read_list(const char *path, struct address *list, char *why, size_t size)
{
    char *text = nodes_file_read(path, true, why, size);
    int count = text ? parse_text(text, list, why, size) : 0;
    nodes_file_free(text);
    return count;
}

static enum login_change read_login(redlock *client, unsigned master, char *why, size_t size)
{
    struct address list[REDLOCK_MASTERS_MAX];
    snprintf(why, size, "%s does not list it", client->nodes_file);
    int count =
        (client->has_settings ? read_settings : read_list)(client->nodes_file, list, why, size);
    enum login_change change = address_take_login(&client->addresses[master], list, count);
    addresses_clear(list, count);
    return change;
}

/* A master is tried each second: why its login stays is logged once. */
static void log_change(redlock *client, unsigned master, enum login_change change, const char *why)
{
    const char *node = client->addresses[master].shown;
    uint32_t bit = 1U << master;
    if (change == LOGIN_NEW)
        client_log(client, REDLOCK_LOG_INFO, "%s: trying the new login that %s has for it", node,
                   client->nodes_file);
    else if (change == LOGIN_UNKNOWN && !(client->login_stays & bit))
        client_log(client, REDLOCK_LOG_WARNING, "%s: denies the login, and there is no other: %s",
                   node, why);
    client->login_stays &= ~bit;
    client->login_stays |= change == LOGIN_UNKNOWN ? bit : 0;
}

void logins_renew(redlock *client, unsigned master, const struct link *link)
{
    char why[256];
    if (!client->nodes_file || !link_was_denied(link))
        return;
    enum login_change change = read_login(client, master, why, sizeof why);
    log_change(client, master, change, why);
}
