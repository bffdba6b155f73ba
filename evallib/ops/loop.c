/* Loop and Scan: shape rules only. passes/fold.c finds out which shapes stay the same from
** trip to trip, exec/loop.c and exec/scan.c run them. */
#include "ops/loop.h"
#include "ir/nested.h"
#include "ops/ops.h"
#include <string.h>

enum { BATCHLESS = 9 }; /* the opset since which Scan has no axis of batches */

bool evl_op_is_loop(const evl_op *op)
{
    return op == &evl_op_loop || op == &evl_op_scan;
}

static EvalStatus bad_counts(evl_context *ctx, const evl_loop *l, const evl_node *node)
{
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "a body with %zu inputs and %zu outputs does not fit a node with %zu and %zu",
                    l->body->n_inputs, l->body->n_outputs, node->n_inputs, node->n_outputs);
}

/* Inputs: the number of trips, the condition, and what else is carried. */
static bool read_loop(const evl_node *node, evl_loop *l)
{
    size_t n_more = node->n_inputs > 2 ? node->n_inputs - 2 : 0;
    l->body_carried = l->node_carried = l->n_unshown = 1;
    l->n_carried = 1 + n_more;
    return l->body->n_inputs == 2 + n_more;
}

/* Inputs: lengths of sequences (with batches), what is carried, what is scanned. */
static bool read_scan(const evl_node *node, evl_loop *l)
{
    int64_t n_scanned = evl_node_int(node, "num_scan_inputs", 0);
    l->has_batch = node->version < BATCHLESS;
    l->node_carried = l->has_batch;
    if (n_scanned < 1 || node->n_inputs <= l->node_carried ||
        (uint64_t)n_scanned > node->n_inputs - l->node_carried)
        return false;
    l->n_scanned = (size_t)n_scanned;
    l->n_carried = node->n_inputs - l->node_carried - l->n_scanned;
    return l->body->n_inputs == l->n_carried + l->n_scanned;
}

EvalStatus evl_loop_read(evl_context *ctx, const evl_node *node, evl_loop *l)
{
    *l = (evl_loop){ .body = evl_node_graph(node, "body") };
    if (!l->body)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "its body is missing");
    bool fits = node->op == &evl_op_loop ? read_loop(node, l) : read_scan(node, l);
    if (!fits || l->body->n_outputs < l->n_carried ||
        l->body->n_outputs < node->n_outputs + l->n_unshown)
        return bad_counts(ctx, l, node);
    l->n_gathered = l->body->n_outputs - l->n_carried;
    return EVAL_OK;
}

/* kind: "scan_input" or "scan_output"; opset 8 has `directions` of inputs, and axis 0. */
EvalStatus evl_loop_axis(evl_context *ctx, const evl_node *node, const char *kind, size_t i,
                         int32_t rank, int32_t *axis, bool *is_backward)
{
    char name[32] = { 0 };
    size_t n, length = strlen(kind);
    bool has_batch = node->version < BATCHLESS && node->op == &evl_op_scan;
    memcpy(name, kind, length + 1);
    memcpy(name + length, "_axes", sizeof "_axes");
    const int64_t *axes = evl_node_ints(node, name, &n);
    int64_t wanted = axes && i < n && !has_batch ? axes[i] : 0;
    memcpy(name + length, "_directions", sizeof "_directions");
    bool is_input = strcmp(kind, "scan_input") == 0;
    const int64_t *directions =
        has_batch ? is_input ? evl_node_ints(node, "directions", &n) : NULL
                  : evl_node_ints(node, name, &n);
    *is_backward = directions && i < n && directions[i] == 1;
    return evl_axis(ctx, kind, wanted, rank, axis);
}

static void drop_axis(evl_shape *s, int32_t axis)
{
    s->rank--;
    for (int32_t i = axis; i < s->rank; i++)
        s->dim[i] = s->dim[i + 1];
}

static EvalStatus insert_axis(evl_context *ctx, evl_shape *s, int32_t axis, int64_t size)
{
    if (s->rank == EVAL_MAX_RANK)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "an output has more than %d axes", EVAL_MAX_RANK);
    for (int32_t i = s->rank++; i > axis; i--)
        s->dim[i] = s->dim[i - 1];
    s->dim[axis] = size;
    return EVAL_OK;
}

