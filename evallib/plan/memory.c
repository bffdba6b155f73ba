/* Places in one block: values that are never alive at once share memory.
**
** Values that have the same bytes (aliases: Reshape ...), may have (an element-wise
** result over its operand) or are parts of another (what Concat puts one after another)
** form a class with one place. A class lives from the step that makes it to the last that
** reads it. Large classes get their place first, each the lowest that is free during its
** life: within a few per cent of the least possible on real networks, and simple. */
#include "ir/nested.h"
#include "ops/ops.h"
#include "plan/plan.h"
#include <stdlib.h>
#include <string.h>

typedef struct life {
    size_t root;        /* the class's slot, by way of roots */
    size_t within;      /* bytes from where its root begins */
    size_t first, last; /* steps; of a root: of its class */
    size_t bytes;       /* of a root: 0 for what needs no place in the block */
    size_t at;
    bool is_fixed;      /* of a root: not in the block */
} life;

typedef struct layout {
    evl_context *ctx;
    evl_plan *plan;
    life *lives;
    size_t *order; /* roots that need a place, largest first */
    size_t n_order;
} layout;

static size_t root_of(const layout *l, size_t slot)
{
    while (l->lives[slot].root != slot)
        slot = l->lives[slot].root;
    return slot;
}

/* Bytes from where its class begins. */
static size_t offset_of(const layout *l, size_t slot)
{
    size_t offset = 0;
    for (; l->lives[slot].root != slot; slot = l->lives[slot].root)
        offset += l->lives[slot].within;
    return offset;
}

static size_t exact_bytes(const evl_tensor *t)
{
    return evl_shape_count(&t->shape) * evl_type_size(t->type);
}

