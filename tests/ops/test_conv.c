/* Conv and ConvTranspose against slow obvious loops over every output and every input. */
#include "ops/conv.h"
#include "ops/ops.h"
#include "support/run_op.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 11;

static double *random_values(size_t n)
{
    double *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(float)evl_test_random(&seed, -1, 1);
    return x;
}

typedef struct conv_case {
    size_t n; /* spatial dimensions */
    int64_t batch, in, out, group;
    int64_t size[3], kernel[3], stride[3], dilation[3], pads[6];
    const char *auto_pad;
    int64_t output_padding[3], output_shape[3];
} conv_case;

typedef struct conv_run {
    evl_attribute attributes[8];
    evl_op_run r;
    double *x, *w, *b;
    int64_t x_dims[5], w_dims[5];
    size_t n_x, n_w;
} conv_run;

static void take_attributes(conv_run *c, const conv_case *s, bool is_transposed)
{
    evl_attribute *a = c->attributes;
    size_t n = 0;
    a[n++] = evl_attribute_int("group", s->group);
    if (s->stride[0])
        a[n++] = evl_attribute_ints("strides", s->stride, s->n);
    if (s->dilation[0])
        a[n++] = evl_attribute_ints("dilations", s->dilation, s->n);
    if (s->auto_pad)
        a[n++] = evl_attribute_text("auto_pad", s->auto_pad);
    else
        a[n++] = evl_attribute_ints("pads", s->pads, 2 * s->n);
    if (is_transposed)
        a[n++] = evl_attribute_ints("output_padding", s->output_padding, s->n);
    if (is_transposed && s->output_shape[0])
        a[n++] = evl_attribute_ints("output_shape", s->output_shape, s->n);
    c->r.attributes = a;
    c->r.n_attributes = n;
}

static void begin(conv_run *c, const conv_case *s, bool is_transposed)
{
    *c = (conv_run){ .x_dims = { s->batch, s->in } };
    c->w_dims[0] = is_transposed ? s->in : s->out;
    c->w_dims[1] = (is_transposed ? s->out : s->in) / s->group;
    memcpy(c->x_dims + 2, s->size, s->n * sizeof *s->size);
    memcpy(c->w_dims + 2, s->kernel, s->n * sizeof *s->kernel);
    c->n_x = c->n_w = 1;
    for (size_t i = 0; i < s->n + 2; i++) {
        c->n_x *= (size_t)c->x_dims[i];
        c->n_w *= (size_t)c->w_dims[i];
    }
    c->x = random_values(c->n_x);
    c->w = random_values(c->n_w);
    c->b = random_values((size_t)s->out);
    c->r.op = is_transposed ? &evl_op_conv_transpose : &evl_op_conv;
    c->r.n_in = 3;
    c->r.in[0] = evl_test_reals(c->x, s->n + 2, c->x_dims);
    c->r.in[1] = evl_test_reals(c->w, s->n + 2, c->w_dims);
    c->r.in[2] = evl_test_reals(c->b, 1, &s->out);
    take_attributes(c, s, is_transposed);
}

static void end(conv_run *c)
{
    free(c->x);
    free(c->w);
    free(c->b);
}

static evl_conv geometry(evl_context *ctx, const conv_run *c, bool is_transposed)
{
    const evl_tensor *in[] = { &c->r.in[0], &c->r.in[1], &c->r.in[2] };
    evl_node node = {
        .op = c->r.op, .name = "", .n_attributes = c->r.n_attributes, .attributes = c->r.attributes
    };
    evl_use use = { &node, in, 3 };
    evl_conv conv;
    assert_int_equal(is_transposed ? evl_conv_transpose_of(ctx, &use, &conv)
                                   : evl_conv_of(ctx, &use, &conv),
                     EVAL_OK);
    return conv;
}

/* Calls see() with every pair of elements that a kernel position joins: `window` of
** stencil.out and `place` of stencil.in. */
typedef void see(void *arg, int64_t window, int64_t place, int64_t position);

