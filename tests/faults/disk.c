/* A disk that fails: the N-th change of files in a folder is refused.

   Loaded before the C library (LD_PRELOAD). Nothing fails until arm() is called. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ONCE_FULL, ONCE_BROKEN, SHORT, FULL_FROM_NOW_ON };

static char folder[4096];
static long number;
static int how = -1;
static atomic_long count;

void arm(const char *place, long n, int mode)
{
    snprintf(folder, sizeof folder, "%s", place);
    number = n;
    how = mode;
    count = 0;
}

long changes(void) { return count; }

static int failed(int is_write)
{
    long now = atomic_fetch_add(&count, 1) + 1;
    if (how == SHORT)
        return is_write && now == number;
    if (now != number && !(how == FULL_FROM_NOW_ON && now > number))
        return 0;
    errno = how == ONCE_BROKEN ? EIO : ENOSPC;
    return 1;
}

static int inside(const char *path)
{
    return how >= 0 && path != NULL && strstr(path, folder) != NULL;
}

static int ours(int file)
{
    char link[64], path[4096];
    if (how < 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return inside(path);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (real == NULL) \
        real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int file, const void *text, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    if (!ours(file) || !failed(size > 1))
        return real(file, text, size);
    return how == SHORT ? real(file, text, size / 2) : -1;
}

ssize_t pwrite64(int file, const void *text, size_t size, off64_t at)
{
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    if (!ours(file) || !failed(size > 1))
        return real(file, text, size, at);
    return how == SHORT ? real(file, text, size / 2, at) : -1;
}

ssize_t pwrite(int file, const void *text, size_t size, off_t at)
{
    return pwrite64(file, text, size, at);
}

#define ONE_FILE(name, parameters, call) \
    int name parameters \
    { \
        REAL(int, #name, int, ...); \
        return ours(file) && failed(0) ? -1 : real call; \
    }

ONE_FILE(fsync, (int file), (file))
ONE_FILE(fdatasync, (int file), (file))
ONE_FILE(ftruncate, (int file, off_t size), (file, size))
ONE_FILE(ftruncate64, (int file, off64_t size), (file, size))

int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    return inside(to) && failed(0) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    return inside(path) && failed(0) ? -1 : real(path, mode);
}

#define OPENING(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(int, #name, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if (flags & O_CREAT && inside(path) && failed(0)) \
            return -1; \
        return real(path, flags, mode); \
    }

OPENING(open)
OPENING(open64)
