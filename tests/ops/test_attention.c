/* Attention against three plain loops: heads that share keys, masks, windows, caches, and
** sizes that do and do not fill tiles and blocks. */
#include "ops/op_case.h"
#include <stdlib.h>

enum { SAMPLES = 2 };

/* What a case is made of. */
typedef struct shape {
    size_t heads, kv_heads, n_q, n_k, n_past, size, size_v;
    bool is_flat, is_causal, has_bias, has_mask, has_valid, wants_scores;
    double cap;
    int64_t left, right; /* 0: none; else one less */
    int64_t mode;
} shape;

typedef struct arrays {
    double *q, *k, *v, *past_k, *past_v, *bias, *y, *present_k, *present_v, *scores;
    uint8_t *mask;
    int64_t valid[SAMPLES];
} arrays;

static double *numbers(size_t n, uint64_t *seed)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(float)evl_test_random(seed, -2, 2);
    return x;
}

static size_t total(const shape *s)
{
    return s->n_past + s->n_k;
}

/* Element (sample, head, row, column) of an input or output that has `heads` of them. */
static size_t at(const shape *s, size_t heads, size_t rows, size_t size, size_t b, size_t h,
                 size_t i, size_t c)
{
    return s->is_flat ? ((b * rows + i) * heads + h) * size + c
                      : ((b * heads + h) * rows + i) * size + c;
}

static void join(const shape *s, size_t size, const double *past, const double *x, double *y)
{
    for (size_t b = 0; b < SAMPLES; b++)
        for (size_t h = 0; h < s->kv_heads; h++)
            for (size_t i = 0; i < total(s); i++)
                for (size_t c = 0; c < size; c++) {
                    size_t head = b * s->kv_heads + h;
                    *y++ = i < s->n_past
                               ? past[(head * s->n_past + i) * size + c]
                               : x[at(s, s->kv_heads, s->n_k, size, b, h, i - s->n_past, c)];
                }
}

static bool may_see(const shape *s, const arrays *a, size_t b, size_t i, size_t j)
{
    int64_t valid = s->has_valid ? a->valid[b] : (int64_t)total(s), key = (int64_t)j;
    int64_t place = (int64_t)i + (s->has_valid ? valid - (int64_t)s->n_q : (int64_t)s->n_past);
    return key < valid && !(s->is_causal && key > place) &&
           !(s->left && key < place - (s->left - 1)) &&
           !(s->right && key > place + (s->right - 1)) &&
           !(s->has_mask && !a->mask[i * total(s) + j]);
}

static void row(const shape *s, const arrays *a, size_t b, size_t h, size_t i)
{
    size_t n = total(s), kv = b * s->kv_heads + h / (s->heads / s->kv_heads);
    double *w = a->scores + ((b * s->heads + h) * s->n_q + i) * n, sum = 0, most = -INFINITY;
    double *p = numbers(n, &(uint64_t){ 1 });
    for (size_t j = 0; j < n; j++) {
        double x = 0;
        for (size_t c = 0; c < s->size; c++)
            x += a->q[at(s, s->heads, s->n_q, s->size, b, h, i, c)] *
                 a->present_k[(kv * n + j) * s->size + c];
        x /= sqrt((double)s->size);
        w[j] = x;
        x = s->cap > 0 ? s->cap * tanh(x / s->cap) : x;
        w[j] = s->mode >= 1 ? x : w[j];
        x = may_see(s, a, b, i, j) ? x + (s->has_bias ? a->bias[h * n + j] : 0) : -INFINITY;
        w[j] = s->mode == 2 ? x : w[j];
        p[j] = x;
        most = x > most ? x : most;
    }
    for (size_t j = 0; j < n; j++)
        sum += p[j] = most == -INFINITY ? 0 : exp(p[j] - most);
    for (size_t j = 0; j < n; j++) {
        p[j] = sum > 0 ? p[j] / sum : 0;
        w[j] = s->mode == 3 ? p[j] : w[j];
    }
    for (size_t c = 0; c < s->size_v; c++) {
        double *y = &a->y[at(s, s->heads, s->n_q, s->size_v, b, h, i, c)];
        for (size_t j = 0; j < n; j++)
            *y += p[j] * a->present_v[(kv * n + j) * s->size_v + c];
    }
    free(p);
}

