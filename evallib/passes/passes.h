/* passes.h - graph to graph: what a plan's copy goes through before it is planned.
**
** Each pass keeps the meaning of the asked outputs and of the given inputs. */
#ifndef EVL_PASSES_PASSES_H
#define EVL_PASSES_PASSES_H
#include "ir/op.h"

typedef struct evl_pass_env evl_pass_env;
typedef EvalStatus evl_pass(evl_context *, const evl_pass_env *, evl_graph *);

struct evl_pass_env {
    const evl_machine *machine;
    evl_store *store;
    evl_pass *foreign; /* passes of plug-ins, which `guests` holds; NULL: there are none */
    const void *guests;
    bool is_for_file;  /* constants that would be larger than what they are computed from stay computed */
};

/* All passes, in the order of their table. */
EVL_MUST_USE EvalStatus evl_passes_run(evl_context *, const evl_pass_env *, evl_graph *);

evl_pass evl_pass_integers;     /* what is between DequantizeLinear and QuantizeLinear */
evl_pass evl_pass_fold;         /* types, shapes, constants: see fold.c */
evl_pass evl_pass_fuse_batch;   /* a file's BatchNormalizations into the weights of convolutions */
evl_pass evl_pass_fuse_attention; /* softmax of a product, times a matrix */
evl_pass evl_pass_fuse_gelu;    /* Gelu written out becomes Gelu */
evl_pass evl_pass_fuse_norm;    /* Layer- and RMSNormalization written out */
evl_pass evl_pass_fuse_product; /* bias, activation and transpositions into MatMul and Gemm */
evl_pass evl_pass_dead;         /* nodes that nothing needs */
evl_pass evl_pass_block;        /* convolutions and what surrounds them over blocked channels */
#endif
