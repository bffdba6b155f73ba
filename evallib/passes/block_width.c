/* How many channels blocks hold: a vector's width of them; or half of it, where vectors of
** half the width are as fast (machine.narrow_lanes) and the convolutions together would
** compute less of what fills up blocks. Measured on Zen 4: networks of 8 to 24 channels
** take two thirds of the time. */
#include "passes/block_width.h"
#include "ops/blocked.h"
#include "ops/conv.h"
#include "ops/ops.h"

enum {
    MOST_INPUTS = 3,
    SPREAD = 2, /* groups within a block cost as much more as channels of their own */
    PRODUCT = 2 /* and what cannot be blocked */
};

static const double worth_it = 0.9;

static double padded(size_t n, size_t lanes)
{
    size_t blocks = (n + lanes - 1) / lanes;
    return (double)(blocks * lanes);
}

/* Multiply-adds with those of zeros. */
static double work(const evl_conv *c, size_t lanes, bool is_blocked)
{
    double in = c->in_channels < lanes ? (double)c->in_channels : padded(c->in_channels, lanes);
    double each = (double)c->batch * (double)c->out_plane * (double)c->kernel;
    if (!is_blocked)
        return each * (double)c->in_channels * (double)(c->groups * c->out_channels) * PRODUCT;
    if (c->groups == 1 || (c->in_channels % lanes == 0 && c->out_channels % lanes == 0))
        return each * in * padded(c->out_channels, lanes) * (double)c->groups;
    return each * in * padded(c->groups * c->out_channels, lanes) * (c->in_channels > 1 ? SPREAD : 1);
}

size_t evl_block_width(evl_context *ctx, const evl_machine *machine, const evl_graph *g)
{
    double wide = 0, narrow = 0;
    for (size_t i = 0; machine->narrow_lanes && i < g->n_nodes; i++) {
        const evl_node *node = g->nodes[i];
        const evl_tensor *in[MOST_INPUTS] = { NULL };
        evl_use use = { node, in, node->n_inputs };
        evl_conv c;
        for (size_t j = 0; j < node->n_inputs && j < MOST_INPUTS; j++)
            in[j] = node->inputs[j] ? &node->inputs[j]->t : NULL;
        if (node->op != &evl_op_conv || !in[0] || !in[1])
            continue;
        bool fits = evl_can_block_conv(ctx, &use, machine->lanes);
        bool fits_narrow = evl_can_block_conv(ctx, &use, machine->narrow_lanes);
        if ((!fits && !fits_narrow) || evl_conv_of(ctx, &use, &c) != EVAL_OK)
            continue;
        wide += work(&c, machine->lanes, fits);
        narrow += work(&c, machine->narrow_lanes, fits_narrow);
    }
    return narrow < worth_it * wide ? machine->narrow_lanes : machine->lanes;
}
