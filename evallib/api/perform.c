#include "api/perform.h"
#include "api/door.h"
#include "api/nested.h"
#include <string.h>

/* A job while it runs. */
typedef struct running {
    evl_context *ctx;
    evl_job *job;
    evl_cached_plan *cached;
    evl_plan *plan;
    evl_session *session;
    evl_arena *arena; /* for nested inputs; NULL: there is none */
} running;

EvalStatus evl_find_value(evl_context *ctx, const evl_graph *g, const char *name, evl_value **v)
{
    *v = name ? evl_graph_find_node(g, name) : NULL;
    if (*v)
        return EVAL_OK;
    return name ? evl_graph_not_found(ctx, g, name)
                : evl_fail(ctx, EVAL_ERR_ARGUMENT, "a name is NULL");
}

bool evl_frames_agree(const evl_feed *a, const evl_feed *b)
{
    uint8_t axis = a->value->frames_axis, other = b->value->frames_axis;
    int64_t n = a->shape.dim[0], n_other = b->shape.dim[0];
    if (!a->value->has_frames || !b->value->has_frames || n == n_other)
        return true;
    return axis != other && (axis != EVL_FRAMES_SINGLE || n == 1) &&
           (other != EVL_FRAMES_SINGLE || n_other == 1);
}

typedef struct key_arrays {
    evl_value *given[EVL_FEW], *asked[EVL_FEW];
    evl_tensor given_t[EVL_FEW];
} key_arrays;

/* As the plan will see a feed: a floating-point value may be meant for an integer input. */
static void planned_type(const evl_model *m, const evl_feed *f, evl_tensor *t)
{
    const evl_tensor *declared = &f->value->t;
    if (evl_type_is_nested(f->type) && declared->type == EVAL_UNDEFINED)
        evl_nested_type(f->data, t);
    else
        evl_type_copy(declared, t);
    if (t->type == EVAL_UNDEFINED)
        t->type = f->type;
    evl_type_make_real(t, m->machine.real);
}

static EvalStatus get_plan_with(running *r, evl_value **given, evl_tensor *given_t,
                                evl_value **asked)
{
    evl_job *job = r->job;
    for (size_t i = 0; i < job->n_feeds; i++) {
        given[i] = job->feeds[i].value;
        planned_type(job->model, &job->feeds[i], &given_t[i]);
        given_t[i].life = EVL_LIFE_RUN;
        given_t[i].shape = job->feeds[i].shape;
        given_t[i].data = NULL;
    }
    for (size_t i = 0; i < job->n_fetches; i++)
        asked[i] = job->fetches[i].value;
    evl_selection key = { given, given_t, job->n_feeds, asked, job->n_fetches };
    EvalStatus st = evl_plan_cache_get(r->ctx, &job->model->plans, &key, &r->cached);
    if (st == EVAL_OK)
        r->plan = r->cached->plan;
    return st;
}

static EvalStatus get_plan(running *r)
{
    size_t n_feeds = r->job->n_feeds, n_fetches = r->job->n_fetches;
    if (n_feeds <= EVL_FEW && n_fetches <= EVL_FEW) {
        key_arrays few;
        return get_plan_with(r, few.given, few.given_t, few.asked);
    }
    evl_arena *arena = evl_arena_new(r->ctx->memory);
    if (!arena)
        return evl_no_memory(r->ctx);
    evl_value **given = evl_arena_take_many(arena, n_feeds + 1, sizeof *given);
    evl_value **asked = evl_arena_take_many(arena, n_fetches + 1, sizeof *asked);
    evl_tensor *given_t = evl_arena_take_many(arena, n_feeds + 1, sizeof *given_t);
    EvalStatus st = given && asked && given_t ? get_plan_with(r, given, given_t, asked)
                                              : evl_no_memory(r->ctx);
    evl_arena_free(arena);
    return st;
}

