/* ModelProto: who made it, which operators it speaks of, and its graph. */
#include "readers/onnx/onnx.h"
#include <stdio.h>
#include <string.h>

/* The format has no mark at its beginning. What tells it from other protocol buffers: its
** fields have these wire types, and a graph or an opset is among them. One that is cut
** inside its graph is claimed too, so that the text can say so. */
enum { GRAPH = 7, OPSET_IMPORT = 8, N_WIRES = 27 };

static const uint8_t wires[N_WIRES] = {
    /* 1 + wire type; 0: no such field */
    [1] = 1, [2] = 3, [3] = 3,  [4] = 3,  [5] = 1,  [6] = 3,
    [7] = 3, [8] = 3, [14] = 3, [20] = 3, [25] = 3, [26] = 3,
};

static bool claims(const evl_bytes *file)
{
    evl_bytes at = *file;
    bool is_cut = false, has_graph = false, is_good = true;
    while (is_good && evl_bytes_left(&at) > 0) {
        uint32_t number;
        unsigned wire;
        is_good = evl_pb_peek(&at, &number, &wire, &is_cut);
        bool is_ours = number > 0 && number < N_WIRES && wires[number] == wire + 1;
        if (!is_ours && !has_graph)
            return false;
        has_graph |= is_ours && (number == GRAPH || number == OPSET_IMPORT);
    }
    return has_graph;
}

static EvalStatus read_opset(evl_onnx *o, evl_bytes message, evl_map *opsets)
{
    onnx_opset opset = { .version = 0 };
    const char *domain;
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_opset_schema, message, &opset);
    if (st == EVAL_OK)
        st = evl_onnx_text(o, opset.domain, &domain);
    if (st != EVAL_OK)
        return st;
    if (opset.version < 1 || opset.version >= EVL_NEWEST)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: opset %lld of domain '%s', at byte %zu",
                        (long long)opset.version, domain, message.at);
    if (strcmp(domain, "ai.onnx") == 0)
        domain = "";
    if (!*domain && opset.version > EVL_ONNX_NEWEST_OPSET) {
        o->newer_opset = opset.version;
        evl_note(
            o->ctx, EVAL_LOG_WARNING,
            "onnx: opset %d is newer than what is known, %d: operators are taken as they were then",
            (int)opset.version, (int)EVL_ONNX_NEWEST_OPSET);
    }
    return evl_map_set(opsets, domain, strlen(domain), (size_t)opset.version)
               ? EVAL_OK
               : evl_no_memory(o->ctx);
}

EvalStatus evl_onnx_opsets(evl_onnx *o, evl_pb_many messages, evl_map **opsets)
{
    evl_bytes item;
    EvalStatus st = EVAL_OK;
    *opsets = evl_map_new(o->scratch);
    if (!*opsets)
        return evl_no_memory(o->ctx);
    while (st == EVAL_OK && evl_pb_next(&messages, &item))
        st = read_opset(o, item, *opsets);
    return st;
}

/* Facts are for people: one that is no text is left out. */
static EvalStatus add_fact(evl_onnx *o, evl_graph *g, const char *key, evl_bytes value)
{
    const char *text;
    EvalStatus st = evl_onnx_text(o, value, &text);
    if (st == EVAL_ERR_FORMAT || (st == EVAL_OK && !*text))
        return EVAL_OK;
    if (st != EVAL_OK)
        return st;
    return evl_graph_add_metadata(g, key, text) ? EVAL_OK : evl_no_memory(o->ctx);
}

static EvalStatus add_number(evl_onnx *o, evl_graph *g, const char *key, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return evl_graph_add_metadata(g, key, text) ? EVAL_OK : evl_no_memory(o->ctx);
}

static EvalStatus add_pairs(evl_onnx *o, evl_graph *g, evl_pb_many pairs)
{
    evl_bytes item;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&pairs, &item)) {
        onnx_pair pair = { 0 };
        const char *key;
        st = evl_pb_read(o->ctx, &evl_onnx_pair_schema, item, &pair);
        if (st == EVAL_OK)
            st = evl_onnx_text(o, pair.key, &key);
        if (st == EVAL_OK)
            st = add_fact(o, g, key, pair.value);
    }
    return st;
}

