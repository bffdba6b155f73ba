/* cntk1.h - what the tests of the CNTK v1 reader share: bytes of a file, and reading them
** into a graph of its own. */
#ifndef EVL_TESTS_READERS_CNTK1_H
#define EVL_TESTS_READERS_CNTK1_H
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
static file_bytes file_of(const char *folder, const char *name, const char *suffix)
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

static file_bytes own_file(const char *name)
{
    file_bytes f = file_of(EVL_TEST_DATA "/cntk1", name, ".model");
    assert_non_null(f.data);
    return f;
}

/* The graph, in the arena; NULL and the context's failure otherwise. */
static evl_graph *read_bytes(evl_context *ctx, evl_arena *arena, const void *data, size_t size)
{
    evl_graph *graph = evl_graph_new(arena, NULL);
    evl_source source = { data, size, NULL, false };
    evl_external external = { 0 };
    if (!graph)
        return NULL;
    EvalStatus st = evl_reader_cntk1.read(ctx, &source, graph, &external);
    if (st != EVAL_OK) {
        assert_int_equal(ctx->error.status, st);
        assert_true(*ctx->error.text != '\0');
    }
    return st == EVAL_OK ? graph : NULL;
}
#endif
