/* Fourier transforms, a line or a frame at a time. An inverse transform is a transform of
** numbers whose parts are exchanged, before and after.
**
** Everything is computed in double: of what cancels, as nearly everything does where a
** signal is smooth, float would leave noise. */
#include "ops/fourier.h"
#include <math.h>

typedef struct number {
    double re, im;
} number;

static number times(number a, number b)
{
    return (number){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static number plus(number a, number b)
{
    return (number){ a.re + b.re, a.im + b.im };
}

static number minus(number a, number b)
{
    return (number){ a.re - b.re, a.im - b.im };
}

static number exchanged(number a)
{
    return (number){ a.im, a.re };
}

/* --- splitting --- */

/* One factor r of what is left, n = r m, when `done` are split off: x[q + done (p + m k)], k < r,
** becomes y[q + done (r p + j)], j < r. */
typedef struct stage {
    const evl_fourier_split *s;
    size_t r, m, done;
} stage;

static void butterfly(const stage *g, const number *x, size_t step, number *y)
{
    const number *turns = g->s->turns;
    number a = x[0], b = x[step];
    if (g->r == 2) {
        y[0] = plus(a, b);
        y[1] = minus(a, b);
        return;
    }
    if (g->r == 4) {
        number c = x[2 * step], d = x[3 * step], even = plus(a, c), odd = minus(a, c);
        number sum = plus(b, d), turned = minus(b, d);
        turned = (number){ turned.im, -turned.re };
        y[0] = plus(even, sum);
        y[1] = plus(odd, turned);
        y[2] = minus(even, sum);
        y[3] = minus(odd, turned);
        return;
    }
    for (size_t j = 0; j < g->r; j++) {
        y[j] = a;
        for (size_t k = 1; k < g->r; k++)
            y[j] = plus(y[j], times(x[k * step], turns[j * k % g->r * (g->s->n / g->r)]));
    }
}

static void split_off(const stage *g, const number *x, number *y)
{
    const number *turns = g->s->turns;
    for (size_t p = 0; p < g->m; p++)
        for (size_t q = 0; q < g->done; q++) {
            number parts[EVL_FOURIER_RADIX];
            butterfly(g, x + q + g->done * p, g->done * g->m, parts);
            for (size_t j = 0; j < g->r; j++)
                y[q + g->done * (g->r * p + j)] =
                    j && p ? times(parts[j], turns[j * p * g->done]) : parts[j];
        }
}

/* From a, by way of b; gives the one that holds the result. */
static number *split(const evl_fourier_split *s, number *a, number *b)
{
    stage g = { .s = s, .m = s->n, .done = 1 };
    for (size_t i = 0; i < s->n_factors; i++) {
        g.r = s->factor[i];
        g.m /= g.r;
        split_off(&g, a, b);
        g.done *= g.r;
        number *kept = a;
        a = b;
        b = kept;
    }
    return a;
}

/* --- any length --- */

static number *convolve(const evl_fourier *f, number *a, number *b)
{
    const number *chirp = f->chirp, *filter = f->filter;
    size_t m = f->split.n;
    for (size_t i = 0; i < m; i++)
        a[i] = i < f->n ? times(a[i], chirp[i]) : (number){ 0, 0 };
    number *y = split(&f->split, a, b);
    for (size_t i = 0; i < m; i++)
        y[i] = exchanged(times(y[i], filter[i]));
    y = split(&f->split, y, y == a ? b : a);
    for (size_t i = 0; i < f->n; i++)
        y[i] = times(exchanged(y[i]), chirp[i]);
    return y;
}

static number *transform(const evl_fourier *f, number *a, number *b)
{
    return f->chirp ? convolve(f, a, b) : split(&f->split, a, b);
}

/* --- tables --- */

/* exp(-2 pi i k / n) */
static number turn(size_t k, size_t n)
{
    double at = 6.283185307179586476925286766559 * (double)k / (double)n;
    return (number){ cos(at), -sin(at) };
}

static number *make_turns(evl_prepare *p, size_t n)
{
    number *turns = evl_arena_take_many(p->arena, n, sizeof *turns);
    for (size_t k = 0; turns && k < n; k++)
        turns[k] = turn(k, n);
    return turns;
}

/* k k modulo 2 n, step by step: the square itself may not fit. */
static number *make_chirp(evl_prepare *p, size_t n)
{
    number *chirp = evl_arena_take_many(p->arena, n, sizeof *chirp);
    size_t square = 0;
    for (size_t k = 0; chirp && k < n; k++) {
        chirp[k] = turn(square, 2 * n);
        square = (square + 2 * k + 1) % (2 * n);
    }
    return chirp;
}

/* The chirp's conjugate at both ends, transformed, over m. */
static number *make_filter(evl_prepare *p, const evl_fourier *f)
{
    size_t m = f->split.n;
    const number *chirp = f->chirp;
    number *a = evl_arena_take_many(p->arena, m, sizeof *a);
    number *b = evl_arena_take_many(p->arena, m, sizeof *b);
    if (!a || !b)
        return NULL;
    for (size_t i = 0; i < m; i++)
        a[i] = (number){ 0, 0 };
    for (size_t i = 0; i < f->n; i++)
        a[i] = a[i ? m - i : 0] = (number){ chirp[i].re, -chirp[i].im };
    number *filter = split(&f->split, a, b);
    for (size_t i = 0; i < m; i++)
        filter[i] = (number){ filter[i].re / (double)m, filter[i].im / (double)m };
    return filter;
}

static EvalStatus make_tables(evl_prepare *p, evl_fourier *f)
{
    size_t m = 1;
    bool is_split = evl_fourier_factors(f->n, &f->split);
    while (!is_split && m < 2 * f->n - 1)
        m *= 2;
    if (!is_split)
        (void)evl_fourier_factors(m, &f->split);
    f->split.turns = make_turns(p, f->split.n);
    f->chirp = f->split.turns && !is_split ? make_chirp(p, f->n) : NULL;
    f->filter = f->chirp ? make_filter(p, f) : NULL;
    size_t threads = evl_pool_threads(p->machine->pool);
    if (!f->split.turns || (!is_split && !f->filter) ||
        !evl_size_multiply(2 * f->split.n * sizeof(number), threads, &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p, EvalStatus (*read)(const evl_prepare *, evl_fourier *))
{
    evl_fourier *f = evl_arena_take(p->arena, sizeof *f);
    if (!f)
        return evl_no_memory(p->ctx);
    EvalStatus st = read(p, f);
    p->state = f;
    return st == EVAL_OK && f->n > 0 ? make_tables(p, f) : st;
}

static EvalStatus prepare_dft(evl_prepare *p)
{
    return prepare(p, evl_fourier_dft_of);
}

static EvalStatus prepare_stft(evl_prepare *p)
{
    return prepare(p, evl_fourier_stft_of);
}

/* --- lines --- */

/* Where a line begins: elements of either type, `step` numbers apart. */
typedef struct line {
    bool is_double;
    void *data;
    size_t at, step;
} line;

static line line_of(const evl_tensor *t, size_t at, size_t step)
{
    return (line){ t->type == EVAL_FLOAT64, t->data, at, step };
}

static double get(const line *l, size_t i)
{
    return l->is_double ? ((const double *)l->data)[l->at + i]
                        : (double)((const float *)l->data)[l->at + i];
}

static void put(const line *l, size_t i, double value)
{
    if (l->is_double)
        ((double *)l->data)[l->at + i] = value;
    else
        ((float *)l->data)[l->at + i] = (float)value;
}

static number element(const evl_fourier *f, const line *x, size_t i)
{
    size_t at = i * x->step * f->in_parts;
    if (i >= f->n_in)
        return (number){ 0, 0 };
    return (number){ get(x, at), f->in_parts == 2 ? get(x, at + 1) : 0 };
}

/* Of one half of a spectrum the other half is the mirror image, and what is in the middle of
** both is real. */
static number mirrored(const evl_fourier *f, const line *x, size_t i)
{
    number v = element(f, x, i <= f->n / 2 ? i : f->n - i);
    if (i == 0 || 2 * i == f->n)
        v.im = 0;
    else if (i > f->n / 2)
        v.im = -v.im;
    return v;
}

static void store(const evl_fourier *f, const number *from, const line *y)
{
    double scale = f->is_inverse ? 1 / (double)f->n : 1;
    for (size_t i = 0; i < f->n_out; i++) {
        number v = f->is_inverse ? exchanged(from[i]) : from[i];
        put(y, i * y->step * f->out_parts, v.re * scale);
        if (f->out_parts == 2)
            put(y, i * y->step * 2 + 1, v.im * scale);
    }
}

static void dft_work(void *arg, size_t index, size_t lane)
{
    const evl_call *call = arg;
    const evl_fourier *f = call->state;
    number *a = (number *)call->scratch + lane * 2 * f->split.n;
    size_t outer = index / f->inner, inner = index % f->inner;
    line x = line_of(call->in[0], (outer * f->n_in * f->inner + inner) * f->in_parts, f->inner);
    line y = line_of(call->out[0], (outer * f->n_out * f->inner + inner) * f->out_parts, f->inner);
    for (size_t i = 0; i < f->n; i++) {
        number v = f->is_inverse && f->is_onesided ? mirrored(f, &x, i) : element(f, &x, i);
        a[i] = f->is_inverse ? exchanged(v) : v;
    }
    store(f, transform(f, a, a + f->split.n), &y);
}

static void stft_work(void *arg, size_t frame, size_t lane)
{
    const evl_call *call = arg;
    const evl_fourier *f = call->state;
    number *a = (number *)call->scratch + lane * 2 * f->split.n;
    bool has_window = call->n_in > 2 && call->in[2];
    line window = has_window ? line_of(call->in[2], 0, 1) : (line){ .step = 1 };
    line x = line_of(call->in[0], frame / f->frames * f->n_in * f->in_parts, 1);
    line y = line_of(call->out[0], frame * f->n_out * f->out_parts, 1);
    for (size_t i = 0; i < f->n; i++) {
        number v = element(f, &x, frame % f->frames * f->step + i);
        double weight = i >= f->n_window ? 0 : has_window ? get(&window, i) : 1;
        a[i] = (number){ v.re * weight, v.im * weight };
    }
    store(f, transform(f, a, a + f->split.n), &y);
}

static EvalStatus run_lines(const evl_call *call, evl_tile_work *work)
{
    const evl_fourier *f = call->state;
    evl_call own = *call;
    if (f->n > 0)
        evl_parallel_for(call->machine->pool, f->outer * f->inner, work, &own);
    return EVAL_OK;
}

static EvalStatus run_dft(const evl_call *call)
{
    return run_lines(call, dft_work);
}

static EvalStatus run_stft(const evl_call *call)
{
    return run_lines(call, stft_work);
}

const evl_impl evl_fourier_dft = { prepare_dft, run_dft };
const evl_impl evl_fourier_stft = { prepare_stft, run_stft };
