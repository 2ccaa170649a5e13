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

static struct ev_loop *loop; /* of the case, with a master */
static struct fake_master fake;
static redlock *client;

static int set_up(void **state)
{
    (void)state;
    loop = ev_loop_new(0);
    fake_listen(&fake, loop);
    leaks = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_free(&fake);
    ev_loop_destroy(loop);
    return 0;
}

#define TEST(name) CASE_WITH(name, set_up, tear_down)

static void wait_for(const char *text)
{
    while (!fake.heard_length || !memmem(fake.heard, fake.heard_length, text, strlen(text)))
        ev_run(loop, EVRUN_ONCE);
}

static redlock_code open_list(const char *nodes)
{
    redlock_options options = {.size = sizeof(redlock_options)};
    options.nodes = nodes;
    return redlock_open(&client, loop, &options, NULL, 0);
}

TEST(a_password_that_was_sent_is_wiped)
{
    char nodes[100];
    snprintf(nodes, sizeof nodes, "redis://ann:" SECRET "@127.0.0.1:%d", fake.port);
    assert_int_equal(open_list(nodes), REDLOCK_OK);
    wait_for(SECRET);
    redlock_free(client);
    assert_int_equal(leaks, 0);
}

static void write_list(const char *path, const char *login, int port)
{
    char list[100];
    int length = snprintf(list, sizeof list, "redis://%s@127.0.0.1:%d", login, port);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, list, (size_t)length), length);
    close(fd);
}

TEST(a_password_that_was_denied_is_wiped)
{
    static const char path[] = "test_secrets.nodes";
    redlock_options options = {.size = sizeof(redlock_options)};
    write_list(path, ":" SECRET, fake.port);
    options.nodes_file = path;
    assert_int_equal(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    wait_for(SECRET);
    write_list(path, "ann:" SECRET "-2", fake.port);
    fake_say(&fake, "-WRONGPASS no\r\n");
    fake_hang_up(&fake);
    wait_for("\r\nann\r\n");
    assert_int_equal(leaks, 0);
    redlock_free(client);
    assert_int_equal(leaks, 0);
    unlink(path);
}

TEST(a_password_of_a_list_that_is_refused_is_wiped)
{
    static const char *const lists[] = {"redis://:" SECRET "@h,rubbish", "redis://:" SECRET "%zz@h",
                                        "redis://ann:" SECRET "@h:0",
                                        "redis://:" SECRET "@h,redis://h"};
    for (unsigned i = 0; i < COUNT(lists); i++) {
        assert_int_equal(open_list(lists[i]), REDLOCK_E_NODES);
        assert_int_equal(leaks, 0);
    }
}

TEST(a_password_in_a_file_of_settings_is_wiped)
{
    static const char path[] = "test_secrets.conf";
    static const char *const files[] = {"master = redis://:" SECRET "@h:1",
                                        "master = redis://:" SECRET "@h:1 redis://h:1",
                                        "master = redis://:" SECRET "@h:1\nspare = x"};
    redlock_options options = {.size = sizeof(redlock_options), .config = path};
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
}

/* Neither is a file that such an environment names: only the file of the machine counts. */
TEST(no_settings_from_an_environment_of_somebody_else)
{
    redlock_options options = {.size = sizeof(redlock_options), .nodes = "h:1", .config = ""};
    setenv("REDLOCK_CONFIG", "/nowhere", 1);
    assert_int_equal(redlock_open(&client, loop, &options, NULL, 0), REDLOCK_OK);
    redlock_free(client);
}

TEST(no_list_from_an_environment_of_somebody_else)
{
    setenv("REDLOCK_NODES", "redis://somebody.test", 1);
    assert_int_equal(open_list(NULL), REDLOCK_E_NODES);
}

PROGRAM_OF_CASES(NULL, NULL)