/* The type in which a fetch leaves. */
static EvalStatus choose_type(running *r, evl_fetch *f, EvalType stored)
{
    EvalType wanted = f->type;
    if (wanted == EVAL_UNDEFINED || wanted == stored)
        f->type = stored;
    else if (!evl_type_is_float(wanted) || stored == EVAL_STRING || evl_type_is_nested(stored) ||
             !(evl_type_is_float(stored) || evl_type_is_small_float(stored) || f->any_to_float))
        return evl_fail(r->ctx, EVAL_ERR_TYPE, "output '%s' is of type %s and cannot be given as %s",
                        f->value->name, evl_type_name(stored), evl_type_name(wanted));
    return EVAL_OK;
}

/* Type, shape and needed bytes. */
static EvalStatus measure(running *r, evl_fetch *f, const evl_tensor *t, bool *is_short)
{
    EvalStatus st = choose_type(r, f, t->type);
    if (st != EVAL_OK)
        return st;
    f->shape = t->shape;
    if (!evl_shape_is_known(&t->shape))
        return EVAL_OK;
    if (!evl_type_is_nested(f->type))
        f->bytes = evl_door_bytes(f->type, evl_shape_count(&t->shape));
    else if (!evl_nested_out_bytes(t, &f->bytes))
        return evl_no_memory(r->ctx);
    *is_short |= f->data && !f->is_made && f->bytes > f->capacity;
    return EVAL_OK;
}

static EvalStatus too_short(running *r)
{
    evl_fail(r->ctx, EVAL_ERR_LIMIT, "an output's buffer is too small; bytes needed:");
    for (size_t i = 0; i < r->job->n_fetches; i++)
        evl_fail_more(r->ctx, "\n%s: %zu", r->job->fetches[i].value->name, r->job->fetches[i].bytes);
    return EVAL_ERR_LIMIT;
}

static EvalStatus measure_planned(running *r)
{
    bool is_short = false;
    for (size_t i = 0; i < r->job->n_fetches; i++) {
        r->job->fetches[i].capacity = r->job->fetches[i].bytes;
        EvalStatus st = measure(r, &r->job->fetches[i], &r->plan->slots[r->plan->outputs[i]].t,
                                &is_short);
        if (st != EVAL_OK)
            return st;
    }
    return is_short ? too_short(r) : EVAL_OK;
}

static bool is_aligned(const void *data, EvalType type)
{
    size_t size = evl_type_size(type);
    return (uintptr_t)data % (size > 8 || size == 0 ? 8 : size) == 0;
}

static EvalStatus bind_nested(running *r, size_t i, const evl_tensor *t)
{
    evl_tensor value;
    const evl_feed *f = &r->job->feeds[i];
    if (!r->arena && !(r->arena = evl_arena_new(r->ctx->memory)))
        return evl_no_memory(r->ctx);
    EvalStatus st =
        evl_nested_in(r->ctx, r->arena, r->job->model->machine.real, f->data, t, &value);
    if (st == EVAL_OK)
        evl_session_input_value(r->session, i, &value);
    return st;
}

static EvalStatus bind_input(running *r, size_t i)
{
    const evl_feed *f = &r->job->feeds[i];
    evl_slot_index slot = r->plan->inputs[i];
    const evl_tensor *t = &r->plan->slots[slot].t;
    if (evl_type_is_nested(t->type))
        return bind_nested(r, i, t);
    if (f->type == t->type && !evl_door_is_packed(f->type) && is_aligned(f->data, f->type)) {
        evl_session_input(r->session, i, f->data);
        return EVAL_OK;
    }
    EvalStatus st = evl_session_own(r->session, r->ctx, slot, t);
    if (st == EVAL_OK)
        st = evl_door_in(r->ctx, evl_shape_count(&t->shape), f->type, f->data, t->type,
                         r->session->own[slot]);
    if (st == EVAL_OK)
        evl_session_input(r->session, i, r->session->own[slot]);
    else
        evl_fail_at(r->ctx, "input '%s': ", f->value->name);
    return st;
}

static EvalStatus make(running *r, evl_fetch *f)
{
    EvalStatus st = evl_made_new(r->ctx, r->job->e, r->job->list, f->bytes, &f->data);
    f->is_made = st == EVAL_OK;
    return st;
}

