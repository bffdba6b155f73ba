/* What the passes leave is made fit for a file: an output there is what a node of its own graph gives. */
#include "writers/simplify.h"
#include "ops/build.h"
#include <string.h>

static EvalStatus check_type(evl_context *ctx, EvalType type, EvalType real, const char *name)
{
    if (!evl_type_is_float(type) || type == real)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "'%s' is %s, and only networks that are %s all over can be simplified "
                    "here: without saveSimplified this one is saved as read", name, evl_type_name(type),
                    evl_type_name(real));
}

EvalStatus evl_simplify_check(evl_context *ctx, const evl_graph *g, EvalType real)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < g->n_values && st == EVAL_OK; i++) {
        const evl_tensor *t = &g->values[i]->t;
        st = check_type(ctx, t->type, real, g->values[i]->name);
        for (size_t j = 0; j < EVL_MAX_NESTING && st == EVAL_OK; j++)
            st = check_type(ctx, (EvalType)t->inner[j], real, g->values[i]->name);
    }
    for (size_t i = 0; i < g->n_nodes && st == EVAL_OK; i++) {
        const evl_node *node = g->nodes[i];
        st = check_type(ctx, (EvalType)evl_node_int(node, "to", EVAL_UNDEFINED), real, node->name);
        for (size_t b = 0; evl_node_body(node, b) && st == EVAL_OK; b++)
            st = evl_simplify_check(ctx, evl_node_body(node, b), real);
    }
    return st;
}

static bool is_given_here(const evl_graph *g, const evl_value *v)
{
    return !v->is_constant && v->producer && v->producer->graph == g;
}

/* wanted: the outputs as they were, by whose names the caller asks; NULL: names do not matter. */
static EvalStatus give_outputs(evl_context *ctx, evl_graph *g, evl_value *const *wanted)
{
    evl_builder b = { ctx, g, EVAL_OK };
    for (size_t i = 0; i < g->n_outputs && b.status == EVAL_OK; i++) {
        evl_value *v = g->outputs[i];
        if (is_given_here(g, v) && (!wanted || wanted[i] == v))
            continue;
        evl_value *y = evl_build_1(&b, &evl_op_identity, wanted ? wanted[i]->name : NULL, v);
        if (y) {
            y->declared = wanted ? wanted[i]->declared : v->declared;
            g->outputs[i] = y;
        }
    }
    return b.status;
}

static EvalStatus give_outputs_of_bodies(evl_context *ctx, const evl_graph *g)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b) && st == EVAL_OK; b++) {
            evl_graph *body = evl_node_body(g->nodes[i], b);
            st = body->failure ? evl_fail(ctx, body->failure, "%s", body->failure_text)
                               : give_outputs(ctx, body, NULL);
            if (st == EVAL_OK)
                st = give_outputs_of_bodies(ctx, body);
        }
    return st;
}

/* After evl_pass_dead, which has marked what is used by its slot. */
static void drop_constants(evl_graph *g)
{
    for (size_t i = 0; i < g->n_values; i++)
        g->values[i]->is_constant &= g->values[i]->slot != 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            drop_constants(evl_node_body(g->nodes[i], b));
}

EvalStatus evl_simplify(evl_context *ctx, const evl_pass_env *env, evl_graph *copy)
{
    evl_value **wanted = evl_arena_take_many(copy->arena, copy->n_outputs + 1, sizeof *wanted);
    if (!wanted)
        return evl_no_memory(ctx);
    memcpy(wanted, copy->outputs, copy->n_outputs * sizeof *wanted);
    evl_pass_env for_file = *env;
    for_file.is_for_file = true;
    EvalStatus st = evl_pass_fold(ctx, &for_file, copy);
    if (st == EVAL_OK)
        st = evl_pass_fuse_batch(ctx, &for_file, copy);
    if (st == EVAL_OK)
        st = give_outputs(ctx, copy, wanted);
    if (st == EVAL_OK)
        st = give_outputs_of_bodies(ctx, copy);
    if (st == EVAL_OK)
        st = evl_pass_dead(ctx, env, copy);
    if (st == EVAL_OK)
        drop_constants(copy);
    return st;
}
