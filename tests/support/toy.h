/* toy.h - operators of the tests' own and graphs of them, so that tests of graphs and
** plans need no real operator. They work on int64. */
#ifndef EVL_TESTS_TOY_H
#define EVL_TESTS_TOY_H
#include "ops/build.h"

extern const evl_op toy_sum;   /* all inputs, element by element; may work in place */
extern const evl_op toy_view;  /* the same bytes, flat: an alias */
extern const evl_op toy_range; /* 0 .. x[0]-1: its size depends on the data */
extern const evl_op toy_fail;  /* fails in its run */

extern size_t toy_runs;        /* how often toy_sum ran */

evl_value *toy_input(evl_graph *, const char *name, int64_t n); /* [n], -1: unknown */
evl_value *toy_constant(evl_graph *, const char *name, const int64_t *data, int64_t n);
evl_value *toy_node(evl_graph *, const evl_op *, const char *name, evl_value *a, evl_value *b);
#endif
