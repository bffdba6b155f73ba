/* fuzz_onnx.c - bytes that may be an ONNX model: read whole, with no file beside them. */
#include "fuzz/fuzz.h"
#include "readers/readers.h"
#include <stdlib.h>

enum { MEMORY_CAP = 64 << 20 };

/* What a plan would look at: everything that a good model points to is there. */
static void look_at(const evl_graph *g)
{
    static volatile unsigned char seen;
    for (size_t i = 0; i < g->n_values; i++) {
        const evl_tensor *t = &g->values[i]->t;
        size_t bytes =
            g->values[i]->is_constant ? evl_shape_count(&t->shape) * evl_type_size(t->type) : 0;
        if (bytes)
            seen =
                ((const unsigned char *)t->data)[0] ^ ((const unsigned char *)t->data)[bytes - 1];
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        const evl_graph *body;
        for (size_t j = 0; (body = evl_node_body(g->nodes[i], j)) != NULL; j++)
            look_at(body);
    }
    (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    evl_memory memory;
    evl_context ctx;
    evl_external external = { 0 };
    evl_source source = { .data = data, .size = size };
    evl_memory_init(&memory, NULL, MEMORY_CAP);
    evl_context_init(&ctx, &memory, &evl_default_limits);
    evl_arena *arena = evl_arena_new(&memory);
    evl_graph *graph = arena ? evl_graph_new(arena, NULL) : NULL;
    if (!graph)
        abort();
    EvalStatus st = evl_read_model(&ctx, &source, graph, &external);
    if (st == EVAL_OK)
        look_at(graph);
    else if (ctx.error.status != st || !*ctx.error.text)
        abort();
    evl_external_close(&external);
    evl_arena_free(arena);
    evl_context_end(&ctx);
    if (atomic_load(&memory.blocks))
        abort();
    return 0;
}
