/* Poolings: every window against a slow obvious loop, in one, two and three dimensions. */
#include "ops/op_case.h"

enum { PLANES = 6, MOST = 8192, KERNEL = 0, STRIDE = 1, DILATION = 2, BEGIN = 3, END = 4 };

/* D, H, W; a dimension that is left out has size 1. */
typedef struct window {
    int n;
    int64_t in[3], how[5][3];
} window;

static const window windows[] = {
    { 2, { 1, 13, 17 }, { { 1, 3, 3 }, { 1, 2, 2 }, { 1, 1, 1 }, { 0, 1, 1 }, { 0, 1, 1 } } },
    { 2, { 1, 12, 34 }, { { 1, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 1, 1 }, { 0, 1, 1 } } },
    { 2, { 1, 9, 40 }, { { 1, 2, 5 }, { 1, 3, 1 }, { 1, 2, 3 }, { 0, 1, 0 }, { 0, 0, 4 } } },
    { 2, { 1, 11, 83 }, { { 1, 3, 3 }, { 1, 2, 2 }, { 1, 2, 1 }, { 0, 0, 0 }, { 0, 2, 9 } } },
    { 2, { 1, 8, 71 }, { { 1, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 1, 0 }, { 0, 0, 0 } } },
    { 2, { 1, 9, 66 }, { { 1, 2, 2 }, { 1, 2, 2 }, { 1, 1, 1 }, { 0, 1, 0 }, { 0, 0, 1 } } },
    { 2, { 1, 6, 70 }, { { 1, 4, 5 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 2, 2 }, { 0, 2, 2 } } },
    { 2, { 1, 5, 1 }, { { 1, 3, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 1, 0 }, { 0, 1, 2 } } },
    { 3, { 3, 6, 20 }, { { 3, 1, 3 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 0, 1 }, { 1, 0, 1 } } },
    { 2, { 1, 5, 7 }, { { 1, 1, 1 }, { 1, 1, 4 }, { 1, 1, 1 }, { 0, 0, 0 }, { 0, 0, 0 } } },
    { 2, { 1, 9, 10 }, { { 1, 1, 1 }, { 1, 1, 20 }, { 1, 1, 1 }, { 0, 0, 0 }, { 0, 0, 0 } } },
    { 2, { 1, 9, 2 }, { { 1, 2, 1 }, { 1, 1, 2 }, { 1, 1, 1 }, { 0, 0, 0 }, { 0, 0, 0 } } },
    { 1, { 1, 1, 70 }, { { 1, 1, 4 }, { 1, 1, 3 }, { 1, 1, 2 }, { 0, 0, 2 }, { 0, 0, 3 } } },
    { 3, { 5, 6, 7 }, { { 2, 3, 2 }, { 2, 1, 2 }, { 1, 1, 2 }, { 1, 1, 0 }, { 0, 1, 1 } } },
    { 3, { 3, 4, 4 }, { { 3, 2, 2 }, { 1, 2, 2 }, { 2, 1, 1 }, { 2, 0, 0 }, { 2, 0, 0 } } },
};

typedef enum kind { MAX, MEAN, MEAN_WITH_PADDING, LP } kind;
static const char *const names[] = { "MaxPool", "AveragePool", "AveragePool", "LpPool" };

static double x[MOST], right[MOST];
static int64_t right_index[MOST];

static int64_t out_size(const window *w, int d)
{
    int64_t room = w->in[d] + w->how[BEGIN][d] + w->how[END][d];
    return (room - (w->how[KERNEL][d] - 1) * w->how[DILATION][d] - 1) / w->how[STRIDE][d] + 1;
}

/* One output of plane p. */
static double pooled(const window *w, kind k, const double *plane, const int64_t at[3],
                     int64_t *index)
{
    double most = -INFINITY, sum = 0, powers = 0, n = 0;
    int64_t i[3], from[3];
    *index = -1;
    for (i[0] = 0; i[0] < w->how[KERNEL][0]; i[0]++)
        for (i[1] = 0; i[1] < w->how[KERNEL][1]; i[1]++)
            for (i[2] = 0; i[2] < w->how[KERNEL][2]; i[2]++) {
                bool is_inside = true;
                for (int d = 0; d < 3; d++) {
                    from[d] =
                        at[d] * w->how[STRIDE][d] - w->how[BEGIN][d] + i[d] * w->how[DILATION][d];
                    is_inside = is_inside && from[d] >= 0 && from[d] < w->in[d];
                }
                n += is_inside || k == MEAN_WITH_PADDING;
                if (!is_inside)
                    continue;
                int64_t place = (from[0] * w->in[1] + from[1]) * w->in[2] + from[2];
                sum += plane[place];
                powers += pow(fabs(plane[place]), 3);
                if (plane[place] > most) {
                    most = plane[place];
                    *index = place;
                }
            }
    return k == MAX ? most : k == LP ? cbrt(powers) : n ? sum / n : 0;
}

