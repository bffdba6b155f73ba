/* operator.c - a plug-in's operator as a descriptor like all others.
**
** The descriptor is the first part of what it was made of, so a node's operator leads back to
** the plug-in's table. Operands are shown in the public form: in the run in the step's scratch
** memory, before what the plug-in asked for itself. */
#include "plugin/plugin.h"
#include <string.h>

typedef struct plugged {
    evl_op op; /* first */
    EvalOperator table;
    EvalImplementation *implementations;
    const evl_guest *guest;
    const evl_op *replaced; /* NULL: none that could do it in its place */
} plugged;

/* What a prepared step keeps. */
typedef struct step {
    const EvalImplementation *implementation;
    void *state; /* the plug-in's */
    size_t scratch_bytes, carried_bytes;
    /* Of the replaced operator, when it was prepared. */
    evl_node node; /* as if it were that one's */
    evl_run *replaced_run;
    const void *replaced_state;
    size_t replaced_bytes; /* of scratch, which come first */
} step;

static const plugged *plugged_of(const evl_node *node)
{
    return (const plugged *)node->op;
}

static bool has_frames(const evl_node *node)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->has_frames)
            return true;
    return false;
}

static evl_plugin_call call_of(evl_context *ctx, const evl_node *node, EvalTensor *in, size_t n_in,
                               EvalTensor *out, size_t n_out)
{
    evl_plugin_call c = evl_plugin_call_of(ctx, plugged_of(node)->guest);
    c.node = node;
    c.call.node = node->name;
    c.call.op = node->op->name;
    c.call.version = node->version;
    c.call.real = node->graph->real;
    c.call.in = in;
    c.call.nIn = n_in;
    c.call.out = out;
    c.call.nOut = n_out;
    c.call.hasFrames = has_frames(node);
    return c;
}

static void show_inputs(const evl_node *node, const evl_tensor *const *in, size_t n, EvalTensor *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = evl_plugin_tensor(in[i], i < node->n_inputs && node->inputs[i] ? node->inputs[i]->name
                                                                              : "");
}

static void show_output(const evl_node *node, const evl_tensor *t, size_t i, EvalTensor *to)
{
    *to = evl_plugin_tensor(t, i < node->n_outputs && node->outputs[i] ? node->outputs[i]->name : "");
}

/* --- the shape rule ---------------------------------------------------------------------- */

static EvalStatus bad_output(evl_plugin_call *c, size_t i, const char *what, int64_t value)
{
    return evl_fail(c->ctx, EVAL_ERR_PLUGIN, "plug-in '%s': Infer gives output %zu %s %lld",
                    c->guest->plugin->table.name, i, what, (long long)value);
}

/* Nothing that a plug-in says is believed. */
static EvalStatus take_inferred(evl_plugin_call *c, size_t i, evl_tensor *t)
{
    const EvalTensor *given = &c->call.out[i];
    if (given->type != EVAL_UNDEFINED && evl_type_size(given->type) == 0)
        return bad_output(c, i, "an element type that there is not,", (int64_t)given->type);
    if (given->rank < -1 || given->rank > EVAL_MAX_RANK)
        return bad_output(c, i, "the rank", given->rank);
    t->type = given->type;
    t->shape.rank = given->rank;
    for (int32_t d = 0; d < given->rank; d++) {
        if (given->dims[d] < -1)
            return bad_output(c, i, "a dimension of", given->dims[d]);
        t->shape.dim[d] = given->dims[d];
    }
    return EVAL_OK;
}

static bool is_all_known(const evl_infer *infer)
{
    for (size_t i = 0; i < infer->use.n_in; i++) {
        const evl_tensor *t = infer->use.in[i];
        if (t && (!t->data || !evl_shape_is_known(&t->shape)))
            return false;
    }
    return true;
}

static EvalStatus infer_replaced(evl_plugin_call *c)
{
    evl_node node = *c->node;
    evl_infer infer = *c->as.infer;
    node.op = plugged_of(c->node)->replaced;
    infer.use.node = &node;
    EvalStatus st = node.op->infer(&infer);
    for (size_t i = 0; i < infer.n_out && st == EVAL_OK; i++)
        show_output(c->node, &infer.out[i], i, &c->call.out[i]);
    return st;
}

