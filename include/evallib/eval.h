/* eval.h - trained networks evaluated inside your own program.
**
** An evaluator is an object with a table of functions, made by GetEvalF (all
** arithmetic in float) or GetEvalD (in double):
**
**     IEvaluateModelF *model;
**     GetEvalF(&model);
**     if (model && model->vtbl->CreateNetwork(model, "modelPath=\"digits.onnx\"") == EVAL_OK)
**         ...
**     model->vtbl->Destroy(model);
**
** The shared library exports GetEvalF, GetEvalD and EvalLibraryInfo, so it can
** be linked or opened with dlopen; with EVALLIB_ONLY_TYPES defined they are not declared. Texts are UTF-8. Using an object after
** Destroy is the caller's error.
**
** EvalDimension, EvalInput, EvalOutput, EvalTensor and EvalString are passed as
** arrays and never change. Tables and option structs begin with their size and
** only ever grow at the end: look at `size` before using a later field. */
#ifndef EVALLIB_EVAL_H
#define EVALLIB_EVAL_H
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(EVALLIB_SHARED)
#define EVL_API __declspec(dllimport)
#elif defined(__GNUC__)
#define EVL_API __attribute__((visibility("default")))
#else
#define EVL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The answer of every function that can fail. A failing call changes nothing:
** network, recurrent state and settings stay as they were; the contents of its
** outputs are unspecified. LastError tells the cause and what to do. */
typedef enum EvalStatus {
    EVAL_OK = 0,
    EVAL_ERR_ARGUMENT = 1,    /* NULL, an empty list, configuration syntax, a missing modelPath */
    EVAL_ERR_MEMORY = 2,      /* the allocator said no */
    EVAL_ERR_IO = 3,          /* a file missing, unreadable, a directory */
    EVAL_ERR_FORMAT = 4,      /* empty, unknown, cut, or inconsistent bytes */
    EVAL_ERR_UNSUPPORTED = 5, /* valid, and not offered: every such node is listed */
    EVAL_ERR_NOT_FOUND = 6,   /* no node or interface of that name; near names are listed */
    EVAL_ERR_SHAPE = 7,       /* lengths, sample counts, dimensions */
    EVAL_ERR_TYPE = 8,        /* a wrong element type, an output type that cannot be given */
    EVAL_ERR_STATE = 9,       /* no network yet; a second call while one runs */
    EVAL_ERR_LIMIT = 10,      /* a buffer too small (the needed sizes are set), a limit reached */
    EVAL_ERR_CANCELLED = 11,
    EVAL_ERR_PLUGIN = 12,
    EVAL_ERR_INTERNAL = 13,
    EVAL_STATUS_MAX = 0x7fffffff
} EvalStatus;

typedef enum EvalNodeGroup {
    EVAL_NODE_INPUT = 0,      /* what any output of the network needs */
    EVAL_NODE_OUTPUT = 1,
    EVAL_NODE_SPECIFIED = 2,  /* the caller fills in the names */
    EVAL_NODE_GROUP_MAX = 0x7fffffff
} EvalNodeGroup;

/* A node and the number of elements of one sample of it; 0 when that depends on
** the input. */
typedef struct EvalDimension {
    const char *name;
    size_t size;
} EvalDimension;

