/* Sequences of tensors: made, asked, changed. Shape rules and where elements come from; the
** elements themselves are copied by exec/. */
#include "ir/nested.h"
#include "ops/move.h"
#include "ops/nested.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <inttypes.h>

EvalStatus evl_infer_around(evl_infer *x, EvalType type, const evl_tensor *inside)
{
    char text[EVL_TYPE_TEXT];
    if (evl_nested_around(type, inside, &x->out[0]))
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_TYPE, "a %s nests too deep to be put into a further one",
                    evl_type_text(inside, text));
}

EvalStatus evl_infer_sequence(const evl_infer *x, size_t input)
{
    char text[EVL_TYPE_TEXT];
    const evl_tensor *t = x->use.in[input];
    if (t->type == EVAL_SEQUENCE || t->type == EVAL_UNDEFINED)
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_TYPE, "input %zu is of type %s, and a sequence is expected",
                    input, evl_type_text(t, text));
}

EvalStatus evl_run_nothing(const evl_call *call)
{
    (void)call;
    return EVAL_OK;
}

/* An element must be a tensor of the sequence's type, once both are known. */
static EvalStatus check_element(const evl_infer *x, const evl_tensor *inside, size_t input)
{
    char text[EVL_TYPE_TEXT], text_inside[EVL_TYPE_TEXT];
    const evl_tensor *t = x->use.in[input];
    bool both_float = evl_type_is_float(t->type) && evl_type_is_float(inside->type);
    if (!evl_type_is_nested(t->type) &&
        (t->type == inside->type || both_float || !t->type || !inside->type))
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_TYPE, "input %zu is of type %s, the elements are of type %s",
                    input, evl_type_text(t, text), evl_type_text(inside, text_inside));
}

static EvalStatus infer_construct(evl_infer *x)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < x->use.n_in && st == EVAL_OK; i++)
        st = x->use.in[i] ? check_element(x, x->use.in[0], i)
                          : evl_fail(x->ctx, EVAL_ERR_FORMAT, "input %zu is left out", i);
    return st == EVAL_OK ? evl_infer_around(x, EVAL_SEQUENCE, x->use.in[0]) : st;
}

static EvalStatus prepare_construct(evl_prepare *p)
{
    if (!evl_nested_take(p->arena, p->use.n_in, &p->nested[0]))
        return evl_no_memory(p->ctx);
    evl_tensor *to = p->nested[0].data;
    for (size_t i = 0; i < p->use.n_in; i++)
        to[i] = *p->use.in[i];
    return EVAL_OK;
}

static EvalStatus infer_empty(evl_infer *x)
{
    int64_t type = evl_node_int(x->use.node, "dtype", EVAL_FLOAT32);
    evl_tensor inside = { .type = (EvalType)type };
    if (type <= EVAL_UNDEFINED || type >= EVL_N_TYPES)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "dtype %" PRId64 " is no type of elements", type);
    return evl_infer_around(x, EVAL_SEQUENCE, &inside);
}

static EvalStatus prepare_empty(evl_prepare *p)
{
    return evl_nested_take(p->arena, 0, &p->nested[0]) ? EVAL_OK : evl_no_memory(p->ctx);
}

/* The position that input `input` gives among n elements, at most `last`, which it is when it
** is left out. */
static EvalStatus find_position(evl_context *ctx, const evl_use *use, size_t input, size_t n,
                                int64_t last, size_t *at)
{
    int64_t given, count = (int64_t)n;
    evl_known known = evl_use_int(use, "", input, &given);
    if (known == EVL_ABSENT)
        given = last;
    else if (known == EVL_KNOWN && given < 0)
        given += count;
    if (known == EVL_UNKNOWN || given < 0 || given > last)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "its position is not in %" PRId64 " .. %" PRId64,
                        -count, last);
    *at = (size_t)given;
    return EVAL_OK;
}

static EvalStatus infer_insert(evl_infer *x)
{
    evl_tensor inside = evl_nested_inside(x->use.in[0], 0);
    EvalStatus st = evl_infer_sequence(x, 0);
    if (st == EVAL_OK)
        st = check_element(x, &inside, 1);
    if (st == EVAL_OK)
        st = evl_infer_around(x, EVAL_SEQUENCE, inside.type ? &inside : x->use.in[1]);
    return st;
}

/* Before the element at the position, or at the end. */
static EvalStatus prepare_insert(evl_prepare *p)
{
    size_t n = evl_shape_count(&p->use.in[0]->shape), at;
    EvalStatus st = find_position(p->ctx, &p->use, 2, n, (int64_t)n, &at);
    if (st != EVAL_OK)
        return st;
    if (!evl_nested_take(p->arena, n + 1, &p->nested[0]))
        return evl_no_memory(p->ctx);
    evl_tensor *to = p->nested[0].data;
    for (size_t i = 0; i <= n; i++)
        to[i] = i == at ? *p->use.in[1] : *evl_nested_at(p->use.in[0], i - (i > at));
    return EVAL_OK;
}

