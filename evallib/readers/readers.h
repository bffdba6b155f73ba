/* readers.h - from the bytes of a file to a graph.
**
** A format has one reader; which one, its bytes tell. The bytes and the graph's arena
** live as long as the model: constants point into the bytes, perhaps unaligned, and are
** not copied. */
#ifndef EVL_READERS_READERS_H
#define EVL_READERS_READERS_H
#include "base/bytes.h"
#include "ops/registry.h"

struct evl_source;

/* What a model's plug-ins bring: operators, and readers, which are asked before ours. */
typedef struct evl_guests {
    evl_registry registry;
    EvalStatus (*read)(evl_context *, const struct evl_guests *, const struct evl_source *,
                       evl_graph *, bool *is_claimed);
} evl_guests;

/* What is read. */
typedef struct evl_source {
    const void *data; /* NULL: not opened yet */
    size_t size;
    const char *path;       /* NULL: no file, */
    const EvalFiles *files; /* but the caller's; both NULL: memory, so nothing lies beside it */
    bool may_map;           /* path, and files beside it */
    const evl_guests *guests; /* NULL: none */
} evl_source;

/* The bytes of the model itself, into `data` and `size`; *file owns them, unless they are
** there already. EVAL_ERR_IO: missing or unreadable; FORMAT: empty. */
EVL_MUST_USE EvalStatus evl_source_open(evl_context *, evl_source *, evl_file *);
/* A file of that name beside it, whole. EVAL_ERR_FORMAT: not allowed, see evl_file_open_beside. */
EVL_MUST_USE EvalStatus evl_source_beside(evl_context *, const evl_source *, const char *name,
                                          evl_file *);

/* Files of external data that constants point into: owned by the model. A zeroed one is
** empty; the array is in the graph's arena, so it is closed before that is freed. */
typedef struct evl_external {
    evl_file *files;
    size_t n, capacity;
} evl_external;

void evl_external_close(evl_external *);

typedef struct evl_reader {
    const char *name;
    bool (*claims)(const evl_bytes *file); /* the whole file; its cursor is at the beginning */
    EvalStatus (*read)(evl_context *, const evl_source *, evl_graph *, evl_external *);
} evl_reader;

extern const evl_reader evl_reader_onnx, evl_reader_cntk1, evl_reader_cntk2;

/* Reads a model into an empty graph and sorts it; types and shapes are as declared, not
** yet inferred. EVAL_ERR_FORMAT: no known format, or broken; EVAL_ERR_UNSUPPORTED: of a
** format not read here, or with operators not offered, all of them listed. After a
** failure *external is empty and the arena holds rubbish. */
EVL_MUST_USE EvalStatus evl_read_model(evl_context *, const evl_source *, evl_graph *,
                                       evl_external *);
#endif
