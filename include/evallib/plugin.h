/* plugin.h - what a plug-in of evallib gives, and what it is handed.
**
** A plug-in is a shared library with one entry, EvalPluginEntry, which gives its table; or
** the table itself, for LoadStatic. It links against nothing of evallib, keeps no global
** state, and brings operators, readers of file formats, passes over networks, and kernels:
**
**     static EvalStatus run(EvalCall *call) { ... call->in[0].data ... call->out[0].data ... }
**     static const EvalImplementation floats = { sizeof floats, EVAL_FLOAT32, NULL, run };
**     ...
**     const EvalPlugin *EvalPluginEntry(void) { return &plugin; }
**
** Every table begins with its size and only ever grows at the end; fields past `size` are
** taken as zero. So a plug-in goes on working with newer libraries. One that needs more than
** a library offers says so in `hostSize` and is refused with that reason.
**
** Every function of a plug-in is handed an EvalCall and answers with a status. One that fails
** says why by host->Fail. Prepare, Infer and Run may be called from several threads at once. */
#ifndef EVALLIB_PLUGIN_H
#define EVALLIB_PLUGIN_H
#include "evallib/eval.h"

#if defined(_WIN32)
#define EVAL_PLUGIN_API __declspec(dllexport)
#elif defined(__GNUC__)
#define EVAL_PLUGIN_API __attribute__((visibility("default")))
#else
#define EVAL_PLUGIN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { EVAL_PLUGIN_ABI = 1, EVAL_ANY_NUMBER = 0x7fffffff };

typedef struct EvalHost EvalHost;
typedef struct EvalCall EvalCall;

typedef enum EvalAttributeKind {
    EVAL_ATTRIBUTE_INT = 1,    /* data: int64_t[count] */
    EVAL_ATTRIBUTE_NUMBER = 2, /* double[count] */
    EVAL_ATTRIBUTE_TEXT = 3,   /* EvalString[count] */
    EVAL_ATTRIBUTE_TENSOR = 4, /* EvalTensor[count] */
    EVAL_ATTRIBUTE_KIND_MAX = 0x7fffffff
} EvalAttributeKind;

/* Passed in arrays: frozen. */
typedef struct EvalAttribute {
    const char *name;
    EvalAttributeKind kind;
    int32_t isList;            /* 0: one value, count is 1 */
    size_t count;
    const void *data;
} EvalAttribute;

/* A value of the network that a pass looks at; 0: none. */
typedef uint64_t EvalValue;

/* What a pass sees of a node and of a value; it sets size. */
typedef struct EvalNode {
    size_t size;
    const char *domain, *op, *name; /* domain "" is ai.onnx */
    int32_t version;
    size_t nIn, nOut;
} EvalNode;

typedef struct EvalValueView {
    size_t size;
    EvalTensor tensor;         /* type and sizes as far as they are known, data of a constant */
    int64_t producer;          /* the node that computes it; -1: an input, a constant, or outside */
    size_t readers;            /* nodes that read it, bodies and the network's outputs too */
    int32_t isOutput;          /* the network's, or the body's */
    int32_t isOutside;         /* of a network around this body: PutNode cannot compute it */
} EvalValueView;

/* What a function of a plug-in is called for. Operands: type EVAL_UNDEFINED is one that is
** left out, or an output that nobody wants. Floating-point values are of the object's own type
** (float32 in F, float64 in D) except in Infer while a file is read, when types are as
** declared; elements narrower than a byte come one a byte. Strings are EvalString; those of an
** output point to memory of Allocate, or to texts of an input. Elements lie in row-major order
** and aligned, but in Infer anywhere: memcpy them. Sequences, optionals and maps do not come. */
struct EvalCall {
    size_t size;
    const EvalHost *host;
    void *context;             /* of the model: what Start set */
    const char *node, *op;     /* names of the node ("" when it has none) and its operator */
    int32_t version;           /* the opset whose semantics hold */
    EvalType real;             /* EVAL_FLOAT32, EVAL_FLOAT64; UNDEFINED while a file is read */
    const EvalTensor *in;
    size_t nIn;
    EvalTensor *out;
    size_t nOut;
    void *state;               /* Prepare sets it to memory of host->Allocate; Run reads it */
    void *scratch;             /* in Run: scratchBytes, their content is nobody's */
    size_t scratchBytes;       /* Prepare sets it */
    /* Of an operator with EVAL_OPERATOR_CARRIES, in Run: memory that is zero when a sequence
    ** begins, and then as the Run before left it, in the call before too. An object and each of
    ** its clones has its own; ResetState begins anew, and what the object's Run computes always
    ** does. A call that fails leaves it as it was before. */
    void *carried;
    size_t carriedBytes;       /* Prepare sets it */
    int32_t hasFrames;         /* the first axis counts frames of a sequence (CNTK): in a
                               ** recurrence one at a time, else all there are */
};

