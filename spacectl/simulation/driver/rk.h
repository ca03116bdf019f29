/* Adaptive explicit Runge-Kutta steps with dense output; the coefficients come from sc_loop. */
#ifndef SC_RK_H
#define SC_RK_H

#include <math.h>

#include "adams.h"
#include "singularity.h"
#include "loop.h"
#include "right_hand_side.h"

/* Sums of `width` states; width is a compile-time constant at each call, so that the sums stay in registers. */
static inline void sc_combine_block(
    const double *K, sc_int n, const double *weights, sc_int count, double *sum, const int width)
{
    double part[8] = {0.0};
    sc_int j;
    int i;
    for (j = 0; j < count; j++) {
        const double weight = weights[j], *row = K + j * n;
        if (weight == 0.0) continue;
        for (i = 0; i < width; i++) part[i] += weight * row[i];
    }
    for (i = 0; i < width; i++) sum[i] = part[i];
}

/* sum = sum_j weights[j] K[j] over the first `count` rows of K, without rows of weight zero. The last block may
 * overlap the previous one; sums that are computed twice are equal. */
static void sc_combine(const sc_loop *L, const double *weights, sc_int count, double *sum)
{
    const sc_int n = L->n_s;
    const double *K = L->K;
    sc_int m;
    if (n >= 8) {
        for (m = 0; m + 8 <= n; m += 8) sc_combine_block(K + m, n, weights, count, sum + m, 8);
        if (n % 8 != 0) sc_combine_block(K + n - 8, n, weights, count, sum + n - 8, 8);
    } else if (n >= 4) {
        sc_combine_block(K, n, weights, count, sum, 4);
        if (n > 4) sc_combine_block(K + n - 4, n, weights, count, sum + n - 4, 4);
    } else {
        for (m = 0; m < n; m++) sc_combine_block(K + m, n, weights, count, sum + m, 1);
    }
}

/* Compute the state of stage i for a step of length h and, if `evaluate`, row i of K. */
static int sc_stage(sc_loop *L, sc_int i, double h, double *state, int evaluate)
{
    sc_int m, n = L->n_s, rows = L->n_stages + 1 + L->n_extra;
    sc_combine(L, L->A + i * rows, i, L->sum);
    for (m = 0; m < n; m++) state[m] = L->s[m] + h * L->sum[m];
    return evaluate ? sc_right_hand_side(L, L->t + L->C[i] * h, state, L->K + i * n) : SC_GO;
}

/* Norm of the error estimate relative to the tolerance; a step with at most 1 is accepted. */
static double sc_error(sc_loop *L, double h)
{
    sc_int m, n = L->n_s, columns = L->n_stages + 1;
    double first = 0.0, second = 0.0;
    sc_combine(L, L->E, columns, L->sum);
    sc_combine(L, L->E + columns, columns, L->sum_second);
    for (m = 0; m < n; m++) {
        double scale = sc_scale(L, m, L->s[m], L->s_new[m]), e = L->sum[m] / scale, e_second = L->sum_second[m] / scale;
        first += e * e;
        second += e_second * e_second;
    }
    if (first == 0.0 && second == 0.0) return 0.0;
    if (L->has_error_pair) return h * first / sqrt((first + 0.01 * second) * (double)n);
    return h * sqrt(first / (double)n);
}

/* Mark the state with the largest error in `bad`, after sc_error. */
static void sc_mark_worst(sc_loop *L)
{
    sc_int m, worst = 0;
    double largest = -1.0;
    for (m = 0; m < L->n_s; m++) {
        double size = fabs(L->sum[m]) / sc_scale(L, m, L->s[m], L->s_new[m]);
        L->bad[m] = 0;
        if (size > largest) {
            largest = size;
            worst = m;
        }
    }
    L->bad[worst] = 1;
}

/* Choose the length of the first step from the norms of s, s_dot and the change of s_dot (Hairer, Norsett and Wanner,
 * Solving Ordinary Differential Equations I, II.4). */
