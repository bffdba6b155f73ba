/* payload.c - what each operator writes after its name, in every version.
**
** A payload has no length: to get past a node one must know its layout. Most are a table
** of fields with the versions that have them; what a table cannot say is a function. */
#include "readers/cntk1/payload.h"
#include <string.h>

typedef enum field_kind {
    FLAG,
    I32,
    U32,
    U64,
    F32,
    F64,
    REAL,
    TEXT,
    BYTES_TEXT,
    SHAPE,
    INPUT_SHAPE,
    FLAGS,
    MATRIX
} field_kind;

enum { NOWHERE = 0xffff, ALWAYS = 0, LAST = EVL_CNTK1_NEWEST };

typedef struct field {
    uint8_t kind, since, until;
    uint16_t at; /* in evl_cntk_fields; numbers are int64_t or double there */
} field;

typedef union value {
    int64_t i;
    double real;
    const char *text;
    evl_cntk_list list;
    evl_cntk_matrix matrix;
} value;

static void read_integer(evl_cntk1_cursor *c, field_kind kind, int64_t *to)
{
    switch (kind) {
    case FLAG: *to = evl_cntk1_u8(c) != 0; break;
    case I32: *to = evl_cntk1_i32(c); break;
    case U32: *to = evl_cntk1_u32(c); break;
    default: *to = (int64_t)evl_cntk1_u64(c); break;
    }
}

static void read_field(evl_cntk1_cursor *c, field_kind kind, void *to)
{
    switch (kind) {
    case F32: *(double *)to = evl_cntk1_f32(c); break;
    case F64: *(double *)to = evl_cntk1_f64(c); break;
    case REAL: *(double *)to = evl_cntk1_real(c); break;
    case TEXT: *(const char **)to = evl_cntk1_text(c); break;
    case BYTES_TEXT: evl_cntk1_skip_bytes_text(c); break;
    case SHAPE: *(evl_cntk_list *)to = evl_cntk1_shape(c); break;
    case INPUT_SHAPE: *(evl_cntk_list *)to = evl_cntk1_input_shape(c); break;
    case FLAGS: *(evl_cntk_list *)to = evl_cntk1_flags(c); break;
    case MATRIX: *(evl_cntk_matrix *)to = evl_cntk1_read_matrix(c); break;
    default: read_integer(c, kind, to); break;
    }
}

static void read_fields(evl_cntk1_cursor *c, const field *fields, size_t n, evl_cntk_fields *f)
{
    for (size_t i = 0; i < n; i++) {
        value ignored;
        void *to = fields[i].at == NOWHERE ? (void *)&ignored : (char *)f + fields[i].at;
        if (c->version >= fields[i].since && c->version <= fields[i].until)
            read_field(c, (field_kind)fields[i].kind, to);
    }
}

static const field input[] = {
    { U64, ALWAYS, LAST, NOWHERE }, /* sample size, in old files beside the shape */
    { U64, ALWAYS, LAST, NOWHERE },
    { INPUT_SHAPE, ALWAYS, LAST, offsetof(evl_cntk_fields, shape) },
};

static const field parameter[] = {
    { F32, 3, LAST, NOWHERE }, /* learning rate */
    { SHAPE, 3, LAST, offsetof(evl_cntk_fields, shape) },
    { MATRIX, 3, LAST, offsetof(evl_cntk_fields, matrix) },
};

static const field computed[] = {
    { FLAG, ALWAYS, LAST, NOWHERE }, /* whether it has been computed */
    { MATRIX, ALWAYS, LAST, offsetof(evl_cntk_fields, matrix) },
};

static const field times[] = {
    { U64, 3, LAST, offsetof(evl_cntk_fields, output_rank) },
    { I32, 12, LAST, NOWHERE }, /* which dimensions are inferred before training */
};

static const field quantized_times[] = {
    { U64, 3, LAST, offsetof(evl_cntk_fields, output_rank) },
    { I32, 12, LAST, NOWHERE },
    { U64, ALWAYS, LAST, NOWHERE }, /* bits of smoothing */
    { U64, ALWAYS, LAST, NOWHERE },
};

