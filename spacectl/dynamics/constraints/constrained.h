/* Accelerations of constrained systems, M v_dot = f + E lam, J v_dot = gamma; numpy twin: solve_directions in
 * dynamics/constraints/solvers.py. Matrices are column-major (as CasADi writes them), n speeds, m constraint rows. */
#ifndef SC_CONSTRAINED_H
#define SC_CONSTRAINED_H

#include <math.h>
#include <string.h>

#define SC_SMALL 1e-4          /* as SMALL, CONTRADICTION and SINGULAR in dynamics/constraints/solvers.py */
#define SC_CONTRADICTION 1e-3
#define SC_SINGULAR 1e-13

/* Householder QR with column pivoting of A (n x m), columns first scaled to unit size (small ones to less). On return
 * R is in the upper part of A (of the scaled columns), reflectors below with their factors in beta; `order` tells which
 * column stands where, `size` what columns were divided by, in their old places. Returns the rank. */
static int sc_pivoted(int n, int m, double *A, double *beta, int *order, double *size, double tolerance) {
    const int steps = n < m ? n : m;
    double first = 0.0, longest = 0.0, left[m > 0 ? m : 1], whole[m > 0 ? m : 1]; /* squares of what is left of the columns */
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        const double *a = A + (long long)j * n;
        for (int i = 0; i < n; i++) sum += a[i] * a[i];
        size[j] = sqrt(sum);
        longest = fmax(longest, size[j]);
        order[j] = j;
    }
    for (int j = 0; j < m; j++) {
        double *a = A + (long long)j * n;
        size[j] = longest > 0.0 ? fmax(size[j], SC_SMALL * longest) : 1.0;
        for (int i = 0; i < n; i++) a[i] /= size[j];
    }
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        const double *a = A + (long long)j * n;
        for (int i = 0; i < n; i++) sum += a[i] * a[i];
        left[j] = whole[j] = sum;
    }
    for (int k = 0; k < steps; k++) {
        int best = k;
        double largest = -1.0;
        for (int j = k; j < m; j++)
            if (left[j] > largest) largest = left[j], best = j;
        if (best != k) left[best] = left[k], whole[best] = whole[k];
        if (best != k) {
            for (int i = 0; i < n; i++) {
                const double t = A[(long long)k * n + i];
                A[(long long)k * n + i] = A[(long long)best * n + i];
                A[(long long)best * n + i] = t;
            }
            const int t = order[k];
            order[k] = order[best];
            order[best] = t;
        }
        double *a = A + (long long)k * n;
        double exact = 0.0;
        for (int i = k; i < n; i++) exact += a[i] * a[i];
        const double length = sqrt(exact);
        if (k == 0) first = length;
        if (!(length > tolerance * first)) return k;
        const double head = a[k] > 0.0 ? -length : length;
        const double pivot = a[k] - head;
        beta[k] = -pivot / head; /* reflector 1 - beta w w' with w[k] = 1 */
        for (int i = k + 1; i < n; i++) a[i] /= pivot;
        a[k] = head;
        for (int j = k + 1; j < m; j++) {
            double *b = A + (long long)j * n, sum = b[k];
            for (int i = k + 1; i < n; i++) sum += a[i] * b[i];
            sum *= beta[k];
            b[k] -= sum;
            for (int i = k + 1; i < n; i++) b[i] -= sum * a[i];
            left[j] -= b[k] * b[k];
            if (!(left[j] > 1e-6 * whole[j])) { /* too much is gone to know what is left */
                left[j] = 0.0;
                for (int i = k + 1; i < n; i++) left[j] += b[i] * b[i];
                whole[j] = left[j];
            }
        }
    }
    return steps;
}

/* b <- Q' b for the first r reflectors. */
static void sc_reflect(int n, int r, const double *A, const double *beta, double *b) {
    for (int k = 0; k < r; k++) {
        const double *a = A + (long long)k * n;
        double sum = b[k];
        for (int i = k + 1; i < n; i++) sum += a[i] * b[i];
        sum *= beta[k];
        b[k] -= sum;
        for (int i = k + 1; i < n; i++) b[i] -= sum * a[i];
    }
}

