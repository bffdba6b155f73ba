/* Cast and CastLike. In a plan every floating-point type of two bytes and more is real, so a
** cast between them copies, but that in float precision float16 and bfloat16 round through
** that type. The smaller ones are themselves, in both precisions. */
#include "base/text.h"
#include "ops/elementwise.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 256 };

typedef struct cast_state {
    EvalType narrow; /* to round through, or of the numbers written; UNDEFINED: none */
    bool is_small;   /* the target is a small floating-point type: */
    bool saturates;
    evl_small_round round;
} cast_state;

/* Before opset 6 the type is given by its name in TensorProto, "FLOAT". */
static EvalType type_of_name(const char *name)
{
    static const struct {
        const char *name;
        EvalType type;
    } names[] = {
        { "FLOAT", EVAL_FLOAT32 }, { "DOUBLE", EVAL_FLOAT64 }, { "FLOAT16", EVAL_FLOAT16 },
        { "BOOL", EVAL_BOOL },     { "UINT8", EVAL_UINT8 },    { "INT8", EVAL_INT8 },
        { "UINT16", EVAL_UINT16 }, { "INT16", EVAL_INT16 },    { "UINT32", EVAL_UINT32 },
        { "INT32", EVAL_INT32 },   { "UINT64", EVAL_UINT64 },  { "INT64", EVAL_INT64 },
        { "STRING", EVAL_STRING },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].type;
    return EVAL_UNDEFINED;
}

/* What the node asks for, as declared. */
static EvalType wanted(const evl_use *use)
{
    if (use->n_in == 2)
        return evl_use_declared(use, 1);
    const char *name = evl_node_text(use->node, "to", NULL);
    return name ? type_of_name(name) : (EvalType)evl_node_int(use->node, "to", 0);
}

static EvalStatus infer(evl_infer *x)
{
    EvalType to = wanted(&x->use);
    if (x->use.n_in == 1 && evl_type_size(to) == 0)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "the attribute to, %d, names no element type",
                        (int)to);
    x->out[0].type = to;
    x->out[0].shape = x->use.in[0]->shape;
    return EVAL_OK;
}

static EvalStatus run_numbers(const evl_call *);
static void part_of_numbers(const evl_call *, size_t from, size_t to);
static EvalStatus run_texts(const evl_call *);
static EvalStatus run_to_texts(const evl_call *);

/* Opset 24: how float8e8m0 rounds. */
static EvalStatus read_round(evl_prepare *p, cast_state *s)
{
    static const char *const names[] = {
        [EVL_SMALL_UP] = "up", [EVL_SMALL_DOWN] = "down", [EVL_SMALL_NEAREST] = "nearest"
    };
    const char *name = evl_node_text(p->use.node, "round_mode", "up");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            s->round = (evl_small_round)i;
            return EVAL_OK;
        }
    return evl_fail(p->ctx, EVAL_ERR_FORMAT, "round_mode is '%s', expected up, down or nearest",
                    name);
}

/* What numbers are written as: their declared type, or the plan's where that is narrower. */
static EvalType number_type(const evl_prepare *p)
{
    EvalType declared = evl_use_declared(&p->use, 0);
    return declared == EVAL_FLOAT64 ? p->machine->real : declared;
}

static EvalStatus prepare(evl_prepare *p)
{
    EvalType from = p->use.in[0]->type, to = p->out[0]->type, declared = wanted(&p->use);
    cast_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    if (p->machine->precision == EVL_FLOAT &&
        (declared == EVAL_FLOAT16 || declared == EVAL_BFLOAT16))
        s->narrow = declared;
    s->is_small = evl_type_is_small_float(to);
    s->saturates = evl_node_int(p->use.node, "saturate", 1) != 0;
    p->state = s;
    p->run = from == to            ? run_numbers
             : from == EVAL_STRING ? run_texts
             : to == EVAL_STRING   ? run_to_texts
                                   : run_numbers;
    if (p->run == run_numbers)
        p->part = part_of_numbers;
    if (to == EVAL_STRING)
        s->narrow = number_type(p);
    if (from != to && !((evl_type_is_number(from) || from == EVAL_STRING) &&
                        (evl_type_is_number(to) || to == EVAL_STRING)))
        return evl_fail(p->ctx, EVAL_ERR_UNSUPPORTED, "a cast from %s to %s is not offered",
                        evl_type_name(from), evl_type_name(to));
    return read_round(p, s);
}

