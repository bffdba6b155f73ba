/* Run: typed tensors in and out, from any number of threads. */
#include "api/nested.h"
#include "api/perform.h"
#include <string.h>

/* A call's tensors as feeds and fetches. */
typedef struct call {
    evl_job job;
    const EvalTensor *in;
    EvalTensor *out;
    size_t n_sequences; /* of a CNTK network given [sequences, frames, ...]; 0: one leading axis */
    bool has_frames;    /* some input has */
} call;

static EvalStatus check_tensor(evl_context *ctx, const EvalTensor *t)
{
    if (!t->name)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "a tensor's name is NULL");
    if (t->rank < 0 || t->rank > EVAL_MAX_RANK)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s': rank %d is not in 0 .. %d", t->name,
                        (int)t->rank, EVAL_MAX_RANK);
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': dimension %d is negative", t->name, (int)i);
    if (evl_type_size(t->type) == 0)
        return evl_fail(ctx, EVAL_ERR_TYPE, "'%s': type %d is no type of tensor elements", t->name,
                        (int)t->type);
    return EVAL_OK;
}

static EvalStatus check_bytes(evl_context *ctx, const EvalTensor *t, const evl_shape *shape)
{
    char text[EVL_SHAPE_TEXT];
    EvalStatus st = evl_shape_check(ctx, shape, evl_type_size(t->type));
    if (st != EVAL_OK)
        return st;
    size_t needed = evl_door_bytes(t->type, evl_shape_count(shape));
    if (t->bytes != needed)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %zu bytes, expected %zu for shape %s of %s",
                        t->name, t->bytes, needed, evl_shape_text(shape, text),
                        evl_type_name(t->type));
    if (!t->data && needed)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s': its data is NULL", t->name);
    return EVAL_OK;
}

static EvalStatus check_type(evl_context *ctx, const EvalTensor *t, EvalType declared)
{
    bool both_float = (evl_type_is_float(declared) || evl_type_is_small_float(declared)) &&
                      evl_type_is_float(t->type);
    if (declared == EVAL_UNDEFINED || declared == t->type || both_float)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_TYPE, "'%s': elements of type %s, expected %s", t->name,
                    evl_type_name(t->type), evl_type_name(declared));
}

static EvalStatus wrong_shape(evl_context *ctx, const EvalTensor *t, const evl_shape *expected)
{
    char text[EVL_SHAPE_TEXT], text_expected[EVL_SHAPE_TEXT];
    evl_shape given = evl_shape_of((size_t)t->rank, t->dims);
    return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': shape %s, expected %s", t->name,
                    evl_shape_text(&given, text), evl_shape_text(expected, text_expected));
}

static bool fits(const int64_t *dims, const int64_t *expected, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (expected[i] >= 0 && dims[i] != expected[i])
            return false;
    return true;
}

/* [frames, size] for samples of a size that is known. */
static bool is_flat(const EvalTensor *t, const evl_shape *expected)
{
    for (int32_t i = 1; i < expected->rank; i++)
        if (expected->dim[i] < 0)
            return false;
    return t->rank == 2 &&
           t->dims[1] == (int64_t)evl_shape_count_part(expected, 1, expected->rank);
}

/* [frames, ...], [sequences, frames, ...] or flat [frames, size]. */
static EvalStatus take_frames(evl_context *ctx, call *c, const EvalTensor *t, evl_feed *f)
{
    const evl_shape *expected = &f->value->t.shape;
    int32_t sample = expected->rank - 1;
    int64_t n_frames, n_sequences = 0;
    if (t->rank == sample + 2 && fits(t->dims + 2, expected->dim + 1, sample)) {
        n_sequences = t->dims[0];
        n_frames = t->dims[1];
        if (n_sequences == 0)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': no sequence", t->name);
    } else if (is_flat(t, expected) ||
               (t->rank == sample + 1 && fits(t->dims + 1, expected->dim + 1, sample))) {
        n_frames = t->dims[0];
    } else {
        return wrong_shape(ctx, t, expected);
    }
    if (c->has_frames && c->n_sequences != (size_t)n_sequences)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %lld sequences, and another input %zu", t->name,
                        (long long)n_sequences, c->n_sequences);
    c->has_frames = true;
    c->n_sequences = (size_t)n_sequences;
    f->shape = *expected;
    f->shape.dim[0] = n_frames;
    for (int32_t i = 1; i <= sample; i++)
        if (expected->dim[i] < 0)
            f->shape.dim[i] = t->dims[t->rank - 1 - sample + i];
    return EVAL_OK;
}

