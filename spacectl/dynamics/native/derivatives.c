/* Exact linearisation of forward dynamics by recursion over elementary joints (numpy twin: derivatives.py).
 *
 * Everything is in root axes about a reference point near the bodies. factor.h and the generated load steps precede this text. */

#include <string.h>

enum { SC_TURN = 0, SC_SLIDE = 1, SC_BALL = 2 };

typedef struct {
    long long n_elements;
    long long n_q;
    long long n_v;
    long long n_u;
    long long n_joint_inputs;
    long long n_body_inputs;
    long long n_members;
    long long gravity; /* index into sc_load and sc_load_gradient, or -1 */
    const int *kind;
    const int *parent;
    const int *q;
    const int *v;
    const double *records;   /* R_PJ, p_PJ, mass, first moment, inertia xx xy xz yy yz zz */
    const double *root;      /* twist, acceleration */
    const int *joint_input;  /* pairs (input, speed) */
    const int *body_input;   /* quadruples (input, element, is torque, in world axes) */
    const double *body_data; /* point, direction */
    const int *member;       /* element of each member */
    const double *member_data;
    const double *environment;
} sc_elements;

enum { SC_ELEMENT = 22 };

typedef struct {
    double R[9], p[3], center[3];            /* placement: root axes, from the reference point */
    double S[18], S1[18], S2[18], S_dot[18]; /* up to three columns, one after the other */
    double V[6], A[6];
    double m, h[3], J[6];    /* own inertia about the reference point */
    double M, H[3], K[6];    /* carried inertia */
    double E[9], l[3];       /* carried gyroscopic terms */
    double bias[6], load[6]; /* V x* I V, external wrench */
    double f[6];             /* carried force */
    double G[36];            /* carried derivative of the loads */
} sc_element;

static inline void sc_cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void sc_cross_add(const double *a, const double *b, double *c) {
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* twist x twist */
static inline void sc_motion(const double *V, const double *s, double *out) {
    sc_cross(V, s, out);
    sc_cross(V, s + 3, out + 3);
    sc_cross_add(V + 3, s, out + 3);
}

/* twist x* wrench */
static inline void sc_force(const double *V, const double *f, double *out) {
    sc_cross(V, f, out);
    sc_cross_add(V + 3, f + 3, out);
    sc_cross(V, f + 3, out + 3);
}

static inline void sc_symmetric(const double *J, const double *a, double *out) {
    out[0] = J[0] * a[0] + J[1] * a[1] + J[2] * a[2];
    out[1] = J[1] * a[0] + J[3] * a[1] + J[4] * a[2];
    out[2] = J[2] * a[0] + J[4] * a[1] + J[5] * a[2];
}

/* momentum of a twist: (J w + h x v, m v - h x w) */
static inline void sc_momentum(double m, const double *h, const double *J, const double *s, double *out) {
    double t[3];
    sc_symmetric(J, s, out);
    sc_cross_add(h, s + 3, out);
    sc_cross(h, s, t);
    for (int k = 0; k < 3; k++) out[3 + k] = m * s[3 + k] - t[k];
}

static inline double sc_dot6(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static inline double sc_dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline int sc_columns(int kind) { return kind == SC_BALL ? 3 : 1; }

static void sc_multiply3(const double *A, const double *B, double *C) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static void sc_placement(const sc_elements *tree, long long i, const double *q, const sc_element *above, sc_element *e) {
    const double *record = tree->records + SC_ELEMENT * i, *R_J = record, *p_J = record + 9;
    double R[9], p[3];
    if (above) {
        sc_multiply3(above->R, R_J, R);
        for (int k = 0; k < 3; k++)
            p[k] = above->p[k] + above->R[3 * k] * p_J[0] + above->R[3 * k + 1] * p_J[1] + above->R[3 * k + 2] * p_J[2];
    } else {
        memcpy(R, R_J, sizeof R);
        memcpy(p, p_J, sizeof p);
    }
    memcpy(e->p, p, sizeof p);
    if (tree->kind[i] == SC_SLIDE) {
        memcpy(e->R, R, sizeof R);
        for (int k = 0; k < 3; k++) e->p[k] += R[3 * k + 2] * q[0];
    } else if (tree->kind[i] == SC_TURN) {
        const double c = cos(q[0]), s = sin(q[0]);
        for (int k = 0; k < 3; k++) {
            e->R[3 * k] = c * R[3 * k] + s * R[3 * k + 1];
            e->R[3 * k + 1] = c * R[3 * k + 1] - s * R[3 * k];
            e->R[3 * k + 2] = R[3 * k + 2];
        }
    } else {
        const double w = q[0], x = q[1], y = q[2], z = q[3], s = 2.0 / (w * w + x * x + y * y + z * z);
        const double Q[9] = {1.0 - s * (y * y + z * z), s * (x * y - z * w),       s * (x * z + y * w),
                             s * (x * y + z * w),       1.0 - s * (x * x + z * z), s * (y * z - x * w),
                             s * (x * z - y * w),       s * (y * z + x * w),       1.0 - s * (x * x + y * y)};
        sc_multiply3(R, Q, e->R);
    }
}

/* Own inertia of an element turned into root axes and moved to the reference point. */
static void sc_inertia(const double *record, sc_element *e) {
    const double *R = e->R, *p = e->p, *c = record + 13, *i = record + 16;
    const double full[9] = {i[0], i[1], i[2], i[1], i[3], i[4], i[2], i[4], i[5]};
    double T[9], h[3], own[9];
    e->m = record[12];
    for (int k = 0; k < 3; k++) h[k] = R[3 * k] * c[0] + R[3 * k + 1] * c[1] + R[3 * k + 2] * c[2];
    sc_multiply3(R, full, T);
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++)
            own[3 * a + b] = T[3 * a] * R[3 * b] + T[3 * a + 1] * R[3 * b + 1] + T[3 * a + 2] * R[3 * b + 2];
    const double spread = 2.0 * sc_dot3(p, h) + e->m * sc_dot3(p, p);
    int n = 0;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++, n++) {
            const double mixed = p[a] * h[b] + h[a] * p[b] + e->m * p[a] * p[b];
            e->J[n] = own[3 * a + b] - mixed + (a == b ? spread : 0.0);
        }
    for (int k = 0; k < 3; k++) e->h[k] = h[k] + e->m * p[k];
}

