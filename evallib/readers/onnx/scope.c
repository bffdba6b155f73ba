/* Names: in each graph, and in each call of a function, their own. */
#include "base/text.h"
#include "readers/onnx/onnx.h"
#include <string.h>

EvalStatus evl_onnx_text(evl_onnx *o, evl_bytes bytes, const char **text)
{
    size_t n = evl_pb_size(bytes);
    const char *from = evl_pb_text(bytes);
    if (n > o->ctx->limits->max_text)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT,
                        "onnx: a name of %zu bytes, at byte %zu; at most %zu", n, bytes.at,
                        o->ctx->limits->max_text);
    if (n && (memchr(from, '\0', n) || !evl_utf8_valid(from, n)))
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: a name that is not UTF-8, at byte %zu",
                        bytes.at);
    *text = n ? evl_arena_text(o->scratch, from, n) : "";
    return *text ? EVAL_OK : evl_no_memory(o->ctx);
}

EvalStatus evl_onnx_scope_begin(evl_onnx *o, evl_onnx_scope *scope)
{
    if (scope->depth > o->ctx->limits->max_depth)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT,
                        "onnx: sub-graphs or functions nest more than %zu deep, the setting "
                        "maxDepth",
                        o->ctx->limits->max_depth);
    scope->names = evl_map_new(o->scratch);
    return scope->names ? EVAL_OK : evl_no_memory(o->ctx);
}

EvalStatus evl_onnx_bind(evl_onnx *o, evl_onnx_scope *scope, evl_bytes name, evl_onnx_name meaning)
{
    evl_onnx_name *entries =
        evl_arena_grow(o->scratch, scope->entries, scope->n, &scope->capacity, sizeof *entries);
    if (!entries || !evl_map_set(scope->names, evl_pb_text(name), evl_pb_size(name), scope->n))
        return evl_no_memory(o->ctx);
    scope->entries = entries;
    entries[scope->n++] = meaning;
    return EVAL_OK;
}

evl_onnx_name *evl_onnx_look(const evl_onnx_scope *scope, evl_bytes name)
{
    size_t index;
    return evl_map_get(scope->names, evl_pb_text(name), evl_pb_size(name), &index)
               ? &scope->entries[index]
               : NULL;
}

bool evl_onnx_find(const evl_onnx_scope *scope, evl_bytes name, evl_value **value)
{
    for (; scope; scope = scope->outer) {
        const evl_onnx_name *entry = evl_onnx_look(scope, name);
        if (entry) {
            *value = entry->value;
            return true;
        }
    }
    return false;
}

EvalStatus evl_onnx_inner_name(evl_onnx *o, const evl_onnx_scope *scope, const char *name,
                               const char **full)
{
    char text[EVL_ONNX_INNER_NAME];
    size_t n = strlen(name), n_prefix = scope->call ? strlen(scope->call->prefix) : 0, there;
    *full = name;
    if (!scope->call)
        return EVAL_OK;
    *full = "";
    if (!n || !n_prefix || n + n_prefix + 2 > sizeof text)
        return EVAL_OK;
    memcpy(text, scope->call->prefix, n_prefix);
    text[n_prefix] = '/';
    memcpy(text + n_prefix + 1, name, n + 1);
    if (evl_map_get(scope->graph->names, text, n_prefix + 1 + n, &there))
        return EVAL_OK;
    *full = evl_arena_text(o->scratch, text, n_prefix + 1 + n);
    return *full ? EVAL_OK : evl_no_memory(o->ctx);
}

static EvalStatus new_value(evl_onnx *o, evl_onnx_scope *scope, const char *name, evl_bytes bytes,
                            evl_value **value)
{
    const char *full;
    EvalStatus st = evl_onnx_inner_name(o, scope, name, &full);
    if (st != EVAL_OK)
        return st;
    if (++o->n_values / 4 > o->ctx->limits->max_nodes)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT,
                        "onnx: more than %zu values, four times the setting maxNodes",
                        o->n_values - 1);
    *value = evl_graph_value(scope->graph, full);
    if (!*value)
        return evl_no_memory(o->ctx);
    return evl_onnx_bind(o, scope, bytes, (evl_onnx_name){ *value, true });
}

EvalStatus evl_onnx_declare(evl_onnx *o, evl_onnx_scope *scope, evl_bytes name, evl_value **value)
{
    const char *text;
    EvalStatus st = evl_onnx_text(o, name, &text);
    if (st != EVAL_OK)
        return st;
    evl_onnx_name *entry = evl_onnx_look(scope, name);
    if (!entry)
        return new_value(o, scope, text, name, value);
    if (entry->is_defined)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: '%s' is defined twice, again at byte %zu",
                        text, name.at);
    entry->is_defined = true;
    *value = entry->value;
    return EVAL_OK;
}
