/* Every element type in every encoding: what make_onnx.py wrote. */
#include "reading.h"

static const char *const wide_types[] = { "float", "double",  "uint8",    "int8",   "uint16",
                                          "int16", "int32",   "int64",    "uint32", "uint64",
                                          "bool",  "float16", "bfloat16", "uint4",  "int4",
                                          "uint2", "int2" };

static const double wide_values[][5] = {
    { 0, 1.5, -2.25, 0, 0 }, /* the fourth is compared by its bits */
    { 0, 1.5, -2.25, 1e300, 0 },
    { 0, 1, 2, 128, 255 },
    { 0, 1, -1, -128, 127 },
    { 0, 1, 256, 32768, 65535 },
    { 0, 1, -1, -32768, 32767 },
    { 0, 1, -1, -2147483648.0, 2147483647.0 },
    { 0, 1, -1, -9223372036854775808.0, 9223372036854775807.0 },
    { 0, 1, 256, 2147483648.0, 4294967295.0 },
    { 0, 1, 256, 9223372036854775808.0, 18446744073709551615.0 },
    { 0, 1, 1, 0, 1 },
    { 0, 1.5, -2.25, 65504, 0 },
    { 0, 1.5, -2.25, 3.3895313892515355e38, 0 },
    { 0, 1, 2, 8, 15 },
    { 0, 1, -1, -8, 7 },
    { 0, 1, 2, 3, 1 },
    { 0, 1, -1, -2, 1 },
};

enum { N_WIDE = sizeof wide_types / sizeof wide_types[0] };

static void check_values(const evl_graph *g, const char *name, const double *expected)
{
    const evl_value *v = evl_test_value(g, name);
    double found[5];
    assert_true(v->is_constant);
    assert_int_equal(v->t.life, EVL_LIFE_MODEL);
    assert_int_equal(v->t.shape.rank, 1);
    assert_int_equal(v->t.shape.dim[0], 5);
    if (strcmp(name, "bool") == 0)
        for (size_t i = 0; i < 5; i++)
            found[i] = ((const uint8_t *)v->t.data)[i];
    else if (evl_type_is_float(v->t.type))
        for (size_t i = 0; i < 5; i++)
            found[i] = evl_tensor_f64(&v->t, i);
    else
        for (size_t i = 0; i < 5; i++)
            found[i] = v->t.type == EVAL_UINT64 ? (double)(uint64_t)evl_tensor_i64(&v->t, i)
                                                : (double)evl_tensor_i64(&v->t, i);
    for (size_t i = 0; i < 5; i++)
        if (found[i] != expected[i] && !(strcmp(name, "float") == 0 && i == 3))
            fail_msg("%s[%zu]: %g, not %g", name, i, found[i], expected[i]);
}

static void raw_data_holds_every_type(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("encodings_raw", &r);
    for (size_t i = 0; i < N_WIDE; i++)
        check_values(r.graph, wide_types[i], wide_values[i]);
    evl_test_close(&r);
}

static void check_same(const evl_value *a, const evl_value *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->t.type, b->t.type);
    assert_true(evl_shape_equal(&a->t.shape, &b->t.shape));
    size_t n = evl_shape_count(&a->t.shape);
    if (a->t.type != EVAL_STRING && n > 0 &&
        memcmp(a->t.data, b->t.data, n * evl_type_size(a->t.type)) != 0)
        fail_msg("%s differs", a->name);
}

static void each_type_has_the_same_bytes_in_its_own_field(void **state)
{
    (void)state;
    evl_reading raw, field;
    evl_test_open_good("encodings_field", &field);
    raw.bytes = evl_test_load_model("encodings_raw", raw.path, &raw.size);
    assert_int_equal(evl_test_read(field.ctx, raw.bytes, raw.size, NULL, &raw), EVAL_OK);
    assert_int_equal(raw.graph->n_outputs, 27);
    for (size_t i = 0; i < raw.graph->n_outputs; i++)
        check_same(raw.graph->outputs[i], field.graph->outputs[i]);
    evl_test_drop(&raw);
    free(raw.bytes);
    evl_test_close(&field);
}

static bool is_in(const evl_reading *r, const void *p)
{
    const char *first = r->bytes, *at = p;
    return at >= first && at < first + r->size;
}

static void weights_stay_where_the_file_has_them(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("encodings_raw", &r);
    assert_true(is_in(&r, evl_test_value(r.graph, "float")->t.data));
    assert_true(is_in(&r, evl_test_value(r.graph, "int64")->t.data));
    assert_true(is_in(&r, evl_test_value(r.graph, "float16")->t.data));
    assert_false(is_in(&r, evl_test_value(r.graph, "int4")->t.data)); /* kept one a byte */
    evl_test_close(&r);
    evl_test_open_good("encodings_field", &r);
    assert_true(is_in(&r, evl_test_value(r.graph, "double")->t.data));
    assert_false(is_in(&r, evl_test_value(r.graph, "int64")->t.data)); /* varints */
    evl_test_close(&r);
}

static void strings_and_empty_tensors_are_read(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("encodings_field", &r);
    const EvalString *texts = evl_test_value(r.graph, "string")->t.data;
    assert_int_equal(texts[0].size, 0);
    assert_int_equal(texts[1].size, 3);
    assert_memory_equal(texts[2].text, "zw\xc3\xb6lf", 6);
    const evl_value *empty = evl_test_value(r.graph, "empty");
    assert_true(empty->is_constant);
    assert_int_equal(evl_shape_count(&empty->t.shape), 0);
    assert_int_equal(empty->t.shape.rank, 3);
    evl_test_close(&r);
}

static void numbers_need_not_be_packed(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("encodings_unpacked", &r);
    const evl_value *f = evl_test_value(r.graph, "f"), *i = evl_test_value(r.graph, "i");
    assert_int_equal(i->t.shape.rank, 2);
    for (size_t k = 0; k < 4; k++) {
        assert_true(evl_tensor_f64(&f->t, k) == (double)(k + 1));
        assert_int_equal(evl_tensor_i64(&i->t, k), k + 1);
    }
    evl_test_close(&r);
}

static void sparse_tensors_become_dense(void **state)
{
    (void)state;
    static const double linear[] = { 0, 1, 0, 0, 0, 2 }, table[] = { 0, 0, 7, 8, 0, 0 };
    evl_reading r;
    evl_test_open_good("sparse", &r);
    for (size_t i = 0; i < 6; i++) {
        assert_true(evl_tensor_f64(&evl_test_value(r.graph, "linear")->t, i) == linear[i]);
        assert_true(evl_tensor_f64(&evl_test_value(r.graph, "table")->t, i) == table[i]);
    }
    evl_test_close(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_data_holds_every_type),
        cmocka_unit_test(each_type_has_the_same_bytes_in_its_own_field),
        cmocka_unit_test(weights_stay_where_the_file_has_them),
        cmocka_unit_test(strings_and_empty_tensors_are_read),
        cmocka_unit_test(numbers_need_not_be_packed),
        cmocka_unit_test(sparse_tensors_become_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