static arrays make(const shape *s)
{
    uint64_t seed = 5;
    size_t n = total(s), kv = SAMPLES * s->kv_heads, q = SAMPLES * s->heads * s->n_q;
    arrays a = { .q = numbers(q * s->size, &seed),
                 .k = numbers(kv * s->n_k * s->size, &seed),
                 .v = numbers(kv * s->n_k * s->size_v, &seed),
                 .past_k = numbers(kv * s->n_past * s->size, &seed),
                 .past_v = numbers(kv * s->n_past * s->size_v, &seed),
                 .bias = numbers(s->heads * n, &seed),
                 .y = calloc(q * s->size_v + 1, sizeof(double)),
                 .present_k = calloc(kv * n * s->size + 1, sizeof(double)),
                 .present_v = calloc(kv * n * s->size_v + 1, sizeof(double)),
                 .scores = calloc(q * n + 1, sizeof(double)),
                 .mask = calloc(s->n_q * n + 1, 1),
                 .valid = { (int64_t)(n / 2), (int64_t)n } };
    for (size_t i = 0; i < s->n_q * n; i++)
        a.mask[i] = i / (n ? n : 1) != 1 && evl_test_random(&seed, 0, 1) < 0.7; /* row 1: none */
    join(s, s->size, a.past_k, a.k, a.present_k);
    join(s, s->size_v, a.past_v, a.v, a.present_v);
    for (size_t b = 0; b < SAMPLES; b++)
        for (size_t h = 0; h < s->heads; h++)
            for (size_t i = 0; i < s->n_q; i++)
                row(s, &a, b, h, i);
    return a;
}

static void end(arrays *a)
{
    void *const all[] = { a->q, a->k, a->v, a->past_k, a->past_v, a->bias, a->y, a->present_k,
                          a->present_v, a->scores, a->mask };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static evl_tensor operand(const shape *s, const double *x, size_t heads, size_t rows, size_t size,
                          bool is_flat)
{
    const int64_t flat[] = { SAMPLES, (int64_t)rows, (int64_t)(heads * size) };
    const int64_t four[] = { SAMPLES, (int64_t)heads, (int64_t)rows, (int64_t)size };
    (void)s;
    return is_flat ? evl_test_reals(x, 3, flat) : evl_test_reals(x, 4, four);
}

static void take_inputs(const shape *s, const arrays *a, evl_op_run *r)
{
    const int64_t n = (int64_t)total(s);
    r->in[0] = operand(s, a->q, s->heads, s->n_q, s->size, s->is_flat);
    r->in[1] = operand(s, a->k, s->kv_heads, s->n_k, s->size, s->is_flat);
    r->in[2] = operand(s, a->v, s->kv_heads, s->n_k, s->size_v, s->is_flat);
    if (s->has_bias)
        r->in[3] = evl_test_reals(a->bias, 3, (const int64_t[]){ (int64_t)s->heads, 1, n });
    if (s->has_mask)
        r->in[3] = evl_test_tensor(EVAL_BOOL, a->mask, 2, (const int64_t[]){ (int64_t)s->n_q, n });
    if (s->n_past) {
        r->in[4] = operand(s, a->past_k, s->kv_heads, s->n_past, s->size, false);
        r->in[5] = operand(s, a->past_v, s->kv_heads, s->n_past, s->size_v, false);
    }
    if (s->has_valid)
        r->in[6] = evl_test_ints(a->valid, 1, (const int64_t[]){ SAMPLES });
    r->n_in = 7;
}

static size_t take_attributes(const shape *s, evl_attribute *to)
{
    size_t n = 0;
    to[n++] = evl_attribute_int("is_causal", s->is_causal);
    to[n++] = evl_attribute_number("softcap", s->cap);
    to[n++] = evl_attribute_int("left_window_size", s->left - 1);
    to[n++] = evl_attribute_int("right_window_size", s->right - 1);
    to[n++] = evl_attribute_int("qk_matmul_output_mode", s->mode);
    if (s->is_flat) {
        to[n++] = evl_attribute_int("q_num_heads", (int64_t)s->heads);
        to[n++] = evl_attribute_int("kv_num_heads", (int64_t)s->kv_heads);
    }
    return n;
}

static void assert_near(const evl_tensor *got, const double *right, evl_precision precision)
{
    for (size_t i = 0; i < evl_shape_count(&got->shape); i++)
        if (!is_near(((double *)got->data)[i] / 4, right[i] / 4, precision))
            fail_msg("element %zu is %g, expected %g", i, ((double *)got->data)[i], right[i]);
}

static void check(const shape *s, evl_precision precision, size_t threads)
{
    evl_context *ctx = evl_test_begin();
    evl_attribute attributes[8];
    arrays a = make(s);
    evl_op_run r = { .op = evl_op_find(NULL, "Attention"), .attributes = attributes, .threads = threads };
    r.n_attributes = take_attributes(s, attributes);
    take_inputs(s, &a, &r);
    r.n_out = s->wants_scores ? 4 : s->n_past && threads ? 3 : 1;
    EvalStatus st = evl_run_op(ctx, &r, precision, evl_cpu_features());
    if (st != EVAL_OK)
        fail_msg("status %d: %s", (int)st, ctx->error.text);
    const double *const right[] = { a.y, a.present_k, a.present_v, a.scores };
    for (size_t i = 0; i < r.n_out; i++)
        assert_near(&r.out[i], right[i], precision);
    evl_run_op_end(&r);
    end(&a);
    evl_test_end(ctx);
}

static void check_all(const shape *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int way = 0; way < 4; way++)
            check(&s[i], way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2);
}

