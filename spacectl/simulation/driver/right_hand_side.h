/* One evaluation of the closed loop (measurements and reference, law, limits, plant), and its Jacobian. */
#ifndef SC_RIGHT_HAND_SIDE_H
#define SC_RIGHT_HAND_SIDE_H

#include <math.h>
#include <string.h>

#include "loop.h"
#include "table.h"

typedef void (*sc_vm)(void *);
typedef int (*sc_generated)(const double **, double **, sc_int *, double *, int);
typedef int (*sc_callback)(const double **, double **);

static void sc_copy(double *to, const double *from, sc_int n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof(double));
}

/* Buffer of argument i of a function. */
static double *sc_argument(sc_function *f, int i)
{
    return (double *)f->arg[i];
}

/* Set argument i to n values: generated code reads them in place, other functions have fixed buffers. */
static void sc_set_argument(sc_function *f, int i, const double *values, sc_int n)
{
    if (f->kind == SC_GENERATED) f->arg[i] = values;
    else sc_copy(sc_argument(f, i), values, n);
}

/* Evaluate a function. A failed evaluation leaves NaN in the results, so that the step control rejects the step. */
static int sc_call(sc_function *f)
{
    sc_int i;
    int failed = 0;
    if (f->kind == SC_CALLBACK) return ((sc_callback)f->fn)(f->arg, f->res) ? SC_CALLBACK_ERROR : SC_GO;
    if (f->kind == SC_VM) {
        for (i = 0; i < f->n_res; i++) f->res[0][i] = NAN;
        ((sc_vm)f->fn)(f->raw);
    } else if (f->kind == SC_GENERATED) {
        failed = ((sc_generated)f->fn)(f->arg, f->res, f->iw, f->w, f->mem);
        if (failed)
            for (i = 0; i < f->n_res; i++) f->res[0][i] = NAN;
    }
    return SC_GO;
}

static int sc_is_continuous(const sc_loop *L)
{
    return L->law.kind != SC_NONE && L->period == 0.0;
}

/* Memory of the law: part of s for a continuous law, else z. */
static const double *sc_memory(const sc_loop *L, const double *s)
{
    return sc_is_continuous(L) ? s + L->n_x : L->z;
}

/* Compute the shared sines and cosines at s, which the sensors, the law and then the plant use. */
static void sc_fill_sincos(const sc_loop *L, const double *s)
{
    sc_int k;
    for (k = 0; k < L->n_angles; k++) {
        const sc_int i = L->angles[k];
        L->sincos[2 * i] = sin(s[i]);
        L->sincos[2 * i + 1] = cos(s[i]);
    }
}

/* Amount by which the command exceeds limit k; negative within the limit. */
static double sc_excess(const sc_loop *L, sc_int k)
{
    const sc_int i = L->limit_inputs[k];
    const double excess = L->limit_sides[k] > 0 ? L->u_commanded[i] - L->u_high[i] : L->u_low[i] - L->u_commanded[i];
    return excess > -1e300 ? excess : -1e300; /* a limit may be infinite in one run of a batch */
}

/* Evaluate the law at (t, s): set u_commanded and u; z_dot and z_next remain in the results of the law. */
static int sc_command(sc_loop *L, double t, const double *s)
{
    sc_int i;
    int status;
    if (L->law.kind == SC_NONE) return SC_GO;
    sc_fill_sincos(L, s);
    if (L->n_measured > 0) {
        sc_argument(&L->sensors, 0)[0] = t;
        sc_set_argument(&L->sensors, 1, s, L->n_x);
        status = sc_call(&L->sensors);
        if (status != SC_GO) return status;
        for (i = 0; i < L->n_measured; i++) sc_argument(&L->law, 2)[i] = L->sensors.res[0][L->y_map[i]];
    }
    sc_argument(&L->law, 0)[0] = t;
    sc_set_argument(&L->law, 1, s, L->n_x);
    sc_set_argument(&L->law, 3, sc_memory(L, s), L->n_z);
    if (L->n_r > 0) sc_table(L, t, sc_argument(&L->law, 4));
    L->n_law_calls++;
    status = sc_call(&L->law);
    if (status != SC_GO) return status;
    for (i = 0; i < L->n_commands; i++) L->u_commanded[L->u_map[i]] = L->law.res[0][i];
    for (i = 0; i < L->n_u; i++) {
        double value = L->u_commanded[i];
        if (value < L->u_low[i]) value = L->u_low[i];
        if (value > L->u_high[i]) value = L->u_high[i];
        L->u[i] = isfinite(L->u_commanded[i]) ? value : NAN; /* an infinite command is a failure, not the limit */
    }
    for (i = 0; i < L->n_limits; i++)
        if ((sc_excess(L, i) > 0.0) != L->is_beyond[i]) L->limit_changed = 1;
    return SC_GO;
}

