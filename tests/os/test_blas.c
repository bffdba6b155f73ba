#include "support/support.h"
#include "os/os.h"
#include <string.h>

static void take_note(void *user, EvalLogLevel level, const char *text)
{
    assert_int_equal(level, EVAL_LOG_WARNING);
    strncpy(user, text, 399);
}

static void check_none(const char *which, const char *words)
{
    evl_context *ctx = evl_test_begin();
    evl_blas blas;
    char note[400] = "";
    memset(&blas, 1, sizeof blas);
    ctx->log = (evl_log){ take_note, note };
    evl_blas_open(ctx, which, &blas);
    assert_null(blas.handle);
    assert_null(blas.sgemm);
    assert_null(blas.dgemv);
    if (*words ? !strstr(note, words) : *note)
        fail_msg("%s: %s", which, note);
    evl_blas_close(&blas);
    evl_test_end(ctx);
}

static void none_is_an_answer(void **state)
{
    (void)state;
    check_none("off", "");
    check_none("", "");
    check_none("no/such/library.so", "'no/such/library.so' is not used: it cannot be opened");
    check_none(EVL_TEST_LIBRARY, "it has no cblas_sgemm");
}

static void the_one_found_at_build_time_multiplies(void **state)
{
    const float a[] = { 1, 2, 3, 4 }, b[] = { 1, 0, 1, 1 };
    const double x[] = { 1, 10 }, d[] = { 1, 2, 3, 4 };
    float c[4] = { 0 };
    double y[2] = { 0 };
    evl_context *ctx = evl_test_begin();
    evl_blas blas;
    (void)state;
    evl_blas_open(ctx, "auto", &blas);
    if (!blas.handle) {
        evl_test_end(ctx);
        skip();
    }
    blas.sgemm(EVL_BLAS_ROW_MAJOR, EVL_BLAS_AS_IS, EVL_BLAS_TRANSPOSED, 2, 2, 2, 1, a, 2, b, 2, 0,
               c, 2);
    assert_true(c[0] == 1 && c[1] == 3 && c[2] == 3 && c[3] == 7);
    blas.dgemv(EVL_BLAS_ROW_MAJOR, EVL_BLAS_AS_IS, 2, 2, 1, d, 2, x, 1, 0, y, 1);
    assert_true(y[0] == 21 && y[1] == 43);
    evl_blas_close(&blas);
    assert_null(blas.handle);
    evl_blas_close(&blas);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_an_answer),
        cmocka_unit_test(the_one_found_at_build_time_multiplies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
