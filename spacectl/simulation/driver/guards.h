/* Guards: functions g(t, x, u, z, p) whose sign changes are found and located on the dense output.
 *
 * A guard may cross zero twice between two samples. Each part of a step is therefore sampled in panels of five
 * equally spaced values. A parabola through three of them, and the deviation of the other two from it, bound the
 * guard inside the panel. A panel is bisected, left half first, until this bound excludes hidden crossings. */
#ifndef SC_GUARDS_H
#define SC_GUARDS_H

#include <math.h>

#include "kink_values.h"
#include "loop.h"
#include "right_hand_side.h"
#include "rk.h"

/* Evaluate the guards, or the kinks if these are being searched, at (t, s). */
static int sc_guard_values(sc_loop *L, double t, const double *s, double *g)
{
    sc_int i;
    int status;
    if (t > L->t_limit) t = L->t_limit;
    if (L->g_first > 0 || L->n_guards == 0) return sc_kink_values(L, t, s, g);
    if (L->guards_use_u && sc_is_continuous(L)) {
        status = sc_command(L, t, s);
        if (status != SC_GO) return status;
    }
    sc_argument(&L->guards, 0)[0] = t;
    sc_copy(sc_argument(&L->guards, 1), s, L->n_x);
    sc_copy(sc_argument(&L->guards, 2), L->u, L->n_u);
    sc_copy(sc_argument(&L->guards, 3), sc_memory(L, s), L->n_z);
    status = sc_call(&L->guards);
    if (status != SC_GO) return status;
    for (i = 0; i < L->n_guards; i++) {
        double size;
        g[i] = L->guards.res[0][i];
        if (L->g_shift[i] != 0.0 && t < L->g_clear[i]) {
            g[i] += L->g_shift[i];
            if (g[i] / L->g_shift[i] > 100.0) L->g_clear[i] = t; /* the guard has left zero */
        }
        size = fabs(g[i]);
        if (size > L->g_scale[i] && size < INFINITY) L->g_scale[i] = size;
        L->fired[i] = 0;
        if (isnan(g[i])) {
            L->fired[i] = 1;
            L->reason = SC_BY_GUARD;
            L->fail_t = t;
            return SC_FAILED;
        }
    }
    return SC_GO;
}

/* A guard rises from below zero to zero or above, and falls from above zero to zero or below. */
static int sc_crosses(double before, double after, sc_int direction)
{
    if (direction >= 0 && before < 0.0 && after >= 0.0) return 1;
    return direction <= 0 && before > 0.0 && after <= 0.0;
}

/* Time interval in which crossings are located [s]. */
static double sc_time_tolerance(const sc_loop *L)
{
    double a = fabs(L->t), b = fabs(L->t_new), width = 4.0 * 2.220446049250313e-16 * (a > b ? a : b);
    return width > L->t_tol ? width : L->t_tol;
}

/* Find the earliest time in (a, b] at which guard i has changed sign, by the Illinois variant of false position.
 * Bisection replaces it when two successive iterations do not halve the bracket. */
static int sc_locate(sc_loop *L, sc_int i, double a, double weight_a, double b, double weight_b, double *root)
{
    const double width = sc_time_tolerance(L);
    const int rising = weight_a < 0.0;
    int side = 0, slow = 0, status;
    while (b - a > width) {
        double length = b - a, m = b - weight_b * length / (weight_b - weight_a), value;
        if (slow >= 2) m = a + 0.5 * length;
        if (!(m > a + 0.4 * width)) m = a + 0.4 * width;
        if (!(m < b - 0.4 * width)) m = b - 0.4 * width;
        if (!(m > a && m < b)) break;
        sc_dense(L, m, L->dense);
        status = sc_guard_values(L, m, L->dense, L->g_point);
        if (status != SC_GO) return status;
        value = L->g_point[i];
        slow = slow >= 2 ? 0 : slow;
        if (rising ? value >= 0.0 : value <= 0.0) {
            b = m;
            weight_b = value;
            if (side > 0) weight_a *= 0.5;
            side = 1;
        } else {
            a = m;
            weight_a = value;
            if (side < 0) weight_b *= 0.5;
            side = -1;
        }
        slow = b - a > 0.5 * length ? slow + 1 : 0;
    }
    *root = b;
    return SC_GO;
}

#define SC_MAX_DEPTH 56   /* largest number of bisections */
#define SC_MAX_PANELS 400 /* panels after which only the signs of the samples count, as for a guard that is noise */
#define SC_NOISE 1e-13    /* magnitude, relative to the largest so far, below which a guard is rounding noise */

/* Return whether a guard has no sign changes besides those of its five equally spaced samples: it stays away from
 * zero, or is monotone, or is noise. The deviation of b and d from the parabola through a, c and e is the error
 * estimate. For a cubic or quartic remainder the error in between is at most 1.05 times, and that of the derivative
 * 12 times the deviation. */
static int sc_is_clear(double a, double b, double c, double d, double e, double noise)
{
    const double k = 2.0 * a - 4.0 * c + 2.0 * e, begin = -3.0 * a + 4.0 * c - e, end = a - 4.0 * c + 3.0 * e;
    const double deviation_b = fabs(b - 0.375 * a - 0.75 * c + 0.125 * e);
    const double deviation_d = fabs(d + 0.125 * a - 0.75 * c - 0.375 * e);
    const double deviation = deviation_b > deviation_d ? deviation_b : deviation_d, sign = a > 0.0 ? 1.0 : -1.0;
    double least = sign * a < sign * e ? sign * a : sign * e, largest = fabs(a);
    largest = fmax(fmax(fmax(largest, fabs(b)), fmax(fabs(c), fabs(d))), fabs(e));
    if (!(largest > noise)) return 1;
    if (begin * end > 0.0 && fmin(fabs(begin), fabs(end)) > 24.0 * deviation) return 1;
    if (begin * end < 0.0 && sign * (a - 0.25 * begin * begin / k) < least) least = sign * (a - 0.25 * begin * begin / k);
    return sign * b > 0.0 && sign * c > 0.0 && sign * d > 0.0 && least > 2.0 * deviation;
}