static int sc_first_step(sc_loop *L)
{
    sc_int m, n = L->n_s;
    double d0 = 0.0, d1 = 0.0, d2 = 0.0, h0, h1, largest, span = L->t_end - L->t;
    double *f0 = L->K, *f1 = L->K + n;
    int status;
    for (m = 0; m < n; m++) {
        double scale = sc_scale(L, m, L->s[m], L->s[m]), a = L->s[m] / scale, b = f0[m] / scale;
        d0 += a * a;
        d1 += b * b;
    }
    d0 = sqrt(d0 / (double)n);
    d1 = sqrt(d1 / (double)n);
    h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    if (h0 > span) h0 = span;
    if (h0 > L->max_step) h0 = L->max_step;
    for (m = 0; m < n; m++) L->stage[m] = L->s[m] + h0 * f0[m];
    status = sc_right_hand_side(L, L->t + h0, L->stage, f1);
    if (status == SC_CALLBACK_ERROR) return status;
    if (status == SC_NOT_FINITE) {
        L->h_next = 1e-3 * h0;
        return SC_GO;
    }
    for (m = 0; m < n; m++) {
        double change = (f1[m] - f0[m]) / sc_scale(L, m, L->s[m], L->s[m]);
        d2 += change * change;
    }
    d2 = sqrt(d2 / (double)n) / h0;
    largest = d1 > d2 ? d1 : d2;
    if (largest <= 1e-15) h1 = 1e-6 > 1e-3 * h0 ? 1e-6 : 1e-3 * h0;
    else h1 = pow(0.01 / largest, 1.0 / ((double)L->error_order + 1.0));
    L->h_next = 100.0 * h0 < h1 ? 100.0 * h0 : h1;
    return SC_GO;
}

/* Attempt a step of length h: stages, s_new, error, s_dot at the end and, if needed, the dense output. */
static int sc_attempt(sc_loop *L, double h, int needs_dense, double *error)
{
    sc_int i, m, p, n = L->n_s, last = L->n_stages, rows = L->n_stages + 1 + L->n_extra;
    int status;
    for (i = 1; i < last; i++) {
        status = sc_stage(L, i, h, L->stage, 1);
        if (status != SC_GO) return status;
    }
    status = sc_stage(L, last, h, L->s_new, (int)L->needs_end_rate);
    if (status != SC_GO) return status;
    *error = sc_error(L, h);
    if (!(*error <= 1.0)) return SC_GO;
    if (!L->needs_end_rate) {
        status = sc_stage(L, last, h, L->s_new, 1);
        if (status != SC_GO) return status;
    }
    if (!needs_dense && !L->limit_changed) return SC_GO;
    for (i = last + 1; i < rows; i++) {
        status = sc_stage(L, i, h, L->stage, 1);
        if (status != SC_GO) return status;
    }
    for (p = 0; p < L->n_terms; p++) {
        sc_combine(L, L->F + p * rows, rows, L->sum);
        for (m = 0; m < n; m++) L->Q[p * n + m] = L->sum[m];
    }
    return SC_GO;
}

/* State at time t inside the accepted step, with unit quaternions; s is still the state at the beginning of the
 * step. */
static void sc_dense(sc_loop *L, double t, double *out)
{
    sc_int m, p, n = L->n_s;
    double f;
    if (t >= L->t_new) {
        sc_copy(out, L->s_new, n);
    } else if (L->is_long) {
        sc_long_state(L, (t - L->t) / L->long_h, out);
    } else if (L->is_multistep) {
        sc_adams_inside(L, (t - L->t) / L->h, out);
    } else {
        f = (t - L->t) / L->h;
        for (m = 0; m < n; m++) out[m] = 0.0;
        for (p = L->n_terms - 1; p >= 0; p--) {
            const double factor = p % 2 == 0 ? f : 1.0 - f;
            for (m = 0; m < n; m++) out[m] = (out[m] + L->Q[p * n + m]) * factor;
        }
        for (m = 0; m < n; m++) out[m] = L->s[m] + L->h * out[m];
    }
    sc_normalise(L, out, 0);
}

/* Factor for the next step length: PI control after an accepted step, proportional control after a rejected one. */
static double sc_factor(const sc_loop *L, double error, int accepted)
{
    double order = (double)L->error_order + 1.0, factor;
    if (error == 0.0) return 10.0;
    if (!(error < 1e300)) return 0.2;
    if (accepted) factor = 0.9 * pow(error, -0.85 / order) * pow(L->error_old, 0.2 / order);
    else factor = 0.9 * pow(error, -1.0 / order);
    return factor < 0.2 ? 0.2 : factor > 10.0 ? 10.0 : factor;
}

#endif