/* Straight to the caller where the step's type is the caller's, else by way of the session. */
static EvalStatus bind_output(running *r, size_t i)
{
    evl_fetch *f = &r->job->fetches[i];
    evl_slot_index slot = r->plan->outputs[i];
    const evl_tensor *t = &r->plan->slots[slot].t;
    EvalStatus st = EVAL_OK;
    if (!evl_session_has_place(r->plan, i))
        return EVAL_OK;
    bool is_direct = f->type == t->type && !evl_door_is_packed(f->type) && f->type != EVAL_STRING;
    if (is_direct && !f->data)
        st = make(r, f);
    if (st == EVAL_OK && is_direct && is_aligned(f->data, f->type)) {
        evl_session_output(r->session, i, f->data);
        return EVAL_OK;
    }
    if (st == EVAL_OK)
        st = evl_session_own(r->session, r->ctx, slot, t);
    if (st == EVAL_OK)
        evl_session_output(r->session, i, r->session->own[slot]);
    return st;
}

static EvalStatus bind(running *r)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < r->job->n_feeds && st == EVAL_OK; i++)
        st = bind_input(r, i);
    for (size_t i = 0; i < r->job->n_fetches && st == EVAL_OK; i++)
        st = bind_output(r, i);
    return st;
}

/* Copies strings with their texts behind the array. */
static void copy_strings(const EvalString *from, size_t n, void *data)
{
    EvalString *to = data;
    size_t at = n * sizeof *from;
    for (size_t i = 0; i < n; i++) {
        char *text = (char *)data + at;
        if (from[i].size)
            memcpy(text, from[i].text, from[i].size);
        text[from[i].size] = '\0';
        to[i] = (EvalString){ text, from[i].size };
        at += from[i].size + 1;
    }
}

/* Values of bodies, and what was in others, are copied with their texts into the session. */
static bool copies_texts(const evl_plan *p)
{
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].n_bodies)
            return true;
    for (size_t i = 0; i < p->n_slots; i++)
        if (evl_type_is_nested(p->slots[i].t.type))
            return true;
    return false;
}

static bool are_texts_of_session(const running *r)
{
    const evl_arena *made = r->session->texts;
    return (made && !evl_arena_is_empty(made)) || copies_texts(r->plan);
}

/* Texts may belong to the model or to the caller's inputs: a made copy has its own, and so has
** the caller's memory when they may be the session's. */
static EvalStatus deliver_strings(running *r, evl_fetch *f, const evl_tensor *t, bool *is_short)
{
    const EvalString *from = t->data;
    size_t n = evl_shape_count(&t->shape), bytes = n * sizeof *from;
    for (size_t i = 0; i < n; i++)
        bytes += from[i].size + 1;
    if (f->data && !are_texts_of_session(r)) {
        memcpy(f->data, from, n * sizeof *from);
        return EVAL_OK;
    }
    if (f->data)
        f->bytes = bytes;
    *is_short |= f->data && bytes > f->capacity;
    if (*is_short)
        return EVAL_OK;
    if (!f->data) {
        EvalStatus st = evl_made_new(r->ctx, r->job->e, r->job->list, bytes, &f->data);
        if (st != EVAL_OK)
            return st;
        f->is_made = true;
    }
    copy_strings(from, n, f->data);
    return EVAL_OK;
}

/* What the run gave. Where an optional was planned it may be what that would hold. */
static const evl_tensor *result_of(const running *r, size_t i, evl_tensor *around)
{
    const evl_tensor *t = evl_session_result(r->session, i);
    if (r->plan->slots[r->plan->outputs[i]].t.type != EVAL_OPTIONAL || t->type == EVAL_OPTIONAL ||
        !evl_nested_around(EVAL_OPTIONAL, t, around))
        return t;
    union {
        const evl_tensor *given;
        void *read;
    } inside = { t };
    around->data = inside.read;
    around->shape.dim[0] = 1;
    return around;
}

static EvalStatus deliver(running *r, size_t i, bool *is_short)
{
    evl_fetch *f = &r->job->fetches[i];
    evl_tensor around = { .life = EVL_LIFE_RUN };
    const evl_tensor *t = result_of(r, i, &around);
    if (t->type == EVAL_STRING)
        return deliver_strings(r, f, t, is_short);
    EvalStatus st = f->data ? EVAL_OK : make(r, f);
    if (st == EVAL_OK && evl_type_is_nested(t->type))
        st = evl_nested_out(r->ctx, t, f->data);
    else if (st == EVAL_OK && t->data != f->data)
        st = evl_door_out(r->ctx, evl_shape_count(&t->shape), t->type, t->data, f->type, f->data);
    if (st != EVAL_OK)
        evl_fail_at(r->ctx, "output '%s': ", f->value->name);
    return st;
}

