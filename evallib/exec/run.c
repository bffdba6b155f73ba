/* The loop over the steps. */
#include "exec/exec.h"

static EvalStatus step_static(evl_session *s, evl_context *ctx, size_t step)
{
    evl_call *call = &s->calls[step];
    call->ctx = ctx;
    return s->plan->steps[step].run(call);
}

static EvalStatus (*const runners[EVL_N_STEP_KINDS])(evl_session *, evl_context *, size_t) = {
    [EVL_STEP_STATIC] = step_static,         [EVL_STEP_DYNAMIC] = evl_step_dynamic,
    [EVL_STEP_IF] = evl_step_if,             [EVL_STEP_RECURRENCE] = evl_step_recurrence,
    [EVL_STEP_DELAY] = evl_step_delay,
};

EvalStatus evl_session_run(evl_session *s, evl_context *ctx)
{
    const evl_plan *p = s->plan;
    for (size_t i = 0; i < p->n_steps; i++) {
        if (s->stop && s->stop(s->user))
            return evl_fail(ctx, EVAL_ERR_CANCELLED, "cancelled before node '%s'",
                            p->steps[i].node->name);
        EvalStatus st = runners[p->steps[i].kind](s, ctx, i);
        if (st != EVAL_OK)
            return p->steps[i].kind == EVL_STEP_STATIC
                       ? evl_node_failed(ctx, p->steps[i].node, st)
                       : st;
    }
    return EVAL_OK;
}

static EvalStatus reserve_scratch(evl_session *s, evl_context *ctx, size_t bytes)
{
    if (bytes <= s->scratch_capacity)
        return EVAL_OK;
    evl_release(s->plan->memory, s->scratch);
    s->scratch_capacity = 0;
    s->scratch = evl_allocate(s->plan->memory, bytes);
    if (!s->scratch)
        return evl_no_memory(ctx);
    s->scratch_capacity = bytes;
    return EVAL_OK;
}

/* Outputs have their inferred shape: a place of their own if the run decides it. */
static EvalStatus give_places(evl_session *s, evl_context *ctx, const evl_step *step,
                              const evl_tensor *inferred)
{
    for (size_t i = 0; i < step->node->n_outputs; i++) {
        evl_slot_index slot = step->out[i];
        if (slot == EVL_NO_SLOT)
            continue;
        if (!evl_shape_is_known(&inferred[i].shape))
            return evl_fail(ctx, EVAL_ERR_INTERNAL, "output %zu: no shape, with all inputs known", i);
        if (s->plan->slots[slot].place == EVL_PLACE_OWN) {
            EvalStatus st = evl_session_own(s, ctx, slot, &inferred[i]);
            if (st != EVAL_OK)
                return st;
        } else if (!evl_shape_equal(&inferred[i].shape, &s->values[slot].shape))
            return evl_fail(ctx, EVAL_ERR_INTERNAL, "output %zu: another shape than planned", i);
    }
    return EVAL_OK;
}

static EvalStatus prepare_and_run(evl_session *s, evl_context *ctx, evl_call *call,
                                  const evl_use *use)
{
    const evl_impl *impl;
    EvalStatus st = evl_use_impl(ctx, use, call->machine->precision, &impl);
    if (st != EVAL_OK)
        return st;
    evl_prepare p = { .ctx = ctx,
                      .use = *use,
                      .out = (const evl_tensor *const *)call->out,
                      .n_out = call->n_out,
                      .machine = call->machine,
                      .arena = s->step_arena,
                      .store = s->plan->store,
                      .run = impl->run };
    st = impl->prepare ? impl->prepare(&p) : EVAL_OK;
    if (st == EVAL_OK)
        st = reserve_scratch(s, ctx, p.scratch_bytes);
    if (st != EVAL_OK)
        return st;
    evl_call now = *call;
    now.ctx = ctx;
    now.state = p.state;
    now.scratch = s->scratch;
    return p.run(&now);
}

EvalStatus evl_step_dynamic(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    evl_call *call = &s->calls[i];
    evl_use use = { step->node, call->in, call->n_in };
    evl_arena_reset(s->step_arena);
    evl_tensor *inferred = evl_arena_take_many(s->step_arena, call->n_out + 1, sizeof *inferred);
    if (!inferred)
        return evl_no_memory(ctx);
    EvalStatus st =
        evl_infer_use(ctx, &use, s->plan->machine->real, inferred, call->n_out);
    if (st != EVAL_OK)
        return st; /* names the node already */
    st = give_places(s, ctx, step, inferred);
    if (st == EVAL_OK)
        st = prepare_and_run(s, ctx, call, &use);
    return st == EVAL_OK ? st : evl_node_failed(ctx, step->node, st);
}
