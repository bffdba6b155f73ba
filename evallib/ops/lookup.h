/* lookup.h - which of a list of keys one is: integers, numbers or texts. Of equal keys the
** first counts, unless the last is said to. Texts are not copied. */
#ifndef EVL_OPS_LOOKUP_H
#define EVL_OPS_LOOKUP_H
#include "base/arena.h"
#include <stdint.h>

typedef struct evl_lookup_key {
    int64_t number;
    EvalString text;
    size_t index;
} evl_lookup_key;

typedef struct evl_lookup {
    size_t n;
    const evl_lookup_key *sorted;
    bool last_counts; /* may be set once it is made */
} evl_lookup;

bool evl_lookup_ints(evl_arena *, const int64_t *, size_t n, evl_lookup *); /* false: no memory */
bool evl_lookup_texts(evl_arena *, const EvalString *, size_t n, evl_lookup *);

/* A number as an integer key: NaN is one key, and so is 0. */
int64_t evl_lookup_number(double);

/* The index in the list; lookup->n when it is not there. */
size_t evl_lookup_int(const evl_lookup *, int64_t);
size_t evl_lookup_text(const evl_lookup *, EvalString);
#endif
