/* arguments.c - the shapes of arguments that several methods share: a list of
** names, a dict of inputs. What they hold stays with the call. */
#include "evaluator.h"

/* Each element of a list or tuple, or of any other iterable but a str. */
static PyObject *kept_list(const evl_call *call, const char *what, PyObject *names)
{
    if (PyUnicode_Check(names) || PyBytes_Check(names))
        return evl_raise_format(&call->owner->state->errors, EVAL_ERR_TYPE,
                                "%s must be a list of names, not %R alone", what, names);
    PyObject *list = PySequence_List(names);
    if (!list)
        return evl_raise_format(&call->owner->state->errors, EVAL_ERR_TYPE,
                                "%s must be a list of names, not %.100s", what,
                                Py_TYPE(names)->tp_name);
    return evl_keep(call->keep, list) < 0 ? NULL : list;
}

const char **evl_names(const evl_call *call, const char *what, PyObject *names, size_t *n)
{
    PyObject *list = kept_list(call, what, names);
    if (!list)
        return NULL;
    *n = (size_t)PyList_GET_SIZE(list);
    const char **texts = evl_keep_block(call->keep, *n, sizeof *texts);
    for (size_t i = 0; texts && i < *n; i++) {
        texts[i] = evl_keep_text(call->keep, &call->owner->state->errors, what,
                                 PyList_GET_ITEM(list, (Py_ssize_t)i));
        if (!texts[i])
            return NULL;
    }
    return texts;
}

static int check_pair(PyObject *pair)
{
    if (PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2)
        return 0;
    PyErr_SetString(PyExc_TypeError, "items() gives something else than pairs");
    return -1;
}

PyObject *evl_pairs(const evl_call *call, const char *what, PyObject *dict)
{
    PyObject *pairs = PyMapping_Items(dict);
    int failed = !pairs;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(pairs); i++)
        failed = check_pair(PyList_GET_ITEM(pairs, i)) < 0;
    if (failed) {
        Py_XDECREF(pairs);
        return evl_raise_format(&call->owner->state->errors, EVAL_ERR_TYPE,
                                "%s must be a dict of names and values, not %.100s", what,
                                Py_TYPE(dict)->tp_name);
    }
    return evl_keep(call->keep, pairs) < 0 ? NULL : pairs;
}
