/* TfIdfVectorizer against counting by hand. */
#include "op_case.h"

static const int64_t pool[] = { 2, 3, 5, 4, 5, 6, 7, 8, 6, 7 }, starts[] = { 0, 4 },
                     indexes[] = { 0, 1, 2, 3, 4, 5, 6 };
static const double weights[] = { 1, 1, 1, 1, 0.5, 3, 2 };
static const int64_t x[] = { 1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8 };

static void grams_are_counted_and_weighed(void **state)
{
    static const double tf[] = { 0, 3, 1, 0, 1, 1, 1 }, skipped[] = { 0, 3, 1, 0, 1, 3, 1 },
                        idf[] = { 0, 1, 1, 0, 0.5, 3, 2 }, both[] = { 0, 3, 1, 0, 0.5, 9, 2 },
                        rows[] = { 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1 };
    const evl_attribute most = evl_attribute_int("max_gram_length", 2),
                        skip = evl_attribute_int("max_skip_count", 5);
    const evl_attribute counts = evl_attribute_ints("ngram_counts", starts, 2),
                        at = evl_attribute_ints("ngram_indexes", indexes, 7),
                        tokens = evl_attribute_ints("pool_int64s", pool, 10),
                        by = evl_attribute_numbers("weights", weights, 7);
    const op_case cases[] = {
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "TF"), most, counts, at, tokens },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(tf, 7) } },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "TF"), most, skip, counts, at, tokens },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(skipped, 7) } },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "IDF"), most, skip, counts, at, tokens, by },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(idf, 7) } },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "TFIDF"), most, skip, counts, at, tokens, by },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(both, 7) } },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "TF"), most, counts, at, tokens },
          .in = { matrix(EVAL_INT64, x, 2, 6) }, .out = { matrix(EVAL_FLOAT64, rows, 2, 7) } },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "SUM"), most, counts, at, tokens },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(tf, 7) }, .status = EVAL_ERR_FORMAT },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "TF"), counts, at,
                          evl_attribute_ints("pool_int64s", pool, 9) },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(tf, 7) }, .status = EVAL_ERR_FORMAT },
        { "TfIdfVectorizer",
          .attributes = { evl_attribute_text("mode", "TF"), evl_attribute_int("max_gram_length", 0),
                          counts, at, tokens },
          .in = { vector(EVAL_INT64, x, 12) }, .out = { reals(tf, 7) }, .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(grams_are_counted_and_weighed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
