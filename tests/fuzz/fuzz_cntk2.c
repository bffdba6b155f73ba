/* fuzz_cntk2.c - a CNTK v2 model file. */
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return read_fuzz(&evl_reader_cntk2, data, size);
}
