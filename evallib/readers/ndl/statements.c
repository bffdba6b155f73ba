/* statements.c - names and what they mean: calls, macros, numbers, other names. */
#include "base/text.h"
#include "readers/ndl/network.h"
#include "readers/ndl/statements.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 200, KEY = 256 }; /* expressions within each other; bytes of a name */

void *evl_ndl_fail(evl_ndl_network *net, const evl_span *at, EvalStatus status, const char *format,
                   ...)
{
    char text[512];
    va_list arguments;
    if (net->status != EVAL_OK)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    net->status = evl_fail(net->ctx, status, "%s, line %d: %s", "NDL", at->line, text);
    return NULL;
}

evl_cntk_list evl_ndl_list(evl_ndl_network *net, size_t n, const int64_t *values)
{
    evl_cntk_list list = { n, evl_arena_take_many(net->arena, n + 1, sizeof *values) };
    if (!list.at) {
        net->status = evl_no_memory(net->ctx);
        return (evl_cntk_list){ 0, NULL };
    }
    for (size_t i = 0; i < n; i++)
        list.at[i] = values[i];
    return list;
}

/* --- scopes ------------------------------------------------------------------------------ */

evl_ndl_scope *evl_ndl_scope_new(evl_ndl_network *net, evl_ndl_scope *outer, const char *prefix)
{
    evl_ndl_scope *scope = evl_arena_take(net->arena, sizeof *scope);
    evl_map *names = evl_map_new(net->arena);
    if (!scope || !names) {
        net->status = evl_no_memory(net->ctx);
        return NULL;
    }
    *scope = (evl_ndl_scope){ .outer = outer, .names = names, .prefix = prefix };
    return scope;
}

