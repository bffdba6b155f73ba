/* The models of the shared folder: read whole, or what they need is listed. */
#include "reading.h"

/* Those whose operators are all of the first ranking, the others may ask for more. */
static const char *const models[] = {
    "basic_pitch",
    "digits_cnn",
    "digits_cnn_qdq",
    "digits_forest",
    "digits_logreg",
    "digits_lstm_proj",
    "digits_mlp_f64",
    "digits_vit",
    "dtln_1",
    "dtln_2",
    "magika",
    "mnist8",
    "mnist_int8",
    "ppocr_v2_cls",
    "ppocr_v4_det",
    "silero_vad_v6",
    "super_resolution",
    "tree_classifier",
    "ultraface_rfb320",
    "vespa_transformer",
    "voting_classifier",
};

static void every_model_is_read(void **state)
{
    (void)state;
    size_t n_found = 0;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        evl_reading r;
        snprintf(r.path, sizeof r.path, "%s/models/%s/model.onnx", EVL_TEST_SHARED, models[i]);
        FILE *file = fopen(r.path, "rb");
        if (!file)
            continue;
        fclose(file);
        n_found++;
        r.bytes = evl_test_load(r.path, &r.size);
        EvalStatus st = evl_test_read(evl_test_begin(), r.bytes, r.size, r.path, &r);
        if (st != EVAL_OK && st != EVAL_ERR_UNSUPPORTED)
            fail_msg("%s: %s", models[i], r.ctx->error.text);
        /* Weights stay in the file: what is held is for names, nodes and shapes. */
        assert_in_range(atomic_load(&r.ctx->memory->peak_bytes), 0, 4 << 20);
        evl_test_close(&r);
    }
    if (n_found == 0)
        skip();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
