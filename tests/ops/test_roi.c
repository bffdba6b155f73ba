/* RoiAlign, MaxRoiPool and CropAndResize against loops over one bin. */
#include "ops/op_case.h"

enum { BATCH = 2, CHANNELS = 2, H = 6, W = 7, REGIONS = 4, OUT_H = 2, OUT_W = 3 };
static double x[BATCH * CHANNELS * H * W];
static const int64_t samples[REGIONS] = { 1, 0, 1, 0 };
static const double corners[REGIONS * 4] = { 1,   1,    5,    4,   0,     0,  13, 12,
                                             3.5, 2.25, 3.75, 2.5, -4.25, -2, 3,  30 };
static const int64_t x_dims[] = { BATCH, CHANNELS, H, W };
static const int64_t y_dims[] = { REGIONS, CHANNELS, OUT_H, OUT_W };

static void fill(void)
{
    uint64_t seed = 21;
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = (double)(float)evl_test_random(&seed, -1, 1);
}

typedef struct way {
    bool is_max, is_half;
    int samples;
    double scale;
} way;

/* Four weighed neighbours of a point; the outermost elements go on for one element. */
static void neighbours(const double *plane, double row, double column, double four[4])
{
    memset(four, 0, 4 * sizeof *four);
    if (row < -1 || row > H || column < -1 || column > W)
        return;
    row = fmin(fmax(row, 0), H - 1);
    column = fmin(fmax(column, 0), W - 1);
    for (int k = 0; k < 4; k++) {
        int i = (int)row + k / 2, j = (int)column + k % 2;
        double weight = (1 - fabs(row - i)) * (1 - fabs(column - j));
        four[k] = weight * plane[(i < H ? i : H - 1) * W + (j < W ? j : W - 1)];
    }
}

static double bin(const way *w, const double *plane, const double *corner, int i, int j)
{
    double shift = w->is_half ? 0.5 : 0, from[2], length[2], sum = 0, most = 0;
    int n[2];
    for (int d = 0; d < 2; d++) { /* rows, columns */
        from[d] = corner[1 - d] * w->scale - shift;
        double size = corner[3 - d] * w->scale - shift - from[d];
        length[d] = (w->is_half ? size : fmax(size, 1)) / (d ? OUT_W : OUT_H);
        n[d] = w->samples ? w->samples : (int)ceil(length[d]);
    }
    for (int a = 0; a < n[0]; a++)
        for (int b = 0; b < n[1]; b++) {
            double four[4];
            neighbours(plane, from[0] + (i + (a + 0.5) / n[0]) * length[0],
                       from[1] + (j + (b + 0.5) / n[1]) * length[1], four);
            double here = fmax(fmax(four[0], four[1]), fmax(four[2], four[3]));
            sum += four[0] + four[1] + four[2] + four[3];
            most = a + b == 0 ? here : fmax(most, here);
        }
    return w->is_max ? most : sum / fmax(n[0] * n[1], 1);
}

static void regions_are_sampled_bin_by_bin(void **state)
{
    (void)state;
    fill();
    for (int i = 0; i < 8; i++) {
        const way w = { i & 1, i & 2, i & 4 ? 2 : 0, i & 4 ? 0.5 : 1 };
        double right[REGIONS * CHANNELS * OUT_H * OUT_W], *to = right;
        for (int r = 0; r < REGIONS; r++)
            for (int c = 0; c < CHANNELS; c++)
                for (int j = 0; j < OUT_H * OUT_W; j++)
                    *to++ = bin(&w, x + (samples[r] * CHANNELS + c) * H * W, corners + 4 * r,
                                j / OUT_W, j % OUT_W);
        evl_attribute a[6] = { evl_attribute_text("mode", w.is_max ? "max" : "avg"),
                               evl_attribute_int("output_height", OUT_H),
                               evl_attribute_int("output_width", OUT_W),
                               evl_attribute_int("sampling_ratio", w.samples),
                               evl_attribute_number("spatial_scale", w.scale) };
        for (int precision = 0; precision < 2; precision++) {
            evl_context *ctx = evl_test_begin();
            evl_op_run run = { .op = evl_op_find(NULL, "RoiAlign"), .attributes = a, .n_in = 3 };
            op_case c = { .op = "RoiAlign" };
            run.n_attributes = 5;
            run.version = w.is_half ? 16 : 10;
            run.in[0] = evl_test_reals(x, 4, x_dims);
            run.in[1] = matrix(EVAL_FLOAT64, corners, REGIONS, 4);
            run.in[2] = vector(EVAL_INT64, samples, REGIONS);
            const evl_tensor y = evl_test_reals(right, 4, y_dims);
            assert_int_equal(evl_run_op(ctx, &run, (evl_precision)precision, 0), EVAL_OK);
            assert_tensor(&c, &run.out[0], &y, (evl_precision)precision);
            evl_run_op_end(&run);
            evl_test_end(ctx);
        }
    }
}

