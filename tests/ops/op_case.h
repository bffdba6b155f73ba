/* op_case.h - an operator, what goes in, what must come out: run in both precisions, with
** the data known when it is prepared and not, on one thread and on two. */
#ifndef EVL_TESTS_OP_CASE_H
#define EVL_TESTS_OP_CASE_H
#include "ir/nested.h"
#include "ops/ops.h"
#include "support/run_op.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct op_case {
    const char *op; /* "com.microsoft.Name" outside ai.onnx, "evl.Name" our own */
    int version; /* 0: the newest */
    evl_attribute attributes[8];
    evl_tensor in[9]; /* up to the first without a type */
    evl_tensor out[4];
    bool in_place;     /* also with output 0 over input 0 */
    EvalStatus status; /* what the run must end with */
} op_case;

static inline const evl_op *case_op(const char *name)
{
    const char *dot = strrchr(name, '.');
    char domain[32];
    if (!dot)
        return evl_op_find(NULL, name);
    snprintf(domain, sizeof domain, "%.*s", (int)(dot - name), name);
    const evl_op *op = evl_op_find(domain, dot + 1);
    for (size_t i = 0; !op && evl_op_at(i); i++) /* our own are found by no name */
        if (strcmp(domain, "evl") == 0 && strcmp(evl_op_at(i)->name, dot + 1) == 0)
            op = evl_op_at(i);
    return op;
}

static inline size_t case_count(const evl_tensor *t, size_t most)
{
    size_t n = 0;
    while (n < most && t[n].type != EVAL_UNDEFINED)
        n++;
    return n;
}

static inline size_t case_attributes(const op_case *c)
{
    size_t n = 0;
    while (n < 8 && c->attributes[n].name)
        n++;
    return n;
}

static inline bool is_near(double got, double right, evl_precision precision)
{
    double room = (precision == EVL_FLOAT ? 4e-6 : 1e-14) * (1 + fabs(right));
    return got == right || (isnan(got) && isnan(right)) || fabs(got - right) <= room;
}

static inline bool is_same_text(const EvalString *a, const EvalString *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

static inline void assert_texts(const op_case *c, const EvalString *got, const EvalString *right, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_same_text(&got[i], &right[i]))
            fail_msg("%s: element %zu is '%.*s', expected '%.*s'", c->op, i, (int)got[i].size, got[i].text,
                     (int)right[i].size, right[i].text);
}

static inline void assert_tensor(const op_case *c, const evl_tensor *got, const evl_tensor *right,
                                 evl_precision precision)
{
    size_t n = evl_shape_count(&right->shape);
    char a[EVL_SHAPE_TEXT], b[EVL_SHAPE_TEXT];
    assert_int_equal(got->type, right->type);
    if (!evl_shape_equal(&got->shape, &right->shape))
        fail_msg("%s: shape %s, expected %s", c->op, evl_shape_text(&got->shape, a),
                 evl_shape_text(&right->shape, b));
    if (evl_type_is_nested(right->type)) {
        assert_true(evl_type_equal(got, right));
        for (size_t i = 0; i < n; i++)
            assert_tensor(c, evl_nested_at(got, i), evl_nested_at(right, i), precision);
        return;
    }
    if (right->type == EVAL_STRING) {
        assert_texts(c, got->data, right->data, n);
        return;
    }
    for (size_t i = 0; i < n && right->type == EVAL_FLOAT64; i++)
        if (!is_near(((double *)got->data)[i], ((double *)right->data)[i], precision))
            fail_msg("%s: element %zu is %.17g, expected %.17g", c->op, i, ((double *)got->data)[i],
                     ((double *)right->data)[i]);
    if (right->type != EVAL_FLOAT64 && n)
        assert_memory_equal(got->data, right->data, n * evl_type_size(right->type));
}

static inline void run_case(const op_case *c, evl_precision precision, bool hide, bool in_place)
{
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = case_op(c->op), .version = c->version };
    assert_non_null(r.op);
    r.attributes = c->attributes;
    r.n_attributes = case_attributes(c);
    r.n_in = case_count(c->in, 9);
    memcpy(r.in, c->in, sizeof c->in);
    r.n_out = case_count(c->out, 4);
    r.hide_data = hide;
    r.in_place = in_place;
    r.threads = hide ? 2 : 0;
    EvalStatus st = evl_run_op(ctx, &r, precision, evl_cpu_features());
    if (st != c->status)
        fail_msg("%s: status %d: %s", c->op, (int)st, ctx->error.text);
    for (size_t i = 0; i < r.n_out && st == EVAL_OK; i++)
        assert_tensor(c, &r.out[i], &c->out[i], precision);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static inline void check_case(const op_case *c)
{
    for (int way = 0; way < (c->in_place ? 8 : 4); way++)
        run_case(c, way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2, way & 4);
}

static inline void check_cases(const op_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_case(&c[i]);
}

/* Tensors over literals. */
static inline evl_tensor vector(EvalType type, const void *data, int64_t n)
{
    return evl_test_tensor(type, data, 1, &n);
}

static inline evl_tensor reals(const double *data, int64_t n)
{
    return vector(EVAL_FLOAT64, data, n);
}

static inline evl_tensor matrix(EvalType type, const void *data, int64_t rows, int64_t columns)
{
    return evl_test_tensor(type, data, 2, (const int64_t[]){ rows, columns });
}

/* A sequence or optional. */
static inline evl_tensor holding(EvalType kind, EvalType inside, const evl_tensor *elements,
                                 int64_t n)
{
    evl_tensor t = evl_test_tensor(kind, elements, 1, &n);
    t.inner[0] = (uint16_t)inside;
    return t;
}

static inline evl_tensor scalar(EvalType type, const void *data)
{
    return evl_test_tensor(type, data, 0, (const int64_t[]){ 0 });
}
#endif
