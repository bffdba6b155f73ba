/* CenterCropPad against a loop over the result. */
#include "ops/op_case.h"

enum { ROWS = 5, COLUMNS = 4, MOST = 8 };

static void check(int64_t rows, int64_t columns)
{
    double x[ROWS * COLUMNS], y[MOST * MOST];
    const int64_t size[] = { rows, columns };
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = i + 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            int64_t row = rows > ROWS ? i - (rows - ROWS) / 2 : i + (ROWS - rows) / 2;
            int64_t column =
                columns > COLUMNS ? j - (columns - COLUMNS) / 2 : j + (COLUMNS - columns) / 2;
            bool is_inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
            y[i * columns + j] = is_inside ? x[row * COLUMNS + column] : 0;
        }
    const op_case c = { .op = "CenterCropPad",
                        .in = { matrix(EVAL_FLOAT64, x, ROWS, COLUMNS),
                                vector(EVAL_INT64, size, 2) },
                        .out = { matrix(EVAL_FLOAT64, y, rows, columns) } };
    check_case(&c);
}

static void the_middle_stays_in_the_middle(void **state)
{
    (void)state;
    for (int64_t rows = 0; rows <= MOST; rows++)
        for (int64_t columns = 0; columns <= MOST; columns++)
            check(rows, columns);
}

static void some_axes_only(void **state)
{
    const uint8_t x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 0, 1, 2, 3, 0, 0, 4, 5, 6, 0 };
    const int64_t axes[] = { -1 }, five = 5, both[] = { 2, 5 };
    op_case c = { .op = "CenterCropPad",
                  .attributes = { evl_attribute_ints("axes", axes, 1) },
                  .in = { matrix(EVAL_UINT8, x, 2, 3), vector(EVAL_INT64, &five, 1) },
                  .out = { matrix(EVAL_UINT8, y, 2, 5) } };
    (void)state;
    check_case(&c);
    c.in[1] = vector(EVAL_INT64, both, 2);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_stays_in_the_middle),
        cmocka_unit_test(some_axes_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
