/* Order-N dynamics of a tree of aggregates, driven by data: each calls the generated stages of its kind, and a small dense
 * factorisation eliminates its speeds. Reference implementation: dynamics/embedding/reference.py. A sc_embedded is filled by
 * dynamics/embedding/kernel.py; generated stages and the table sc_kinds precede this text. */
#ifndef SC_EMBEDDED_H
#define SC_EMBEDDED_H

typedef struct {
    long long n_members, n_q, n_v, n_u, n_joint_inputs, scratch, root_at; /* offsets of the solver's work space and of the root */
    const int *kind, *base, *port, *least;
    const int *states;            /* q, v, u of each member, in turn */
    const long long *states_at, *record_at, *room, *row_scales_at;
    const double *records, *root; /* root: twist, acceleration, placement (at t = 0, if it moves with time) */
    const double *row_scales;         /* see dynamics/constraints/row_scales.py */
    const int *joint_input;       /* pairs (input, speed) */
    const double *joint_gain;     /* generalised force of each for unit input */
    const double *environment;    /* parameters of the root's motion */
    double tolerance, small;
} sc_embedded;

/* Write twist, acceleration and placement of the root at t to the work array. */
static double *sc_find_root(const sc_embedded *tree, double *work, const double *t) {
    double *root = work + tree->root_at;
    memcpy(root, tree->root, 24 * sizeof(double));
#ifdef SC_MOVING_ROOT
    const double *a[] = {t, tree->environment};
    double *r[] = {root};
    sc_move_root(a, r);
#else
    (void)t;
#endif
    return root;
}

/* A member's part of the work array. */
typedef struct {
    double *q, *v, *u, *q_dot, *twists, *placements, *J, *gamma, *E, *M, *Z, *Y, *h, *inertia, *wrench, *ports, *v_free, *G, *v_dot;
    double *A, *base, *cache;
} sc_member;

static sc_member sc_member_of(const sc_embedded *tree, double *work, long long i) {
    const sc_kind *k = sc_kinds + tree->kind[i];
    const int n = k->n_v, m = k->m, P = k->n_ports;
    sc_member x;
    x.q = work + tree->room[i];
    x.v = x.q + k->n_q;
    x.u = x.v + n;
    x.q_dot = x.u + k->n_u;
    x.twists = x.q_dot + k->n_q;
    x.placements = x.twists + 6 * P;
    x.J = x.placements + (k->n_X ? 12 * P : 0);
    x.gamma = x.J + m * n;
    x.E = x.gamma + m;
    x.M = x.E + (k->is_natural ? 0 : m * n);
    x.Z = x.M + n * n;
    x.Y = x.Z + 6 * n;
    x.h = x.Y + 6 * n;
    x.inertia = x.h + n;
    x.wrench = x.inertia + (k->is_symmetric ? 21 : 36);
    x.ports = x.wrench + 6;
    x.v_free = x.ports + P * (k->is_symmetric ? 27 : 42);
    x.G = x.v_free + n;
    x.v_dot = x.G + 6 * n;
    x.A = x.v_dot + n;
    x.base = x.A + 6 * P;
    x.cache = x.base + 6;
    return x;
}

static void sc_run_stage(const sc_embedded *tree, double *work, const double *t, long long i, int stage) {
    const sc_member x = sc_member_of(tree, work, i);
    const int base = tree->base[i], port = tree->port[i];
    const double *V = work + tree->root_at, *X = V + 12;
    if (base >= 0) {
        const sc_member from = sc_member_of(tree, work, base);
        V = from.twists + 6 * port;
        X = from.placements + 12 * port;
    }
    const double *a[] = {t, x.q, x.v, V, X, x.u, tree->records + tree->record_at[i], x.ports, x.base, x.v_dot};
    double *r[] = {x.q_dot, x.twists, x.placements, x.J, x.gamma, x.E, x.M, x.Z, x.Y, x.h, x.inertia, x.wrench, x.A};
    sc_kinds[tree->kind[i]].stage[stage](a, r, x.cache);
}

/* Places of the 21 entries of a symmetric inertia: upper A, B by rows, upper C. */
static const int sc_at[21][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4},
                                 {1, 5}, {2, 3}, {2, 4}, {2, 5}, {3, 3}, {3, 4}, {3, 5}, {4, 4}, {4, 5}, {5, 5}};

