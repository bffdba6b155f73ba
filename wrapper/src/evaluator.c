/* evaluator.c - an object's life, and the two classes. */
#include "evaluator.h"
#include "log.h"
#include <structmember.h>

static const char capsule_name[] = "evallib.native";

/* Python 3.9 has no such flag. */
#ifdef Py_TPFLAGS_IMMUTABLETYPE
enum { EVL_IMMUTABLE_TYPE = Py_TPFLAGS_IMMUTABLETYPE };
#else
enum { EVL_IMMUTABLE_TYPE = 0 };
#endif

/* The capsule's context. */
typedef struct object {
    const evl_native *native; /* the table of its precision */
    PyObject *lent;           /* list of the bytes that networks lie in */
} object;

static void destroy_native(PyObject *capsule)
{
    object *o = PyCapsule_GetContext(capsule);
    void *self = PyCapsule_GetPointer(capsule, capsule_name);
    PyThreadState *python = PyEval_SaveThread();
    o->native->destroy(self);
    PyEval_RestoreThread(python);
    Py_DECREF(o->lent);
    PyMem_Free(o);
}

static PyObject *new_capsule(const evl_native *native, void *self, PyObject *lent)
{
    PyObject *capsule = PyCapsule_New(self, capsule_name, NULL);
    PyObject *list = lent ? PyList_GetSlice(lent, 0, PyList_GET_SIZE(lent)) : PyList_New(0);
    object *o = PyMem_Malloc(sizeof *o);
    if (!capsule || !list || !o) {
        native->destroy(self);
        Py_XDECREF(capsule);
        Py_XDECREF(list);
        PyMem_Free(o);
        return o ? NULL : PyErr_NoMemory();
    }
    *o = (object){ native, list };
    PyCapsule_SetContext(capsule, o);
    PyCapsule_SetDestructor(capsule, destroy_native);
    return capsule;
}

PyObject *evl_evaluator_wrap(PyTypeObject *type, evl_state *state, const evl_native *native,
                             void *self, PyObject *lent)
{
    PyObject *capsule = new_capsule(native, self, lent);
    evl_evaluator *made = capsule ? (evl_evaluator *)type->tp_alloc(type, 0) : NULL;
    if (!made) {
        Py_XDECREF(capsule);
        return NULL;
    }
    made->state = state;
    made->native = native;
    made->capsule = capsule;
    return (PyObject *)made;
}

static PyObject *new_model(PyTypeObject *type, PyObject *args, PyObject *named,
                           const evl_native *native)
{
    static char *no_names[] = { NULL };
    if (!PyArg_ParseTupleAndKeywords(args, named, "", no_names))
        return NULL;
    evl_state *state = PyType_GetModuleState(type);
    void *symbol = evl_library_symbol(&state->library, &state->errors, native->door);
    if (!symbol)
        return NULL;
    void *self = native->create(symbol);
    if (!self)
        return evl_raise(&state->errors, EVL_ERR_LIBRARY, "Cannot get IEvaluateModel.");
    if (!native->is_complete(self)) {
        native->destroy(self);
        return evl_raise(&state->errors, EVL_ERR_LIBRARY,
                         "Cannot get IEvaluateModel.\nThe library is older than this package; "
                         "install both from one source.");
    }
    native->set_log(self, evl_log_write, NULL); /* a library that cannot log evaluates as well */
    return evl_evaluator_wrap(type, state, native, self, NULL);
}

static PyObject *new_model_f(PyTypeObject *type, PyObject *args, PyObject *named)
{
    return new_model(type, args, named, &evl_native_f);
}

static PyObject *new_model_d(PyTypeObject *type, PyObject *args, PyObject *named)
{
    return new_model(type, args, named, &evl_native_d);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    evl_evaluator *self = (evl_evaluator *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->capsule);
    Py_VISIT(self->inputs);
    Py_VISIT(self->outputs);
    Py_VISIT(self->operators);
    return 0;
}

static int clear(PyObject *object)
{
    evl_evaluator *self = (evl_evaluator *)object;
    Py_CLEAR(self->inputs);
    Py_CLEAR(self->outputs);
    Py_CLEAR(self->capsule);
    Py_CLEAR(self->operators); /* after the library's object, which names them */
    return 0;
}

static void dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((evl_evaluator *)object)->weak_references)
        PyObject_ClearWeakRefs(object);
    clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* --- calls ------------------------------------------------------------------ */

