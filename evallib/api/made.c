/* Outputs whose memory the library made. They are listed, so that Release can tell
** them from others and Destroy finds what was never released. */
#include "api/evaluator.h"

struct evl_made {
    evl_made *next;
    void *data;
};

EvalStatus evl_made_new(evl_context *ctx, evl_evaluator *e, evl_made **list, size_t bytes,
                        void **data)
{
    evl_made *m = evl_allocate(ctx->memory, sizeof *m);
    void *room = m ? evl_allocate(ctx->memory, bytes ? bytes : 1) : NULL;
    if (!room) {
        evl_release(ctx->memory, m);
        return evl_no_memory(ctx);
    }
    m->data = *data = room;
    evl_mutex_lock(e->lock);
    m->next = *list;
    *list = m;
    evl_mutex_unlock(e->lock);
    return EVAL_OK;
}

static void free_made(evl_evaluator *e, evl_made *m)
{
    evl_release(&e->home->memory, m->data);
    evl_release(&e->home->memory, m);
}

bool evl_made_free(evl_evaluator *e, evl_made **list, const void *data)
{
    evl_mutex_lock(e->lock);
    evl_made **at = list;
    while (*at && (*at)->data != data)
        at = &(*at)->next;
    evl_made *m = *at;
    if (m)
        *at = m->next;
    evl_mutex_unlock(e->lock);
    if (m)
        free_made(e, m);
    return m;
}

void evl_made_free_all(evl_evaluator *e, evl_made **list)
{
    evl_mutex_lock(e->lock);
    evl_made *m = *list;
    *list = NULL;
    evl_mutex_unlock(e->lock);
    for (evl_made *next; m; m = next) {
        next = m->next;
        free_made(e, m);
    }
}
