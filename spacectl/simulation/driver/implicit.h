/* Implicit steps for stiff loops: Radau IIA with three stages, a simplified Newton method with one real and one
 * complex linear system, an exact Jacobian where available (else finite differences), and predictive step control.
 * See Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8. The reference implementation is
 * reference/implicit.py. */
#ifndef SC_IMPLICIT_H
#define SC_IMPLICIT_H

#include <math.h>

#include "loop.h"
#include "lu.h"
#include "right_hand_side.h"
#include "rk.h"

#define SC_MAX_NEWTON 7 /* largest number of iterations */
#define SC_REUSE 1e-2   /* rate of convergence up to which a Jacobian is reused */

/* Factorise gamma/h - J and (alpha + i beta)/h - J; return 0 if one of them is singular. */
static int sc_factorise(sc_loop *L, double h)
{
    const sc_int n = L->n_s;
    sc_int m;
    for (m = 0; m < n * n; m++) {
        L->lu_real[m] = L->lu_re[m] = -L->J[m];
        L->lu_im[m] = 0.0;
    }
    for (m = 0; m < n; m++) {
        L->lu_real[m * n + m] += L->eigenvalues[0] / h;
        L->lu_re[m * n + m] += L->eigenvalues[1] / h;
        L->lu_im[m * n + m] += L->eigenvalues[2] / h;
    }
    L->n_factorisations++;
    L->lu_h = h;
    return sc_lu(n, L->lu_real, L->pivots) && sc_lu_complex(n, L->lu_re, L->lu_im, L->pivots + n);
}

/* to = matrix * from, with a 3 x 3 matrix and three rows of n_s values. */
static void sc_transform(const sc_loop *L, const double *matrix, const double *from, double *to)
{
    const sc_int n = L->n_s;
    sc_int i, m;
    for (i = 0; i < 3; i++)
        for (m = 0; m < n; m++)
            to[i * n + m] = matrix[3 * i] * from[m] + matrix[3 * i + 1] * from[n + m] + matrix[3 * i + 2] * from[2 * n + m];
}

/* Initial guess of the stages: extrapolate the polynomial of the last step; use zero increments after a jump. */
static void sc_predict_stages(sc_loop *L, double h)
{
    const sc_int n = L->n_s;
    sc_int i, m;
    for (i = 0; i < 3; i++) {
        const double f = L->has_history ? 1.0 + L->C[i] * h / L->h : 1.0, h_old = L->has_history ? L->h : 0.0;
        for (m = 0; m < n; m++) {
            const double *Q = L->Q + m;
            L->Z[i * n + m] = h_old * (f - 1.0) * (Q[0] - f * (Q[n] + f * Q[2 * n]));
        }
    }
    sc_transform(L, L->T_inverse, L->Z, L->W);
}

/* Solve the stage equations; return SC_GO, SC_NO_CONVERGENCE, or the status of the right-hand side. */
static int sc_newton(sc_loop *L, double h)
{
    const sc_int n = L->n_s;
    const double gamma = L->eigenvalues[0] / h, alpha = L->eigenvalues[1] / h, beta = L->eigenvalues[2] / h;
    double size = 0.0, size_old = 0.0, rate_old = 0.0, *dW = L->dW;
    sc_int i, m, k;
    int status;
    sc_predict_stages(L, h);
    L->eta = pow(L->eta > 2.220446049250313e-16 ? L->eta : 2.220446049250313e-16, 0.8);
    L->theta = 0.0;
    for (k = 0; k < SC_MAX_NEWTON; k++) {
        L->n_newton = k + 1;
        for (i = 0; i < 3; i++) {
            for (m = 0; m < n; m++) L->stage[m] = L->s[m] + L->Z[i * n + m];
            status = sc_right_hand_side(L, L->t + L->C[i] * h, L->stage, L->Z + i * n); /* Z is recomputed below */
            if (status != SC_GO) return status;
        }
        sc_transform(L, L->T_inverse, L->Z, dW);
        for (m = 0; m < n; m++) {
            const double w1 = L->W[n + m], w2 = L->W[2 * n + m];
            dW[m] -= gamma * L->W[m];
            dW[n + m] -= alpha * w1 - beta * w2;
            dW[2 * n + m] -= beta * w1 + alpha * w2;
        }
        sc_lu_solve(n, L->lu_real, L->pivots, dW);
        sc_lu_solve_complex(n, L->lu_re, L->lu_im, L->pivots + n, dW + n, dW + 2 * n);
        size = 0.0;
        for (m = 0; m < n; m++) L->sum[m] = 0.0;
        for (i = 0; i < 3; i++)
            for (m = 0; m < n; m++) {
                const double part = dW[i * n + m] / sc_scale(L, m, L->s[m], L->s[m]);
                size += part * part;
                L->sum[m] += fabs(dW[i * n + m]); /* for sc_mark_worst if the iteration fails */
            }
        size = sqrt(size / (3.0 * (double)n));
        for (m = 0; m < 3 * n; m++) L->W[m] += dW[m];
        sc_transform(L, L->T, L->W, L->Z);
        if (k > 0) {
            const double rate = size / size_old;
            L->theta = k == 1 ? rate : sqrt(rate * rate_old);
            rate_old = rate;
            if (!(L->theta < 0.99)) break;
            L->eta = L->theta / (1.0 - L->theta);
            if (L->eta * size <= L->newton_tol) return SC_GO;
            if (L->eta * size * pow(L->theta, (double)(SC_MAX_NEWTON - 1 - k)) > L->newton_tol) break; /* too slow */
        } else if (L->eta * size <= L->newton_tol) {
            return SC_GO;
        }
        size_old = size;
    }
    L->eta = 1.0;
    /* Increments far below the tolerance that no longer decrease are rounding errors. */
    return L->is_jacobian_current && size <= fmin(0.01, 1e3 * L->newton_tol) ? SC_GO : SC_NO_CONVERGENCE;
}

