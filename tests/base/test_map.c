#include "support/support.h"
#include "base/map.h"
#include <stdio.h>
#include <string.h>

static void many_names_are_found_again(void **state)
{
    evl_memory memory;
    char name[32];
    size_t value;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    evl_map *map = evl_map_new(arena);
    for (size_t i = 0; i < 20000; i++) {
        size_t n = (size_t)snprintf(name, sizeof name, "layer.%zu.weight", i);
        assert_false(evl_map_get(map, name, n, &value));
        assert_true(evl_map_set(map, evl_arena_text(arena, name, n), n, i));
    }
    assert_int_equal(evl_map_count(map), 20000);
    for (size_t i = 0; i < 20000; i++) {
        size_t n = (size_t)snprintf(name, sizeof name, "layer.%zu.weight", i);
        assert_true(evl_map_get(map, name, n, &value));
        assert_int_equal(value, i);
    }
    evl_arena_free(arena);
}

static void a_name_set_again_is_replaced_and_bytes_decide(void **state)
{
    evl_memory memory;
    size_t value = 9;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    evl_map *map = evl_map_new(arena);
    assert_true(evl_map_set(map, "a", 1, 1));
    assert_true(evl_map_set(map, "a", 1, 2));
    assert_true(evl_map_set(map, "a\0b", 3, 3));
    assert_true(evl_map_set(map, NULL, 0, 4));
    assert_int_equal(evl_map_count(map), 3);
    assert_true(evl_map_get(map, "abc", 1, &value));
    assert_int_equal(value, 2);
    assert_true(evl_map_get(map, "a\0b", 3, &value));
    assert_int_equal(value, 3);
    assert_true(evl_map_get(map, "", 0, &value));
    assert_int_equal(value, 4);
    assert_false(evl_map_get(map, "A", 1, &value));
    assert_int_equal(value, 4);
    evl_arena_free(arena);
}

static void without_memory_what_was_set_stays(void **state)
{
    (void)state;
    for (size_t failing = 1; failing < 6; failing++) {
        evl_memory memory;
        uint32_t names[4096];
        size_t n = 0, value;
        evl_test_memory(&memory, failing);
        evl_arena *arena = evl_arena_new(&memory);
        evl_map *map = evl_map_new(arena);
        for (; map && n < 4096; n++) {
            names[n] = (uint32_t)n;
            if (!evl_map_set(map, (const char *)&names[n], 4, n))
                break;
        }
        assert_true(n < 4096);
        assert_true(!map || evl_map_count(map) == n);
        for (size_t i = 0; i < n; i++)
            assert_true(evl_map_get(map, (const char *)&names[i], 4, &value) && value == i);
        evl_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_names_are_found_again),
        cmocka_unit_test(a_name_set_again_is_replaced_and_bytes_decide),
        cmocka_unit_test(without_memory_what_was_set_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
