/* A Python extension module, one for all models: calls of native kernels with arrays in and fresh arrays out.
 *
 * `bind` makes a callable from a kernel `int entry(void *data)` that reads and writes fixed buffers. A call copies its
 * arguments into the buffers, runs the kernel and returns copies of the results. It returns None, and leaves everything
 * else to the checked call in Python, if an argument is not exactly a contiguous float64 array of the right length (a float
 * for a buffer without dimensions), or if the kernel reports a failure. The interpreter's lock is held from the first copy to the last, so calls from
 * several threads follow each other. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

enum { SC_MOST = 8 }; /* arguments, and results */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int (*entry)(void *);
    void *data;
    int good; /* what the kernel returns when all went well */
    Py_ssize_t n_in, n_out;
    PyArrayObject *in[SC_MOST], *out[SC_MOST];
    PyTypeObject *kind; /* a tuple type for several results, or null for the array alone */
    PyObject *keep;
} sc_caller;

/* Whether an object is exactly an aligned, contiguous float64 array in native byte order. */
static int sc_is_plain(PyObject *object) {
    if (!PyArray_CheckExact(object)) return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array);
}

static int sc_fits(PyObject *argument, PyArrayObject *buffer) {
    const npy_intp n = PyArray_SIZE(buffer);
    if (PyArray_NDIM(buffer) == 0) return PyFloat_CheckExact(argument); /* a time */
    if (n == 0 && PyTuple_CheckExact(argument)) return PyTuple_GET_SIZE(argument) == 0; /* inputs that are left out */
    if (!sc_is_plain(argument)) return 0;
    PyArrayObject *array = (PyArrayObject *)argument;
    return PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == n;
}

static PyObject *sc_fresh(PyArrayObject *like) {
    return PyArray_SimpleNew(PyArray_NDIM(like), PyArray_DIMS(like), NPY_DOUBLE);
}

/* Room for the results: an array, or arrays in a tuple of the wanted kind. */
static PyObject *sc_results(sc_caller *self) {
    if (!self->kind) return sc_fresh(self->out[0]);
    PyObject *plain = PyTuple_New(self->n_out), *arguments = NULL, *results = NULL;
    for (Py_ssize_t i = 0; plain && i < self->n_out; i++) {
        PyObject *fresh = sc_fresh(self->out[i]);
        if (fresh) PyTuple_SET_ITEM(plain, i, fresh);
        else Py_CLEAR(plain);
    }
    if (plain) arguments = PyTuple_Pack(1, plain);
    if (arguments) results = PyTuple_Type.tp_new(self->kind, arguments, NULL);
    Py_XDECREF(arguments);
    Py_XDECREF(plain);
    return results;
}

static PyObject *sc_vectorcall(PyObject *object, PyObject *const *arguments, size_t flags, PyObject *names) {
    sc_caller *self = (sc_caller *)object;
    if (PyVectorcall_NARGS(flags) != self->n_in || (names && PyTuple_GET_SIZE(names))) Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < self->n_in; i++)
        if (!sc_fits(arguments[i], self->in[i])) Py_RETURN_NONE;
    PyObject *results = sc_results(self);
    if (!results) return NULL;
    /* from here on nothing can run Python code: no other thread sees the buffers half written */
    for (Py_ssize_t i = 0; i < self->n_in; i++) {
        const size_t size = (size_t)PyArray_NBYTES(self->in[i]);
        if (PyArray_NDIM(self->in[i]) == 0) *(double *)PyArray_DATA(self->in[i]) = PyFloat_AS_DOUBLE(arguments[i]);
        else if (size) memmove(PyArray_DATA(self->in[i]), PyArray_DATA((PyArrayObject *)arguments[i]), size);
    }
    if (self->entry(self->data) != self->good) {
        Py_DECREF(results);
        Py_RETURN_NONE;
    }
    for (Py_ssize_t i = 0; i < self->n_out; i++) {
        PyObject *to = self->kind ? PyTuple_GET_ITEM(results, i) : results;
        memcpy(PyArray_DATA((PyArrayObject *)to), PyArray_DATA(self->out[i]), (size_t)PyArray_NBYTES(self->out[i]));
    }
    return results;
}

