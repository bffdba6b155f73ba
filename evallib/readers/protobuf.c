#include "readers/protobuf.h"
#include <string.h>

/* One field as it stands: a number in `value`, or bytes in `bytes`. */
typedef struct field {
    uint32_t number;
    unsigned wire;
    uint64_t value;
    evl_bytes bytes;
} field;

typedef enum outcome { GOOD, CUT, BAD } outcome;

static const unsigned wire_of_kind[] = {
    [EVL_PB_INT] = EVL_PB_WIRE_VARINT,  [EVL_PB_SINT] = EVL_PB_WIRE_VARINT,
    [EVL_PB_FLOAT] = EVL_PB_WIRE_32,    [EVL_PB_DOUBLE] = EVL_PB_WIRE_64,
    [EVL_PB_BYTES] = EVL_PB_WIRE_BYTES, [EVL_PB_MANY] = EVL_PB_WIRE_BYTES,
    [EVL_PB_INTS] = EVL_PB_WIRE_VARINT, [EVL_PB_FLOATS] = EVL_PB_WIRE_32,
    [EVL_PB_DOUBLES] = EVL_PB_WIRE_64,
};

static outcome read_varint(evl_bytes *from, uint64_t *value)
{
    if (evl_bytes_varint(from, value))
        return GOOD;
    return evl_bytes_left(from) < EVL_VARINT_BYTES ? CUT : BAD;
}

static outcome read_bytes(evl_bytes *from, evl_bytes *bytes)
{
    uint64_t n;
    outcome result = read_varint(from, &n);
    if (result != GOOD)
        return result;
    *bytes = *from;
    if (n > SIZE_MAX || !evl_bytes_skip(from, (size_t)n))
        return CUT;
    bytes->size = from->at;
    return GOOD;
}

static outcome read_fixed(evl_bytes *from, field *f)
{
    uint32_t low;
    if (f->wire == EVL_PB_WIRE_64)
        return evl_bytes_u64(from, &f->value) ? GOOD : CUT;
    if (!evl_bytes_u32(from, &low))
        return CUT;
    f->value = low;
    return GOOD;
}

static outcome read_field(evl_bytes *from, field *f)
{
    uint64_t tag;
    outcome result = read_varint(from, &tag);
    if (result != GOOD)
        return result;
    if (tag > UINT32_MAX || tag < 8)
        return BAD;
    *f = (field){ .number = (uint32_t)(tag >> 3), .wire = tag & 7, .bytes = *from };
    switch (f->wire) {
    case EVL_PB_WIRE_VARINT: return read_varint(from, &f->value);
    case EVL_PB_WIRE_BYTES: return read_bytes(from, &f->bytes);
    case EVL_PB_WIRE_64:
    case EVL_PB_WIRE_32: return read_fixed(from, f);
    }
    return BAD; /* groups, and wire types that do not exist */
}

static double number_of(evl_pb_kind kind, uint64_t value)
{
    uint32_t low = (uint32_t)value;
    float narrow;
    double wide;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &value, sizeof wide);
    return kind == EVL_PB_FLOAT ? (double)narrow : wide;
}

static bool is_repeated(evl_pb_kind kind)
{
    return kind >= EVL_PB_MANY;
}

/* How many scalars a packed run holds; false when it does not end with one. */
static bool count_packed(evl_pb_kind kind, evl_bytes run, size_t *n)
{
    size_t size = evl_pb_size(run), each = kind == EVL_PB_FLOATS ? 4 : 8;
    uint64_t value;
    if (kind != EVL_PB_INTS) {
        *n = size / each;
        return size % each == 0;
    }
    for (*n = 0; evl_bytes_left(&run) > 0; ++*n)
        if (read_varint(&run, &value) != GOOD)
            return false;
    return true;
}

/* `start`: before the field's tag. */
static bool add_occurrence(const evl_pb_rule *rule, const field *f, evl_bytes start,
                           evl_pb_many *many)
{
    size_t n = 1;
    if (rule->kind != EVL_PB_MANY && f->wire == EVL_PB_WIRE_BYTES &&
        !count_packed(rule->kind, f->bytes, &n))
        return false;
    if (many->n_runs++ == 0) {
        many->rest = start;
        many->number = f->number;
    }
    many->n += n;
    return true;
}

static bool store(const evl_pb_rule *rule, const field *f, evl_bytes start, void *record)
{
    void *place = (char *)record + rule->offset;
    bool is_packed = is_repeated(rule->kind) && f->wire == EVL_PB_WIRE_BYTES;
    if (f->wire != wire_of_kind[rule->kind] && !is_packed)
        return false;
    if (is_repeated(rule->kind))
        return add_occurrence(rule, f, start, place);
    switch (rule->kind) {
    case EVL_PB_INT: *(int64_t *)place = (int64_t)f->value; break;
    case EVL_PB_SINT: *(int64_t *)place = (int64_t)(f->value >> 1 ^ (0 - (f->value & 1))); break;
    case EVL_PB_BYTES: *(evl_bytes *)place = f->bytes; break;
    default: *(double *)place = number_of(rule->kind, f->value); break;
    }
    return true;
}

