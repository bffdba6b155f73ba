/* SequenceMap: a body for each element. Results wait in the step's arena until all are
** there. */
#include "exec/body.h"

typedef struct mapping {
    evl_session *s, *child;
    const evl_step *step;
    const evl_call *call;
    const evl_body *body;
    size_t n;
    evl_tensor *results; /* by output: sequences */
} mapping;

static EvalStatus give_elements(mapping *m, evl_context *ctx, size_t index)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < m->call->n_in && st == EVAL_OK; i++) {
        const evl_tensor *t = m->call->in[i];
        bool is_sequence = t->type == EVAL_SEQUENCE;
        if (is_sequence && index >= evl_shape_count(&t->shape))
            return evl_fail(ctx, EVAL_ERR_SHAPE, "sequence %zu has %zu elements, the first %zu", i,
                            evl_shape_count(&t->shape), m->n);
        st = evl_body_give(m->child, ctx, i, is_sequence ? evl_nested_at(t, index) : t);
    }
    for (size_t j = 0; j < m->child->plan->n_outputs && st == EVAL_OK; j++)
        st = evl_body_place(m->child, ctx, j);
    return st;
}

static EvalStatus keep_results(mapping *m, evl_context *ctx, size_t index)
{
    size_t bytes;
    for (size_t j = 0; j < m->step->node->n_outputs; j++) {
        const evl_tensor *result = evl_session_result(m->child, j);
        evl_tensor *to = (evl_tensor *)m->results[j].data + index;
        EvalStatus st = evl_value_room(ctx, result, &bytes);
        if (st != EVAL_OK)
            return st;
        void *block = evl_arena_take(m->s->step_arena, bytes + EVL_ALIGNMENT);
        if (!block)
            return evl_no_memory(ctx);
        evl_value_copy(result, block, to);
    }
    return EVAL_OK;
}

static EvalStatus start(mapping *m, evl_context *ctx)
{
    size_t n = m->step->node->n_outputs;
    evl_arena *arena = m->s->step_arena;
    if (m->call->in[0]->type != EVAL_SEQUENCE)
        return evl_fail(ctx, EVAL_ERR_TYPE, "its first input is no sequence");
    evl_arena_reset(arena);
    m->n = evl_shape_count(&m->call->in[0]->shape);
    m->results = evl_arena_take_many(arena, n + 1, sizeof *m->results);
    if (!m->results)
        return evl_no_memory(ctx);
    for (size_t j = 0; j < n; j++) {
        const evl_plan *p = m->child->plan;
        if (!evl_nested_around(EVAL_SEQUENCE, &p->slots[p->outputs[j]].t, &m->results[j]) ||
            !evl_nested_take(arena, m->n, &m->results[j]))
            return evl_no_memory(ctx);
    }
    return evl_body_begin(m->s, ctx, m->body, m->child);
}

EvalStatus evl_step_map(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    size_t b = evl_step_body(step, "body");
    mapping m = { .s = s, .child = s->children[i][b], .step = step, .call = &s->calls[i],
                  .body = &step->bodies[b] };
    EvalStatus st = start(&m, ctx);
    for (size_t index = 0; index < m.n && st == EVAL_OK; index++) {
        if ((st = evl_body_count_trip(s, ctx, step->node)))
            return st;
        if ((st = give_elements(&m, ctx, index)))
            break;
        if ((st = evl_session_run(m.child, ctx)))
            return st;
        st = keep_results(&m, ctx, index);
    }
    for (size_t j = 0; j < step->node->n_outputs && st == EVAL_OK; j++)
        if (step->out[j] != EVL_NO_SLOT)
            st = evl_session_keep(s, ctx, step->out[j], &m.results[j]);
    return st == EVAL_OK ? st : evl_node_failed(ctx, step->node, st);
}
