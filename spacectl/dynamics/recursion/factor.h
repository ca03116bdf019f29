/* Factorisation of symmetric positive definite matrices, row-major, in place. The reference implementation is
 * in tests/oracles/recursion. */
#ifndef SC_FACTOR_H
#define SC_FACTOR_H

/* M = L D L': L below the diagonal, 1 / D on it. Returns the first row whose pivot is not positive, or -1. */
static int sc_factor(int n, double *M) {
    for (int j = 0; j < n; j++) {
        double *row = M + j * n;
        for (int k = 0; k < j; k++) {
            const double *other = M + k * n;
            double sum = row[k];
            for (int i = 0; i < k; i++) sum -= row[i] * other[i];
            row[k] = sum; /* L D for now */
        }
        double pivot = row[j];
        for (int k = 0; k < j; k++) {
            const double scaled = row[k] * M[k * n + k];
            pivot -= scaled * row[k];
            row[k] = scaled;
        }
        if (!(pivot > 0.0)) return j;
        row[j] = 1.0 / pivot;
    }
    return -1;
}

/* Solve with these factors; b is overwritten by the solution. */
static void sc_solve(int n, const double *M, double *b) {
    for (int j = 0; j < n; j++)
        for (int k = 0; k < j; k++) b[j] -= M[j * n + k] * b[k];
    for (int j = 0; j < n; j++) b[j] *= M[j * n + j];
    for (int j = n - 1; j >= 0; j--)
        for (int k = j + 1; k < n; k++) b[j] -= M[k * n + j] * b[k];
}

/* The same for `width` columns (a constant, so that they stay in registers) from column `at` of a row-major B (n, m). */
static inline void sc_solve_columns(int n, const double *M, int m, double *B, int at, const int width) {
    double sum[16];
    for (int j = 0; j < n; j++) {
        double *row = B + (long long)j * m + at;
        for (int i = 0; i < width; i++) sum[i] = row[i];
        for (int k = 0; k < j; k++) {
            const double L = M[j * n + k];
            const double *other = B + (long long)k * m + at;
            for (int i = 0; i < width; i++) sum[i] -= L * other[i];
        }
        for (int i = 0; i < width; i++) row[i] = sum[i];
    }
    for (int j = n - 1; j >= 0; j--) {
        double *row = B + (long long)j * m + at;
        const double inverse = M[j * n + j];
        for (int i = 0; i < width; i++) sum[i] = row[i] * inverse;
        for (int k = j + 1; k < n; k++) {
            const double L = M[k * n + j];
            const double *other = B + (long long)k * m + at;
            for (int i = 0; i < width; i++) sum[i] -= L * other[i];
        }
        for (int i = 0; i < width; i++) row[i] = sum[i];
    }
}

/* Solve for many right-hand sides: B is row-major (n, m), and is overwritten by the solution. */
static void sc_solve_many(int n, const double *M, int m, double *B) {
    int at = 0;
    for (; at + 16 <= m; at += 16) sc_solve_columns(n, M, m, B, at, 16);
    for (; at + 4 <= m; at += 4) sc_solve_columns(n, M, m, B, at, 4);
    for (; at < m; at++) sc_solve_columns(n, M, m, B, at, 1);
}

#endif
