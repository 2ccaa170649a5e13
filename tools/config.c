/*
 * redlock config - the settings that count, and whence each came.  It sends nothing to a master.
 */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "exits.h"
#include "failure.h"
#include "json.h"
#include "list_text.h"
#include "option_times.h"
#include "options.h"
#include "say.h"
#include "votes.h"

const char config_help[] =
    "usage: redlock config [--json]\n"
    "\n"
    "Shows each setting, its value, and whence that came: an option, a variable of\n"
    "the environment, FILE:LINE, or the default. It sends nothing to a master, and\n"
    "shows no password. An option goes before its variable, and that before the file.\n"
    "\n"
    "The file is that of --config, else of REDLOCK_CONFIG, else /etc/redlock.conf if\n"
    "that exists. /dev/null stands for no file. For example:\n"
    "\n"
    "    # The same on all hosts. Comments begin a line, or stand behind white space.\n"
    "    master  = 10.0.0.1:6379\n"
    "    master  = redis://USER:PASSWORD@10.0.0.2:6379\n"
    "    master  = rediss://10.0.0.3:6379         # TLS; [::1]:6379 for IPv6\n"
    "    prefix  = app:                           # REDLOCK_PREFIX\n"
    "    fleet   = jobs                           # REDLOCK_FLEET\n"
    "    spare   = 0                              # REDLOCK_SPARE\n"
    "    max_ttl = 30s                            # REDLOCK_MAX_TTL\n"
    "    label   = web-1                          # REDLOCK_LABEL\n"
    "    tls_ca  = /etc/redlock/ca.pem            # REDLOCK_TLS_CA\n"
    "\n"
    "There are tls_cert, tls_key, tls_name, tls_sni and tls_verify, too, as in\n"
    "`redlock --help`. Values have no quotes. A list of masters may stand in one\n"
    "line, with commas. The user of the command must be able to read the file; with a\n"
    "password in it nobody else should (chmod 600, or 640 with a group). With\n"
    "`redlock run` the command gets all of it by the environment.\n"
    "\n"
    "Exit status: 0 shown, 64 usage, 74 stdout cannot be written, 78 the file or the\n"
    "list of masters is wrong: the message says the line and what to write.\n"
    "\n"
    "Example:\n"
    "  redlock --config ./redlock.conf config\n";

struct row {
    const char *key, *value;
    const char *from; /* "default", or a place */
};

/* ---- Whence it came ----------------------------------------------------- */

static const char *origin_name(enum origin origin)
{
    static const char *const names[] = {"default", "file", "environment", "option"};
    return names[origin];
}

/* The file, for a master its line; the variable; the option. */
static void show_place(struct text *out, const struct options *options, enum setting setting,
                       unsigned line)
{
    bool is_file = setting == SETTING_NODES && options->nodes_file;
    const char *key = settings_key(setting);
    switch (options->origin[setting]) {
    case ORIGIN_FILE:
        text_format(out, "%s:%u", options->config, line ? line : options->settings.line[setting]);
        break;
    case ORIGIN_ENVIRONMENT:
        text_format(out, "%s%s", settings_variable(setting), is_file ? "_FILE" : "");
        break;
    case ORIGIN_OPTION:
        text_format(out, "--");
        if (setting == SETTING_NODES)
            text_format(out, "nodes%s", is_file ? "-file" : "");
        else
            for (; *key; key++)
                text_format(out, "%c", *key == '_' ? '-' : *key);
        break;
    default:
        break;
    }
}

/* ---- Values ------------------------------------------------------------- */

/* Without its login. */
static void show_master(struct text *out, const char *entry, size_t length)
{
    const char *sign = memmem(entry, length, "://", 3);
    const char *at = memrchr(entry, '@', length);
    size_t scheme = sign ? (size_t)(sign + 3 - entry) : 0;
    if (at)
        text_format(out, "%.*s***%.*s", (int)scheme, entry, (int)(entry + length - at), at);
    else
        text_format(out, "%.*s", (int)length, entry);
}

static void show_span(struct text *out, int64_t ms)
{
    bool whole = ms % 1000 == 0;
    text_format(out, "%" PRId64 "%s", whole ? ms / 1000 : ms, whole ? "s" : "ms");
}

/* As it may be written in the file. */
static void show_value(struct text *out, const struct options *options, enum setting setting)
{
    static const char *const defaults[SETTINGS] = {
        [SETTING_LABEL] = "HOST:PID", [SETTING_TLS_VERIFY] = "full"};
    const char *given = setting == SETTING_FLEET ? options_fleet(options) : options->text[setting];
    const char *text = given ? given : defaults[setting];
    if (setting == SETTING_SPARE)
        text_format(out, "%d", options->spare);
    else if (setting == SETTING_MAX_TTL)
        show_span(out, option_longest_ttl(options));
    else
        text_format(out, "%s", text ? text : "");
}

