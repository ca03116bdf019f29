/* Interpolation of the reference as in core.Trajectory: 0 previous, 1 linear, 2 cubic Hermite; constant outside the
 * knots. If the law uses it, the rate follows the values. */
#ifndef SC_TABLE_H
#define SC_TABLE_H

#include "loop.h"

/* Return the largest i in [0, n-1] with knots[i] <= t, or 0 if there is none; try `hint` first. */
static sc_int sc_interval(const double *knots, sc_int n, double t, sc_int hint)
{
    sc_int low = 0, high = n;
    if (hint >= 0 && hint + 1 < n && knots[hint] <= t && t < knots[hint + 1]) return hint;
    while (low < high) { /* bisect for the number of knots <= t */
        sc_int middle = (low + high) / 2;
        if (knots[middle] <= t) low = middle + 1;
        else high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* Set r to the reference at t. */
static void sc_table(sc_loop *L, double t, double *r)
{
    sc_int n = L->n_knots, k = L->n_r, i, m;
    double first = L->knots[0], last = L->knots[n - 1], length, f;
    const double *a, *b, *da, *db;
    const int is_inside = t >= first && t < last; /* outside the knots the reference is constant */
    double *rate = L->table_rates ? r + k : 0;
    if (t < first) t = first;
    if (t > last) t = last;
    i = L->i_knot = sc_interval(L->knots, n, t, L->i_knot);
    if (n == 1 || L->table_rule == 0) {
        for (m = 0; m < k; m++) {
            r[m] = L->values[i * k + m];
            if (rate) rate[m] = 0.0;
        }
        return;
    }
    if (i > n - 2) i = n - 2;
    length = L->knots[i + 1] - L->knots[i];
    f = (t - L->knots[i]) / length;
    a = L->values + i * k;
    b = a + k;
    if (L->table_rule == 1) {
        for (m = 0; m < k; m++) {
            r[m] = a[m] + f * (b[m] - a[m]);
            if (rate) rate[m] = is_inside ? (b[m] - a[m]) / length : 0.0;
        }
        return;
    }
    da = L->rates + i * k;
    db = da + k;
    for (m = 0; m < k; m++) {
        double ra = da[m] * length, rb = db[m] * length;
        double c2 = 3.0 * (b[m] - a[m]) - 2.0 * ra - rb, c3 = 2.0 * (a[m] - b[m]) + ra + rb;
        r[m] = a[m] + f * (ra + f * (c2 + f * c3));
        if (rate) rate[m] = is_inside ? (ra + f * (2.0 * c2 + f * 3.0 * c3)) / length : 0.0;
    }
}

#endif