static EvalStatus call_infer(evl_infer *infer, EvalTensor *in, EvalTensor *out)
{
    const evl_node *node = infer->use.node;
    evl_plugin_call c = call_of(infer->ctx, node, in, infer->use.n_in, out, infer->n_out);
    show_inputs(node, infer->use.in, infer->use.n_in, in);
    for (size_t i = 0; i < infer->n_out; i++)
        show_output(node, &infer->out[i], i, &out[i]);
    c.replaced = plugged_of(node)->replaced ? infer_replaced : NULL;
    c.as.infer = infer;
    EvalStatus st = evl_plugin_answer(&c, plugged_of(node)->table.Infer(&c.call), "Infer");
    for (size_t i = 0; i < infer->n_out && st == EVAL_OK; i++) {
        st = take_inferred(&c, i, &infer->out[i]);
        if (st == EVAL_OK && is_all_known(infer) && !evl_shape_is_known(&infer->out[i].shape))
            st = evl_fail(c.ctx, EVAL_ERR_PLUGIN,
                          "plug-in '%s': Infer leaves the shape of output %zu open, though all of the "
                          "inputs are known",
                          c.guest->plugin->table.name, i);
    }
    return st;
}

enum { FEW = 16 }; /* operands that need no allocation */

static EvalStatus infer(evl_infer *infer)
{
    EvalTensor few[FEW], *all = few;
    size_t n_in = infer->use.n_in, n = n_in + infer->n_out;
    if (n > FEW && !(all = evl_allocate(infer->ctx->memory, n * sizeof *all)))
        return evl_no_memory(infer->ctx);
    EvalStatus st = call_infer(infer, all, all + n_in);
    if (all != few)
        evl_release(infer->ctx->memory, all);
    return st;
}

/* Without a rule of its own. */
static EvalStatus infer_alike(evl_infer *infer)
{
    if (infer->use.n_in == 0 || !infer->use.in[0])
        return evl_fail(infer->ctx, EVAL_ERR_PLUGIN,
                        "an operator without Infer has outputs like input 0, and there is none");
    for (size_t i = 0; i < infer->n_out; i++) {
        infer->out[i].type = infer->use.in[0]->type;
        infer->out[i].shape = infer->use.in[0]->shape;
    }
    return EVAL_OK;
}

/* --- preparing and running ---------------------------------------------------------------- */

static EvalStatus choose(const evl_prepare *p, const EvalImplementation **implementation)
{
    const plugged *op = plugged_of(p->use.node);
    const evl_tensor *chooser = evl_use_in(&p->use, op->op.type_input);
    EvalType type = chooser ? chooser->type : EVAL_UNDEFINED;
    for (size_t i = 0; i < op->table.nImplementations; i++) {
        *implementation = &op->implementations[i];
        if ((*implementation)->type == type || (*implementation)->type == EVAL_UNDEFINED)
            return EVAL_OK;
    }
    return evl_fail(p->ctx, EVAL_ERR_TYPE, "plug-in '%s' does not offer it for elements of type %s",
                    op->guest->plugin->table.name, evl_type_name(type));
}

static EvalStatus run_replaced(evl_plugin_call *c)
{
    const step *s = c->as.run->state;
    evl_call call = *c->as.run;
    call.node = &s->node;
    call.state = s->replaced_state;
    return s->replaced_run(&call);
}

/* A text that was not written is empty. */
static void end_texts(const evl_tensor *t)
{
    EvalString *texts = t && t->type == EVAL_STRING ? t->data : NULL;
    for (size_t i = 0, n = texts ? evl_shape_count(&t->shape) : 0; i < n; i++)
        if (!texts[i].text)
            texts[i] = (EvalString){ "", 0 };
}

