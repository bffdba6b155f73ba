/* values.c - a value as text, number, list or section. */
#include "base/text.h"
#include "config/tree.h"
#include <string.h>

/* Found, and without variables; both NULL when the key is not there. */
static EvalStatus look_up(evl_context *ctx, const evl_config *config, const char *key,
                          evl_config_entry **entry, const char **text)
{
    const evl_config *scope;
    *text = NULL;
    *entry = evl_config_find(config, key, strlen(key), &scope);
    return *entry ? evl_config_expand(ctx, scope, *entry, text) : EVAL_OK;
}

static EvalStatus fail_kind(evl_context *ctx, const evl_config_entry *entry, const char *text,
                            const char *wanted)
{
    return evl_fail(ctx, EVAL_ERR_ARGUMENT, "configuration, line %d: %s='%.*s': %s expected",
                    entry->line, entry->key, (int)evl_utf8_cut(text, strnlen(text, 80)), text,
                    wanted);
}

EvalStatus evl_config_text(evl_context *ctx, const evl_config *config, const char *key,
                           const char **value)
{
    evl_config_entry *entry;
    const char *text;
    EvalStatus st = look_up(ctx, config, key, &entry, &text);
    if (st == EVAL_OK && text)
        *value = text;
    return st;
}

EvalStatus evl_config_int(evl_context *ctx, const evl_config *config, const char *key,
                          int64_t *value)
{
    evl_config_entry *entry;
    const char *text;
    EvalStatus st = look_up(ctx, config, key, &entry, &text);
    if (st == EVAL_OK && text && !evl_text_to_i64(text, strlen(text), value))
        return fail_kind(ctx, entry, text, "integer argument");
    return st;
}

EvalStatus evl_config_number(evl_context *ctx, const evl_config *config, const char *key,
                             double *value)
{
    evl_config_entry *entry;
    const char *text;
    EvalStatus st = look_up(ctx, config, key, &entry, &text);
    if (st == EVAL_OK && text && !evl_text_to_f64(text, strlen(text), value))
        return fail_kind(ctx, entry, text, "number");
    return st;
}

static bool text_to_bool(const char *text, bool *value)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {
        { "true", true }, { "t", true },  { "1", true }, { "false", false },
        { "f", false },   { "0", false }, { "", false },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (evl_text_equal_no_case(text, strlen(text), words[i].word, strlen(words[i].word))) {
            *value = words[i].value;
            return true;
        }
    return false;
}

EvalStatus evl_config_bool(evl_context *ctx, const evl_config *config, const char *key, bool *value)
{
    evl_config_entry *entry;
    const char *text;
    EvalStatus st = look_up(ctx, config, key, &entry, &text);
    if (st == EVAL_OK && text && !text_to_bool(text, value))
        return fail_kind(ctx, entry, text, "boolean argument (true or false)");
    return st;
}

/* --- lists and sections: an expanded text is a text again --------------------------------- */

/* What is being asked for. */
typedef struct question {
    evl_context *ctx;
    const evl_config *config;
    const evl_config_entry *entry;
} question;

static EvalStatus check_again(const question *q, const char *text, evl_span *span)
{
    *span = evl_span_trimmed((evl_span){ text, strlen(text), q->entry->line });
    return evl_span_check(q->ctx, q->config->arena, *span);
}

typedef struct list {
    const char **items;
    size_t n, capacity;
} list;

static EvalStatus add_item(const question *q, list *to, evl_span item, size_t times)
{
    evl_arena *arena = q->config->arena;
    item = evl_span_unquoted(evl_span_trimmed(item));
    const char *text = evl_arena_text(arena, item.text, item.n);
    if (!text)
        return evl_no_memory(q->ctx);
    if (times > q->ctx->limits->max_nodes - to->n)
        return evl_fail(q->ctx, EVAL_ERR_LIMIT,
                        "configuration, line %d: '%s' has more than %zu items", q->entry->line,
                        q->entry->key, q->ctx->limits->max_nodes);
    for (size_t i = 0; i < times; i++) {
        const char **items = evl_arena_grow(arena, to->items, to->n, &to->capacity, sizeof *items);
        if (!items)
            return evl_no_memory(q->ctx);
        to->items = items;
        items[to->n++] = text;
    }
    return EVAL_OK;
}

/* "item*count", or an item alone; what begins with a bracket or quote has no count. */
static EvalStatus read_item(const question *q, list *to, evl_span item)
{
    const char *star = memchr(item.text, '*', item.n);
    int64_t count;
    if (!star || strchr("[{(\"'", *item.text))
        return add_item(q, to, item, 1);
    evl_span value = item, rest = evl_span_after(item, (size_t)(star - item.text) + 1);
    value.n = (size_t)(star - item.text);
    rest = evl_span_trimmed(rest);
    if (!value.n || !evl_text_to_i64(rest.text, rest.n, &count) || count < 0)
        return fail_kind(q->ctx, q->entry, item.text, "a value, '*' and how often");
    return add_item(q, to, value, (uint64_t)count > SIZE_MAX ? SIZE_MAX : (size_t)count);
}

EvalStatus evl_config_list(evl_context *ctx, const evl_config *config, const char *key,
                           const char ***items, size_t *n)
{
    evl_config_entry *entry;
    const char *text;
    evl_lexer lexer = { .separator = ':' };
    evl_span item;
    list all = { 0 };
    EvalStatus st = look_up(ctx, config, key, &entry, &text);
    question q = { ctx, config, entry };
    *items = NULL;
    *n = 0;
    if (st != EVAL_OK || !text)
        return st;
    st = check_again(&q, text, &lexer.rest);
    if (st == EVAL_OK && evl_span_is_bracket(&lexer.rest))
        lexer.rest = evl_span_inside(lexer.rest, &lexer.separator);
    while (st == EVAL_OK && evl_lexer_next(&lexer, &item))
        st = read_item(&q, &all, item);
    if (st == EVAL_OK) {
        *items = all.items;
        *n = all.n;
    }
    return st;
}

/* "key=$other$", where the other one is a section, or a section in quotes. */
static EvalStatus add_expanded(const question *q, evl_config_entry *entry, evl_config *section)
{
    const char *text;
    evl_span span;
    EvalStatus st = evl_config_expand(q->ctx, q->config, entry, &text);
    if (st == EVAL_OK)
        st = check_again(q, text, &span);
    if (st != EVAL_OK)
        return st;
    if (!evl_span_is_bracket(&span))
        return fail_kind(q->ctx, entry, text, "a section in brackets");
    return evl_config_add(q->ctx, section, span);
}

EvalStatus evl_config_section(evl_context *ctx, const evl_config *config, const char *key,
                              evl_config **section)
{
    const evl_config *scope;
    evl_config *new = NULL;
    evl_config_entry *entry = evl_config_find(config, key, strlen(key), &scope);
    *section = NULL;
    if (!entry)
        return EVAL_OK;
    question q = { ctx, scope, entry };
    EvalStatus st = evl_config_new(ctx, scope->arena, scope, &new);
    if (st == EVAL_OK && (entry->is_quoted || !evl_span_is_bracket(&entry->first->span)))
        st = add_expanded(&q, entry, new);
    else
        for (const evl_config_piece *p = entry->first; st == EVAL_OK && p; p = p->next)
            st = evl_config_add(ctx, new, p->span);
    if (st == EVAL_OK)
        *section = new;
    return st;
}