/* Element types, numbered as ONNX numbers TensorProto.DataType. Types narrower
** than a byte pack the low bits first. */
typedef enum EvalType {
    EVAL_UNDEFINED = 0,
    EVAL_FLOAT32 = 1,
    EVAL_UINT8 = 2,
    EVAL_INT8 = 3,
    EVAL_UINT16 = 4,
    EVAL_INT16 = 5,
    EVAL_INT32 = 6,
    EVAL_INT64 = 7,
    EVAL_STRING = 8,          /* data is an EvalString[] */
    EVAL_BOOL = 9,            /* a byte, 0 or 1 */
    EVAL_FLOAT16 = 10,
    EVAL_FLOAT64 = 11,
    EVAL_UINT32 = 12,
    EVAL_UINT64 = 13,
    EVAL_COMPLEX64 = 14,
    EVAL_COMPLEX128 = 15,
    EVAL_BFLOAT16 = 16,
    EVAL_FLOAT8E4M3FN = 17,
    EVAL_FLOAT8E4M3FNUZ = 18,
    EVAL_FLOAT8E5M2 = 19,
    EVAL_FLOAT8E5M2FNUZ = 20,
    EVAL_UINT4 = 21,
    EVAL_INT4 = 22,
    EVAL_FLOAT4E2M1 = 23,
    EVAL_FLOAT8E8M0 = 24,
    EVAL_UINT2 = 25,
    EVAL_INT2 = 26,
    EVAL_SEQUENCE = 1001,     /* rank 1, data is an EvalTensor[dims[0]] */
    EVAL_OPTIONAL = 1002,     /* the same with 0 or 1 elements */
    EVAL_MAP = 1003,          /* rank 1, data is an EvalTensor[2]: keys, values */
    EVAL_TYPE_MAX = 0x7fffffff
} EvalType;

enum { EVAL_MAX_RANK = 16 };

typedef struct EvalString {
    const char *text;         /* owned by whoever owns the tensor's data; may hold '\0' */
    size_t size;              /* bytes */
} EvalString;

/* A value with a type and a shape. As an output: with data NULL the library
** makes the memory, which lasts until Release or Destroy; otherwise bytes is the
** capacity of data, and afterwards the size used. type EVAL_UNDEFINED takes what
** comes: floating-point values in the object's own type, others as declared.
** Sequences, optionals and maps given have bytes = elements * sizeof(EvalTensor);
** those that come out are one block, elements first, in data. */
typedef struct EvalTensor {
    const char *name;
    EvalType type;
    int32_t rank;             /* 0 .. EVAL_MAX_RANK */
    int64_t dims[EVAL_MAX_RANK];
    void *data;               /* row-major, contiguous, aligned for its element */
    size_t bytes;
    uint64_t reserved[2];     /* zero */
} EvalTensor;

/* One step of a run, when it is done: a node, or several that are computed as one. Strings last
** until the callback returns. */
typedef struct EvalStep {
    size_t size;              /* sizeof(EvalStep) */
    const char *name;         /* of the node; of one without, that of its output */
    const char *op;           /* its operator, or that of the library's own which took its place */
    const char *domain;       /* of the operator; "" is ai.onnx */
    const char *method;       /* how: "Winograd 4 x 4", the name of a plug-in or of its kernels; ""
                                 where there is one way only */
    uint32_t depth;           /* 0: of the network itself; 1: of a body of If, Loop ... in it */
    uint32_t reserved;
    uint64_t nanoseconds;     /* those of its bodies' steps, which are told before it, included */
} EvalStep;

typedef struct EvalRunOptions {
    size_t size;              /* sizeof(EvalRunOptions) */
    char *message;            /* not NULL: the text of a failure goes here, not to LastError */
    size_t messageBytes;
    int (*stop)(void *user);  /* asked between steps; non-zero ends the run with EVAL_ERR_CANCELLED */
    void *user;               /* for stop and step */
    void (*step)(void *user, const EvalStep *step); /* the profile: called after each step, by the
                                 thread that called Run; NULL: not measured */
} EvalRunOptions;

/* Memory for everything an object holds. allocate gives NULL when there is none;
** alignment is a power of two. Both may be called from several threads. */
typedef struct EvalAllocator {
    size_t size;              /* sizeof(EvalAllocator) */
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *block, size_t bytes);
    void *user;
} EvalAllocator;

typedef enum EvalLogLevel {
    EVAL_LOG_INFO = 0,
    EVAL_LOG_WARNING = 1,
    EVAL_LOG_LEVEL_MAX = 0x7fffffff
} EvalLogLevel;

