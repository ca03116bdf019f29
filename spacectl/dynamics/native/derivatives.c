/* Exact linearisation of forward dynamics by recursion over elementary joints (numpy twin: derivatives.py).
 *
 * Everything is in root axes about a reference point near the bodies. element.h and element_loads.h precede this text,
 * and before them factor.h and the generated load steps. */

static void sc_scale_rows(const double *G, const double *s, double *out) { /* out -= G s, row-major G */
    for (int i = 0; i < 6; i++) out[i] -= sc_dot6(G + 6 * i, s);
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

/* sc_linearise with its eleven arguments behind one pointer. */
int sc_linearise_call(void *const *a) {
    return sc_linearise((const sc_elements *)a[0], a[1], (double *)a[2], (double *)a[3], (const double *)a[4],
                        (const double *)a[5], (const double *)a[6], (double *)a[7], (double *)a[8], (double *)a[9],
                        (double *)a[10]);
}
