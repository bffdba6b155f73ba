/* module.c - evallib._core: two classes, ModelF and ModelD, the exceptions, and what
** the library says of itself. */
#define EVL_FILLS_NUMPY_TABLE
#include "numpy.h"
#include "evaluator.h"
#include "module.h"

static int fill_numpy_table(void)
{
#ifdef NPY_2_0_API_VERSION
    return PyArray_ImportNumPyAPI();
#else
    return _import_array();
#endif
}

static int add_class(PyObject *module, PyTypeObject **type, bool is_double)
{
    *type = evl_evaluator_class(module, is_double);
    return *type ? PyModule_AddType(module, *type) : -1;
}

static PyObject *library_info(PyObject *module, PyObject *Py_UNUSED(unused))
{
    evl_state *state = PyModule_GetState(module);
    void *symbol = evl_library_symbol(&state->library, &state->errors, "EvalLibraryInfo");
    if (!symbol)
        return NULL;
    const EvalInfo *(*ask)(void);
    memcpy(&ask, &symbol, sizeof ask); /* ISO C has no cast from void * to a function */
    const EvalInfo *info = ask();
    return Py_BuildValue("{s:s,s:I,s:s,s:s}", "version", info->version, "abi",
                         (unsigned)info->abi, "build", info->build, "kernels", info->kernels);
}

static PyMethodDef functions[] = {
    { "library_info", library_info, METH_NOARGS,
      "library_info()\n--\n\nWhat the evaluation library is, as a dict: \"version\", \"abi\", "
      "\"build\" (compiler and options), \"kernels\" (the instruction set used on this "
      "processor)." },
    { "operator", evl_operator_new, METH_VARARGS,
      "operator(domain, name, target, min_inputs, max_inputs, min_outputs, max_outputs, /)\n--\n\n"
      "What AddOperator takes, of an object with infer and run." },
    { NULL, NULL, 0, NULL },
};

static int execute(PyObject *module)
{
    evl_state *state = PyModule_GetState(module);
    if (fill_numpy_table() < 0)
        return -1;
    PyObject *file = PyModule_GetFilenameObject(module);
    if (!file)
        return -1;
    int failed = evl_library_create(&state->library, file);
    Py_DECREF(file);
    if (failed || evl_errors_create(&state->errors, module) < 0 ||
        add_class(module, &state->model_f, false) < 0 ||
        add_class(module, &state->model_d, true) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", EVL_WRAPPER_VERSION);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    evl_state *state = PyModule_GetState(module);
    Py_VISIT(state->model_f);
    Py_VISIT(state->model_d);
    return evl_errors_traverse(&state->errors, visit, arg);
}

static int clear(PyObject *module)
{
    evl_state *state = PyModule_GetState(module);
    Py_CLEAR(state->model_f);
    Py_CLEAR(state->model_d);
    evl_errors_clear(&state->errors);
    return 0;
}

/* Objects keep their class alive and the class its module: none is left here, so
** the library may be closed. */
static void free_module(void *module)
{
    evl_state *state = PyModule_GetState(module);
    clear(module);
    evl_library_close(&state->library);
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, execute },
#if PY_VERSION_HEX >= 0x030C0000
    /* numpy's own functions refuse an interpreter with a lock of its own. */
    { Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
    { 0, NULL },
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "evallib._core",
    .m_doc = "The evaluation interface of the C library.",
    .m_size = sizeof(evl_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
