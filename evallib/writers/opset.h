/* opset.h - which opset of the standard a network is written in, and how what is of an older one is
** said there: networks of other formats, and what readers compose, are of none (EVL_NEWEST), and
** functions may be of older ones than the network. */
#ifndef EVL_WRITERS_OPSET_H
#define EVL_WRITERS_OPSET_H
#include "ir/graph.h"

/* The lowest that all nodes can be written in, at least `least`. */
int evl_opset_of_graph(const evl_graph *, int least);

/* What an attribute becomes: the input of that number, or one of these. */
enum { EVL_STAYS = 0, EVL_GOES = -1, EVL_MOST_MOVED = 5 };
int evl_opset_attribute(const evl_node *, const evl_attribute *, int opset);

typedef enum evl_opset_change {
    EVL_SAME,
    EVL_FLATTENS,       /* Softmax and its kin: all axes from `axis` on were one */
    EVL_COUNTS_OUTPUTS, /* Split says how many there are */
    EVL_CHANGED         /* the operator means something else there */
} evl_opset_change;
evl_opset_change evl_opset_change_of(const evl_node *, int opset);
#endif
