/* The calls that a file needs are defined here, over those of the C library, so that they can be
** made to fail: the library under test is linked into this program. */
#define _GNU_SOURCE
#include "support/support.h"
#include "os/os.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { FILE_SIZE = 100000 };

/* What goes wrong; all zero: nothing. */
static struct {
    size_t most_bytes; /* of one read */
    int failing_read;  /* its number, from 1 */
    int read_error;    /* 0 with failing_read: the file ends there */
    int n_reads, n_opens;
    int interruptions; /* of opening, and again of reading */
    bool refuses_mapping;
} fault;

ssize_t read(int fd, void *to, size_t n)
{
    fault.n_reads++;
    if (fault.n_reads <= fault.interruptions) {
        errno = EINTR;
        return -1;
    }
    if (fault.n_reads == fault.failing_read) {
        errno = fault.read_error;
        return fault.read_error ? -1 : 0;
    }
    return syscall(SYS_read, fd, to,
                   fault.most_bytes && n > fault.most_bytes ? fault.most_bytes : n);
}

int openat(int folder, const char *path, int flags, ...)
{
    if (fault.n_opens++ < fault.interruptions) {
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_openat, folder, path, flags, 0);
}

void *mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (fault.refuses_mapping && fd >= 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, n, protection, flags, fd, offset);
}

static char folder[] = "evl_test_files_XXXXXX";

static void write_file(const char *path, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        fputc((int)(i * 7 % 251), file);
    assert_int_equal(fclose(file), 0);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    mkdir("sub", 0700);
    mkdir("sub/in", 0700);
    mkdir("secret", 0700);
    mkfifo("fifo", 0600);
    write_file("model", FILE_SIZE);
    write_file("sub/weights", 50);
    write_file("sub/in/weights", 60);
    write_file("secret/key", 70);
    write_file("linked", 10);
    write_file("empty", 0);
    return symlink("model", "link") || symlink("../secret/key", "sub/link") ||
           symlink("../secret", "sub/out") || symlink("nowhere", "dangling") ||
           link("linked", "hard");
}

