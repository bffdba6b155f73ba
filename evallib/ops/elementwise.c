/* Element-wise operators of one input, and what is common to all of them. */
#include "ops/elementwise.h"
#include "ops/ops.h"
#include <math.h>

enum { TILE = 1 << 14, WHOLE = 1 << 16 }; /* less than WHOLE is not worth a second thread */

size_t evl_tile_count(size_t n)
{
    return n <= WHOLE ? 1 : (n - 1) / TILE + 1;
}

size_t evl_tile_start(size_t n, size_t tile)
{
    return tile < evl_tile_count(n) ? tile * TILE : n;
}

const evl_loops *evl_loops_of(const evl_prepare *p, size_t input)
{
    static evl_unary_loop *const no_unary[EVL_N_UNARY];
    static evl_binary_loop *const no_binary[EVL_N_BINARY];
    static evl_compare_loop *const no_compare[EVL_N_COMPARE];
    static evl_reduce_loop *const no_reduce[EVL_N_REDUCE];
    static evl_axis_loop *const no_axis[EVL_N_AXIS];
    static const evl_loops none = { .unary = no_unary,
                                    .binary = no_binary,
                                    .compare = no_compare,
                                    .reduce = no_reduce,
                                    .axis = no_axis };
    EvalType type = p->use.in[input]->type;
    const evl_loops *loops = (int)type < EVL_N_TYPES ? p->machine->loops[type] : NULL;
    return loops ? loops : &none;
}

EvalStatus evl_no_arithmetic(evl_context *ctx, EvalType type)
{
    return evl_fail(ctx, EVAL_ERR_TYPE, "no arithmetic of this operator for %s",
                    evl_type_name(type));
}

typedef struct cutting {
    const evl_call *call;
    evl_part *part;
    size_t n;
} cutting;

static void cut_tile(void *arg, size_t tile, size_t lane)
{
    const cutting *c = arg;
    (void)lane;
    c->part(c->call, evl_tile_start(c->n, tile), evl_tile_start(c->n, tile + 1));
}

EvalStatus evl_parts_run(const evl_call *call, evl_part *part)
{
    cutting c = { call, part, evl_shape_count(&call->out[0]->shape) };
    if (c.n)
        evl_parallel_for(call->machine->pool, evl_tile_count(c.n), cut_tile, &c);
    return EVAL_OK;
}

static void unary_part(const evl_call *call, size_t from, size_t to)
{
    const evl_unary_step *step = call->state;
    const evl_tensor *in = call->in[0], *out = call->out[0];
    step->loop(to - from, (const char *)in->data + from * evl_type_size(in->type),
               (char *)out->data + from * evl_type_size(out->type), step->p);
}

EvalStatus evl_unary_prepare(evl_prepare *p, evl_unary_kind kind, const evl_number *numbers)
{
    evl_unary_step *step = evl_arena_take(p->arena, sizeof *step);
    if (!step)
        return evl_no_memory(p->ctx);
    step->loop = evl_loops_of(p, 0)->unary[kind];
    for (size_t i = 0; numbers && i < 3; i++)
        step->p[i] = numbers[i];
    p->state = step;
    p->part = unary_part;
    return step->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

typedef struct applying {
    const evl_unary_step *step;
    size_t n, in_size, out_size;
    const char *in;
    char *out;
} applying;

static void apply_tile(void *arg, size_t tile, size_t lane)
{
    const applying *a = arg;
    size_t from = evl_tile_start(a->n, tile), to = evl_tile_start(a->n, tile + 1);
    (void)lane;
    a->step->loop(to - from, a->in + from * a->in_size, a->out + from * a->out_size, a->step->p);
}

void evl_unary_apply(const evl_machine *machine, const evl_unary_step *step, const evl_tensor *in,
                     const evl_tensor *out)
{
    size_t n = evl_shape_count(&out->shape);
    applying a = {
        step, n, evl_type_size(in->type), evl_type_size(out->type), in->data, out->data
    };
    if (n)
        evl_parallel_for(machine->pool, evl_tile_count(n), apply_tile, &a);
}

EvalStatus evl_unary_run(const evl_call *call)
{
    return evl_parts_run(call, unary_part);
}

static bool clip_of(const evl_use *use, evl_number *p)
{
    p[0] = -INFINITY;
    p[1] = INFINITY;
    return evl_use_number(use, "min", 1, &p[0]) != EVL_UNKNOWN &&
           evl_use_number(use, "max", 2, &p[1]) != EVL_UNKNOWN;
}

/* The operator's own preparation chooses loop and parameters; the loop's place in the
** table is the kind. */
static bool prepared_of(evl_prepare *p, const evl_impl *impl, evl_unary_kind *kind,
                        evl_number *numbers)
{
    const evl_loops *loops = p->machine->loops[p->machine->real];
    if (!impl || impl->run != evl_unary_run || impl->prepare(p) != EVAL_OK)
        return false;
    const evl_unary_step *step = p->state;
    for (int i = 0; i < EVL_IS_NAN; i++)
        if (loops->unary[i] == step->loop) {
            *kind = (evl_unary_kind)i;
            for (size_t j = 0; j < 3; j++)
                numbers[j] = step->p[j];
            return true;
        }
    return false;
}

enum { MOST_INPUTS = 3 };

bool evl_unary_of(evl_context *ctx, const evl_machine *machine, const evl_node *node,
                  evl_unary_kind *kind, evl_number *p)
{
    const evl_tensor *in[MOST_INPUTS];
    evl_prepare how = { .ctx = ctx,
                        .use = { node, in, node->n_inputs },
                        .machine = machine,
                        .arena = node->graph->arena };
    if (node->n_inputs == 0 || node->n_inputs > MOST_INPUTS)
        return false;
    for (size_t i = 0; i < node->n_inputs; i++)
        in[i] = node->inputs[i] ? &node->inputs[i]->t : NULL;
    if (!in[0] || in[0]->type != machine->real)
        return false;
    if (node->op == &evl_op_clip) {
        *kind = EVL_CLIP;
        return clip_of(&how.use, p);
    }
    return prepared_of(&how, node->op->real[machine->precision], kind, p);
}

EvalStatus evl_infer_bool(evl_infer *x)
{
    x->out[0].type = EVAL_BOOL;
    x->out[0].shape = x->use.in[0]->shape;
    return EVAL_OK;
}