static const evl_tensor *operand(const evl_node *node, size_t input)
{
    return input < node->n_inputs && node->inputs[input] ? &evl_value_final(node->inputs[input])->t
                                                         : NULL;
}

/* A number that the loop itself gives: of rank 1 where the body says so. */
static void give_number(evl_value *v, EvalType type, const evl_tensor *from)
{
    evl_shape one = evl_shape_of(1, (int64_t[]){ 1 });
    bool is_list = v->t.shape.rank == 1 && !from;
    evl_shape shape = from ? from->shape : is_list ? one : evl_shape_scalar();
    v->t = (evl_tensor){ .type = type, .shape = shape };
}

/* A body may take an optional where what it holds is given. */
static void give_carried(evl_value *v, const evl_tensor *from, bool has_batch)
{
    evl_tensor inside = evl_nested_inside(&v->t, 0);
    bool is_optional = v->t.type == EVAL_OPTIONAL && from->type == inside.type;
    v->t.shape = from->shape;
    if (from->type != EVAL_UNDEFINED && !is_optional)
        evl_type_copy(from, &v->t);
    if (is_optional)
        v->t.shape = evl_shape_of(1, (int64_t[]){ EVL_UNKNOWN_DIM });
    if (has_batch && v->t.shape.rank > 0)
        drop_axis(&v->t.shape, 0);
}

static EvalStatus give_slice(evl_context *ctx, const evl_node *node, size_t i, evl_value *v,
                             const evl_tensor *from, bool has_batch)
{
    int32_t axis;
    bool is_backward;
    evl_shape s = from->shape;
    if (has_batch && s.rank > 0)
        drop_axis(&s, 0);
    if (s.rank >= 0) {
        EvalStatus st = evl_loop_axis(ctx, node, "scan_input", i, s.rank, &axis, &is_backward);
        if (st != EVAL_OK)
            return st;
        drop_axis(&s, axis);
    }
    v->t = (evl_tensor){ .type = from->type, .shape = s };
    return EVAL_OK;
}

EvalStatus evl_loop_begin(evl_context *ctx, const evl_node *node, evl_graph *body)
{
    evl_loop l;
    EvalStatus st = evl_loop_read(ctx, node, &l);
    if (st != EVAL_OK)
        return st;
    if (l.body_carried)
        give_number(body->inputs[0], EVAL_INT64, NULL);
    for (size_t i = 0; i < l.n_carried; i++) {
        evl_value *v = body->inputs[l.body_carried + i];
        const evl_tensor *from = operand(node, l.node_carried + i);
        if (i < l.n_unshown)
            give_number(v, EVAL_BOOL, from);
        else if (from)
            give_carried(v, from, l.has_batch);
        else
            return evl_fail(ctx, EVAL_ERR_FORMAT, "what is carried as '%s' is left out", v->name);
    }
    for (size_t i = 0; i < l.n_scanned && st == EVAL_OK; i++) {
        const evl_tensor *from = operand(node, l.node_carried + l.n_carried + i);
        if (!from || evl_type_is_nested(from->type))
            return evl_fail(ctx, EVAL_ERR_TYPE, "scanned input %zu is no tensor", i);
        st = give_slice(ctx, node, i, body->inputs[l.n_carried + i], from, l.has_batch);
    }
    return st;
}

/* False: `in` did not say so much. */
static bool is_settled(evl_tensor *in, const evl_tensor *out)
{
    bool settled = true;
    if (in->type == EVAL_UNDEFINED && out->type != EVAL_UNDEFINED) {
        evl_type_copy(out, in);
        return false;
    }
    if (in->shape.rank < 0 || evl_type_is_nested(in->type))
        return true;
    if (in->shape.rank != out->shape.rank) {
        in->shape = evl_shape_unknown();
        return false;
    }
    for (int32_t i = 0; i < in->shape.rank; i++)
        if (in->shape.dim[i] >= 0 && in->shape.dim[i] != out->shape.dim[i]) {
            in->shape.dim[i] = EVL_UNKNOWN_DIM;
            settled = false;
        }
    return settled;
}