static int remove_files(void **state)
{
    static const char *const names[] = { "sub/in/weights", "sub/weights", "sub/link", "sub/out",
                                         "secret/key",     "fifo",        "model",    "linked",
                                         "hard",           "empty",       "link",     "dangling" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (unlink(names[i]) != 0)
            return -1;
    if (rmdir("sub/in") || rmdir("sub") || rmdir("secret") || chdir(".."))
        return -1;
    return rmdir(folder);
}

static int lowest_free_fd(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

/* Each test begins without faults and ends with no file left open. */
static int free_fd;

static int without_faults(void **state)
{
    (void)state;
    memset(&fault, 0, sizeof fault);
    free_fd = lowest_free_fd();
    return 0;
}

static int nothing_open(void **state)
{
    (void)state;
    return lowest_free_fd() == free_fd ? 0 : -1;
}

static bool is_whole(const evl_file *file, size_t n)
{
    const unsigned char *data = file->data;
    for (size_t i = 0; i < n; i++)
        if (data[i] != i * 7 % 251)
            return false;
    return file->size == n;
}

static void a_file_is_mapped_or_read_whole(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    for (int may_map = 0; may_map < 2; may_map++) {
        evl_file file = { 0 };
        assert_int_equal(evl_file_open(ctx, "model", may_map, &file), EVAL_OK);
        assert_true(is_whole(&file, FILE_SIZE));
        assert_true(file.is_mapped == may_map);
        assert_int_equal(ctx->memory->mapped_bytes, may_map ? FILE_SIZE : 0);
        assert_int_equal(ctx->memory->blocks, !may_map);
        evl_file_close(&file);
        assert_null(file.data);
        evl_file_close(&file);
        assert_int_equal(ctx->memory->mapped_bytes, 0);
    }
    evl_test_end(ctx);
}

static void a_refused_mapping_is_read_instead(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_file file;
    (void)state;
    fault.refuses_mapping = true;
    errno = 33;
    assert_int_equal(evl_file_open(ctx, "model", true, &file), EVAL_OK);
    assert_false(file.is_mapped);
    assert_true(is_whole(&file, FILE_SIZE));
    evl_file_close(&file);
    assert_int_equal(errno, 33);
    evl_test_end(ctx);
}

static void short_reads_and_interruptions_go_on(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_file file;
    (void)state;
    fault.most_bytes = 999;
    fault.interruptions = 3;
    assert_int_equal(evl_file_open(ctx, "model", false, &file), EVAL_OK);
    assert_true(is_whole(&file, FILE_SIZE));
    assert_true(fault.n_reads >= FILE_SIZE / 999 + 3);
    evl_file_close(&file);
    evl_test_end(ctx);
}

static void a_read_that_fails_or_ends_early_is_told(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_file file = { 0 };
    (void)state;
    fault.most_bytes = 1000;
    fault.failing_read = 5;
    fault.read_error = EIO;
    assert_int_equal(evl_file_open(ctx, "model", false, &file), EVAL_ERR_IO);
    assert_string_equal(ctx->error.text, "model: cannot be read: the device reports an error");
    fault.n_reads = 0;
    fault.read_error = 0;
    assert_int_equal(evl_file_open(ctx, "model", false, &file), EVAL_ERR_IO);
    assert_string_equal(ctx->error.text, "model: the file became shorter while it was read");
    fault.n_reads = 0;
    fault.read_error = 12345;
    assert_int_equal(evl_file_open(ctx, "model", false, &file), EVAL_ERR_IO);
    assert_non_null(strstr(ctx->error.text, "system error 12345"));
    assert_null(file.data);
    evl_test_end(ctx);
}

typedef struct refused {
    const char *path, *text;
    EvalStatus status;
} refused;

static void what_is_no_model_file_is_told_by_its_kind(void **state)
{
    static const refused cases[] = {
        { "none", "none: cannot be opened: there is no such file", EVAL_ERR_IO },
        { "", ": cannot be opened: there is no such file", EVAL_ERR_IO },
        { "sub", "sub: is a directory; a regular file is needed", EVAL_ERR_IO },
        { "fifo", "fifo: is a named pipe; a regular file is needed", EVAL_ERR_IO },
        { "/dev/null", "/dev/null: is a device; a regular file is needed", EVAL_ERR_IO },
        { "model/x", "model/x: cannot be opened: a part of the path is not a folder", EVAL_ERR_IO },
        { "empty", "empty: the file is empty", EVAL_ERR_FORMAT },
        { "dangling", "dangling: cannot be opened: there is no such file", EVAL_ERR_IO },
    };
    evl_context *ctx = evl_test_begin();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_file file = { 0 };
        errno = 33;
        assert_int_equal(evl_file_open(ctx, cases[i].path, true, &file), cases[i].status);
        assert_string_equal(ctx->error.text, cases[i].text);
        assert_int_equal(errno, 33);
        assert_null(file.data);
    }
    evl_test_end(ctx);
}

static void a_socket_is_no_model_file(void **state)
{
    evl_context *ctx = evl_test_begin();
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
    evl_file file;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)state;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        skip();
    assert_int_equal(evl_file_open(ctx, "socket", true, &file), EVAL_ERR_IO);
    assert_non_null(strstr(ctx->error.text, "socket"));
    close(fd);
    unlink("socket");
    evl_test_end(ctx);
}

static void the_path_is_said_once(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_file file;
    (void)state;
    ctx->file = "none";
    assert_int_equal(evl_file_open(ctx, "none", true, &file), EVAL_ERR_IO);
    assert_string_equal(ctx->error.text, "none: cannot be opened: there is no such file");
    assert_int_equal(evl_file_open_beside(ctx, "none", "other", true, &file), EVAL_ERR_IO);
    assert_string_equal(ctx->error.text,
                        "none: other: external data cannot be opened: there is no such file");
    evl_test_end(ctx);
}

