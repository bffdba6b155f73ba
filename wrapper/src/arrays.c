/* arrays.c - what comes in. */
#include "arrays.h"
#include "types.h"

int evl_array_real(EvalType real)
{
    return evl_type_find(real)->number;
}

static const evl_errors *errors_of(const evl_call *call)
{
    return &call->owner->state->errors;
}

static const char *keep_name(const evl_call *call, PyObject *name)
{
    return evl_keep_text(call->keep, errors_of(call), "the name of an input", name);
}

/* numpy's own complaint becomes the cause of ours: uneven rows are a matter of
** shape, anything else that no array can be made of one of type. */
static PyArrayObject *raise_no_array(const evl_call *call, PyObject *name, PyObject *value)
{
    int status = EVAL_ERR_TYPE;
    if (PyErr_ExceptionMatches(PyExc_ValueError))
        status = EVAL_ERR_SHAPE;
    else if (!PyErr_ExceptionMatches(PyExc_TypeError))
        return NULL;
    evl_raise_format(errors_of(call), status,
                     "Input %R: no array can be made of this %.100s; give an array, or lists of "
                     "numbers with rows of one length.",
                     name, Py_TYPE(value)->tp_name);
    return NULL;
}

/* A new reference that the call keeps. */
static PyArrayObject *as_array(const evl_call *call, PyObject *name, PyObject *value)
{
    PyObject *array = PyArray_FromAny(value, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    if (!array)
        return raise_no_array(call, name, value);
    return evl_keep(call->keep, array) < 0 ? NULL : (PyArrayObject *)array;
}

static int raise_type(const evl_call *call, PyObject *name, PyArrayObject *array,
                      const char *wanted)
{
    evl_raise_format(errors_of(call), EVAL_ERR_TYPE,
                     "Input %R: elements of type %S cannot be given where %s are expected; convert "
                     "the array first, for example with astype().",
                     name, PyArray_DESCR(array), wanted);
    return -1;
}

/* The array with another element type, contiguous and in this machine's byte order;
** the same array when it is all of that. */
static PyArrayObject *cast(const evl_call *call, PyArrayObject *array, int number)
{
    PyObject *made = PyArray_FromArray(array, PyArray_DescrFromType(number),
                                       NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    return evl_keep(call->keep, made) < 0 ? NULL : (PyArrayObject *)made;
}

/* May numbers go from here to there? Widening, narrowing of floating types, and
** integers to floating types may; complex to real, floating to integer, text may not.
** An empty list has no type of its own: numpy's choice for it does not count. */
static bool may_cast(PyArrayObject *array, const evl_type *wanted)
{
    int from = PyArray_TYPE(array);
    if (!PyTypeNum_ISNUMBER(from) && !PyTypeNum_ISBOOL(from) && from < NPY_USERDEF)
        return false;
    if (PyArray_SIZE(array) == 0)
        return true;
    PyArray_Descr *to = PyArray_DescrFromType(wanted->number);
    bool may = PyArray_CanCastTypeTo(PyArray_DESCR(array), to, NPY_SAME_KIND_CASTING);
    Py_DECREF(to);
    return may;
}

int evl_array_flat(const evl_call *call, PyObject *name, PyObject *value, evl_flat *out)
{
    const evl_type *real = evl_type_find(call->owner->native->real);
    const char *text = keep_name(call, name);
    PyArrayObject *array = text ? as_array(call, name, value) : NULL;
    if (!array)
        return -1;
    if (!may_cast(array, real))
        return raise_type(call, name, array, "real numbers");
    array = cast(call, array, real->number);
    if (!array)
        return -1;
    *out = (evl_flat){ .name = text,
                       .data = PyArray_DATA(array),
                       .count = (size_t)PyArray_SIZE(array) };
    return 0;
}

/* --- tensors ------------------------------------------------------------------ */

/* 1 when both arrays hold the same values, 0 when not, -1 with an exception. */
static int are_equal(PyArrayObject *a, PyArrayObject *b)
{
    PyObject *equal = PyObject_RichCompare((PyObject *)a, (PyObject *)b, Py_EQ);
    PyObject *all = equal ? PyObject_CallMethod(equal, "all", NULL) : NULL;
    int answer = all ? PyObject_IsTrue(all) : -1;
    Py_XDECREF(equal);
    Py_XDECREF(all);
    return answer;
}

/* Integers and booleans go where their values fit. */
static PyArrayObject *cast_integers(const evl_call *call, PyObject *name, PyArrayObject *array,
                                    const evl_type *wanted)
{
    PyArrayObject *made = cast(call, array, wanted->number);
    if (!made || PyArray_CanCastSafely(PyArray_TYPE(array), wanted->number))
        return made;
    int is_same = are_equal(array, made);
    if (is_same == 0)
        evl_raise_format(errors_of(call), EVAL_ERR_TYPE,
                         "Input %R: not all values fit into the declared type, %S", name,
                         PyArray_DESCR(made));
    return is_same == 1 ? made : NULL;
}

static bool is_integral(const evl_type *type)
{
    return type && strchr("iub", type->kind);
}

static bool is_narrow_integer(EvalType type)
{
    return type == EVAL_UINT4 || type == EVAL_INT4 || type == EVAL_UINT2 || type == EVAL_INT2;
}

/* The type that an array shall go in with; NULL when there is none. Run itself takes
** any floating type where a floating type is declared. Bytes are the bits of what numpy
** has no type for, as in ONNX Runtime. */
static const evl_type *type_wanted(const evl_call *call, const evl_type *given, EvalType declared)
{
    const evl_type *real = evl_type_find(call->owner->native->real);
    const evl_type *found = evl_type_find(declared);
    if (declared == EVAL_UNDEFINED)
        return given ? given : real;
    if (!evl_type_is_floating(declared))
        return found;
    if (given && (given->kind == 'f' || given->type == declared || given->type == EVAL_BFLOAT16))
        return given;
    bool are_bits = given && given->type == EVAL_UINT8 && found->size == 1;
    return are_bits ? found : real;
}

/* Elements narrower than a byte, the low bits first; each is a byte, and must fit. */
static int pack(const evl_call *call, PyObject *name, const uint8_t *from, EvalTensor *out,
                const evl_type *type)
{
    unsigned bits = (unsigned)type->bits, mask = (1u << bits) - 1, sign = 1u << (bits - 1);
    size_t n = out->bytes, each = 8 / bits;
    uint8_t *to = evl_keep_block(call->keep, (n + each - 1) / each, 1);
    if (!to)
        return -1;
    for (size_t i = 0; i < n; i++) {
        unsigned low = from[i] & mask;
        uint8_t again = (uint8_t)(type->number == NPY_INT8 ? (low ^ sign) - sign : low);
        if (again != from[i]) {
            evl_raise_format(errors_of(call), EVAL_ERR_TYPE,
                             "Input %R: not all values fit into the declared type, %s", name,
                             type->extension);
            return -1;
        }
        to[i / each] |= (uint8_t)(low << i % each * bits);
    }
    out->data = to;
    out->bytes = (n + each - 1) / each;
    return 0;
}

/* An array of that very type of ml_dtypes, or of its bits, contiguous. */
static PyArrayObject *as_bits(const evl_call *call, PyArrayObject *array, const evl_type *wanted)
{
    PyArray_Descr *own = PyArray_DESCR(array);
    Py_INCREF(own);
    PyObject *made = PyArray_FromArray(array, own, NPY_ARRAY_CARRAY_RO);
    if (made && is_narrow_integer(wanted->type)) { /* the rest of the byte may be anything */
        PyObject *bytes = PyArray_Cast((PyArrayObject *)made, wanted->number);
        Py_DECREF(made);
        made = bytes;
    }
    return evl_keep(call->keep, made) < 0 ? NULL : (PyArrayObject *)made;
}

/* The array with the elements that `wanted` says; NULL with an exception. */
static PyArrayObject *elements_as(const evl_call *call, PyObject *name, PyArrayObject *array,
                                  const evl_type *given, const evl_type *wanted)
{
    bool is_byte = given && given->type == EVAL_UINT8;
    if (wanted->extension && given &&
        (given == wanted || (is_byte && !is_narrow_integer(wanted->type))))
        return as_bits(call, array, wanted);
    bool to_integer = is_integral(wanted) || is_narrow_integer(wanted->type);
    if (is_integral(given) && to_integer)
        return cast_integers(call, name, array, wanted);
    if (may_cast(array, wanted) || (given && given->extension && is_narrow_integer(given->type)))
        return cast(call, array, wanted->number);
    raise_type(call, name, array, to_integer ? "integers" : "real numbers");
    return NULL;
}

static int input_numbers(const evl_call *call, PyObject *name, PyArrayObject *array,
                         EvalTensor *out)
{
    const evl_type *given = evl_type_of(array);
    const evl_type *wanted = type_wanted(call, given, out->type);
    if (!wanted)
        return raise_type(call, name, array, "values of the declared type");
    array = elements_as(call, name, array, given, wanted);
    if (!array)
        return -1;
    out->type = wanted->type;
    out->data = PyArray_DATA(array);
    out->bytes = (size_t)PyArray_NBYTES(array);
    return wanted->bits < 8 ? pack(call, name, out->data, out, wanted) : 0;
}

static int set_shape(const evl_call *call, PyObject *name, PyArrayObject *array, EvalTensor *out)
{
    if (PyArray_NDIM(array) > EVAL_MAX_RANK) {
        evl_raise_format(errors_of(call), EVAL_ERR_SHAPE,
                         "Input %R: %d axes, more than the %d that are possible", name,
                         PyArray_NDIM(array), EVAL_MAX_RANK);
        return -1;
    }
    out->rank = PyArray_NDIM(array);
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = PyArray_DIM(array, i);
    return 0;
}

static bool holds_text(PyArrayObject *array, EvalType declared)
{
    char kind = PyArray_DESCR(array)->kind;
    if (declared == EVAL_STRING && PyArray_SIZE(array) == 0)
        return true; /* an empty list has no type of its own */
    return strchr("UST", kind) ? declared == EVAL_STRING || declared == EVAL_UNDEFINED
                               : kind == 'O' && declared == EVAL_STRING;
}

/* What is declared of the elements: of a map's values, two types further in. */
static evl_declared inside(const evl_declared *declared, size_t by)
{
    evl_declared inner = { { EVAL_UNDEFINED } };
    for (size_t i = by; i <= EVL_MAX_INSIDE; i++)
        inner.types[i - by] = declared->types[i];
    return inner;
}

static int raise_kind(const evl_call *call, PyObject *name, PyObject *value, const char *wanted)
{
    evl_raise_format(errors_of(call), EVAL_ERR_TYPE, "Input %R: %s is expected, not %.100s", name,
                     wanted, Py_TYPE(value)->tp_name);
    return -1;
}

/* Memory for n elements, as the data of out. */
static EvalTensor *take_elements(const evl_call *call, size_t n, EvalTensor *out)
{
    EvalTensor *elements = evl_keep_block(call->keep, n, sizeof *elements);
    out->rank = 1;
    out->dims[0] = (int64_t)n;
    out->data = elements;
    out->bytes = n * sizeof *elements;
    return elements;
}

static PyObject *elements_of(PyObject *value, bool is_optional)
{
    if (!is_optional)
        return PySequence_Tuple(value);
    return value == Py_None ? PyTuple_New(0) : PyTuple_Pack(1, value);
}

/* A list, for a sequence; a value or None, for an optional. */
static int input_sequence(const evl_call *call, PyObject *name, PyObject *value,
                          const evl_declared *declared, EvalTensor *out)
{
    if (out->type == EVAL_SEQUENCE && !PyList_Check(value) && !PyTuple_Check(value))
        return raise_kind(call, name, value, "a list of values");
    PyObject *items = elements_of(value, out->type == EVAL_OPTIONAL);
    if (evl_keep(call->keep, items) < 0)
        return -1;
    const evl_declared element = inside(declared, 1);
    size_t n = (size_t)PyTuple_GET_SIZE(items);
    EvalTensor *elements = take_elements(call, n, out);
    if (!elements)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (evl_array_input(call, name, PyTuple_GET_ITEM(items, (Py_ssize_t)i), &element,
                            &elements[i]) < 0)
            return -1;
    return 0;
}

/* A dict: its keys and its values as two lists. */
static int input_map(const evl_call *call, PyObject *name, PyObject *value,
                     const evl_declared *declared, EvalTensor *out)
{
    if (!PyDict_Check(value))
        return raise_kind(call, name, value, "a dict");
    PyObject *keys = PyDict_Keys(value);
    PyObject *values = evl_keep(call->keep, keys) < 0 ? NULL : PyDict_Values(value);
    EvalTensor *pair = evl_keep(call->keep, values) < 0 ? NULL : take_elements(call, 2, out);
    const evl_declared key = { { declared->types[1] } }, held = inside(declared, 2);
    if (!pair || evl_array_input(call, name, keys, &key, &pair[0]) < 0)
        return -1;
    return evl_array_input(call, name, values, &held, &pair[1]);
}

static int input_tensor(const evl_call *call, PyObject *name, PyObject *value, EvalTensor *out)
{
    PyArrayObject *array = as_array(call, name, value);
    if (!array || set_shape(call, name, array, out) < 0)
        return -1;
    if (holds_text(array, out->type))
        return evl_strings_input(call, name, array, out);
    return input_numbers(call, name, array, out);
}

int evl_array_input(const evl_call *call, PyObject *name, PyObject *value,
                    const evl_declared *declared, EvalTensor *out)
{
    const char *text = keep_name(call, name);
    if (!text)
        return -1;
    *out = (EvalTensor){ .name = text, .type = declared->types[0] };
    if (out->type == EVAL_SEQUENCE || out->type == EVAL_OPTIONAL)
        return input_sequence(call, name, value, declared, out);
    if (out->type == EVAL_MAP)
        return input_map(call, name, value, declared, out);
    return input_tensor(call, name, value, out);
}
