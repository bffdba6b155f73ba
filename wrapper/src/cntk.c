/* cntk.c - the methods of CNTK's interface: settings, sizes, flat vectors. */
#include "arrays.h"
#include "evaluator.h"

typedef EvalStatus (*text_slot)(void *self, const char *text);

static PyObject *none(void)
{
    Py_RETURN_NONE;
}

/* A slot that takes a text, without the interpreter's lock. */
static EvalStatus call_text(const evl_call *call, text_slot slot, const char *text)
{
    PyThreadState *python = PyEval_SaveThread();
    EvalStatus status = slot(call->self, text);
    PyEval_RestoreThread(python);
    return status;
}

/* The one text that a method takes, under its name. */
static PyObject *parse_text(PyObject *args, PyObject *named, char *name)
{
    char *names[] = { name, NULL };
    PyObject *text;
    return PyArg_ParseTupleAndKeywords(args, named, "O", names, &text) ? text : NULL;
}

/* Calls a slot with a text; `then`, when it went well. */
static PyObject *text_method(evl_evaluator *self, text_slot slot, const char *what, PyObject *text,
                             int (*then)(evl_call *call))
{
    evl_call call;
    PyObject *result = NULL;
    if (!text || !evl_call_begin(self, &call))
        return NULL;
    const char *bytes = evl_keep_text(call.keep, &self->state->errors, what, text);
    if (bytes) {
        EvalStatus status = call_text(&call, slot, bytes);
        if (status)
            evl_call_raise(&call, status);
        else
            PyErr_Clear(); /* a shape rule in Python that failed in a branch never taken */
        if (!status && (!then || then(&call) == 0))
            result = none();
    }
    evl_call_end(&call);
    return result;
}

PyObject *evl_cntk_init(PyObject *object, PyObject *args, PyObject *named)
{
    evl_evaluator *self = (evl_evaluator *)object;
    PyObject *config = parse_text(args, named, "config");
    return text_method(self, self->native->init, "config", config, NULL);
}

PyObject *evl_cntk_create_network(PyObject *object, PyObject *args, PyObject *named)
{
    evl_evaluator *self = (evl_evaluator *)object;
    PyObject *description = parse_text(args, named, "description");
    return text_method(self, self->native->create_network, "description", description,
                       evl_describe_refresh);
}

PyObject *evl_cntk_save(PyObject *object, PyObject *args, PyObject *named)
{
    evl_evaluator *self = (evl_evaluator *)object;
    PyObject *path = parse_text(args, named, "path");
    return text_method(self, self->native->save, "path", path, NULL);
}

PyObject *evl_cntk_load_plugin(PyObject *object, PyObject *args, PyObject *named)
{
    evl_evaluator *self = (evl_evaluator *)object;
    PyObject *path = parse_text(args, named, "path");
    return text_method(self, self->native->load_plugin, "path", path, NULL);
}

PyObject *evl_cntk_start_loop(PyObject *object, PyObject *args, PyObject *named)
{
    evl_evaluator *self = (evl_evaluator *)object;
    PyObject *name = parse_text(args, named, "name");
    return text_method(self, self->native->start_loop, "name", name, NULL);
}

PyObject *evl_cntk_reset_state(PyObject *object, PyObject *Py_UNUSED(unused))
{
    evl_evaluator *self = (evl_evaluator *)object;
    evl_call call;
    if (!evl_call_begin(self, &call))
        return NULL;
    EvalStatus status = self->native->reset_state(call.self);
    PyObject *result = status ? evl_call_raise(&call, status) : none();
    evl_call_end(&call);
    return result;
}

/* --- node dimensions ---------------------------------------------------------- */

static int find_group(const evl_errors *errors, const char *text, EvalNodeGroup *group)
{
    static const struct {
        const char *name;
        EvalNodeGroup group;
    } groups[] = { { "input", EVAL_NODE_INPUT },
                   { "output", EVAL_NODE_OUTPUT },
                   { "specified", EVAL_NODE_SPECIFIED } };
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (strcmp(groups[i].name, text) == 0) {
            *group = groups[i].group;
            return 0;
        }
    }
    evl_raise_format(errors, EVAL_ERR_ARGUMENT,
                     "group is \"input\", \"output\" or \"specified\", not \"%s\"", text);
    return -1;
}

static PyObject *dimensions_to_dict(const EvalDimension *dims, size_t n)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < n; i++) {
        PyObject *name = evl_text(dims[i].name);
        PyObject *size = PyLong_FromSize_t(dims[i].size);
        if (!name || !size || PyDict_SetItem(dict, name, size) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(size);
    }
    return dict;
}

