/* perform.h - one run from the caller's memory to the caller's memory: what Run and
** Evaluate have in common. */
#ifndef EVL_API_PERFORM_H
#define EVL_API_PERFORM_H
#include "api/evaluator.h"

/* A value as the caller gives it. */
typedef struct evl_feed {
    evl_value *value;
    EvalType type;        /* of data; floating-point ones need not be the model's */
    evl_shape shape;      /* known; of nested values the number of elements is not */
    const void *data;     /* of nested values (nested.h): the EvalTensor */
} evl_feed;

/* A value as the caller wants it. */
typedef struct evl_fetch {
    evl_value *value;
    EvalType type;        /* wanted; UNDEFINED: what comes. Set to what it is */
    bool any_to_float;    /* integers and booleans may become the wanted floating-point type */
    evl_shape shape;      /* set */
    void *data;           /* NULL: made, in job->list */
    size_t bytes;         /* capacity of data; set to what is needed */
    size_t capacity;      /* set: what bytes was */
    bool is_made;         /* set */
    bool is_kept;         /* for the caller of evl_perform: it made data itself */
} evl_fetch;

typedef struct evl_job {
    evl_evaluator *e;
    evl_model *model;
    evl_feed *feeds;
    size_t n_feeds;
    evl_fetch *fetches;
    size_t n_fetches;
    evl_states *states;   /* NULL: nothing is carried */
    evl_made **list;      /* where made outputs are listed */
    EvalRunOptions options; /* stop, step, and their user */
} evl_job;

enum { EVL_FEW = 64 };    /* operands of a call that need no allocation */

/* Calls work(ctx, job) with room for n_feeds and n_fetches, on the stack when they are few,
** within the model's limits. */
EVL_MUST_USE EvalStatus evl_with_room(evl_context *, evl_job *,
                                      EvalStatus (*work)(evl_context *, evl_job *));

/* Types and shapes of the fetches without running; a shape that depends on data stays
** unknown. */
EVL_MUST_USE EvalStatus evl_measure(evl_context *, evl_job *);
/* EVAL_ERR_LIMIT: a capacity is too small; every fetch's bytes, shape and type are set. */
EVL_MUST_USE EvalStatus evl_perform(evl_context *, evl_job *);

/* Bytes of n elements as the caller holds them: narrow types are packed. */
size_t evl_door_bytes(EvalType, size_t n);
/* Whether two inputs' frames can belong to one call. */
bool evl_frames_agree(const evl_feed *, const evl_feed *);
EVL_MUST_USE EvalStatus evl_find_value(evl_context *, const evl_graph *, const char *name,
                                       evl_value **);
#endif
