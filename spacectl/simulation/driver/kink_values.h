/* Functions that cross zero where the right-hand side has a kink or a jump: those of the plant's elements, those of a
 * continuous law, and the distances of its commands from the limits of the inputs. kinks.h locates the crossings. */
#ifndef SC_KINK_VALUES_H
#define SC_KINK_VALUES_H

#include <math.h>

#include "loop.h"
#include "right_hand_side.h"

#define SC_ROUNDING 1e-14 /* magnitude, relative to the largest so far, below which a value counts as zero */

/* Number of guards, kinks and limits. */
static sc_int sc_count_watched(const sc_loop *L)
{
    return L->n_guards + L->n_plant_kinks + L->n_law_kinks + L->n_limits;
}

/* Evaluate the kinks of the law with its current arguments. */
static int sc_law_kinks(sc_loop *L)
{
    const sc_int sizes[5] = {1, L->n_x, L->n_measured, L->n_z, L->n_r * (1 + L->table_rates)};
    for (int i = 0; i < 5; i++) sc_set_argument(&L->law_kinks, i, L->law.arg[i], sizes[i]);
    return sc_call(&L->law_kinks);
}

/* Evaluate the kinks at (t, s); g has them after the guards. Ignored kinks and NaN are set to zero. */
static int sc_kink_values(sc_loop *L, double t, const double *s, double *g)
{
    const sc_int law = L->n_guards + L->n_plant_kinks, limits = law + L->n_law_kinks;
    sc_int i;
    int status = SC_GO;
    if (L->g_last > law) status = sc_command(L, t, s);
    if (status == SC_GO && L->n_plant_kinks > 0) {
        sc_argument(&L->kinks, 0)[0] = t;
        sc_copy(sc_argument(&L->kinks, 1), s, L->n_x);
        status = sc_call(&L->kinks);
        sc_copy(g + L->n_guards, L->kinks.res[0], L->n_plant_kinks);
    }
    if (status == SC_GO && L->n_law_kinks > 0) {
        status = sc_law_kinks(L);
        sc_copy(g + law, L->law_kinks.res[0], L->n_law_kinks);
    }
    if (status != SC_GO) return status;
    for (i = limits; i < L->g_last; i++) g[i] = sc_excess(L, i - limits);
    for (i = L->g_first; i < L->g_last; i++) {
        const double size = fabs(g[i]);
        if (size > L->g_scale[i] && size < INFINITY) L->g_scale[i] = size;
        L->fired[i] = 0;
        if (L->is_ignored[i - L->n_guards] || !(size > SC_ROUNDING * L->g_scale[i])) g[i] = 0.0;
    }
    return SC_GO;
}

#endif