static void see_position(const evl_stencil *s, int64_t window, int64_t position, see *call,
                         void *arg)
{
    int64_t place = 0, w = window, p = position, at[3];
    for (int d = 2; d >= 0; d--) {
        at[d] = w % s->out[d] * s->stride[d] - s->begin[d] + p % s->kernel[d] * s->dilation[d];
        w /= s->out[d];
        p /= s->kernel[d];
        if (at[d] < 0 || at[d] >= s->in[d])
            return;
    }
    for (int d = 0; d < 3; d++)
        place = place * s->in[d] + at[d];
    call(arg, window, place, position);
}

static void see_all(const evl_stencil *s, see *call, void *arg)
{
    for (int64_t i = 0; i < (int64_t)evl_stencil_out(s); i++)
        for (int64_t k = 0; k < (int64_t)evl_stencil_kernel(s); k++)
            see_position(s, i, k, call, arg);
}

typedef struct planes {
    const double *x, *w;
    double *y;
} planes;

static void convolve(void *arg, int64_t window, int64_t place, int64_t position)
{
    planes *p = arg;
    p->y[window] += p->x[place] * p->w[position];
}

static void convolve_back(void *arg, int64_t window, int64_t place, int64_t position)
{
    planes *p = arg;
    p->y[place] += p->x[window] * p->w[position];
}

static double *expected(const conv_run *c, const conv_case *s, const evl_conv *conv,
                        bool is_transposed)
{
    size_t out = (size_t)s->out, in = conv->in_channels, each = conv->out_channels;
    double *y = malloc(((size_t)s->batch * out * conv->out_plane + 1) * sizeof *y);
    for (size_t i = 0; i < (size_t)s->batch * out; i++) {
        size_t image = i / out, m = i % out, g = m / each;
        double *plane = y + i * conv->out_plane;
        for (size_t j = 0; j < conv->out_plane; j++)
            plane[j] = c->b[m];
        for (size_t q = 0; q < in; q++) {
            size_t w = is_transposed ? (g * in + q) * each + m % each : m * in + q;
            planes p = { c->x + ((image * conv->groups + g) * in + q) * conv->in_plane,
                         c->w + w * conv->kernel, plane };
            see_all(&conv->stencil, is_transposed ? convolve_back : convolve, &p);
        }
    }
    return y;
}

static void check_one(evl_context *ctx, conv_run *c, const double *wanted, int way)
{
    static const unsigned cpus[] = { 0, EVL_CPU_AVX2, ~0u };
    evl_precision precision = way & 1 ? EVL_DOUBLE : EVL_FLOAT;
    double most = precision == EVL_DOUBLE ? 1e-12 : 3e-5;
    c->r.hide_data = way & 2;
    c->r.threads = way & 4 ? 2 : 0;
    assert_int_equal(evl_run_op(ctx, &c->r, precision, cpus[way % 3] & evl_cpu_features()),
                     EVAL_OK);
    for (size_t i = 0; i < evl_shape_count(&c->r.out[0].shape); i++) {
        double found = ((double *)c->r.out[0].data)[i];
        if (!(fabs(found - wanted[i]) <= most * (1 + fabs(wanted[i]))))
            fail_msg("element %zu is %g, expected %g", i, found, wanted[i]);
    }
    evl_run_op_end(&c->r);
}

static void check(const conv_case *s, bool is_transposed)
{
    evl_context *ctx = evl_test_begin();
    conv_run c;
    begin(&c, s, is_transposed);
    evl_conv conv = geometry(ctx, &c, is_transposed);
    double *wanted = expected(&c, s, &conv, is_transposed);
    for (int way = 0; way < 12; way++)
        check_one(ctx, &c, wanted, way);
    free(wanted);
    end(&c);
    evl_test_end(ctx);
}