static size_t bytes_of(const evl_tensor *t)
{
    size_t bytes = exact_bytes(t);
    return (bytes + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
}

static void start_lives(layout *l)
{
    for (size_t i = 0; i < l->plan->n_slots; i++) {
        evl_slot *s = &l->plan->slots[i];
        l->lives[i] = (life){ .root = i, .first = SIZE_MAX };
        if (s->place == EVL_PLACE_BLOCK &&
            (!evl_shape_is_known(&s->t.shape) || evl_type_is_nested(s->t.type)))
            s->place = EVL_PLACE_OWN;
        l->lives[i].is_fixed = s->place != EVL_PLACE_BLOCK;
        if (!l->lives[i].is_fixed)
            l->lives[i].bytes = bytes_of(&s->t);
    }
}

static void live_at(layout *l, evl_slot_index slot, size_t step)
{
    if (slot == EVL_NO_SLOT)
        return;
    life *v = &l->lives[slot];
    v->first = step < v->first ? step : v->first;
    v->last = step > v->last ? step : v->last;
}

static void find_lives(layout *l)
{
    const evl_plan *p = l->plan;
    for (size_t i = 0; i < p->n_steps; i++) {
        const evl_step *s = &p->steps[i];
        for (size_t j = 0; j < s->node->n_inputs; j++)
            live_at(l, s->in[j], i);
        for (size_t j = 0; j < s->node->n_outputs; j++)
            live_at(l, s->out[j], i);
        for (size_t b = 0; b < s->n_bodies; b++)
            for (size_t j = 0; j < s->bodies[b].n_captured; j++)
                live_at(l, s->bodies[b].captured[j], i);
    }
    for (size_t i = 0; i < p->n_outputs; i++)
        live_at(l, p->outputs[i], p->n_steps);
}

/* b's class joins a's, whose root it keeps, `within` bytes from where that begins. */
static void join(layout *l, size_t a, size_t b, size_t within)
{
    life *x = &l->lives[root_of(l, a)], *y = &l->lives[root_of(l, b)];
    if (x == y)
        return;
    x->first = y->first < x->first ? y->first : x->first;
    x->last = y->last > x->last ? y->last : x->last;
    x->bytes = within + y->bytes > x->bytes && !x->is_fixed ? within + y->bytes : x->bytes;
    y->root = (size_t)(x - l->lives);
    y->within = within;
}

/* The first asked output of a class of the block takes it to the caller's memory. */
static void place_outputs(layout *l)
{
    evl_plan *p = l->plan;
    for (size_t i = 0; i < p->n_outputs; i++) {
        size_t root = root_of(l, (size_t)p->outputs[i]);
        if (l->lives[root].is_fixed)
            continue;
        l->lives[root].is_fixed = true;
        p->slots[root].place = EVL_PLACE_OUTPUT;
        p->slots[root].at = i;
    }
}

/* Steps that only give another shape to the same bytes vanish into their operand. */
static void join_aliases(layout *l)
{
    const evl_plan *p = l->plan;
    for (size_t i = 0; i < p->n_steps; i++) {
        const evl_step *s = &p->steps[i];
        if (s->kind != EVL_STEP_STATIC || !(s->node->op->traits & EVL_OP_ALIAS) ||
            s->out[0] == EVL_NO_SLOT || s->in[0] == EVL_NO_SLOT)
            continue;
        if (p->slots[s->out[0]].place == EVL_PLACE_BLOCK &&
            p->slots[s->in[0]].place != EVL_PLACE_OWN)
            join(l, (size_t)s->in[0], (size_t)s->out[0], 0);
    }
}

/* Its class holds the slot's bytes and no others. What small values take in the block does not
** tell: a part and the whole may both be a line of the cache. */
static bool fills_class(const layout *l, size_t slot)
{
    size_t root = root_of(l, slot);
    const evl_slot *slots = l->plan->slots;
    return exact_bytes(&slots[root].t) == exact_bytes(&slots[slot].t) &&
           l->lives[root].bytes == bytes_of(&slots[slot].t);
}

/* Part `input` is made where Concat would copy it to, if it has no place already. */
static void join_part(layout *l, const evl_step *s, size_t input, size_t at)
{
    size_t part = (size_t)s->in[input];
    if (!l->lives[root_of(l, part)].is_fixed && fills_class(l, part) && at % EVL_ALIGNMENT == 0)
        join(l, (size_t)s->out[0], part, at);
}

static void join_parts(layout *l)
{
    const evl_plan *p = l->plan;
    for (size_t i = 0, at = 0; i < p->n_steps; i++, at = 0) {
        const evl_step *s = &p->steps[i];
        if (s->kind != EVL_STEP_STATIC || s->node->op != &evl_op_concat ||
            s->out[0] == EVL_NO_SLOT || l->lives[root_of(l, (size_t)s->out[0])].is_fixed)
            continue;
        const evl_shape *whole = &p->slots[s->out[0]].t.shape;
        int64_t axis = evl_node_int(s->node, "axis", 1);
        axis += axis < 0 ? whole->rank : 0;
        for (size_t j = 0; j < s->node->n_inputs && evl_shape_count_part(whole, 0, (int32_t)axis) == 1; j++) {
            const evl_tensor *t = &p->slots[s->in[j]].t;
            join_part(l, s, j, at);
            at += exact_bytes(t);
        }
    }
}

static bool is_alike(const evl_tensor *a, const evl_tensor *b)
{
    return evl_type_size(a->type) == evl_type_size(b->type) && evl_shape_equal(&a->shape, &b->shape);
}

/* Operand `input` dies in this step, and no other view of its bytes is read here with
** another shape. */
static bool may_overwrite(const layout *l, const evl_step *s, size_t step, size_t input)
{
    const evl_slot *slots = l->plan->slots;
    evl_slot_index in = s->in[input];
    if (in == EVL_NO_SLOT || !is_alike(&slots[in].t, &slots[s->out[0]].t))
        return false;
    const life *v = &l->lives[root_of(l, (size_t)in)];
    if (v->is_fixed || v->last != step)
        return false;
    for (size_t j = 0; j < s->node->n_inputs; j++)
        if (s->in[j] != EVL_NO_SLOT && &l->lives[root_of(l, (size_t)s->in[j])] == v &&
            !is_alike(&slots[s->in[j]].t, &slots[in].t))
            return false;
    return true;
}

/* One of them has a class of its own, which goes where the other is. */
static bool overwrite(layout *l, size_t in, size_t out)
{
    if (root_of(l, out) == out)
        join(l, in, out, offset_of(l, in));
    else if (fills_class(l, in))
        join(l, out, in, offset_of(l, out));
    return root_of(l, in) == root_of(l, out);
}

static void join_in_place(layout *l)
{
    const evl_plan *p = l->plan;
    for (size_t i = 0; i < p->n_steps; i++) {
        const evl_step *s = &p->steps[i];
        if (s->kind != EVL_STEP_STATIC || !(s->node->op->traits & EVL_OP_IN_PLACE) ||
            s->out[0] == EVL_NO_SLOT || l->lives[root_of(l, (size_t)s->out[0])].is_fixed)
            continue;
        for (size_t j = 0; j < s->node->n_inputs; j++)
            if (may_overwrite(l, s, i, j) && overwrite(l, (size_t)s->in[j], (size_t)s->out[0]))
                break;
    }
}

typedef struct sized {
    size_t bytes, root;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->root < y->root ? -1 : x->root > y->root; /* the same order everywhere */
}

static EvalStatus order_roots(layout *l, evl_arena *scratch)
{
    size_t n = 0;
    sized *all = evl_arena_take_many(scratch, l->plan->n_slots + 1, sizeof *all);
    l->order = evl_arena_take_many(scratch, l->plan->n_slots + 1, sizeof *l->order);
    if (!all || !l->order)
        return evl_no_memory(l->ctx);
    for (size_t i = 0; i < l->plan->n_slots; i++)
        if (l->lives[i].root == i && !l->lives[i].is_fixed && l->lives[i].first != SIZE_MAX)
            all[n++] = (sized){ l->lives[i].bytes, i };
    qsort(all, n, sizeof *all, by_size);
    for (size_t i = 0; i < n; i++)
        l->order[i] = all[i].root;
    l->n_order = n;
    return EVAL_OK;
}

static bool overlap(const life *a, const life *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest free offset for order[k]; `placed` holds those before it by rising offset. */
static size_t find_place(const layout *l, const size_t *placed, size_t n, const life *v)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const life *other = &l->lives[placed[i]];
        if (!overlap(v, other))
            continue;
        if (other->at >= at + v->bytes)
            break;
        at = other->at + other->bytes > at ? other->at + other->bytes : at;
    }
    return at;
}

