/* What stands between DequantizeLinear and QuantizeLinear is computed with the integers
** themselves: products and convolutions become the quantized operators, Add and Mul too, and
** what only moves elements moves integers. An activation that clips becomes bounds of the
** result, since rounding keeps the order of numbers.
**
** Sums of products are exact then, where the graph rounds real ones: a result differs from the
** graph's, if at all, by the quantum of a tie. A real bias is rounded to the sums' quantum, where
** that is small beside the result's. With accuracy=exact all stays as it is.
**
** A MatMulInteger whose sums become real numbers by a scale and a bias takes those over. */
#include "ops/ops.h"
#include "ops/quantize.h"
#include "ops/sums.h"
#include "passes/match.h"
#include "passes/passes.h"
#include <math.h>
#include <string.h>

enum { MOST_INPUTS = 9, MOST_ATTRIBUTES = 16 };

static const double bias_quanta = 16; /* of the sums in one of the result, at least */

typedef struct fusion {
    evl_context *ctx;
    evl_graph *graph;
    EvalStatus status;
} fusion;

/* Integers and what they stand for; zero NULL: left out. */
typedef struct quantized {
    evl_value *q, *scale, *zero;
    int64_t axis;
} quantized;

static bool is_named(const evl_node *node, const char *name) /* ai.onnx's or com.microsoft's */
{
    return node && strcmp(node->op->name, name) == 0;
}

static bool is_known(const evl_value *v)
{
    return v->is_constant && v->t.data;
}

static bool is_single(const evl_value *v)
{
    return evl_shape_is_known(&v->t.shape) && evl_shape_count(&v->t.shape) == 1;
}

static bool parts_of(const evl_node *node, evl_value *q, quantized *x)
{
    if (!q || node->n_inputs < 2 || !node->inputs[1]) /* as in branches that are never taken */
        return false;
    *x = (quantized){ q, node->inputs[1], node->n_inputs > 2 ? node->inputs[2] : NULL,
                      evl_node_int(node, "axis", 1) };
    return evl_node_int(node, "block_size", 0) == 0 && is_known(x->scale) &&
           (!x->zero || (is_known(x->zero) && x->zero->t.type == q->t.type));
}

/* The integers that v is read from; of a type other than bytes only when asked for it. */
static bool read_from(const evl_value *v, quantized *x)
{
    return v && is_named(v->producer, "DequantizeLinear") && v->producer->n_inputs > 0 &&
           parts_of(v->producer, v->producer->inputs[0], x);
}

static bool single_bytes(const evl_value *v, quantized *x)
{
    return read_from(v, x) && evl_is_byte(x->q->t.type) && is_single(x->scale);
}

static double number(const evl_value *v, size_t i)
{
    return evl_parameter(v ? &v->t : NULL, i, 0);
}

static void *no_memory(fusion *f)
{
    f->status = evl_no_memory(f->ctx);
    return NULL;
}

static evl_value *constant(fusion *f, EvalType type, const evl_shape *shape, void *data)
{
    evl_value *v = data ? evl_graph_constant(f->graph, NULL, type, shape, data) : NULL;
    if (!v)
        return no_memory(f);
    v->t.life = EVL_LIFE_PLAN;
    return v;
}

static evl_value *zero_of(fusion *f, const quantized *x)
{
    evl_shape scalar = evl_shape_scalar();
    uint8_t *zero = x->zero ? NULL : evl_arena_take(f->graph->arena, 1);
    if (x->zero)
        return x->zero;
    if (zero)
        *zero = 0;
    return constant(f, x->q->t.type, &scalar, zero);
}

/* --- what a QuantizeLinear ends --- */

typedef struct group {
    evl_node *last;     /* the QuantizeLinear; NULL: the result stays real */
    evl_node *op;
    quantized y;
    double least, most; /* bounds of y that an activation gives */
} group;

static double bound(const evl_node *node, size_t input, const char *name, double fallback)
{
    const evl_value *v = input < node->n_inputs ? node->inputs[input] : NULL;
    if (!v)
        return evl_node_number(node, name, fallback);
    return is_known(v) && is_single(v) ? number(v, 0) : (double)NAN;
}

