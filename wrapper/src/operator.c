/* operator.c - operators written in Python, as plug-ins of the library.
**
** Each is a plug-in of its own, whose user is a Python object with infer(...) and run(...)
** (_plugins.py has what is not the same as in C). The library calls on the thread that called
** it, so an exception is simply left set: it comes back through the library as it was raised. */
#include "arrays.h"
#include "evallib/plugin.h"
#include "types.h"

static const char capsule_name[] = "evallib.operator";

typedef struct python_op {
    EvalPlugin plugin;
    EvalOperator op;
    EvalImplementation implementation;
    const EvalOperator *ops[1];
    const EvalImplementation *implementations[1];
    PyObject *target; /* owned by the capsule, and by each model */
    PyObject *name, *domain;
} python_op;

/* Py_NewRef, which Python 3.9 has not. */
static PyObject *owned(PyObject *object)
{
    Py_INCREF(object);
    return object;
}

/* --- what a call says, as Python ---------------------------------------------------------- */

static PyObject *array_of(const EvalTensor *t)
{
    const evl_type *type = evl_type_find(t->type);
    npy_intp dims[EVAL_MAX_RANK];
    if (t->type == EVAL_STRING)
        return evl_strings_output(t);
    if (!type) {
        PyErr_Format(PyExc_TypeError, "an operator in Python takes no elements of type %d", (int)t->type);
        return NULL;
    }
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = (npy_intp)t->dims[i];
    PyObject *array = PyArray_SimpleNew(t->rank, dims, type->number);
    if (array && t->bytes)
        memcpy(PyArray_DATA((PyArrayObject *)array), t->data, t->bytes);
    return array ? evl_type_view(type, array) : NULL;
}

/* None: left out. */
static PyObject *arrays_of(const EvalCall *call)
{
    PyObject *list = PyList_New((Py_ssize_t)call->nIn);
    for (size_t i = 0; list && i < call->nIn; i++) {
        PyObject *array = call->in[i].type == EVAL_UNDEFINED ? owned(Py_None)
                                                             : array_of(&call->in[i]);
        if (array)
            PyList_SET_ITEM(list, (Py_ssize_t)i, array);
        else
            Py_CLEAR(list);
    }
    return list;
}

static bool is_known(const EvalCall *call)
{
    for (size_t i = 0; i < call->nIn; i++)
        if (call->in[i].type != EVAL_UNDEFINED && !call->in[i].data)
            return false;
    return true;
}

