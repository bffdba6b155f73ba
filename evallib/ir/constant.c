#include "ir/constant.h"
#include <string.h>

typedef struct conversion {
    const evl_tensor *from;
    EvalType to;
    size_t n;
    evl_store *store;
} conversion;

static EvalStatus convert(evl_context *ctx, void *block, void *arg)
{
    const conversion *c = arg;
    if (!evl_convert(c->n, c->from->type, c->from->data, c->to, block))
        return evl_fail(ctx, EVAL_ERR_TYPE, "a constant of type %s cannot be used",
                        evl_type_name(c->from->type));
    evl_store_forget(c->store, c->from->data, c->n * evl_type_size(c->from->type));
    return EVAL_OK;
}

bool evl_constant_is_aligned(const evl_tensor *t)
{
    size_t size = evl_type_size(t->type);
    return size < 2 || (uintptr_t)t->data % (size > 8 ? 8 : size) == 0;
}

EvalStatus evl_constant_settle(evl_context *ctx, evl_store *store, EvalType to, evl_tensor *t)
{
    conversion c = { t, to, evl_shape_count(&t->shape), store };
    const void *data;
    if (to == t->type && evl_constant_is_aligned(t))
        return EVAL_OK;
    evl_store_key key = { t->data, "stored", (uint64_t)t->type };
    EvalStatus st = evl_store_get(ctx, store, &key, c.n * evl_type_size(to), convert, &c, &data);
    if (st == EVAL_OK) {
        memcpy(&t->data, &data, sizeof data); /* constants are read through void * too */
        t->type = to;
    }
    return st;
}