static void heads_share_keys(void **state)
{
    const shape s[] = { { .heads = 3, .kv_heads = 3, .n_q = 4, .n_k = 6, .size = 8, .size_v = 8 },
                        { .heads = 6, .kv_heads = 2, .n_q = 5, .n_k = 7, .size = 3, .size_v = 9,
                          .is_flat = true },
                        { .heads = 4, .kv_heads = 1, .n_q = 1, .n_k = 40, .size = 33, .size_v = 1 } };
    (void)state;
    check_all(s, 3);
}

static void tiles_and_blocks_have_ends(void **state)
{
    const shape s[] = {
        { .heads = 1, .kv_heads = 1, .n_q = 197, .n_k = 515, .size = 20, .size_v = 35 },
        { .heads = 2, .kv_heads = 1, .n_q = 300, .n_k = 300, .size = 5, .size_v = 5,
          .is_causal = true, .has_bias = true },
        { .heads = 9, .kv_heads = 9, .n_q = 33, .n_k = 600, .size = 16, .size_v = 16,
          .has_mask = true, .is_flat = true },
        { .heads = 1, .kv_heads = 1, .n_q = 40, .n_k = 700, .size = 6, .size_v = 6, .left = 8,
          .right = 300 },
    };
    (void)state;
    check_all(s, 4);
}

static void keys_are_excluded(void **state)
{
    const shape base = { .heads = 2, .kv_heads = 2, .n_q = 5, .n_k = 9, .size = 4, .size_v = 4 };
    shape s[6] = { base, base, base, base, base, base };
    (void)state;
    s[0].is_causal = true;
    s[1].has_mask = true; /* one row sees nothing */
    s[2].has_valid = s[2].is_causal = true; /* and here the first of sample 0 */
    s[3].left = 3;
    s[4].left = s[4].right = 2;
    s[4].is_flat = true;
    s[5].has_bias = true;
    s[5].cap = 1.5;
    check_all(s, 6);
}

static void the_past_comes_first(void **state)
{
    const shape base = { .heads = 4, .kv_heads = 2, .n_q = 3, .n_k = 3, .n_past = 11, .size = 5,
                         .size_v = 6, .is_causal = true };
    shape s[2] = { base, base };
    (void)state;
    s[1].is_flat = true;
    check_all(s, 2);
}

static void scores_can_be_had(void **state)
{
    shape s = { .heads = 2, .kv_heads = 1, .n_q = 6, .n_k = 300, .n_past = 2, .size = 5,
                .size_v = 5, .has_mask = true, .wants_scores = true, .cap = 2 };
    (void)state;
    for (s.mode = 0; s.mode < 4; s.mode++)
        check_all(&s, 1);
}

static void nothing_is_still_something(void **state)
{
    const shape s[] = {
        { .heads = 2, .kv_heads = 2, .n_q = 3, .n_k = 0, .size = 4, .size_v = 4 },
        { .heads = 2, .kv_heads = 2, .n_q = 0, .n_k = 3, .size = 4, .size_v = 4 },
        { .heads = 1, .kv_heads = 1, .n_q = 1, .n_k = 1, .size = 1, .size_v = 0 },
    };
    (void)state;
    check_all(s, 3);
}

static void what_does_not_fit_is_refused(void **state)
{
    const double x[64] = { 0 };
    const int64_t q[] = { 1, 3, 2, 4 }, k[] = { 1, 2, 2, 4 }, k5[] = { 1, 3, 2, 5 },
                  flat[] = { 1, 2, 5 }, mask[] = { 2, 3 };
    const evl_tensor good = evl_test_reals(x, 4, q);
    const op_case cases[] = {
        { .op = "Attention", .in = { good, evl_test_reals(x, 4, k), evl_test_reals(x, 4, k) },
          .out = { good }, .status = EVAL_ERR_SHAPE },
        { .op = "Attention", .in = { good, evl_test_reals(x, 4, k5), good }, .out = { good },
          .status = EVAL_ERR_SHAPE },
        { .op = "Attention",
          .attributes = { evl_attribute_int("q_num_heads", 2),
                          evl_attribute_int("kv_num_heads", 2) },
          .in = { evl_test_reals(x, 3, flat), evl_test_reals(x, 3, flat),
                  evl_test_reals(x, 3, flat) },
          .out = { evl_test_reals(x, 3, flat) },
          .status = EVAL_ERR_SHAPE },
        { .op = "Attention", .in = { good, good, good, evl_test_reals(x, 2, mask) },
          .out = { good }, .status = EVAL_ERR_SHAPE },
        { .op = "Attention", .attributes = { evl_attribute_int("qk_matmul_output_mode", 4) },
          .in = { good, good, good }, .out = { good }, .status = EVAL_ERR_UNSUPPORTED },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_share_keys),
        cmocka_unit_test(tiles_and_blocks_have_ends),
        cmocka_unit_test(keys_are_excluded),
        cmocka_unit_test(the_past_comes_first),
        cmocka_unit_test(scores_can_be_had),
        cmocka_unit_test(nothing_is_still_something),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
