typedef int (*sc_native)(const double **, double **, long long *, double *, int);

/* iw: entry and work of the multipliers, entry and work of the rule; w: room for lam and its uniqueness. */
int compose(const double **arg, double **res, long long *iw, double *w, int mem) {
    const double *first[] = {arg[0], arg[1], arg[2], arg[4]};
    const double *second[] = {arg[0], arg[1], arg[2], arg[3], w, arg[4]};
    double *found[] = {w, w + iw[4]};
    const int status = ((sc_native)iw[0])(first, found, iw, (double *)iw[1], mem);
    return status ? status : ((sc_native)iw[2])(second, res, iw, (double *)iw[3], mem);
}