/* Bytes held now and at most so far, of what the allocator gave. */
/* Where the files of a model are, when they lie in no folder: an archive, a data base, a
** device. name is "" for the model itself; otherwise it is what the model says of external
** data: compare it with the names that are there, and build no path of it. Called only in
** LoadCallback, from its thread. */
typedef struct EvalFiles {
    size_t size;              /* sizeof(EvalFiles) */
    void *user;
    int64_t (*length)(void *user, const char *name); /* bytes; -1: there is none */
    /* Fills buffer from byte `offset` on; 0, or anything else when that failed. */
    int (*read)(void *user, const char *name, uint64_t offset, void *buffer, size_t bytes);
} EvalFiles;

typedef struct EvalMemoryUse {
    size_t size;              /* sizeof(EvalMemoryUse) */
    size_t bytes, peakBytes, blocks;
    size_t planBytes;         /* the largest block of intermediate values that one run needs */
    size_t mappedBytes;       /* model files mapped, not in `bytes` */
} EvalMemoryUse;

/* One input, output or node as the model declares it. Strings last until
** CreateNetwork or Destroy. */
typedef struct EvalNodeInfo {
    size_t size;              /* sizeof(EvalNodeInfo) */
    const char *name;
    const char *op;           /* operator; "" for inputs, "Constant" for parameters */
    const char *domain;       /* of the operator; "" is ai.onnx */
    EvalType type;            /* as declared; EVAL_UNDEFINED when unknown */
    int32_t rank;             /* -1: unknown */
    int64_t dims[EVAL_MAX_RANK];              /* -1: unknown */
    const char *dimNames[EVAL_MAX_RANK];      /* symbolic names; NULL where there is none */
    EvalType inside[4];       /* of a sequence, optional or map: what it holds, from the outside
                                 in; a map's keys, then its values; EVAL_UNDEFINED after the last */
} EvalNodeInfo;

typedef enum EvalStorage {
    EVAL_STORAGE_DENSE = 1,
    EVAL_STORAGE_SPARSE = 2,  /* columns, of which only what is not 0 is told */
    EVAL_STORAGE_MAX = 0x7fffffff
} EvalStorage;

/* An input or output of the extended interface. */
typedef struct EvalVariable {
    const char *name;         /* lasts until CreateNetwork or Destroy */
    EvalType type;
    EvalStorage storage;
    size_t elements;          /* of one sample */
} EvalVariable;

/* An operator that files may name. Strings last as long as the library. */
typedef struct EvalOperatorInfo {
    size_t size;              /* sizeof(EvalOperatorInfo) */
    const char *name;
    const char *domain;       /* "" is ai.onnx */
    int32_t opset;            /* the domain's newest whose semantics are known; those before are, too */
    uint32_t types;           /* bit EvalType: elements of that type are taken, in this precision */
    uint32_t minInputs, maxInputs, minOutputs, maxOutputs; /* 255: any number */
} EvalOperatorInfo;

/* What a plug-in is: evallib/plugin.h. */
struct EvalPlugin;

/* A plug-in that an object has loaded. Strings last until Unload or Destroy. */
typedef struct EvalPluginInfo {
    size_t size;              /* sizeof(EvalPluginInfo) */
    const char *name, *version;
    const char *path;         /* "" when it was built in */
    size_t operators, readers, kernels;
} EvalPluginInfo;

typedef struct EvalInfo {
    size_t size;              /* sizeof(EvalInfo) */
    uint32_t abi;             /* major number of the binary interface */
    const char *version;      /* "1.0.0" */
    const char *build;        /* compiler and options */
    const char *kernels;      /* the instruction set used on this processor */
} EvalInfo;

#define EVL_REAL float
#define EVL_NAME(base) base##F
#include "eval.inc"
#undef EVL_REAL
#undef EVL_NAME

#define EVL_REAL double
#define EVL_NAME(base) base##D
#include "eval.inc"
#undef EVL_REAL
#undef EVL_NAME

#ifndef EVALLIB_ONLY_TYPES
/* What this library is. One of several constants, never NULL. */
EVL_API const EvalInfo *EvalLibraryInfo(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
