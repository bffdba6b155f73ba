/* cntk.h - what the tests of the readers of CNTK's formats share: bytes of a file, and reading
** them into a graph of its own. */
#ifndef EVL_TESTS_READERS_CNTK_H
#define EVL_TESTS_READERS_CNTK_H
#include "support/support.h"
#include "ops/ops.h"
#include "readers/readers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file_bytes {
    uint8_t *data;
    size_t size;
} file_bytes;

/* data NULL: there is no such file. */
static inline file_bytes file_of(const char *folder, const char *name, const char *suffix)
{
    char path[512];
    file_bytes f = { NULL, 0 };
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "rb");
    if (!file)
        return f;
    fseek(file, 0, SEEK_END);
    f.size = (size_t)ftell(file);
    rewind(file);
    f.data = malloc(f.size + 1);
    assert_non_null(f.data);
    assert_int_equal(fread(f.data, 1, f.size, file), f.size);
    fclose(file);
    return f;
}

static inline file_bytes own_file(const char *folder, const char *name)
{
    file_bytes f = file_of(folder, name, ".model");
    assert_non_null(f.data);
    return f;
}

/* The graph, in the arena; NULL and the context's failure otherwise. */
static inline evl_graph *read_bytes(evl_context *ctx, const evl_reader *reader, evl_arena *arena,
                             const void *data, size_t size)
{
    evl_graph *graph = evl_graph_new(arena, NULL);
    evl_source source = { .data = data, .size = size };
    evl_external external = { 0 };
    if (!graph)
        return NULL;
    EvalStatus st = reader->read(ctx, &source, graph, &external);
    if (st != EVAL_OK) {
        assert_int_equal(ctx->error.status, st);
        assert_true(*ctx->error.text != '\0');
    }
    return st == EVAL_OK ? graph : NULL;
}

typedef struct fixture {
    evl_context *ctx;
    evl_arena *arena;
    file_bytes file;
    evl_graph *graph;
} fixture;

static inline fixture open_bytes(const evl_reader *reader, file_bytes file)
{
    fixture f = { .ctx = evl_test_begin(), .file = file };
    f.arena = evl_arena_new(f.ctx->memory);
    assert_non_null(f.arena);
    f.graph = read_bytes(f.ctx, reader, f.arena, f.file.data, f.file.size);
    return f;
}

static inline void close_model(fixture *f)
{
    evl_arena_free(f->arena);
    evl_test_end(f->ctx);
    free(f->file.data);
}

static inline const evl_value *value_of(const fixture *f, const char *name)
{
    const evl_value *v = evl_graph_find(f->graph, name, strlen(name));
    if (!v)
        fail_msg("no value '%s'", name);
    return v;
}

static inline void assert_shape(const evl_value *v, size_t rank, const int64_t *dims)
{
    evl_shape expected = evl_shape_of(rank, dims);
    char found[EVL_SHAPE_TEXT], wanted[EVL_SHAPE_TEXT];
    assert_string_equal(evl_shape_text(&v->t.shape, found), evl_shape_text(&expected, wanted));
}
#endif
