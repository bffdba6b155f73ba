#include "exec/trips.h"
#include <string.h>

EvalStatus evl_trips_begin(evl_session *s, evl_context *ctx, size_t i, evl_trips *t)
{
    const evl_step *step = &s->plan->steps[i];
    size_t b = evl_step_body(step, "body");
    *t = (evl_trips){ .s = s, .child = s->children[i][b], .step = step, .body = &step->bodies[b],
                      .in = s->rooms[i] };
    for (size_t before = 0; before < b; before++) /* bodies that no operator asks for */
        if (step->bodies[before].plan)
            t->in += step->bodies[before].n_own + step->bodies[before].plan->n_outputs;
    t->out = t->in + t->body->n_own;
    EvalStatus st = evl_loop_read(ctx, step->node, &t->loop);
    for (size_t j = 0; j < t->loop.n_gathered && st == EVAL_OK; j++)
        t->out[t->loop.n_carried + j].value = (evl_tensor){ .type = EVAL_UNDEFINED };
    return st == EVAL_OK ? evl_body_begin(s, ctx, t->body, t->child) : st;
}

evl_slot_index evl_trips_slot(const evl_trips *t, size_t output)
{
    size_t at = output - t->loop.n_unshown;
    return output < t->loop.n_unshown || at >= t->step->node->n_outputs ? EVL_NO_SLOT
                                                                        : t->step->out[at];
}

/* The child writes straight into the room for what is written; but texts may lie anywhere: a copy
** must be whole. */
static EvalStatus place_carried(evl_trips *t, evl_context *ctx, size_t i)
{
    const evl_plan *p = t->child->plan;
    const evl_tensor *planned = &p->slots[p->outputs[i]].t;
    if (!evl_session_has_place(p, i) || evl_type_has_text(planned))
        return evl_body_place(t->child, ctx, i);
    EvalStatus st = evl_room_reserve(t->s, ctx, &t->out[i], evl_tensor_size(planned));
    if (st == EVAL_OK)
        evl_session_output(t->child, i, t->out[i].data);
    return st;
}

EvalStatus evl_carry_in(evl_trips *t, evl_context *ctx)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < t->loop.n_carried && st == EVAL_OK; i++) {
        size_t input = t->loop.body_carried + i;
        st = evl_body_give(t->child, ctx, input, &t->in[input].value);
        if (st == EVAL_OK)
            st = place_carried(t, ctx, i);
    }
    return st == EVAL_OK ? st : evl_node_failed(ctx, t->step->node, st);
}

static void exchange(void **a, size_t *a_capacity, evl_room *b)
{
    void *data = *a;
    size_t capacity = *a_capacity;
    *a = b->data;
    *a_capacity = b->capacity;
    b->data = data;
    b->capacity = capacity;
}

/* Into the room for what is written, unless it lies there: memory that the child holds for
** this value alone changes hands. */
static EvalStatus bring(evl_trips *t, evl_context *ctx, const evl_tensor *result, size_t i)
{
    evl_session *child = t->child;
    evl_slot_index slot = child->plan->outputs[i];
    size_t bytes;
    if (result->data == t->out[i].data)
        return EVAL_OK;
    if (result->data == child->own[slot] && !evl_type_has_text(result)) {
        exchange(&child->own[slot], &child->own_capacity[slot], &t->out[i]);
        return EVAL_OK;
    }
    EvalStatus st = evl_value_room(ctx, result, &bytes);
    if (st == EVAL_OK)
        st = evl_room_reserve(t->s, ctx, &t->out[i], bytes);
    if (st == EVAL_OK)
        evl_value_copy(result, t->out[i].data, &t->out[i].value);
    return st;
}

EvalStatus evl_carry_out(evl_trips *t, evl_context *ctx)
{
    for (size_t i = 0; i < t->loop.n_carried; i++) {
        const evl_tensor *result = evl_session_result(t->child, i);
        evl_room *in = &t->in[t->loop.body_carried + i], *out = &t->out[i];
        if (result->data == in->value.data) { /* as it was, perhaps of another shape */
            in->value = *result;
            continue;
        }
        EvalStatus st = bring(t, ctx, result, i);
        if (st != EVAL_OK)
            return evl_node_failed(ctx, t->step->node, st);
        exchange(&in->data, &in->capacity, out);
        in->value = *result;
        in->value.data = in->data;
    }
    return EVAL_OK;
}