/* E = w~ J - J w~ + v~ h~' - h~ v~ - k~ of one body, k its angular momentum. */
static void sc_gyroscopic(const sc_element *e, const double *momentum, double *E) {
    const double *w = e->V, *v = e->V + 3, *J = e->J, *h = e->h, *k = momentum;
    const double full[9] = {J[0], J[1], J[2], J[1], J[3], J[4], J[2], J[4], J[5]};
    for (int j = 0; j < 3; j++) { /* columns of w~ J; J w~ = -(w~ J)' */
        const double column[3] = {full[j], full[3 + j], full[6 + j]};
        double t[3];
        sc_cross(w, column, t);
        for (int i = 0; i < 3; i++) E[3 * i + j] = t[i];
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            const double sum = E[3 * i + j] + E[3 * j + i];
            E[3 * i + j] = E[3 * j + i] = sum;
        }
    /* v~ h~' - h~ v~ = -(v~ h~ + h~ v~) = 2 (v.h) 1 - h v' - v h' */
    const double both = 2.0 * sc_dot3(v, h);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) E[3 * i + j] -= h[i] * v[j] + v[i] * h[j];
        E[4 * i] += both;
    }
    E[1] += k[2];
    E[2] -= k[1];
    E[3] -= k[2];
    E[5] += k[0];
    E[6] += k[1];
    E[7] -= k[0];
}

/* A wrench of an element's frame (body axes) as one about the reference point, added to `to`. */
static void sc_add_wrench(const sc_element *e, const double *wrench, double *to) {
    double moment[3], force[3];
    for (int k = 0; k < 3; k++) {
        moment[k] = e->R[3 * k] * wrench[0] + e->R[3 * k + 1] * wrench[1] + e->R[3 * k + 2] * wrench[2];
        force[k] = e->R[3 * k] * wrench[3] + e->R[3 * k + 1] * wrench[4] + e->R[3 * k + 2] * wrench[5];
    }
    sc_cross_add(e->p, force, moment);
    for (int k = 0; k < 3; k++) {
        to[k] += moment[k];
        to[3 + k] += force[k];
    }
}

