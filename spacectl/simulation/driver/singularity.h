/* Crossing of singular configurations of the constraints in one long step. tableau.py explains the method and has
 * its coefficients. The reference implementation is reference/singularity.py. `distance` is the distance to
 * singularity: 0 in a singular configuration, about 1 far from it, and roughly the sine of an angle in between. */
#ifndef SC_SINGULARITY_H
#define SC_SINGULARITY_H

#include <math.h>

#include "loop.h"
#include "right_hand_side.h"

#define SC_LOW_NODES 6 /* nodes of the solutions of low and high order: LONG_NODES in tableau.py */
#define SC_HIGH_NODES 8
#define SC_LONG_NO_PROJECTION 0.03 /* this and the following: see the constants of reference/singularity.py */
#define SC_LONG_MAX_START 0.35
#define SC_LONG_MIN_START 0.02
#define SC_LONG_MAX_STEPS 4.0
#define SC_LONG_LOOK_AHEAD 8.0
#define SC_LONG_CENTRING 0.07
#define SC_LONG_MAX_CHANGE 1e3
#define SC_LONG_AMBIGUOUS 0.5
#define SC_LONG_MAX_SWEEPS 30
#define SC_LONG_MAX_CENTRINGS 4
#define SC_LONG_INTERIOR_FACTOR 0.016
#define SC_LONG_INTERIOR_WEIGHT 0.1

/* Angle to singularity [rad]; near a singular configuration it decreases at a nearly constant rate. */
static double sc_angle(double distance)
{
    return asin(distance < 1.0 ? distance : 1.0);
}

/* Estimate the time to the next singular configuration (infinity if the motion leads away from it), first from the
 * last two steps, then from a short look-ahead step. */
static int sc_time_to_singular(sc_loop *L, double h_wanted, double *time)
{
    const double before = sc_angle(L->distance_before), now = sc_angle(L->distance);
    double ahead, after;
    sc_int m;
    int status;
    *time = now < before ? now / (before - now) * (L->t - L->distance_t) : INFINITY;
    if (before <= now && before < SC_LONG_AMBIGUOUS && now > 0.0) *time = h_wanted;
    if (!(*time < SC_LONG_LOOK_AHEAD * h_wanted)) return SC_GO;
    ahead = 0.25 * (*time < h_wanted ? *time : h_wanted);
    for (m = 0; m < L->n_s; m++) L->stage[m] = L->s[m] + ahead * L->K[m];
    status = sc_project(L, L->t + ahead, L->stage);
    if (status != SC_GO) return status;
    after = sc_angle(L->project.res[1][0]);
    *time = after < now ? now / (now - after) * ahead : INFINITY;
    return SC_GO;
}

/* Length of the long step to attempt now, or zero. */
static double sc_long_length(const sc_loop *L, double h_wanted, double left, double time)
{
    const double now = sc_angle(L->distance);
    const int is_due = SC_LONG_MIN_START < now && now < SC_LONG_MAX_START && time < SC_LONG_MAX_STEPS * h_wanted
                    && now < L->long_angle;
    return is_due && 2.0 * time < left ? 2.0 * time : 0.0;
}

/* Longest ordinary step towards a singular configuration that leaves room for a long step after it. */
static double sc_max_approach_step(const sc_loop *L, double left, double time)
{
    return sc_angle(L->distance) > SC_LONG_MIN_START && 2.0 * time < left ? 0.5 * time : INFINITY;
}

/* Store the distance to singularity at the end of a step, before t and K are updated. */
static void sc_update_distance(sc_loop *L, double distance)
{
    L->distance_before = L->is_long ? 0.0 : L->distance;
    L->distance_t = L->t;
    L->distance = distance;
    if (sc_angle(distance) > SC_LONG_MAX_START) L->long_angle = fmax(L->long_angle_reset, 4.0 * SC_LONG_MIN_START);
    sc_copy(L->rate_before, L->K, L->n_s);
}

/* State at the end of the long step, by the solution of low (which = 0) or high order (1). */
static void sc_long_end(const sc_loop *L, double length, int which, double *out)
{
    const sc_int n = L->n_s, count = which ? SC_HIGH_NODES : SC_LOW_NODES;
    const double *B = L->long_B + SC_LOW_NODES * which;
    sc_int j, m;
    for (m = 0; m < n; m++) out[m] = L->s[m];
    for (j = 0; j < count; j++)
        for (m = 0; m < n; m++) out[m] += (length * B[j]) * L->long_K[j * n + m];
}

