/*
 * tls_lazy.c - stands in for lib/io/tls.c in the command.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tls_calls.h"

const bool tls_is_built = true;

static const struct tls_calls *calls; /* NULL: not loaded yet */

/* Its place is known from the command's own, so the installed tree can be moved. */
static bool find_module(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - sizeof TLS_MODULE);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    if (slash)
        memcpy(slash + 1, TLS_MODULE, sizeof TLS_MODULE);
    return slash;
}

static bool load_calls(char *why, size_t why_size)
{
    char path[PATH_MAX + sizeof TLS_MODULE];
    void *module = find_module(path, sizeof path) ? dlopen(path, RTLD_NOW) : NULL;
    calls = module ? dlsym(module, "redlock_tls_calls") : NULL;
    if (!calls) {
        const char *error = dlerror();
        snprintf(why, why_size, "TLS: %s", error ? error : "/proc does not say where redlock is");
    }
    return calls;
}

struct tls *tls_new(int fd, const struct tls_terms *terms, const char *host, char *why,
                    size_t why_size)
{
    bool loaded = calls || load_calls(why, why_size);
    return loaded ? calls->make(fd, terms, host, why, why_size) : NULL;
}

enum tls_state tls_handshake(struct tls *tls)
{
    return calls->handshake(tls);
}

void tls_begin_reading(struct tls *tls)
{
    calls->begin_reading(tls);
}

ssize_t tls_read(struct tls *tls, char *bytes, size_t size)
{
    return calls->read(tls, bytes, size);
}

ssize_t tls_write(struct tls *tls, const char *bytes, size_t size)
{
    return calls->write(tls, bytes, size);
}

bool tls_waits_to_write(const struct tls *tls, bool unsent)
{
    return calls->waits_to_write(tls, unsent);
}

const char *tls_why(const struct tls *tls)
{
    return calls->why(tls);
}

const struct tls_facts *tls_facts(const struct tls *tls)
{
    return calls->facts(tls);
}

void tls_free(struct tls *tls)
{
    if (tls)
        calls->free(tls);
}