static const conv_case cases[] = {
    { 2, 1, 3, 8, 1, { 9, 11 }, { 3, 3 }, { 0 }, { 0 }, { 1, 1, 1, 1 }, NULL, { 0 }, { 0 } },
    { 2, 2, 5, 7, 1, { 13, 40 }, { 1, 1 }, { 0 }, { 0 }, { 0 }, NULL, { 0 }, { 0 } },
    { 2, 2, 64, 16, 1, { 7, 7 }, { 3, 3 }, { 0 }, { 0 }, { 1, 1, 1, 1 }, NULL, { 0 }, { 0 } },
    { 2,
      1,
      4,
      6,
      2,
      { 12, 10 },
      { 3, 2 },
      { 2, 1 },
      { 1, 2 },
      { 0, 1, 2, 0 },
      NULL,
      { 1, 0 },
      { 0 } },
    { 2, 1, 6, 6, 6, { 19, 45 }, { 3, 3 }, { 1, 1 }, { 0 }, { 1, 1, 1, 1 }, NULL, { 0 }, { 0 } },
    { 2,
      2,
      6,
      12,
      6,
      { 9, 17 },
      { 5, 3 },
      { 2, 2 },
      { 1, 2 },
      { 2, 1, 2, 1 },
      NULL,
      { 1, 1 },
      { 0 } },
    { 2, 1, 2, 3, 1, { 10, 9 }, { 3, 4 }, { 2, 3 }, { 0 }, { 0 }, "SAME_UPPER", { 0 }, { 0 } },
    { 2, 1, 2, 3, 1, { 10, 9 }, { 4, 3 }, { 3, 2 }, { 0 }, { 0 }, "SAME_LOWER", { 0 }, { 0 } },
    { 2, 1, 2, 2, 2, { 6, 8 }, { 2, 5 }, { 0 }, { 0 }, { 0 }, "VALID", { 0 }, { 0 } },
    { 1, 2, 3, 4, 1, { 50 }, { 7 }, { 3 }, { 2 }, { 4, 2 }, NULL, { 2 }, { 0 } },
    { 1, 1, 8, 8, 8, { 200 }, { 33 }, { 1 }, { 0 }, { 16, 16 }, NULL, { 0 }, { 0 } },
    { 3,
      1,
      2,
      3,
      1,
      { 4, 5, 6 },
      { 2, 3, 2 },
      { 1, 2, 1 },
      { 2, 1, 1 },
      { 1, 0, 1, 0, 1, 1 },
      NULL,
      { 0, 1, 0 },
      { 0 } },
    { 3,
      2,
      2,
      2,
      2,
      { 4, 5, 6 },
      { 3, 3, 3 },
      { 1, 1, 2 },
      { 0 },
      { 1, 1, 1, 1, 1, 1 },
      NULL,
      { 0, 0, 1 },
      { 0 } },
    { 2, 1, 1, 1, 1, { 1, 1 }, { 1, 1 }, { 0 }, { 0 }, { 0 }, NULL, { 0 }, { 0 } },
    { 2, 0, 3, 2, 1, { 5, 5 }, { 3, 3 }, { 0 }, { 0 }, { 0 }, NULL, { 0 }, { 0 } },
    { 2, 1, 40, 70, 1, { 30, 30 }, { 3, 3 }, { 0 }, { 0 }, { 1, 1, 1, 1 }, NULL, { 0 }, { 0 } },
};

static void a_convolution_is_what_its_definition_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i], false);
}

static void a_transposed_one_turns_it_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i], true);
    const conv_case shaped = { 2,        1,     3,     4,    1,     { 5, 6 },  { 3, 3 },
                               { 2, 2 }, { 0 }, { 0 }, NULL, { 0 }, { 10, 11 } };
    check(&shaped, true);
}

/* Windows two apart, whose kernel positions are taken by twos where both look inside. */
static void strides_of_two_leave_no_gap(void **state)
{
    (void)state;
    for (int64_t kernel = 1; kernel <= 5; kernel++)
        for (int64_t width = 1; width <= 9; width += 4)
            for (int64_t pad = 0; 2 * pad < kernel; pad++) {
                const conv_case c = { 2, 1, 3, 4, 1, { 3, width }, { 2, kernel }, { 2, 2 }, { 0 },
                                      { 0, pad, 1, pad }, NULL, { 0 }, { 0 } };
                check(&c, true);
            }
}

