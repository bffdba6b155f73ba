/* QuantizeLinear and DequantizeLinear against a loop that asks for each element which scale
** is its own; DynamicQuantizeLinear. */
#include "ops/op_case.h"

enum { MOST = 512 };

typedef struct quantization {
    int32_t rank;
    int64_t dims[3], scale_dims[3];
    int32_t scale_rank;
    int64_t axis, block;
    EvalType type;
    double least, most;
} quantization;

static const quantization cases[] = {
    { 2, { 3, 7 }, { 0 }, 0, 1, 0, EVAL_UINT8, 0, 255 },
    { 2, { 3, 7 }, { 1 }, 1, 1, 0, EVAL_INT8, -128, 127 },
    { 3, { 2, 3, 5 }, { 3 }, 1, 1, 0, EVAL_INT8, -128, 127 },
    { 3, { 2, 3, 5 }, { 5 }, 1, -1, 0, EVAL_INT16, -32768, 32767 },
    { 3, { 2, 3, 5 }, { 2 }, 1, 0, 0, EVAL_UINT16, 0, 65535 },
    { 3, { 2, 7, 5 }, { 2, 3, 5 }, 3, 1, 3, EVAL_UINT8, 0, 255 },
    { 3, { 2, 3, 8 }, { 2, 3, 2 }, 3, 2, 4, EVAL_INT8, -128, 127 },
    { 3, { 2, 3, 7 }, { 2, 3, 3 }, 3, 2, 3, EVAL_INT4, -8, 7 },
    { 2, { 4, 1 }, { 2, 1 }, 2, 0, 2, EVAL_UINT2, 0, 3 },
    { 2, { 0, 3 }, { 3 }, 1, 1, 0, EVAL_UINT4, 0, 15 },
};

static size_t count(int32_t rank, const int64_t *dims)
{
    size_t n = 1;
    for (int32_t i = 0; i < rank; i++)
        n *= (size_t)dims[i];
    return n;
}

/* Where the scale of element i is. */
static size_t scale_index(const quantization *q, size_t i)
{
    int64_t at[3], axis = q->axis < 0 ? q->axis + q->rank : q->axis;
    size_t index = 0;
    for (int32_t d = q->rank; d-- > 0; i /= (size_t)q->dims[d])
        at[d] = (int64_t)(i % (size_t)q->dims[d]);
    if (count(q->scale_rank, q->scale_dims) == 1)
        return 0;
    if (!q->block)
        return (size_t)at[axis];
    at[axis] /= q->block;
    for (int32_t d = 0; d < q->rank; d++)
        index = index * (size_t)q->scale_dims[d] + (size_t)at[d];
    return index;
}

static void put(EvalType type, double value, size_t i, void *to)
{
    size_t size = evl_type_size(type);
    assert_true(evl_convert(1, EVAL_FLOAT64, &value, type, (char *)to + i * size));
}

static void check_quantization(const quantization *q)
{
    double x[MOST], scale[MOST], back[MOST], zero_value;
    int64_t zero[MOST], codes[MOST];
    size_t n = count(q->rank, q->dims), n_scales = count(q->scale_rank, q->scale_dims);
    uint64_t seed = 7;
    for (size_t i = 0; i < n_scales; i++) {
        scale[i] = (double)(float)evl_test_random(&seed, 0.01, 0.2);
        zero_value = floor(evl_test_random(&seed, q->least, q->most < 100 ? q->most : 100));
        put(q->type, zero_value, i, zero);
    }
    const evl_tensor zeros = evl_test_tensor(q->type, zero, q->scale_rank, q->scale_dims);
    for (size_t i = 0; i < n; i++) {
        size_t k = scale_index(q, i);
        double z = evl_tensor_f64(&zeros, k);
        x[i] = (double)(float)evl_test_random(&seed, -30, 30);
        double code = nearbyint((double)((float)x[i] / (float)scale[k])) + z;
        code = code < q->least ? q->least : code > q->most ? q->most : code;
        put(q->type, code, i, codes);
        back[i] = (code - z) * scale[k];
    }
    const evl_tensor reals_x = evl_test_tensor(EVAL_FLOAT64, x, q->rank, q->dims);
    const evl_tensor scales = evl_test_tensor(EVAL_FLOAT64, scale, q->scale_rank, q->scale_dims);
    const evl_tensor coded = evl_test_tensor(q->type, codes, q->rank, q->dims);
    const evl_tensor reals_back = evl_test_tensor(EVAL_FLOAT64, back, q->rank, q->dims);
    const evl_attribute axis = evl_attribute_int("axis", q->axis);
    const evl_attribute block = evl_attribute_int("block_size", q->block);
    const op_case both[] = {
        { "QuantizeLinear", 0, { axis, block }, { reals_x, scales, zeros }, { coded }, false, EVAL_OK },
        { "DequantizeLinear", 0, { axis, block }, { coded, scales, zeros }, { reals_back }, false,
          EVAL_OK },
    };
    check_cases(both, 2);
}

