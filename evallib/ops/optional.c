/* Optionals: a value or none. Since opset 18 a value that is no optional is one that is
** there, and OptionalHasElement may be asked about nothing at all. */
#include "ir/nested.h"
#include "ops/move.h"
#include "ops/nested.h"
#include "ops/ops.h"

static EvalStatus infer_optional(evl_infer *x)
{
    const evl_tensor *given = evl_use_in(&x->use, 0);
    const evl_attribute *type = evl_node_attribute(x->use.node, "type");
    if (!given && (!type || type->kind != EVL_ATTRIBUTE_TYPE))
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "neither an input nor the attribute type");
    if (given && given->type == EVAL_OPTIONAL)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "its input is an optional already");
    return evl_infer_around(x, EVAL_OPTIONAL, given ? given : type->u.tensor);
}

static EvalStatus prepare_optional(evl_prepare *p)
{
    const evl_tensor *given = evl_use_in(&p->use, 0);
    if (!evl_nested_take(p->arena, given ? 1 : 0, &p->nested[0]))
        return evl_no_memory(p->ctx);
    if (given)
        *(evl_tensor *)p->nested[0].data = *given;
    return EVAL_OK;
}

static EvalStatus infer_has_element(evl_infer *x)
{
    x->out[0].type = EVAL_BOOL;
    x->out[0].shape = evl_shape_scalar();
    return EVAL_OK;
}

static EvalStatus run_has_element(const evl_call *call)
{
    const evl_tensor *x = call->n_in ? call->in[0] : NULL;
    *(uint8_t *)call->out[0]->data = x && (x->type != EVAL_OPTIONAL || x->shape.dim[0] > 0);
    return EVAL_OK;
}

/* What a known value holds: itself, when it is no optional. */
static const evl_tensor *held(const evl_tensor *x)
{
    return x->type == EVAL_OPTIONAL ? evl_nested_at(x, 0) : x;
}

static EvalStatus infer_get_element(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    bool is_known = in->type != EVAL_OPTIONAL || in->data;
    if (!is_known) {
        x->out[0] = evl_nested_inside(in, 0);
        return EVAL_OK;
    }
    if (in->type == EVAL_OPTIONAL && in->shape.dim[0] == 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "its optional holds nothing");
    evl_type_copy(held(in), &x->out[0]);
    x->out[0].shape = held(in)->shape;
    return EVAL_OK;
}

static EvalStatus prepare_get_element(evl_prepare *p)
{
    const evl_tensor *element = held(p->use.in[0]);
    if (evl_type_is_nested(element->type))
        p->nested[0] = *element;
    return EVAL_OK;
}

static EvalStatus run_get_element(const evl_call *call)
{
    evl_move_all(call->machine, held(call->in[0]), call->out[0]);
    return EVAL_OK;
}

static const evl_impl optional_impl = { prepare_optional, evl_run_nothing };
static const evl_impl has_impl = { NULL, run_has_element };
static const evl_impl get_impl = { prepare_get_element, run_get_element };

static const evl_op optional = { .name = "Optional",
                                 .min_inputs = 0,
                                 .max_inputs = 1,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .traits = EVL_OP_NESTED,
                                 .infer = infer_optional,
                                 .any = &optional_impl };
static const evl_op has_element = { .name = "OptionalHasElement",
                                    .min_inputs = 0,
                                    .max_inputs = 1,
                                    .min_outputs = 1,
                                    .max_outputs = 1,
                                    .traits = EVL_OP_NESTED,
                                    .infer = infer_has_element,
                                    .any = &has_impl };
static const evl_op get_element = { .name = "OptionalGetElement",
                                    .min_inputs = 1,
                                    .max_inputs = 1,
                                    .min_outputs = 1,
                                    .max_outputs = 1,
                                    .traits = EVL_OP_NESTED,
                                    .infer = infer_get_element,
                                    .any = &get_impl };

const evl_op *const evl_ops_optional[] = { &optional, &has_element, &get_element, NULL };
