/* model.c - the network becomes the model: a node for each variable that is read and for
** each output of a function, under names that people gave where these tell them apart. */
#include "readers/cntk2/network.h"
#include <string.h>

typedef struct maker {
    evl_cntk2_network *net;
    evl_cntk2_cursor *c;
    evl_cntk_model *model;
    evl_map *uses; /* name -> how many nodes bear it */
    evl_map *axes; /* names of dynamic axes -> their numbers, from 0 */
    size_t n_axes;
    size_t n_outputs;
    evl_cntk2_source *sources; /* of all functions' inputs, one function after the other */
    size_t n_sources;
    evl_cntk2_source *outputs; /* of the root */
} maker;

enum { MOST_NAMED = 16 }; /* outputs of one function that get names through it */

/* --- what is read ------------------------------------------------------------------------------
 */

static bool is_dissolved(const evl_cntk2_function *f)
{
    return f->number == EVL_CNTK2_COMBINE || f->number == EVL_CNTK2_BLOCK;
}

/* What every function reads; a variable that somebody reads gets a node. */
static void resolve_inputs(maker *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->net->n_functions; i++)
        n += m->net->functions[i].n_inputs;
    m->sources = evl_cntk2_take(m->c, n, sizeof *m->sources);
    for (size_t i = 0; i < m->net->n_functions && m->c->status == EVAL_OK; i++) {
        const evl_cntk2_function *f = &m->net->functions[i];
        for (size_t j = 0; j < f->n_inputs && !is_dissolved(f); j++)
            if (!evl_cntk2_resolve(m->net, f->inputs[j], &m->sources[m->n_sources++]))
                return;
    }
}

static void resolve_outputs(maker *m)
{
    m->n_outputs = evl_cntk2_output_count(m->net, m->net->root);
    m->outputs = evl_cntk2_take(m->c, m->n_outputs, sizeof *m->outputs);
    for (size_t i = 0; i < m->n_outputs && m->c->status == EVAL_OK; i++)
        evl_cntk2_resolve_output(m->net, m->net->root, i, &m->outputs[i]);
    if (m->n_outputs == 0 && m->c->status == EVAL_OK)
        evl_cntk2_fail(m->c, EVAL_ERR_FORMAT, "CNTK v2: the root '%s' has no output", m->net->root);
}

static void give_nodes(maker *m)
{
    evl_cntk_model *model = m->model;
    size_t n = m->net->n_variables;
    for (size_t i = 0; i < m->net->n_functions; i++)
        n += is_dissolved(&m->net->functions[i]) ? 0 : m->net->functions[i].n_outputs;
    model->nodes = evl_cntk2_take(m->c, n, sizeof *model->nodes);
    if (m->c->status != EVAL_OK)
        return;
    bool *is_read = evl_cntk2_take(m->c, m->net->n_variables, sizeof *is_read);
    for (size_t i = 0; i < m->n_sources && is_read; i++)
        if (m->sources[i].variable)
            is_read[m->sources[i].variable - m->net->variables] = true;
    for (size_t i = 0; i < m->n_outputs && is_read; i++)
        if (m->outputs[i].variable)
            is_read[m->outputs[i].variable - m->net->variables] = true;
    for (size_t i = 0; i < m->net->n_variables && is_read; i++)
        if (is_read[i])
            m->net->variables[i].node = &model->nodes[model->n_nodes++];
    for (size_t i = 0; i < m->net->n_functions; i++) {
        evl_cntk2_function *f = &m->net->functions[i];
        f->nodes = &model->nodes[model->n_nodes];
        model->n_nodes += is_dissolved(f) ? 0 : f->n_outputs;
    }
    for (size_t i = 0; i < model->n_nodes; i++)
        model->nodes[i].index = i;
}

static evl_cntk_node *node_of(const evl_cntk2_source *s)
{
    return s->variable ? s->variable->node : &s->function->nodes[s->output];
}

/* --- variables -----------------------------------------------------------------------------------
 */

static EvalType real_of(int64_t number)
{
    return number == 2 ? EVAL_FLOAT64 : number == 4 ? EVAL_FLOAT16 : EVAL_FLOAT32;
}

/* Dimensions below 0 are open. A shape that is not known at all has one of them. */
static evl_cntk_list declared_shape(maker *m, const evl_cntk2_dictionary *record)
{
    evl_cntk2_value v;
    if (!evl_cntk2_find(m->c, record, "shape", EVL_CNTK2_SHAPE, &v))
        return (evl_cntk_list){ 0, NULL };
    evl_cntk_list dims = evl_cntk2_shape_of(m->c, v.shape);
    for (size_t i = 0; i < dims.n; i++)
        dims.at[i] = dims.at[i] < 0 ? EVL_UNKNOWN_DIM : dims.at[i];
    return dims;
}

