/* The long step across a singular position of the constraints: coefficients and the reason in leap.py, reference implementation in reference/leap.py.
 * `near` is how far the constraints are from one: 0 there, about 1 far away, and roughly the sine of an angle between. */
#ifndef SC_LEAP_H
#define SC_LEAP_H

#include <math.h>

#include "loop.h"
#include "right_side.h"

#define SC_FEW 6 /* nodes of the two solutions, as LEAP_NODES in leap.py */
#define SC_MORE 8
#define SC_CLOSE 0.03 /* as the constants of twin_leap.py */
#define SC_LEAP_BEGIN 0.35
#define SC_LEAP_LEAST 0.02
#define SC_LEAP_REACH 4.0
#define SC_LEAP_AHEAD 8.0
#define SC_LEAP_MIDDLE 0.07
#define SC_LEAP_NOISE 1e3
#define SC_LEAP_UNSURE 0.5
#define SC_LEAP_SWEEPS 30
#define SC_LEAP_PLACES 4
#define SC_LEAP_INSIDE 0.016
#define SC_LEAP_FREELY 0.1

/* What falls evenly towards a singular position. */
static double sc_angle(double near)
{
    return asin(near < 1.0 ? near : 1.0);
}

/* When the run would get to one if it goes towards one, else infinite: from two steps, then from a look ahead. */
static int sc_time_to_singular(sc_loop *L, double h_wanted, double *time)
{
    const double before = sc_angle(L->near_before), now = sc_angle(L->near);
    double look, after;
    sc_int m;
    int status;
    *time = now < before ? now / (before - now) * (L->t - L->near_t) : INFINITY;
    if (before <= now && before < SC_LEAP_UNSURE && now > 0.0) *time = h_wanted;
    if (!(*time < SC_LEAP_AHEAD * h_wanted)) return SC_GO;
    look = 0.25 * (*time < h_wanted ? *time : h_wanted);
    for (m = 0; m < L->n_s; m++) L->stage[m] = L->s[m] + look * L->K[m];
    status = sc_project(L, L->t + look, L->stage);
    if (status != SC_GO) return status;
    after = sc_angle(L->project.res[1][0]);
    *time = after < now ? now / (now - after) * look : INFINITY;
    return SC_GO;
}

/* Length of the leap that is due, or zero. */
static double sc_leap_length(const sc_loop *L, double h_wanted, double left, double time)
{
    const double now = sc_angle(L->near);
    const int is_due = SC_LEAP_LEAST < now && now < SC_LEAP_BEGIN && time < SC_LEAP_REACH * h_wanted && now < L->near_failed;
    return is_due && 2.0 * time < left ? 2.0 * time : 0.0;
}

/* Longest ordinary step towards a singular position, so that a leap may follow. */
static double sc_towards(const sc_loop *L, double left, double time)
{
    return sc_angle(L->near) > SC_LEAP_LEAST && 2.0 * time < left ? 0.5 * time : INFINITY;
}

/* After a step, before t and K move on. */
static void sc_note_near(sc_loop *L, double near)
{
    L->near_before = L->is_leap ? 0.0 : L->near;
    L->near_t = L->t;
    L->near = near;
    if (sc_angle(near) > SC_LEAP_BEGIN) L->near_failed = fmax(L->near_good, 4.0 * SC_LEAP_LEAST);
    sc_copy(L->rate_before, L->K, L->n_s);
}

/* End of the step by one of the two solutions. */
static void sc_leap_ends(const sc_loop *L, double length, int which, double *out)
{
    const sc_int n = L->n_s, count = which ? SC_MORE : SC_FEW;
    const double *B = L->leap_B + SC_FEW * which;
    sc_int j, m;
    for (m = 0; m < n; m++) out[m] = L->s[m];
    for (j = 0; j < count; j++)
        for (m = 0; m < n; m++) out[m] += (length * B[j]) * L->leap_K[j * n + m];
}

