/* Evaluate: flat vectors in and out, with the state of recurrences carried on.
**
** How many samples a vector holds follows from its length. CNTK's nodes take all of
** them as the frames of one sequence. Of other models an unknown first axis counts
** them; without one they are run one by one. */
#include "api/perform.h"
#include "ir/nested.h"
#include <string.h>

typedef struct call {
    evl_job job;
    const evl_flat *in;
    evl_flat *out;
    EvalType real;
    size_t n_runs; /* samples that are run one by one; 0: no input says so yet */
} call;

static EvalStatus bad_length(evl_context *ctx, const evl_flat *in, size_t size)
{
    return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %zu values are no multiple of the node's size, %zu",
                    in->name, in->count, size);
}

/* The one unknown dimension, whose size the length tells; -1: all are known, -2: several. */
static int32_t open_axis(const evl_shape *s)
{
    int32_t open = -1;
    for (int32_t i = 0; i < s->rank; i++)
        if (s->dim[i] < 0) {
            if (open >= 0)
                return -2;
            open = i;
        }
    return open;
}

static EvalStatus take_open(evl_context *ctx, const evl_flat *in, evl_feed *f, int32_t axis)
{
    evl_shape rest = f->value->t.shape;
    rest.dim[axis] = 1;
    size_t size = evl_shape_count(&rest);
    if (size == 0 ? in->count != 0 : in->count % size != 0)
        return bad_length(ctx, in, size);
    f->shape = f->value->t.shape;
    f->shape.dim[axis] = (int64_t)(size ? in->count / size : 0);
    return EVAL_OK;
}

static EvalStatus take_fixed(evl_context *ctx, call *c, const evl_flat *in, evl_feed *f)
{
    f->shape = f->value->t.shape;
    size_t size = evl_shape_count(&f->shape);
    if (size == 0 ? in->count != 0 : in->count == 0 || in->count % size != 0)
        return bad_length(ctx, in, size);
    size_t n = size ? in->count / size : 1;
    if (c->n_runs && c->n_runs != n)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %zu samples, and another input %zu", in->name, n,
                        c->n_runs);
    c->n_runs = n;
    return EVAL_OK;
}

static EvalStatus take_shape(evl_context *ctx, call *c, const evl_flat *in, evl_feed *f)
{
    char text[EVL_SHAPE_TEXT];
    const evl_shape *s = &f->value->t.shape;
    int32_t axis = open_axis(s);
    if (s->rank < 0 || axis == -2)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "'%s': its shape %s has several unknown sizes: use Run, which takes shapes",
                        in->name, evl_shape_text(s, text));
    return axis >= 0 ? take_open(ctx, in, f, axis) : take_fixed(ctx, c, in, f);
}

/* Frames must agree between CNTK's inputs of one axis, as CNTK asks. */
static EvalStatus check_frames(evl_context *ctx, const call *c, const evl_flat *in, size_t i)
{
    const evl_feed *f = &c->job.feeds[i];
    for (size_t j = 0; j < i; j++) {
        const evl_feed *other = &c->job.feeds[j];
        if (!evl_frames_agree(f, other))
            return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %lld samples, and '%s' %lld", in[i].name,
                            (long long)f->shape.dim[0], in[j].name, (long long)other->shape.dim[0]);
        if (f->value == other->value)
            return evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s' is given twice", in[i].name);
    }
    return EVAL_OK;
}

static EvalStatus take_input(evl_context *ctx, call *c, const evl_flat *in, size_t i)
{
    evl_feed *f = &c->job.feeds[i];
    EvalStatus st = evl_find_value(ctx, c->job.model->graph, in[i].name, &f->value);
    if (st == EVAL_OK && !in[i].in && in[i].count)
        st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s': its data is NULL", in[i].name);
    EvalType type = st == EVAL_OK ? f->value->t.type : EVAL_UNDEFINED;
    if (type == EVAL_STRING || evl_type_is_nested(type))
        st = evl_fail(ctx, EVAL_ERR_TYPE, "'%s' takes a value of type %s: use Run", in[i].name,
                      evl_type_name(type));
    if (st == EVAL_OK)
        st = take_shape(ctx, c, &in[i], f);
    if (st != EVAL_OK)
        return st;
    f->type = c->real;
    f->data = in[i].in;
    return check_frames(ctx, c, in, i);
}

static EvalStatus take_output(evl_context *ctx, call *c, const evl_flat *out, size_t i)
{
    evl_fetch *f = &c->job.fetches[i];
    *f = (evl_fetch){ .type = c->real,
                      .any_to_float = true,
                      .data = out[i].out,
                      .bytes = out[i].capacity * evl_type_size(c->real) };
    return evl_find_value(ctx, c->job.model->graph, out[i].name, &f->value);
}