static EvalStatus describe(evl_onnx *o, evl_graph *g, const onnx_model *m, const evl_map *opsets)
{
    size_t opset = 0;
    evl_map_get(opsets, "", 0, &opset);
    EvalStatus st = evl_graph_add_metadata(g, "format", "ONNX") ? EVAL_OK : evl_no_memory(o->ctx);
    if (st == EVAL_OK)
        st = add_fact(o, g, "producer", m->producer_name);
    if (st == EVAL_OK)
        st = add_fact(o, g, "producer_version", m->producer_version);
    if (st == EVAL_OK)
        st = add_fact(o, g, "domain", m->domain);
    if (st == EVAL_OK)
        st = add_number(o, g, "model_version", m->model_version);
    if (st == EVAL_OK)
        st = add_number(o, g, "ir_version", m->ir_version);
    if (st == EVAL_OK && opset)
        st = add_number(o, g, "opset", (int64_t)opset);
    return st == EVAL_OK ? add_pairs(o, g, m->metadata) : st;
}

static EvalStatus check(evl_onnx *o, const onnx_model *m)
{
    if (m->ir_version < 1)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: ir_version %lld", (long long)m->ir_version);
    if (m->ir_version > EVL_ONNX_NEWEST_IR) {
        o->newer_ir = m->ir_version;
        evl_note(o->ctx, EVAL_LOG_WARNING, "onnx: ir_version %lld is newer than what is known, %d",
                 (long long)m->ir_version, (int)EVL_ONNX_NEWEST_IR);
    }
    if (!m->graph.data)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: the model has no graph; is the file complete?");
    if (m->opsets.n == 0 && m->ir_version >= 3)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: the model imports no opset; is the file complete?");
    if (m->training.n > 0)
        evl_note(o->ctx, EVAL_LOG_INFO, "onnx: what the model says about training is passed over");
    return EVAL_OK;
}

static EvalStatus read_parts(evl_onnx *o, evl_graph *g, const onnx_model *m)
{
    evl_map *opsets;
    EvalStatus st = evl_onnx_opsets(o, m->opsets, &opsets);
    if (st == EVAL_OK && m->opsets.n == 0 && !evl_map_set(opsets, "", 0, 1))
        st = evl_no_memory(o->ctx); /* before IR version 3 there was one opset */
    if (st == EVAL_OK)
        st = evl_onnx_functions(o, m->functions);
    if (st == EVAL_OK)
        st = describe(o, g, m, opsets);
    if (st != EVAL_OK)
        return st;
    evl_onnx_scope scope = { .graph = g, .opsets = opsets };
    st = evl_onnx_graph(o, m->graph, &scope);
    return st == EVAL_OK ? evl_onnx_report(o) : st;
}

static EvalStatus read_model(evl_onnx *o, evl_graph *g)
{
    onnx_model m = { 0 };
    evl_bytes file = evl_bytes_of(o->source->data, o->source->size);
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_model_schema, file, &m);
    if (st == EVAL_OK)
        st = check(o, &m);
    if (st != EVAL_OK)
        return st;
    o->last_missing = &o->first_missing;
    o->files = evl_map_new(o->scratch);
    return o->files ? read_parts(o, g, &m) : evl_no_memory(o->ctx);
}

static EvalStatus read(evl_context *ctx, const evl_source *source, evl_graph *g,
                       evl_external *external)
{
    evl_onnx o = { .ctx = ctx, .source = source, .external = external, .arena = g->arena };
    o.scratch = evl_arena_new(ctx->memory);
    EvalStatus st = o.scratch ? read_model(&o, g) : evl_no_memory(ctx);
    evl_arena_free(o.scratch);
    return st;
}

const evl_reader evl_reader_onnx = { "ONNX", claims, read };
