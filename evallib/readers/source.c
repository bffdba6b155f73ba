/* Where a model's bytes come from: a path, the caller's memory, or the caller's files. */
#include "readers/readers.h"

static EvalStatus fill(evl_context *ctx, const EvalFiles *files, const char *name, void *data,
                       size_t size)
{
    if (files->read(files->user, name, 0, data, size) == 0)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_IO, "'%s': the caller's read failed for its %zu bytes", name,
                    size);
}

static EvalStatus fetch(evl_context *ctx, const EvalFiles *files, const char *name, evl_file *file)
{
    int64_t size = files->length(files->user, name);
    if (size < 0)
        return evl_fail(ctx, EVAL_ERR_IO, "'%s' is not among the caller's files", name);
    if (size == 0)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "'%s' is empty", name);
    void *data = (uint64_t)size <= SIZE_MAX ? evl_allocate(ctx->memory, (size_t)size) : NULL;
    if (!data)
        return evl_no_memory(ctx);
    EvalStatus st = fill(ctx, files, name, data, (size_t)size);
    if (st != EVAL_OK) {
        evl_release(ctx->memory, data);
        return st;
    }
    *file = (evl_file){ data, (size_t)size, false, ctx->memory };
    return EVAL_OK;
}

EvalStatus evl_source_open(evl_context *ctx, evl_source *source, evl_file *file)
{
    if (source->data)
        return EVAL_OK;
    EvalStatus st = source->files ? fetch(ctx, source->files, "", file)
                                  : evl_file_open(ctx, source->path, source->may_map, file);
    source->data = file->data;
    source->size = file->size;
    return st;
}

EvalStatus evl_source_beside(evl_context *ctx, const evl_source *source, const char *name,
                             evl_file *file)
{
    if (source->files)
        return fetch(ctx, source->files, name, file);
    if (source->path)
        return evl_file_open_beside(ctx, source->path, name, source->may_map, file);
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "the model's data is in a file '%s' beside it, but it was loaded from memory: "
                    "load it by its path, or by a callback that knows that file",
                    name);
}
