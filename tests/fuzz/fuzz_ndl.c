/* fuzz_ndl.c - a configuration with a network's description, read into a graph. */
#include "fuzz/fuzz.h"
#include "readers/ndl/ndl.h"
#include <stdlib.h>
#include <string.h>

enum { MEMORY_CAP = 128 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    evl_limits limits = evl_default_limits;
    evl_memory memory;
    evl_context ctx;
    evl_config *config;
    limits.max_nodes = 1 << 10;
    limits.max_text = 1 << 16;
    limits.max_tensor_bytes = 1 << 16;
    evl_memory_init(&memory, NULL, MEMORY_CAP);
    evl_context_init(&ctx, &memory, &limits);
    evl_arena *arena = evl_arena_new(&memory);
    evl_graph *graph = arena ? evl_graph_new(arena, NULL) : NULL;
    char *text = evl_allocate_zeroed(&memory, size + 1);
    if (!graph || !text)
        abort();
    memcpy(text, data, size);
    EvalStatus st = evl_config_parse(&ctx, arena, text, NULL, &config);
    if (st == EVAL_OK)
        st = evl_ndl_read(&ctx, config, graph);
    if (st == EVAL_OK)
        st = evl_graph_sort(&ctx, graph);
    if (st != EVAL_OK && (ctx.error.status != st || !*ctx.error.text))
        abort();
    evl_release(&memory, text);
    evl_arena_free(arena);
    evl_context_end(&ctx);
    if (atomic_load(&memory.blocks))
        abort();
    return 0;
}
