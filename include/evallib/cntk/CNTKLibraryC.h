/* cntk/CNTKLibraryC.h - CNTK's C functions for evaluating a model, over the tables of eval.h.
**
** A program written for CNTK's CNTKLibraryC.h, in C or C++, is compiled with this one in its place
** and linked with evallib; its calls stay as they are. All of it is inline.
**
** What differs mends flaws: a handle that is no model gives CNTK_ERROR_INVALID_HANDLE and not
** success; value i of outputs that the caller has made is (*outputValues)[i], and is checked for
** room; names of any alphabet have their room; what was cleaned may be cleaned again; inputs go on
** (reset flag false) all together or not at all. Failures of the caller's doing are
** CNTK_ERROR_INVALID_INPUT. Models of CNTK v1 and ONNX load too. */
#ifndef EVALLIB_CNTK_LIBRARY_C_H
#define EVALLIB_CNTK_LIBRARY_C_H
#ifndef EVALLIB_EVAL_H
#define EVALLIB_ONLY_TYPES
#include "../eval.h"
#undef EVALLIB_ONLY_TYPES
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
namespace evallib_c {
extern "C" {
EVL_API void GetEvalF(::IEvaluateModelF **model);
}
}
extern "C" {
#else
EVL_API void GetEvalF(IEvaluateModelF **model);
#endif

#define CNTK_SUCCESS 0
#define CNTK_ERROR_INVALID_HANDLE -1
#define CNTK_ERROR_NULL_POINTER -2
#define CNTK_ERROR_INTERNAL_ERROR -3
#define CNTK_ERROR_INVALID_INPUT -4
#define CNTK_INVALID_MODEL_HANDLE 0
#define CNTK_STATUSCODE_DescriptionSize 4096u

typedef void *CNTK_ModelHandle;

typedef struct CNTK_StatusCode {
    int32_t value;
    char description[CNTK_STATUSCODE_DescriptionSize];
} CNTK_StatusCode;

typedef enum CNTK_DeviceKind { CNTK_DeviceKind_CPU, CNTK_DeviceKind_GPU } CNTK_DeviceKind;

typedef struct CNTK_DeviceDescriptor {
    CNTK_DeviceKind kind;
    uint32_t id;
} CNTK_DeviceDescriptor;

/* Parameters never change here: all three ways share them. */
typedef enum CNTK_ParameterCloningMethod {
    CNTK_ModelParameterShare,
    CNTK_ModelParameterClone,
    CNTK_ModelParameterFreeze
} CNTK_ParameterCloningMethod;

/* The first dimension varies fastest. */
typedef struct CNTK_Shape {
    uint32_t *value;
    uint32_t size;
} CNTK_Shape;

typedef struct CNTK_Variable {
    char *name; /* UTF-8 */
    CNTK_Shape shape; /* of one sample; CNTK_FreeDimension where it is open */
} CNTK_Variable;

#define CNTK_FreeDimension 0xfffffffdu

/* As many elements as the shape says: the dimensions of a sample, then the samples, and of an
** output perhaps a last 1, the number of sequences. */
typedef struct CNTK_Value {
    CNTK_Shape shape;
    float *data;
} CNTK_Value;

/* --- inside ------------------------------------------------------------------------------ */

typedef struct evl_cntk_c {
    uint32_t magic;
    IEvaluateModelF *model;
    const EvalDescribeF *describe;
} evl_cntk_c;

enum { EVL_CNTK_C_MAGIC = 0x4b544e43 };

static inline void evl_cntk_c_make(IEvaluateModelF **model)
{
#ifdef __cplusplus
    evallib_c::GetEvalF(model);
#else
    GetEvalF(model);
#endif
}

static inline CNTK_StatusCode evl_cntk_c_status(int32_t value, const char *text)
{
    CNTK_StatusCode status;
    size_t n = strlen(text);
    memset(&status, 0, sizeof status);
    status.value = value;
    if (n >= CNTK_STATUSCODE_DescriptionSize)
        n = CNTK_STATUSCODE_DescriptionSize - 1;
    memcpy(status.description, text, n);
    return status;
}

static inline CNTK_StatusCode evl_cntk_c_null(const char *text)
{
    return evl_cntk_c_status(CNTK_ERROR_NULL_POINTER, text);
}

static inline CNTK_StatusCode evl_cntk_c_no_memory(void)
{
    return evl_cntk_c_status(CNTK_ERROR_INTERNAL_ERROR, "no memory");
}

static inline CNTK_StatusCode evl_cntk_c_answer(const evl_cntk_c *m, EvalStatus st)
{
    if (st == EVAL_OK)
        return evl_cntk_c_status(CNTK_SUCCESS, "");
    return evl_cntk_c_status(st == EVAL_ERR_MEMORY || st == EVAL_ERR_INTERNAL
                                 ? CNTK_ERROR_INTERNAL_ERROR
                                 : CNTK_ERROR_INVALID_INPUT,
                             m->model->vtbl->LastError(m->model));
}

static inline evl_cntk_c *evl_cntk_c_of(CNTK_ModelHandle handle)
{
    evl_cntk_c *m = (evl_cntk_c *)handle;
    return m && m->magic == EVL_CNTK_C_MAGIC ? m : NULL;
}

static inline CNTK_StatusCode evl_cntk_c_no_handle(void)
{
    return evl_cntk_c_status(CNTK_ERROR_INVALID_HANDLE, "Invalid model handle");
}

/* A handle of a model that was just made, which is given up where there can be none. */
static inline CNTK_StatusCode evl_cntk_c_adopt(IEvaluateModelF *model, CNTK_ModelHandle *handle)
{
    const void *describe = NULL;
    evl_cntk_c *m = (evl_cntk_c *)calloc(1, sizeof *m);
    if (!m || model->vtbl->GetInterface(model, "describe", 1, &describe) != EVAL_OK) {
        model->vtbl->Destroy(model);
        free(m);
        return evl_cntk_c_no_memory();
    }
    m->magic = EVL_CNTK_C_MAGIC;
    m->model = model;
    m->describe = (const EvalDescribeF *)describe;
    *handle = m;
    return evl_cntk_c_status(CNTK_SUCCESS, "");
}

/* How many leading axes count samples: 2 in a sequence, as CNTK shows it, whose axis is called
** "sequence", "sequence_1" and so on, or "sequence:" and the node that chose its steps. */
static inline uint32_t evl_cntk_c_counting(const EvalNodeInfo *info)
{
    const char *name = info->rank > 0 && info->dimNames[0] ? info->dimNames[0] : "";
    bool is_sequence = strncmp(name, "sequence", 8) == 0 &&
                       (name[8] == '\0' || name[8] == ':' ||
                        (name[8] == '_' && name[9] >= '0' && name[9] <= '9'));
    return is_sequence ? 2 : strcmp(name, "batch") == 0 ? 1 : 0;
}

/* All inputs or outputs; NULL when there is none, or memory is short (*st tells). */
static inline EvalNodeInfo *evl_cntk_c_list(const evl_cntk_c *m, bool outputs, size_t *n,
                                            EvalStatus *st)
{
    EvalStatus (*ask)(IEvaluateModelF *, EvalNodeInfo *, size_t *) =
        outputs ? m->describe->Outputs : m->describe->Inputs;
    EvalNodeInfo *infos;
    *n = 0;
    *st = ask(m->model, NULL, n);
    if (*st != EVAL_OK || *n == 0)
        return NULL;
    infos = (EvalNodeInfo *)calloc(*n, sizeof *infos);
    *st = infos ? EVAL_OK : EVAL_ERR_MEMORY;
    if (!infos)
        return NULL;
    infos[0].size = sizeof *infos;
    *st = ask(m->model, infos, n);
    return infos;
}

/* Elements that a shape speaks of; false: more than there can be. */
static inline bool evl_cntk_c_elements(const CNTK_Shape *shape, size_t *n)
{
    uint32_t i;
    *n = 1;
    for (i = 0; i < shape->size; i++) {
        if (shape->value[i] && *n > SIZE_MAX / sizeof(float) / shape->value[i])
            return false;
        *n *= shape->value[i];
    }
    return true;
}

/* The dimensions of a sample, the first fastest, and room for two more. */
static inline bool evl_cntk_c_shape(const EvalNodeInfo *info, CNTK_Shape *shape)
{
    int32_t first = evl_cntk_c_counting(info) > 0, i;
    shape->size = 0;
    shape->value = (uint32_t *)calloc((size_t)(info->rank > 0 ? info->rank : 0) + 3,
                                      sizeof *shape->value);
    for (i = info->rank - 1; shape->value && i >= first; i--)
        shape->value[shape->size++] =
            info->dims[i] < 0 ? CNTK_FreeDimension : (uint32_t)info->dims[i];
    return shape->value != NULL;
}

/* The shape of a value of so many elements: what is open takes what is left. */
static inline bool evl_cntk_c_value_shape(const EvalNodeInfo *info, size_t count, CNTK_Shape *shape)
{
    uint32_t counting = evl_cntk_c_counting(info), i, open = UINT32_MAX;
    size_t known = 1;
    if (!evl_cntk_c_shape(info, shape))
        return false;
    if (counting > 0)
        shape->value[shape->size++] = CNTK_FreeDimension;
    for (i = shape->size; i-- > 0;)
        if (shape->value[i] != CNTK_FreeDimension)
            known *= shape->value[i];
        else if (open == UINT32_MAX)
            open = i;
        else
            shape->value[i] = 1;
    if (open != UINT32_MAX)
        shape->value[open] = (uint32_t)(known ? count / known : 0);
    if (counting > 1)
        shape->value[shape->size++] = 1;
    return true;
}

static inline char *evl_cntk_c_copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = (char *)malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

/* --- models ------------------------------------------------------------------------------ */

static inline CNTK_StatusCode CNTK_DefaultDevice(CNTK_DeviceDescriptor *device)
{
    if (!device)
        return evl_cntk_c_null("'device' parameter is not allowed to be null");
    device->kind = CNTK_DeviceKind_CPU;
    device->id = 0;
    return evl_cntk_c_status(CNTK_SUCCESS, "");
}

/* The processor; CNTK_ReleaseArray frees the array. */
static inline CNTK_StatusCode CNTK_AllDevices(CNTK_DeviceDescriptor **devices, uint32_t *size)
{
    if (!devices)
        return evl_cntk_c_null("'devices' parameter is not allowed to be null");
    if (!size)
        return evl_cntk_c_null("'size' parameter is not allowed to be null");
    *size = 0;
    *devices = (CNTK_DeviceDescriptor *)malloc(sizeof **devices);
    if (!*devices)
        return evl_cntk_c_no_memory();
    *size = 1;
    return CNTK_DefaultDevice(*devices);
}

static inline CNTK_StatusCode CNTK_LoadModel(const char *modelFilePath,
                                             const CNTK_DeviceDescriptor *device,
                                             CNTK_ModelHandle *model)
{
    static const char key[] = "modelPath=";
    IEvaluateModelF *made = NULL;
    evl_cntk_c loading;
    CNTK_StatusCode status;
    size_t n;
    char *text;
    if (!model)
        return evl_cntk_c_null("'handle' parameter is not allowed to be null");
    *model = CNTK_INVALID_MODEL_HANDLE;
    if (!modelFilePath)
        return evl_cntk_c_null("'modelFilePath' parameter is not allowed to be null");
    if (device && device->kind != CNTK_DeviceKind_CPU)
        return evl_cntk_c_status(CNTK_ERROR_INVALID_INPUT, "the only device is the CPU");
    n = strlen(modelFilePath);
    text = (char *)malloc(sizeof key + n + 2);
    if (!text)
        return evl_cntk_c_no_memory();
    memcpy(text, key, sizeof key - 1);
    text[sizeof key - 1] = strchr(modelFilePath, '"') ? '\'' : '"';
    memcpy(text + sizeof key, modelFilePath, n);
    text[sizeof key + n] = text[sizeof key - 1];
    text[sizeof key + n + 1] = '\0';
    evl_cntk_c_make(&made);
    if (!made) {
        free(text);
        return evl_cntk_c_no_memory();
    }
    memset(&loading, 0, sizeof loading);
    loading.model = made;
    status = evl_cntk_c_answer(&loading, made->vtbl->CreateNetwork(made, text));
    free(text);
    if (status.value == CNTK_SUCCESS)
        return evl_cntk_c_adopt(made, model);
    made->vtbl->Destroy(made);
    return status;
}

/* A further model with the same parameters and a state of its own, for another thread. */
static inline CNTK_StatusCode CNTK_CloneModel(CNTK_ModelHandle model,
                                              CNTK_ParameterCloningMethod method, bool flattened,
                                              CNTK_ModelHandle *cloned)
{
    evl_cntk_c *m = evl_cntk_c_of(model);
    IEvaluateModelF *copy = NULL;
    const void *control = NULL;
    EvalStatus st;
    (void)method;
    (void)flattened;
    if (!m)
        return evl_cntk_c_no_handle();
    if (!cloned)
        return evl_cntk_c_null("'cloned' parameter is not allowed to be null");
    *cloned = CNTK_INVALID_MODEL_HANDLE;
    st = m->model->vtbl->GetInterface(m->model, "control", 1, &control);
    if (st == EVAL_OK)
        st = ((const EvalControlF *)control)->Clone(m->model, &copy);
    return st == EVAL_OK ? evl_cntk_c_adopt(copy, cloned) : evl_cntk_c_answer(m, st);
}

static inline void CNTK_ReleaseModel(CNTK_ModelHandle model)
{
    evl_cntk_c *m = evl_cntk_c_of(model);
    if (!m)
        return;
    m->model->vtbl->Destroy(m->model);
    m->magic = 0;
    free(m);
}

/* --- what was given is given back ---------------------------------------------------------- */

static inline void CNTK_ReleaseArray(void *array)
{
    free(array);
}

static inline void CNTK_CleanShape(CNTK_Shape *shape)
{
    if (!shape)
        return;
    free(shape->value);
    shape->value = NULL;
    shape->size = 0;
}

static inline void CNTK_CleanVariable(CNTK_Variable *variable)
{
    if (!variable)
        return;
    free(variable->name);
    variable->name = NULL;
    CNTK_CleanShape(&variable->shape);
}

static inline void CNTK_CleanValue(CNTK_Value *value)
{
    if (!value)
        return;
    free(value->data);
    value->data = NULL;
    CNTK_CleanShape(&value->shape);
}

/* --- variables ------------------------------------------------------------------------------ */

static inline CNTK_StatusCode evl_cntk_c_variables(CNTK_ModelHandle model, bool outputs,
                                                   CNTK_Variable **variables, uint32_t *number)
{
    evl_cntk_c *m = evl_cntk_c_of(model);
    size_t n, i;
    EvalStatus st;
    EvalNodeInfo *infos;
    bool is_short = false;
    if (!m)
        return evl_cntk_c_no_handle();
    if (!variables || !number)
        return evl_cntk_c_null("neither the array nor its size is allowed to be null");
    *variables = NULL;
    *number = 0;
    infos = evl_cntk_c_list(m, outputs, &n, &st);
    if (st == EVAL_OK)
        *variables = (CNTK_Variable *)calloc(n + 1, sizeof **variables);
    for (i = 0; *variables && i < n; i++) {
        (*variables)[i].name = evl_cntk_c_copy(infos[i].name);
        is_short |= !evl_cntk_c_shape(&infos[i], &(*variables)[i].shape);
        is_short |= !(*variables)[i].name;
    }
    free(infos);
    for (i = 0; *variables && is_short && i < n; i++)
        CNTK_CleanVariable(&(*variables)[i]);
    if (*variables && !is_short) {
        *number = (uint32_t)n;
        return evl_cntk_c_status(CNTK_SUCCESS, "");
    }
    free(*variables);
    *variables = NULL;
    return st == EVAL_OK || st == EVAL_ERR_MEMORY ? evl_cntk_c_no_memory()
                                                  : evl_cntk_c_answer(m, st);
}

/* Each variable is to be cleaned, and then the array released. */
static inline CNTK_StatusCode CNTK_GetModelArgumentsInfo(CNTK_ModelHandle model,
                                                         CNTK_Variable **arguments,
                                                         uint32_t *numArguments)
{
    return evl_cntk_c_variables(model, false, arguments, numArguments);
}

static inline CNTK_StatusCode CNTK_GetModelOutputsInfo(CNTK_ModelHandle model,
                                                       CNTK_Variable **outputs,
                                                       uint32_t *numOutputs)
{
    return evl_cntk_c_variables(model, true, outputs, numOutputs);
}

/* --- evaluating ------------------------------------------------------------------------------ */

static inline CNTK_StatusCode evl_cntk_c_give(const CNTK_Variable *inputs, const CNTK_Value *values,
                                              const bool *resets, uint32_t n, EvalInputF *in)
{
    uint32_t i;
    for (i = 0; i < n; i++) {
        if (!inputs[i].name || !values[i].data || (values[i].shape.size && !values[i].shape.value))
            return evl_cntk_c_null("an input's name, shape or data is null");
        in[i].name = inputs[i].name;
        in[i].data = values[i].data;
        if (!evl_cntk_c_elements(&values[i].shape, &in[i].count))
            return evl_cntk_c_status(CNTK_ERROR_INVALID_INPUT, "an input's shape is impossible");
        if (resets && resets[i] != resets[0])
            return evl_cntk_c_status(CNTK_ERROR_INVALID_INPUT,
                                     "some inputs go on, and others begin anew");
    }
    return evl_cntk_c_status(CNTK_SUCCESS, "");
}

/* Where outputs go: NULL for memory of the model's, or what the caller has made. */
static inline CNTK_StatusCode evl_cntk_c_take(const CNTK_Variable *outputs, CNTK_Value *made,
                                              uint32_t n, EvalOutputF *out)
{
    uint32_t i;
    for (i = 0; i < n; i++) {
        if (!outputs[i].name)
            return evl_cntk_c_null("an output's name is null");
        out[i].name = outputs[i].name;
        if (!made)
            continue;
        if (!made[i].data || (made[i].shape.size && !made[i].shape.value))
            return evl_cntk_c_null("the shape or data of a value made for an output is null");
        out[i].data = made[i].data;
        if (!evl_cntk_c_elements(&made[i].shape, &out[i].capacity))
            return evl_cntk_c_status(CNTK_ERROR_INVALID_INPUT, "an output's shape is impossible");
    }
    return evl_cntk_c_status(CNTK_SUCCESS, "");
}

static inline const EvalNodeInfo *evl_cntk_c_find(const EvalNodeInfo *infos, size_t n,
                                                  const char *name)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (strcmp(infos[i].name, name) == 0)
            return &infos[i];
    return NULL;
}

