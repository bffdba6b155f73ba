/* network.c - functions and variables are read, and uids looked up.
**
** Functions within Blocks stand in the same list as all others. A Block's placeholders are
** bound to what it is given, its outputs are those of its root; a Combine's outputs are its
** inputs. So both vanish when a uid is resolved. A cycle is cut by a placeholder that has
** the uid of a function's output. */
#include "readers/cntk2/network.h"
#include "base/text.h"
#include <string.h>

/* --- reading --------------------------------------------------------------------------------- */

static void set(evl_cntk2_cursor *c, evl_map *map, const char *name, size_t value)
{
    if (c->status == EVAL_OK && !evl_map_set(map, name, strlen(name), value))
        c->status = evl_no_memory(c->ctx);
}

static const char *uid_of(evl_cntk2_cursor *c, const evl_cntk2_dictionary *record)
{
    const char *uid = evl_cntk2_text(c, record, "uid");
    if (c->status == EVAL_OK && *uid == '\0')
        evl_cntk2_fail(c, EVAL_ERR_FORMAT, "CNTK v2: no uid at byte %zu", record->where);
    return uid;
}

static void read_variables(evl_cntk2_network *net, const evl_cntk2_dictionary *composite)
{
    evl_cntk2_cursor *c = &net->c;
    evl_pb_many items = evl_cntk2_vector(c, composite, "inputs");
    evl_cntk2_value v;
    net->variables = evl_cntk2_take(c, items.n, sizeof *net->variables);
    for (; evl_cntk2_item(c, &items, &v); net->n_variables++) {
        evl_cntk2_variable *x = &net->variables[net->n_variables];
        x->record = evl_cntk2_dictionary_of(c, v.dictionary);
        x->uid = uid_of(c, &x->record);
        x->name = evl_cntk2_text(c, &x->record, "name");
        x->kind = evl_cntk2_size(c, &x->record, "kind", EVL_CNTK2_OUTPUT);
        set(c, net->variable_of, x->uid, net->n_variables);
    }
}

static void read_inputs(evl_cntk2_network *net, evl_cntk2_function *f)
{
    evl_pb_many items = evl_cntk2_vector(&net->c, &f->record, "inputs");
    evl_cntk2_value v;
    f->inputs = evl_cntk2_take(&net->c, items.n, sizeof *f->inputs);
    while (evl_cntk2_item(&net->c, &items, &v))
        f->inputs[f->n_inputs++] = evl_cntk2_text_of(&net->c, v.text);
}

static void bind(evl_cntk2_network *net, const char *placeholder, const char *to)
{
    const char **all = evl_arena_grow(net->c.arena, net->bindings, net->n_bindings,
                                      &net->binding_capacity, sizeof *all);
    if (!all && net->c.status == EVAL_OK)
        net->c.status = evl_no_memory(net->c.ctx);
    if (!all)
        return;
    net->bindings = all;
    net->bindings[net->n_bindings] = to;
    set(&net->c, net->binding_of, placeholder, net->n_bindings++);
}

static void read_block(evl_cntk2_network *net, evl_cntk2_function *f)
{
    evl_cntk2_cursor *c = &net->c;
    evl_cntk2_value v, to;
    evl_pb_many keys =
        evl_cntk2_vector(c, &f->record, "block_function_composite_arguments_map_keys");
    evl_pb_many values =
        evl_cntk2_vector(c, &f->record, "block_function_composite_arguments_map_values");
    while (evl_cntk2_item(c, &keys, &v) && evl_cntk2_item(c, &values, &to))
        bind(net, evl_cntk2_text_of(c, v.text), evl_cntk2_text_of(c, to.text));
    if (!evl_cntk2_find(c, &f->record, "block_function_composite", EVL_CNTK2_DICTIONARY, &v)) {
        evl_cntk2_fail(c, EVAL_ERR_FORMAT, "CNTK v2: the Block '%s' is empty", f->uid);
        return;
    }
    evl_cntk2_dictionary inner = evl_cntk2_dictionary_of(c, v.dictionary);
    f->root = evl_cntk2_text(c, &inner, "root");
}

static size_t own_outputs(int64_t number)
{
    return number == EVL_CNTK2_TOP_K || number == EVL_CNTK2_UNPACK_SEQUENCE ? 2 : 1;
}

static void read_function(evl_cntk2_network *net, evl_cntk2_function *f, evl_bytes message)
{
    evl_cntk2_cursor *c = &net->c;
    f->record = evl_cntk2_dictionary_of(c, message);
    f->uid = uid_of(c, &f->record);
    f->name = evl_cntk2_text(c, &f->record, "name");
    bool is_users = strcmp(evl_cntk2_text(c, &f->record, "type"), "PrimitiveFunction") != 0;
    f->number = is_users ? -1 : evl_cntk2_size(c, &f->record, "op", -2);
    f->n_outputs = own_outputs(f->number);
    read_inputs(net, f);
    if (f->number == EVL_CNTK2_BLOCK)
        read_block(net, f);
}

static void read_functions(evl_cntk2_network *net, const evl_cntk2_dictionary *composite)
{
    evl_cntk2_cursor *c = &net->c;
    evl_pb_many items = evl_cntk2_vector(c, composite, "primitive_functions");
    evl_cntk2_value v;
    if (items.n > c->ctx->limits->max_nodes) {
        evl_cntk2_fail(c, EVAL_ERR_LIMIT, "%zu functions, and the setting maxNodes allows %zu", items.n,
                       c->ctx->limits->max_nodes);
        return;
    }
    net->functions = evl_cntk2_take(c, items.n, sizeof *net->functions);
    for (; evl_cntk2_item(c, &items, &v); net->n_functions++) {
        evl_cntk2_function *f = &net->functions[net->n_functions];
        read_function(net, f, v.dictionary);
        set(c, net->function_of, f->uid, net->n_functions);
    }
}

