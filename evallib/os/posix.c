/* posix.c - files, mapped where the system allows it and read otherwise.
**
** Files are opened so that nothing waits: a fifo without a writer or a terminal is told by
** fstat, not by its effect. errno is left as found. */
#include "os/os.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    QUIET = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
    LONGEST_PART = 255,
    LARGE_PAGE = 2 << 20,
    WORTH_FILLING = 64 * 1024
};

/* What is told about a file when it fails: `path` as the caller gave it. */
typedef struct source {
    evl_context *ctx;
    const char *path;
} source;

/* The context's file is in front of each text already. */
static EvalStatus fail(const source *from, EvalStatus status, const char *what, const char *why)
{
    const char *file = from->ctx->file;
    bool is_named = file && strcmp(file, from->path) == 0;
    return evl_fail(from->ctx, status, "%s%s%s%s", is_named ? "" : from->path, is_named ? "" : ": ",
                    what, why);
}

/* In place of strerror, which speaks the user's language. */
static EvalStatus fail_with_errno(const source *from, const char *what)
{
    static const struct {
        int error;
        const char *text;
    } reasons[] = {
        { ENOENT, "there is no such file" },
        { ENOTDIR, "a part of the path is not a folder" },
        { EACCES, "there is no permission to read it" },
        { EPERM, "there is no permission to read it" },
        { ELOOP, "it is a symbolic link, or too many follow each other" },
        { ENAMETOOLONG, "the path is too long" },
        { EMFILE, "the process has too many open files" },
        { ENFILE, "the system has too many open files" },
        { EIO, "the device reports an error" },
        { EISDIR, "it is a directory" },
        { ENXIO, "it is a device or a socket" },
    };
    char other[40];
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].error == errno)
            return fail(from, EVAL_ERR_IO, what, reasons[i].text);
    snprintf(other, sizeof other, "system error %d", errno);
    return fail(from, EVAL_ERR_IO, what, other);
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "is a directory"
           : S_ISFIFO(mode) ? "is a named pipe"
           : S_ISSOCK(mode) ? "is a socket"
           : S_ISLNK(mode)  ? "is a symbolic link"
                            : "is a device";
}

static int open_retrying(int folder, const char *path, int flags)
{
    int fd;
    do
        fd = openat(folder, path, flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Regular and not empty; `refused` is the status for other kinds. */
static EvalStatus look(const source *from, int fd, EvalStatus refused, struct stat *about)
{
    if (fstat(fd, about) != 0)
        return fail_with_errno(from, "cannot be examined: ");
    if (!S_ISREG(about->st_mode))
        return fail(from, refused, kind_of(about->st_mode), "; a regular file is needed");
    if (about->st_size == 0)
        return fail(from, EVAL_ERR_FORMAT, "the file is empty", "");
    if ((uintmax_t)about->st_size > PTRDIFF_MAX)
        return fail(from, EVAL_ERR_LIMIT, "the file is larger than the address space", "");
    return EVAL_OK;
}

static bool map(evl_context *ctx, int fd, size_t size, evl_file *file)
{
    void *pages = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (pages == MAP_FAILED)
        return false;
    atomic_fetch_add(&ctx->memory->mapped_bytes, size);
    *file = (evl_file){ pages, size, true, ctx->memory };
    return true;
}

static EvalStatus read_all(const source *from, int fd, char *to, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = read(fd, to + at, size - at);
        if (got == 0)
            return fail(from, EVAL_ERR_IO, "the file became shorter while it was read", "");
        if (got < 0 && errno != EINTR)
            return fail_with_errno(from, "cannot be read: ");
        at += got > 0 ? (size_t)got : 0;
    }
    return EVAL_OK;
}

static EvalStatus read_copy(const source *from, int fd, size_t size, evl_file *file)
{
    void *data = evl_allocate(from->ctx->memory, size);
    if (!data)
        return evl_no_memory(from->ctx);
    EvalStatus st = read_all(from, fd, data, size);
    if (st != EVAL_OK) {
        evl_release(from->ctx->memory, data);
        return st;
    }
    *file = (evl_file){ data, size, false, from->ctx->memory };
    return EVAL_OK;
}

static EvalStatus load(const source *from, int fd, size_t size, bool may_map, evl_file *file)
{
    if (may_map && map(from->ctx, fd, size, file))
        return EVAL_OK;
    return read_copy(from, fd, size, file);
}

static EvalStatus open_path(const source *from, bool may_map, evl_file *file)
{
    struct stat about;
    int fd = open_retrying(AT_FDCWD, from->path, QUIET);
    if (fd < 0)
        return fail_with_errno(from, "cannot be opened: ");
    EvalStatus st = look(from, fd, EVAL_ERR_IO, &about);
    if (st == EVAL_OK)
        st = load(from, fd, (size_t)about.st_size, may_map, file);
    close(fd);
    return st;
}

EvalStatus evl_file_open(evl_context *ctx, const char *path, bool may_map, evl_file *file)
{
    int found = errno;
    source from = { ctx, path };
    EvalStatus st = open_path(&from, may_map, file);
    errno = found;
    return st;
}

void evl_file_close(evl_file *file)
{
    int found = errno;
    if (file->is_mapped) {
        munmap((void *)file->data, file->size);
        atomic_fetch_sub(&file->memory->mapped_bytes, file->size);
    } else if (file->data) {
        evl_release(file->memory, (void *)file->data);
    }
    *file = (evl_file){ 0 };
    errno = found;
}

void evl_file_forget(const evl_file *file, const void *data, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)file->data;
    uintptr_t from = (uintptr_t)data, to = from + size;
    if (!file->is_mapped || from < begin || size > file->size || to > begin + file->size)
        return;
    int found = errno;
    size_t skipped = (page - from % page) % page;
    if (to / page * page > from + skipped)
        madvise((char *)file->data + (from - begin) + skipped, to / page * page - from - skipped,
                MADV_DONTNEED);
    errno = found;
}

