/* One evaluation of the closed loop (measurements and reference, law, limits, plant), and its Jacobian. */
#ifndef SC_RIGHT_SIDE_H
#define SC_RIGHT_SIDE_H

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

/* Where argument i of a function is read from. */
static double *sc_argument(sc_function *f, int i)
{
    return (double *)f->arg[i];
}

/* Let argument i be these n numbers: compiled code reads them where they are, the others have fixed buffers. */
static void sc_give(sc_function *f, int i, const double *values, sc_int n)
{
    if (f->kind == SC_GENERATED) f->arg[i] = values;
    else sc_copy(sc_argument(f, i), values, n);
}

/* A failed evaluation leaves results that are not finite, which the step control then meets. */
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

/* Memory that belongs to the integrated state s. */
static const double *sc_memory(const sc_loop *L, const double *s)
{
    return sc_is_continuous(L) ? s + L->n_x : L->z;
}

/* The table of sines and cosines at s, from which the law's sensors, the law and then the plant read. */
static void sc_turn(const sc_loop *L, const double *s)
{
    sc_int k;
    for (k = 0; k < L->n_angles; k++) {
        const sc_int i = L->angles[k];
        L->turns[2 * i] = sin(s[i]);
        L->turns[2 * i + 1] = cos(s[i]);
    }
}

/* How far the command is beyond limit k. */
static double sc_beyond(const sc_loop *L, sc_int k)
{
    const sc_int i = L->limit_inputs[k];
    const double beyond = L->limit_sides[k] > 0 ? L->u_commanded[i] - L->u_high[i] : L->u_low[i] - L->u_commanded[i];
    return beyond > -1e300 ? beyond : -1e300; /* a limit may be infinite in this run */
}

/* Call the law at (t, s); sets u_commanded and u, and leaves z_dot and z_next in the law's results. */
static int sc_command(sc_loop *L, double t, const double *s)
{
    sc_int i;
    int status;
    if (L->law.kind == SC_NONE) return SC_GO;
    sc_turn(L, s);
    if (L->n_measured > 0) {
        sc_argument(&L->sensors, 0)[0] = t;
        sc_give(&L->sensors, 1, s, L->n_x);
        status = sc_call(&L->sensors);
        if (status != SC_GO) return status;
        for (i = 0; i < L->n_measured; i++) sc_argument(&L->law, 2)[i] = L->sensors.res[0][L->y_map[i]];
    }
    sc_argument(&L->law, 0)[0] = t;
    sc_give(&L->law, 1, s, L->n_x);
    sc_give(&L->law, 3, sc_memory(L, s), L->n_z);
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
        if ((sc_beyond(L, i) > 0.0) != L->is_beyond[i]) L->saw_limit = 1;
    return SC_GO;
}

/* Moves a state to where it meets the constraints, if there are any. */
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

/* s_dot at (t, s); before a breakpoint, time is kept on its left side. Notes entries that are not finite in `bad`. */
static int sc_right_side(sc_loop *L, double t, const double *s, double *s_dot)
{
    sc_int i, n_bad = 0;
    int status;
    if (t > L->t_limit) t = L->t_limit;
    if (L->project_stages) {
        sc_copy(L->on_set, s, L->n_s);
        status = sc_project(L, t, L->on_set);
        if (status != SC_GO) return status;
        s = L->on_set;
    }
    if (sc_is_continuous(L)) {
        status = sc_command(L, t, s);
        if (status != SC_GO) return status;
        sc_copy(s_dot + L->n_x, L->law.res[1], L->n_z);
    }
    sc_argument(&L->plant, 0)[0] = t;
    sc_give(&L->plant, 1, s, L->n_x);
    sc_give(&L->plant, 2, L->u, L->n_u);
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

/* J = d s_dot / d s at (t, s), from the exact slopes of plant and law; an input beyond its limits has none. */
static int sc_exact_jacobian(sc_loop *L, double t)
{
    const sc_int n = L->n_s, n_x = L->n_x;
    const int with_law = sc_is_continuous(L);
    const double *A = L->plant_slopes.res[0], *B = L->plant_slopes.res[1], *U, *Z;
    sc_int i, j, k;
    int status;
    if (L->plant_slopes.kind == SC_NONE || (with_law && L->law_slopes.kind == SC_NONE)) return SC_NOT_FINITE;
    status = with_law ? sc_command(L, t, L->s) : SC_GO;
    if (status != SC_GO) return status;
    sc_argument(&L->plant_slopes, 0)[0] = t;
    sc_copy(sc_argument(&L->plant_slopes, 1), L->s, n_x);
    sc_copy(sc_argument(&L->plant_slopes, 2), L->u, L->n_u);
    status = sc_call(&L->plant_slopes);
    if (status != SC_GO) return status;
    for (i = 0; i < n_x; i++)
        for (j = 0; j < n; j++) L->J[i * n + j] = j < n_x ? A[j * n_x + i] : 0.0;
    if (with_law) {
        sc_argument(&L->law_slopes, 0)[0] = t;
        sc_copy(sc_argument(&L->law_slopes, 1), L->s, n);
        if (L->n_r > 0) sc_copy(sc_argument(&L->law_slopes, 2), sc_argument(&L->law, 4), L->n_r);
        status = sc_call(&L->law_slopes);
        if (status != SC_GO) return status;
        U = L->law_slopes.res[0];
        Z = L->law_slopes.res[1];
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

/* The same by one-sided differences, one evaluation a column; K holds the rate at (t, s) in its first row. */
static int sc_difference_jacobian(sc_loop *L, double t)
{
    const sc_int n = L->n_s;
    sc_int i, j;
    int status;
    sc_copy(L->stage, L->s, n);
    for (j = 0; j < n; j++) {
        const double unit = L->atol[j] / L->rtol > 1e-3 ? L->atol[j] / L->rtol : 1e-3, size = fabs(L->s[j]);
        L->stage[j] = L->s[j] + (L->K[j] < 0.0 ? -1.5e-8 : 1.5e-8) * (size > unit ? size : unit);
        status = sc_right_side(L, t, L->stage, L->K + n);
        if (status != SC_GO) return status;
        for (i = 0; i < n; i++) L->J[i * n + j] = (L->K[n + i] - L->K[i]) / (L->stage[j] - L->s[j]);
        L->stage[j] = L->s[j];
    }
    return SC_GO;
}

/* A new Jacobian for the step that begins at (t, s); differences where exact derivatives are missing or not finite. */
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

/* Scale unit quaternions of s, and the same entries of `rate` if given, by one factor. */
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

/* What counts as an error of 1 in state m between the values a and b. */
static double sc_scale(const sc_loop *L, sc_int m, double a, double b)
{
    a = fabs(a);
    b = fabs(b);
    return L->atol[m] + L->rtol * (a > b ? a : b);
}

/* Times closer than this are one instant. */
static double sc_instant(const sc_loop *L, double t)
{
    double size = fabs(t) > fabs(L->t_start) ? fabs(t) : fabs(L->t_start);
    return 8.0 * 2.220446049250313e-16 * size;
}

#endif
