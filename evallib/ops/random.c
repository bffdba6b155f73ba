#include "ops/random.h"
#include <math.h>

enum { N = EVL_RANDOM_WORDS, M = 397 };

void evl_random_start(evl_random *r, uint32_t seed)
{
    r->word[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        r->word[i] = UINT32_C(1812433253) * (r->word[i - 1] ^ (r->word[i - 1] >> 30)) + i;
    r->at = N;
    r->has_kept = false;
}

static void advance(evl_random *r)
{
    for (int i = 0; i < N; i++) {
        uint32_t high = r->word[i] & UINT32_C(0x80000000);
        uint32_t y = high | (r->word[(i + 1) % N] & UINT32_C(0x7fffffff));
        r->word[i] = r->word[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
    }
    r->at = 0;
}

static uint32_t next(evl_random *r)
{
    if (r->at == N)
        advance(r);
    uint32_t y = r->word[r->at++];
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9d2c5680);
    y ^= (y << 15) & UINT32_C(0xefc60000);
    return y ^ (y >> 18);
}

/* 53 bits of two words. */
double evl_random_uniform(evl_random *r)
{
    uint32_t high = next(r) >> 5, low = next(r) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

/* Marsaglia's polar method: a point of the unit disc gives two. */
double evl_random_normal(evl_random *r)
{
    double x, y, square;
    if (r->has_kept) {
        r->has_kept = false;
        return r->kept;
    }
    do {
        x = 2 * evl_random_uniform(r) - 1;
        y = 2 * evl_random_uniform(r) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double scale = sqrt(-2 * log(square) / square);
    r->kept = scale * x;
    r->has_kept = true;
    return scale * y;
}
