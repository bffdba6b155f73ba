/* store.h - what a model keeps of its constants in another form: widened, folded,
** packed. Blocks are made once, shared by all plans, and live as long as the model. */
#ifndef EVL_IR_STORE_H
#define EVL_IR_STORE_H
#include "os/os.h"

typedef struct evl_store evl_store;

typedef struct evl_store_key {
    const void *source;  /* address of a constant of the model, or of another block */
    const char *kind;    /* compared as text; copied when a block is made */
    uint64_t variant;
} evl_store_key;

evl_store *evl_store_new(evl_memory *);  /* NULL: no memory */
void evl_store_free(evl_store *);

/* Files that constants point into; they live as long as the store. At most two lists. */
void evl_store_files(evl_store *, const evl_file *files, size_t n);
/* A constant that from now on is there in another form. */
void evl_store_forget(evl_store *, const void *data, size_t bytes);

const void *evl_store_find(evl_store *, const evl_store_key *); /* NULL: not there */

/* The block of that key; when there is none, one of `bytes` filled by make(). Two
** threads that ask at once get the same one. make() must not use the store. */
EVL_MUST_USE EvalStatus evl_store_get(evl_context *, evl_store *, const evl_store_key *, size_t bytes,
                                      EvalStatus (*make)(evl_context *, void *block, void *arg),
                                      void *arg, const void **block);
#endif
