/* Sequences, optionals and maps through Run: what comes out is what went in. */
#include "api/core.h"
#include "ir/nested.h"

static core c;

/* y = x, declared as these types, from the outside in. */
static void begin(evl_precision precision, const EvalType types[5])
{
    core_begin(&c, precision);
    evl_value *x = core_input(&c, "x", types[0], 1, (int64_t[]){ EVL_UNKNOWN_DIM });
    for (size_t i = 0; i < EVL_MAX_NESTING; i++)
        x->t.inner[i] = (uint16_t)types[i + 1];
    core_output(&c, &evl_op_identity, "y", x, NULL);
}

static EvalTensor vector(EvalType type, int64_t n, const void *data, size_t bytes)
{
    EvalTensor t = { .type = type, .rank = 1, .dims = { n }, .bytes = bytes };
    memcpy(&t.data, &data, sizeof data);
    return t;
}

static EvalTensor around(EvalType type, int64_t n, const EvalTensor *elements)
{
    EvalTensor t = vector(type, n, elements, (size_t)n * sizeof *elements);
    t.name = "x";
    return t;
}

static EvalStatus run(const EvalTensor *in, EvalTensor *out)
{
    out->name = "y";
    return evl_evaluator_run(c.ctx, &c.e, in, 1, out, 1, NULL);
}

static void end(EvalTensor *out)
{
    assert_int_equal(evl_evaluator_release(c.ctx, &c.e, out, 1), EVAL_OK);
    assert_null(out->data);
    core_end(&c);
}

static double number(const EvalTensor *t, size_t i)
{
    return t->type == EVAL_FLOAT64 ? ((double *)t->data)[i] : ((float *)t->data)[i];
}

/* Elements of both floating-point types, at odd addresses, and one without an element. */
static void a_sequence_comes_out_in_the_objects_own_type(void **state)
{
    (void)state;
    const EvalType types[5] = { EVAL_SEQUENCE, EVAL_FLOAT32 };
    const float a[] = { 1, 2, 3 };
    const double b[] = { 4, 5 };
    char odd[sizeof b + 1];
    memcpy(odd + 1, b, sizeof b);
    const EvalTensor elements[] = { vector(EVAL_FLOAT32, 3, a, sizeof a),
                                    vector(EVAL_FLOAT64, 2, odd + 1, sizeof b),
                                    vector(EVAL_FLOAT32, 0, NULL, 0) };
    for (int way = 0; way < 2; way++) {
        begin(way ? EVL_DOUBLE : EVL_FLOAT, types);
        EvalTensor in = around(EVAL_SEQUENCE, 3, elements), out = { 0 };
        assert_int_equal(run(&in, &out), EVAL_OK);
        assert_int_equal(out.type, EVAL_SEQUENCE);
        assert_int_equal(out.dims[0], 3);
        const EvalTensor *got = out.data;
        assert_int_equal(got[1].type, way ? EVAL_FLOAT64 : EVAL_FLOAT32);
        assert_true(number(&got[0], 2) == 3 && number(&got[1], 1) == 5);
        assert_int_equal(got[2].dims[0], 0);
        for (size_t i = 0; i < 3; i++) { /* one block, as long as it says */
            assert_true((char *)got[i].data >= (char *)out.data);
            assert_true((char *)got[i].data + got[i].bytes <= (char *)out.data + out.bytes);
        }
        end(&out);
    }
}

/* Told how many bytes it needs, the caller gives them. */
static void a_buffer_of_the_callers_holds_the_whole_value(void **state)
{
    (void)state;
    const EvalType types[5] = { EVAL_SEQUENCE, EVAL_STRING };
    const EvalString words[] = { { "one", 3 }, { "", 0 } };
    const EvalTensor elements[] = { vector(EVAL_STRING, 2, words, sizeof words) };
    EvalTensor in = around(EVAL_SEQUENCE, 1, elements), out = { 0 };
    char small[8];
    begin(EVL_FLOAT, types);
    out.data = small;
    out.bytes = sizeof small;
    assert_int_equal(run(&in, &out), EVAL_ERR_LIMIT);
    char *block = evl_allocate(c.ctx->memory, out.bytes);
    assert_non_null(block);
    out.data = block;
    assert_int_equal(run(&in, &out), EVAL_OK);
    assert_ptr_equal(out.data, block);
    const EvalString *got = ((EvalTensor *)out.data)->data;
    assert_string_equal(got[0].text, "one");
    assert_string_equal(got[1].text, "");
    assert_true(got[0].text >= block && got[1].text < block + out.bytes);
    evl_release(c.ctx->memory, block);
    core_end(&c);
}