/* CNTK looks names up whatever their case; very long ones are taken as they are. */
static evl_span key_of(char room[KEY], const char *name, size_t n)
{
    for (size_t i = 0; i < n && n <= KEY; i++)
        room[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    return (evl_span){ n <= KEY ? room : name, n, 0 };
}

static evl_ndl_symbol *add_symbol(evl_ndl_network *net, evl_ndl_scope *scope, evl_span name,
                                  evl_span body, evl_ndl_scope *at)
{
    evl_ndl_symbol **all = evl_arena_grow(net->arena, scope->symbols, scope->n, &scope->capacity,
                                          sizeof *all);
    evl_ndl_symbol *symbol = evl_arena_take(net->arena, sizeof *symbol);
    char room[KEY];
    evl_span key = key_of(room, name.text, name.n);
    const char *kept = evl_arena_text(net->arena, key.text, key.n);
    if (!all || !symbol || !kept || !evl_map_set(scope->names, kept, key.n, scope->n)) {
        net->status = evl_no_memory(net->ctx);
        return NULL;
    }
    *symbol = (evl_ndl_symbol){ .name = name, .body = body, .at = at };
    scope->symbols = all;
    return scope->symbols[scope->n++] = symbol;
}

/* Here, or in a scope around. */
static evl_ndl_symbol *find_symbol(const evl_ndl_scope *scope, const char *name, size_t n)
{
    char room[KEY];
    evl_span key = key_of(room, name, n);
    for (; scope; scope = scope->outer) {
        size_t index;
        if (evl_map_get(scope->names, key.text, key.n, &index))
            return scope->symbols[index];
    }
    return NULL;
}

static const evl_ndl_macro *find_macro(const evl_ndl_network *net, evl_span name)
{
    for (const evl_ndl_macro *m = net->macros; m; m = m->next)
        if (evl_text_equal_no_case(m->name.text, m->name.n, name.text, name.n))
            return m;
    return NULL;
}

/* --- calls ------------------------------------------------------------------------------- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || (unsigned char)c >= 0x80;
}

static size_t name_length(const evl_span *s)
{
    size_t n = 0;
    while (n < s->n && is_name(s->text[n]))
        n++;
    return n;
}

/* "name(...)": what is called, and the brackets with all in them. */
static bool split_call(evl_span s, evl_span *name, evl_span *brackets)
{
    size_t n = name_length(&s);
    *name = (evl_span){ s.text, n, s.line };
    *brackets = evl_span_trimmed(evl_span_after(s, n));
    return n > 0 && brackets->n > 1 && brackets->text[0] == '(' && evl_span_is_bracket(brackets);
}

static void take_argument(evl_ndl_network *net, evl_ndl_call *call, evl_span argument)
{
    size_t n = name_length(&argument);
    evl_span rest = evl_span_trimmed(evl_span_after(argument, n));
    bool is_option = n > 0 && rest.n > 0 && rest.text[0] == '=';
    size_t *count = is_option ? &call->n_options : &call->n;
    if (*count == EVL_NDL_ARGUMENTS) {
        evl_ndl_fail(net, &argument, EVAL_ERR_LIMIT, "more than %d arguments", EVL_NDL_ARGUMENTS);
        return;
    }
    (is_option ? call->options : call->arguments)[(*count)++] = argument;
}

static void take_arguments(evl_ndl_network *net, evl_ndl_call *call, evl_span brackets)
{
    char separator = ',';
    evl_lexer lexer = { .rest = evl_span_inside(brackets, &separator), .separator = separator };
    evl_span argument;
    while (net->status == EVAL_OK && evl_lexer_next(&lexer, &argument))
        take_argument(net, call, argument);
}

bool evl_ndl_option(const evl_ndl_call *call, const char *name, evl_span *value)
{
    for (size_t i = 0; i < call->n_options; i++) {
        const evl_span *o = &call->options[i];
        size_t n = name_length(o);
        if (!evl_text_equal_no_case(o->text, n, name, strlen(name)))
            continue;
        evl_span rest = evl_span_trimmed(evl_span_after(*o, n));
        *value = evl_span_unquoted(evl_span_trimmed(evl_span_after(rest, 1)));
        return true;
    }
    return false;
}

double evl_ndl_option_number(evl_ndl_network *net, const evl_ndl_call *call, const char *name,
                             double usual)
{
    evl_span value;
    if (evl_ndl_option(call, name, &value))
        evl_ndl_number(net, call->scope, value, &usual);
    return usual;
}

bool evl_ndl_option_flag(const evl_ndl_call *call, const char *name, bool usual)
{
    evl_span value;
    if (!evl_ndl_option(call, name, &value) || value.n == 0)
        return usual;
    return value.text[0] == 't' || value.text[0] == 'T' || value.text[0] == '1';
}

/* --- nodes ------------------------------------------------------------------------------- */

static const char *joined(evl_ndl_network *net, const char *prefix, evl_span name)
{
    size_t n = strlen(prefix);
    char *text = evl_arena_take(net->arena, n + name.n + 1);
    if (!text) {
        net->status = evl_no_memory(net->ctx);
        return "";
    }
    memcpy(text, prefix, n + 1);
    memcpy(text + n, name.text, name.n);
    return text;
}

static evl_cntk_node *add_node(evl_ndl_network *net, const char *name, size_t where)
{
    evl_cntk_node **all = evl_arena_grow(net->arena, net->nodes, net->n_nodes, &net->capacity,
                                         sizeof *all);
    evl_cntk_node *node = evl_arena_take(net->arena, sizeof *node);
    if (!all || !node) {
        net->status = evl_no_memory(net->ctx);
        return NULL;
    }
    *node = (evl_cntk_node){ .name = name, .index = net->n_nodes, .real = EVAL_FLOAT64,
                             .where = where };
    net->nodes = all;
    return net->nodes[net->n_nodes++] = node;
}

void evl_ndl_add_to_group(evl_ndl_network *net, int group, evl_cntk_node *node)
{
    evl_cntk_group *g = &net->groups[group];
    evl_cntk_node **all = evl_arena_grow(net->arena, g->nodes, g->n, &net->group_capacity[group],
                                         sizeof *all);
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i] == node)
            return;
    if (!all) {
        net->status = evl_no_memory(net->ctx);
        return;
    }
    g->nodes = all;
    g->nodes[g->n++] = node;
}

static void tag(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    static const char *const tags[EVL_CNTK_GROUPS] = { "feature", "label", "criterion", "eval",
                                                       "output" };
    evl_span value;
    if (!evl_ndl_option(call, "tag", &value))
        return;
    for (int i = 0; i < EVL_CNTK_GROUPS; i++)
        if (evl_text_equal_no_case(value.text, value.n, tags[i], strlen(tags[i])))
            evl_ndl_add_to_group(net, i, node);
}

static const char *node_name(evl_ndl_network *net, const evl_ndl_scope *scope, evl_ndl_symbol *symbol)
{
    char text[32] = "unnamed";
    size_t n = 7, number = ++net->n_unnamed, digits = 1;
    if (symbol) {
        net->n_unnamed--;
        return joined(net, scope->prefix, symbol->name);
    }
    for (size_t rest = number; rest >= 10; rest /= 10)
        digits++;
    for (size_t i = digits; i-- > 0; number /= 10)
        text[n + i] = (char)('0' + number % 10);
    return joined(net, scope->prefix, (evl_span){ text, n + digits, 0 });
}