/* Which axis an input's frames are on; sequences and what has one frame for each go together. */
static uint8_t frames_axis(maker *m, evl_pb_many axes, bool is_single)
{
    const char *name = evl_cntk2_sequence_axis(m->c, axes);
    size_t n = strlen(name), number = m->n_axes;
    if (is_single)
        return EVL_FRAMES_SINGLE;
    if (!evl_map_get(m->axes, name, n, &number) && m->c->status == EVAL_OK &&
        !evl_map_set(m->axes, name, n, m->n_axes++))
        m->c->status = evl_no_memory(m->c->ctx);
    return (uint8_t)(number < EVL_FRAMES_SINGLE ? number : EVL_FRAMES_SINGLE - 1);
}

/* An unbound placeholder is an input: some programs save their models so. */
static void fill_input(maker *m, const evl_cntk2_variable *x, evl_cntk_node *node)
{
    evl_cntk2_value v;
    node->op = &evl_cntk2_input.op;
    node->frames = evl_cntk2_input.frames;
    node->f.shape = declared_shape(m, &x->record);
    evl_pb_many axes = evl_cntk2_vector(m->c, &x->record, "dynamic_axis");
    node->f.is_static = x->kind == EVL_CNTK2_INPUT && axes.n == 0;
    node->f.is_single = evl_cntk2_is_single(m->c, axes);
    node->f.is_sparse =
        evl_cntk2_find(m->c, &x->record, "is_sparse", EVL_CNTK2_BOOL, &v) && v.flag;
    node->f.frames_axis = frames_axis(m, axes, node->f.is_single);
}

static void fill_parameter(maker *m, const evl_cntk2_variable *x, evl_cntk_node *node)
{
    evl_cntk2_value v;
    node->op = &evl_cntk2_parameter.op;
    if (!evl_cntk2_find(m->c, &x->record, "value", EVL_CNTK2_ARRAY, &v)) {
        evl_cntk2_fail(m->c, EVAL_ERR_FORMAT,
                       "CNTK v2: the parameter '%s' at byte %zu has no value", x->uid,
                       x->record.where);
        return;
    }
    evl_cntk2_array a = evl_cntk2_array_of(m->c, v.array);
    node->f.shape = a.dims;
    node->f.matrix = (evl_cntk_matrix){ a.type, a.n, 1, a.data };
}

/* Arrays of large files follow in this order, whether they are needed or not. */
static void skip_array(maker *m, const evl_cntk2_variable *x)
{
    evl_cntk2_value v;
    if (m->c->is_large && evl_cntk2_find(m->c, &x->record, "value", EVL_CNTK2_ARRAY, &v))
        evl_cntk2_array_of(m->c, v.array);
}

static void fill_variable(maker *m, const evl_cntk2_variable *x)
{
    evl_cntk_node *node = x->node;
    if (!node) {
        skip_array(m, x);
        return;
    }
    node->real = real_of(evl_cntk2_size(m->c, &x->record, "data_type", 1));
    node->where = x->record.where;
    node->f.word = "";
    if (x->kind == EVL_CNTK2_PARAMETER || x->kind == EVL_CNTK2_CONSTANT)
        fill_parameter(m, x, node);
    else
        fill_input(m, x, node);
}

/* --- functions -----------------------------------------------------------------------------------
 */

static void reorder(int order, evl_cntk_node **in, size_t n)
{
    evl_cntk_node *first = n > 0 ? in[0] : NULL;
    size_t other = order == EVL_CNTK2_SWAPPED ? 1 : 2;
    if (order == EVL_CNTK2_AS_IS || n <= other)
        return;
    if (order == EVL_CNTK2_FIRST_LAST) {
        in[0] = in[1];
        in[1] = in[2];
        in[2] = first;
        return;
    }
    in[0] = in[other];
    in[other] = first;
}

static evl_cntk_fields defaults(void)
{
    return (evl_cntk_fields){ .word = "",
                              .output_rank = 1,
                              .inferred_rank = -1,
                              .axis = 1,
                              .step = 1,
                              .groups = 1,
                              .layers = 1,
                              .layout = EVL_CNTK_CHW,
                              .keeps_axes = 1,
                              .number = 1,
                              .substitution = 1,
                              .deletion = 1,
                              .insertion = 1,
                              .blank = -1,
                              .delay = -1,
                              .epsilon = 1e-5 };
}

