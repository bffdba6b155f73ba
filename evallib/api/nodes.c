/* What there is in the network: sizes, types, names. */
#include "api/perform.h"
#include "ir/nested.h"

/* Elements of one sample; 0 when that depends on the input (eval.h). */
size_t evl_sample_size(const evl_value *v)
{
    evl_shape s = v->t.shape;
    if (evl_type_is_nested(v->t.type))
        return 0;
    if (s.rank > 0 && (v->has_frames || s.dim[0] < 0))
        s.dim[0] = 1; /* counts samples */
    return evl_shape_is_known(&s) ? evl_shape_count(&s) : 0;
}

static EvalStatus give_sizes(evl_context *ctx, evl_value *const *values, size_t n,
                             EvalDimension *dims, size_t *count)
{
    size_t capacity = *count;
    *count = n;
    if (!dims)
        return EVAL_OK;
    if (capacity < n)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "room for %zu nodes, and there are %zu", capacity, n);
    for (size_t i = 0; i < n; i++)
        dims[i] = (EvalDimension){ values[i]->name, evl_sample_size(values[i]) };
    return EVAL_OK;
}

static EvalStatus give_specified(evl_context *ctx, const evl_graph *g, EvalDimension *dims,
                                 const size_t *count)
{
    evl_value *v;
    if (!dims && *count)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the array of names is NULL");
    for (size_t i = 0; i < *count; i++) { /* all names are there, or nothing is changed */
        EvalStatus st = evl_find_value(ctx, g, dims[i].name, &v);
        if (st != EVAL_OK)
            return st;
    }
    for (size_t i = 0; i < *count; i++)
        dims[i].size = evl_sample_size(evl_graph_find_node(g, dims[i].name));
    return EVAL_OK;
}

static EvalStatus give_inputs(evl_context *ctx, const evl_graph *g, EvalDimension *dims,
                              size_t *count)
{
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_value **inputs;
    size_t n;
    if (!arena)
        return evl_no_memory(ctx);
    EvalStatus st =
        evl_graph_inputs_of(ctx, arena, g, g->outputs, g->n_outputs, &inputs, &n);
    if (st == EVAL_OK)
        st = give_sizes(ctx, inputs, n, dims, count);
    evl_arena_free(arena);
    return st;
}

static EvalStatus model_to_count(evl_context *ctx, evl_evaluator *e, const size_t *count,
                                 evl_model **model)
{
    if (!count)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "count is NULL");
    return evl_evaluator_model(ctx, e, model);
}

EvalStatus evl_evaluator_dimensions(evl_context *ctx, evl_evaluator *e, EvalNodeGroup group,
                                    EvalDimension *dims, size_t *count)
{
    evl_model *m;
    EvalStatus st = model_to_count(ctx, e, count, &m);
    if (st != EVAL_OK)
        return st;
    if (group == EVAL_NODE_INPUT)
        st = give_inputs(ctx, m->graph, dims, count);
    else if (group == EVAL_NODE_OUTPUT)
        st = give_sizes(ctx, m->graph->outputs, m->graph->n_outputs, dims, count);
    else if (group == EVAL_NODE_SPECIFIED)
        st = give_specified(ctx, m->graph, dims, count);
    else
        st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "%d is no group of nodes", (int)group);
    evl_model_release(m);
    return st;
}

EvalStatus evl_evaluator_find(evl_context *ctx, evl_evaluator *e, const char *name)
{
    evl_model *m;
    evl_value *v;
    EvalStatus st = evl_evaluator_model(ctx, e, &m);
    if (st != EVAL_OK)
        return st;
    st = evl_find_value(ctx, m->graph, name, &v);
    evl_model_release(m);
    return st;
}

/* What an EvalNodeInfo had when it was first published. */
static const size_t least_size = offsetof(EvalNodeInfo, inside);

/* How many frames there are is the call's, also where a sequence has a known number of them. */
static bool is_open(const evl_value *v, int32_t axis)
{
    return axis == 0 && v->has_frames && v->dim_names && v->dim_names[0];
}

static void describe(const evl_value *v, EvalNodeInfo *info, size_t size)
{
    info->name = v->name;
    info->op = v->producer ? v->producer->op->name : v->is_input ? "" : "Constant";
    info->domain = v->producer && v->producer->op->domain ? v->producer->op->domain : "";
    info->type = v->t.type;
    for (size_t i = 0; i < EVL_MAX_NESTING && size >= sizeof *info; i++)
        info->inside[i] = (EvalType)v->t.inner[i];
    info->rank = v->t.shape.rank;
    for (int32_t i = 0; i < EVAL_MAX_RANK; i++) {
        bool is_there = i < v->t.shape.rank;
        info->dims[i] = !is_there ? 0 : is_open(v, i) ? EVL_UNKNOWN_DIM : v->t.shape.dim[i];
        info->dimNames[i] = is_there && v->dim_names ? v->dim_names[i] : NULL;
    }
}

/* Values without a name cannot be asked for; every other one is a node to the user. */
static bool is_listed(const evl_graph *g, evl_listing which, size_t i, const evl_value **v)
{
    *v = which == EVL_LIST_INPUTS    ? g->inputs[i]
         : which == EVL_LIST_OUTPUTS ? g->outputs[i]
                                     : g->values[i];
    return which != EVL_LIST_NODES || *(*v)->name;
}

static EvalStatus list(evl_context *ctx, const evl_graph *g, evl_listing which, EvalNodeInfo *infos,
                       size_t *count)
{
    size_t n = which == EVL_LIST_INPUTS    ? g->n_inputs
               : which == EVL_LIST_OUTPUTS ? g->n_outputs
                                           : g->n_values;
    size_t capacity = *count, found = 0, size = infos && capacity ? infos[0].size : sizeof *infos;
    const evl_value *v;
    if (size < least_size || size % sizeof(void *))
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "infos[0].size is to be sizeof(EvalNodeInfo), %zu",
                        sizeof *infos);
    for (size_t i = 0; i < n; i++)
        if (is_listed(g, which, i, &v)) {
            if (infos && found < capacity)
                describe(v, (EvalNodeInfo *)((char *)infos + found * size), size);
            found++;
        }
    *count = found;
    if (infos && found > capacity)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "room for %zu nodes, and there are %zu", capacity,
                        found);
    return EVAL_OK;
}

EvalStatus evl_evaluator_describe(evl_context *ctx, evl_evaluator *e, evl_listing which,
                                  EvalNodeInfo *infos, size_t *count)
{
    evl_model *m;
    EvalStatus st = model_to_count(ctx, e, count, &m);
    if (st != EVAL_OK)
        return st;
    st = list(ctx, m->graph, which, infos, count);
    evl_model_release(m);
    return st;
}

EvalStatus evl_evaluator_metadata(evl_context *ctx, evl_evaluator *e, size_t index,
                                  const char **key, const char **value)
{
    evl_model *m;
    if (!key || !value)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "key or value is NULL");
    EvalStatus st = evl_evaluator_model(ctx, e, &m);
    if (st != EVAL_OK)
        return st;
    if (index < m->graph->n_metadata) {
        *key = m->graph->metadata[index].key;
        *value = m->graph->metadata[index].value;
    } else
        st = evl_fail(ctx, EVAL_ERR_NOT_FOUND, "there are %zu entries of metadata",
                      m->graph->n_metadata);
    evl_model_release(m);
    return st;
}
