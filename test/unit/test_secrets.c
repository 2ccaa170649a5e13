/* Passwords do not outlive their use in memory, and a list of masters comes from no environment
 * that is not to be trusted. */
#define _GNU_SOURCE
#include <ev.h>
#include <fcntl.h>
#include <malloc.h>
#include <redlock.h>
#include <stdio.h>
#include <unistd.h>

#include "fake_master.h"
#include "unit.h"

#define SECRET "hunter2-hunter2"

void __real_free(void *);
void __wrap_free(void *);
char *__wrap_secure_getenv(const char *);

static unsigned leaks; /* blocks freed with the secret in them */

void __wrap_free(void *block)
{
    if (block && memmem(block, malloc_usable_size(block), SECRET, sizeof SECRET - 1))
        leaks++;
    __real_free(block);
}

/* As in a set-user-ID program. */
char *__wrap_secure_getenv(const char *name)
{
    (void)name;
    return NULL;
}

static redlock_code open_list(redlock **client, struct ev_loop *loop, const char *nodes)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = nodes;
    leaks = 0;
    return redlock_open(client, loop, &options, NULL, 0);
}

static bool was_heard(struct fake_master *fake)
{
    return fake->heard_length && memmem(fake->heard, fake->heard_length, SECRET, sizeof SECRET - 1);
}

CASE(a_password_that_was_sent_is_wiped)
{
    struct ev_loop *loop = ev_loop_new(0);
    struct fake_master fake;
    redlock *client;
    char nodes[100];
    fake_listen(&fake, loop);
    snprintf(nodes, sizeof nodes, "redis://ann:" SECRET "@127.0.0.1:%d", fake.port);
    assert_int_equal(open_list(&client, loop, nodes), REDLOCK_OK);
    while (!was_heard(&fake))
        ev_run(loop, EVRUN_ONCE);
    redlock_free(client);
    assert_int_equal(leaks, 0);
    fake_free(&fake);
    ev_loop_destroy(loop);
}

static void write_list(const char *path, const char *login, int port)
{
    char list[100];
    int length = snprintf(list, sizeof list, "redis://%s@127.0.0.1:%d", login, port);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, list, (size_t)length), length);
    close(fd);
}

static void wait_for(struct fake_master *fake, const char *text)
{
    while (!fake->heard_length || !memmem(fake->heard, fake->heard_length, text, strlen(text)))
        ev_run(fake->loop, EVRUN_ONCE);
}

CASE(a_password_that_was_denied_is_wiped)
{
    static const char path[] = "test_secrets.nodes";
    struct ev_loop *loop = ev_loop_new(0);
    struct fake_master fake;
    redlock_options options = {.size = sizeof(redlock_options)};
    redlock *client;
    fake_listen(&fake, loop);
    write_list(path, ":" SECRET, fake.port);
    options.nodes_file = path;
    leaks = 0;
    assert_int_equal(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    wait_for(&fake, SECRET);
    write_list(path, "ann:" SECRET "-2", fake.port);
    fake_say(&fake, "-WRONGPASS no\r\n");
    fake_hang_up(&fake);
    wait_for(&fake, "\r\nann\r\n");
    assert_int_equal(leaks, 0);
    redlock_free(client);
    assert_int_equal(leaks, 0);
    unlink(path);
    fake_free(&fake);
    ev_loop_destroy(loop);
}

CASE(a_password_of_a_list_that_is_refused_is_wiped)
{
    static const char *const lists[] = {"redis://:" SECRET "@h,rubbish", "redis://:" SECRET "%zz@h",
                                        "redis://ann:" SECRET "@h:0",
                                        "redis://:" SECRET "@h,redis://h"};
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client;
    for (unsigned i = 0; i < COUNT(lists); i++) {
        assert_int_equal(open_list(&client, loop, lists[i]), REDLOCK_E_NODES);
        assert_int_equal(leaks, 0);
    }
    ev_loop_destroy(loop);
}

CASE(a_password_in_a_file_of_settings_is_wiped)
{
    static const char path[] = "test_secrets.conf";
    static const char *const files[] = {"master = redis://:" SECRET "@h:1",
                                        "master = redis://:" SECRET "@h:1 redis://h:1",
                                        "master = redis://:" SECRET "@h:1\nspare = x"};
    redlock_options options = {.size = sizeof(redlock_options), .config = path};
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client;
    for (unsigned i = 0; i < COUNT(files); i++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_int_equal(write(fd, files[i], strlen(files[i])), strlen(files[i]));
        close(fd);
        leaks = 0;
        assert_int_equal(redlock_open(&client, loop, &options, NULL, 0) == REDLOCK_OK, i == 0);
        redlock_free(client);
        assert_int_equal(leaks, 0);
    }
    unlink(path);
    ev_loop_destroy(loop);
}

/* Neither is a file that such an environment names: only the file of the machine counts. */
CASE(no_settings_from_an_environment_of_somebody_else)
{
    redlock_options options = {.size = sizeof(redlock_options), .nodes = "h:1", .config = ""};
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client;
    setenv("REDLOCK_CONFIG", "/nowhere", 1);
    assert_int_equal(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    redlock_free(client);
    ev_loop_destroy(loop);
}

CASE(no_list_from_an_environment_of_somebody_else)
{
    struct ev_loop *loop = ev_loop_new(0);
    redlock *client;
    setenv("REDLOCK_NODES", "redis://somebody.test", 1);
    assert_int_equal(open_list(&client, loop, NULL), REDLOCK_E_NODES);
    ev_loop_destroy(loop);
}

int main(void)
{
    return RUN_CASES(NULL, NULL);
}
