#include "ops/ops.h"
#include "support/run_op.h"
#include <string.h>

static const char *const names[] = { "none", "add", "mul", "max", "min" };

static double combine(size_t reduction, double old, double update)
{
    const double results[] = { update, old + update, old * update, old > update ? old : update,
                               old < update ? old : update };
    return results[reduction];
}

enum { N = 60 };

typedef struct scattered {
    double data[N], updates[N], wanted[N];
    int64_t indices[N];
    int32_t narrow[N];
} scattered;

/* Small whole numbers, so that every type and order gives the same. */
static void make(scattered *s, int64_t size)
{
    uint64_t state = 88675123u;
    for (size_t i = 0; i < N; i++) {
        s->data[i] = s->wanted[i] = (double)(int)evl_test_random(&state, 1, 5);
        s->updates[i] = (double)(int)evl_test_random(&state, 1, 3);
        s->indices[i] = (int64_t)evl_test_random(&state, 0, 2 * (double)size) - size;
        s->narrow[i] = (int32_t)s->indices[i];
    }
}

/* Floats in both precisions with int64 indices, int32 elements with int32 indices. */
static void check(evl_op_run *r, const scattered *s, const evl_shape *indices,
                  const evl_shape *updates)
{
    int32_t data[N], values[N];
    r->n_in = 3;
    for (int code = 0; code < 4; code++) {
        evl_context *ctx = evl_test_begin();
        bool is_int = code / 2;
        for (size_t i = 0; i < N; i++) {
            data[i] = (int32_t)s->data[i];
            values[i] = (int32_t)s->updates[i];
        }
        r->hide_data = code % 2;
        if (is_int) {
            r->in[0] = evl_test_tensor(EVAL_INT32, data, 3, r->in[0].shape.dim);
            r->in[2] = evl_test_tensor(EVAL_INT32, values, (size_t)updates->rank, updates->dim);
            r->in[1] = evl_test_tensor(EVAL_INT32, s->narrow, (size_t)indices->rank, indices->dim);
        } else {
            r->in[0] = evl_test_reals(s->data, 3, r->in[0].shape.dim);
            r->in[2] = evl_test_reals(s->updates, (size_t)updates->rank, updates->dim);
            r->in[1] = evl_test_ints(s->indices, (size_t)indices->rank, indices->dim);
        }
        EvalStatus st = evl_run_op(ctx, r, code % 2 ? EVL_DOUBLE : EVL_FLOAT, 0);
        if (st)
            print_error("%s\n", ctx->error.text);
        assert_int_equal(st, EVAL_OK);
        assert_true(evl_shape_equal(&r->out[0].shape, &r->in[0].shape));
        for (size_t i = 0; i < N; i++)
            assert_true(evl_tensor_f64(&r->out[0], i) == s->wanted[i]);
        evl_run_op_end(r);
        evl_test_end(ctx);
    }
}

static const int64_t dims[] = { 3, 4, 5 };

static void scatter_elements(const char *op, int version, size_t reduction, int32_t axis)
{
    const evl_attribute a[] = { evl_attribute_int("axis", axis - 3),
                                evl_attribute_text("reduction", names[reduction]) };
    evl_shape shape = evl_shape_of(3, (const int64_t[]){ 2, 3, 4 });
    evl_op_run r = { .op = evl_op_find("", op),
                     .version = version,
                     .attributes = a,
                     .n_attributes = reduction ? 2 : 1 };
    scattered s;
    make(&s, dims[axis]);
    shape.dim[axis] = 3;
    for (size_t i = 0; i < evl_shape_count(&shape); i++) {
        int64_t at[3] = { (int64_t)i / (shape.dim[1] * shape.dim[2]),
                          (int64_t)i / shape.dim[2] % shape.dim[1], (int64_t)i % shape.dim[2] };
        at[axis] = s.indices[i] < 0 ? s.indices[i] + dims[axis] : s.indices[i];
        double *to = &s.wanted[(at[0] * 4 + at[1]) * 5 + at[2]];
        *to = combine(reduction, *to, s.updates[i]);
    }
    r.in[0].shape = evl_shape_of(3, dims);
    check(&r, &s, &shape, &shape);
}

static void every_reduction_along_every_axis(void **unused)
{
    (void)unused;
    for (size_t reduction = 0; reduction < 5; reduction++)
        for (int32_t axis = 0; axis < 3; axis++)
            scatter_elements("ScatterElements", 18, reduction, axis);
    scatter_elements("Scatter", 9, 0, 1);
    scatter_elements("ScatterElements", 11, 0, 0);
}

