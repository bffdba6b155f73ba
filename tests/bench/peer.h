/* A library under the clock: opened, given a model, run again and again on the same values.
**
** Each function answers NULL, or the text of what went wrong, which lasts until close. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H
#include <evallib/eval.h>
#include <stdbool.h>

/* Input values and names of outputs are the caller's. EvalTensor serves for every peer: its types
** are numbered as ONNX Runtime numbers them. */
typedef struct peer_values {
    EvalTensor *in, *out;
    size_t n_in, n_out;
} peer_values;

typedef struct peer_options {
    const char *library, *model;
    int threads;
    bool spins;          /* idle threads of ONNX Runtime wait busily, which is its default */
    const char *profile; /* where ONNX Runtime writes what each node cost; "" for nowhere */
    const char *settings; /* further lines of evallib's configuration */
} peer_options;

typedef struct peer_state peer_state;

typedef struct peer {
    const char *name;
    peer_state *(*make)(void); /* NULL when memory is short */
    const char *(*open)(peer_state *s, const peer_options *options);
    const char *(*load)(peer_state *s, const peer_options *options);
    /* The first run makes the memory of the outputs: it sets their type, shape and data. Later
    ** ones write there again. */
    const char *(*first)(peer_state *s, peer_values *values);
    const char *(*run)(peer_state *s, peer_values *values);
    void (*close)(peer_state *s); /* and everything that make and first took */
} peer;

extern const peer bench_ours_f, bench_ours_d, bench_ort;

#endif
