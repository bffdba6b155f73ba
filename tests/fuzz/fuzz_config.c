/* fuzz_config.c - configuration text: parsed, and everything in it asked for in every way. */
#include "fuzz/fuzz.h"
#include "config/config.h"
#include <stdlib.h>
#include <string.h>

enum { MEMORY_CAP = 64 << 20, MOST_SECTIONS = 1000 };

typedef struct asking {
    evl_context *ctx;
    int sections_left; /* sections named by variables open again and again */
} asking;

/* A status without a text, or a text without a status, is a fault as well. */
static void expect(const evl_context *ctx, EvalStatus st)
{
    if (st != EVAL_OK && (ctx->error.status != st || !*ctx->error.text))
        abort();
}

static void ask_all(asking *a, evl_config *config)
{
    for (size_t i = 0; i < evl_config_count(config); i++) {
        int line;
        const char *key = evl_config_key(config, i, &line), *text, **items;
        size_t n;
        int64_t integer;
        double number;
        bool yes;
        evl_config *section = NULL;
        expect(a->ctx, evl_config_text(a->ctx, config, key, &text));
        expect(a->ctx, evl_config_int(a->ctx, config, key, &integer));
        expect(a->ctx, evl_config_number(a->ctx, config, key, &number));
        expect(a->ctx, evl_config_bool(a->ctx, config, key, &yes));
        expect(a->ctx, evl_config_list(a->ctx, config, key, &items, &n));
        expect(a->ctx, evl_config_section(a->ctx, config, key, &section));
        if (section && a->sections_left-- > 0)
            ask_all(a, section);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    evl_limits limits = evl_default_limits;
    evl_memory memory;
    evl_context ctx;
    evl_config *config;
    limits.max_nodes = 1 << 12;
    limits.max_text = 1 << 16;
    evl_memory_init(&memory, NULL, MEMORY_CAP);
    evl_context_init(&ctx, &memory, &limits);
    evl_arena *arena = evl_arena_new(&memory);
    char *text = evl_allocate_zeroed(&memory, size + 1);
    if (!arena || !text)
        abort();
    memcpy(text, data, size);
    EvalStatus st = evl_config_parse(&ctx, arena, text, NULL, &config);
    expect(&ctx, st);
    if (st == EVAL_OK)
        ask_all(&(asking){ &ctx, MOST_SECTIONS }, config);
    evl_release(&memory, text);
    evl_arena_free(arena);
    evl_context_end(&ctx);
    if (atomic_load(&memory.blocks))
        abort();
    return 0;
}