static void scatter_tuples(size_t reduction, int64_t length)
{
    const evl_attribute a = evl_attribute_text("reduction", names[reduction]);
    const size_t inner[] = { 60, 20, 5, 1 };
    evl_shape indices = evl_shape_of(3, (const int64_t[]){ 2, 2, length });
    evl_shape updates = evl_shape_of(2, indices.dim);
    evl_op_run r = { .op = &evl_op_scatter_nd, .attributes = &a, .n_attributes = reduction != 0 };
    scattered s;
    make(&s, 3); /* duplicates too */
    for (int64_t d = length; d < 3; d++)
        updates.dim[updates.rank++] = dims[d];
    if (evl_shape_count(&updates) > N)
        indices.dim[0] = updates.dim[0] = 1;
    for (size_t i = 0; i < (size_t)(2 * indices.dim[0]); i++) {
        size_t start = 0;
        for (int64_t j = 0; j < length; j++) {
            int64_t index = s.indices[i * (size_t)length + (size_t)j];
            start += (size_t)(index < 0 ? index + dims[j] : index) * inner[j + 1];
        }
        for (size_t j = 0; j < inner[length]; j++)
            s.wanted[start + j] =
                combine(reduction, s.wanted[start + j], s.updates[i * inner[length] + j]);
    }
    r.in[0].shape = evl_shape_of(3, dims);
    check(&r, &s, &indices, &updates);
}

static void every_reduction_of_blocks(void **unused)
{
    (void)unused;
    for (size_t reduction = 0; reduction < 5; reduction++)
        for (int64_t length = 1; length < 4; length++)
            scatter_tuples(reduction, length);
}

static void sums_of_truth_values_are_or_and_products_and(void **unused)
{
    const uint8_t data[] = { 0, 0, 1, 1 }, updates[] = { 0, 1, 0, 1 };
    const uint8_t wanted[][4] = { { 0, 1, 1, 1 }, { 0, 0, 0, 1 } };
    const int64_t four = 4, indices[] = { 0, 1, 2, 3 };
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        const evl_attribute a = evl_attribute_text("reduction", names[i + 1]);
        evl_context *ctx = evl_test_begin();
        evl_op_run r = {
            .op = &evl_op_scatter_elements, .attributes = &a, .n_attributes = 1, .n_in = 3
        };
        r.in[0] = evl_test_tensor(EVAL_BOOL, data, 1, &four);
        r.in[1] = evl_test_ints(indices, 1, &four);
        r.in[2] = evl_test_tensor(EVAL_BOOL, updates, 1, &four);
        assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
        assert_memory_equal(r.out[0].data, wanted[i], 4);
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

static void texts_can_be_replaced_but_not_added(void **unused)
{
    const EvalString data[] = { { "a", 1 }, { "b", 1 } }, update = { "cc", 2 };
    const int64_t two = 2, one = 1, index = -1;
    const evl_attribute a = evl_attribute_text("reduction", "add");
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_scatter_elements, .attributes = &a, .n_in = 3 };
    (void)unused;
    r.in[0] = evl_test_tensor(EVAL_STRING, data, 1, &two);
    r.in[1] = evl_test_ints(&index, 1, &one);
    r.in[2] = evl_test_tensor(EVAL_STRING, &update, 1, &one);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_string_equal(((EvalString *)r.out[0].data)[0].text, "a");
    assert_string_equal(((EvalString *)r.out[0].data)[1].text, "cc");
    evl_run_op_end(&r);
    r.n_attributes = 1;
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_ERR_TYPE);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static EvalStatus status_of(const char *op, const evl_attribute *a, evl_tensor indices,
                            evl_tensor updates)
{
    static const double x[12];
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = evl_op_find("", op), .attributes = a, .n_attributes = 1, .n_in = 3 };
    r.in[0] = evl_test_reals(x, 2, dims);
    r.in[1] = indices;
    r.in[2] = updates;
    EvalStatus st = evl_run_op(ctx, &r, EVL_FLOAT, 0);
    evl_run_op_end(&r);
    evl_test_end(ctx);
    return st;
}

static void bad_operands_are_refused(void **unused)
{
    const double x[4] = { 0 };
    const int64_t one[] = { 1, 1 }, two[] = { 1, 2 }, zeros[4] = { 0 }, far = 12, low = -13;
    const evl_attribute none = evl_attribute_text("reduction", "none");
    const evl_attribute other = evl_attribute_text("reduction", "mean");
    evl_tensor index = evl_test_ints(zeros, 2, one), update = evl_test_reals(x, 2, one);
    const char *const both[] = { "ScatterElements", "ScatterND" };
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        evl_tensor fit = i ? evl_test_reals(x, 2, (const int64_t[]){ 1, 4 }) : update;
        assert_int_equal(status_of(both[i], &none, index, fit), EVAL_OK);
        assert_int_equal(status_of(both[i], &other, index, fit), EVAL_ERR_UNSUPPORTED);
        assert_int_equal(status_of(both[i], &none, evl_test_ints(&far, 2, one), fit),
                         EVAL_ERR_SHAPE);
        assert_int_equal(status_of(both[i], &none, evl_test_ints(&low, 2, one), fit),
                         EVAL_ERR_SHAPE);
        assert_int_equal(status_of(both[i], &none, index, evl_test_reals(x, 2, two)),
                         EVAL_ERR_SHAPE);
        assert_int_equal(status_of(both[i], &none, update, fit), EVAL_ERR_TYPE);
        assert_int_equal(status_of(both[i], &none, index, evl_test_ints(zeros, 2, one)),
                         EVAL_ERR_TYPE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reduction_along_every_axis),
        cmocka_unit_test(every_reduction_of_blocks),
        cmocka_unit_test(sums_of_truth_values_are_or_and_products_and),
        cmocka_unit_test(texts_can_be_replaced_but_not_added),
        cmocka_unit_test(bad_operands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
