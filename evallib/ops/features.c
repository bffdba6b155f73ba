/* ai.onnx.ml's operators on columns of features: ArrayFeatureExtractor, Binarizer,
** FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler. */
#include "ops/lines.h"
#include "ops/lookup.h"
#include "ops/ml.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

typedef struct features {
    const evl_ml_kit *ml;
    size_t n, width;
    evl_ml_affine affine;
    evl_ml_replace replace;
    int64_t old;             /* the same for integers: what is replaced, */
    const int64_t *new_ones; /* and by what */
    evl_ml_norm norm;
    double threshold;
    evl_lookup categories;
    bool are_texts, may_be_other; /* categories */
    const int64_t *widths;        /* of the columns that each input gives */
} features;

static EvalStatus begin(evl_prepare *p, features **f)
{
    *f = evl_arena_take(p->arena, sizeof **f);
    if (!*f)
        return evl_no_memory(p->ctx);
    const evl_shape *x = &p->use.in[0]->shape;
    (*f)->ml = evl_ml_kit_of(p->machine);
    (*f)->width = x->rank > 0 ? (size_t)x->dim[x->rank - 1] : 1;
    (*f)->n = (*f)->width ? evl_shape_count(x) / (*f)->width : 0;
    p->state = *f;
    if (evl_type_is_number(p->use.in[0]->type))
        p->scratch_bytes = evl_ml_scratch(p->use.in[0], p->machine);
    return EVAL_OK;
}

static EvalStatus infer_real(evl_infer *x)
{
    x->out[0].shape = x->use.in[0]->shape;
    x->out[0].type = EVAL_FLOAT32; /* whatever the input is */
    return EVAL_OK;
}

static const char *row_at(const features *f, const void *x, size_t i)
{
    return (const char *)x + i * f->width * f->ml->bytes;
}

/* --- Scaler, Normalizer, Binarizer, Imputer --- */

static EvalStatus check_columns(evl_context *ctx, const char *name, size_t n, size_t width)
{
    return n <= 1 || n == width ? EVAL_OK : evl_ml_wrong_count(ctx, name, n, width);
}

static EvalStatus prepare_scaler(evl_prepare *p)
{
    features *f;
    EvalStatus st = begin(p, &f);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "offset", &f->affine.offset, &f->affine.n_offsets);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "scale", &f->affine.scale, &f->affine.n_scales);
    if (st == EVAL_OK)
        st = check_columns(p->ctx, "offset", f->affine.n_offsets, f->width);
    return st == EVAL_OK ? check_columns(p->ctx, "scale", f->affine.n_scales, f->width) : st;
}

static EvalStatus run_scaler(const evl_call *call)
{
    const features *f = call->state;
    const void *x = evl_ml_reals(call);
    for (size_t i = 0; i < f->n; i++)
        f->ml->affine(&f->affine, f->width, row_at(f, x, i),
                      (char *)call->out[0]->data + i * f->width * f->ml->bytes);
    return EVAL_OK;
}

static EvalStatus prepare_normalizer(evl_prepare *p)
{
    static const char *const norms[] = { "MAX", "L1", "L2" };
    features *f;
    size_t norm;
    EvalStatus st = begin(p, &f);
    if (st == EVAL_OK)
        st = evl_ml_choice(p->ctx, p->use.node, "norm", norms, 3, &norm);
    if (st == EVAL_OK)
        f->norm = (evl_ml_norm)norm;
    return st;
}

static EvalStatus run_normalizer(const evl_call *call)
{
    const features *f = call->state;
    const void *x = evl_ml_reals(call);
    for (size_t i = 0; i < f->n; i++)
        f->ml->normalize(f->norm, f->width, row_at(f, x, i),
                         (char *)call->out[0]->data + i * f->width * f->ml->bytes);
    return EVAL_OK;
}

