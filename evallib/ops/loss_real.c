/* Losses: logarithms of probabilities, of which the labels choose one a line. */
#include "ops/loss.h"
#include "real.h"
#include <inttypes.h>

typedef struct softmax_arrays {
    const evl_loss *s;
    const real *x;
    real *y;
} softmax_arrays;

static void softmax_part(void *arg, const evl_lines_part *part)
{
    const softmax_arrays *a = arg;
    a->s->log_softmax(part->at, a->x + part->x, a->y + part->x, NULL);
}

/* Where the logarithms are. */
static const real *logarithms(const evl_call *call)
{
    const evl_loss *s = call->state;
    bool is_wanted = call->n_out > 1 && call->out[1];
    softmax_arrays arrays = { s, call->in[0]->data,
                              is_wanted ? call->out[1]->data : call->scratch };
    if (!s->log_softmax)
        return arrays.x;
    evl_lines_for(&s->lines, call->machine->pool, softmax_part, &arrays);
    return arrays.y;
}

static EvalStatus wrong_label(const evl_call *call, int64_t label)
{
    const evl_loss *s = call->state;
    return evl_fail(call->ctx, EVAL_ERR_SHAPE, "label %" PRId64 " is not in 0 .. %" PRId64, label,
                    (int64_t)s->lines.n - 1);
}

/* Sums in the wider type: of a batch of images there are millions of terms. */
static EvalStatus run(const evl_call *call)
{
    const evl_loss *s = call->state;
    const evl_lines *l = &s->lines;
    const real *x = logarithms(call);
    const real *weights = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL;
    real *y = call->out[0] ? call->out[0]->data : NULL;
    evl_number sum = 0, all = 0;
    for (size_t i = 0; i < l->outer * l->inner; i++) {
        int64_t label = evl_tensor_i64(call->in[1], i);
        real weight = 0, loss = 0;
        if (!s->has_ignored || label != s->ignored) {
            if (label < 0 || label >= (int64_t)l->n)
                return wrong_label(call, label);
            weight = weights ? weights[label] : 1;
            loss = -x[(i / l->inner * l->n + (size_t)label) * l->inner + i % l->inner] * weight;
        }
        if (s->reduction == EVL_LOSS_EACH && y)
            y[i] = loss;
        sum += (evl_number)loss;
        all += (evl_number)weight;
    }
    if (s->reduction != EVL_LOSS_EACH && y)
        *y = (real)(s->reduction == EVL_LOSS_MEAN ? sum / all : sum);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_loss);
const evl_impl TWIN(evl_loss) = { evl_loss_prepare, run };
