/* CNTK's C functions over the tables: this program is compiled as C and as C++. */
#include "evallib/cntk/CNTKLibraryC.h"
#include <math.h>
#include <stdio.h>

static void require(bool is_true, const char *what, int line)
{
    if (is_true)
        return;
    fprintf(stderr, "line %d: %s\n", line, what);
    exit(1);
}
#define REQUIRE(what) require(what, #what, __LINE__)

static void check(CNTK_StatusCode status, int32_t value, const char *says, int line)
{
    if (status.value == value && strstr(status.description, says))
        return;
    fprintf(stderr, "line %d: status %d, %s\n", line, (int)status.value, status.description);
    exit(1);
}
#define CHECK(call, value, says) check(call, value, says, __LINE__)
#define GOOD(call) check(call, CNTK_SUCCESS, "", __LINE__)

static CNTK_ModelHandle load(const char *path)
{
    CNTK_ModelHandle model;
    GOOD(CNTK_LoadModel(path, NULL, &model));
    return model;
}

/* A variable of that name and a value of 2 x `frames`, or of 3 x `frames`, over `data`. */
typedef struct operand {
    CNTK_Variable variable;
    CNTK_Value value;
    uint32_t dims[3];
    char name[8];
} operand;

static void make(operand *o, const char *name, uint32_t size, uint32_t frames, float *data)
{
    memset(o, 0, sizeof *o);
    strcpy(o->name, name);
    o->variable.name = o->name;
    o->dims[0] = size;
    o->dims[1] = frames;
    o->value.shape.value = o->dims;
    o->value.shape.size = 2;
    o->value.data = data;
}

static void clean(CNTK_Value *values, uint32_t n)
{
    uint32_t i;
    for (i = 0; i < n; i++) {
        CNTK_CleanValue(&values[i]);
        CNTK_CleanValue(&values[i]); /* once more is harmless */
    }
    CNTK_ReleaseArray(values);
}

static void variables_tell_names_and_shapes(void)
{
    CNTK_ModelHandle model = load(EVL_TEST_DATA "/cntk2/image.model");
    CNTK_Variable *variables;
    uint32_t n;
    GOOD(CNTK_GetModelArgumentsInfo(model, &variables, &n));
    REQUIRE(n == 1 && strcmp(variables[0].name, "image") == 0 && variables[0].shape.size == 3);
    REQUIRE(variables[0].shape.value[0] == 6 && variables[0].shape.value[1] == 5 &&
            variables[0].shape.value[2] == 2);
    CNTK_CleanVariable(&variables[0]);
    CNTK_CleanVariable(&variables[0]);
    CNTK_ReleaseArray(variables);
    GOOD(CNTK_GetModelOutputsInfo(model, &variables, &n));
    REQUIRE(n == 1 && variables[0].shape.size == 1 && variables[0].shape.value[0] == 3);
    CNTK_CleanVariable(&variables[0]);
    CNTK_ReleaseArray(variables);
    CNTK_ReleaseModel(model);
}

/* z is the last of h, [3, frames]: it has no sequence. */
static void a_sequence_is_evaluated_into_new_values(void)
{
    float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    CNTK_ModelHandle model = load(EVL_TEST_DATA "/cntk2/recurrent.model");
    CNTK_Variable *outputs;
    CNTK_Value *values = NULL;
    bool begins = true;
    operand in;
    uint32_t n;
    make(&in, "x", 2, 4, x);
    GOOD(CNTK_GetModelOutputsInfo(model, &outputs, &n));
    REQUIRE(n == 2);
    GOOD(CNTK_EvaluateSequence(model, &in.variable, &in.value, &begins, 1, outputs, 2, &values));
    REQUIRE(values[0].shape.size == 3 && values[0].shape.value[0] == 3 &&
            values[0].shape.value[1] == 4 && values[0].shape.value[2] == 1);
    REQUIRE(values[1].shape.size == 2 && values[1].shape.value[0] == 3 &&
            values[1].shape.value[1] == 1);
    REQUIRE(memcmp(values[0].data + 9, values[1].data, 3 * sizeof(float)) == 0);
    clean(values, 2);
    for (n = 0; n < 2; n++)
        CNTK_CleanVariable(&outputs[n]);
    CNTK_ReleaseArray(outputs);
    CNTK_ReleaseModel(model);
}

