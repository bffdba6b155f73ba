/* Operators in general: choosing an implementation, calling a shape rule, looking up
** parameters that are attributes in one opset and inputs in another. */
#include "ir/op.h"
#include "ir/nested.h"
#include <assert.h>
#include <string.h>

const evl_impl *evl_op_impl(const evl_op *op, EvalType type, evl_precision precision)
{
    const evl_impl *impl = NULL;
    if (evl_type_is_float(type))
        impl = op->real[precision];
    else if (evl_type_is_integer(type) || type == EVAL_BOOL)
        impl = op->integer;
    return impl ? impl : op->any;
}

static EvalStatus check_count(evl_context *ctx, const char *what, size_t n, uint8_t least,
                              uint8_t most)
{
    if (n >= least && (most == EVL_ANY_NUMBER || n <= most))
        return EVAL_OK;
    if (most == EVL_ANY_NUMBER)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "%zu %s, expected at least %d", n, what, (int)least);
    return evl_fail(ctx, EVAL_ERR_FORMAT, "%zu %s, expected %d to %d", n, what, (int)least,
                    (int)most);
}

static EvalStatus check_required(evl_context *ctx, const evl_use *use)
{
    assert(use->n_in >= use->node->op->min_inputs);
    for (size_t i = 0; i < use->node->op->min_inputs; i++)
        if (!use->in[i])
            return evl_fail(ctx, EVAL_ERR_FORMAT, "input %zu is left out, and needed", i);
    return EVAL_OK;
}

/* Operators that do not know of nested values would take their elements for numbers. */
static EvalStatus check_nested(evl_context *ctx, const evl_use *use)
{
    char text[EVL_TYPE_TEXT];
    if (use->node->op->traits & EVL_OP_NESTED)
        return EVAL_OK;
    for (size_t i = 0; i < use->n_in; i++)
        if (use->in[i] && evl_type_is_nested(use->in[i]->type))
            return evl_fail(ctx, EVAL_ERR_TYPE, "input %zu is a %s, and a tensor is expected", i,
                            evl_type_text(use->in[i], text));
    return EVAL_OK;
}

/* An output's type is the plan's; its size is one that may be. */
static EvalStatus settle_output(evl_context *ctx, EvalType real, evl_tensor *out)
{
    if (real != EVAL_UNDEFINED)
        evl_type_make_real(out, real);
    return evl_shape_check(ctx, &out->shape,
                           evl_type_is_nested(out->type) ? sizeof *out : evl_type_size(out->type));
}

EvalStatus evl_infer_use(evl_context *ctx, const evl_use *use, EvalType real, evl_tensor *out,
                         size_t n_out)
{
    const evl_op *op = use->node->op;
    evl_infer infer = { .ctx = ctx, .use = *use, .out = out, .n_out = n_out };
    for (size_t i = 0; i < n_out; i++)
        out[i] = (evl_tensor){ .type = EVAL_UNDEFINED, .shape = evl_shape_unknown() };
    EvalStatus st = check_count(ctx, "inputs", use->n_in, op->min_inputs, op->max_inputs);
    if (st == EVAL_OK)
        st = check_count(ctx, "outputs", n_out, op->min_outputs, op->max_outputs);
    if (st == EVAL_OK)
        st = check_required(ctx, use);
    if (st == EVAL_OK)
        st = check_nested(ctx, use);
    if (st == EVAL_OK)
        st = op->infer(&infer);
    for (size_t i = 0; i < n_out && st == EVAL_OK; i++)
        st = settle_output(ctx, real, &out[i]);
    return st == EVAL_OK ? st : evl_node_failed(ctx, use->node, st);
}

enum { FEW = 16 }; /* operands that need no allocation */

EvalStatus evl_infer_node(evl_context *ctx, evl_node *node)
{
    const evl_tensor *few_in[FEW], **in = few_in;
    evl_tensor few_out[FEW], *out = few_out;
    evl_arena *arena = node->graph->arena;
    if (node->n_inputs > FEW)
        in = evl_arena_take_many(arena, node->n_inputs, sizeof *in);
    if (node->n_outputs > FEW)
        out = evl_arena_take_many(arena, node->n_outputs, sizeof *out);
    if (!in || !out)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < node->n_inputs; i++)
        in[i] = node->inputs[i] ? &evl_value_final(node->inputs[i])->t : NULL;
    evl_use use = { node, in, node->n_inputs };
    EvalStatus st = evl_infer_use(ctx, &use, node->graph->real, out, node->n_outputs);
    for (size_t i = 0; i < node->n_outputs && st == EVAL_OK; i++)
        if (node->outputs[i])
            node->outputs[i]->t = out[i];
    return st;
}

