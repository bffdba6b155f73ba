/* Convolutions of bytes against a loop over all elements. */
#include "ops/op_case.h"

enum { MOST = 8192, DIMS = 3 };

typedef struct convolution {
    int32_t n;
    int64_t batch, groups, in_channels, out_channels; /* channels of a group */
    int64_t in[DIMS], kernel[DIMS], stride[DIMS], dilation[DIMS], begin[DIMS], end[DIMS];
    bool x_signed, w_signed, by_channel, has_bias;
} convolution;

static const convolution convolutions[] = {
    { 1, 2, 1, 3, 4, { 9 }, { 3 }, { 2 }, { 1 }, { 1 }, { 0 }, false, true, true, true },
    { 2, 1, 1, 2, 3, { 7, 6 }, { 3, 2 }, { 1, 1 }, { 1, 2 }, { 1, 2 }, { 1, 1 }, false, false,
      false, false },
    { 2, 2, 3, 1, 2, { 8, 9 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 0, 1 }, { 1, 0 }, true, true, true,
      true },
    { 2, 1, 1, 5, 70, { 6, 7 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, false, true, true,
      false },
    { 3, 1, 2, 2, 2, { 4, 3, 5 }, { 2, 2, 3 }, { 1, 1, 2 }, { 1, 1, 1 }, { 1, 0, 3 }, { 0, 1, 2 },
      true, false, false, true },
    { 2, 1, 1, 2, 2, { 30, 40 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, false, true,
      false, true },
    { 2, 2, 1, 9, 7, { 13, 11 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, false, true, true,
      true },
    { 2, 1, 1, 16, 20, { 7, 8 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 0, 2 }, { 1, 0 }, true, false, false,
      true },
    { 2, 1, 1, 8, 2, { 3, 300 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, false, true, false,
      false },
    { 2, 1, 1, 2, 13, { 9, 10 }, { 3, 3 }, { 2, 3 }, { 3, 2 }, { 2, 5 }, { 3, 1 }, false, true, false,
      true },
    { 2, 1, 1, 2, 3, { 5, 40 }, { 1, 2 }, { 1, 1 }, { 1, 90 }, { 0, 60 }, { 0, 50 }, false, true, false,
      true },
    { 1, 1, 5, 1, 1, { 400 }, { 5 }, { 1 }, { 1 }, { 4 }, { 4 }, true, true, true, true },
    { 2, 0, 1, 2, 2, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 }, false, true, false,
      true },
};

typedef struct operands {
    uint8_t x[MOST], w[MOST], w_zero[MOST];
    double w_scale[MOST];
    int32_t bias[MOST], sums[MOST], plain[MOST];
    uint8_t codes[MOST];
    int64_t out[DIMS], n_channels;
} operands;

static const uint8_t x_zero = 131, y_zero = 7;
static const double x_scale = 0.5, y_scale = 16;

static int32_t byte(uint8_t value, bool is_signed)
{
    return is_signed ? (int8_t)value : value;
}

static uint8_t any_byte(uint64_t *seed)
{
    double u = evl_test_random(seed, 0, 320); /* the extremes often */
    return (uint8_t)(u >= 256 ? (u < 288 ? 255 : 128) : u);
}

static void fill(operands *o)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < MOST; i++) {
        o->x[i] = any_byte(&seed);
        o->w[i] = any_byte(&seed);
        o->w_zero[i] = any_byte(&seed);
        o->w_scale[i] = (double)(float)evl_test_random(&seed, 0.01, 0.02);
        o->bias[i] = (int32_t)evl_test_random(&seed, -9000, 9000);
    }
}

/* Splits i into places of the dimensions, the last counting fastest. */
static void places(int32_t n, const int64_t *sizes, int64_t i, int64_t *at)
{
    for (int32_t d = n; d-- > 0; i /= sizes[d])
        at[d] = i % sizes[d];
}

static int64_t count(int32_t n, const int64_t *sizes)
{
    int64_t all = 1;
    for (int32_t d = 0; d < n; d++)
        all *= sizes[d];
    return all;
}

static int32_t sum_of(const convolution *c, const operands *o, int64_t image, int64_t channel,
                      const int64_t *out)
{
    int64_t kernel = count(c->n, c->kernel), at[DIMS], group = channel / c->out_channels;
    int32_t w_zero = byte(o->w_zero[c->by_channel ? channel : 0], c->w_signed), sum = 0;
    for (int64_t i = 0; i < c->in_channels * kernel; i++) {
        int64_t place = 0;
        bool inside = true;
        places(c->n, c->kernel, i % kernel, at);
        for (int32_t d = 0; d < c->n; d++) {
            int64_t p = out[d] * c->stride[d] - c->begin[d] + at[d] * c->dilation[d];
            inside = inside && p >= 0 && p < c->in[d];
            place = place * c->in[d] + p;
        }
        int64_t plane = (image * c->groups + group) * c->in_channels + i / kernel;
        if (inside)
            sum += (byte(o->x[plane * count(c->n, c->in) + place], c->x_signed) -
                    byte(x_zero, c->x_signed)) *
                   (byte(o->w[channel * c->in_channels * kernel + i], c->w_signed) - w_zero);
    }
    return sum;
}

static void compute(const convolution *c, operands *o)
{
    int64_t at[DIMS];
    for (int32_t d = 0; d < c->n; d++)
        o->out[d] = (c->in[d] + c->begin[d] + c->end[d] - (c->kernel[d] - 1) * c->dilation[d] - 1) /
                        c->stride[d] + 1;
    o->n_channels = c->groups * c->out_channels;
    int64_t plane = count(c->n, o->out);
    for (int64_t i = 0; i < c->batch * o->n_channels * plane; i++) {
        int64_t channel = i / plane % o->n_channels;
        places(c->n, o->out, i % plane, at);
        o->plain[i] = sum_of(c, o, i / plane / o->n_channels, channel, at);
        o->sums[i] = o->plain[i] + (c->has_bias ? o->bias[channel] : 0);
        float scale = (float)(x_scale * o->w_scale[c->by_channel ? channel : 0] / y_scale);
        double code = nearbyint((double)((float)o->sums[i] * scale)) + y_zero;
        o->codes[i] = (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
    }
}

static evl_tensor planes(EvalType type, const void *data, int32_t n, int64_t first, int64_t second,
                         const int64_t *sizes)
{
    int64_t dims[2 + DIMS] = { first, second };
    memcpy(dims + 2, sizes, (size_t)n * sizeof *sizes);
    return evl_test_tensor(type, data, n + 2, dims);
}

static void check_convolution(const convolution *c)
{
    static operands o;
    int64_t pads[2 * DIMS];
    size_t n = (size_t)c->n;
    EvalType x = c->x_signed ? EVAL_INT8 : EVAL_UINT8, w = c->w_signed ? EVAL_INT8 : EVAL_UINT8;
    fill(&o);
    compute(c, &o);
    memcpy(pads, c->begin, n * sizeof *pads);
    memcpy(pads + n, c->end, n * sizeof *pads);
    const evl_tensor in = planes(x, o.x, c->n, c->batch, c->groups * c->in_channels, c->in);
    const evl_tensor weights = planes(w, o.w, c->n, o.n_channels, c->in_channels, c->kernel);
    const evl_tensor w_zero = evl_test_tensor(w, o.w_zero, c->by_channel, &o.n_channels);
    const evl_tensor w_scale = evl_test_tensor(EVAL_FLOAT64, o.w_scale, c->by_channel, &o.n_channels);
    op_case integer = {
        "ConvInteger", 0,
        { evl_attribute_ints("strides", c->stride, n), evl_attribute_ints("dilations", c->dilation, n),
          evl_attribute_ints("pads", pads, 2 * n), evl_attribute_int("group", c->groups) },
        { in, weights, scalar(x, &x_zero), w_zero },
        { planes(EVAL_INT32, o.plain, c->n, c->batch, o.n_channels, o.out) }, false, EVAL_OK
    };
    op_case quantized = integer;
    const evl_tensor eight[] = { in, scalar(EVAL_FLOAT64, &x_scale), scalar(x, &x_zero), weights,
                                    w_scale, w_zero, scalar(EVAL_FLOAT64, &y_scale),
                                    scalar(EVAL_UINT8, &y_zero) };
    quantized.op = "QLinearConv";
    memcpy(quantized.in, eight, sizeof eight);
    quantized.in[8] = c->has_bias ? vector(EVAL_INT32, o.bias, o.n_channels) : (evl_tensor){ 0 };
    quantized.out[0] = planes(EVAL_UINT8, o.codes, c->n, c->batch, o.n_channels, o.out);
    check_case(&integer);
    for (int hide = 0; hide < 2; hide++) /* in double, scales that no file declares are double */
        run_case(&quantized, EVL_FLOAT, hide, false);
}

static void windows_of_bytes_are_summed_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++)
        check_convolution(&convolutions[i]);
}

static void other_types_and_lengths_are_refused(void **state)
{
    const uint8_t x[9 * sizeof(int16_t)] = { 0 };
    const int64_t dims[] = { 1, 1, 3, 3 };
    const int32_t y = 0;
    const evl_tensor in = evl_test_tensor(EVAL_UINT8, x, 4, dims);
    const evl_tensor out = evl_test_tensor(EVAL_INT32, &y, 4, (const int64_t[]){ 1, 1, 1, 1 });
    const op_case all[] = {
        { "ConvInteger", 0, { { 0 } }, { in, evl_test_tensor(EVAL_INT16, x, 4, dims) }, { out }, false,
          EVAL_ERR_TYPE },
        { "ConvInteger", 0, { { 0 } }, { in, in, vector(EVAL_UINT8, x, 2) }, { out }, false,
          EVAL_ERR_SHAPE },
        { "ConvInteger", 0, { { 0 } }, { in, in, scalar(EVAL_UINT8, x), vector(EVAL_UINT8, x, 3) },
          { out }, false, EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(all, sizeof all / sizeof all[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_bytes_are_summed_exactly),
        cmocka_unit_test(other_types_and_lengths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