static void check_window(const window *w, kind k, bool with_index)
{
    int64_t dims[5] = { 2, 3 }, out[5] = { 2, 3 }, size[3], at[3], pads[6], n = 0;
    int64_t in = w->in[0] * w->in[1] * w->in[2];
    for (int d = 0; d < 3; d++)
        size[d] = out_size(w, d);
    for (int d = 3 - w->n; d < 3; d++) {
        dims[2 + d - (3 - w->n)] = w->in[d];
        out[2 + d - (3 - w->n)] = size[d];
        pads[d - (3 - w->n)] = w->how[BEGIN][d];
        pads[d - (3 - w->n) + w->n] = w->how[END][d];
    }
    for (int64_t p = 0; p < PLANES; p++)
        for (at[0] = 0; at[0] < size[0]; at[0]++)
            for (at[1] = 0; at[1] < size[1]; at[1]++)
                for (at[2] = 0; at[2] < size[2]; at[2]++, n++) {
                    right[n] = pooled(w, k, x + p * in, at, &right_index[n]);
                    right_index[n] += right_index[n] < 0 ? 0 : p * in;
                }
    size_t rank = (size_t)w->n + 2, first = (size_t)(3 - w->n);
    evl_attribute attributes[] = {
        evl_attribute_ints("kernel_shape", w->how[KERNEL] + first, (size_t)w->n),
        evl_attribute_ints("strides", w->how[STRIDE] + first, (size_t)w->n),
        evl_attribute_ints("dilations", w->how[DILATION] + first, (size_t)w->n),
        evl_attribute_ints("pads", pads, 2 * (size_t)w->n),
        k == LP ? evl_attribute_int("p", 3)
                : evl_attribute_int("count_include_pad", k == MEAN_WITH_PADDING),
    };
    evl_op_run r = { .op = evl_op_find(NULL, names[k]),
                     .attributes = attributes,
                     .n_attributes = 5,
                     .in = { evl_test_reals(x, rank, dims) },
                     .n_in = 1,
                     .n_out = with_index ? 2 : 1 };
    const op_case c = { .op = names[k] };
    evl_tensor expected[2] = { evl_test_reals(right, rank, out),
                               evl_test_tensor(EVAL_INT64, right_index, rank, out) };
    for (int way = 0; way < 4; way++) {
        evl_context *ctx = evl_test_begin();
        r.threads = way & 2 ? 2 : 0;
        evl_precision precision = way & 1 ? EVL_DOUBLE : EVL_FLOAT;
        assert_int_equal(evl_run_op(ctx, &r, precision, evl_cpu_features()), EVAL_OK);
        for (size_t i = 0; i < r.n_out; i++)
            assert_tensor(&c, &r.out[i], &expected[i], precision);
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

static void every_window_is_pooled(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        x[i] = (double)(float)evl_test_random(&seed, -2, 2);
    for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
        for (int k = MAX; k <= LP; k++)
            check_window(&windows[w], (kind)k, false);
        check_window(&windows[w], MAX, true);
    }
}

static void a_nan_is_the_largest(void **state)
{
    const double in[] = { 1, (double)NAN, 3, 4 }, out[] = { (double)NAN, (double)NAN, 4 };
    const int64_t kernel[] = { 2 };
    (void)state;
    check_case(&(const op_case){
        .op = "MaxPool",
        .attributes = { evl_attribute_ints("kernel_shape", kernel, 1) },
        .in = { evl_test_tensor(EVAL_FLOAT64, in, 3, (const int64_t[]){ 1, 1, 4 }) },
        .out = { evl_test_tensor(EVAL_FLOAT64, out, 3, (const int64_t[]){ 1, 1, 3 }) } });
}

static void integers_are_pooled(void **state)
{
    const int8_t in[] = { -128, -3, -5, 7, 0, -1 }, out[] = { -3, 7, 0 };
    const int64_t two[] = { 2 };
    (void)state;
    check_case(&(const op_case){
        .op = "MaxPool",
        .attributes = { evl_attribute_ints("kernel_shape", two, 1),
                        evl_attribute_ints("strides", two, 1) },
        .in = { evl_test_tensor(EVAL_INT8, in, 3, (const int64_t[]){ 1, 1, 6 }) },
        .out = { evl_test_tensor(EVAL_INT8, out, 3, (const int64_t[]){ 1, 1, 3 }) } });
}

static void a_part_of_a_window_counts_where_sizes_are_rounded_up(void **state)
{
    const double in[] = { 3, -4 }, most[] = { 3 }, mean[] = { -0.5 };
    const int64_t kernel[] = { 3 }, stride[] = { 2 };
    const evl_tensor from = evl_test_tensor(EVAL_FLOAT64, in, 3, (const int64_t[]){ 1, 1, 2 });
    const int64_t to[] = { 1, 1, 1 };
    const evl_attribute wide = evl_attribute_ints("kernel_shape", kernel, 1);
    const evl_attribute up = evl_attribute_int("ceil_mode", 1);
    (void)state;
    const op_case cases[] = {
        { .op = "MaxPool",
          .attributes = { wide, up, evl_attribute_ints("strides", stride, 1) },
          .in = { from },
          .out = { evl_test_reals(most, 3, to) } },
        { .op = "AveragePool",
          .attributes = { wide, up, evl_attribute_ints("strides", stride, 1) },
          .in = { from },
          .out = { evl_test_reals(mean, 3, to) } },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void windows_that_just_miss_the_input_give_nothing(void **state)
{
    static const char *const ops[] = { "MaxPool", "AveragePool", "LpPool" };
    const double in[] = { 3, -4 };
    const evl_tensor from = evl_test_tensor(EVAL_FLOAT64, in, 3, (const int64_t[]){ 1, 1, 2 });
    const evl_tensor nothing = evl_test_reals(in, 3, (const int64_t[]){ 1, 1, 0 });
    const evl_tensor no_index = evl_test_tensor(EVAL_INT64, right_index, 3, (const int64_t[]){ 1, 1, 0 });
    (void)state;
    for (int64_t wide = 3; wide <= 6; wide++)
        for (int64_t stride = 1; stride <= 3; stride++)
            for (int i = 0; i < 4; i++) {
                bool is_up = i == 3;
                if (is_up && wide - 2 < stride)
                    continue; /* a part of a window counts */
                op_case c = { .op = ops[i % 3],
                              .attributes = { evl_attribute_ints("kernel_shape", &wide, 1),
                                              evl_attribute_ints("strides", &stride, 1),
                                              evl_attribute_int("ceil_mode", is_up) },
                              .in = { from },
                              .out = { nothing, i == 0 ? no_index : (evl_tensor){ 0 } } };
                bool is_far = is_up ? wide - 2 >= 2 * stride : wide - 2 > stride;
                c.status = is_far ? EVAL_ERR_SHAPE : EVAL_OK;
                check_case(&c);
            }
}

static void global_poolings_see_everything(void **state)
{
    const double in[] = { 3, -4, 0, 0, 1, 1, 1, -1 }, most[] = { 3, 1 }, mean[] = { -0.25, 0.5 };
    const double length[] = { 5, 2 }, size[] = { 7, 4 };
    const evl_tensor from = evl_test_tensor(EVAL_FLOAT64, in, 4, (const int64_t[]){ 1, 2, 2, 2 });
    const int64_t to[] = { 1, 2, 1, 1 };
    (void)state;
    const op_case cases[] = {
        { .op = "GlobalMaxPool", .in = { from }, .out = { evl_test_reals(most, 4, to) } },
        { .op = "GlobalAveragePool", .in = { from }, .out = { evl_test_reals(mean, 4, to) } },
        { .op = "GlobalLpPool", .in = { from }, .out = { evl_test_reals(length, 4, to) } },
        { .op = "GlobalLpPool",
          .version = 1,
          .attributes = { evl_attribute_number("p", 1) },
          .in = { from },
          .out = { evl_test_reals(size, 4, to) } },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void global_poolings_may_see_nothing(void **state)
{
    static const double zeros[6], least[] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY },
                        none[] = { NAN, NAN, NAN, NAN, NAN, NAN };
    static const char *const ops[] = { "GlobalLpPool", "GlobalMaxPool", "GlobalAveragePool" };
    static const double *const give[] = { zeros, least, none };
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int d = 2; d < 5; d++) {
            int64_t dims[] = { 2, 3, 4, 5, 6 };
            dims[d] = 0;
            const op_case c = { .op = ops[i], .in = { evl_test_reals(x, 5, dims) },
                                .out = { evl_test_reals(give[i], 5, (const int64_t[]){ 2, 3, 1, 1, 1 }) } };
            check_case(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_is_pooled),
        cmocka_unit_test(a_nan_is_the_largest),
        cmocka_unit_test(integers_are_pooled),
        cmocka_unit_test(a_part_of_a_window_counts_where_sizes_are_rounded_up),
        cmocka_unit_test(windows_that_just_miss_the_input_give_nothing),
        cmocka_unit_test(global_poolings_see_everything),
        cmocka_unit_test(global_poolings_may_see_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
