/* StringConcat, StringSplit, StringNormalizer. Texts that they make last until the next run. */
#include "base/characters.h"
#include "ops/broadcast.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

static EvalStatus need_strings(const evl_infer *x)
{
    for (size_t i = 0; i < x->use.n_in; i++)
        if (x->use.in[i]->type != EVAL_STRING && x->use.in[i]->type != EVAL_UNDEFINED)
            return evl_fail(x->ctx, EVAL_ERR_TYPE, "input %zu is %s, expected string", i,
                            evl_type_name(x->use.in[i]->type));
    return EVAL_OK;
}

/* --- StringConcat --- */

static EvalStatus infer_concat(evl_infer *x)
{
    EvalStatus st = need_strings(x);
    if (st == EVAL_OK)
        st = evl_infer_broadcast(x);
    x->out[0].type = EVAL_STRING;
    return st;
}

static EvalStatus prepare_concat(evl_prepare *p)
{
    evl_broadcast *shape = evl_arena_take(p->arena, sizeof *shape);
    if (!shape)
        return evl_no_memory(p->ctx);
    evl_broadcast_operands(shape, p, 2);
    p->state = shape;
    return EVAL_OK;
}

typedef struct joining {
    const evl_call *call;
    EvalStatus status;
} joining;

static EvalStatus join(const evl_call *call, const EvalString *a, const EvalString *b,
                       EvalString *y)
{
    size_t size;
    char *text = evl_size_add(a->size, b->size, &size) ? evl_arena_blank(call->texts, size) : NULL;
    if (!text)
        return evl_no_memory(call->ctx);
    if (a->size)
        memcpy(text, a->text, a->size);
    if (b->size)
        memcpy(text + a->size, b->text, b->size);
    *y = (EvalString){ text, size };
    return EVAL_OK;
}

static void join_run(void *arg, const evl_broadcast_run *run)
{
    joining *j = arg;
    const EvalString *a = (const EvalString *)j->call->in[0]->data + run->at[0];
    const EvalString *b = (const EvalString *)j->call->in[1]->data + run->at[1];
    EvalString *y = (EvalString *)j->call->out[0]->data + run->to;
    for (size_t i = 0; i < run->n && j->status == EVAL_OK; i++)
        j->status = join(j->call, a + i * run->step[0], b + i * run->step[1], y + i);
}

static EvalStatus run_concat(const evl_call *call)
{
    joining j = { call, EVAL_OK };
    evl_broadcast_for(call->state, NULL, join_run, &j);
    return j.status;
}

/* --- StringSplit: parts lie in the texts that they come from --- */

typedef struct splitting {
    EvalString between; /* empty: any white space, none at the ends */
    size_t most;        /* cuts */
} splitting;

static splitting splitting_of(const evl_node *node)
{
    const evl_attribute *a = evl_node_attribute(node, "delimiter");
    int64_t most = evl_node_int(node, "maxsplit", -1);
    splitting s = { { "", 0 }, most < 0 ? SIZE_MAX : (size_t)most };
    if (a && a->kind == EVL_ATTRIBUTE_TEXT)
        s.between = a->u.text;
    return s;
}

/* White space at `at`: its bytes, or 0. */
static size_t space_at(const EvalString *text, size_t at)
{
    size_t size;
    if (at >= text->size)
        return 0;
    uint32_t c = evl_character(text->text + at, text->size - at, &size);
    bool is_space = c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f) || c == 0x85 ||
                    c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
                    c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
    return is_space ? size : 0;
}

static size_t skip_spaces(const EvalString *text, size_t at)
{
    for (size_t n; (n = space_at(text, at)) > 0;)
        at += n;
    return at;
}

static void put(EvalString *parts, size_t i, const EvalString *text, size_t from, size_t to)
{
    if (parts)
        parts[i] = (EvalString){ text->text ? text->text + from : "", to - from };
}

/* Behind the last character from `from` on that is no space. */
static size_t last_end(const EvalString *text, size_t from)
{
    size_t end = from;
    for (size_t at = from, n; at < text->size;) {
        n = space_at(text, at);
        at += n ? n : 1;
        end = n ? end : at;
    }
    return end;
}