static void shapes_are_those_of_onnx(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const conv_case s = {
        2, 1, 3, 4, 1, { 5, 6 }, { 3, 3 }, { 2, 2 }, { 0 }, { 0 }, "SAME_UPPER", { 0 }, { 0 }
    };
    conv_run c;
    begin(&c, &s, true);
    assert_int_equal(evl_run_op(ctx, &c.r, EVL_FLOAT, 0), EVAL_OK);
    const int64_t transposed[] = { 1, 4, 10, 12 };
    assert_memory_equal(c.r.out[0].shape.dim, transposed, sizeof transposed);
    evl_run_op_end(&c.r);
    end(&c);
    begin(&c, &s, false);
    assert_int_equal(evl_run_op(ctx, &c.r, EVL_FLOAT, 0), EVAL_OK);
    const int64_t plain[] = { 1, 4, 3, 3 };
    assert_memory_equal(c.r.out[0].shape.dim, plain, sizeof plain);
    evl_run_op_end(&c.r);
    end(&c);
    evl_test_end(ctx);
}

static void *bits_of(evl_context *ctx, evl_op_run *r, size_t threads)
{
    r->threads = threads;
    assert_int_equal(evl_run_op(ctx, r, EVL_FLOAT, evl_cpu_features()), EVAL_OK);
    size_t bytes = evl_shape_count(&r->out[0].shape) * sizeof(double);
    void *copy = malloc(bytes);
    memcpy(copy, r->out[0].data, bytes);
    evl_run_op_end(r);
    return copy;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    for (int i = 0; i < 2; i++) {
        conv_run c;
        begin(&c, &cases[15], i);
        void *one = bits_of(ctx, &c.r, 1);
        for (size_t threads = 2; threads <= 3; threads++) {
            void *more = bits_of(ctx, &c.r, threads);
            assert_memory_equal(one, more, 70 * 28 * 28 * sizeof(double));
            free(more);
        }
        free(one);
        end(&c);
    }
    evl_test_end(ctx);
}

/* Shifting the input by one stride shifts the output by one. */
static void a_shift_goes_through(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const conv_case s = { 1, 1, 1, 2, 1, { 40 }, { 5 }, { 2 }, { 0 }, { 0 }, NULL, { 0 }, { 0 } };
    conv_run c;
    begin(&c, &s, false);
    double first[36], *x = c.x;
    assert_int_equal(evl_run_op(ctx, &c.r, EVL_DOUBLE, evl_cpu_features()), EVAL_OK);
    memcpy(first, c.r.out[0].data, sizeof first);
    evl_run_op_end(&c.r);
    memmove(x, x + 2, 38 * sizeof *x);
    assert_int_equal(evl_run_op(ctx, &c.r, EVL_DOUBLE, evl_cpu_features()), EVAL_OK);
    for (size_t i = 0; i < 17; i++)
        assert_true(fabs(((double *)c.r.out[0].data)[i] - first[i + 1]) < 1e-13);
    evl_run_op_end(&c.r);
    end(&c);
    evl_test_end(ctx);
}

static void refused(const conv_case *s, bool is_transposed, EvalStatus wanted)
{
    evl_context *ctx = evl_test_begin();
    conv_run c;
    begin(&c, s, is_transposed);
    assert_int_equal(evl_run_op(ctx, &c.r, EVL_FLOAT, 0), wanted);
    assert_true(ctx->error.n > 0);
    evl_run_op_end(&c.r);
    end(&c);
    evl_test_end(ctx);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    conv_case s = cases[0];
    s.kernel[0] = 30;
    refused(&s, false, EVAL_ERR_SHAPE);
    s = cases[0];
    s.stride[0] = -1;
    refused(&s, false, EVAL_ERR_SHAPE);
    s = cases[0];
    s.pads[1] = -1;
    refused(&s, false, EVAL_ERR_SHAPE);
    s = cases[0];
    s.auto_pad = "SOMEHOW";
    refused(&s, false, EVAL_ERR_FORMAT);
    s = cases[0];
    s.pads[0] = s.pads[2] = 9;
    refused(&s, true, EVAL_ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_is_what_its_definition_says),
        cmocka_unit_test(a_transposed_one_turns_it_round),
        cmocka_unit_test(strides_of_two_leave_no_gap),
        cmocka_unit_test(shapes_are_those_of_onnx),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_shift_goes_through),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
