/* parse.c - the file's layout: nodes, which reads which, the groups.
**
**     BCN [BVersion n EVersion] count BNodeList ... ENodeList BRelation ... ERelation
**     BRootNodes [groups] ERootNodes ECN
**
** A marker is a text; there are no lengths, so each part must be read to find the next. */
#include "readers/cntk1/payload.h"
#include "base/text.h"
#include <string.h>

typedef struct parser {
    evl_cntk1_cursor c;
    evl_cntk_model *model;
    evl_map *names; /* in small letters -> index: CNTK ignores case */
} parser;

static const char *small_letters(parser *p, const char *name)
{
    char *copy = evl_arena_text(p->c.arena, name, strlen(name));
    for (char *at = copy; at && *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    if (!copy)
        evl_cntk1_stop(&p->c, evl_no_memory(p->c.ctx));
    return copy;
}

static void add_name(parser *p, const evl_cntk_node *node)
{
    const char *key = small_letters(p, node->name);
    size_t other;
    if (!key || p->c.status != EVAL_OK)
        return;
    if (evl_map_get(p->names, key, strlen(key), &other))
        p->c.status =
            evl_fail(p->c.ctx, EVAL_ERR_FORMAT, "CNTK v1: two nodes are called '%s' (byte %zu)",
                     node->name, node->where);
    else if (!evl_map_set(p->names, key, strlen(key), node->index))
        p->c.status = evl_no_memory(p->c.ctx);
}

/* The node of the name that follows; NULL after a failure. */
static evl_cntk_node *read_reference(parser *p, const char *from)
{
    size_t at = p->c.from.at, index;
    const char *name = evl_cntk1_text(&p->c);
    const char *key = p->c.status == EVAL_OK ? small_letters(p, name) : NULL;
    if (!key)
        return NULL;
    if (evl_map_get(p->names, key, strlen(key), &index))
        return &p->model->nodes[index];
    p->c.status = evl_fail(p->c.ctx, EVAL_ERR_FORMAT,
                           "CNTK v1: %s names '%s' (byte %zu), which is no node", from, name, at);
    return NULL;
}

/* --- nodes ------------------------------------------------------------------------- */

static EvalType precision_of(const char *text)
{
    static const struct {
        const char *name;
        EvalType type;
    } types[] = { { "float", EVAL_FLOAT32 }, { "double", EVAL_FLOAT64 }, { "half", EVAL_FLOAT16 } };
    size_t n = strcspn(text, ","); /* Cast: "to,from" */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (evl_text_equal(types[i].name, text, n))
            return types[i].type;
    return EVAL_UNDEFINED;
}

static void read_precision(parser *p)
{
    size_t at = p->c.from.at;
    if (p->c.version < 7)
        return;
    const char *text = evl_cntk1_text(&p->c);
    p->c.real = precision_of(text);
    if (p->c.status == EVAL_OK && p->c.real == EVAL_UNDEFINED)
        p->c.status = evl_fail(
            p->c.ctx, EVAL_ERR_FORMAT,
            "CNTK v1: precision '%s' at byte %zu, expected float, double or half", text, at);
}

static void read_node(parser *p, evl_cntk_node *node)
{
    node->where = p->c.from.at;
    read_precision(p);
    node->real = p->c.real;
    const char *op = evl_cntk1_text(&p->c);
    node->name = evl_cntk1_text(&p->c);
    if (p->c.status != EVAL_OK)
        return;
    node->op = evl_cntk_op_find(op);
    if (!node->op) {
        p->c.status = evl_fail(p->c.ctx, EVAL_ERR_UNSUPPORTED,
                               "node '%s' at byte %zu: the operator '%s' is not known; a CNTK v1 "
                               "file does not tell how long it is, so the rest cannot be read",
                               node->name, node->where, op);
        return;
    }
    add_name(p, node);
    if (p->c.status == EVAL_OK)
        evl_cntk1_read_payload(&p->c, node);
}

/* Files without precisions hold one: that of their matrices. */
static EvalType find_precision(evl_bytes from)
{
    static const char mark[] = "B\0M\0A\0T\0\0";
    const uint8_t *at = from.data + from.at;
    for (size_t left = evl_bytes_left(&from); left >= sizeof mark + 8; left--, at++)
        if (memcmp(at, mark, sizeof mark) == 0)
            return evl_load_u64(at + sizeof mark) == 8 ? EVAL_FLOAT64 : EVAL_FLOAT32;
    return EVAL_FLOAT32;
}

enum { LEAST_NODE = 4 + 8 }; /* bytes: the two names here, the name and a count later */

static void read_nodes(parser *p)
{
    evl_cntk_model *m = p->model;
    m->n_nodes = evl_cntk1_count(&p->c, LEAST_NODE);
    if (m->n_nodes > p->c.ctx->limits->max_nodes)
        evl_cntk1_stop(&p->c, evl_fail(p->c.ctx, EVAL_ERR_LIMIT,
                                       "%zu nodes, and the setting maxNodes allows %zu",
                                       m->n_nodes, p->c.ctx->limits->max_nodes));
    if (p->c.status != EVAL_OK)
        return;
    m->nodes = evl_arena_take_many(p->c.arena, m->n_nodes, sizeof *m->nodes);
    if (m->n_nodes > 0 && !m->nodes) {
        evl_cntk1_stop(&p->c, evl_no_memory(p->c.ctx));
        return;
    }
    if (p->c.version < 7)
        p->c.real = find_precision(p->c.from);
    evl_cntk1_marker(&p->c, "BNodeList");
    for (size_t i = 0; i < m->n_nodes && p->c.status == EVAL_OK; i++) {
        m->nodes[i].index = i;
        read_node(p, &m->nodes[i]);
    }
    evl_cntk1_marker(&p->c, "ENodeList");
}

/* --- which reads which --------------------------------------------------------------- */

static evl_cntk_node **read_references(parser *p, const char *from, size_t *n)
{
    *n = evl_cntk1_count(&p->c, 2);
    if (p->c.status != EVAL_OK || *n == 0)
        return NULL;
    evl_cntk_node **nodes = evl_arena_take_many(p->c.arena, *n, sizeof *nodes);
    if (!nodes) {
        evl_cntk1_stop(&p->c, evl_no_memory(p->c.ctx));
        return NULL;
    }
    for (size_t i = 0; i < *n && p->c.status == EVAL_OK; i++)
        nodes[i] = read_reference(p, from);
    return nodes;
}

static void read_relation(parser *p)
{
    evl_cntk_node *node = read_reference(p, "the list of operands");
    if (!node)
        return;
    if (node->has_relation) {
        p->c.status = evl_fail(p->c.ctx, EVAL_ERR_FORMAT,
                               "CNTK v1: the operands of '%s' are listed twice", node->name);
        return;
    }
    node->has_relation = true;
    node->inputs = read_references(p, node->name, &node->n_inputs);
    if (node->op->build == evl_cntk_rnn_stack && p->c.version < 14 && node->inputs &&
        node->n_inputs == 2) {
        evl_cntk_node *data = node->inputs[0]; /* behind the weights since then */
        node->inputs[0] = node->inputs[1];
        node->inputs[1] = data;
    }
}

static void read_relations(parser *p)
{
    evl_cntk1_marker(&p->c, "BRelation");
    for (size_t i = 0; i < p->model->n_nodes && p->c.status == EVAL_OK; i++)
        read_relation(p);
    evl_cntk1_marker(&p->c, "ERelation");
}

/* Inputs that name one dynamic axis have as many frames. */
static void number_axes(parser *p)
{
    evl_map *axes = evl_map_new(p->c.arena);
    size_t n_axes = 0;
    bool is_full = !axes;
    for (size_t i = 0; i < p->model->n_nodes && !is_full; i++) {
        evl_cntk_node *node = &p->model->nodes[i];
        size_t number = n_axes, n = strlen(node->f.word);
        if (node->op->rule != EVL_CNTK_INPUT)
            continue;
        if (!node->f.is_single && !evl_map_get(axes, node->f.word, n, &number))
            is_full = !evl_map_set(axes, node->f.word, n, n_axes++);
        bool is_last = node->f.is_single || number > EVL_FRAMES_SINGLE;
        node->f.frames_axis = is_last ? EVL_FRAMES_SINGLE : (int64_t)number;
    }
    if (is_full)
        evl_cntk1_stop(&p->c, evl_no_memory(p->c.ctx));
}

/* --- groups -------------------------------------------------------------------------- */

typedef struct group_marker {
    const char *begin, *end, *other_end;
    int group; /* EVL_CNTK_GROUPS: of no use */
} group_marker;

static const group_marker groups[] = {
    { "BFeatureNodes", "EFeatureNodes", NULL, EVL_CNTK_FEATURES },
    { "BLabelNodes", "ELabelNodes", NULL, EVL_CNTK_LABELS },
    { "BCriterionNodes", "ECriterionNodes", "ECriteriaNodes", EVL_CNTK_CRITERIA },
    { "BCriteriaNodes", "ECriteriaNodes", "ECriterionNodes", EVL_CNTK_CRITERIA },
    { "BNodesReqMultiSeqHandling", "ENodesReqMultiSeqHandling", NULL, EVL_CNTK_GROUPS },
    { "BEvalNodes", "EEvalNodes", NULL, EVL_CNTK_EVALUATIONS },
    { "BOutputNodes", "EOutputNodes", NULL, EVL_CNTK_OUTPUTS },
    { "BPairNodes", "EPairNodes", NULL, EVL_CNTK_GROUPS },
};

static void read_group(parser *p, const group_marker *g)
{
    evl_cntk_group group;
    group.nodes = read_references(p, g->begin, &group.n);
    if (g->group < EVL_CNTK_GROUPS)
        p->model->groups[g->group] = group;
    if (!g->other_end || !evl_cntk1_is_marker(&p->c, g->other_end))
        evl_cntk1_marker(&p->c, g->end);
}

static void read_roots(parser *p)
{
    evl_cntk1_marker(&p->c, "BRootNodes");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (evl_cntk1_is_marker(&p->c, groups[i].begin))
            read_group(p, &groups[i]);
    evl_cntk1_marker(&p->c, "ERootNodes");
}

static void read_version(parser *p)
{
    p->c.version = 1;
    if (!evl_cntk1_is_marker(&p->c, "BVersion"))
        return;
    p->c.version = evl_cntk1_u64(&p->c);
    evl_cntk1_marker(&p->c, "EVersion");
    if (p->c.status != EVAL_OK)
        return;
    if (p->c.version > EVL_CNTK1_NEWEST)
        p->c.status = evl_fail(p->c.ctx, EVAL_ERR_UNSUPPORTED,
                               "CNTK v1: the file is of version %llu, known are 1 to %d",
                               (unsigned long long)p->c.version, (int)EVL_CNTK1_NEWEST);
    else if (p->c.version == 0)
        p->c.status = evl_fail(p->c.ctx, EVAL_ERR_FORMAT, "CNTK v1: a file of version 0");
}

EvalStatus evl_cntk1_parse(evl_context *ctx, const void *data, size_t size, evl_arena *arena,
                           evl_cntk_model *model)
{
    parser p = { { .ctx = ctx, .arena = arena, .from = evl_bytes_of(data, size) },
                 model,
                 evl_map_new(arena) };
    *model = (evl_cntk_model){ .format = "CNTK v1" };
    if (!p.names)
        return evl_no_memory(ctx);
    evl_cntk1_marker(&p.c, "BCN");
    read_version(&p);
    model->version = p.c.version;
    model->has_old_variances = p.c.version < 13;
    read_nodes(&p);
    read_relations(&p);
    if (p.c.status == EVAL_OK)
        number_axes(&p);
    read_roots(&p);
    evl_cntk1_marker(&p.c, "ECN");
    return p.c.status;
}
