/* payload.h - the bytes that belong to one node. */
#ifndef EVL_READERS_CNTK1_PAYLOAD_H
#define EVL_READERS_CNTK1_PAYLOAD_H
#include "readers/cntk1/cursor.h"
#include "readers/cntk/ops.h"

enum { EVL_CNTK1_NEWEST = 31 };

EVL_MUST_USE EvalStatus evl_cntk1_parse(evl_context *, const void *data, size_t size, evl_arena *,
                                        evl_cntk_model *);

/* Fills node->f; a failure is the cursor's. */
void evl_cntk1_read_payload(evl_cntk1_cursor *, evl_cntk_node *);

/* What follows a node's fields (payload_rest.c). */
typedef void evl_cntk1_payload_rest(evl_cntk1_cursor *, evl_cntk_fields *);
evl_cntk1_payload_rest evl_cntk1_rest_of_batch_normalization, evl_cntk1_rest_of_convolution,
    evl_cntk1_rest_of_crop, evl_cntk1_rest_of_delay, evl_cntk1_rest_of_dropout, evl_cntk1_rest_of_edit_distance,
    evl_cntk1_rest_of_input, evl_cntk1_rest_of_noise_contrastive, evl_cntk1_rest_of_parameter,
    evl_cntk1_rest_of_pooling, evl_cntk1_rest_of_random_sample, evl_cntk1_rest_of_reduce,
    evl_cntk1_rest_of_slice, evl_cntk1_rest_of_transpose;
#endif
