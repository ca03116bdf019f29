/* Mass matrix by composite rigid bodies, and the input map, over elementary joints.
 *
 * Twists and inertias are in root axes about a reference point near the bodies, so that composite inertias are plain sums.
 * element.h and element_loads.h precede this text. */

/* Twists of an element for unit speeds. */
static void sc_axes(int kind, sc_element *e) {
    const int count = sc_columns(kind);
    for (int c = 0; c < count; c++) {
        double *s = e->S + 6 * c, axis[3];
        for (int k = 0; k < 3; k++) axis[k] = e->R[3 * k + (count == 3 ? c : 2)];
        if (kind == SC_SLIDE) {
            s[0] = s[1] = s[2] = 0.0;
            memcpy(s + 3, axis, sizeof axis);
        } else {
            memcpy(s, axis, sizeof axis);
            sc_cross(e->p, axis, s + 3);
        }
    }
}

/* Rows and columns of M for the speeds of element i, from its composite inertia; the others come from its descendants. */
static void sc_mass_rows(const sc_elements *tree, const sc_element *all, long long i, double *M) {
    const sc_element *e = all + i;
    const long long n = tree->n_v, at = tree->v[i];
    for (int c = 0; c < sc_columns(tree->kind[i]); c++) {
        double felt[6];
        sc_momentum(e->M, e->H, e->K, e->S + 6 * c, felt);
        for (long long j = i; j >= 0; j = tree->parent[j])
            for (int b = 0; b < sc_columns(tree->kind[j]); b++) {
                const double value = sc_dot6(all[j].S + 6 * b, felt);
                M[(at + c) * n + tree->v[j] + b] = value;
                M[(tree->v[j] + b) * n + at + c] = value;
            }
    }
}

/* Add the generalised forces of unit inputs to B_tau, whose rows are `width` apart; `unit` holds the wrenches of body inputs. */
static void sc_add_inputs(const sc_elements *tree, const sc_element *all, const double *unit, long long width, double *B) {
    for (long long k = 0; k < tree->n_joint_inputs; k++)
        B[tree->joint_input[2 * k + 1] * width + tree->joint_input[2 * k]] += tree->joint_gain[k];
    for (long long k = 0; k < tree->n_body_inputs; k++)
        for (long long j = tree->body_input[4 * k + 1]; j >= 0; j = tree->parent[j])
            for (int b = 0; b < sc_columns(tree->kind[j]); b++)
                B[(tree->v[j] + b) * width + tree->body_input[4 * k]] += sc_dot6(all[j].S + 6 * b, unit + 6 * k);
}

/* M with CasADi's calling convention: arg = (t, q), res = M, iw is the tree, w holds the elements. */
int sc_mass_matrix(const double **arg, double **res, long long *iw, double *w, int mem) {
    const sc_elements *tree = (const sc_elements *)(void *)iw;
    sc_element *all = (sc_element *)(void *)w;
    (void)mem;
    memset(res[0], 0, (size_t)(tree->n_v * tree->n_v) * sizeof(double));
    sc_place_all(tree, all, arg[1]);
    for (long long i = 0; i < tree->n_elements; i++) {
        sc_element *e = all + i;
        sc_axes(tree->kind[i], e);
        sc_inertia(tree->records + SC_ELEMENT * i, e);
        e->M = e->m;
        memcpy(e->H, e->h, sizeof e->h);
        memcpy(e->K, e->J, sizeof e->J);
    }
    for (long long i = tree->n_elements - 1; i >= 0; i--) {
        const sc_element *e = all + i;
        if (tree->parent[i] >= 0) {
            sc_element *to = all + tree->parent[i];
            to->M += e->M;
            for (int k = 0; k < 3; k++) to->H[k] += e->H[k];
            for (int k = 0; k < 6; k++) to->K[k] += e->K[k];
        }
        sc_mass_rows(tree, all, i, res[0]);
    }
    return 0;
}

/* B_tau with CasADi's calling convention: arg = (t, q), res = B_tau by rows, iw is the tree, w holds elements and unit wrenches. */
int sc_input_map(const double **arg, double **res, long long *iw, double *w, int mem) {
    const sc_elements *tree = (const sc_elements *)(void *)iw;
    sc_element *all = (sc_element *)(void *)w;
    double *unit = w + tree->n_elements * (long long)(sizeof(sc_element) / sizeof(double));
    (void)mem;
    memset(res[0], 0, (size_t)(tree->n_v * tree->n_u) * sizeof(double));
    sc_place_all(tree, all, arg[1]);
    for (long long i = 0; i < tree->n_elements; i++) sc_axes(tree->kind[i], all + i);
    for (long long k = 0; k < tree->n_body_inputs; k++) {
        double at[3], along[3];
        sc_unit_wrench(tree, all, k, at, along, unit + 6 * k);
    }
    sc_add_inputs(tree, all, unit, tree->n_u, res[0]);
    return 0;
}