static const field batch_normalization[] = {
    { FLAG, 6, LAST, offsetof(evl_cntk_fields, is_spatial) },
    { F64, 6, LAST, NOWHERE }, /* time constants of training */
    { F64, 6, LAST, NOWHERE },
    { I32, 6, LAST, offsetof(evl_cntk_fields, layout) },
    { U64, 6, 18, NOWHERE }, /* samples seen */
    { FLAG, 19, 19, NOWHERE },
    { U64, 20, LAST, NOWHERE },
    { F64, 6, LAST, offsetof(evl_cntk_fields, epsilon) },
    { FLAG, 6, LAST, NOWHERE }, /* which engine */
};

static const field window[] = {
    { SHAPE, 5, LAST, offsetof(evl_cntk_fields, kernel) },
    { SHAPE, 5, LAST, offsetof(evl_cntk_fields, map_count) },
    { SHAPE, 5, LAST, offsetof(evl_cntk_fields, stride) },
    { FLAGS, 5, LAST, offsetof(evl_cntk_fields, sharing) },
    { FLAGS, 5, LAST, offsetof(evl_cntk_fields, auto_pad) },
    { SHAPE, 5, LAST, offsetof(evl_cntk_fields, lower_pad) },
    { SHAPE, 5, LAST, offsetof(evl_cntk_fields, upper_pad) },
    { I32, 5, LAST, offsetof(evl_cntk_fields, pool) },
    { I32, 5, LAST, offsetof(evl_cntk_fields, layout) },
    { U64, 5, LAST, NOWHERE }, /* memory for the engine */
    { FLAG, 9, LAST, offsetof(evl_cntk_fields, is_transposed) },
    { SHAPE, 20, LAST, offsetof(evl_cntk_fields, output_shape) },
    { FLAG, 21, LAST, offsetof(evl_cntk_fields, rounds_up) },
    { FLAG, 23, LAST, offsetof(evl_cntk_fields, averages_pads) },
};

static const field convolution[] = {
    { FLAG, 5, LAST, NOWHERE }, /* made by the two-dimensional function */
    { SHAPE, 18, LAST, offsetof(evl_cntk_fields, dilation) },
};

static const field delay[] = {
    { I32, ALWAYS, LAST, offsetof(evl_cntk_fields, step) },
    { SHAPE, 4, LAST, offsetof(evl_cntk_fields, shape) },
    { U64, ALWAYS, 3, offsetof(evl_cntk_fields, rows) },
    { U64, ALWAYS, 3, NOWHERE },
    { REAL, 2, LAST, offsetof(evl_cntk_fields, initial) },
};

static const field row_stack[] = { { I32, 3, LAST, offsetof(evl_cntk_fields, axis) } };

static const field reshape[] = {
    { I32, ALWAYS, LAST, offsetof(evl_cntk_fields, first_axis) },
    { I32, ALWAYS, LAST, offsetof(evl_cntk_fields, end_axis) },
    { SHAPE, ALWAYS, LAST, offsetof(evl_cntk_fields, shape) },
};

static const field legacy_reshape[] = {
    { U64, ALWAYS, LAST, offsetof(evl_cntk_fields, rows) },
    { INPUT_SHAPE, ALWAYS, LAST, offsetof(evl_cntk_fields, shape) },
};

static const field row_repeat[] = { { U64, ALWAYS, LAST, offsetof(evl_cntk_fields, repeats) } };

static const field where[] = { { TEXT, 11, LAST, offsetof(evl_cntk_fields, word) } };

static const field rnn[] = {
    { U64, ALWAYS, LAST, offsetof(evl_cntk_fields, is_bidirectional) },
    { U64, ALWAYS, LAST, offsetof(evl_cntk_fields, layers) },
    { U64, ALWAYS, LAST, offsetof(evl_cntk_fields, size) },
    { TEXT, ALWAYS, LAST, offsetof(evl_cntk_fields, word) },
    { I32, 14, LAST, NOWHERE },
};

static const field roi_pooling[] = {
    { SHAPE, ALWAYS, 25, NOWHERE }, /* regions were told otherwise: not offered */
    { SHAPE, 26, LAST, offsetof(evl_cntk_fields, output_shape) },
    { I32, 26, LAST, offsetof(evl_cntk_fields, pool) },
    { F64, 26, LAST, offsetof(evl_cntk_fields, number) },
};

static const field environment[] = { { TEXT, ALWAYS, LAST, offsetof(evl_cntk_fields, word) } };

static const field forward_backward[] = {
    { I32, ALWAYS, LAST, offsetof(evl_cntk_fields, delay) },
    { U64, ALWAYS, LAST, offsetof(evl_cntk_fields, blank) },
};

