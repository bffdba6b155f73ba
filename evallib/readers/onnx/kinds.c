/* What is known of attributes: which kind goes by each name, and which ones an operator cannot do
** without. One of another kind would count as left out, and nobody be told. */
#include "readers/onnx/onnx.h"
#include <string.h>

/* Names between blanks. A few stand for two kinds, in one operator or another. */
static const struct {
    evl_attribute_kind kind;
    const char *article, *names;
} kinds[] = {
    { EVL_ATTRIBUTE_INT, "an integer",
      " K N accuracy_level aggregate_function align_corners allowzero antialias axis batch_axis batch_dims bits"
      " block_size blocksize broadcast ceil_mode center_point_box channels_last chunk_size count_include_pad"
      " default_int64 detect_negative detect_positive do_rotary dtype end exclude_outside exclusive fmod"
      " gather_axis group hidden_size ignore_index input_as_shape input_forget interleaved inverse"
      " is_case_sensitive is_causal is_packed_batching is_test k keepdims kv_num_heads largest layout"
      " left_window_size linear_before_reset local_window_size mask_index_type max_gram_length max_map"
      " max_skip_count maxsplit min_gram_length multi_class n_supports n_targets new_axis"
      " noop_with_empty_axes normalize_variance num_groups num_heads num_outputs num_scan_inputs"
      " offset_group one_class onesided opset output_datatype output_dtype output_height output_sequence"
      " output_width p past_present_share_buffer periodic post_transform precision q_num_heads qk_output"
      " qk_matmul_output_mode quantize_axis replaced_value_int64 reverse right_window_size"
      " rotary_embedding_dim rotary_interleaved sample_size sampling_ratio saturate seed select_last_index"
      " size smooth_softmax softmax_precision sorted spatial start stash_type storage_order targets"
      " time_axis to training_mode transA transB transBatchA transBatchB unidirectional upper value_int"
      " across_channels zeros " },
    { EVL_ATTRIBUTE_NUMBER, "a real number",
      " activation_alpha activation_beta activation_gamma alpha beta bias clip cubic_coeff_a default_float"
      " epsilon extrapolation_value gamma height_scale high lambd low mask_filter_value max mean min"
      " momentum norm_coefficient p ratio replaced_value_float scale seed softcap spatial_scale threshold"
      " value value_float width_scale " },
    { EVL_ATTRIBUTE_TEXT, "a text",
      " activation aggregate_function approximate auto_pad case_change_action cast_to"
      " coordinate_transformation_mode default_string delimiter direction equation k_quant_type"
      " keep_aspect_ratio_policy kernel_type locale map_form mode nearest_mode norm padding_mode pattern"
      " pixel_format post_transform reduction round_mode to update_rule v_quant_type value_string " },
    { EVL_ATTRIBUTE_TENSOR, "a tensor",
      " base_values_as_tensor class_weights_as_tensor default_tensor keys_tensor leaf_weights"
      " membership_values nodes_hitrates nodes_hitrates_as_tensor nodes_modes nodes_splits"
      " nodes_values_as_tensor sparse_value target_weights_as_tensor value values_tensor " },
    { EVL_ATTRIBUTE_TYPE, "a type", " type " },
    { EVL_ATTRIBUTE_GRAPH, "a graph", " body else_branch prob_mod score_mod then_branch " },
    { EVL_ATTRIBUTE_INTS, "a list of integers",
      " axes border cats_int64s class_ids class_nodeids class_treeids classlabels_int64s classlabels_ints"
      " consumed_inputs dilations directions ends extra_shape imputed_value_int64s inputdimensions"
      " int64_vocabulary kernel_shape keys_int64s leaf_targetids ngram_counts ngram_indexes nodes_falseleafs"
      " nodes_falsenodeids nodes_featureids nodes_missing_value_tracks_true nodes_nodeids nodes_treeids"
      " nodes_trueleafs nodes_truenodeids output_padding output_shape paddings pads perm pool_int64s"
      " pooled_shape qkv_hidden_sizes scale scan_input_axes scan_input_directions scan_output_axes"
      " scan_output_directions shape split starts strides target_ids target_nodeids target_treeids"
      " tree_roots value_ints values_int64s vectors_per_class " },
    { EVL_ATTRIBUTE_NUMBERS, "a list of real numbers",
      " activation_alpha activation_beta activation_params base_values bias class_weights coefficients"
      " imputed_value_floats intercepts kernel_params keys_floats nodes_hitrates nodes_values offset prob_a"
      " prob_b rho scale scales support_vectors target_weights value_floats values values_floats weights " },
    { EVL_ATTRIBUTE_TEXTS, "a list of texts",
      " activations cats_strings classes_strings classlabels_strings keys_strings nodes_modes pool_strings"
      " stopwords string_vocabulary value_strings values_strings " },
    { EVL_ATTRIBUTE_TENSORS, "a list of tensors", " " },
    { EVL_ATTRIBUTE_GRAPHS, "a list of graphs", " " },
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* What cannot be left out, in opsets from..to. */
static const struct {
    const char *op, *name;
    int from, to;
} needed[] = {
    { "AveragePool", "kernel_shape", 1, EVL_NEWEST },   { "BitCast", "to", 1, EVL_NEWEST },
    { "BitShift", "direction", 1, EVL_NEWEST },         { "Cast", "to", 1, EVL_NEWEST },
    { "Concat", "axis", 4, EVL_NEWEST },                { "ConcatFromSequence", "axis", 1, EVL_NEWEST },
    { "DepthToSpace", "blocksize", 1, EVL_NEWEST },     { "Einsum", "equation", 1, EVL_NEWEST },
    { "GroupNormalization", "num_groups", 1, EVL_NEWEST }, { "If", "else_branch", 1, EVL_NEWEST },
    { "If", "then_branch", 1, EVL_NEWEST },             { "LRN", "size", 1, EVL_NEWEST },
    { "LinearAttention", "kv_num_heads", 1, EVL_NEWEST }, { "LinearAttention", "q_num_heads", 1, EVL_NEWEST },
    { "Loop", "body", 1, EVL_NEWEST },                  { "LpPool", "kernel_shape", 2, EVL_NEWEST },
    { "MaxPool", "kernel_shape", 1, EVL_NEWEST },       { "MaxRoiPool", "pooled_shape", 1, EVL_NEWEST },
    { "MaxUnpool", "kernel_shape", 1, EVL_NEWEST },     { "RandomNormal", "shape", 1, EVL_NEWEST },
    { "RandomUniform", "shape", 1, EVL_NEWEST },        { "Scan", "body", 1, EVL_NEWEST },
    { "Scan", "num_scan_inputs", 1, EVL_NEWEST },       { "SequenceMap", "body", 1, EVL_NEWEST },
    { "Slice", "ends", 1, 9 },                          { "Slice", "starts", 1, 9 },
    { "SpaceToDepth", "blocksize", 1, EVL_NEWEST },
    { "TfIdfVectorizer", "max_gram_length", 1, EVL_NEWEST }, { "TfIdfVectorizer", "max_skip_count", 1, EVL_NEWEST },
    { "TfIdfVectorizer", "min_gram_length", 1, EVL_NEWEST }, { "TfIdfVectorizer", "mode", 1, EVL_NEWEST },
    { "TfIdfVectorizer", "ngram_counts", 1, EVL_NEWEST }, { "TfIdfVectorizer", "ngram_indexes", 1, EVL_NEWEST },
    { "TopK", "k", 1, 9 },                              { "Unsqueeze", "axes", 1, 12 },
};

static size_t kind_at(evl_attribute_kind kind)
{
    size_t i = 0;
    while (i + 1 < N_KINDS && kinds[i].kind != kind)
        i++;
    return i;
}

/* A blank is before and after each of the names, and in none. */
static bool lists(const char *names, const char *name)
{
    size_t n = strchr(name, ' ') ? 0 : strlen(name);
    for (const char *at = strstr(names, name); at && n; at = strstr(at + 1, name))
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* What a name may be, as a text; NULL: it is not known. */
static const char *expected(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (lists(kinds[i].names, name))
            return kinds[i].article;
    return NULL;
}

/* An empty list tells no kind of its own. */
static bool fits(const evl_attribute *a)
{
    return (a->kind >= EVL_ATTRIBUTE_INTS && a->n == 0) || lists(kinds[kind_at(a->kind)].names, a->name);
}

/* A model newer than we are must not say what we never heard of. */
static EvalStatus check_one(evl_onnx *o, const evl_onnx_draft *d, const evl_attribute *a)
{
    const char *right = expected(a->name);
    if (!right && (o->newer_ir || o->newer_opset))
        return evl_onnx_miss(o, "node '%s': attribute %s of operator %s", evl_onnx_called(d), a->name,
                             d->op);
    if (!right || fits(a))
        return EVAL_OK;
    return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                    "onnx: node '%s' (%s): attribute '%s' is %s, expected %s, at byte %zu",
                    evl_onnx_called(d), d->op, a->name, kinds[kind_at(a->kind)].article, right, d->where);
}

static bool has(const evl_onnx_draft *d, const char *name)
{
    for (size_t i = 0; i < d->n_attributes; i++)
        if (strcmp(d->attributes[i].name, name) == 0)
            return true;
    return false;
}

EvalStatus evl_onnx_check_attributes(evl_onnx *o, const evl_onnx_draft *d)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < d->n_attributes && st == EVAL_OK; i++)
        st = check_one(o, d, &d->attributes[i]);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && st == EVAL_OK && !*d->domain; i++)
        if (strcmp(needed[i].op, d->op) == 0 && needed[i].from <= d->version &&
            d->version <= needed[i].to && !has(d, needed[i].name))
            st = evl_fail(o->ctx, EVAL_ERR_FORMAT,
                          "onnx: node '%s' (%s): attribute '%s' is missing, expected %s, at byte %zu",
                          evl_onnx_called(d), d->op, needed[i].name, expected(needed[i].name), d->where);
    return st;
}
