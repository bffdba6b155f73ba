/* Who claims these bytes? */
#include "readers/readers.h"
#include "base/text.h"
#include <string.h>

static const evl_reader *const readers[] = { &evl_reader_cntk1, &evl_reader_cntk2,
                                           &evl_reader_onnx };

enum { N_READERS = sizeof readers / sizeof readers[0] };

/* Formats that are known and not read: some bytes at an offset. */
typedef struct known_format {
    const char *bytes;
    size_t n, at;
    const char *name;
} known_format;

static const known_format known_formats[] = {
    { "GGUF", 4, 0, "a GGUF file" },
    { "TFL3", 4, 4, "a TensorFlow Lite model" },
    { "ORTM", 4, 4, "an ONNX Runtime model (ORT format)" },
    { "PK\x03\x04", 4, 0, "a zip archive (of PyTorch, Keras or numpy?)" },
    { "\x1f\x8b", 2, 0, "a gzip archive: unpack it first" },
    { "\x89HDF\r\n\x1a\n", 8, 0, "an HDF5 file (of Keras?)" },
    { "\x80\x02", 2, 0, "a Python pickle (of PyTorch or scikit-learn?)" },
    { "\x80\x03", 2, 0, "a Python pickle (of PyTorch or scikit-learn?)" },
    { "\x80\x04", 2, 0, "a Python pickle (of PyTorch or scikit-learn?)" },
    { "\x80\x05", 2, 0, "a Python pickle (of PyTorch or scikit-learn?)" },
    { "\x93NUMPY", 6, 0, "a numpy array" },
    { "{\"base_code\"", 12, 0, "a Paddle model (PIR)" },
    { "{\"", 2, 8, "a safetensors file" },
};

enum { N_KNOWN_FORMATS = sizeof known_formats / sizeof known_formats[0] };

static const char *known_by_bytes(const evl_bytes *file)
{
    for (size_t i = 0; i < N_KNOWN_FORMATS; i++) {
        const known_format *f = &known_formats[i];
        if (file->size >= f->at + f->n && memcmp(file->data + f->at, f->bytes, f->n) == 0)
            return f->name;
    }
    return NULL;
}

/* A program: blocks first, and block 0 first of them, whose parent is -1. */
static bool is_paddle(const evl_bytes *file)
{
    static const char block[] = "\x08\x00\x10\xff\xff\xff\xff";
    enum { N_BLOCK = sizeof block - 1 };
    if (file->data[0] != 0x0a)
        return false;
    for (size_t at = 2; at <= 6 && at + N_BLOCK <= file->size; at++) /* behind the length */
        if (memcmp(file->data + at, block, N_BLOCK) == 0)
            return true;
    return false;
}

enum { TEXT_LOOKED_AT = 4096 };

static bool is_text(const evl_bytes *file)
{
    size_t n = file->size < TEXT_LOOKED_AT ? file->size : TEXT_LOOKED_AT;
    for (size_t i = 0; i < n; i++)
        if (file->data[i] < ' ' && !strchr("\t\n\r\f", file->data[i]))
            return false;
    const char *text = (const char *)file->data;
    return memchr(text, '\0', n) == NULL && evl_utf8_valid(text, evl_utf8_cut(text, n));
}

static EvalStatus refuse(evl_context *ctx, const evl_bytes *file)
{
    const char *name = known_by_bytes(file);
    if (!name && is_paddle(file))
        name = "a Paddle model";
    if (name)
        return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                        "this seems to be %s, which is not read; ONNX and "
                        "CNTK models are",
                        name);
    if (is_text(file))
        return evl_fail(ctx, EVAL_ERR_FORMAT,
                        "this is text, and no model; ONNX and CNTK models are read");
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "no known model format begins like this; ONNX and CNTK models are read");
}

static const evl_reader *find_reader(const evl_bytes *file)
{
    for (size_t i = 0; i < N_READERS; i++)
        if (readers[i]->claims(file))
            return readers[i];
    return NULL;
}

static EvalStatus read_bytes(evl_context *ctx, const evl_source *source, const evl_bytes *file,
                             evl_graph *graph, evl_external *external)
{
    bool is_claimed = false;
    EvalStatus st = EVAL_OK;
    if (source->guests)
        st = source->guests->read(ctx, source->guests, source, graph, &is_claimed);
    if (is_claimed || st != EVAL_OK)
        return st;
    const evl_reader *reader = find_reader(file);
    return reader ? reader->read(ctx, source, graph, external) : refuse(ctx, file);
}

EvalStatus evl_read_model(evl_context *ctx, const evl_source *source, evl_graph *graph,
                          evl_external *external)
{
    evl_bytes file = evl_bytes_of(source->data, source->size);
    *external = (evl_external){ 0 };
    if (!source->data || source->size == 0)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "the model is empty");
    EvalStatus st = read_bytes(ctx, source, &file, graph, external);
    if (st == EVAL_OK && source->guests)
        evl_registry_replace(&source->guests->registry, graph);
    if (st == EVAL_OK)
        st = evl_graph_sort(ctx, graph);
    if (st != EVAL_OK)
        evl_external_close(external);
    return st;
}

void evl_external_close(evl_external *external)
{
    for (size_t i = 0; i < external->n; i++)
        evl_file_close(&external->files[i]);
    *external = (evl_external){ 0 };
}
