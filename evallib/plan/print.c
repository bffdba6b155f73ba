/* A plan as text, a line a step: "Conv 'c1' (pointwise) -> [1,8,28,28] at 3072". */
#include "plan/plan.h"
#include <stdio.h>
#include <string.h>

enum { LINE = 512 };

static void print_step(const evl_plan *p, const evl_step *s, char line[LINE])
{
    char shape[EVL_SHAPE_TEXT];
    const evl_slot *out = s->node->n_outputs && s->out[0] != EVL_NO_SLOT ? &p->slots[s->out[0]] : NULL;
    snprintf(line, LINE, "%.40s '%.100s'%s%.40s%s -> %s at %zu%s\n", s->node->op->name,
             s->node->name, s->strategy ? " (" : "", s->strategy ? s->strategy : "",
             s->strategy ? ")" : "", out ? evl_shape_text(&out->t.shape, shape) : "nothing",
             out ? out->at : 0, s->kind == EVL_STEP_DYNAMIC ? ", planned in the run" : "");
}

const char *evl_plan_text(evl_plan *p, evl_arena *arena)
{
    char line[LINE];
    size_t bytes = 1, at = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        print_step(p, &p->steps[i], line);
        bytes += strlen(line);
    }
    char *text = evl_arena_take(arena, bytes);
    for (size_t i = 0; text && i < p->n_steps; i++) {
        print_step(p, &p->steps[i], line);
        size_t n = strlen(line);
        memcpy(text + at, line, n + 1);
        at += n;
    }
    return text;
}
