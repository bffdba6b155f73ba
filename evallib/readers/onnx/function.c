/* Functions of the model: each call becomes the function's nodes, in the caller's graph,
** with names of their own. A call inside a call multiplies, so what is put in is bounded
** by bytes as well as by nodes. */
#include "readers/onnx/onnx.h"
#include <string.h>

/* Bytes of functions put in: so many times the file's, and so many more; a call itself costs some.
 */
enum { MOST_TIMES = 16, MOST_MORE = 1 << 20, BYTES_A_CALL = 256 };

/* "domain:name:overload" in scratch memory. */
static EvalStatus key_of(evl_onnx *o, const char *domain, const char *name, evl_bytes overload,
                         const char **key)
{
    const char *texts[] = { strcmp(domain, "ai.onnx") == 0 ? "" : domain, name, "" };
    size_t n = 0;
    EvalStatus st = evl_onnx_text(o, overload, &texts[2]);
    if (st != EVAL_OK)
        return st;
    char *text = evl_arena_take(o->scratch, strlen(texts[0]) + strlen(name) + strlen(texts[2]) + 3);
    if (!text)
        return evl_no_memory(o->ctx);
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(texts[i]);
        memcpy(text + n, texts[i], length);
        n += length;
        text[n++] = i < 2 ? ':' : '\0';
    }
    *key = text;
    return EVAL_OK;
}

static EvalStatus add_function(evl_onnx *o, evl_bytes message, size_t index)
{
    onnx_function f = { 0 };
    const char *domain, *name, *key = "";
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_function_schema, message, &f);
    if (st == EVAL_OK)
        st = evl_onnx_text(o, f.domain, &domain);
    if (st == EVAL_OK)
        st = evl_onnx_text(o, f.name, &name);
    if (st == EVAL_OK)
        st = key_of(o, domain, name, f.overload, &key);
    if (st != EVAL_OK)
        return st;
    if (evl_map_get(o->functions, key, strlen(key), &(size_t){ 0 }))
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: function '%s' is defined twice, again at byte %zu", name,
                        message.at);
    return evl_map_set(o->functions, key, strlen(key), index) ? EVAL_OK : evl_no_memory(o->ctx);
}

EvalStatus evl_onnx_functions(evl_onnx *o, evl_pb_many functions)
{
    evl_bytes *bytes = evl_arena_take_many(o->scratch, functions.n, sizeof *bytes);
    EvalStatus st = EVAL_OK;
    o->functions = evl_map_new(o->scratch);
    o->function_bytes = bytes;
    if (!bytes || !o->functions)
        return evl_no_memory(o->ctx);
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&functions, &bytes[i]); i++)
        st = add_function(o, bytes[i], i);
    return st;
}

EvalStatus evl_onnx_find_function(evl_onnx *o, const evl_onnx_draft *d, evl_bytes overload,
                                  evl_bytes *function, bool *is_there)
{
    const char *key;
    size_t index;
    *is_there = false;
    if (evl_map_count(o->functions) == 0)
        return EVAL_OK;
    EvalStatus st = key_of(o, d->domain, d->op, overload, &key);
    if (st != EVAL_OK)
        return st;
    *is_there = evl_map_get(o->functions, key, strlen(key), &index);
    if (*is_there)
        *function = o->function_bytes[index];
    return EVAL_OK;
}

static EvalStatus bind_inputs(evl_onnx *o, evl_onnx_scope *scope, evl_pb_many names,
                              const evl_onnx_draft *d)
{
    evl_bytes name;
    EvalStatus st = EVAL_OK;
    if (d->n_inputs > names.n)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: node '%s' gives function %s %zu inputs; it has %zu, at byte %zu",
                        d->name, d->op, d->n_inputs, names.n, d->where);
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&names, &name); i++)
        st = evl_onnx_bind(o, scope, name,
                           (evl_onnx_name){ i < d->n_inputs ? d->inputs[i] : NULL, true });
    return st;
}

