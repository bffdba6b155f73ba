/* GridSample: at each point some elements are found, the same in every channel, and weighed. */
#include "ops/grid.h"
#include "ops/lines.h"
#include "real.h"
#include <string.h>

/* Along one dimension: n places, -1 for what is padded with zeros. */
typedef struct taps {
    size_t n;
    int64_t at[EVL_GRID_TAPS];
    real weight[EVL_GRID_TAPS];
} taps;

/* The ends of a dimension: the middles of its outermost elements, or their outer edges. */
typedef struct ends {
    real least, most;
} ends;

static ends ends_of(const evl_grid *g, int64_t n)
{
    if (g->align_corners)
        return (ends){ 0, (real)(n - 1) };
    return (ends){ -(real)0.5, (real)n - (real)0.5 };
}

/* There and back between the ends until it lies between them. */
static real reflect(real x, ends e)
{
    real range = e.most - e.least, beyond = x < e.least ? e.least - x : x - e.most;
    if (x >= e.least && x <= e.most)
        return x;
    if (!(range > 0))
        return e.least;
    real times = floor(beyond / range), rest = beyond - times * range;
    bool is_back = fmod(times, 2) == 0;
    return (x < e.least) == is_back ? e.least + rest : e.most - rest;
}

static real clamp(real x, real least, real most)
{
    return x > least ? (x < most ? x : most) : least; /* NaN: least */
}

/* Where element i of n is taken from. */
static int64_t inside(const evl_grid *g, int64_t i, int64_t n)
{
    if (n == 0 || (i >= 0 && i < n))
        return n == 0 ? -1 : i;
    if (g->padding == EVL_GRID_ZEROS)
        return -1;
    if (g->padding == EVL_GRID_BORDER)
        return i < 0 ? 0 : n - 1;
    return (int64_t)clamp(reflect((real)i, ends_of(g, n)), 0, (real)(n - 1));
}

/* Keys' cubic through four elements, of which the second lies t before the point. */
static void cubic(real t, real *w)
{
    const real a = -(real)0.75, u = 1 - t;
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
    w[3] = ((a * (u + 1) - 5 * a) * (u + 1) + 8 * a) * (u + 1) - 4 * a;
}

/* From a place -1 .. 1 to elements. What is far outside is as good as a few elements outside;
** NaN is too. */
static void taps_of(const evl_grid *g, real place, int64_t n, taps *t)
{
    ends e = ends_of(g, n);
    real x = g->align_corners ? (place + 1) / 2 * (real)(n - 1) : ((place + 1) * (real)n - 1) / 2;
    if (g->mode == EVL_GRID_NEAREST)
        x = rint(x);
    if (g->padding == EVL_GRID_REFLECTION)
        x = reflect(x, e);
    x = clamp(x, -8, (real)n + 8);
    int64_t first = (int64_t)floor(x);
    real part = x - (real)first;
    t->n = 1;
    t->weight[0] = 1;
    if (g->mode == EVL_GRID_LINEAR) {
        t->n = 2;
        t->weight[0] = 1 - part;
        t->weight[1] = part;
    } else if (g->mode == EVL_GRID_CUBIC) {
        t->n = 4;
        cubic(part, t->weight);
        first--;
    }
    for (size_t i = 0; i < t->n; i++)
        t->at[i] = inside(g, first + (int64_t)i, n);
}

/* All elements of a plane that count at a point. */
enum { MOST = EVL_GRID_TAPS * EVL_GRID_TAPS * EVL_GRID_TAPS };

typedef struct chosen {
    size_t n, at[MOST];
    real weight[MOST];
} chosen;

/* The dimension below the chosen ones: each of them becomes as many as there are taps. */
static void cross(const taps *t, int64_t size, chosen *c)
{
    chosen all = { .n = 0 };
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < t->n; j++)
            if (t->at[j] >= 0) {
                all.at[all.n] = c->at[i] * (size_t)size + (size_t)t->at[j];
                all.weight[all.n++] = c->weight[i] * t->weight[j];
            }
    c->n = all.n;
    for (size_t i = 0; i < all.n; i++) {
        c->at[i] = all.at[i];
        c->weight[i] = all.weight[i];
    }
}

/* The grid names the innermost dimension first. */
static void choose(const evl_grid *g, const real *place, chosen *c)
{
    taps t;
    c->n = 1;
    c->at[0] = 0;
    c->weight[0] = 1;
    for (int32_t d = 0; d < g->n_dims; d++) {
        taps_of(g, place[g->n_dims - 1 - d], g->dim[d], &t);
        cross(&t, g->dim[d], c);
    }
}

/* One point in all channels, of which an element is copied. */
static void copy(const evl_call *call, size_t index, const chosen *c)
{
    const evl_grid *g = call->state;
    size_t image = index / g->points * g->channels, size = evl_type_size(call->in[0]->type);
    for (size_t i = image; i < image + g->channels; i++) {
        const char *x = (const char *)call->in[0]->data + i * g->in_plane * size;
        char *y = (char *)call->out[0]->data + (i * g->points + index % g->points) * size;
        memcpy(y, c->n ? x + c->at[0] * size : g->zero, size);
    }
}

static void weigh(const evl_call *call, size_t index, const chosen *c)
{
    const evl_grid *g = call->state;
    size_t image = index / g->points * g->channels;
    for (size_t i = image; i < image + g->channels; i++) {
        const real *x = (const real *)call->in[0]->data + i * g->in_plane;
        real sum = 0;
        for (size_t j = 0; j < c->n; j++)
            sum += c->weight[j] * x[c->at[j]];
        ((real *)call->out[0]->data)[i * g->points + index % g->points] = sum;
    }
}

static void sample(void *arg, size_t index)
{
    const evl_call *call = arg;
    const evl_grid *g = call->state;
    chosen c;
    choose(g, (const real *)call->in[1]->data + index * (size_t)g->n_dims, &c);
    (g->mode == EVL_GRID_NEAREST ? copy : weigh)(call, index, &c);
}

static EvalStatus run(const evl_call *call)
{
    const evl_grid *g = call->state;
    evl_call own = *call;
    enum { WORK = 16 }; /* of choosing, in elements */
    evl_each_for(g->batch * g->points, WORK + g->channels, call->machine->pool, sample, &own);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_grid_sample);
const evl_impl TWIN(evl_grid_sample) = { evl_grid_prepare, run };