/* Error estimate L->sum = (gamma/h - J)^-1 (rate + gamma/h E Z); return its norm relative to the tolerance. */
static double sc_filtered_error(sc_loop *L, double h, const double *rate)
{
    const sc_int n = L->n_s;
    const double weight = L->eigenvalues[0] / h, *E = L->E, *Z = L->Z;
    double total = 0.0;
    sc_int m;
    for (m = 0; m < n; m++) L->sum[m] = rate[m] + weight * (E[0] * Z[m] + E[1] * Z[n + m] + E[2] * Z[2 * n + m]);
    sc_lu_solve(n, L->lu_real, L->pivots, L->sum);
    for (m = 0; m < n; m++) {
        const double part = L->sum[m] / sc_scale(L, m, L->s[m], L->s_new[m]);
        total += part * part;
    }
    return sqrt(total / (double)n);
}

/* Error of the collocation polynomial inside the step, which the other estimate misses in stiff states; return its
 * norm relative to the tolerance. After a jump s_dot contains a fast transient, which the linear system then
 * filters out. */
static double sc_inside_error(sc_loop *L, double h)
{
    const sc_int n = L->n_s;
    const double *E = L->E + 4, *Z = L->Z, *rate = L->has_history ? L->end_rate : L->K;
    double total = 0.0;
    sc_int m;
    for (m = 0; m < n; m++) L->sum_second[m] = E[0] * Z[m] + E[1] * Z[n + m] + E[2] * Z[2 * n + m] + E[3] * h * rate[m];
    if (!L->has_history) {
        sc_lu_solve(n, L->lu_real, L->pivots, L->sum_second);
        for (m = 0; m < n; m++) L->sum_second[m] *= L->eigenvalues[0] / h;
    }
    for (m = 0; m < n; m++) {
        const double part = L->sum_second[m] / sc_scale(L, m, L->s[m], L->s_new[m]);
        total += part * part;
    }
    return sqrt(total / (double)n);
}

/* Attempt a step of length h: stages, s_new, error, s_dot at the end and dense output. */
static int sc_implicit_attempt(sc_loop *L, double h, double *error)
{
    const sc_int n = L->n_s;
    sc_int m;
    double inside;
    int status = SC_GO;
    if (L->wants_jacobian && !L->is_jacobian_current) status = sc_jacobian(L);
    for (;;) {
        if (status != SC_GO) return status;
        /* the Newton method is simplified anyway: a step length that differs by rounding needs no new factors */
        if (fabs(h - L->lu_h) > 1e-6 * h && !sc_factorise(L, h)) {
            L->lu_h = 0.0;
            status = SC_NO_CONVERGENCE;
        } else {
            status = sc_newton(L, h);
        }
        if (status == SC_GO) break;
        if (status == SC_CALLBACK_ERROR || L->is_jacobian_current) return status;
        status = sc_jacobian(L);
    }
    for (m = 0; m < n; m++) L->s_new[m] = L->s[m] + L->Z[2 * n + m];
    *error = sc_filtered_error(L, h, L->K);
    if (*error > 1.0) { /* a fast transient may dominate the estimate: filter it again */
        for (m = 0; m < n; m++) L->stage[m] = L->s[m] + L->sum[m];
        status = sc_right_hand_side(L, L->t, L->stage, L->K + n);
        if (status == SC_CALLBACK_ERROR) return status;
        if (status == SC_GO) *error = sc_filtered_error(L, h, L->K + n);
    }
    inside = sc_inside_error(L, h);
    if (inside > 1.0 && !(inside < 0.5 * L->error_inside)) inside = 1.0; /* ignore it: it does not decrease with h */
    else L->error_inside = inside;
    if (inside > *error) *error = inside;
    if (!(*error <= 1.0)) return SC_GO;
    status = sc_right_hand_side(L, L->t_new, L->s_new, L->K + 3 * n);
    if (status != SC_GO) return status;
    L->error_inside = INFINITY;
    L->wants_jacobian = L->theta > SC_REUSE;
    L->is_jacobian_current = 0;
    sc_transform(L, L->F, L->Z, L->Q);
    for (m = 0; m < 3 * n; m++) L->Q[m] /= h;
    for (m = 0; m < n; m++) L->end_rate[m] = (L->R[0] * L->Z[m] + L->R[1] * L->Z[n + m] + L->R[2] * L->Z[2 * n + m]) / h;
    return SC_GO;
}

/* Factor for the next step length, from the error, the number of iterations and, after an accepted step, the trend
 * of the errors. */
static double sc_implicit_factor(const sc_loop *L, double h, double error, int accepted)
{
    const double safety = 0.9 * (2.0 * SC_MAX_NEWTON + 1.0) / (2.0 * SC_MAX_NEWTON + (double)L->n_newton);
    double factor, trend, error_old;
    if (!(error < 1e300)) return 0.2;
    if (error < 1e-10) error = 1e-10;
    factor = safety * pow(error, -0.25);
    if (accepted && L->has_history) {
        error_old = L->error_old > 1e-2 ? L->error_old : 1e-2;
        trend = safety * h / L->h * pow(error_old / (error * error), 0.25);
        if (trend < factor) factor = trend;
    }
    if (accepted && !L->wants_jacobian && factor >= 1.0 && factor < 1.2) return 1.0; /* reuse the factors */
    return factor < 0.2 ? 0.2 : factor > 8.0 ? 8.0 : factor;
}

#endif
