/* Constrained accelerations (see sc_constrained) and least steps (see sc_least) by sparse factorisation; the dense kernels are
 * used where constraint equations are dependent or nearly so. */
#ifndef SC_SPARSE_SOLVE_H
#define SC_SPARSE_SOLVE_H

#include "constrained.h"
#include "sparse.h"

#define SC_LIGHT 1e-2 /* factor on the inertia, so that nearly dependent rows of J lose accuracy once, not twice */
#define SC_PROBES 4   /* right-hand sides by which the distance to singularity is estimated */

/* Patterns of [M, -E; J, 0]: n speeds, m equations, nonzeros of the three matrices, then of the whole with its column order. In
 * a column of the whole, M precedes J. */
typedef struct {
    int n, m;
    sc_pattern M, J, E, whole;
    const int *order;
} sc_augmented;

/* Patterns of [1, -J'; J, 0]: column n + i of the whole contains the entries from[..] of J. */
typedef struct {
    int n, m;
    sc_pattern J, whole;
    const int *from, *order;
} sc_rows;

/* Write nonzeros to a column-major matrix with r rows and c columns, which is zero before. */
static void sc_scatter(int r, int c, sc_pattern at, const double *A, double *dense) {
    for (int j = 0; j < c; j++)
        for (int e = at.start[j]; e < at.start[j + 1]; e++) dense[(long long)j * r + at.row[e]] = A[e];
}

/* Replace squared norms by the reciprocals of the numbers that rows are divided by (see sc_pivoted). Returns 0 if all are 0. */
static int sc_one_over(int n, double *squares) {
    double longest = 0.0;
    for (int i = 0; i < n; i++) longest = fmax(longest, squares[i]);
    for (int i = 0; i < n; i++) squares[i] = 1.0 / sqrt(fmax(squares[i], SC_SMALL * SC_SMALL * longest));
    return n == 0 || longest > 0.0;
}

/* f is overwritten by v_dot; lam may be null. Returns 0 if solved, 1 if some pivot is too small. */
static int sc_sparse_augmented(const sc_augmented *s, const double *M, double *f, const double *J, const double *gamma,
                               const double *E, double *lam) {
    const int n = s->n, m = s->m, size = n + m, count = s->whole.start[size];
    sc_lu F;
    double *memory = calloc((size_t)(count + 5 * size + n), sizeof(double));
    int is_good = sc_lu_make(&F, size, 2 * count) && memory;
    if (is_good) {
        double *K = memory, *unit = K + count, *row = unit + size, *x = row + size, *b = x + size, *work = b + size;
        double *scale = work + size, typical = 0.0;
        int e, k = 0;
        for (int j = 0; j < n; j++)
            for (e = s->M.start[j]; e < s->M.start[j + 1]; e++)
                if (s->M.row[e] == j) scale[j] = M[e], typical = fmax(typical, M[e]);
        if (!(typical > 0.0)) typical = 1.0;
        for (int j = 0; j < n; j++) scale[j] = 1.0 / sqrt(scale[j] > 1e-14 * typical ? scale[j] : typical);
        for (int j = 0; j < n; j++) /* squared norms of rows of J and columns of E, for scaled speeds */
            for (e = s->J.start[j]; e < s->J.start[j + 1]; e++) row[n + s->J.row[e]] += J[e] * J[e] * scale[j] * scale[j];
        for (int j = 0; j < m; j++)
            for (e = s->E.start[j]; e < s->E.start[j + 1]; e++) unit[n + j] += E[e] * E[e] * scale[s->E.row[e]] * scale[s->E.row[e]];
        is_good = sc_one_over(m, row + n) && sc_one_over(m, unit + n);
        for (int j = 0; j < n; j++) row[j] = unit[j] = scale[j];
        for (int j = 0; j < n; j++) {
            for (e = s->M.start[j]; e < s->M.start[j + 1]; e++) K[k++] = SC_LIGHT * M[e] * row[s->M.row[e]] * unit[j];
            for (e = s->J.start[j]; e < s->J.start[j + 1]; e++) K[k++] = J[e] * row[n + s->J.row[e]] * unit[j];
        }
        for (int j = 0; j < m; j++)
            for (e = s->E.start[j]; e < s->E.start[j + 1]; e++) K[k++] = -E[e] * row[s->E.row[e]] * unit[n + j];
        is_good = is_good && sc_lu_factor(&F, s->whole, K, s->order);
        for (int pass = 0; is_good && pass < 2; pass++) { /* the second pass is a step of iterative refinement */
            for (int i = 0; i < size; i++) b[i] = row[i] * (i < n ? SC_LIGHT * f[i] : gamma[i - n]);
            sc_lessen(size, s->whole, K, x, b);
            sc_lu_solve(&F, s->order, b, b, work);
            for (int i = 0; i < size; i++) x[i] += b[i];
        }
        for (int i = 0; is_good && i < n; i++) f[i] = unit[i] * x[i];
        for (int i = 0; is_good && lam && i < m; i++) lam[i] = unit[n + i] * x[n + i] / SC_LIGHT;
    }
    sc_lu_free(&F);
    free(memory);
    return !is_good;
}

