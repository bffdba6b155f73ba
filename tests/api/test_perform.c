/* One run between the caller's memory and a plan: what goes straight and what is converted,
** what is measured and what is made. */
#include "api/core.h"
#include "support/toy.h"

enum { N = 3 };

static core c;

static void begin(evl_precision precision)
{
    core_begin(&c, precision);
}

/* y = x + x, of that type. */
static evl_value *doubled(EvalType type, evl_value **x)
{
    *x = core_input(&c, "x", type, 1, (int64_t[]){ -1 });
    return core_output(&c, &evl_op_add, "y", *x, *x);
}

static evl_feed feed(evl_value *v, EvalType type, int64_t n, const void *data)
{
    return (evl_feed){ v, type, evl_shape_of(1, &n), data };
}

static evl_job job(evl_feed *feeds, evl_fetch *fetches)
{
    return (evl_job){ .e = &c.e, .model = c.m, .feeds = feeds, .n_feeds = 1, .fetches = fetches,
                      .n_fetches = 1, .list = &c.e.made };
}

/* One feed, one fetch. */
static EvalStatus perform(evl_feed in, evl_fetch *out)
{
    evl_job j = job(&in, out);
    return evl_perform(c.ctx, &j);
}

static void values_are_found_by_name(void **state)
{
    (void)state;
    evl_value *x, *found;
    begin(EVL_FLOAT);
    evl_value *y = doubled(EVAL_FLOAT32, &x);
    assert_int_equal(evl_find_value(c.ctx, c.g, "y", &found), EVAL_OK);
    assert_ptr_equal(found, y);
    assert_int_equal(evl_find_value(c.ctx, c.g, "z", &found), EVAL_ERR_NOT_FOUND);
    assert_int_equal(evl_find_value(c.ctx, c.g, NULL, &found), EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "a name is NULL");
    core_end(&c);
}

/* In both precisions, from and to both, at odd addresses too. */
static void floating_types_are_converted_at_the_border(void **state)
{
    (void)state;
    static const EvalType types[] = { EVAL_FLOAT32, EVAL_FLOAT64, EVAL_FLOAT16, EVAL_BFLOAT16 };
    const double numbers[N] = { 1.5, -2, 0.25 };
    for (int way = 0; way < 4 * 4 * 2 * 2; way++) {
        EvalType from = types[way % 4], to = types[way / 4 % 4];
        size_t odd = (size_t)way / 16 % 2;
        evl_value *x, *y;
        double in[N + 1], out[N + 1], back[N];
        begin(way / 32 ? EVL_DOUBLE : EVL_FLOAT);
        y = doubled(EVAL_FLOAT32, &x);
        assert_true(evl_convert(N, EVAL_FLOAT64, numbers, from, in));
        memmove((char *)in + odd, in, N * sizeof *in);
        evl_fetch f = { .value = y, .type = to, .data = (char *)out + odd, .bytes = N * sizeof *out };
        assert_int_equal(perform(feed(x, from, N, (char *)in + odd), &f), EVAL_OK);
        assert_int_equal(f.bytes, N * evl_type_size(to));
        assert_int_equal(f.shape.dim[0], N);
        memmove(out, (char *)out + odd, N * sizeof *out);
        assert_true(evl_convert(N, to, out, EVAL_FLOAT64, back));
        for (size_t i = 0; i < N; i++)
            assert_true(back[i] == 2 * numbers[i]);
        core_end(&c);
    }
}

static void what_comes_has_the_plans_type(void **state)
{
    (void)state;
    const float in[N] = { 1, 2, 3 };
    double out[N];
    evl_value *x;
    begin(EVL_DOUBLE);
    evl_fetch f = { .value = doubled(EVAL_FLOAT32, &x), .data = out, .bytes = sizeof out };
    assert_int_equal(perform(feed(x, EVAL_FLOAT32, N, in), &f), EVAL_OK);
    assert_int_equal(f.type, EVAL_FLOAT64);
    assert_true(out[2] == 6);
    core_end(&c);
}

static void integers_leave_as_numbers_where_that_is_allowed(void **state)
{
    (void)state;
    const int64_t in[N] = { 1, -2, 3 };
    float out[N];
    evl_value *x;
    begin(EVL_FLOAT);
    evl_fetch f = { .value = doubled(EVAL_INT64, &x), .type = EVAL_FLOAT32, .data = out,
                    .bytes = sizeof out };
    assert_int_equal(perform(feed(x, EVAL_INT64, N, in), &f), EVAL_ERR_TYPE);
    assert_string_equal(c.ctx->error.text,
                        "output 'y' is of type int64 and cannot be given as float32");
    f.any_to_float = true;
    f.bytes = sizeof out;
    assert_int_equal(perform(feed(x, EVAL_INT64, N, in), &f), EVAL_OK);
    assert_true(out[0] == 2 && out[1] == -4 && out[2] == 6);
    f.type = EVAL_INT32;
    assert_int_equal(perform(feed(x, EVAL_INT64, N, in), &f), EVAL_ERR_TYPE);
    core_end(&c);
}