static void data_beside_a_model_is_found_from_its_folder(void **state)
{
    static const struct {
        const char *model, *name;
        size_t size;
    } cases[] = {
        { "model", "sub/weights", 50 },           { "model", "./sub//in/./weights", 60 },
        { "sub/model", "weights", 50 },           { "./sub/model", "in/weights", 60 },
        { "secret/../sub/model", "weights", 50 }, { "sub//model", "weights", 50 },
        { "none", "model", FILE_SIZE },
    };
    evl_context *ctx = evl_test_begin();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int may_map = 0; may_map < 2; may_map++) {
            evl_file file = { 0 };
            if (evl_file_open_beside(ctx, cases[i].model, cases[i].name, may_map, &file) != EVAL_OK)
                fail_msg("%s", ctx->error.text);
            assert_true(is_whole(&file, cases[i].size));
            evl_file_close(&file);
        }
    evl_test_end(ctx);
}

static void data_beside_a_model_cannot_lead_out_of_its_folder(void **state)
{
    static const refused cases[] = {
        { "../secret/key", "'..'", EVAL_ERR_FORMAT },
        { "in/../../secret/key", "'..'", EVAL_ERR_FORMAT },
        { "in/..", "'..'", EVAL_ERR_FORMAT },
        { "/etc/passwd", "absolute", EVAL_ERR_FORMAT },
        { "link", "symbolic link", EVAL_ERR_FORMAT },
        { "out/key", "symbolic link", EVAL_ERR_FORMAT },
        { "in", "directory", EVAL_ERR_FORMAT },
        { "in/", "directory", EVAL_ERR_FORMAT },
        { ".", "empty", EVAL_ERR_FORMAT },
        { "", "empty", EVAL_ERR_FORMAT },
        { "./", "empty", EVAL_ERR_FORMAT },
        { "none", "there is no such file", EVAL_ERR_IO },
        { "none/weights", "there is no such file", EVAL_ERR_IO },
        { "weights/x", "not a folder", EVAL_ERR_IO },
    };
    evl_context *ctx = evl_test_begin();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_file file = { 0 };
        errno = 33;
        assert_int_equal(evl_file_open_beside(ctx, "sub/model", cases[i].path, true, &file),
                         cases[i].status);
        if (!strstr(ctx->error.text, cases[i].text))
            fail_msg("'%s': %s", cases[i].path, ctx->error.text);
        assert_int_equal(errno, 33);
        assert_null(file.data);
    }
    evl_test_end(ctx);
}

static void data_beside_a_model_is_a_file_of_its_own(void **state)
{
    static const refused cases[] = {
        { "fifo", "named pipe", EVAL_ERR_FORMAT },
        { "hard", "hard link", EVAL_ERR_FORMAT },
        { "link", "symbolic link", EVAL_ERR_FORMAT },
        { "empty", "empty", EVAL_ERR_FORMAT },
    };
    evl_context *ctx = evl_test_begin();
    evl_file file = { 0 };
    char name[400];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(evl_file_open_beside(ctx, "model", cases[i].path, true, &file),
                         cases[i].status);
        if (!strstr(ctx->error.text, cases[i].text))
            fail_msg("'%s': %s", cases[i].path, ctx->error.text);
    }
    memset(name, 'n', sizeof name - 1);
    name[399] = '\0';
    assert_int_equal(evl_file_open_beside(ctx, "model", name, true, &file), EVAL_ERR_FORMAT);
    assert_int_equal(evl_file_open_beside(ctx, "none/model", "x", true, &file), EVAL_ERR_IO);
    assert_null(file.data);
    evl_test_end(ctx);
}

