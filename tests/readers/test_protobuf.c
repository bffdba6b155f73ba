#include "readers/protobuf.h"
#include "support/support.h"
#include <string.h>

typedef struct record {
    int64_t number, zigzag;
    double narrow, wide;
    evl_bytes text;
    evl_pb_many texts, ints, floats, doubles;
} record;

static const evl_pb_rule rules[] = {
    { 1, EVL_PB_INT, offsetof(record, number) },
    { 2, EVL_PB_SINT, offsetof(record, zigzag) },
    { 3, EVL_PB_FLOAT, offsetof(record, narrow) },
    { 4, EVL_PB_DOUBLE, offsetof(record, wide) },
    { 5, EVL_PB_BYTES, offsetof(record, text) },
    { 6, EVL_PB_MANY, offsetof(record, texts) },
    { 7, EVL_PB_INTS, offsetof(record, ints) },
    { 8, EVL_PB_FLOATS, offsetof(record, floats) },
    { 9, EVL_PB_DOUBLES, offsetof(record, doubles) },
};
static const evl_pb_schema schema = { "Record", rules, sizeof rules / sizeof rules[0] };

static EvalStatus read_bytes(const char *bytes, size_t n, record *r)
{
    evl_context *ctx = evl_test_begin();
    *r = (record){ 0 };
    EvalStatus st = evl_pb_read(ctx, &schema, evl_bytes_of(bytes, n), r);
    evl_test_end(ctx);
    return st;
}

static void scalars_are_read_and_the_last_holds(void **state)
{
    (void)state;
    static const char bytes[] =
        "\x08\x05\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x03"
        "\x1d\x00\x00\xc0\x3f\x21\x00\x00\x00\x00\x00\x00\x04\xc0\x2a\x02hi";
    record r;
    assert_int_equal(read_bytes(bytes, sizeof bytes - 1, &r), EVAL_OK);
    assert_int_equal(r.number, -1);
    assert_int_equal(r.zigzag, -2);
    assert_true(r.narrow == 1.5 && r.wide == -2.5);
    assert_int_equal(evl_pb_size(r.text), 2);
    assert_memory_equal(evl_pb_text(r.text), "hi", 2);
    assert_int_equal(r.text.at, sizeof bytes - 1 - 2); /* offsets are those of the whole */
}

static void what_is_not_there_stays_as_it_was(void **state)
{
    (void)state;
    record r;
    assert_int_equal(read_bytes("", 0, &r), EVAL_OK);
    assert_null(r.text.data);
    assert_null(evl_pb_text(r.text));
    assert_int_equal(evl_pb_size(r.text), 0);
    assert_int_equal(read_bytes("\x2a\x00", 2, &r), EVAL_OK);
    assert_non_null(r.text.data); /* there, and empty */
}

static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    static const char bytes[] = "\x78\x01\x79"
                                "12345678\x7d"
                                "1234\x7a\x03"
                                "abc\x08\x07";
    record r;
    assert_int_equal(read_bytes(bytes, sizeof bytes - 1, &r), EVAL_OK);
    assert_int_equal(r.number, 7);
}

static void packed_and_single_numbers_mix(void **state)
{
    (void)state;
    static const char bytes[] = "\x3a\x03\x01\xac\x02\x32\x01z\x38\x03\x3a\x00\x3a\x01\x04";
    int64_t wide[4];
    uint8_t narrow[4];
    record r;
    assert_int_equal(read_bytes(bytes, sizeof bytes - 1, &r), EVAL_OK);
    assert_int_equal(r.ints.n, 4);
    evl_pb_ints(r.ints, 8, wide);
    evl_pb_ints(r.ints, 1, narrow);
    static const int64_t expected[] = { 1, 300, 3, 4 };
    static const uint8_t low[] = { 1, 44, 3, 4 };
    assert_memory_equal(wide, expected, sizeof wide);
    assert_memory_equal(narrow, low, sizeof narrow);
}

