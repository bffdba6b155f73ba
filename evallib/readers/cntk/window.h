/* window.h - where a kernel stands over its input: shared by convolution and pooling. */
#ifndef EVL_READERS_CNTK_WINDOW_H
#define EVL_READERS_CNTK_WINDOW_H
#include "readers/cntk/maker.h"

/* One axis of the input. Pads may be negative: then that much is cut off. Sizes that only a
** call tells are EVL_UNKNOWN_DIM; what the last stride leaves over is then not yet taken from
** the pads of an axis that is_left_over. */
typedef struct evl_cntk_axis {
    int64_t in, kernel, stride, dilation, lower, upper, out;
    bool is_left_over;
} evl_cntk_axis;

typedef struct evl_cntk_window {
    size_t rank;
    evl_cntk_axis axis[EVAL_MAX_RANK];
} evl_cntk_window;

/* What the node's payload says, for an input with samples of `rank` dimensions. Axes that
** it does not name are covered whole by a convolution (covers_rest), else left alone. */
bool evl_cntk_window_of(evl_cntk_maker *, const evl_value *x, bool covers_rest, evl_cntk_window *);
/* The dilated kernel's extent. */
int64_t evl_cntk_extent(const evl_cntk_axis *);
/* Sets pads and out of an axis; false, with a failure: no window fits. */
bool evl_cntk_place(evl_cntk_maker *, evl_cntk_axis *, bool is_auto, bool rounds_up);

/* x without what negative lower pads cut off; they become 0. */
evl_value *evl_cntk_cut(evl_cntk_maker *, evl_value *x, evl_cntk_window *);

/* Whether some axis's size is known in a call only, or its pads are. */
bool evl_cntk_is_open(const evl_cntk_window *, size_t n);
bool evl_cntk_is_left_over(const evl_cntk_window *, size_t n);
/* x, whose last n axes the window runs over, padded with a number as the call's sizes want it;
** the window's pads become 0. */
evl_value *evl_cntk_pad(evl_cntk_maker *, evl_value *x, evl_cntk_window *, size_t n, double number);

/* kernel_shape, strides, pads, dilations of the first n axes, as operators want them. */
enum { EVL_CNTK_WINDOW_ATTRIBUTES = 4 };
void evl_cntk_window_attributes(evl_cntk_maker *, const evl_cntk_window *, size_t n,
                                evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES]);

/* The old layout HWC, [C, W, H], turned into [W, H, C], and back. */
evl_value *evl_cntk_channels_last(evl_cntk_maker *, evl_value *x);
evl_value *evl_cntk_channels_first(evl_cntk_maker *, evl_value *y);
#endif
