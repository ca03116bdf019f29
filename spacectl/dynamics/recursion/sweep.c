/* Data-driven order-N sweeps over a tree of links: each link calls the generated steps of its joint kind.
 *
 * An sc_tree is filled by Python (tree_data.py). Each evaluation has its own `n_work` doubles, so that
 * threads can share a tree. Generated steps (sc_out, sc_inward, ...) and their tables precede this text. */

#include <string.h>

enum { SC_RECORD = 28, SC_MEMBER = 22, SC_BODY_INPUT = 6 };

typedef struct {
    long long n_links;
    long long n_q;
    long long n_v;
    long long n_u;
    long long n_work;
    long long n_joint_inputs;
    long long n_body_inputs;
    long long n_members;
    long long gravity;   /* index into sc_load, or -1 */
    long long placements; /* nonzero if placements in the root are needed */
    const int *kind;
    const int *parent;
    const int *q;
    const int *v;
    const double *records;
    const double *root; /* twist, acceleration */
    const int *joint_input;  /* pairs (input, speed) */
    const double *joint_gain; /* generalised force of each for unit input */
    const int *body_input;   /* quadruples (input, link, is torque, in world axes) */
    const double *body_data; /* point, direction */
    const int *member;       /* link of each member */
    const double *member_data;
    const double *environment;
    const long long *room; /* where a link's share of the work array begins */
} sc_tree;

/* A link's share of the work array. */
typedef struct {
    double *X, *V, *c, *I, *w, *A, *S, *U, *D, *f, *N;
} sc_room;

static sc_room sc_room_of(const sc_tree *tree, double *work, long long i) {
    const int k = tree->kind[i], n = sc_speeds[k];
    double *at = work + tree->room[i];
    sc_room room;
    room.X = at;
    room.V = room.X + 12;
    room.c = room.V + 6;
    room.I = room.c + 6;
    room.w = room.I + 21;
    room.A = room.w + 6;
    room.S = room.A + 6;
    room.U = room.S + sc_subspace[k];
    room.D = room.U + 6 * n;
    room.f = room.D + n;
    room.N = room.f + n;
    return room;
}

/* Placement of a link in the root, from its parent's. */
static void sc_place(const double *P, const double *X, double *N) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            N[3 * i + j] = P[3 * i] * X[j] + P[3 * i + 1] * X[3 + j] + P[3 * i + 2] * X[6 + j];
        N[9 + i] = P[9 + i] + P[3 * i] * X[9] + P[3 * i + 1] * X[10] + P[3 * i + 2] * X[11];
    }
}

static void sc_outward(const sc_tree *tree, double *work, const double *q, const double *v) {
    for (long long i = 0; i < tree->n_links; i++) {
        const sc_room room = sc_room_of(tree, work, i);
        const int parent = tree->parent[i];
        sc_room from = room;
        if (parent >= 0) from = sc_room_of(tree, work, parent);
        const double *a[] = {q + tree->q[i], v + tree->v[i], tree->records + SC_RECORD * i, parent < 0 ? tree->root : from.V};
        double *r[] = {room.X, room.S, room.V, room.c, room.I, room.w};
        sc_out[tree->kind[i]](a, r);
        if (tree->placements) {
            if (parent < 0) memcpy(room.N, room.X, 12 * sizeof(double));
            else sc_place(from.N, room.X, room.N);
        }
    }
}

/* Subtract external loads from the bias wrenches; add joint inputs to tau. */
static void sc_loads(const sc_tree *tree, double *work, const double *u, double *tau) {
    double load[6];
    double *r[] = {load};
    for (long long m = 0; m < (tree->gravity < 0 ? 0 : tree->n_members); m++) {
        const sc_room room = sc_room_of(tree, work, tree->member[m]);
        const double *data = tree->member_data + SC_MEMBER * m;
        const double *a[] = {room.N, data, data + 12, tree->environment};
        sc_load[tree->gravity](a, r);
        for (int k = 0; k < 6; k++) room.w[k] -= load[k];
    }
    if (!u) return;
    for (long long k = 0; k < tree->n_joint_inputs; k++) tau[tree->joint_input[2 * k + 1]] += tree->joint_gain[k] * u[tree->joint_input[2 * k]];
    for (long long k = 0; k < tree->n_body_inputs; k++) {
        const int *which = tree->body_input + 4 * k;
        const double *point = tree->body_data + SC_BODY_INPUT * k, *d = point + 3, input = u[which[0]];
        const sc_room room = sc_room_of(tree, work, which[1]);
        double along[3] = {d[0], d[1], d[2]};
        if (which[3])
            for (int j = 0; j < 3; j++) along[j] = room.N[j] * d[0] + room.N[3 + j] * d[1] + room.N[6 + j] * d[2];
        if (which[2]) {
            for (int j = 0; j < 3; j++) room.w[j] -= input * along[j];
        } else {
            room.w[0] -= input * (point[1] * along[2] - point[2] * along[1]);
            room.w[1] -= input * (point[2] * along[0] - point[0] * along[2]);
            room.w[2] -= input * (point[0] * along[1] - point[1] * along[0]);
            for (int j = 0; j < 3; j++) room.w[3 + j] -= input * along[j];
        }
    }
}

