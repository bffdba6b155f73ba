/* Files go wrong under a whole load: mapping is refused, each opening and each read fails, ends
** early or gives little. A status and a text that names the file, nothing left open or held, and
** an object that can be used afterwards. The calls are defined here, over the C library's. */
#define _GNU_SOURCE
#include "faults/faults.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECE = 16384 }; /* what one read gives at most, so that a model takes many */

static const fault_case cases[] = {
    { EVL_TEST_SAMPLES "/digits/digits.onnx", "features", "ol.z", 784, 10 },
    { EVL_TEST_SAMPLES "/digits/digits.dnn", "features", "ol.z", 784, 10 },
    { EVL_TEST_DATA "/onnx/external.onnx", NULL, "v", 0, 2 }, /* its weights are a second file */
};

typedef enum disturbance {
    NOTHING,
    OPEN_FAILS,
    READ_FAILS,
    READ_ENDS,
    READ_IS_INTERRUPTED
} disturbance;

static struct {
    disturbance what;
    int nth; /* of the openings or of the reads, from 0 */
    int n_opens, n_reads;
    size_t piece; /* 0: mapping works */
} fault;

int openat(int folder, const char *path, int flags, ...)
{
    if (fault.n_opens++ == fault.nth && fault.what == OPEN_FAILS) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_openat, folder, path, flags, 0);
}

ssize_t read(int fd, void *to, size_t n)
{
    if (fault.n_reads++ == fault.nth && fault.what > OPEN_FAILS) {
        errno = fault.what == READ_FAILS ? EIO : EINTR;
        return fault.what == READ_ENDS ? 0 : -1;
    }
    return syscall(SYS_read, fd, to, fault.piece && n > fault.piece ? fault.piece : n);
}

void *mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (fault.piece && fd >= 0) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, n, protection, flags, fd, offset);
}

static int lowest_free_fd(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static void check_failure(IEvaluateModelF *m, const fault_case *c, EvalStatus st)
{
    static const char *const texts[] = { [OPEN_FAILS] = "too many open files",
                                         [READ_FAILS] = "the device reports an error",
                                         [READ_ENDS] = "became shorter while it was read" };
    const char *said = m->vtbl->LastError(m);
    assert_int_equal(st, EVAL_ERR_IO);
    if (!strstr(said, c->file) || !strstr(said, texts[fault.what]))
        fail_msg("fault %d, time %d: %s", (int)fault.what, fault.nth, said);
}

/* True when there was an nth time, which went wrong. */
static bool go_wrong(const fault_case *c, disturbance what, int nth, const float *expected)
{
    counting_heap heap = { 0, SIZE_MAX, 0 };
    int free_fd = lowest_free_fd();
    IEvaluateModelF *m;
    float y[10];
    assert_int_equal(make_on(&heap, &m), EVAL_OK);
    memset(&fault, 0, sizeof fault);
    fault.what = what;
    fault.nth = nth;
    fault.piece = PIECE;
    EvalStatus st = load(m, c);
    bool has_gone_wrong = (what == OPEN_FAILS ? fault.n_opens : fault.n_reads) > nth;
    if (has_gone_wrong && what != READ_IS_INTERRUPTED) {
        check_failure(m, c, st);
        st = load(m, c); /* the fault is over */
    }
    assert_int_equal(st, EVAL_OK);
    assert_int_equal(evaluate(m, c, y), EVAL_OK);
    assert_memory_equal(y, expected, c->n_out * sizeof *y);
    m->vtbl->Destroy(m);
    assert_int_equal(heap.live, 0);
    assert_int_equal(lowest_free_fd(), free_fd);
    return has_gone_wrong;
}

static void every_opening_and_every_read_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (disturbance what = OPEN_FAILS; what <= READ_IS_INTERRUPTED; what++) {
            float expected[10];
            int nth = 0;
            memset(&fault, 0, sizeof fault);
            evaluate_undisturbed(&cases[i], expected);
            while (go_wrong(&cases[i], what, nth, expected))
                nth++;
            assert_true(nth > (cases[i].n_in && what > OPEN_FAILS ? 8 : 0));
        }
}

static void every_read_may_be_short(void **state)
{
    static const size_t pieces[] = { 7, 4096, 132000 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float expected[10], y[10];
        memset(&fault, 0, sizeof fault);
        evaluate_undisturbed(&cases[i], expected);
        assert_int_equal(fault.n_reads, 0); /* it was mapped */
        for (size_t p = 0; p < 3; p++) {
            fault.piece = pieces[p];
            evaluate_undisturbed(&cases[i], y);
            assert_memory_equal(y, expected, cases[i].n_out * sizeof *y);
        }
        assert_true(fault.n_reads > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opening_and_every_read_may_fail),
        cmocka_unit_test(every_read_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