static void convert_small(const cast_state *s, size_t n, const evl_tensor *x, EvalType to,
                          uint8_t *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = evl_small_from_double(to, evl_tensor_f64(x, i), s->saturates, s->round);
}

/* n elements, rounded through a narrow type where there is one. */
static void convert(const cast_state *s, size_t n, EvalType from, void *x, EvalType to, char *y)
{
    uint16_t part[PART];
    size_t x_size = evl_type_size(from), y_size = evl_type_size(to);
    if (s->is_small && from != to) {
        convert_small(s, n, &(evl_tensor){ .type = from, .data = x }, to, (uint8_t *)y);
        return;
    }
    if (s->narrow == EVAL_UNDEFINED) {
        if (x != y || from != to)
            (void)evl_convert(n, from, x, to, y); /* between numbers: prepare saw to it */
        return;
    }
    for (size_t at = 0; at < n; at += PART) {
        size_t count = n - at < PART ? n - at : PART;
        (void)evl_convert(count, from, (char *)x + at * x_size, s->narrow, part);
        (void)evl_convert(count, s->narrow, part, to, y + at * y_size);
    }
}

static void part_of_numbers(const evl_call *call, size_t from, size_t to)
{
    const cast_state *s = call->state;
    const evl_tensor *x = call->in[0], *y = call->out[0];
    convert(s, to - from, x->type, (char *)x->data + from * evl_type_size(x->type), y->type,
            (char *)y->data + from * evl_type_size(y->type));
}

static EvalStatus run_numbers(const evl_call *call)
{
    return evl_parts_run(call, part_of_numbers);
}

/* "+1.5" and "+INF" too. Whole numbers stay exact. */
static bool read_text(const EvalString *text, const cast_state *s, EvalType to, char *y)
{
    size_t skipped = text->size > 1 && text->text[0] == '+' && text->text[1] != '-';
    int64_t whole;
    double number;
    if (evl_text_to_i64(text->text + skipped, text->size - skipped, &whole)) {
        convert(s, 1, EVAL_INT64, &whole, to, y);
        return true;
    }
    if (!evl_text_to_f64(text->text + skipped, text->size - skipped, &number))
        return false;
    convert(s, 1, EVAL_FLOAT64, &number, to, y);
    return true;
}

static EvalStatus run_texts(const evl_call *call)
{
    const cast_state *s = call->state;
    const evl_tensor *y = call->out[0];
    const EvalString *x = call->in[0]->data;
    size_t n = evl_shape_count(&y->shape), size = evl_type_size(y->type);
    for (size_t i = 0; i < n; i++)
        if (!read_text(&x[i], s, y->type, (char *)y->data + i * size))
            return evl_fail(call->ctx, EVAL_ERR_TYPE, "element %zu is no number: '%.*s'", i,
                            x[i].size < 40 ? (int)x[i].size : 40, x[i].text ? x[i].text : "");
    return EVAL_OK;
}

enum { NUMBER_TEXT = 40, MOST_PLAIN = 16, LEAST_PLAIN = -5, MOST_DIGITS = 17 };

static bool is_read_back(EvalType type, double value, const char *text, size_t n)
{
    double read = 0, pair[2] = { value, 0 };
    uint64_t stored[2] = { 0, 0 };
    if (!evl_text_to_f64(text, n, &read))
        return false;
    pair[1] = read;
    return evl_convert(1, EVAL_FLOAT64, &pair[0], type, &stored[0]) &&
           evl_convert(1, EVAL_FLOAT64, &pair[1], type, &stored[1]) && stored[0] == stored[1];
}

