/* random.h - the Mersenne twister (Matsumoto, Nishimura: MT19937), whose numbers are those of
** numpy's RandomState, which ONNX's own definitions use. */
#ifndef EVL_OPS_RANDOM_H
#define EVL_OPS_RANDOM_H
#include <stdbool.h>
#include <stdint.h>

enum { EVL_RANDOM_WORDS = 624 };

typedef struct evl_random {
    uint32_t word[EVL_RANDOM_WORDS];
    int at;
    bool has_kept;
    double kept; /* normal numbers are made in pairs */
} evl_random;

void evl_random_start(evl_random *, uint32_t seed);
double evl_random_uniform(evl_random *); /* 0 <= u < 1 */
double evl_random_normal(evl_random *);  /* mean 0, variance 1 */
#endif