/* Solves the row-major system T x = b (n x n) with rows scaled and partial pivoting; b becomes x. Returns 0, or 1. */
static int sc_solve_rows(int n, double *T, double *b) {
    for (int i = 0; i < n; i++) {
        double largest = 0.0;
        for (int j = 0; j < n; j++) largest = fmax(largest, fabs(T[i * n + j]));
        if (!(largest > 0.0)) return 1;
        for (int j = 0; j < n; j++) T[i * n + j] /= largest;
        b[i] /= largest;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(T[i * n + k]) > fabs(T[best * n + k])) best = i;
        if (!(fabs(T[best * n + k]) > SC_SINGULAR)) return 1;
        if (best != k) {
            for (int j = k; j < n; j++) {
                const double t = T[k * n + j];
                T[k * n + j] = T[best * n + j];
                T[best * n + j] = t;
            }
            const double t = b[k];
            b[k] = b[best];
            b[best] = t;
        }
        for (int i = k + 1; i < n; i++) {
            const double factor = T[i * n + k] / T[k * n + k];
            if (factor == 0.0) continue;
            for (int j = k + 1; j < n; j++) T[i * n + j] -= factor * T[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= T[k * n + j] * b[j];
        b[k] /= T[k * n + k];
    }
    return 0;
}

/* Whether all of some numbers are finite. Rows that are not would fail every comparison of pivots and be left out as dependent. */
static int sc_all_finite(long long count, const double *values) {
    double sum = 0.0;
    for (long long i = 0; i < count; i++) sum += 0.0 * values[i];
    return sum == 0.0;
}

/* 1 / sqrt(diag M), for M (n, n): units of the speeds, as speed_scales in dynamics/constraints/solvers.py. */
static void sc_speed_scales(int n, const double *M, double *scale) {
    double typical = 0.0;
    for (int i = 0; i < n; i++) typical = fmax(typical, M[(long long)i * n + i]);
    if (!(typical > 0.0)) typical = 1.0;
    for (int i = 0; i < n; i++) {
        const double d = M[(long long)i * n + i];
        scale[i] = 1.0 / sqrt(d > 1e-14 * typical ? d : typical);
    }
}

/* f becomes v_dot; lam may be null. work: 2 n m + n n + 6 n + 4 m doubles; iwork: 2 m ints. Returns 0 if solved. */
static int sc_constrained(int n, int m, const double *M, double *f, const double *J, const double *gamma, const double *E,
                          double *lam, double *work, int *iwork, double tolerance) {
    double *held = work, *push = held + (long long)n * m, *T = push + (long long)n * m, *scale = T + (long long)n * n;
    double *beta_J = scale + n, *beta_E = beta_J + n, *row = beta_E + n, *b = row + n;
    double *size_J = b + 2 * n, *size_E = size_J + m;
    int *order_J = iwork, *order_E = iwork + m;
    if (!sc_all_finite((long long)n * m, J) || !sc_all_finite((long long)n * m, E)) return 1;
    sc_speed_scales(n, M, scale);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            held[(long long)j * n + i] = J[(long long)i * m + j] * scale[i]; /* J is (m, n), column-major */
            push[(long long)j * n + i] = E[(long long)j * n + i] * scale[i];
        }
    const int rank = sc_pivoted(n, m, held, beta_J, order_J, size_J, tolerance);
    const int reach = sc_pivoted(n, m, push, beta_E, order_E, size_E, tolerance);
    if (reach != rank) return 1;
    /* rows rank.. of Q' (scale M) and Q' (scale f); then the independent constraint rows */
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) row[i] = scale[i] * M[(long long)j * n + i];
        sc_reflect(n, reach, push, beta_E, row);
        for (int i = reach; i < n; i++) T[(i - reach) * n + j] = row[i] * scale[j];
        for (int k = 0; k < rank; k++) T[(n - rank + k) * n + j] = J[(long long)j * m + order_J[k]] * scale[j];
    }
    for (int i = 0; i < n; i++) row[i] = scale[i] * f[i];
    sc_reflect(n, reach, push, beta_E, row);
    for (int i = reach; i < n; i++) b[i - reach] = row[i];
    for (int k = 0; k < rank; k++) b[n - rank + k] = gamma[order_J[k]];
    if (sc_solve_rows(n, T, b)) return 1;
    for (int i = 0; i < n; i++) b[i] *= scale[i];
    if (rank < m) { /* rows that were left out must agree with the others */
        double largest = 0.0;
        for (int j = 0; j < m; j++) {
            double sum = -gamma[j], made_of = fabs(gamma[j]);
            for (int i = 0; i < n; i++) {
                const double a = J[(long long)i * m + j];
                sum += a * b[i];
                made_of += fabs(a) * (fabs(b[i]) + scale[i] * scale[i] * fabs(f[i]));
            }
            size_J[j] = fabs(sum) - SC_CONTRADICTION * made_of;
            largest = fmax(largest, made_of);
        }
        for (int j = 0; j < m; j++)
            if (size_J[j] > 1e-9 * largest) return 1;
    }
    if (lam) {
        for (int i = 0; i < n; i++) {
            double sum = -f[i];
            for (int j = 0; j < n; j++) sum += M[(long long)j * n + i] * b[j];
            row[i] = scale[i] * sum;
        }
        sc_reflect(n, reach, push, beta_E, row);
        memset(lam, 0, (size_t)m * sizeof(double));
        for (int k = reach - 1; k >= 0; k--) {
            double sum = row[k];
            for (int j = k + 1; j < reach; j++) sum -= push[(long long)j * n + k] * row[j];
            row[k] = sum / push[(long long)k * n + k];
            lam[order_E[k]] = row[k] / size_E[order_E[k]];
        }
    }
    memcpy(f, b, (size_t)n * sizeof(double));
    return 0;
}