static EvalStatus place_block(layout *l, evl_arena *scratch)
{
    size_t *placed = evl_arena_take_many(scratch, l->n_order + 1, sizeof *placed);
    if (!placed)
        return evl_no_memory(l->ctx);
    for (size_t k = 0; k < l->n_order; k++) {
        life *v = &l->lives[l->order[k]];
        size_t i = k;
        v->at = find_place(l, placed, k, v);
        for (; i > 0 && l->lives[placed[i - 1]].at > v->at; i--)
            placed[i] = placed[i - 1];
        placed[i] = l->order[k];
        if (v->at + v->bytes > l->plan->block_bytes)
            l->plan->block_bytes = v->at + v->bytes;
    }
    return EVAL_OK;
}

static void place_slots(layout *l)
{
    evl_plan *p = l->plan;
    for (size_t i = 0; i < p->n_slots; i++) {
        size_t root = root_of(l, i);
        if (p->slots[i].place != EVL_PLACE_BLOCK && root == i)
            continue;
        p->slots[i].place = p->slots[root].place;
        p->slots[i].at = l->lives[root].is_fixed ? p->slots[root].at
                                                 : l->lives[root].at + offset_of(l, i);
        if (p->slots[i].place == EVL_PLACE_CONSTANT)
            p->slots[i].t.data = p->slots[root].t.data;
    }
}

static void place_scratch(evl_plan *p)
{
    size_t most = 0;
    p->scratch_at = p->block_bytes;
    for (size_t i = 0; i < p->n_steps; i++) {
        most = p->steps[i].scratch_bytes > most ? p->steps[i].scratch_bytes : most;
        p->has_dynamic |= p->steps[i].kind == EVL_STEP_DYNAMIC || p->steps[i].kind == EVL_STEP_MAP;
    }
    p->block_bytes += (most + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
}

/* An alias within one class has nothing to do. */
static void drop_aliases(const layout *l)
{
    evl_plan *p = l->plan;
    size_t kept = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        const evl_step *s = &p->steps[i];
        if (s->kind == EVL_STEP_STATIC && s->node->op->traits & EVL_OP_ALIAS &&
            s->out[0] != EVL_NO_SLOT && s->in[0] != EVL_NO_SLOT &&
            root_of(l, (size_t)s->in[0]) == root_of(l, (size_t)s->out[0]))
            continue;
        p->steps[kept++] = *s;
    }
    p->n_steps = kept;
}

static EvalStatus lay_out(layout *l, evl_arena *scratch)
{
    l->lives = evl_arena_take_many(scratch, l->plan->n_slots + 1, sizeof *l->lives);
    if (!l->lives)
        return evl_no_memory(l->ctx);
    start_lives(l);
    find_lives(l);
    join_aliases(l);
    place_outputs(l);
    join_parts(l);
    join_in_place(l);
    EvalStatus st = order_roots(l, scratch);
    if (st == EVAL_OK)
        st = place_block(l, scratch);
    if (st != EVAL_OK)
        return st;
    place_slots(l);
    drop_aliases(l);
    place_scratch(l->plan);
    return EVAL_OK;
}

EvalStatus evl_plan_memory(evl_context *ctx, evl_plan *plan)
{
    layout l = { .ctx = ctx, .plan = plan };
    evl_arena *scratch = evl_arena_new(plan->memory);
    if (!scratch)
        return evl_no_memory(ctx);
    EvalStatus st = lay_out(&l, scratch);
    evl_arena_free(scratch);
    return st;
}
