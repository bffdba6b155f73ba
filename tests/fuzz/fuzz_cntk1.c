/* fuzz_cntk1.c - a CNTK v1 model file, read into a graph and sorted. */
#include "fuzz/fuzz.h"
#include "readers/readers.h"
#include <stdlib.h>

enum { MEMORY_CAP = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    evl_memory memory;
    evl_context ctx;
    evl_source source = { data, size, NULL, false };
    evl_external external = { 0 };
    evl_memory_init(&memory, NULL, MEMORY_CAP);
    evl_context_init(&ctx, &memory, &evl_default_limits);
    evl_arena *arena = evl_arena_new(&memory);
    evl_graph *graph = arena ? evl_graph_new(arena, NULL) : NULL;
    if (!graph)
        abort();
    EvalStatus st = evl_reader_cntk1.read(&ctx, &source, graph, &external);
    if (st == EVAL_OK)
        st = evl_graph_sort(&ctx, graph);
    if (st != EVAL_OK && (ctx.error.status != st || !*ctx.error.text))
        abort();
    evl_arena_free(arena);
    evl_context_end(&ctx);
    if (atomic_load(&memory.blocks))
        abort();
    return 0;
}