static EvalStatus prepare_binarizer(evl_prepare *p)
{
    features *f;
    EvalStatus st = begin(p, &f);
    if (st == EVAL_OK)
        f->threshold = evl_node_number(p->use.node, "threshold", 0);
    return st;
}

static EvalStatus run_binarizer(const evl_call *call)
{
    const features *f = call->state;
    const evl_tensor *x = call->in[0], *y = call->out[0];
    size_t n = evl_shape_count(&y->shape);
    if (evl_type_is_float(x->type)) {
        f->ml->above(f->threshold, n, x->data, y->data);
        return EVAL_OK;
    }
    for (size_t i = 0, size = evl_type_size(y->type); i < n; i++) {
        int64_t is_above = evl_tensor_f64(x, i) > f->threshold;
        (void)evl_convert(1, EVAL_INT64, &is_above, y->type, (char *)y->data + i * size);
    }
    return EVAL_OK;
}

static EvalStatus prepare_imputer(evl_prepare *p)
{
    features *f;
    size_t n_ints = 0;
    EvalStatus st = begin(p, &f);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "imputed_value_floats", &f->replace.new_ones, &f->replace.n);
    if (st != EVAL_OK)
        return st;
    f->replace.old = evl_node_number(p->use.node, "replaced_value_float", 0);
    f->new_ones = evl_node_ints(p->use.node, "imputed_value_int64s", &n_ints);
    f->old = evl_node_int(p->use.node, "replaced_value_int64", 0);
    bool is_float = evl_type_is_float(p->use.in[0]->type);
    const char *name = is_float ? "imputed_value_floats" : "imputed_value_int64s";
    if (!is_float)
        f->replace.n = n_ints;
    if (f->replace.n == 0)
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "attribute %s is missing", name);
    return check_columns(p->ctx, name, f->replace.n, f->width);
}

static EvalStatus run_imputer(const evl_call *call)
{
    const features *f = call->state;
    const evl_tensor *x = call->in[0], *y = call->out[0];
    size_t size = evl_type_size(y->type), n = evl_shape_count(&y->shape);
    for (size_t i = 0; i < f->n && evl_type_is_float(x->type); i++)
        f->ml->replace(&f->replace, f->width, row_at(f, x->data, i),
                       (char *)y->data + i * f->width * f->ml->bytes);
    for (size_t i = 0; i < n && !evl_type_is_float(x->type); i++) {
        int64_t v = evl_tensor_i64(x, i);
        v = v == f->old ? f->new_ones[f->replace.n == 1 ? 0 : i % f->width] : v;
        (void)evl_convert(1, EVAL_INT64, &v, y->type, (char *)y->data + i * size);
    }
    return EVAL_OK;
}

/* --- OneHotEncoder --- */

static EvalStatus infer_one_hot(evl_infer *x)
{
    size_t n_ints, n_texts = 0;
    const evl_attribute *texts = evl_node_attribute(x->use.node, "cats_strings");
    (void)evl_node_ints(x->use.node, "cats_int64s", &n_ints);
    if (texts && texts->kind == EVL_ATTRIBUTE_TEXTS)
        n_texts = texts->n;
    if (n_ints + n_texts == 0)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "attribute cats_int64s or cats_strings is needed");
    x->out[0].type = EVAL_FLOAT32;
    x->out[0].shape = x->use.in[0]->shape;
    if (x->out[0].shape.rank == EVAL_MAX_RANK)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "a tensor of rank %d gets no more dimensions",
                        EVAL_MAX_RANK);
    if (x->out[0].shape.rank >= 0)
        x->out[0].shape.dim[x->out[0].shape.rank++] = (int64_t)(n_ints ? n_ints : n_texts);
    return EVAL_OK;
}

