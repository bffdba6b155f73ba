/* CNTK's recurrences, frame by frame. */
#include "exec/body.h"
#include <string.h>

/* A recurrence while it runs. Delayed inputs are read where the frames of the outputs
** that they show have been written, or from `history` before the first step. */
typedef struct loop {
    evl_session *s, *child;
    const evl_step *step;
    const evl_body *body;
    size_t n_sequences, n_delays, n_frames;
    const int64_t *output, *offset, *state;
    const double *initial;
    bool backward;
} loop;

static char *frame(evl_tensor *t, size_t n_frames, size_t index)
{
    return (char *)t->data + index * (n_frames ? evl_tensor_size(t) / n_frames : 0);
}

/* Where the history of a delay lies in the memory that belongs to its body's input. */
static char *history(const loop *l, size_t delay)
{
    return l->child->own[l->child->plan->inputs[l->n_sequences + delay]];
}

static size_t frame_bytes(const loop *l, size_t delay)
{
    return evl_tensor_size(&l->child->values[l->child->plan->inputs[l->n_sequences + delay]]);
}

static evl_past past_of(const loop *l, size_t delay)
{
    evl_slot_index slot = l->child->plan->inputs[l->n_sequences + delay];
    return (evl_past){ .state = l->state[delay],
                       .initial = l->initial[delay],
                       .type = l->child->values[slot].type,
                       .bytes = (size_t)l->offset[delay] * frame_bytes(l, delay) };
}

static EvalStatus fill_history(loop *l, evl_context *ctx, size_t delay)
{
    evl_slot_index slot = l->child->plan->inputs[l->n_sequences + delay];
    evl_tensor room = l->child->values[slot];
    room.shape.dim[0] = l->offset[delay];
    EvalStatus st = evl_session_own(l->child, ctx, slot, &room);
    if (st != EVAL_OK)
        return st;
    l->child->values[slot].shape.dim[0] = 1;
    evl_past past = past_of(l, delay);
    evl_past_read(l->s->states, &past, 0, past.bytes, l->child->own[slot]);
    return EVAL_OK;
}

static void give_delayed(loop *l, size_t delay, size_t t, size_t index)
{
    size_t ago = (size_t)l->offset[delay];
    evl_tensor *shown = &l->s->values[l->step->out[l->output[delay]]];
    const char *data = t < ago ? history(l, delay) + t * frame_bytes(l, delay)
                       : frame(shown, l->n_frames, l->backward ? index + ago : index - ago);
    evl_session_input(l->child, l->n_sequences + delay, data);
}

static EvalStatus run_frame(loop *l, evl_context *ctx, size_t t)
{
    size_t index = l->backward ? l->n_frames - 1 - t : t;
    const evl_node *node = l->step->node;
    for (size_t i = 0; i < l->n_sequences; i++)
        evl_session_input(l->child, i, frame(&l->s->values[l->step->in[i]], l->n_frames, index));
    for (size_t d = 0; d < l->n_delays; d++)
        give_delayed(l, d, t, index);
    for (size_t j = 0; j < node->n_outputs; j++)
        if (evl_session_has_place(l->child->plan, j))
            evl_session_output(l->child, j,
                               frame(&l->s->values[l->step->out[j]], l->n_frames, index));
    EvalStatus st = evl_session_run(l->child, ctx);
    for (size_t j = 0; j < node->n_outputs && st == EVAL_OK; j++) {
        const evl_tensor *result = evl_session_result(l->child, j);
        char *wanted = frame(&l->s->values[l->step->out[j]], l->n_frames, index);
        if (result->data != wanted && evl_tensor_size(result))
            memcpy(wanted, result->data, evl_tensor_size(result));
    }
    return st;
}

static EvalStatus keep_states(loop *l, evl_context *ctx)
{
    EvalStatus st = EVAL_OK;
    for (size_t d = 0; d < l->n_delays && st == EVAL_OK; d++) {
        const evl_tensor *shown = &l->s->values[l->step->out[l->output[d]]];
        evl_past past = past_of(l, d);
        st = evl_past_keep(ctx, l->s->states, &past, shown->data, evl_tensor_size(shown));
    }
    return st;
}

EvalStatus evl_step_recurrence(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    const evl_node *node = step->node;
    size_t n;
    loop l = { .s = s, .child = s->children[i][0], .step = step, .body = &step->bodies[0],
               .n_sequences = node->n_inputs, .backward = evl_node_int(node, "backward", 0) != 0 };
    l.output = evl_node_ints(node, "delay_output", &l.n_delays);
    l.offset = evl_node_ints(node, "delay_offset", &n);
    l.state = evl_node_ints(node, "delay_state", &n);
    l.initial = evl_node_numbers(node, "delay_initial", &n);
    l.n_frames = (size_t)s->values[step->in[0]].shape.dim[0];
    EvalStatus st = evl_body_begin(s, ctx, l.body, l.child);
    for (size_t d = 0; d < l.n_delays && st == EVAL_OK; d++)
        st = fill_history(&l, ctx, d);
    for (size_t t = 0; t < l.n_frames && st == EVAL_OK; t++)
        st = run_frame(&l, ctx, t);
    return st == EVAL_OK ? keep_states(&l, ctx) : st;
}