/* Project a state onto the constraints, if there are any. */
static int sc_project(sc_loop *L, double t, double *s)
{
    int status;
    if (L->project.kind == SC_NONE) return SC_GO;
    sc_argument(&L->project, 0)[0] = t;
    sc_copy(sc_argument(&L->project, 1), s, L->n_x);
    status = sc_call(&L->project);
    if (status == SC_GO) sc_copy(s, L->project.res[0], L->n_x);
    return status;
}

/* Evaluate s_dot at (t, s). In a step that ends at a breakpoint, t stays before it. Mark non-finite entries in
 * `bad`. */
static int sc_right_hand_side(sc_loop *L, double t, const double *s, double *s_dot)
{
    sc_int i, n_bad = 0;
    int status;
    if (t > L->t_limit) t = L->t_limit;
    if (L->project_stages) {
        sc_copy(L->projected, s, L->n_s);
        status = sc_project(L, t, L->projected);
        if (status != SC_GO) return status;
        s = L->projected;
    }
    if (sc_is_continuous(L)) {
        status = sc_command(L, t, s);
        if (status != SC_GO) return status;
        sc_copy(s_dot + L->n_x, L->law.res[1], L->n_z);
    }
    sc_argument(&L->plant, 0)[0] = t;
    sc_set_argument(&L->plant, 1, s, L->n_x);
    sc_set_argument(&L->plant, 2, L->u, L->n_u);
    L->n_right_sides++;
    if (L->plant.kind == SC_GENERATED) L->plant.res[0] = s_dot;
    status = sc_call(&L->plant);
    if (status != SC_GO) return status;
    if (L->plant.kind != SC_GENERATED) sc_copy(s_dot, L->plant.res[0], L->n_x);
    for (i = 0; i < L->n_s; i++)
        if (!isfinite(s_dot[i])) n_bad++;
    if (n_bad == 0) return SC_GO;
    for (i = 0; i < L->n_s; i++) L->bad[i] = !isfinite(s_dot[i]);
    return SC_NOT_FINITE;
}

