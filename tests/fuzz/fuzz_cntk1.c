/* fuzz_cntk1.c - a CNTK v1 model file. */
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return read_fuzz(&evl_reader_cntk1, data, size);
}
