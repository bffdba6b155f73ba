/* cntk1.c - the reader of CNTK v1 model files (.dnn, .cmf, .model). */
#include "readers/cntk1/payload.h"
#include "readers/readers.h"
#include <string.h>

/* "B", in UTF-16, begins the first marker, "BCN". */
static bool claims(const evl_bytes *file)
{
    static const uint8_t begin[] = { 'B', 0, 'C', 0, 'N', 0, 0, 0 };
    size_t n = file->size < sizeof begin ? file->size : sizeof begin;
    return n >= 2 && memcmp(file->data, begin, n) == 0;
}

/* Networks exported from CNTK v2 have names __v2libuid__UID__v2libname__NAME: both are further
** names, once when they are the same. */
static void split(const evl_cntk_node *node, evl_cntk_model *model)
{
    static const char uid[] = "__v2libuid__", own[] = "__v2libname__";
    const char *name = node->name, *middle = strstr(name, own);
    if (strncmp(name, uid, sizeof uid - 1) != 0 || !middle || middle < name + sizeof uid - 1)
        return;
    const char *first = name + sizeof uid - 1, *second = middle + sizeof own - 1;
    size_t n_first = (size_t)(middle - first), n_second = strlen(second);
    bool is_same = n_first == n_second && memcmp(first, second, n_first) == 0;
    if (n_first > 0)
        model->aliases[model->n_aliases++] = (evl_cntk_alias){ first, n_first, node };
    if (n_second > 0 && !is_same)
        model->aliases[model->n_aliases++] = (evl_cntk_alias){ second, n_second, node };
}

static EvalStatus read_model(evl_context *ctx, const evl_source *source, evl_graph *graph,
                             evl_external *external)
{
    evl_cntk_model model;
    (void)external; /* a file of this format is complete */
    EvalStatus st = evl_cntk1_parse(ctx, source->data, source->size, graph->arena, &model);
    if (st != EVAL_OK)
        return st;
    model.aliases = evl_arena_take_many(graph->arena, 2 * model.n_nodes + 1, sizeof *model.aliases);
    if (!model.aliases)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < model.n_nodes; i++)
        split(&model.nodes[i], &model);
    return evl_cntk_build(ctx, &model, graph);
}

const evl_reader evl_reader_cntk1 = { "CNTK v1", claims, read_model };
