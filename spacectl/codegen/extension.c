/* A Python extension module, shared by all models: calls of native functions with arrays in and new arrays
 * out.
 *
 * `bind` makes a callable from a native function with CasADi's calling convention (or from CasADi's virtual
 * machine) and the fixed buffers that it reads and writes. A call copies its arguments into the buffers, runs
 * the function and returns copies of the results; `run` only runs the function. A call returns None if an
 * argument is not a contiguous float64 array of the right length (or a float for a buffer of one entry), or
 * if the function fails; the caller then uses the checked call in Python. The interpreter's lock is held from
 * the first copy to the last, so that calls from several threads are serialised. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

enum { SC_MOST = 24 }; /* arguments, and results */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int (*function)(const double **, double **, long long *, double *, int);
    void (*machine)(void *); /* in place of the function; results that it does not write are failures */
    const double **arg;
    double **res;
    long long *iw;
    double *w;
    int mem;
    void *data; /* argument of the machine */
    int finite; /* whether a result that is not finite counts as a failure */
    int by_columns; /* whether matrices are stored by columns, in buffers with swapped dimensions */
    Py_ssize_t n_in, n_out;
    PyArrayObject *in[SC_MOST], *out[SC_MOST];
    PyTypeObject *kind; /* a tuple type for several results, or null for the array alone */
    PyObject *keep;
} sc_caller;

/* Evaluate the function on its buffers; return 0 on success. */
static int sc_evaluate(sc_caller *self) {
    if (self->function) return self->function(self->arg, self->res, self->iw, self->w, self->mem);
    for (Py_ssize_t i = 0; i < self->n_out; i++) {
        double *values = PyArray_DATA(self->out[i]);
        for (npy_intp k = PyArray_SIZE(self->out[i]); k-- > 0;) values[k] = NAN;
    }
    self->machine(self->data);
    return 0;
}

/* Whether all results are finite: zero times anything else is not zero. */
static int sc_is_finite(const sc_caller *self) {
    double sum = 0.0;
    for (Py_ssize_t i = 0; i < self->n_out; i++) {
        const double *values = PyArray_DATA(self->out[i]);
        for (npy_intp k = PyArray_SIZE(self->out[i]); k-- > 0;) sum += 0.0 * values[k];
    }
    return sum == 0.0;
}

/* Whether an object is exactly an aligned, contiguous float64 array in native byte order. */
static int sc_is_plain(PyObject *object) {
    if (!PyArray_CheckExact(object)) return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array);
}

static int sc_fits(PyObject *argument, PyArrayObject *buffer) {
    const npy_intp n = PyArray_SIZE(buffer);
    if (n == 1 && (PyFloat_Check(argument) || PyLong_CheckExact(argument))) return 1; /* a time */
    if (PyArray_NDIM(buffer) == 0) return 0;
    if (n == 0 && PyTuple_CheckExact(argument)) return PyTuple_GET_SIZE(argument) == 0; /* omitted inputs */
    if (!sc_is_plain(argument)) return 0;
    PyArrayObject *array = (PyArrayObject *)argument;
    return PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == n;
}

static PyObject *sc_fresh(const sc_caller *self, PyArrayObject *like) {
    npy_intp swapped[2];
    if (!self->by_columns || PyArray_NDIM(like) != 2) return PyArray_SimpleNew(PyArray_NDIM(like), PyArray_DIMS(like), NPY_DOUBLE);
    swapped[0] = PyArray_DIM(like, 1);
    swapped[1] = PyArray_DIM(like, 0);
    return PyArray_SimpleNew(2, swapped, NPY_DOUBLE);
}

static void sc_copy_result(const sc_caller *self, PyArrayObject *to, PyArrayObject *from) {
    double *target = PyArray_DATA(to);
    const double *source = PyArray_DATA(from);
    if (!self->by_columns || PyArray_NDIM(from) != 2 || PyArray_DIM(from, 0) == 1 || PyArray_DIM(from, 1) == 1) {
        memcpy(target, source, (size_t)PyArray_NBYTES(from));
        return;
    }
    const npy_intp columns = PyArray_DIM(from, 0), rows = PyArray_DIM(from, 1);
    for (npy_intp i = 0; i < rows; i++)
        for (npy_intp j = 0; j < columns; j++) target[i * columns + j] = source[j * rows + i];
}

