/* Elimination of loops one by one (002 Eqs 3 to 11). Reference implementation: dynamics/partitioning/elimination.py. R and A are
 * row-major here. */
#ifndef SC_ELIMINATION_H
#define SC_ELIMINATION_H

#define SC_CHANGE 0.1 /* as CHANGE in dynamics/partitioning/elimination.py */

typedef struct { /* the loops, in the order in which they close */
    int n, m, n_loops;
    const int *row_start, *rows;   /* rows of loop k: rows[row_start[k] .. row_start[k + 1]) */
    const int *preferred_start, *preferred; /* preferred dependent speeds */
    const int *rank;
} sc_loops;

/* Eliminate the loops of R p = c, last to first, in place. On return, for the i-th used row of loop k (i < found[k]) at
 * row_start[k] + i: used = the row, depends = its dependent speed, so that p[depends] = c[used] - R[used] p (without its own
 * entry). is_free marks the remaining speeds; scale are the scales of the speeds, size the norms of the rows. Returns the
 * distance to singularity, as sc_singularity_distance with the largest entries of the used rows for R (1 without row_scales). */
static double sc_eliminate(const sc_loops *L, double *R, double *c, const double *scale, double tolerance, double *size,
                           const double *row_scales, int *used, int *depends, int *found, char *is_free) {
    double sum_near = 0.0, largest_row = 0.0;
    const int n = L->n;
    for (int i = 0; i < L->m; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) sum += R[i * n + j] * scale[j] * R[i * n + j] * scale[j];
        size[i] = sqrt(sum);
        largest_row = fmax(largest_row, size[i]);
    }
    for (int i = 0; i < L->m; i++) size[i] = largest_row > 0.0 ? fmax(size[i], SC_SMALL * largest_row) : 1.0; /* as in sc_pivoted */
    for (int j = 0; j < n; j++) is_free[j] = 1;
    for (int i = 0; i < L->m; i++) used[i] = -1;
    for (int k = L->n_loops - 1; k >= 0; k--) {
        const int first = L->row_start[k], end = L->row_start[k + 1];
        found[k] = 0;
        while (found[k] < L->rank[k]) {
            double largest = 0.0, best = -1.0;
            int row = -1, column = -1;
            for (int a = first; a < end; a++) {
                const int i = L->rows[a];
                int is_used = 0;
                for (int b = 0; b < found[k]; b++) is_used |= used[first + b] == i;
                if (is_used) continue;
                for (int j = 0; j < n; j++) {
                    if (!is_free[j] || R[i * n + j] == 0.0) continue;
                    const double value = fabs(R[i * n + j]) * scale[j] / size[i];
                    double weight = SC_CHANGE;
                    for (int b = L->preferred_start[k]; b < L->preferred_start[k + 1]; b++)
                        if (L->preferred[b] == j) weight = 1.0;
                    largest = fmax(largest, value);
                    if (value * weight > best) best = value * weight, row = i, column = j;
                }
            }
            if (!(largest > tolerance)) break;
            const double pivot = R[row * n + column];
            if (row_scales) {
                double reach = 0.0;
                for (int j = 0; j < n; j++)
                    if (is_free[j]) reach = fmax(reach, fabs(R[row * n + j]));
                sum_near += row_scales[row] * row_scales[row] / (reach * reach);
            }
            for (int j = 0; j < n; j++) R[row * n + j] /= pivot;
            c[row] /= pivot;
            for (int a = 0; a < end; a++) { /* the other rows of this loop, and those of the loops before it */
                const int i = L->rows[a];
                const double factor = R[i * n + column];
                if (i == row || factor == 0.0) continue;
                for (int j = 0; j < n; j++) R[i * n + j] -= factor * R[row * n + j];
                R[i * n + column] = 0.0;
                c[i] -= factor * c[row];
            }
            is_free[column] = 0;
            used[first + found[k]] = row;
            depends[first + found[k]] = column;
            found[k]++;
        }
    }
    return sum_near > 0.0 ? fmin(1.0 / (sqrt(sum_near) * row_scales[L->m]), 1.0) : 1.0;
}