static size_t split_spaces(const splitting *s, const EvalString *text, EvalString *parts)
{
    size_t n = 0;
    for (size_t at = skip_spaces(text, 0); at < text->size; at = skip_spaces(text, at), n++) {
        size_t from = at;
        while (at < text->size && (n == s->most || !space_at(text, at)))
            at++;
        put(parts, n, text, from, n == s->most ? last_end(text, from) : at);
    }
    return n;
}

static size_t split_text(const splitting *s, const EvalString *text, EvalString *parts)
{
    size_t n = 0, from = 0;
    if (s->between.size == 0)
        return split_spaces(s, text, parts);
    for (size_t at = 0; n < s->most && at + s->between.size <= text->size;) {
        if (memcmp(text->text + at, s->between.text, s->between.size) != 0) {
            at++;
            continue;
        }
        put(parts, n++, text, from, at);
        from = at += s->between.size;
    }
    put(parts, n, text, from, text->size);
    return n + 1;
}

static EvalStatus infer_split(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    EvalStatus st = need_strings(x);
    if (st == EVAL_OK && in->shape.rank == EVAL_MAX_RANK)
        st = evl_fail(x->ctx, EVAL_ERR_SHAPE, "a tensor of rank %d gets no more dimensions",
                      EVAL_MAX_RANK);
    if (st != EVAL_OK)
        return st;
    splitting s = splitting_of(x->use.node);
    x->out[0].type = EVAL_STRING;
    x->out[0].shape = in->shape;
    if (x->n_out > 1) {
        x->out[1].type = EVAL_INT64;
        x->out[1].shape = in->shape;
    }
    if (in->shape.rank < 0)
        return EVAL_OK;
    int64_t *longest = &x->out[0].shape.dim[x->out[0].shape.rank++];
    size_t n = evl_shape_is_known(&in->shape) ? evl_shape_count(&in->shape) : 0;
    *longest = in->data || (evl_shape_is_known(&in->shape) && n == 0) ? 0 : EVL_UNKNOWN_DIM;
    for (size_t i = 0; in->data && i < n; i++) {
        size_t parts = split_text(&s, (const EvalString *)in->data + i, NULL);
        *longest = (int64_t)parts > *longest ? (int64_t)parts : *longest;
    }
    return EVAL_OK;
}

static EvalStatus run_split(const evl_call *call)
{
    splitting s = splitting_of(call->node);
    const evl_tensor *x = call->in[0];
    size_t n = evl_shape_count(&x->shape), row = (size_t)call->out[0]->shape.dim[x->shape.rank];
    for (size_t i = 0; i < n; i++) {
        EvalString *parts = (EvalString *)call->out[0]->data + i * row;
        for (size_t j = 0; j < row; j++)
            parts[j] = (EvalString){ "", 0 };
        size_t found = split_text(&s, (const EvalString *)x->data + i, parts);
        if (call->n_out > 1 && call->out[1])
            ((int64_t *)call->out[1]->data)[i] = (int64_t)found;
    }
    return EVAL_OK;
}

/* --- StringNormalizer: without the stop words, in another case. Locales are not looked at --- */

typedef enum case_change { NO_CHANGE, TO_LOWER, TO_UPPER } case_change;

typedef struct normalizing {
    case_change change;
    bool is_exact;
    const EvalString *stops;
    size_t n_stops;
} normalizing;

static EvalStatus normalizing_of(evl_context *ctx, const evl_node *node, normalizing *to)
{
    static const char *const changes[] = { "NONE", "LOWER", "UPPER" };
    const evl_attribute *stops = evl_node_attribute(node, "stopwords");
    const char *change = evl_node_text(node, "case_change_action", "NONE");
    *to = (normalizing){ .is_exact = evl_node_int(node, "is_case_sensitive", 0) != 0 };
    if (stops && stops->kind == EVL_ATTRIBUTE_TEXTS) {
        to->stops = stops->u.texts;
        to->n_stops = stops->n;
    }
    for (int i = 0; i < 3; i++)
        if (strcmp(change, changes[i]) == 0) {
            to->change = (case_change)i;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "attribute case_change_action is '%s', expected NONE, LOWER or UPPER", change);
}

