/* Scan: a trip for each slice of the scanned inputs. In opset 8 all that again for each
** entry of a leading axis of batches, with a number of slices of its own. */
#include "exec/trips.h"
#include <string.h>

typedef struct scanning {
    evl_trips t;
    const evl_call *call;
    size_t batch, n_batches;
    size_t trip, n_trips;  /* of this batch */
    size_t n_slices;       /* of all: the size of the axis that is scanned */
} scanning;

static void drop_axis(evl_shape *s, int32_t axis)
{
    s->rank--;
    for (int32_t i = axis; i < s->rank; i++)
        s->dim[i] = s->dim[i + 1];
}

static void insert_axis(evl_shape *s, int32_t axis, size_t size)
{
    for (int32_t i = s->rank++; i > axis; i--)
        s->dim[i] = s->dim[i - 1];
    s->dim[axis] = (int64_t)size;
}

/* The part of a value that belongs to the batch. */
static EvalStatus part_of(const scanning *x, evl_context *ctx, const evl_tensor *whole,
                          evl_tensor *part)
{
    *part = *whole;
    if (!x->t.loop.has_batch)
        return EVAL_OK;
    if (whole->shape.rank < 1 || (size_t)whole->shape.dim[0] != x->n_batches)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "an input without an axis of %zu batches",
                        x->n_batches);
    drop_axis(&part->shape, 0);
    part->data = (char *)whole->data + x->batch * evl_tensor_size(part);
    return EVAL_OK;
}

/* --- slices of scanned inputs ---------------------------------------------------------- */

static EvalStatus scanned_axis(const scanning *x, evl_context *ctx, size_t i, int32_t *axis,
                               bool *is_backward)
{
    const evl_tensor *whole = &x->t.in[x->t.loop.n_carried + i].value;
    return evl_loop_axis(ctx, x->t.step->node, "scan_input", i, whole->shape.rank, axis,
                         is_backward);
}

/* A slice is where the input is when it is one run of bytes, else it is gathered. */
static EvalStatus give_slice(scanning *x, evl_context *ctx, size_t i)
{
    size_t input = x->t.loop.n_carried + i;
    evl_room *room = &x->t.in[input];
    evl_tensor slice = room->value;
    int32_t axis;
    bool is_backward;
    EvalStatus st = scanned_axis(x, ctx, i, &axis, &is_backward);
    if (st != EVAL_OK)
        return st;
    size_t outer = evl_shape_count_part(&slice.shape, 0, axis);
    drop_axis(&slice.shape, axis);
    size_t bytes = evl_tensor_size(&slice) / (outer ? outer : 1);
    size_t index = is_backward ? x->n_trips - 1 - x->trip : x->trip;
    if (outer == 1) {
        slice.data = (char *)slice.data + index * bytes;
        return evl_body_give(x->t.child, ctx, input, &slice);
    }
    st = evl_room_reserve(x->t.s, ctx, room, outer * bytes);
    for (size_t o = 0; o < outer && bytes && st == EVAL_OK; o++)
        memcpy((char *)room->data + o * bytes,
               (const char *)room->value.data + (o * x->n_slices + index) * bytes, bytes);
    slice.data = room->data;
    return st == EVAL_OK ? evl_body_give(x->t.child, ctx, input, &slice) : st;
}

static EvalStatus begin_scanned(scanning *x, evl_context *ctx, size_t i)
{
    size_t input = x->t.loop.n_carried + i;
    evl_tensor *whole = &x->t.in[input].value;
    int32_t axis;
    bool is_backward;
    EvalStatus st = part_of(x, ctx, x->call->in[x->t.loop.node_carried + input], whole);
    if (st == EVAL_OK)
        st = scanned_axis(x, ctx, i, &axis, &is_backward);
    if (st != EVAL_OK)
        return st;
    size_t size = (size_t)whole->shape.dim[axis];
    if (i > 0 && size != x->n_slices)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "scanned input %zu has %zu slices, the first %zu", i,
                        size, x->n_slices);
    x->n_slices = size;
    return EVAL_OK;
}

/* --- gathered outputs ------------------------------------------------------------------ */