/* Values of the caller's own, to be cleaned and released. */
static inline CNTK_Value *evl_cntk_c_values(const evl_cntk_c *m, const EvalOutputF *out, uint32_t n)
{
    EvalNodeInfo other, *infos;
    EvalStatus st;
    size_t n_infos;
    uint32_t i;
    bool is_short = false;
    CNTK_Value *values = (CNTK_Value *)calloc((size_t)n + 1, sizeof *values);
    infos = evl_cntk_c_list(m, true, &n_infos, &st);
    memset(&other, 0, sizeof other);
    other.rank = 1;
    other.dims[0] = -1;
    for (i = 0; values && i < n; i++) {
        const EvalNodeInfo *info = evl_cntk_c_find(infos, infos ? n_infos : 0, out[i].name);
        values[i].data = (float *)malloc(out[i].count * sizeof(float) + 1);
        is_short |= !evl_cntk_c_value_shape(info && info->rank >= 0 ? info : &other, out[i].count,
                                            &values[i].shape);
        is_short |= !values[i].data;
        if (values[i].data && out[i].count)
            memcpy(values[i].data, out[i].data, out[i].count * sizeof(float));
    }
    free(infos);
    if (values && !is_short)
        return values;
    for (i = 0; values && i < n; i++)
        CNTK_CleanValue(&values[i]);
    free(values);
    return NULL;
}

