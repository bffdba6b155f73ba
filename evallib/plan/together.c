/* Neighbouring element-wise steps that may run a part at a time: what one writes is still in
** the first cache when the next reads it. Each result has as many elements as the others,
** and no step's memory is another's but element by element. */
#include "plan/plan.h"

enum { MOST = 32 }; /* steps together: each is compared with each */

typedef struct area {
    evl_place place;
    size_t at, count, size; /* elements, and bytes of one */
} area;

static area area_of(const evl_plan *p, evl_slot_index slot)
{
    const evl_slot *s = &p->slots[slot];
    return (area){ s->place, s->place == EVL_PLACE_OWN ? (size_t)slot : s->at,
                   evl_shape_count(&s->t.shape), evl_type_size(s->t.type) };
}

static bool overlap(const area *a, const area *b)
{
    if (a->place != b->place || a->place == EVL_PLACE_CONSTANT)
        return false;
    if (a->place != EVL_PLACE_BLOCK)
        return a->at == b->at;
    return a->at < b->at + b->count * b->size && b->at < a->at + a->count * a->size;
}

/* Whether step `a` may write a part before or after `b` reads or writes others. */
static bool is_apart(const evl_plan *p, const evl_step *a, const evl_step *b)
{
    const area y = area_of(p, a->out[0]);
    for (size_t i = 0; i <= b->node->n_inputs; i++) {
        evl_slot_index slot = i < b->node->n_inputs ? b->in[i] : b->out[0];
        if (slot == EVL_NO_SLOT)
            continue;
        const area x = area_of(p, slot);
        if (overlap(&x, &y) && !(x.at == y.at && x.count == y.count && x.size == y.size))
            return false;
    }
    return true;
}

static bool has_parts(const evl_step *s)
{
    return s->kind == EVL_STEP_STATIC && s->part && s->node->n_outputs == 1 &&
           s->out[0] != EVL_NO_SLOT;
}

static bool may_join(const evl_plan *p, size_t first, size_t step)
{
    const evl_step *s = &p->steps[step];
    if (step - first == MOST || !has_parts(s) ||
        area_of(p, s->out[0]).count != area_of(p, p->steps[first].out[0]).count)
        return false;
    for (size_t i = first; i < step; i++)
        if (!is_apart(p, s, &p->steps[i]) || !is_apart(p, &p->steps[i], s))
            return false;
    return true;
}

void evl_plan_together(evl_plan *p)
{
    for (size_t i = 0; i < p->n_steps; i += p->steps[i].together) {
        size_t end = i + 1;
        while (has_parts(&p->steps[i]) && end < p->n_steps && may_join(p, i, end))
            end++;
        p->steps[i].together = end - i;
    }
}
