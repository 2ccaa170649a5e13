/* TLS with real masters: certificates that are replaced, and a master that hangs. */
/* rule: K19 */

#include "fixture.h"
#include "user.h"

#define MASTERS 5

static bool has_text(const struct user *user, unsigned master, const char *says)
{
    return strstr(node_of(user, master).text, says) != NULL;
}

static bool is_up(const struct user *user, unsigned master)
{
    return node_of(user, master).state == REDLOCK_NODE_UP;
}

/* However slow this machine is. */
static void open_patiently(struct user *user, redlock_options *given)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    if (given)
        options = *given;
    options.nodes = cluster.nodes;
    options.connect_timeout_ms = 20000;
    options.request_timeout_ms = 5000;
    user_open(user, NULL, &options);
}

static void lock_once(struct user *user, const char *name)
{
    struct take take;
    assert_code(take_lock(&take, user, name, NULL), REDLOCK_OK);
    assert_code(take_release(&take), REDLOCK_OK);
}

/* A certificate for other names, by the cluster's CA or by one of its own. */
static void certify(const char *name, const char *names, bool own_ca)
{
    char command[1200];
    snprintf(command, sizeof command,
             "cd '%s/tls' && exec >/dev/null 2>&1 && "
             "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout %s.key "
             "-out %s.csr -subj '/CN=%s' && printf 'subjectAltName=%s\n' >%s.ext && "
             "openssl x509 -req -in %s.csr -days 2 -extfile %s.ext -out %s.crt %s",
             cluster.dir, name, name, name, names, name, name, name, name,
             own_ca ? "-signkey " : "-CA ca.crt -CAkey ca.key -set_serial 77");
    if (own_ca)
        snprintf(command + strlen(command), sizeof command - strlen(command), "%s.key", name);
    assert_int_equal(system(command), 0);
}

static void show(unsigned master, const char *name)
{
    cluster_tell(&cluster, master,
                 "CONFIG SET tls-cert-file ../tls/%s.crt tls-key-file ../tls/%s.key", name, name);
}

/* Both connections to that master end. */
static void end_connections(unsigned master)
{
    cluster_tell(&cluster, master, "CLIENT KILL TYPE normal SKIPME yes");
    cluster_tell(&cluster, master, "CLIENT KILL TYPE pubsub SKIPME yes");
}

CASE(test_what_is_known_of_a_master)
{
    struct user user;
    open_patiently(&user, NULL);
    AWAIT(&user, user_all_up(&user));
    for (unsigned i = 0; i < MASTERS; i++) {
        redlock_node node = node_of(&user, i);
        assert_string_equal(node.tls_protocol, "TLSv1.3");
        assert_string_equal(node.tls_peer, "localhost");
        assert_true(node.tls_verified);
        assert_true(node.tls_expires_s > 29 * 86400 && node.tls_expires_s <= 30 * 86400);
    }
    user_close_clean(&user, &cluster);
}

/* The next connection sees what is there then: first no certificate of ours, then one again. */
CASE(test_certificates_are_replaced)
{
    struct user user;
    certify("stranger", "IP:127.0.0.1", true);
    certify("renewed", "IP:127.0.0.1,DNS:renewed.test", false);
    open_patiently(&user, NULL);
    show(0, "stranger");
    lock_once(&user, "as before");
    assert_true(is_up(&user, 0)); /* on the connection that there was */
    end_connections(0);
    AWAIT(&user,
          has_text(&user, 0, "its certificate is of a CA that is not trusted here, stranger"));
    lock_once(&user, "without it");
    show(0, "renewed");
    AWAIT(&user, is_up(&user, 0));
    assert_string_equal(node_of(&user, 0).tls_peer, "renewed.test");
    assert_true(node_of(&user, 0).tls_expires_s < 3 * 86400);
    show(0, "master");
    end_connections(0);
    AWAIT(&user, is_up(&user, 0) && strcmp(node_of(&user, 0).tls_peer, "localhost") == 0);
    user_close_clean(&user, &cluster);
}

CASE(test_the_terms_of_the_address_go_first)
{
    struct user user;
    char ca[100], why[300];
    redlock *client;
    redlock_options options = {.size = sizeof(redlock_options)};
    snprintf(ca, sizeof ca, "%s", getenv("REDLOCK_TLS_CA"));
    setenv("REDLOCK_TLS_CA", "/nowhere", 1);
    open_patiently(&user, NULL);
    lock_once(&user, "the CA is in the list");
    user_close_clean(&user, &cluster);
    setenv("REDLOCK_TLS_CA", ca, 1);
    options.nodes = "redis://127.0.0.1:1";
    options.tls_ca = ca;
    assert_code(redlock_open(&client, ev_default_loop(0), &options, why, sizeof why),
                REDLOCK_E_ARGUMENT);
    assert_says(why, "no master of the list is a rediss://");
    options.nodes = cluster.nodes;
    options.tls_key = "key";
    assert_code(redlock_open(&client, ev_default_loop(0), &options, why, sizeof why),
                REDLOCK_E_NODES);
    assert_says(why, "TLS has a key, but no cert");
    options.tls_key = NULL;
    options.tls_verify = "maybe";
    assert_code(redlock_open(&client, ev_default_loop(0), &options, why, sizeof why),
                REDLOCK_E_NODES);
    assert_says(why, "verify of TLS is none or full");
}

/* A master that hangs from before the handshake on holds up nobody. */
CASE(test_a_handshake_that_stalls)
{
    struct user user;
    struct take take;
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = cluster.nodes;
    options.connect_timeout_ms = 3000;
    cluster_do(&cluster, "pause 3");
    int64_t before = now_us();
    user_begin(&user, ev_loop_new(0), NULL, &options);
    assert_code(take_lock(&take, &user, "at once", NULL), REDLOCK_OK);
    assert_true(now_us() - before < 2700000);
    assert_code(take_release(&take), REDLOCK_OK);
    AWAIT(&user, has_text(&user, 2, "TLS: no answer within the time to connect"));
    assert_true(now_us() - before >= 3000000);
    cluster_do(&cluster, "resume 3");
    AWAIT(&user, is_up(&user, 2));
    user_close_clean(&user, &cluster);
}

int main(void)
{
    setenv("REDLOCK_TEST_TLS", "1", 1);
    return RUN_WITH(.masters = MASTERS);
}
