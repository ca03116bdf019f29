/* Data of one closed-loop run. Python parses this struct (one field per line) and sets the fields by name.
 *
 * x: plant state. z: memory of the law. s: integrated state, which is x, or (x, z) with a continuous law. u: inputs
 * after the limits. u_commanded: inputs before the limits. Matrices are row-major. Each row of K is one evaluation of
 * s_dot: the stages 0..n_stages-1, the end of the step (row n_stages), then the extra stages of the dense output. */
#ifndef SC_LOOP_H
#define SC_LOOP_H

typedef long long sc_int;

/* kinds of function */
enum { SC_NONE = 0, SC_VM = 1, SC_GENERATED = 2, SC_CALLBACK = 3 };
/* status codes for the caller, and codes for internal use */
enum { SC_DONE = 0, SC_SLICE = 1, SC_GUARD = 2, SC_FAILED = 3, SC_CALLBACK_ERROR = 4, SC_LIMIT = 5 };
enum { SC_GO = -1, SC_NOT_FINITE = -2, SC_NO_CONVERGENCE = -3, SC_SHORTER = -4 };
/* phases of the run */
enum { SC_POINT = 0, SC_RECORD = 1, SC_STEP = 2, SC_SCAN = 3 };
/* reasons for a failure */
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
    sc_int n_res; /* total size of the results, which are contiguous from res[0] */
} sc_function;

typedef struct {
    /* functions */
    sc_function plant;   /* (t, x, u, p) -> x_dot */
    sc_function law;     /* (t, x, y, z, r, p) -> u, z_dot, z_next */
    sc_function sensors; /* (t, x, p) -> y */
    sc_function guards;  /* (t, x, u, z, p) -> g */
    sc_function kinks;     /* (t, x, p) -> values that cross zero at the kinks of x_dot */
    sc_function law_kinks; /* (t, x, y, z, r, p) -> values that cross zero at the kinks of the law */
    sc_function plant_derivatives; /* (t, x, u, p) -> A, B: Jacobians of x_dot, column-major */
    sc_function law_derivatives;   /* (t, s, r, ...) -> Jacobians of u and z_dot, column-major */
    sc_function project; /* (t, x, p) -> x projected onto the constraints, distance to singularity */
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
    sc_int n_limits; /* finite limits of the inputs that a continuous law commands */
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
    double newton_tol; /* accepted error of the Newton iteration, relative to the tolerance */
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
    sc_int table_rates; /* whether r contains the rates after the values */
    sc_int project_stages; /* whether s_dot is evaluated at projected states */
    sc_int takes_long_steps; /* whether singular configurations are crossed in one long step, see singularity.h */
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
    sc_int *limit_sides; /* 1 for an upper limit, -1 for a lower limit */
    sc_int *quaternions;
    sc_int *directions;
    sc_int *angles; /* entries of x whose sines and cosines are shared by plant, law and sensors */
    double *stops;
    double *grid;
    double *knots;
    double *values;
    double *rates;
    /* progress of the run */
    sc_int phase;
    sc_int is_fresh; /* s_dot must be evaluated again: start, sample, stop, kink or restart */
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
    sc_int has_history; /* no jump since the last step, so that its polynomial may be extrapolated */
    sc_int wants_jacobian;
    sc_int is_jacobian_current; /* J was evaluated at (t, s) */
    sc_int n_newton; /* Newton iterations of the last attempt */
    double lu_h; /* step length for which the matrices were factorised; 0 if there are no factors */
    double eta; /* estimated ratio of the Newton error to the last increment */
    double theta; /* rate of convergence of the Newton iteration */
    double error_inside; /* error estimate inside the step from its last attempt */
    sc_int order; /* order of the multistep method in this step */
    sc_int order_next;
    sc_int n_points; /* number of valid rows of `differences` */
    sc_int n_failed; /* rejected attempts at this step */
    sc_int n_waits; /* number of steps during which the step length must not grow */
    sc_int is_starting; /* start-up phase, in which the order grows with each step */
    double growth; /* factor for the next step length, set by an attempt */
    double h_start; /* length of the first step after a jump */
    sc_int is_long; /* the last step was a long step */
    double distance; /* distance to singularity at (t, s) */
    double distance_before; /* one step earlier, at distance_t; at most `distance` if the trend is unknown */
    double distance_t; /* time of distance_before */
    double long_angle; /* [rad] largest angle to singularity at which the next long step may be attempted */
    double long_angle_reset; /* [rad] value of long_angle for the next singular configuration */
    double long_h; /* full length of the last long step; the step itself may be cut at the end of the run */
    double long_change; /* change in the last iteration of a long step, relative to the tolerance */
    double *s;
    double *s_new;
    double *end_rate; /* derivative of the step's polynomial at its end, free of amplified errors of stiff states */
    double *z;
    double *u;
    double *u_commanded;
    sc_int g_first; /* range of watched functions: guards, then kinks of the plant, kinks of the law, limits */
    sc_int g_last;
    double *g_before;
    double *g_shift; /* offset of a guard that starts at zero, so that noise around zero is no crossing */
    double *g_clear; /* time from which the offset no longer applies: the guard has left zero */
    double *g_scale; /* largest magnitude so far */
    sc_int is_short; /* the step was shortened for a kink, see kinks.h */
    double kink_at; /* expected time of that kink */
    double h_resume; /* step length to resume with after the kink */
    sc_int limit_changed; /* some command in the step exceeds other limits than is_beyond says */
    sc_int *is_beyond; /* for each limit, whether the command exceeds it */
    sc_int *is_ignored; /* for each kink, whether it chatters and is no longer located */
    sc_int *n_close; /* for each kink, number of consecutive crossings in close succession */
    double *kink_t; /* for each kink, time of the last crossing */
    /* report to the caller */
    double event_t;
    double *event_s;
    sc_int *fired;
    sc_int reason;
    double fail_t;
    sc_int *bad;
    sc_int n_steps;
    sc_int n_rejected;
    sc_int n_kinks; /* located kinks, at each of which a step ends */
    sc_int n_crossings; /* long steps across singular configurations */
    sc_int n_right_sides;
    sc_int n_law_calls;
    sc_int n_jacobians;
    sc_int n_factorisations;
    /* work arrays */
    double *sincos; /* sin x_i at 2 i and cos x_i at 2 i + 1, for the angles */
    double *K;
    double *Q;
    double *stage;
    double *projected; /* stage state projected onto the constraints */
    double *long_K; /* s_dot at the nodes of a long step */
    double *long_S; /* states at the nodes */
    double *long_distance; /* distances to singularity at the nodes */
    double *rate_before; /* s_dot at distance_t */
    double *sum;
    double *sum_second;
    double *dense;
    double *g_after;
    double *g_point;
    double *g_panel; /* values of panels, see guards.h */
    double *roots;
    double *Z; /* stage increments of an implicit step: stage states minus s */
    double *W; /* transformed stage increments */
    double *dW;
    double *J;
    double *lu_real;
    double *lu_re;
    double *lu_im;
    sc_int *pivots;
    double *differences; /* divided differences of s_dot at previous times, multiplied by the spans */
    double *scaled; /* differences scaled for the current step */
    double *spans; /* time from the latest point back to each earlier point */
    double *spans_new; /* the same, from the end of the current step */
    double *ratios; /* step length over each of spans_new */
    double *weights; /* integration weights of the rows of `scaled` */
    /* records: one row per grid time and a spare row for an event or a failure */
    double *out_x;
    double *out_z;
    double *out_u;
    double *out_u_commanded;
} sc_loop;

#endif