/* b <- Q b for the first r reflectors. */
static void sc_reflect_back(int n, int r, const double *A, const double *beta, double *b) {
    for (int k = r - 1; k >= 0; k--) {
        const double *a = A + (long long)k * n;
        double sum = b[k];
        for (int i = k + 1; i < n; i++) sum += a[i] * b[i];
        sum *= beta[k];
        b[k] -= sum;
        for (int i = k + 1; i < n; i++) b[i] -= sum * a[i];
    }
}

/* How far rows are from a singular position, from their R (see sc_pivoted): 1 / |R^-1| with rows in units of `levers`, the sizes
 * they have elsewhere, and over levers[m], which is the same elsewhere. 0 in a singular position, about 1 far away; it changes
 * smoothly, whatever the order of pivoting. work: n doubles, zero before and after. */
static double sc_near(int n, int rank, const double *A, const int *order, const double *size, const double *levers, int m,
                      double *work) {
    double sum = 0.0;
    for (int j = 0; j < rank; j++) { /* column j of the inverse, from its diagonal up */
        work[j] = 1.0 / A[(long long)j * n + j];
        for (int i = j - 1; i >= 0; i--) {
            double dot = 0.0;
            for (int k = i + 1; k <= j; k++) dot += A[(long long)k * n + i] * work[k];
            work[i] = -dot / A[(long long)i * n + i];
        }
        for (int i = 0; i <= j; i++) {
            const double entry = work[i] * levers[order[i]] / size[order[i]];
            sum += entry * entry;
            work[i] = 0.0;
        }
    }
    return rank ? fmin(1.0 / (sqrt(sum) * levers[m]), 1.0) : 1.0;
}

/* The least step with J step = -g; J (m, n) column-major. work: n m + n + 2 m doubles; iwork: m ints. Returns the rank; the rows
 * that were used stand first in iwork. Unless null, `near` becomes how far from a singular position the rows are (sc_near). */
static int sc_least(int n, int m, const double *J, const double *g, double *step, double *work, int *iwork, double tolerance,
                    const double *levers, double *near) {
    double *A = work, *beta = A + (long long)n * m, *size = beta + n;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) A[(long long)j * n + i] = J[(long long)i * m + j];
    const int rank = sc_pivoted(n, m, A, beta, iwork, size, tolerance);
    memset(step, 0, (size_t)n * sizeof(double));
    if (near) *near = sc_near(n, rank, A, iwork, size, levers, m, step);
    for (int k = 0; k < rank; k++) { /* R' y = -g, scaled as the columns are */
        double sum = -g[iwork[k]] / size[iwork[k]];
        for (int i = 0; i < k; i++) sum -= A[(long long)k * n + i] * step[i];
        step[k] = sum / A[(long long)k * n + k];
    }
    sc_reflect_back(n, rank, A, beta, step);
    return rank;
}

/* Sizes of the rows of J (m, n, column-major), where finite and larger than those known. */
static void sc_note_levers(int n, int m, const double *J, double *levers) {
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += J[(long long)i * m + j] * J[(long long)i * m + j];
        if (isfinite(sum)) levers[j] = fmax(levers[j], sqrt(sum));
    }
}

#endif
