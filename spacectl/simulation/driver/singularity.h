/* The long step across a singular position of the constraints: coefficients and the reason in tableau.py, reference implementation in reference/singularity.py.
 * `near` is how far the constraints are from one: 0 there, about 1 far away, and roughly the sine of an angle between. */
#ifndef SC_LONG_H
#define SC_LONG_H

#include <math.h>

#include "loop.h"
#include "right_side.h"

#define SC_FEW 6 /* nodes of the two solutions, as LONG_NODES in tableau.py */
#define SC_MORE 8
#define SC_CLOSE 0.03 /* as the constants of reference/singularity.py */
#define SC_LONG_BEGIN 0.35
#define SC_LONG_LEAST 0.02
#define SC_LONG_REACH 4.0
#define SC_LONG_AHEAD 8.0
#define SC_LONG_MIDDLE 0.07
#define SC_LONG_NOISE 1e3
#define SC_LONG_UNSURE 0.5
#define SC_LONG_SWEEPS 30
#define SC_LONG_PLACES 4
#define SC_LONG_INSIDE 0.016
#define SC_LONG_FREELY 0.1

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
    if (before <= now && before < SC_LONG_UNSURE && now > 0.0) *time = h_wanted;
    if (!(*time < SC_LONG_AHEAD * h_wanted)) return SC_GO;
    look = 0.25 * (*time < h_wanted ? *time : h_wanted);
    for (m = 0; m < L->n_s; m++) L->stage[m] = L->s[m] + look * L->K[m];
    status = sc_project(L, L->t + look, L->stage);
    if (status != SC_GO) return status;
    after = sc_angle(L->project.res[1][0]);
    *time = after < now ? now / (now - after) * look : INFINITY;
    return SC_GO;
}

/* Length of the long step that is due, or zero. */
static double sc_long_length(const sc_loop *L, double h_wanted, double left, double time)
{
    const double now = sc_angle(L->near);
    const int is_due = SC_LONG_LEAST < now && now < SC_LONG_BEGIN && time < SC_LONG_REACH * h_wanted && now < L->near_failed;
    return is_due && 2.0 * time < left ? 2.0 * time : 0.0;
}

/* Longest ordinary step towards a singular position, so that a long step may follow. */
static double sc_towards(const sc_loop *L, double left, double time)
{
    return sc_angle(L->near) > SC_LONG_LEAST && 2.0 * time < left ? 0.5 * time : INFINITY;
}

/* After a step, before t and K move on. */
static void sc_note_near(sc_loop *L, double near)
{
    L->near_before = L->is_long ? 0.0 : L->near;
    L->near_t = L->t;
    L->near = near;
    if (sc_angle(near) > SC_LONG_BEGIN) L->near_failed = fmax(L->near_good, 4.0 * SC_LONG_LEAST);
    sc_copy(L->rate_before, L->K, L->n_s);
}

/* End of the step by one of the two solutions. */
static void sc_long_ends(const sc_loop *L, double length, int which, double *out)
{
    const sc_int n = L->n_s, count = which ? SC_MORE : SC_FEW;
    const double *B = L->long_B + SC_FEW * which;
    sc_int j, m;
    for (m = 0; m < n; m++) out[m] = L->s[m];
    for (j = 0; j < count; j++)
        for (m = 0; m < n; m++) out[m] += (length * B[j]) * L->long_K[j * n + m];
}

/* Rate and nearness at a node, from its state moved to the constraints. */
static int sc_long_node(sc_loop *L, double length, sc_int i, sc_int at)
{
    const double t = L->t + L->long_C[at] * length;
    double *s = L->long_S + i * L->n_s;
    const int status = sc_project(L, t, s);
    if (status != SC_GO) return status;
    L->long_near[i] = L->project.res[1][0];
    return sc_right_side(L, t, s, L->long_K + i * L->n_s);
}

/* State of a node from the rates of all: s + length sum_j A_j K_j. */
static void sc_long_mix(sc_loop *L, double length, const double *A, sc_int count, sc_int i)
{
    const sc_int n = L->n_s;
    double *s = L->long_S + i * n;
    sc_int j, m;
    for (m = 0; m < n; m++) s[m] = L->s[m];
    for (j = 0; j < count; j++)
        for (m = 0; m < n; m++) s[m] += (length * A[j]) * L->long_K[j * n + m];
}

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

/* Iterate until the end stays where it is. */
static int sc_long_sweep(sc_loop *L, double length, int which)
{
    const sc_int count = which ? SC_MORE : SC_FEW;
    const double *A = L->long_A + SC_FEW * SC_FEW * which;
    sc_int i, k;
    int status;
    L->long_noise = INFINITY;
    sc_long_ends(L, length, which, L->stage);
    for (k = 0; k < SC_LONG_SWEEPS; k++) {
        const double last = L->long_noise;
        for (i = 0; i < count; i++) sc_long_mix(L, length, A + count * i, count, i);
        for (i = 0; i < count; i++) {
            status = sc_long_node(L, length, i, SC_FEW * which + i);
            if (status != SC_GO) return status;
        }
        sc_long_ends(L, length, which, L->sum);
        L->long_noise = sc_long_size(L, L->sum, L->stage);
        sc_copy(L->stage, L->sum, L->n_s);
        /* there, or as close as rounding permits */
        if (L->long_noise < 0.01 || (k > 3 && 0.7 * last < L->long_noise && L->long_noise < SC_LONG_NOISE)) return SC_GO;
    }
    return SC_NO_CONVERGENCE;
}