/* b has three steps, of which two are chosen, and a has two. */
static void sequences_of_several_axes_are_sequences(void)
{
    static const uint32_t steps[3] = { 2, 3, 2 };
    float a[4] = { -1, 2, -3, 4 }, b[6] = { 1, 2, -3, 4, 5, 6 };
    CNTK_ModelHandle model = load(EVL_TEST_DATA "/cntk2/two_axes.model");
    CNTK_Variable inputs[2], *outputs;
    CNTK_Value given[2], *values = NULL;
    operand first, second;
    uint32_t n, i;
    make(&first, "a", 2, 2, a);
    make(&second, "b", 2, 3, b);
    inputs[0] = first.variable;
    inputs[1] = second.variable;
    given[0] = first.value;
    given[1] = second.value;
    GOOD(CNTK_GetModelOutputsInfo(model, &outputs, &n));
    REQUIRE(n == 4);
    GOOD(CNTK_EvaluateSequence(model, inputs, given, NULL, 2, outputs, 3, &values));
    for (i = 0; i < 3; i++)
        REQUIRE(values[i].shape.size == 3 && values[i].shape.value[0] == 2 &&
                values[i].shape.value[1] == steps[i] && values[i].shape.value[2] == 1);
    REQUIRE(memcmp(values[2].data, b, 2 * sizeof *b) == 0 &&
            memcmp(values[2].data + 2, b + 4, 2 * sizeof *b) == 0);
    clean(values, 3);
    for (i = 0; i < n; i++)
        CNTK_CleanVariable(&outputs[i]);
    CNTK_ReleaseArray(outputs);
    CNTK_ReleaseModel(model);
}

static void steps_give_what_the_whole_sequence_gives(const char *path)
{
    float x[8] = { 1, -2, 0.5f, 1, -1, 2, 0.25f, 0 }, whole[12], step[3];
    CNTK_ModelHandle model = load(path);
    CNTK_Value *values;
    operand in, out;
    bool begins = true;
    uint32_t t, i;
    make(&in, "x", 2, 4, x);
    make(&out, "h", 3, 4, whole);
    values = &out.value;
    GOOD(CNTK_EvaluateSequence(model, &in.variable, &in.value, &begins, 1, &out.variable, 1,
                               &values));
    for (t = 0; t < 4; t++) {
        make(&in, "x", 2, 1, x + (size_t)2 * t);
        make(&out, "h", 3, 1, step);
        begins = t == 0;
        GOOD(CNTK_EvaluateSequence(model, &in.variable, &in.value, &begins, 1, &out.variable, 1,
                                   &values));
        for (i = 0; i < 3; i++)
            REQUIRE(fabsf(step[i] - whole[3 * t + i]) < 1e-6f);
    }
    CNTK_ReleaseModel(model);
}

static void each_value_made_beforehand_is_filled(void)
{
    float x[4] = { 1, 2, 3, 4 }, h[6], z[3];
    CNTK_ModelHandle model = load(EVL_TEST_DATA "/cntk2/recurrent.model"), copy;
    CNTK_Variable outputs[2];
    CNTK_Value both[2], *values = both;
    operand in, first, second;
    make(&in, "x", 2, 2, x);
    make(&first, "h", 3, 2, h);
    make(&second, "z", 3, 1, z);
    outputs[0] = first.variable;
    outputs[1] = second.variable;
    both[0] = first.value;
    both[1] = second.value;
    GOOD(CNTK_CloneModel(model, CNTK_ModelParameterShare, false, &copy));
    CNTK_ReleaseModel(model);
    GOOD(CNTK_EvaluateSequence(copy, &in.variable, &in.value, NULL, 1, outputs, 2, &values));
    REQUIRE(values == both && memcmp(h + 3, z, sizeof z) == 0);
    first.dims[1] = 1;
    CHECK(CNTK_EvaluateSequence(copy, &in.variable, &in.value, NULL, 1, outputs, 2, &values),
          CNTK_ERROR_INVALID_INPUT, "");
    first.dims[1] = 2;
    second.dims[1] = 2;
    CHECK(CNTK_EvaluateSequence(copy, &in.variable, &in.value, NULL, 1, outputs, 2, &values),
          CNTK_ERROR_INVALID_INPUT, "fewer elements");
    CNTK_ReleaseModel(copy);
}

