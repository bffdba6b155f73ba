/* Loop: trips until the number or the condition ends them. */
#include "exec/trips.h"
#include <string.h>

typedef struct looping {
    evl_trips t;
    int64_t most, trip; /* most -1: as long as the condition holds */
    bool asks;          /* the condition; ONNX 11: where none is given, the body's is ignored */
    uint8_t yes;        /* the condition where none is given */
} looping;

/* The number of trips and the condition, as far as they are given. Without either only the
** body can end the loop, so its condition is asked then. */
static EvalStatus read_ends(looping *l, evl_context *ctx, const evl_call *call)
{
    const evl_tensor *most = call->n_in > 0 ? call->in[0] : NULL;
    const evl_tensor *condition = call->n_in > 1 ? call->in[1] : NULL;
    evl_tensor *carried = &l->t.in[l->t.loop.body_carried].value;
    const evl_tensor *planned = &l->t.child->plan->slots[l->t.child->plan->inputs[1]].t;
    if ((most && (evl_type_is_nested(most->type) || evl_shape_count(&most->shape) == 0)) ||
        (condition &&
         (condition->type != EVAL_BOOL || evl_shape_count(&condition->shape) == 0)))
        return evl_fail(ctx, EVAL_ERR_SHAPE, "its number of trips or its condition has no value");
    l->most = most ? evl_tensor_i64(most, 0) : -1;
    if (most && l->most < 0)
        l->most = 0;
    l->asks = condition || !most;
    *carried = (evl_tensor){ .type = EVAL_BOOL, .shape = evl_shape_scalar(), .data = &l->yes };
    if (condition)
        *carried = *condition;
    else if (planned->shape.rank == 1)
        carried->shape = evl_shape_of(1, (int64_t[]){ 1 });
    return EVAL_OK;
}

static bool goes_on(const looping *l)
{
    const evl_tensor *condition = &l->t.in[l->t.loop.body_carried].value;
    if (l->most >= 0 && l->trip >= l->most)
        return false;
    return !l->asks || (evl_shape_count(&condition->shape) > 0 && evl_tensor_i64(condition, 0));
}

static EvalStatus give_number(looping *l, evl_context *ctx)
{
    const evl_plan *p = l->t.child->plan;
    evl_tensor number = { .type = EVAL_INT64, .shape = evl_shape_scalar(), .data = &l->trip };
    if (p->slots[p->inputs[0]].t.shape.rank == 1)
        number.shape = evl_shape_of(1, (int64_t[]){ 1 });
    return evl_body_give(l->t.child, ctx, 0, &number);
}

/* Where frame `trip` of a gathered output goes, once it is known how large frames are. */
static EvalStatus find_place(looping *l, evl_context *ctx, evl_slot_index slot, size_t bytes,
                             evl_frames *f)
{
    evl_session *s = l->t.s;
    size_t trip = (size_t)l->trip, end;
    *f = (evl_frames){ .outer = 1, .bytes = bytes, .n_frames = trip };
    if (!evl_size_multiply(trip + 1, bytes, &end))
        return evl_no_memory(ctx);
    if (s->plan->slots[slot].place == EVL_PLACE_OWN) {
        EvalStatus st = evl_session_grow(s, ctx, slot, trip * bytes, end);
        f->data = s->own[slot];
        return st;
    }
    f->data = s->values[slot].data;
    return end <= evl_tensor_size(&s->values[slot])
               ? EVAL_OK
               : evl_fail(ctx, EVAL_ERR_INTERNAL, "more trips than planned");
}

static EvalStatus place_gathered(looping *l, evl_context *ctx, size_t output)
{
    const evl_plan *p = l->t.child->plan;
    const evl_tensor *planned = &p->slots[p->outputs[output]].t;
    evl_slot_index slot = evl_trips_slot(&l->t, output);
    evl_frames f;
    if (slot == EVL_NO_SLOT || !evl_session_has_place(p, output) || planned->type == EVAL_STRING)
        return evl_body_place(l->t.child, ctx, output);
    EvalStatus st = find_place(l, ctx, slot, evl_tensor_size(planned), &f);
    if (st == EVAL_OK)
        evl_session_output(l->t.child, output, f.data + (size_t)l->trip * f.bytes);
    return st;
}

