/* context.h - what every function that can fail is handed: where texts go, where
** memory comes from, how much is allowed.
**
** One is made on the stack by each public call, so calls that run at the same time
** never share one. */
#ifndef EVL_BASE_CONTEXT_H
#define EVL_BASE_CONTEXT_H
#include "base/memory.h"
#include "base/number.h"
#include "evallib/eval.h"

/* Two macros more than style.md names: only they let a compiler see a status dropped or a
** format that does not fit its values. */
#if defined(__GNUC__)
#define EVL_MUST_USE __attribute__((warn_unused_result))
#define EVL_PRINTF(text, values) __attribute__((format(printf, text, values)))
#else
#define EVL_MUST_USE
#define EVL_PRINTF(text, values)
#endif

/* What a caller may set; read from the configuration. */
typedef struct evl_limits {
    size_t max_nodes;        /* in one graph and its sub-graphs */
    size_t max_tensor_bytes; /* of one value */
    size_t max_depth;        /* of sub-graphs in each other, of brackets, of messages */
    size_t max_text;         /* bytes of a name or a configuration */
    size_t max_trips;        /* of all loops in one call together */
} evl_limits;

typedef struct evl_log {
    void (*write)(void *user, EvalLogLevel level, const char *text); /* NULL: nowhere */
    void *user;
} evl_log;

/* The text of the last failure: grows from `first` into memory when it is long. */
typedef struct evl_error {
    EvalStatus status;
    char *text;
    size_t n, capacity;
    evl_memory *memory;
    char first[512];
} evl_error;

typedef struct evl_context {
    evl_memory *memory;
    const evl_limits *limits;
    evl_log log;
    size_t trips;     /* of loops so far */
    const char *file; /* the model's path, put before every text; NULL: nothing */
    evl_error error;
} evl_context;

extern const evl_limits evl_default_limits;

void evl_context_init(evl_context *, evl_memory *, const evl_limits *);
void evl_context_end(evl_context *); /* frees the text */

/* Sets the text and gives back the status, for `return evl_fail(...)`. The format
** takes integers and texts only: a locale changes how other numbers look. */
EVL_PRINTF(3, 4)
EvalStatus evl_fail(evl_context *, EvalStatus, const char *format, ...);

/* More of the same text: appends, for lists of one item a line. */
EVL_PRINTF(2, 3)
void evl_fail_more(evl_context *, const char *format, ...);

/* The same failure with a place put before it: "node 'conv1' (Conv): ...". */
EVL_PRINTF(2, 3)
void evl_fail_at(evl_context *, const char *format, ...);

EvalStatus evl_no_memory(evl_context *); /* EVAL_ERR_MEMORY with its text */

EVL_PRINTF(3, 4)
void evl_note(const evl_context *, EvalLogLevel, const char *format, ...);
#endif
