/* RegexFullMatch: which texts the pattern matches from end to end (base/regex.h). */
#include "base/regex.h"
#include "ops/ops.h"

static EvalStatus infer(evl_infer *x)
{
    EvalType in = x->use.in[0]->type;
    if (in != EVAL_STRING && in != EVAL_UNDEFINED)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "input 0 is %s, expected string", evl_type_name(in));
    x->out[0].type = EVAL_BOOL;
    x->out[0].shape = x->use.in[0]->shape;
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_attribute *a = evl_node_attribute(p->use.node, "pattern");
    const evl_regex *regex;
    if (!a || a->kind != EVL_ATTRIBUTE_TEXT)
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "attribute pattern is missing, or no text");
    EvalStatus st = evl_regex_new(p->ctx, p->arena, a->u.text.text, a->u.text.size, &regex);
    if (st != EVAL_OK)
        return st;
    const evl_regex **state = evl_arena_take(p->arena, sizeof *state);
    if (!state)
        return evl_no_memory(p->ctx);
    *state = regex;
    p->state = state;
    p->scratch_bytes = evl_regex_room(regex);
    return EVAL_OK;
}

static EvalStatus run(const evl_call *call)
{
    const evl_regex *regex = *(const evl_regex *const *)call->state;
    const EvalString *x = call->in[0]->data;
    uint8_t *y = call->out[0]->data;
    size_t n = evl_shape_count(&call->in[0]->shape);
    for (size_t i = 0; i < n; i++)
        y[i] = evl_regex_matches(regex, x[i].text, x[i].size, call->scratch);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
static const evl_op op_regex = { "RegexFullMatch", NULL, 1,     1, 1, 1, 0, 0, infer,
                                 { NULL, NULL },   NULL, &impl, 0 };

const evl_op *const evl_ops_regex[] = { &op_regex, NULL };