static EvalStatus take_gathered(looping *l, evl_context *ctx, size_t output)
{
    evl_slot_index slot = evl_trips_slot(&l->t, output);
    evl_frames f;
    EvalStatus st = evl_frame_check(&l->t, ctx, output);
    if (st != EVAL_OK || slot == EVL_NO_SLOT)
        return st;
    st = find_place(l, ctx, slot, evl_tensor_size(&l->t.out[output].value), &f);
    return st == EVAL_OK ? evl_frame_put(&l->t, ctx, output, &f, (size_t)l->trip) : st;
}

static EvalStatus each_gathered(looping *l, evl_context *ctx,
                                EvalStatus (*work)(looping *, evl_context *, size_t))
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < l->t.loop.n_gathered && st == EVAL_OK; i++)
        st = work(l, ctx, l->t.loop.n_carried + i);
    return st == EVAL_OK ? st : evl_node_failed(ctx, l->t.step->node, st);
}

static EvalStatus make_trip(looping *l, evl_context *ctx)
{
    EvalStatus st = evl_body_count_trip(l->t.s, ctx, l->t.step->node);
    if (st == EVAL_OK)
        st = give_number(l, ctx);
    if (st == EVAL_OK)
        st = evl_carry_in(&l->t, ctx);
    if (st == EVAL_OK)
        st = each_gathered(l, ctx, place_gathered);
    if (st == EVAL_OK)
        st = evl_session_run(l->t.child, ctx);
    if (st == EVAL_OK) /* first, as the frame may be what was carried into the trip */
        st = each_gathered(l, ctx, take_gathered);
    if (st == EVAL_OK)
        st = evl_carry_out(&l->t, ctx);
    l->trip++;
    return st;
}

/* Frames of a slot whose size the run decided: now their number is known. */
static EvalStatus finish_gathered(looping *l, evl_context *ctx, size_t output)
{
    evl_session *s = l->t.s;
    evl_slot_index slot = evl_trips_slot(&l->t, output);
    evl_tensor whole = l->trip ? l->t.out[output].value : evl_frame_planned(&l->t, output);
    if (slot == EVL_NO_SLOT || s->plan->slots[slot].place != EVL_PLACE_OWN)
        return EVAL_OK;
    for (int32_t i = whole.shape.rank++; i > 0; i--)
        whole.shape.dim[i] = whole.shape.dim[i - 1];
    whole.shape.dim[0] = l->trip;
    return evl_session_own(s, ctx, slot, &whole); /* it is large enough already */
}

EvalStatus evl_step_loop(evl_session *s, evl_context *ctx, size_t i)
{
    looping l = { .yes = 1 };
    EvalStatus st = evl_trips_begin(s, ctx, i, &l.t);
    if (st == EVAL_OK)
        st = read_ends(&l, ctx, &s->calls[i]);
    if (st != EVAL_OK)
        return evl_node_failed(ctx, s->plan->steps[i].node, st);
    for (size_t j = 1; j < l.t.loop.n_carried; j++)
        l.t.in[1 + j].value = *s->calls[i].in[1 + j];
    while (st == EVAL_OK && goes_on(&l))
        st = make_trip(&l, ctx);
    if (st == EVAL_OK)
        st = each_gathered(&l, ctx, finish_gathered);
    for (size_t j = 1; j < l.t.loop.n_carried && st == EVAL_OK; j++)
        if (evl_trips_slot(&l.t, j) != EVL_NO_SLOT)
            st = evl_body_take(s, ctx, evl_trips_slot(&l.t, j), &l.t.in[1 + j].value);
    return st;
}