static EvalStatus infer_bodies(evl_context *ctx, evl_node *node)
{
    EvalStatus st = EVAL_OK;
    for (size_t b = 0; evl_node_body(node, b) && st == EVAL_OK; b++)
        st = evl_infer_graph(ctx, evl_node_body(node, b));
    return st;
}

/* Fills what inference left open with what the file declares. */
static void complete(evl_value *v, const evl_tensor *declared)
{
    evl_tensor *t = &v->t;
    if (t->type == EVAL_UNDEFINED || (t->type == declared->type && !t->inner[0])) {
        t->type = declared->type;
        memcpy(t->inner, declared->inner, sizeof t->inner);
    }
    if (t->shape.rank < 0)
        t->shape = declared->shape;
    if (t->shape.rank != declared->shape.rank)
        v->dim_names = NULL;
    for (int32_t i = 0; i < t->shape.rank && t->shape.rank == declared->shape.rank; i++)
        if (t->shape.dim[i] < 0)
            t->shape.dim[i] = declared->shape.dim[i];
}

EvalStatus evl_infer_graph(evl_context *ctx, evl_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        evl_node *node = g->nodes[i];
        evl_tensor declared[FEW];
        size_t n = node->n_outputs < FEW ? node->n_outputs : FEW;
        for (size_t j = 0; j < n; j++)
            declared[j] = node->outputs[j] ? node->outputs[j]->t : (evl_tensor){ 0 };
        EvalStatus st = evl_infer_node(ctx, node);
        if (st == EVAL_OK && evl_node_body(node, 0)) { /* the first gave the bodies their inputs */
            st = infer_bodies(ctx, node);
            if (st == EVAL_OK)
                st = evl_infer_node(ctx, node);
        }
        if (st != EVAL_OK)
            return st;
        for (size_t j = 0; j < n; j++)
            if (node->outputs[j])
                complete(node->outputs[j], &declared[j]);
    }
    return EVAL_OK;
}

const evl_tensor *evl_use_in(const evl_use *use, size_t input)
{
    return input < use->n_in ? use->in[input] : NULL;
}

EvalType evl_use_declared(const evl_use *use, size_t input)
{
    const evl_node *origin = use->node->origin;
    const evl_value *v = origin && input < origin->n_inputs ? origin->inputs[input] : NULL;
    return v && v->t.type != EVAL_UNDEFINED ? v->t.type : use->in[input]->type;
}

/* The input that gives a parameter: known when its data is there or it has no element. */
static evl_known parameter_input(const evl_use *use, size_t input, const evl_tensor **t, size_t *n)
{
    *t = evl_use_in(use, input);
    if (!*t)
        return EVL_ABSENT;
    if (!evl_shape_is_known(&(*t)->shape))
        return EVL_UNKNOWN;
    *n = evl_shape_count(&(*t)->shape);
    return (*t)->data || *n == 0 ? EVL_KNOWN : EVL_UNKNOWN;
}

/* The first of its values; of none the default holds. */
static evl_known first_value(const evl_use *use, size_t input, const evl_tensor **t)
{
    size_t n;
    evl_known known = parameter_input(use, input, t, &n);
    return known == EVL_KNOWN && n == 0 ? EVL_ABSENT : known;
}

evl_known evl_use_number(const evl_use *use, const char *name, size_t input, double *value)
{
    const evl_attribute *a = evl_node_attribute(use->node, name);
    const evl_tensor *t;
    if (a && (a->kind == EVL_ATTRIBUTE_NUMBER || a->kind == EVL_ATTRIBUTE_INT)) {
        *value = a->kind == EVL_ATTRIBUTE_NUMBER ? a->u.number : (double)a->u.i;
        return EVL_KNOWN;
    }
    evl_known known = first_value(use, input, &t);
    if (known == EVL_KNOWN)
        *value = evl_tensor_f64(t, 0);
    return known;
}

evl_known evl_use_int(const evl_use *use, const char *name, size_t input, int64_t *value)
{
    const evl_attribute *a = evl_node_attribute(use->node, name);
    const evl_tensor *t;
    if (a && a->kind == EVL_ATTRIBUTE_INT) {
        *value = a->u.i;
        return EVL_KNOWN;
    }
    evl_known known = first_value(use, input, &t);
    if (known == EVL_KNOWN)
        *value = evl_tensor_i64(t, 0);
    return known;
}

