/* TensorScatter: rows put into caches of several samples. */
#include "ops/op_case.h"

static const int64_t places[] = { 1, 3 };
static const int64_t cache_dims[] = { 2, 4, 2 }, update_dims[] = { 2, 2, 2 };
static const int32_t cache[16] = { 0 }, update[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static op_case case_of(const int32_t *right, const int64_t *at, const char *mode)
{
    return (op_case){ .op = "TensorScatter",
                      .attributes = { evl_attribute_text("mode", mode) },
                      .in = { evl_test_tensor(EVAL_INT32, cache, 3, cache_dims),
                              evl_test_tensor(EVAL_INT32, update, 3, update_dims),
                              at ? evl_test_ints(at, 1, (const int64_t[]){ 2 }) : (evl_tensor){ 0 } },
                      .out = { evl_test_tensor(EVAL_INT32, right, 3, cache_dims) } };
}

static void rows_go_where_each_sample_says(void **state)
{
    const int32_t right[] = { 0, 0, 1, 2, 3, 4, 0, 0, 7, 8, 0, 0, 0, 0, 5, 6 };
    op_case c = case_of(right, places, "circular");
    (void)state;
    check_case(&c);
}

static void without_places_they_go_to_the_start(void **state)
{
    const int32_t right[] = { 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0 };
    op_case c = case_of(right, NULL, "linear");
    (void)state;
    check_case(&c);
}

static void another_axis_has_rows_of_its_own(void **state)
{
    const double old[] = { 0, 0, 0, 0, 0, 0 }, more[] = { 1, 2 }, right[] = { 0, 1, 0, 0, 2, 0 };
    const int64_t one = 1, dims[] = { 1, 2, 3 }, more_dims[] = { 1, 2, 1 };
    const op_case c = { .op = "TensorScatter",
                        .attributes = { evl_attribute_int("axis", 2) },
                        .in = { evl_test_reals(old, 3, dims), evl_test_reals(more, 3, more_dims),
                                evl_test_ints(&one, 1, &one) },
                        .out = { evl_test_reals(right, 3, dims) } };
    (void)state;
    check_case(&c);
}

static void what_does_not_fit_is_refused(void **state)
{
    const int64_t far[] = { 0, 3 }, before[] = { -1, 0 };
    op_case cases[] = { case_of(cache, far, "linear"), case_of(cache, before, "circular"),
                        case_of(cache, places, "circular") };
    (void)state;
    cases[2].in[2] = evl_test_ints(places, 1, (const int64_t[]){ 1 });
    for (size_t i = 0; i < 3; i++)
        cases[i].status = EVAL_ERR_SHAPE;
    check_cases(cases, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_where_each_sample_says),
        cmocka_unit_test(without_places_they_go_to_the_start),
        cmocka_unit_test(another_axis_has_rows_of_its_own),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
