/* Damaged files of CNTK v1: readers/damaged.h. */
#include "readers/damaged.h"

static const char *const names[] = { "mlp_v2",        "mlp_v31",       "image_hwc_v4",
                                     "recurrent_v14", "shapeless_v14", "everything_v16",
                                     "everything_v31" };

static const damage damaged = { &evl_reader_cntk1, EVL_TEST_DATA "/cntk1", names,
                                sizeof names / sizeof *names, true };

int main(void)
{
    return test_damaged();
}