/* A parameter of several values: an attribute, or a tensor. */
typedef struct several {
    const evl_attribute *a;
    const evl_tensor *t;
    size_t n;
    evl_known known;
} several;

static several find_several(const evl_use *use, const char *name, evl_attribute_kind kind,
                            size_t input)
{
    several s = { .a = evl_node_attribute(use->node, name), .known = EVL_KNOWN };
    if (s.a && s.a->kind == kind)
        s.n = s.a->n;
    else
        s.known = parameter_input(use, input, &s.t, &s.n);
    return s;
}

static EvalStatus check_several(evl_context *ctx, const char *name, const several *s, size_t most)
{
    if (s->known != EVL_KNOWN || s->n <= most)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %zu values, expected at most %zu", name, s->n,
                    most);
}

EvalStatus evl_use_ints(evl_context *ctx, const evl_use *use, const char *name, size_t input,
                        size_t most, int64_t *values, size_t *n, evl_known *known)
{
    several s = find_several(use, name, EVL_ATTRIBUTE_INTS, input);
    EvalStatus st = check_several(ctx, name, &s, most);
    *known = s.known;
    if (st != EVAL_OK || s.known != EVL_KNOWN)
        return st;
    for (size_t i = 0; i < s.n; i++)
        values[i] = s.t ? evl_tensor_i64(s.t, i) : s.a->u.ints[i];
    *n = s.n;
    return EVAL_OK;
}

EvalStatus evl_use_numbers(evl_context *ctx, const evl_use *use, const char *name, size_t input,
                           size_t most, double *values, size_t *n, evl_known *known)
{
    several s = find_several(use, name, EVL_ATTRIBUTE_NUMBERS, input);
    EvalStatus st = check_several(ctx, name, &s, most);
    *known = s.known;
    if (st != EVAL_OK || s.known != EVL_KNOWN)
        return st;
    for (size_t i = 0; i < s.n; i++)
        values[i] = s.t ? evl_tensor_f64(s.t, i) : s.a->u.numbers[i];
    *n = s.n;
    return EVAL_OK;
}

typedef struct packing {
    void (*make)(void *, const evl_tensor *, const void *);
    const evl_tensor *source;
    const void *arg;
    evl_store *store;
} packing;

static EvalStatus pack(evl_context *ctx, void *block, void *arg)
{
    const packing *p = arg;
    (void)ctx;
    p->make(block, p->source, p->arg);
    evl_store_forget(p->store, p->source->data,
                     evl_shape_count(&p->source->shape) * evl_type_size(p->source->type));
    return EVAL_OK;
}

EvalStatus evl_prepare_block(evl_prepare *p, size_t input, const char *kind, uint64_t variant,
                             size_t bytes,
                             void (*make)(void *block, const evl_tensor *source, const void *arg),
                             const void *arg, const void **block)
{
    const evl_tensor *source = p->use.in[input];
    packing how = { make, source, arg, p->store };
    p->packed |= 1u << input;
    if (source->life == EVL_LIFE_MODEL && source->data) {
        evl_store_key key = { source->data, kind, variant };
        return evl_store_get(p->ctx, p->store, &key, bytes, pack, &how, block);
    }
    void *own = evl_arena_take(p->arena, bytes);
    if (!own)
        return evl_no_memory(p->ctx);
    make(own, source, arg);
    *block = own;
    return EVAL_OK;
}

EvalStatus evl_infer_same(evl_infer *infer)
{
    infer->out[0].type = infer->use.in[0]->type;
    infer->out[0].shape = infer->use.in[0]->shape;
    memcpy(infer->out[0].inner, infer->use.in[0]->inner, sizeof infer->out[0].inner);
    return EVAL_OK;
}

EvalStatus evl_prepare_same(evl_prepare *p)
{
    if (evl_type_is_nested(p->use.in[0]->type))
        p->nested[0] = *p->use.in[0];
    return EVAL_OK;
}

EvalStatus evl_infer_broadcast(evl_infer *infer)
{
    evl_shape shape = evl_shape_scalar();
    for (size_t i = 0; i < infer->use.n_in; i++) {
        if (!infer->use.in[i])
            continue;
        EvalStatus st =
            evl_shape_broadcast(infer->ctx, &shape, &infer->use.in[i]->shape, &shape);
        if (st != EVAL_OK)
            return st;
    }
    infer->out[0].type = infer->use.in[infer->use.node->op->type_input]->type;
    infer->out[0].shape = shape;
    return EVAL_OK;
}
