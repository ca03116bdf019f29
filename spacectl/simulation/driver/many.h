/* Many runs of one loop in sequence. Arrays hold the data that differ between runs, one row per run. */
#ifndef SC_MANY_H
#define SC_MANY_H

typedef void (*sc_prepare)(const double *p, double *w);

typedef struct {
    sc_int n_p;
    sc_int n_law_p;
    const double *x0;
    const double *z0; /* one row for all runs */
    const double *u0; /* one row for all runs */
    const double *p; /* null if all runs have the same parameters */
    const double *law_p; /* parameters of the law; null if they are the same in all runs */
    const double *atol;
    const double *u_low;
    const double *u_high;
    void *prepare_plant;
    void *prepare_law;
    void *prepare_sensors;
    void *prepare_guards;
    void *prepare_project;
    void *prepare_kinks;
    const sc_int *terminal; /* for each guard: 1 if it ends a run, 2 if it also marks a failure, else 0 */
    const volatile sc_int *stop; /* set by another thread to stop all runs */
    double *out_x;
    double *out_z;
    double *out_u;
    double *out_u_commanded;
    double *t_end; /* time at which each run ended */
    sc_int *status; /* status of sc_advance, or SC_DIVERGED; SC_SLICE for a run that was stopped */
    sc_int *rows; /* number of recorded grid times; the next row of out_x is the state at the end of the run */
    sc_int *counts; /* for each run: steps, rejected steps, evaluations of s_dot, calls of the law */
} sc_many;

enum { SC_DIVERGED = 6 }; /* additional status: a guard marked a failure */

static const double SC_POLL_INTERVAL = 0.05; /* [s] between two checks of `stop` */

/* Precompute the terms of a function that depend on p only. */
static void sc_prepare_with(void *prepare, const double *p, sc_function *f)
{
    if (prepare) ((sc_prepare)prepare)(p, f->w);
}

/* Simulate the runs first..last-1 until `stop` is set; `initial` is the loop before its first step. Return the
 * number of runs that were started. */
sc_int sc_run_many(sc_loop *L, const sc_loop *initial, const sc_many *m, sc_int first, sc_int last)
{
    for (sc_int run = first; run < last; run++) {
        const sc_int size = (initial->n_grid + 1) * run;
        int status;
        if (*m->stop) return run - first;
        *L = *initial;
        L->atol = (double *)m->atol + run * L->n_s;
        sc_copy(L->s, m->x0 + run * L->n_x, L->n_x);
        sc_copy(L->z, m->z0, L->n_z);
        if (L->n_s > L->n_x) sc_copy(L->s + L->n_x, m->z0, L->n_z);
        L->u_low = (double *)m->u_low + run * L->n_u;
        L->u_high = (double *)m->u_high + run * L->n_u;
        for (sc_int k = 0; k < L->n_u; k++) {
            L->u_commanded[k] = m->u0[k];
            L->u[k] = fmin(fmax(m->u0[k], L->u_low[k]), L->u_high[k]);
        }
        if (m->p) {
            const double *p = m->p + run * m->n_p;
            L->plant_derivatives.kind = SC_NONE; /* valid for the first p only; finite differences replace them */
            sc_prepare_with(m->prepare_plant, p, &L->plant);
            sc_prepare_with(m->prepare_sensors, p, &L->sensors);
            sc_prepare_with(m->prepare_guards, p, &L->guards);
            sc_prepare_with(m->prepare_project, p, &L->project);
            sc_prepare_with(m->prepare_kinks, p, &L->kinks);
        }
        if (m->law_p) {
            const double *p = m->law_p + run * m->n_law_p;
            sc_set_argument(&L->law, 5, p, m->n_law_p);
            sc_prepare_with(m->prepare_law, p, &L->law);
        }
        L->out_x = m->out_x + size * L->n_x;
        L->out_z = m->out_z + size * L->n_z;
        L->out_u = m->out_u + size * L->n_u;
        L->out_u_commanded = m->out_u_commanded + size * L->n_u;
        int ends = 0;
        for (;;) {
            status = sc_advance(L, (sc_int)1 << 60, SC_POLL_INTERVAL);
            if (status == SC_SLICE && !*m->stop) continue;
            if (status != SC_GUARD) break;
            for (sc_int k = 0; k < L->n_guards; k++)
                if (L->fired[k] && m->terminal[k] > ends) ends = (int)m->terminal[k];
            if (ends) break;
        }
        m->status[run] = status == SC_GUARD && ends > 1 ? SC_DIVERGED : status;
        m->rows[run] = L->i_grid;
        m->t_end[run] = status == SC_GUARD ? L->event_t : L->t;
        m->counts[4 * run] = L->n_steps;
        m->counts[4 * run + 1] = L->n_rejected;
        m->counts[4 * run + 2] = L->n_right_sides;
        m->counts[4 * run + 3] = L->n_law_calls;
        /* the row after the last record is the state at the end of the run */
        sc_copy(L->out_x + L->i_grid * L->n_x, status == SC_GUARD ? L->event_s : L->s, L->n_x);
    }
    return last - first;
}

sc_int sc_many_size(void)
{
    return (sc_int)sizeof(sc_many);
}

#endif
