#include "ops/norm_train.h"

extern evl_run evl_norm_train_f, evl_norm_train_d;

EvalStatus evl_norm_train_prepare(evl_prepare *p)
{
    bool is_double = p->machine->precision == EVL_DOUBLE;
    p->run = is_double ? evl_norm_train_d : evl_norm_train_f;
    p->strategy = "training";
    return EVAL_OK;
}
