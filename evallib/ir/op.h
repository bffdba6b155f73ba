/* op.h - what an operator is: a constant descriptor, found by its address.
**
** Its life in a plan: `infer` (types and shapes; knows no precision) -> `prepare`
** (once: choose a strategy, pack weights, say how much scratch) -> `run` (any
** number of times; allocates nothing, chooses nothing, fails only for data).
**
** A plan calls infer with every shape known where it can. Where shapes depend on
** data, infer and prepare are called in the run, with every input's data there:
** then infer must give complete shapes. */
#ifndef EVL_IR_OP_H
#define EVL_IR_OP_H
#include "ir/graph.h"
#include "ir/store.h"
#include "os/os.h"

struct evl_kernels; /* kernels/kernels.h: of this precision */
struct evl_loops;   /* kernels/loops.h */
struct EvalKernelSet; /* evallib/plugin.h */

/* Which methods may be used that are faster and less exact: none, those whose loss was
** measured to be small (kernels/winograd_real.c), all. */
typedef enum evl_accuracy { EVL_EXACT, EVL_NORMAL, EVL_FAST } evl_accuracy;

/* What plans of a model compute with. */
typedef struct evl_machine {
    evl_precision precision;
    EvalType real;                              /* EVAL_FLOAT32 or EVAL_FLOAT64 */
    const struct evl_kernels *k;                /* for *_real.c files */
    const struct evl_loops *loops[EVL_N_TYPES]; /* by storage type; NULL: no arithmetic. float32
                                                   in double too, where models quantize in it */
    size_t lanes;                               /* reals in a vector: a block of channels */
    size_t narrow_lanes;                        /* in one of half the width that is as fast, or 0 */
    evl_accuracy accuracy;
    evl_pool *pool;
    const evl_blas *blas;
    const struct EvalKernelSet *foreign_gemm, *foreign_conv; /* a plug-in's; NULL: none */
} evl_machine;

/* A node and its operands: what infer, prepare and parameters look at. */
typedef struct evl_use {
    const evl_node *node;
    const evl_tensor *const *in; /* NULL: left out. data not NULL: the value is known */
    size_t n_in;
} evl_use;

typedef struct evl_infer {
    evl_context *ctx;
    evl_use use;
    evl_tensor *out; /* to set: type and shape; at first UNDEFINED and unknown */
    size_t n_out;
} evl_infer;

typedef struct evl_call evl_call;
typedef EvalStatus evl_run(const evl_call *);
/* Elements from .. to of output 0, each of which needs no more than the same element of the
** inputs of its shape, and what it likes of the smaller ones. */
typedef void evl_part(const evl_call *, size_t from, size_t to);

typedef struct evl_prepare {
    evl_context *ctx;
    evl_use use;
    const evl_tensor *const *out; /* shapes are known; NULL: not wanted */
    size_t n_out;
    const evl_machine *machine;
    evl_arena *arena;       /* for `state`: lives as long as the step */
    evl_store *store;       /* for packed weights: see evl_prepare_block */
    unsigned packed;        /* bits: inputs that evl_prepare_block has packed */
    void *state;            /* to set: what run needs; never changed by run */
    size_t scratch_bytes;   /* to set: memory that run may use, its content is nobody's */
    size_t carried_bytes;   /* to set by an operator that carries: memory that is kept */
    evl_run *run;           /* to set when not the impl's own: the strategy */
    evl_part *part;         /* to set by element-wise operators: the run in parts */
    const char *strategy;   /* to set: its name, which a printed plan shows */
    /* By output. Of those that are sequences, optionals or maps (always in a run, with all
    ** data there): to set, the shape and as data an array of what the elements are, in the
    ** arena. `run` gets a copy of them; data that is NULL here is for it to fill. */
    evl_tensor *nested;
} evl_prepare;

struct evl_call {
    evl_context *ctx;
    const evl_machine *machine;
    const evl_node *node;
    const void *state;
    const evl_tensor *const *in; /* NULL: left out */
    size_t n_in;
    evl_tensor *const *out;      /* NULL: not wanted; data is there, uninitialised */
    size_t n_out;
    void *scratch;               /* EVL_ALIGNMENT */
    void *carried;               /* as the last run in this sequence left it, zeros at first */
    evl_arena *texts;            /* for texts that the run makes: they last until the next run */
};

typedef struct evl_impl {
    EvalStatus (*prepare)(evl_prepare *); /* NULL: nothing to prepare */
    evl_run *run;
} evl_impl;

enum { EVL_ANY_NUMBER = 255 };

