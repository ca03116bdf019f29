/* Accelerations of one aggregate as a function of its base's. Reference implementation: dynamics/embedding/solve.py. Row-major.
 * M v_dot + Y A + h = E lam, J v_dot = gamma, with E = J' for natural constraints. */
#ifndef SC_EMBEDDED_SOLVE_H
#define SC_EMBEDDED_SOLVE_H

/* Gauss-Jordan elimination with complete pivoting of the rows (J scale | b), (m, n) with the given strides, each row first
 * scaled to unit norm. T is (m, n + 1); column[k] for k < rank is the column of pivot k, the others are free; row[i] is the
 * original index of row i. Returns the rank. */
static int sc_partition(int m, int n, const double *J, int to_row, int to_column, const double *b, const double *scale, double *T,
                        int *row, int *column, double tolerance) {
    const int wide = n + 1;
    double longest = 0.0, first = 0.0;
    for (int i = 0; i < m; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            const double entry = J[i * to_row + j * to_column] * scale[j];
            T[i * wide + j] = entry;
            sum += entry * entry;
        }
        T[i * wide + n] = sqrt(sum);
        longest = fmax(longest, T[i * wide + n]);
        row[i] = i;
    }
    for (int j = 0; j < n; j++) column[j] = j;
    for (int i = 0; i < m; i++) {
        const double factor = longest > 0.0 ? 1.0 / fmax(T[i * wide + n], SC_SMALL * longest) : 1.0; /* as in sc_pivoted */
        for (int j = 0; j < n; j++) T[i * wide + j] *= factor;
        T[i * wide + n] = b ? b[i] * factor : 0.0;
    }
    for (int k = 0; k < m && k < n; k++) {
        int best_i = k, best_j = k;
        double largest = -1.0;
        for (int i = k; i < m; i++)
            for (int j = k; j < n; j++) {
                const double entry = fabs(T[i * wide + column[j]]);
                if (entry > largest) largest = entry, best_i = i, best_j = j;
            }
        if (!(largest > tolerance * first)) return k;
        if (k == 0) first = largest;
        if (best_i != k) {
            for (int j = 0; j <= n; j++) sc_swap(T + k * wide + j, T + best_i * wide + j);
            const int t = row[k];
            row[k] = row[best_i];
            row[best_i] = t;
        }
        const int t = column[k];
        column[k] = column[best_j];
        column[best_j] = t;
        double *own = T + k * wide;
        const double inverse = 1.0 / own[column[k]];
        for (int j = k; j < n; j++) own[column[j]] *= inverse; /* earlier pivots' columns are zero in this row */
        own[n] *= inverse;
        for (int i = 0; i < m; i++) {
            double *other = T + i * wide;
            const double factor = other[column[k]];
            if (i == k || factor == 0.0) continue;
            for (int j = k; j < n; j++) other[column[j]] -= factor * own[column[j]];
            other[n] -= factor * own[n];
        }
    }
    return m < n ? m : n;
}

/* out (f, w) = N' in, with rows of `in` (n, w) in scaled speeds: projection onto the free speeds. */
static void sc_project_free(int n, int rank, const double *T, const int *column, const double *in, int w, double *out) {
    for (int f = 0; f < n - rank; f++) {
        const int own = column[rank + f];
        double *to = out + f * w;
        for (int j = 0; j < w; j++) to[j] = in[own * w + j];
        for (int k = 0; k < rank; k++) {
            const double share = T[k * (n + 1) + own];
            const double *from = in + column[k] * w;
            for (int j = 0; j < w; j++) to[j] -= share * from[j];
        }
    }
}

/* D X = B for symmetric positive definite D (f x f); B (f x 7) becomes X. Returns 0, or 1. */
static int sc_solve_definite(int f, double *D, double *B, double *diagonal) {
    for (int i = 0; i < f; i++) diagonal[i] = D[i * f + i];
    if (sc_factor(f, D) >= 0) return 1;
    for (int i = 0; i < f; i++)
        if (!(SC_SINGULAR * diagonal[i] * D[i * f + i] < 1.0)) return 1;
    sc_solve_columns(f, D, 7, B, 0, 7);
    return 0;
}

/* v_dot (n) and G (n, 6) with v_dot + G A; E null for natural constraints; at least `least` equations must be independent. M is not
 * symmetric if outboard inertias are not. work: 2 m (n + 1) + 3 n n + 18 n doubles; iwork: 2 (m + n) ints. Returns 0 if solved. */
static int sc_eliminate_aggregate(int n, int m, int least, int is_symmetric, const double *M, const double *Y, const double *h, const double *J, const double *gamma,
                       const double *E, double *v_dot, double *G, double *work, int *iwork, double tolerance) {
    double *T = work, *T_E = T + m * (n + 1), *S = T_E + m * (n + 1), *MN = S + n * n, *D = MN + n * n;
    double *R = D + n * n, *right = R + 7 * n, *scale = right + 7 * n, *d = scale + n, *diagonal = d + n;
    int *row = iwork, *column = row + m, *row_E = column + n, *column_E = row_E + m;
    sc_speed_scales(n, M, scale);
    const int rank = sc_partition(m, n, J, n, 1, gamma, scale, T, row, column, tolerance);
    if (rank < least) return 1;
    const int f = n - rank;
    for (int i = 0; i < n; i++) d[i] = 0.0;
    for (int k = 0; k < rank; k++) d[column[k]] = T[k * (n + 1) + n] * scale[column[k]];
    for (int i = 0; i < n; i++) {
        double sum = h[i];
        for (int k = 0; k < rank; k++) sum += M[i * n + column[k]] * d[column[k]];
        R[i * 7] = -scale[i] * sum;
        for (int j = 0; j < 6; j++) R[i * 7 + 1 + j] = -scale[i] * Y[i * 6 + j];
        for (int j = 0; j < n; j++) S[j * n + i] = scale[i] * M[i * n + j] * scale[j]; /* transposed, for the projection */
    }
    const double *left = T;
    const int *left_column = column;
    if (E) {
        if (sc_partition(m, n, E, 1, m, 0, scale, T_E, row_E, column_E, tolerance) != rank) return 1;
        left = T_E;
        left_column = column_E;
    }
    sc_project_free(n, rank, T, column, S, n, MN); /* (M N)', (f, n) */
    for (int i = 0; i < n; i++)
        for (int a = 0; a < f; a++) S[i * f + a] = MN[a * n + i];
    sc_project_free(n, rank, left, left_column, S, f, D);
    sc_project_free(n, rank, left, left_column, R, 7, right);
    if (E || !is_symmetric ? sc_solve_square(f, 7, D, right) == 0.0 : sc_solve_definite(f, D, right, diagonal)) return 1;
    for (int a = 0; a < f; a++) {
        const int i = column[rank + a];
        v_dot[i] = scale[i] * right[a * 7];
        for (int j = 0; j < 6; j++) G[i * 6 + j] = scale[i] * right[a * 7 + 1 + j];
    }
    for (int k = 0; k < rank; k++) {
        const int i = column[k];
        double sum[7] = {0.0};
        for (int a = 0; a < f; a++) {
            const double share = T[k * (n + 1) + column[rank + a]];
            for (int j = 0; j < 7; j++) sum[j] -= share * right[a * 7 + j];
        }
        v_dot[i] = d[i] + scale[i] * sum[0];
        for (int j = 0; j < 6; j++) G[i * 6 + j] = scale[i] * sum[1 + j];
    }
    return rank < m && sc_contradicts(n, m, J, n, 1, gamma, h, v_dot, scale, T);
}

#endif
