#include "elem.h"
#include "kernels/loops.h"
extern const evl_loops ELEM(evl_loops);
const evl_loops ELEM(evl_loops) = { .unary = { 0 } };
