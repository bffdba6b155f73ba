/* fuzz.h - what a fuzz target defines and libFuzzer or driver.c calls. */
#ifndef EVL_TESTS_FUZZ_H
#define EVL_TESTS_FUZZ_H
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* 0 */
#endif
