/* Driver of closed-loop runs: adaptive steps that end at samples, breakpoints and the end of the run, dense output
 * on a grid, and guards. It returns to the caller after a slice of time and resumes from the struct alone, so that
 * a run in slices is bit for bit the same run. There are no globals. reference/loop.py is the reference
 * implementation in Python, statement for statement: change both together. */
#include <math.h>
#include <time.h>

#include "adams.h"
#include "guards.h"
#include "implicit.h"
#include "kinks.h"
#include "singularity.h"
#include "loop.h"
#include "right_hand_side.h"
#include "rk.h"

/* Write one row of the records from (t, s). */
int sc_record(sc_loop *L, sc_int row, double t, const double *s)
{
    int status;
    if (sc_is_continuous(L)) {
        status = sc_command(L, t, s);
        if (status != SC_GO) return status;
    }
    sc_copy(L->out_x + row * L->n_x, s, L->n_x);
    sc_copy(L->out_z + row * L->n_z, sc_memory(L, s), L->n_z);
    sc_copy(L->out_u + row * L->n_u, L->u, L->n_u);
    sc_copy(L->out_u_commanded + row * L->n_u, L->u_commanded, L->n_u);
    return SC_GO;
}

/* Phase 1, at (t, s): sample the law, pass breakpoints, update s_dot, and check for guards that fire in a jump. */
static int sc_point(sc_loop *L)
{
    const double instant = sc_instant(L, L->t);
    sc_int i, n_fired = 0;
    int status;
    L->t_limit = INFINITY;
    if (L->period > 0.0 && L->t_start + (double)L->k_sample * L->period <= L->t + instant) {
        status = sc_command(L, L->t, L->s);
        if (status != SC_GO) return status;
        sc_copy(L->z, L->law.res[2], L->n_z);
        L->k_sample++;
        L->is_fresh = 1;
    }
    while (L->i_stop < L->n_stops && L->stops[L->i_stop] <= L->t + instant) {
        L->i_stop++;
        L->is_fresh = 1;
    }
    L->phase = SC_RECORD;
    if (!L->is_fresh) return SC_GO;
    L->is_fresh = 0;
    L->has_history = 0;
    L->distance_before = L->distance;
    if (L->n_steps == 0) sc_reset_kinks(L);
    status = sc_right_hand_side(L, L->t, L->s, L->K);
    for (i = 0; i < L->n_limits; i++) L->is_beyond[i] = sc_excess(L, i) > 0.0;
    if (status == SC_NOT_FINITE) {
        L->reason = SC_BY_STATE;
        L->fail_t = L->t;
        return SC_FAILED;
    }
    if (status != SC_GO || L->n_guards == 0) return status;
    for (i = 0; i < L->n_guards && !L->has_guard_values; i++) L->g_scale[i] = 0.0;
    status = sc_guard_values(L, L->t, L->s, L->g_after);
    if (status != SC_GO) return status;
    for (i = 0; i < L->n_guards; i++) {
        L->fired[i] = L->has_guard_values && sc_crosses(L->g_before[i], L->g_after[i], L->directions[i]);
        n_fired += L->fired[i];
    }
    L->has_guard_values = 1;
    sc_copy(L->g_before, L->g_after, L->n_guards);
    if (n_fired == 0) return SC_GO;
    L->event_t = L->t;
    sc_copy(L->event_s, L->s, L->n_s);
    return SC_GUARD;
}

/* Phase 2: record grid times at this instant, and check for the end of the run. */
static int sc_record_here(sc_loop *L)
{
    int status;
    while (L->i_grid < L->n_grid && L->grid[L->i_grid] <= L->t + sc_instant(L, L->t)) {
        status = sc_record(L, L->i_grid, L->t, L->s);
        if (status != SC_GO) return status;
        L->i_grid++;
    }
    L->phase = SC_STEP;
    return L->t >= L->t_end ? SC_DONE : SC_GO;
}

/* Latest end of the next step; *is_break reports whether the right-hand side may jump there. */
static double sc_target(const sc_loop *L, int *is_break)
{
    double target = L->t_end, sample;
    *is_break = 0;
    if (L->period > 0.0) {
        sample = L->t_start + (double)L->k_sample * L->period;
        if (sample < target) target = sample;
    }
    if (L->i_stop < L->n_stops && L->stops[L->i_stop] <= target) {
        target = L->stops[L->i_stop];
        *is_break = 1;
    }
    return target;
}