/* A derivative by displacement in body axes (6 x 6, column-major), as one in root axes: T G T'. */
static void sc_add_gradient(const sc_element *e, const double *G, double *to) {
    double half[36], column[6];
    memset(half, 0, sizeof half);
    for (int j = 0; j < 6; j++) { /* half = T G, by columns */
        memset(column, 0, sizeof column);
        sc_add_wrench(e, G + 6 * j, column);
        memcpy(half + 6 * j, column, sizeof column);
    }
    for (int i = 0; i < 6; i++) { /* rows of half are wrenches too: to = (T half')' */
        double row[6];
        for (int j = 0; j < 6; j++) row[j] = half[6 * j + i];
        memset(column, 0, sizeof column);
        sc_add_wrench(e, row, column);
        for (int j = 0; j < 6; j++) to[6 * i + j] += column[j];
    }
}

/* Loads from gravity and body inputs, their derivatives, and the unit wrench of each body input (rows of `unit`). */
static void sc_element_loads(const sc_elements *tree, sc_element *all, const double *u, double *unit) {
    double X[12], load[6], G[36];
    double *r[] = {load}, *d[] = {G};
    for (long long m = 0; m < (tree->gravity < 0 ? 0 : tree->n_members); m++) {
        sc_element *e = all + tree->member[m];
        const double *data = tree->member_data + 22 * m;
        memcpy(X, e->R, 9 * sizeof(double));
        for (int k = 0; k < 3; k++) X[9 + k] = e->p[k] + e->center[k];
        const double *a[] = {X, data, data + 12, tree->environment};
        sc_load[tree->gravity](a, r);
        sc_load_gradient[tree->gravity](a, d);
        sc_add_wrench(e, load, e->load);
        sc_add_gradient(e, G, e->G);
    }
    for (long long k = 0; k < tree->n_body_inputs; k++) {
        const int *which = tree->body_input + 4 * k;
        const double *point = tree->body_data + 6 * k, *along = point + 3, input = u[which[0]];
        sc_element *e = all + which[1];
        double at[3], d_root[3], *wrench = unit + 6 * k;
        for (int j = 0; j < 3; j++) {
            at[j] = e->p[j] + e->R[3 * j] * point[0] + e->R[3 * j + 1] * point[1] + e->R[3 * j + 2] * point[2];
            d_root[j] = which[3] ? along[j]
                                 : e->R[3 * j] * along[0] + e->R[3 * j + 1] * along[1] + e->R[3 * j + 2] * along[2];
        }
        memset(wrench, 0, 6 * sizeof(double));
        if (which[2]) memcpy(wrench, d_root, sizeof d_root);
        else {
            sc_cross(at, d_root, wrench);
            memcpy(wrench + 3, d_root, sizeof d_root);
        }
        for (int j = 0; j < 6; j++) e->load[j] += input * wrench[j];
        if (which[3]) /* a direction fixed in the root turns against the body: -(w x d), at a point of the body */
            for (int j = 0; j < 3; j++) {
                double w[3] = {0.0, 0.0, 0.0}, turn[3], moment[3];
                w[j] = 1.0;
                sc_cross(d_root, w, turn);
                if (which[2]) {
                    for (int i = 0; i < 3; i++) e->G[6 * i + j] += input * turn[i];
                } else {
                    sc_cross(at, turn, moment);
                    for (int i = 0; i < 3; i++) {
                        e->G[6 * i + j] += input * moment[i];
                        e->G[6 * (3 + i) + j] += input * turn[i];
                    }
                }
            }
    }
}

static void sc_scale_rows(const double *G, const double *s, double *out) { /* out -= G s, row-major G */
    for (int i = 0; i < 6; i++) out[i] -= sc_dot6(G + 6 * i, s);
}

/* Placements of all elements. Each tree that hangs on the root has a reference point of its own, on its first body: far
 * from the root's origin (in an orbit, in a formation) moments about that origin would lose their digits. */
