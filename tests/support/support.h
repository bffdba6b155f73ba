/* support.h - what many tests need: CMocka, memory that can fail, a context, data. */
#ifndef EVL_TESTS_SUPPORT_H
#define EVL_TESTS_SUPPORT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/context.h"

/* Memory whose nth request (from 0) fails; SIZE_MAX: none does. */
void evl_test_memory(evl_memory *, size_t failing);
size_t evl_test_requests(const evl_memory *); /* so far */
/* An arena with room for so many bytes (a multiple of EVL_ALIGNMENT, up to 32 KiB), of memory
** whose next request fails. */
evl_arena *evl_test_tight_arena(evl_memory *, size_t room);

/* A context on test memory of its own; end checks that nothing is held. */
evl_context *evl_test_begin(void);
void evl_test_end(evl_context *);

/* Numbers from a fixed seed, in lo .. hi. */
double evl_test_random(uint64_t *state, double lo, double hi);
#endif