/* Feeds of one of several runs: an unknown first axis is shared out between them. */
static EvalStatus split_feeds(evl_context *ctx, call *c)
{
    for (size_t i = 0; i < c->job.n_feeds; i++) {
        evl_feed *f = &c->job.feeds[i];
        int32_t axis = open_axis(&f->value->t.shape);
        if (axis < 0)
            continue;
        if (f->shape.dim[axis] % (int64_t)c->n_runs)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %lld samples do not divide over %zu runs",
                            f->value->name, (long long)f->shape.dim[axis], c->n_runs);
        f->shape.dim[axis] /= (int64_t)c->n_runs;
    }
    return EVAL_OK;
}

/* Room for all runs; out[i].count becomes the elements of all. */
static EvalStatus make_room(evl_context *ctx, call *c, evl_flat *out)
{
    evl_job *job = &c->job;
    size_t size = evl_type_size(c->real);
    bool is_short = false;
    for (size_t i = 0; i < job->n_fetches; i++)
        job->fetches[i].data = NULL;
    EvalStatus st = evl_measure(ctx, job);
    for (size_t i = 0; i < job->n_fetches && st == EVAL_OK; i++) {
        if (!evl_shape_is_known(&job->fetches[i].shape))
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "'%s': its size depends on the data: give one sample at a time",
                            out[i].name);
        out[i].count = job->fetches[i].bytes / size * c->n_runs;
        is_short |= out[i].out && out[i].count > out[i].capacity;
    }
    if (st == EVAL_OK && is_short)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "an output's buffer is too small: see its count");
    for (size_t i = 0; i < job->n_fetches && st == EVAL_OK; i++)
        if (!out[i].out)
            st = evl_made_new(ctx, job->e, job->list, out[i].count * size, &out[i].out);
    return st;
}

static EvalStatus run_one_by_one(evl_context *ctx, call *c, evl_flat *out)
{
    evl_job *job = &c->job;
    EvalStatus st = split_feeds(ctx, c);
    if (st == EVAL_OK)
        st = make_room(ctx, c, out);
    for (size_t run = 0; run < c->n_runs && st == EVAL_OK; run++) {
        for (size_t i = 0; i < job->n_fetches; i++)
            job->fetches[i].data = (char *)out[i].out + run * job->fetches[i].bytes;
        st = evl_perform(ctx, job);
        for (size_t i = 0; i < job->n_feeds; i++)
            job->feeds[i].data = (const char *)job->feeds[i].data +
                                 evl_shape_count(&job->feeds[i].shape) * evl_type_size(c->real);
    }
    return st;
}

static EvalStatus run_at_once(evl_context *ctx, call *c, evl_flat *out)
{
    evl_job *job = &c->job;
    EvalStatus st = evl_perform(ctx, job);
    for (size_t i = 0; i < job->n_fetches && (st == EVAL_OK || st == EVAL_ERR_LIMIT); i++) {
        out[i].count = job->fetches[i].bytes / evl_type_size(c->real);
        if (st == EVAL_OK)
            out[i].out = job->fetches[i].data;
    }
    return st;
}

static EvalStatus evaluate(evl_context *ctx, evl_job *job)
{
    call *c = (call *)job; /* its first member */
    const evl_flat *in = c->in;
    evl_flat *out = c->out;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < job->n_feeds && st == EVAL_OK; i++)
        st = take_input(ctx, c, in, i);
    for (size_t i = 0; i < job->n_fetches && st == EVAL_OK; i++)
        st = take_output(ctx, c, out, i);
    if (st != EVAL_OK)
        return st;
    evl_states_begin(job->states);
    return c->n_runs > 1 ? run_one_by_one(ctx, c, out) : run_at_once(ctx, c, out);
}

EvalStatus evl_evaluate_with(evl_context *ctx, evl_evaluator *e, evl_states *states,
                             const evl_flat *in, size_t n_in, evl_flat *out, size_t n_out)
{
    call c = { .job = { .e = e, .n_feeds = n_in, .n_fetches = n_out, .states = states,
                        .list = &e->evaluated },
               .in = in,
               .out = out };
    EvalStatus st = evl_evaluator_model(ctx, e, &c.job.model);
    if (st != EVAL_OK)
        return st;
    c.real = c.job.model->machine.real;
    st = evl_with_room(ctx, &c.job, evaluate);
    evl_model_release(c.job.model);
    return st;
}

EvalStatus evl_evaluator_evaluate(evl_context *ctx, evl_evaluator *e, const evl_flat *in,
                                  size_t n_in, evl_flat *out, size_t n_out)
{
    evl_made_free_all(e, &e->evaluated);
    EvalStatus st = evl_evaluate_with(ctx, e, &e->states, in, n_in, out, n_out);
    if (st == EVAL_OK)
        evl_states_swap(&e->states);
    return st;
}

EvalStatus evl_evaluator_reset(evl_context *ctx, evl_evaluator *e)
{
    if (!e->model)
        return evl_fail(ctx, EVAL_ERR_STATE, "no network yet: call CreateNetwork first");
    evl_states_reset(&e->states);
    return EVAL_OK;
}