static void numbers_enter_as_integers_when_they_are_whole(void **state)
{
    (void)state;
    float in[N] = { 1, -2, 3 };
    int64_t out[N];
    evl_value *x;
    begin(EVL_FLOAT);
    evl_fetch f = { .value = doubled(EVAL_INT64, &x), .data = out, .bytes = sizeof out };
    assert_int_equal(perform(feed(x, EVAL_FLOAT32, N, in), &f), EVAL_OK);
    assert_int_equal(out[1], -4);
    in[1] = 0.5f;
    assert_int_equal(perform(feed(x, EVAL_FLOAT32, N, in), &f), EVAL_ERR_TYPE);
    assert_memory_equal(c.ctx->error.text, "input 'x': ", 11);
    core_end(&c);
}

static void narrow_types_are_packed_outside(void **state)
{
    (void)state;
    const uint8_t in[] = { 0xf1, 0x07 }; /* 1, -1, 7 */
    uint8_t out[2] = { 0 };
    begin(EVL_FLOAT);
    evl_value *x = core_input(&c, "x", EVAL_INT4, 1, (int64_t[]){ N });
    evl_fetch f = { .value = core_output(&c, &evl_op_transpose, "y", x, NULL), .data = out,
                    .bytes = 1 };
    assert_int_equal(evl_door_bytes(EVAL_INT4, N), 2);
    assert_int_equal(perform(feed(x, EVAL_INT4, N, in), &f), EVAL_ERR_LIMIT);
    assert_int_equal(f.bytes, 2);
    assert_int_equal(perform(feed(x, EVAL_INT4, N, in), &f), EVAL_OK);
    assert_memory_equal(out, in, 2);
    core_end(&c);
}

static void made_texts_are_copies(void **state)
{
    (void)state;
    char words[] = "onetwo";
    const EvalString in[N] = { { words, 3 }, { NULL, 0 }, { words + 3, 3 } };
    EvalString out[N];
    begin(EVL_FLOAT);
    evl_value *x = core_input(&c, "x", EVAL_STRING, 1, (int64_t[]){ N });
    evl_value *y = core_output(&c, &evl_op_transpose, "y", x, NULL);
    evl_fetch mine = { .value = y, .data = out, .bytes = sizeof out }, made = { .value = y };
    assert_int_equal(perform(feed(x, EVAL_STRING, N, in), &mine), EVAL_OK);
    assert_ptr_equal(out[2].text, words + 3);
    assert_int_equal(perform(feed(x, EVAL_STRING, N, in), &made), EVAL_OK);
    memset(words, 'x', 6);
    const EvalString *texts = made.data;
    assert_string_equal(texts[0].text, "one");
    assert_int_equal(texts[1].size, 0);
    assert_string_equal(texts[2].text, "two");
    assert_true(evl_made_free(&c.e, &c.e.made, made.data));
    made = (evl_fetch){ .value = y, .type = EVAL_FLOAT32, .any_to_float = true };
    assert_int_equal(perform(feed(x, EVAL_STRING, N, in), &made), EVAL_ERR_TYPE);
    core_end(&c);
}

static void a_buffer_too_small_is_told_what_it_needs(void **state)
{
    (void)state;
    const float in[N] = { 1, 2, 3 };
    float out[N] = { 9, 9, 9 };
    evl_value *x;
    begin(EVL_FLOAT);
    evl_fetch f = { .value = doubled(EVAL_FLOAT32, &x), .data = out, .bytes = sizeof out - 1 };
    assert_int_equal(perform(feed(x, EVAL_FLOAT32, N, in), &f), EVAL_ERR_LIMIT);
    assert_string_equal(c.ctx->error.text,
                        "an output's buffer is too small; bytes needed:\ny: 12");
    assert_int_equal(f.bytes, sizeof out);
    assert_int_equal(f.shape.dim[0], N);
    assert_true(out[0] == 9);
    core_end(&c);
}

