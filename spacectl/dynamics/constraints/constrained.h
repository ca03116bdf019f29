/* Accelerations of constrained systems, M v_dot = f + E lam, J v_dot = gamma. Reference implementation: solve_directions in
 * dynamics/constraints/solvers.py. Matrices are column-major (as in CasADi), n speeds, m constraint equations. */
#ifndef SC_CONSTRAINED_H
#define SC_CONSTRAINED_H

#include <math.h>
#include <string.h>

#define SC_SMALL 1e-4          /* as SMALL, CONTRADICTION and SINGULAR in dynamics/constraints/solvers.py */
#define SC_CONTRADICTION 1e-3
#define SC_SINGULAR 1e-13

static void sc_swap(double *a, double *b) {
    const double t = *a;
    *a = *b;
    *b = t;
}

/* b <- H b for reflector k of a factorisation by sc_pivoted. */
static void sc_reflect_once(int n, int k, const double *A, const double *beta, double *b) {
    const double *a = A + (long long)k * n;
    double sum = b[k];
    for (int i = k + 1; i < n; i++) sum += a[i] * b[i];
    sum *= beta[k];
    b[k] -= sum;
    for (int i = k + 1; i < n; i++) b[i] -= sum * a[i];
}

/* Householder QR with column pivoting of A (n x m), columns first scaled to unit norm (small ones to less). On return R of
 * the scaled columns is in the upper part of A, and the reflectors are below it with their factors in beta. order[k] is the
 * original index of column k; size[j] is the number by which column j was divided. Returns the rank. */
static int sc_pivoted(int n, int m, double *A, double *beta, int *order, double *size, double tolerance) {
    const int steps = n < m ? n : m;
    double first = 0.0, longest = 0.0, left[m > 0 ? m : 1], whole[m > 0 ? m : 1]; /* squared norms of the columns below row k */
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
            for (int i = 0; i < n; i++) sc_swap(A + (long long)k * n + i, A + (long long)best * n + i);
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
            double *b = A + (long long)j * n;
            sc_reflect_once(n, k, A, beta, b);
            left[j] -= b[k] * b[k];
            if (!(left[j] > 1e-6 * whole[j])) { /* cancellation: compute the norm again */
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
    for (int k = 0; k < r; k++) sc_reflect_once(n, k, A, beta, b);
}

/* b <- Q b for the first r reflectors. */
static void sc_reflect_back(int n, int r, const double *A, const double *beta, double *b) {
    for (int k = r - 1; k >= 0; k--) sc_reflect_once(n, k, A, beta, b);
}

#if defined(__GNUC__)
#define SC_INLINE static inline __attribute__((always_inline)) /* constant sizes at each call: 10 % faster */
#else
#define SC_INLINE static inline
#endif

/* Solve the row-major system T X = B (n x n, n x w) with scaled rows and partial pivoting; B is overwritten
 * by X. Returns the determinant of the scaled T, or 0 if it is singular. */
SC_INLINE double sc_solve_square(int n, int w, double *T, double *B) {
    double det = 1.0;
    for (int i = 0; i < n; i++) {
        double largest = 0.0;
        for (int j = 0; j < n; j++) largest = fmax(largest, fabs(T[i * n + j]));
        if (!(largest > 0.0)) return 0.0;
        for (int j = 0; j < n; j++) T[i * n + j] /= largest;
        for (int j = 0; j < w; j++) B[i * w + j] /= largest;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(T[i * n + k]) > fabs(T[best * n + k])) best = i;
        if (!(fabs(T[best * n + k]) > SC_SINGULAR)) return 0.0;
        if (best != k) {
            det = -det;
            for (int j = k; j < n; j++) sc_swap(T + k * n + j, T + best * n + j);
            for (int j = 0; j < w; j++) sc_swap(B + k * w + j, B + best * w + j);
        }
        det *= T[k * n + k];
        for (int i = k + 1; i < n; i++) {
            const double factor = T[i * n + k] / T[k * n + k];
            if (factor == 0.0) continue;
            for (int j = k + 1; j < n; j++) T[i * n + j] -= factor * T[k * n + j];
            for (int j = 0; j < w; j++) B[i * w + j] -= factor * B[k * w + j];
        }
    }
    for (int k = n - 1; k >= 0; k--)
        for (int j = 0; j < w; j++) {
            for (int i = k + 1; i < n; i++) B[k * w + j] -= T[k * n + i] * B[i * w + j];
            B[k * w + j] /= T[k * n + k];
        }
    return det;
}