/* Rows or columns of a bin, of which those that are there count. */
static void bounds(double from, double to, int bins, int i, int n, int ends[2])
{
    double start = round(from), length = fmax(round(to) - start + 1, 1) / bins;
    ends[0] = (int)fmin(fmax(floor(i * length) + start, 0), n);
    ends[1] = (int)fmin(fmax(ceil((i + 1) * length) + start, 0), n);
}

static void the_largest_of_a_bin(void **state)
{
    const int64_t pooled[] = { OUT_H, OUT_W };
    double right[REGIONS * CHANNELS * OUT_H * OUT_W], regions[REGIONS * 5], *to = right;
    (void)state;
    fill();
    for (int r = 0; r < REGIONS; r++) {
        regions[5 * r] = (double)samples[r];
        memcpy(regions + 5 * r + 1, corners + 4 * r, 4 * sizeof *regions);
        for (int c = 0; c < CHANNELS * OUT_H * OUT_W; c++) {
            const double *plane = x + (samples[r] * CHANNELS + c / OUT_H / OUT_W) * H * W;
            int rows[2], columns[2], j = c % (OUT_H * OUT_W);
            bounds(corners[4 * r + 1], corners[4 * r + 3], OUT_H, j / OUT_W, H, rows);
            bounds(corners[4 * r], corners[4 * r + 2], OUT_W, j % OUT_W, W, columns);
            *to = rows[0] < rows[1] && columns[0] < columns[1] ? (double)-INFINITY : 0;
            for (int i = rows[0]; i < rows[1]; i++)
                for (int k = columns[0]; k < columns[1]; k++)
                    *to = fmax(*to, plane[i * W + k]);
            to++;
        }
    }
    op_case c = { .op = "MaxRoiPool",
                  .attributes = { evl_attribute_ints("pooled_shape", pooled, 2) },
                  .in = { evl_test_reals(x, 4, x_dims), matrix(EVAL_FLOAT64, regions, REGIONS, 5) },
                  .out = { evl_test_reals(right, 4, y_dims) } };
    check_case(&c);
    regions[0] = BATCH;
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

/* A point of a crop, as TensorFlow defines it; 7.5 where the plane ends. */
static double cropped(const double *plane, const double *corner, int i, int j, bool is_nearest)
{
    double row = (corner[0] + i * (corner[2] - corner[0]) / (OUT_H - 1)) * (H - 1);
    double column = (corner[1] + j * (corner[3] - corner[1]) / (OUT_W - 1)) * (W - 1), four[4];
    if (row < 0 || row > H - 1 || column < 0 || column > W - 1)
        return 7.5;
    if (is_nearest)
        return plane[(int)round(row) * W + (int)round(column)];
    neighbours(plane, row, column, four);
    return four[0] + four[1] + four[2] + four[3];
}

static void crops_go_from_corner_to_corner(void **state)
{
    static const double shares[REGIONS * 4] = { 0,   0,   1,    1,   0.25, 0.5, 0.75, 0.875,
                                                0.5, 0.9, -0.5, 0.1, 0.5,  0.5, 1.5,  1 };
    const int64_t size[] = { OUT_H, OUT_W };
    (void)state;
    fill();
    for (int is_nearest = 0; is_nearest < 2; is_nearest++) {
        double right[REGIONS * CHANNELS * OUT_H * OUT_W], *to = right;
        for (int r = 0; r < REGIONS; r++)
            for (int c = 0; c < CHANNELS; c++)
                for (int j = 0; j < OUT_H * OUT_W; j++)
                    *to++ = cropped(x + (samples[r] * CHANNELS + c) * H * W, shares + 4 * r,
                                    j / OUT_W, j % OUT_W, is_nearest);
        op_case c = {
            .op = "com.microsoft.CropAndResize",
            .attributes = { evl_attribute_number("extrapolation_value", 7.5),
                            evl_attribute_text("mode", is_nearest ? "nearest" : "bilinear") },
            .in = { evl_test_reals(x, 4, x_dims), matrix(EVAL_FLOAT64, shares, REGIONS, 4),
                    vector(EVAL_INT64, samples, REGIONS), vector(EVAL_INT64, size, 2) },
            .out = { evl_test_reals(right, 4, y_dims) }
        };
        check_case(&c);
        c.attributes[1] = evl_attribute_text("mode", "cubic");
        c.status = EVAL_ERR_FORMAT;
        check_case(&c);
        c.attributes[1].name = NULL;
        c.in[3] = vector(EVAL_INT64, size, 1);
        check_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_sampled_bin_by_bin),
        cmocka_unit_test(the_largest_of_a_bin),
        cmocka_unit_test(crops_go_from_corner_to_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