static EvalStatus take_shape(evl_context *ctx, call *c, const EvalTensor *t, evl_feed *f)
{
    const evl_shape *expected = &f->value->t.shape;
    if (f->value->has_frames && expected->rank > 0)
        return take_frames(ctx, c, t, f);
    f->shape = evl_shape_of((size_t)t->rank, t->dims);
    if (expected->rank >= 0 &&
        (expected->rank != t->rank || !fits(t->dims, expected->dim, t->rank)))
        return wrong_shape(ctx, t, expected);
    return EVAL_OK;
}

/* The plan is for any number of elements. */
static EvalStatus take_nested(evl_context *ctx, const EvalTensor *t, evl_feed *f)
{
    f->type = t->type;
    f->data = t;
    f->shape = evl_shape_of(1, (int64_t[]){ EVL_UNKNOWN_DIM });
    return evl_nested_check(ctx, t->name, t, &f->value->t);
}

static EvalStatus take_input(evl_context *ctx, call *c, const EvalTensor *in, size_t i)
{
    evl_feed *f = &c->job.feeds[i];
    bool is_nested = evl_type_is_nested(in[i].type);
    EvalStatus st = is_nested && in[i].name ? EVAL_OK : check_tensor(ctx, &in[i]);
    if (st == EVAL_OK)
        st = evl_find_value(ctx, c->job.model->graph, in[i].name, &f->value);
    for (size_t j = 0; j < i && st == EVAL_OK; j++)
        if (c->job.feeds[j].value == f->value)
            st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s' is given twice", in[i].name);
    if (st == EVAL_OK && (is_nested || evl_type_is_nested(f->value->t.type)))
        return take_nested(ctx, &in[i], f);
    if (st == EVAL_OK)
        st = check_type(ctx, &in[i], f->value->t.type);
    if (st == EVAL_OK)
        st = take_shape(ctx, c, &in[i], f);
    for (size_t j = 0; j < i && st == EVAL_OK; j++)
        if (!evl_frames_agree(f, &c->job.feeds[j]))
            st = evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %lld frames, and '%s' %lld", in[i].name,
                          (long long)f->shape.dim[0], in[j].name,
                          (long long)c->job.feeds[j].shape.dim[0]);
    if (st != EVAL_OK)
        return st;
    if (f->value->has_frames) {
        evl_shape whole = evl_shape_of((size_t)in[i].rank, in[i].dims);
        st = check_bytes(ctx, &in[i], &whole);
    } else {
        st = check_bytes(ctx, &in[i], &f->shape);
    }
    f->type = in[i].type;
    f->data = in[i].data;
    return st;
}

static EvalStatus take_output(evl_context *ctx, call *c, const EvalTensor *out, size_t i)
{
    evl_fetch *f = &c->job.fetches[i];
    f->type = out[i].type;
    f->any_to_float = f->is_made = f->is_kept = false;
    f->shape.rank = EVL_UNKNOWN_RANK;
    f->data = out[i].data;
    f->bytes = out[i].bytes;
    EvalStatus st = evl_find_value(ctx, c->job.model->graph, out[i].name, &f->value);
    if (st == EVAL_OK && c->n_sequences > 1 && !f->value->has_frames && f->value->producer)
        return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                        "'%s' is no value of each sequence alone: run the sequences one by one",
                        out[i].name);
    return st;
}

/* What a fetch became, with the axis of sequences put before frames. */
static void tell(const call *c, const evl_fetch *f, EvalTensor *t)
{
    int32_t extra = c->n_sequences && f->value->has_frames;
    if (!evl_shape_is_known(&f->shape))
        return;
    t->type = f->type;
    t->rank = f->shape.rank + extra;
    if (extra)
        t->dims[0] = (int64_t)c->n_sequences;
    for (int32_t i = extra; i < t->rank; i++)
        t->dims[i] = f->shape.dim[i - extra];
    for (int32_t i = t->rank; i < EVAL_MAX_RANK; i++)
        t->dims[i] = 0;
    t->bytes = f->bytes * (extra ? c->n_sequences : 1);
    t->data = f->data;
}