/* Where nearness changes sign, as a fraction of the long step: the straight line that fits best over where it might. */
static double sc_singularity_at(const sc_loop *L)
{
    const double count = (double)SC_FEW;
    double best = INFINITY, found = 0.5;
    int split, i;
    for (split = 1; split < SC_FEW; split++) {
        double m = 0.0, f = 0.0, mm = 0.0, mf = 0.0, ff = 0.0, slope, level, misfit;
        for (i = 0; i < SC_FEW; i++) {
            const double value = sc_angle(L->long_near[i]) * (i < split ? 1.0 : -1.0), at = L->long_C[i];
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

/* Whether a long step with this error is taken. */
static int sc_long_is_good(const sc_loop *L, double error)
{
    return error <= 1.0 + 10.0 * L->long_noise;
}

/* Largest error of the states inside a long step, from the rate at its beginning, which its polynomial does not know. */
static double sc_long_inside(const sc_loop *L, double length)
{
    double sum = 0.0;
    sc_int j, m;
    for (m = 0; m < L->n_s; m++) {
        double e = -L->K[m];
        for (j = 0; j < SC_MORE; j++) e += L->long_F[j * SC_MORE] * L->long_K[j * L->n_s + m];
        e /= sc_scale(L, m, L->s[m], L->s_new[m]);
        sum += e * e;
    }
    return SC_LONG_FREELY * SC_LONG_INSIDE * length * sqrt(sum / (double)L->n_s);
}

/* Step across a singular position; its length may change so that it comes to lie in the middle. */
static int sc_long_step(sc_loop *L, double *length, double left, double *error)
{
    const sc_int n = L->n_s;
    sc_int i, m;
    int status, place;
    *error = INFINITY;
    for (place = 0; place < SC_LONG_PLACES; place++) {
        double at;
        for (i = 0; i < SC_FEW; i++)
            for (m = 0; m < n; m++) {
                const double slope = (L->K[m] - L->rate_before[m]) / (L->t - L->near_t);
                L->long_K[i * n + m] = L->K[m] + L->long_C[i] * *length * slope;
            }
        status = sc_long_sweep(L, *length, 0);
        if (status != SC_GO) return status;
        at = sc_singularity_at(L);
        if (fabs(at - 0.5) <= SC_LONG_MIDDLE || place + 1 == SC_LONG_PLACES) break;
        at = 2.0 * at;
        *length = fmin(*length * (at < 0.5 ? 0.5 : at > 2.0 ? 2.0 : at), 0.99 * left);
    }
    sc_long_ends(L, *length, 0, L->s_new);
    for (i = 0; i < SC_MORE; i++) sc_long_mix(L, *length, L->long_start + SC_FEW * i, SC_FEW, i);
    for (i = 0; i < SC_MORE; i++) {
        status = sc_long_node(L, *length, i, SC_FEW + i);
        if (status != SC_GO) return status;
    }
    status = sc_long_sweep(L, *length, 1);
    if (status != SC_GO) return status;
    sc_copy(L->sum, L->s_new, n);
    sc_long_ends(L, *length, 1, L->s_new);
    *error = fmax(0.1 * sc_long_size(L, L->s_new, L->sum), sc_long_inside(L, *length));
    if (!sc_long_is_good(L, *error)) return SC_GO;
    sc_copy(L->dense, L->s_new, n);
    status = sc_project(L, L->t + *length, L->dense);
    if (status != SC_GO) return status;
    return sc_right_side(L, L->t + *length, L->dense, L->K + L->n_stages * n);
}

/* State at a fraction of the long step. */
static void sc_long_state(const sc_loop *L, double f, double *out)
{
    const sc_int n = L->n_s;
    sc_int j, k, m;
    for (m = 0; m < n; m++) out[m] = L->s[m];
    for (j = 0; j < SC_MORE; j++) {
        double weight = 0.0;
        for (k = SC_MORE - 1; k >= 0; k--) weight = (weight + L->long_F[j * SC_MORE + k]) * f;
        for (m = 0; m < n; m++) out[m] += (L->long_h * weight) * L->long_K[j * n + m];
    }
}

/* Across a singular position in one step, if one is near; `is_long` reports whether. At the end of a run, `target`, it is cut. */
static int sc_try_long_step(sc_loop *L, double h_wanted, double left, double target, double time)
{
    double error = 0.0, length = sc_long_length(L, h_wanted, left, time);
    int status;
    if (length == 0.0) return SC_GO;
    status = sc_long_step(L, &length, left, &error);
    if (status != SC_GO && status != SC_NOT_FINITE && status != SC_NO_CONVERGENCE) return status;
    if (status != SC_GO || !sc_long_is_good(L, error)) {
        L->n_rejected++;
        L->near_failed = L->near_good = 0.7 * sc_angle(L->near);
        return SC_GO;
    }
    L->is_long = 1;
    if (error < 0.01) L->near_good *= 1.5;
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

/* Moves a state to the constraints, unless it is so close to a singular position that this would only add rounding. */
static int sc_project_unless_close(sc_loop *L, double t, double *s)
{
    int status;
    sc_copy(L->stage, s, L->n_s);
    status = sc_project(L, t, s);
    if (status == SC_GO && L->takes_long_steps && L->project.res[1][0] < SC_CLOSE) sc_copy(s, L->stage, L->n_s);
    return status;
}

#endif
