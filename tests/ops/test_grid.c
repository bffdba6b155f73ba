/* GridSample against interpolation written for one point; AffineGrid against its sums. */
#include "ops/op_case.h"

enum { H = 5, W = 4, POINTS = 60, CHANNELS = 2 };
static double x[CHANNELS * H * W], grid[POINTS * 2];

typedef struct how {
    const char *mode, *padding;
    bool align;
} how;

/* There and back again, as often as it takes. */
static double reflect(double at, double low, double high)
{
    while (at < low || at > high)
        at = at < low ? 2 * low - at : 2 * high - at;
    return at;
}

/* Element i, j of a plane as the padding has it. */
static double pixel(const how *h, const double *plane, long i, long j)
{
    bool is_inside = i >= 0 && i < H && j >= 0 && j < W;
    if (strcmp(h->padding, "zeros") == 0)
        return is_inside ? plane[i * W + j] : 0;
    if (strcmp(h->padding, "border") == 0) {
        i = i < 0 ? 0 : i >= H ? H - 1 : i;
        j = j < 0 ? 0 : j >= W ? W - 1 : j;
        return plane[i * W + j];
    }
    double edge = h->align ? 0 : 0.5;
    i = lround(reflect((double)i, -edge, H - 1 + edge));
    j = lround(reflect((double)j, -edge, W - 1 + edge));
    return plane[i * W + j];
}

static double unnormal(double v, int size, bool align)
{
    return align ? (v + 1) / 2 * (size - 1) : ((v + 1) * size - 1) / 2;
}

static double hat(double t)
{
    return fabs(t) < 1 ? 1 - fabs(t) : 0;
}

static double keys(double t)
{
    const double a = -0.75;
    t = fabs(t);
    return t <= 1  ? ((a + 2) * t - (a + 3)) * t * t + 1
           : t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                   : 0;
}

static double sample(const how *h, const double *plane, const double *place)
{
    double at_x = unnormal(place[0], W, h->align), at_y = unnormal(place[1], H, h->align), sum = 0;
    if (strcmp(h->mode, "nearest") == 0)
        return pixel(h, plane, lrint(at_y), lrint(at_x));
    double (*weight)(double) = strcmp(h->mode, "linear") == 0 ? hat : keys;
    for (long i = lround(at_y) - 3; i <= lround(at_y) + 3; i++)
        for (long j = lround(at_x) - 3; j <= lround(at_x) + 3; j++)
            sum += pixel(h, plane, i, j) * weight(at_y - (double)i) * weight(at_x - (double)j);
    return sum;
}

/* Places on a raster of 1/64, off the middle between two elements. */
static void fill(void)
{
    uint64_t seed = 9;
    for (size_t i = 0; i < CHANNELS * H * W; i++)
        x[i] = floor(evl_test_random(&seed, -50, 50)) / 64;
    for (size_t i = 0; i < POINTS * 2; i++)
        grid[i] = floor(evl_test_random(&seed, -100, 100)) / 64 + 1.0 / 256;
}

static void points_are_interpolated_one_by_one(void **state)
{
    static const char *const modes[] = { "nearest", "linear", "cubic" };
    static const char *const paddings[] = { "zeros", "border", "reflection" };
    (void)state;
    fill();
    for (int i = 0; i < 18; i++) {
        how h = { modes[i % 3], paddings[i / 3 % 3], i >= 9 };
        double right[CHANNELS * POINTS];
        for (size_t j = 0; j < CHANNELS * POINTS; j++)
            right[j] = sample(&h, x + j / POINTS * H * W, grid + j % POINTS * 2);
        const op_case c = { .op = "GridSample",
                            .attributes = { evl_attribute_text("mode", h.mode),
                                            evl_attribute_text("padding_mode", h.padding),
                                            evl_attribute_int("align_corners", h.align) },
                            .in = { evl_test_reals(x, 4, (const int64_t[]){ 1, CHANNELS, H, W }),
                                    evl_test_reals(grid, 4, (const int64_t[]){ 1, 6, 10, 2 }) },
                            .out = { evl_test_reals(right, 4,
                                                    (const int64_t[]){ 1, CHANNELS, 6, 10 }) } };
        check_case(&c);
    }
}