static double quantum_of(const group *g, double x)
{
    return nearbyint((double)((float)x / (float)number(g->y.scale, 0))) + number(g->y.zero, 0);
}

/* Past an activation that clips; false: there is one whose bounds are not known. */
static bool pass_activation(group *g, evl_value **v)
{
    const evl_node *node = (*v)->producer;
    if (!node || (node->op != &evl_op_relu && node->op != &evl_op_clip) || (*v)->slot != 1 ||
        !node->inputs[0])
        return true;
    bool is_relu = node->op == &evl_op_relu;
    double least = is_relu ? 0 : bound(node, 1, "min", -(double)INFINITY);
    double most = is_relu ? (double)INFINITY : bound(node, 2, "max", (double)INFINITY);
    if (!(least <= most))
        return false;
    g->least = fmax(g->least, quantum_of(g, least));
    g->most = fmin(g->most, quantum_of(g, most));
    *v = node->inputs[0];
    return true;
}

static bool group_of(evl_node *node, group *g)
{
    *g = (group){ .last = node };
    if (!is_named(node, "QuantizeLinear") || node->n_outputs != 1 || !parts_of(node, node->outputs[0], &g->y) ||
        !evl_is_byte(g->y.q->t.type) || !is_single(g->y.scale))
        return false;
    evl_value *v = node->inputs[0];
    (void)evl_quantized_range(g->y.q->t.type, &g->least, &g->most);
    if (!v || !pass_activation(g, &v) || !v->producer || v->slot != 1 || g->least > g->most)
        return false;
    g->op = v->producer;
    return g->op->n_inputs > 0 && (g->op->n_outputs == 1 || g->op->op == &evl_op_max_pool);
}

static bool is_clipped(const group *g)
{
    evl_number least, most;
    (void)evl_quantized_range(g->y.q->t.type, &least, &most);
    return g->least > least || g->most < most;
}

/* --- rewriting --- */

/* The group's last node, which stands behind all that is read, computes it all. */
static void become(fusion *f, group *g, const evl_op *op, evl_value *const *inputs, size_t n)
{
    evl_node *node = g->last ? g->last : g->op;
    evl_attribute attributes[MOST_ATTRIBUTES + 2];
    size_t n_attributes = g->op->n_attributes;
    evl_value **copy = evl_arena_take_many(f->graph->arena, n, sizeof *copy);
    if (!copy || f->status != EVAL_OK) {
        no_memory(f);
        return;
    }
    memcpy(copy, inputs, n * sizeof *copy);
    if (n_attributes)
        memcpy(attributes, g->op->attributes, n_attributes * sizeof *attributes);
    if (g->last && is_clipped(g)) {
        attributes[n_attributes++] = evl_attribute_number(EVL_LEAST, g->least);
        attributes[n_attributes++] = evl_attribute_number(EVL_MOST, g->most);
    }
    int version = g->op->version;
    if (!evl_node_attributes(node, attributes, n_attributes)) {
        no_memory(f);
        return;
    }
    if (g->last)
        g->op->outputs[0]->slot = 0;
    node->op = op;
    node->version = version;
    node->inputs = copy;
    node->n_inputs = n;
}

/* What one is in the sums: the scales' product, of column or channel i. */
static double sum_scale(const quantized *a, const quantized *b, size_t i)
{
    return number(a->scale, 0) * number(b->scale, i);
}

/* Whether v's integers already are sums. */
static bool is_in_sums(const evl_value *v, const quantized *a, const quantized *b, evl_value **sums)
{
    quantized x;
    if (!read_from(v, &x) || x.q->t.type != EVAL_INT32)
        return false;
    size_t n = evl_shape_count(&x.scale->t.shape), m = evl_shape_count(&b->scale->t.shape);
    for (size_t i = 0; i < n || i < m; i++)
        if (fabs(number(x.scale, i) - sum_scale(a, b, i)) > 1e-6 * sum_scale(a, b, i))
            return false;
    for (size_t i = 0; x.zero && i < evl_shape_count(&x.zero->t.shape); i++)
        if (number(x.zero, i) != 0)
            return false;
    *sums = x.q;
    return true;
}