/* Rate and nearness at a node, from its state moved to the constraints. */
static int sc_leap_node(sc_loop *L, double length, sc_int i, sc_int at)
{
    const double t = L->t + L->leap_C[at] * length;
    double *s = L->leap_S + i * L->n_s;
    const int status = sc_project(L, t, s);
    if (status != SC_GO) return status;
    L->leap_near[i] = L->project.res[1][0];
    return sc_right_side(L, t, s, L->leap_K + i * L->n_s);
}

/* State of a node from the rates of all: s + length sum_j A_j K_j. */
static void sc_leap_mix(sc_loop *L, double length, const double *A, sc_int count, sc_int i)
{
    const sc_int n = L->n_s;
    double *s = L->leap_S + i * n;
    sc_int j, m;
    for (m = 0; m < n; m++) s[m] = L->s[m];
    for (j = 0; j < count; j++)
        for (m = 0; m < n; m++) s[m] += (length * A[j]) * L->leap_K[j * n + m];
}

static double sc_leap_size(const sc_loop *L, const double *a, const double *b)
{
    sc_int m;
    double sum = 0.0;
    for (m = 0; m < L->n_s; m++) {
        const double e = (a[m] - b[m]) / sc_scale(L, m, L->s[m], a[m]);
        sum += e * e;
    }
    return sqrt(sum / (double)L->n_s);
}

/* Iterate until the end stays where it is. */
static int sc_leap_sweep(sc_loop *L, double length, int which)
{
    const sc_int count = which ? SC_MORE : SC_FEW;
    const double *A = L->leap_A + SC_FEW * SC_FEW * which;
    sc_int i, k;
    int status;
    L->leap_noise = INFINITY;
    sc_leap_ends(L, length, which, L->stage);
    for (k = 0; k < SC_LEAP_SWEEPS; k++) {
        const double last = L->leap_noise;
        for (i = 0; i < count; i++) sc_leap_mix(L, length, A + count * i, count, i);
        for (i = 0; i < count; i++) {
            status = sc_leap_node(L, length, i, SC_FEW * which + i);
            if (status != SC_GO) return status;
        }
        sc_leap_ends(L, length, which, L->sum);
        L->leap_noise = sc_leap_size(L, L->sum, L->stage);
        sc_copy(L->stage, L->sum, L->n_s);
        /* there, or as near as rounding lets it */
        if (L->leap_noise < 0.01 || (k > 3 && 0.7 * last < L->leap_noise && L->leap_noise < SC_LEAP_NOISE)) return SC_GO;
    }
    return SC_NO_CONVERGENCE;
}

