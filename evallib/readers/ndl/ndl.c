/* ndl.c - where a description's statements are, and the model they make. */
#include "readers/ndl/ndl.h"
#include "base/text.h"
#include "os/os.h"
#include "readers/cntk/build.h"
#include "readers/ndl/statements.h"
#include <string.h>

static const char builder[] = "NDLNetworkBuilder";

/* --- the text ------------------------------------------------------------------------------ */

/* A file of sections, read as configuration below `parent`. */
static EvalStatus read_file(evl_context *ctx, evl_arena *arena, const char *path,
                            const evl_config *parent, evl_config **config)
{
    evl_file file;
    EvalStatus st = evl_file_open(ctx, path, false, &file);
    if (st != EVAL_OK)
        return st;
    const char *text = evl_arena_text(arena, file.data, file.size);
    evl_file_close(&file);
    return text ? evl_config_parse(ctx, arena, text, parent, config) : evl_no_memory(ctx);
}

/* The statements of the section `name`, without its brackets. */
static EvalStatus find_body(evl_context *ctx, evl_arena *arena, const evl_config *config,
                            const char *name, evl_span *body)
{
    const char *text = NULL;
    char separator;
    EvalStatus st = evl_config_text(ctx, config, name, &text);
    if (st == EVAL_OK && !text)
        st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "%s: there is no section '%s'", builder, name);
    if (st != EVAL_OK)
        return st;
    *body = evl_span_trimmed((evl_span){ text, strlen(text), 1 });
    st = evl_span_check(ctx, arena, *body);
    if (st == EVAL_OK && evl_span_is_bracket(body))
        *body = evl_span_inside(*body, &separator);
    return st;
}

static EvalStatus add_body(evl_ndl_network *net, const evl_config *config, const char *name,
                           evl_ndl_scope *scope)
{
    evl_span body;
    EvalStatus st = find_body(net->ctx, net->arena, config, name, &body);
    if (st == EVAL_OK)
        evl_ndl_add_statements(net, scope, body);
    return st == EVAL_OK ? net->status : st;
}

/* The sections of macros that "load" names, in a file of their own or here. */
static EvalStatus add_macros(evl_ndl_network *net, evl_config *section, const evl_config *own,
                             evl_ndl_scope *scope)
{
    const char *path = NULL, **names;
    const evl_config *from = own;
    evl_config *file = NULL;
    size_t n;
    EvalStatus st = evl_config_text(net->ctx, section, "ndlMacros", &path);
    if (st == EVAL_OK && path && *path != '[') {
        st = read_file(net->ctx, net->arena, path, section, &file);
        from = file;
    }
    if (st == EVAL_OK)
        st = evl_config_list(net->ctx, own, "load", &names, &n);
    for (size_t i = 0; st == EVAL_OK && i < n; i++)
        st = add_body(net, evl_config_has(from, names[i]) ? from : own, names[i], scope);
    return st;
}

static EvalStatus add_all(evl_ndl_network *net, const evl_config *config, evl_ndl_scope *scope)
{
    evl_config *section, *file = NULL;
    const char *path = NULL, *run = builder;
    EvalStatus st = evl_config_section(net->ctx, config, builder, &section);
    if (st == EVAL_OK)
        st = evl_config_text(net->ctx, section, "networkDescription", &path);
    if (st == EVAL_OK && path)
        st = read_file(net->ctx, net->arena, path, section, &file);
    const evl_config *own = file ? file : section;
    if (st == EVAL_OK)
        st = evl_config_text(net->ctx, own, "run", &run);
    if (st == EVAL_OK)
        st = add_macros(net, section, own, scope);
    return st == EVAL_OK ? add_body(net, own, run, scope) : st;
}

/* --- the model ------------------------------------------------------------------------------- */

static int group_of(const evl_ndl_symbol *s)
{
    static const struct {
        const char *name;
        int group;
    } groups[] = { { "FeatureNodes", EVL_CNTK_FEATURES },    { "LabelNodes", EVL_CNTK_LABELS },
                   { "CriterionNodes", EVL_CNTK_CRITERIA },  { "CriteriaNodes", EVL_CNTK_CRITERIA },
                   { "EvalNodes", EVL_CNTK_EVALUATIONS },    { "OutputNodes", EVL_CNTK_OUTPUTS } };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (evl_text_equal_no_case(groups[i].name, strlen(groups[i].name), s->name.text, s->name.n))
            return groups[i].group;
    return -1;
}

static void make_group(evl_ndl_network *net, evl_ndl_scope *scope, evl_span names, int group)
{
    char separator = ',';
    bool has_brackets = evl_span_is_bracket(&names);
    evl_lexer lexer = { .rest = has_brackets ? evl_span_inside(names, &separator) : names };
    evl_span name;
    lexer.separator = (char)(separator == ',' ? ':' : separator);
    while (net->status == EVAL_OK && evl_lexer_next(&lexer, &name)) {
        evl_cntk_node *node = evl_ndl_node(net, scope, name);
        if (node)
            evl_ndl_add_to_group(net, group, node);
    }
}

static void make_nodes(evl_ndl_network *net, evl_ndl_scope *scope)
{
    for (size_t i = 0; i < scope->n && net->status == EVAL_OK; i++) {
        const evl_ndl_symbol *s = scope->symbols[i];
        int group = group_of(s);
        if (group >= 0)
            make_group(net, scope, s->body, group);
        else if (!evl_ndl_is_number(scope, s->body))
            evl_ndl_node(net, scope, s->name);
    }
}

/* Nodes one after the other, as the model wants them. */
static EvalStatus gather(evl_ndl_network *net, evl_cntk_model *model)
{
    *model = (evl_cntk_model){ .format = "NDL", .n_nodes = net->n_nodes };
    model->nodes = evl_arena_take_many(net->arena, net->n_nodes + 1, sizeof *model->nodes);
    if (!model->nodes)
        return evl_no_memory(net->ctx);
    for (size_t i = 0; i < net->n_nodes; i++) {
        model->nodes[i] = *net->nodes[i];
        for (size_t j = 0; j < net->nodes[i]->n_inputs; j++)
            model->nodes[i].inputs[j] = &model->nodes[net->nodes[i]->inputs[j]->index];
    }
    for (int g = 0; g < EVL_CNTK_GROUPS; g++) {
        model->groups[g] = net->groups[g];
        for (size_t i = 0; i < net->groups[g].n; i++)
            model->groups[g].nodes[i] = &model->nodes[net->groups[g].nodes[i]->index];
    }
    return EVAL_OK;
}

EvalStatus evl_ndl_read(evl_context *ctx, const evl_config *config, evl_graph *graph)
{
    evl_ndl_network net = { .ctx = ctx, .arena = graph->arena };
    evl_cntk_model model;
    evl_ndl_scope *scope = evl_ndl_scope_new(&net, NULL, "");
    EvalStatus st = scope ? add_all(&net, config, scope) : evl_no_memory(ctx);
    if (st != EVAL_OK)
        return st;
    make_nodes(&net, scope);
    if (net.status != EVAL_OK)
        return net.status;
    evl_ndl_draw(&net, scope);
    st = gather(&net, &model);
    return st == EVAL_OK ? evl_cntk_build(ctx, &model, graph) : st;
}
