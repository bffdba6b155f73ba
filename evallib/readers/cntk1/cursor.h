/* cursor.h - the primitives of a CNTK v1 file.
**
** A cursor keeps the first failure; from then on everything reads as 0, "" or empty, so
** that a payload is read without a check after each field. */
#ifndef EVL_READERS_CNTK1_CURSOR_H
#define EVL_READERS_CNTK1_CURSOR_H
#include "base/bytes.h"
#include "readers/cntk/model.h"

typedef struct evl_cntk1_cursor {
    evl_context *ctx;
    evl_arena *arena;
    evl_bytes from;
    uint64_t version;
    EvalType real; /* of the node being read */
    EvalStatus status;
} evl_cntk1_cursor;

/* Sets the failure, unless there is one. */
void evl_cntk1_stop(evl_cntk1_cursor *, EvalStatus);

uint8_t evl_cntk1_u8(evl_cntk1_cursor *);
uint32_t evl_cntk1_u32(evl_cntk1_cursor *);
uint64_t evl_cntk1_u64(evl_cntk1_cursor *);
int32_t evl_cntk1_i32(evl_cntk1_cursor *);
double evl_cntk1_f32(evl_cntk1_cursor *);
double evl_cntk1_f64(evl_cntk1_cursor *);
double evl_cntk1_real(evl_cntk1_cursor *);          /* of the node's precision */
const char *evl_cntk1_text(evl_cntk1_cursor *);     /* UTF-16 in the file, UTF-8 here; never NULL */
void evl_cntk1_skip_bytes_text(evl_cntk1_cursor *); /* bytes ended by 0 */
void evl_cntk1_marker(evl_cntk1_cursor *, const char *);
bool evl_cntk1_is_marker(evl_cntk1_cursor *, const char *); /* steps over it when it is there */

/* A 64-bit count of items that take at least `each` bytes: no more than are left. */
size_t evl_cntk1_count(evl_cntk1_cursor *, size_t each);

evl_cntk_list evl_cntk1_list_of(evl_cntk1_cursor *, size_t n); /* n zeros */
evl_cntk_list evl_cntk1_shape(evl_cntk1_cursor *);
evl_cntk_list evl_cntk1_input_shape(evl_cntk1_cursor *); /* the oldest files' form too */
evl_cntk_list evl_cntk1_flags(evl_cntk1_cursor *);       /* vector<bool> */
evl_cntk_matrix evl_cntk1_read_matrix(evl_cntk1_cursor *);
#endif
