/* attributes.c - attributes become the fields that v1's nodes have: a table, since a name
** means the same wherever it stands. */
#include "readers/cntk2/attributes.h"
#include "base/text.h"
#include "readers/cntk2/ops.h"
#include <string.h>

typedef enum kind {
    NUMBER, /* bool, int or size */
    REAL,   /* float or double */
    TWO_REALS,
    TEXT,
    SHAPE,
    NUMBERS, /* a vector of bool, int or size */
    ANY_NUMBERS, /* longer than a shape */
    ONE,     /* a list of one number */
    AXIS,
    ONE_AXIS, /* a list of one */
    AXES,
    DYNAMIC /* axes: is there no sequence? */
} kind;

static const struct {
    const char *name;
    uint8_t kind;
    uint16_t at; /* in evl_cntk_fields */
} attributes[] = {
    { "BlankTokenId", NUMBER, offsetof(evl_cntk_fields, blank) },
    { "DelayConstraint", NUMBER, offsetof(evl_cntk_fields, delay) },
    { "DeletionPenalty", REAL, offsetof(evl_cntk_fields, deletion) },
    { "InsertionPenalty", REAL, offsetof(evl_cntk_fields, insertion) },
    { "SquashInputs", NUMBER, offsetof(evl_cntk_fields, squashes) },
    { "SubstitutionPenalty", REAL, offsetof(evl_cntk_fields, substitution) },
    { "TokensToIgnore", ANY_NUMBERS, offsetof(evl_cntk_fields, ignored) },
    { "allowDuplicates", NUMBER, offsetof(evl_cntk_fields, is_repeated) },
    { "alpha", REAL, offsetof(evl_cntk_fields, number) },
    { "autoPadding", NUMBERS, offsetof(evl_cntk_fields, auto_pad) },
    { "axis", ONE_AXIS, offsetof(evl_cntk_fields, axes) },
    { "axis1", AXIS, offsetof(evl_cntk_fields, first_axis) },
    { "axis2", AXIS, offsetof(evl_cntk_fields, end_axis) },
    { "axisVec", AXES, offsetof(evl_cntk_fields, axes) },
    { "beginAxis", AXIS, offsetof(evl_cntk_fields, first_axis) },
    { "beginIndex", ONE, offsetof(evl_cntk_fields, begins) },
    { "beginIndexVec", NUMBERS, offsetof(evl_cntk_fields, begins) },
    { "bidirectional", NUMBER, offsetof(evl_cntk_fields, is_bidirectional) },
    { "ceilOutDim", NUMBER, offsetof(evl_cntk_fields, rounds_up) },
    { "dilation", SHAPE, offsetof(evl_cntk_fields, dilation) },
    { "endAxis", AXIS, offsetof(evl_cntk_fields, end_axis) },
    { "endIndex", ONE, offsetof(evl_cntk_fields, ends) },
    { "endIndexVec", NUMBERS, offsetof(evl_cntk_fields, ends) },
    { "epsilon", REAL, offsetof(evl_cntk_fields, epsilon) },
    { "fillValue", REAL, offsetof(evl_cntk_fields, number) },
    { "groups", NUMBER, offsetof(evl_cntk_fields, groups) },
    { "hiddenSize", NUMBER, offsetof(evl_cntk_fields, size) },
    { "includePad", NUMBER, offsetof(evl_cntk_fields, averages_pads) },
    { "inferInputRankToMap", NUMBER, offsetof(evl_cntk_fields, inferred_rank) },
    { "lowerPad", SHAPE, offsetof(evl_cntk_fields, lower_pad) },
    { "newDynamicAxes", DYNAMIC, offsetof(evl_cntk_fields, is_single) },
    { "newShape", SHAPE, offsetof(evl_cntk_fields, shape) },
    { "numClass", NUMBER, offsetof(evl_cntk_fields, size) },
    { "numItems", NUMBER, offsetof(evl_cntk_fields, size) },
    { "numLayers", NUMBER, offsetof(evl_cntk_fields, layers) },
    { "numSamples", NUMBER, offsetof(evl_cntk_fields, size) },
    { "offset", NUMBER, offsetof(evl_cntk_fields, step) },
    { "offset", NUMBERS, offsetof(evl_cntk_fields, begins) },
    { "onehotAxis", ONE_AXIS, offsetof(evl_cntk_fields, axes) },
    { "outputRank", NUMBER, offsetof(evl_cntk_fields, output_rank) },
    { "outputShape", SHAPE, offsetof(evl_cntk_fields, output_shape) },
    { "paddingConstantValue", REAL, offsetof(evl_cntk_fields, number) },
    { "paddingFoot", NUMBERS, offsetof(evl_cntk_fields, feet) },
    { "paddingHead", NUMBERS, offsetof(evl_cntk_fields, heads) },
    { "paddingMode", NUMBER, offsetof(evl_cntk_fields, mode) },
    { "poolingType", NUMBER, offsetof(evl_cntk_fields, pool) },
    { "poolingWindowShape", SHAPE, offsetof(evl_cntk_fields, kernel) },
    { "randomDistributionArgs", TWO_REALS, offsetof(evl_cntk_fields, arguments) },
    { "randomDistributionType", TEXT, offsetof(evl_cntk_fields, word) },
    { "recurrentOp", TEXT, offsetof(evl_cntk_fields, word) },
    { "reductionKeepDimensions", NUMBER, offsetof(evl_cntk_fields, keeps_axes) },
    { "reductionOpName", TEXT, offsetof(evl_cntk_fields, word) },
    { "roiOutputShape", SHAPE, offsetof(evl_cntk_fields, output_shape) },
    { "sequenceUnpackPaddingValue", REAL, offsetof(evl_cntk_fields, number) },
    { "sharing", NUMBERS, offsetof(evl_cntk_fields, sharing) },
    { "sliceStrides", ONE, offsetof(evl_cntk_fields, steps) },
    { "sliceStridesVec", NUMBERS, offsetof(evl_cntk_fields, steps) },
    { "spatial", NUMBER, offsetof(evl_cntk_fields, is_spatial) },
    { "spatialScale", REAL, offsetof(evl_cntk_fields, number) },
    { "strides", SHAPE, offsetof(evl_cntk_fields, stride) },
    { "transpose", NUMBER, offsetof(evl_cntk_fields, is_transposed) },
    { "unpoolingWindowShape", SHAPE, offsetof(evl_cntk_fields, kernel) },
    { "upperPad", SHAPE, offsetof(evl_cntk_fields, upper_pad) },
};

