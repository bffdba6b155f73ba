/* Products by every kernel set this processor can run, against a slow obvious loop. */
#include "kernels/kernels.h"
#include "os/os.h"
#include "support/support.h"
#include <stdlib.h>

enum { MOST = 90 };

static uint64_t seed = 42;

static void fill(size_t n, real *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)evl_test_random(&seed, -1, 1);
}

static bool runs_here(const evl_kernels *k)
{
    return (k->needs & evl_cpu_features()) == k->needs;
}

typedef struct product_case {
    size_t m, n, k;
    bool transposed, packed_rows, packed_panels, clipped, plain;
} product_case;

typedef struct operands {
    real *a, *b, *c, *bias, *more, *rows, *panels, *scratch;
} operands;

/* One element off every alignment. */
static real *room(size_t n)
{
    real *x = malloc((n + 2) * sizeof *x);
    assert_non_null(x);
    fill(n + 2, x);
    return x + 1;
}

static void free_room(real *x)
{
    free(x - 1);
}

static double expected(const operands *o, const product_case *p, size_t i, size_t j)
{
    double sum = 0;
    for (size_t q = 0; q < p->k; q++)
        sum += (double)(p->transposed ? o->a[q * p->m + i] : o->a[i * p->k + q]) *
               (double)(p->transposed ? o->b[j * p->k + q] : o->b[q * p->n + j]);
    if (p->plain)
        return sum;
    sum = 0.5 * sum + (double)o->bias[j] + (double)o->more[i * p->n + j];
    return p->clipped && sum < -0.5 ? -0.5 : p->clipped && sum > 1.25 ? 1.25 : sum;
}

static evl_product product_of(const operands *o, const product_case *p)
{
    evl_gemm_matrix a = { o->a, p->transposed ? 1 : p->k, p->transposed ? p->m : 1 };
    evl_gemm_matrix b = { o->b, p->transposed ? 1 : p->n, p->transposed ? p->k : 1 };
    const evl_epilogue nothing = { .alpha = 1 },
                       all = { (real)0.5,
                               { { o->bias, 0, 1 }, { o->more, p->n, 1 } },
                               { p->clipped, (real)-0.5, (real)1.25, NULL, NULL } };
    return (evl_product){ .m = p->m,
                          .n = p->n,
                          .k = p->k,
                          .a = a,
                          .b = b,
                          .c = o->c,
                          .c_row = p->n,
                          .epilogue = p->plain ? nothing : all };
}

static void run(const evl_kernels *k, const operands *o, const product_case *p)
{
    evl_product product = product_of(o, p);
    evl_product_cut cut = k->product->cut(p->m, p->n, p->k, 1, p->packed_panels);
    if (p->packed_panels) {
        k->gemm->pack_panels(p->k, p->n, product.b, p->k * k->gemm->columns, o->panels);
        product.panels = o->panels;
    }
    if (p->packed_rows) {
        k->gemm->pack_rows(p->m, p->k, product.a, cut.rows, cut.rows * p->k, o->rows);
        product.rows = o->rows;
    }
    for (size_t i = 0; i < cut.n_down * cut.n_across; i++)
        k->product->tile(&product, &cut, i, o->scratch);
}

static void check(const evl_kernels *k, const product_case *p)
{
    evl_product_cut cut = k->product->cut(p->m, p->n, p->k, 1, p->packed_panels);
    operands o = { room(p->m * p->k),
                   room(p->k * p->n),
                   room(p->m * p->n),
                   room(p->n),
                   room(p->m * p->n),
                   room(k->product->rows_size(&cut, p->m, p->k)),
                   room(k->product->panels_size(p->k, p->n)),
                   room(cut.scratch) };
    const double most = (double)(50 + p->k) * (double)REAL_EPSILON;
    real behind = o.c[p->m * p->n];
    run(k, &o, p);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double difference = (double)o.c[i * p->n + j] - expected(&o, p, i, j);
            if (!(difference < most && difference > -most))
                fail_msg("%s: %zu x %zu x %zu at %zu, %zu", k->name, p->m, p->n, p->k, i, j);
        }
    assert_true(o.c[p->m * p->n] == behind);
    real *all[] = { o.a, o.b, o.c, o.bias, o.more, o.rows, o.panels, o.scratch };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_room(all[i]);
}

