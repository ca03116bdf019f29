/* Newton's method for the coordinates of one block of loops; the sign of the determinant identifies the side of the closure. */
/* constrained.h precedes this text. */
/* Functions and data of a block: its equations (g, C column-major) and q + W v. */
typedef struct {
    int m, n_q;
    const int *speeds;
    int (*rows)(const double **, double **, long long *, double *, int);
    int (*advance)(const double **, double **, long long *, double *, int);
    double *w_rows, *w_advance;
    const double *t, *p;
    double *v; /* zero, n_v */
} sc_block;

/* Evaluate the equations and their Jacobian at q; return the norm of the residual. */
static double sc_gap(const sc_block *B, const double *q, double *g, double *C, long long *iw) {
    const double *given[] = {B->t, q, B->p};
    double *out[] = {g, C}, sum = 0.0;
    B->rows(given, out, iw, B->w_rows, 0);
    for (int i = 0; i < B->m; i++) sum += g[i] * g[i];
    return sqrt(sum);
}

/* Return det C; step becomes C^-1 g, or Levenberg's step (C'C + damping)^-1 C' g, which is to be subtracted. */
static double sc_step(int m, const double *C, const double *g, double damping, double *T, double *step) {
    for (int i = 0; i < m; i++) {
        step[i] = g[i];
        for (int j = 0; j < m; j++) T[i * m + j] = C[j * m + i];
    }
    const double det = sc_solve_square(m, 1, T, step);
    if (det != 0.0 && !(damping > 0.0)) return det;
    for (int i = 0; i < m; i++) {
        step[i] = 0.0;
        for (int k = 0; k < m; k++) step[i] += C[i * m + k] * g[k];
        for (int j = 0; j < m; j++) {
            double sum = i == j ? damping : 0.0;
            for (int k = 0; k < m; k++) sum += C[i * m + k] * C[j * m + k];
            T[i * m + j] = sum;
        }
    }
    if (sc_solve_square(m, 1, T, step) == 0.0) memset(step, 0, (size_t)m * sizeof(double));
    return det;
}

/* As BlockNewton.close (dynamics/closing/block_newton.py): steps of at most half a radian or metre, damped so that the residual
 * never grows; with keep no step crosses to the other side. work: 4 m + 3 m m doubles. Returns 1 if closed on the given side. */
static int sc_close_damped(const sc_block *B, double side, int keep, double *q, double *next, double *work, long long *iw,
                           int steps) {
    const int m = B->m;
    double *g = work, *g_next = g + m, *step = g_next + m, *other = step + m, *C = other + m, *C_next = C + m * m;
    double *T = C_next + m * m, gap = sc_gap(B, q, g, C, iw), damping = 0.0;
    for (int k = 0; k < steps; k++) {
        double largest = 0.0, size = 1.0, norm = 0.0;
        sc_step(m, C, g, damping, T, step);
        for (int i = 0; i < m; i++) largest = fmax(largest, fabs(step[i]));
        for (int i = 0; i < m * m; i++) norm += C[i] * C[i];
        for (int i = 0; i < B->n_q; i++) size = fmax(size, fabs(q[i]));
        if (gap <= 1e-15 * size) break;
        for (int i = 0; i < m; i++) B->v[B->speeds[i]] = -step[i] * (largest > 0.5 ? 0.5 / largest : 1.0);
        const double *moving[] = {q, B->v, B->p};
        double *moved[] = {next};
        B->advance(moving, moved, iw, B->w_advance, 0);
        for (int i = 0; i < m; i++) B->v[B->speeds[i]] = 0.0;
        const double reached = sc_gap(B, next, g_next, C_next, iw);
        const double there = keep ? sc_step(m, C_next, g_next, 0.0, T, other) : 0.0;
        if (reached < gap && there * side >= 0.0) {
            gap = reached;
            memcpy(q, next, (size_t)B->n_q * sizeof(double));
            memcpy(g, g_next, (size_t)m * sizeof(double));
            memcpy(C, C_next, (size_t)(m * m) * sizeof(double));
            damping *= damping > 1e-14 ? 0.1 : 0.0;
        } else if (gap < 1e-12 * size) {
            break;
        } else {
            damping = fmax(10.0 * damping, 1e-6 * norm);
        }
    }
    double size = 1.0;
    for (int i = 0; i < B->n_q; i++) size = fmax(size, fabs(q[i]));
    return gap <= 1e-12 * size && sc_step(m, C, g, 0.0, T, other) * side >= 0.0;
}
