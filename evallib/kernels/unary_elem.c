/* One integer to one. */
#include "kernels/elem_loops.h"
#include "kernels/arrays.h"

static inline item sign(item x)
{
    return is_negative(x) ? (item)-1 : (item)(x != 0);
}

static inline item relu(item x)
{
    return is_negative(x) ? 0 : x;
}

static inline item is_zero(item x)
{
    return x == 0;
}

static inline item bits_inverted(item x)
{
    return (item)~x;
}

static void abs_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, abs_loop, item_abs);
}

static void neg_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, neg_loop, item_negative);
}

static void sign_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, sign_loop, sign);
}

static void relu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, relu_loop, relu);
}

static void not_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, not_loop, is_zero);
}

static void bit_not_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, bit_not_loop, bits_inverted);
}

static inline item clip(item x, item least, item most)
{
    return item_min(item_max(x, least), most);
}

static void clip_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, clip_loop, (map_parameters){ p, item_from(p[0]), item_from(p[1]) }, clip);
}

static void shrink_loop(size_t n, const void *from, void *to, const evl_number *p)
{
    const item *x = from;
    item *y = to;
    for (size_t i = 0; i < n; i++) {
        evl_number v = (evl_number)x[i];
        y[i] = item_from(v > p[0] ? v - p[1] : v < -p[0] ? v + p[1] : 0);
    }
}

evl_unary_loop *const ELEM(evl_unary_loops)[EVL_N_UNARY] = {
    [EVL_ABS] = abs_loop,   [EVL_NEG] = neg_loop,         [EVL_SIGN] = sign_loop,
    [EVL_RELU] = relu_loop, [EVL_CLIP] = clip_loop,       [EVL_SHRINK] = shrink_loop,
    [EVL_NOT] = not_loop,   [EVL_BIT_NOT] = bit_not_loop,
};