static void sc_place_all(const sc_elements *tree, sc_element *all, const double *q) {
    for (long long i = 0; i < tree->n_elements; i++)
        sc_placement(tree, i, q + tree->q[i], tree->parent[i] < 0 ? 0 : all + tree->parent[i], all + i);
    for (long long i = 0; i < tree->n_elements; i++) {
        long long j = i;
        if (tree->parent[i] >= 0) memcpy(all[i].center, all[tree->parent[i]].center, sizeof all[i].center);
        else {
            while (!(tree->records[SC_ELEMENT * j + 12] > 0.0) && j + 1 < tree->n_elements && tree->parent[j + 1] == j) j++;
            memcpy(all[i].center, all[j].p, sizeof all[i].center);
        }
    }
    for (long long i = 0; i < tree->n_elements; i++)
        for (int k = 0; k < 3; k++) all[i].p[k] -= all[i].center[k];
}

/* The root's twist and acceleration about the reference point of an element's tree. */
static void sc_root_at(const sc_elements *tree, const double *center, double *root) {
    memcpy(root, tree->root, 12 * sizeof(double));
    sc_cross_add(tree->root, center, root + 3);
    sc_cross_add(tree->root + 6, center, root + 9);
}

/* v_dot and its derivatives: v_q, v_v (n_v, n_v) by tangent coordinates and speeds, v_u (n_v, n_u). Row-major.
 * `room` holds n_elements sc_element, `work` n_v (n_v + 2) + 6 n_body_inputs doubles, `rhs` n_v (2 n_v + n_u).
 * Returns the first speed whose pivot is not positive, or -1. */