bool evl_call_open(evl_evaluator *owner, evl_call *call)
{
    if (!owner->capsule) {
        evl_raise(&owner->state->errors, EVAL_ERR_STATE, "Object has been disposed.");
        return false;
    }
    PyObject *keep = PyList_New(0);
    if (!keep)
        return false;
    Py_INCREF(owner->capsule);
    *call = (evl_call){ .owner = owner,
                        .capsule = owner->capsule,
                        .keep = keep,
                        .self = PyCapsule_GetPointer(owner->capsule, capsule_name) };
    return true;
}

void evl_call_close(evl_call *call)
{
    Py_CLEAR(call->keep);
    Py_CLEAR(call->capsule);
}

bool evl_call_begin(evl_evaluator *owner, evl_call *call)
{
    if (owner->is_busy) {
        evl_raise(&owner->state->errors, EVAL_ERR_STATE,
                  "Another thread is inside a call of this object; give each thread an object of "
                  "its own (Clone shares the network), or use Run.");
        return false;
    }
    if (!evl_call_open(owner, call))
        return false;
    owner->is_busy = true;
    return true;
}

void evl_call_end(evl_call *call)
{
    call->owner->is_busy = false;
    evl_call_close(call);
}

PyObject *evl_call_raise(const evl_call *call, EvalStatus status)
{
    const evl_evaluator *owner = call->owner;
    if (PyErr_Occurred()) /* of an operator written in Python: it comes back as it is */
        return NULL;
    return evl_raise(&owner->state->errors, status, owner->native->last_error(call->self));
}

static PyObject *lent_to(PyObject *capsule)
{
    return ((object *)PyCapsule_GetContext(capsule))->lent;
}

bool evl_call_lend(const evl_call *call, PyObject *bytes)
{
    return PyList_Append(lent_to(call->capsule), bytes) == 0;
}

/* The model and this call hold the capsule; whoever else does may still run the network before. */
void evl_call_return(const evl_call *call, bool is_used)
{
    PyObject *lent = lent_to(call->capsule);
    Py_ssize_t last = PyList_GET_SIZE(lent) - 1;
    bool is_alone = Py_REFCNT(call->capsule) <= 2;
    if (!is_used || is_alone)
        PyList_SetSlice(lent, is_used ? 0 : last, is_used ? last : last + 1, NULL);
}

/* --- the class's own methods --------------------------------------------------- */

static PyObject *destroy(PyObject *object, PyObject *Py_UNUSED(unused))
{
    clear(object);
    Py_RETURN_NONE;
}

static PyObject *clone_model(PyObject *object, PyObject *Py_UNUSED(unused))
{
    evl_evaluator *self = (evl_evaluator *)object;
    evl_call call;
    void *made = NULL;
    PyObject *result = NULL;
    if (!evl_call_begin(self, &call))
        return NULL;
    EvalStatus status = self->native->clone(call.self, &made);
    if (status)
        evl_call_raise(&call, status);
    else
        result = evl_evaluator_wrap(Py_TYPE(object), self->state, self->native, made,
                                    lent_to(call.capsule));
    if (result) {
        evl_evaluator *copy = (evl_evaluator *)result;
        Py_XINCREF(self->inputs);
        Py_XINCREF(self->outputs);
        copy->inputs = self->inputs;
        copy->outputs = self->outputs;
        Py_XINCREF(self->operators);
        copy->operators = self->operators;
    }
    evl_call_end(&call);
    return result;
}

static PyObject *is_closed(PyObject *object, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(!((evl_evaluator *)object)->capsule);
}

static PyObject *repr(PyObject *object)
{
    evl_evaluator *self = (evl_evaluator *)object;
    const char *what = !self->capsule ? "closed" : self->outputs ? "network" : "no network";
    return PyUnicode_FromFormat("<%s: %s>", Py_TYPE(object)->tp_name, what);
}

/* A method with keywords has a third argument, as its flags say; the way to
** PyCFunction leads over a type that compilers do not warn about. */
typedef void (*any)(void);
enum { NAMED = METH_VARARGS | METH_KEYWORDS };

