/* StringConcat, StringSplit, StringNormalizer. */
#include "op_case.h"

static EvalString text(const char *t)
{
    return (EvalString){ t, strlen(t) };
}

/* Strings are compared by their texts: op_case would compare where they lie. */
static void check(const char *op, const evl_attribute *attributes, size_t n_attributes,
                  const evl_tensor *in, size_t n_in, EvalStatus status, const int64_t *dims,
                  size_t rank, const char *const *right)
{
    for (int way = 0; way < 4; way++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run r = { .op = case_op(op),
                         .attributes = attributes,
                         .n_attributes = n_attributes,
                         .n_in = n_in,
                         .hide_data = way & 2 };
        assert_non_null(r.op);
        memcpy(r.in, in, n_in * sizeof *in);
        EvalStatus st = evl_run_op(ctx, &r, way & 1 ? EVL_DOUBLE : EVL_FLOAT, 0);
        assert_int_equal(st, status);
        evl_shape shape = evl_shape_of(rank, dims);
        if (st == EVAL_OK)
            assert_true(evl_shape_equal(&r.out[0].shape, &shape));
        for (size_t i = 0; st == EVAL_OK && i < evl_shape_count(&shape); i++) {
            const EvalString *got = (const EvalString *)r.out[0].data + i;
            if (got->size != strlen(right[i]) || memcmp(got->text, right[i], got->size) != 0)
                fail_msg("%s: element %zu is '%.*s', expected '%s'", op, i, (int)got->size,
                         got->text, right[i]);
        }
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

static void concatenation_broadcasts(void **state)
{
    const EvalString a[] = { text("x"), text(""), text("\xc3\xa4") },
                     b[] = { text("1"), text("22") };
    const evl_tensor in[] = { matrix(EVAL_STRING, a, 3, 1), vector(EVAL_STRING, b, 2) };
    const int64_t ints[] = { 1 };
    const evl_tensor bad[] = { matrix(EVAL_STRING, a, 3, 1), vector(EVAL_INT64, ints, 1) };
    (void)state;
    check("StringConcat", NULL, 0, in, 2, EVAL_OK, (const int64_t[]){ 3, 2 }, 2,
          (const char *const[]){ "x1", "x22", "1", "22",
                                 "\xc3\xa4"
                                 "1",
                                 "\xc3\xa4"
                                 "22" });
    check("StringConcat", NULL, 0, bad, 2, EVAL_ERR_TYPE, ints, 1, NULL);
}

static void split(const char *x, const char *delimiter, int64_t most, size_t n,
                  const char *const *right)
{
    const EvalString given[] = { text(x) };
    const evl_tensor in = vector(EVAL_STRING, given, 1);
    const evl_attribute a[] = { evl_attribute_text("delimiter", delimiter),
                                evl_attribute_int("maxsplit", most) };
    check("StringSplit", a, most < 0 ? 1 : 2, &in, 1, EVAL_OK, (const int64_t[]){ 1, (int64_t)n },
          2, right);
}

static void texts_are_split_at_white_space_or_a_delimiter(void **state)
{
    (void)state;
    split("  a  bc\t d\n", "", -1, 3, (const char *const[]){ "a", "bc", "d" });
    split("  a  bc\t d \n", "", 1, 2, (const char *const[]){ "a", "bc\t d" });
    split(" a b ", "", 0, 1, (const char *const[]){ "a b" });
    split("   ", "", -1, 0, NULL);
    split("a\xe3\x80\x80"
          "b",
          "", -1, 2, (const char *const[]){ "a", "b" });
    split("--a----b", "--", -1, 4, (const char *const[]){ "", "a", "", "b" });
    split("aXbXc", "X", 1, 2, (const char *const[]){ "a", "bXc" });
    split("", "X", -1, 1, (const char *const[]){ "" });
}

static void stop_words_go_and_case_changes(void **state)
{
    const EvalString x[] = { text("Monday"), text("\xc3\x84rger"), text("monday"), text("d") };
    const EvalString stops[] = { text("monday") };
    const evl_attribute words = {
        .name = "stopwords", .kind = EVL_ATTRIBUTE_TEXTS, .n = 1, .u.texts = stops
    };
    const evl_attribute exact[] = { words, evl_attribute_int("is_case_sensitive", 1),
                                    evl_attribute_text("case_change_action", "UPPER") };
    const evl_attribute loose[] = { words, evl_attribute_text("case_change_action", "LOWER") };
    const evl_attribute wrong[] = { evl_attribute_text("case_change_action", "TITLE") };
    const evl_tensor row = matrix(EVAL_STRING, x, 1, 4), one = vector(EVAL_STRING, x, 1),
                     rows = matrix(EVAL_STRING, x, 2, 2);
    (void)state;
    check("StringNormalizer", exact, 3, &row, 1, EVAL_OK, (const int64_t[]){ 1, 3 }, 2,
          (const char *const[]){ "MONDAY", "\xc3\x84RGER", "D" });
    check("StringNormalizer", loose, 2, &row, 1, EVAL_OK, (const int64_t[]){ 1, 2 }, 2,
          (const char *const[]){ "\xc3\xa4rger", "d" });
    check("StringNormalizer", loose, 2, &one, 1, EVAL_OK, (const int64_t[]){ 1 }, 1,
          (const char *const[]){ "" });
    check("StringNormalizer", loose, 2, &rows, 1, EVAL_ERR_SHAPE, NULL, 0, NULL);
    check("StringNormalizer", wrong, 1, &one, 1, EVAL_ERR_FORMAT, NULL, 0, NULL);
}

static void numbers_are_written_as_short_as_they_read_back(void **state)
{
    const double x[] = { 0.1, -0.0, 16777216, 1e20, 1.5e-7, -123.25, NAN, -INFINITY, 1e-5, 100 };
    const int64_t ints[] = { INT64_MIN, 0, 77 };
    const uint64_t large[] = { UINT64_MAX };
    const evl_attribute to[] = { evl_attribute_int("to", EVAL_STRING) };
    evl_tensor in = reals(x, 10);
    (void)state;
    check("Cast", to, 1, &in, 1, EVAL_OK, (const int64_t[]){ 10 }, 1,
          (const char *const[]){ "0.1", "-0", "16777216", "1e+20", "1.5e-07", "-123.25", "NaN",
                                 "-INF", "0.00001", "100" });
    in = vector(EVAL_INT64, ints, 3);
    check("Cast", to, 1, &in, 1, EVAL_OK, (const int64_t[]){ 3 }, 1,
          (const char *const[]){ "-9223372036854775808", "0", "77" });
    in = vector(EVAL_UINT64, large, 1);
    check("Cast", to, 1, &in, 1, EVAL_OK, (const int64_t[]){ 1 }, 1,
          (const char *const[]){ "18446744073709551615" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concatenation_broadcasts),
        cmocka_unit_test(texts_are_split_at_white_space_or_a_delimiter),
        cmocka_unit_test(stop_words_go_and_case_changes),
        cmocka_unit_test(numbers_are_written_as_short_as_they_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