/* What the library offers; `call` is what the plug-in's function was handed. */
struct EvalHost {
    size_t size;
    uint32_t abi;
    const char *version;       /* of the library */

    /* Zeroed memory that nobody frees: lasts as long as the model (Start, readers), the prepared
    ** node (Prepare), what is planned (passes), or until the step's results are no longer needed
    ** (Run, where there are strings: for the texts of an output). Elsewhere, and when memory is
    ** short, NULL. */
    void *(*Allocate)(EvalCall *call, size_t bytes);
    void (*Log)(EvalCall *call, EvalLogLevel level, const char *text);
    /* Says why the plug-in fails, as printf does, and gives the status back. */
    EvalStatus (*Fail)(EvalCall *call, EvalStatus status, const char *format, ...);

    /* work(arg, i) for each i below n, in any order, on the model's threads; returns when all
    ** are done. In Run only; results must not depend on how many threads there are. `work` calls
    ** none of these functions: what fails in it, Run tells afterwards. */
    void (*ParallelFor)(EvalCall *call, size_t n, void (*work)(void *arg, size_t i), void *arg);

    /* The node's attributes: by name with what holds when there is none (of lists NULL, count 0)
    ** or when it is of another kind; or one by one, which gives 0 past the last and leaves out
    ** bodies. What they point to lasts as long as the call, an EvalTensor until the next one. */
    int64_t (*Int)(EvalCall *call, const char *name, int64_t fallback);
    double (*Number)(EvalCall *call, const char *name, double fallback);
    const char *(*Text)(EvalCall *call, const char *name, const char *fallback);
    const int64_t *(*Ints)(EvalCall *call, const char *name, size_t *count);
    const double *(*Numbers)(EvalCall *call, const char *name, size_t *count);
    int (*Attribute)(EvalCall *call, size_t index, EvalAttribute *attribute);

    /* For readers: they build the network. A value is known by its name. Sizes are -1 where
    ** unknown, symbol names them (or is NULL, or has NULL entries). Data of constants is
    ** copied, unless it lies in the bytes that are read. Nodes may come in any order; domain
    ** NULL is ai.onnx, a name NULL or "" in `in` or `out` is left out. */
    EvalStatus (*AddInput)(EvalCall *call, const EvalTensor *like, const char *const *symbols);
    EvalStatus (*AddConstant)(EvalCall *call, const EvalTensor *tensor);
    EvalStatus (*AddNode)(EvalCall *call, const char *domain, const char *op, int32_t version,
                          const char *name, const char *const *in, size_t nIn,
                          const char *const *out, size_t nOut, const EvalAttribute *attributes,
                          size_t nAttributes);
    EvalStatus (*AddOutput)(EvalCall *call, const char *name);
    EvalStatus (*AddMetadata)(EvalCall *call, const char *key, const char *value);

    /* For passes: the network that they look at and change. Nodes are 0 .. Nodes() - 1, operands
    ** before users; those that are made come last. Node gives 0 for one that is gone, and past
    ** the last; Int, Number, Attribute and the others then speak of the node it was asked for.
    ** An operand that is left out is value 0, as is one that there is not. */
    size_t (*Nodes)(EvalCall *call);
    int (*Node)(EvalCall *call, size_t node, EvalNode *view);
    EvalValue (*NodeInput)(EvalCall *call, size_t node, size_t i);
    EvalValue (*NodeOutput)(EvalCall *call, size_t node, size_t i);
    int (*Value)(EvalCall *call, EvalValue value, EvalValueView *view);

    /* A value that PutNode is to compute; a constant, whose data is copied. 0: they said why. */
    EvalValue (*NewValue)(EvalCall *call, const char *name);
    EvalValue (*NewConstant)(EvalCall *call, const EvalTensor *tensor);
    /* A node that from now on computes the values `out`, whoever did before: one node in the
    ** place of a chain. Nodes that nothing needs any more go by themselves. To put a value in
    ** the place of another: PutNode an Identity. */
    EvalStatus (*PutNode)(EvalCall *call, const char *domain, const char *op, int32_t version,
                          const char *name, const EvalValue *in, size_t nIn, const EvalValue *out,
                          size_t nOut, const EvalAttribute *attributes, size_t nAttributes);
    /* Another operator with the same operands and attributes. */
    EvalStatus (*RenameNode)(EvalCall *call, size_t node, const char *domain, const char *op,
                             int32_t version);

    /* In Infer, Prepare and Run of an operator that stands in the place of another: what that one
    ** does. It runs only where it was prepared. */
    EvalStatus (*Replaced)(EvalCall *call);
};

