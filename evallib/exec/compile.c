#include "exec/exec.h"

EvalStatus evl_compile(evl_context *ctx, const evl_graph *graph, const evl_pass_env *env,
                       const evl_selection *selection, evl_plan **plan)
{
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_graph *copy;
    if (!arena)
        return evl_no_memory(ctx);
    EvalStatus st = evl_graph_copy(ctx, arena, graph, env->machine->real, selection, &copy);
    if (st == EVAL_OK)
        st = evl_passes_run(ctx, env, copy);
    if (st != EVAL_OK) {
        evl_arena_free(arena);
        return st;
    }
    return evl_plan_build(ctx, arena, env->machine, env->store, copy, plan);
}