/* Attempt a step of length h by the method of this run. */
static int sc_attempt_step(sc_loop *L, double h, int needs_dense, double *error)
{
    if (L->is_multistep) return sc_adams_attempt(L, h, error);
    return L->is_implicit ? sc_implicit_attempt(L, h, error) : sc_attempt(L, h, needs_dense, error);
}

/* Factor for the step length after an attempt with this error. */
static double sc_growth(const sc_loop *L, double h, double error, int accepted)
{
    if (L->is_multistep) return L->growth;
    return L->is_implicit ? sc_implicit_factor(L, h, error, accepted) : sc_factor(L, error, accepted);
}

/* Phase 3: attempt steps until one is accepted. */
static int sc_step(sc_loop *L)
{
    const double shortest = 1e-290 + 16.0 * 2.220446049250313e-16 * fabs(L->t);
    double target, left, h, h_wanted, h_usual, error = 0.0, factor;
    int status, is_break, was_rejected = 0, is_last, needs_dense, is_cut = 0, is_exact = 0, tries = 0;
    if (L->n_steps >= L->max_steps) return SC_LIMIT;
    if (L->h_next == 0.0) {
        status = sc_first_step(L);
        if (status != SC_GO) return status;
        L->h_start = L->h_next;
    }
    if (L->is_multistep && !L->has_history) {
        sc_adams_begin(L);
        L->h_next = L->h_start;
    }
    h_usual = L->h_next;
    target = sc_target(L, &is_break);
    left = target - L->t;
    h_wanted = L->h_next < L->max_step ? L->h_next : L->max_step;
    if (h_wanted < shortest) h_wanted = shortest;
    L->is_long = 0;
    if (L->takes_long_steps) {
        /* a long step may extend beyond the end of the run */
        const double reach = target == L->t_end && !is_break ? INFINITY : left;
        const double room = reach < L->max_step ? reach : L->max_step;
        double time_left, longest;
        status = sc_time_to_singular(L, h_wanted, &time_left);
        if (status == SC_GO) status = sc_try_long_step(L, h_wanted, room, target, time_left);
        if (L->is_long) L->phase = SC_SCAN;
        if (status != SC_GO || L->is_long) return status;
        longest = sc_max_approach_step(L, room, time_left);
        is_cut = longest < h_wanted;
        if (is_cut) h_wanted = longest > shortest ? longest : shortest;
    }
    if (L->is_short && 2.0 * (L->kink_at - L->t) < h_wanted) {
        h_wanted = 2.0 * (L->kink_at - L->t);
        if (h_wanted < shortest) h_wanted = shortest;
        is_exact = 1;
    }
    for (;;) {
        is_last = h_wanted >= left || (1.01 * h_wanted >= left && left <= L->max_step && !is_exact);
        h = is_last ? left : 2.0 * h_wanted > left && !is_exact ? 0.5 * left : h_wanted;
        L->t_new = is_last ? target : L->t + h;
        L->t_limit = is_last && is_break ? nextafter(target, L->t) : INFINITY;
        needs_dense = L->n_guards + L->n_plant_kinks + L->n_law_kinks > 0
                   || (L->i_grid < L->n_grid && L->grid[L->i_grid] < L->t_new - sc_instant(L, L->t_new));
        L->limit_changed = 0;
        status = sc_attempt_step(L, h, needs_dense, &error);
        if (status == SC_GO && error <= 1.0) {
            status = sc_check_kinks(L, h, h_usual, tries++, &h_wanted);
            if (status == SC_GO) break;
            if (status != SC_SHORTER) return status;
            L->n_rejected++;
            if (h_wanted < shortest) h_wanted = shortest;
            is_exact = 1;
            continue;
        }
        if (status != SC_GO && status != SC_NOT_FINITE && status != SC_NO_CONVERGENCE) return status;
        L->n_rejected++;
        was_rejected = 1;
        if (status == SC_GO) h_wanted = h * sc_growth(L, h, error, 0);
        else h_wanted = h * (status == SC_NOT_FINITE ? 0.25 : 0.5);
        if (L->is_multistep) sc_adams_retry(L);
        if (!(h_wanted > shortest)) {
            if (status != SC_NOT_FINITE) sc_mark_worst(L);
            L->reason = status == SC_NOT_FINITE ? SC_BY_STATE : SC_BY_ERROR;
            L->fail_t = L->t;
            return SC_FAILED;
        }
    }
    factor = sc_growth(L, h, error, 1);
    if (was_rejected && factor > 1.0) factor = 1.0;
    L->error_old = error > 1e-4 ? error : 1e-4;
    if (!L->is_short && !L->is_fresh /* else the step was shortened for a kink */
        && (was_rejected || factor < 1.0 || (h * factor > L->h_next && !is_cut)))
        L->h_next = h * factor;
    L->h = h;
    L->has_history = 1;
    L->n_steps++;
    L->i_check = 0;
    L->phase = SC_SCAN;
    return SC_GO;
}

