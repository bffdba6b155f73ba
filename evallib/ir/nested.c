#include "ir/nested.h"
#include <stdio.h>
#include <string.h>

bool evl_type_is_nested(EvalType type)
{
    return type == EVAL_SEQUENCE || type == EVAL_OPTIONAL || type == EVAL_MAP;
}

evl_tensor evl_nested_inside(const evl_tensor *t, size_t part)
{
    size_t from = t->type == EVAL_MAP ? part : 0;
    evl_tensor inside = { .type = (EvalType)t->inner[from], .shape = evl_shape_unknown() };
    for (size_t i = from + 1; i < EVL_MAX_NESTING && evl_type_is_nested(inside.type); i++)
        inside.inner[i - from - 1] = t->inner[i];
    if (evl_type_is_nested(inside.type))
        inside.shape = evl_shape_of(1, (int64_t[]){ EVL_UNKNOWN_DIM });
    return inside;
}

bool evl_nested_around(EvalType type, const evl_tensor *inside, evl_tensor *t)
{
    if (inside->inner[EVL_MAX_NESTING - 1])
        return false;
    for (size_t i = EVL_MAX_NESTING - 1; i > 0; i--)
        t->inner[i] = inside->inner[i - 1];
    t->inner[0] = (uint16_t)inside->type;
    t->type = type;
    t->shape = evl_shape_of(1, (int64_t[]){ EVL_UNKNOWN_DIM });
    return true;
}

bool evl_type_equal(const evl_tensor *a, const evl_tensor *b)
{
    return a->type == b->type && memcmp(a->inner, b->inner, sizeof a->inner) == 0;
}

bool evl_type_has_text(const evl_tensor *t)
{
    EvalType innermost = t->type;
    bool has = t->type == EVAL_STRING;
    for (size_t i = 0; i < EVL_MAX_NESTING && t->inner[i]; i++) {
        innermost = (EvalType)t->inner[i];
        has |= innermost == EVAL_STRING;
    }
    return has || innermost == EVAL_UNDEFINED || evl_type_is_nested(innermost);
}

void evl_type_copy(const evl_tensor *from, evl_tensor *to)
{
    to->type = from->type;
    memcpy(to->inner, from->inner, sizeof to->inner);
}

void evl_type_make_real(evl_tensor *t, EvalType real)
{
    if (evl_type_is_float(t->type))
        t->type = real;
    for (size_t i = 0; i < EVL_MAX_NESTING && t->inner[i]; i++)
        if (evl_type_is_float((EvalType)t->inner[i]))
            t->inner[i] = (uint16_t)real;
}

/* The names of the types around, and of the innermost; a map's values follow its keys. */
const char *evl_type_text(const evl_tensor *t, char buffer[EVL_TYPE_TEXT])
{
    size_t at = 0, open = 0, i = 0;
    EvalType type = t->type;
    for (; evl_type_is_nested(type) && i < EVL_MAX_NESTING; type = (EvalType)t->inner[i++]) {
        const char *name = type == EVAL_SEQUENCE ? "seq" : evl_type_name(type);
        at += (size_t)snprintf(buffer + at, EVL_TYPE_TEXT - at, "%s(", name);
        open++;
        if (type == EVAL_MAP && i + 1 < EVL_MAX_NESTING)
            at += (size_t)snprintf(buffer + at, EVL_TYPE_TEXT - at, "%s,",
                                   evl_type_name((EvalType)t->inner[i++]));
    }
    at += (size_t)snprintf(buffer + at, EVL_TYPE_TEXT - at, "%s", evl_type_name(type));
    while (open-- > 0 && at + 1 < EVL_TYPE_TEXT)
        at += (size_t)snprintf(buffer + at, EVL_TYPE_TEXT - at, ")");
    return buffer;
}

const evl_tensor *evl_nested_at(const evl_tensor *t, size_t index)
{
    return (const evl_tensor *)t->data + index;
}

bool evl_nested_take(evl_arena *arena, size_t n, evl_tensor *t)
{
    t->data = evl_arena_take_many(arena, n + 1, sizeof(evl_tensor));
    t->shape = evl_shape_of(1, (int64_t[]){ (int64_t)n });
    return t->data;
}

static size_t element_count(const evl_tensor *t)
{
    return t->type == EVAL_MAP ? 2 : evl_shape_count(&t->shape);
}

/* The next place for an element's data. */
static bool round_up(size_t *bytes)
{
    size_t more = (EVL_ALIGNMENT - *bytes % EVL_ALIGNMENT) % EVL_ALIGNMENT;
    return evl_size_add(*bytes, more, bytes);
}

static bool text_bytes(const evl_tensor *t, size_t *bytes)
{
    const EvalString *texts = t->data;
    for (size_t i = 0; texts && i < evl_shape_count(&t->shape); i++)
        if (!evl_size_add(*bytes, texts[i].size, bytes))
            return false;
    return true;
}

bool evl_value_bytes(const evl_tensor *t, size_t *bytes)
{
    size_t n = element_count(t), part;
    if (!evl_type_is_nested(t->type))
        return evl_size_multiply(n, evl_type_size(t->type), bytes) &&
               (t->type != EVAL_STRING || text_bytes(t, bytes));
    if (!evl_size_multiply(n, sizeof *t, bytes) || !round_up(bytes))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!evl_value_bytes(evl_nested_at(t, i), &part) || !round_up(&part) ||
            !evl_size_add(*bytes, part, bytes))
            return false;
    return true;
}

EvalStatus evl_value_room(evl_context *ctx, const evl_tensor *t, size_t *bytes)
{
    if (evl_value_bytes(t, bytes) && *bytes <= ctx->limits->max_tensor_bytes)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_LIMIT,
                    "a value has more bytes than the setting maxTensorBytes allows, %zu",
                    ctx->limits->max_tensor_bytes);
}

static void copy_texts(const evl_tensor *from, size_t n, EvalString *to)
{
    const EvalString *texts = from->data;
    char *at = (char *)(to + n);
    for (size_t i = 0; i < n; i++) {
        if (texts[i].size)
            memcpy(at, texts[i].text, texts[i].size);
        to[i] = (EvalString){ at, texts[i].size };
        at += texts[i].size;
    }
}

static void copy_elements(const evl_tensor *from, size_t n, evl_tensor *to)
{
    size_t at = n * sizeof *to, bytes;
    for (size_t i = 0; i < n; i++) { /* sums that evl_value_bytes has seen to fit */
        const evl_tensor *element = evl_nested_at(from, i);
        if (!round_up(&at) || !evl_value_bytes(element, &bytes))
            return;
        evl_value_copy(element, (char *)to + at, &to[i]);
        at += bytes;
    }
}

void evl_value_copy(const evl_tensor *from, void *block, evl_tensor *to)
{
    size_t n = element_count(from), bytes = n * evl_type_size(from->type);
    evl_tensor copy = *from;
    copy.life = EVL_LIFE_RUN;
    copy.data = block;
    if (evl_type_is_nested(from->type))
        copy_elements(from, n, block);
    else if (from->data && from->type == EVAL_STRING)
        copy_texts(from, n, block);
    else if (from->data && bytes)
        memcpy(block, from->data, bytes);
    *to = copy;
}
