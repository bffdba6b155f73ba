/* Data in files beside the model, and what tries to get out of its folder. */
#include "reading.h"
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/evl_external_XXXXXX";

static void path_of(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    char path[512];
    path_of(path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static int make_folder(void **state)
{
    (void)state;
    static const float numbers[] = { 1.5f, 2.5f, 3.5f };
    char from[512], to[512];
    assert_non_null(mkdtemp(folder));
    write_file("external.bin", numbers, sizeof numbers);
    write_file("twin.bin", numbers, sizeof numbers);
    path_of(from, "external.bin");
    path_of(to, "link.bin");
    assert_int_equal(symlink("/etc/hostname", to), 0);
    path_of(from, "twin.bin");
    path_of(to, "hard.bin");
    assert_int_equal(link(from, to), 0);
    path_of(to, "folder");
    assert_int_equal(mkdir(to, 0700), 0);
    path_of(to, "sub");
    assert_int_equal(mkdir(to, 0700), 0);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = { "external.bin", "twin.bin", "link.bin", "hard.bin" };
    char path[512];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(path, names[i]);
        unlink(path);
    }
    path_of(path, "folder");
    rmdir(path);
    path_of(path, "sub");
    rmdir(path);
    return rmdir(folder);
}

/* The model's bytes from the tree, as if they lay in our folder. */
static EvalStatus open_there(const char *name, evl_reading *r)
{
    char path[512];
    r->bytes = evl_test_load_model(name, r->path, &r->size);
    path_of(path, "model.onnx");
    return evl_test_read(evl_test_begin(), r->bytes, r->size, path, r);
}

static void weights_point_into_the_file_beside_the_model(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("external", &r);
    assert_int_equal(r.external.n, 1); /* opened once for both */
    const evl_value *w = evl_test_value(r.graph, "w"), *v = evl_test_value(r.graph, "v");
    assert_ptr_equal(w->t.data, r.external.files[0].data);
    assert_true(evl_tensor_f64(&w->t, 0) == 1.5 && evl_tensor_f64(&w->t, 1) == 2.5);
    assert_true(evl_tensor_f64(&v->t, 0) == 2.5 && evl_tensor_f64(&v->t, 1) == 3.5);
    evl_test_close(&r);
}

static void a_model_from_memory_has_nothing_beside_it(void **state)
{
    (void)state;
    evl_reading r;
    r.bytes = evl_test_load_model("external", r.path, &r.size);
    assert_int_equal(evl_test_read(evl_test_begin(), r.bytes, r.size, NULL, &r), EVAL_ERR_FORMAT);
    assert_non_null(strstr(r.ctx->error.text, "loaded from memory"));
    evl_test_close(&r);
}

typedef struct escape {
    const char *name;
    EvalStatus status;
} escape;

static void nothing_outside_the_folder_or_the_file_is_read(void **state)
{
    (void)state;
    static const escape cases[] = {
        { "parent", EVAL_ERR_FORMAT },       { "inner_parent", EVAL_ERR_FORMAT },
        { "absolute", EVAL_ERR_FORMAT },     { "link", EVAL_ERR_FORMAT },
        { "hard_link", EVAL_ERR_FORMAT },    { "folder", EVAL_ERR_FORMAT },
        { "missing", EVAL_ERR_IO },          { "no_location", EVAL_ERR_FORMAT },
        { "past_end", EVAL_ERR_FORMAT },     { "offset_overflow", EVAL_ERR_FORMAT },
        { "offset_huge", EVAL_ERR_FORMAT },  { "offset_negative", EVAL_ERR_FORMAT },
        { "offset_words", EVAL_ERR_FORMAT }, { "length_wrong", EVAL_ERR_FORMAT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        evl_reading r;
        snprintf(name, sizeof name, "broken/external_%s", cases[i].name);
        EvalStatus st = open_there(name, &r);
        if (st != cases[i].status)
            fail_msg("%s: %d %s", name, (int)st, r.ctx->error.text);
        assert_int_equal(r.external.n, 0); /* closed again */
        evl_test_close(&r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_point_into_the_file_beside_the_model),
        cmocka_unit_test(a_model_from_memory_has_nothing_beside_it),
        cmocka_unit_test(nothing_outside_the_folder_or_the_file_is_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
