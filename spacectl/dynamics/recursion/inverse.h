/* Solutions of M X = B by recursion over the tree, for any number of columns, without forming M. The
 * reference implementation is in tests/oracles/recursion.
 *
 * Each speed is one joint of a chain of articulated bodies. The articulated inertia I gives U = I s and D =
 * s'U; the joint transmits I - U U' / D to its parent. The inward sweep adds U (b - s'w) / D to the wrench w
 * of a column, the outward sweep computes x = (b - s'w - U'a) / D. With B = 1 this is the inverse of M.
 * Inertias are taken about each element's own point, which preserves accuracy in long chains. Columns are
 * taken about the reference point of the tree, so that neighbours need no transformation. */

/* One speed: twist and momentum about the reference point. */
typedef struct {
    long long parent; /* place among the speeds in order of elements, or -1 */
    long long v;      /* row of B */
    long long carries; /* nonzero if other speeds are outboard */
    long long is_last; /* nonzero if it is the last of its parent's children */
    double S[6], U[6], D_inv;
} sc_speed;

enum { SC_SPEED = (int)(sizeof(sc_speed) / sizeof(double)), SC_STRIP = 16 };

/* Symmetric 6 x 6: momentum (A w + B v, B' w + C v) of a twist (w, v). */
typedef struct {
    double A[6], B[9], C[6];
} sc_articulated;

/* Inertia of an element's body about the element's point, in root axes. */
static void sc_own_inertia(const double *record, const double *R, sc_articulated *I) {
    double h[3], own[6];
    sc_turn_inertia(record, R, h, own);
    const double m = record[12], B[9] = {0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0}, C[6] = {m, 0.0, 0.0, m, 0.0, m};
    memcpy(I->A, own, sizeof own);
    memcpy(I->B, B, sizeof B);
    memcpy(I->C, C, sizeof C);
}

static void sc_articulated_times(const sc_articulated *I, const double *s, double *out) {
    sc_symmetric(I->A, s, out);
    sc_symmetric(I->C, s + 3, out + 3);
    for (int k = 0; k < 3; k++) {
        out[k] += sc_dot3(I->B + 3 * k, s + 3);
        out[3 + k] += I->B[k] * s[0] + I->B[3 + k] * s[1] + I->B[6 + k] * s[2];
    }
}

/* I - U U' / D: the inertia that a joint transmits to its parent. */
static void sc_condense(sc_articulated *I, const double *U, double D_inv) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        const double a = D_inv * U[i], c = D_inv * U[3 + i];
        for (int j = 0; j < 3; j++) I->B[3 * i + j] -= a * U[3 + j];
        for (int j = i; j < 3; j++, n++) {
            I->A[n] -= a * U[j];
            I->C[n] -= c * U[3 + j];
        }
    }
}

/* Add an inertia whose point lies at r from the point of `to`: B + r~ C, and A + (r~ B') + (r~ (B + r~ C)')'. */
static void sc_add_moved(const sc_articulated *I, const double *r, sc_articulated *to) {
    double B[9], old[9], new[9];
    for (int j = 0; j < 3; j++) {
        const double C[9] = {I->C[0], I->C[1], I->C[2], I->C[1], I->C[3], I->C[4], I->C[2], I->C[4], I->C[5]};
        double t[3];
        sc_cross(r, C + 3 * j, t);
        for (int i = 0; i < 3; i++) B[3 * i + j] = I->B[3 * i + j] + t[i];
    }
    for (int i = 0; i < 3; i++) {
        sc_cross(r, I->B + 3 * i, old + 3 * i);
        sc_cross(r, B + 3 * i, new + 3 * i);
    }
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, n++) {
            to->A[n] += I->A[n] + old[3 * j + i] + new[3 * i + j];
            to->C[n] += I->C[n];
        }
    for (int k = 0; k < 9; k++) to->B[k] += B[k];
}

/* Eliminate all speeds, tips first; S of the elements must be known. `room` holds 21 doubles for each element.
 * Returns the first speed along which no body has inertia, or -1. */