static void far_points_and_other_types(void **state)
{
    const double places[] = { 1e30, -1e30, (double)NAN, 0 }, zeros[] = { 0, 0, 0 };
    const double v[] = { 3, 4, 5 }, middle[] = { 0, 0, 0, 4 }, ends[] = { 5, 3, 3, 4 };
    const int16_t shorts[] = { 3, 4, 5 }, nearest[] = { 0, 0, 0, 4 };
    const int64_t line[] = { 1, 1, 3 }, at[] = { 1, 4, 1 }, y[] = { 1, 1, 4 };
    const op_case cases[] = {
        { .op = "GridSample",
          .in = { evl_test_reals(v, 3, line), evl_test_reals(places, 3, at) },
          .out = { evl_test_reals(middle, 3, y) } },
        { .op = "GridSample",
          .attributes = { evl_attribute_text("padding_mode", "border") },
          .in = { evl_test_reals(v, 3, line), evl_test_reals(places, 3, at) },
          .out = { evl_test_reals(ends, 3, y) } },
        { .op = "GridSample",
          .attributes = { evl_attribute_text("mode", "nearest") },
          .in = { evl_test_tensor(EVAL_INT16, shorts, 3, line), evl_test_reals(places, 3, at) },
          .out = { evl_test_tensor(EVAL_INT16, nearest, 3, y) } },
        { .op = "GridSample",
          .in = { evl_test_tensor(EVAL_INT16, shorts, 3, line), evl_test_reals(places, 3, at) },
          .out = { evl_test_tensor(EVAL_INT16, nearest, 3, y) },
          .status = EVAL_ERR_TYPE },
        { .op = "GridSample",
          .attributes = { evl_attribute_text("mode", "bilinear") },
          .in = { evl_test_reals(v, 3, (const int64_t[]){ 1, 1, 0 }),
                  evl_test_reals(places, 3, (const int64_t[]){ 1, 3, 1 }) },
          .out = { evl_test_reals(zeros, 3, (const int64_t[]){ 1, 1, 3 }) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void check_affine(size_t n, bool align)
{
    enum { BATCH = 2 };
    int64_t size[5] = { BATCH, 7, 2, 3, 4 }, dims[5] = { BATCH, 2, 3, 4 };
    const int64_t theta_dims[] = { BATCH, (int64_t)n, (int64_t)n + 1 };
    double theta[BATCH * 12], right[BATCH * 24 * 3];
    uint64_t seed = 5;
    dims[n + 1] = (int64_t)n;
    for (size_t i = 0; i < BATCH * 12; i++)
        theta[i] = (double)(float)evl_test_random(&seed, -2, 2);
    size_t points = n == 2 ? 6 : 24;
    for (size_t i = 0; i < BATCH * points; i++) {
        double place[4] = { 0, 0, 0, 0 };
        size_t rest = i % points;
        for (size_t d = 0; d < n; d++) {
            double count = (double)size[n + 1 - d], at = (double)(rest % (size_t)size[n + 1 - d]);
            place[d] = align ? -1 + 2 * at / (count - 1) : -1 + (2 * at + 1) / count;
            rest /= (size_t)size[n + 1 - d];
        }
        place[n] = 1;
        for (size_t row = 0; row < n; row++) {
            double *to = &right[i * n + row];
            *to = 0;
            for (size_t k = 0; k <= n; k++)
                *to += theta[(i / points * n + row) * (n + 1) + k] * place[k];
        }
    }
    const op_case c = { .op = "AffineGrid",
                        .attributes = { evl_attribute_int("align_corners", align) },
                        .in = { evl_test_reals(theta, 3, theta_dims),
                                vector(EVAL_INT64, size, (int64_t)n + 2) },
                        .out = { evl_test_reals(right, n + 2, dims) } };
    check_case(&c);
}

static void a_grid_is_turned_and_moved(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++)
        check_affine(way & 1 ? 2 : 3, way & 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_interpolated_one_by_one),
        cmocka_unit_test(far_points_and_other_types),
        cmocka_unit_test(a_grid_is_turned_and_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
