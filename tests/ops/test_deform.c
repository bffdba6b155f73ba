/* DeformConv against a loop over one output; Col2Im against a loop over one window. */
#include "ops/op_case.h"

enum { BATCH = 2, CHANNELS = 4, OUT = 6, H = 7, W = 5, K = 3, TAPS = K * K };
enum { GROUPS = 2, OFFSETS = 2, OUT_H = 4, OUT_W = 5, PLACES = OUT_H * OUT_W };
static double x[BATCH * CHANNELS * H * W], w[OUT * CHANNELS / GROUPS * TAPS], bias[OUT];
static double offset[BATCH * OFFSETS * TAPS * 2 * PLACES], mask[BATCH * OFFSETS * TAPS * PLACES];

static void fill(double *to, size_t n, double from, double end)
{
    static uint64_t seed = 6;
    for (size_t i = 0; i < n; i++)
        to[i] = (double)(float)evl_test_random(&seed, from, end);
}

static double between(const double *plane, double row, double column)
{
    double sum = 0;
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++)
            sum += plane[i * W + j] * fmax(0, 1 - fabs(row - i)) * fmax(0, 1 - fabs(column - j));
    return sum;
}

/* Strides 2 and 1, padding 1 all round. */
static double one(int image, int out, int place, bool is_masked)
{
    double sum = bias[out];
    for (int c = 0; c < CHANNELS / GROUPS; c++)
        for (int tap = 0; tap < TAPS; tap++) {
            int channel = out / (OUT / GROUPS) * (CHANNELS / GROUPS) + c;
            int at = (image * OFFSETS + channel / (CHANNELS / OFFSETS)) * TAPS + tap;
            double row = place / OUT_W * 2 - 1 + tap / K + offset[at * 2 * PLACES + place];
            double column = place % OUT_W - 1 + tap % K + offset[(at * 2 + 1) * PLACES + place];
            double v = between(x + (image * CHANNELS + channel) * H * W, row, column);
            sum += w[(out * CHANNELS / GROUPS + c) * TAPS + tap] * v *
                   (is_masked ? mask[at * PLACES + place] : 1);
        }
    return sum;
}

static void windows_are_gathered_where_offsets_say(void **state)
{
    static double right[BATCH * OUT * PLACES];
    const int64_t strides[] = { 2, 1 }, pads[] = { 1, 1, 1, 1 };
    (void)state;
    fill(x, sizeof x / sizeof x[0], -1, 1);
    fill(w, sizeof w / sizeof w[0], -0.25, 0.25);
    fill(bias, OUT, -1, 1);
    fill(offset, sizeof offset / sizeof offset[0], -3, 3);
    fill(mask, sizeof mask / sizeof mask[0], 0, 1);
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < BATCH * OUT * PLACES; i++)
            right[i] = one(i / PLACES / OUT, i / PLACES % OUT, i % PLACES, way);
        op_case c = {
            .op = "DeformConv",
            .attributes = { evl_attribute_ints("strides", strides, 2),
                            evl_attribute_ints("pads", pads, 4), evl_attribute_int("group", GROUPS),
                            evl_attribute_int("offset_group", OFFSETS) },
            .in = { evl_test_reals(x, 4, (const int64_t[]){ BATCH, CHANNELS, H, W }),
                    evl_test_reals(w, 4, (const int64_t[]){ OUT, CHANNELS / GROUPS, K, K }),
                    evl_test_reals(offset, 4,
                                   (const int64_t[]){ BATCH, OFFSETS * TAPS * 2, OUT_H, OUT_W }),
                    reals(bias, OUT) },
            .out = { evl_test_reals(right, 4, (const int64_t[]){ BATCH, OUT, OUT_H, OUT_W }) }
        };
        if (way)
            c.in[4] =
                evl_test_reals(mask, 4, (const int64_t[]){ BATCH, OFFSETS * TAPS, OUT_H, OUT_W });
        check_case(&c);
        c.attributes[3] = evl_attribute_int("offset_group", 3);
        c.status = EVAL_ERR_SHAPE;
        check_case(&c);
    }
}

static void windows_are_added_up(void **state)
{
    enum { IMAGE_H = 5, IMAGE_W = 6, DOWN = 3, ACROSS = 4, SIZE = 6, ALL = DOWN * ACROSS };
    double in[2 * SIZE * ALL], right[2 * IMAGE_H * IMAGE_W] = { 0 };
    const int64_t image[] = { IMAGE_H, IMAGE_W }, block[] = { 2, 3 }, strides[] = { 2, 1 };
    const int64_t pads[] = { 0, 0, 1, 0 };
    (void)state;
    fill(in, sizeof in / sizeof in[0], -1, 1);
    for (int i = 0; i < 2 * SIZE * ALL; i++) {
        int row = i % ALL / ACROSS * 2 + i / ALL % SIZE / 3, column = i % ACROSS + i / ALL % 3;
        if (row < IMAGE_H)
            right[(i / ALL / SIZE * IMAGE_H + row) * IMAGE_W + column] += in[i];
    }
    op_case c = { .op = "Col2Im",
                  .attributes = { evl_attribute_ints("strides", strides, 2),
                                  evl_attribute_ints("pads", pads, 4) },
                  .in = { evl_test_reals(in, 3, (const int64_t[]){ 1, 2 * SIZE, ALL }),
                          vector(EVAL_INT64, image, 2), vector(EVAL_INT64, block, 2) },
                  .out = {
                      evl_test_reals(right, 4, (const int64_t[]){ 1, 2, IMAGE_H, IMAGE_W }) } };
    check_case(&c);
    c.in[0] = evl_test_reals(in, 3, (const int64_t[]){ 1, 2 * SIZE, ALL - 1 });
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_gathered_where_offsets_say),
        cmocka_unit_test(windows_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
