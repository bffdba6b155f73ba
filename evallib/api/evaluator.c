/* The life of an object, and of every public call on it. */
#include "api/evaluator.h"
#include "writers/onnx.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static evl_home *new_home(const EvalAllocator *allocator)
{
    evl_home *home = malloc(sizeof *home);
    if (home) {
        atomic_init(&home->users, 1);
        evl_memory_init(&home->memory, allocator, 0);
    }
    return home;
}

static void leave_home(evl_home *home)
{
    if (home && atomic_fetch_sub(&home->users, 1) == 1)
        free(home);
}

static bool settle_in(evl_evaluator *e, evl_precision precision, evl_home *home)
{
    *e = (evl_evaluator){ .precision = precision, .home = home };
    atomic_flag_clear(&e->is_busy);
    e->lock = home ? evl_mutex_new(&home->memory) : NULL;
    return e->lock;
}

bool evl_evaluator_start(evl_evaluator *e, evl_precision precision)
{
    evl_home *home = new_home(NULL);
    if (settle_in(e, precision, home))
        return true;
    leave_home(home);
    return false;
}

static void drop_error(evl_error *error)
{
    if (error->text && error->text != error->first)
        evl_release(error->memory, error->text);
    *error = (evl_error){ 0 };
}

static void drop_network(evl_evaluator *e)
{
    evl_forward_end(e);
    evl_made_free_all(e, &e->evaluated);
    evl_states_free(&e->states);
    evl_model_release(e->model);
    e->model = NULL;
}

void evl_evaluator_end(evl_evaluator *e)
{
    evl_made_free_all(e, &e->made);
    drop_network(e);
    evl_plugin_list_free(&e->home->memory, &e->plugins);
    drop_error(&e->error);
    evl_release(&e->home->memory, e->init);
    evl_mutex_free(e->lock);
    leave_home(e->home);
}

/* NULL: no memory. */
static char *copy_text(evl_memory *memory, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = evl_allocate(memory, bytes);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

EvalStatus evl_evaluator_clone(evl_context *ctx, evl_evaluator *e, evl_evaluator *clone)
{
    if (!settle_in(clone, e->precision, e->home))
        return evl_no_memory(ctx);
    atomic_fetch_add(&e->home->users, 1);
    clone->log = e->log;
    EvalStatus st = EVAL_OK;
    if (e->init) {
        clone->init = copy_text(ctx->memory, e->init);
        st = clone->init ? EVAL_OK : evl_no_memory(ctx);
    }
    if (st == EVAL_OK)
        st = evl_plugin_list_copy(ctx, ctx->memory, &e->plugins, &clone->plugins);
    if (st == EVAL_OK && e->model) {
        st = evl_states_new(ctx, e->model->graph->n_states, &clone->states);
        if (st == EVAL_OK)
            clone->model = evl_model_use(e->model);
    }
    if (st != EVAL_OK)
        evl_evaluator_end(clone);
    return st;
}

EvalStatus evl_enter(evl_entry *entry, evl_evaluator *e, bool is_exclusive)
{
    if (is_exclusive && atomic_flag_test_and_set(&e->is_busy))
        return EVAL_ERR_STATE; /* LastError belongs to the call that runs */
    entry->e = e;
    entry->is_exclusive = is_exclusive;
    entry->saved_errno = errno;
    evl_float_enter(&entry->found);
    evl_context_init(&entry->ctx, &e->home->memory, &evl_default_limits);
    entry->ctx.log = e->log;
    return EVAL_OK;
}

/* The text moves to the object; what was there goes. */
static void keep_error(evl_evaluator *e, evl_error *from)
{
    evl_mutex_lock(e->lock);
    drop_error(&e->error);
    e->error = *from;
    if (from->text == from->first)
        e->error.text = e->error.first;
    evl_mutex_unlock(e->lock);
    from->text = from->first;
    from->n = 0;
}

EvalStatus evl_leave(evl_entry *entry, EvalStatus st)
{
    if (st != EVAL_OK && entry->ctx.error.n)
        keep_error(entry->e, &entry->ctx.error);
    evl_context_end(&entry->ctx);
    evl_float_leave(&entry->found);
    errno = entry->saved_errno;
    if (entry->is_exclusive)
        atomic_flag_clear(&entry->e->is_busy);
    return st;
}

const char *evl_evaluator_last_error(evl_evaluator *e)
{
    evl_mutex_lock(e->lock);
    const char *text = e->error.text ? e->error.text : "";
    evl_mutex_unlock(e->lock);
    return text;
}

EvalStatus evl_evaluator_model(evl_context *ctx, evl_evaluator *e, evl_model **model)
{
    evl_mutex_lock(e->lock);
    *model = e->model ? evl_model_use(e->model) : NULL;
    evl_mutex_unlock(e->lock);
    if (*model)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_STATE, "no network yet: call CreateNetwork first");
}