/* An operator for one element type. */
typedef struct EvalImplementation {
    size_t size;
    EvalType type;             /* of input `typeInput`; EVAL_UNDEFINED: any */
    /* Once for a node whose sizes are known: sets state and scratchBytes. NULL: nothing to do.
    ** Data of constants is there, that of other operands is NULL. */
    EvalStatus (*Prepare)(EvalCall *call);
    /* Computes the outputs, which are zero before. Allocates nothing. */
    EvalStatus (*Run)(EvalCall *call);
} EvalImplementation;

enum {
    EVAL_OPERATOR_VARIES = 1,  /* gives other results for the same inputs: random numbers */
    EVAL_OPERATOR_CARRIES = 2  /* keeps state along a sequence: see EvalCall */
};

typedef struct EvalOperator {
    size_t size;
    const char *domain;        /* NULL, "" or "ai.onnx": the standard's, which it replaces */
    const char *name;
    uint32_t minInputs, maxInputs, minOutputs, maxOutputs;
    uint32_t typeInput;        /* the input whose type chooses the implementation */
    uint32_t flags;
    /* Sets type, rank and dims of the outputs from those of the inputs; -1: not known. Data of
    ** an input is there when it is known: a shape may depend on it, and the function is called
    ** again, in the run, when it is. NULL: every output is like input 0. */
    EvalStatus (*Infer)(EvalCall *call);
    const EvalImplementation *const *implementations;
    size_t nImplementations;
} EvalOperator;

/* A file format, told by content. */
typedef struct EvalReader {
    size_t size;
    const char *name;
    /* Does this file look like one of its own? Not 0: yes. */
    int (*Claims)(const void *data, size_t bytes);
    /* Builds the network with host->Add...; the bytes last as long as the model. */
    EvalStatus (*Read)(EvalCall *call, const void *data, size_t bytes);
} EvalReader;

/* A convolution over `axes` spatial axes, 1 to 3, of one image and one group of channels; each
** of the lists has a number for each axis. */
typedef struct EvalConvolution {
    size_t size;
    size_t axes;
    size_t channels, outputs;  /* of the group */
    const int64_t *in, *out, *kernel, *strides, *dilations;
    const int64_t *pads;       /* before the input; where it ends, zeros follow as needed */
} EvalConvolution;

/* Kernels for this processor, called from several threads at once; those that are NULL are the
** library's own. Of each function the set with the highest score serves. The library does what
** comes after: factors, bias, residual, activation. */
typedef struct EvalKernelSet {
    size_t size;
    const char *name;          /* a profile shows it (EvalStep.method) */
    int32_t score;             /* 0 or less: cannot run on this processor */
    /* Row-major products: C[m,n] = A[m,k] B[k,n], lda, ldb, ldc elements from row to row, a tile
    ** of rows at a time. They serve MatMul, Gemm and Einsum of all sizes whose A lies in rows and
    ** whose B does, or is constant: then it was turned round once. */
    void (*GemmF)(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b,
                  size_t ldb, float *c, size_t ldc);
    void (*GemmD)(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b,
                  size_t ldb, double *c, size_t ldc);
    /* Conv: `outputs` channels of a group at a time, y[outputs, out ...] from
    ** x[channels, in ...] and w[outputs, channels, kernel ...]; bias[outputs] may be NULL. */
    void (*ConvolveF)(const EvalConvolution *, size_t outputs, const float *x, const float *w,
                      const float *bias, float *y);
    void (*ConvolveD)(const EvalConvolution *, size_t outputs, const double *x, const double *w,
                      const double *bias, double *y);
    /* Not 0: this one is for Convolve. NULL: all are. */
    int (*Convolves)(const EvalConvolution *);
} EvalKernelSet;

/* Rewrites networks before they are planned: once for each, bodies of If and Loop before the
** network around them, with types, sizes and constants as far as they are known, which may be
** other ones for each call with other sizes. What it leaves behind is checked as a file is. */
typedef struct EvalPass {
    size_t size;
    const char *name;
    EvalStatus (*Run)(EvalCall *call);
} EvalPass;

typedef struct EvalPlugin {
    size_t size;
    uint32_t abi;              /* EVAL_PLUGIN_ABI */
    uint32_t reserved;         /* zero */
    size_t hostSize;           /* the least EvalHost that it can work with; 0: any */
    const char *name, *version;
    /* Once for each model, before all else: sets call->context. NULL: nothing to do. */
    EvalStatus (*Start)(EvalCall *call);
    /* When the model goes, after a Start that succeeded. */
    void (*Stop)(void *context);
    const EvalOperator *const *operators;
    size_t nOperators;
    const EvalReader *const *readers;
    size_t nReaders;
    const EvalKernelSet *const *kernels;
    size_t nKernels;
    void *user;                /* call->context as long as Start sets no other */
    const EvalPass *const *passes; /* in this order */
    size_t nPasses;
} EvalPlugin;

/* The entry of a plug-in. */
EVAL_PLUGIN_API const EvalPlugin *EvalPluginEntry(void);

#ifdef __cplusplus
}
#endif
#endif