/* Whether all values are finite. Rows with NaN would fail every comparison of pivots and be omitted as
 * dependent. */
static int sc_all_finite(long long count, const double *values) {
    double sum = 0.0;
    for (long long i = 0; i < count; i++) sum += 0.0 * values[i];
    return sum == 0.0;
}

/* 1 / sqrt(diag M) for M (n, n), as speed_scales in dynamics/constraints/solvers.py. */
static void sc_speed_scales(int n, const double *M, double *scale) {
    double typical = 0.0;
    for (int i = 0; i < n; i++) typical = fmax(typical, M[(long long)i * n + i]);
    if (!(typical > 0.0)) typical = 1.0;
    for (int i = 0; i < n; i++) {
        const double d = M[(long long)i * n + i];
        scale[i] = 1.0 / sqrt(d > 1e-14 * typical ? d : typical);
    }
}

/* Whether v_dot violates some of the equations J v_dot = gamma by much of what they are made of; J (m, n) with the given strides,
 * f the applied forces. work: m doubles. */
static int sc_contradicts(int n, int m, const double *J, int to_row, int to_column, const double *gamma, const double *f,
                          const double *v_dot, const double *scale, double *work) {
    double largest = 0.0;
    for (int j = 0; j < m; j++) {
        double sum = -gamma[j], made_of = fabs(gamma[j]);
        for (int i = 0; i < n; i++) {
            const double a = J[(long long)j * to_row + (long long)i * to_column];
            sum += a * v_dot[i];
            made_of += fabs(a) * (fabs(v_dot[i]) + scale[i] * scale[i] * fabs(f[i]));
        }
        work[j] = fabs(sum) - SC_CONTRADICTION * made_of;
        largest = fmax(largest, made_of);
    }
    for (int j = 0; j < m; j++)
        if (work[j] > 1e-9 * largest) return 1;
    return 0;
}

/* f is overwritten by v_dot; lam may be null. work: 2 n m + n n + 6 n + 4 m doubles; iwork: 2 m ints. Returns
 * 0 if solved. */
static int sc_constrained(int n, int m, const double *M, double *f, const double *J, const double *gamma, const double *E,
                          double *lam, double *work, int *iwork, double tolerance) {
    double *rows = work, *forces = rows + (long long)n * m, *T = forces + (long long)n * m, *scale = T + (long long)n * n;
    double *beta_J = scale + n, *beta_E = beta_J + n, *row = beta_E + n, *b = row + n;
    double *size_J = b + 2 * n, *size_E = size_J + m;
    int *order_J = iwork, *order_E = iwork + m;
    if (!sc_all_finite((long long)n * m, J) || !sc_all_finite((long long)n * m, E)) return 1;
    sc_speed_scales(n, M, scale);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            rows[(long long)j * n + i] = J[(long long)i * m + j] * scale[i]; /* J is (m, n), column-major */
            forces[(long long)j * n + i] = E[(long long)j * n + i] * scale[i];
        }
    const int rank = sc_pivoted(n, m, rows, beta_J, order_J, size_J, tolerance);
    const int reach = sc_pivoted(n, m, forces, beta_E, order_E, size_E, tolerance);
    if (reach != rank) return 1;
    /* rows rank.. of Q' (scale M) and Q' (scale f); then the independent rows of J */
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) row[i] = scale[i] * M[(long long)j * n + i];
        sc_reflect(n, reach, forces, beta_E, row);
        for (int i = reach; i < n; i++) T[(i - reach) * n + j] = row[i] * scale[j];
        for (int k = 0; k < rank; k++) T[(n - rank + k) * n + j] = J[(long long)j * m + order_J[k]] * scale[j];
    }
    for (int i = 0; i < n; i++) row[i] = scale[i] * f[i];
    sc_reflect(n, reach, forces, beta_E, row);
    for (int i = reach; i < n; i++) b[i - reach] = row[i];
    for (int k = 0; k < rank; k++) b[n - rank + k] = gamma[order_J[k]];
    if (sc_solve_square(n, 1, T, b) == 0.0) return 1;
    for (int i = 0; i < n; i++) b[i] *= scale[i];
    if (rank < m && sc_contradicts(n, m, J, 1, m, gamma, f, b, scale, size_J)) return 1;
    if (lam) {
        for (int i = 0; i < n; i++) {
            double sum = -f[i];
            for (int j = 0; j < n; j++) sum += M[(long long)j * n + i] * b[j];
            row[i] = scale[i] * sum;
        }
        sc_reflect(n, reach, forces, beta_E, row);
        memset(lam, 0, (size_t)m * sizeof(double));
        for (int k = reach - 1; k >= 0; k--) {
            double sum = row[k];
            for (int j = k + 1; j < reach; j++) sum -= forces[(long long)j * n + k] * row[j];
            row[k] = sum / forces[(long long)k * n + k];
            lam[order_E[k]] = row[k] / size_E[order_E[k]];
        }
    }
    memcpy(f, b, (size_t)n * sizeof(double));
    return 0;
}

