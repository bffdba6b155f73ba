/* Reducing any axes of a tensor. */
#include "ops/reduction.h"

/* What one pass computes, and what the first, those between and the last of several. */
typedef struct pass_kinds {
    evl_reduce_kind only, first, next, last;
} pass_kinds;

static const pass_kinds kinds[EVL_N_REDUCE] = {
    [EVL_REDUCE_SUM] = { EVL_REDUCE_SUM, EVL_REDUCE_SUM, EVL_REDUCE_SUM, EVL_REDUCE_SUM },
    [EVL_REDUCE_MEAN] = { EVL_REDUCE_MEAN, EVL_REDUCE_MEAN, EVL_REDUCE_MEAN, EVL_REDUCE_MEAN },
    [EVL_REDUCE_MAX] = { EVL_REDUCE_MAX, EVL_REDUCE_MAX, EVL_REDUCE_MAX, EVL_REDUCE_MAX },
    [EVL_REDUCE_MIN] = { EVL_REDUCE_MIN, EVL_REDUCE_MIN, EVL_REDUCE_MIN, EVL_REDUCE_MIN },
    [EVL_REDUCE_PROD] = { EVL_REDUCE_PROD, EVL_REDUCE_PROD, EVL_REDUCE_PROD, EVL_REDUCE_PROD },
    [EVL_REDUCE_L1] = { EVL_REDUCE_L1, EVL_REDUCE_L1, EVL_REDUCE_SUM, EVL_REDUCE_SUM },
    [EVL_REDUCE_L2] = { EVL_REDUCE_L2, EVL_REDUCE_L2, EVL_REDUCE_L2, EVL_REDUCE_L2 },
    [EVL_REDUCE_SUM_SQUARE] = { EVL_REDUCE_SUM_SQUARE, EVL_REDUCE_SUM_SQUARE, EVL_REDUCE_SUM,
                                EVL_REDUCE_SUM },
    [EVL_REDUCE_LOG_SUM] = { EVL_REDUCE_LOG_SUM, EVL_REDUCE_SUM, EVL_REDUCE_SUM,
                             EVL_REDUCE_LOG_SUM },
    [EVL_REDUCE_LOG_SUM_EXP] = { EVL_REDUCE_LOG_SUM_EXP, EVL_REDUCE_LOG_SUM_EXP,
                                 EVL_REDUCE_LOG_SUM_EXP, EVL_REDUCE_LOG_SUM_EXP },
};

/* Groups of neighbouring dimensions that are all reduced or all kept. */
typedef struct groups {
    int32_t n;
    size_t size[EVAL_MAX_RANK];
    bool is_reduced[EVAL_MAX_RANK];
} groups;

static groups groups_of(const evl_shape *shape, const bool *is_reduced)
{
    groups g = { 0 };
    for (int32_t d = 0; d < shape->rank; d++) {
        if (shape->dim[d] == 1)
            continue;
        if (g.n == 0 || g.is_reduced[g.n - 1] != is_reduced[d]) {
            g.size[g.n] = 1;
            g.is_reduced[g.n++] = is_reduced[d];
        }
        g.size[g.n - 1] *= (size_t)shape->dim[d];
    }
    return g;
}

static void add_passes(evl_reduction *r, const groups *g)
{
    size_t inner = 1;
    for (int32_t i = g->n; i-- > 0;) {
        if (!g->is_reduced[i]) {
            inner *= g->size[i];
            continue;
        }
        evl_lines lines = { 1, g->size[i], inner };
        for (int32_t j = 0; j < i; j++)
            lines.outer *= g->size[j];
        r->pass[r->n_passes++].lines = lines;
    }
    if (r->n_passes == 0) /* nothing to sum up, but perhaps to square */
        r->pass[r->n_passes++].lines = (evl_lines){ 1, 1, inner };
}

static size_t result_bytes(const evl_reduction *r, size_t pass)
{
    size_t bytes = r->pass[pass].lines.outer * r->pass[pass].lines.inner * r->size;
    return pass + 1 < r->n_passes ? (bytes + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT : 0;
}

bool evl_reduction_make(evl_reduction *r, const evl_loops *loops, evl_reduce_kind kind,
                        const evl_shape *shape, const bool is_reduced[EVAL_MAX_RANK], size_t size)
{
    const pass_kinds *k = &kinds[kind];
    groups g = groups_of(shape, is_reduced);
    *r = (evl_reduction){ .size = size };
    add_passes(r, &g);
    for (size_t i = 0; i < r->n_passes; i++) {
        evl_reduce_kind now = r->n_passes == 1      ? k->only
                              : i == 0              ? k->first
                              : i + 1 < r->n_passes ? k->next
                                                    : k->last;
        r->pass[i].loop = loops->reduce[now];
        if (!r->pass[i].loop)
            return false;
    }
    r->second_at = result_bytes(r, 0);
    r->scratch_bytes = r->second_at + (r->n_passes > 2 ? result_bytes(r, 1) : 0);
    return true;
}

typedef struct pass_arrays {
    const evl_reduction_pass *pass;
    size_t size;
    const char *x;
    char *y;
} pass_arrays;

static void reduce_part(void *arg, const evl_lines_part *part)
{
    const pass_arrays *a = arg;
    char *y = a->y + part->y * a->size;
    /* a tensor without elements has no place: then y stands for it, and nothing is read */
    a->pass->loop(part->at, part->at.n ? a->x + part->x * a->size : y, y);
}

void evl_reduction_apply(const evl_reduction *r, const evl_machine *machine, const void *x,
                         void *scratch, void *y)
{
    for (size_t i = 0; i < r->n_passes; i++) { /* results become smaller: two places serve all */
        bool is_last = i + 1 == r->n_passes;
        char *to = is_last ? y : (char *)scratch + (i % 2 ? r->second_at : 0);
        pass_arrays arrays = { &r->pass[i], r->size, x, to };
        evl_lines_for(&r->pass[i].lines, machine->pool, reduce_part, &arrays);
        x = arrays.y;
    }
}
