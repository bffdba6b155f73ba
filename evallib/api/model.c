#include "api/model.h"
#include "kernels/loops.h"
#include "readers/ndl/ndl.h"
#include <string.h>

/* The features of this processor that the kernels may use. */
static EvalStatus choose_features(evl_context *ctx, int64_t kernels, unsigned *cpu)
{
    static const struct { const char *name; unsigned needs, may; } sets[] = {
        [EVL_KERNELS_BASE] = { "base", 0, 0 },
        [EVL_KERNELS_AVX2] = { "avx2", EVL_CPU_AVX2, EVL_CPU_AVX2 },
        [EVL_KERNELS_AVX512] = { "avx512", EVL_CPU_AVX512, ~0u },
        [EVL_KERNELS_AUTO] = { "auto", 0, ~0u },
    };
    unsigned have = evl_cpu_features();
    *cpu = have & sets[kernels].may;
    if ((have & sets[kernels].needs) == sets[kernels].needs)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                    "kernels=%s: this processor has not got them; its best are %s, and "
                    "kernels=auto takes those",
                    sets[kernels].name, evl_kernels_choose_f(have).name);
}

static void start_machine(evl_model *m, evl_precision precision, unsigned cpu)
{
    evl_kernel_choice choice =
        precision == EVL_DOUBLE ? evl_kernels_choose_d(cpu) : evl_kernels_choose_f(cpu);
    m->machine = (evl_machine){ .precision = precision, .k = choice.k, .blas = &m->blas };
    m->machine.lanes = choice.lanes;
    m->machine.narrow_lanes = choice.narrow_lanes;
    m->machine.foreign_gemm = m->plugins.gemm[precision];
    m->machine.foreign_conv = m->plugins.conv[precision];
    m->machine.accuracy = (evl_accuracy)m->settings.accuracy;
    m->machine.real = precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32;
    for (int type = 0; type < EVL_N_TYPES; type++)
        m->machine.loops[type] = evl_loops_integer((EvalType)type);
    m->machine.loops[EVAL_FLOAT32] = evl_kernels_choose_f(cpu).loops; /* to quantize in */
    m->machine.loops[m->machine.real] = choice.loops;
}

/* CNTK's rule: 0 takes all processors, -n all but n, never more than there are. */
static size_t thread_count(int64_t wanted)
{
    int64_t all = (int64_t)evl_processor_count();
    int64_t n = wanted > 0 ? wanted : all + wanted;
    return n < 1 ? 1 : n > all && wanted <= 0 ? (size_t)all : (size_t)n;
}

static EvalStatus choose_outputs(evl_context *ctx, evl_model *m)
{
    evl_graph *g = m->graph;
    if (m->settings.outputs.n == 0)
        return EVAL_OK;
    g->n_outputs = 0;
    for (size_t i = 0; i < m->settings.outputs.n; i++) {
        const char *name = m->settings.outputs.items[i];
        evl_value *v = evl_graph_find_node(g, name);
        if (!v) {
            EvalStatus st = evl_graph_not_found(ctx, g, name);
            evl_fail_at(ctx, "outputNodeNames: ");
            return st;
        }
        if (!evl_graph_add_output(g, v))
            return evl_no_memory(ctx);
    }
    return EVAL_OK;
}

static EvalStatus read_source(evl_context *ctx, evl_model *m, evl_source *source)
{
    EvalStatus st = evl_source_open(ctx, source, &m->file);
    return st == EVAL_OK ? evl_read_model(ctx, source, m->graph, &m->external) : st;
}

static EvalStatus read_graph(evl_context *ctx, evl_model *m, evl_source *source)
{
    if (m->plugins.n)
        source->guests = &m->plugins.for_readers;
    m->graph = evl_graph_new(m->arena, NULL);
    if (!m->graph)
        return evl_no_memory(ctx);
    bool is_described = m->settings.description && !source->data && !source->files;
    EvalStatus st = is_described ? evl_ndl_read(ctx, m->settings.description, m->graph)
                                 : read_source(ctx, m, source);
    if (st == EVAL_OK && is_described)
        evl_registry_replace(&m->plugins.for_readers.registry, m->graph);
    if (st == EVAL_OK && m->plugins.n && !evl_registry_carry(m->graph))
        st = evl_no_memory(ctx);
    if (st == EVAL_OK)
        st = evl_infer_graph(ctx, m->graph);
    if (st == EVAL_OK)
        st = choose_outputs(ctx, m);
    return st;
}

static EvalStatus start(evl_context *ctx, evl_model *m, evl_precision precision, evl_source source)
{
    size_t threads = thread_count(m->settings.threads);
    unsigned cpu;
    EvalStatus st = choose_features(ctx, m->settings.kernels, &cpu);
    if (st != EVAL_OK)
        return st;
    start_machine(m, precision, cpu);
    ctx->file = source.path;
    st = read_graph(ctx, m, &source);
    ctx->file = NULL;
    if (st == EVAL_OK && !(m->store = evl_store_new(m->memory)))
        st = evl_no_memory(ctx);
    if (st == EVAL_OK) {
        evl_store_files(m->store, &m->file, 1);
        evl_store_files(m->store, m->external.files, m->external.n);
    }
    if (st == EVAL_OK && threads > 1)
        st = evl_pool_new(ctx, threads, (unsigned)m->settings.spin_us, &m->machine.pool);
    if (st != EVAL_OK)
        return st;
    evl_blas_open(ctx, m->settings.blas, &m->blas);
    m->plans.graph = m->graph;
    m->plans.most = (size_t)m->settings.plans;
    m->plans.env = (evl_pass_env){ .machine = &m->machine, .store = m->store, .guests = &m->plugins };
    if (m->plugins.n_passes)
        m->plans.env.foreign = evl_plugins_rewrite;
    return evl_plan_cache_start(ctx, &m->plans);
}

EvalStatus evl_model_load(evl_context *ctx, evl_precision precision, const evl_settings *settings,
                          const evl_source *source, const evl_plugin_list *plugins,
                          evl_model **model)
{
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_model *m = arena ? evl_arena_take(arena, sizeof *m) : NULL;
    if (!m) {
        evl_arena_free(arena);
        return evl_no_memory(ctx);
    }
    atomic_init(&m->users, 1);
    m->memory = ctx->memory;
    m->arena = arena;
    m->settings = *settings;
    EvalStatus st =
        plugins ? evl_plugins_start(ctx, arena, plugins->items, plugins->n, &m->plugins) : EVAL_OK;
    if (st == EVAL_OK)
        st = start(ctx, m, precision, *source);
    m->settings.model_path = m->settings.blas = NULL; /* they belong to the configuration */
    m->settings.description = NULL;
    m->settings.outputs = m->settings.plugins = m->settings.plugin_folders = (evl_texts){ 0 };
    if (st == EVAL_OK)
        *model = m;
    else
        evl_model_release(m);
    return st;
}

evl_model *evl_model_use(evl_model *m)
{
    atomic_fetch_add(&m->users, 1);
    return m;
}

void evl_model_release(evl_model *m)
{
    if (!m || atomic_fetch_sub(&m->users, 1) != 1)
        return;
    evl_plan_cache_end(&m->plans);
    evl_store_free(m->store);
    evl_pool_free(m->machine.pool);
    evl_blas_close(&m->blas);
    evl_external_close(&m->external);
    evl_file_close(&m->file);
    evl_plugins_stop(&m->plugins);
    evl_arena_free(m->arena);
}