int sc_linearise(const sc_elements *tree, void *room, double *work, double *rhs, const double *q, const double *v,
                 const double *u, double *v_dot, double *v_q, double *v_v, double *v_u) {
    sc_element *all = (sc_element *)room;
    const int n = (int)tree->n_v, n_u = (int)tree->n_u, width = 2 * n + n_u;
    const int has_gradient = tree->gravity >= 0 || tree->n_body_inputs > 0;
    double *M = work, *h = work + n * n, *unit = h + 2 * n;
    memset(M, 0, (size_t)n * n * sizeof(double));
    memset(rhs, 0, (size_t)n * width * sizeof(double));

    double root[12];
    sc_place_all(tree, all, q);
    for (long long i = 0; i < tree->n_elements; i++) { /* outward: motion without v_dot */
        sc_element *e = all + i;
        const int parent = tree->parent[i], count = sc_columns(tree->kind[i]);
        const sc_element *above = parent < 0 ? 0 : all + parent;
        const double *V_p = above ? above->V : root, *A_p = above ? above->A : root + 6;
        double momentum[6];
        if (!above) sc_root_at(tree, e->center, root);
        for (int c = 0; c < count; c++) {
            double *s = e->S + 6 * c, axis[3];
            for (int k = 0; k < 3; k++) axis[k] = e->R[3 * k + (count == 3 ? c : 2)];
            if (tree->kind[i] == SC_SLIDE) {
                s[0] = s[1] = s[2] = 0.0;
                memcpy(s + 3, axis, sizeof axis);
            } else {
                memcpy(s, axis, sizeof axis);
                sc_cross(e->p, axis, s + 3);
            }
            sc_motion(V_p, s, e->S1 + 6 * c);
        }
        memcpy(e->V, V_p, sizeof e->V);
        memcpy(e->A, A_p, sizeof e->A);
        for (int c = 0; c < count; c++)
            for (int k = 0; k < 6; k++) e->V[k] += e->S[6 * c + k] * v[tree->v[i] + c];
        for (int c = 0; c < count; c++) {
            if (count == 1) memcpy(e->S_dot, e->S1, 6 * sizeof(double)); /* s x s = 0 */
            else sc_motion(e->V, e->S + 6 * c, e->S_dot + 6 * c);
            for (int k = 0; k < 6; k++) e->A[k] += e->S_dot[6 * c + k] * v[tree->v[i] + c];
        }
        sc_inertia(tree->records + SC_ELEMENT * i, e);
        sc_momentum(e->m, e->h, e->J, e->V, momentum);
        sc_gyroscopic(e, momentum, e->E);
        sc_force(e->V, momentum, e->bias);
        memcpy(e->l, momentum + 3, sizeof e->l);
        e->M = e->m;
        memcpy(e->H, e->h, sizeof e->h);
        memcpy(e->K, e->J, sizeof e->J);
        memset(e->load, 0, sizeof e->load);
        if (has_gradient) memset(e->G, 0, sizeof e->G);
        sc_momentum(e->m, e->h, e->J, e->A, e->f);
    }
    if (has_gradient) sc_element_loads(tree, all, u, unit);
    for (long long i = 0; i < tree->n_elements; i++)
        for (int k = 0; k < 6; k++) all[i].f[k] += all[i].bias[k] - all[i].load[k];

    for (long long i = tree->n_elements - 1; i >= 0; i--) { /* inward: carried inertia, force; M and h */
        sc_element *e = all + i;
        const int parent = tree->parent[i], count = sc_columns(tree->kind[i]), at = tree->v[i];
        if (parent >= 0) {
            sc_element *to = all + parent;
            to->M += e->M;
            for (int k = 0; k < 3; k++) to->H[k] += e->H[k];
            for (int k = 0; k < 6; k++) to->K[k] += e->K[k];
            for (int k = 0; k < 9; k++) to->E[k] += e->E[k];
            for (int k = 0; k < 3; k++) to->l[k] += e->l[k];
            for (int k = 0; k < 6; k++) to->f[k] += e->f[k];
            if (has_gradient)
                for (int k = 0; k < 36; k++) to->G[k] += e->G[k];
        }
        for (int c = 0; c < count; c++) {
            double felt[6];
            sc_momentum(e->M, e->H, e->K, e->S + 6 * c, felt);
            h[at + c] = sc_dot6(e->S + 6 * c, e->f);
            for (long long j = i; j >= 0; j = tree->parent[j])
                for (int b = 0; b < sc_columns(tree->kind[j]); b++) {
                    const double value = sc_dot6(all[j].S + 6 * b, felt);
                    M[(at + c) * n + tree->v[j] + b] = value;
                    M[(tree->v[j] + b) * n + at + c] = value;
                }
        }
    }
    for (int k = 0; k < n; k++) v_dot[k] = -h[k];
    for (long long k = 0; k < tree->n_joint_inputs; k++) v_dot[tree->joint_input[2 * k + 1]] += u[tree->joint_input[2 * k]];
    const int bad = sc_factor(n, M);
    if (bad >= 0) return bad;
    sc_solve(n, M, v_dot);

    for (long long i = 0; i < tree->n_elements; i++) { /* outward: accelerations with v_dot, forces */
        sc_element *e = all + i;
        const int parent = tree->parent[i], count = sc_columns(tree->kind[i]);
        const double *V_p = parent < 0 ? root : all[parent].V, *A_p = parent < 0 ? root + 6 : all[parent].A;
        if (parent < 0) sc_root_at(tree, e->center, root);
        memcpy(e->A, A_p, sizeof e->A);
        for (int c = 0; c < count; c++) {
            const int k_v = tree->v[i] + c;
            double turn[6];
            sc_motion(A_p, e->S + 6 * c, e->S2 + 6 * c);
            sc_motion(V_p, e->S1 + 6 * c, turn);
            for (int k = 0; k < 6; k++) {
                e->S2[6 * c + k] += turn[k];
                e->A[k] += e->S[6 * c + k] * v_dot[k_v] + e->S_dot[6 * c + k] * v[k_v];
            }
        }
        sc_momentum(e->m, e->h, e->J, e->A, e->f);
        for (int k = 0; k < 6; k++) e->f[k] += e->bias[k] - e->load[k];
    }
    for (long long i = tree->n_elements - 1; i >= 0; i--) { /* inward: forces; pairs of joints */
        sc_element *e = all + i;
        const int parent = tree->parent[i], count = sc_columns(tree->kind[i]), at = tree->v[i];
        if (parent >= 0)
            for (int k = 0; k < 6; k++) all[parent].f[k] += e->f[k];
        for (int c = 0; c < count; c++) {
            const double *s = e->S + 6 * c, *s1 = e->S1 + 6 * c, *s2 = e->S2 + 6 * c, *s_dot = e->S_dot + 6 * c;
            double by_q[6], by_v[6], felt[6], sum[6], back[3], turned[6], pulled[6];
            /* what a displacement and a speed of this joint do to the forces of all it carries */
            sc_momentum(e->M, e->H, e->K, s2, by_q);
            for (int k = 0; k < 6; k++) sum[k] = s1[k] + s_dot[k];
            sc_momentum(e->M, e->H, e->K, sum, by_v);
            for (int k = 0; k < 3; k++) {
                by_q[k] += sc_dot3(e->E + 3 * k, s1);
                by_v[k] += sc_dot3(e->E + 3 * k, s);
            }
            sc_cross(s1, e->l, turned);
            sc_cross(s, e->l, turned + 3);
            for (int k = 0; k < 3; k++) {
                by_q[3 + k] += 2.0 * turned[k];
                by_v[3 + k] += 2.0 * turned[3 + k];
            }
            if (has_gradient) sc_scale_rows(e->G, s, by_q);
            sc_force(s, e->f, turned);
            for (int k = 0; k < 6; k++) turned[k] += by_q[k];
            /* the same, read from the force's side: rows of this joint */
            sc_momentum(e->M, e->H, e->K, s, felt);
            sc_cross(e->l, s + 3, back);
            for (int k = 0; k < 3; k++) back[k] = e->E[k] * s[0] + e->E[3 + k] * s[1] + e->E[6 + k] * s[2] + 2.0 * back[k];
            if (has_gradient)
                for (int k = 0; k < 6; k++) {
                    pulled[k] = 0.0;
                    for (int b = 0; b < 6; b++) pulled[k] += s[b] * e->G[6 * b + k];
                }
            double *row = rhs + (long long)(at + c) * width;
            for (long long j = i; j >= 0; j = tree->parent[j]) {
                const sc_element *o = all + j;
                for (int b = 0; b < sc_columns(tree->kind[j]); b++) {
                    const double *t = o->S + 6 * b, *t1 = o->S1 + 6 * b, *t2 = o->S2 + 6 * b, *t_dot = o->S_dot + 6 * b;
                    const int k_o = tree->v[j] + b;
                    double q_part = sc_dot3(back, t1) + sc_dot6(felt, t2);
                    if (has_gradient) q_part -= sc_dot6(pulled, t);
                    row[k_o] = -q_part;
                    row[n + k_o] = -(sc_dot3(back, t) + sc_dot6(felt, t1) + sc_dot6(felt, t_dot));
                    if (j != i) {
                        double *other = rhs + (long long)k_o * width;
                        other[at + c] = -sc_dot6(t, turned);
                        other[n + at + c] = -sc_dot6(t, by_v);
                    }
                }
            }
        }
    }
    for (long long k = 0; k < tree->n_joint_inputs; k++)
        rhs[(long long)tree->joint_input[2 * k + 1] * width + 2 * n + tree->joint_input[2 * k]] += 1.0;
    for (long long k = 0; k < tree->n_body_inputs; k++)
        for (long long j = tree->body_input[4 * k + 1]; j >= 0; j = tree->parent[j])
            for (int b = 0; b < sc_columns(tree->kind[j]); b++)
                rhs[(long long)(tree->v[j] + b) * width + 2 * n + tree->body_input[4 * k]] += sc_dot6(all[j].S + 6 * b, unit + 6 * k);
    sc_solve_many(n, M, width, rhs);
    for (int k = 0; k < n; k++) {
        memcpy(v_q + (long long)k * n, rhs + (long long)k * width, (size_t)n * sizeof(double));
        memcpy(v_v + (long long)k * n, rhs + (long long)k * width + n, (size_t)n * sizeof(double));
        memcpy(v_u + (long long)k * n_u, rhs + (long long)k * width + 2 * n, (size_t)n_u * sizeof(double));
    }
    return -1;
}

long long sc_element_size(void) { return (long long)sizeof(sc_element); }
