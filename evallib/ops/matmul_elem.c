/* Products of integer matrices: rare and small (shape arithmetic), so plain. */
#include "elem.h"
#include "ops/matmul.h"

static uint64_t dot(const evl_matmul *s, const elem *a, const elem *b)
{
    uint64_t sum = 0; /* wraps, as the types do */
    for (size_t p = 0; p < s->k; p++)
        sum += (uint64_t)a[p * s->of[EVL_MATMUL_A].column] * (uint64_t)b[p * s->of[EVL_MATMUL_B].row];
    return sum;
}

static elem truncated(double x)
{
    if (!(x > (double)ELEM_MIN))
        return ELEM_MIN;
    return x >= (double)ELEM_MAX ? ELEM_MAX : (elem)x;
}

static elem scaled(const evl_integer_gemm *g, uint64_t sum, size_t i, size_t j)
{
    const elem *add = g->add;
    const evl_matrices *of = &g->shape->of[EVL_MATMUL_C];
    elem more = add ? add[i * of->row + j * of->column] : 0;
    if (g->alpha == 1 && g->beta == 1)
        return (elem)(sum + (uint64_t)more);
    return truncated(g->alpha * (double)(elem)sum + g->beta * (double)more);
}

static void multiply(const evl_integer_gemm *g)
{
    const evl_matmul *s = g->shape;
    size_t a_row = s->of[EVL_MATMUL_A].row, b_column = s->of[EVL_MATMUL_B].column;
    elem *c = g->c;
    for (size_t product = 0; product < s->batch; product++) {
        size_t at[EVL_MATMUL_OPERANDS];
        evl_matmul_at(s, product, at);
        const elem *a = (const elem *)g->a + at[EVL_MATMUL_A];
        const elem *b = (const elem *)g->b + at[EVL_MATMUL_B];
        for (size_t i = 0; i < s->m; i++)
            for (size_t j = 0; j < s->n; j++)
                *c++ = scaled(g, dot(s, a + i * a_row, b + j * b_column), i, j);
    }
}

extern evl_integer_gemm_loop *const ELEM(evl_integer_gemm);
evl_integer_gemm_loop *const ELEM(evl_integer_gemm) = multiply;
