/* Elementary joints: data, products of twists and wrenches, placement and inertia. "Composite" refers to an
 * element together with all elements outboard of it. */

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
    long long gravity;   /* index into sc_load and sc_load_gradient, or -1 */
    long long recursive; /* nonzero: M is not formed, solutions come from inverse.h */
    const int *kind;
    const int *parent;
    const int *q;
    const int *v;
    const double *records;   /* R_PJ, p_PJ, mass, first moment, inertia xx xy xz yy yz zz */
    const double *root;      /* twist, acceleration */
    const int *joint_input;  /* pairs (input, speed) */
    const double *joint_gain; /* generalised force of each for unit input */
    const int *body_input;   /* quadruples (input, element, is torque, in world axes) */
    const double *body_data; /* point, direction */
    const int *member;       /* element of each member */
    const double *member_data;
    const double *environment;
} sc_elements;

enum { SC_ELEMENT = 22 };

typedef struct {
    double R[9], p[3], center[3]; /* placement: root axes, from the reference point */
    double S[18];                 /* up to three columns, one after the other */
    double m, h[3], J[6];         /* own inertia about the reference point */
    double M, H[3], K[6];         /* composite inertia; the mass matrix reads the fields up to here only */
    double S1[18], S2[18], S_dot[18];
    double V[6], A[6];
    double E[9], l[3];       /* composite gyroscopic terms */
    double bias[6], load[6]; /* V x* I V, external wrench */
    double f[6];             /* composite force */
    double G[36];            /* composite derivative of the loads */
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

/* First moment h and inertia xx xy xz yy yz zz of an element's body about the element's point, in root axes. */
static inline void sc_turn_inertia(const double *record, const double *R, double *h, double *own) {
    const double *c = record + 13, *i = record + 16;
    const double full[9] = {i[0], i[1], i[2], i[1], i[3], i[4], i[2], i[4], i[5]};
    double T[9];
    for (int k = 0; k < 3; k++) h[k] = R[3 * k] * c[0] + R[3 * k + 1] * c[1] + R[3 * k + 2] * c[2];
    sc_multiply3(R, full, T);
    int n = 0;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++, n++)
            own[n] = T[3 * a] * R[3 * b] + T[3 * a + 1] * R[3 * b + 1] + T[3 * a + 2] * R[3 * b + 2];
}

/* Own inertia of an element turned into root axes and moved to the reference point. */
static void sc_inertia(const double *record, sc_element *e) {
    const double *p = e->p;
    double h[3], own[6];
    e->m = record[12];
    sc_turn_inertia(record, e->R, h, own);
    const double spread = 2.0 * sc_dot3(p, h) + e->m * sc_dot3(p, p);
    int n = 0;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++, n++) {
            const double mixed = p[a] * h[b] + h[a] * p[b] + e->m * p[a] * p[b];
            e->J[n] = own[n] - mixed + (a == b ? spread : 0.0);
        }
    for (int k = 0; k < 3; k++) e->h[k] = h[k] + e->m * p[k];
}

/* V x* I V of one body, without v x m v, which is zero but would leave its rounding (see spatial/inertia.py). */
static void sc_bias(const sc_element *e, double *out) {
    double turning[3], spin[3], swing[3];
    sc_cross(e->V, e->V + 3, turning);
    sc_symmetric(e->J, e->V, spin);
    sc_cross(e->V, spin, out);
    sc_cross_add(e->h, turning, out);
    sc_cross(e->V, e->h, swing);
    sc_cross(e->V, swing, out + 3);
    for (int k = 0; k < 3; k++) out[3 + k] += e->m * turning[k];
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

/* Placements of all elements. Each tree attached to the root has a reference point of its own, on its first body: far
 * from the root's origin (in an orbit, in a formation) moments about that origin would lose accuracy. */
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