static void fill_function(maker *m, const evl_cntk2_function *f, const evl_cntk2_source *sources)
{
    const evl_cntk2_op *op =
        f->number == -1 ? &evl_cntk2_user_function : evl_cntk2_op_find(f->number);
    evl_cntk_node **in = evl_cntk2_take(m->c, f->n_inputs, sizeof *in);
    evl_cntk_fields fields = defaults();
    if (!op) {
        evl_cntk2_fail(m->c, EVAL_ERR_UNSUPPORTED,
                       "the function '%s' at byte %zu has the operator %lld, "
                       "which is not known",
                       f->uid, f->record.where, (long long)f->number);
        return;
    }
    evl_cntk2_read_attributes(m->c, &f->record, &fields);
    if (!in || m->c->status != EVAL_OK)
        return;
    for (size_t i = 0; i < f->n_inputs; i++)
        in[i] = node_of(&sources[i]);
    reorder(op->order, in, f->n_inputs);
    for (size_t i = 0; i < f->n_outputs; i++) {
        fields.output = (int64_t)i;
        f->nodes[i].op = &op->op;
        f->nodes[i].frames = op->frames;
        f->nodes[i].where = f->record.where;
        f->nodes[i].inputs = in;
        f->nodes[i].n_inputs = f->n_inputs;
        f->nodes[i].f = fields;
        f->nodes[i].real = EVAL_UNDEFINED;
    }
}

/* A network computes in one type. */
static void spread_type(maker *m)
{
    evl_cntk_model *model = m->model;
    EvalType type = EVAL_FLOAT32;
    for (size_t i = 0; i < model->n_nodes; i++)
        type = model->nodes[i].real == EVAL_FLOAT64 ? EVAL_FLOAT64 : type;
    for (size_t i = 0; i < model->n_nodes; i++)
        if (model->nodes[i].real == EVAL_UNDEFINED)
            model->nodes[i].real = type;
}

static void fill(maker *m)
{
    const evl_cntk2_source *at = m->sources;
    for (size_t i = 0; i < m->net->n_variables && m->c->status == EVAL_OK; i++)
        fill_variable(m, &m->net->variables[i]);
    for (size_t i = 0; i < m->net->n_functions && m->c->status == EVAL_OK; i++) {
        const evl_cntk2_function *f = &m->net->functions[i];
        if (is_dissolved(f))
            continue;
        fill_function(m, f, at);
        at += f->n_inputs;
    }
    if (m->c->status == EVAL_OK)
        spread_type(m);
}

/* --- names
 * ----------------------------------------------------------------------------------------- */

static size_t uses_of(const maker *m, const char *name)
{
    size_t n = 0;
    evl_map_get(m->uses, name, strlen(name), &n);
    return n;
}

static void count_use(maker *m, const char *name)
{
    if (*name && m->c->status == EVAL_OK &&
        !evl_map_set(m->uses, name, strlen(name), uses_of(m, name) + 1))
        m->c->status = evl_no_memory(m->c->ctx);
}

static void add_alias(maker *m, const char *text, const evl_cntk_node *node)
{
    if (*text)
        m->model->aliases[m->model->n_aliases++] = (evl_cntk_alias){ text, strlen(text), node };
}

/* "<uid>_Output_<output>" */
static const char *output_name(maker *m, const char *uid, size_t output)
{
    static const char word[] = "_Output_";
    char digits[24] = { 0 };
    size_t n = strlen(uid), at = sizeof digits - 1;
    do
        digits[--at] = (char)('0' + output % 10);
    while ((output /= 10) > 0);
    char *text = evl_cntk2_take(m->c, n + sizeof word + sizeof digits, 1);
    if (!text)
        return "";
    memcpy(text, uid, n);
    memcpy(text + n, word, sizeof word - 1);
    memcpy(text + n + sizeof word - 1, digits + at, sizeof digits - at);
    return text;
}

/* People's names may be given twice; the uid may not, and nobody else's name is one. */
static bool is_good_name(const maker *m, const char *name)
{
    return *name && uses_of(m, name) == 1;
}

static bool is_given(const evl_cntk2_variable *x)
{
    return x->node && (x->kind == EVL_CNTK2_INPUT || x->kind == EVL_CNTK2_PLACEHOLDER);
}

/* What the caller must give is called as people called it, even where a parameter inside a
** layer is called the same. */
static void name_given(maker *m)
{
    const evl_cntk2_network *net = m->net;
    evl_map *given = evl_map_new(m->c->arena);
    for (size_t i = 0; given && i < net->n_variables; i++) {
        const evl_cntk2_variable *x = &net->variables[i];
        size_t n = 0;
        evl_map_get(given, x->name, strlen(x->name), &n);
        if (is_given(x) && !evl_map_set(given, x->name, strlen(x->name), n + 1))
            given = NULL;
    }
    for (size_t i = 0; given && i < net->n_variables; i++) {
        const evl_cntk2_variable *x = &net->variables[i];
        size_t n = 0;
        if (is_given(x) && *x->name && evl_map_get(given, x->name, strlen(x->name), &n) && n == 1)
            x->node->name = x->name;
    }
    if (!given && m->c->status == EVAL_OK)
        m->c->status = evl_no_memory(m->c->ctx);
}

