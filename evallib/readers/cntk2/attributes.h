/* attributes.h - what a function's dictionary of attributes says. */
#ifndef EVL_READERS_CNTK2_ATTRIBUTES_H
#define EVL_READERS_CNTK2_ATTRIBUTES_H
#include "readers/cntk2/dictionary.h"

void evl_cntk2_read_attributes(evl_cntk2_cursor *, const evl_cntk2_dictionary *function,
                               evl_cntk_fields *);

/* Whether dynamic axes hold no sequence: there is a batch, or nothing. */
bool evl_cntk2_is_single(evl_cntk2_cursor *, evl_pb_many axes);
/* The name of the one that is a sequence; "" when none is. */
const char *evl_cntk2_sequence_axis(evl_cntk2_cursor *, evl_pb_many axes);
#endif
