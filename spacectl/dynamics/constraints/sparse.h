/* Sparse LU factorisation for constrained accelerations and projections of large systems; constrained.h is used where
 * constraint equations are dependent. Matrices are given by their nonzeros, column by column, as in CasADi. */
#ifndef SC_SPARSE_H
#define SC_SPARSE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SC_PREFER 0.1   /* size, relative to the largest candidate, from which a diagonal pivot is preferred: less fill */
#define SC_UNSURE 1e-8  /* least pivot (for rows and columns of unit norm); below it constrained.h is used */

/* Nonzeros of a matrix: column j has rows row[start[j]] .. row[start[j + 1] - 1]. */
typedef struct {
    const int *start, *row;
} sc_pattern;

/* P A Q = L U, columns in a given order, rows in the order of the pivots. L has a unit diagonal, which is not stored. Row indices
 * of L are rows of A; row indices of U are steps of the elimination. */
typedef struct {
    int n, room_L, room_U;
    int *start_L, *start_U, *row_L, *row_U;
    int *place;  /* step at which a row became the pivot row, or -1 */
    int *chosen; /* pivot row of each step */
    double *L, *U, *pivot;
} sc_lu;

static void sc_lu_free(sc_lu *F) {
    free(F->start_L);
    free(F->start_U);
    free(F->row_L);
    free(F->row_U);
    free(F->place);
    free(F->chosen);
    free(F->L);
    free(F->U);
    free(F->pivot);
}

static int sc_lu_make(sc_lu *F, int n, int room) {
    const size_t ints = (size_t)(n + 1) * sizeof(int);
    F->n = n;
    F->room_L = F->room_U = room + n;
    F->start_L = malloc(ints), F->start_U = malloc(ints), F->place = malloc(ints), F->chosen = malloc(ints);
    F->row_L = malloc((size_t)F->room_L * sizeof(int)), F->row_U = malloc((size_t)F->room_U * sizeof(int));
    F->L = malloc((size_t)F->room_L * sizeof(double)), F->U = malloc((size_t)F->room_U * sizeof(double));
    F->pivot = malloc((size_t)(n + 1) * sizeof(double));
    return F->start_L && F->start_U && F->place && F->chosen && F->row_L && F->row_U && F->L && F->U && F->pivot;
}

/* Make room for n more entries after the first `used`. */
static int sc_lu_grow(int n, int used, int *room, int **rows, double **values) {
    if (used + n <= *room) return 1;
    const int wider = 2 * *room + n;
    int *more_rows = realloc(*rows, (size_t)wider * sizeof(int));
    if (more_rows) *rows = more_rows;
    double *more_values = realloc(*values, (size_t)wider * sizeof(double));
    if (more_values) *values = more_values;
    if (more_rows && more_values) *room = wider;
    return more_rows && more_values;
}

/* Find the rows that a column fills (depth-first search through L): found[top ..], in order of elimination. Returns top. */
static int sc_lu_reach(const sc_lu *F, const int *rows, int count, int *found, int *stack, int *next, int *seen, int mark) {
    int top = F->n;
    for (int i = 0; i < count; i++) {
        int depth = 0;
        if (seen[rows[i]] == mark) continue;
        seen[rows[i]] = mark;
        stack[0] = rows[i];
        next[0] = 0;
        while (depth >= 0) {
            const int step = F->place[stack[depth]];
            int below = -1;
            if (step >= 0) {
                const int first = F->start_L[step], size = F->start_L[step + 1] - first;
                while (below < 0 && next[depth] < size) {
                    below = F->row_L[first + next[depth]++];
                    if (seen[below] == mark) below = -1;
                }
            }
            if (below < 0) {
                found[--top] = stack[depth--];
            } else {
                seen[below] = mark;
                stack[++depth] = below;
                next[depth] = 0;
            }
        }
    }
    return top;
}

/* Left-looking elimination with partial pivoting (Gilbert and Peierls 1988), column by column: A (n x n) with columns in
 * `order`. Returns 1 if successful, 0 if a pivot is too small or memory is insufficient. */
static int sc_lu_factor(sc_lu *F, sc_pattern at, const double *A, const int *order) {
    const int n = F->n;
    int *ints = malloc((size_t)(4 * n + 1) * sizeof(int)), is_good = 1;
    int *found = ints, *stack = found + n, *next = stack + n, *seen = next + n;
    double *x = calloc((size_t)n + 1, sizeof(double));
    int used_L = 0, used_U = 0;
    if (!ints || !x) is_good = 0;
    for (int i = 0; is_good && i < n; i++) F->place[i] = seen[i] = -1;
    for (int k = 0; is_good && k < n; k++) {
        const int column = order[k], first = at.start[column], count = at.start[column + 1] - first;
        const int top = sc_lu_reach(F, at.row + first, count, found, stack, next, seen, k);
        double largest = 0.0;
        int best = -1;
        F->start_L[k] = used_L;
        F->start_U[k] = used_U;
        if (!sc_lu_grow(n, used_L, &F->room_L, &F->row_L, &F->L) || !sc_lu_grow(n, used_U, &F->room_U, &F->row_U, &F->U)) {
            is_good = 0;
            break;
        }
        for (int e = first; e < first + count; e++) x[at.row[e]] = A[e];
        for (int i = top; i < n; i++) {
            const int row = found[i], step = F->place[row];
            const double value = x[row];
            if (step < 0) continue;
            x[row] = 0.0;
            if (value == 0.0) continue;
            F->row_U[used_U] = step;
            F->U[used_U++] = value;
            for (int e = F->start_L[step]; e < F->start_L[step + 1]; e++) x[F->row_L[e]] -= F->L[e] * value;
        }
        for (int i = top; i < n; i++)
            if (F->place[found[i]] < 0 && fabs(x[found[i]]) > largest) largest = fabs(x[found[i]]), best = found[i];
        if (!(largest > SC_UNSURE) || !isfinite(largest)) {
            is_good = 0;
            break;
        }
        if (F->place[column] < 0 && seen[column] == k && fabs(x[column]) >= SC_PREFER * largest) best = column;
        const double pivot = x[best];
        F->pivot[k] = pivot;
        F->place[best] = k;
        F->chosen[k] = best;
        for (int i = top; i < n; i++) {
            const int row = found[i];
            if (F->place[row] < 0 && x[row] != 0.0) {
                F->row_L[used_L] = row;
                F->L[used_L++] = x[row] / pivot;
            }
            x[row] = 0.0;
        }
        F->start_L[k + 1] = used_L;
        F->start_U[k + 1] = used_U;
    }
    free(ints);
    free(x);
    return is_good;
}

/* Solve A x = b; b is overwritten. work: n doubles. */
static void sc_lu_solve(const sc_lu *F, const int *order, double *b, double *x, double *work) {
    const int n = F->n;
    for (int k = 0; k < n; k++) {
        const double value = work[k] = b[F->chosen[k]];
        for (int e = F->start_L[k]; e < F->start_L[k + 1]; e++) b[F->row_L[e]] -= F->L[e] * value;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double value = x[order[k]] = work[k] / F->pivot[k];
        for (int e = F->start_U[k]; e < F->start_U[k + 1]; e++) work[F->row_U[e]] -= F->U[e] * value;
    }
}

/* b -= A x */
static void sc_lessen(int n, sc_pattern at, const double *A, const double *x, double *b) {
    for (int j = 0; j < n; j++)
        for (int e = at.start[j]; e < at.start[j + 1]; e++) b[at.row[e]] -= A[e] * x[j];
}

#endif
