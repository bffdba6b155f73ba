#include "ops/moved.h"

/* Which element of n an index outside 0 .. n-1 shows; -1: the constant. */
typedef int64_t shown(int64_t i, int64_t n);

static int64_t constant(int64_t i, int64_t n)
{
    return i < 0 || i >= n ? -1 : i;
}

static int64_t edge(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static int64_t reflect(int64_t i, int64_t n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? i : 0;
}

static int64_t wrap(int64_t i, int64_t n)
{
    return ((i % n) + n) % n;
}

static const char *const names[] = { "constant", "edge", "reflect", "wrap" };
static shown *const modes[] = { constant, edge, reflect, wrap };

typedef struct padded {
    shown *mode;
    const int64_t *pads;
} padded;

/* Negative pads crop first; the modes see what is left. */
static int64_t from_padded(const moved *m, size_t i)
{
    const padded *p = m->arg;
    int64_t at[EVAL_MAX_RANK];
    moved_position(m->rank, m->dims, i, at);
    for (size_t d = 0; d < m->rank; d++) {
        int64_t before = p->pads[d], after = p->pads[m->rank + d], n = m->in[0].shape.dim[d];
        int64_t first = before < 0 ? -before : 0;
        n -= first - (after < 0 ? after : 0);
        at[d] = p->mode(at[d] - (before > 0 ? before : 0), n < 0 ? 0 : n);
        if (at[d] < 0)
            return -1;
        at[d] += first;
    }
    return moved_index(&m->in[0].shape, at);
}

static moved case_of(size_t rank, const int64_t *dims, const int64_t *pads, padded *p)
{
    moved m = { .op = "Pad", .n_in = 2, .rank = rank, .source = from_padded, .arg = p };
    m.in[0] = moved_shape(rank, dims);
    m.in[1] = moved_list(2 * rank, pads);
    p->pads = pads;
    for (size_t d = 0; d < rank; d++)
        m.dims[d] = dims[d] + pads[d] + pads[rank + d];
    return m;
}

static void every_mode_shows_the_right_elements(void **unused)
{
    static const int64_t dims[] = { 2, 3, 1, 4 };
    static const int64_t pads[][8] = { { 1, 2, 0, 3, 0, 1, 2, 1 },
                                       { 0, 0, 0, 0, 0, 0, 0, 0 },
                                       { 5, 11, 2, 9, 7, 13, 3, 10 },
                                       { -1, 2, 1, -2, 3, -1, 0, 4 } };
    (void)unused;
    for (size_t i = 0; i < 16; i++) {
        padded p = { .mode = modes[i % 4] };
        const evl_attribute mode = evl_attribute_text("mode", names[i % 4]);
        moved m = case_of(4, dims, pads[i / 4], &p);
        m.attributes = &mode;
        m.n_attributes = 1;
        moved_check(&m);
    }
}

static void large_images_are_padded_too(void **unused)
{
    static const int64_t dims[] = { 3, 160, 170 }, pads[] = { 0, 5, 6, 0, 7, 8 };
    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        padded p = { .mode = modes[i] };
        const evl_attribute mode = evl_attribute_text("mode", names[i]);
        moved m = case_of(3, dims, pads, &p);
        m.attributes = &mode;
        m.n_attributes = 1;
        moved_check_one(&m, EVAL_FLOAT32, true, 3);
    }
}

static void pads_are_an_attribute_in_old_opsets(void **unused)
{
    static const int64_t dims[] = { 2, 3 }, pads[] = { 1, 0, 0, 2 };
    padded p = { .mode = constant };
    moved m = case_of(2, dims, pads, &p);
    const evl_attribute new_name = evl_attribute_ints("pads", pads, 4);
    const evl_attribute old_name = evl_attribute_ints("paddings", pads, 4);
    (void)unused;
    m.n_in = 1;
    m.n_attributes = 1;
    m.attributes = &new_name;
    m.version = 2;
    moved_check(&m);
    m.attributes = &old_name;
    m.version = 1;
    moved_check(&m);
}

static void axes_choose_what_is_padded(void **unused)
{
    static const int64_t dims[] = { 2, 3, 4 }, pads[] = { 1, 0, 2, 3, 0, 0 };
    const int64_t axes[] = { -1, 0 }, given[] = { 2, 1, 0, 3 };
    padded p = { .mode = constant };
    moved m = case_of(3, dims, pads, &p);
    (void)unused;
    m.in[1] = moved_list(4, given);
    m.in[3] = moved_list(2, axes);
    m.n_in = 4;
    moved_check(&m);
}