/* Add the articulated inertia I + Z G and wrench w + Z v_dot to the port of the base. */
static void sc_add_to_port(const sc_embedded *tree, double *work, long long i) {
    const sc_kind *k = sc_kinds + tree->kind[i], *below = sc_kinds + tree->kind[tree->base[i]];
    const sc_member x = sc_member_of(tree, work, i), base = sc_member_of(tree, work, tree->base[i]);
    const int n = k->n_v;
    double *port = base.ports + tree->port[i] * (below->is_symmetric ? 27 : 42);
    if (below->is_symmetric) {
        for (int e = 0; e < 21; e++) {
            double sum = x.inertia[e];
            for (int j = 0; j < n; j++) sum += x.Z[sc_at[e][0] * n + j] * x.G[j * 6 + sc_at[e][1]];
            port[e] += sum;
        }
        port += 21;
    } else {
        double full[36];
        if (k->is_symmetric)
            for (int e = 0; e < 21; e++) full[sc_at[e][0] * 6 + sc_at[e][1]] = full[sc_at[e][1] * 6 + sc_at[e][0]] = x.inertia[e];
        else
            memcpy(full, x.inertia, sizeof full);
        for (int e = 0; e < 36; e++) {
            for (int j = 0; j < n; j++) full[e] += x.Z[(e / 6) * n + j] * x.G[j * 6 + e % 6];
            port[e] += full[e];
        }
        port += 36;
    }
    for (int e = 0; e < 6; e++) {
        double sum = x.wrench[e];
        for (int j = 0; j < n; j++) sum += x.Z[e * n + j] * x.v_free[j];
        port[e] += sum;
    }
}

/* x_dot for given t, x, u; returns 0, or 1 + the member without accelerations (x_dot is then NaN). */
int sc_embedded_x_dot(const sc_embedded *tree, double *work, const double *t, const double *x, const double *u, double *x_dot) {
    double *tau = work, *v_dot = x_dot + tree->n_q;
    const double *root = sc_find_root(tree, work, t);
    int failed = 0;
    memset(tau, 0, (size_t)tree->n_v * sizeof(double));
    for (long long k = 0; k < tree->n_joint_inputs; k++) tau[tree->joint_input[2 * k + 1]] += tree->joint_gain[k] * u[tree->joint_input[2 * k]];
    for (long long i = 0; i < tree->n_members; i++) {
        const sc_kind *k = sc_kinds + tree->kind[i];
        const sc_member own = sc_member_of(tree, work, i);
        const int *at = tree->states + tree->states_at[i];
        for (int j = 0; j < k->n_q; j++) own.q[j] = x[at[j]];
        at += k->n_q;
        for (int j = 0; j < k->n_v; j++) own.v[j] = x[tree->n_q + at[j]];
        at += k->n_v;
        for (int j = 0; j < k->n_u; j++) own.u[j] = at[j] < 0 ? 0.0 : u[at[j]];
        memset(own.ports, 0, (size_t)(k->n_ports * (k->is_symmetric ? 27 : 42)) * sizeof(double));
        sc_run_stage(tree, work, t, i, 0);
    }
    for (long long i = tree->n_members - 1; i >= 0; i--) {
        const sc_kind *k = sc_kinds + tree->kind[i];
        const sc_member own = sc_member_of(tree, work, i);
        const int *at = tree->states + tree->states_at[i] + k->n_q;
        sc_run_stage(tree, work, t, i, 1);
        for (int j = 0; j < k->n_v; j++) own.h[j] -= tau[at[j]];
        int iwork[2 * (k->m + k->n_v) + 1];
        if (sc_eliminate_aggregate(k->n_v, k->m, tree->least[i], k->is_symmetric, own.M, own.Y, own.h, own.J, own.gamma, k->is_natural ? 0 : own.E,
                        own.v_free, own.G, work + tree->scratch, iwork, tree->tolerance)) {
            for (int j = 0; j < tree->n_q + tree->n_v; j++) x_dot[j] = NAN;
            return (int)i + 1;
        }
        if (tree->base[i] >= 0) sc_add_to_port(tree, work, i);
    }
    for (long long i = 0; i < tree->n_members; i++) {
        const sc_kind *k = sc_kinds + tree->kind[i];
        const sc_member own = sc_member_of(tree, work, i);
        const int *at = tree->states + tree->states_at[i];
        const double *A = tree->base[i] < 0 ? root + 6 : sc_member_of(tree, work, tree->base[i]).A + 6 * tree->port[i];
        memcpy(own.base, A, 6 * sizeof(double));
        for (int j = 0; j < k->n_v; j++) {
            double sum = own.v_free[j];
            for (int e = 0; e < 6; e++) sum += own.G[j * 6 + e] * A[e];
            own.v_dot[j] = sum;
            v_dot[at[k->n_q + j]] = sum;
        }
        for (int j = 0; j < k->n_q; j++) x_dot[at[j]] = own.q_dot[j];
        if (k->n_ports) sc_run_stage(tree, work, t, i, 2);
    }
    return failed;
}

