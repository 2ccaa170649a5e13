#define _GNU_SOURCE /* secure_getenv; NOLINT(bugprone-reserved-identifier) */

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "tls_parts.h"

#define SETTLES_S 2 /* the coarsest clock of a file system */

/* Shows that files are still the same.  The folder is the system's: CAs that the file lacks are
 * looked up there. */
struct stamp {
    struct stat file, folder;
};

static const char *path_of_system(const char *variable, const char *usual)
{
    const char *said = secure_getenv(variable);
    return said ? said : usual;
}

static bool stamp_system(struct stamp *stamp)
{
    const char *file =
                   path_of_system(X509_get_default_cert_file_env(), X509_get_default_cert_file()),
               *folder =
                   path_of_system(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
    return stat(file, &stamp->file) == 0 && stat(folder, &stamp->folder) == 0;
}

static bool take_stamp(const char *ca, struct stamp *stamp)
{
    *stamp = (struct stamp){0};
    return ca ? stat(ca, &stamp->file) == 0 : stamp_system(stamp);
}

static bool is_same_time(struct timespec one, struct timespec other)
{
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
           one->st_size == other->st_size && is_same_time(one->st_mtim, other->st_mtim) &&
           is_same_time(one->st_ctim, other->st_ctim);
}

static bool is_same(const struct stamp *one, const struct stamp *other)
{
    return is_same_file(&one->file, &other->file) && is_same_file(&one->folder, &other->folder);
}

/* A file that was changed just now may be changed again at what is the same time to the file
 * system. */
static bool has_settled(const struct stamp *stamp)
{
    time_t settled = time(NULL) - SETTLES_S;
    return stamp->file.st_ctim.tv_sec < settled && stamp->folder.st_ctim.tv_sec < settled;
}

/* ---- */

static X509_STORE *load(const char *ca)
{
    X509_STORE *store = X509_STORE_new();
    if (store &&
        (ca ? X509_STORE_load_locations(store, ca, NULL) : X509_STORE_set_default_paths(store)))
        return store;
    X509_STORE_free(store);
    return NULL;
}

/* The stamp is taken before the file is read, so that a file that changes meanwhile is read again.
 */
static X509_STORE *load_or_recall(const char *ca)
{
    static X509_STORE *kept;
    static struct stamp stamp;
    struct stamp now;
    bool stamped = take_stamp(ca, &now);
    if (stamped && kept && is_same(&stamp, &now))
        return X509_STORE_up_ref(kept) ? kept : NULL;
    X509_STORE *store = load(ca);
    if (store && stamped && has_settled(&now) && X509_STORE_up_ref(store)) {
        X509_STORE_free(kept);
        kept = store;
        stamp = now;
    }
    return store;
}

/* A thread that finds another one here reads the files itself.  So does a forked child, where that
 * other thread is gone. */
X509_STORE *tls_trust(const char *ca)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (pthread_mutex_trylock(&mutex) != 0)
        return load(ca);
    X509_STORE *store = load_or_recall(ca);
    pthread_mutex_unlock(&mutex);
    return store;
}
