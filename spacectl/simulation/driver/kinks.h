/* Kinks and jumps of the right-hand side: no step may contain one, because neither its error estimate nor its order is
 * worth anything then.
 *
 * A step that is accepted is searched for crossings. It is then repeated so that it ends just before the first one, and
 * the crossing is made by a step so short that whatever the rates do in it stays below the tolerance. Its bound on the
 * error, the step times the change of the rates, needs no smoothness. Behind it the integration starts anew. */
#ifndef SC_KINKS_H
#define SC_KINKS_H

#include <math.h>

#include "guards.h"
#include "kink_values.h"

#define SC_MARGIN 1e-3     /* of the way to a kink: how much before it a step ends */
#define SC_NEAR_START 0.02 /* of a step: a kink nearer to its begin is crossed by a short step at once */
#define SC_NEGLIGIBLE 0.1  /* of the tolerance: error of the step across a kink */
#define SC_CLOSE 1e-2      /* of the usual step: crossings of one kink so near to each other ... */
#define SC_CHATTER 20      /* ... and so many in a row are not located any more */

/* The run begins: nothing is known about kinks. */
static void sc_forget_kinks(sc_loop *L)
{
    for (sc_int i = 0; i < sc_count_watched(L) - L->n_guards; i++) {
        L->is_ignored[i] = L->n_close[i] = 0;
        L->kink_t[i] = -INFINITY;
        L->g_scale[L->n_guards + i] = 0.0;
    }
    L->is_short = 0;
}

/* Bound on what rates that change within the step, in whatever way, make of it; 1 is the tolerance. */
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

/* The step ends behind the place of a kink: go on from there afresh. */
static void sc_leave_kink(sc_loop *L)
{
    L->is_short = 0;
    L->is_fresh = L->wants_jacobian = 1;
    L->eta = 1.0; /* how well the iteration converged in short steps, on the other side, means nothing */
    L->h_next = L->h_free;
}

/* The same, with the kink crossed. */
static void sc_pass_kink(sc_loop *L, double at)
{
    for (sc_int i = L->n_guards; i < sc_count_watched(L); i++) {
        const sc_int k = i - L->n_guards;
        if (!L->fired[i]) continue;
        L->n_close[k] = at - L->kink_t[k] < SC_CLOSE * L->h_free ? L->n_close[k] + 1 : 0;
        L->is_ignored[k] = L->n_close[k] >= SC_CHATTER;
        L->kink_t[k] = at;
    }
    L->n_kinks++;
    sc_leave_kink(L);
}

/* First crossing of a kink in the step that was just accepted: SC_GUARD with its time in *at, else SC_GO. */
static int sc_find_kink(sc_loop *L, double *at)
{
    const sc_int all = sc_count_watched(L), first_limit = all - L->n_limits;
    const double event_t = L->event_t;
    int status;
    L->g_first = L->n_guards;
    L->g_last = L->saw_limit ? all : first_limit; /* commands that stayed within the limits need no search */
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

/* After an accepted attempt of length h, the `tries`-th of this step that meets a kink: SC_GO if the step may stand,
 * SC_SHORTER with the length to try instead in *h_wanted. */
static int sc_meet_kinks(sc_loop *L, double h, double h_usual, int tries, double *h_wanted)
{
    const double h_before = L->h;
    double at = 0.0, left, margin = SC_MARGIN;
    int status = SC_GO;
    if (L->saw_limit || L->n_plant_kinks + L->n_law_kinks > 0) {
        L->h = h;
        status = sc_find_kink(L, &at);
        L->h = h_before;
    }
    if (status == SC_GO && L->is_short && L->kink_at <= L->t_new) sc_leave_kink(L); /* it was not where it was expected */
    if (status != SC_GUARD) return status;
    if (L->is_short && (h <= 8.0 * sc_width(L) || sc_change_in_step(L, h) <= SC_NEGLIGIBLE)) {
        sc_pass_kink(L, at);
        return SC_GO;
    }
    if (!L->is_short) L->h_free = h_usual;
    for (; tries > 0 && margin < 0.5; tries--) margin *= 4.0;
    left = at - L->t;
    *h_wanted = left < SC_NEAR_START * h ? 2.0 * left : (1.0 - margin) * left;
    L->is_short = 1;
    L->kink_at = at;
    if (L->is_implicit) L->has_history = 0; /* its polynomial is that of the attempt */
    return SC_SHORTER;
}

#endif