/* Fill in the dependent entries of p, first loop to last. */
static void sc_expand(const sc_loops *L, const double *R, const double *c, const int *used, const int *depends,
                      const int *found, double *p) {
    const int n = L->n;
    for (int k = 0; k < L->n_loops; k++)
        for (int b = 0; b < found[k]; b++) {
            const int i = used[L->row_start[k] + b], d = depends[L->row_start[k] + b];
            double sum = c[i];
            for (int j = 0; j < n; j++)
                if (j != d) sum -= R[i * n + j] * p[j];
            p[d] = sum;
        }
}

/* Reduce A (n x n, symmetric) and b by p_d = h - G p of one dependent speed. One speed after the other gives the same result as
 * Eq 10, which treats the dependent speeds of a loop together, since G has no entry at any of them. */
static void sc_reduce(int n, double *A, double *b, const double *G, double h, int d) {
    const double own = A[d * n + d], force = b[d] - own * h;
    for (int i = 0; i < n; i++) {
        const double share = A[i * n + d];
        if (i == d || share == 0.0) continue;
        b[i] -= share * h;
    }
    for (int i = 0; i < n; i++) {
        if (i == d) continue;
        const double share = A[i * n + d], g = G[i];
        if (share != 0.0)
            for (int j = 0; j < n; j++)
                if (j != d && G[j] != 0.0) {
                    A[i * n + j] -= share * G[j];
                    A[j * n + i] -= share * G[j];
                }
        if (g != 0.0) b[i] -= g * force;
    }
    for (int i = 0; i < n; i++)
        if (i != d && G[i] != 0.0)
            for (int j = 0; j < n; j++)
                if (j != d) A[i * n + j] += G[i] * own * G[j];
    for (int i = 0; i < n; i++) A[i * n + d] = A[d * n + i] = 0.0;
    b[d] = 0.0;
}

/* f becomes v_dot; M and J (m, n) are column-major. work: n m + 2 n n + 3 n + 3 m doubles; iwork: 2 m + n_loops + n ints;
 * flags: n chars. Returns 0 if solved. */
static int sc_sequential(const sc_loops *L, const double *M, double *f, const double *J, const double *gamma,
                         double tolerance, double *work, int *iwork, char *flags) {
    const int n = L->n, m = L->m;
    double *R = work, *A = R + (long long)n * m, *T = A + (long long)n * n, *scale = T + (long long)n * n;
    double *b = scale + n, *x = b + n, *c = x + n, *size = c + m, *open = size + m;
    int *used = iwork, *depends = used + m, *found = depends + m, *left = found + L->n_loops;
    int n_left = 0, n_used = 0;
    if (!sc_all_finite((long long)n * m, J)) return 1;
    sc_speed_scales(n, M, scale);
    memcpy(b, f, (size_t)n * sizeof(double));
    for (int i = 0; i < m; i++) {
        c[i] = gamma[i];
        for (int j = 0; j < n; j++) R[i * n + j] = J[(long long)j * m + i];
    }
    memcpy(A, M, (size_t)n * n * sizeof(double)); /* symmetric */
    sc_eliminate(L, R, c, scale, tolerance, size, 0, used, depends, found, flags);
    for (int k = L->n_loops - 1; k >= 0; k--)
        for (int a = 0; a < found[k]; a++) {
            const int i = used[L->row_start[k] + a], d = depends[L->row_start[k] + a];
            R[i * n + d] = 0.0;
            sc_reduce(n, A, b, R + i * n, c[i], d);
            n_used++;
        }
    for (int i = 0; i < n; i++)
        if (flags[i]) left[n_left++] = i;
    for (int i = 0; i < n_left; i++) {
        x[i] = b[left[i]];
        for (int j = 0; j < n_left; j++) T[i * n_left + j] = A[left[i] * n + left[j]] * scale[left[j]];
    }
    if (n_left && sc_solve_square(n_left, 1, T, x) == 0.0) return 1;
    memset(b, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < n_left; i++) b[left[i]] = scale[left[i]] * x[i];
    sc_expand(L, R, c, used, depends, found, b);
    if (n_used < m && sc_contradicts(n, m, J, 1, m, gamma, f, b, scale, open)) return 1;
    memcpy(f, b, (size_t)n * sizeof(double));
    return 0;
}

#endif
