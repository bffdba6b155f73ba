/* block_width.h - the width of blocks (passes/block.c) that suits a graph's convolutions. */
#ifndef EVL_PASSES_BLOCK_WIDTH_H
#define EVL_PASSES_BLOCK_WIDTH_H
#include "ir/op.h"

size_t evl_block_width(evl_context *, const evl_machine *, const evl_graph *);
#endif
