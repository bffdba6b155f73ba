/* fuzz_evaluate.c - bytes that may be a model, loaded from memory and run twice on inputs made to
** fit: with little memory, few trips and few steps. Any status will do, but a failure has a text
** and nothing is held in the end. */
#include "fuzz/fuzz.h"
#include "ir/convert.h"
#include "ir/nested.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 16, MOST_ELEMENTS = 3072, UNKNOWN_SIZE = 2, MOST_STEPS = 4000 };
static const char limits[] = "maxMemory=268435456\nmaxTensorBytes=65536\nmaxTrips=500\nmaxNodes=4000";

typedef struct made {
    EvalTensor in[MOST_VALUES], out[MOST_VALUES];
    size_t n_in, n_out, n_steps;
    _Alignas(EvalString) unsigned char bytes[MOST_VALUES][MOST_ELEMENTS * sizeof(EvalString)];
} made;

static int count_step(void *user)
{
    return ++((made *)user)->n_steps > MOST_STEPS;
}

/* Small numbers, which are good as sizes and places too. */
static void fill(EvalTensor *t, size_t n, unsigned char *into)
{
    static const EvalString text = { "a b", 3 };
    int bits = evl_type_packed_bits(t->type);
    size_t size = evl_type_size(t->type);
    t->data = into;
    t->bytes = bits ? (n * (size_t)bits + 7) / 8 : n * size;
    memset(into, 0, t->bytes);
    for (size_t i = 0; i < n && !bits && size; i++) {
        float number = evl_type_is_float(t->type) ? (float)(i * 5 % 11) / 4 - 1 : (float)(i * 5 % 3);
        if (t->type == EVAL_STRING)
            memcpy(into + i * size, &text, sizeof text);
        else if (!evl_type_is_float(t->type))
            into[i * size] = (unsigned char)number;
        else
            evl_convert(1, EVAL_FLOAT32, &number, t->type, into + i * size);
    }
}

/* As declared; what is unknown, or too much, is small. A nested value has nothing in it. */
static void make_input(EvalTensor *t, const EvalNodeInfo *info, unsigned char *into)
{
    size_t n = 1;
    t->name = info->name;
    t->type = info->type == EVAL_UNDEFINED ? EVAL_FLOAT32 : info->type;
    t->rank = evl_type_is_nested(t->type) ? 1 : info->rank < 0 ? 2 : info->rank;
    for (int32_t i = 0; i < t->rank; i++) {
        size_t size = info->rank < 0 || info->dims[i] < 0 ? UNKNOWN_SIZE : (size_t)info->dims[i];
        size = evl_type_is_nested(t->type) ? 0 : size;
        t->dims[i] = size > MOST_ELEMENTS || n * size > MOST_ELEMENTS ? 1 : (int64_t)size;
        n *= (size_t)t->dims[i];
    }
    fill(t, n, into);
}

static EvalStatus describe(IEvaluateModelF *model, made *m)
{
    EvalNodeInfo in[MOST_VALUES] = { { .size = sizeof in[0] } }, out[MOST_VALUES] = { { .size = sizeof out[0] } };
    const void *table = NULL;
    if (model->vtbl->GetInterface(model, "describe", 1, &table) != EVAL_OK)
        abort();
    const EvalDescribeF *d = table;
    m->n_in = m->n_out = MOST_VALUES;
    EvalStatus st = d->Inputs(model, in, &m->n_in);
    st = st == EVAL_OK ? d->Outputs(model, out, &m->n_out) : st;
    for (size_t i = 0; st == EVAL_OK && i < m->n_in; i++)
        make_input(&m->in[i], &in[i], m->bytes[i]);
    for (size_t i = 0; st == EVAL_OK && i < m->n_out; i++)
        m->out[i].name = out[i].name;
    return st;
}

static EvalStatus run(IEvaluateModelF *model, made *m)
{
    EvalRunOptions options = { .size = sizeof options, .stop = count_step, .user = m };
    EvalStatus st = describe(model, m);
    for (int again = 0; again < 2 && st == EVAL_OK; again++) {
        m->n_steps = 0;
        st = model->vtbl->Run(model, m->in, m->n_in, m->out, m->n_out, &options);
        for (size_t i = 0; st == EVAL_OK && i < m->n_out; i++)
            if (!m->out[i].data && m->out[i].bytes)
                abort();
        if (st == EVAL_OK && model->vtbl->Release(model, m->out, m->n_out) != EVAL_OK)
            abort();
    }
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static made m;
    const void *table = NULL;
    IEvaluateModelF *model = NULL;
    memset(&m, 0, sizeof m);
    GetEvalF(&model);
    if (!model || model->vtbl->GetInterface(model, "control", 2, &table) != EVAL_OK)
        abort();
    const EvalControlF *control = table;
    EvalStatus st = control->LoadMemory(model, data, size, limits);
    st = st == EVAL_OK ? run(model, &m) : st;
    if (st != EVAL_OK && !*model->vtbl->LastError(model))
        abort();
    model->vtbl->Destroy(model);
    return 0;
}
