/* External loads of the elements, from gravity and body inputs, with their derivatives by displacements. */

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

/* Unit wrench of body input k about the reference point, with its point and direction in root axes. */
static void sc_unit_wrench(const sc_elements *tree, const sc_element *all, long long k, double *at, double *along, double *wrench) {
    const int *which = tree->body_input + 4 * k;
    const double *point = tree->body_data + 6 * k, *d = point + 3;
    const sc_element *e = all + which[1];
    for (int j = 0; j < 3; j++) {
        at[j] = e->p[j] + e->R[3 * j] * point[0] + e->R[3 * j + 1] * point[1] + e->R[3 * j + 2] * point[2];
        along[j] = which[3] ? d[j] : e->R[3 * j] * d[0] + e->R[3 * j + 1] * d[1] + e->R[3 * j + 2] * d[2];
    }
    memset(wrench, 0, 6 * sizeof(double));
    if (which[2]) memcpy(wrench, along, 3 * sizeof(double));
    else {
        sc_cross(at, along, wrench);
        memcpy(wrench + 3, along, 3 * sizeof(double));
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
        const double input = u[which[0]];
        sc_element *e = all + which[1];
        double at[3], d_root[3], *wrench = unit + 6 * k;
        sc_unit_wrench(tree, all, k, at, d_root, wrench);
        for (int j = 0; j < 6; j++) e->load[j] += input * wrench[j];
        if (which[3]) /* direction fixed in the root, as seen from the turning body: -(w x d), at its point */
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
