/* run_op.h - one operator, run on its own in either precision. */
#ifndef EVL_TESTS_RUN_OP_H
#define EVL_TESTS_RUN_OP_H
#include "ir/op.h"
#include "support/support.h"

/* What a test gives and gets. Floating-point inputs and outputs are double here, in
** whatever precision the operator runs; other types are as they are. */
typedef struct evl_op_run {
    const evl_op *op;
    int version;                     /* opset; 0: the newest */
    const evl_attribute *attributes;
    size_t n_attributes;
    evl_tensor in[16];               /* type UNDEFINED: left out. Floats: EVAL_FLOAT64 */
    size_t n_in;
    size_t n_out;                    /* 0 means 1 */
    bool in_place;                   /* output 0 is written over input 0 */
    bool hide_data;                  /* infer and prepare see no data where shapes allow: as in a plan */
    size_t threads;                  /* 0: no pool */
    evl_tensor out[8];               /* data lives until evl_op_run_end */
    evl_arena *arena;
} evl_op_run;

/* The status of infer, prepare or run, whichever failed. cpu: bits of evl_cpu_features
** to allow, for choosing the kernel set. */
EvalStatus evl_run_op(evl_context *, evl_op_run *, evl_precision, unsigned cpu);
void evl_run_op_end(evl_op_run *);

/* Tensors over a test's arrays. */
evl_tensor evl_test_reals(const double *, size_t rank, const int64_t *dims);
evl_tensor evl_test_ints(const int64_t *, size_t rank, const int64_t *dims);
evl_tensor evl_test_tensor(EvalType, const void *, size_t rank, const int64_t *dims);

void evl_test_machine(evl_machine *, evl_precision, unsigned cpu); /* no pool, no BLAS */
#endif