/* Memory for all frames of all batches, when the first shows how large one is. */
static EvalStatus take_whole(scanning *x, evl_context *ctx, evl_slot_index slot,
                             const evl_tensor *frame, int32_t axis)
{
    evl_session *s = x->t.s;
    evl_tensor whole = *frame;
    EvalStatus st = EVAL_OK;
    insert_axis(&whole.shape, axis, x->n_slices);
    if (x->t.loop.has_batch && whole.shape.rank < EVAL_MAX_RANK)
        insert_axis(&whole.shape, 0, x->n_batches);
    if ((st = evl_shape_check(ctx, &whole.shape, evl_type_size(whole.type))))
        return st;
    if (s->plan->slots[slot].place == EVL_PLACE_OWN)
        st = evl_session_own(s, ctx, slot, &whole);
    else if (!evl_shape_equal(&whole.shape, &s->values[slot].shape) ||
             whole.type != s->values[slot].type)
        st = evl_fail(ctx, EVAL_ERR_INTERNAL, "a body gave another shape than planned");
    if (st == EVAL_OK && evl_tensor_size(&whole)) /* what short batches leave is 0 */
        memset(s->values[slot].data, 0, evl_tensor_size(&whole));
    return st;
}

static EvalStatus gathered_axis(const scanning *x, evl_context *ctx, size_t output, int32_t rank,
                                int32_t *axis, bool *is_backward)
{
    return evl_loop_axis(ctx, x->t.step->node, "scan_output", output - x->t.loop.n_carried,
                         rank + 1, axis, is_backward);
}

static EvalStatus take_frame(scanning *x, evl_context *ctx, size_t output)
{
    evl_slot_index slot = evl_trips_slot(&x->t, output);
    evl_tensor *frame = &x->t.out[output].value;
    bool is_first = frame->type == EVAL_UNDEFINED, is_backward;
    int32_t axis = 0;
    EvalStatus st = evl_frame_check(&x->t, ctx, output);
    if (st == EVAL_OK)
        st = gathered_axis(x, ctx, output, frame->shape.rank, &axis, &is_backward);
    if (st == EVAL_OK && slot != EVL_NO_SLOT && is_first)
        st = take_whole(x, ctx, slot, frame, axis);
    if (st != EVAL_OK || slot == EVL_NO_SLOT)
        return st;
    evl_frames f = { .outer = evl_shape_count_part(&frame->shape, 0, axis),
                     .n_frames = x->n_slices };
    f.bytes = f.outer ? evl_tensor_size(frame) / f.outer : 0;
    f.data = (char *)x->t.s->values[slot].data + x->batch * x->n_slices * f.outer * f.bytes;
    return evl_frame_put(&x->t, ctx, output, &f,
                         is_backward ? x->n_trips - 1 - x->trip : x->trip);
}

/* Of an output that no trip gave a frame of. */
static EvalStatus take_nothing(scanning *x, evl_context *ctx, size_t output)
{
    evl_slot_index slot = evl_trips_slot(&x->t, output);
    evl_tensor frame = evl_frame_planned(&x->t, output);
    bool is_backward;
    int32_t axis;
    if (slot == EVL_NO_SLOT || x->t.out[output].value.type != EVAL_UNDEFINED)
        return EVAL_OK;
    EvalStatus st = gathered_axis(x, ctx, output, frame.shape.rank, &axis, &is_backward);
    return st == EVAL_OK ? take_whole(x, ctx, slot, &frame, axis) : st;
}

/* --- batches ---------------------------------------------------------------------------- */

static EvalStatus make_trip(scanning *x, evl_context *ctx)
{
    const evl_loop *l = &x->t.loop;
    EvalStatus st = evl_body_count_trip(x->t.s, ctx, x->t.step->node);
    if (st == EVAL_OK)
        st = evl_carry_in(&x->t, ctx);
    if (st != EVAL_OK)
        return st;
    for (size_t i = 0; i < l->n_scanned && st == EVAL_OK; i++)
        st = give_slice(x, ctx, i);
    for (size_t i = 0; i < l->n_gathered && st == EVAL_OK; i++)
        st = evl_body_place(x->t.child, ctx, l->n_carried + i);
    if (st != EVAL_OK)
        return evl_node_failed(ctx, x->t.step->node, st);
    if ((st = evl_session_run(x->t.child, ctx)))
        return st;
    for (size_t i = 0; i < l->n_gathered && st == EVAL_OK; i++)
        st = take_frame(x, ctx, l->n_carried + i);
    return st == EVAL_OK ? evl_carry_out(&x->t, ctx) : evl_node_failed(ctx, x->t.step->node, st);
}