static EvalStatus prepare_one_hot(evl_prepare *p)
{
    features *f;
    EvalStatus st = begin(p, &f);
    if (st != EVAL_OK)
        return st;
    evl_ml_labels cats = evl_ml_labels_of(p->use.node, "cats_int64s", "cats_strings");
    f->are_texts = cats.texts != NULL;
    f->may_be_other = evl_node_int(p->use.node, "zeros", 1) != 0;
    if (f->are_texts != (p->use.in[0]->type == EVAL_STRING))
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "categories are %s and elements %s",
                        f->are_texts ? "strings" : "integers", evl_type_name(p->use.in[0]->type));
    bool ok = f->are_texts ? evl_lookup_texts(p->arena, cats.texts, cats.n, &f->categories)
                           : evl_lookup_ints(p->arena, cats.ints, cats.n, &f->categories);
    return ok ? EVAL_OK : evl_no_memory(p->ctx);
}

/* Numbers count without their fraction. */
static EvalStatus run_one_hot(const evl_call *call)
{
    const features *f = call->state;
    const evl_tensor *x = call->in[0];
    size_t n = evl_shape_count(&x->shape), width = f->categories.n;
    if (n)
        memset(call->out[0]->data, 0, n * width * f->ml->bytes);
    for (size_t i = 0; i < n; i++) {
        size_t at = f->are_texts ? evl_lookup_text(&f->categories, ((const EvalString *)x->data)[i])
                                 : evl_lookup_int(&f->categories, evl_tensor_i64(x, i));
        if (at < width)
            f->ml->set(call->out[0]->data, i * width + at, 1);
        else if (!f->may_be_other)
            return evl_fail(call->ctx, EVAL_ERR_TYPE, "element %zu is none of the categories", i);
    }
    return EVAL_OK;
}

/* --- FeatureVectorizer: rows of all inputs side by side, each cut or filled up to its width; a
** vector is one row --- */

static EvalStatus infer_vectorizer(evl_infer *x)
{
    size_t n_widths;
    int64_t n = EVL_UNKNOWN_DIM, sum = 0;
    const int64_t *widths = evl_node_ints(x->use.node, "inputdimensions", &n_widths);
    if (n_widths && n_widths != x->use.n_in)
        return evl_ml_wrong_count(x->ctx, "inputdimensions", n_widths, x->use.n_in);
    for (size_t i = 0; i < x->use.n_in; i++) {
        int64_t rows = EVL_UNKNOWN_DIM, width = EVL_UNKNOWN_DIM;
        const evl_shape *shape = &x->use.in[i]->shape;
        EvalStatus st = evl_infer_rank(x, i, 1, 2);
        if (st == EVAL_OK && shape->rank > 0) {
            rows = shape->rank == 2 ? shape->dim[0] : 1;
            width = shape->dim[shape->rank - 1];
            st = evl_infer_dim(x, "rows of the inputs", rows, &n);
        }
        if (st != EVAL_OK)
            return st;
        width = n_widths ? widths[i] : width;
        if (n_widths && width < 0)
            return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                            "attribute inputdimensions: item %zu is negative", i);
        sum = sum < 0 || width < 0 ? EVL_UNKNOWN_DIM : sum + width;
        if (sum > INT32_MAX)
            return evl_fail(x->ctx, EVAL_ERR_LIMIT, "attribute inputdimensions: too many columns");
    }
    x->out[0].type = EVAL_FLOAT32;
    x->out[0].shape = evl_shape_of(2, (int64_t[]){ n, sum });
    return EVAL_OK;
}

static EvalStatus prepare_vectorizer(evl_prepare *p)
{
    features *f;
    size_t n;
    EvalStatus st = begin(p, &f);
    if (st == EVAL_OK)
        f->widths = evl_node_ints(p->use.node, "inputdimensions", &n);
    return st;
}

