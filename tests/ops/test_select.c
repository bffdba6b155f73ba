#include "ops/moved.h"

static void check_non_zero(const evl_tensor *x, size_t n, const int64_t *wanted)
{
    for (int code = 0; code < 4; code++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run r = { .op = &evl_op_non_zero, .in = { *x }, .n_in = 1, .hide_data = code / 2 };
        assert_int_equal(evl_run_op(ctx, &r, code % 2 ? EVL_FLOAT : EVL_DOUBLE, 0), EVAL_OK);
        assert_int_equal(r.out[0].type, EVAL_INT64);
        assert_int_equal(r.out[0].shape.rank, 2);
        assert_int_equal(r.out[0].shape.dim[0], x->shape.rank);
        assert_int_equal(r.out[0].shape.dim[1], n);
        assert_memory_equal(r.out[0].data, wanted, n * (size_t)x->shape.rank * sizeof *wanted);
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

static void non_zero_lists_positions_row_by_row(void **unused)
{
    const int64_t dims[] = { 2, 3 }, wanted[] = { 0, 1, 1, 2, 0, 2 },
                  ints[] = { 0, 0, -5, 1, 0, 256 };
    const double reals[] = { 0, -0.0, 1e-30, -1, 0, 5 };
    const uint8_t bools[] = { 0, 0, 1, 1, 0, 1 };
    const EvalString texts[] = {
        { "", 0 }, { "", 0 }, { "a", 1 }, { "b", 1 }, { "", 0 }, { "c", 1 }
    };
    evl_tensor t = evl_test_reals(reals, 2, dims);
    (void)unused;
    check_non_zero(&t, 3, wanted);
    t = evl_test_ints(ints, 2, dims);
    check_non_zero(&t, 3, wanted);
    t = evl_test_tensor(EVAL_BOOL, bools, 2, dims);
    check_non_zero(&t, 3, wanted);
    t = evl_test_tensor(EVAL_STRING, texts, 2, dims);
    check_non_zero(&t, 3, wanted);
}

static void non_zero_of_nothing_and_of_a_scalar(void **unused)
{
    const int64_t empty[] = { 2, 0 }, five = 5, three = 3, zeros[3] = { 0 };
    evl_tensor t = evl_test_ints(&five, 2, empty);
    (void)unused;
    check_non_zero(&t, 0, &five);
    t = evl_test_ints(&five, 0, NULL);
    check_non_zero(&t, 1, &five);
    t = evl_test_ints(zeros, 1, &three);
    check_non_zero(&t, 0, &five);
}

typedef struct chosen {
    int64_t axis; /* -1: flat */
    int64_t at[8];
} chosen;

static int64_t compressed(const moved *m, size_t i)
{
    const chosen *c = m->arg;
    int64_t at[EVAL_MAX_RANK];
    if (c->axis < 0)
        return c->at[i];
    moved_position(m->rank, m->dims, i, at);
    at[c->axis] = c->at[at[c->axis]];
    return moved_index(&m->in[0].shape, at);
}

static void compress_keeps_what_the_condition_names(void **unused)
{
    const int64_t dims[] = { 2, 3, 4 }, three = 3, seven = 7;
    const uint8_t condition[] = { 0, 1, 1, 0, 0, 0, 1 };
    chosen c = { 1, { 1, 2 } };
    const evl_attribute axis = evl_attribute_int("axis", -2);
    moved m = { .op = "Compress",
                .attributes = &axis,
                .n_attributes = 1,
                .n_in = 2,
                .rank = 3,
                .in = { moved_shape(3, dims), evl_test_tensor(EVAL_BOOL, condition, 1, &seven) },
                .dims = { 2, 2, 4 },
                .source = compressed,
                .arg = &c };
    (void)unused;
    moved_check(&m); /* more conditions than elements: the rest is not looked at */
    m.in[1] = evl_test_tensor(EVAL_BOOL, condition, 1, &three);
    moved_check(&m);
    m.n_attributes = 0;
    m.in[1] = evl_test_tensor(EVAL_BOOL, condition, 1, &seven);
    m.rank = 1;
    m.dims[0] = 3;
    c = (chosen){ -1, { 1, 2, 6 } };
    moved_check(&m);
    m.in[1] = evl_test_tensor(EVAL_BOOL, condition, 1, (const int64_t[1]){ 0 });
    m.dims[0] = 0;
    moved_check(&m);
}

static void compress_refuses_other_conditions(void **unused)
{
    const int64_t dims[] = { 2, 3 }, ints[6] = { 1 };
    const uint8_t bools[6] = { 1 };
    const evl_attribute axis = evl_attribute_int("axis", 2);
    moved m = { .op = "Compress",
                .n_in = 2,
                .in = { moved_shape(2, dims), evl_test_ints(ints, 1, dims) } };
    (void)unused;
    assert_int_equal(moved_fails(&m), EVAL_ERR_TYPE);
    m.in[1] = evl_test_tensor(EVAL_BOOL, bools, 2, dims);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = evl_test_tensor(EVAL_BOOL, bools, 1, dims);
    m.attributes = &axis;
    m.n_attributes = 1;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

/* The moved input is `values`, { off, on }: 0 and 1. */
typedef struct hot {
    int64_t axis, depth;
    const int64_t *indices;
    evl_shape shape;
} hot;

static int64_t hot_source(const moved *m, size_t i)
{
    const hot *h = m->arg;
    int64_t at[EVAL_MAX_RANK], from[EVAL_MAX_RANK], index;
    moved_position(m->rank, m->dims, i, at);
    for (int32_t d = 0; d < h->shape.rank; d++)
        from[d] = at[d < h->axis ? d : d + 1];
    index = h->indices[moved_index(&h->shape, from)];
    return (index < 0 ? index + h->depth : index) == at[h->axis];
}

static void one_hot_switches_on_one_place_of_a_new_axis(void **unused)
{
    const int64_t indices[] = { 0, -1, 2, 4, 5, -6, 7, 3, -5, 1, INT64_MAX, INT64_MIN }, two = 2;
    const int64_t depth = 5;
    const double real_depth = 5;
    hot h = { 0, 5, indices, evl_shape_of(2, (const int64_t[]){ 3, 4 }) };
    (void)unused;
    for (h.axis = 0; h.axis < 3; h.axis++) {
        const evl_attribute axis = evl_attribute_int("axis", h.axis == 1 ? 1 : h.axis - 3);
        moved m = { .op = "OneHot",
                    .attributes = &axis,
                    .n_attributes = 1,
                    .n_in = 3,
                    .input = 2,
                    .in = { evl_test_ints(indices, 2, h.shape.dim), evl_test_ints(&depth, 0, NULL),
                            moved_shape(1, &two) },
                    .rank = 3,
                    .dims = { 3, 4, 4 },
                    .source = hot_source,
                    .arg = &h };
        m.dims[1] = h.axis == 2 ? 4 : h.axis == 0 ? 3 : 5;
        m.dims[0] = h.axis == 0 ? 5 : 3;
        m.dims[2] = h.axis == 2 ? 5 : 4;
        moved_check(&m);
        m.in[1] = evl_test_reals(&real_depth, 1, (const int64_t[1]){ 1 });
        moved_check(&m);
    }
}

static void one_hot_takes_indices_of_any_type(void **unused)
{
    const double reals[] = { 1, 0 }, on_off[] = { 5, 7 }, wanted[] = { 5, 7, 7, 5 };
    const int64_t two = 2;
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_one_hot, .n_in = 3 };
    (void)unused;
    r.in[0] = evl_test_reals(reals, 1, &two);
    r.in[1] = evl_test_ints(&two, 0, NULL);
    r.in[2] = evl_test_reals(on_off, 1, &two);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_memory_equal(r.out[0].data, wanted, sizeof wanted);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void one_hot_refuses_bad_parameters(void **unused)
{
    const int64_t two = 2, three = 3, negative = -1, none = 0;
    const evl_attribute axis = evl_attribute_int("axis", 2);
    moved m = { .op = "OneHot",
                .n_in = 3,
                .input = 2,
                .in = { evl_test_ints(&two, 0, NULL), evl_test_ints(&negative, 0, NULL),
                        moved_shape(1, &two) } };
    (void)unused;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = evl_test_ints(&three, 1, &none);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = evl_test_ints(&three, 0, NULL);
    m.in[2] = moved_shape(1, &three);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[2] = moved_shape(1, &two);
    m.attributes = &axis;
    m.n_attributes = 1;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(non_zero_lists_positions_row_by_row),
        cmocka_unit_test(non_zero_of_nothing_and_of_a_scalar),
        cmocka_unit_test(compress_keeps_what_the_condition_names),
        cmocka_unit_test(compress_refuses_other_conditions),
        cmocka_unit_test(one_hot_switches_on_one_place_of_a_new_axis),
        cmocka_unit_test(one_hot_takes_indices_of_any_type),
        cmocka_unit_test(one_hot_refuses_bad_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