static void name_node(maker *m, evl_cntk_node *node, const char *name, const char *uid)
{
    if (!node->name && is_good_name(m, name))
        node->name = name;
    add_alias(m, name, node);
    add_alias(m, uid, node);
}

/* A function's outputs; of Blocks and Combines, those that they stand for. Where there are
** several, the function's name tells the first of its own. */
static void name_outputs(maker *m, const evl_cntk2_function *f)
{
    size_t n = evl_cntk2_output_count(m->net, f->uid);
    evl_cntk2_source s;
    for (size_t i = 0; i < n && n <= MOST_NAMED; i++) {
        if (!evl_cntk2_resolve_output(m->net, f->uid, i, &s) || !node_of(&s))
            return;
        evl_cntk_node *node = node_of(&s);
        if (n == 1 || (i == 0 && !is_dissolved(f)))
            name_node(m, node, f->name, f->uid);
        add_alias(m, output_name(m, f->uid, i), node);
    }
}

static void name_rest(maker *m)
{
    for (size_t i = 0; i < m->net->n_variables; i++) {
        const evl_cntk2_variable *x = &m->net->variables[i];
        if (x->node)
            x->node->name = x->node->name ? x->node->name : x->uid;
    }
    for (size_t i = 0; i < m->net->n_functions; i++) {
        const evl_cntk2_function *f = &m->net->functions[i];
        for (size_t j = 0; !is_dissolved(f) && j < f->n_outputs; j++)
            if (!f->nodes[j].name)
                f->nodes[j].name = f->n_outputs == 1 ? f->uid : output_name(m, f->uid, j);
    }
}

/* Functions' own names first, then those of what is dissolved. */
static void name_all(maker *m)
{
    evl_cntk2_network *net = m->net;
    for (size_t i = 0; i < net->n_variables; i++) {
        count_use(m, net->variables[i].node ? net->variables[i].name : "");
        count_use(m, net->variables[i].uid);
    }
    for (size_t i = 0; i < net->n_functions; i++) {
        count_use(m, net->functions[i].name);
        count_use(m, net->functions[i].uid);
    }
    name_given(m);
    for (size_t i = 0; i < net->n_variables; i++)
        if (net->variables[i].node)
            name_node(m, net->variables[i].node, net->variables[i].name, net->variables[i].uid);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = net->n_functions; i-- > 0 && m->c->status == EVAL_OK;)
            if (is_dissolved(&net->functions[i]) == (pass == 1))
                name_outputs(m, &net->functions[i]);
    name_rest(m);
}

/* --- the whole
 * --------------------------------------------------------------------------------------- */

static void find_outputs(maker *m)
{
    evl_cntk_group *group = &m->model->groups[EVL_CNTK_OUTPUTS];
    group->nodes = evl_cntk2_take(m->c, m->n_outputs, sizeof *group->nodes);
    for (size_t i = 0; i < m->n_outputs && group->nodes; i++)
        group->nodes[group->n++] = node_of(&m->outputs[i]);
}

static size_t most_aliases(const maker *m)
{
    size_t n = 2 * m->net->n_variables + 4;
    for (size_t i = 0; i < m->net->n_functions; i++) {
        size_t n_outputs = evl_cntk2_output_count(m->net, m->net->functions[i].uid);
        n += n_outputs <= MOST_NAMED ? n_outputs + 2 : 0;
    }
    return n;
}

void evl_cntk2_make_model(evl_cntk2_network *net, evl_cntk_model *model)
{
    maker m = { .net = net, .c = &net->c, .model = model, .uses = evl_map_new(net->c.arena) };
    m.axes = evl_map_new(net->c.arena);
    if (!m.uses || !m.axes)
        m.c->status = evl_no_memory(m.c->ctx);
    resolve_inputs(&m);
    resolve_outputs(&m);
    give_nodes(&m);
    if (m.c->status != EVAL_OK)
        return;
    fill(&m);
    model->aliases = evl_cntk2_take(m.c, most_aliases(&m), sizeof *model->aliases);
    if (m.c->status != EVAL_OK)
        return;
    find_outputs(&m);
    name_all(&m);
    if (model->groups[EVL_CNTK_OUTPUTS].n == 1 && m.c->status == EVAL_OK) {
        add_alias(&m, net->name, model->groups[EVL_CNTK_OUTPUTS].nodes[0]);
        add_alias(&m, net->uid, model->groups[EVL_CNTK_OUTPUTS].nodes[0]);
    }
}
