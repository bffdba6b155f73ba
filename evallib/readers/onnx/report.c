/* What the model needs and is not offered, one item a line. */
#include "readers/onnx/onnx.h"
#include <stdarg.h>
#include <stdio.h>

EvalStatus evl_onnx_miss(evl_onnx *o, const char *format, ...)
{
    va_list values;
    evl_onnx_missing *item = evl_arena_take(o->scratch, sizeof *item);
    va_start(values, format);
    int n = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *text = item && n >= 0 ? evl_arena_take(o->scratch, (size_t)n + 1) : NULL;
    if (!text)
        return evl_no_memory(o->ctx);
    va_start(values, format);
    vsnprintf(text, (size_t)n + 1, format, values);
    va_end(values);
    item->text = text;
    *o->last_missing = item;
    o->last_missing = &item->next;
    return EVAL_OK;
}

EvalStatus evl_onnx_report(evl_onnx *o)
{
    if (!o->first_missing)
        return EVAL_OK;
    EvalStatus st = evl_fail(o->ctx, EVAL_ERR_UNSUPPORTED,
                             "onnx: the model needs what this library does not offer:");
    if (o->newer_ir)
        evl_fail_more(o->ctx, "\nIR version %lld; the newest that is known is %d",
                      (long long)o->newer_ir, (int)EVL_ONNX_NEWEST_IR);
    if (o->newer_opset)
        evl_fail_more(o->ctx, "\nopset %lld; the newest that is known is %d",
                      (long long)o->newer_opset, (int)EVL_ONNX_NEWEST_OPSET);
    for (const evl_onnx_missing *item = o->first_missing; item; item = item->next)
        evl_fail_more(o->ctx, "\n%s", item->text);
    return st;
}
