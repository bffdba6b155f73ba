/* BatchNormalization behind a convolution, made part of its weights; and where it stays. */
#include "passes/network.h"
#include "passes/passes.h"

enum { CHANNELS = 3, LENGTH = 4 };

typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    network n;
    evl_value *w, *b, *between, *y;
} fixture;

static evl_value *ones(network *n)
{
    evl_value *v = constant(n, 1, (const int64_t[]){ CHANNELS });
    double one = 1;
    for (size_t i = 0, size = evl_type_size(v->t.type); i < CHANNELS; i++)
        evl_convert(1, EVAL_FLOAT64, &one, v->t.type, (char *)v->t.data + i * size);
    return v;
}

static void begin(fixture *f, evl_precision precision, bool has_bias, const evl_attribute *of_batch)
{
    static const int64_t x[] = { 1, 4, 5 }, w[] = { CHANNELS, 4, 2 }, channels[] = { CHANNELS };
    f->ctx = evl_test_begin();
    evl_test_machine(&f->machine, precision, evl_cpu_features());
    f->n = (network){ .b = { f->ctx, evl_graph_new(evl_arena_new(f->ctx->memory), NULL), EVAL_OK },
                      .precision = precision, .seed = 5 };
    network *n = &f->n;
    n->b.graph->real = f->machine.real;
    f->w = constant(n, 3, w);
    f->b = has_bias ? constant(n, 1, channels) : NULL;
    f->between = node(n, &evl_op_conv, input(n, 3, x), f->w, f->b, NULL, 0);
    evl_value *in[] = { f->between, constant(n, 1, channels), constant(n, 1, channels), constant(n, 1, channels), ones(n) };
    f->y = evl_build(&n->b, &evl_op_batch_normalization, "y", in, 5, of_batch, of_batch != NULL);
    assert_non_null(f->y);
    assert_true(evl_graph_add_output(n->b.graph, f->y));
}

static void end(fixture *f)
{
    evl_arena_free(f->n.b.graph->arena);
    evl_test_end(f->ctx);
}

static bool is_fused(const fixture *f)
{
    evl_pass_env env = { .machine = &f->machine };
    assert_int_equal(evl_pass_fuse_batch(f->ctx, &env, f->n.b.graph), EVAL_OK);
    return f->y->producer->op == &evl_op_conv;
}

static void the_convolution_gives_the_same_numbers(void **state)
{
    (void)state;
    double before[CHANNELS * LENGTH], after[CHANNELS * LENGTH];
    for (int i = 0; i < 4; i++) {
        fixture f;
        evl_precision precision = i & 1 ? EVL_DOUBLE : EVL_FLOAT;
        evl_attribute epsilon = evl_attribute_number("epsilon", 0.25);
        begin(&f, precision, i & 2, &epsilon);
        run(&f.n, &f.machine, &f.y, 1, before);
        assert_true(is_fused(&f));
        assert_int_equal(f.y->producer->n_inputs, 3);
        assert_int_equal(f.y->producer->n_attributes, 0);
        run(&f.n, &f.machine, &f.y, 1, after);
        for (size_t j = 0; j < CHANNELS * LENGTH; j++)
            assert_true(fabs(before[j] - after[j]) < (precision == EVL_DOUBLE ? 1e-14 : 2e-6));
        assert_false(evl_value_final(f.y)->producer->inputs[1] == f.w); /* the file's own stay */
        end(&f);
    }
}

static void what_others_read_stays(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        fixture f;
        begin(&f, EVL_FLOAT, true, NULL);
        evl_value *read[] = { f.w, f.b, f.between };
        evl_value *other = evl_build_1(&f.n.b, &evl_op_abs, NULL, read[i]);
        assert_true(evl_graph_add_output(f.n.b.graph, other));
        assert_false(is_fused(&f));
        end(&f);
    }
}

static void what_is_not_constant_stays(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        fixture f;
        begin(&f, EVL_FLOAT, true, NULL);
        evl_node *batch = f.y->producer;
        evl_value *all[] = { f.w, f.b, batch->inputs[1], batch->inputs[2], batch->inputs[3], batch->inputs[4] };
        all[i]->is_constant = false;
        assert_false(is_fused(&f));
        end(&f);
    }
}

static void another_kind_of_normalization_stays(void **state)
{
    (void)state;
    static const char *const names[] = { "training_mode", "spatial" };
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f, EVL_FLOAT, true, NULL);
        evl_attribute a = evl_attribute_int(names[i], 1 - i);
        assert_true(evl_node_attributes(f.y->producer, &a, 1));
        assert_false(is_fused(&f));
        end(&f);
    }
}

static void numbers_that_do_not_fit_the_channels_stay(void **state)
{
    (void)state;
    fixture f;
    begin(&f, EVL_FLOAT, true, NULL);
    f.b->t.shape = evl_shape_of(1, (const int64_t[]){ CHANNELS - 1 });
    assert_false(is_fused(&f));
    f.b->t.shape = evl_shape_of(1, (const int64_t[]){ CHANNELS });
    f.y->producer->inputs[4]->t.shape = evl_shape_of(1, (const int64_t[]){ CHANNELS - 1 });
    assert_false(is_fused(&f));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_convolution_gives_the_same_numbers),
        cmocka_unit_test(what_others_read_stays),
        cmocka_unit_test(what_is_not_constant_stays),
        cmocka_unit_test(another_kind_of_normalization_stays),
        cmocka_unit_test(numbers_that_do_not_fit_the_channels_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
