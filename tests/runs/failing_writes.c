/* A disk that fails: loaded before the C library (LD_PRELOAD), it lets chosen calls fail that change a folder.

Calls are counted over all kinds, and only for paths below the folder that `watch_folder` names, which the tests call
by ctypes; before, nothing is counted. Libraries in C++ and Rust write through the same calls as Python. A call that is
let through reaches the system, except fsync, which tests need not wait for. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static size_t length;
static atomic_long count;
static long first_failure, last_failure;
static int reason, log_descriptor = -1;

/* Counts calls below `path`; those from the first to the last number fail with `error`. The log gets a line each. */
void watch_folder(const char *path, long first, long last, int error, int descriptor) {
    first_failure = first, last_failure = last, reason = error, log_descriptor = descriptor;
    atomic_store(&count, 0);
    length = strlen(path);
    memcpy(folder, path, length + 1);
}

long calls_so_far(void) { return atomic_load(&count); }

static int is_below(const char *path) {
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* The path of an open file; of a removed one its former path. */
static int path_of(int descriptor, char *path) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, name, path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = 0;
    return size > 0;
}

static int fails(const char *kind, const char *path) {
    if (!is_below(path))
        return 0;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (log_descriptor >= 0) {
        char line[PATH_MAX + 32];
        int size = snprintf(line, sizeof line, "%s %s\n", kind, path);
        syscall(SYS_write, log_descriptor, line, (size_t)size);
    }
    if (number < first_failure || number > last_failure)
        return 0;
    errno = reason;
    return 1;
}

static int fails_at(const char *kind, int directory, const char *path) {
    char whole[2 * PATH_MAX], above[PATH_MAX];
    if (!length)
        return 0;
    if (path[0] == '/')
        return fails(kind, path);
    if (directory == AT_FDCWD ? syscall(SYS_getcwd, above, sizeof above) < 0 : !path_of(directory, above))
        return 0;
    snprintf(whole, sizeof whole, "%s/%s", above, path);
    return fails(kind, whole);
}

static int fails_open_file(const char *kind, int descriptor) {
    char path[PATH_MAX];
    return length && path_of(descriptor, path) && fails(kind, path);
}

static int watched(int descriptor) {
    char path[PATH_MAX];
    return length && path_of(descriptor, path) && is_below(path);
}

#define NEXT(result, name, ...)                            \
    static result (*next)(__VA_ARGS__);                    \
    if (!next)                                             \
        next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int opens_for_writing(int flags) { return flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC); }

