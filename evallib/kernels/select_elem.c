/* Of two elements the one that a boolean chooses. Only moved, so these serve every type of
** the same size. */
#include "kernels/elem_loops.h"
#include <stddef.h>

enum { TILE = 256 };

static void fill(item *tile, item value)
{
    for (size_t i = 0; i < TILE; i++)
        tile[i] = value;
}

/* What stands still is written out TILE times, so that one loop serves all cases. */
void ELEM(evl_select)(size_t n, const evl_select_arrays *from, void *to)
{
    const item *a = from->a, *b = from->b;
    const uint8_t *c = from->c;
    item *y = to, same_a[TILE], same_b[TILE];
    uint8_t same_c[TILE];
    if (n && !from->a_step)
        fill(same_a, a[0]);
    if (n && !from->b_step)
        fill(same_b, b[0]);
    for (size_t i = 0; n && !from->c_step && i < TILE; i++)
        same_c[i] = c[0];
    for (size_t at = 0; at < n; at += TILE) {
        size_t part = n - at < TILE ? n - at : TILE;
        const uint8_t *which = from->c_step ? c + at : same_c;
        const item *first = from->a_step ? a + at : same_a,
                   *second = from->b_step ? b + at : same_b;
        item *result = y + at;
#pragma omp simd
        for (size_t i = 0; i < part; i++)
            result[i] = which[i] ? first[i] : second[i];
    }
}
