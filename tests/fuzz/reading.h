/* reading.h - bytes read by one reader into a graph, which is sorted. */
#ifndef EVL_TESTS_FUZZ_READING_H
#define EVL_TESTS_FUZZ_READING_H
#include "fuzz/fuzz.h"
#include "readers/readers.h"
#include <stdlib.h>

enum { MEMORY_CAP = 256 << 20 };

static int read_fuzz(const evl_reader *reader, const uint8_t *data, size_t size)
{
    evl_memory memory;
    evl_context ctx;
    evl_source source = { .data = data, .size = size };
    evl_external external = { 0 };
    evl_memory_init(&memory, NULL, MEMORY_CAP);
    evl_context_init(&ctx, &memory, &evl_default_limits);
    evl_arena *arena = evl_arena_new(&memory);
    evl_graph *graph = arena ? evl_graph_new(arena, NULL) : NULL;
    if (!graph)
        abort();
    EvalStatus st = reader->read(&ctx, &source, graph, &external);
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
#endif
