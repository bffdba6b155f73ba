/* describe.c - what the network is: inputs, outputs, nodes, facts, memory. */
#include "evaluator.h"

static PyObject *dim_of(const EvalNodeInfo *info, int axis)
{
    if (info->dims[axis] >= 0)
        return PyLong_FromLongLong(info->dims[axis]);
    if (info->dimNames[axis])
        return evl_text(info->dimNames[axis]);
    Py_RETURN_NONE;
}

/* (2, None, "batch"): a number, a symbolic name, or unknown; None for a shape of
** which nothing is known. */
static PyObject *shape_of(const EvalNodeInfo *info)
{
    if (info->rank < 0)
        Py_RETURN_NONE;
    PyObject *shape = PyTuple_New(info->rank);
    for (int i = 0; shape && i < info->rank; i++) {
        PyObject *dim = dim_of(info, i);
        if (dim)
            PyTuple_SET_ITEM(shape, i, dim);
        else
            Py_CLEAR(shape);
    }
    return shape;
}

/* The types inside a sequence, optional or map, from the outside in; else (). */
static PyObject *inside_of(const EvalNodeInfo *info)
{
    int n = 0;
    while (n < EVL_MAX_INSIDE && info->inside[n])
        n++;
    PyObject *inside = PyTuple_New(n);
    for (int i = 0; inside && i < n; i++) {
        PyObject *number = PyLong_FromLong(info->inside[i]);
        if (number)
            PyTuple_SET_ITEM(inside, i, number);
        else
            Py_CLEAR(inside);
    }
    return inside;
}

static PyObject *tuple_of(const EvalNodeInfo *info)
{
    PyObject *name = evl_text(info->name), *op = evl_text(info->op);
    PyObject *domain = evl_text(info->domain), *shape = shape_of(info);
    PyObject *inside = inside_of(info);
    if (name && op && domain && shape && inside)
        return Py_BuildValue("(NNNiNN)", name, op, domain, (int)info->type, shape, inside);
    Py_XDECREF(name);
    Py_XDECREF(op);
    Py_XDECREF(domain);
    Py_XDECREF(shape);
    Py_XDECREF(inside);
    return NULL;
}

/* The library's own descriptions; the strings last while the call holds the object.
** NULL with an exception. */
static const EvalNodeInfo *infos_of(const evl_call *call, evl_list list, size_t *n)
{
    const evl_native *native = call->owner->native;
    EvalNodeInfo *infos = NULL;
    EvalStatus status = native->describe(call->self, list, NULL, n);
    if (status == EVAL_OK) {
        infos = evl_keep_block(call->keep, *n, sizeof *infos);
        if (!infos)
            return NULL;
        for (size_t i = 0; i < *n; i++)
            infos[i].size = sizeof *infos;
        status = native->describe(call->self, list, infos, n);
    }
    if (status)
        evl_call_raise(call, status);
    return status ? NULL : infos;
}

static PyObject *list_of(const evl_call *call, evl_list list)
{
    size_t n = 0;
    const EvalNodeInfo *infos = infos_of(call, list, &n);
    PyObject *tuples = infos ? PyList_New(0) : NULL;
    for (size_t i = 0; tuples && i < n; i++) {
        PyObject *tuple = tuple_of(&infos[i]);
        if (!tuple || PyList_Append(tuples, tuple) < 0)
            Py_CLEAR(tuples);
        Py_XDECREF(tuple);
    }
    return tuples;
}

static int find_list(const evl_errors *errors, const char *text, evl_list *list)
{
    static const char *const names[] = {
        [EVL_LIST_INPUTS] = "inputs", [EVL_LIST_OUTPUTS] = "outputs", [EVL_LIST_NODES] = "nodes"
    };
    for (int i = EVL_LIST_INPUTS; i <= EVL_LIST_NODES; i++) {
        if (strcmp(names[i], text) == 0) {
            *list = (evl_list)i;
            return 0;
        }
    }
    evl_raise_format(errors, EVAL_ERR_ARGUMENT,
                     "group is \"inputs\", \"outputs\" or \"nodes\", not \"%s\"", text);
    return -1;
}