/* A bias as integers; false: that would be too coarse, or its numbers are not known. */
static bool bias_in_sums(fusion *f, const group *g, evl_value *v, const quantized *a,
                         const quantized *b, evl_value **sums)
{
    *sums = NULL;
    if (!v || is_in_sums(v, a, b, sums))
        return true;
    size_t n = evl_shape_is_known(&v->t.shape) ? evl_shape_count(&v->t.shape) : 0;
    if (!is_known(v) || v->t.shape.rank != 1 || !g->last)
        return false;
    int32_t *data = evl_arena_take_many(f->graph->arena, n, sizeof *data);
    for (size_t i = 0; data && i < n; i++) {
        double scale = sum_scale(a, b, i), sum = nearbyint(number(v, i) / scale);
        if (!(scale * bias_quanta <= number(g->y.scale, 0)) || !(fabs(sum) < (double)(1 << 30)))
            return false;
        data[i] = (int32_t)sum;
    }
    *sums = constant(f, EVAL_INT32, &v->t.shape, data);
    return *sums != NULL;
}

static bool has_scales_along(const quantized *x, int64_t axis, int32_t rank)
{
    return is_single(x->scale) ||
           (x->scale->t.shape.rank == 1 && (x->axis == axis || (rank > 0 && x->axis == axis - rank)));
}

static evl_value *input_of(const evl_node *node, size_t i)
{
    return i < node->n_inputs ? node->inputs[i] : NULL;
}

static bool fuse_conv(fusion *f, group *g)
{
    quantized x, w;
    evl_value *bias;
    if (!g->last || g->op->n_inputs < 2 || !single_bytes(g->op->inputs[0], &x) || !read_from(g->op->inputs[1], &w) ||
        !evl_is_byte(w.q->t.type) || !has_scales_along(&w, 0, w.q->t.shape.rank) ||
        !bias_in_sums(f, g, input_of(g->op, 2), &x, &w, &bias))
        return false;
    evl_value *in[] = { x.q,          x.scale,    zero_of(f, &x),    w.q, w.scale,
                        zero_of(f, &w), g->y.scale, zero_of(f, &g->y), bias };
    become(f, g, &evl_op_qlinear_conv, in, bias ? 9 : 8);
    return true;
}

static bool fuse_gemm(fusion *f, group *g)
{
    quantized a, b;
    evl_value *c;
    bool is_transposed = evl_node_int(g->op, "transB", 0) != 0;
    if (g->op->n_inputs < 2 || !single_bytes(g->op->inputs[0], &a) ||
        !read_from(g->op->inputs[1], &b) || !evl_is_byte(b.q->t.type) || !has_scales_along(&b, is_transposed ? 0 : 1, 2) ||
        evl_node_number(g->op, "alpha", 1) != 1 || evl_node_number(g->op, "beta", 1) != 1 ||
        !bias_in_sums(f, g, input_of(g->op, 2), &a, &b, &c))
        return false;
    evl_value *in[] = { a.q, a.scale, zero_of(f, &a), b.q, b.scale, zero_of(f, &b), c, NULL, NULL };
    if (g->last) {
        in[7] = g->y.scale;
        in[8] = zero_of(f, &g->y);
    }
    become(f, g, &evl_op_qgemm, in, g->last ? 9 : 7);
    return true;
}

