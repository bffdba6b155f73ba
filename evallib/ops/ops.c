/* The table of operators: a family a line. */
#include "ops/ops.h"
#include <string.h>

static const evl_op *const *const families[] = {
    evl_ops_activation,
    evl_ops_alignment,
    evl_ops_arg,
    evl_ops_attention,
    evl_ops_binary,
    evl_ops_bitcast,
    evl_ops_cast,
    evl_ops_causal_conv,
    evl_ops_compare,
    evl_ops_control,
    evl_ops_conv,
    evl_ops_conv_integer,
    evl_ops_crop,
    evl_ops_deform,
    evl_ops_draw,
    evl_ops_edit_distance,
    evl_ops_einsum,
    evl_ops_encoder,
    evl_ops_ensemble,
    evl_ops_expand,
    evl_ops_features,
    evl_ops_fourier,
    evl_ops_generate,
    evl_ops_grid,
    evl_ops_image,
    evl_ops_indexing,
    evl_ops_join,
    evl_ops_layout,
    evl_ops_linear,
    evl_ops_linear_attention,
    evl_ops_logic,
    evl_ops_loop,
    evl_ops_loss,
    evl_ops_maps,
    evl_ops_matmul,
    evl_ops_matmul_integer,
    evl_ops_nested,
    evl_ops_norm,
    evl_ops_norm_axes,
    evl_ops_optional,
    evl_ops_pad,
    evl_ops_pool,
    evl_ops_qlinear,
    evl_ops_quantize,
    evl_ops_ranking,
    evl_ops_recurrent,
    evl_ops_reduce,
    evl_ops_regex,
    evl_ops_resize,
    evl_ops_reverse,
    evl_ops_roi,
    evl_ops_rotary,
    evl_ops_scatter,
    evl_ops_select,
    evl_ops_sequence,
    evl_ops_shape,
    evl_ops_slice,
    evl_ops_softmax,
    evl_ops_split_sequence,
    evl_ops_square,
    evl_ops_strings,
    evl_ops_suppress,
    evl_ops_svm,
    evl_ops_tensor_scatter,
    evl_ops_tfidf,
    evl_ops_top,
    evl_ops_transpose,
    evl_ops_trilu,
    evl_ops_unary,
    evl_ops_unique,
    evl_ops_unpool,
    evl_ops_variadic,
    evl_ops_where,
    evl_ops_window,
};

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
