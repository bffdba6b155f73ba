/* reading.h - read a model of tests/data/onnx, look at it, and let it go. */
#ifndef EVL_TESTS_READING_H
#define EVL_TESTS_READING_H
#include "ir/op.h"
#include "readers/readers.h"
#include "support/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct evl_reading {
    evl_context *ctx;
    evl_arena *arena;
    evl_graph *graph;
    evl_external external;
    void *bytes;
    size_t size;
    char path[512];
} evl_reading;

/* A block of exactly the file's size, so that a sanitizer sees the first byte past it. */
static inline void *evl_test_load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* A test model's bytes; its path goes into path. */
static inline void *evl_test_load_model(const char *name, char path[512], size_t *size)
{
    snprintf(path, 512, "%s/onnx/%s.onnx", EVL_TEST_DATA, name);
    return evl_test_load(path, size);
}

/* `path` NULL: from memory. */
static inline EvalStatus evl_test_read(evl_context *ctx, const void *bytes, size_t size,
                                       const char *path, evl_reading *r)
{
    evl_source source = { .data = bytes, .size = size, .path = path, .may_map = true };
    r->ctx = ctx;
    r->external = (evl_external){ 0 };
    r->arena = evl_arena_new(ctx->memory);
    r->graph = r->arena ? evl_graph_new(r->arena, NULL) : NULL;
    return r->graph ? evl_read_model(ctx, &source, r->graph, &r->external) : EVAL_ERR_MEMORY;
}

static inline void evl_test_drop(evl_reading *r)
{
    evl_external_close(&r->external);
    evl_arena_free(r->arena);
}

/* By its name among the test models, with a context of its own. */
static inline EvalStatus evl_test_open(const char *name, evl_reading *r)
{
    r->bytes = evl_test_load_model(name, r->path, &r->size);
    return evl_test_read(evl_test_begin(), r->bytes, r->size, r->path, r);
}

static inline void evl_test_open_good(const char *name, evl_reading *r)
{
    EvalStatus st = evl_test_open(name, r);
    if (st != EVAL_OK)
        fail_msg("%s: %s", name, r->ctx->error.text);
}

static inline void evl_test_close(evl_reading *r)
{
    evl_test_drop(r);
    evl_test_end(r->ctx);
    free(r->bytes);
}

static inline const evl_value *evl_test_value(const evl_graph *g, const char *name)
{
    const evl_value *v = evl_graph_find(g, name, strlen(name));
    if (!v)
        fail_msg("no value '%s'", name);
    return v;
}
#endif
