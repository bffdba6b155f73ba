#include "writers/outside.h"
#include "ir/op.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_INSIDE = 0x78000000, /* leaves the nodes room */
    LEAST_OUTSIDE = 1 << 16,
    ALIGNMENT = 4096,         /* as the standard advises, so that it can be mapped */
    LONGEST_NUMBER = 24
};

/* Fields of TensorProto, and of its pairs. */
enum { TENSOR_EXTERNAL = 13, TENSOR_LOCATION = 14, IS_EXTERNAL = 1, PAIR_KEY = 1, PAIR_VALUE = 2 };

static size_t constant_bytes(const evl_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_values; i++)
        if (g->values[i]->is_constant)
            n += evl_shape_count(&g->values[i]->t.shape) * evl_type_size(g->values[i]->t.type);
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            n += constant_bytes(evl_node_body(g->nodes[i], b));
    return n;
}

EvalStatus evl_outside_begin(evl_context *ctx, evl_arena *arena, const evl_graph *g, const char *path,
                             evl_outside *o)
{
    static const char ending[] = ".data";
    size_t n = strlen(path);
    if (constant_bytes(g) <= MOST_INSIDE)
        return EVAL_OK;
    char *whole = evl_arena_take(arena, n + sizeof ending);
    if (!whole)
        return evl_no_memory(ctx);
    memcpy(whole, path, n);
    memcpy(whole + n, ending, sizeof ending);
    const char *slash = strrchr(whole, '/');
    o->name = slash ? slash + 1 : whole;
    return evl_output_begin(ctx, whole, &o->file);
}

static void put_pair(evl_pb_writer *w, const char *key, const char *value)
{
    size_t begun = evl_pb_begin(w);
    evl_pb_put_text(w, PAIR_KEY, key);
    evl_pb_put_text(w, PAIR_VALUE, value);
    evl_pb_end(w, TENSOR_EXTERNAL, begun);
}

static void put_number(evl_pb_writer *w, const char *key, size_t number)
{
    char text[LONGEST_NUMBER];
    snprintf(text, sizeof text, "%zu", number);
    put_pair(w, key, text);
}

void evl_outside_put(evl_outside *o, evl_pb_writer *w, uint32_t field, const void *bytes, size_t n)
{
    static const char zeros[ALIGNMENT];
    size_t gap = (ALIGNMENT - o->at % ALIGNMENT) % ALIGNMENT;
    if (!o->name || n < LEAST_OUTSIDE) {
        evl_pb_put_bytes(w, field, bytes, n);
        return;
    }
    if (w->status == EVAL_OK)
        w->status = evl_output_put(w->ctx, &o->file, zeros, gap);
    if (w->status == EVAL_OK)
        w->status = evl_output_put(w->ctx, &o->file, bytes, n);
    put_pair(w, "location", o->name);
    put_number(w, "offset", o->at + gap);
    put_number(w, "length", n);
    evl_pb_put_int(w, TENSOR_LOCATION, IS_EXTERNAL);
    o->at += gap + n;
}

EvalStatus evl_outside_end(evl_context *ctx, evl_outside *o, EvalStatus st)
{
    EvalStatus ended = o->name ? evl_output_end(ctx, &o->file) : EVAL_OK;
    return st == EVAL_OK ? ended : st;
}
