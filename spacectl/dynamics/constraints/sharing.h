/* Reactions of redundant constraints: those of least work, sum(compliance lam^2), among all with the same effect. Reference
 * implementation: dynamics/constraints/sharing.py. */
#ifndef SC_SHARING_H
#define SC_SHARING_H

#include <stdlib.h>

#include "constrained.h"

#define SC_ZERO 1e-7 /* as ZERO in dynamics/constraints/sharing.py */

/* Null vectors of the columns of A (as returned by sc_pivoted) for unit columns, as columns of G (m x (m - rank)). */
static void sc_null(int n, int m, int rank, const double *A, const int *order, double *G) {
    for (int j = rank; j < m; j++) {
        double *g = G + (long long)(j - rank) * m;
        g[order[j]] = 1.0;
        for (int i = rank - 1; i >= 0; i--) {
            double sum = -A[(long long)j * n + i];
            for (int k = i + 1; k < rank; k++) sum -= A[(long long)k * n + i] * g[order[k]];
            g[order[i]] = sum / A[(long long)i * n + i];
        }
    }
}

/* lam from sc_constrained becomes the reactions of least work; unique[i] becomes 1, or 0 if reaction i is not
 * unique. E (n, m) and M (n, n) are column-major. Columns that sc_constrained omitted have the multiplier 0;
 * if there are none, apart from zero columns (inactive constraints), no load is shared. Returns 1 if there is
 * not enough memory, else 0. */
static int sc_share(int n, int m, const double *M, const double *E, const double *compliance, double tolerance, double *lam,
                    double *unique) {
    int is_shared = 0;
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        for (int i = 0; lam[j] == 0.0 && i < n; i++) sum += fabs(E[(long long)j * n + i]);
        is_shared |= sum > 0.0;
        unique[j] = lam[j] != 0.0 || sum > 0.0;
    }
    if (!is_shared) return 0;
    double *work = calloc((size_t)n * m + (size_t)m * m + 2 * n + 5 * m, sizeof(double));
    int *order = malloc((size_t)(2 * m) * sizeof(int));
    if (work && order) {
        double *A = work, *G = A + (long long)n * m, *scale = G + (long long)m * m, *beta = scale + n, *size = beta + n;
        double *root = size + m, *r = root + m, *beta_G = r + m, *size_G = beta_G + m;
        sc_speed_scales(n, M, scale);
        for (int j = 0; j < m; j++)
            for (int i = 0; i < n; i++) A[(long long)j * n + i] = E[(long long)j * n + i] * scale[i];
        const int rank = sc_pivoted(n, m, A, beta, order, size, tolerance), k = m - rank;
        sc_null(n, m, rank, A, order, G);
        for (int i = 0; i < m; i++) {
            unique[i] = 1.0;
            for (int j = 0; j < k; j++)
                if (fabs(G[(long long)j * m + i]) > SC_ZERO) unique[i] = 0.0;
            root[i] = sqrt(compliance[i]);
            r[i] = -root[i] * lam[i];
        }
        for (int j = 0; j < k; j++) {
            double *g = G + (long long)j * m, sum = 0.0;
            for (int i = 0; i < m; i++) g[i] *= root[i] / size[i], sum += g[i] * g[i];
            for (int i = 0; i < m; i++) g[i] /= sqrt(sum);
        }
        const int used = sc_pivoted(m, k, G, beta_G, order + m, size_G, 0.0); /* r <- its component in the null space */
        sc_reflect(m, used, G, beta_G, r);
        for (int i = used; i < m; i++) r[i] = 0.0;
        sc_reflect_back(m, used, G, beta_G, r);
        for (int i = 0; i < m; i++)
            if (unique[i] == 0.0) lam[i] += r[i] / root[i];
    }
    const int failed = !(work && order);
    free(work);
    free(order);
    return failed;
}

#endif