static int sc_traverse(PyObject *object, visitproc visit, void *arg) {
    sc_caller *self = (sc_caller *)object;
    for (Py_ssize_t i = 0; i < SC_MOST; i++) {
        Py_VISIT(self->in[i]);
        Py_VISIT(self->out[i]);
    }
    Py_VISIT(self->kind);
    Py_VISIT(self->keep);
    return 0;
}

/* No tp_clear: what a caller holds stays until it goes itself, so that it can be called at any time before. */
static void sc_dealloc(PyObject *object) {
    sc_caller *self = (sc_caller *)object;
    PyObject_GC_UnTrack(object);
    for (Py_ssize_t i = 0; i < SC_MOST; i++) {
        Py_XDECREF(self->in[i]);
        Py_XDECREF(self->out[i]);
    }
    Py_XDECREF(self->kind);
    Py_XDECREF(self->keep);
    PyObject_GC_Del(object);
}

static PyTypeObject sc_caller_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "spacectl_caller.Caller",
    .tp_doc = "A native kernel with fixed buffers, called with arrays.",
    .tp_basicsize = sizeof(sc_caller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(sc_caller, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_traverse = sc_traverse,
    .tp_dealloc = sc_dealloc,
};

/* Take references to the arrays of a tuple; -1 with an exception if one cannot be a buffer. */
static Py_ssize_t sc_take(PyObject *tuple, PyArrayObject **to) {
    const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    if (n > SC_MOST) {
        PyErr_Format(PyExc_ValueError, "at most %d buffers", SC_MOST);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (!sc_is_plain(item) || !PyArray_ISWRITEABLE((PyArrayObject *)item)) {
            PyErr_SetString(PyExc_TypeError, "buffers must be contiguous, writable float64 arrays");
            return -1;
        }
        Py_INCREF(item);
        to[i] = (PyArrayObject *)item;
    }
    return n;
}

static PyObject *sc_bind(PyObject *module, PyObject *arguments) {
    unsigned long long entry, data;
    int good;
    PyObject *in, *out, *kind, *keep;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "KKiO!O!OO", &entry, &data, &good, &PyTuple_Type, &in, &PyTuple_Type, &out, &kind, &keep))
        return NULL;
    if (!entry || !data) {
        PyErr_SetString(PyExc_ValueError, "the kernel's address is missing");
        return NULL;
    }
    const int is_tuple = PyType_Check(kind) && PyType_IsSubtype((PyTypeObject *)kind, &PyTuple_Type);
    if (kind != Py_None && !is_tuple) {
        PyErr_SetString(PyExc_TypeError, "kind must be None or a type of tuples");
        return NULL;
    }
    if (kind == Py_None && PyTuple_GET_SIZE(out) != 1) {
        PyErr_SetString(PyExc_ValueError, "several results need a type of tuples");
        return NULL;
    }
    sc_caller *self = PyObject_GC_New(sc_caller, &sc_caller_type);
    if (!self) return NULL;
    memset((char *)self + offsetof(sc_caller, vectorcall), 0, sizeof(sc_caller) - offsetof(sc_caller, vectorcall));
    self->vectorcall = sc_vectorcall;
    self->entry = (int (*)(void *))(size_t)entry;
    self->data = (void *)(size_t)data;
    self->good = good;
    self->n_in = sc_take(in, self->in);
    self->n_out = self->n_in < 0 ? -1 : sc_take(out, self->out);
    PyObject_GC_Track((PyObject *)self);
    if (self->n_out < 0) {
        Py_DECREF(self);
        return NULL;
    }
    if (is_tuple) {
        Py_INCREF(kind);
        self->kind = (PyTypeObject *)kind;
    }
    Py_INCREF(keep);
    self->keep = keep;
    return (PyObject *)self;
}

static PyMethodDef sc_methods[] = {
    {"bind", sc_bind, METH_VARARGS, "bind(entry, data, good, inputs, outputs, kind, keep): a callable for a kernel."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef sc_module = {
    PyModuleDef_HEAD_INIT, "spacectl_caller", "Calls of native kernels with arrays.", -1, sc_methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_spacectl_caller(void) {
    import_array();
    if (PyType_Ready(&sc_caller_type) < 0) return NULL;
    return PyModule_Create(&sc_module);
}