static bool fuse_matmul(fusion *f, group *g)
{
    quantized a, b;
    if (g->op->n_inputs < 2 || !single_bytes(g->op->inputs[0], &a) ||
        !read_from(g->op->inputs[1], &b) || !evl_is_byte(b.q->t.type))
        return false;
    int32_t rank = b.q->t.shape.rank;
    if (!is_single(b.scale) && (rank < 2 || !has_scales_along(&b, rank - 1, rank)))
        return false;
    evl_value *quantized_in[] = { a.q,     a.scale,        zero_of(f, &a), b.q,
                                  b.scale, zero_of(f, &b), g->y.scale,     NULL };
    evl_value *real_in[] = { a.q, b.q, a.scale, b.scale, zero_of(f, &a), zero_of(f, &b) };
    if (g->last)
        quantized_in[7] = zero_of(f, &g->y);
    if (g->last)
        become(f, g, &evl_op_qlinear_matmul, quantized_in, 8);
    else
        become(f, g, &evl_op_matmul_integer_to_float, real_in, 6);
    return true;
}

static bool fuse_binary(fusion *f, group *g)
{
    quantized a, b;
    if (!g->last || g->op->n_inputs < 2 || !single_bytes(g->op->inputs[0], &a) || !single_bytes(g->op->inputs[1], &b) ||
        a.q->t.type != g->y.q->t.type || b.q->t.type != g->y.q->t.type || g->op->version < 7)
        return false;
    evl_value *in[] = { a.q,     a.scale,        zero_of(f, &a), b.q,
                        b.scale, zero_of(f, &b), g->y.scale,     zero_of(f, &g->y) };
    become(f, g, g->op->op == &evl_op_add ? &evl_op_qlinear_add : &evl_op_qlinear_mul, in, 8);
    return true;
}

static bool stand_for_the_same(const quantized *a, const quantized *b)
{
    return a->q->t.type == b->q->t.type && number(a->scale, 0) == number(b->scale, 0) &&
           number(a->zero, 0) == number(b->zero, 0);
}

/* Elements only move, or the largest of some is taken: the integers do the same. */
static bool fuse_move(fusion *f, group *g)
{
    evl_value *in[MOST_INPUTS];
    bool is_concat = g->op->op == &evl_op_concat;
    quantized x;
    if (!g->last || is_clipped(g) || g->op->n_inputs > MOST_INPUTS || g->op->n_inputs == 0)
        return false;
    for (size_t i = 0; i < g->op->n_inputs; i++) {
        in[i] = g->op->inputs[i];
        if (i > 0 && !is_concat)
            continue;
        if (!single_bytes(in[i], &x) || !stand_for_the_same(&x, &g->y))
            return false;
        in[i] = x.q;
    }
    if (g->op->n_outputs > 1 && g->op->outputs[1]) /* where the largest were */
        return false;
    become(f, g, g->op->op, in, g->op->n_inputs);
    return true;
}

static const struct {
    const evl_op *op;
    bool (*fuse)(fusion *, group *);
} ways[] = {
    { &evl_op_conv, fuse_conv },         { &evl_op_gemm, fuse_gemm },
    { &evl_op_matmul, fuse_matmul },     { &evl_op_add, fuse_binary },
    { &evl_op_mul, fuse_binary },        { &evl_op_concat, fuse_move },
    { &evl_op_max_pool, fuse_move },     { &evl_op_reshape, fuse_move },
    { &evl_op_flatten, fuse_move },      { &evl_op_squeeze, fuse_move },
    { &evl_op_unsqueeze, fuse_move },    { &evl_op_transpose, fuse_move },
    { &evl_op_slice, fuse_move },        { &evl_op_expand, fuse_move },
    { &evl_op_tile, fuse_move },         { &evl_op_gather, fuse_move },
    { &evl_op_global_max_pool, fuse_move },
};

static void fuse(fusion *f, group *g)
{
    if (g->op->n_attributes > MOST_ATTRIBUTES)
        return;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (ways[i].op == g->op->op) {
            (void)ways[i].fuse(f, g);
            return;
        }
}

/* --- products of integers that become real --- */

/* The node that makes v, when it is named so and nothing else reads v. */
static evl_node *only_maker(const evl_value *v, const char *name)
{
    return v && v->slot == 1 && is_named(v->producer, name) ? v->producer : NULL;
}