/* Asks for the number of nodes, unless `names` gives it, and then for the nodes. */
static EvalStatus ask_dimensions(const evl_call *call, EvalNodeGroup group, EvalDimension **dims,
                                 size_t *n)
{
    const evl_native *native = call->owner->native;
    if (!*dims) {
        EvalStatus status = native->dimensions(call->self, group, NULL, n);
        if (status)
            return status;
        *dims = evl_keep_block(call->keep, *n, sizeof **dims);
        if (!*dims)
            return EVAL_ERR_MEMORY;
    }
    return native->dimensions(call->self, group, *dims, n);
}

static PyObject *dimensions_of(const evl_call *call, EvalNodeGroup group, PyObject *names)
{
    EvalDimension *dims = NULL;
    size_t n = 0;
    if (group == EVAL_NODE_SPECIFIED) {
        const char **texts = evl_names(call, "names", names, &n);
        dims = texts ? evl_keep_block(call->keep, n, sizeof *dims) : NULL;
        if (!dims)
            return NULL;
        for (size_t i = 0; i < n; i++)
            dims[i].name = texts[i];
    }
    EvalStatus status = ask_dimensions(call, group, &dims, &n);
    if (PyErr_Occurred())
        return NULL;
    return status ? evl_call_raise(call, status) : dimensions_to_dict(dims, n);
}

PyObject *evl_cntk_dimensions(PyObject *object, PyObject *args, PyObject *named)
{
    static char *known[] = { "group", "names", NULL };
    evl_evaluator *self = (evl_evaluator *)object;
    const char *text;
    PyObject *names = Py_None;
    EvalNodeGroup group;
    evl_call call;
    if (!PyArg_ParseTupleAndKeywords(args, named, "s|O", known, &text, &names) ||
        find_group(&self->state->errors, text, &group) < 0 || !evl_call_begin(self, &call))
        return NULL;
    PyObject *dict = dimensions_of(&call, group, names);
    evl_call_end(&call);
    return dict;
}

/* --- evaluation ----------------------------------------------------------------- */

static evl_flat *flat_inputs(const evl_call *call, PyObject *inputs, size_t *n)
{
    PyObject *pairs = evl_pairs(call, "inputs", inputs);
    if (!pairs)
        return NULL;
    *n = (size_t)PyList_GET_SIZE(pairs);
    evl_flat *flat = evl_keep_block(call->keep, *n, sizeof *flat);
    for (size_t i = 0; flat && i < *n; i++) {
        PyObject *pair = PyList_GET_ITEM(pairs, (Py_ssize_t)i);
        PyObject *name = PyTuple_GET_ITEM(pair, 0), *value = PyTuple_GET_ITEM(pair, 1);
        if (evl_array_flat(call, name, value, &flat[i]) < 0)
            return NULL;
    }
    return flat;
}

static PyObject *flat_results(const evl_call *call, const evl_flat *out, size_t n)
{
    int type = evl_array_real(call->owner->native->real);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < n; i++) {
        npy_intp count = (npy_intp)out[i].count;
        PyObject *name = evl_text(out[i].name);
        PyObject *array = PyArray_SimpleNew(1, &count, type);
        if (array && count)
            memcpy(PyArray_DATA((PyArrayObject *)array), out[i].data,
                   (size_t)PyArray_NBYTES((PyArrayObject *)array));
        if (!name || !array || PyDict_SetItem(dict, name, array) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(array);
    }
    return dict;
}

/* `in` NULL: EvaluateOutputs. */
static PyObject *evaluate(const evl_call *call, const evl_flat *in, size_t n_in, PyObject *outputs)
{
    size_t n_out = 0;
    const char **names = evl_names(call, "outputs", outputs, &n_out);
    evl_flat *out = names ? evl_keep_block(call->keep, n_out, sizeof *out) : NULL;
    if (!out)
        return NULL;
    for (size_t i = 0; i < n_out; i++)
        out[i].name = names[i];
    PyThreadState *python = PyEval_SaveThread();
    EvalStatus status = call->owner->native->evaluate(call->self, in, n_in, out, n_out);
    PyEval_RestoreThread(python);
    return status ? evl_call_raise(call, status) : flat_results(call, out, n_out);
}

PyObject *evl_cntk_evaluate(PyObject *object, PyObject *args, PyObject *named)
{
    static char *known[] = { "inputs", "outputs", NULL };
    PyObject *inputs, *outputs;
    evl_call call;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO", known, &inputs, &outputs) ||
        !evl_call_begin((evl_evaluator *)object, &call))
        return NULL;
    size_t n = 0;
    evl_flat *in = flat_inputs(&call, inputs, &n);
    PyObject *result = in ? evaluate(&call, in, n, outputs) : NULL;
    evl_call_end(&call);
    return result;
}

PyObject *evl_cntk_evaluate_outputs(PyObject *object, PyObject *args, PyObject *named)
{
    static char *known[] = { "outputs", NULL };
    PyObject *outputs;
    evl_call call;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O", known, &outputs) ||
        !evl_call_begin((evl_evaluator *)object, &call))
        return NULL;
    PyObject *result = evaluate(&call, NULL, 0, outputs);
    evl_call_end(&call);
    return result;
}