/* Project the state of a node, then evaluate its distance to singularity and its s_dot. */
static int sc_long_node(sc_loop *L, double length, sc_int i, sc_int at)
{
    const double t = L->t + L->long_C[at] * length;
    double *s = L->long_S + i * L->n_s;
    const int status = sc_project(L, t, s);
    if (status != SC_GO) return status;
    L->long_distance[i] = L->project.res[1][0];
    return sc_right_hand_side(L, t, s, L->long_K + i * L->n_s);
}

/* State of a node from s_dot at all nodes: s + length sum_j A_j K_j. */
static void sc_long_node_state(sc_loop *L, double length, const double *A, sc_int count, sc_int i)
{
    const sc_int n = L->n_s;
    double *s = L->long_S + i * n;
    sc_int j, m;
    for (m = 0; m < n; m++) s[m] = L->s[m];
    for (j = 0; j < count; j++)
        for (m = 0; m < n; m++) s[m] += (length * A[j]) * L->long_K[j * n + m];
}

/* Norm of a - b relative to the tolerance. */
static double sc_long_size(const sc_loop *L, const double *a, const double *b)
{
    sc_int m;
    double sum = 0.0;
    for (m = 0; m < L->n_s; m++) {
        const double e = (a[m] - b[m]) / sc_scale(L, m, L->s[m], a[m]);
        sum += e * e;
    }
    return sqrt(sum / (double)L->n_s);
}

/* Solve the collocation equations by fixed-point iteration, until the state at the end converges. */
static int sc_long_sweep(sc_loop *L, double length, int which)
{
    const sc_int count = which ? SC_HIGH_NODES : SC_LOW_NODES;
    const double *A = L->long_A + SC_LOW_NODES * SC_LOW_NODES * which;
    sc_int i, k;
    int status;
    L->long_change = INFINITY;
    sc_long_end(L, length, which, L->stage);
    for (k = 0; k < SC_LONG_MAX_SWEEPS; k++) {
        const double last = L->long_change;
        for (i = 0; i < count; i++) sc_long_node_state(L, length, A + count * i, count, i);
        for (i = 0; i < count; i++) {
            status = sc_long_node(L, length, i, SC_LOW_NODES * which + i);
            if (status != SC_GO) return status;
        }
        sc_long_end(L, length, which, L->sum);
        L->long_change = sc_long_size(L, L->sum, L->stage);
        sc_copy(L->stage, L->sum, L->n_s);
        /* converged, or the changes no longer decrease because they are rounding errors */
        if (L->long_change < 0.01
            || (k > 3 && 0.7 * last < L->long_change && L->long_change < SC_LONG_MAX_CHANGE)) return SC_GO;
    }
    return SC_NO_CONVERGENCE;
}

/* Singular configuration as a fraction of the long step. The angle changes sign there, but only its magnitude is
 * known: fit a straight line for each possible position of the sign change, and return the zero of the best fit. */
static double sc_singularity_at(const sc_loop *L)
{
    const double count = (double)SC_LOW_NODES;
    double best = INFINITY, found = 0.5;
    int split, i;
    for (split = 1; split < SC_LOW_NODES; split++) {
        double m = 0.0, f = 0.0, mm = 0.0, mf = 0.0, ff = 0.0, slope, level, misfit;
        for (i = 0; i < SC_LOW_NODES; i++) {
            const double value = sc_angle(L->long_distance[i]) * (i < split ? 1.0 : -1.0), at = L->long_C[i];
            m += value;
            f += at;
            mm += value * value;
            mf += value * at;
            ff += at * at;
        }
        slope = (count * mf - m * f) / (count * ff - f * f);
        level = (m - slope * f) / count;
        misfit = mm - level * m - slope * mf;
        if (misfit < best && slope < 0.0) {
            best = misfit;
            found = -level / slope;
        }
    }
    return found;
}

/* Whether a long step with this error is accepted; rounding errors of the iteration may exceed the tolerance. */
static int sc_long_is_accepted(const sc_loop *L, double error)
{
    return error <= 1.0 + 10.0 * L->long_change;
}

/* Largest error of the states inside a long step, from the mismatch between its polynomial and s_dot at its beginning,
 * which the polynomial does not use. */
static double sc_long_interior_error(const sc_loop *L, double length)
{
    double sum = 0.0;
    sc_int j, m;
    for (m = 0; m < L->n_s; m++) {
        double e = -L->K[m];
        for (j = 0; j < SC_HIGH_NODES; j++) e += L->long_F[j * SC_HIGH_NODES] * L->long_K[j * L->n_s + m];
        e /= sc_scale(L, m, L->s[m], L->s_new[m]);
        sum += e * e;
    }
    return SC_LONG_INTERIOR_WEIGHT * SC_LONG_INTERIOR_FACTOR * length * sqrt(sum / (double)L->n_s);
}

