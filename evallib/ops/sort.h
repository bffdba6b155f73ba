/* sort.h - items put in order by their numbers, when only comparing them is known. */
#ifndef EVL_OPS_SORT_H
#define EVL_OPS_SORT_H
#include <stdbool.h>
#include <stddef.h>

/* a goes before b. */
typedef bool evl_sort_before(const void *arg, size_t a, size_t b);

/* Items that neither goes before the other keep their order; `other` has room for n. */
void evl_sort(size_t n, size_t *items, size_t *other, evl_sort_before *before, const void *arg);
#endif
