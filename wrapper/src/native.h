/* native.h - the library's two interfaces, F and D, behind one face.
**
** The rest of the extension is written once: it holds a `const evl_native *` and
** an untyped object. native_real.c, compiled once for each, is the only file
** that knows which is which. Nothing here touches Python, so all of it may be
** called without the interpreter's lock. */
#ifndef EVL_WRAPPER_NATIVE_H
#define EVL_WRAPPER_NATIVE_H
#include <stdbool.h>
#include "evallib/eval.h"

/* EvalInput or EvalOutput of either precision. As an output, data and count are
** set: the object's memory until its next CNTK call. */
typedef struct evl_flat {
    const char *name;
    void *data;
    size_t count;
} evl_flat;

typedef enum evl_list { EVL_LIST_INPUTS, EVL_LIST_OUTPUTS, EVL_LIST_NODES } evl_list;

typedef struct evl_native {
    EvalType real;    /* EVAL_FLOAT32 or EVAL_FLOAT64 */
    const char *door; /* the symbol that makes an object */

    /* `symbol` is what dlsym gave for `door`. NULL when the library gives no object. */
    void *(*create)(void *symbol);
    bool (*is_complete)(void *self); /* has the library every function that we call? */
    void (*destroy)(void *self);

    EvalStatus (*init)(void *self, const char *config);
    EvalStatus (*create_network)(void *self, const char *description);
    EvalStatus (*load_memory)(void *self, const void *data, size_t bytes, const char *description);
    EvalStatus (*start_loop)(void *self, const char *output);
    EvalStatus (*reset_state)(void *self);
    EvalStatus (*dimensions)(void *self, EvalNodeGroup group, EvalDimension *dims, size_t *count);
    /* `in` NULL: EvaluateOutputs. */
    EvalStatus (*evaluate)(void *self, const evl_flat *in, size_t n_in, evl_flat *out,
                           size_t n_out);
    const char *(*last_error)(void *self);

    EvalStatus (*run)(void *self, const EvalTensor *in, size_t n_in, EvalTensor *out, size_t n_out,
                      const EvalRunOptions *options);
    EvalStatus (*release)(void *self, EvalTensor *out, size_t n_out);

    EvalStatus (*set_log)(void *self, void (*log)(void *user, EvalLogLevel level, const char *text),
                          void *user);
    EvalStatus (*clone)(void *self, void **clone);
    EvalStatus (*save)(void *self, const char *path);
    EvalStatus (*load_plugin)(void *self, const char *path);
    EvalStatus (*add_plugin)(void *self, const struct EvalPlugin *plugin);
    EvalStatus (*memory_use)(void *self, EvalMemoryUse *use);
    EvalStatus (*describe)(void *self, evl_list list, EvalNodeInfo *infos, size_t *count);
    EvalStatus (*metadata)(void *self, size_t index, const char **key, const char **value);
} evl_native;

extern const evl_native evl_native_f, evl_native_d;

#endif
