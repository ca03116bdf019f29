/* Adams-Bashforth-Moulton steps of variable length and order, in PECE mode: a polynomial through previous values of
 * s_dot predicts the step, s_dot at the prediction corrects it, and s_dot is evaluated again. A step costs two
 * evaluations. methods/adams.py has the equations; reference/adams.py is the reference implementation. */
#ifndef SC_ADAMS_H
#define SC_ADAMS_H

#include <math.h>

#include "loop.h"
#include "right_hand_side.h"

#define SC_MAX_ADAMS 12 /* highest order of the predictor */

/* weights[i], i < count: integral from 0 to f of the product of 1 - ratios[j] (1 - x) over j < i. */
static void sc_adams_weights(const sc_loop *L, sc_int count, double f, double *weights)
{
    double work[SC_MAX_ADAMS + 1], power = f;
    sc_int i, q;
    for (q = 0; q < count; q++) {
        work[q] = power * L->C[q];
        power *= f;
    }
    weights[0] = f;
    for (i = 1; i < count; i++) {
        const double a = L->ratios[i - 1], b = 1.0 - a * (1.0 - f);
        for (q = 0; q < count - i; q++) work[q] = b * work[q] - a * work[q + 1];
        weights[i] = work[0];
    }
}

/* Restart with order 1 from s_dot at (t, s) alone; the caller uses the step length of the last successful start. */
static void sc_adams_begin(sc_loop *L)
{
    L->order = L->order_next = L->n_points = L->is_starting = 1;
    L->n_failed = L->n_waits = 0;
    sc_copy(L->differences, L->K, L->n_s);
}

/* Predict a step of length h: set `scaled`, the derivative of the polynomial at the end (end_rate), and the predicted
 * state (stage). */
static void sc_adams_predict(sc_loop *L, double h)
{
    const sc_int n = L->n_s, k = L->order, rows = k < L->n_points ? k + 1 : k;
    double beta[SC_MAX_ADAMS + 1];
    sc_int i, m;
    L->spans_new[0] = h;
    for (i = 1; i < L->n_points; i++) L->spans_new[i] = L->spans[i - 1] + h;
    for (i = 0; i < L->n_points; i++) L->ratios[i] = h / L->spans_new[i];
    beta[0] = 1.0;
    for (i = 1; i < rows; i++) beta[i] = beta[i - 1] * (L->spans_new[i - 1] / L->spans[i - 1]);
    sc_adams_weights(L, k + 1, 1.0, L->weights);
    if (rows > k)
        for (m = 0; m < n; m++) L->scaled[k * n + m] = beta[k] * L->differences[k * n + m];
    for (m = 0; m < n; m++) L->end_rate[m] = L->stage[m] = 0.0;
    for (i = k - 1; i >= 0; i--) {
        const double factor = beta[i], weight = L->weights[i], *from = L->differences + i * n;
        double *to = L->scaled + i * n, *rate = L->end_rate, *state = L->stage;
        for (m = 0; m < n; m++) {
            const double value = factor * from[m];
            to[m] = value;
            rate[m] += value;
            state[m] += weight * value;
        }
    }
    for (m = 0; m < n; m++) L->stage[m] = L->s[m] + h * L->stage[m];
}

/* Factor for the step length at order k with the given error; the target is half the tolerance. */
static double sc_adams_growth(double error, sc_int k, double most)
{
    const double factor = error < 1e-10 ? most : pow(0.5 / error, 1.0 / ((double)k + 1.0));
    return factor < 0.5 ? 0.5 : factor > most ? most : factor;
}

/* Choose the order and length of the next step after an accepted one. e0 and e1 are the errors at this order and
 * the next lower one; `unit` is the error constant of the next higher one. */
static void sc_adams_choose(sc_loop *L, double h, double e0, double e1, double unit)
{
    const sc_int n = L->n_s, k = L->order;
    double e = e0, up = INFINITY;
    sc_int m;
    if (L->n_points == 1) L->h_start = h * sc_adams_growth(e0, 1, 8.0);
    if (L->is_starting && L->order_next == k && k < SC_MAX_ADAMS) { /* start-up: the order grows with each step */
        L->order_next = k + 1;
        L->growth = k == 1 ? fmax(2.0, sc_adams_growth(e0, 1, 8.0)) : 2.0;
        return;
    }
    L->is_starting = 0;
    if (L->order_next == k && L->n_points > k && k < SC_MAX_ADAMS) {
        const double *end = L->K + n, *last = L->scaled + k * n;
        up = 0.0;
        for (m = 0; m < n; m++) {
            const double part = (end[m] - L->end_rate[m] - last[m]) * L->sum_second[m];
            up += part * part;
        }
        up = h * unit * sqrt(up / (double)n);
        if (e1 <= e0 && e1 <= up) L->order_next = k - 1;
        else if (up < 0.2 * e0) L->order_next = k + 1; /* lower orders are stable with longer steps */
    }
    if (L->order_next != k) e = L->order_next < k ? e1 : up;
    L->growth = sc_adams_growth(e, L->order_next, 2.0);
    if (L->growth > 1.0 && L->growth < 1.1) L->growth = 1.0;
    if (L->n_waits > 0) {
        L->n_waits--;
        if (L->growth > 1.0) L->growth = 1.0;
    }
}