/* Where nearness changes sign, as a fraction of the leap: the straight line that fits best over where it might. */
static double sc_leap_crossing(const sc_loop *L)
{
    const double count = (double)SC_FEW;
    double best = INFINITY, found = 0.5;
    int split, i;
    for (split = 1; split < SC_FEW; split++) {
        double m = 0.0, f = 0.0, mm = 0.0, mf = 0.0, ff = 0.0, slope, level, misfit;
        for (i = 0; i < SC_FEW; i++) {
            const double value = sc_angle(L->leap_near[i]) * (i < split ? 1.0 : -1.0), at = L->leap_C[i];
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

/* Whether a leap with this error is taken. */
static int sc_leap_is_good(const sc_loop *L, double error)
{
    return error <= 1.0 + 10.0 * L->leap_noise;
}

/* Largest error of the states inside a leap, from the rate at its beginning, which its polynomial does not know. */
static double sc_leap_inside(const sc_loop *L, double length)
{
    double sum = 0.0;
    sc_int j, m;
    for (m = 0; m < L->n_s; m++) {
        double e = -L->K[m];
        for (j = 0; j < SC_MORE; j++) e += L->leap_F[j * SC_MORE] * L->leap_K[j * L->n_s + m];
        e /= sc_scale(L, m, L->s[m], L->s_new[m]);
        sum += e * e;
    }
    return SC_LEAP_FREELY * SC_LEAP_INSIDE * length * sqrt(sum / (double)L->n_s);
}

/* Step across a singular position; its length may change so that it comes to lie in the middle. */
static int sc_leap(sc_loop *L, double *length, double left, double *error)
{
    const sc_int n = L->n_s;
    sc_int i, m;
    int status, place;
    *error = INFINITY;
    for (place = 0; place < SC_LEAP_PLACES; place++) {
        double at;
        for (i = 0; i < SC_FEW; i++)
            for (m = 0; m < n; m++) {
                const double slope = (L->K[m] - L->rate_before[m]) / (L->t - L->near_t);
                L->leap_K[i * n + m] = L->K[m] + L->leap_C[i] * *length * slope;
            }
        status = sc_leap_sweep(L, *length, 0);
        if (status != SC_GO) return status;
        at = sc_leap_crossing(L);
        if (fabs(at - 0.5) <= SC_LEAP_MIDDLE || place + 1 == SC_LEAP_PLACES) break;
        at = 2.0 * at;
        *length = fmin(*length * (at < 0.5 ? 0.5 : at > 2.0 ? 2.0 : at), 0.99 * left);
    }
    sc_leap_ends(L, *length, 0, L->s_new);
    for (i = 0; i < SC_MORE; i++) sc_leap_mix(L, *length, L->leap_start + SC_FEW * i, SC_FEW, i);
    for (i = 0; i < SC_MORE; i++) {
        status = sc_leap_node(L, *length, i, SC_FEW + i);
        if (status != SC_GO) return status;
    }
    status = sc_leap_sweep(L, *length, 1);
    if (status != SC_GO) return status;
    sc_copy(L->sum, L->s_new, n);
    sc_leap_ends(L, *length, 1, L->s_new);
    *error = fmax(0.1 * sc_leap_size(L, L->s_new, L->sum), sc_leap_inside(L, *length));
    if (!sc_leap_is_good(L, *error)) return SC_GO;
    sc_copy(L->dense, L->s_new, n);
    status = sc_project(L, L->t + *length, L->dense);
    if (status != SC_GO) return status;
    return sc_right_side(L, L->t + *length, L->dense, L->K + L->n_stages * n);
}

/* State at a fraction of the leap. */
static void sc_leap_state(const sc_loop *L, double f, double *out)
{
    const sc_int n = L->n_s;
    sc_int j, k, m;
    for (m = 0; m < n; m++) out[m] = L->s[m];
    for (j = 0; j < SC_MORE; j++) {
        double weight = 0.0;
        for (k = SC_MORE - 1; k >= 0; k--) weight = (weight + L->leap_F[j * SC_MORE + k]) * f;
        for (m = 0; m < n; m++) out[m] += (L->leap_h * weight) * L->leap_K[j * n + m];
    }
}

/* Across a singular position in one step, if one is near; `is_leap` tells whether. At the end of a run, `target`, it is cut. */
static int sc_try_leap(sc_loop *L, double h_wanted, double left, double target, double time)
{
    double error = 0.0, length = sc_leap_length(L, h_wanted, left, time);
    int status;
    if (length == 0.0) return SC_GO;
    status = sc_leap(L, &length, left, &error);
    if (status != SC_GO && status != SC_NOT_FINITE && status != SC_NO_CONVERGENCE) return status;
    if (status != SC_GO || !sc_leap_is_good(L, error)) {
        L->n_rejected++;
        L->near_failed = L->near_good = 0.7 * sc_angle(L->near);
        return SC_GO;
    }
    L->is_leap = 1;
    if (error < 0.01) L->near_good *= 1.5;
    L->leap_h = length;
    L->t_new = L->t + length;
    if (L->t_new > target) {
        L->t_new = target;
        sc_leap_state(L, (target - L->t) / length, L->s_new);
    }
    L->h = L->t_new - L->t;
    L->t_limit = INFINITY;
    L->has_history = 0;
    L->is_jacobian_current = 0;
    L->wants_jacobian = 1;
    L->n_steps++;
    L->n_leaps++;
    L->i_check = 0;
    return SC_GO;
}

/* Moves a state to the constraints, unless it is so close to a singular position that this would only add rounding. */
static int sc_project_unless_close(sc_loop *L, double t, double *s)
{
    int status;
    sc_copy(L->stage, s, L->n_s);
    status = sc_project(L, t, s);
    if (status == SC_GO && L->leaps && L->project.res[1][0] < SC_CLOSE) sc_copy(s, L->stage, L->n_s);
    return status;
}

#endif