/* What each output needs for all sequences; EVAL_ERR_LIMIT when a buffer has less. */
static EvalStatus measure_sequences(evl_context *ctx, call *c, EvalTensor *out)
{
    evl_job *job = &c->job;
    bool is_short = false;
    for (size_t i = 0; i < job->n_fetches; i++)
        job->fetches[i].data = NULL;
    EvalStatus st = evl_measure(ctx, job);
    for (size_t i = 0; i < job->n_fetches && st == EVAL_OK; i++) {
        void *data = out[i].data;
        size_t capacity = out[i].bytes;
        tell(c, &job->fetches[i], &out[i]);
        out[i].data = data;
        is_short |= data && out[i].bytes > capacity;
    }
    if (st == EVAL_OK && is_short)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "an output's buffer is too small: see its bytes");
    return st;
}

static EvalStatus make_missing(evl_context *ctx, call *c, EvalTensor *out)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < c->job.n_fetches && st == EVAL_OK; i++) {
        if (out[i].data)
            continue;
        st = evl_made_new(ctx, c->job.e, c->job.list, out[i].bytes, &out[i].data);
        c->job.fetches[i].is_kept = st == EVAL_OK;
    }
    return st;
}

static EvalStatus run_sequence(evl_context *ctx, call *c, EvalTensor *out, size_t sequence)
{
    evl_job *job = &c->job;
    for (size_t i = 0; i < job->n_fetches; i++) {
        evl_fetch *f = &job->fetches[i];
        f->data = (char *)out[i].data + (f->value->has_frames ? sequence * f->bytes : 0);
    }
    EvalStatus st = evl_perform(ctx, job);
    for (size_t i = 0; i < job->n_feeds; i++) {
        evl_feed *f = &job->feeds[i];
        if (f->value->has_frames)
            f->data = (const char *)f->data + evl_door_bytes(f->type, evl_shape_count(&f->shape));
    }
    return st;
}

/* Sequences one after the other, each from its beginning, into one array an output. */
static EvalStatus run_sequences(evl_context *ctx, call *c, EvalTensor *out)
{
    EvalStatus st = measure_sequences(ctx, c, out);
    if (st == EVAL_OK)
        st = make_missing(ctx, c, out);
    for (size_t s = 0; s < c->n_sequences && st == EVAL_OK; s++)
        st = run_sequence(ctx, c, out, s);
    for (size_t i = 0; i < c->job.n_fetches && st != EVAL_OK; i++)
        if (c->job.fetches[i].is_kept) {
            evl_made_free(c->job.e, c->job.list, out[i].data);
            out[i].data = NULL;
        }
    return st;
}

static EvalStatus run(evl_context *ctx, evl_job *job)
{
    call *c = (call *)job; /* its first member */
    const EvalTensor *in = c->in;
    EvalTensor *out = c->out;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < job->n_feeds && st == EVAL_OK; i++)
        st = take_input(ctx, c, in, i);
    for (size_t i = 0; i < job->n_fetches && st == EVAL_OK; i++)
        st = take_output(ctx, c, out, i);
    if (st != EVAL_OK)
        return st;
    if (c->n_sequences)
        return run_sequences(ctx, c, out);
    st = evl_perform(ctx, job);
    for (size_t i = 0; i < job->n_fetches && (st == EVAL_OK || st == EVAL_ERR_LIMIT); i++)
        tell(c, &job->fetches[i], &out[i]);
    return st;
}

EvalStatus evl_evaluator_run(evl_context *ctx, evl_evaluator *e, const EvalTensor *in, size_t n_in,
                             EvalTensor *out, size_t n_out, const EvalRunOptions *options)
{
    call c = { .job = { .e = e, .n_feeds = n_in, .n_fetches = n_out, .list = &e->made },
               .in = in,
               .out = out };
    if ((n_in && !in) || !out || n_out == 0)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "no outputs are asked for, or an array is NULL");
    if (options && options->size < EVL_RUN_OPTIONS_LEAST)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT,
                        "options->size is %zu, and is to be sizeof(EvalRunOptions), %zu",
                        options->size, sizeof *options);
    if (options)
        memcpy(&c.job.options, options,
               options->size < sizeof *options ? options->size : sizeof *options);
    EvalStatus st = evl_evaluator_model(ctx, e, &c.job.model);
    if (st != EVAL_OK)
        return st;
    st = evl_with_room(ctx, &c.job, run);
    evl_model_release(c.job.model);
    return st;
}

EvalStatus evl_evaluator_release(evl_context *ctx, evl_evaluator *e, EvalTensor *out, size_t n)
{
    if (n && !out)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the array of outputs is NULL");
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n; i++) {
        if (out[i].data && !evl_made_free(e, &e->made, out[i].data))
            st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "output %zu: its memory was not made by Run", i);
        else
            out[i].data = NULL;
    }
    return st;
}
