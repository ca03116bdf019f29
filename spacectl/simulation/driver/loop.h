/* Data of one closed-loop run. Python reads this struct, one field a line, and fills it by name.
 *
 * x: plant state, z: memory of the law, s: what is integrated (x, or (x, z) with a continuous law), u: inputs after
 * the limits, u_commanded: before. Matrices are row-major. K holds one derivative a row: the stages 0..n_stages-1,
 * the derivative at the end of the step (row n_stages), then the extra stages of the dense output. */
#ifndef SC_LOOP_H
#define SC_LOOP_H

typedef long long sc_int;

/* kinds of function */
enum { SC_NONE = 0, SC_VM = 1, SC_GENERATED = 2, SC_CALLBACK = 3 };
/* status codes for the caller, and codes for internal use */
enum { SC_DONE = 0, SC_SLICE = 1, SC_GUARD = 2, SC_FAILED = 3, SC_CALLBACK_ERROR = 4, SC_LIMIT = 5 };
enum { SC_GO = -1, SC_NOT_FINITE = -2, SC_NO_CONVERGENCE = -3, SC_SHORTER = -4 };
/* phases of a run */
enum { SC_POINT = 0, SC_RECORD = 1, SC_STEP = 2, SC_SCAN = 3 };
/* why a run failed */
enum { SC_BY_STATE = 1, SC_BY_ERROR = 2, SC_BY_GUARD = 3 };

typedef struct {
    int kind;
    void *fn;
    void *raw;
    const double **arg;
    double **res;
    sc_int *iw;
    double *w;
    int mem;
    sc_int n_res; /* all results together, contiguous from res[0] */
} sc_function;

