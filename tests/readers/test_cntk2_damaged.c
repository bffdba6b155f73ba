/* Damaged files of CNTK v2: readers/damaged.h. */
#include "readers/damaged.h"

static const char *const names[] = { "mlp",       "mlp_large", "image", "recurrent_vector",
                                     "tanh_both", "types" };

static const damage damaged = { &evl_reader_cntk2, EVL_TEST_DATA "/cntk2", names,
                                sizeof names / sizeof *names, false };

int main(void)
{
    return test_damaged();
}
