/* variables.c - $name$ replaced when a value is asked for.
**
** An entry is expanded once and remembers the result, so the work is bounded by the text and
** not by how often a variable is named; what one question may produce is bounded as well. */
#include "base/text.h"
#include "config/tree.h"
#include <string.h>

typedef struct expansion {
    evl_context *ctx;
    evl_config_entry *asked; /* the entry that errors name */
    size_t depth, produced;
} expansion;

typedef struct output {
    evl_arena *arena;
    char *text;
    size_t n, capacity;
} output;

static EvalStatus put(expansion *e, output *out, const char *text, size_t n)
{
    e->produced += n;
    if (e->produced > e->ctx->limits->max_text)
        return evl_fail(e->ctx, EVAL_ERR_LIMIT,
                        "configuration, line %d: '%s' gets longer than %zu bytes by its variables",
                        e->asked->line, e->asked->key, e->ctx->limits->max_text);
    if (out->n + n >= out->capacity) {
        size_t capacity = 2 * (out->n + n) + 64;
        char *larger = evl_arena_take(out->arena, capacity); /* zeroed: the text always ends */
        if (!larger)
            return evl_no_memory(e->ctx);
        if (out->n)
            memcpy(larger, out->text, out->n);
        out->text = larger;
        out->capacity = capacity;
    }
    memcpy(out->text + out->n, text, n);
    out->n += n;
    return EVAL_OK;
}

static EvalStatus expand_entry(expansion *, const evl_config *, evl_config_entry *);

static EvalStatus put_variable(expansion *e, const evl_config *scope, const char *name, size_t n,
                               output *out)
{
    evl_config_entry *entry = evl_config_find(scope, name, n, &scope);
    if (!entry)
        return evl_fail(e->ctx, EVAL_ERR_ARGUMENT,
                        "configuration, line %d: No variable found with the name %.*s, for '%s'",
                        e->asked->line, (int)n, name, e->asked->key);
    EvalStatus st = expand_entry(e, scope, entry);
    return st == EVAL_OK ? put(e, out, entry->expanded, strlen(entry->expanded)) : st;
}

/* Bytes of the $name$ at p; 0 when the '$' is an ordinary character. */
static size_t variable_size(const char *p, size_t left)
{
    const char *close = left > 1 ? memchr(p + 1, '$', left - 1) : NULL;
    size_t n = close ? (size_t)(close - p) - 1 : 0;
    return n && n <= EVL_CONFIG_KEY_MAX && evl_is_variable_name(p + 1, n) ? n + 2 : 0;
}

static EvalStatus expand_span(expansion *e, const evl_config *scope, const evl_span *span,
                              output *out)
{
    EvalStatus st = EVAL_OK;
    for (size_t at = 0; st == EVAL_OK && at < span->n;) {
        const char *p = span->text + at, *dollar = memchr(p, '$', span->n - at);
        size_t plain = dollar ? (size_t)(dollar - p) : span->n - at;
        size_t size = dollar ? variable_size(dollar, span->n - at - plain) : 0;
        plain += dollar && !size;
        st = put(e, out, p, plain);
        if (st == EVAL_OK && size)
            st = put_variable(e, scope, dollar + 1, size - 2, out);
        at += plain + size;
    }
    return st;
}

static EvalStatus expand_pieces(expansion *e, const evl_config *scope, evl_config_entry *entry)
{
    output out = { .arena = scope->arena };
    EvalStatus st = put(e, &out, "", 0);
    for (const evl_config_piece *p = entry->first; st == EVAL_OK && p; p = p->next) {
        st = expand_span(e, scope, &p->span, &out);
        if (st == EVAL_OK && p->next)
            st = put(e, &out, " ", 1);
    }
    if (st == EVAL_OK)
        entry->expanded = out.text;
    return st;
}

static EvalStatus expand_entry(expansion *e, const evl_config *scope, evl_config_entry *entry)
{
    if (entry->expanded)
        return EVAL_OK;
    if (entry->is_expanding)
        return evl_fail(e->ctx, EVAL_ERR_ARGUMENT,
                        "configuration, line %d: the variable $%s$ is made of itself", entry->line,
                        entry->key);
    if (e->depth >= e->ctx->limits->max_depth)
        return evl_fail(e->ctx, EVAL_ERR_LIMIT,
                        "configuration, line %d: '%s' needs more than %zu variables in each other",
                        e->asked->line, e->asked->key, e->ctx->limits->max_depth);
    entry->is_expanding = true;
    e->depth++;
    EvalStatus st = expand_pieces(e, scope, entry);
    e->depth--;
    entry->is_expanding = false;
    return st;
}

EvalStatus evl_config_expand(evl_context *ctx, const evl_config *scope, evl_config_entry *entry,
                             const char **value)
{
    expansion e = { .ctx = ctx, .asked = entry };
    EvalStatus st = expand_entry(&e, scope, entry);
    if (st == EVAL_OK)
        *value = entry->expanded;
    return st;
}
