/* damaged.h - files cut short, with bytes changed, and without memory: a status each, never a
** crash. A test says which files in `damaged` and calls test_damaged(). */
#ifndef EVL_TESTS_READERS_DAMAGED_H
#define EVL_TESTS_READERS_DAMAGED_H
#include "readers/cntk.h"

typedef struct damage {
    const evl_reader *reader;
    const char *folder;
    const char *const *names;
    size_t n;
    bool cuts_are_told; /* every cut is an error of format */
} damage;

static const damage damaged;

/* One try in an arena that is used again; memory enough for these files, not for bombs. */
static EvalStatus try_bytes(evl_memory *memory, evl_arena *arena, const void *data, size_t size)
{
    evl_context ctx;
    evl_context_init(&ctx, memory, &evl_default_limits);
    evl_arena_reset(arena);
    EvalStatus st =
        read_bytes(&ctx, damaged.reader, arena, data, size) ? EVAL_OK : ctx.error.status;
    evl_context_end(&ctx);
    return st;
}

typedef struct bench {
    evl_memory memory;
    evl_arena *arena;
    file_bytes file;
} bench;

static void begin(bench *b, const char *name)
{
    evl_memory_init(&b->memory, NULL, (size_t)64 << 20);
    b->arena = evl_arena_new(&b->memory);
    b->file = own_file(damaged.folder, name);
    assert_non_null(b->arena);
}

static void end(bench *b)
{
    evl_arena_free(b->arena);
    free(b->file.data);
    assert_int_equal(atomic_load(&b->memory.blocks), 0);
}

/* Of a dictionary whole entries may be missing, and what is left be something else. */
static void every_cut_gives_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < damaged.n; i++) {
        bench b;
        begin(&b, damaged.names[i]);
        for (size_t size = 0; size < b.file.size; size++) {
            uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees a step too far */
            assert_non_null(copy);
            memcpy(copy, b.file.data, size);
            EvalStatus st = try_bytes(&b.memory, b.arena, copy, size);
            if (damaged.cuts_are_told && st != EVAL_ERR_FORMAT)
                fail_msg("%s cut to %zu: status %d", damaged.names[i], size, (int)st);
            free(copy);
        }
        end(&b);
    }
}

static void every_changed_byte_gives_a_status(void **state)
{
    static const uint8_t changes[] = { 0x01, 0x80, 0xff };
    (void)state;
    for (size_t i = 0; i < damaged.n; i++) {
        bench b;
        begin(&b, damaged.names[i]);
        for (size_t at = 0; at < b.file.size; at++)
            for (size_t j = 0; j < sizeof changes; j++) {
                b.file.data[at] ^= changes[j];
                try_bytes(&b.memory, b.arena, b.file.data, b.file.size);
                b.file.data[at] ^= changes[j];
            }
        assert_int_equal(try_bytes(&b.memory, b.arena, b.file.data, b.file.size), EVAL_OK);
        end(&b);
    }
}

/* Each 32-bit word made enormous: counts, ranks, dimensions, sizes. */
static void absurd_counts_give_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < damaged.n; i++) {
        bench b;
        begin(&b, damaged.names[i]);
        for (size_t at = 0; at + 8 <= b.file.size; at++) {
            uint8_t old[8];
            memcpy(old, b.file.data + at, 8);
            memset(b.file.data + at, 0xff, 4);
            try_bytes(&b.memory, b.arena, b.file.data, b.file.size);
            memset(b.file.data + at, 0x7f, 8);
            try_bytes(&b.memory, b.arena, b.file.data, b.file.size);
            memcpy(b.file.data + at, old, 8);
        }
        end(&b);
    }
}

static size_t fail_request(const file_bytes *file, size_t failing, EvalStatus *st)
{
    evl_memory memory;
    evl_context ctx;
    evl_test_memory(&memory, failing);
    evl_context_init(&ctx, &memory, &evl_default_limits);
    evl_arena *arena = evl_arena_new(&memory);
    *st = EVAL_ERR_MEMORY;
    if (arena) {
        evl_graph *graph = evl_graph_new(arena, NULL);
        evl_source source = { .data = file->data, .size = file->size };
        evl_external external = { 0 };
        if (graph)
            *st = damaged.reader->read(&ctx, &source, graph, &external);
    }
    evl_arena_free(arena);
    evl_context_end(&ctx);
    assert_int_equal(atomic_load(&memory.blocks), 0);
    return evl_test_requests(&memory);
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < damaged.n; i++) {
        file_bytes file = own_file(damaged.folder, damaged.names[i]);
        EvalStatus st;
        size_t n = fail_request(&file, SIZE_MAX, &st);
        assert_int_equal(st, EVAL_OK);
        for (size_t failing = 0; failing < n; failing++) {
            fail_request(&file, failing, &st);
            assert_int_equal(st, EVAL_ERR_MEMORY);
        }
        free(file.data);
    }
}

static int test_damaged(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_gives_a_status),
        cmocka_unit_test(every_changed_byte_gives_a_status),
        cmocka_unit_test(absurd_counts_give_a_status),
        cmocka_unit_test(every_failing_request_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
