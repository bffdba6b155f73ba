/* real_folds.h - what is folded of real numbers beside what folds.h folds of all: absolute values,
** and exp of the distance to a value of the line. */
#ifndef EVL_KERNELS_REAL_FOLDS_H
#define EVL_KERNELS_REAL_FOLDS_H
#include "kernels/folds.h"

static void enter_abs(size_t n, const void *x, size_t x_step, const void *unused,
                      size_t unused_step, void *y)
{
    (void)x_step;
    (void)unused;
    (void)unused_step;
    SET(evl_unary_loops)[EVL_ABS](n, x, y, NULL);
}

static void enter_abs_row(size_t n, const void *x, void *y, const evl_number *p)
{
    SET(evl_unary_loops)[EVL_ABS](n, x, y, p);
}

static const fold_rule abs_rule = { 0, EVL_ADD, sum_block, enter_abs, enter_abs_row };
static const fold_rule exp_rule = { 0, EVL_ADD, sum_block, SET(evl_exp_of_difference),
                                    SET(evl_exp_from) };
#endif