static void only_constants_remain_when_all_is_cropped(void **unused)
{
    static const int64_t dims[] = { 3, 2 };
    static const int64_t pads[][4] = { { -5, 1, 4, 0 }, { 4, 0, -5, 1 } };
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        padded p = { .mode = constant };
        moved m = case_of(2, dims, pads[i], &p);
        moved_check(&m);
    }
}

static void run(evl_op_run *r, evl_precision precision, const double *wanted, size_t n)
{
    evl_context *ctx = evl_test_begin();
    assert_int_equal(evl_run_op(ctx, r, precision, 0), EVAL_OK);
    assert_int_equal(evl_shape_count(&r->out[0].shape), n);
    assert_memory_equal(r->out[0].data, wanted, n * sizeof *wanted);
    evl_run_op_end(r);
    evl_test_end(ctx);
}

static void the_constant_is_an_input_or_an_attribute(void **unused)
{
    const double x[] = { 1, 2 }, value = -2.5, wanted[] = { -2.5, 1, 2, -2.5, -2.5 };
    const int64_t dims[] = { 2 }, pads[] = { 1, 2 };
    const evl_attribute old[] = { evl_attribute_ints("pads", pads, 2),
                                  evl_attribute_number("value", -2.5) };
    evl_op_run r = { .op = &evl_op_pad, .n_in = 3 };
    (void)unused;
    r.in[0] = evl_test_reals(x, 1, dims);
    r.in[1] = moved_list(2, pads);
    r.in[2] = evl_test_reals(&value, 0, NULL);
    run(&r, EVL_FLOAT, wanted, 5);
    run(&r, EVL_DOUBLE, wanted, 5);
    r.n_in = 1;
    r.attributes = old;
    r.n_attributes = 2;
    r.version = 2;
    run(&r, EVL_FLOAT, wanted, 5);
}

static void a_pad_is_undone_by_its_negative(void **unused)
{
    const double x[] = { 1, 2, 3, 4, 5, 6 };
    const int64_t dims[] = { 2, 3 }, pads[] = { 1, 2, 3, 4 }, back_pads[] = { -1, -2, -3, -4 };
    evl_context *ctx = evl_test_begin();
    evl_op_run there = { .op = &evl_op_pad, .n_in = 2 }, back = { .op = &evl_op_pad, .n_in = 2 };
    (void)unused;
    there.in[0] = evl_test_reals(x, 2, dims);
    there.in[1] = moved_list(4, pads);
    assert_int_equal(evl_run_op(ctx, &there, EVL_FLOAT, 0), EVAL_OK);
    back.in[0] = there.out[0];
    back.in[1] = moved_list(4, back_pads);
    assert_int_equal(evl_run_op(ctx, &back, EVL_FLOAT, 0), EVAL_OK);
    assert_memory_equal(back.out[0].data, x, sizeof x);
    evl_run_op_end(&back);
    evl_run_op_end(&there);
    evl_test_end(ctx);
}

static void bad_pads_are_refused(void **unused)
{
    static const int64_t dims[] = { 2, 0 };
    static const int64_t pads[][4] = { { -3, 0, 0, 0 },
                                       { 0, 1, 0, 0 },
                                       { 0, 0, 0, 0 },
                                       { INT64_MAX, 0, 1, 0 },
                                       { INT64_MIN, 0, 1, 0 } };
    static const EvalStatus wanted[] = { EVAL_ERR_SHAPE, EVAL_ERR_SHAPE, EVAL_OK, EVAL_ERR_LIMIT,
                                         EVAL_ERR_LIMIT };
    const evl_attribute mode[] = { evl_attribute_text("mode", "edge"),
                                   evl_attribute_text("mode", "mirror") };
    moved m = { .op = "Pad",
                .n_in = 2,
                .in = { moved_shape(2, dims) },
                .attributes = mode,
                .n_attributes = 1 };
    (void)unused;
    for (size_t i = 0; i < 5; i++) {
        m.in[1] = moved_list(4, pads[i]);
        assert_int_equal(moved_fails(&m), wanted[i]);
    }
    m.in[1] = moved_list(3, pads[2]);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.attributes = mode + 1;
    assert_int_equal(moved_fails(&m), EVAL_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_shows_the_right_elements),
        cmocka_unit_test(large_images_are_padded_too),
        cmocka_unit_test(pads_are_an_attribute_in_old_opsets),
        cmocka_unit_test(axes_choose_what_is_padded),
        cmocka_unit_test(only_constants_remain_when_all_is_cropped),
        cmocka_unit_test(the_constant_is_an_input_or_an_attribute),
        cmocka_unit_test(a_pad_is_undone_by_its_negative),
        cmocka_unit_test(bad_pads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
