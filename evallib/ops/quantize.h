/* quantize.h - what integers stand for: scales and zero points, as operators hand them to
** the loops over real. */
#ifndef EVL_OPS_QUANTIZE_H
#define EVL_OPS_QUANTIZE_H
#include "ir/op.h"
#include "kernels/loops.h"

/* The range of an integer type that quantization offers: 2, 4, 8 and 16 bits, and to be
** read 32. */
bool evl_quantized_range(EvalType, evl_number *least, evl_number *most);
/* Of that type, stored in bytes or words, without scale and zero point. */
evl_quantized evl_quantized_of(EvalType);

/* What the numbers that belong to scale `input` are quantized in: the type that the file
** declares, in both precisions, so that a double plan takes the steps the model was made
** for; no narrower than float32. */
EvalType evl_quantize_type(const evl_machine *, const evl_use *, size_t input);

/* n numbers of any type as `real` in `room`; t NULL: zeros. */
void evl_reals_of(const evl_tensor *t, size_t n, EvalType real, void *room);

/* x rounded to float32 or float64: to compute single numbers in neutral files. */
evl_number evl_real_of(EvalType real, evl_number x);
#endif
