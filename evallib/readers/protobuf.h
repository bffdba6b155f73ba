/* protobuf.h - reads protocol buffers without copying.
**
** A message is an evl_bytes from its first to past its last byte, whose `data` is the
** file: so `at` is always an offset in the file, for texts. A table of rules says which
** fields of a message are wanted and where in a struct they go; reading it checks the
** whole message (fields without a rule are skipped, groups refused), so walking its
** repeated fields afterwards cannot fail. Nothing here recurses: a field that is a
** message is handed out as bytes, and whoever reads it counts the depth. */
#ifndef EVL_READERS_PROTOBUF_H
#define EVL_READERS_PROTOBUF_H
#include "base/bytes.h"
#include "base/context.h"

typedef enum evl_pb_kind {
    EVL_PB_INT,    /* int64_t: any varint that is no sint */
    EVL_PB_SINT,   /* int64_t: a zigzag varint */
    EVL_PB_FLOAT,  /* double, from 4 bytes */
    EVL_PB_DOUBLE, /* double, from 8 bytes */
    EVL_PB_BYTES,  /* evl_bytes: string, bytes, message; data NULL when not there; the last holds */
    EVL_PB_MANY,   /* evl_pb_many of items as of EVL_PB_BYTES */
    EVL_PB_INTS,   /* evl_pb_many of varints, packed or not */
    EVL_PB_FLOATS, /* evl_pb_many of 4 bytes each */
    EVL_PB_DOUBLES /* evl_pb_many of 8 bytes each */
} evl_pb_kind;

typedef struct evl_pb_rule {
    uint32_t number;
    evl_pb_kind kind;
    size_t offset; /* in the struct */
} evl_pb_rule;

typedef struct evl_pb_schema {
    const char *name; /* of the message, for texts */
    const evl_pb_rule *rules;
    size_t n_rules;
} evl_pb_schema;

/* A repeated field: where its first occurrence is, and what is in all of them. */
typedef struct evl_pb_many {
    evl_bytes rest;
    uint32_t number;
    size_t n;      /* items */
    size_t n_runs; /* occurrences */
} evl_pb_many;

/* Sets what there is; what is not there stays as it was: zero the struct, or put
** defaults. EVAL_ERR_FORMAT: names the message, its field and the byte. */
EVL_MUST_USE EvalStatus evl_pb_read(evl_context *, const evl_pb_schema *, evl_bytes message,
                                    void *record);

bool evl_pb_next(evl_pb_many *, evl_bytes *item); /* of EVL_PB_MANY; false: no more */

/* All n varints, the low `each` (1, 2, 4, 8) bytes of each, in the host's order. */
void evl_pb_ints(evl_pb_many, size_t each, void *target);

/* The little-endian bytes of FLOATS or DOUBLES: in the file when they are one run. */
const void *evl_pb_run(evl_pb_many);           /* NULL: not one run */
void evl_pb_gather(evl_pb_many, void *target); /* all runs, one after the other */

/* The first byte of a BYTES, and how many there are. */
const char *evl_pb_text(evl_bytes);
size_t evl_pb_size(evl_bytes);

/* The next field's number and wire type, which is then skipped; for telling formats
** apart. False at the end, or when the bytes are no field; then *is_cut tells whether
** it was one whose bytes are missing. */
bool evl_pb_peek(evl_bytes *, uint32_t *number, unsigned *wire, bool *is_cut);
enum { EVL_PB_WIRE_VARINT = 0, EVL_PB_WIRE_64 = 1, EVL_PB_WIRE_BYTES = 2, EVL_PB_WIRE_32 = 5 };
#endif
