/* moved.h - for operators that move elements: one description of where each element of
** the output comes from, checked for every element size, with parameters known and not
** known to the plan, on one thread and on three. */
#ifndef EVL_TESTS_OPS_MOVED_H
#define EVL_TESTS_OPS_MOVED_H
#include "ops/ops.h"
#include "support/run_op.h"
#include <stdlib.h>
#include <string.h>

typedef struct moved {
    const char *op;
    int version;
    const evl_attribute *attributes;
    size_t n_attributes;
    size_t input;       /* which input the moved elements are; others are as given */
    evl_tensor in[6];   /* type UNDEFINED: left out; in[input] needs only its shape */
    size_t n_in, n_out; /* n_out 0: 1 */
    size_t output;      /* which output is looked at */
    size_t rank;
    int64_t dims[EVAL_MAX_RANK];
    int64_t (*source)(const struct moved *, size_t i); /* of element i; -1: it is zero */
    const void *arg;
} moved;

static const EvalType moved_types[] = { EVAL_UINT8, EVAL_INT16,  EVAL_FLOAT32,
                                        EVAL_INT64, EVAL_STRING, EVAL_BOOL };

/* Element index of a tensor that stands for `number`; 0 stands for zero. */
static inline void moved_put(evl_tensor *t, size_t index, int64_t number)
{
    EvalString text = { "", (size_t)number };
    if (t->type == EVAL_STRING)
        ((EvalString *)t->data)[index] = text;
    else if (t->type == EVAL_BOOL)
        ((uint8_t *)t->data)[index] = number % 3 == 1;
    else
        evl_convert(1, EVAL_INT64, &number, t->type,
                    (char *)t->data + index * evl_type_size(t->type));
}

static inline int64_t moved_number(EvalType type, int64_t source)
{
    return type == EVAL_UINT8   ? (source + 1) % 251
           : type == EVAL_INT16 ? (source + 1) % 30011
                                : source + 1;
}

static inline evl_tensor moved_tensor(EvalType type, const evl_shape *shape)
{
    size_t n = evl_shape_count(shape);
    evl_tensor t = { .type = type, .shape = *shape };
    t.data = malloc(n * evl_type_size(type) + 1);
    assert_non_null(t.data);
    for (size_t i = 0; i < n; i++)
        moved_put(&t, i, moved_number(type, (int64_t)i));
    return t;
}

static inline void moved_compare(const moved *m, const evl_tensor *out, EvalType type)
{
    evl_shape wanted = evl_shape_of(m->rank, m->dims);
    EvalType stored = evl_type_is_float(type) ? EVAL_FLOAT64 : type;
    evl_tensor one = { .type = stored, .data = &(EvalString){ 0 } };
    size_t size = evl_type_size(stored);
    assert_true(evl_shape_equal(&out->shape, &wanted));
    assert_int_equal(out->type, stored);
    for (size_t i = 0; i < evl_shape_count(&wanted); i++) {
        int64_t source = m->source(m, i);
        moved_put(&one, 0, source < 0 ? 0 : moved_number(type, source));
        if (type == EVAL_STRING)
            assert_int_equal(((EvalString *)out->data)[i].size, ((EvalString *)one.data)->size);
        else
            assert_memory_equal((char *)out->data + i * size, one.data, size);
    }
}

static inline void moved_check_one(const moved *m, EvalType type, bool hide_data, size_t threads)
{
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = evl_op_find(NULL, m->op),
                     .version = m->version,
                     .attributes = m->attributes,
                     .n_attributes = m->n_attributes,
                     .n_in = m->n_in,
                     .n_out = m->n_out,
                     .hide_data = hide_data,
                     .threads = threads };
    EvalStatus st;
    assert_non_null(r.op);
    memcpy(r.in, m->in, sizeof m->in);
    r.in[m->input] = moved_tensor(type, &m->in[m->input].shape);
    st = evl_run_op(ctx, &r, type == EVAL_INT16 ? EVL_DOUBLE : EVL_FLOAT, 0);
    if (st)
        print_error("%s\n", ctx->error.text);
    assert_int_equal(st, EVAL_OK);
    moved_compare(m, &r.out[m->output], type);
    free(r.in[m->input].data);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static inline void moved_check(const moved *m)
{
    for (size_t i = 0; i < sizeof moved_types / sizeof moved_types[0]; i++) {
        moved_check_one(m, moved_types[i], false, 0);
        moved_check_one(m, moved_types[i], true, 3);
    }
}

/* The status that a use fails with; a text comes with it. */
static inline EvalStatus moved_fails(const moved *m)
{
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = evl_op_find(NULL, m->op),
                     .version = m->version,
                     .attributes = m->attributes,
                     .n_attributes = m->n_attributes,
                     .n_in = m->n_in,
                     .n_out = m->n_out };
    EvalStatus st;
    assert_non_null(r.op);
    memcpy(r.in, m->in, sizeof m->in);
    r.in[m->input] = moved_tensor(EVAL_FLOAT32, &m->in[m->input].shape);
    st = evl_run_op(ctx, &r, EVL_FLOAT, 0);
    assert_true(st == EVAL_OK || strlen(ctx->error.text) > 10);
    free(r.in[m->input].data);
    evl_run_op_end(&r);
    evl_test_end(ctx);
    return st;
}

/* A shape alone, and small lists of int64 as inputs. */
static inline evl_tensor moved_shape(size_t rank, const int64_t *dims)
{
    return (evl_tensor){ .type = EVAL_FLOAT32, .shape = evl_shape_of(rank, dims) };
}

static inline evl_tensor moved_list(size_t n, const int64_t *values)
{
    return evl_test_ints(values, 1, (const int64_t[1]){ (int64_t)n });
}

/* Index i of a row-major tensor as a position in each dimension, and back. */
static inline void moved_position(size_t rank, const int64_t *dims, size_t i, int64_t *at)
{
    for (size_t d = rank; d-- > 0;) {
        at[d] = (int64_t)i % dims[d];
        i /= (size_t)dims[d];
    }
}

static inline int64_t moved_index(const evl_shape *shape, const int64_t *at)
{
    int64_t i = 0;
    for (int32_t d = 0; d < shape->rank; d++)
        i = i * shape->dim[d] + at[d];
    return i;
}
#endif
