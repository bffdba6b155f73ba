#include "ops/moved.h"

typedef struct sequences {
    int32_t batch, time;
    const int64_t *lengths;
} sequences;

static int64_t reversed(const moved *m, size_t i)
{
    const sequences *s = m->arg;
    int64_t at[EVAL_MAX_RANK], length;
    moved_position(m->rank, m->dims, i, at);
    length = s->lengths[at[s->batch]];
    if (at[s->time] < length)
        at[s->time] = length - 1 - at[s->time];
    return moved_index(&m->in[0].shape, at);
}

static void the_first_elements_of_each_entry_are_reversed(void **unused)
{
    const int64_t dims[] = { 4, 4, 3 }, lengths[] = { 4, 1, 0, 3 };
    const evl_attribute a[] = { evl_attribute_int("batch_axis", 0),
                                evl_attribute_int("time_axis", 1) };
    sequences s = { 1, 0, lengths };
    moved m = { .op = "ReverseSequence",
                .n_in = 2,
                .rank = 3,
                .dims = { 4, 4, 3 },
                .in = { moved_shape(3, dims), moved_list(4, lengths) },
                .source = reversed,
                .arg = &s };
    (void)unused;
    moved_check(&m);
    m.attributes = a;
    m.n_attributes = 2;
    s = (sequences){ 0, 1, lengths };
    moved_check(&m);
}

static void bad_lengths_and_axes_are_refused(void **unused)
{
    static const int64_t bad[][2] = { { 4, 0 }, { -1, 1 } };
    const int64_t dims[] = { 3, 2 };
    const evl_attribute same = evl_attribute_int("batch_axis", 0);
    moved m = { .op = "ReverseSequence", .n_in = 2, .in = { moved_shape(2, dims) } };
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        m.in[1] = moved_list(2, bad[i]);
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    }
    m.in[1] = moved_list(1, dims);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = moved_list(2, dims);
    m.attributes = &same;
    m.n_attributes = 1;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_elements_of_each_entry_are_reversed),
        cmocka_unit_test(bad_lengths_and_axes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