static const evl_pb_rule *find_rule(const evl_pb_schema *schema, uint32_t number)
{
    for (size_t i = 0; i < schema->n_rules; i++)
        if (schema->rules[i].number == number)
            return &schema->rules[i];
    return NULL;
}

static EvalStatus fail_framing(evl_context *ctx, const evl_pb_schema *schema, outcome why,
                               size_t at)
{
    if (why == CUT)
        return evl_fail(ctx, EVAL_ERR_FORMAT,
                        "%s: a field is cut short, at byte %zu; is the file complete?",
                        schema->name, at);
    return evl_fail(ctx, EVAL_ERR_FORMAT, "%s: no field of a protocol buffer, at byte %zu",
                    schema->name, at);
}

EvalStatus evl_pb_read(evl_context *ctx, const evl_pb_schema *schema, evl_bytes message,
                       void *record)
{
    field f;
    while (evl_bytes_left(&message) > 0) {
        evl_bytes start = message;
        outcome result = read_field(&message, &f);
        if (result != GOOD)
            return fail_framing(ctx, schema, result, start.at);
        const evl_pb_rule *rule = find_rule(schema, f.number);
        if (rule && !store(rule, &f, start, record))
            return evl_fail(ctx, EVAL_ERR_FORMAT,
                            "%s: field %u has another encoding (wire type %u) than it should, at "
                            "byte %zu",
                            schema->name, (unsigned)f.number, f.wire, start.at);
    }
    return EVAL_OK;
}

/* The next occurrence; evl_pb_read has proved that the fields are good. */
static bool next_occurrence(evl_pb_many *many, field *f)
{
    while (many->n_runs > 0 && read_field(&many->rest, f) == GOOD)
        if (f->number == many->number) {
            many->n_runs--;
            return true;
        }
    return false;
}

bool evl_pb_next(evl_pb_many *many, evl_bytes *item)
{
    field f;
    if (!next_occurrence(many, &f))
        return false;
    *item = f.bytes;
    return true;
}

static char *put_int(uint64_t value, size_t each, char *place)
{
    uint8_t as_1 = (uint8_t)value;
    uint16_t as_2 = (uint16_t)value;
    uint32_t as_4 = (uint32_t)value;
    const void *from = each == 1   ? (const void *)&as_1
                       : each == 2 ? (const void *)&as_2
                       : each == 4 ? (const void *)&as_4
                                   : (const void *)&value;
    memcpy(place, from, each);
    return place + each;
}

void evl_pb_ints(evl_pb_many many, size_t each, void *target)
{
    char *place = target;
    uint64_t value;
    field f;
    while (next_occurrence(&many, &f)) {
        if (f.wire == EVL_PB_WIRE_VARINT)
            place = put_int(f.value, each, place);
        else
            while (read_varint(&f.bytes, &value) == GOOD)
                place = put_int(value, each, place);
    }
}

/* Where the little-endian bytes of one occurrence are, packed or not: f->bytes of a
** fixed field still begins behind its tag. */
static const char *bytes_of(const field *f, size_t *n)
{
    *n = f->wire == EVL_PB_WIRE_BYTES ? evl_pb_size(f->bytes) : f->wire == EVL_PB_WIRE_64 ? 8 : 4;
    return evl_pb_text(f->bytes);
}

const void *evl_pb_run(evl_pb_many many)
{
    field f;
    size_t n;
    if (many.n_runs != 1 || !next_occurrence(&many, &f))
        return NULL;
    return bytes_of(&f, &n);
}

void evl_pb_gather(evl_pb_many many, void *target)
{
    char *place = target;
    field f;
    size_t n;
    while (next_occurrence(&many, &f)) {
        const char *bytes = bytes_of(&f, &n);
        memcpy(place, bytes, n);
        place += n;
    }
}

const char *evl_pb_text(evl_bytes bytes)
{
    const char *data = (const char *)bytes.data; /* NULL at 0, to which nothing can be added */
    return bytes.at ? data + bytes.at : data;
}

size_t evl_pb_size(evl_bytes bytes)
{
    return bytes.size - bytes.at;
}

bool evl_pb_peek(evl_bytes *from, uint32_t *number, unsigned *wire, bool *is_cut)
{
    field f = { 0 };
    outcome result = read_field(from, &f);
    *number = f.number;
    *wire = f.wire;
    *is_cut = result == CUT;
    return result == GOOD;
}