/* CNTK's programs pass a path here: a text without '=' says nothing. */
EvalStatus evl_evaluator_init(evl_context *ctx, evl_evaluator *e, const char *config)
{
    evl_settings settings;
    evl_config *parsed;
    if (!config || !strchr(config, '='))
        return EVAL_OK;
    evl_arena *arena = evl_arena_new(ctx->memory);
    if (!arena)
        return evl_no_memory(ctx);
    char *text = copy_text(ctx->memory, config);
    EvalStatus st = text ? evl_config_parse(ctx, arena, config, NULL, &parsed) : evl_no_memory(ctx);
    if (st == EVAL_OK)
        st = evl_settings_read(ctx, parsed, &settings);
    evl_arena_free(arena);
    if (st != EVAL_OK) {
        evl_release(ctx->memory, text);
        return st;
    }
    evl_release(ctx->memory, e->init);
    e->init = text;
    return EVAL_OK;
}

/* The description over the text of Init. */
static EvalStatus read_settings(evl_context *ctx, evl_arena *arena, const evl_evaluator *e,
                                const char *description, bool is_given, evl_settings *settings)
{
    evl_config *init = NULL, *config;
    EvalStatus st = e->init ? evl_config_parse(ctx, arena, e->init, NULL, &init) : EVAL_OK;
    if (st == EVAL_OK)
        st = evl_config_parse(ctx, arena, description, init, &config);
    if (st == EVAL_OK)
        st = evl_settings_read(ctx, config, settings);
    if (st != EVAL_OK)
        return st;
    bool is_named = settings->model_path && *settings->model_path;
    if (!is_given && !is_named && !settings->description)
        st = evl_fail(ctx, EVAL_ERR_ARGUMENT,
                      "required parameter missing: modelPath=\"...\" names the model's file");
    if (is_given && settings->model_path)
        st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "modelPath=%s, but the model is given: leave it out",
                      settings->model_path);
    return st;
}

static EvalStatus replace_network(evl_context *ctx, evl_evaluator *e, evl_model *model)
{
    evl_states states;
    EvalStatus st = evl_states_new(ctx, model->graph->n_states, &states);
    if (st != EVAL_OK)
        return st;
    evl_made_free_all(e, &e->evaluated);
    evl_forward_end(e);
    evl_states_free(&e->states);
    e->states = states;
    evl_mutex_lock(e->lock);
    evl_model *old = e->model;
    e->model = model;
    evl_mutex_unlock(e->lock);
    evl_model_release(old);
    return EVAL_OK;
}

