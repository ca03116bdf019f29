/* Kernels of the phase plane: rows A s_ddot + B s_dot^2 + C s_dot + D <= 0 at the points of a grid in s.
 * Reference implementation in Python: reference.py, the same steps in the same order. */
#include <math.h>

#define HUGE_Y 1e150

/* Interval [low, high] of y >= 0 near y0 with P y^2 + Q y + R <= 0; empty if low > high. */
static void interval(double P, double Q, double R, double y0, double *low, double *high) {
    double size = fabs(P) * y0 * y0 + fabs(Q) * y0 + fabs(R);
    *low = 0.0;
    *high = HUGE_Y;
    if (fabs(P) * HUGE_Y <= fabs(Q) || P == 0.0) { /* linear */
        if (Q > 0.0) *high = -R / Q;
        else if (Q < 0.0) *low = fmax(0.0, -R / Q);
        else if (R > 1e-12 * (size + 1e-300)) *high = -1.0;
        return;
    }
    double d = Q * Q - 4.0 * P * R;
    if (d < 0.0) {
        if (P > 0.0) *high = -1.0;
        return;
    }
    double t = -0.5 * (Q + (Q >= 0.0 ? sqrt(d) : -sqrt(d)));
    double y1 = t / P, y2 = t != 0.0 ? R / t : y1;
    if (y1 > y2) { double swap = y1; y1 = y2; y2 = swap; }
    if (P > 0.0) { /* between the roots */
        *low = fmax(0.0, y1);
        *high = y2;
    } else if (y0 < 0.5 * (y1 + y2) && y1 >= 0.0) { /* below the lower root */
        *high = y1;
    } else {
        *low = fmax(0.0, y2);
    }
}

/* Smallest and largest speed at each point for which an acceleration satisfies all rows. */
void sc_limit_curve(long long n, long long m, const double *rows, double *low, double *high, int *pair_low, int *pair_high) {
    for (long long k = 0; k < n; k++) {
        const double *c = rows + 4 * m * k;
        double bottom = 0.0, top = HUGE_Y;
        int *pl = pair_low + 2 * k, *ph = pair_high + 2 * k;
        pl[0] = pl[1] = ph[0] = ph[1] = -1;
        for (long long i = 0; i < m; i++) {
            const double *a = c + 4 * i;
            if (a[0] < 0.0) continue;
            for (long long j = 0; j < m; j++) {
                const double *b = c + 4 * j;
                double P, Q, R, lo, hi;
                if (a[0] == 0.0) { /* no inertia: a speed limit of its own */
                    if (j != i) continue;
                    P = a[1]; Q = a[2]; R = a[3];
                } else {
                    if (b[0] >= 0.0) continue;
                    P = -b[0] * a[1] + a[0] * b[1];
                    Q = -b[0] * a[2] + a[0] * b[2];
                    R = -b[0] * a[3] + a[0] * b[3];
                }
                interval(P, Q, R, 0.0, &lo, &hi);
                if (lo > bottom) { bottom = lo; pl[0] = (int)i; pl[1] = (int)j; }
                if (hi < top) { top = hi; ph[0] = (int)i; ph[1] = (int)j; }
            }
        }
        low[k] = bottom;
        high[k] = top;
    }
}

/* One step of length h (negative: backward) from x0: feasible range of the next x = s_dot^2 and its active rows.
 * Rows are imposed at the middle of the step (second order); stiff ones, near zero-inertia points, at its end. */
static void step(long long m, const double *middle, const double *end, double h, double x0, double *low, double *high,
                 int *row_low, int *row_high) {
    double y0 = sqrt(fmax(x0, 0.0));
    *low = 0.0;
    *high = HUGE_Y;
    *row_low = *row_high = -1;
    for (long long i = 0; i < m; i++) {
        const double *c = middle + 4 * i, *e = end + 4 * i;
        double lo, hi, derivative = c[1] + (y0 > 0.0 ? 0.5 * c[2] / y0 : 0.0);
        if (c[0] == 0.0 && e[0] == 0.0) continue; /* imposed at the nodes by the limit curve */
        if (fabs(c[0]) > 2.0 * fabs(h * derivative)) {
            interval(c[0] / h + c[1], c[2], c[3] - c[0] * x0 / h, y0, &lo, &hi);
            lo = lo > 0.0 ? 2.0 * lo * lo - x0 : 0.0;
            hi = hi < 0.0 ? -1.0 : (hi >= HUGE_Y ? HUGE_Y : 2.0 * hi * hi - x0);
        } else {
            interval(0.5 * e[0] / h + e[1], e[2], e[3] - 0.5 * e[0] * x0 / h, y0, &lo, &hi);
            lo = lo * lo;
            hi = hi < 0.0 ? -1.0 : (hi >= HUGE_Y ? HUGE_Y : hi * hi);
        }
        if (lo > *low) { *low = lo; *row_low = (int)i; }
        if (hi < *high) { *high = hi; *row_high = (int)i; }
    }
}

/* Feasible ranges of x at the end of each step of a given profile x (n), and their active rows. */
void sc_check(long long n, long long m, const double *s, const double *node, const double *middle, const double *x,
              double *low, double *high, int *row_low, int *row_high) {
    for (long long k = 0; k + 1 < n; k++) {
        double h = s[k + 1] - s[k];
        if (h == 0.0) { low[k] = 0.0; high[k] = HUGE_Y; row_low[k] = row_high[k] = -1; continue; }
        step(m, middle + 4 * m * k, node + 4 * m * (k + 1), h, x[k], low + k, high + k, row_low + k, row_high + k);
    }
}

/* Curve of largest s_dot through (s[start], x0), forward (direction 1) or backward (-1), below the cap, up to
 * the end of the grid or the last feasible step. Writes x, the x that the rows alone allow (larger than x where
 * the cap is active) and the active row of the step to each node. Returns the last node; stop: 0 end of grid,
 * 1 above the cap or no feasible acceleration, 2 zero speed; stop_row: the row responsible. */
long long sc_integrate(long long n, long long m, const double *s, const double *node, const double *middle, const double *cap,
                       long long start, double x0, int direction, double slack, double *x, double *free_x, int *row, int *stop,
                       int *stop_row) {
    long long k = start;
    x[k] = free_x[k] = x0;
    row[k] = -1;
    *stop = 0;
    *stop_row = -1;
    for (;;) {
        long long next = k + direction;
        if (next < 0 || next >= n) return k;
        double h = s[next] - s[k], low, high;
        int row_low, row_high;
        if (h == 0.0) {
            low = 0.0; high = x[k]; row_low = row_high = -1;
        } else {
            const double *mid = middle + 4 * m * (direction > 0 ? k : next);
            step(m, mid, node + 4 * m * next, h, x[k], &low, &high, &row_low, &row_high);
        }
        if (high < 0.0) {
            *stop = 2; *stop_row = row_high;
            return k;
        }
        if (low > high * (1.0 + slack) || low > cap[next] * (1.0 + slack)) {
            *stop = 1; *stop_row = row_low;
            return k;
        }
        free_x[next] = high;
        x[next] = fmin(high, cap[next]);
        row[next] = row_high;
        k = next;
    }
}