static EvalStatus run(const evl_call *call)
{
    const step *s = call->state;
    EvalTensor *in = (void *)((char *)call->scratch + s->replaced_bytes), *out = in + call->n_in;
    evl_plugin_call c = call_of(call->ctx, call->node, in, call->n_in, out, call->n_out);
    show_inputs(call->node, call->in, call->n_in, in);
    for (size_t i = 0; i < call->n_out; i++) {
        show_output(call->node, call->out[i], i, &out[i]);
        if (out[i].bytes) /* never what was there before */
            memset(out[i].data, 0, out[i].bytes);
    }
    c.pool = call->machine->pool;
    c.arena = call->texts;
    c.call.real = call->machine->real;
    c.call.state = s->state;
    c.call.scratch = out + call->n_out;
    c.call.scratchBytes = s->scratch_bytes;
    c.call.carried = call->carried;
    c.call.carriedBytes = s->carried_bytes;
    c.replaced = s->replaced_run ? run_replaced : NULL;
    c.as.run = call;
    EvalStatus st = s->implementation->Run(&c.call);
    for (size_t i = 0; i < call->n_out; i++)
        end_texts(call->out[i]);
    return evl_plugin_answer(&c, st, "Run");
}

static EvalStatus prepare_replaced(evl_plugin_call *c)
{
    evl_prepare p = *c->as.prepare;
    step *s = p.state;
    const evl_tensor *chooser = evl_use_in(&p.use, plugged_of(c->node)->replaced->type_input);
    s->node = *c->node;
    p.use.node = &s->node;
    s->node.op = plugged_of(c->node)->replaced;
    const evl_impl *impl = evl_op_impl(s->node.op, chooser ? chooser->type : EVAL_UNDEFINED, p.machine->precision);
    if (!impl)
        return evl_fail(p.ctx, EVAL_ERR_TYPE, "the replaced operator is not offered for that type");
    p.run = impl->run;
    p.state = NULL;
    EvalStatus st = impl->prepare ? impl->prepare(&p) : EVAL_OK;
    s->replaced_run = st == EVAL_OK ? p.run : NULL;
    s->replaced_state = p.state;
    s->replaced_bytes = (p.scratch_bytes + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
    return st;
}

static EvalStatus call_prepare(evl_prepare *p, step *s, EvalTensor *in, EvalTensor *out)
{
    const evl_node *node = p->use.node;
    evl_plugin_call c = call_of(p->ctx, node, in, p->use.n_in, out, p->n_out);
    show_inputs(node, p->use.in, p->use.n_in, in);
    for (size_t i = 0; i < p->n_out; i++)
        show_output(node, p->out[i], i, &out[i]);
    c.arena = p->arena;
    c.call.real = p->machine->real;
    c.replaced = plugged_of(node)->replaced ? prepare_replaced : NULL;
    c.as.prepare = p;
    p->state = s;
    EvalStatus st = s->implementation->Prepare ? s->implementation->Prepare(&c.call) : EVAL_OK;
    s->state = c.call.state;
    s->scratch_bytes = c.call.scratchBytes;
    s->carried_bytes = plugged_of(node)->op.traits & EVL_OP_CARRIES ? c.call.carriedBytes : 0;
    return evl_plugin_answer(&c, st, "Prepare");
}

static EvalStatus prepare(evl_prepare *p)
{
    size_t n = p->use.n_in + p->n_out, bytes = n * sizeof(EvalTensor);
    step *s = evl_arena_take(p->arena, sizeof *s);
    EvalTensor *shown = evl_arena_take_many(p->arena, n + 1, sizeof *shown);
    if (!s || !shown)
        return evl_no_memory(p->ctx);
    EvalStatus st = choose(p, &s->implementation);
    if (st == EVAL_OK)
        st = call_prepare(p, s, shown, shown + p->use.n_in);
    size_t most = s->scratch_bytes > s->carried_bytes ? s->scratch_bytes : s->carried_bytes;
    if (st == EVAL_OK && most > p->ctx->limits->max_tensor_bytes)
        st = evl_fail(p->ctx, EVAL_ERR_LIMIT, "plug-in '%s': Prepare asks for %zu bytes of %s",
                      plugged_of(p->use.node)->guest->plugin->table.name, most,
                      most == s->scratch_bytes ? "scratch" : "carried memory");
    if (st != EVAL_OK)
        return st;
    p->scratch_bytes = s->replaced_bytes + bytes + s->scratch_bytes;
    p->carried_bytes = s->carried_bytes;
    p->strategy = plugged_of(p->use.node)->guest->plugin->table.name;
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* --- wrapping ------------------------------------------------------------------------------ */

static uint8_t count_of(uint32_t n)
{
    return n >= EVL_ANY_NUMBER ? EVL_ANY_NUMBER : (uint8_t)n;
}

static EvalStatus check(evl_context *ctx, const evl_guest *guest, const EvalOperator *t)
{
    const char *plugin = guest->plugin->table.name;
    if (!t->name || !*t->name)
        return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s' has an operator without a name", plugin);
    if (t->domain && strcmp(t->domain, "evl") == 0)
        return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s': operator %s: the domain evl is the library's",
                        plugin, t->name);
    if (t->nImplementations == 0 || !t->implementations || t->minInputs >= EVL_ANY_NUMBER ||
        t->minInputs > t->maxInputs || t->minOutputs > t->maxOutputs || t->maxOutputs == 0 ||
        t->minOutputs >= EVL_ANY_NUMBER || t->typeInput >= EVL_ANY_NUMBER)
        return evl_fail(ctx, EVAL_ERR_PLUGIN,
                        "plug-in '%s': operator %s: %zu implementations, %u to %u inputs, %u to %u "
                        "outputs make no operator",
                        plugin, t->name, t->nImplementations, (unsigned)t->minInputs,
                        (unsigned)t->maxInputs, (unsigned)t->minOutputs, (unsigned)t->maxOutputs);
    return EVAL_OK;
}

static EvalStatus copy_implementations(evl_context *ctx, const evl_guest *guest, plugged *p)
{
    size_t n = p->table.nImplementations;
    p->implementations = evl_arena_take_many(guest->arena, n, sizeof *p->implementations);
    if (!p->implementations)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < n; i++) {
        const EvalImplementation *given = p->table.implementations[i];
        if (given)
            evl_plugin_copy(&p->implementations[i], sizeof *p->implementations, given);
        if (!p->implementations[i].Run)
            return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s': operator %s: implementation %zu has no Run",
                            guest->plugin->table.name, p->table.name, i);
    }
    return EVAL_OK;
}

