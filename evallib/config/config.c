/* config.c - records become entries, found by key without case. */
#include "config/config.h"
#include "base/text.h"
#include "config/tree.h"
#include <string.h>

/* Who is in the middle of adding what. */
typedef struct builder {
    evl_context *ctx;
    evl_config *config;
} builder;

EvalStatus evl_config_new(evl_context *ctx, evl_arena *arena, const evl_config *parent,
                          evl_config **config)
{
    evl_config *new = evl_arena_take(arena, sizeof *new);
    evl_map *index = evl_map_new(arena);
    if (!new || !index)
        return evl_no_memory(ctx);
    *new = (evl_config){ .parent = parent, .arena = arena, .index = index };
    *config = new;
    return EVAL_OK;
}

static size_t lower(const char *key, size_t n, char folded[EVL_CONFIG_KEY_MAX])
{
    for (size_t i = 0; i < n; i++)
        folded[i] = (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] - 'A' + 'a' : key[i]);
    return n;
}

static evl_config_entry *entry_here(const evl_config *config, const char *key, size_t n)
{
    char folded[EVL_CONFIG_KEY_MAX];
    size_t at;
    if (n > sizeof folded || !evl_map_get(config->index, folded, lower(key, n, folded), &at))
        return NULL;
    return &config->entries[at];
}

static EvalStatus add_entry(const builder *b, const evl_span *key, evl_config_entry **entry)
{
    evl_config *config = b->config;
    char folded[EVL_CONFIG_KEY_MAX];
    if (key->n > sizeof folded || config->n >= b->ctx->limits->max_nodes)
        return evl_fail(b->ctx, EVAL_ERR_LIMIT, "configuration, line %d: %s", key->line,
                        key->n > sizeof folded ? "a key has more than 255 bytes"
                                               : "there are too many keys");
    evl_config_entry *entries = evl_arena_grow(config->arena, config->entries, config->n,
                                               &config->capacity, sizeof *entries);
    if (!entries)
        return evl_no_memory(b->ctx);
    config->entries = entries;
    const char *name = evl_arena_text(config->arena, key->text, key->n);
    const char *index = evl_arena_text(config->arena, folded, lower(key->text, key->n, folded));
    if (!name || !index || !evl_map_set(config->index, index, key->n, config->n))
        return evl_no_memory(b->ctx);
    *entry = &entries[config->n++];
    **entry = (evl_config_entry){ .key = name, .line = key->line };
    return EVAL_OK;
}

static bool is_section(const evl_config_entry *entry, const evl_span *value, bool is_quoted)
{
    return !entry->is_quoted && !is_quoted && *value->text == '[' && *entry->last->span.text == '[';
}

/* A later value replaces an earlier one; a later section is joined to an earlier one. */
static EvalStatus set(const builder *b, evl_config_entry *entry, evl_span value)
{
    bool is_quoted = evl_span_is_quoted(&value);
    evl_config_piece *piece = evl_arena_take(b->config->arena, sizeof *piece);
    if (!piece)
        return evl_no_memory(b->ctx);
    piece->span = evl_span_unquoted(value);
    if (entry->last && is_section(entry, &value, is_quoted)) {
        entry->last->next = piece;
    } else {
        entry->first = piece;
        entry->line = value.line;
    }
    entry->last = piece;
    entry->is_quoted = is_quoted;
    return EVAL_OK;
}

static EvalStatus fail_record(const builder *b, const evl_span *record, const char *what)
{
    int n = record->n > 40 ? (int)evl_utf8_cut(record->text, 40) : (int)record->n;
    return evl_fail(b->ctx, EVAL_ERR_ARGUMENT, "configuration, line %d: %s '%.*s%s'", record->line,
                    what, n, record->text, (size_t)n < record->n ? "..." : "");
}

static EvalStatus add_record(const builder *b, evl_span record)
{
    static const char yes[] = "true"; /* what a key alone means */
    evl_span key = record, value = { yes, sizeof yes - 1, record.line };
    key.n = evl_span_key(&record);
    if (key.n < record.n)
        value = evl_span_trimmed(evl_span_after(record, key.n + (record.text[key.n] == '=')));
    key = evl_span_unquoted(evl_span_trimmed(key));
    if (!key.n)
        return fail_record(b, &record, "no key is given for the value");
    if (!value.n)
        return fail_record(b, &key, "ParseValue: No value given for");
    EvalStatus st = EVAL_OK;
    evl_config_entry *entry = entry_here(b->config, key.text, key.n);
    if (!entry)
        st = add_entry(b, &key, &entry);
    return st == EVAL_OK ? set(b, entry, value) : st;
}

static EvalStatus add_records(const builder *b, evl_lexer *lexer)
{
    evl_span record;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_lexer_next(lexer, &record))
        st = add_record(b, record);
    return st;
}

EvalStatus evl_config_add(evl_context *ctx, evl_config *config, evl_span text)
{
    builder b = { ctx, config };
    evl_lexer lexer = { text, ';' };
    evl_span record;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_lexer_next(&lexer, &record)) {
        evl_lexer inner = { record, ';' };
        if (!evl_span_is_bracket(&record)) {
            st = add_record(&b, record);
            continue;
        }
        inner.rest = evl_span_inside(record, &inner.separator);
        st = add_records(&b, &inner);
    }
    return st;
}

EvalStatus evl_config_parse(evl_context *ctx, evl_arena *arena, const char *text,
                            const evl_config *parent, evl_config **config)
{
    evl_config *new = NULL;
    size_t n = text ? strlen(text) : 0;
    if (n > ctx->limits->max_text)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "configuration: %zu bytes, and %zu are allowed", n,
                        ctx->limits->max_text);
    char *copy = evl_arena_text(arena, text, n);
    if (!copy)
        return evl_no_memory(ctx);
    evl_comments_blank(copy, n);
    evl_span all = { copy, n, 1 };
    EvalStatus st = evl_span_check(ctx, arena, all);
    if (st == EVAL_OK)
        st = evl_config_new(ctx, arena, parent, &new);
    if (st == EVAL_OK)
        st = evl_config_add(ctx, new, all);
    if (st == EVAL_OK)
        *config = new;
    return st;
}

static bool is_default(const evl_config_entry *entry)
{
    const evl_span *span = &entry->first->span;
    return evl_text_equal("default", span->text, span->n);
}

evl_config_entry *evl_config_find(const evl_config *config, const char *key, size_t n_key,
                                  const evl_config **scope)
{
    for (; config; config = config->parent) {
        evl_config_entry *entry = entry_here(config, key, n_key);
        *scope = config;
        if (entry)
            return is_default(entry) ? NULL : entry;
    }
    return NULL;
}

bool evl_config_has(const evl_config *config, const char *key)
{
    const evl_config *scope;
    return evl_config_find(config, key, strlen(key), &scope) != NULL;
}

size_t evl_config_count(const evl_config *config)
{
    return config->n;
}

const char *evl_config_key(const evl_config *config, size_t index, int *line)
{
    *line = config->entries[index].line;
    return config->entries[index].key;
}
