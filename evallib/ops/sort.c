/* Merging runs of twice the length each time: stable, and never slow. */
#include "ops/sort.h"
#include <string.h>

typedef struct order {
    evl_sort_before *before;
    const void *arg;
} order;

/* from[first ..] and from[middle ..] up to end, to the same places of `to`. */
static void merge(const order *o, const size_t *from, size_t first, size_t middle, size_t end,
                  size_t *to)
{
    size_t i = first, j = middle;
    for (size_t k = first; k < end; k++) {
        bool is_second = i == middle || (j < end && o->before(o->arg, from[j], from[i]));
        to[k] = is_second ? from[j++] : from[i++];
    }
}

void evl_sort(size_t n, size_t *items, size_t *other, evl_sort_before *before, const void *arg)
{
    const order o = { before, arg };
    size_t *from = items, *to = other;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t first = 0; first < n; first += 2 * run) {
            size_t middle = run < n - first ? first + run : n;
            merge(&o, from, first, middle, run < n - middle ? middle + run : n, to);
        }
        size_t *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items && n)
        memcpy(items, from, n * sizeof *items);
}
