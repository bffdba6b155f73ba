/* faults.h - small models that are loaded and run while something fails, and memory that counts. */
#ifndef EVL_TESTS_FAULTS_H
#define EVL_TESTS_FAULTS_H
#include "evallib/eval.h"
#include "support/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting_heap {
    size_t requests, failing, live;
} counting_heap;

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    counting_heap *h = user;
    if (h->requests++ == h->failing)
        return NULL;
    h->live++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *block, size_t bytes)
{
    counting_heap *h = user;
    (void)bytes;
    h->live--;
    free(block);
}

/* An object on `heap`, or the status that says why there is none. */
static inline EvalStatus make_on(counting_heap *heap, IEvaluateModelF **m)
{
    EvalAllocator allocator = { sizeof allocator, allocate, release, heap };
    const void *table;
    GetEvalF(m);
    assert_non_null(*m);
    assert_int_equal((*m)->vtbl->GetInterface(*m, "control", 1, &table), EVAL_OK);
    return ((const EvalControlF *)table)->SetAllocator(*m, &allocator);
}

typedef struct fault_case {
    const char *file, *input, *output;
    size_t n_in, n_out;
} fault_case;

static inline EvalStatus load(IEvaluateModelF *m, const fault_case *c)
{
    char text[4096];
    snprintf(text, sizeof text, "modelPath=\"%s\"\nnumCPUThreads=2\nblas=off", c->file);
    return m->vtbl->CreateNetwork(m, text);
}

static inline EvalStatus evaluate(IEvaluateModelF *m, const fault_case *c, float *y)
{
    static const float x[784] = { 1 };
    EvalInputF in = { c->input, x, c->n_in };
    EvalOutputF out = { c->output, NULL, 0, 0 };
    EvalStatus st = m->vtbl->Evaluate(m, &in, c->n_in > 0, &out, 1);
    if (st == EVAL_OK)
        memcpy(y, out.data, c->n_out * sizeof *y);
    return st;
}

/* What the model gives when nothing fails. */
static inline void evaluate_undisturbed(const fault_case *c, float *y)
{
    IEvaluateModelF *m;
    GetEvalF(&m);
    assert_non_null(m);
    assert_int_equal(load(m, c), EVAL_OK);
    assert_int_equal(evaluate(m, c, y), EVAL_OK);
    m->vtbl->Destroy(m);
}
#endif
