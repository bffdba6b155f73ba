#include "api/nested.h"
#include "api/perform.h"
#include <string.h>

/* Types that nest deeper than the model can declare are no types. */
enum { DEEPEST = EVL_MAX_NESTING };

static EvalStatus check(evl_context *ctx, const char *name, const EvalTensor *t,
                        const evl_tensor *declared, size_t depth);

static EvalStatus wrong_type(evl_context *ctx, const char *name, const EvalTensor *t,
                             const evl_tensor *declared)
{
    char text[EVL_TYPE_TEXT];
    return evl_fail(ctx, EVAL_ERR_TYPE, "'%s': a value of type %s (%d), expected %s", name,
                    evl_type_name(t->type), (int)t->type, evl_type_text(declared, text));
}

static EvalStatus check_tensor(evl_context *ctx, const char *name, const EvalTensor *t,
                               const evl_tensor *declared)
{
    bool both_float = evl_type_is_float(declared->type) && evl_type_is_float(t->type);
    evl_shape shape = { .rank = t->rank };
    if (evl_type_size(t->type) == 0 ||
        (declared->type != EVAL_UNDEFINED && declared->type != t->type && !both_float))
        return wrong_type(ctx, name, t, declared);
    if (t->rank < 0 || t->rank > EVAL_MAX_RANK)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s': an element of rank %d, not in 0 .. %d", name,
                        (int)t->rank, EVAL_MAX_RANK);
    for (int32_t i = 0; i < t->rank; i++)
        if ((shape.dim[i] = t->dims[i]) < 0)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': an element's dimension %d is negative",
                            name, (int)i);
    EvalStatus st = evl_shape_check(ctx, &shape, evl_type_size(t->type));
    if (st != EVAL_OK)
        return st;
    size_t needed = evl_door_bytes(t->type, evl_shape_count(&shape));
    if (t->bytes != needed)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': an element of %zu bytes, expected %zu", name,
                        t->bytes, needed);
    if (!t->data && needed)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s': the data of an element is NULL", name);
    return EVAL_OK;
}

/* How many elements a nested value says it has. */
static EvalStatus check_count(evl_context *ctx, const char *name, const EvalTensor *t, size_t *n)
{
    size_t bytes;
    *n = 2;
    if (t->type != EVAL_MAP) {
        if (t->rank != 1 || t->dims[0] < 0 || (t->type == EVAL_OPTIONAL && t->dims[0] > 1))
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "'%s': a %s of rank %d and %lld elements: its rank is 1, and an "
                            "optional has 0 or 1",
                            name, evl_type_name(t->type), (int)t->rank,
                            t->rank == 1 ? (long long)t->dims[0] : -1);
        *n = (size_t)t->dims[0];
    }
    if (!evl_size_multiply(*n, sizeof *t, &bytes) || t->bytes != bytes)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': %zu bytes of elements, expected %zu of %zu",
                        name, t->bytes, *n, sizeof *t);
    if (!t->data && *n)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "'%s': its elements are NULL", name);
    return EVAL_OK;
}

static int64_t length_of(const EvalTensor *t)
{
    return t->rank == 1 ? t->dims[0] : -1;
}

static EvalStatus check_map(evl_context *ctx, const char *name, const EvalTensor *t)
{
    const EvalTensor *pair = t->data;
    if (length_of(&pair[0]) >= 0 && length_of(&pair[0]) == length_of(&pair[1]))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "'%s': keys and values are not two lists of one length",
                    name);
}

static EvalStatus check(evl_context *ctx, const char *name, const EvalTensor *t,
                        const evl_tensor *declared, size_t depth)
{
    size_t n;
    const EvalTensor *elements = t->data;
    if (declared->type == EVAL_OPTIONAL && t->type != EVAL_OPTIONAL) {
        evl_tensor inside = evl_nested_inside(declared, 0);
        return check(ctx, name, t, &inside, depth);
    }
    if (!evl_type_is_nested(t->type))
        return check_tensor(ctx, name, t, declared);
    if (depth >= DEEPEST || (declared->type != EVAL_UNDEFINED && declared->type != t->type))
        return wrong_type(ctx, name, t, declared);
    EvalStatus st = check_count(ctx, name, t, &n);
    for (size_t i = 0; i < n && st == EVAL_OK; i++) {
        evl_tensor inside = { .type = EVAL_UNDEFINED };
        if (declared->type != EVAL_UNDEFINED)
            inside = evl_nested_inside(declared, i);
        st = check(ctx, name, &elements[i], &inside, depth + 1);
    }
    return st == EVAL_OK && t->type == EVAL_MAP ? check_map(ctx, name, t) : st;
}

EvalStatus evl_nested_check(evl_context *ctx, const char *name, const EvalTensor *t,
                            const evl_tensor *declared)
{
    return check(ctx, name, t, declared, 0);
}

void evl_nested_type(const EvalTensor *t, evl_tensor *type)
{
    const EvalTensor *elements = t->data;
    evl_tensor inside = { .type = EVAL_UNDEFINED }, pair = { .type = EVAL_UNDEFINED };
    *type = (evl_tensor){ .type = t->type };
    if (!evl_type_is_nested(t->type))
        return;
    if (t->type == EVAL_MAP) {
        evl_nested_type(&elements[1], &inside);
        if (evl_nested_around(elements[0].type, &inside, &pair))
            inside = pair;
    } else if (t->dims[0] > 0) {
        evl_nested_type(&elements[0], &inside);
    }
    if (!evl_nested_around(t->type, &inside, type))
        type->shape = evl_shape_unknown(); /* deeper than was checked: cannot be */
}