#ifdef MADV_POPULATE_WRITE

/* The whole pages of a size in a block; none: 0 bytes. */
static void advise(void *block, size_t bytes, size_t page, int advice)
{
    size_t skipped = (page - (uintptr_t)block % page) % page;
    if (bytes >= skipped + page)
        madvise((char *)block + skipped, (bytes - skipped) / page * page, advice);
}

void evl_expect_fill(void *block, size_t bytes)
{
    int found = errno;
    if (bytes >= WORTH_FILLING) {
        advise(block, bytes, LARGE_PAGE, MADV_HUGEPAGE);
        advise(block, bytes, (size_t)sysconf(_SC_PAGESIZE), MADV_POPULATE_WRITE);
    }
    errno = found;
}

#else

void evl_expect_fill(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

#endif

static EvalStatus write_all(const source *to, int fd, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t done = write(fd, data + at, size - at);
        if (done < 0 && errno != EINTR)
            return fail_with_errno(to, "cannot be written: ");
        at += done > 0 ? (size_t)done : 0;
    }
    return EVAL_OK;
}

EvalStatus evl_output_begin(evl_context *ctx, const char *path, evl_output *o)
{
    int found = errno;
    struct stat about;
    source to = { ctx, path };
    if (lstat(path, &about) == 0 && S_ISREG(about.st_mode))
        (void)unlink(path); /* a network may be saved over the file that it is mapped from */
    o->path = path;
    o->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    o->is_open = o->file >= 0;
    EvalStatus st = o->is_open ? EVAL_OK : fail_with_errno(&to, "cannot be made: ");
    errno = found;
    return st;
}

EvalStatus evl_output_put(evl_context *ctx, const evl_output *o, const void *data, size_t size)
{
    int found = errno;
    source to = { ctx, o->path };
    EvalStatus st = write_all(&to, o->file, data, size);
    errno = found;
    return st;
}

EvalStatus evl_output_end(evl_context *ctx, evl_output *o)
{
    int found = errno;
    source to = { ctx, o->path };
    EvalStatus st = o->is_open && close(o->file) != 0 ? fail_with_errno(&to, "cannot be written: ") : EVAL_OK;
    o->is_open = false;
    errno = found;
    return st;
}

EvalStatus evl_file_write(evl_context *ctx, const char *path, const void *data, size_t size)
{
    evl_output o;
    EvalStatus st = evl_output_begin(ctx, path, &o);
    if (st == EVAL_OK)
        st = evl_output_put(ctx, &o, data, size);
    EvalStatus ended = evl_output_end(ctx, &o);
    return st == EVAL_OK ? ended : st;
}