static void check_ways(const evl_kernels *k, size_t m, size_t n, size_t depth)
{
    for (int way = 0; way < 24; way++) {
        product_case p = { m, n, depth, way & 1, way & 2, way & 4, way & 8, way & 16 };
        check(k, &p);
    }
}

static void every_size_gives_what_the_loop_gives(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 2, 3, 5, 7, 8, 13, 17, 31, 33, 65, MOST };
    enum { N = sizeof sizes / sizeof *sizes };
    for (const evl_kernels *const *k = TWIN(evl_kernel_sets); *k; k++)
        for (size_t i = 0; runs_here(*k) && i < N * N; i++)
            check_ways(*k, sizes[i % N], sizes[i / N], 1 + i * 7 % 40);
}

static void long_sums_run_over_several_blocks(void **state)
{
    (void)state;
    for (const evl_kernels *const *k = TWIN(evl_kernel_sets); *k; k++)
        if (runs_here(*k)) {
            check_ways(*k, 14, 40, 1000);
            check_ways(*k, 1, 200, 1000);
            check_ways(*k, 130, 300, 390);
        }
}

static void no_depth_gives_what_is_added(void **state)
{
    (void)state;
    for (const evl_kernels *const *k = TWIN(evl_kernel_sets); *k; k++)
        if (runs_here(*k))
            check_ways(*k, 5, 20, 0);
}

static void double_all(size_t n, const void *x, void *y, const double *parameters)
{
    const real *from = x;
    real *to = y;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] * (real)parameters[0];
}

static void an_activation_sees_each_element_once(void **state)
{
    (void)state;
    const double factor = 2;
    static real a[800], b[800 * 20], c[20];
    for (size_t i = 0; i < 800; i++)
        a[i] = 1;
    for (size_t i = 0; i < 800 * 20; i++)
        b[i] = 1;
    for (const evl_kernels *const *k = TWIN(evl_kernel_sets); *k; k++) {
        if (!runs_here(*k))
            continue;
        evl_product p = { .m = 1,
                          .n = 20,
                          .k = 800,
                          .a = { a, 800, 1 },
                          .b = { b, 20, 1 },
                          .c = c,
                          .c_row = 20,
                          .epilogue = { .alpha = 1,
                                        .activation = { .loop = double_all,
                                                        .parameters = &factor } } };
        evl_product_cut cut = (*k)->product->cut(1, 20, 800, 1, 0);
        real *scratch = room(cut.scratch);
        for (size_t i = 0; i < cut.n_down * cut.n_across; i++)
            (*k)->product->tile(&p, &cut, i, scratch);
        free_room(scratch);
        for (size_t j = 0; j < 20; j++)
            assert_true(c[j] == 1600);
    }
}

static void tiles_cover_the_product_once(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 12, 49, 100, 513, 4000 };
    for (const evl_kernels *const *k = TWIN(evl_kernel_sets); *k; k++)
        for (size_t i = 0; runs_here(*k) && i < 6 * 6 * 6; i++) {
            size_t m = sizes[i % 6], n = sizes[i / 6 % 6], depth = sizes[i / 36];
            evl_product_cut cut = (*k)->product->cut(m, n, depth, 1, (int)(i % 2));
            size_t down = cut.tile_groups * cut.rows,
                   across = cut.tile_panels * (*k)->gemm->columns;
            assert_true(cut.n_down * down >= m && (cut.n_down - 1) * down < m);
            assert_true(cut.n_across * across >= n && (cut.n_across - 1) * across < n);
            assert_true(cut.rows <= (*k)->gemm->rows);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_gives_what_the_loop_gives),
        cmocka_unit_test(long_sums_run_over_several_blocks),
        cmocka_unit_test(no_depth_gives_what_is_added),
        cmocka_unit_test(an_activation_sees_each_element_once),
        cmocka_unit_test(tiles_cover_the_product_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