static const field edit_distance[] = {
    { F32, ALWAYS, LAST, offsetof(evl_cntk_fields, substitution) },
    { F32, ALWAYS, LAST, offsetof(evl_cntk_fields, deletion) },
    { F32, ALWAYS, LAST, offsetof(evl_cntk_fields, insertion) },
    { FLAG, ALWAYS, LAST, offsetof(evl_cntk_fields, squashes) },
};

static const field lattice[] = {
    { TEXT, ALWAYS, LAST, NOWHERE }, { TEXT, ALWAYS, LAST, NOWHERE },
    { TEXT, ALWAYS, LAST, NOWHERE }, { TEXT, ALWAYS, LAST, NOWHERE },
    { TEXT, ALWAYS, LAST, NOWHERE }, { F64, ALWAYS, LAST, NOWHERE },
    { F64, ALWAYS, LAST, NOWHERE },  { F64, ALWAYS, LAST, NOWHERE },
    { F64, ALWAYS, LAST, NOWHERE },  { F64, ALWAYS, LAST, NOWHERE },
    { F64, ALWAYS, LAST, NOWHERE },  { FLAG, ALWAYS, LAST, NOWHERE },
    { FLAG, ALWAYS, LAST, NOWHERE },
};

static const field trace[] = {
    { TEXT, ALWAYS, LAST, NOWHERE },       { U64, ALWAYS, LAST, NOWHERE },
    { U64, ALWAYS, LAST, NOWHERE },        { FLAG, ALWAYS, LAST, NOWHERE },
    { FLAG, ALWAYS, LAST, NOWHERE }, /* how it prints */
    { TEXT, ALWAYS, LAST, NOWHERE },       { FLAG, ALWAYS, LAST, NOWHERE },
    { FLAG, ALWAYS, LAST, NOWHERE },       { BYTES_TEXT, ALWAYS, LAST, NOWHERE },
    { BYTES_TEXT, ALWAYS, LAST, NOWHERE }, { BYTES_TEXT, ALWAYS, LAST, NOWHERE },
    { BYTES_TEXT, ALWAYS, LAST, NOWHERE }, { BYTES_TEXT, ALWAYS, LAST, NOWHERE },
    { BYTES_TEXT, ALWAYS, LAST, NOWHERE }, { BYTES_TEXT, ALWAYS, LAST, NOWHERE },
    { BYTES_TEXT, ALWAYS, LAST, NOWHERE }, { U64, ALWAYS, LAST, NOWHERE },
    { U64, ALWAYS, LAST, NOWHERE },
};

typedef struct layout {
    const field *fields;
    size_t n;
    evl_cntk1_payload_rest *rest; /* after the fields; NULL: nothing */
} layout;

