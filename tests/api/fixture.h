/* fixture.h - an object of this twin on one of the samples' networks. */
#ifndef EVL_TESTS_API_FIXTURE_H
#define EVL_TESTS_API_FIXTURE_H
#include "real.h"
#include "support/support.h"
#include <stdio.h>
#include <string.h>

typedef PUBLIC(IEvaluateModel) model;
typedef PUBLIC(EvalInput) input;
typedef PUBLIC(EvalOutput) output;

static inline const char *description(const char *file, const char *more)
{
    static char text[4096];
    snprintf(text, sizeof text, "modelPath=\"" EVL_TEST_SAMPLES "/%s\"\n%s", file, more);
    return text;
}

static inline model *make(void)
{
    model *m;
    PUBLIC(GetEval)(&m);
    assert_non_null(m);
    return m;
}

static inline model *load(const char *file, const char *more)
{
    model *m = make();
    if (m->vtbl->CreateNetwork(m, description(file, more)) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    return m;
}

static inline const PUBLIC(EvalControl) *control(model *m)
{
    const void *table;
    assert_int_equal(m->vtbl->GetInterface(m, "control", 3, &table), EVAL_OK);
    return table;
}

static inline void fill_image(size_t n, real *image)
{
    for (size_t i = 0; i < n; i++)
        image[i] = (real)(i * 37 % 256);
}
#endif