/* --- beside a model: the name comes from the file, so it is followed part by part ------- */

static EvalStatus open_folder_of(const source *from, const char *model, int *folder)
{
    const char *slash = strrchr(model, '/');
    size_t n = slash ? (size_t)(slash - model) : 0;
    const char *path = slash ? "/" : ".";
    char *copy = NULL;
    if (n) {
        path = copy = evl_allocate(from->ctx->memory, n + 1);
        if (!copy)
            return evl_no_memory(from->ctx);
        memcpy(copy, model, n);
        copy[n] = '\0';
    }
    *folder = open_retrying(AT_FDCWD, path, QUIET | O_DIRECTORY);
    EvalStatus st = *folder < 0 ? fail_with_errno(from, "its folder cannot be opened: ") : EVAL_OK;
    evl_release(from->ctx->memory, copy);
    return st;
}

/* The next part of *name between slashes, "." left out; 0 at the end. */
static size_t next_part(const char **name, const char **part)
{
    for (;;) {
        *name += strspn(*name, "/");
        size_t n = strcspn(*name, "/");
        *part = *name;
        *name += n;
        if (n != 1 || **part != '.')
            return n;
    }
}

static EvalStatus check_name(const source *from)
{
    const char *rest = from->path, *part;
    size_t n_parts = 0;
    if (*rest == '/')
        return fail(from, EVAL_ERR_FORMAT, "external data must be beside the model, ",
                    "and this path is absolute");
    for (size_t n; (n = next_part(&rest, &part)) > 0; n_parts++) {
        if (n == 2 && memcmp(part, "..", 2) == 0)
            return fail(from, EVAL_ERR_FORMAT, "external data must be beside the model, ",
                        "and this path has a '..'");
        if (n > LONGEST_PART)
            return fail(from, EVAL_ERR_FORMAT, "a part of the path is too long", "");
    }
    return n_parts ? EVAL_OK
                   : fail(from, EVAL_ERR_FORMAT, "the name of external data is empty", "");
}

/* Why a part did not open: with O_NOFOLLOW and O_DIRECTORY the error alone does not tell. */
static EvalStatus fail_part(const source *from, int folder, const char *part)
{
    int error = errno;
    struct stat about;
    if (fstatat(folder, part, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode))
        return fail(from, EVAL_ERR_FORMAT, "external data must not be reached by ",
                    "a symbolic link");
    errno = error;
    return fail_with_errno(from, "external data cannot be opened: ");
}

/* Goes down from *fd, a folder, and leaves the file in it. */
static EvalStatus walk(const source *from, int *fd)
{
    const char *rest = from->path, *part;
    size_t n = next_part(&rest, &part);
    while (n > 0) {
        char name[LONGEST_PART + 1];
        memcpy(name, part, n);
        name[n] = '\0';
        n = next_part(&rest, &part);
        int below = open_retrying(*fd, name, QUIET | O_NOFOLLOW | (n ? O_DIRECTORY : 0));
        if (below < 0)
            return fail_part(from, *fd, name);
        close(*fd);
        *fd = below;
    }
    return EVAL_OK;
}

static EvalStatus open_below(const source *from, int *fd, bool may_map, evl_file *file)
{
    struct stat about;
    EvalStatus st = walk(from, fd);
    if (st == EVAL_OK)
        st = look(from, *fd, EVAL_ERR_FORMAT, &about);
    if (st == EVAL_OK && about.st_nlink > 1)
        st = fail(from, EVAL_ERR_FORMAT, "external data must not be ", "a hard link");
    return st == EVAL_OK ? load(from, *fd, (size_t)about.st_size, may_map, file) : st;
}

EvalStatus evl_file_open_beside(evl_context *ctx, const char *model, const char *name, bool may_map,
                                evl_file *file)
{
    int found = errno, fd = -1;
    source from = { ctx, name };
    EvalStatus st = check_name(&from);
    if (st == EVAL_OK)
        st = open_folder_of(&from, model, &fd);
    if (st == EVAL_OK)
        st = open_below(&from, &fd, may_map, file);
    if (fd >= 0)
        close(fd);
    errno = found;
    return st;
}
