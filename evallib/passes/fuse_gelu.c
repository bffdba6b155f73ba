/* Gelu as exporters write it, x / 2 * (1 + erf(x / sqrt 2)), becomes one operator, which a
** product before it can take over. The factors stand in any order.
**
** A float32 constant is 1e-8 beside sqrt 2, which a network in double must keep. */
#include "ops/ops.h"
#include "passes/match.h"
#include "passes/passes.h"
#include <math.h>

/* The other operand, when one is a constant number close to `wanted`; NULL: it is not so. */
static evl_value *beside(const evl_node *node, const evl_op *op, double wanted, double near)
{
    double number;
    size_t at;
    evl_value *x = node && node->op == op ? evl_match_beside(node, &number, &at) : NULL;
    return x && fabs(number - wanted) < near ? x : NULL;
}

/* x, when node makes x / sqrt 2. */
static evl_value *divided(const evl_node *node, double near)
{
    const double root = 1.41421356237309504880;
    evl_value *x = beside(node, &evl_op_mul, 1 / root, near);
    if (x)
        return x;
    x = beside(node, &evl_op_div, root, near);
    return x && node->inputs[0] == x ? x : NULL;
}

/* x, when v is 1 + erf(x / sqrt 2). */
static evl_value *bell_of(const evl_value *v, double near)
{
    const evl_value *erf = v ? beside(v->producer, &evl_op_add, 1, near) : NULL;
    if (!erf || !erf->producer || erf->producer->op != &evl_op_erf)
        return NULL;
    return divided(erf->producer->inputs[0]->producer, near);
}

/* x, when the factors are x and 1 + erf(x / sqrt 2), each way round. */
static evl_value *multiplied(evl_value *const *factors, double near)
{
    for (size_t i = 0; i < 2; i++) {
        evl_value *x = bell_of(factors[i], near);
        if (x && factors[1 - i] == x)
            return x;
    }
    return NULL;
}

/* x, when node makes Gelu of x: the half may be the last factor or belong to either. */
static evl_value *gelu_of(const evl_node *node, double near)
{
    if (node->op != &evl_op_mul)
        return NULL;
    const evl_value *product = beside(node, &evl_op_mul, 0.5, near);
    if (product && product->producer && product->producer->op == &evl_op_mul)
        return multiplied(product->producer->inputs, near);
    for (size_t i = 0; i < 2; i++) {
        evl_value *whole = beside(node->inputs[i]->producer, &evl_op_mul, 0.5, near);
        evl_value *factors[] = { node->inputs[1 - i], whole };
        evl_value *x = whole ? multiplied(factors, near) : NULL;
        if (x)
            return x;
    }
    return NULL;
}

typedef struct wanted {
    const evl_op *gelu;
    double near;
} wanted;

static EvalStatus fuse(void *arg, evl_node *node)
{
    const wanted *w = arg;
    evl_value *x = gelu_of(node, w->near);
    if (!x || x->t.type != node->outputs[0]->t.type ||
        !evl_shape_equal(&x->t.shape, &node->outputs[0]->t.shape))
        return EVAL_OK;
    node->op = w->gelu;
    node->version = EVL_NEWEST;
    node->inputs[0] = x;
    node->n_inputs = 1;
    node->n_attributes = 0;
    return EVAL_OK;
}

EvalStatus evl_pass_fuse_gelu(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    wanted w = { evl_op_find(NULL, "Gelu"), env->machine->precision == EVL_DOUBLE ? 1e-15 : 1e-6 };
    (void)ctx;
    return evl_match_each(graph, fuse, &w);
}
