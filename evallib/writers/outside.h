/* outside.h - constants in a file beside the model, whose own can have no more than 2 GB. */
#ifndef EVL_WRITERS_OUTSIDE_H
#define EVL_WRITERS_OUTSIDE_H
#include "ir/graph.h"
#include "os/os.h"
#include "writers/protobuf.h"

typedef struct evl_outside {
    evl_output file;
    const char *name; /* within the model's folder; NULL: all constants stay in the model */
    size_t at;
} evl_outside;

/* Begins the file, `path` with ".data" behind, if the constants of the graph are too many for the model's. */
EVL_MUST_USE EvalStatus evl_outside_begin(evl_context *, evl_arena *, const evl_graph *, const char *path,
                                          evl_outside *);
/* The content of a tensor's message: in the file if there is one and they are many, else in `field`. */
void evl_outside_put(evl_outside *, evl_pb_writer *, uint32_t field, const void *bytes, size_t n);
/* Ends the file if there is one; the status, or why that failed. */
EVL_MUST_USE EvalStatus evl_outside_end(evl_context *, evl_outside *, EvalStatus);
#endif