static void a_size_that_depends_on_data_is_known_afterwards(void **state)
{
    (void)state;
    int64_t out[4], n = 4;
    begin(EVL_FLOAT);
    evl_value *x = core_input(&c, "x", EVAL_INT64, 1, (int64_t[]){ 1 });
    evl_value *y = toy_node(c.g, &toy_range, "y", x, NULL);
    evl_feed in = feed(x, EVAL_INT64, 1, &n);
    evl_fetch f = { .value = y, .data = out, .bytes = sizeof out };
    evl_job j = job(&in, &f);
    assert_int_equal(evl_measure(c.ctx, &j), EVAL_OK);
    assert_false(evl_shape_is_known(&f.shape));
    assert_int_equal(f.type, EVAL_INT64);
    assert_int_equal(evl_perform(c.ctx, &j), EVAL_OK);
    assert_int_equal(f.shape.dim[0], 4);
    assert_int_equal(out[3], 3);
    f.bytes = 24;
    assert_int_equal(evl_perform(c.ctx, &j), EVAL_ERR_LIMIT);
    assert_int_equal(f.bytes, 32);
    f = (evl_fetch){ .value = y };
    n = 3;
    assert_int_equal(evl_perform(c.ctx, &j), EVAL_OK);
    assert_int_equal(f.bytes, 24);
    assert_int_equal(((int64_t *)f.data)[2], 2);
    core_end(&c); /* what was made goes with the object */
}

static void measuring_runs_nothing(void **state)
{
    (void)state;
    begin(EVL_FLOAT);
    evl_value *x = core_input(&c, "x", EVAL_INT64, 1, (int64_t[]){ -1 });
    evl_feed in = feed(x, EVAL_INT64, N, NULL);
    evl_fetch f = { .value = toy_node(c.g, &toy_sum, "y", x, x) };
    evl_job j = job(&in, &f);
    toy_runs = 0;
    assert_int_equal(evl_measure(c.ctx, &j), EVAL_OK);
    assert_int_equal(f.bytes, N * 8);
    assert_int_equal(toy_runs, 0);
    assert_null(f.data);
    core_end(&c);
}

static void a_failing_run_makes_nothing(void **state)
{
    (void)state;
    const int64_t in[N] = { 0 };
    begin(EVL_FLOAT);
    evl_value *x = core_input(&c, "x", EVAL_INT64, 1, (int64_t[]){ N });
    evl_fetch f = { .value = toy_node(c.g, &toy_fail, "y", x, NULL) };
    assert_int_equal(perform(feed(x, EVAL_INT64, N, in), &f), EVAL_ERR_SHAPE);
    assert_null(f.data);
    assert_false(f.is_made);
    assert_null(c.e.made);
    core_end(&c);
}

/* --- more operands than the stack has room for --- */

enum { MANY = 2 * EVL_FEW };

static evl_value *inputs[MANY], *outputs[MANY];
static int64_t numbers[MANY], results[MANY];

static EvalStatus fill_and_perform(evl_context *ctx, evl_job *j)
{
    for (size_t i = 0; i < j->n_feeds; i++)
        j->feeds[i] = feed(inputs[i], EVAL_INT64, 1, &numbers[i]);
    for (size_t i = 0; i < j->n_fetches; i++)
        j->fetches[i] = (evl_fetch){ .value = outputs[i], .data = &results[i], .bytes = 8 };
    return evl_perform(ctx, j);
}

static void any_number_of_operands_has_room(void **state)
{
    (void)state;
    begin(EVL_FLOAT);
    for (size_t i = 0; i < MANY; i++) {
        inputs[i] = core_input(&c, NULL, EVAL_INT64, 1, (int64_t[]){ 1 });
        outputs[i] = toy_node(c.g, &toy_sum, NULL, inputs[i], inputs[i]);
        numbers[i] = (int64_t)i;
    }
    for (size_t n = EVL_FEW; n <= MANY; n += EVL_FEW / 2) {
        evl_job j = job(NULL, NULL);
        j.n_feeds = j.n_fetches = n;
        memset(results, 0, sizeof results);
        assert_int_equal(evl_with_room(c.ctx, &j, fill_and_perform), EVAL_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(results[i], 2 * (int64_t)i);
    }
    core_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_name),
        cmocka_unit_test(floating_types_are_converted_at_the_border),
        cmocka_unit_test(what_comes_has_the_plans_type),
        cmocka_unit_test(integers_leave_as_numbers_where_that_is_allowed),
        cmocka_unit_test(numbers_enter_as_integers_when_they_are_whole),
        cmocka_unit_test(narrow_types_are_packed_outside),
        cmocka_unit_test(made_texts_are_copies),
        cmocka_unit_test(a_buffer_too_small_is_told_what_it_needs),
        cmocka_unit_test(a_size_that_depends_on_data_is_known_afterwards),
        cmocka_unit_test(measuring_runs_nothing),
        cmocka_unit_test(a_failing_run_makes_nothing),
        cmocka_unit_test(any_number_of_operands_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
