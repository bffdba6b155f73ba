/* draw.c - parameters that begin at random: the numbers that CNTK draws for `uniform`, a generator
** seeded with 1, 2, 3 ... in the order of statements, or with what randomSeed says. For a normal
** distribution they are the same on every machine, and not CNTK's. */
#include "readers/ndl/network.h"
#include <math.h>
#include <string.h>

enum { WORDS = 312, AHEAD = 156 };

/* The Mersenne twister of 64 bits (Matsumoto and Nishimura 2004), as std::mt19937_64. */
typedef struct twister {
    uint64_t words[WORDS];
    size_t at;
} twister;

static void seed(twister *t, uint64_t first)
{
    t->words[0] = first;
    for (size_t i = 1; i < WORDS; i++)
        t->words[i] = 6364136223846793005u * (t->words[i - 1] ^ t->words[i - 1] >> 62) + i;
    t->at = WORDS;
}

static void twist(twister *t)
{
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t x = (t->words[i] & ~(uint64_t)0x7fffffff) | (t->words[(i + 1) % WORDS] & 0x7fffffff);
        t->words[i] = t->words[(i + AHEAD) % WORDS] ^ x >> 1 ^ (x & 1 ? 0xb5026f5aa96619e9u : 0);
    }
    t->at = 0;
}

static uint64_t next(twister *t)
{
    if (t->at == WORDS)
        twist(t);
    uint64_t x = t->words[t->at++];
    x ^= x >> 29 & 0x5555555555555555u;
    x ^= x << 17 & 0x71d67fffeda60000u;
    x ^= x << 37 & 0xfff7eee000000000u;
    return x ^ x >> 43;
}

static double between(twister *t, double low, double high)
{
    double x;
    do
        x = (double)next(t) / (double)UINT64_MAX * (high - low) + low;
    while (x >= high);
    return x;
}

/* A sum of twelve is near enough to a normal distribution. */
static double normal(twister *t)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += between(t, -0.5, 0.5);
    return sum;
}

static void draw(evl_ndl_network *net, evl_cntk_node *node, double *next_seed)
{
    evl_ndl_init *init = &net->inits[node->f.size - 1];
    twister t;
    if (init->is_drawn || init->start < EVL_NDL_UNIFORM || !node->f.matrix.data)
        return;
    size_t n = (size_t)(node->f.matrix.rows * node->f.matrix.cols);
    double *values = (double *)node->f.matrix.data, fan_in = (double)node->f.matrix.cols;
    double own = init->seed >= 0 && init->seed < 1e15 ? init->seed : (*next_seed)++;
    double range = init->start == EVL_NDL_UNIFORM    ? (double)0.05f
                   : init->start == EVL_NDL_GAUSSIAN ? 0.2 / sqrt(fan_in)
                                                     : sqrt(2 / fan_in);
    seed(&t, (uint64_t)own);
    range = fabs(range * init->scale);
    for (size_t i = 0; i < n && range > 0; i++)
        values[i] = init->start == EVL_NDL_UNIFORM ? between(&t, -range, range) : range * normal(&t);
    init->is_drawn = true;
}

/* Nodes without a name belong to the statement that they stand in. */
static bool is_unnamed(const evl_cntk_node *node)
{
    static const char unnamed[] = "unnamed";
    const char *dot = strrchr(node->name, '.');
    return strncmp(dot ? dot + 1 : node->name, unnamed, sizeof unnamed - 1) == 0;
}

static void draw_in(evl_ndl_network *net, evl_cntk_node *node, double *next_seed)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (is_unnamed(node->inputs[i]))
            draw_in(net, node->inputs[i], next_seed);
    if (node->f.size > 0 && node->n_inputs == 0)
        draw(net, node, next_seed);
}

static void draw_all(evl_ndl_network *net, const evl_ndl_scope *scope, double *next_seed)
{
    for (size_t i = 0; i < scope->n; i++) {
        const evl_ndl_symbol *s = scope->symbols[i];
        if (s->call)
            draw_all(net, s->call, next_seed);
        else if (s->node)
            draw_in(net, s->node, next_seed);
    }
}

void evl_ndl_draw(evl_ndl_network *net, evl_ndl_scope *scope)
{
    double next_seed = 1;
    draw_all(net, scope, &next_seed);
    for (size_t i = 0; i < net->n_nodes; i++)
        if (net->nodes[i]->f.size > 0 && net->nodes[i]->n_inputs == 0)
            draw(net, net->nodes[i], &next_seed);
}