/* Attempt a step across a singular configuration; adapt its length so that the configuration lies at its centre. */
static int sc_long_step(sc_loop *L, double *length, double left, double *error)
{
    const sc_int n = L->n_s;
    sc_int i, m;
    int status, trial;
    *error = INFINITY;
    for (trial = 0; trial < SC_LONG_MAX_CENTRINGS; trial++) {
        double at;
        for (i = 0; i < SC_LOW_NODES; i++)
            for (m = 0; m < n; m++) {
                const double s_ddot = (L->K[m] - L->rate_before[m]) / (L->t - L->distance_t);
                L->long_K[i * n + m] = L->K[m] + L->long_C[i] * *length * s_ddot;
            }
        status = sc_long_sweep(L, *length, 0);
        if (status != SC_GO) return status;
        at = sc_singularity_at(L);
        if (fabs(at - 0.5) <= SC_LONG_CENTRING || trial + 1 == SC_LONG_MAX_CENTRINGS) break;
        at = 2.0 * at;
        *length = fmin(*length * (at < 0.5 ? 0.5 : at > 2.0 ? 2.0 : at), 0.99 * left);
    }
    sc_long_end(L, *length, 0, L->s_new);
    for (i = 0; i < SC_HIGH_NODES; i++)
        sc_long_node_state(L, *length, L->long_start + SC_LOW_NODES * i, SC_LOW_NODES, i);
    for (i = 0; i < SC_HIGH_NODES; i++) {
        status = sc_long_node(L, *length, i, SC_LOW_NODES + i);
        if (status != SC_GO) return status;
    }
    status = sc_long_sweep(L, *length, 1);
    if (status != SC_GO) return status;
    sc_copy(L->sum, L->s_new, n);
    sc_long_end(L, *length, 1, L->s_new);
    *error = fmax(0.1 * sc_long_size(L, L->s_new, L->sum), sc_long_interior_error(L, *length));
    if (!sc_long_is_accepted(L, *error)) return SC_GO;
    sc_copy(L->dense, L->s_new, n);
    status = sc_project(L, L->t + *length, L->dense);
    if (status != SC_GO) return status;
    return sc_right_hand_side(L, L->t + *length, L->dense, L->K + L->n_stages * n);
}

/* State at a fraction of the long step. */
static void sc_long_state(const sc_loop *L, double f, double *out)
{
    const sc_int n = L->n_s;
    sc_int j, k, m;
    for (m = 0; m < n; m++) out[m] = L->s[m];
    for (j = 0; j < SC_HIGH_NODES; j++) {
        double weight = 0.0;
        for (k = SC_HIGH_NODES - 1; k >= 0; k--) weight = (weight + L->long_F[j * SC_HIGH_NODES + k]) * f;
        for (m = 0; m < n; m++) out[m] += (L->long_h * weight) * L->long_K[j * n + m];
    }
}

/* Cross a singular configuration in one long step if one is near; is_long reports whether this was done. A long step
 * beyond the end of the run, `target`, is cut there. */
static int sc_try_long_step(sc_loop *L, double h_wanted, double left, double target, double time)
{
    double error = 0.0, length = sc_long_length(L, h_wanted, left, time);
    int status;
    if (length == 0.0) return SC_GO;
    status = sc_long_step(L, &length, left, &error);
    if (status != SC_GO && status != SC_NOT_FINITE && status != SC_NO_CONVERGENCE) return status;
    if (status != SC_GO || !sc_long_is_accepted(L, error)) {
        L->n_rejected++;
        L->long_angle = L->long_angle_reset = 0.7 * sc_angle(L->distance);
        return SC_GO;
    }
    L->is_long = 1;
    if (error < 0.01) L->long_angle_reset *= 1.5;
    L->long_h = length;
    L->t_new = L->t + length;
    if (L->t_new > target) {
        L->t_new = target;
        sc_long_state(L, (target - L->t) / length, L->s_new);
    }
    L->h = L->t_new - L->t;
    L->t_limit = INFINITY;
    L->has_history = 0;
    L->is_jacobian_current = 0;
    L->wants_jacobian = 1;
    L->n_steps++;
    L->n_crossings++;
    L->i_check = 0;
    return SC_GO;
}

/* Project a state onto the constraints, unless it is so close to singularity that this would only add rounding
 * errors. */
static int sc_project_unless_close(sc_loop *L, double t, double *s)
{
    int status;
    sc_copy(L->stage, s, L->n_s);
    status = sc_project(L, t, s);
    if (status == SC_GO && L->takes_long_steps && L->project.res[1][0] < SC_LONG_NO_PROJECTION)
        sc_copy(s, L->stage, L->n_s);
    return status;
}

#endif
