/* LayerNormalization and RMSNormalization as exporters write them become one operator:
** d / sqrt(mean(d^2) + epsilon), where d is x or x - mean(x), then scaled, then shifted.
**
** A row stays in the first cache for all of it; written out, each step is a pass over
** memory (a sixth of what is no product in a BERT). */
#include "ops/axes.h"
#include "ops/ops.h"
#include "passes/match.h"
#include "passes/passes.h"

typedef struct norm {
    evl_value *x;
    int32_t axis; /* the first that is normalized; all behind it are */
    double epsilon;
    bool is_centred;
} norm;

/* What is averaged over all axes from *axis on, which stay as ones. */
static evl_value *averaged(evl_context *ctx, const evl_value *v, int32_t *axis)
{
    const evl_node *node = evl_match_made(v, &evl_op_reduce_mean);
    if (!node || evl_node_int(node, "keepdims", 1) == 0 || node->inputs[0]->t.shape.rank < 1)
        return NULL;
    const evl_tensor *in[2] = { &node->inputs[0]->t };
    if (node->n_inputs > 1 && node->inputs[1])
        in[1] = &node->inputs[1]->t;
    evl_use use = { node, in, node->n_inputs < 2 ? 1 : 2 };
    int32_t rank = in[0]->shape.rank, least = rank;
    evl_axes axes;
    if (evl_axes_of(ctx, &use, "axes", 1, rank, &axes) != EVAL_OK || axes.known != EVL_KNOWN)
        return NULL;
    for (size_t i = 0; i < axes.n; i++)
        least = axes.axis[i] < least ? axes.axis[i] : least;
    if (least == rank || least + (int32_t)axes.n != rank)
        return NULL;
    *axis = least;
    return node->inputs[0];
}

/* x, when v is x - mean(x). */
static evl_value *centred(evl_context *ctx, const evl_value *v, int32_t *axis)
{
    const evl_node *node = evl_match_made(v, &evl_op_sub);
    evl_value *x = node ? averaged(ctx, node->inputs[1], axis) : NULL;
    return x && x == node->inputs[0] ? x : NULL;
}

static evl_value *squared(const evl_value *v)
{
    double exponent;
    const evl_node *node = evl_match_made(v, &evl_op_mul);
    if (node)
        return node->inputs[0] == node->inputs[1] ? node->inputs[0] : NULL;
    node = evl_match_made(v, &evl_op_pow);
    return node && evl_match_number(node->inputs[1], &exponent) && exponent == 2 ? node->inputs[0]
                                                                                 : NULL;
}

/* What v is a power of, exponent 1/2 or -1/2. */
static evl_value *rooted(const evl_value *v, bool is_inverse)
{
    double number;
    const evl_node *node = evl_match_made(v, &evl_op_pow);
    if (node)
        return evl_match_number(node->inputs[1], &number) && number == (is_inverse ? -0.5 : 0.5)
                   ? node->inputs[0]
                   : NULL;
    if (!is_inverse)
        return (node = evl_match_made(v, &evl_op_sqrt)) ? node->inputs[0] : NULL;
    if ((node = evl_match_made(v, &evl_op_reciprocal)))
        return rooted(node->inputs[0], false);
    node = evl_match_made(v, &evl_op_div);
    return node && evl_match_number(node->inputs[0], &number) && number == 1
               ? rooted(node->inputs[1], false)
               : NULL;
}

/* d and what it is divided by the root of. */
static bool divided(const evl_value *v, evl_value **d, evl_value **by)
{
    const evl_node *node = evl_match_made(v, &evl_op_div);
    if (node) {
        *d = node->inputs[0];
        *by = rooted(node->inputs[1], false);
        return *by != NULL;
    }
    node = evl_match_made(v, &evl_op_mul);
    for (size_t i = 0; node && i < 2; i++)
        if ((*by = rooted(node->inputs[i], true))) {
            *d = node->inputs[1 - i];
            return true;
        }
    return false;
}

static bool normalized(evl_context *ctx, const evl_value *v, norm *n)
{
    evl_value *d, *by;
    size_t at;
    int32_t axis_d, axis_square;
    if (!divided(v, &d, &by))
        return false;
    const evl_value *mean = evl_match_beside(evl_match_made(by, &evl_op_add), &n->epsilon, &at);
    const evl_value *square = squared(averaged(ctx, mean, &n->axis));
    if (!square)
        return false;
    n->x = centred(ctx, d, &axis_d);
    n->is_centred = n->x && centred(ctx, square, &axis_square) == n->x && axis_d == n->axis &&
                    axis_square == n->axis;
    if (!n->is_centred)
        n->x = d;
    return n->is_centred || square == d;
}

/* One element for each of a row of x. */
static bool is_of_row(const evl_shape *s, const evl_shape *x, int32_t axis)
{
    if (s->rank > x->rank || s->rank < x->rank - axis)
        return false;
    for (int32_t i = 0; i < s->rank; i++) {
        int32_t at = x->rank - s->rank + i;
        if (s->dim[i] != (at < axis ? 1 : x->dim[at]))
            return false;
    }
    return true;
}

static EvalStatus scale(evl_context *ctx, evl_node *node)
{
    norm n;
    for (size_t i = 0; i < 2; i++) {
        evl_value *by = node->inputs[1 - i];
        if (node->inputs[i]->slot != 1 || !normalized(ctx, node->inputs[i], &n) ||
            !evl_shape_is_known(&n.x->t.shape) || n.x->t.type != node->graph->real ||
            by->t.type != n.x->t.type || !is_of_row(&by->t.shape, &n.x->t.shape, n.axis))
            continue;
        const evl_attribute how[] = { evl_attribute_int("axis", n.axis),
                                      evl_attribute_number("epsilon", n.epsilon) };
        const evl_op *op = n.is_centred ? &evl_op_layer_normalization : &evl_op_rms_normalization;
        return evl_match_become(node, op, (evl_value *[]){ n.x, by }, 2, how, 2)
                   ? EVAL_OK
                   : evl_no_memory(ctx);
    }
    return EVAL_OK;
}

static EvalStatus shift(evl_context *ctx, evl_node *node)
{
    for (size_t i = 0; i < 2; i++) {
        const evl_node *from = evl_match_made(node->inputs[i], &evl_op_layer_normalization);
        evl_value *by = node->inputs[1 - i];
        if (!from || from->version != EVL_NEWEST || from->n_inputs != 2 ||
            node->inputs[i]->slot != 1 || by->t.type != from->inputs[0]->t.type ||
            !is_of_row(&by->t.shape, &from->inputs[0]->t.shape,
                       (int32_t)evl_node_int(from, "axis", -1)))
            continue;
        evl_value *in[] = { from->inputs[0], from->inputs[1], by };
        return evl_match_become(node, from->op, in, 3, from->attributes, from->n_attributes)
                   ? EVAL_OK
                   : evl_no_memory(ctx);
    }
    return EVAL_OK;
}

static EvalStatus fuse(void *ctx, evl_node *node)
{
    if (node->op == &evl_op_mul)
        return scale(ctx, node);
    return node->op == &evl_op_add ? shift(ctx, node) : EVAL_OK;
}

EvalStatus evl_pass_fuse_norm(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    (void)env;
    evl_match_count(graph);
    return evl_match_each(graph, fuse, ctx);
}
