/* The table of operators: a family a line. */
#include "ops/ops.h"
#include <string.h>

#define FAMILY(name) evl_ops_##name,
static const evl_op *const *const families[] = { EVL_FAMILIES(FAMILY) };

enum { N_FAMILIES = sizeof families / sizeof families[0] };

/* Our own operators (domain "evl") have no name in any file. */
static bool is_domain(const char *domain, const char *wanted)
{
    if (domain && strcmp(domain, "evl") == 0)
        return false;
    bool is_onnx = !wanted || !*wanted || strcmp(wanted, "ai.onnx") == 0;
    return domain ? wanted && strcmp(domain, wanted) == 0 : is_onnx;
}

const evl_op *evl_op_find(const char *domain, const char *name)
{
    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const evl_op *const *op = families[f]; *op; op++)
            if (strcmp((*op)->name, name) == 0 && is_domain((*op)->domain, domain))
                return *op;
    return NULL;
}

const evl_op *evl_op_at(size_t index)
{
    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const evl_op *const *op = families[f]; *op; op++)
            if (index-- == 0)
                return *op;
    return NULL;
}