/* What is carried out of a batch, beside what the others carry out. */
static EvalStatus give_state(scanning *x, evl_context *ctx, size_t i)
{
    const evl_tensor *state = &x->t.in[i].value;
    evl_slot_index slot = evl_trips_slot(&x->t, i);
    evl_session *s = x->t.s;
    evl_tensor whole = *state;
    EvalStatus st = EVAL_OK;
    if (slot == EVL_NO_SLOT)
        return EVAL_OK;
    if (!x->t.loop.has_batch)
        return evl_body_take(s, ctx, slot, state);
    if (state->shape.rank == EVAL_MAX_RANK || evl_type_is_nested(state->type))
        return evl_fail(ctx, EVAL_ERR_SHAPE, "state %zu cannot have an axis of batches", i);
    insert_axis(&whole.shape, 0, x->n_batches);
    if (x->batch == 0 && s->plan->slots[slot].place == EVL_PLACE_OWN)
        st = evl_session_own(s, ctx, slot, &whole);
    if (st == EVAL_OK && !evl_shape_equal(&whole.shape, &s->values[slot].shape))
        st = evl_fail(ctx, EVAL_ERR_SHAPE, "state %zu has another shape in batch %zu", i, x->batch);
    if (st == EVAL_OK && evl_tensor_size(state))
        memcpy((char *)s->values[slot].data + x->batch * evl_tensor_size(state), state->data,
               evl_tensor_size(state));
    return st;
}

static EvalStatus count_trips(scanning *x, evl_context *ctx)
{
    const evl_tensor *lengths = x->t.loop.has_batch ? x->call->in[0] : NULL;
    x->n_trips = x->n_slices;
    if (!lengths)
        return EVAL_OK;
    int64_t length = x->batch < evl_shape_count(&lengths->shape)
                         ? evl_tensor_i64(lengths, x->batch)
                         : -1;
    if (length < 0 || (uint64_t)length > x->n_slices)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "batch %zu has a length that is not in 0 .. %zu",
                        x->batch, x->n_slices);
    x->n_trips = (size_t)length;
    return EVAL_OK;
}

static EvalStatus begin_batch(scanning *x, evl_context *ctx)
{
    const evl_loop *l = &x->t.loop;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < l->n_carried && st == EVAL_OK; i++)
        st = part_of(x, ctx, x->call->in[l->node_carried + i], &x->t.in[i].value);
    for (size_t i = 0; i < l->n_scanned && st == EVAL_OK; i++)
        st = begin_scanned(x, ctx, i);
    return st == EVAL_OK ? count_trips(x, ctx) : st;
}

static EvalStatus run_batch(scanning *x, evl_context *ctx)
{
    EvalStatus st = begin_batch(x, ctx);
    if (st != EVAL_OK)
        return evl_node_failed(ctx, x->t.step->node, st);
    for (x->trip = 0; x->trip < x->n_trips && st == EVAL_OK; x->trip++)
        st = make_trip(x, ctx);
    if (st != EVAL_OK)
        return st; /* names the node already */
    for (size_t i = 0; i < x->t.loop.n_carried && st == EVAL_OK; i++)
        st = give_state(x, ctx, i);
    return st == EVAL_OK ? st : evl_node_failed(ctx, x->t.step->node, st);
}

EvalStatus evl_step_scan(evl_session *s, evl_context *ctx, size_t i)
{
    scanning x = { .call = &s->calls[i], .n_batches = 1 };
    EvalStatus st = evl_trips_begin(s, ctx, i, &x.t);
    if (st == EVAL_OK && x.t.loop.has_batch) {
        const evl_shape *first = &x.call->in[1]->shape;
        x.n_batches = first->rank > 0 ? (size_t)first->dim[0] : 0;
        if (x.n_batches == 0)
            st = evl_fail(ctx, EVAL_ERR_SHAPE, "there is no batch");
    }
    if (st != EVAL_OK)
        return evl_node_failed(ctx, s->plan->steps[i].node, st);
    for (; x.batch < x.n_batches && st == EVAL_OK; x.batch++)
        st = run_batch(&x, ctx);
    for (size_t j = 0; j < x.t.loop.n_gathered && st == EVAL_OK; j++)
        st = take_nothing(&x, ctx, x.t.loop.n_carried + j);
    return st;
}
