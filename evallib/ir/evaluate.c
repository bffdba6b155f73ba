/* One node at once: infer, prepare and run without a plan. */
#include "ir/op.h"

EvalStatus evl_use_impl(evl_context *ctx, const evl_use *use, evl_precision precision,
                        const evl_impl **impl)
{
    const evl_op *op = use->node->op;
    const evl_tensor *chooser = evl_use_in(use, op->type_input);
    EvalType type = chooser ? chooser->type : EVAL_UNDEFINED;
    *impl = evl_op_impl(op, type, precision);
    if (*impl)
        return EVAL_OK;
    evl_fail(ctx, EVAL_ERR_TYPE, "does not take elements of type %s", evl_type_name(type));
    return evl_node_failed(ctx, use->node, EVAL_ERR_TYPE);
}

typedef struct operands {
    const evl_tensor **out;
    evl_tensor **run_out;
} operands;

static EvalStatus take_outputs(evl_context *ctx, evl_arena *arena, evl_tensor *out, size_t n,
                               operands *o)
{
    o->out = evl_arena_take_many(arena, n, sizeof *o->out);
    o->run_out = evl_arena_take_many(arena, n, sizeof *o->run_out);
    if (!o->out || !o->run_out)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < n; i++) {
        size_t bytes = evl_shape_count(&out[i].shape) * evl_type_size(out[i].type);
        o->out[i] = o->run_out[i] = &out[i];
        if (bytes && !(out[i].data = evl_arena_take(arena, bytes)))
            return evl_no_memory(ctx);
    }
    return EVAL_OK;
}

static EvalStatus run(evl_prepare *p, const evl_impl *impl, evl_tensor *const *out)
{
    evl_call call = { .ctx = p->ctx, .machine = p->machine, .node = p->use.node,
                      .in = p->use.in, .n_in = p->use.n_in, .out = out, .n_out = p->n_out, .texts = p->arena };
    p->run = impl->run;
    EvalStatus st = impl->prepare ? impl->prepare(p) : EVAL_OK;
    if (st != EVAL_OK)
        return st;
    call.state = p->state;
    if (p->scratch_bytes && !(call.scratch = evl_arena_take(p->arena, p->scratch_bytes)))
        return evl_no_memory(p->ctx);
    return p->run(&call);
}

EvalStatus evl_evaluate_use(evl_context *ctx, const evl_machine *machine, evl_store *store,
                            evl_arena *arena, const evl_use *use, evl_tensor *out, size_t n_out)
{
    const evl_impl *impl;
    operands o;
    EvalStatus st = evl_use_impl(ctx, use, machine->precision, &impl);
    if (st == EVAL_OK)
        st = take_outputs(ctx, arena, out, n_out, &o);
    if (st != EVAL_OK)
        return st;
    evl_prepare p = { .ctx = ctx, .use = *use, .out = o.out, .n_out = n_out, .machine = machine,
                      .arena = arena, .store = store };
    st = run(&p, impl, o.run_out);
    return st == EVAL_OK ? st : evl_node_failed(ctx, use->node, st);
}