static EvalStatus create(evl_context *ctx, evl_arena *arena, evl_evaluator *e,
                         const char *description, const evl_source *given)
{
    evl_settings settings;
    evl_model *model;
    evl_plugin_list plugins = { 0 };
    EvalStatus st = read_settings(ctx, arena, e, description, given, &settings);
    if (st != EVAL_OK)
        return st;
    evl_source source = given ? *given : (evl_source){ .path = settings.model_path };
    source.may_map = settings.may_map;
    size_t cap = e->home->memory.cap;
    e->home->memory.cap = (size_t)settings.most_memory;
    ctx->limits = &settings.limits;
    st = evl_plugin_list_all(ctx, e, &settings, &plugins);
    if (st == EVAL_OK)
        st = evl_model_load(ctx, e->precision, &settings, &source, &plugins, &model);
    evl_plugin_list_free(ctx->memory, &plugins);
    if (st == EVAL_OK) {
        st = replace_network(ctx, e, model);
        if (st != EVAL_OK)
            evl_model_release(model);
    }
    if (st != EVAL_OK)
        e->home->memory.cap = cap;
    ctx->limits = &evl_default_limits;
    return st;
}

EvalStatus evl_evaluator_create(evl_context *ctx, evl_evaluator *e, const char *description,
                                const evl_source *given)
{
    if (!description)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the description is NULL");
    evl_arena *arena = evl_arena_new(ctx->memory);
    if (!arena)
        return evl_no_memory(ctx);
    EvalStatus st = create(ctx, arena, e, description, given);
    evl_arena_free(arena);
    return st;
}

/* What the old home holds is the object's lock and Init's text: they move. */
EvalStatus evl_evaluator_set_allocator(evl_context *ctx, evl_evaluator *e,
                                       const EvalAllocator *allocator)
{
    if (e->model || e->made || e->plugins.n || atomic_load(&e->home->users) != 1)
        return evl_fail(ctx, EVAL_ERR_STATE, "the allocator is set before CreateNetwork and before plug-ins");
    if (allocator && (allocator->size < sizeof *allocator || !allocator->allocate ||
                      !allocator->release))
        return evl_fail(ctx, EVAL_ERR_ARGUMENT,
                        "an allocator needs size, allocate and release (size %zu, expected %zu)",
                        allocator->size, sizeof *allocator);
    evl_home *home = new_home(allocator), *old = e->home;
    evl_mutex *lock = home ? evl_mutex_new(&home->memory) : NULL;
    char *init = lock && e->init ? copy_text(&home->memory, e->init) : NULL;
    if (!lock || (e->init && !init)) {
        evl_mutex_free(lock);
        leave_home(home);
        return evl_no_memory(ctx);
    }
    evl_release(&old->memory, e->init);
    drop_error(&e->error);
    evl_mutex_free(e->lock);
    e->home = home;
    e->lock = lock;
    e->init = init;
    ctx->memory = ctx->error.memory = &home->memory;
    leave_home(old);
    return EVAL_OK;
}

EvalStatus evl_evaluator_memory_use(evl_context *ctx, evl_evaluator *e, EvalMemoryUse *use)
{
    if (!use || use->size < sizeof *use)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "use->size is to be sizeof(EvalMemoryUse), %zu",
                        sizeof *use);
    evl_memory *m = &e->home->memory;
    use->bytes = atomic_load(&m->bytes);
    use->peakBytes = atomic_load(&m->peak_bytes);
    use->blocks = atomic_load(&m->blocks);
    use->mappedBytes = atomic_load(&m->mapped_bytes);
    use->planBytes = 0;
    evl_mutex_lock(e->lock);
    if (e->model) {
        evl_mutex_lock(e->model->plans.lock);
        use->planBytes = e->model->plans.largest_block;
        evl_mutex_unlock(e->model->plans.lock);
    }
    evl_mutex_unlock(e->lock);
    return EVAL_OK;
}

EvalStatus evl_evaluator_save(evl_context *ctx, evl_evaluator *e, const char *path)
{
    evl_model *m;
    if (!path || !*path)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the path to save to is NULL or empty");
    EvalStatus st = evl_evaluator_model(ctx, e, &m);
    if (st != EVAL_OK)
        return st;
    evl_mutex_lock(m->plans.lock); /* clones may save too */
    evl_saving saving = { m->machine.real, &m->plans.env, m->settings.saves_simplified };
    st = evl_write_onnx(ctx, m->graph, &saving, path);
    evl_mutex_unlock(m->plans.lock);
    evl_model_release(m);
    return st;
}
