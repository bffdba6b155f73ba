/* cntk1.c - the reader of CNTK v1 model files (.dnn, .cmf, .model). */
#include "readers/cntk1/model.h"
#include "readers/readers.h"
#include <string.h>

/* "B", in UTF-16, begins the first marker, "BCN". */
static bool claims(const evl_bytes *file)
{
    static const uint8_t begin[] = { 'B', 0, 'C', 0, 'N', 0, 0, 0 };
    size_t n = file->size < sizeof begin ? file->size : sizeof begin;
    return n >= 2 && memcmp(file->data, begin, n) == 0;
}

static EvalStatus read_model(evl_context *ctx, const evl_source *source, evl_graph *graph,
                             evl_external *external)
{
    evl_cntk1_model model;
    (void)external; /* a file of this format is complete */
    EvalStatus st = evl_cntk1_parse(ctx, source->data, source->size, graph->arena, &model);
    return st == EVAL_OK ? evl_cntk1_build(ctx, &model, graph) : st;
}

const evl_reader evl_reader_cntk1 = { "CNTK v1", claims, read_model };