/* Allocate the results: an array, or arrays in a tuple of the given type. */
static PyObject *sc_results(sc_caller *self) {
    if (!self->kind) return sc_fresh(self, self->out[0]);
    PyObject *plain = PyTuple_New(self->n_out), *arguments = NULL, *results = NULL;
    for (Py_ssize_t i = 0; plain && i < self->n_out; i++) {
        PyObject *fresh = sc_fresh(self, self->out[i]);
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
    /* no Python code runs from here on: no other thread sees partly written buffers */
    for (Py_ssize_t i = 0; i < self->n_in; i++) {
        const size_t size = (size_t)PyArray_NBYTES(self->in[i]);
        if (PyFloat_Check(arguments[i])) *(double *)PyArray_DATA(self->in[i]) = PyFloat_AS_DOUBLE(arguments[i]);
        else if (PyLong_CheckExact(arguments[i])) {
            const double value = PyLong_AsDouble(arguments[i]);
            if (value == -1.0 && PyErr_Occurred()) { /* too large for a float: the checked call says so */
                PyErr_Clear();
                Py_DECREF(results);
                Py_RETURN_NONE;
            }
            *(double *)PyArray_DATA(self->in[i]) = value;
        }
        else if (size) memmove(PyArray_DATA(self->in[i]), PyArray_DATA((PyArrayObject *)arguments[i]), size);
    }
    if (sc_evaluate(self) || (self->finite && !sc_is_finite(self))) {
        Py_DECREF(results);
        Py_RETURN_NONE;
    }
    for (Py_ssize_t i = 0; i < self->n_out; i++) {
        PyObject *to = self->kind ? PyTuple_GET_ITEM(results, i) : results;
        sc_copy_result(self, (PyArrayObject *)to, self->out[i]);
    }
    return results;
}

/* Evaluate on the buffers; return the function's status, 0 on success. */
static PyObject *sc_run(PyObject *object, PyObject *unused) {
    (void)unused;
    return PyLong_FromLong(sc_evaluate((sc_caller *)object));
}

static PyMethodDef sc_caller_methods[] = {
    {"run", sc_run, METH_NOARGS, "Evaluate on the buffers; return 0 on success."},
    {NULL, NULL, 0, NULL},
};

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

/* No tp_clear: a caller keeps its references as long as it lives, so that it can be called at any time. */
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
    .tp_doc = "A native function with fixed buffers, called with arrays.",
    .tp_basicsize = sizeof(sc_caller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(sc_caller, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_methods = sc_caller_methods,
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
    unsigned long long entry, data, arg, res, iw, w;
    int mem, by_columns, finite;
    PyObject *in, *out, *kind, *keep;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "K(KKKKKi)O!O!OppO", &entry, &data, &arg, &res, &iw, &w, &mem, &PyTuple_Type, &in,
                          &PyTuple_Type, &out, &kind, &by_columns, &finite,
                          &keep))
        return NULL;
    if (!entry || !(data || (arg && res))) {
        PyErr_SetString(PyExc_ValueError, "the function's address or that of its buffers is missing");
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
    if (data) self->machine = (void (*)(void *))(size_t)entry;
    else self->function = (int (*)(const double **, double **, long long *, double *, int))(size_t)entry;
    self->data = (void *)(size_t)data;
    self->arg = (const double **)(size_t)arg;
    self->res = (double **)(size_t)res;
    self->iw = (long long *)(size_t)iw;
    self->w = (double *)(size_t)w;
    self->mem = mem;
    self->by_columns = by_columns;
    self->finite = finite;
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

/* Addresses of the numbers of arrays, 0 for one without any. */
static PyObject *sc_addresses(PyObject *module, PyObject *arrays) {
    (void)module;
    if (!PyList_Check(arrays)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of arrays");
        return NULL;
    }
    const Py_ssize_t n = PyList_GET_SIZE(arrays);
    PyObject *found = PyList_New(n);
    for (Py_ssize_t i = 0; found && i < n; i++) {
        PyObject *item = PyList_GET_ITEM(arrays, i);
        if (!PyArray_Check(item)) {
            Py_DECREF(found);
            PyErr_SetString(PyExc_TypeError, "expected a list of arrays");
            return NULL;
        }
        PyArrayObject *array = (PyArrayObject *)item;
        PyObject *address = PyLong_FromVoidPtr(PyArray_SIZE(array) ? PyArray_DATA(array) : NULL);
        if (address) PyList_SET_ITEM(found, i, address);
        else Py_CLEAR(found);
    }
    return found;
}

static PyMethodDef sc_methods[] = {
    {"addresses", sc_addresses, METH_O, "addresses(arrays): where the numbers of each array are, 0 for an empty one."},
    {"bind", sc_bind, METH_VARARGS,
     "bind(entry, (data, arg, res, iw, w, mem), inputs, outputs, kind, by_columns, finite, keep): a callable for a native function."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef sc_module = {
    PyModuleDef_HEAD_INIT, "spacectl_caller", "Calls of native functions with arrays.", -1, sc_methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_spacectl_caller(void) {
    import_array();
    if (PyType_Ready(&sc_caller_type) < 0) return NULL;
    return PyModule_Create(&sc_module);
}
