/* RotaryEmbedding: turned pairs, in both layouts and both domains. */
#include "ops/op_case.h"

enum { SAMPLES = 2, HEADS = 3, ROWS = 5, SIZE = 8, POSITIONS = 9, N = SAMPLES * HEADS * ROWS * SIZE };
static double x[N], right[N], c[POSITIONS * SIZE], s[POSITIONS * SIZE];
static int64_t position[SAMPLES * ROWS];
static const int64_t four[] = { SAMPLES, HEADS, ROWS, SIZE }, flat[] = { SAMPLES, ROWS, HEADS * SIZE };
static const int64_t positions[] = { SAMPLES, ROWS };

static void fill(bool is_flat, size_t turned, bool interleaved)
{
    uint64_t seed = 4;
    size_t half = turned / 2;
    for (size_t i = 0; i < N; i++)
        right[i] = x[i] = (double)(float)evl_test_random(&seed, -1, 1);
    for (size_t i = 0; i < POSITIONS * half; i++) {
        double angle = evl_test_random(&seed, -3, 3);
        c[i] = (double)(float)cos(angle);
        s[i] = (double)(float)sin(angle);
    }
    for (size_t i = 0; i < SAMPLES * ROWS; i++)
        position[i] = (int64_t)(i * 7 % POSITIONS);
    for (size_t i = 0; i < N / SIZE; i++) { /* heads of rows, in the order they lie in */
        size_t row = is_flat ? i / HEADS : i / (HEADS * ROWS) * ROWS + i % ROWS;
        const double *cosines = c + (size_t)position[row] * half, *sines = s + (size_t)position[row] * half;
        for (size_t j = 0; j < half; j++) {
            size_t a = i * SIZE + (interleaved ? 2 * j : j), b = a + (interleaved ? 1 : half);
            right[a] = x[a] * cosines[j] - x[b] * sines[j];
            right[b] = x[a] * sines[j] + x[b] * cosines[j];
        }
    }
}

static op_case case_of(bool is_flat, size_t turned, bool interleaved)
{
    const int64_t table[] = { POSITIONS, (int64_t)turned / 2 };
    fill(is_flat, turned, interleaved);
    return (op_case){ .op = "RotaryEmbedding",
                      .attributes = { evl_attribute_int("interleaved", interleaved),
                                      evl_attribute_int("num_heads", is_flat ? HEADS : 0),
                                      evl_attribute_int("rotary_embedding_dim",
                                                        turned < SIZE ? (int64_t)turned : 0) },
                      .in = { is_flat ? evl_test_reals(x, 3, flat) : evl_test_reals(x, 4, four),
                              evl_test_reals(c, 2, table), evl_test_reals(s, 2, table),
                              evl_test_ints(position, 2, positions) },
                      .out = { is_flat ? evl_test_reals(right, 3, flat)
                                       : evl_test_reals(right, 4, four) } };
}

static void pairs_are_turned(void **state)
{
    (void)state;
    for (int way = 0; way < 8; way++) {
        op_case one = case_of(way & 1, way & 2 ? 4 : SIZE, way & 4);
        check_case(&one);
    }
}

static void microsoft_has_the_positions_first(void **state)
{
    op_case one = case_of(true, SIZE, false);
    evl_tensor ids = one.in[3];
    (void)state;
    one.op = "com.microsoft.RotaryEmbedding";
    one.in[3] = one.in[2];
    one.in[2] = one.in[1];
    one.in[1] = ids;
    check_case(&one);
}

static void positions_outside_the_tables_are_refused(void **state)
{
    op_case one = case_of(false, SIZE, false);
    (void)state;
    one.status = EVAL_ERR_SHAPE;
    position[3] = POSITIONS;
    check_case(&one);
    position[3] = -1;
    check_case(&one);
    one.attributes[2] = evl_attribute_int("rotary_embedding_dim", SIZE + 2);
    check_case(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_turned),
        cmocka_unit_test(microsoft_has_the_positions_first),
        cmocka_unit_test(positions_outside_the_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
