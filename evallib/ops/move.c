#include "ops/move.h"

EvalStatus evl_move_prepare(evl_prepare *p, evl_move_make *make)
{
    evl_move *move;
    if (!p->out[0])
        return EVAL_OK;
    move = evl_arena_take(p->arena, sizeof *move);
    if (!move)
        return evl_no_memory(p->ctx);
    p->state = move;
    return make(p->ctx, &p->use, p->out[0], move);
}

void evl_move_apply(const evl_move *move, const evl_machine *machine, const evl_tensor *from,
                    const evl_tensor *to)
{
    if (move->box.n_units > 0)
        evl_strided_copy(&move->box, machine->pool, (const char *)from->data + move->from,
                         (char *)to->data + move->to);
}

EvalStatus evl_move_run(const evl_call *call)
{
    if (call->state)
        evl_move_apply(call->state, call->machine, call->in[0], call->out[0]);
    return EVAL_OK;
}

void evl_move_all(const evl_machine *machine, const evl_tensor *from, const evl_tensor *to)
{
    size_t size = evl_type_size(from->type);
    evl_strided box;
    if (from->data == to->data || size == 0) /* nested values are copied by exec/ */
        return;
    evl_strided_begin(&box, size);
    evl_strided_add(&box, evl_shape_count(&from->shape), (ptrdiff_t)size, (ptrdiff_t)size);
    evl_strided_ready(&box);
    evl_strided_copy(&box, machine->pool, from->data, to->data);
}

EvalStatus evl_move_all_run(const evl_call *call)
{
    if (call->out[0])
        evl_move_all(call->machine, call->in[0], call->out[0]);
    return EVAL_OK;
}

const evl_impl evl_move_all_impl = { NULL, evl_move_all_run };
