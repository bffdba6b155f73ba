#include "ops/strided.h"
#include "support/support.h"
#include <stdlib.h>
#include <string.h>

/* The obvious way: element by element. */
static void copy_slowly(const evl_strided *dims, size_t d, const char *from, char *to)
{
    if (d == dims->rank) {
        memcpy(to, from, dims->size);
        return;
    }
    for (size_t i = 0; i < dims->n[d]; i++)
        copy_slowly(dims, d + 1, from + (ptrdiff_t)i * dims->from[d],
                    to + (ptrdiff_t)i * dims->to[d]);
}

static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)evl_test_random(state, 0, (double)n) % n;
}

/* Source dimensions in a random order, some read backwards, some repeated, with gaps;
** *first is where element 0 lies, *bytes what the source spans. */
static void random_box(uint64_t *state, size_t size, size_t rank, evl_strided *dims, size_t *first,
                       size_t *bytes)
{
    size_t order[8], step = size;
    evl_strided_begin(dims, size);
    dims->rank = rank;
    *first = 0;
    for (size_t d = 0; d < rank; d++)
        order[d] = d;
    for (size_t d = 0; d < rank; d++) {
        size_t other = random_below(state, rank), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < rank; i++) {
        size_t d = order[i], kind = random_below(state, 5);
        dims->n[d] = 1 + random_below(state, rank > 4 ? 7 : rank > 2 ? 23 : 400);
        dims->from[d] = kind == 0 ? 0 : (ptrdiff_t)step;
        if (kind == 1) {
            *first += (dims->n[d] - 1) * step;
            dims->from[d] = -(ptrdiff_t)step;
        }
        if (kind > 0)
            step *= dims->n[d] + (kind == 2);
    }
    *bytes = step;
    step = size;
    for (size_t d = rank; d-- > 0;) {
        dims->to[d] = (ptrdiff_t)step;
        step *= dims->n[d] + (random_below(state, 6) == 0);
    }
}

static void check_box(const evl_strided *dims, size_t first, size_t bytes, evl_pool *pool)
{
    size_t target = dims->rank ? (size_t)dims->to[0] * dims->n[0] + 64 : 64;
    unsigned char *from = malloc(bytes), *fast = malloc(target), *slow = malloc(target);
    evl_strided box;
    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
    memset(fast, 0xee, target);
    memset(slow, 0xee, target);
    copy_slowly(dims, 0, (char *)from + first, (char *)slow);
    evl_strided_begin(&box, dims->size);
    for (size_t d = 0; d < dims->rank; d++)
        evl_strided_add(&box, dims->n[d], dims->from[d], dims->to[d]);
    evl_strided_ready(&box);
    evl_strided_copy(&box, pool, from + first, fast);
    assert_memory_equal(fast, slow, target);
    free(from);
    free(fast);
    free(slow);
}

static void every_box_is_copied_as_by_an_obvious_loop(void **unused)
{
    evl_context *ctx = evl_test_begin();
    uint64_t state = 88172645463325252u;
    evl_pool *pool;
    (void)unused;
    assert_int_equal(evl_pool_new(ctx, 3, 20, &pool), EVAL_OK);
    for (int i = 0; i < 1500; i++) {
        size_t first, bytes, size = (size_t)1 << random_below(&state, 5);
        evl_strided dims;
        random_box(&state, size, random_below(&state, 7), &dims, &first, &bytes);
        check_box(&dims, first, bytes, i % 2 ? pool : NULL);
    }
    evl_pool_free(pool);
    evl_test_end(ctx);
}

static void neighbours_that_run_on_are_merged(void **unused)
{
    evl_strided box;
    (void)unused;
    evl_strided_begin(&box, 4);
    evl_strided_add(&box, 5, 240, 240);
    evl_strided_add(&box, 3, 80, 80);
    evl_strided_add(&box, 1, 999, 999);
    evl_strided_add(&box, 20, 4, 4);
    assert_int_equal(box.rank, 1);
    assert_int_equal(box.n[0], 300);
}

static void a_box_without_elements_touches_nothing(void **unused)
{
    evl_strided box;
    (void)unused;
    evl_strided_begin(&box, 8);
    evl_strided_add(&box, 3, 8, 8);
    evl_strided_add(&box, 0, 8, 8);
    evl_strided_add(&box, 70000, 0, 8);
    evl_strided_ready(&box);
    evl_strided_copy(&box, NULL, NULL, NULL);
    assert_int_equal(box.n_units, 0);
}

/* More elements than a tile has: long runs, wide transpositions, many tiny inner boxes. */
static void large_boxes_are_cut_into_tiles(void **unused)
{
    static const evl_strided boxes[] = {
        { .size = 1, .rank = 1, .n = { 300001 }, .from = { 1 }, .to = { 1 } },
        { .size = 4, .rank = 2, .n = { 517, 601 }, .from = { 4, 4 * 517 }, .to = { 4 * 601, 4 } },
        { .size = 8, .rank = 3, .n = { 50000, 2, 2 }, .from = { 32, 8, 16 }, .to = { 32, 16, 8 } },
        { .size = 2, .rank = 2, .n = { 3, 90000 }, .from = { 2, 6 }, .to = { 180000, 2 } },
        { .size = 2, .rank = 2, .n = { 90000, 3 }, .from = { 2, 180000 }, .to = { 6, 2 } },
        { .size = 16, .rank = 2, .n = { 2, 70001 }, .from = { 16, 0 }, .to = { 16 * 70001, 16 } },
    };
    evl_context *ctx = evl_test_begin();
    evl_pool *pool;
    (void)unused;
    assert_int_equal(evl_pool_new(ctx, 3, 20, &pool), EVAL_OK);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        check_box(&boxes[i], 0, 16 * 700000, pool);
    evl_pool_free(pool);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_box_is_copied_as_by_an_obvious_loop),
        cmocka_unit_test(neighbours_that_run_on_are_merged),
        cmocka_unit_test(a_box_without_elements_touches_nothing),
        cmocka_unit_test(large_boxes_are_cut_into_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
