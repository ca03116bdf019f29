/* Dense real and complex LU factorisation with partial pivoting, for the small systems of the implicit method. */
#ifndef SC_LU_H
#define SC_LU_H

#include <math.h>

#include "loop.h"

static void sc_exchange(double *a, double *b, sc_int n)
{
    sc_int j;
    for (j = 0; j < n; j++) {
        const double saved = a[j];
        a[j] = b[j];
        b[j] = saved;
    }
}

/* Factorise a (n x n, row-major) in place; return 0 if it is singular. */
static int sc_lu(sc_int n, double *a, sc_int *pivot)
{
    sc_int i, j, k, p;
    for (k = 0; k < n; k++) {
        double largest = -1.0;
        for (i = p = k; i < n; i++)
            if (fabs(a[i * n + k]) > largest) {
                largest = fabs(a[i * n + k]);
                p = i;
            }
        if (!(largest > 0.0 && largest < INFINITY)) return 0;
        pivot[k] = p;
        sc_exchange(a + k * n, a + p * n, n);
        for (i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k], *from = a + k * n;
            double *to = a + i * n;
            to[k] = factor;
            if (factor != 0.0)
                for (j = k + 1; j < n; j++) to[j] -= factor * from[j];
        }
    }
    return 1;
}

/* Replace b by a^-1 b, with a factorised by sc_lu. */
static void sc_lu_solve(sc_int n, const double *a, const sc_int *pivot, double *b)
{
    sc_int i, j;
    for (i = 0; i < n; i++) sc_exchange(b + i, b + pivot[i], 1);
    for (i = 1; i < n; i++)
        for (j = 0; j < i; j++) b[i] -= a[i * n + j] * b[j];
    for (i = n - 1; i >= 0; i--) {
        for (j = n - 1; j > i; j--) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

/* Factorise a complex matrix in place, with separate real and imaginary parts; return 0 if it is singular. */
static int sc_lu_complex(sc_int n, double *re, double *im, sc_int *pivot)
{
    sc_int i, j, k, p;
    for (k = 0; k < n; k++) {
        double largest = -1.0, x, y, square;
        for (i = p = k; i < n; i++) {
            const double size = fabs(re[i * n + k]) + fabs(im[i * n + k]);
            if (size > largest) {
                largest = size;
                p = i;
            }
        }
        if (!(largest > 0.0 && largest < INFINITY)) return 0;
        pivot[k] = p;
        sc_exchange(re + k * n, re + p * n, n);
        sc_exchange(im + k * n, im + p * n, n);
        x = re[k * n + k];
        y = im[k * n + k];
        square = x * x + y * y;
        for (i = k + 1; i < n; i++) {
            double *to_re = re + i * n, *to_im = im + i * n;
            const double *from_re = re + k * n, *from_im = im + k * n;
            const double a = (to_re[k] * x + to_im[k] * y) / square, b = (to_im[k] * x - to_re[k] * y) / square;
            to_re[k] = a;
            to_im[k] = b;
            if (a == 0.0 && b == 0.0) continue;
            for (j = k + 1; j < n; j++) {
                to_re[j] -= a * from_re[j] - b * from_im[j];
                to_im[j] -= a * from_im[j] + b * from_re[j];
            }
        }
    }
    return 1;
}

/* Replace x + i y by (re + i im)^-1 (x + i y), with the matrix factorised by sc_lu_complex. */
static void sc_lu_solve_complex(sc_int n, const double *re, const double *im, const sc_int *pivot, double *x, double *y)
{
    sc_int i, j;
    for (i = 0; i < n; i++) {
        sc_exchange(x + i, x + pivot[i], 1);
        sc_exchange(y + i, y + pivot[i], 1);
    }
    for (i = 1; i < n; i++)
        for (j = 0; j < i; j++) {
            const double a = re[i * n + j], b = im[i * n + j];
            x[i] -= a * x[j] - b * y[j];
            y[i] -= a * y[j] + b * x[j];
        }
    for (i = n - 1; i >= 0; i--) {
        const double c = re[i * n + i], d = im[i * n + i], square = c * c + d * d;
        double top;
        for (j = n - 1; j > i; j--) {
            const double a = re[i * n + j], b = im[i * n + j];
            x[i] -= a * x[j] - b * y[j];
            y[i] -= a * y[j] + b * x[j];
        }
        top = x[i];
        x[i] = (top * c + y[i] * d) / square;
        y[i] = (y[i] * c - top * d) / square;
    }
}

#endif
