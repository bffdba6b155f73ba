#include "kernels/set.h"
const evl_loops SET(evl_loops) = { .unary = { NULL } };