/* (dims or None, type); those left out have no dims. */
static PyObject *shapes_of(const EvalTensor *all, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        const EvalTensor *t = &all[i];
        bool is_open = t->rank < 0 || t->type == EVAL_UNDEFINED;
        PyObject *shape = is_open ? owned(Py_None) : PyTuple_New(t->rank);
        for (int32_t d = 0; shape && !is_open && d < t->rank; d++) {
            PyObject *size = t->dims[d] < 0 ? owned(Py_None) : PyLong_FromLongLong(t->dims[d]);
            if (!size) {
                Py_CLEAR(shape);
                break;
            }
            PyTuple_SET_ITEM(shape, d, size);
        }
        PyObject *pair = shape ? Py_BuildValue("(Ni)", shape, (int)t->type) : NULL;
        if (pair)
            PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *item_of(const EvalAttribute *a, size_t i)
{
    switch (a->kind) {
    case EVAL_ATTRIBUTE_INT: return PyLong_FromLongLong(((const int64_t *)a->data)[i]);
    case EVAL_ATTRIBUTE_NUMBER: return PyFloat_FromDouble(((const double *)a->data)[i]);
    case EVAL_ATTRIBUTE_TENSOR: return array_of((const EvalTensor *)a->data + i);
    case EVAL_ATTRIBUTE_TEXT: {
        const EvalString *text = (const EvalString *)a->data + i;
        return PyUnicode_DecodeUTF8(text->text, (Py_ssize_t)text->size, "surrogateescape");
    }
    default: return owned(Py_None);
    }
}

static PyObject *value_of(const EvalAttribute *a)
{
    if (!a->isList)
        return item_of(a, 0);
    PyObject *list = PyList_New((Py_ssize_t)a->count);
    for (size_t i = 0; list && i < a->count; i++) {
        PyObject *item = item_of(a, i);
        if (item)
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *attributes_of(EvalCall *call)
{
    PyObject *dict = PyDict_New();
    EvalAttribute a;
    for (size_t i = 0; dict && call->host->Attribute(call, i, &a); i++) {
        PyObject *value = value_of(&a);
        if (!value || PyDict_SetItemString(dict, a.name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* --- what Python says ------------------------------------------------------------------------ */

/* The exception stays set, with a note that names the node. */
static EvalStatus failed(EvalCall *call)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace)
        PyException_SetTraceback(value, trace);
    PyObject *note = PyUnicode_FromFormat("in node '%s' (%s)", call->node, call->op);
    PyObject *notes = note ? PyObject_GetAttrString(value, "__notes__") : NULL;
    if (note && !notes) {
        PyErr_Clear();
        notes = PyList_New(0);
    }
    if (notes && (!PyList_Check(notes) || PyList_Append(notes, note) < 0 ||
                  PyObject_SetAttrString(value, "__notes__", notes) < 0))
        PyErr_Clear();
    PyObject *text = PyObject_Str(value);
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    call->host->Fail(call, EVAL_ERR_PLUGIN, "%s: %s", Py_TYPE(value)->tp_name, bytes ? bytes : "");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(notes);
    Py_XDECREF(note);
    PyErr_Restore(type, value, trace);
    return EVAL_ERR_PLUGIN;
}

static int take_shape(PyObject *pair, EvalTensor *out)
{
    PyObject *shape;
    int type;
    if (!PyArg_ParseTuple(pair, "Oi", &shape, &type))
        return -1;
    out->type = (EvalType)type;
    out->rank = -1;
    if (shape == Py_None)
        return 0;
    Py_ssize_t rank = PySequence_Size(shape);
    if (rank < 0 || rank > EVAL_MAX_RANK) {
        if (rank > 0)
            PyErr_Format(PyExc_ValueError, "a shape of %zd dimensions", rank);
        return -1;
    }
    out->rank = (int32_t)rank;
    for (Py_ssize_t i = 0; i < rank; i++) {
        PyObject *size = PySequence_GetItem(shape, i);
        out->dims[i] = !size || size == Py_None ? -1 : PyLong_AsLongLong(size);
        Py_XDECREF(size);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

static int infer_all(EvalCall *call)
{
    PyObject *shapes = shapes_of(call->in, call->nIn);
    PyObject *arrays = !shapes ? NULL : is_known(call) ? arrays_of(call) : owned(Py_None);
    PyObject *attributes = arrays ? attributes_of(call) : NULL;
    PyObject *pairs = attributes ? PyObject_CallMethod(call->context, "infer", "sOOOn", call->node, shapes,
                                                       arrays, attributes, (Py_ssize_t)call->nOut)
                                 : NULL;
    int answer = pairs ? 0 : -1;
    for (size_t i = 0; answer == 0 && i < call->nOut; i++) {
        PyObject *pair = PySequence_GetItem(pairs, (Py_ssize_t)i);
        answer = pair ? take_shape(pair, &call->out[i]) : -1;
        Py_XDECREF(pair);
    }
    Py_XDECREF(pairs);
    Py_XDECREF(attributes);
    Py_XDECREF(arrays);
    Py_XDECREF(shapes);
    return answer;
}

/* A str in UTF-8, or bytes as they are, in the call's memory. */
static int take_text(EvalCall *call, PyObject *given, EvalString *to)
{
    PyObject *bytes = PyUnicode_Check(given) ? PyUnicode_AsEncodedString(given, "utf-8", "surrogateescape")
                                             : owned(given);
    if (bytes && !PyBytes_Check(bytes)) {
        PyErr_Format(PyExc_TypeError, "every element must be a str or bytes, not %.100s", Py_TYPE(bytes)->tp_name);
        Py_CLEAR(bytes);
    }
    size_t n = bytes ? (size_t)PyBytes_GET_SIZE(bytes) : 0;
    char *text = bytes ? call->host->Allocate(call, n + 1) : NULL;
    if (text)
        *to = (EvalString){ memcpy(text, PyBytes_AS_STRING(bytes), n), n };
    else if (bytes)
        PyErr_NoMemory();
    Py_XDECREF(bytes);
    return text ? 0 : -1;
}

static int take_elements(EvalCall *call, PyArrayObject *from, const EvalTensor *out)
{
    int answer = 0;
    if (out->type != EVAL_STRING && out->bytes)
        memcpy(out->data, PyArray_DATA(from), out->bytes);
    for (npy_intp i = 0; out->type == EVAL_STRING && i < PyArray_SIZE(from) && answer == 0; i++) {
        PyObject *element = ((PyObject **)PyArray_DATA(from))[i]; /* numpy.empty leaves NULL */
        answer = take_text(call, element ? element : Py_None, (EvalString *)out->data + i);
    }
    return answer;
}

static int take_array(EvalCall *call, PyObject *given, const EvalTensor *out, size_t index)
{
    const evl_type *type = evl_type_find(out->type);
    npy_intp dims[EVAL_MAX_RANK];
    if (out->type == EVAL_UNDEFINED)
        return 0; /* nobody wants it */
    for (int32_t i = 0; i < out->rank; i++)
        dims[i] = (npy_intp)out->dims[i];
    PyObject *array = PyArray_FROMANY(given, type ? type->number : NPY_OBJECT, 0, 0,
                                      NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (!array)
        return -1;
    PyArrayObject *a = (PyArrayObject *)array;
    bool fits = PyArray_NDIM(a) == out->rank && PyArray_CompareLists(PyArray_DIMS(a), dims, out->rank);
    if (!fits)
        PyErr_Format(PyExc_ValueError, "output %zu has another shape than the shape rule says", index);
    int answer = fits ? take_elements(call, a, out) : -1;
    Py_DECREF(array);
    return answer;
}

static int run_all(EvalCall *call)
{
    PyObject *arrays = arrays_of(call), *attributes = arrays ? attributes_of(call) : NULL;
    PyObject *given = attributes ? PyObject_CallMethod(call->context, "run", "sOOn", call->node, arrays,
                                                       attributes, (Py_ssize_t)call->nOut)
                                 : NULL;
    int answer = given ? 0 : -1;
    for (size_t i = 0; answer == 0 && i < call->nOut; i++) {
        PyObject *one = PySequence_GetItem(given, (Py_ssize_t)i);
        answer = one ? take_array(call, one, &call->out[i], i) : -1;
        Py_XDECREF(one);
    }
    Py_XDECREF(given);
    Py_XDECREF(attributes);
    Py_XDECREF(arrays);
    return answer;
}

/* What a branch raised that the library need not take stays set: it comes back, and nothing of
** Python may be called before. */
static EvalStatus infer(EvalCall *call)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    EvalStatus status = EVAL_ERR_PLUGIN;
    if (!PyErr_Occurred())
        status = infer_all(call) == 0 ? EVAL_OK : failed(call);
    PyGILState_Release(lock);
    return status;
}

static EvalStatus run(EvalCall *call)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    EvalStatus status = run_all(call) == 0 ? EVAL_OK : failed(call);
    PyGILState_Release(lock);
    return status;
}

static EvalStatus start(EvalCall *call)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    Py_INCREF((PyObject *)call->context);
    PyGILState_Release(lock);
    return EVAL_OK;
}

static void stop(void *context)
{
    PyGILState_STATE lock = PyGILState_Ensure();
    Py_DECREF((PyObject *)context);
    PyGILState_Release(lock);
}

/* --- the capsule -------------------------------------------------------------------------------- */

static void free_op(PyObject *capsule)
{
    python_op *p = PyCapsule_GetPointer(capsule, capsule_name);
    Py_XDECREF(p->target);
    Py_XDECREF(p->name);
    Py_XDECREF(p->domain);
    PyMem_Free(p);
}

static void fill(python_op *p, const char *domain, const char *name, const unsigned counts[4])
{
    p->implementation = (EvalImplementation){ .size = sizeof p->implementation, .Run = run };
    p->implementations[0] = &p->implementation;
    p->op = (EvalOperator){ .size = sizeof p->op, .domain = domain, .name = name,
                            .minInputs = counts[0], .maxInputs = counts[1], .minOutputs = counts[2],
                            .maxOutputs = counts[3], .flags = EVAL_OPERATOR_VARIES, .Infer = infer,
                            .implementations = p->implementations, .nImplementations = 1 };
    p->ops[0] = &p->op;
    p->plugin = (EvalPlugin){ .size = sizeof p->plugin, .abi = EVAL_PLUGIN_ABI, .name = "python",
                              .version = EVL_WRAPPER_VERSION, .Start = start, .Stop = stop,
                              .operators = p->ops, .nOperators = 1, .user = p->target };
}

PyObject *evl_operator_new(PyObject *module, PyObject *args)
{
    PyObject *domain, *name, *target;
    unsigned counts[4];
    (void)module;
    if (!PyArg_ParseTuple(args, "UUOIIII", &domain, &name, &target, &counts[0], &counts[1], &counts[2],
                          &counts[3]))
        return NULL;
    const char *domain_text = PyUnicode_AsUTF8(domain), *name_text = PyUnicode_AsUTF8(name);
    python_op *p = domain_text && name_text ? PyMem_Calloc(1, sizeof *p) : NULL;
    if (!p)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(p, capsule_name, free_op);
    if (!capsule) {
        PyMem_Free(p);
        return NULL;
    }
    p->target = owned(target);
    p->name = owned(name);
    p->domain = owned(domain);
    fill(p, domain_text, name_text, counts);
    return capsule;
}

PyObject *evl_operator_add(PyObject *object, PyObject *operator)
{
    evl_evaluator *self = (evl_evaluator *)object;
    const python_op *p = PyCapsule_GetPointer(operator, capsule_name);
    evl_call call;
    if (!p || (!self->operators && !(self->operators = PyList_New(0))) ||
        PyList_Append(self->operators, operator) < 0 || !evl_call_begin(self, &call))
        return NULL;
    EvalStatus status = self->native->add_plugin(call.self, &p->plugin);
    PyObject *result = status ? evl_call_raise(&call, status) : owned(Py_None);
    evl_call_end(&call);
    return result;
}