static EvalStatus run_vectorizer(const evl_call *call)
{
    const features *f = call->state;
    const evl_tensor *y = call->out[0];
    size_t n = (size_t)y->shape.dim[0], row = (size_t)y->shape.dim[1] * f->ml->bytes, at = 0;
    if (n > 0 && row > 0)
        memset(y->data, 0, n * row);
    for (size_t k = 0; k < call->n_in; k++) {
        const evl_tensor *x = call->in[k];
        size_t has = (size_t)x->shape.dim[x->shape.rank - 1];
        size_t wants = f->widths ? (size_t)f->widths[k] : has, size = evl_type_size(x->type);
        for (size_t i = 0; i < n; i++)
            (void)evl_convert(has < wants ? has : wants, x->type,
                              (const char *)x->data + i * has * size, y->type,
                              (char *)y->data + i * row + at * f->ml->bytes);
        at += wants;
    }
    return EVAL_OK;
}

/* --- ArrayFeatureExtractor: columns of the last axis; a vector is one row --- */

static EvalStatus infer_extractor(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0], *picks = x->use.in[1];
    int64_t n = evl_shape_is_known(&picks->shape) ? (int64_t)evl_shape_count(&picks->shape)
                                                  : EVL_UNKNOWN_DIM;
    x->out[0].type = in->type;
    x->out[0].shape = in->shape;
    if (in->shape.rank == 1)
        x->out[0].shape = evl_shape_of(2, (int64_t[]){ 1, n });
    else if (in->shape.rank > 1)
        x->out[0].shape.dim[in->shape.rank - 1] = n;
    else if (in->shape.rank == 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "input 0 has no axis to take columns from");
    return EVAL_OK;
}

static EvalStatus run_extractor(const evl_call *call)
{
    const features *f = call->state;
    const evl_tensor *x = call->in[0], *picks = call->in[1];
    size_t size = evl_type_size(x->type), n = evl_shape_count(&picks->shape);
    char *y = call->out[0]->data;
    for (size_t j = 0; j < n; j++) {
        int64_t pick = evl_tensor_i64(picks, j);
        if (pick < 0 || (uint64_t)pick >= f->width)
            return evl_fail(call->ctx, EVAL_ERR_SHAPE, "index %zu is %lld, expected 0 to %zu", j,
                            (long long)pick, f->width - 1);
        for (size_t i = 0; i < f->n; i++)
            memcpy(y + (i * n + j) * size,
                   (const char *)x->data + (i * f->width + (size_t)pick) * size, size);
    }
    return EVAL_OK;
}

static EvalStatus prepare_extractor(evl_prepare *p)
{
    features *f;
    return begin(p, &f);
}

static const evl_impl scaler = { prepare_scaler, run_scaler };
static const evl_impl normalizer = { prepare_normalizer, run_normalizer };
static const evl_impl binarizer = { prepare_binarizer, run_binarizer };
static const evl_impl imputer = { prepare_imputer, run_imputer };
static const evl_impl one_hot = { prepare_one_hot, run_one_hot };
static const evl_impl vectorizer = { prepare_vectorizer, run_vectorizer };
static const evl_impl extractor = { prepare_extractor, run_extractor };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "ArrayFeatureExtractor", "ai.onnx.ml", 2, 2, 1, 1, 0, 0, infer_extractor,
      { NULL, NULL }, NULL, &extractor, 0 },
    { "Binarizer", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, evl_infer_same,
      { &binarizer, &binarizer }, &binarizer, NULL, 0 },
    { "FeatureVectorizer", "ai.onnx.ml", 1, EVL_ANY_NUMBER, 1, 1, 0, 0, infer_vectorizer,
      { &vectorizer, &vectorizer }, &vectorizer, NULL, 0 },
    { "Imputer", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, evl_infer_same,
      { &imputer, &imputer }, &imputer, NULL, 0 },
    { "Normalizer", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_real,
      { &normalizer, &normalizer }, &normalizer, NULL, 0 },
    { "OneHotEncoder", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_one_hot,
      { &one_hot, &one_hot }, &one_hot, &one_hot, 0 },
    { "Scaler", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_real, { &scaler, &scaler }, &scaler, NULL, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_features[] = { &ops[0], &ops[1], &ops[2], &ops[3],
                                           &ops[4], &ops[5], &ops[6], NULL };