static bool is_aligned(const void *data, EvalType type)
{
    size_t size = evl_type_size(type);
    return (uintptr_t)data % (size > 8 ? 8 : size) == 0;
}

static EvalStatus tensor_in(evl_context *ctx, evl_arena *arena, EvalType real,
                            const EvalTensor *from, const evl_tensor *declared, evl_tensor *to)
{
    EvalType type = declared->type == EVAL_UNDEFINED ? from->type : declared->type;
    *to = (evl_tensor){ .type = evl_type_is_float(type) ? real : type,
                        .shape = evl_shape_of((size_t)from->rank, from->dims) };
    size_t n = evl_shape_count(&to->shape);
    if (n && to->type == from->type && !evl_door_is_packed(type) && is_aligned(from->data, type)) {
        to->data = from->data;
        return EVAL_OK;
    }
    to->data = evl_arena_take(arena, n * evl_type_size(to->type) + 1); /* checked before */
    if (!to->data)
        return evl_no_memory(ctx);
    return n ? evl_door_in(ctx, n, from->type, from->data, to->type, to->data) : EVAL_OK;
}

EvalStatus evl_nested_in(evl_context *ctx, evl_arena *arena, EvalType real, const EvalTensor *from,
                         const evl_tensor *declared, evl_tensor *to)
{
    const EvalTensor *elements = from->data;
    bool is_bare = declared->type == EVAL_OPTIONAL && from->type != EVAL_OPTIONAL;
    size_t n = is_bare ? 1 : from->type == EVAL_MAP ? 2 : (size_t)from->dims[0];
    EvalStatus st = EVAL_OK;
    if (!is_bare && !evl_type_is_nested(from->type))
        return tensor_in(ctx, arena, real, from, declared, to);
    evl_tensor type = *declared;
    if (declared->type == EVAL_UNDEFINED)
        evl_nested_type(from, &type);
    *to = (evl_tensor){ .type = type.type };
    memcpy(to->inner, type.inner, sizeof to->inner);
    evl_type_make_real(to, real);
    if (!evl_nested_take(arena, n, to))
        return evl_no_memory(ctx);
    evl_tensor *inside = to->data;
    for (size_t i = 0; i < n && st == EVAL_OK; i++) {
        evl_tensor element = evl_nested_inside(&type, i);
        st = evl_nested_in(ctx, arena, real, is_bare ? from : &elements[i], &element, &inside[i]);
    }
    return st;
}

/* --- out: an array of EvalTensor, then what each holds, each at a multiple of 16 --------- */

enum { PLACE = 16 };

static size_t count_of(const evl_tensor *t)
{
    return t->type == EVAL_MAP ? 2 : evl_shape_count(&t->shape);
}

static bool round_up(size_t *bytes)
{
    return evl_size_add(*bytes, (PLACE - *bytes % PLACE) % PLACE, bytes);
}

static bool text_bytes(const evl_tensor *t, size_t *bytes)
{
    const EvalString *texts = t->data;
    for (size_t i = 0; i < evl_shape_count(&t->shape); i++)
        if (!evl_size_add(*bytes, texts[i].size, bytes) || !evl_size_add(*bytes, 1, bytes))
            return false;
    return true;
}

bool evl_nested_out_bytes(const evl_tensor *t, size_t *bytes)
{
    size_t n = count_of(t), part;
    if (!evl_type_is_nested(t->type)) {
        *bytes = evl_door_bytes(t->type, n);
        return t->type != EVAL_STRING || text_bytes(t, bytes);
    }
    if (!evl_size_multiply(n, sizeof(EvalTensor), bytes) || !round_up(bytes))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!evl_nested_out_bytes(evl_nested_at(t, i), &part) || !round_up(&part) ||
            !evl_size_add(*bytes, part, bytes))
            return false;
    return true;
}

static void texts_out(const evl_tensor *from, size_t n, EvalString *to)
{
    const EvalString *texts = from->data;
    char *at = (char *)(to + n);
    for (size_t i = 0; i < n; i++) {
        if (texts[i].size)
            memcpy(at, texts[i].text, texts[i].size);
        at[texts[i].size] = '\0';
        to[i] = (EvalString){ at, texts[i].size };
        at += texts[i].size + 1;
    }
}

static EvalStatus elements_out(evl_context *ctx, const evl_tensor *from, EvalTensor *to)
{
    size_t n = count_of(from), at = n * sizeof *to, bytes;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n && st == EVAL_OK; i++) {
        const evl_tensor *t = evl_nested_at(from, i);
        if (!round_up(&at) || !evl_nested_out_bytes(t, &bytes))
            return evl_no_memory(ctx);
        to[i] = (EvalTensor){ .name = "", .type = t->type, .rank = t->shape.rank };
        for (int32_t d = 0; d < t->shape.rank; d++)
            to[i].dims[d] = t->shape.dim[d];
        to[i].data = (char *)to + at;
        to[i].bytes = evl_type_is_nested(t->type) ? count_of(t) * sizeof *to
                                                  : evl_door_bytes(t->type, count_of(t));
        st = evl_nested_out(ctx, t, to[i].data);
        at += bytes;
    }
    return st;
}

EvalStatus evl_nested_out(evl_context *ctx, const evl_tensor *from, void *block)
{
    size_t n = count_of(from);
    if (evl_type_is_nested(from->type))
        return elements_out(ctx, from, block);
    if (from->type == EVAL_STRING)
        texts_out(from, n, block);
    else if (n)
        return evl_door_out(ctx, n, from->type, from->data, from->type, block);
    return EVAL_OK;
}
