/* The table of passes. */
#include "passes/passes.h"

static EvalStatus run_foreign(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    return env->foreign ? env->foreign(ctx, env, graph) : EVAL_OK;
}

static const struct {
    const char *name;
    evl_pass *run;
} passes[] = {
    { "integers", evl_pass_integers }, /* before weights are folded to real numbers */
    { "fold", evl_pass_fold },
    { "plug-ins", run_foreign },
    { "fuse_gelu", evl_pass_fuse_gelu },
    { "fuse_norm", evl_pass_fuse_norm },
    { "fuse_attention", evl_pass_fuse_attention },
    { "dead", evl_pass_dead }, /* what was folded or fused reads nothing any more */
    { "fuse_product", evl_pass_fuse_product },
    { "dead", evl_pass_dead },
    { "block", evl_pass_block },
};

EvalStatus evl_passes_run(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < sizeof passes / sizeof passes[0] && st == EVAL_OK; i++)
        st = passes[i].run(ctx, env, graph);
    return st;
}