/* Attempt a step of length h: s_new, error, s_dot at the end, and order and length of the next step. */
static int sc_adams_attempt(sc_loop *L, double h, double *error)
{
    const sc_int n = L->n_s, k = L->order;
    const double *E = L->E, *top = L->scaled + (k - 1) * n, *below = L->scaled + (k > 1 ? k - 2 : 0) * n;
    double *rate = L->K + n, *unit = L->sum_second, e0 = 0.0, e1 = 0.0, e2 = 0.0, sigma = 1.0, lower = 1.0, lowest = 1.0;
    sc_int i, m;
    int status;
    sc_adams_predict(L, h);
    status = sc_right_hand_side(L, L->t_new, L->stage, rate);
    if (status != SC_GO) return status;
    for (m = 0; m < n; m++) {
        const double change = rate[m] - L->end_rate[m];
        L->sum[m] = change;
        unit[m] = 1.0 / sc_scale(L, m, L->s[m], L->stage[m]);
        const double a = change * unit[m], b = (change + top[m]) * unit[m], c = (change + top[m] + below[m]) * unit[m];
        e0 += a * a;
        e1 += b * b;
        e2 += c * c;
    }
    for (i = 1; i <= k; i++) { /* i! h^i over the product of the spans, 1 for equal steps */
        lowest = lower;
        lower = sigma;
        sigma *= (double)i * L->ratios[i - 1];
    }
    e0 = sqrt(e0 / (double)n);
    *error = h * fabs(L->weights[k] - L->weights[k - 1]) * e0;
    e0 *= h * E[k] * sigma;
    e1 = k > 1 ? h * E[k - 1] * lower * sqrt(e1 / (double)n) : INFINITY;
    e2 = k > 2 ? h * E[k - 2] * lowest * sqrt(e2 / (double)n) : e1;
    L->order_next = k > 1 && (k > 2 ? e1 <= e0 && e2 <= e0 : e1 <= 0.5 * e0) ? k - 1 : k;
    if (!(*error <= 1.0)) {
        const double factor = *error < 1e300 ? 0.8 * pow(*error, -1.0 / ((double)k + 1.0)) : 0.1;
        L->growth = factor > 0.9 ? 0.9 : factor > 0.1 ? factor : 0.1;
        sc_copy(L->s_new, L->stage, n); /* sc_mark_worst uses it */
        return SC_GO;
    }
    if (k < L->n_points) {
        const double share = L->A[k], *next = L->scaled + k * n;
        for (m = 0; m < n; m++) L->sum[m] = share * L->sum[m] + (1.0 - share) * next[m];
    }
    for (m = 0; m < n; m++) L->s_new[m] = L->stage[m] + h * L->weights[k] * L->sum[m];
    status = sc_right_hand_side(L, L->t_new, L->s_new, rate);
    if (status != SC_GO) return status;
    sigma *= k < L->n_points ? (double)(k + 1) * L->ratios[k] : 1.0;
    sc_adams_choose(L, h, e0, e1, E[k + 1] * sigma);
    return SC_GO;
}

/* After a rejected attempt: do not increase the step for a while; after three, discard the history. */
static void sc_adams_retry(sc_loop *L)
{
    L->order = L->order_next;
    L->is_starting = 0;
    L->n_waits = L->order + 1;
    if (++L->n_failed >= 3) sc_adams_begin(L);
}

/* State at the fraction f of the step. It is exact at both ends; its derivative is the polynomial through the previous
 * values of s_dot and the one at the prediction. */
static void sc_adams_inside(const sc_loop *L, double f, double *out)
{
    const sc_int n = L->n_s, k = L->order;
    double weights[SC_MAX_ADAMS + 1];
    sc_int i, m;
    sc_adams_weights(L, k + 1, f, weights);
    for (m = 0; m < n; m++) out[m] = weights[k] * L->sum[m];
    for (i = k - 1; i >= 0; i--)
        for (m = 0; m < n; m++) out[m] += weights[i] * L->scaled[i * n + m];
    for (m = 0; m < n; m++) out[m] = L->s[m] + L->h * out[m];
}

/* Add s_dot at the end (row 1 of K) to the history. */
static void sc_adams_shift(sc_loop *L)
{
    const sc_int n = L->n_s, k = L->order;
    const double *end = L->K + n;
    double *D = L->differences, *sum = L->sum;
    sc_int i, m;
    for (m = 0; m < n; m++) {
        const double change = end[m] - L->end_rate[m];
        D[k * n + m] = sum[m] = change;
        if (L->n_points > k) D[(k + 1) * n + m] = change - L->scaled[k * n + m];
    }
    for (i = k - 1; i >= 1; i--)
        for (m = 0; m < n; m++) {
            sum[m] += L->scaled[i * n + m];
            D[i * n + m] = sum[m];
        }
    sc_copy(D, end, n);
    sc_copy(L->spans, L->spans_new, L->n_points);
    L->n_points = L->n_points > k ? k + 2 : k + 1;
    L->order = L->order_next;
    L->n_failed = 0;
}

#endif