/* The driver's calling convention: (t, x, u, p) -> x_dot, with the tree behind iw and the work array in w. */
int sc_embedded_plant(const double **arg, double **res, long long *iw, double *w, int mem) {
    (void)mem;
    sc_embedded_x_dot((const sc_embedded *)(void *)iw, w, arg[0], arg[1], arg[2], res[0]);
    return 0;
}

/* Move one member's coordinates, then speeds, to the nearest that close its loops; return the distance to singularity. */
static double sc_project_member(const sc_embedded *tree, double *work, const double *t, long long i, const sc_kind *k) {
    double distance = 1.0;
    const sc_member own = sc_member_of(tree, work, i);
    const int n = k->n_v, m = k->m;
    double *g = work + tree->scratch, *rate = g + m, *J = rate + m, *J_position = J + m * n, *W = J_position + m * n, *gamma = W + k->n_q * n;
    double *step = gamma + m, *rest = step + n;
    int iwork[m];
    const double *a[] = {t, own.q, own.v, work + tree->root_at, tree->records + tree->record_at[i]};
    double *r[] = {g, rate, J, J_position, W, gamma, rest}; /* the last, for sides, is overwritten */
    for (int s = 0; s < 4 && k->m_position; s++) {
        k->rows(a, r);
        if (sc_is_small(k->m_position, g, k->n_q, own.q, tree->small)) break;
        sc_least(n, k->m_position, J_position, g, step, rest, iwork, tree->tolerance, 0, 0);
        for (int j = 0; j < n; j++)
            for (int e = 0; e < k->n_q; e++) own.q[e] += W[j * k->n_q + e] * step[j];
    }
    for (int s = 0; s < 2; s++) {
        k->rows(a, r);
        if (s > 0 && sc_is_small(m, rate, n, own.v, tree->small)) break;
        sc_least(n, m, J, rate, step, rest, iwork, tree->tolerance, tree->row_scales + tree->row_scales_at[i], &distance);
        for (int j = 0; j < n; j++) own.v[j] += step[j];
    }
    return distance;
}

/* (t, x, p) -> the nearest x that satisfies the constraints, aggregate by aggregate, and its distance to singularity. */
int sc_embedded_project(const double **arg, double **res, long long *iw, double *w, int mem) {
    const sc_embedded *tree = (const sc_embedded *)(void *)iw;
    double *x = res[0];
    (void)mem;
    res[1][0] = 1.0;
    sc_find_root(tree, w, arg[0]);
    memcpy(x, arg[1], (size_t)(tree->n_q + tree->n_v) * sizeof(double));
    for (long long i = 0; i < tree->n_members; i++) {
        const sc_kind *k = sc_kinds + tree->kind[i];
        if (!k->m) continue;
        const sc_member own = sc_member_of(tree, w, i);
        const int *at = tree->states + tree->states_at[i];
        for (int j = 0; j < k->n_q; j++) own.q[j] = x[at[j]];
        for (int j = 0; j < k->n_v; j++) own.v[j] = x[tree->n_q + at[k->n_q + j]];
        res[1][0] = fmin(res[1][0], sc_project_member(tree, w, arg[0], i, k));
        for (int j = 0; j < k->n_q; j++) x[at[j]] = own.q[j];
        for (int j = 0; j < k->n_v; j++) x[tree->n_q + at[k->n_q + j]] = own.v[j];
    }
    return 0;
}

#endif
