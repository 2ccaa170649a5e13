#include "tls_world.h"

#include <stdio.h>
#include <unistd.h>

struct certificate ca, master_cert;
static char folder[] = "/tmp/redlock-tls-XXXXXX";
char ca_path[64], cert_path[64], key_path[64];
SSL_CTX *server;
struct fake_tls tls;

/* ---- OpenSSL's memory ---- */

int openssl_memory = -1;

static bool fails(void)
{
    if (openssl_memory > 0)
        openssl_memory--;
    return openssl_memory == 0;
}

static void *allocate(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return fails() ? NULL : malloc(size);
}

static void *change(void *old, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return fails() ? NULL : realloc(old, size);
}

static void drop(void *old, const char *file, int line)
{
    (void)file, (void)line;
    free(old);
}

/* ---- */

static void name_path(char path[64], const char *name)
{
    snprintf(path, 64, "%s/%s", folder, name);
}

int tls_tests_begin(void **state)
{
    assert_int_equal(CRYPTO_set_mem_functions(allocate, change, drop), 1);
    assert_non_null(mkdtemp(folder));
    name_path(ca_path, "ca.crt");
    name_path(cert_path, "client.crt");
    name_path(key_path, "client.key");
    ca = certificate_make(NULL, "the test's CA", NULL, BEFORE, LATER);
    master_cert = certificate_make(&ca, "a master", NAMES, BEFORE, LATER);
    certificate_write(&ca, ca_path, NULL, NULL);
    return link_tests_begin(state);
}

int tls_tests_end(void **state)
{
    (void)state;
    certificate_free(&ca);
    certificate_free(&master_cert);
    unlink(ca_path);
    unlink(cert_path);
    unlink(key_path);
    return rmdir(folder);
}

int tls_set_up(void **state)
{
    world_set_up(state);
    struct world *world = *state;
    world->address = (struct address){.host = LOCAL, .tls.wanted = true};
    say_of_tls(world, TLS_CA, ca_path);
    show(&master_cert);
    return 0;
}

int tls_tear_down(void **state)
{
    struct world *world = *state;
    struct address address = world->address;
    fake_tls_free(&tls);
    SSL_CTX_free(server);
    server = NULL;
    world_tear_down(state);
    tls_terms_clear(&address.tls);
    return 0;
}

void say_of_tls(struct world *world, enum tls_setting setting, const char *value)
{
    char **said = &world->address.tls.said[setting];
    free(*said);
    *said = value ? strdup(value) : NULL;
}

void show(const struct certificate *certificate)
{
    SSL_CTX_free(server);
    server = certificate_serve(certificate);
}

void look_after(struct world *world)
{
    if (world->fake.connection >= 0 && tls.ssl)
        fake_tls_turn(&tls);
}

void try_to_come_up(struct world *world)
{
    unsigned accepted = world->fake.accepted;
    if (!world->link)
        make_link_to(world, world->address);
    world->told_count = 0;
    do_connect(world);
    while (world->fake.accepted == accepted && !link_pump(world->link))
        ev_run(world->loop, EVRUN_ONCE);
    if (world->told_count)
        return;
    struct fake_tls terms = {.piece = tls.piece, .greeting = tls.greeting};
    fake_tls_free(&tls);
    tls = terms;
    fake_tls_begin(&tls, &world->fake, server);
    RUN_UNTIL(world, world->told_count);
}

void come_up_by_tls(struct world *world)
{
    try_to_come_up(world);
    if (world->told[0].kind != EVENT_CONNECTED)
        fail_msg("not connected: %s", world->told[0].text);
    RUN_UNTIL(world, tls.up);
    world->told_count = 0;
}

void assert_refused(struct world *world, const char *why)
{
    try_to_come_up(world);
    assert_closed(&world->told[0], why);
    assert_int_equal(strncmp(world->told[0].text, "TLS: ", 5), 0);
}
