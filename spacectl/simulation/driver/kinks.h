/* Kinks and jumps of the right-hand side. No step may contain one, because neither the error estimate nor the order of
 * the method is valid there.
 *
 * Each accepted step is searched for crossings. If there is one, the step is repeated so that it ends just before
 * the kink. The kink is then crossed by a step that is so short that its error is negligible. The bound on this
 * error, the step length times the change of s_dot, does not require smoothness. After the kink the integration is
 * restarted. */
#ifndef SC_KINKS_H
#define SC_KINKS_H

#include <math.h>

#include "guards.h"
#include "kink_values.h"

#define SC_MARGIN 1e-3      /* distance from the kink at which a step ends, over that at its beginning */
#define SC_NEAR_START 0.02  /* a kink within this fraction of the step is crossed by a short step at once */
#define SC_NEGLIGIBLE 0.1   /* largest error of the step across a kink, over the tolerance */
#define SC_CHATTER_GAP 1e-2 /* crossings of one kink within this fraction of the usual step are in close succession */
#define SC_CHATTER 20       /* number of crossings in close succession after which a kink is no longer located */

/* Reset the history of all kinks at the beginning of a run. */
static void sc_reset_kinks(sc_loop *L)
{
    for (sc_int i = 0; i < sc_count_watched(L) - L->n_guards; i++) {
        L->is_ignored[i] = L->n_close[i] = 0;
        L->kink_t[i] = -INFINITY;
        L->g_scale[L->n_guards + i] = 0.0;
    }
    L->is_short = 0;
}

/* Bound the error of a step within which s_dot changes in any way, relative to the tolerance. */
static double sc_change_in_step(const sc_loop *L, double h)
{
    const double *begin = L->K, *end = L->K + L->n_stages * L->n_s;
    double largest = 0.0;
    for (sc_int m = 0; m < L->n_s; m++) {
        const double part = fabs(end[m] - begin[m]) / sc_scale(L, m, L->s[m], L->s_new[m]);
        if (part > largest) largest = part;
    }
    return h * largest;
}

/* Restart the integration after a kink. */
static void sc_resume_after_kink(sc_loop *L)
{
    L->is_short = 0;
    L->is_fresh = L->wants_jacobian = 1;
    L->eta = 1.0; /* the Newton convergence in short steps before the kink is not representative */
    L->h_next = L->h_resume;
}

/* Record the crossing of a kink, and restart the integration after it. */
static void sc_pass_kink(sc_loop *L, double at)
{
    for (sc_int i = L->n_guards; i < sc_count_watched(L); i++) {
        const sc_int k = i - L->n_guards;
        if (!L->fired[i]) continue;
        L->n_close[k] = at - L->kink_t[k] < SC_CHATTER_GAP * L->h_resume ? L->n_close[k] + 1 : 0;
        L->is_ignored[k] = L->n_close[k] >= SC_CHATTER;
        L->kink_t[k] = at;
    }
    L->n_kinks++;
    sc_resume_after_kink(L);
}

/* Find the first crossing of a kink in the accepted step: return SC_GUARD and its time in *at, or SC_GO. */
static int sc_find_kink(sc_loop *L, double *at)
{
    const sc_int all = sc_count_watched(L), first_limit = all - L->n_limits;
    const double event_t = L->event_t;
    int status;
    L->g_first = L->n_guards;
    L->g_last = L->limit_changed ? all : first_limit; /* limits are searched only if a command has crossed one */
    for (sc_int i = L->g_first; i < all; i++) L->fired[i] = 0;
    status = sc_guard_values(L, L->t, L->s, L->g_before);
    if (status == SC_GO) status = sc_check_guards(L, L->t, L->t_new);
    if (status == SC_GO)
        for (sc_int i = first_limit; i < L->g_last; i++) L->is_beyond[i - first_limit] = L->g_before[i] > 0.0;
    *at = L->event_t;
    L->event_t = event_t;
    L->g_first = 0;
    L->g_last = L->n_guards;
    return status;
}

/* Check an accepted attempt of length h for kinks; `tries` counts the previous attempts of this step that contained
 * one. Return SC_GO if the step is valid, or SC_SHORTER and the length to try instead in *h_wanted. */
static int sc_check_kinks(sc_loop *L, double h, double h_usual, int tries, double *h_wanted)
{
    const double h_before = L->h;
    double at = 0.0, left, margin = SC_MARGIN;
    int status = SC_GO;
    if (L->limit_changed || L->n_plant_kinks + L->n_law_kinks > 0) {
        L->h = h;
        status = sc_find_kink(L, &at);
        L->h = h_before;
    }
    if (status == SC_GO && L->is_short && L->kink_at <= L->t_new) sc_resume_after_kink(L); /* no kink where expected */
    if (status != SC_GUARD) return status;
    if (L->is_short && (h <= 8.0 * sc_time_tolerance(L) || sc_change_in_step(L, h) <= SC_NEGLIGIBLE)) {
        sc_pass_kink(L, at);
        return SC_GO;
    }
    if (!L->is_short) L->h_resume = h_usual;
    for (; tries > 0 && margin < 0.5; tries--) margin *= 4.0;
    left = at - L->t;
    *h_wanted = left < SC_NEAR_START * h ? 2.0 * left : (1.0 - margin) * left;
    L->is_short = 1;
    L->kink_at = at;
    if (L->is_implicit) L->has_history = 0; /* the stored polynomial belongs to the attempt, not to an accepted step */
    return SC_SHORTER;
}

#endif
