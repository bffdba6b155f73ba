/* plan.h - a network made ready for certain outputs, inputs, types and shapes.
**
** Everything that can be chosen is chosen, everything that can fail has not. A plan
** never changes once built; sessions (exec/) hold what changes in a run. */
#ifndef EVL_PLAN_PLAN_H
#define EVL_PLAN_PLAN_H
#include "ir/op.h"

typedef struct evl_plan evl_plan;

enum { EVL_NO_SLOT = -1 };
typedef int32_t evl_slot_index;

/* Where a value is in a run. */
typedef enum evl_place {
    EVL_PLACE_CONSTANT, /* t.data */
    EVL_PLACE_INPUT,    /* where the caller has it */
    EVL_PLACE_OUTPUT,   /* where the caller wants it */
    EVL_PLACE_BLOCK,    /* at `at` in the session's block */
    EVL_PLACE_OWN       /* in memory of its own: its size is known in the run only */
} evl_place;

typedef struct evl_slot {
    evl_tensor t; /* type; shape as far as known; data of a constant */
    evl_place place;
    size_t at;    /* BLOCK: offset; INPUT, OUTPUT: index among the plan's */
    evl_slot_index next_ended; /* OWN: another that the same step ends */
} evl_slot;

typedef enum evl_step_kind {
    EVL_STEP_STATIC,     /* every shape is known: prepared */
    EVL_STEP_CARRYING,   /* the same, and it keeps memory along a sequence */
    EVL_STEP_DYNAMIC,    /* inferred and prepared in the run */
    EVL_STEP_IF,
    EVL_STEP_LOOP,
    EVL_STEP_SCAN,
    EVL_STEP_MAP,        /* SequenceMap */
    EVL_STEP_RECURRENCE,
    EVL_STEP_DELAY,
    EVL_N_STEP_KINDS
} evl_step_kind;

/* A body of a control step, planned; its inputs are the body's own and then what it
** captures: `captured` names the slots here that those come from. */
typedef struct evl_body {
    evl_plan *plan;
    size_t n_own;
    const evl_slot_index *captured;
    size_t n_captured;
} evl_body;

typedef struct evl_step {
    evl_step_kind kind;
    const evl_node *node;
    const evl_slot_index *in, *out; /* of node->n_inputs, node->n_outputs */
    evl_run *run;                   /* STATIC */
    const void *state;
    evl_part *part;                 /* STATIC, element-wise: the run in parts; NULL: it has none */
    size_t together;                /* as many steps, from this one on, run a part at a time */
    const char *strategy;
    size_t scratch_bytes;
    size_t carried_bytes;
    evl_body *bodies;
    size_t n_bodies;
    evl_slot_index ended;           /* the first value in values that nothing reads after it */
} evl_step;

typedef struct evl_session evl_session;

struct evl_plan {
    evl_memory *memory;
    evl_arena *arena;           /* holds the plan itself */
    const evl_machine *machine;
    evl_store *store;
    evl_slot *slots;
    size_t n_slots;
    evl_step *steps;
    size_t n_steps;
    evl_slot_index *inputs, *outputs;
    size_t n_inputs, n_outputs;
    size_t block_bytes;         /* of one session: values and scratch */
    size_t scratch_at;          /* scratch of static steps: offset in the block */
    bool has_dynamic;           /* steps that need an arena in the run */
    size_t n_states;            /* states up to the last that a step here or in a body keeps */
    evl_mutex *lock;            /* of idle */
    evl_session *idle;          /* sessions that wait for the next run */
};

/* Plans a graph that passes have gone through; the arena becomes the plan's (also on
** failure, when it is freed). */
EVL_MUST_USE EvalStatus evl_plan_build(evl_context *, evl_arena *, const evl_machine *, evl_store *,
                                       evl_graph *, evl_plan **);
void evl_plan_free(evl_plan *); /* sessions must be gone: see evl_session_drop_idle */

/* The values in values that each step is the last to need, before steps are dropped: sets steps' ended,
** slots' next_ended. */
EVL_MUST_USE EvalStatus evl_plan_ended(evl_context *, evl_plan *);

/* Lifetimes and places of values: sets slots' place and at, block_bytes. */
EVL_MUST_USE EvalStatus evl_plan_memory(evl_context *, evl_plan *);

/* Finds the steps that may run together, once they have their places: sets steps' together. */
void evl_plan_together(evl_plan *);

/* The steps as text, a line each, for people: into the arena. NULL: no memory. */
const char *evl_plan_text(evl_plan *, evl_arena *);
#endif
