/* Exact linearisation of forward dynamics by recursion over elementary joints.
 * The reference implementation is in tests/oracles/recursion.
 *
 * Everything is in root axes about a reference point near the bodies. element.h, element_loads.h, composite.c, path.h and inverse.h
 * precede this text, and before them factor.h and the generated load steps. */

static void sc_scale_rows(const double *G, const double *s, double *out) { /* out -= G s, row-major G */
    for (int i = 0; i < 6; i++) out[i] -= sc_dot6(G + 6 * i, s);
}

/* Columns of the right-hand side: by q, v and u, padded to whole strips. */
static int sc_width(const sc_elements *tree) { return ((int)(2 * tree->n_v + tree->n_u) + 3) / 4 * 4; }

/* Doubles for M, or for the recursive solver that replaces it. */
static long long sc_matrix_size(const sc_elements *tree) {
    return tree->n_v * (tree->recursive ? SC_SPEED + 6 * SC_STRIP : tree->n_v);
}

/* v_dot and its derivatives: v_q, v_v (n_v, n_v) by tangent coordinates and speeds, v_u (n_v, n_u). Row-major.
 * `room`, `work` and `rhs` have the sizes that sc_linear_sizes returns.
 * Returns the first speed whose pivot is not positive, or -1. */
int sc_linearise(const sc_elements *tree, void *room, double *work, double *rhs, const double *q, const double *v,
                 const double *u, double *v_dot, double *v_q, double *v_v, double *v_u) {
    sc_element *all = (sc_element *)room;
    const int n = (int)tree->n_v, n_u = (int)tree->n_u, width = sc_width(tree), is_dense = !tree->recursive;
    const int has_gradient = tree->gravity >= 0 || tree->n_body_inputs > 0;
    double *h = work, *unit = h + n, *M = unit + 6 * tree->n_body_inputs; /* dense: M; recursive: speeds, their room */
    sc_speed *speeds = (sc_speed *)(void *)M;
    double *strip = M + SC_SPEED * n, *path_work = M + sc_matrix_size(tree);
    if (is_dense) memset(M, 0, (size_t)n * n * sizeof(double));

    double root[12];
    sc_place_all(tree, all, q);
    for (long long i = 0; i < tree->n_elements; i++) { /* outward: motion without v_dot */
        sc_element *e = all + i;
        const int parent = tree->parent[i], count = sc_columns(tree->kind[i]);
        const sc_element *above = parent < 0 ? 0 : all + parent;
        const double *V_p = above ? above->V : root, *A_p = above ? above->A : root + 6;
        double momentum[6];
        if (!above) sc_root_at(tree, e->center, root);
        sc_axes(tree->kind[i], e);
        for (int c = 0; c < count; c++) sc_motion(V_p, e->S + 6 * c, e->S1 + 6 * c);
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
        sc_bias(e, e->bias);
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

    for (long long i = tree->n_elements - 1; i >= 0; i--) { /* inward: composite inertia and force; M and h */
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
        for (int c = 0; c < count; c++) h[at + c] = sc_dot6(e->S + 6 * c, e->f);
        if (is_dense) sc_mass_rows(tree, all, i, M);
    }
    for (int k = 0; k < n; k++) v_dot[k] = -h[k];
    for (long long k = 0; k < tree->n_joint_inputs; k++) v_dot[tree->joint_input[2 * k + 1]] += tree->joint_gain[k] * u[tree->joint_input[2 * k]];
    const int bad = is_dense ? sc_factor(n, M) : sc_eliminate(tree, all, speeds, strip);
    if (bad >= 0) return bad;
    if (is_dense) sc_solve(n, M, v_dot);
    else {
        sc_connect(tree, speeds, strip);
        memset(rhs, 0, (size_t)n * 4 * sizeof(double)); /* v_dot, padded with three columns */
        for (int k = 0; k < n; k++) rhs[4 * k] = v_dot[k];
        sc_sweep_many(n, speeds, 4, rhs, strip);
        for (int k = 0; k < n; k++) v_dot[k] = rhs[4 * k];
    }
    memset(rhs, 0, (size_t)n * width * sizeof(double));

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
    for (long long i = tree->n_elements - 1; i >= 0; i--) /* inward: forces */
        if (tree->parent[i] >= 0)
            for (int k = 0; k < 6; k++) all[tree->parent[i]].f[k] += all[i].f[k];
    sc_path path = sc_path_in(path_work, n);
    for (long long i = 0; i < tree->n_elements; i++) { /* pairs of joints */
        const sc_element *e = all + i;
        const int count = sc_columns(tree->kind[i]), at = tree->v[i];
        sc_path_to(tree, all, i, &path);
        for (int c = 0; c < count; c++) {
            const double *s = e->S + 6 * c, *s1 = e->S1 + 6 * c, *s2 = e->S2 + 6 * c, *s_dot = e->S_dot + 6 * c;
            double by_q[6], by_v[6], felt[6], sum[6], back[3], turned[6], pulled[6];
            /* effect of a displacement and a speed of this joint on the force of the composite body */
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
            /* rows of this joint: effect of inboard displacements and speeds on its generalised force */
            sc_momentum(e->M, e->H, e->K, s, felt);
            sc_cross(e->l, s + 3, back);
            for (int k = 0; k < 3; k++) back[k] = e->E[k] * s[0] + e->E[3 + k] * s[1] + e->E[6 + k] * s[2] + 2.0 * back[k];
            if (has_gradient)
                for (int k = 0; k < 6; k++) {
                    pulled[k] = 0.0;
                    for (int b = 0; b < 6; b++) pulled[k] += s[b] * e->G[6 * b + k];
                }
            double *row = rhs + (long long)(at + c) * width;
            sc_path_rows(&path, back, felt);
            sc_path_columns(&path, path.depth - count, turned, by_v);
            for (long long k = 0; k < path.depth; k++) {
                const long long k_o = path.speeds[k];
                row[k_o] = path.row_q[k];
                row[n + k_o] = path.row_v[k];
            }
            for (long long k = 0; k < path.depth - count; k++) {
                double *other = rhs + path.speeds[k] * width + at + c;
                other[0] = path.column_q[k];
                other[n] = path.column_v[k];
            }
            if (has_gradient) {
                sc_path_columns(&path, path.depth, pulled, pulled);
                for (long long k = 0; k < path.depth; k++) row[path.speeds[k]] -= path.column_q[k];
            }
        }
    }
    sc_add_inputs(tree, all, unit, width, rhs + 2 * n);
    if (is_dense) sc_solve_many(n, M, width, rhs);
    else sc_sweep_many(n, speeds, width, rhs, strip);
    for (int k = 0; k < n; k++) {
        memcpy(v_q + (long long)k * n, rhs + (long long)k * width, (size_t)n * sizeof(double));
        memcpy(v_v + (long long)k * n, rhs + (long long)k * width + n, (size_t)n * sizeof(double));
        memcpy(v_u + (long long)k * n_u, rhs + (long long)k * width + 2 * n, (size_t)n_u * sizeof(double));
    }
    return -1;
}

/* Doubles that `room`, `work` and `rhs` of sc_linearise need. */
void sc_linear_sizes(const sc_elements *tree, long long *sizes) {
    const long long n = tree->n_v;
    sizes[0] = tree->n_elements * (long long)(sizeof(sc_element) / sizeof(double));
    sizes[1] = n + 6 * tree->n_body_inputs + sc_matrix_size(tree) + SC_PATH_WORK * sc_path_length(n);
    sizes[2] = n * sc_width(tree);
}

/* The linearisation with CasADi's calling convention: arg = (q, v, u), res = (v_dot, v_q, v_v, v_u), iw is the tree.
 * Returns 0, or one more than the first speed whose pivot is not positive. */
int sc_linearise_function(const double **arg, double **res, long long *iw, double *w, int mem) {
    const sc_elements *tree = (const sc_elements *)(void *)iw;
    long long sizes[3];
    (void)mem;
    sc_linear_sizes(tree, sizes);
    return 1 + sc_linearise(tree, w, w + sizes[0], w + sizes[0] + sizes[1], arg[0], arg[1], arg[2], res[0], res[1], res[2],
                            res[3]);
}
