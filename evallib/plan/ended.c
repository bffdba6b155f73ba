/* The step after which nothing reads a value in values any more, and which gives it back: each is a
** copy, and a row of them would be as many copies.
**
** Texts are not copied from tensor to tensor, so a tensor of texts keeps alive what the step that
** made it read texts from. Values in values are whole copies, which keep nothing. */
#include "ir/nested.h"
#include "plan/plan.h"

typedef struct finder {
    evl_plan *plan;
    size_t *last; /* by slot: 0, or one more than the last step that needs it */
} finder;

static void need(finder *f, evl_slot_index slot, size_t step, size_t texts)
{
    if (slot == EVL_NO_SLOT)
        return;
    size_t end = evl_type_has_text(&f->plan->slots[slot].t) && texts > step ? texts : step;
    f->last[slot] = end > f->last[slot] ? end : f->last[slot];
}

/* How long the texts that the step hands on are read. */
static size_t end_of_texts(const finder *f, const evl_step *s)
{
    size_t end = 0;
    for (size_t i = 0; i < s->node->n_outputs; i++) {
        const evl_tensor *t = s->out[i] == EVL_NO_SLOT ? NULL : &f->plan->slots[s->out[i]].t;
        if (t && !evl_type_is_nested(t->type) && evl_type_has_text(t) && f->last[s->out[i]] > end)
            end = f->last[s->out[i]];
    }
    return end;
}

/* From the last step to the first: all that reads an output has been seen. */
static void find(finder *f)
{
    const evl_plan *p = f->plan;
    for (size_t i = 0; i < p->n_outputs; i++)
        need(f, p->outputs[i], p->n_steps + 1, 0);
    for (size_t i = p->n_steps; i > 0; i--) {
        const evl_step *s = &p->steps[i - 1];
        size_t texts = end_of_texts(f, s);
        for (size_t j = 0; j < s->node->n_outputs; j++)
            need(f, s->out[j], i, 0);
        for (size_t j = 0; j < s->node->n_inputs; j++)
            need(f, s->in[j], i, texts);
        for (size_t b = 0; b < s->n_bodies; b++)
            for (size_t j = 0; j < s->bodies[b].n_captured; j++)
                need(f, s->bodies[b].captured[j], i, texts);
    }
}

static void list(const finder *f)
{
    evl_plan *p = f->plan;
    for (size_t i = 0; i < p->n_steps; i++)
        p->steps[i].ended = EVL_NO_SLOT;
    for (size_t i = 0; i < p->n_slots; i++) {
        evl_slot *slot = &p->slots[i];
        if (slot->place != EVL_PLACE_BLOCK || !evl_type_is_nested(slot->t.type) || f->last[i] == 0 ||
            f->last[i] > p->n_steps)
            continue;
        evl_step *step = &p->steps[f->last[i] - 1];
        slot->next_ended = step->ended;
        step->ended = (evl_slot_index)i;
    }
}

EvalStatus evl_plan_ended(evl_context *ctx, evl_plan *plan)
{
    finder f = { .plan = plan };
    evl_arena *scratch = evl_arena_new(plan->memory);
    f.last = scratch ? evl_arena_take_many(scratch, plan->n_slots + 1, sizeof *f.last) : NULL;
    if (f.last) {
        find(&f);
        list(&f);
    }
    evl_arena_free(scratch);
    return f.last ? EVAL_OK : evl_no_memory(ctx);
}
