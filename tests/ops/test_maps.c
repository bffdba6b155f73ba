/* Maps to tensors, and rows to maps. */
#include "op_case.h"

static const EvalType REAL = EVAL_FLOAT64;

static evl_attribute texts(const char *name, const EvalString *list, size_t n)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_TEXTS, .n = n, .u.texts = list };
}

/* A map over two tensors. */
static evl_tensor map_of(const evl_tensor pair[2])
{
    evl_tensor t = holding(EVAL_MAP, pair[0].type, pair, 2);
    t.inner[1] = (uint16_t)pair[1].type;
    return t;
}

static const int64_t keys[] = { 7, -2, 4 }, places[] = { 4, 0, 2 }, whole[] = { -2, 9, 3 };
static const double numbers[] = { 0.5, -2.75, 3 };
static const EvalString words[] = { { "2.5", 3 }, { "-3", 2 }, { "x", 1 } };

static void a_dense_map_is_ordered_by_its_keys(void **state)
{
    (void)state;
    const evl_tensor pair[] = { vector(EVAL_INT64, keys, 3), reals(numbers, 3) };
    const evl_tensor named[] = { vector(EVAL_INT64, keys, 2), vector(EVAL_STRING, words, 2) };
    const evl_tensor no_number[] = { vector(EVAL_INT64, keys, 3), vector(EVAL_STRING, words, 3) };
    const evl_tensor none[] = { vector(EVAL_INT64, keys, 0), reals(numbers, 0) };
    const double ordered[] = { -2.75, 3, 0.5 }, read[] = { -3, 2.5 };
    const int64_t cut[] = { -2, 3, 0 }, read_whole[] = { -3, 2 };
    const EvalString written[] = { { "-2.750000", 9 }, { "3.000000", 8 }, { "0.500000", 8 } };
    const EvalString same[] = { words[1], words[0] };
    const evl_attribute as_text = evl_attribute_text("cast_to", "TO_STRING"),
                        as_int = evl_attribute_text("cast_to", "TO_INT64"),
                        as_what = evl_attribute_text("cast_to", "TO_BOOL");
    const char *op = "ai.onnx.ml.CastMap";
    const op_case cases[] = {
        { op, .in = { map_of(pair) }, .out = { matrix(REAL, ordered, 1, 3) } },
        { op, .attributes = { as_int }, .in = { map_of(pair) },
          .out = { matrix(EVAL_INT64, cut, 1, 3) } },
        { op, .attributes = { as_text }, .in = { map_of(pair) },
          .out = { matrix(EVAL_STRING, written, 1, 3) } },
        { op, .in = { map_of(named) }, .out = { matrix(REAL, read, 1, 2) } },
        { op, .attributes = { as_int }, .in = { map_of(named) },
          .out = { matrix(EVAL_INT64, read_whole, 1, 2) } },
        { op, .attributes = { as_text }, .in = { map_of(named) },
          .out = { matrix(EVAL_STRING, same, 1, 2) } },
        { op, .in = { map_of(none) }, .out = { matrix(REAL, ordered, 1, 0) } },
        { op, .in = { map_of(no_number) }, .out = { matrix(REAL, read, 1, 3) },
          .status = EVAL_ERR_TYPE },
        { op, .attributes = { as_what }, .in = { map_of(pair) },
          .out = { matrix(REAL, ordered, 1, 3) }, .status = EVAL_ERR_FORMAT },
        { op, .in = { reals(numbers, 3) }, .out = { matrix(REAL, ordered, 1, 3) },
          .status = EVAL_ERR_TYPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void a_sparse_map_has_values_at_its_keys(void **state)
{
    (void)state;
    const evl_tensor pair[] = { vector(EVAL_INT64, places, 3), reals(numbers, 3) };
    const evl_tensor negative[] = { vector(EVAL_INT64, keys, 3), reals(numbers, 3) };
    const double all[] = { -2.75, 0, 3, 0, 0.5, 0 };
    const EvalString written[] = { { "-2.750000", 9 }, { "0.f", 3 }, { "3.000000", 8 } };
    const evl_attribute sparse = evl_attribute_text("map_form", "SPARSE"),
                        as_text = evl_attribute_text("cast_to", "TO_STRING");
    const char *op = "ai.onnx.ml.CastMap";
    const op_case cases[] = {
        { op, .attributes = { sparse, evl_attribute_int("max_map", 6) }, .in = { map_of(pair) },
          .out = { matrix(REAL, all, 1, 6) } },
        { op, .attributes = { sparse, evl_attribute_int("max_map", 3) }, .in = { map_of(pair) },
          .out = { matrix(REAL, all, 1, 3) } },
        { op, .attributes = { sparse, evl_attribute_int("max_map", 3), as_text },
          .in = { map_of(pair) }, .out = { matrix(EVAL_STRING, written, 1, 3) } },
        { op, .attributes = { sparse }, .in = { map_of(pair) }, .out = { matrix(REAL, all, 1, 1) } },
        { op, .attributes = { sparse, evl_attribute_int("max_map", 6) },
          .in = { map_of(negative) }, .out = { matrix(REAL, all, 1, 6) },
          .status = EVAL_ERR_SHAPE },
        { op, .attributes = { sparse, evl_attribute_int("max_map", 0) }, .in = { map_of(pair) },
          .out = { matrix(REAL, all, 1, 6) }, .status = EVAL_ERR_FORMAT },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void a_vocabulary_picks_from_a_map(void **state)
{
    (void)state;
    static const EvalString names[] = { { "b", 1 }, { "", 0 }, { "zz", 2 } },
                            wanted[] = { { "zz", 2 }, { "a", 1 }, { "b", 1 }, { "zz", 2 } };
    const int64_t asked[] = { 4, 5, 7 }, counts[] = { 3, 0, -2, 3 };
    const double some[] = { 3, 0, 0.5, 3 }, found[] = { 3, 0, 0.5 };
    const EvalString found_words[] = { { "x", 1 }, { "", 0 }, { "2.5", 3 } };
    const evl_tensor real[] = { vector(EVAL_STRING, names, 3), reals(numbers, 3) };
    const evl_tensor counted[] = { vector(EVAL_STRING, names, 3), vector(EVAL_INT64, whole, 3) };
    const evl_tensor by_int[] = { vector(EVAL_INT64, keys, 3), reals(numbers, 3) };
    const evl_tensor named[] = { vector(EVAL_INT64, keys, 3), vector(EVAL_STRING, words, 3) };
    const evl_attribute of_texts = texts("string_vocabulary", wanted, 4),
                        of_ints = evl_attribute_ints("int64_vocabulary", asked, 3);
    const char *op = "ai.onnx.ml.DictVectorizer";
    const op_case cases[] = {
        { op, .attributes = { of_texts }, .in = { map_of(real) }, .out = { matrix(REAL, some, 1, 4) } },
        { op, .attributes = { of_texts }, .in = { map_of(counted) },
          .out = { matrix(EVAL_INT64, counts, 1, 4) } },
        { op, .attributes = { of_ints }, .in = { map_of(by_int) },
          .out = { matrix(REAL, found, 1, 3) } },
        { op, .attributes = { of_ints }, .in = { map_of(named) },
          .out = { matrix(EVAL_STRING, found_words, 1, 3) } },
        { op, .attributes = { of_texts }, .in = { map_of(named) },
          .out = { matrix(EVAL_STRING, found_words, 1, 3) }, .status = EVAL_ERR_TYPE },
        { op, .in = { map_of(named) }, .out = { matrix(EVAL_STRING, found_words, 1, 3) },
          .status = EVAL_ERR_FORMAT },
        { op, .attributes = { of_texts }, .in = { reals(numbers, 3) },
          .out = { matrix(REAL, some, 1, 4) }, .status = EVAL_ERR_TYPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

/* Expected of ZipMap: a map for each row of two. */
static evl_tensor zipped(evl_tensor *maps, evl_tensor (*pairs)[2], const evl_tensor *labels,
                         const double *rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        pairs[i][0] = *labels;
        pairs[i][1] = reals(rows + 2 * i, 2);
        maps[i] = map_of(pairs[i]);
    }
    evl_tensor t = holding(EVAL_SEQUENCE, EVAL_MAP, maps, n);
    t.inner[1] = (uint16_t)labels->type;
    t.inner[2] = EVAL_FLOAT64;
    return t;
}

static void each_row_becomes_a_map(void **state)
{
    (void)state;
    static const double rows[] = { 1, 2, 3, 4, 5, 6 };
    evl_tensor maps[2][3], pairs[2][3][2];
    const evl_tensor of_texts = vector(EVAL_STRING, words, 2), of_ints = vector(EVAL_INT64, keys, 2);
    const evl_tensor named = zipped(maps[0], pairs[0], &of_texts, rows, 3),
                     numbered = zipped(maps[1], pairs[1], &of_ints, rows, 3);
    const evl_attribute with_texts = texts("classlabels_strings", words, 2),
                        with_ints = evl_attribute_ints("classlabels_int64s", keys, 2);
    evl_tensor one = numbered, none = numbered;
    one.shape.dim[0] = 1;
    none.shape.dim[0] = 0;
    const char *op = "ai.onnx.ml.ZipMap";
    const op_case cases[] = {
        { op, .attributes = { with_texts }, .in = { matrix(REAL, rows, 3, 2) }, .out = { named } },
        { op, .attributes = { with_ints }, .in = { matrix(REAL, rows, 3, 2) }, .out = { numbered } },
        { op, .attributes = { with_ints }, .in = { reals(rows, 2) }, .out = { one } },
        { op, .attributes = { with_ints }, .in = { matrix(REAL, rows, 0, 2) }, .out = { none } },
        { op, .attributes = { with_ints }, .in = { matrix(REAL, rows, 2, 3) }, .out = { one },
          .status = EVAL_ERR_SHAPE },
        { op, .in = { matrix(REAL, rows, 3, 2) }, .out = { named }, .status = EVAL_ERR_FORMAT },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_map_is_ordered_by_its_keys),
        cmocka_unit_test(a_sparse_map_has_values_at_its_keys),
        cmocka_unit_test(a_vocabulary_picks_from_a_map),
        cmocka_unit_test(each_row_becomes_a_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