static inline CNTK_StatusCode evl_cntk_c_run(const evl_cntk_c *m, bool resets, const EvalInputF *in,
                                             uint32_t n_in, EvalOutputF *out, uint32_t n_out,
                                             CNTK_Value **values)
{
    uint32_t i;
    IEvaluateModelF *model = m->model;
    EvalStatus st = resets ? model->vtbl->ResetState(model) : EVAL_OK;
    if (st == EVAL_OK)
        st = model->vtbl->Evaluate(model, in, n_in, out, n_out);
    if (st != EVAL_OK)
        return evl_cntk_c_answer(m, st);
    if (!*values) {
        *values = evl_cntk_c_values(m, out, n_out);
        return *values ? evl_cntk_c_status(CNTK_SUCCESS, "") : evl_cntk_c_no_memory();
    }
    for (i = 0; i < n_out; i++)
        if (out[i].count != out[i].capacity)
            return evl_cntk_c_status(CNTK_ERROR_INVALID_INPUT,
                                     "fewer elements than an output's shape speaks of");
    return evl_cntk_c_status(CNTK_SUCCESS, "");
}

/* Evaluates one sequence. inputResetFlags (NULL: all true): a new sequence begins, else the one of
** the call before goes on. *outputValues: NULL, then an array of values is made, to be cleaned and
** released; or numOutputs values of the caller's, whose data is filled. */
static inline CNTK_StatusCode CNTK_EvaluateSequence(CNTK_ModelHandle model,
                                                    const CNTK_Variable *inputs,
                                                    const CNTK_Value *inputValues,
                                                    const bool *inputResetFlags, uint32_t numInputs,
                                                    const CNTK_Variable *outputs,
                                                    uint32_t numOutputs, CNTK_Value **outputValues)
{
    evl_cntk_c *m = evl_cntk_c_of(model);
    CNTK_StatusCode status;
    EvalInputF *in;
    EvalOutputF *out;
    if (!m)
        return evl_cntk_c_no_handle();
    if ((numInputs && (!inputs || !inputValues)) || (numOutputs && !outputs) || !outputValues)
        return evl_cntk_c_null("arrays of inputs, outputs and values are not allowed to be null");
    in = (EvalInputF *)calloc((size_t)numInputs + 1, sizeof *in);
    out = (EvalOutputF *)calloc((size_t)numOutputs + 1, sizeof *out);
    status = in && out ? evl_cntk_c_give(inputs, inputValues, inputResetFlags, numInputs, in)
                       : evl_cntk_c_no_memory();
    if (status.value == CNTK_SUCCESS)
        status = evl_cntk_c_take(outputs, *outputValues, numOutputs, out);
    if (status.value == CNTK_SUCCESS)
        status = evl_cntk_c_run(m, !inputResetFlags || numInputs == 0 || inputResetFlags[0], in,
                                numInputs, out, numOutputs, outputValues);
    free(in);
    free(out);
    return status;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