void evl_cntk2_read_network(evl_cntk2_network *net, const evl_cntk2_dictionary *composite)
{
    evl_cntk2_cursor *c = &net->c;
    net->variable_of = evl_map_new(c->arena);
    net->function_of = evl_map_new(c->arena);
    net->binding_of = evl_map_new(c->arena);
    if (c->status == EVAL_OK && (!net->variable_of || !net->function_of || !net->binding_of))
        c->status = evl_no_memory(c->ctx);
    if (c->status != EVAL_OK)
        return;
    net->root = evl_cntk2_text(c, composite, "root");
    net->name = evl_cntk2_text(c, composite, "name");
    net->uid = evl_cntk2_text(c, composite, "uid");
    read_variables(net, composite);
    read_functions(net, composite);
}

/* --- resolving ---------------------------------------------------------------------------------
 */

static bool fail_unknown(evl_cntk2_network *net, const char *uid, const char *why)
{
    evl_cntk2_fail(&net->c, EVAL_ERR_FORMAT, "CNTK v2: '%s' %s", uid, why);
    return false;
}

static evl_cntk2_function *function_of(const evl_cntk2_network *net, const char *uid, size_t n)
{
    size_t index;
    return evl_map_get(net->function_of, uid, n, &index) ? &net->functions[index] : NULL;
}

/* "<uid of a function>_Output_<number>" */
static evl_cntk2_function *split(const evl_cntk2_network *net, const char *uid, size_t *output)
{
    static const char word[] = "_Output_";
    const char *at = NULL;
    int64_t number = 0;
    for (const char *next = strstr(uid, word); next; next = strstr(next + 1, word))
        at = next;
    *output = 0;
    if (!at)
        return function_of(net, uid, strlen(uid));
    const char *digits = at + sizeof word - 1;
    if (!evl_text_to_i64(digits, strlen(digits), &number) || number < 0)
        return NULL;
    *output = (size_t)number;
    return function_of(net, uid, (size_t)(at - uid));
}

static bool is_final(const evl_cntk2_function *f)
{
    return f->number != EVL_CNTK2_COMBINE && f->number != EVL_CNTK2_BLOCK;
}

/* One step further: into a Block, whose function is then known, or through a Combine to
** the uid of another variable. */
static bool dissolve(evl_cntk2_network *net, evl_cntk2_source *s, const char **uid)
{
    const evl_cntk2_function *f = s->function;
    *uid = NULL;
    if (f->number == EVL_CNTK2_BLOCK) {
        s->function = function_of(net, f->root, strlen(f->root));
        return s->function || fail_unknown(net, f->uid, "is a Block without its root");
    }
    if (s->output >= f->n_inputs)
        return fail_unknown(net, f->uid, "has not that many outputs");
    *uid = f->inputs[s->output];
    return true;
}

/* Whether the uid, or what it is bound to, is made by a function or a variable. */
static bool look_up(evl_cntk2_network *net, const char *uid, evl_cntk2_source *s)
{
    size_t index, steps = 0;
    while (evl_map_get(net->binding_of, uid, strlen(uid), &index)) {
        if (steps++ == net->n_bindings)
            return fail_unknown(net, uid, "is bound to itself");
        uid = net->bindings[index];
    }
    s->function = split(net, uid, &s->output);
    s->variable = NULL;
    if (s->function)
        return true;
    if (!evl_map_get(net->variable_of, uid, strlen(uid), &index))
        return fail_unknown(net, uid, "is read and not there");
    s->variable = &net->variables[index];
    return true;
}

/* Dissolves until there is nothing to dissolve; a chain longer than all there is goes round. */
static bool follow(evl_cntk2_network *net, evl_cntk2_source *s)
{
    size_t most = net->n_functions + net->n_bindings + 2;
    for (size_t steps = 0; !s->variable && !is_final(s->function); steps++) {
        const char *uid;
        if (steps > most)
            return fail_unknown(net, s->function->uid, "is defined by itself");
        if (!dissolve(net, s, &uid) || (uid && !look_up(net, uid, s)))
            return false;
    }
    return s->variable || s->output < s->function->n_outputs ||
           fail_unknown(net, s->function->uid, "has not that many outputs");
}

bool evl_cntk2_resolve(evl_cntk2_network *net, const char *uid, evl_cntk2_source *s)
{
    *s = (evl_cntk2_source){ 0 };
    return net->c.status == EVAL_OK && look_up(net, uid, s) && follow(net, s);
}

bool evl_cntk2_resolve_output(evl_cntk2_network *net, const char *function, size_t output,
                              evl_cntk2_source *s)
{
    *s = (evl_cntk2_source){ .function = function_of(net, function, strlen(function)),
                             .output = output };
    if (net->c.status != EVAL_OK)
        return false;
    return s->function ? follow(net, s) : fail_unknown(net, function, "is no function");
}

size_t evl_cntk2_output_count(evl_cntk2_network *net, const char *function)
{
    for (size_t steps = 0; steps <= net->n_functions; steps++) {
        const evl_cntk2_function *f = function_of(net, function, strlen(function));
        if (!f)
            return 0;
        if (f->number != EVL_CNTK2_BLOCK)
            return f->number == EVL_CNTK2_COMBINE ? f->n_inputs : f->n_outputs;
        function = f->root;
    }
    return 0;
}
