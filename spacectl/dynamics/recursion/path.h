/* The joints between the root and one element in adjacent columns: multiply a force by all of their twists in
 * one pass. */

typedef double sc_four __attribute__((vector_size(32), aligned(8))); /* gcc and clang; any alignment of doubles */

enum { SC_PATH_S = 0, SC_PATH_S1 = 6, SC_PATH_S2 = 9, SC_PATH_SUM = 15, SC_PATH_ROWS = 21, SC_PATH_WORK = 27 };

typedef struct {
    long long length;     /* doubles in a row, a multiple of four */
    long long depth;      /* speeds on the path */
    long long n_elements; /* elements on the path */
    double *columns;      /* rows: S, angular part of S1, S2, S1 + S_dot; one column for each speed */
    double *row_q, *row_v, *column_q, *column_v; /* products with the path, one for each speed */
    long long *speeds, *elements;
} sc_path;

static long long sc_path_length(long long n) { return (n + 3) / 4 * 4; }

/* An empty path; `work` holds SC_PATH_WORK times sc_path_length doubles. */
static sc_path sc_path_in(double *work, long long n) {
    sc_path path = {.length = sc_path_length(n), .columns = work};
    path.row_q = work + SC_PATH_ROWS * path.length;
    path.row_v = path.row_q + path.length;
    path.column_q = path.row_v + path.length;
    path.column_v = path.column_q + path.length;
    path.speeds = (long long *)(void *)(path.column_v + path.length);
    path.elements = path.speeds + path.length;
    memset(work, 0, (size_t)(SC_PATH_ROWS * path.length) * sizeof(double)); /* whole groups of four are multiplied */
    return path;
}

static void sc_path_push(const sc_elements *tree, const sc_element *all, long long i, sc_path *path) {
    const sc_element *e = all + i;
    for (int c = 0; c < sc_columns(tree->kind[i]); c++) {
        double *to = path->columns + path->depth;
        for (int k = 0; k < 6; k++) to[(SC_PATH_S + k) * path->length] = e->S[6 * c + k];
        for (int k = 0; k < 3; k++) to[(SC_PATH_S1 + k) * path->length] = e->S1[6 * c + k];
        for (int k = 0; k < 6; k++) to[(SC_PATH_S2 + k) * path->length] = e->S2[6 * c + k];
        for (int k = 0; k < 6; k++) to[(SC_PATH_SUM + k) * path->length] = e->S1[6 * c + k] + e->S_dot[6 * c + k];
        path->speeds[path->depth++] = tree->v[i] + c;
    }
    path->elements[path->n_elements++] = i;
}

/* Make the path end with element i: remove the elements that are not inboard of i, then append the missing
 * ones. */
static void sc_path_to(const sc_elements *tree, const sc_element *all, long long i, sc_path *path) {
    const int parent = tree->parent[i];
    while (path->n_elements > 0 && path->elements[path->n_elements - 1] > parent) /* parents come first */
        path->depth -= sc_columns(tree->kind[path->elements[--path->n_elements]]);
    const long long end = path->n_elements > 0 ? path->elements[path->n_elements - 1] : -1;
    if (end != parent) sc_path_to(tree, all, parent, path);
    sc_path_push(tree, all, i, path);
}

/* For all twists t of the path: row_q = -(back . S1 + felt . S2), row_v = -(back . S + felt . (S1 + S_dot)). */
static void sc_path_rows(const sc_path *path, const double *back, const double *felt) {
    const long long L = path->length;
    for (long long at = 0; at < path->depth; at += 4) {
        const double *t = path->columns + at;
        sc_four by_q = {0.0}, by_v = {0.0};
        for (int k = 0; k < 3; k++) {
            by_q -= back[k] * *(const sc_four *)(const void *)(t + (SC_PATH_S1 + k) * L);
            by_v -= back[k] * *(const sc_four *)(const void *)(t + (SC_PATH_S + k) * L);
        }
        for (int k = 0; k < 6; k++) {
            by_q -= felt[k] * *(const sc_four *)(const void *)(t + (SC_PATH_S2 + k) * L);
            by_v -= felt[k] * *(const sc_four *)(const void *)(t + (SC_PATH_SUM + k) * L);
        }
        *(sc_four *)(void *)(path->row_q + at) = by_q;
        *(sc_four *)(void *)(path->row_v + at) = by_v;
    }
}

/* For the first `depth` twists of the path: the negative products with two forces. */
static void sc_path_columns(const sc_path *path, long long depth, const double *first, const double *second) {
    for (long long at = 0; at < depth; at += 4) {
        const double *t = path->columns + at;
        sc_four a = {0.0}, b = {0.0};
        for (int k = 0; k < 6; k++) {
            const sc_four s = *(const sc_four *)(const void *)(t + (SC_PATH_S + k) * path->length);
            a -= first[k] * s;
            b -= second[k] * s;
        }
        *(sc_four *)(void *)(path->column_q + at) = a;
        *(sc_four *)(void *)(path->column_v + at) = b;
    }
}