static bool is_same(const EvalString *a, const EvalString *b, bool is_exact)
{
    size_t i = 0, j = 0, n_a, n_b;
    if (is_exact)
        return a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
    for (; i < a->size && j < b->size; i += n_a, j += n_b) {
        uint32_t c = evl_character(a->text + i, a->size - i, &n_a);
        if (evl_character_lower(c) !=
            evl_character_lower(evl_character(b->text + j, b->size - j, &n_b)))
            return false;
    }
    return i == a->size && j == b->size;
}

static bool is_stop(const normalizing *how, const EvalString *text)
{
    for (size_t i = 0; i < how->n_stops; i++)
        if (is_same(&how->stops[i], text, how->is_exact))
            return true;
    return false;
}

static EvalStatus infer_normalizer(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    normalizing how;
    int64_t n = 0;
    EvalStatus st = need_strings(x);
    if (st == EVAL_OK)
        st = evl_infer_rank(x, 0, 1, 2);
    if (st == EVAL_OK)
        st = normalizing_of(x->ctx, x->use.node, &how);
    x->out[0].type = EVAL_STRING;
    if (st != EVAL_OK || in->shape.rank < 0)
        return st;
    if (in->shape.rank == 2 && in->shape.dim[0] > 1)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the input has %lld rows, expected 1",
                        (long long)in->shape.dim[0]);
    x->out[0].shape = in->shape;
    size_t all = evl_shape_is_known(&in->shape) ? evl_shape_count(&in->shape) : 0;
    for (size_t i = 0; in->data && i < all; i++)
        n += !is_stop(&how, (const EvalString *)in->data + i);
    bool is_known = in->data || (evl_shape_is_known(&in->shape) && all == 0);
    for (int32_t i = 0; i < in->shape.rank; i++)
        x->out[0].shape.dim[i] = i < in->shape.rank - 1 ? 1
                                 : !is_known            ? EVL_UNKNOWN_DIM
                                 : n > 0                ? n
                                                        : 1;
    return EVAL_OK;
}

/* In the other case a character may have more bytes, at most two for each one. */
static EvalStatus change_case(const evl_call *call, const normalizing *how, const EvalString *x,
                              EvalString *y)
{
    size_t room, n = 0;
    char *text = evl_size_multiply(x->size, 2, &room) ? evl_arena_blank(call->texts, room) : NULL;
    if (!text)
        return evl_no_memory(call->ctx);
    for (size_t i = 0, size; i < x->size; i += size) {
        uint32_t c = evl_character(x->text + i, x->size - i, &size);
        bool is_broken = c == 0xfffd && size == 1;
        c = how->change == TO_LOWER ? evl_character_lower(c) : evl_character_upper(c);
        if (is_broken)
            text[n++] = x->text[i];
        else
            n += evl_character_put(c, text + n);
    }
    *y = (EvalString){ text, n };
    return EVAL_OK;
}

static EvalStatus run_normalizer(const evl_call *call)
{
    const evl_tensor *x = call->in[0], *y = call->out[0];
    EvalString *to = y->data;
    size_t all = evl_shape_count(&x->shape), n = 0;
    normalizing how;
    EvalStatus st = normalizing_of(call->ctx, call->node, &how);
    for (size_t i = 0; st == EVAL_OK && i < all; i++) {
        const EvalString *text = (const EvalString *)x->data + i;
        if (is_stop(&how, text))
            continue;
        to[n] = *text;
        if (how.change != NO_CHANGE)
            st = change_case(call, &how, text, &to[n]);
        n++;
    }
    if (n == 0)
        to[0] = (EvalString){ "", 0 };
    return st;
}

static const evl_impl concat = { prepare_concat, run_concat };
static const evl_impl split = { NULL, run_split };
static const evl_impl normalizer = { NULL, run_normalizer };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "StringConcat", NULL, 2, 2, 1, 1, 0, 0, infer_concat, { NULL, NULL }, NULL, &concat, 0 },
    { "StringNormalizer", NULL, 1, 1, 1, 1, 0, 0, infer_normalizer, { NULL, NULL }, NULL, &normalizer, 0 },
    { "StringSplit", NULL, 1, 1, 1, 2, 0, 0, infer_split, { NULL, NULL }, NULL, &split, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_strings[] = { &ops[0], &ops[1], &ops[2], NULL };
