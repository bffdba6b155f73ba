#include "ops/moved.h"

/* Indices of both types, some counted from the end, all in range for `size`. */
static void random_indices(size_t n, int64_t size, int64_t *wide, int32_t *narrow)
{
    uint64_t state = 362436069u + n;
    for (size_t i = 0; i < n; i++) {
        wide[i] = (int64_t)evl_test_random(&state, 0, 2 * (double)size) - size;
        narrow[i] = (int32_t)wide[i];
    }
}

static int64_t place(int64_t index, int64_t size)
{
    return index < 0 ? index + size : index;
}

typedef struct indexed {
    int64_t axis; /* or how many batch dimensions */
    const int64_t *indices;
    evl_shape shape; /* of the indices */
} indexed;

static int64_t gathered(const moved *m, size_t i)
{
    const indexed *g = m->arg;
    const evl_shape *data = &m->in[0].shape;
    int64_t at[EVAL_MAX_RANK], from[EVAL_MAX_RANK], size = data->dim[g->axis];
    moved_position(m->rank, m->dims, i, at);
    memcpy(from, at, (size_t)g->axis * sizeof *at);
    from[g->axis] = place(g->indices[moved_index(&g->shape, at + g->axis)], size);
    for (int64_t d = g->axis + 1; d < data->rank; d++)
        from[d] = at[d - 1 + g->shape.rank];
    return moved_index(data, from);
}

static void check_both_types(moved *m, const int64_t *wide, const int32_t *narrow,
                             const evl_shape *shape)
{
    m->in[1] = evl_test_ints(wide, (size_t)shape->rank, shape->dim);
    m->n_in = 2;
    moved_check(m);
    m->in[1] = evl_test_tensor(EVAL_INT32, narrow, (size_t)shape->rank, shape->dim);
    moved_check(m);
}

static void check_gather(const evl_shape *data, const evl_shape *shape, int64_t axis)
{
    static int64_t wide[4096];
    static int32_t narrow[4096];
    const evl_attribute a = evl_attribute_int("axis", axis % 2 ? axis - data->rank : axis);
    indexed g = { axis, wide, *shape };
    moved m = { .op = "Gather",
                .attributes = &a,
                .n_attributes = 1,
                .source = gathered,
                .arg = &g,
                .in = { moved_shape((size_t)data->rank, data->dim) } };
    random_indices(evl_shape_count(shape), data->dim[axis], wide, narrow);
    for (int64_t d = 0; d < axis; d++)
        m.dims[m.rank++] = data->dim[d];
    for (int32_t d = 0; d < shape->rank; d++)
        m.dims[m.rank++] = shape->dim[d];
    for (int64_t d = axis + 1; d < data->rank; d++)
        m.dims[m.rank++] = data->dim[d];
    check_both_types(&m, wide, narrow, shape);
}

static void gather_picks_along_every_axis(void **unused)
{
    const evl_shape data = evl_shape_of(3, (const int64_t[]){ 3, 4, 5 });
    const evl_shape shapes[] = { evl_shape_scalar(), evl_shape_of(1, (const int64_t[]){ 7 }),
                                 evl_shape_of(2, (const int64_t[]){ 2, 3 }),
                                 evl_shape_of(2, (const int64_t[]){ 0, 3 }) };
    (void)unused;
    for (size_t i = 0; i < 4; i++)
        for (int64_t axis = 0; axis < 3; axis++)
            check_gather(&data, &shapes[i], axis);
}

static void gather_of_many_elements_is_cut_into_tiles(void **unused)
{
    const evl_shape data = evl_shape_of(2, (const int64_t[]){ 50, 37 });
    const evl_shape shape = evl_shape_of(1, (const int64_t[]){ 4000 });
    (void)unused;
    check_gather(&data, &shape, 0);
    check_gather(&data, &shape, 1);
}

static int64_t gathered_element(const moved *m, size_t i)
{
    const indexed *g = m->arg;
    int64_t at[EVAL_MAX_RANK];
    moved_position(m->rank, m->dims, i, at);
    at[g->axis] = place(g->indices[i], m->in[0].shape.dim[g->axis]);
    return moved_index(&m->in[0].shape, at);
}

static void gather_elements_picks_along_every_axis(void **unused)
{
    static const int64_t dims[] = { 3, 4, 5 };
    static int64_t wide[4000];
    static int32_t narrow[4000];
    (void)unused;
    for (int64_t axis = 0; axis < 3; axis++) {
        evl_shape shape = evl_shape_of(3, (const int64_t[]){ 2, 4, 3 });
        const evl_attribute a = evl_attribute_int("axis", axis - 3);
        shape.dim[axis] = 150; /* may be longer than the data here */
        indexed g = { axis, wide, shape };
        moved m = { .op = "GatherElements",
                    .attributes = &a,
                    .n_attributes = 1,
                    .rank = 3,
                    .in = { moved_shape(3, dims) },
                    .source = gathered_element,
                    .arg = &g };
        memcpy(m.dims, shape.dim, sizeof m.dims);
        random_indices(evl_shape_count(&shape), dims[axis], wide, narrow);
        check_both_types(&m, wide, narrow, &shape);
    }
}