static EvalStatus infer_erase(evl_infer *x)
{
    evl_tensor inside = evl_nested_inside(x->use.in[0], 0);
    EvalStatus st = evl_infer_sequence(x, 0);
    return st == EVAL_OK ? evl_infer_around(x, EVAL_SEQUENCE, &inside) : st;
}

static EvalStatus prepare_erase(evl_prepare *p)
{
    size_t n = evl_shape_count(&p->use.in[0]->shape), at;
    EvalStatus st = find_position(p->ctx, &p->use, 1, n, (int64_t)n - 1, &at);
    if (st != EVAL_OK)
        return st;
    if (!evl_nested_take(p->arena, n - 1, &p->nested[0]))
        return evl_no_memory(p->ctx);
    evl_tensor *to = p->nested[0].data;
    for (size_t i = 0; i + 1 < n; i++)
        to[i] = *evl_nested_at(p->use.in[0], i + (i >= at));
    return EVAL_OK;
}

static EvalStatus infer_at(evl_infer *x)
{
    const evl_tensor *sequence = x->use.in[0];
    size_t at;
    EvalStatus st = evl_infer_sequence(x, 0);
    if (st != EVAL_OK)
        return st;
    x->out[0] = evl_nested_inside(sequence, 0);
    if (!sequence->data || !x->use.in[1]->data)
        return EVAL_OK;
    st = find_position(x->ctx, &x->use, 1, evl_shape_count(&sequence->shape),
                       sequence->shape.dim[0] - 1, &at);
    if (st != EVAL_OK)
        return st;
    evl_type_copy(evl_nested_at(sequence, at), &x->out[0]);
    x->out[0].shape = evl_nested_at(sequence, at)->shape;
    return EVAL_OK;
}

static const evl_tensor *element_at(const evl_use *use)
{
    int64_t n = use->in[0]->shape.dim[0], at = evl_tensor_i64(use->in[1], 0);
    return evl_nested_at(use->in[0], (size_t)(at < 0 ? at + n : at)); /* infer has looked */
}

static EvalStatus prepare_at(evl_prepare *p)
{
    const evl_tensor *element = element_at(&p->use);
    if (evl_type_is_nested(element->type))
        p->nested[0] = *element;
    return EVAL_OK;
}

static EvalStatus run_at(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    evl_move_all(call->machine, element_at(&use), call->out[0]);
    return EVAL_OK;
}

static EvalStatus infer_length(evl_infer *x)
{
    x->out[0].type = EVAL_INT64;
    x->out[0].shape = evl_shape_scalar();
    return evl_infer_sequence(x, 0);
}

static EvalStatus run_length(const evl_call *call)
{
    *(int64_t *)call->out[0]->data = call->in[0]->shape.dim[0];
    return EVAL_OK;
}

static const evl_impl construct_impl = { prepare_construct, evl_run_nothing };
static const evl_impl empty_impl = { prepare_empty, evl_run_nothing };
static const evl_impl insert_impl = { prepare_insert, evl_run_nothing };
static const evl_impl erase_impl = { prepare_erase, evl_run_nothing };
static const evl_impl at_impl = { prepare_at, run_at }, length_impl = { NULL, run_length };

static const evl_op construct = { .name = "SequenceConstruct",
                                  .min_inputs = 1,
                                  .max_inputs = EVL_ANY_NUMBER,
                                  .min_outputs = 1,
                                  .max_outputs = 1,
                                  .traits = EVL_OP_NESTED,
                                  .infer = infer_construct,
                                  .any = &construct_impl };
static const evl_op empty = { .name = "SequenceEmpty",
                              .min_inputs = 0,
                              .max_inputs = 0,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .traits = EVL_OP_NESTED,
                              .infer = infer_empty,
                              .any = &empty_impl };
static const evl_op insert = { .name = "SequenceInsert",
                               .min_inputs = 2,
                               .max_inputs = 3,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .traits = EVL_OP_NESTED,
                               .infer = infer_insert,
                               .any = &insert_impl };
static const evl_op erase = { .name = "SequenceErase",
                              .min_inputs = 1,
                              .max_inputs = 2,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .traits = EVL_OP_NESTED,
                              .infer = infer_erase,
                              .any = &erase_impl };
static const evl_op at = { .name = "SequenceAt",
                           .min_inputs = 2,
                           .max_inputs = 2,
                           .min_outputs = 1,
                           .max_outputs = 1,
                           .traits = EVL_OP_NESTED,
                           .infer = infer_at,
                           .any = &at_impl };
static const evl_op length = { .name = "SequenceLength",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .traits = EVL_OP_NESTED,
                               .infer = infer_length,
                               .any = &length_impl };

const evl_op *const evl_ops_nested[] = { &construct, &empty, &insert, &erase,
                                         &at,        &length, NULL };