/* --- values -------------------------------------------------------------------------------- */

static bool is_number(const evl_cntk2_value *v, int64_t *number)
{
    *number = v->type == EVL_CNTK2_BOOL  ? v->flag != 0
              : v->type == EVL_CNTK2_INT ? (int32_t)v->integer
                                         : v->size;
    return v->type == EVL_CNTK2_BOOL || v->type == EVL_CNTK2_INT || v->type == EVL_CNTK2_SIZE;
}

static bool is_real(const evl_cntk2_value *v, double *number)
{
    *number = v->type == EVL_CNTK2_FLOAT ? v->narrow : v->wide;
    return v->type == EVL_CNTK2_FLOAT || v->type == EVL_CNTK2_DOUBLE;
}

static int64_t code_of(const evl_cntk2_axis *a)
{
    static const int64_t special[] = { EVL_CNTK2_BATCH, EVL_CNTK2_ALL_STATIC, 0, EVL_CNTK2_END,
                                       EVL_CNTK2_ALL };
    int64_t from_top = INT32_MAX - a->index;
    if (from_top == 0)
        return a->is_ordered ? EVL_CNTK2_SEQUENCE : EVL_CNTK2_BATCH;
    if (from_top < (int64_t)(sizeof special / sizeof *special))
        return special[from_top];
    return a->index >= 0 ? a->index + 1 : EVL_CNTK2_FROM_END + a->index;
}

static evl_cntk_list numbers_of(evl_cntk2_cursor *c, const evl_cntk2_value *vector, kind k)
{
    evl_pb_many items = evl_cntk2_vector_of(c, vector);
    evl_cntk2_value v;
    if (items.n > EVL_CNTK_MAX_RANK && k != ANY_NUMBERS) {
        evl_cntk2_fail(c, EVAL_ERR_FORMAT,
                       "CNTK v2: a list of %zu at byte %zu, at most %d are possible", items.n,
                       vector->where, (int)EVL_CNTK_MAX_RANK);
        return (evl_cntk_list){ 0, NULL };
    }
    evl_cntk_list list = evl_cntk2_list_of(c, items.n);
    for (size_t i = 0; i < list.n && evl_cntk2_item(c, &items, &v); i++) {
        evl_cntk2_axis a;
        if (k == AXES) {
            a = evl_cntk2_axis_of(c, v.axis);
            list.at[i] = code_of(&a);
        } else {
            is_number(&v, &list.at[i]);
        }
    }
    return list;
}

