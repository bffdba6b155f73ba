/* real.h - the only file that knows which twin is being built.
**
** Files named *_real.c are compiled twice, with EVL_REAL_IS_DOUBLE 0 and 1, and
** say `real` where they mean the type of this twin. */
#ifndef EVL_REAL_H
#define EVL_REAL_H
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <tgmath.h> /* exp(x), sqrt(x), fabs(x) follow the type of x */

#if EVL_REAL_IS_DOUBLE
typedef double real;
typedef uint64_t real_bits;   /* as wide as real */
#define TWIN(name)      name##_d /* our names:   evl_softmax_d */
#define PUBLIC(name)    name##D  /* users' names: GetEvalD      */
#define REAL_PRECISION  EVL_DOUBLE
#define REAL_TYPE       EVAL_FLOAT64
#define REAL_MAX        DBL_MAX
#define REAL_MIN        DBL_MIN
#define REAL_DIGITS     DBL_MANT_DIG
#define REAL_BIAS       (DBL_MAX_EXP - 1) /* of the exponent */
#define REAL_EPSILON    DBL_EPSILON
#else
typedef float real;
typedef uint32_t real_bits;
#define TWIN(name)      name##_f
#define PUBLIC(name)    name##F
#define REAL_PRECISION  EVL_FLOAT
#define REAL_TYPE       EVAL_FLOAT32
#define REAL_MAX        FLT_MAX
#define REAL_MIN        FLT_MIN
#define REAL_DIGITS     FLT_MANT_DIG
#define REAL_BIAS       (FLT_MAX_EXP - 1)
#define REAL_EPSILON    FLT_EPSILON
#endif

typedef real loose_real __attribute__((aligned(1))); /* wherever a file put it */
#endif