static const layout layouts[EVL_CNTK1_PAYLOADS] = {
    [EVL_CNTK1_INPUT] = { input, sizeof input / sizeof *input, evl_cntk1_rest_of_input },
    [EVL_CNTK1_PARAMETER] = { parameter, sizeof parameter / sizeof *parameter,
                              evl_cntk1_rest_of_parameter },
    [EVL_CNTK1_COMPUTED] = { computed, sizeof computed / sizeof *computed, NULL },
    [EVL_CNTK1_TIMES] = { times, sizeof times / sizeof *times, NULL },
    [EVL_CNTK1_QUANTIZED_TIMES] = { quantized_times,
                                    sizeof quantized_times / sizeof *quantized_times, NULL },
    [EVL_CNTK1_BATCH_NORMALIZATION] = { batch_normalization,
                                        sizeof batch_normalization / sizeof *batch_normalization,
                                        evl_cntk1_rest_of_batch_normalization },
    [EVL_CNTK1_CONVOLUTION] = { convolution, sizeof convolution / sizeof *convolution,
                                evl_cntk1_rest_of_convolution },
    [EVL_CNTK1_OLD_POOLING] = { NULL, 0, evl_cntk1_rest_of_pooling },
    [EVL_CNTK1_DROPOUT] = { NULL, 0, evl_cntk1_rest_of_dropout },
    [EVL_CNTK1_DELAY] = { delay, sizeof delay / sizeof *delay, evl_cntk1_rest_of_delay },
    [EVL_CNTK1_SLICE] = { NULL, 0, evl_cntk1_rest_of_slice },
    [EVL_CNTK1_ROW_STACK] = { row_stack, 1, NULL },
    [EVL_CNTK1_RESHAPE] = { reshape, sizeof reshape / sizeof *reshape, NULL },
    [EVL_CNTK1_LEGACY_RESHAPE] = { legacy_reshape, sizeof legacy_reshape / sizeof *legacy_reshape,
                                   NULL },
    [EVL_CNTK1_REDUCE] = { NULL, 0, evl_cntk1_rest_of_reduce },
    [EVL_CNTK1_TRANSPOSE] = { NULL, 0, evl_cntk1_rest_of_transpose },
    [EVL_CNTK1_ROW_REPEAT] = { row_repeat, 1, NULL },
    [EVL_CNTK1_WHERE] = { where, 1, NULL },
    [EVL_CNTK1_RNN] = { rnn, sizeof rnn / sizeof *rnn, NULL },
    [EVL_CNTK1_ROI_POOLING] = { roi_pooling, sizeof roi_pooling / sizeof *roi_pooling, NULL },
    [EVL_CNTK1_RANDOM_SAMPLE] = { NULL, 0, evl_cntk1_rest_of_random_sample },
    [EVL_CNTK1_CROP] = { NULL, 0, evl_cntk1_rest_of_crop },
    [EVL_CNTK1_ENVIRONMENT] = { environment, 1, NULL },
    [EVL_CNTK1_EDIT_DISTANCE] = { edit_distance, sizeof edit_distance / sizeof *edit_distance,
                                  evl_cntk1_rest_of_edit_distance },
    [EVL_CNTK1_NOISE_CONTRASTIVE] = { NULL, 0, evl_cntk1_rest_of_noise_contrastive },
    [EVL_CNTK1_FORWARD_BACKWARD] = { forward_backward,
                                     sizeof forward_backward / sizeof *forward_backward, NULL },
    [EVL_CNTK1_LATTICE] = { lattice, sizeof lattice / sizeof *lattice, NULL },
    [EVL_CNTK1_TRACE] = { trace, sizeof trace / sizeof *trace, NULL },
};

/* Which operand's frames the result has. */
static uint8_t frames_of(evl_cntk_build_op *build)
{
    static const struct {
        evl_cntk_build_op *build;
        evl_cntk_frames frames;
    } known[] = {
        { evl_cntk_input, EVL_CNTK_AS_TOLD },
        { evl_cntk_where, EVL_CNTK_AS_TOLD },
        { evl_cntk_packed_index, EVL_CNTK_AS_SECOND },
        { evl_cntk_reconcile, EVL_CNTK_AS_SECOND },
        { evl_cntk_rnn_stack, EVL_CNTK_AS_SECOND },
        { evl_cntk_gather_packed, EVL_CNTK_AS_FIRST },
        { evl_cntk_scatter_packed, EVL_CNTK_AS_FIRST },
        { evl_cntk_delay, EVL_CNTK_AS_FIRST },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].build == build)
            return (uint8_t)known[i].frames;
    return EVL_CNTK_AS_OPERANDS;
}

/* Networks saved by v2 name an axis without a sequence so: there is one frame for each. */
static bool is_single_axis(const char *name)
{
    static const char begin[] = "__noSequenceAxis";
    return strncmp(name, begin, sizeof begin - 1) == 0;
}

static bool has_window(evl_cntk1_payload payload)
{
    return payload == EVL_CNTK1_WINDOW || payload == EVL_CNTK1_CONVOLUTION;
}

void evl_cntk1_read_payload(evl_cntk1_cursor *c, evl_cntk_node *node)
{
    const layout *l = &layouts[node->op->payload];
    node->f = (evl_cntk_fields){ .word = "",
                                 .output_rank = 1,
                                 .inferred_rank = -1,
                                 .axis = 1,
                                 .step = 1,
                                 .layout = EVL_CNTK_CHW,
                                 .groups = 1,
                                 .initial = 0.1,
                                 .number = 1.0 / 16,
                                 .epsilon = 1e-5 };
    if (has_window(node->op->payload))
        read_fields(c, window, sizeof window / sizeof *window, &node->f);
    read_fields(c, l->fields, l->n, &node->f);
    if (l->rest)
        l->rest(c, &node->f);
    node->frames = frames_of(node->op->build);
    node->f.is_single = node->frames == EVL_CNTK_AS_TOLD && is_single_axis(node->f.word);
    if (c->status != EVAL_OK)
        evl_fail_at(c->ctx, "node '%s' (%s): ", node->name, node->op->name);
}