/* Distance to singularity from R (see sc_pivoted): 1 / |R^-1| with rows divided by `row_scales`, their typical norms, relative
 * to its typical value row_scales[m]. It is 0 in a singular position and about 1 far from it, and changes smoothly, independent
 * of the order of pivoting. work: n doubles, zero before and after. */
static double sc_singularity_distance(int n, int rank, const double *A, const int *order, const double *size, const double *row_scales, int m,
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
            const double entry = work[i] * row_scales[order[i]] / size[order[i]];
            sum += entry * entry;
            work[i] = 0.0;
        }
    }
    return rank ? fmin(1.0 / (sqrt(sum) * row_scales[m]), 1.0) : 1.0;
}

/* The least step with J step = -g; J (m, n) column-major. work: n m + n + 2 m doubles; iwork: m ints. Returns the rank; the
 * indices of the rows that were used are first in iwork. Unless null, `distance` becomes the distance to singularity. */
static int sc_least(int n, int m, const double *J, const double *g, double *step, double *work, int *iwork, double tolerance,
                    const double *row_scales, double *distance) {
    double *A = work, *beta = A + (long long)n * m, *size = beta + n;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) A[(long long)j * n + i] = J[(long long)i * m + j];
    const int rank = sc_pivoted(n, m, A, beta, iwork, size, tolerance);
    memset(step, 0, (size_t)n * sizeof(double));
    if (distance) *distance = sc_singularity_distance(n, rank, A, iwork, size, row_scales, m, step);
    for (int k = 0; k < rank; k++) { /* R' y = -g, scaled as the columns are */
        double sum = -g[iwork[k]] / size[iwork[k]];
        for (int i = 0; i < k; i++) sum -= A[(long long)k * n + i] * step[i];
        step[k] = sum / A[(long long)k * n + k];
    }
    sc_reflect_back(n, rank, A, beta, step);
    return rank;
}

/* Whether no residual exceeds `small`, relative to the largest entry of x (at least 1). */
static int sc_is_small(int m, const double *g, int n, const double *x, double small) {
    double left = 0.0, size = 1.0;
    for (int i = 0; i < m; i++) left = fmax(left, fabs(g[i]));
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    return !(left > small * size);
}

/* Raise row_scales to the norms of the rows of J (m, n, column-major), where these are finite and larger. */
static void sc_update_row_scales(int n, int m, const double *J, double *row_scales) {
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += J[(long long)i * m + j] * J[(long long)i * m + j];
        if (isfinite(sum)) row_scales[j] = fmax(row_scales[j], sqrt(sum));
    }
}

#endif