PyObject *evl_describe_nodes(PyObject *object, PyObject *args, PyObject *named)
{
    static char *known[] = { "group", NULL };
    evl_evaluator *self = (evl_evaluator *)object;
    const char *text;
    evl_list list;
    evl_call call;
    if (!PyArg_ParseTupleAndKeywords(args, named, "s", known, &text) ||
        find_list(&self->state->errors, text, &list) < 0 || !evl_call_begin(self, &call))
        return NULL;
    PyObject *tuples = list_of(&call, list);
    evl_call_end(&call);
    return tuples;
}

/* --- what Run needs to know ------------------------------------------------------ */

static PyObject *declared_of(const EvalNodeInfo *info)
{
    evl_declared declared = { { info->type } };
    memcpy(&declared.types[1], info->inside, sizeof info->inside);
    return PyBytes_FromStringAndSize((const char *)&declared, sizeof declared);
}

static PyObject *types_by_name(const EvalNodeInfo *infos, size_t n)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < n; i++) {
        PyObject *name = evl_text(infos[i].name);
        PyObject *type = declared_of(&infos[i]);
        if (!name || !type || PyDict_SetItem(dict, name, type) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(type);
    }
    return dict;
}

static PyObject *names_of(const EvalNodeInfo *infos, size_t n)
{
    PyObject *names = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; names && i < n; i++) {
        PyObject *name = evl_text(infos[i].name);
        if (name)
            PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
        else
            Py_CLEAR(names);
    }
    return names;
}

int evl_describe_refresh(evl_call *call)
{
    size_t n_in = 0, n_out = 0;
    const EvalNodeInfo *in = infos_of(call, EVL_LIST_INPUTS, &n_in);
    const EvalNodeInfo *out = in ? infos_of(call, EVL_LIST_OUTPUTS, &n_out) : NULL;
    PyObject *types = out ? types_by_name(in, n_in) : NULL;
    PyObject *names = types ? names_of(out, n_out) : NULL;
    if (!names) {
        Py_XDECREF(types);
        return -1;
    }
    Py_XSETREF(call->owner->inputs, types);
    Py_XSETREF(call->owner->outputs, names);
    return 0;
}

/* --- facts ------------------------------------------------------------------------ */

static int add_fact(PyObject *dict, const char *key, const char *value)
{
    PyObject *name = evl_text(key), *text = evl_text(value);
    int failed = name && text ? PyDict_SetItem(dict, name, text) : -1;
    Py_XDECREF(name);
    Py_XDECREF(text);
    return failed;
}

static PyObject *facts(const evl_call *call)
{
    const evl_native *native = call->owner->native;
    const char *key, *value;
    EvalStatus status = EVAL_OK;
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && status == EVAL_OK; i++) {
        status = native->metadata(call->self, i, &key, &value);
        if (status == EVAL_OK && add_fact(dict, key, value) < 0)
            Py_CLEAR(dict);
    }
    if (!dict || status == EVAL_ERR_NOT_FOUND) /* past the last */
        return dict;
    Py_DECREF(dict);
    return evl_call_raise(call, status);
}

PyObject *evl_describe_metadata(PyObject *object, PyObject *Py_UNUSED(unused))
{
    evl_call call;
    if (!evl_call_begin((evl_evaluator *)object, &call))
        return NULL;
    PyObject *dict = facts(&call);
    evl_call_end(&call);
    return dict;
}

static PyObject *dict_of(const EvalMemoryUse *use)
{
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:n}", "bytes", use->bytes, "peakBytes", use->peakBytes,
                         "blocks", use->blocks, "planBytes", use->planBytes, "mappedBytes",
                         use->mappedBytes);
}

PyObject *evl_describe_memory(PyObject *object, PyObject *Py_UNUSED(unused))
{
    evl_evaluator *self = (evl_evaluator *)object;
    evl_call call;
    EvalMemoryUse use = { .size = sizeof use };
    if (!evl_call_begin(self, &call))
        return NULL;
    EvalStatus status = self->native->memory_use(call.self, &use);
    PyObject *dict = status ? evl_call_raise(&call, status) : dict_of(&use);
    evl_call_end(&call);
    return dict;
}