/* Evaluate the guards at time t of the step. */
static int sc_guards_at(sc_loop *L, double t, double *g)
{
    sc_dense(L, t, L->dense);
    return sc_guard_values(L, t, L->dense, g);
}

/* Find the first panel in (*a, *b] with a crossing: return SC_GUARD, its ends in *a and *b, and the values at its
 * begin in g_before. If there is none, return SC_GO, and the values at b in g_before. g_panel has five rows for the
 * current panel, then three (begin, middle, end) for each pending panel. */
static int sc_search(sc_loop *L, double *a, double *b)
{
    const sc_int n = sc_count_watched(L);
    double *row[5], ends[SC_MAX_DEPTH + 1], l = *a, r = *b;
    sc_int i, k, depth = 0, n_panels = 0;
    int status;
    for (k = 0; k < 5; k++) row[k] = L->g_panel + k * n;
    sc_copy(row[0], L->g_before, n);
    status = sc_guards_at(L, 0.5 * (l + r), row[2]);
    if (status == SC_GO) status = sc_guards_at(L, r, row[4]);
    if (status != SC_GO) return status;
    for (;;) {
        const double m = 0.5 * (l + r);
        int is_clear = r - l <= sc_time_tolerance(L) || depth >= SC_MAX_DEPTH || ++n_panels > SC_MAX_PANELS;
        int crosses = 0;
        if (!is_clear) {
            status = sc_guards_at(L, 0.5 * (l + m), row[1]);
            if (status == SC_GO) status = sc_guards_at(L, 0.5 * (m + r), row[3]);
            if (status != SC_GO) return status;
            is_clear = 1;
            for (i = L->g_first; i < L->g_last; i++)
                is_clear = is_clear
                        && sc_is_clear(row[0][i], row[1][i], row[2][i], row[3][i], row[4][i], SC_NOISE * L->g_scale[i]);
        }
        if (!is_clear) { /* defer the right half */
            double *pending = L->g_panel + (5 + 3 * depth) * n;
            sc_copy(pending, row[2], n);
            sc_copy(pending + n, row[3], n);
            sc_copy(pending + 2 * n, row[4], n);
            ends[depth++] = r;
            sc_copy(row[4], row[2], n);
            sc_copy(row[2], row[1], n);
            r = m;
            continue;
        }
        for (i = L->g_first; i < L->g_last; i++) crosses = crosses || sc_crosses(row[0][i], row[4][i], L->directions[i]);
        sc_copy(L->g_before + L->g_first, (crosses ? row[0] : row[4]) + L->g_first, L->g_last - L->g_first);
        if (crosses || depth == 0) {
            *a = l;
            *b = r;
            return crosses ? SC_GUARD : SC_GO;
        }
        l = r;
        r = ends[--depth];
        sc_copy(row[0], L->g_panel + (5 + 3 * depth) * n, n);
        sc_copy(row[2], L->g_panel + (5 + 3 * depth) * n + n, n);
        sc_copy(row[4], L->g_panel + (5 + 3 * depth) * n + 2 * n, n);
    }
}

/* Search for crossings between time a (values in g_before) and time b of the step. If there are any, set event_t,
 * event_s and fired to the earliest one and those at the same instant, update g_before to event_t, and return
 * SC_GUARD. The loop repeats because a guard that crosses twice before b is detected only when an event of another
 * guard falls between. */
static int sc_check_guards(sc_loop *L, double a, double b)
{
    const double width = sc_time_tolerance(L);
    double earliest = INFINITY, event;
    sc_int i, n_new;
    int status = sc_search(L, &a, &b);
    if (status != SC_GUARD) return status;
    for (i = L->g_first; i < L->g_last; i++) L->roots[i] = INFINITY;
    for (;;) {
        sc_dense(L, b, L->event_s);
        status = sc_guard_values(L, b, L->event_s, L->g_after);
        if (status != SC_GO) return status;
        n_new = 0;
        for (i = L->g_first; i < L->g_last; i++) {
            if (L->roots[i] != INFINITY || !sc_crosses(L->g_before[i], L->g_after[i], L->directions[i])) continue;
            status = sc_locate(L, i, a, L->g_before[i], b, L->g_after[i], &L->roots[i]);
            if (status != SC_GO) return status;
            if (L->roots[i] < earliest) earliest = L->roots[i];
            n_new++;
        }
        if (n_new == 0) break;
        event = earliest;
        for (i = L->g_first; i < L->g_last; i++)
            if (L->roots[i] <= earliest + width && L->roots[i] > event) event = L->roots[i];
        b = event;
    }
    if (earliest < INFINITY) {
        L->event_t = b;
        for (i = L->g_first; i < L->g_last; i++) L->fired[i] = sc_crosses(L->g_before[i], L->g_after[i], L->directions[i]);
    }
    sc_copy(L->g_before + L->g_first, L->g_after + L->g_first, L->g_last - L->g_first);
    return earliest < INFINITY ? SC_GUARD : SC_GO;
}

#endif
