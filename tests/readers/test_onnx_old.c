/* Operators under the names that older opsets gave them, before any is looked up. */
#include "ir/op.h"
#include "readers/onnx/onnx.h"
#include "support/support.h"
#include <string.h>

typedef struct modernising {
    evl_onnx o;
    evl_onnx_scope scope;
    evl_onnx_draft d;
    evl_value *inputs[8], x, scales;
    evl_attribute attributes[8];
} modernising;

static void modernise(modernising *m, const char *op, int version)
{
    m->o.ctx = evl_test_begin();
    m->o.arena = evl_arena_new(m->o.ctx->memory);
    assert_non_null(m->o.arena);
    m->scope.graph = evl_graph_new(m->o.arena, NULL);
    assert_non_null(m->scope.graph);
    m->d.op = op;
    m->d.domain = "";
    m->d.version = version;
    m->d.inputs = m->inputs;
    m->d.attributes = m->attributes;
    assert_int_equal(evl_onnx_modernise(&m->o, &m->scope, &m->d), EVAL_OK);
}

static void end(modernising *m)
{
    evl_arena_free(m->o.arena);
    evl_test_end(m->o.ctx);
}

static const char *text_of(const modernising *m, const char *name)
{
    for (size_t i = 0; i < m->d.n_attributes; i++)
        if (strcmp(m->attributes[i].name, name) == 0)
            return m->attributes[i].u.text.text;
    return "";
}

static void check_resize(const modernising *m, const char *mode, const char *nearest)
{
    assert_string_equal(m->d.op, "Resize");
    assert_int_equal(m->d.version, 13);
    assert_int_equal(m->d.n_inputs, 3);
    assert_ptr_equal(m->d.inputs[0], &m->x);
    assert_null(m->d.inputs[1]); /* no region */
    assert_string_equal(text_of(m, "mode"), mode);
    assert_string_equal(text_of(m, "coordinate_transformation_mode"), "asymmetric");
    assert_string_equal(text_of(m, "nearest_mode"), nearest);
}

static void factors_that_are_an_input_move_behind_the_region(void **state)
{
    (void)state;
    static const char *const names[] = { "Upsample", "Resize" };
    for (int i = 0; i < 2; i++) {
        modernising m = { .d = { .n_inputs = 2, .n_attributes = 1 } };
        m.inputs[0] = &m.x;
        m.inputs[1] = &m.scales;
        m.attributes[0] = evl_attribute_text("mode", "linear");
        modernise(&m, names[i], 9 + i);
        check_resize(&m, "linear", "floor");
        assert_ptr_equal(m.d.inputs[2], &m.scales);
        end(&m);
    }
}

static void opset_10_rounds_up_where_an_axis_shrinks(void **state)
{
    (void)state;
    static const struct {
        float scales[4];
        bool is_constant;
        const char *nearest; /* NULL: it stays as it is */
    } cases[] = {
        { { 1, 1, 2, 1 }, true, "floor" },   { { 1, 1, 0.5F, 1 }, true, "ceil" },
        { { 1, 1, 0.5F, 2 }, true, NULL },   { { 1, 1, 2, 2 }, false, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        modernising m = { .d = { .n_inputs = 2, .n_attributes = 1 } };
        float scales[4];
        memcpy(scales, cases[i].scales, sizeof scales);
        m.inputs[0] = &m.x;
        m.inputs[1] = &m.scales;
        m.scales.is_constant = cases[i].is_constant;
        m.scales.t.type = EVAL_FLOAT32;
        m.scales.t.shape = evl_shape_of(1, (const int64_t[]){ 4 });
        m.scales.t.data = scales;
        m.attributes[0] = evl_attribute_text("mode", "nearest");
        modernise(&m, "Resize", 10);
        if (cases[i].nearest) {
            check_resize(&m, "nearest", cases[i].nearest);
        } else {
            assert_int_equal(m.d.version, 10);
            assert_int_equal(m.d.n_inputs, 2);
            assert_int_equal(m.d.n_attributes, 1);
        }
        end(&m);
    }
}

static void factors_that_are_attributes_become_a_constant(void **state)
{
    (void)state;
    static const double list[] = { 1, 1, 2, 3 };
    for (int version = 6; version <= 7; version++) {
        modernising m = { .d = { .n_inputs = 1 } };
        m.inputs[0] = &m.x;
        m.attributes[m.d.n_attributes++] = evl_attribute_text("mode", "bilinear");
        if (version == 7) {
            m.attributes[m.d.n_attributes++] = evl_attribute_numbers("scales", list, 4);
        } else {
            m.attributes[m.d.n_attributes++] = evl_attribute_number("width_scale", 3);
            m.attributes[m.d.n_attributes++] = evl_attribute_number("height_scale", 2);
        }
        modernise(&m, "Upsample", version);
        check_resize(&m, "linear", "floor");
        const evl_value *scales = m.d.inputs[2];
        for (size_t i = 0; i < m.d.n_attributes; i++)
            assert_null(strstr(m.d.attributes[i].name, "scale"));
        assert_true(scales->is_constant);
        assert_int_equal(scales->t.type, EVAL_FLOAT32);
        for (size_t i = 0; i < 4; i++)
            assert_true(evl_tensor_f64(&scales->t, i) == list[i]);
        end(&m);
    }
}

static void scatter_has_another_name(void **state)
{
    (void)state;
    modernising m = { .d = { .n_inputs = 3 } };
    modernise(&m, "Scatter", 9);
    assert_string_equal(m.d.op, "ScatterElements");
    assert_int_equal(m.d.n_inputs, 3);
    assert_int_equal(m.d.version, 11);
    end(&m);
}

static void what_is_new_or_of_another_domain_stays_as_it_is(void **state)
{
    (void)state;
    modernising m = { .d = { .n_inputs = 2 } };
    m.inputs[1] = &m.scales;
    modernise(&m, "Resize", 11);
    assert_int_equal(m.d.n_inputs, 2);
    assert_int_equal(m.d.n_attributes, 0);
    m.d.version = 9;
    m.d.domain = "com.example";
    m.d.op = "Upsample";
    assert_int_equal(evl_onnx_modernise(&m.o, &m.scope, &m.d), EVAL_OK);
    assert_string_equal(m.d.op, "Upsample");
    end(&m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_that_are_an_input_move_behind_the_region),
        cmocka_unit_test(opset_10_rounds_up_where_an_axis_shrinks),
        cmocka_unit_test(factors_that_are_attributes_become_a_constant),
        cmocka_unit_test(scatter_has_another_name),
        cmocka_unit_test(what_is_new_or_of_another_domain_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