/* ---- Output ------------------------------------------------------------- */

struct output {
    const struct options *options;
    struct text text;
    struct json json;
};

static void put_row(struct output *output, enum setting setting, const struct text *value,
                    unsigned line)
{
    const struct options *options = output->options;
    struct text place = {0};
    show_place(&place, options, setting, line);
    const char *shown = value->bytes ? value->bytes : "", *from = place.bytes ? place.bytes : "";
    if (options->json) {
        json_open(&output->json, NULL, '{');
        json_string(&output->json, "key", settings_key(setting));
        json_string(&output->json, "value", shown);
        json_string(&output->json, "origin", origin_name(options->origin[setting]));
        json_filled(&output->json, "from", from);
        json_close(&output->json, '}');
    } else {
        size_t begins = output->text.length;
        text_format(&output->text, "%-10s  ", settings_key(setting));
        text_shown(&output->text, shown, strlen(shown));
        for (size_t width = output->text.length - begins; width < 44; width++)
            text_format(&output->text, " ");
        text_format(&output->text, "  ");
        text_shown(&output->text, *from ? from : "default", *from ? strlen(from) : 7);
        text_format(&output->text, "\n");
    }
    text_free(&place);
}

static void put_list(struct output *output, const char *list)
{
    const struct settings *settings = &output->options->settings;
    bool in_file = output->options->origin[SETTING_NODES] == ORIGIN_FILE;
    struct client_text entry;
    for (unsigned i = 0; list_take_entry(&list, &entry); i++) {
        struct text value = {0};
        show_master(&value, entry.bytes, entry.length);
        put_row(output, SETTING_NODES, &value, in_file ? settings->master_line[i] : 0);
        text_free(&value);
    }
}

/* Those of a list in a file of its own, as the library names them. */
static void put_nodes(struct output *output, redlock *client)
{
    redlock_node node = {.size = sizeof(node)};
    for (unsigned i = 0; i < redlock_node_count(client); i++) {
        struct text value = {0};
        if (redlock_node_get(client, i, &node) == REDLOCK_OK)
            text_format(&value, "%s", node.node);
        put_row(output, SETTING_NODES, &value, 0);
        text_free(&value);
    }
}

static void put_all(struct output *output, redlock *client)
{
    const struct options *options = output->options;
    if (options->nodes)
        put_list(output, options->nodes);
    else if (client)
        put_nodes(output, client);
    else
        put_row(output, SETTING_NODES, &(struct text){0}, 0);
    for (int i = SETTING_SPARE; i < SETTINGS; i++) {
        struct text value = {0};
        show_value(&value, options, (enum setting)i);
        put_row(output, (enum setting)i, &value, 0);
        text_free(&value);
    }
}

static int put_output(struct output *output, redlock *client)
{
    const struct options *options = output->options;
    if (options->json) {
        output->json = outcome_json(&output->text, REDLOCK_OK, redlock_code_text(REDLOCK_OK));
        json_string(&output->json, "file", options->config);
        json_open(&output->json, "settings", '[');
    }
    put_all(output, client);
    if (options->json) {
        json_close(&output->json, ']');
        json_end(&output->json);
    }
    bool done = put_text(&output->text);
    text_free(&output->text);
    return done ? EXIT_DONE : EXIT_OUTPUT;
}

/* ---- The command -------------------------------------------------------- */

/* A client that nothing runs: it checks the list as that of any command would, and begins to
 * connect at most. */
static redlock_code open_client(redlock **client, const struct options *options, char *why,
                                size_t size)
{
    redlock_options settings = options_of_client(options);
    settings.looks_only = true;
    return redlock_open(client, NULL, &settings, why, size);
}

int perform_config(const struct options *options)
{
    struct output output = {.options = options};
    redlock *client = NULL;
    char why[500] = "";
    redlock_code code = REDLOCK_OK;
    if (options->nodes || options->nodes_file)
        code = open_client(&client, options, why, sizeof why);
    if (code != REDLOCK_OK)
        failure_tell(options, "cannot use", code, why, NULL);
    int status = code == REDLOCK_OK ? put_output(&output, client)
                 : code == REDLOCK_E_ARGUMENT || exit_for(code) == EXIT_NODES ? EXIT_NODES
                                                                              : EXIT_INTERNAL;
    redlock_free(client);
    return status;
}