static int sc_eliminate(const sc_elements *tree, const sc_element *all, sc_speed *speeds, double *room) {
    sc_articulated *inertias = (sc_articulated *)room;
    long long place = tree->n_v;
    for (long long i = 0; i < tree->n_elements; i++) sc_own_inertia(tree->records + SC_ELEMENT * i, all[i].R, inertias + i);
    for (long long i = tree->n_elements - 1; i >= 0; i--) {
        const sc_element *e = all + i;
        const int count = sc_columns(tree->kind[i]), parent = tree->parent[i];
        sc_articulated *I = inertias + i;
        for (int c = count - 1; c >= 0; c--) {
            sc_speed *at = speeds + --place;
            double s[6] = {0.0}, U[6];
            for (int k = 0; k < 3; k++) s[(tree->kind[i] == SC_SLIDE ? 3 : 0) + k] = e->R[3 * k + (count == 3 ? c : 2)];
            sc_articulated_times(I, s, U);
            const double D = sc_dot6(s, U), *all_of = tree->kind[i] == SC_SLIDE ? I->C : I->A;
            at->v = tree->v[i] + c;
            if (!(D > 1e-15 * (all_of[0] + all_of[3] + all_of[5]))) return (int)at->v; /* zero to rounding */
            at->D_inv = 1.0 / D;
            sc_condense(I, U, at->D_inv);
            memcpy(at->S, e->S + 6 * c, sizeof at->S);
            memcpy(at->U, U, sizeof U);
            sc_cross_add(e->p, U + 3, at->U);
        }
        if (parent >= 0) {
            double r[3];
            for (int k = 0; k < 3; k++) r[k] = e->p[k] - all[parent].p[k];
            sc_add_moved(I, r, inertias + parent);
        }
    }
    return -1;
}

/* Set `parent`, `carries` and `is_last` of all speeds. */
static void sc_connect(const sc_elements *tree, sc_speed *speeds, double *room) {
    long long *last = (long long *)(void *)room, place = 0; /* last speed of each element */
    for (long long k = 0; k < tree->n_v; k++) speeds[k].carries = 0;
    for (long long i = 0; i < tree->n_elements; i++)
        for (int c = 0; c < sc_columns(tree->kind[i]); c++, place++) {
            speeds[place].parent = c > 0 ? place - 1 : tree->parent[i] < 0 ? -1 : last[tree->parent[i]];
            last[i] = place;
        }
    for (long long k = tree->n_v - 1; k >= 0; k--) {
        speeds[k].is_last = speeds[k].parent >= 0 && !speeds[speeds[k].parent].carries;
        if (speeds[k].parent >= 0) speeds[speeds[k].parent].carries = 1;
    }
}

/* Solve for `lanes` times four columns, from column `at` of a row-major B (n, m), in place. */
static inline void sc_sweep_columns(int n, const sc_speed *speeds, int m, double *B, int at, sc_four *room, const int lanes) {
    sc_four x[SC_STRIP / 4];
    for (int k = n - 1; k >= 0; k--) { /* inward: wrenches w */
        const sc_speed *here = speeds + k;
        const sc_four *w = room + (long long)6 * lanes * k;
        sc_four *row = (sc_four *)(void *)(B + here->v * m + at);
        for (int i = 0; i < lanes; i++) x[i] = row[i];
        if (here->carries)
            for (int a = 0; a < 6; a++)
                for (int i = 0; i < lanes; i++) x[i] -= here->S[a] * w[lanes * a + i];
        for (int i = 0; i < lanes; i++) row[i] = x[i] *= here->D_inv;
        if (here->parent < 0) continue;
        sc_four *to = room + (long long)6 * lanes * here->parent;
        for (int a = 0; a < 6; a++)
            for (int i = 0; i < lanes; i++) {
                sc_four sum = here->U[a] * x[i];
                if (here->carries) sum += w[lanes * a + i];
                if (!here->is_last) sum += to[lanes * a + i]; /* the last child comes first */
                to[lanes * a + i] = sum;
            }
    }
    for (int k = 0; k < n; k++) { /* outward: accelerations */
        const sc_speed *here = speeds + k;
        const sc_four *above = room + (long long)6 * lanes * here->parent;
        sc_four *row = (sc_four *)(void *)(B + here->v * m + at), *to = room + (long long)6 * lanes * k, felt[SC_STRIP / 4];
        for (int i = 0; i < lanes; i++) x[i] = row[i];
        if (here->parent >= 0) {
            for (int i = 0; i < lanes; i++) felt[i] = here->U[0] * above[i];
            for (int a = 1; a < 6; a++)
                for (int i = 0; i < lanes; i++) felt[i] += here->U[a] * above[lanes * a + i];
            for (int i = 0; i < lanes; i++) row[i] = x[i] -= here->D_inv * felt[i];
        }
        if (!here->carries) continue;
        for (int a = 0; a < 6; a++)
            for (int i = 0; i < lanes; i++) {
                const sc_four own = here->S[a] * x[i];
                to[lanes * a + i] = here->parent >= 0 ? above[lanes * a + i] + own : own;
            }
    }
}

/* Solve for all columns of a row-major B (n, m) in place, m a multiple of four; `room` has 6 * SC_STRIP
 * doubles a speed. */
static void sc_sweep_many(int n, const sc_speed *speeds, int m, double *B, double *room) {
    sc_four *fours = (sc_four *)(void *)room;
    int at = 0;
    for (; at + SC_STRIP <= m; at += SC_STRIP) sc_sweep_columns(n, speeds, m, B, at, fours, SC_STRIP / 4);
    for (; at + 4 <= m; at += 4) sc_sweep_columns(n, speeds, m, B, at, fours, 1);
}
