/* winograd_integer.h - convolutions of bytes by Winograd's F(2 x 2, 3 x 3), exactly: tiles of 4 x 4
** places are windows, two apart, of the convolution that evl_byte_winograd_window gives. */
#ifndef EVL_OPS_WINOGRAD_INTEGER_H
#define EVL_OPS_WINOGRAD_INTEGER_H
#include "ops/byte_bands.h"

/* Whether it is exact and takes less time. */
bool evl_byte_winograd_fits(const evl_conv *);
evl_conv evl_byte_winograd_window(const evl_conv *);

/* A channel's 3 x 3 weights, [channel in][9], each less `less` when its bits `flip` are turned, to
** [element][pair of channels][rows][2], of which `to` is the channel's first pair. */
typedef struct evl_byte_weights {
    const uint8_t *w;
    int32_t flip, less;
    size_t channels, rows;
} evl_byte_weights;
void evl_byte_winograd_pack(const evl_byte_weights *, int16_t *to);
#endif