/* Record the grid times inside the step and before `limit`. */
static int sc_record_inside(sc_loop *L, double limit)
{
    int status;
    const double end = L->t_new - sc_instant(L, L->t_new);
    if (limit > end) limit = end;
    while (L->i_grid < L->n_grid && L->grid[L->i_grid] < limit) {
        sc_dense(L, L->grid[L->i_grid], L->dense);
        status = sc_project_unless_close(L, L->grid[L->i_grid], L->dense);
        if (status != SC_GO) return status;
        status = sc_record(L, L->i_grid, L->grid[L->i_grid], L->dense);
        if (status != SC_GO) return status;
        L->i_grid++;
    }
    return SC_GO;
}

/* Beginning of part i of a step, as a fraction; uneven, so that samples do not synchronise with a periodic guard. */
static double sc_fraction(sc_int i, sc_int parts)
{
    return i == 0 ? 0.0 : ((double)i - 0.0853) / (double)parts;
}

/* Phase 4: search the accepted step for events in n_checks parts and record grid times; then advance to its end. */
static int sc_scan(sc_loop *L)
{
    const sc_int parts = L->n_guards > 0 ? L->n_checks : 1;
    int status, found;
    while (L->i_check < parts) {
        double from = L->t + L->h * sc_fraction(L->i_check, parts), to;
        to = L->i_check + 1 == parts ? L->t_new : L->t + L->h * sc_fraction(L->i_check + 1, parts);
        found = SC_GO;
        if (L->n_guards > 0) {
            if (L->event_t > from && L->event_t <= to) from = L->event_t; /* continue after an event in this part */
            found = sc_check_guards(L, from, to);
            if (found != SC_GO && found != SC_GUARD) return found;
        }
        status = sc_record_inside(L, found == SC_GUARD ? L->event_t - sc_instant(L, L->event_t) : to);
        if (status != SC_GO) return status;
        if (found == SC_GUARD) return SC_GUARD;
        L->i_check++;
    }
    status = L->is_long ? sc_project_unless_close(L, L->t_new, L->s_new) : sc_project(L, L->t_new, L->s_new);
    if (status != SC_GO) return status;
    sc_normalise(L, L->s_new, L->K + L->n_stages * L->n_s);
    if (L->takes_long_steps) sc_update_distance(L, L->project.res[1][0]);
    if (L->is_multistep && !L->is_long) sc_adams_shift(L);
    sc_copy(L->K, L->K + L->n_stages * L->n_s, L->n_s);
    sc_copy(L->s, L->s_new, L->n_s);
    L->t = L->t_new;
    L->phase = SC_POINT;
    return SC_GO;
}

static double sc_seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Advance until there is something to report, `steps` steps were made, or `seconds` have passed. */
int sc_advance(sc_loop *L, sc_int steps, double seconds)
{
    const double begin = sc_seconds();
    const sc_int last = L->n_steps + steps;
    for (;;) {
        int status = L->phase == SC_POINT ? sc_point(L) : L->phase == SC_RECORD ? sc_record_here(L)
                   : L->phase == SC_STEP ? sc_step(L) : sc_scan(L);
        if (status != SC_GO) return status;
        if (L->phase == SC_STEP && (L->n_steps >= last || fabs(sc_seconds() - begin) > seconds)) return SC_SLICE;
    }
}

/* Restart from another time and state, such as those after an event or an impulse. */
void sc_restart(sc_loop *L, double t, const double *s)
{
    L->t = t;
    sc_copy(L->s, s, L->n_s);
    sc_normalise(L, L->s, 0);
    L->phase = SC_POINT;
    L->is_fresh = 1;
    L->has_guard_values = 0;
    L->is_short = 0;
}

sc_int sc_size(void)
{
    return (sc_int)sizeof(sc_loop);
}

#include "many.h"
#include "derivatives.h"