static PyMethodDef methods[] = {
    { "Init", (PyCFunction)(any)evl_cntk_init, NAMED,
      "Init($self, config)\n--\n\nSettings in CNTK configuration text, for the next "
      "CreateNetwork. A text without '=' does nothing." },
    { "CreateNetwork", (PyCFunction)(any)evl_cntk_create_network, NAMED,
      "CreateNetwork($self, description)\n--\n\nLoads a model: configuration text with "
      "modelPath=\"...\"." },
    { "LoadMemory", (PyCFunction)(any)evl_load_memory, NAMED,
      "LoadMemory($self, data, description)\n--\n\nLoads a model that lies in memory: bytes or "
      "what is like them, and CreateNetwork's text without modelPath." },
    { "GetNodeDimensions", (PyCFunction)(any)evl_cntk_dimensions, NAMED,
      "GetNodeDimensions($self, group, names=None)\n--\n\nElements per sample of the nodes of a "
      "group, \"input\", \"output\" or \"specified\" (those in names), as a dict." },
    { "StartEvaluateMinibatchLoop", (PyCFunction)(any)evl_cntk_start_loop, NAMED,
      "StartEvaluateMinibatchLoop($self, name)\n--\n\nMakes ready to evaluate that node. "
      "Optional." },
    { "Evaluate", (PyCFunction)(any)evl_cntk_evaluate, NAMED,
      "Evaluate($self, inputs, outputs)\n--\n\nEvaluates flat vectors: a dict of lists or arrays "
      "and a list of names give a dict of 1-D arrays. All samples of one call are one sequence, "
      "continued by the next call until ResetState." },
    { "EvaluateOutputs", (PyCFunction)(any)evl_cntk_evaluate_outputs, NAMED,
      "EvaluateOutputs($self, outputs)\n--\n\nEvaluates nodes that need no input." },
    { "ResetState", evl_cntk_reset_state, METH_NOARGS,
      "ResetState($self)\n--\n\nA new sequence begins." },
    { "Destroy", destroy, METH_NOARGS,
      "Destroy($self)\n--\n\nFrees everything, once calls that run in other threads have ended. "
      "May be called again." },
    { "Run", (PyCFunction)(any)evl_tensor_run, NAMED,
      "Run($self, feeds, outputs=None, types=None, steps=None)\n--\n\nEvaluates typed arrays of any shape, "
      "without carried state, from any number of threads: a dict of arrays gives a dict of "
      "arrays. types asks for element types, numbered as EvalType; 0 takes what comes. To steps, a "
      "list, is added what Model.profile tells, as tuples." },
    { "Save", (PyCFunction)(any)evl_cntk_save, NAMED,
      "Save($self, path)\n--\n\nWrites the network as an ONNX file." },
    { "LoadPlugin", (PyCFunction)(any)evl_cntk_load_plugin, NAMED,
      "LoadPlugin($self, path)\n--\n\nLoads a plug-in, for the next CreateNetwork." },
    { "AddOperator", evl_operator_add, METH_O,
      "AddOperator($self, operator, /)\n--\n\nAn operator of evallib.op, for the next "
      "CreateNetwork." },
    { "Clone", clone_model, METH_NOARGS,
      "Clone($self)\n--\n\nA further object on the same network, with a recurrent state of its "
      "own." },
    { "Describe", (PyCFunction)(any)evl_describe_nodes, NAMED,
      "Describe($self, group)\n--\n\nThe \"inputs\", \"outputs\" or \"nodes\" as the model "
      "declares them: tuples (name, operator, domain, type, shape)." },
    { "Metadata", evl_describe_metadata, METH_NOARGS,
      "Metadata($self)\n--\n\nFacts about the model as a dict of texts." },
    { "MemoryUse", evl_describe_memory, METH_NOARGS,
      "MemoryUse($self)\n--\n\nBytes held, of this object and its clones together, as a dict." },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef properties[] = {
    { "closed", is_closed, NULL, "Whether Destroy was called.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef members[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(evl_evaluator, weak_references), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};

static PyType_Spec specify(bool is_double, PyType_Slot *slots)
{
    return (PyType_Spec){
        .name = is_double ? "evallib.ModelD" : "evallib.ModelF",
        .basicsize = sizeof(evl_evaluator),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | EVL_IMMUTABLE_TYPE,
        .slots = slots,
    };
}

PyTypeObject *evl_evaluator_class(PyObject *module, bool is_double)
{
    static char doc_f[] = "ModelF()\n--\n\nCNTK's interface; all arithmetic in float.";
    static char doc_d[] = "ModelD()\n--\n\nCNTK's interface; all arithmetic in double.";
    PyType_Slot slots[] = {
        { Py_tp_doc, is_double ? doc_d : doc_f },
        { Py_tp_new, is_double ? new_model_d : new_model_f },
        { Py_tp_dealloc, dealloc },
        { Py_tp_traverse, traverse },
        { Py_tp_clear, clear },
        { Py_tp_repr, repr },
        { Py_tp_methods, methods },
        { Py_tp_getset, properties },
        { Py_tp_members, members },
        { 0, NULL },
    };
    PyType_Spec spec = specify(is_double, slots);
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