bool evl_loop_settle(const evl_loop *l, const evl_graph *inferred)
{
    bool settled = true;
    for (size_t i = 0; i < l->n_carried; i++)
        settled &= is_settled(&l->body->inputs[l->body_carried + i]->t,
                              &evl_value_final(inferred->outputs[i])->t);
    return settled;
}

void evl_loop_forget(const evl_loop *l)
{
    for (size_t i = 0; i < l->n_carried; i++) {
        evl_tensor *t = &l->body->inputs[l->body_carried + i]->t;
        if (!evl_type_is_nested(t->type))
            t->shape = evl_shape_unknown();
    }
}

/* --- what comes out ------------------------------------------------------------------ */

/* An optional may come out as what it holds, and the other way round. */
static bool may_be(const evl_tensor *a, const evl_tensor *b)
{
    bool both_float = evl_type_is_float(a->type) && evl_type_is_float(b->type);
    evl_tensor inside = evl_nested_inside(a, 0);
    return a->type == EVAL_UNDEFINED || b->type == EVAL_UNDEFINED || a->type == b->type ||
           both_float || (a->type == EVAL_OPTIONAL && (inside.type == b->type || !inside.type));
}

static EvalStatus infer_carried(evl_infer *x, const evl_loop *l, size_t i)
{
    char a[EVL_TYPE_TEXT], b[EVL_TYPE_TEXT];
    const evl_value *in = l->body->inputs[l->body_carried + i];
    const evl_tensor *out = &evl_value_final(l->body->outputs[i])->t;
    if (!may_be(&in->t, out) && !may_be(out, &in->t))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "what is carried as '%s' is of type %s, then %s",
                        in->name, evl_type_text(&in->t, a), evl_type_text(out, b));
    if (i < l->n_unshown || i - l->n_unshown >= x->n_out)
        return EVAL_OK;
    evl_tensor *to = &x->out[i - l->n_unshown];
    evl_type_copy(out->type == EVAL_UNDEFINED ? &in->t : out, to);
    to->shape = in->t.shape;
    return l->has_batch && to->shape.rank >= 0
               ? insert_axis(x->ctx, &to->shape, 0, EVL_UNKNOWN_DIM)
               : EVAL_OK;
}

/* Known to be. */
static bool is_true(const evl_tensor *t)
{
    return t->type == EVAL_BOOL && t->data && evl_shape_is_known(&t->shape) &&
           evl_shape_count(&t->shape) > 0 && evl_tensor_i64(t, 0);
}

/* The trips that a loop makes for sure: it is told how many, and nothing ends it before. */
static int64_t sure_trips(const evl_infer *x, const evl_loop *l)
{
    const evl_tensor *n = evl_use_in(&x->use, 0), *condition = evl_use_in(&x->use, 1);
    const evl_value *again = evl_value_final(l->body->outputs[0]);
    while (again && again->producer && again->producer->op == &evl_op_identity) /* not looked at yet */
        again = again->producer->n_inputs ? evl_value_final(again->producer->inputs[0]) : NULL;
    bool goes_on = again && (again == l->body->inputs[1] || (again->is_constant && is_true(&again->t)));
    if (!n || !n->data || !evl_shape_is_known(&n->shape) || evl_shape_count(&n->shape) == 0)
        return EVL_UNKNOWN_DIM;
    if (condition && !(is_true(condition) && goes_on))
        return EVL_UNKNOWN_DIM;
    int64_t trips = evl_tensor_i64(n, 0) < 0 ? 0 : evl_tensor_i64(n, 0);
    return (uint64_t)trips <= x->ctx->limits->max_trips ? trips : EVL_UNKNOWN_DIM;
}

/* Of Scan: the size of the axis that is scanned. */
static EvalStatus scan_trips(const evl_infer *x, const evl_loop *l, int64_t *trips)
{
    int32_t axis, first;
    bool is_backward;
    *trips = EVL_UNKNOWN_DIM;
    for (size_t i = 0; i < l->n_scanned; i++) {
        const evl_shape *s = &x->use.in[l->node_carried + l->n_carried + i]->shape;
        first = l->has_batch;
        if (s->rank < 0)
            continue;
        EvalStatus st = evl_loop_axis(x->ctx, x->use.node, "scan_input", i, s->rank - first, &axis,
                                      &is_backward);
        if (st != EVAL_OK)
            return st;
        int64_t size = s->dim[first + axis];
        if (*trips >= 0 && size >= 0 && size != *trips)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                            "scanned input %zu has %lld slices, another has %lld", i,
                            (long long)size, (long long)*trips);
        *trips = size >= 0 ? size : *trips;
    }
    return EVAL_OK;
}