/* The macro's statements with its parameters' names; the value is its last statement. */
static evl_cntk_node *call_macro(evl_ndl_network *net, const evl_ndl_macro *m,
                                 const evl_ndl_call *call, evl_ndl_symbol *symbol)
{
    evl_ndl_scope *scope = call->scope;
    char separator = ',';
    evl_span parameter, dot = { ".", 1, 0 };
    const char *prefix = joined(net, node_name(net, scope, symbol), dot);
    evl_ndl_scope *outermost = scope, *inner;
    while (outermost->outer)
        outermost = outermost->outer;
    inner = evl_ndl_scope_new(net, outermost, prefix);
    evl_lexer lexer = { .rest = evl_span_inside(m->parameters, &separator), .separator = separator };
    for (size_t i = 0; net->status == EVAL_OK && evl_lexer_next(&lexer, &parameter); i++) {
        if (i >= call->n)
            return evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "%zu arguments are too few",
                                call->n);
        add_symbol(net, inner, parameter, call->arguments[i], scope);
    }
    if (net->status != EVAL_OK)
        return NULL;
    if (symbol)
        symbol->call = inner;
    evl_ndl_symbol *last = evl_ndl_add_statements(net, inner, m->body);
    if (!last)
        return evl_ndl_fail(net, &m->name, EVAL_ERR_ARGUMENT, "a macro without a statement");
    return evl_ndl_node(net, inner, last->name);
}

static evl_cntk_node *make_node(evl_ndl_network *net, const evl_ndl_call *call,
                                evl_ndl_symbol *symbol)
{
    if (net->n_nodes >= net->ctx->limits->max_nodes)
        return evl_ndl_fail(net, &call->function, EVAL_ERR_LIMIT,
                            "more than %zu nodes, the setting maxNodes",
                            net->ctx->limits->max_nodes);
    evl_cntk_node *node =
        add_node(net, node_name(net, call->scope, symbol), (size_t)call->function.line);
    if (!node)
        return NULL;
    if (symbol)
        symbol->node = node; /* a loop may come back here */
    evl_ndl_apply(net, call, node);
    return net->status == EVAL_OK ? node : NULL;
}

/* A call, for a name that is then the node's. */
static evl_cntk_node *call_function(evl_ndl_network *net, evl_ndl_scope *scope, evl_span name,
                                    evl_span brackets, evl_ndl_symbol *symbol)
{
    evl_ndl_call *call = evl_allocate(net->ctx->memory, sizeof *call);
    const evl_ndl_macro *m = find_macro(net, name);
    evl_cntk_node *node = NULL;
    if (!call) {
        net->status = evl_no_memory(net->ctx);
        return NULL;
    }
    *call = (evl_ndl_call){ .function = name, .scope = scope };
    take_arguments(net, call, brackets);
    if (net->status == EVAL_OK)
        node = m ? call_macro(net, m, call, symbol) : make_node(net, call, symbol);
    if (node)
        tag(net, call, node);
    evl_release(net->ctx->memory, call);
    return node;
}

/* "call.name": a statement within a macro that was called. */
static evl_cntk_node *node_within(evl_ndl_network *net, evl_ndl_scope *scope, evl_span name)
{
    for (size_t i = name.n; i-- > 0;) {
        evl_ndl_symbol *s = name.text[i] == '.' ? find_symbol(scope, name.text, i) : NULL;
        evl_span first = { name.text, i, name.line };
        if (s && evl_ndl_node(net, scope, first) && s->call)
            return evl_ndl_node(net, s->call, evl_span_after(name, i + 1));
    }
    return evl_ndl_fail(net, &name, EVAL_ERR_NOT_FOUND, "no statement '%.*s'",
                        (int)(name.n < 64 ? name.n : 64), name.text);
}

static evl_cntk_node *node_of_symbol(evl_ndl_network *net, evl_ndl_symbol *s)
{
    evl_span name, brackets;
    if (s->node)
        return s->node;
    if (s->is_open)
        return evl_ndl_fail(net, &s->name, EVAL_ERR_ARGUMENT, "'%.*s' is made of itself",
                            (int)(s->name.n < 64 ? s->name.n : 64), s->name.text);
    s->is_open = true;
    evl_cntk_node *node = split_call(s->body, &name, &brackets)
                              ? call_function(net, s->at, name, brackets, s)
                              : evl_ndl_node(net, s->at, s->body);
    s->is_open = false;
    return s->node = node;
}

