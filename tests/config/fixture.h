/* fixture.h - a parsed configuration, for the tests of this folder. */
#ifndef EVL_TESTS_CONFIG_FIXTURE_H
#define EVL_TESTS_CONFIG_FIXTURE_H
#include "support/support.h"
#include "config/config.h"
#include <string.h>

/* A configuration with all that it stands on. */
typedef struct fixture {
    evl_context *ctx;
    evl_arena *arena;
    evl_config *config;
} fixture;

static inline fixture begin(const char *text)
{
    fixture f = { .ctx = evl_test_begin() };
    f.arena = evl_arena_new(f.ctx->memory);
    if (evl_config_parse(f.ctx, f.arena, text, NULL, &f.config) != EVAL_OK)
        fail_msg("'%s': %s", text, f.ctx->error.text);
    return f;
}

static inline void end(fixture *f)
{
    evl_arena_free(f->arena);
    evl_test_end(f->ctx);
}

static inline void check_text(const char *text, const char *key, const char *expected)
{
    fixture f = begin(text);
    const char *value = "(none)";
    if (evl_config_text(f.ctx, f.config, key, &value) != EVAL_OK)
        fail_msg("'%s': %s", text, f.ctx->error.text);
    if (strcmp(value, expected) != 0)
        fail_msg("'%s': %s is '%s', not '%s'", text, key, value, expected);
    end(&f);
}

/* A text, the status that it must bring, and words of what is said about it. */
typedef struct bad_case {
    const char *text, *words;
    EvalStatus status;
} bad_case;
#endif
