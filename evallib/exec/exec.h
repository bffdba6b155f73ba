/* exec.h - running plans.
**
** A session is what changes in a run: one block of memory, pointers into it and into
** the caller's memory, recurrent state. One run uses one session; a plan keeps those
** that are idle. */
#ifndef EVL_EXEC_EXEC_H
#define EVL_EXEC_EXEC_H
#include "passes/passes.h"
#include "plan/plan.h"

/* What recurrent steps remember from call to call, by the graph's state numbers. A run
** reads `before` and writes `after`; whoever owns both swaps them when it succeeded. */
typedef struct evl_state {
    void *data; /* the last frames, oldest first; NULL: a new sequence begins */
    size_t bytes, capacity;
} evl_state;

typedef struct evl_states {
    evl_memory *memory;
    size_t n;
    evl_state *before, *after;
    bool is_anew; /* a sequence begins: nothing of `before` is read, until the swap it stays */
} evl_states;

EVL_MUST_USE EvalStatus evl_states_new(evl_context *, size_t n, evl_states *);
void evl_states_begin(evl_states *); /* forgets what a failed run wrote */
void evl_states_swap(evl_states *);  /* what was written is what is read next */
void evl_states_reset(evl_states *); /* nothing is carried any more */
void evl_states_free(evl_states *);
/* The memory of one that carries, as the last step of this run, else of the run before, left
** it; zeros when a sequence begins. */
EVL_MUST_USE EvalStatus evl_states_carry(evl_context *, evl_states *, size_t number, size_t bytes,
                                         void **carried);

/* A copy of the part of a graph that is asked for, through all passes, as a plan. */
EVL_MUST_USE EvalStatus evl_compile(evl_context *, const evl_graph *, const evl_pass_env *,
                                    const evl_selection *, evl_plan **);

/* Memory that a loop keeps from trip to trip and from run to run. */
typedef struct evl_room {
    void *data;
    size_t capacity;
    evl_tensor value; /* what is carried or scanned at the moment, here or elsewhere */
} evl_room;

struct evl_session {
    const evl_plan *plan;
    evl_arena *arena;        /* holds the session itself */
    evl_tensor *values;      /* by slot: where each is in this run */
    evl_call *calls;         /* by step, bound to values */
    evl_slot_index *first_input, *first_output; /* by number: slots that are the caller's */
    evl_slot_index *next_alias; /* by slot: another at the same place */
    char *block;
    void **own;              /* by slot: memory of EVL_PLACE_OWN values */
    size_t *own_capacity;
    evl_session ***children; /* by step and body */
    evl_room **rooms;        /* by step, then by body's input and output: of loops */
    evl_arena *step_arena;   /* of dynamic steps: emptied before each */
    evl_arena *texts;        /* of strings that steps make, bodies too; NULL: there are no strings */
    void *scratch;           /* of dynamic steps */
    size_t scratch_capacity;
    evl_states *states;      /* NULL: nothing is carried */
    evl_states own_states;   /* of runs that begin anew, when steps need some */
    int (*stop)(void *user); /* NULL: never */
    void (*step)(void *user, const EvalStep *); /* NULL: steps are not timed */
    void *user;
    uint32_t depth;          /* of bodies */
    const char *strategy;    /* of the step that is timed */
    evl_session *next;       /* among the plan's idle ones */
};

/* An idle session of the plan, or a new one. */
EVL_MUST_USE EvalStatus evl_session_take(evl_context *, evl_plan *, evl_session **);
void evl_session_give(evl_plan *, evl_session *);
void evl_session_drop_idle(evl_plan *); /* before evl_plan_free */

/* Where the caller has input i, and wants output i (of those that have a place of
** their own: evl_session_has_place). */
void evl_session_input(evl_session *, size_t i, const void *data);
void evl_session_input_value(evl_session *, size_t i, const evl_tensor *); /* of any size */
bool evl_session_has_place(const evl_plan *, size_t output);
void evl_session_output(evl_session *, size_t i, void *data);

/* What the run carries on: the caller's, or, of none, the session's own, which begin anew. */
void evl_session_carry(evl_session *, evl_states *);

/* Runs all steps. The outputs are then in evl_session_result. */
EVL_MUST_USE EvalStatus evl_session_run(evl_session *, evl_context *);
const evl_tensor *evl_session_result(const evl_session *, size_t output);

/* Inside exec/: step i, of its kind; memory for a value whose size the run decides. */
EvalStatus evl_step_if(evl_session *, evl_context *, size_t i);
EvalStatus evl_step_loop(evl_session *, evl_context *, size_t i);
EvalStatus evl_step_scan(evl_session *, evl_context *, size_t i);
EvalStatus evl_step_map(evl_session *, evl_context *, size_t i);
EvalStatus evl_step_recurrence(evl_session *, evl_context *, size_t i);
EvalStatus evl_step_delay(evl_session *, evl_context *, size_t i);
EvalStatus evl_step_dynamic(evl_session *, evl_context *, size_t i);
EVL_MUST_USE EvalStatus evl_session_own(evl_session *, evl_context *, evl_slot_index,
                                        const evl_tensor *like);
void evl_session_end_values(evl_session *, size_t step); /* those that nothing reads after it */
/* ... with a copy of the whole value in it, texts and elements too. */
EVL_MUST_USE EvalStatus evl_session_keep(evl_session *, evl_context *, evl_slot_index,
                                         const evl_tensor *value);
/* What stands before the first frame of a sequence: `bytes` of frames, the oldest first,
** carried from the call before or made of the initial value. */
typedef struct evl_past {
    int64_t state; /* -1: never carried */
    double initial;
    EvalType type;
    size_t bytes;
} evl_past;

void evl_past_read(const evl_states *, const evl_past *, size_t from, size_t n, void *room);
/* Keeps, for the next call, the last frames of the past followed by data. */
EVL_MUST_USE EvalStatus evl_past_keep(evl_context *, evl_states *, const evl_past *,
                                      const void *data, size_t n_bytes);
#endif