/* An output is the caller's own value, which a node in the function will make. One that is
** an input of the function as well is a copy. */
static EvalStatus bind_output(evl_onnx *o, evl_onnx_scope *scope, evl_bytes name, evl_value *output)
{
    const evl_onnx_name *there = evl_onnx_look(scope, name);
    if (!there)
        return evl_onnx_bind(o, scope, name, (evl_onnx_name){ output, false });
    if (there->is_defined && there->value)
        return evl_onnx_identity(o, scope->graph, there->value, output);
    return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: a function gives one output twice, at byte %zu",
                    name.at);
}

static EvalStatus bind_outputs(evl_onnx *o, evl_onnx_scope *scope, evl_pb_many names,
                               const evl_onnx_draft *d)
{
    evl_bytes name;
    EvalStatus st = EVAL_OK;
    if (d->n_outputs > names.n)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: node '%s' takes %zu outputs of function %s; it has %zu, at byte %zu",
                        d->name, d->n_outputs, d->op, names.n, d->where);
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&names, &name); i++)
        if (i < d->n_outputs && d->outputs[i])
            st = bind_output(o, scope, name, d->outputs[i]);
    return st;
}

static EvalStatus check_outputs(evl_onnx *o, const evl_onnx_scope *scope, evl_pb_many names,
                                const evl_onnx_draft *d)
{
    evl_bytes name;
    while (evl_pb_next(&names, &name)) {
        const evl_onnx_name *there = evl_onnx_look(scope, name);
        if (!there || !there->is_defined)
            return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                            "onnx: function %s does not define all its outputs, at byte %zu", d->op,
                            name.at);
    }
    return EVAL_OK;
}

static EvalStatus put_in(evl_onnx *o, onnx_function *f, evl_onnx_scope *scope,
                         const evl_onnx_draft *d)
{
    EvalStatus st = bind_inputs(o, scope, f->inputs, d);
    if (st == EVAL_OK)
        st = bind_outputs(o, scope, f->outputs, d);
    if (st == EVAL_OK)
        st = evl_onnx_declare_outputs(o, scope, f->nodes);
    if (st == EVAL_OK)
        st = check_outputs(o, scope, f->outputs, d);
    return st == EVAL_OK ? evl_onnx_nodes(o, scope, f->nodes) : st;
}

static EvalStatus begin_call(evl_onnx *o, const evl_onnx_scope *caller, const evl_onnx_draft *d,
                             evl_bytes message, evl_onnx_call *call)
{
    o->n_inlined += evl_pb_size(message) + BYTES_A_CALL;
    if (o->n_inlined > MOST_MORE && (o->n_inlined - MOST_MORE) / MOST_TIMES > o->source->size)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT, "onnx: calls of functions multiply to %zu bytes",
                        o->n_inlined);
    call->given = d->attributes;
    call->n_given = d->n_attributes;
    call->prefix = d->n_outputs && d->outputs[0] ? d->outputs[0]->name : "";
    return *d->name ? evl_onnx_inner_name(o, caller, d->name, &call->prefix) : EVAL_OK;
}

EvalStatus evl_onnx_call_function(evl_onnx *o, const evl_onnx_scope *caller,
                                  const evl_onnx_draft *d, evl_bytes message)
{
    onnx_function f = { 0 };
    evl_map *opsets = NULL;
    evl_attribute *defaults = NULL;
    evl_onnx_call call = { 0 };
    evl_onnx_scope scope = { .graph = caller->graph, .call = &call, .depth = caller->depth + 1 };
    EvalStatus st = begin_call(o, caller, d, message, &call);
    if (st == EVAL_OK)
        st = evl_onnx_scope_begin(o, &scope);
    if (st == EVAL_OK)
        st = evl_pb_read(o->ctx, &evl_onnx_function_schema, message, &f);
    if (st == EVAL_OK)
        st = evl_onnx_opsets(o, f.opsets, &opsets);
    scope.opsets = opsets;
    if (st == EVAL_OK)
        st = evl_onnx_attributes(o, &scope, f.defaults, &defaults, &call.n_defaults);
    call.defaults = defaults;
    return st == EVAL_OK ? put_in(o, &f, &scope, d) : st;
}