static int64_t gathered_tuple(const moved *m, size_t i)
{
    const indexed *g = m->arg;
    const evl_shape *data = &m->in[0].shape;
    int32_t lead = g->shape.rank - 1;
    int64_t at[EVAL_MAX_RANK], from[EVAL_MAX_RANK], length = g->shape.dim[lead], tuple = 0;
    moved_position(m->rank, m->dims, i, at);
    for (int32_t d = 0; d < lead; d++)
        tuple = tuple * g->shape.dim[d] + at[d];
    memcpy(from, at, (size_t)g->axis * sizeof *at);
    for (int64_t j = 0; j < length; j++)
        from[g->axis + j] = place(g->indices[tuple * length + j], data->dim[g->axis + j]);
    for (int64_t d = g->axis + length; d < data->rank; d++)
        from[d] = at[d - g->axis - length + lead];
    return moved_index(data, from);
}

static void gather_nd_picks_blocks_named_by_tuples(void **unused)
{
    static const int64_t dims[] = { 2, 3, 4, 5 };
    static int64_t wide[256];
    static int32_t narrow[256];
    (void)unused;
    for (int64_t batch = 0; batch < 3; batch++) {
        for (int64_t length = 1; length <= 4 - batch; length++) {
            evl_shape shape = evl_shape_of(4, (const int64_t[]){ 2, 3, 7, length });
            const evl_attribute a = evl_attribute_int("batch_dims", batch);
            indexed g = { batch, wide, shape };
            moved m = { .op = "GatherND",
                        .attributes = &a,
                        .n_attributes = 1,
                        .rank = 3,
                        .in = { moved_shape(4, dims) },
                        .source = gathered_tuple,
                        .arg = &g,
                        .dims = { 2, 3, 7 } };
            for (int64_t d = batch + length; d < 4; d++)
                m.dims[m.rank++] = dims[d];
            random_indices(evl_shape_count(&shape), 2, wide, narrow);
            check_both_types(&m, wide, narrow, &shape);
        }
    }
}

static const char *const three[] = { "Gather", "GatherElements", "GatherND" };

static void indices_out_of_range_are_refused(void **unused)
{
    const int64_t dims[] = { 3, 4 }, bad[] = { 3, -4, INT64_MAX, INT64_MIN }, one[] = { 1, 1 };
    (void)unused;
    for (size_t i = 0; i < 12; i++) {
        moved m = { .op = three[i / 4], .n_in = 2, .in = { moved_shape(2, dims) } };
        m.in[1] = evl_test_ints(&bad[i % 4], 2, one);
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    }
}

static void bad_shapes_types_and_axes_are_refused(void **unused)
{
    const int64_t dims[] = { 3, 4 }, zeros[6] = { 0 }, long_tuple[] = { 1, 3 }, wide[] = { 1, 5 };
    const double reals[1] = { 0 };
    const evl_attribute axis = evl_attribute_int("axis", 2),
                        batch = evl_attribute_int("batch_dims", 1);
    moved m = { .n_in = 2, .in = { moved_shape(2, dims), evl_test_ints(zeros, 1, long_tuple) } };
    (void)unused;
    m.attributes = &axis;
    m.n_attributes = 1;
    m.op = "Gather";
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.op = "GatherElements";
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.n_attributes = 0;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE); /* ranks differ */
    m.in[1] = evl_test_ints(zeros, 2, wide);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE); /* wider than the data */
    m.op = "GatherND";
    m.in[1] = evl_test_ints(zeros, 2, long_tuple);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.attributes = &batch;
    m.n_attributes = 1;
    m.in[1] = evl_test_ints(zeros, 2, (const int64_t[]){ 2, 1 });
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE); /* batches differ */
    for (size_t i = 0; i < 3; i++) {
        m.op = three[i];
        m.in[1] = evl_test_reals(reals, 1, long_tuple);
        assert_int_equal(moved_fails(&m), EVAL_ERR_TYPE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_picks_along_every_axis),
        cmocka_unit_test(gather_of_many_elements_is_cut_into_tiles),
        cmocka_unit_test(gather_elements_picks_along_every_axis),
        cmocka_unit_test(gather_nd_picks_blocks_named_by_tuples),
        cmocka_unit_test(indices_out_of_range_are_refused),
        cmocka_unit_test(bad_shapes_types_and_axes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
