/* protobuf.h - protocol buffers, written into one block that grows. The first failure is kept,
** and nothing done after it, so that a message needs one check at its end. */
#ifndef EVL_WRITERS_PROTOBUF_H
#define EVL_WRITERS_PROTOBUF_H
#include "base/context.h"

typedef struct evl_pb_writer {
    evl_context *ctx;
    unsigned char *data;
    size_t n, capacity;
    EvalStatus status;
} evl_pb_writer;

void evl_pb_put_int(evl_pb_writer *, uint32_t field, int64_t);
void evl_pb_put_float(evl_pb_writer *, uint32_t field, double);
void evl_pb_put_bytes(evl_pb_writer *, uint32_t field, const void *, size_t);
void evl_pb_put_text(evl_pb_writer *, uint32_t field, const char *);
/* A message inside: what is put between the two is its content. */
size_t evl_pb_begin(evl_pb_writer *);
void evl_pb_end(evl_pb_writer *, uint32_t field, size_t begun);
void evl_pb_writer_free(evl_pb_writer *);
#endif