/* J = d s_dot / d s at (t, s), from the exact Jacobians of plant and law; saturated inputs do not depend on s. */
static int sc_exact_jacobian(sc_loop *L, double t)
{
    const sc_int n = L->n_s, n_x = L->n_x;
    const int with_law = sc_is_continuous(L);
    const double *A = L->plant_derivatives.res[0], *B = L->plant_derivatives.res[1], *U, *Z;
    sc_int i, j, k;
    int status;
    if (L->plant_derivatives.kind == SC_NONE || (with_law && L->law_derivatives.kind == SC_NONE)) return SC_NOT_FINITE;
    status = with_law ? sc_command(L, t, L->s) : SC_GO;
    if (status != SC_GO) return status;
    sc_argument(&L->plant_derivatives, 0)[0] = t;
    sc_copy(sc_argument(&L->plant_derivatives, 1), L->s, n_x);
    sc_copy(sc_argument(&L->plant_derivatives, 2), L->u, L->n_u);
    status = sc_call(&L->plant_derivatives);
    if (status != SC_GO) return status;
    for (i = 0; i < n_x; i++)
        for (j = 0; j < n; j++) L->J[i * n + j] = j < n_x ? A[j * n_x + i] : 0.0;
    if (with_law) {
        sc_argument(&L->law_derivatives, 0)[0] = t;
        sc_copy(sc_argument(&L->law_derivatives, 1), L->s, n);
        if (L->n_r > 0) sc_copy(sc_argument(&L->law_derivatives, 2), sc_argument(&L->law, 4), L->n_r);
        status = sc_call(&L->law_derivatives);
        if (status != SC_GO) return status;
        U = L->law_derivatives.res[0];
        Z = L->law_derivatives.res[1];
        for (k = 0; k < L->n_commands; k++) {
            const sc_int place = L->u_map[k];
            if (L->u_commanded[place] < L->u_low[place] || L->u_commanded[place] > L->u_high[place]) continue;
            for (i = 0; i < n_x; i++) {
                const double weight = B[place * n_x + i];
                if (weight != 0.0)
                    for (j = 0; j < n; j++) L->J[i * n + j] += weight * U[j * L->n_commands + k];
            }
        }
        for (i = 0; i < L->n_z; i++)
            for (j = 0; j < n; j++) L->J[(n_x + i) * n + j] = Z[j * L->n_z + i];
    }
    for (i = 0; i < n * n; i++)
        if (!isfinite(L->J[i])) return SC_NOT_FINITE;
    return SC_GO;
}

/* J by one-sided finite differences, one evaluation per column; the first row of K is s_dot at (t, s). */
static int sc_difference_jacobian(sc_loop *L, double t)
{
    const sc_int n = L->n_s;
    sc_int i, j;
    int status;
    sc_copy(L->stage, L->s, n);
    for (j = 0; j < n; j++) {
        const double unit = L->atol[j] / L->rtol > 1e-3 ? L->atol[j] / L->rtol : 1e-3, size = fabs(L->s[j]);
        L->stage[j] = L->s[j] + (L->K[j] < 0.0 ? -1.5e-8 : 1.5e-8) * (size > unit ? size : unit);
        status = sc_right_hand_side(L, t, L->stage, L->K + n);
        if (status != SC_GO) return status;
        for (i = 0; i < n; i++) L->J[i * n + j] = (L->K[n + i] - L->K[i]) / (L->stage[j] - L->s[j]);
        L->stage[j] = L->s[j];
    }
    return SC_GO;
}

/* Evaluate J for the step that begins at (t, s), by finite differences if exact Jacobians are missing or not
 * finite. */
static int sc_jacobian(sc_loop *L)
{
    const double t = L->t > L->t_limit ? L->t_limit : L->t;
    int status = sc_exact_jacobian(L, t);
    if (status == SC_NOT_FINITE) status = sc_difference_jacobian(L, t);
    if (status != SC_GO) return status;
    L->n_jacobians++;
    L->is_jacobian_current = 1;
    L->wants_jacobian = 0;
    L->lu_h = 0.0;
    return SC_GO;
}

/* Normalise the unit quaternions of s, and scale the same entries of `rate`, if given, by the same factor. */
static void sc_normalise(const sc_loop *L, double *s, double *rate)
{
    sc_int i, j;
    for (i = 0; i < L->n_quaternions; i++) {
        double *q = s + L->quaternions[i];
        double factor = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (j = 0; j < 4; j++) q[j] *= factor;
        if (rate)
            for (j = 0; j < 4; j++) rate[L->quaternions[i] + j] *= factor;
    }
}

/* Tolerance of state m with values a and b at the ends of a step. */
static double sc_scale(const sc_loop *L, sc_int m, double a, double b)
{
    a = fabs(a);
    b = fabs(b);
    return L->atol[m] + L->rtol * (a > b ? a : b);
}

/* Difference below which two times are considered equal. */
static double sc_instant(const sc_loop *L, double t)
{
    double size = fabs(t) > fabs(L->t_start) ? fabs(t) : fabs(L->t_start);
    return 8.0 * 2.220446049250313e-16 * size;
}

#endif