static void every_element_has_its_own_scale_and_zero_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_quantization(&cases[i]);
}

static void without_a_zero_point_the_type_is_the_attributes(void **state)
{
    const double x[] = { -1, 0.5, 1.5, 2.5, 300, (double)NAN }, scale = 1;
    const uint8_t bytes[] = { 0, 0, 2, 2, 255, 0 }, codes[] = { 0xb8, 0x30, 0x3c, 0x42, 0x79, 0x7f };
    const int8_t nibbles[] = { -1, 0, 2, 2, 7, -8 };
    const int32_t wide[] = { -70000, 3 };
    const double read[] = { -70000, 3 };
    const op_case all[] = {
        { "QuantizeLinear", 0, { { 0 } }, { reals(x, 6), scalar(EVAL_FLOAT64, &scale) },
          { vector(EVAL_UINT8, bytes, 6) }, false, EVAL_OK },
        { "QuantizeLinear", 0, { evl_attribute_int("output_dtype", EVAL_INT4) },
          { reals(x, 6), scalar(EVAL_FLOAT64, &scale) }, { vector(EVAL_INT4, nibbles, 6) }, false,
          EVAL_OK },
        { "QuantizeLinear", 0, { evl_attribute_int("output_dtype", EVAL_FLOAT8E4M3FN) },
          { reals(x, 6), scalar(EVAL_FLOAT64, &scale) }, { vector(EVAL_FLOAT8E4M3FN, codes, 6) },
          false, EVAL_OK },
        { "QuantizeLinear", 0, { evl_attribute_int("output_dtype", EVAL_STRING) },
          { reals(x, 6), scalar(EVAL_FLOAT64, &scale) }, { vector(EVAL_UINT8, bytes, 6) }, false,
          EVAL_ERR_TYPE },
        { "DequantizeLinear", 0, { { 0 } }, { vector(EVAL_INT32, wide, 2), scalar(EVAL_FLOAT64, &scale) },
          { reals(read, 2) }, false, EVAL_OK },
        { "QuantizeLinear", 0, { { 0 } }, { vector(EVAL_INT32, wide, 2), scalar(EVAL_FLOAT64, &scale) },
          { vector(EVAL_UINT8, (const uint8_t[]){ 0, 3 }, 2) }, false, EVAL_OK },
    };
    (void)state;
    check_cases(all, sizeof all / sizeof all[0]);
}

static void scales_of_another_shape_are_refused(void **state)
{
    const double x[6] = { 0 }, scale[6] = { 1 };
    const evl_tensor in = matrix(EVAL_FLOAT64, x, 2, 3);
    const evl_tensor out = matrix(EVAL_UINT8, x, 2, 3);
    const op_case all[] = {
        { "QuantizeLinear", 0, { { 0 } }, { in, reals(scale, 2) }, { out }, false, EVAL_ERR_SHAPE },
        { "QuantizeLinear", 0, { evl_attribute_int("axis", 2) }, { in, reals(scale, 3) }, { out },
          false, EVAL_ERR_SHAPE },
        { "QuantizeLinear", 0, { evl_attribute_int("block_size", 2) },
          { in, matrix(EVAL_FLOAT64, scale, 2, 3) }, { out }, false, EVAL_ERR_SHAPE },
        { "QuantizeLinear", 0, { { 0 } },
          { in, reals(scale, 3), vector(EVAL_UINT8, x, 2) }, { out }, false, EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(all, sizeof all / sizeof all[0]);
}

static void the_dynamic_one_takes_the_range_of_the_data_and_zero(void **state)
{
    const double x[] = { 0, 2, -3, -2.5, 1.34, 0.5 }, scale = (double)(float)(5.0 / 255);
    const double zeros[2] = { 0 }, one = 1;
    const uint8_t y[] = { 153, 255, 0, 26, 221, 179 }, zero = 153, none[2] = { 0 };
    const op_case full = { "DynamicQuantizeLinear", 0, { { 0 } }, { reals(x, 5) },
                           { vector(EVAL_UINT8, y, 5), scalar(EVAL_FLOAT64, &scale),
                             scalar(EVAL_UINT8, &zero) }, false, EVAL_OK };
    const op_case empty = { "DynamicQuantizeLinear", 0, { { 0 } }, { reals(zeros, 2) },
                            { vector(EVAL_UINT8, none, 2), scalar(EVAL_FLOAT64, &one),
                              scalar(EVAL_UINT8, &none[0]) }, false, EVAL_OK };
    (void)state;
    run_case(&full, EVL_FLOAT, false, false);
    check_case(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_has_its_own_scale_and_zero_point),
        cmocka_unit_test(without_a_zero_point_the_type_is_the_attributes),
        cmocka_unit_test(scales_of_another_shape_are_refused),
        cmocka_unit_test(the_dynamic_one_takes_the_range_of_the_data_and_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