static EvalStatus infer_gathered(evl_infer *x, const evl_loop *l, size_t i, int64_t trips)
{
    const evl_tensor *out = &evl_value_final(l->body->outputs[l->n_carried + i])->t;
    size_t at = l->n_carried - l->n_unshown + i;
    int32_t axis;
    bool is_backward;
    if (evl_type_is_nested(out->type))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "gathered output %zu is no tensor", i);
    if (at >= x->n_out)
        return EVAL_OK;
    x->out[at].type = out->type;
    if (out->shape.rank < 0)
        return EVAL_OK;
    x->out[at].shape = out->shape;
    EvalStatus st = evl_loop_axis(x->ctx, x->use.node, "scan_output", i, out->shape.rank + 1, &axis,
                                  &is_backward);
    if (st == EVAL_OK)
        st = insert_axis(x->ctx, &x->out[at].shape, axis, trips);
    if (st == EVAL_OK && l->has_batch)
        st = insert_axis(x->ctx, &x->out[at].shape, 0, EVL_UNKNOWN_DIM);
    return st;
}

/* As read, shapes are not known to stay the same: fold.c, in a plan's copy, says more. */
static EvalStatus begin_as_read(evl_infer *x, const evl_loop *l)
{
    if (l->body->real != EVAL_UNDEFINED)
        return EVAL_OK;
    EvalStatus st = evl_loop_begin(x->ctx, x->use.node, l->body);
    evl_loop_forget(l);
    return st;
}

static EvalStatus infer_all(evl_infer *x, const evl_loop *l, int64_t trips)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < l->n_carried && st == EVAL_OK; i++)
        st = infer_carried(x, l, i);
    for (size_t i = 0; i < l->n_gathered && st == EVAL_OK; i++)
        st = infer_gathered(x, l, i, trips);
    return st;
}

static EvalStatus infer_loop(evl_infer *x)
{
    evl_loop l;
    EvalStatus st = evl_loop_read(x->ctx, x->use.node, &l);
    if (st == EVAL_OK)
        st = begin_as_read(x, &l);
    return st == EVAL_OK ? infer_all(x, &l, sure_trips(x, &l)) : st;
}

static EvalStatus infer_scan(evl_infer *x)
{
    evl_loop l;
    int64_t trips = EVL_UNKNOWN_DIM;
    EvalStatus st = evl_loop_read(x->ctx, x->use.node, &l);
    if (st == EVAL_OK)
        st = begin_as_read(x, &l);
    if (st == EVAL_OK)
        st = scan_trips(x, &l, &trips);
    if (st == EVAL_OK)
        st = infer_all(x, &l, trips);
    const evl_shape *first = st == EVAL_OK && l.has_batch ? &x->use.in[1]->shape : NULL;
    for (size_t i = 0; first && first->rank > 0 && i < x->n_out; i++)
        if (x->out[i].shape.rank > 0)
            x->out[i].shape.dim[0] = first->dim[0];
    return st;
}

const evl_op evl_op_loop = {
    .name = "Loop",
    .min_inputs = 0,
    .max_inputs = EVL_ANY_NUMBER,
    .min_outputs = 1,
    .max_outputs = EVL_ANY_NUMBER,
    .traits = EVL_OP_CONTROL | EVL_OP_NESTED,
    .infer = infer_loop,
};

const evl_op evl_op_scan = {
    .name = "Scan",
    .min_inputs = 0, /* of opset 8 the first may be left out */
    .max_inputs = EVL_ANY_NUMBER,
    .min_outputs = 1,
    .max_outputs = EVL_ANY_NUMBER,
    .traits = EVL_OP_CONTROL | EVL_OP_NESTED,
    .infer = infer_scan,
};

const evl_op *const evl_ops_loop[] = { &evl_op_loop, &evl_op_scan, NULL };