/* Traits. */
enum {
    EVL_OP_ALIAS = 1,     /* output 0 has the bytes of input 0: Reshape, Identity */
    EVL_OP_IN_PLACE = 2,  /* output 0 may be written over any input of the same shape and type:
                             element i of the output needs only element i of such an input */
    EVL_OP_CONTROL = 4,   /* runs bodies: exec/ knows how; no impl */
    EVL_OP_SEQUENCE = 8,  /* keeps state from frame to frame: exec/ knows how; no impl */
    EVL_OP_NO_FOLD = 16,  /* never run when the plan is made: random numbers */
    EVL_OP_OF_SHAPE = 32, /* its values come from its input's shape alone: Shape, Size */
    EVL_OP_PACKS = 64,    /* prepare reads data of a constant input 1 by evl_prepare_block only, which
                             needs no alignment */
    EVL_OP_NESTED = 128,  /* takes or gives sequences, optionals or maps */
    EVL_OP_CARRIES = 256  /* keeps memory along a sequence: evl_prepare.carried_bytes */
};

struct evl_op {
    const char *name;
    const char *domain;                       /* NULL: ai.onnx */
    uint8_t min_inputs, max_inputs;           /* EVL_ANY_NUMBER: no bound */
    uint8_t min_outputs, max_outputs;
    uint8_t type_input;                       /* whose type chooses the implementation */
    uint16_t traits;
    EvalStatus (*infer)(evl_infer *);
    const evl_impl *real[EVL_PRECISIONS];     /* for floating point */
    const evl_impl *integer;                  /* integers and bool */
    const evl_impl *any;                      /* every type that has none of the above */
    uint8_t kind;                             /* which of its family it is: the loop's number */
};

/* The implementation for a type in a precision; NULL: not offered. */
const evl_impl *evl_op_impl(const evl_op *, EvalType, evl_precision);

/* Infers a graph as read, bodies too, as far as shapes are known; what the file declares
** fills what stays open. */
EVL_MUST_USE EvalStatus evl_infer_graph(evl_context *, evl_graph *);

/* Infers one node from its operands' tensors; its outputs' t is set. Wraps infer:
** checks counts, maps floating-point types to graph->real, checks sizes, and names
** the node in a failure. */
EVL_MUST_USE EvalStatus evl_infer_node(evl_context *, evl_node *);
EVL_MUST_USE EvalStatus evl_infer_use(evl_context *, const evl_use *, EvalType real,
                                      evl_tensor *out, size_t n_out);

/* Runs a node at once, outside any plan: out[] as evl_infer_use set them, shapes all
** known; their data is taken from the arena. For folding and for tests. */
EVL_MUST_USE EvalStatus evl_evaluate_use(evl_context *, const evl_machine *, evl_store *, evl_arena *,
                                         const evl_use *, evl_tensor *out, size_t n_out);

/* The implementation that a node needs; EVAL_ERR_TYPE when that type is not offered. */
EVL_MUST_USE EvalStatus evl_use_impl(evl_context *, const evl_use *, evl_precision,
                                     const evl_impl **);

/* Parameters that one opset gives as an attribute and another as an input: looked
** up as the attribute `name`, then as input `input` (SIZE_MAX: no input). */
typedef enum evl_known {
    EVL_ABSENT,  /* neither: the default holds */
    EVL_UNKNOWN, /* an input whose data is not known yet */
    EVL_KNOWN
} evl_known;

evl_known evl_use_int(const evl_use *, const char *name, size_t input, int64_t *value);
evl_known evl_use_number(const evl_use *, const char *name, size_t input, double *value);
/* At most `most` values; EVAL_ERR_SHAPE when there are more. *n is set when known. */
EVL_MUST_USE EvalStatus evl_use_ints(evl_context *, const evl_use *, const char *name, size_t input,
                                     size_t most, int64_t *values, size_t *n, evl_known *);
EVL_MUST_USE EvalStatus evl_use_numbers(evl_context *, const evl_use *, const char *name,
                                        size_t input, size_t most, double *values, size_t *n,
                                        evl_known *);
const evl_tensor *evl_use_in(const evl_use *, size_t input); /* NULL: left out */
/* As the file declares it, where a plan has made one type of all floating-point types. */
EvalType evl_use_declared(const evl_use *, size_t input);

/* A block that make() fills once from constant input `input`: packed weights. The source may be
** unaligned when the operator has EVL_OP_PACKS. Kept
** by the model and shared by plans when the constant is the model's, else by the
** step. `kind` and `variant` tell packings of one constant apart. */
EVL_MUST_USE EvalStatus evl_prepare_block(evl_prepare *, size_t input, const char *kind,
                                          uint64_t variant, size_t bytes,
                                          void (*make)(void *block, const evl_tensor *source,
                                                       const void *arg),
                                          const void *arg, const void **block);

/* Shape rules that many operators share. */
EvalStatus evl_infer_same(evl_infer *);       /* output 0 is like input 0 */
EvalStatus evl_prepare_same(evl_prepare *);   /* ... and has its elements, if it is nested */
EvalStatus evl_infer_broadcast(evl_infer *);  /* all inputs broadcast; type of the op's type_input */
#endif