/* v_dot for given q, v, u; `work` has n_work doubles. */
void sc_tree_v_dot(const sc_tree *tree, double *work, const double *q, const double *v, const double *u, double *v_dot) {
    double *tau = work, felt[21], carried[6];
    memset(tau, 0, (size_t)tree->n_v * sizeof(double));
    sc_outward(tree, work, q, v);
    sc_loads(tree, work, u, tau);
    for (long long i = tree->n_links - 1; i >= 0; i--) {
        const sc_room room = sc_room_of(tree, work, i);
        const double *a[] = {room.I, room.w, room.X, room.S, room.c, tau + tree->v[i]};
        double *r[] = {room.U, room.D, room.f, felt, carried};
        sc_inward[tree->kind[i]](a, r);
        if (tree->parent[i] >= 0) {
            const sc_room to = sc_room_of(tree, work, tree->parent[i]);
            for (int k = 0; k < 21; k++) to.I[k] += felt[k];
            for (int k = 0; k < 6; k++) to.w[k] += carried[k];
        }
    }
    for (long long i = 0; i < tree->n_links; i++) {
        const sc_room room = sc_room_of(tree, work, i);
        const int parent = tree->parent[i];
        const double *above = parent < 0 ? tree->root + 6 : sc_room_of(tree, work, parent).A;
        const double *a[] = {above, room.X, room.S, room.c, room.U, room.D, room.f};
        double *r[] = {room.A, v_dot + tree->v[i]};
        sc_accelerate[tree->kind[i]](a, r);
    }
}

/* tau = M v_dot + h - B_tau u; without inputs (u null), the generalised forces of the motion. */
void sc_tree_tau(const sc_tree *tree, double *work, const double *q, const double *v, const double *v_dot, const double *u,
                 double *tau) {
    double carried[6], wrench[6], *joint = work;
    memset(joint, 0, (size_t)tree->n_v * sizeof(double));
    sc_outward(tree, work, q, v);
    sc_loads(tree, work, u, joint);
    for (long long i = 0; i < tree->n_links; i++) {
        const sc_room room = sc_room_of(tree, work, i);
        const int parent = tree->parent[i];
        const double *above = parent < 0 ? tree->root + 6 : sc_room_of(tree, work, parent).A;
        const double *a[] = {above, room.X, room.S, room.c, v_dot + tree->v[i], tree->records + SC_RECORD * i, room.w};
        double *r[] = {room.A, wrench};
        sc_follow[tree->kind[i]](a, r);
        memcpy(room.w, wrench, sizeof wrench);
    }
    for (long long i = tree->n_links - 1; i >= 0; i--) {
        const sc_room room = sc_room_of(tree, work, i);
        const double *a[] = {room.w, room.X, room.S};
        double *r[] = {tau + tree->v[i], carried};
        sc_project[tree->kind[i]](a, r);
        if (tree->parent[i] >= 0) {
            const sc_room to = sc_room_of(tree, work, tree->parent[i]);
            for (int k = 0; k < 6; k++) to.w[k] += carried[k];
        }
    }
    for (long long k = 0; k < tree->n_v; k++) tau[k] -= joint[k];
}

void sc_tree_x_dot(const sc_tree *tree, double *work, const double *x, const double *u, double *x_dot) {
    const double *q = x, *v = x + tree->n_q;
    for (long long i = 0; i < tree->n_links; i++) {
        const double *a[] = {q + tree->q[i], v + tree->v[i]};
        double *r[] = {x_dot + tree->q[i]};
        sc_rate[tree->kind[i]](a, r);
    }
    sc_tree_v_dot(tree, work, q, v, u, x_dot + tree->n_q);
}

/* The driver's calling convention: (t, x, u, p) -> x_dot, with the tree behind iw and the work array in w. */
int sc_tree_plant(const double **arg, double **res, long long *iw, double *w, int mem) {
    (void)mem;
    sc_tree_x_dot((const sc_tree *)(void *)iw, w, arg[1], arg[2], res[0]);
    return 0;
}

/* The same convention: (t, q, v, u) -> v_dot. */
int sc_tree_v_dot_function(const double **arg, double **res, long long *iw, double *w, int mem) {
    (void)mem;
    sc_tree_v_dot((const sc_tree *)(void *)iw, w, arg[1], arg[2], arg[3], res[0]);
    return 0;
}

/* (t, q, v, v_dot) -> M v_dot + h. */
int sc_tree_tau_function(const double **arg, double **res, long long *iw, double *w, int mem) {
    (void)mem;
    sc_tree_tau((const sc_tree *)(void *)iw, w, arg[1], arg[2], arg[3], 0, res[0]);
    return 0;
}

/* (t, q, v) -> h, with the n_v zeros for v_dot at the end of the work array. */
int sc_tree_bias_function(const double **arg, double **res, long long *iw, double *w, int mem) {
    const sc_tree *tree = (const sc_tree *)(void *)iw;
    (void)mem;
    sc_tree_tau(tree, w, arg[1], arg[2], w + tree->n_work, 0, res[0]);
    return 0;
}