typedef struct {
    /* functions */
    sc_function plant;   /* (t, x, u, p) -> x_dot */
    sc_function law;     /* (t, x, y, z, r, p) -> u, z_dot, z_next */
    sc_function sensors; /* (t, x, p) -> y */
    sc_function guards;  /* (t, x, u, z, p) -> g */
    sc_function kinks;     /* (t, x, p) -> values that pass zero where the plant's rates have a kink */
    sc_function law_kinks; /* (t, x, y, z, r, p) -> the same of the law */
    sc_function plant_slopes; /* (t, x, u, p) -> A, B: derivatives of x_dot by x and u, column-major */
    sc_function law_slopes;   /* (t, s, r, ...) -> derivatives of u and z_dot by s, column-major */
    sc_function project;      /* (t, x, p) -> x, near: the nearest state that meets the constraints; how far from a singular one */
    /* sizes */
    sc_int n_x;
    sc_int n_z;
    sc_int n_s;
    sc_int n_u;
    sc_int n_commands;
    sc_int n_measured;
    sc_int n_r;
    sc_int n_guards;
    sc_int n_plant_kinks;
    sc_int n_law_kinks;
    sc_int n_limits; /* limits of inputs that a continuous law may reach */
    sc_int n_quaternions;
    sc_int n_stops;
    sc_int n_grid;
    sc_int n_knots;
    sc_int n_angles;
    /* method */
    sc_int n_stages;
    sc_int n_extra;
    sc_int n_terms;
    sc_int error_order;
    sc_int has_error_pair;
    sc_int needs_end_rate; /* the error estimate uses the derivative at the end of the step */
    double *A;
    double *C;
    double *E;
    double *F;
    sc_int is_implicit;
    sc_int is_multistep;
    double newton_tol; /* size of the iteration's error, as a part of the tolerance */
    double *R;
    double *T;
    double *T_inverse;
    double *eigenvalues; /* gamma, alpha, beta */
    /* options */
    double t_start;
    double t_end;
    double period;
    double rtol;
    double max_step;
    double t_tol;
    sc_int n_checks;
    sc_int max_steps;
    sc_int guards_use_u;
    sc_int table_rule;
    sc_int table_rates; /* whether the law gets the rates behind the values */
    sc_int project_stages; /* whether right-hand sides are evaluated at the nearest state that meets the constraints */
    sc_int takes_long_steps; /* whether singular positions are crossed in one long step, see singularity.h */
    double *long_C;
    double *long_A;
    double *long_B;
    double *long_start;
    double *long_F;
    double *atol;
    double *u_low;
    double *u_high;
    sc_int *u_map;
    sc_int *y_map;
    sc_int *limit_inputs;
    sc_int *limit_sides; /* 1 for the highest value of an input, -1 for the lowest */
    sc_int *quaternions;
    sc_int *directions;
    sc_int *angles; /* entries of x whose sines and cosines plant, law and sensors share */
    double *stops;
    double *grid;
    double *knots;
    double *values;
    double *rates;
    /* where the run is */
    sc_int phase;
    sc_int is_fresh;
    sc_int has_guard_values;
    sc_int k_sample;
    sc_int i_stop;
    sc_int i_grid;
    sc_int i_knot;
    sc_int i_check;
    double t;
    double t_new;
    double t_limit;
    double h;
    double h_next;
    double error_old;
    sc_int has_history; /* the last step's polynomial may be continued: there was no jump since */
    sc_int wants_jacobian;
    sc_int is_jacobian_current; /* it belongs to (t, s) */
    sc_int n_newton; /* iterations of the last attempt */
    double lu_h; /* the step that the factors belong to */
    double eta; /* error of the iteration over its last increment */
    double theta; /* its rate of convergence */
    double inside; /* error inside the step, at the last attempt of it */
    sc_int order; /* of the multistep method in this step */
    sc_int order_next;
    sc_int n_points; /* rows of `differences` that are known */
    sc_int n_failed; /* attempts at this step */
    sc_int n_waits; /* steps for which the length must not grow */
    sc_int is_starting; /* the order still grows with the history */
    double growth; /* of the step, after an attempt */
    double h_start; /* first step after a jump */
    sc_int is_long; /* the last step was one */
    double near; /* at (t, s) */
    double near_before; /* a step before, at near_t; not larger than near if the direction of the run cannot be concluded from it */
    double near_t;
    double near_failed; /* angle below which the next long step may be tried */
    double near_good; /* the same at the next singular position, from what went well here */
    double long_h; /* length of the last long step, of which the step may be a part */
    double long_noise; /* what the last iteration of a long step still changed, in units of the tolerance */
    double *s;
    double *s_new;
    double *end_rate; /* of the step's polynomial; implicit: free of the small errors that a stiff right-hand side amplifies */
    double *z;
    double *u;
    double *u_commanded;
    sc_int g_first; /* what is watched: guards first, then kinks of the plant, of the law, limits */
    sc_int g_last;
    double *g_before;
    double *g_shift; /* added to a guard that starts at zero, until it has left it: it gets a side, and noise none */
    double *g_clear; /* when it has left it */
    double *g_scale; /* largest size seen */
    sc_int is_short; /* the step was shortened for a kink, see kinks.h */
    double kink_at; /* where it is expected */
    double h_free; /* step to go on with behind it */
    sc_int saw_limit; /* some rate of the step belongs to other limits than those in is_beyond */
    sc_int *is_beyond; /* for each limit, whether the command is beyond it */
    sc_int *is_ignored; /* for each kink, whether it crosses too often to be located */
    sc_int *n_close; /* crossings in a row that followed closely on the one before */
    double *kink_t; /* time of the last crossing */
    /* what it has to say */
    double event_t;
    double *event_s;
    sc_int *fired;
    sc_int reason;
    double fail_t;
    sc_int *bad;
    sc_int n_steps;
    sc_int n_rejected;
    sc_int n_kinks; /* kinks at which a step was made to end */
    sc_int n_crossings; /* steps across singular positions */
    sc_int n_right_sides;
    sc_int n_law_calls;
    sc_int n_jacobians;
    sc_int n_factorisations;
    /* work */
    double *turns; /* sin x_i, cos x_i of the angles, at 2 i */
    double *K;
    double *Q;
    double *stage;
    double *on_set; /* a stage, moved to where it meets the constraints */
    double *long_K; /* rates at the nodes of a long step */
    double *long_S; /* states there */
    double *long_near;
    double *rate_before; /* where near_before was found */
    double *sum;
    double *sum_second;
    double *dense;
    double *g_after;
    double *g_point;
    double *g_panel; /* values in panels of a part of a step, see guards.h */
    double *roots;
    double *Z; /* stages of an implicit step minus s */
    double *W; /* the same, transformed */
    double *dW;
    double *J;
    double *lu_real;
    double *lu_re;
    double *lu_im;
    sc_int *pivots;
    double *differences; /* divided differences of the last rates, times the spans */
    double *scaled; /* the same for the step under way */
    double *spans; /* from the last times to the one before the last, the one before that, ... */
    double *spans_new;
    double *ratios; /* the step over each span */
    double *weights; /* of the rows of `scaled` */
    /* records, one row for each grid time and one spare */
    double *out_x;
    double *out_z;
    double *out_u;
    double *out_u_commanded;
} sc_loop;

#endif