static evl_cntk_list single(evl_cntk2_cursor *c, int64_t number)
{
    evl_cntk_list list = evl_cntk2_list_of(c, 1);
    if (list.n == 1)
        list.at[0] = number;
    return list;
}

bool evl_cntk2_is_single(evl_cntk2_cursor *c, evl_pb_many axes)
{
    evl_cntk2_value v;
    bool is = axes.n > 0;
    while (evl_cntk2_item(c, &axes, &v)) {
        evl_cntk2_axis a = evl_cntk2_axis_of(c, v.axis);
        is = is && code_of(&a) == EVL_CNTK2_BATCH;
    }
    return is;
}

const char *evl_cntk2_sequence_axis(evl_cntk2_cursor *c, evl_pb_many axes)
{
    evl_cntk2_value v;
    const char *name = "";
    while (evl_cntk2_item(c, &axes, &v)) {
        evl_cntk2_axis a = evl_cntk2_axis_of(c, v.axis);
        if (code_of(&a) == EVL_CNTK2_SEQUENCE)
            name = a.name;
    }
    return name;
}

static void store_axis(evl_cntk2_cursor *c, kind k, const evl_cntk2_value *v, void *to)
{
    evl_cntk2_axis a = evl_cntk2_axis_of(c, v->axis);
    if (v->type != EVL_CNTK2_AXIS)
        return;
    if (k == AXIS)
        *(int64_t *)to = code_of(&a);
    else
        *(evl_cntk_list *)to = single(c, code_of(&a));
}

static void store_reals(evl_cntk2_cursor *c, const evl_cntk2_value *vector, double *to)
{
    evl_cntk2_value v;
    double real;
    if (vector->type != EVL_CNTK2_VECTOR)
        return;
    evl_pb_many items = evl_cntk2_vector_of(c, vector);
    for (size_t i = 0; i < 2 && evl_cntk2_item(c, &items, &v); i++)
        if (is_real(&v, &real))
            to[i] = real;
}

static void store(evl_cntk2_cursor *c, kind k, const evl_cntk2_value *v, void *to)
{
    int64_t number;
    double real;
    switch (k) {
    case NUMBER:
        if (is_number(v, &number))
            *(int64_t *)to = number;
        break;
    case ONE:
        if (is_number(v, &number))
            *(evl_cntk_list *)to = single(c, number);
        break;
    case REAL:
        if (is_real(v, &real))
            *(double *)to = real;
        break;
    case TWO_REALS: store_reals(c, v, to); break;
    case TEXT:
        if (v->type == EVL_CNTK2_STRING)
            *(const char **)to = evl_cntk2_text_of(c, v->text);
        break;
    case SHAPE:
        if (v->type == EVL_CNTK2_SHAPE)
            *(evl_cntk_list *)to = evl_cntk2_shape_of(c, v->shape);
        break;
    case NUMBERS:
    case ANY_NUMBERS:
    case AXES:
        if (v->type == EVL_CNTK2_VECTOR)
            *(evl_cntk_list *)to = numbers_of(c, v, k);
        break;
    case DYNAMIC: *(int64_t *)to = evl_cntk2_is_single(c, evl_cntk2_vector_of(c, v)); break;
    default: store_axis(c, k, v, to); break;
    }
}

void evl_cntk2_read_attributes(evl_cntk2_cursor *c, const evl_cntk2_dictionary *function,
                               evl_cntk_fields *f)
{
    evl_cntk2_value v;
    evl_bytes key;
    if (!evl_cntk2_find(c, function, "attributes", EVL_CNTK2_DICTIONARY, &v))
        return;
    evl_cntk2_dictionary d = evl_cntk2_dictionary_of(c, v.dictionary);
    while (evl_cntk2_next(c, &d, &key, &v))
        for (size_t i = 0; key.data && i < sizeof attributes / sizeof *attributes; i++)
            if (evl_text_equal(attributes[i].name, evl_pb_text(key), evl_pb_size(key)))
                store(c, (kind)attributes[i].kind, &v, (char *)f + attributes[i].at);
}
