/* dictionary.h - the dictionaries that CNTK v2 files are made of.
**
** A dictionary is a protocol buffer of keys and values; a value may be a dictionary, a list
** or an array. A cursor keeps the first failure; from then on everything is 0, "" or empty,
** and a key that is not there gives the fallback: so a record is read without a check
** after each entry. */
#ifndef EVL_READERS_CNTK2_DICTIONARY_H
#define EVL_READERS_CNTK2_DICTIONARY_H
#include "readers/cntk/model.h"
#include "readers/protobuf.h"

typedef struct evl_cntk2_cursor {
    evl_context *ctx;
    evl_arena *arena;
    evl_bytes arrays; /* of a large file: the values of arrays, behind the dictionary */
    bool is_large;
    EvalStatus status;
} evl_cntk2_cursor;

typedef struct evl_cntk2_dictionary {
    int64_t version;
    evl_pb_many entries;
    size_t where; /* byte offset in the file */
} evl_cntk2_dictionary;

typedef enum evl_cntk2_type {
    EVL_CNTK2_NONE,
    EVL_CNTK2_BOOL,
    EVL_CNTK2_INT,
    EVL_CNTK2_SIZE,
    EVL_CNTK2_FLOAT,
    EVL_CNTK2_DOUBLE,
    EVL_CNTK2_STRING,
    EVL_CNTK2_SHAPE,
    EVL_CNTK2_AXIS,
    EVL_CNTK2_VECTOR,
    EVL_CNTK2_DICTIONARY,
    EVL_CNTK2_ARRAY
} evl_cntk2_type;

/* Which member holds it, `type` tells. */
typedef struct evl_cntk2_value {
    int64_t type, flag, integer, size;
    double narrow, wide;
    evl_bytes text, shape, axis, vector, dictionary, array;
    size_t where;
} evl_cntk2_value;

typedef struct evl_cntk2_axis {
    int64_t index; /* of a static axis, from 0; special ones are near INT32_MAX */
    const char *name;
    int64_t is_ordered;
} evl_cntk2_axis;

typedef struct evl_cntk2_array {
    EvalType type;
    evl_cntk_list dims;
    size_t n;         /* elements */
    const void *data; /* NULL when there is none, else perhaps unaligned */
} evl_cntk2_array;

/* Sets the failure, unless there is one. */
EVL_PRINTF(3, 4)
void evl_cntk2_fail(evl_cntk2_cursor *, EvalStatus, const char *format, ...);
/* n + 1 zeroed items in the arena; NULL after a failure. */
void *evl_cntk2_take(evl_cntk2_cursor *, size_t n, size_t each);

evl_cntk2_dictionary evl_cntk2_dictionary_of(evl_cntk2_cursor *, evl_bytes message);
/* The next entry; false: no more, or a failure. */
bool evl_cntk2_next(evl_cntk2_cursor *, evl_cntk2_dictionary *, evl_bytes *key, evl_cntk2_value *);
/* False: there is no such key, or it has another type. */
bool evl_cntk2_find(evl_cntk2_cursor *, const evl_cntk2_dictionary *, const char *key,
                    evl_cntk2_type, evl_cntk2_value *);

const char *evl_cntk2_text(evl_cntk2_cursor *, const evl_cntk2_dictionary *, const char *key);
int64_t evl_cntk2_size(evl_cntk2_cursor *, const evl_cntk2_dictionary *, const char *key,
                       int64_t fallback);
evl_pb_many evl_cntk2_vector(evl_cntk2_cursor *, const evl_cntk2_dictionary *, const char *key);
bool evl_cntk2_item(evl_cntk2_cursor *, evl_pb_many *vector, evl_cntk2_value *);

/* What a value holds. */
const char *evl_cntk2_text_of(evl_cntk2_cursor *, evl_bytes);
evl_pb_many evl_cntk2_vector_of(evl_cntk2_cursor *, const evl_cntk2_value *);
evl_cntk_list evl_cntk2_shape_of(evl_cntk2_cursor *, evl_bytes);
evl_cntk2_axis evl_cntk2_axis_of(evl_cntk2_cursor *, evl_bytes);
evl_cntk2_array evl_cntk2_array_of(evl_cntk2_cursor *, evl_bytes); /* array.c */
evl_cntk_list evl_cntk2_list_of(evl_cntk2_cursor *, size_t n);     /* n zeros */
#endif