static bool is_of_columns(const evl_value *v, const evl_value *b)
{
    const evl_shape *s = v ? &v->t.shape : NULL, *columns = &b->t.shape;
    return s && evl_shape_is_known(s) &&
           (evl_shape_count(s) == 1 || (s->rank == 1 && columns->rank > 1 && s->dim[0] == columns->dim[columns->rank - 1])) &&
           s->rank <= columns->rank;
}

static evl_value *one_of(fusion *f)
{
    evl_shape scalar = evl_shape_scalar();
    float *one = evl_arena_take(f->graph->arena, sizeof *one);
    if (one)
        *one = 1;
    return constant(f, EVAL_FLOAT32, &scalar, one);
}

/* Mul(Cast(MatMulInteger), scale), as tools write it for operands that are quantized in the run. */
static bool fuse_scaled(fusion *f, evl_node *mul)
{
    for (size_t i = 0; i < 2; i++) {
        const evl_node *cast = only_maker(mul->inputs[i], "Cast");
        const evl_node *product = cast && cast->n_inputs ? only_maker(cast->inputs[0], "MatMulInteger") : NULL;
        evl_value *scale = mul->inputs[1 - i];
        int64_t to = cast ? evl_node_int(cast, "to", 0) : 0;
        if (!product || !scale || (to != EVAL_FLOAT32 && to != EVAL_FLOAT64) || !is_of_columns(scale, product->inputs[1]))
            continue;
        evl_value *in[] = { product->inputs[0], product->inputs[1], one_of(f), scale,
                            input_of(product, 2), input_of(product, 3) };
        group g = { .op = mul };
        become(f, &g, &evl_op_matmul_integer_to_float, in, 6);
        return true;
    }
    return false;
}

/* Add(MatMulIntegerToFloat, bias). */
static bool fuse_bias(fusion *f, evl_node *add)
{
    for (size_t i = 0; i < 2; i++) {
        const evl_node *product = only_maker(add->inputs[i], "MatMulIntegerToFloat");
        evl_value *bias = add->inputs[1 - i];
        if (!product || product->n_inputs != 6 || !bias || !is_known(bias) || bias->t.shape.rank != 1 ||
            !is_of_columns(bias, product->inputs[1]))
            continue;
        evl_value *in[7] = { NULL };
        memcpy(in, product->inputs, 6 * sizeof *in);
        in[6] = bias;
        group g = { .op = add };
        become(f, &g, &evl_op_matmul_integer_to_float, in, 7);
        return true;
    }
    return false;
}

static void fuse_all(fusion *f, evl_graph *graph)
{
    group g;
    f->graph = graph;
    for (size_t i = 0; i < graph->n_nodes && f->status == EVAL_OK; i++)
        if (group_of(graph->nodes[i], &g))
            fuse(f, &g);
    /* Products whose results stay real, and whose operands need not become so. */
    for (size_t i = 0; i < graph->n_nodes && f->status == EVAL_OK; i++) {
        evl_node *op = graph->nodes[i];
        g = (group){ .op = op };
        if (op->n_inputs > 1 && op->n_outputs == 1 && op->outputs[0] && op->outputs[0]->slot > 0 &&
            (op->op == &evl_op_matmul || op->op == &evl_op_gemm))
            fuse(f, &g);
    }
    for (size_t i = 0; i < graph->n_nodes && f->status == EVAL_OK; i++) {
        evl_node *op = graph->nodes[i];
        if (op->n_inputs == 2 && op->version >= 7)
            (void)(op->op == &evl_op_mul ? fuse_scaled(f, op) : op->op == &evl_op_add && fuse_bias(f, op));
    }
    for (size_t i = 0; i < graph->n_nodes && f->status == EVAL_OK; i++)
        for (size_t b = 0; evl_node_body(graph->nodes[i], b); b++)
            fuse_all(f, evl_node_body(graph->nodes[i], b));
}

EvalStatus evl_pass_integers(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    fusion f = { .ctx = ctx };
    if (env->machine->accuracy == EVL_EXACT)
        return EVAL_OK;
    evl_match_count(graph);
    fuse_all(&f, graph);
    return f.status;
}
