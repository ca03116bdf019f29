/* A native function with CasADi's calling convention at many points.
 *
 * Argument i is read at in[i] + k * step_in[i] for point k (a step of 0: the same for all points), result i is written at
 * out[i] + k * step_out[i]. If the function fails at a point, its results are NaN. */

#include <math.h>

enum { SC_MOST = 32 }; /* arguments, and results */

void sc_map(int (*fn)(const double **, double **, long long *, double *, int), long long begin, long long end, long long n_in,
            const double *const *in, const long long *step_in, long long n_out, double *const *out,
            const long long *step_out, long long *iw, double *w) {
    const double *arg[SC_MOST + 1] = {0}; /* generated code may read one pointer past its arguments */
    double *res[SC_MOST];
    for (long long k = begin; k < end; k++) {
        for (long long i = 0; i < n_in; i++) arg[i] = in[i] + k * step_in[i];
        for (long long i = 0; i < n_out; i++) res[i] = out[i] + k * step_out[i];
        if (!fn(arg, res, iw, w, 0)) continue;
        for (long long i = 0; i < n_out; i++)
            for (long long j = 0; j < step_out[i]; j++) res[i][j] = NAN;
    }
}