static void what_is_wrong_is_told(void)
{
    float x[4] = { 1, 2, 3, 4 };
    bool begins[2] = { true, false };
    CNTK_DeviceDescriptor gpu = { CNTK_DeviceKind_GPU, 0 }, *devices;
    CNTK_ModelHandle model = load(EVL_TEST_DATA "/cntk2/recurrent.model"), none = NULL;
    CNTK_Variable *variables, twice[2];
    CNTK_Value *values = NULL, two[2];
    operand in, out;
    uint32_t n;
    make(&in, "x", 2, 2, x);
    make(&out, "nobody", 3, 2, x);
    CHECK(CNTK_GetModelArgumentsInfo(none, &variables, &n), CNTK_ERROR_INVALID_HANDLE, "handle");
    CHECK(CNTK_GetModelOutputsInfo(model, NULL, &n), CNTK_ERROR_NULL_POINTER, "null");
    CHECK(CNTK_CloneModel(none, CNTK_ModelParameterClone, true, &none), CNTK_ERROR_INVALID_HANDLE,
          "handle");
    CHECK(CNTK_CloneModel(model, CNTK_ModelParameterClone, true, NULL), CNTK_ERROR_NULL_POINTER, "");
    CHECK(CNTK_LoadModel("/nowhere/at/all", NULL, &none), CNTK_ERROR_INVALID_INPUT, "/nowhere");
    CHECK(CNTK_LoadModel(NULL, NULL, &none), CNTK_ERROR_NULL_POINTER, "modelFilePath");
    CHECK(CNTK_LoadModel("x", NULL, NULL), CNTK_ERROR_NULL_POINTER, "handle");
    CHECK(CNTK_LoadModel("x", &gpu, &none), CNTK_ERROR_INVALID_INPUT, "CPU");
    CHECK(CNTK_EvaluateSequence(none, &in.variable, &in.value, begins, 1, &out.variable, 1, &values),
          CNTK_ERROR_INVALID_HANDLE, "");
    CHECK(CNTK_EvaluateSequence(model, NULL, &in.value, begins, 1, &out.variable, 1, &values),
          CNTK_ERROR_NULL_POINTER, "");
    CHECK(CNTK_EvaluateSequence(model, &in.variable, &in.value, begins, 1, &out.variable, 1,
                                &values),
          CNTK_ERROR_INVALID_INPUT, "nobody");
    twice[0] = twice[1] = in.variable;
    two[0] = two[1] = in.value;
    CHECK(CNTK_EvaluateSequence(model, twice, two, begins, 2, &out.variable, 1, &values),
          CNTK_ERROR_INVALID_INPUT, "go on");
    in.dims[0] = in.dims[1] = 0xffffffffu;
    CHECK(CNTK_EvaluateSequence(model, &in.variable, &in.value, begins, 1, &out.variable, 1,
                                &values),
          CNTK_ERROR_INVALID_INPUT, "impossible");
    REQUIRE(values == NULL);
    GOOD(CNTK_AllDevices(&devices, &n));
    REQUIRE(n == 1 && devices[0].kind == CNTK_DeviceKind_CPU);
    CNTK_ReleaseArray(devices);
    CNTK_ReleaseModel(model);
    CNTK_ReleaseModel(none);
}

int main(void)
{
    variables_tell_names_and_shapes();
    a_sequence_is_evaluated_into_new_values();
    sequences_of_several_axes_are_sequences();
    steps_give_what_the_whole_sequence_gives(EVL_TEST_DATA "/cntk2/recurrent.model");
    steps_give_what_the_whole_sequence_gives(EVL_TEST_DATA "/cntk2/recurrent_vector.model");
    each_value_made_beforehand_is_filled();
    what_is_wrong_is_told();
    return 0;
}
