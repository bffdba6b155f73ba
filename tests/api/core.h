/* core.h - an object without its table, inside a public call, on a network that the test
** builds: what the files of api/ that know no precision are tested with. */
#ifndef EVL_TESTS_API_CORE_H
#define EVL_TESTS_API_CORE_H
#include "api/perform.h"
#include "ops/build.h"
#include "support/run_op.h"
#include <string.h>

typedef struct core {
    evl_evaluator e;
    evl_entry entry;
    evl_context *ctx;
    evl_model *m;
    evl_graph *g;
    evl_builder b;
    EvalType real;
} core;

/* With an empty graph and room for two plans. */
static inline void core_begin(core *c, evl_precision precision)
{
    assert_true(evl_evaluator_start(&c->e, precision));
    assert_int_equal(evl_enter(&c->entry, &c->e, true), EVAL_OK);
    c->ctx = &c->entry.ctx;
    evl_arena *arena = evl_arena_new(c->ctx->memory);
    c->m = evl_arena_take(arena, sizeof *c->m);
    *c->m = (evl_model){ .memory = c->ctx->memory, .arena = arena,
                            .settings.limits = evl_default_limits };
    atomic_init(&c->m->users, 1);
    c->g = c->m->graph = evl_graph_new(arena, NULL);
    c->b = (evl_builder){ c->ctx, c->g, EVAL_OK };
    evl_test_machine(&c->m->machine, precision, evl_cpu_features());
    c->real = c->m->machine.real;
    c->m->store = evl_store_new(c->ctx->memory);
    c->m->plans.graph = c->g;
    c->m->plans.most = 2;
    c->m->plans.env = (evl_pass_env){ .machine = &c->m->machine, .store = c->m->store };
    assert_int_equal(evl_plan_cache_start(c->ctx, &c->m->plans), EVAL_OK);
    c->e.model = c->m;
}

static inline void core_end(core *c)
{
    assert_int_equal(c->b.status, EVAL_OK);
    assert_int_equal(evl_leave(&c->entry, EVAL_OK), EVAL_OK);
    evl_evaluator_end(&c->e);
}

static inline evl_value *core_input(core *c, const char *name, EvalType type, size_t rank,
                                    const int64_t *dims)
{
    evl_value *v = evl_graph_value(c->g, name);
    v->t.type = type;
    v->t.shape = evl_shape_of(rank, dims);
    assert_true(evl_graph_add_input(c->g, v));
    return v;
}

static inline evl_value *core_output(core *c, const evl_op *op, const char *name, evl_value *x,
                                     evl_value *y)
{
    evl_value *in[] = { x, y }, *z = evl_build(&c->b, op, name, in, y ? 2 : 1, NULL, 0);
    assert_non_null(z);
    assert_true(evl_graph_add_output(c->g, z));
    return z;
}
#endif