static mode_t mode_in(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN(name)                                                          \
    int name(const char *path, int flags, ...) {                            \
        va_list arguments;                                                  \
        va_start(arguments, flags);                                         \
        mode_t mode = mode_in(flags, arguments);                            \
        va_end(arguments);                                                  \
        NEXT(int, #name, const char *, int, ...);                           \
        if (opens_for_writing(flags) && fails_at("open", AT_FDCWD, path))   \
            return -1;                                                      \
        return next(path, flags, mode);                                     \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                        \
    int name(int directory, const char *path, int flags, ...) {             \
        va_list arguments;                                                  \
        va_start(arguments, flags);                                         \
        mode_t mode = mode_in(flags, arguments);                            \
        va_end(arguments);                                                  \
        NEXT(int, #name, int, const char *, int, ...);                      \
        if (opens_for_writing(flags) && fails_at("open", directory, path))  \
            return -1;                                                      \
        return next(directory, path, flags, mode);                          \
    }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name)                                    \
    int name(const char *path, mode_t mode) {          \
        NEXT(int, #name, const char *, mode_t);        \
        if (fails_at("open", AT_FDCWD, path))          \
            return -1;                                 \
        return next(path, mode);                       \
    }
CREAT(creat)
CREAT(creat64)

#define FOPEN(name)                                                         \
    FILE *name(const char *path, const char *mode) {                        \
        NEXT(FILE *, #name, const char *, const char *);                    \
        if (strpbrk(mode, "wa+") && fails_at("open", AT_FDCWD, path))       \
            return NULL;                                                    \
        return next(path, mode);                                            \
    }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int descriptor, const void *data, size_t size) {
    NEXT(ssize_t, "write", int, const void *, size_t);
    return fails_open_file("write", descriptor) ? -1 : next(descriptor, data, size);
}

size_t fwrite(const void *data, size_t size, size_t number, FILE *file) {
    NEXT(size_t, "fwrite", const void *, size_t, size_t, FILE *);
    return fails_open_file("write", fileno(file)) ? 0 : next(data, size, number, file);
}

#define PWRITE(name, offset)                                                            \
    ssize_t name(int descriptor, const void *data, size_t size, offset at) {            \
        NEXT(ssize_t, #name, int, const void *, size_t, offset);                        \
        return fails_open_file("write", descriptor) ? -1 : next(descriptor, data, size, at); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
    NEXT(ssize_t, "writev", int, const struct iovec *, int);
    return fails_open_file("write", descriptor) ? -1 : next(descriptor, parts, number);
}

#define PWRITEV(name, offset)                                                                  \
    ssize_t name(int descriptor, const struct iovec *parts, int number, offset at) {           \
        NEXT(ssize_t, #name, int, const struct iovec *, int, offset);                          \
        return fails_open_file("write", descriptor) ? -1 : next(descriptor, parts, number, at); \
    }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define SENDFILE(name, offset)                                                          \
    ssize_t name(int to, int from, offset *at, size_t size) {                           \
        NEXT(ssize_t, #name, int, int, offset *, size_t);                               \
        return fails_open_file("write", to) ? -1 : next(to, from, at, size);            \
    }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t size, unsigned flags) {
    NEXT(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    return fails_open_file("write", to) ? -1 : next(from, at, to, there, size, flags);
}

#define SYNC(name)                                      \
    int name(int descriptor) {                          \
        NEXT(int, #name, int);                          \
        if (!watched(descriptor))                       \
            return next(descriptor);                    \
        return fails_open_file("fsync", descriptor) ? -1 : 0; \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *path, const char *target) {
    NEXT(int, "rename", const char *, const char *);
    return fails_at("rename", AT_FDCWD, target) ? -1 : next(path, target);
}

int renameat(int from, const char *path, int to, const char *target) {
    NEXT(int, "renameat", int, const char *, int, const char *);
    return fails_at("rename", to, target) ? -1 : next(from, path, to, target);
}

int renameat2(int from, const char *path, int to, const char *target, unsigned flags) {
    NEXT(int, "renameat2", int, const char *, int, const char *, unsigned);
    return fails_at("rename", to, target) ? -1 : next(from, path, to, target, flags);
}

int mkdir(const char *path, mode_t mode) {
    NEXT(int, "mkdir", const char *, mode_t);
    return fails_at("mkdir", AT_FDCWD, path) ? -1 : next(path, mode);
}

int mkdirat(int directory, const char *path, mode_t mode) {
    NEXT(int, "mkdirat", int, const char *, mode_t);
    return fails_at("mkdir", directory, path) ? -1 : next(directory, path, mode);
}

#define FTRUNCATE(name, offset)                                                  \
    int name(int descriptor, offset size) {                                      \
        NEXT(int, #name, int, offset);                                           \
        return fails_open_file("truncate", descriptor) ? -1 : next(descriptor, size); \
    }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define TRUNCATE(name, offset)                                                   \
    int name(const char *path, offset size) {                                    \
        NEXT(int, #name, const char *, offset);                                  \
        return fails_at("truncate", AT_FDCWD, path) ? -1 : next(path, size);     \
    }
TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

#define FALLOCATE(name, offset)                                                  \
    int name(int descriptor, offset start, offset size) {                        \
        NEXT(int, #name, int, offset, offset);                                   \
        return fails_open_file("truncate", descriptor) ? reason : next(descriptor, start, size); \
    }
FALLOCATE(posix_fallocate, off_t)
FALLOCATE(posix_fallocate64, off64_t)

#define MMAP(name, offset)                                                       \
    void *name(void *at, size_t size, int protection, int flags, int descriptor, offset start) { \
        NEXT(void *, #name, void *, size_t, int, int, int, offset);              \
        int writes = (protection & PROT_WRITE) && (flags & MAP_SHARED) && descriptor >= 0; \
        return writes && fails_open_file("mmap", descriptor) ? MAP_FAILED : next(at, size, protection, flags, descriptor, start); \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)
