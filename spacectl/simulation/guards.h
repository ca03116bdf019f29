/* Guards: functions g(t, x, u, z, p) whose sign changes are found and located on the dense output. */
#ifndef SC_GUARDS_H
#define SC_GUARDS_H

#include <math.h>

#include "loop.h"
#include "right_side.h"
#include "rk.h"

/* Guard values at (t, s). */
static int sc_guard_values(sc_loop *L, double t, const double *s, double *g)
{
    sc_int i;
    int status;
    if (t > L->t_limit) t = L->t_limit;
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
        g[i] = L->guards.res[0][i];
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

/* Rising: from below zero to zero or above. Falling: from above zero to zero or below. */
static int sc_crosses(double before, double after, sc_int direction)
{
    if (direction >= 0 && before < 0.0 && after >= 0.0) return 1;
    return direction <= 0 && before > 0.0 && after <= 0.0;
}

static double sc_width(const sc_loop *L)
{
    double a = fabs(L->t), b = fabs(L->t_new), width = 4.0 * 2.220446049250313e-16 * (a > b ? a : b);
    return width > L->t_tol ? width : L->t_tol;
}

/* Earliest time found in (a, b] after which guard i has changed sign: false position with halved weights (Illinois),
 * replaced by bisection when two rounds in a row did not halve the bracket. */
static int sc_locate(sc_loop *L, sc_int i, double a, double weight_a, double b, double weight_b, double *root)
{
    const double width = sc_width(L);
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

/* Look for crossings between g_before (at a) and time b of the step. If there are any, the earliest (and those at the
 * same instant) is left in event_t, event_s and fired, g_before is moved there and SC_GUARD returned. A guard that
 * crosses twice before b shows when another one's event falls between; hence the rounds. */
static int sc_check_guards(sc_loop *L, double a, double b)
{
    const double width = sc_width(L);
    double earliest = INFINITY, event;
    sc_int i, n_new;
    int status;
    for (i = 0; i < L->n_guards; i++) L->roots[i] = INFINITY;
    for (;;) {
        sc_dense(L, b, L->event_s);
        status = sc_guard_values(L, b, L->event_s, L->g_after);
        if (status != SC_GO) return status;
        n_new = 0;
        for (i = 0; i < L->n_guards; i++) {
            if (L->roots[i] != INFINITY || !sc_crosses(L->g_before[i], L->g_after[i], L->directions[i])) continue;
            status = sc_locate(L, i, a, L->g_before[i], b, L->g_after[i], &L->roots[i]);
            if (status != SC_GO) return status;
            if (L->roots[i] < earliest) earliest = L->roots[i];
            n_new++;
        }
        if (n_new == 0) break;
        event = earliest;
        for (i = 0; i < L->n_guards; i++)
            if (L->roots[i] <= earliest + width && L->roots[i] > event) event = L->roots[i];
        b = event;
    }
    if (earliest < INFINITY) {
        L->event_t = b;
        for (i = 0; i < L->n_guards; i++) L->fired[i] = sc_crosses(L->g_before[i], L->g_after[i], L->directions[i]);
    }
    sc_copy(L->g_before, L->g_after, L->n_guards);
    return earliest < INFINITY ? SC_GUARD : SC_GO;
}

#endif