EvalStatus evl_frame_check(evl_trips *t, evl_context *ctx, size_t output)
{
    char a[EVL_SHAPE_TEXT], b[EVL_SHAPE_TEXT];
    const evl_tensor *result = evl_session_result(t->child, output);
    evl_tensor *first = &t->out[output].value;
    if (first->type == EVAL_UNDEFINED && !evl_type_is_nested(result->type) &&
        result->shape.rank < EVAL_MAX_RANK) {
        *first = *result;
        first->data = t->out[output].data;
        return EVAL_OK;
    }
    if (first->type == result->type && evl_shape_equal(&first->shape, &result->shape))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "its output %zu has shape %s in this trip, %s in the first",
                    output - t->loop.n_unshown, evl_shape_text(&result->shape, a),
                    evl_shape_text(&first->shape, b));
}

evl_tensor evl_frame_planned(const evl_trips *t, size_t output)
{
    const evl_plan *p = t->child->plan;
    evl_tensor frame = p->slots[p->outputs[output]].t;
    if (frame.shape.rank < 0)
        frame.shape = evl_shape_scalar();
    for (int32_t i = 0; i < frame.shape.rank; i++)
        if (frame.shape.dim[i] < 0)
            frame.shape.dim[i] = 0;
    return frame;
}

/* --- texts of gathered strings: in the output's room, up to where its value's data points -- */

static EvalStatus reserve_texts(evl_trips *t, evl_context *ctx, evl_room *room,
                                const evl_tensor *result, const evl_frames *f)
{
    size_t n = f->outer * f->bytes * f->n_frames / sizeof(EvalString), more = 0;
    const EvalString *fresh = result->data;
    EvalString *all = (EvalString *)(void *)f->data;
    for (size_t i = 0; i < evl_shape_count(&result->shape); i++)
        if (!evl_size_add(more, fresh[i].size, &more))
            return evl_no_memory(ctx);
    char *old = room->data;
    size_t used = old ? (size_t)((char *)room->value.data - old) : 0;
    evl_room larger = { .capacity = room->capacity };
    if (used + more < room->capacity)
        return EVAL_OK;
    EvalStatus st = evl_room_reserve(t->s, ctx, &larger, used + more);
    if (st != EVAL_OK)
        return st;
    if (used)
        memcpy(larger.data, old, used);
    for (size_t i = 0; i < n; i++)
        if (all[i].text)
            all[i].text = (char *)larger.data + (all[i].text - old);
    evl_release(t->s->plan->memory, old);
    room->data = larger.data;
    room->capacity = larger.capacity;
    room->value.data = (char *)larger.data + used;
    return EVAL_OK;
}

static void keep_texts(evl_room *room, EvalString *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *at = room->value.data;
        if (texts[i].size)
            memcpy(at, texts[i].text, texts[i].size);
        texts[i].text = at;
        room->value.data = at + texts[i].size;
    }
}

EvalStatus evl_frame_put(evl_trips *t, evl_context *ctx, size_t output, const evl_frames *f,
                         size_t index)
{
    const evl_tensor *result = evl_session_result(t->child, output);
    bool is_text = result->type == EVAL_STRING;
    EvalStatus st =
        is_text ? reserve_texts(t, ctx, &t->out[output], result, f) : EVAL_OK;
    for (size_t i = 0; i < f->outer && f->bytes && st == EVAL_OK; i++) {
        char *to = f->data + (i * f->n_frames + index) * f->bytes;
        const char *from = (const char *)result->data + i * f->bytes;
        if (to != from)
            memcpy(to, from, f->bytes);
        if (is_text)
            keep_texts(&t->out[output], (EvalString *)(void *)to, f->bytes / sizeof(EvalString));
    }
    return st;
}