static void one_run_of_floats_is_used_where_it_is(void **state)
{
    (void)state;
    static const char one[] = "\x42\x08"
                              "abcdefgh";
    static const char more[] = "\x42\x04"
                               "abcd\x45"
                               "efgh";
    char gathered[8];
    record r;
    assert_int_equal(read_bytes(one, sizeof one - 1, &r), EVAL_OK);
    assert_int_equal(r.floats.n, 2);
    assert_ptr_equal(evl_pb_run(r.floats), one + 2);
    assert_int_equal(read_bytes(more, sizeof more - 1, &r), EVAL_OK);
    assert_int_equal(r.floats.n, 2);
    assert_null(evl_pb_run(r.floats));
    evl_pb_gather(r.floats, gathered);
    assert_memory_equal(gathered, "abcdefgh", 8);
}

static void repeated_messages_are_walked(void **state)
{
    (void)state;
    static const char bytes[] = "\x32\x01"
                                "a\x08\x01\x32\x00\x32\x02"
                                "bc";
    evl_bytes item;
    record r;
    assert_int_equal(read_bytes(bytes, sizeof bytes - 1, &r), EVAL_OK);
    assert_int_equal(r.texts.n, 3);
    assert_true(evl_pb_next(&r.texts, &item) && evl_pb_size(item) == 1);
    assert_true(evl_pb_next(&r.texts, &item) && evl_pb_size(item) == 0);
    assert_true(evl_pb_next(&r.texts, &item) && memcmp(evl_pb_text(item), "bc", 2) == 0);
    assert_false(evl_pb_next(&r.texts, &item));
}

typedef struct refused {
    const char *bytes;
    size_t n;
    const char *text;
} refused;

static void what_is_no_field_is_refused_with_its_place(void **state)
{
    (void)state;
    static const refused cases[] = {
        { "\x08", 1, "cut short, at byte 0" },
        { "\x08\x01\x08\x80", 4, "cut short, at byte 2" },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "no field of a protocol buffer" },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "no field of a protocol buffer" },
        { "\x00\x01", 2, "no field of a protocol buffer, at byte 0" },          /* field 0 */
        { "\x80\x80\x80\x80\x80\x01\x00", 7, "no field of a protocol buffer" }, /* over 32 bits */
        { "\x0b\x0c", 2, "no field of a protocol buffer" },                     /* a group */
        { "\x0e\x00", 2, "no field of a protocol buffer" },                     /* wire type 6 */
        { "\x2a\x03"
          "ab",
          4, "cut short" },
        { "\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "cut short" },
        { "\x1d\x01\x02\x03", 4, "cut short" },
        { "\x21\x01\x02\x03", 4, "cut short" },
        { "\x0a\x00", 2, "field 1 has another encoding (wire type 2) than it should, at byte 0" },
        { "\x28\x00", 2, "field 5 has another encoding" },
        { "\x3a\x01\x80", 3,
          "field 7 has another encoding" }, /* a packed run ends inside a number */
        { "\x42\x03"
          "abc",
          5, "field 8 has another encoding" },
        { "\x4a\x04"
          "abcd",
          6, "field 9 has another encoding" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        evl_context *ctx = evl_test_begin();
        record r = { 0 };
        evl_bytes bytes = evl_bytes_of(cases[i].bytes, cases[i].n);
        assert_int_equal(evl_pb_read(ctx, &schema, bytes, &r), EVAL_ERR_FORMAT);
        assert_memory_equal(ctx->error.text, "Record: ", 8);
        if (!strstr(ctx->error.text, cases[i].text))
            fail_msg("case %zu: %s", i, ctx->error.text);
        evl_test_end(ctx);
    }
}

static void a_number_of_64_bits_is_whole(void **state)
{
    (void)state;
    record r;
    assert_int_equal(read_bytes("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, &r), EVAL_OK);
    assert_true(r.number == INT64_MIN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_read_and_the_last_holds),
        cmocka_unit_test(what_is_not_there_stays_as_it_was),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(packed_and_single_numbers_mix),
        cmocka_unit_test(one_run_of_floats_is_used_where_it_is),
        cmocka_unit_test(repeated_messages_are_walked),
        cmocka_unit_test(what_is_no_field_is_refused_with_its_place),
        cmocka_unit_test(a_number_of_64_bits_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
