/* SVMClassifier and SVMRegressor. */
#include "op_case.h"

static const double vectors[] = { 1, 0, 0, 1 }, coefficients[] = { 1, -2 }, rho[] = { 0.5 },
                    x[] = { 1, 2, 0, -1 };
static const double rbf[] = { 0.5, 0, 0 }, poly[] = { 1, 1, 2 };

/* gamma 0.5, coef0 0 / gamma 1, coef0 1, degree 2 */
static double kernel(const char *name, const double *a, const double *b)
{
    double dot = a[0] * b[0] + a[1] * b[1];
    double distance = (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
    return strcmp(name, "RBF") == 0    ? exp(-0.5 * distance)
           : strcmp(name, "POLY") == 0 ? (dot + 1) * (dot + 1)
                                       : dot;
}

static void kernels_are_summed(void **state)
{
    static const char *const names[] = { "LINEAR", "RBF", "POLY" };
    (void)state;
    for (int k = 0; k < 3; k++) {
        double y[2], score[4];
        int64_t chosen[2];
        for (int i = 0; i < 2; i++) {
            y[i] = kernel(names[k], x + 2 * i, vectors) -
                   2 * kernel(names[k], x + 2 * i, vectors + 2) + 0.5;
            score[2 * i] = -y[i];
            score[2 * i + 1] = y[i];
            chosen[i] = y[i] > 0 ? 4 : 6;
        }
        static const int64_t labels[] = { 4, 6 }, counts[] = { 1, 1 };
        const op_case cases[] = {
            { "ai.onnx.ml.SVMRegressor",
              .attributes = { evl_attribute_int("n_supports", 2),
                              evl_attribute_numbers("support_vectors", vectors, 4),
                              evl_attribute_numbers("coefficients", coefficients, 2),
                              evl_attribute_numbers("rho", rho, 1),
                              evl_attribute_text("kernel_type", names[k]),
                              evl_attribute_numbers("kernel_params", k == 1 ? rbf : poly, 3) },
              .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { matrix(EVAL_FLOAT64, y, 2, 1) } },
            { "ai.onnx.ml.SVMClassifier",
              .attributes = { evl_attribute_ints("vectors_per_class", counts, 2),
                              evl_attribute_ints("classlabels_ints", labels, 2),
                              evl_attribute_numbers("support_vectors", vectors, 4),
                              evl_attribute_numbers("coefficients", coefficients, 2),
                              evl_attribute_numbers("rho", rho, 1),
                              evl_attribute_text("kernel_type", names[k]),
                              evl_attribute_numbers("kernel_params", k == 1 ? rbf : poly, 3) },
              .in = { matrix(EVAL_FLOAT64, x, 2, 2) },
              .out = { vector(EVAL_INT64, chosen, 2), matrix(EVAL_FLOAT64, score, 2, 2) } },
        };
        check_cases(cases, 2);
    }
}

static void counts_that_do_not_fit_are_refused(void **state)
{
    static const int64_t labels[] = { 4, 6 }, counts[] = { 1, -1 }, many[] = { 1, 2147483647 };
    const op_case cases[] = {
        { "ai.onnx.ml.SVMRegressor",
          .attributes = { evl_attribute_numbers("coefficients", coefficients, 2) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { matrix(EVAL_FLOAT64, x, 2, 1) },
          .status = EVAL_ERR_FORMAT },
        { "ai.onnx.ml.SVMClassifier",
          .attributes = { evl_attribute_ints("vectors_per_class", counts, 2),
                          evl_attribute_ints("classlabels_ints", labels, 2) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { vector(EVAL_INT64, labels, 2) },
          .status = EVAL_ERR_FORMAT },
        { "ai.onnx.ml.SVMClassifier",
          .attributes = { evl_attribute_ints("vectors_per_class", many, 2),
                          evl_attribute_ints("classlabels_ints", labels, 2) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { vector(EVAL_INT64, labels, 2) },
          .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_summed),
        cmocka_unit_test(counts_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