static void an_optional_may_be_given_as_what_it_holds(void **state)
{
    (void)state;
    const EvalType types[5] = { EVAL_OPTIONAL, EVAL_SEQUENCE, EVAL_INT64 };
    const int64_t numbers[] = { 7 };
    const EvalTensor element = vector(EVAL_INT64, 1, numbers, sizeof numbers);
    const EvalTensor sequence = around(EVAL_SEQUENCE, 1, &element);
    const EvalTensor given[] = { sequence, around(EVAL_OPTIONAL, 1, &sequence),
                                 around(EVAL_OPTIONAL, 0, NULL) };
    for (size_t way = 0; way < 3; way++) {
        EvalTensor out = { 0 };
        begin(EVL_FLOAT, types);
        assert_int_equal(run(&given[way], &out), EVAL_OK);
        assert_int_equal(out.type, EVAL_OPTIONAL);
        assert_int_equal(out.dims[0], way < 2);
        if (way < 2) {
            const EvalTensor *inside = out.data;
            assert_int_equal(inside->type, EVAL_SEQUENCE);
            assert_int_equal(*(int64_t *)((EvalTensor *)inside->data)->data, 7);
        }
        end(&out);
    }
}

static void a_map_is_its_keys_and_values(void **state)
{
    (void)state;
    const EvalType types[5] = { EVAL_MAP, EVAL_STRING, EVAL_FLOAT32 };
    const EvalString keys[] = { { "a", 1 }, { "b", 1 } };
    const float values[] = { 1, 2 };
    EvalTensor pair[] = { vector(EVAL_STRING, 2, keys, sizeof keys),
                          vector(EVAL_FLOAT32, 2, values, sizeof values) };
    EvalTensor in = around(EVAL_MAP, 2, pair), out = { 0 };
    begin(EVL_DOUBLE, types);
    assert_int_equal(run(&in, &out), EVAL_OK);
    assert_int_equal(out.type, EVAL_MAP);
    const EvalTensor *got = out.data;
    assert_string_equal(((EvalString *)got[0].data)[1].text, "b");
    assert_true(number(&got[1], 1) == 2 && got[1].type == EVAL_FLOAT64);
    pair[1].dims[0] = 1;
    pair[1].bytes = sizeof(float);
    EvalTensor none = { 0 };
    assert_int_equal(run(&in, &none), EVAL_ERR_SHAPE);
    end(&out);
}

static void what_is_not_as_declared_is_refused(void **state)
{
    (void)state;
    const EvalType types[5] = { EVAL_SEQUENCE, EVAL_FLOAT32 };
    const float a[] = { 1, 2, 3 };
    const EvalTensor good = vector(EVAL_FLOAT32, 3, a, sizeof a);
    EvalTensor bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].type = EVAL_INT32;
    bad[1].bytes = 11;
    bad[2].data = NULL;
    bad[3].rank = EVAL_MAX_RANK + 1;
    bad[4].dims[0] = -1;
    bad[5].type = (EvalType)-1;
    bad[6] = around(EVAL_SEQUENCE, 1, &good);
    begin(EVL_FLOAT, types);
    for (size_t i = 0; i < 7; i++) {
        EvalTensor in = around(EVAL_SEQUENCE, 1, &bad[i]), out = { 0 };
        assert_int_not_equal(run(&in, &out), EVAL_OK);
        assert_non_null(strstr(c.ctx->error.text, "'x'"));
        assert_null(out.data);
    }
    EvalTensor wrong[] = { good, around(EVAL_OPTIONAL, 1, &good), around(EVAL_SEQUENCE, 1, &good),
                           around(EVAL_SEQUENCE, 1, NULL), around(EVAL_SEQUENCE, -1, &good) };
    wrong[0].name = "x";
    wrong[2].bytes--;
    for (size_t i = 0; i < 5; i++) {
        EvalTensor out = { 0 };
        assert_int_not_equal(run(&wrong[i], &out), EVAL_OK);
    }
    core_end(&c);
}

static void types_that_nest_without_end_are_refused(void **state)
{
    (void)state;
    const EvalType types[5] = { EVAL_UNDEFINED };
    EvalTensor self = { 0 }, out = { 0 };
    self = around(EVAL_SEQUENCE, 1, &self);
    begin(EVL_FLOAT, types);
    assert_int_equal(run(&self, &out), EVAL_ERR_TYPE);
    core_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_comes_out_in_the_objects_own_type),
        cmocka_unit_test(a_buffer_of_the_callers_holds_the_whole_value),
        cmocka_unit_test(an_optional_may_be_given_as_what_it_holds),
        cmocka_unit_test(a_map_is_its_keys_and_values),
        cmocka_unit_test(what_is_not_as_declared_is_refused),
        cmocka_unit_test(types_that_nest_without_end_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
