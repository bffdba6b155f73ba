/* CNTK's extended interface: which variables go in and out of its forward passes. */
#include "api/perform.h"
#include <string.h>

void evl_forward_end(evl_evaluator *e)
{
    evl_forward *f = &e->forward;
    for (size_t i = 0; f->arena && i < f->n_inputs; i++)
        evl_release(&e->home->memory, f->dense[i]);
    for (size_t i = 0; i < f->n_rooms; i++)
        evl_states_free(&f->sequences[i]);
    evl_release(&e->home->memory, f->sequences);
    evl_arena_free(f->arena);
    *f = (evl_forward){ 0 };
}

static EvalStatus find_outputs(evl_context *ctx, const evl_graph *g, const char *const *names,
                               evl_forward *f)
{
    for (size_t i = 0; i < f->n_outputs; i++) {
        if (!names) {
            f->outputs[i] = g->outputs[i];
            continue;
        }
        EvalStatus st = evl_find_value(ctx, g, names[i], &f->outputs[i]);
        if (st != EVAL_OK)
            return st;
    }
    return EVAL_OK;
}

/* By their names. CNTK has them in the order in which it read the file, which is that of the nodes'
** names, and its own clients count on it. */
static void sort_inputs(evl_forward *f)
{
    for (size_t i = 1; i < f->n_inputs; i++) {
        evl_value *v = f->inputs[i];
        size_t to = i;
        for (; to > 0 && strcmp(f->inputs[to - 1]->name, v->name) > 0; to--)
            f->inputs[to] = f->inputs[to - 1];
        f->inputs[to] = v;
    }
}

/* The pass's variables, in f's own arena. */
static EvalStatus choose(evl_context *ctx, const evl_graph *g, const char *const *names, size_t n,
                         evl_forward *f)
{
    f->n_outputs = n > 0 ? n : g->n_outputs;
    f->outputs = evl_arena_take_many(f->arena, f->n_outputs + 1, sizeof *f->outputs);
    EvalStatus st = f->outputs ? find_outputs(ctx, g, n > 0 ? names : NULL, f)
                               : evl_no_memory(ctx);
    if (st == EVAL_OK)
        st = evl_graph_inputs_of(ctx, f->arena, g, f->outputs, f->n_outputs, &f->inputs,
                                 &f->n_inputs);
    if (st != EVAL_OK)
        return st;
    sort_inputs(f);
    f->dense = evl_arena_take_many(f->arena, f->n_inputs + 1, sizeof *f->dense);
    f->dense_bytes = evl_arena_take_many(f->arena, f->n_inputs + 1, sizeof *f->dense_bytes);
    return f->dense && f->dense_bytes ? EVAL_OK : evl_no_memory(ctx);
}

EvalStatus evl_forward_start(evl_context *ctx, evl_evaluator *e, const char *const *outputs,
                             size_t n_out)
{
    evl_forward f = { .arena = NULL };
    if (!e->model)
        return evl_fail(ctx, EVAL_ERR_STATE, "no network yet: call CreateNetwork first");
    if (n_out && !outputs)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the array of output names is NULL");
    f.arena = evl_arena_new(ctx->memory);
    EvalStatus st = f.arena ? choose(ctx, e->model->graph, outputs, n_out, &f) : evl_no_memory(ctx);
    if (st != EVAL_OK) {
        evl_arena_free(f.arena);
        return st;
    }
    evl_forward_end(e);
    e->forward = f;
    return EVAL_OK;
}

static void tell(const evl_model *m, const evl_value *v, EvalVariable *variable)
{
    bool is_real = evl_type_is_float(v->t.type) || v->t.type == EVAL_UNDEFINED;
    *variable = (EvalVariable){ v->name, is_real ? m->machine.real : v->t.type,
                                v->is_sparse ? EVAL_STORAGE_SPARSE : EVAL_STORAGE_DENSE,
                                evl_sample_size(v) };
}

static EvalStatus give(evl_context *ctx, const evl_model *m, const evl_forward *f, bool of_outputs,
                       EvalVariable *variables, size_t *count)
{
    size_t n = of_outputs ? f->n_outputs : f->n_inputs, capacity = *count;
    *count = n;
    if (variables && capacity < n)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "room for %zu variables, and there are %zu", capacity,
                        n);
    for (size_t i = 0; variables && i < n; i++)
        tell(m, of_outputs ? f->outputs[i] : f->inputs[i], &variables[i]);
    return EVAL_OK;
}

EvalStatus evl_forward_schema(evl_context *ctx, evl_evaluator *e, bool of_outputs,
                              EvalVariable *variables, size_t *count)
{
    evl_forward usual = { .arena = NULL };
    if (!e->model || !count)
        return evl_fail(ctx, count ? EVAL_ERR_STATE : EVAL_ERR_ARGUMENT,
                        count ? "no network yet: call CreateNetwork first" : "count is NULL");
    if (e->forward.arena)
        return give(ctx, e->model, &e->forward, of_outputs, variables, count);
    usual.arena = evl_arena_new(ctx->memory);
    EvalStatus st = usual.arena ? choose(ctx, e->model->graph, NULL, 0, &usual)
                                : evl_no_memory(ctx);
    if (st == EVAL_OK)
        st = give(ctx, e->model, &usual, of_outputs, variables, count);
    evl_arena_free(usual.arena);
    return st;
}