static unsigned traits_of(const EvalOperator *t)
{
    unsigned varies = t->flags & EVAL_OPERATOR_VARIES ? EVL_OP_NO_FOLD : 0;
    return t->flags & EVAL_OPERATOR_CARRIES ? EVL_OP_NO_FOLD | EVL_OP_CARRIES : varies;
}

EvalStatus evl_plugin_operator(evl_context *ctx, const evl_guest *guest, const evl_registry *before,
                               const EvalOperator *table, const evl_op **op)
{
    plugged *p = evl_arena_take(guest->arena, sizeof *p);
    if (!p)
        return evl_no_memory(ctx);
    p->guest = guest;
    if (table)
        evl_plugin_copy(&p->table, sizeof p->table, table);
    EvalStatus st = check(ctx, guest, &p->table);
    if (st == EVAL_OK)
        st = copy_implementations(ctx, guest, p);
    if (st != EVAL_OK)
        return st;
    const EvalOperator *t = &p->table;
    p->replaced = evl_registry_find(before, t->domain, t->name);
    if (p->replaced && p->replaced->traits & (EVL_OP_CONTROL | EVL_OP_SEQUENCE | EVL_OP_NESTED | EVL_OP_CARRIES))
        p->replaced = NULL;
    bool is_standard = !t->domain || !*t->domain || strcmp(t->domain, "ai.onnx") == 0;
    p->op = (evl_op){ .name = t->name,
                      .domain = is_standard ? NULL : t->domain,
                      .min_inputs = count_of(t->minInputs),
                      .max_inputs = count_of(t->maxInputs),
                      .min_outputs = count_of(t->minOutputs),
                      .max_outputs = count_of(t->maxOutputs),
                      .type_input = (uint8_t)t->typeInput,
                      .traits = (uint16_t)traits_of(t),
                      .infer = t->Infer ? infer : infer_alike,
                      .any = &impl };
    *op = &p->op;
    return EVAL_OK;
}