static evl_cntk_node *find_node(evl_ndl_network *net, evl_ndl_scope *scope, evl_span expression)
{
    evl_span name, brackets;
    double number;
    if (split_call(expression, &name, &brackets))
        return call_function(net, scope, name, brackets, NULL);
    if (expression.n == 0 || name_length(&expression) != expression.n)
        return evl_ndl_fail(net, &expression, EVAL_ERR_ARGUMENT, "'%.*s' is no name and no call",
                            (int)(expression.n < 64 ? expression.n : 64), expression.text);
    evl_ndl_symbol *s = find_symbol(scope, expression.text, expression.n);
    if (s)
        return node_of_symbol(net, s);
    if (evl_text_to_f64(expression.text, expression.n, &number))
        return evl_ndl_fail(net, &expression, EVAL_ERR_ARGUMENT,
                            "the number %.*s where a node is wanted: Constant(%.*s) is one",
                            (int)(expression.n < 32 ? expression.n : 32), expression.text,
                            (int)(expression.n < 32 ? expression.n : 32), expression.text);
    return node_within(net, scope, expression);
}

evl_cntk_node *evl_ndl_node(evl_ndl_network *net, evl_ndl_scope *scope, evl_span expression)
{
    if (net->status != EVAL_OK)
        return NULL;
    if (net->depth == DEEPEST)
        return evl_ndl_fail(net, &expression, EVAL_ERR_LIMIT, "more than %d names within each other",
                            DEEPEST);
    net->depth++;
    evl_cntk_node *node = find_node(net, scope, expression);
    net->depth--;
    return node;
}

bool evl_ndl_is_number(const evl_ndl_scope *scope, evl_span expression)
{
    double number;
    for (int depth = 0; depth < DEEPEST; depth++) {
        if (evl_text_to_f64(expression.text, expression.n, &number))
            return true;
        evl_ndl_symbol *s = find_symbol(scope, expression.text, expression.n);
        if (!s)
            return false;
        expression = s->body;
        scope = s->at;
    }
    return false;
}

bool evl_ndl_number(evl_ndl_network *net, evl_ndl_scope *scope, evl_span expression, double *number)
{
    for (int depth = 0; depth < DEEPEST && net->status == EVAL_OK; depth++) {
        expression = evl_span_unquoted(expression);
        if (evl_text_to_f64(expression.text, expression.n, number))
            return true;
        evl_ndl_symbol *s = find_symbol(scope, expression.text, expression.n);
        if (!s)
            break;
        expression = s->body;
        scope = s->at;
    }
    evl_ndl_fail(net, &expression, EVAL_ERR_ARGUMENT, "'%.*s' is no number",
                 (int)(expression.n < 64 ? expression.n : 64), expression.text);
    return false;
}

/* --- statements ---------------------------------------------------------------------------- */

static void add_macro(evl_ndl_network *net, evl_span name, evl_span parameters, evl_span body)
{
    char separator;
    evl_ndl_macro *m = evl_arena_take(net->arena, sizeof *m);
    if (!m) {
        net->status = evl_no_memory(net->ctx);
        return;
    }
    bool has_brackets = body.n > 1 && (body.text[0] == '[' || body.text[0] == '{') &&
                        evl_span_is_bracket(&body);
    *m = (evl_ndl_macro){ name, parameters, has_brackets ? evl_span_inside(body, &separator) : body,
                          net->macros };
    net->macros = m;
}

/* A statement: "name = ...", "macro(parameters) = ...", or a call alone. */
static evl_ndl_symbol *add_statement(evl_ndl_network *net, evl_ndl_scope *scope, evl_span statement)
{
    size_t n = name_length(&statement);
    evl_span name = { statement.text, n, statement.line };
    evl_span rest = evl_span_trimmed(evl_span_after(statement, n));
    if (n > 0 && rest.n > 0 && rest.text[0] == '=')
        return add_symbol(net, scope, name, evl_span_trimmed(evl_span_after(rest, 1)), scope);
    size_t closing = n > 0 && rest.n > 0 && rest.text[0] == '(' ? evl_span_nested(&rest) : 0;
    evl_span parameters = { rest.text, closing, rest.line };
    evl_span behind = evl_span_trimmed(evl_span_after(rest, closing));
    if (closing > 0 && behind.n > 0 && behind.text[0] == '=') {
        add_macro(net, name, parameters, evl_span_trimmed(evl_span_after(behind, 1)));
        return NULL;
    }
    return add_symbol(net, scope, statement, statement, scope);
}

evl_ndl_symbol *evl_ndl_add_statements(evl_ndl_network *net, evl_ndl_scope *scope, evl_span body)
{
    evl_lexer lexer = { .rest = body, .separator = ';' };
    evl_ndl_symbol *last = NULL, *added;
    evl_span statement;
    while (net->status == EVAL_OK && evl_lexer_next(&lexer, &statement)) {
        added = add_statement(net, scope, statement);
        last = added ? added : last;
    }
    return last;
}