/* The digits of a finite number other than 0, as few as tell it from others of its type, and
** where the point is: behind the first + *exponent. The locale's point, and zeros, are left out. */
static size_t digits_of(EvalType type, double x, char digits[MOST_DIGITS + 1], int *exponent)
{
    char text[NUMBER_TEXT];
    size_t n = 0;
    for (int precision = 1; precision <= MOST_DIGITS; precision++) {
        (void)snprintf(text, sizeof text, "%.*e", precision - 1, x);
        const char *power = strchr(text, 'e');
        n = 0;
        for (const char *c = text; c < power; c++)
            if (*c >= '0' && *c <= '9')
                digits[n++] = *c;
        *exponent = (int)strtol(power + 1, NULL, 10);
        int size = snprintf(text, sizeof text, "%.*se%d", (int)n, digits, *exponent - (int)n + 1);
        if (size > 0 && is_read_back(type, x, text, (size_t)size))
            break;
    }
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* Plain, "314.15926", or with an exponent where that would be long. */
static int write_number(EvalType type, double x, char text[NUMBER_TEXT])
{
    char digits[MOST_DIGITS + 1];
    int exponent;
    const char *sign = signbit(x) && !isnan(x) ? "-" : "";
    if (isnan(x) || isinf(x) || x == 0)
        return snprintf(text, NUMBER_TEXT, "%s%s", sign, isnan(x) ? "NaN" : isinf(x) ? "INF" : "0");
    int n = (int)digits_of(type, fabs(x), digits, &exponent);
    if (exponent >= MOST_PLAIN || exponent < LEAST_PLAIN)
        return snprintf(text, NUMBER_TEXT, "%s%c%s%.*se%c%02d", sign, digits[0], n > 1 ? "." : "",
                        n - 1, digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    if (exponent < 0)
        return snprintf(text, NUMBER_TEXT, "%s0.%.*s%.*s", sign, -exponent - 1, "0000", n, digits);
    int whole = n < exponent + 1 ? n : exponent + 1;
    return snprintf(text, NUMBER_TEXT, "%s%.*s%.*s%s%.*s", sign, whole, digits,
                    exponent + 1 - whole, "0000000000000000", n > whole ? "." : "", n - whole,
                    digits + whole);
}

static EvalStatus run_to_texts(const evl_call *call)
{
    const cast_state *s = call->state;
    const evl_tensor *x = call->in[0];
    EvalString *y = call->out[0]->data;
    size_t n = evl_shape_count(&x->shape);
    bool is_real = evl_type_is_float(x->type) || evl_type_is_small_float(x->type);
    for (size_t i = 0; i < n; i++) {
        char text[NUMBER_TEXT];
        int size = is_real ? write_number(s->narrow, evl_tensor_f64(x, i), text)
                   : x->type == EVAL_UINT64
                       ? snprintf(text, sizeof text, "%" PRIu64, (uint64_t)evl_tensor_i64(x, i))
                       : snprintf(text, sizeof text, "%" PRId64, evl_tensor_i64(x, i));
        char *copy = evl_arena_text(call->texts, text, (size_t)size);
        if (!copy)
            return evl_no_memory(call->ctx);
        y[i] = (EvalString){ copy, (size_t)size };
    }
    return EVAL_OK;
}

static const evl_impl cast = { prepare, NULL };

const evl_op evl_op_cast = {
    .name = "Cast",
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .traits = EVL_OP_IN_PLACE,
    .infer = infer,
    .any = &cast,
};

static const evl_op op_cast_like = {
    .name = "CastLike",
    .min_inputs = 2,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .any = &cast,
};

const evl_op *const evl_ops_cast[] = { &evl_op_cast, &op_cast_like, NULL };