/* As sc_constrained, for matrices given by their nonzeros. */
static int sc_sparse_constrained(const sc_augmented *s, const double *M, double *f, const double *J, const double *gamma,
                                 const double *E, double *lam, double tolerance) {
    const long long n = s->n, m = s->m;
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += f[i];
    for (int i = 0; i < m; i++) sum += gamma[i];
    if (!isfinite(sum)) return 1;
    if (!sc_sparse_augmented(s, M, f, J, gamma, E, lam)) return 0;
    double *dense = calloc((size_t)(2 * n * n + 4 * n * m + 6 * n + 4 * m), sizeof(double));
    int *ints = malloc((size_t)(2 * m + 1) * sizeof(int)), failed = 1;
    if (dense && ints) {
        double *M_full = dense, *J_full = M_full + n * n, *E_full = J_full + n * m;
        sc_scatter((int)n, (int)n, s->M, M, M_full);
        sc_scatter((int)m, (int)n, s->J, J, J_full);
        sc_scatter((int)n, (int)m, s->E, E, E_full);
        failed = sc_constrained((int)n, (int)m, M_full, f, J_full, gamma, E_full, lam, E_full + n * m, ints, tolerance);
    }
    free(dense);
    free(ints);
    return failed;
}

/* As sc_singularity_distance, with the trace of (A A')^-1 estimated by z' (A A')^-1 z for a few random vectors z of signs. Rows are
 * divided by `row_scales`. */
static double sc_sparse_singularity_distance(const sc_lu *F, const sc_rows *s, const double *over, const double *row_scales, double *b, double *work) {
    const int n = s->n, m = s->m;
    unsigned state = 1u;
    double sum = 0.0;
    for (int k = 0; k < SC_PROBES; k++) {
        memset(b, 0, (size_t)n * sizeof(double));
        for (int i = 0; i < m; i++) {
            state = 1664525u * state + 1013904223u;
            b[n + i] = (state >> 31 ? row_scales[i] : -row_scales[i]) * over[i];
        }
        sc_lu_solve(F, s->order, b, b, work);
        for (int i = 0; i < n; i++) sum += b[i] * b[i];
    }
    return fmin(1.0 / (sqrt(sum / SC_PROBES) * row_scales[m]), 1.0);
}

/* Least step with J step = -g, and the distance to singularity. Returns 0 if found, 1 if some pivot is too small. */
static int sc_sparse_step(const sc_rows *s, const double *J, const double *g, double *step, const double *row_scales, double *distance) {
    const int n = s->n, m = s->m, size = n + m, count = s->whole.start[size];
    sc_lu F;
    double *memory = calloc((size_t)(count + 2 * size + m), sizeof(double));
    int is_good = sc_lu_make(&F, size, 2 * count) && memory;
    if (is_good) {
        double *K = memory, *b = K + count, *work = b + size, *over = work + size;
        int e, k = 0;
        for (int j = 0; j < n; j++)
            for (e = s->J.start[j]; e < s->J.start[j + 1]; e++) over[s->J.row[e]] += J[e] * J[e];
        is_good = sc_one_over(m, over);
        for (int j = 0; j < n; j++) {
            K[k++] = SC_LIGHT;
            for (e = s->J.start[j]; e < s->J.start[j + 1]; e++) K[k++] = J[e] * over[s->J.row[e]];
        }
        for (int i = 0; i < m; i++)
            for (const int end = s->whole.start[n + i + 1]; k < end; k++) K[k] = -J[s->from[k - s->whole.start[n]]] * over[i];
        is_good = is_good && sc_lu_factor(&F, s->whole, K, s->order);
        if (is_good) {
            for (int i = 0; i < m; i++) b[n + i] = -g[i] * over[i];
            sc_lu_solve(&F, s->order, b, b, work);
            memcpy(step, b, (size_t)n * sizeof(double));
            if (distance) *distance = sc_sparse_singularity_distance(&F, s, over, row_scales, b, work);
        }
    }
    sc_lu_free(&F);
    free(memory);
    return !is_good;
}

/* As sc_least, for a matrix given by its nonzeros; `used` returns the rows that were used. With a coarse tolerance (a careful
 * projection) the dense kernel determines the rank. */
static int sc_sparse_least(const sc_rows *s, const double *J, const double *g, double *step, int *used, double tolerance,
                           int is_coarse, const double *row_scales, double *distance) {
    const long long n = s->n, m = s->m;
    int rank = 0;
    if (distance) *distance = 0.0;
    for (int i = 0; i < m; i++) used[i] = i;
    if (!is_coarse && !sc_sparse_step(s, J, g, step, row_scales, distance)) return (int)m;
    double *dense = calloc((size_t)(2 * n * m + n + 2 * m), sizeof(double));
    memset(step, 0, (size_t)n * sizeof(double));
    if (dense) {
        sc_scatter((int)m, (int)n, s->J, J, dense);
        rank = sc_least((int)n, (int)m, dense, g, step, dense + n * m, used, tolerance, row_scales, distance);
    }
    free(dense);
    return rank;
}

/* As sc_update_row_scales. */
static void sc_sparse_row_scales(const sc_rows *s, const double *J, double *row_scales, double *work) {
    memset(work, 0, (size_t)s->m * sizeof(double));
    for (int j = 0; j < s->n; j++)
        for (int e = s->J.start[j]; e < s->J.start[j + 1]; e++) work[s->J.row[e]] += J[e] * J[e];
    for (int i = 0; i < s->m; i++)
        if (isfinite(work[i])) row_scales[i] = fmax(row_scales[i], sqrt(work[i]));
}

#endif