/* Shapes that the run decided are known now. */
static EvalStatus deliver_all(running *r)
{
    bool is_short = false;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < r->job->n_fetches && st == EVAL_OK; i++) {
        evl_fetch *f = &r->job->fetches[i];
        evl_tensor around = { .life = EVL_LIFE_RUN };
        if (!evl_shape_is_known(&r->plan->slots[r->plan->outputs[i]].t.shape))
            st = measure(r, f, result_of(r, i, &around), &is_short);
    }
    if (st == EVAL_OK && is_short)
        return too_short(r);
    for (size_t i = 0; i < r->job->n_fetches && st == EVAL_OK; i++)
        st = deliver(r, i, &is_short);
    return st == EVAL_OK && is_short ? too_short(r) : st;
}

static EvalStatus run(running *r)
{
    evl_session *s = r->session;
    if (s->texts)
        evl_arena_reset(s->texts);
    EvalStatus st = bind(r);
    if (st != EVAL_OK)
        return st;
    evl_session_carry(s, r->job->states);
    s->stop = r->job->options.stop;
    s->step = r->job->options.step;
    s->user = r->job->options.user;
    st = evl_session_run(s, r->ctx);
    return st == EVAL_OK ? deliver_all(r) : st;
}

static void unmake(evl_job *job)
{
    for (size_t i = 0; i < job->n_fetches; i++)
        if (job->fetches[i].is_made) {
            evl_made_free(job->e, job->list, job->fetches[i].data);
            job->fetches[i].data = NULL;
            job->fetches[i].is_made = false;
        }
}

static EvalStatus work_with_room(evl_context *ctx, evl_job *job,
                                 EvalStatus (*work)(evl_context *, evl_job *))
{
    if (job->n_feeds <= EVL_FEW && job->n_fetches <= EVL_FEW) {
        evl_feed feeds[EVL_FEW];
        evl_fetch fetches[EVL_FEW];
        job->feeds = feeds;
        job->fetches = fetches;
        return work(ctx, job);
    }
    evl_arena *arena = evl_arena_new(ctx->memory);
    if (!arena)
        return evl_no_memory(ctx);
    job->feeds = evl_arena_take_many(arena, job->n_feeds + 1, sizeof *job->feeds);
    job->fetches = evl_arena_take_many(arena, job->n_fetches + 1, sizeof *job->fetches);
    EvalStatus st = job->feeds && job->fetches ? work(ctx, job) : evl_no_memory(ctx);
    evl_arena_free(arena);
    return st;
}

EvalStatus evl_with_room(evl_context *ctx, evl_job *job,
                         EvalStatus (*work)(evl_context *, evl_job *))
{
    ctx->limits = &job->model->settings.limits;
    EvalStatus st = work_with_room(ctx, job, work);
    ctx->limits = &evl_default_limits;
    return st;
}

EvalStatus evl_measure(evl_context *ctx, evl_job *job)
{
    running r = { .ctx = ctx, .job = job };
    EvalStatus st = get_plan(&r);
    if (st != EVAL_OK)
        return st;
    st = measure_planned(&r);
    evl_plan_cache_release(&job->model->plans, r.cached);
    return st;
}

EvalStatus evl_perform(evl_context *ctx, evl_job *job)
{
    running r = { .ctx = ctx, .job = job };
    EvalStatus st = get_plan(&r);
    if (st != EVAL_OK)
        return st;
    st = measure_planned(&r);
    if (st == EVAL_OK)
        st = evl_session_take(ctx, r.plan, &r.session);
    if (st == EVAL_OK) {
        st = run(&r);
        evl_session_give(r.plan, r.session);
    }
    if (st != EVAL_OK)
        unmake(job);
    evl_arena_free(r.arena);
    evl_plan_cache_release(&job->model->plans, r.cached);
    return st;
}