static void each_failing_allocation_is_answered(void **state)
{
    (void)state;
    for (size_t failing = 0; failing < 2; failing++) {
        evl_memory memory;
        evl_context ctx;
        evl_file file = { 0 };
        evl_test_memory(&memory, failing);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        assert_int_equal(evl_file_open_beside(&ctx, "sub/model", "weights", false, &file),
                         EVAL_ERR_MEMORY);
        assert_null(file.data);
        evl_context_end(&ctx);
        assert_int_equal(memory.blocks, 0);
    }
}

static void what_is_forgotten_can_be_read_again(void **state)
{
    enum { LARGE = 5 * 4096 + 7 };
    evl_context *ctx = evl_test_begin();
    (void)state;
    write_file("large", LARGE);
    for (int may_map = 0; may_map < 2; may_map++) {
        evl_file file;
        assert_int_equal(evl_file_open(ctx, "large", may_map, &file), EVAL_OK);
        evl_file_forget(&file, file.data, file.size);
        evl_file_forget(&file, (const char *)file.data + 100, 9000);
        evl_file_forget(&file, folder, sizeof folder); /* no part of it */
        assert_true(is_whole(&file, LARGE));
        assert_true(strncmp(folder, "evl_test", 8) == 0);
        evl_file_close(&file);
    }
    assert_int_equal(remove("large"), 0);
    evl_test_end(ctx);
}

/* In parts or whole, and over a file that is mapped, which stays as it was mapped. */
static void a_file_takes_the_place_of_another(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_output o;
    evl_file mapped, fresh;
    (void)state;
    write_file("over", FILE_SIZE);
    assert_int_equal(evl_file_open(ctx, "over", true, &mapped), EVAL_OK);
    assert_int_equal(evl_output_begin(ctx, "over", &o), EVAL_OK);
    assert_int_equal(evl_output_put(ctx, &o, "first, ", 7), EVAL_OK);
    assert_int_equal(evl_output_put(ctx, &o, NULL, 0), EVAL_OK);
    assert_int_equal(evl_output_put(ctx, &o, "last", 4), EVAL_OK);
    assert_int_equal(evl_output_end(ctx, &o), EVAL_OK);
    assert_int_equal(evl_output_end(ctx, &o), EVAL_OK);
    assert_int_equal(evl_file_open(ctx, "over", true, &fresh), EVAL_OK);
    assert_int_equal(fresh.size, 11);
    assert_memory_equal(fresh.data, "first, last", 11);
    evl_file_close(&fresh);
    assert_true(is_whole(&mapped, FILE_SIZE));
    evl_file_close(&mapped);
    assert_int_equal(evl_file_write(ctx, "over", "x", 1), EVAL_OK);
    assert_int_equal(evl_file_write(ctx, "none/over", "x", 1), EVAL_ERR_IO);
    assert_non_null(strstr(ctx->error.text, "none/over: cannot be made: "));
    assert_int_equal(remove("over"), 0);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_mapped_or_read_whole, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(a_refused_mapping_is_read_instead, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(what_is_forgotten_can_be_read_again, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(a_file_takes_the_place_of_another, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(short_reads_and_interruptions_go_on, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(a_read_that_fails_or_ends_early_is_told, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(what_is_no_model_file_is_told_by_its_kind, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(a_socket_is_no_model_file, without_faults, nothing_open),
        cmocka_unit_test_setup_teardown(the_path_is_said_once, without_faults, nothing_open),
        cmocka_unit_test_setup_teardown(data_beside_a_model_is_found_from_its_folder,
                                        without_faults, nothing_open),
        cmocka_unit_test_setup_teardown(data_beside_a_model_cannot_lead_out_of_its_folder,
                                        without_faults, nothing_open),
        cmocka_unit_test_setup_teardown(data_beside_a_model_is_a_file_of_its_own, without_faults,
                                        nothing_open),
        cmocka_unit_test_setup_teardown(each_failing_allocation_is_answered, without_faults,
                                        nothing_open),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
