/* Exact Jacobians of a tree's equations for implicit methods, from its native linearisation. */
#ifndef SC_DERIVATIVES_H
#define SC_DERIVATIVES_H

#include "loop.h"

/* (t, x, u, p) -> A, B of a tree. Its native linearisation uses tangent coordinates: a unit quaternion k has the
 * derivative ``0.5 k w``, with w in child axes, and that of every other coordinate is its speed. iw: see
 * jacobian.py. */
int sc_tree_derivatives(const double **arg, double **res, sc_int *iw, double *w, int mem)
{
    const sc_int n_q = iw[1], n_v = iw[2], n_u = iw[3], n_x = n_q + n_v;
    const double *x = arg[1], *v = arg[1] + n_q;
    const double *given[] = {x, v, arg[2]};
    double *terms[] = {(double *)iw[6], (double *)iw[7], (double *)iw[8], (double *)iw[9]};
    const double *v_q = terms[1], *v_v = terms[2], *v_u = terms[3];
    double *A = res[0], *B = res[1];
    sc_int i, j, k, c, r, next = 0;
    (void)w;
    (void)mem;
    if (((sc_generated)iw[0])(given, terms, (sc_int *)iw[4], (double *)iw[5], 0))
        return 1;
    for (i = 0; i < n_x * n_x; i++) A[i] = 0.0;
    for (i = 0; i < n_x * n_u; i++) B[i] = 0.0;
    for (r = 0; r < n_v; r++) {
        for (c = 0; c < n_v; c++) A[(n_q + c) * n_x + n_q + r] = v_v[r * n_v + c];
        for (c = 0; c < n_u; c++) B[c * n_x + n_q + r] = v_u[r * n_u + c];
    }
    for (i = k = 0; i < n_q;) {
        if (next < iw[10] && iw[11 + next] == i) {
            const double a = x[i], b = x[i + 1], d = x[i + 2], e = x[i + 3];
            const double turn[4][3] = {{-b, -d, -e}, {a, -e, d}, {e, a, -b}, {-d, b, a}};
            const double spin[4][4] = {{0.0, -v[k], -v[k + 1], -v[k + 2]}, {v[k], 0.0, v[k + 2], -v[k + 1]},
                                       {v[k + 1], -v[k + 2], 0.0, v[k]}, {v[k + 2], v[k + 1], -v[k], 0.0}};
            for (j = 0; j < 4; j++) {
                for (c = 0; c < 4; c++) A[(i + c) * n_x + i + j] = 0.5 * spin[j][c];
                for (c = 0; c < 3; c++) A[(n_q + k + c) * n_x + i + j] = 0.5 * turn[j][c];
                for (r = 0; r < n_v; r++)
                    for (c = 0; c < 3; c++) A[(i + j) * n_x + n_q + r] += 2.0 * turn[j][c] * v_q[r * n_v + k + c];
            }
            next++;
            i += 4;
            k += 3;
        } else {
            A[(n_q + k) * n_x + i] = 1.0;
            for (r = 0; r < n_v; r++) A[i * n_x + n_q + r] = v_q[r * n_v + k];
            i++;
            k++;
        }
    }
    return 0;
}

#endif
