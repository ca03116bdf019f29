"""Data of one closed-loop run, with the field names of loop.h.

`simulate` creates a `LoopData` from equations, law and options. The C driver receives pointers to its arrays; the reference
implementation in Python works on it directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import NONE, BoundFunction, unused
from spacectl.core.trajectory import Trajectory
from spacectl.simulation.driver.methods.adams import MAX_ADAMS, MultistepMethod
from spacectl.simulation.driver.methods.radau import ImplicitMethod
from spacectl.simulation.driver.methods.tableau import LONG_NODES, Method, long_step_tableau

__all__ = ["COUNTS", "MAX_DEPTH", "LoopData"]

#: Counters of a run
COUNTS = (
    "n_steps", "n_rejected", "n_kinks", "n_crossings", "n_right_sides", "n_law_calls", "n_jacobians", "n_factorisations",
)  # fmt: skip

MAX_DEPTH = 56  #: largest number of bisections in the search for crossings, as in guards.h
RULES = ("previous", "linear", "cubic")  #: table_rule is an index into this tuple


class LoopData:
    """Hold the data of one run; fields as in loop.h.

    Parameters
    ----------
    plant, law, sensors, guards, kinks, law_kinks, project : BoundFunction
        Functions with their run-time parameters p already set; `unused` if there is none.
    plant_derivatives, law_derivatives : BoundFunction, optional
        Exact Jacobians for an implicit method; without them it uses finite differences.
    tableau : Tableau, ImplicitMethod or MultistepMethod
        Integration method.
    t_span : (float, float)
        Start and end time [s].
    x0, z0, u0 : array
        Initial state, initial memory, and constant inputs that no law commands.
    limits : (array, array)
        Lower and upper limits of the inputs.
    u_map, y_map : sequence of int
        Indices of the law's inputs in u, and of its measurements in the results of `sensors`.
    period : float
        Sampling period of the law [s]; 0 for a continuous law.
    reference : Trajectory, optional
        Reference r(t).
    reference_rates : bool
        Whether r contains the rates after the values.
    grid, stops : array
        Times to record, and times at which the right-hand side may jump; both increasing.
    quaternions : sequence of int
        First index of each unit quaternion in x.
    directions : sequence of int
        Crossing direction of each guard: 0 (both), 1 (rising) or -1 (falling).
    guards_use_u : bool
        Whether a guard depends on the inputs.
    project_stages : bool
        Whether the right-hand side is evaluated at states projected onto the constraints.
    takes_long_steps : bool
        Whether singular configurations are crossed in one long step (singularity.h).
    rtol, atol, max_step, max_steps, t_tol, n_checks
        Options as in loop.h; atol has one entry per integrated state, or is a number.
    """

    def __init__(
        self,
        *,
        plant: BoundFunction,
        tableau: Method,
        t_span: tuple[float, float],
        x0: Any,
        grid: Any,
        law: BoundFunction | None = None,
        sensors: BoundFunction | None = None,
        guards: BoundFunction | None = None,
        kinks: BoundFunction | None = None,
        law_kinks: BoundFunction | None = None,
        plant_derivatives: BoundFunction | None = None,
        law_derivatives: BoundFunction | None = None,
        project: BoundFunction | None = None,
        z0: Any = (),
        u0: Any = (),
        limits: tuple[Any, Any] | None = None,
        u_map: Sequence[int] = (),
        y_map: Sequence[int] = (),
        period: float = 0.0,
        reference: Trajectory | None = None,
        reference_rates: bool = False,
        stops: Any = (),
        quaternions: Sequence[int] = (),
        directions: Sequence[int] = (),
        guards_use_u: bool = True,
        project_stages: bool = False,
        takes_long_steps: bool = False,
        rtol: float = 1e-9,
        atol: Any = 1e-9,
        max_step: float = np.inf,
        max_steps: int = 10_000_000,
        t_tol: float = 0.0,
        n_checks: int = 2,
    ):
        self.plant, self.law = plant, law or unused()
        self.sensors, self.guards = sensors or unused(), guards or unused()
        self.kinks, self.law_kinks = kinks or unused(), law_kinks or unused()
        self.plant_derivatives, self.law_derivatives = plant_derivatives or unused(), law_derivatives or unused()
        self.project = project or unused()
        self.n_x, self.n_z, self.n_u = len(x0), len(z0), len(u0)
        self.n_s = self.n_x + (self.n_z if period == 0.0 else 0)
        self.n_commands, self.n_measured = len(u_map), len(y_map)
        self.n_guards, self.n_quaternions = len(directions), len(quaternions)
        self.t_start, self.t_end = map(float, t_span)
        self.period, self.rtol, self.max_step, self.t_tol = float(period), float(rtol), float(max_step), float(t_tol)
        self.n_checks, self.max_steps, self.guards_use_u = int(n_checks), int(max_steps), int(guards_use_u)
        self.atol = np.full(self.n_s, atol, dtype=float) if np.ndim(atol) == 0 else _reals(atol)
        low, high = limits if limits is not None else (np.full(self.n_u, -np.inf), np.full(self.n_u, np.inf))
        self.u_low, self.u_high = _reals(low), _reals(high)
        self.u_map, self.y_map = _integers(u_map), _integers(y_map)
        self._set_kinks()
        self.quaternions = _integers(quaternions)
        self.directions = _integers([*directions, *[0] * (self.n_watched - self.n_guards)])
        self.stops, self.grid = _reals(stops), _reals(grid)
        self.n_stops, self.n_grid = self.stops.size, self.grid.size
        self._set_method(tableau)
        self._set_table(reference)
        self.table_rates, self.project_stages = int(reference_rates), int(project_stages)
        self._set_long_step(takes_long_steps)
        self._set_state(x0, z0, u0)
        self._set_work()
        self._set_sincos()

    def _set_kinks(self) -> None:
        """Set the functions that are watched besides guards: kinks of plant and law, and limits of a continuous law."""
        results = [item.results[0].size if item.results else 0 for item in (self.kinks, self.law_kinks)]
        self.n_plant_kinks, self.n_law_kinks = results
        commanded = self.u_map if self.law.kind != NONE and self.period == 0.0 else self.u_map[:0]
        bounds = ((1, self.u_high), (-1, self.u_low))
        found = [(i, side) for i in commanded for side, bound in bounds if np.isfinite(bound[i])]
        self.limit_inputs, self.limit_sides = _integers([i for i, _ in found]), _integers([side for _, side in found])
        self.n_limits = len(found)
        count = self.n_plant_kinks + self.n_law_kinks + self.n_limits
        self.g_first, self.g_last = 0, self.n_guards
        self.is_short, self.kink_at, self.h_resume, self.limit_changed = 0, -np.inf, 0.0, 0
        self.is_beyond, self.is_ignored, self.n_close = _zeros(self.n_limits), _zeros(count), _zeros(count)
        self.kink_t = np.full(count, -np.inf)

    @property
    def n_watched(self) -> int:
        """Number of guards, kinks and limits."""
        return self.n_guards + self.n_plant_kinks + self.n_law_kinks + self.n_limits

    def _set_method(self, tableau: Method) -> None:
        self.n_stages, self.n_extra, self.n_terms = tableau.n_stages, tableau.n_extra, tableau.F.shape[0]
        self.error_order = tableau.error_order
        self.has_error_pair, self.needs_end_rate = int(tableau.has_error_pair), int(tableau.needs_end_rate)
        self.A, self.C, self.E, self.F = (_constants(item) for item in (tableau.A, tableau.C, tableau.E, tableau.F))
        none = np.zeros(0)
        solver: Sequence[Any] = (none, none, none, none)
        if isinstance(tableau, ImplicitMethod):
            solver = (tableau.R, tableau.T, tableau.T_inverse, tableau.eigenvalues)
        self.is_implicit = int(isinstance(tableau, ImplicitMethod))
        self.is_multistep = int(isinstance(tableau, MultistepMethod))
        self.R, self.T, self.T_inverse, self.eigenvalues = (_constants(item) for item in solver)
        # The iteration error must be well below the tolerance, but not below ten times the rounding error of the state.
        self.newton_tol = max(10.0 * np.finfo(float).eps / self.rtol, min(0.03, np.sqrt(self.rtol)))

    def _set_long_step(self, takes_long_steps: bool) -> None:
        made = long_step_tableau()
        self.takes_long_steps = int(takes_long_steps)
        self.long_C, self.long_A, self.long_B, self.long_start, self.long_F = (
            _constants(item) for item in (made.C, made.A, made.B, made.start, made.F)
        )

    def _set_table(self, reference: Trajectory | None) -> None:
        none = np.zeros((0, 0))
        self.knots = np.zeros(0) if reference is None else _reals(reference.t)
        self.values = none if reference is None else _reals(reference.values)
        self.rates = none if reference is None or reference.rates is None else _reals(reference.rates)
        self.table_rule = 0 if reference is None else RULES.index(reference.interpolation)
        self.n_knots, self.n_r = self.knots.size, self.values.shape[1]

    def _set_state(self, x0: Any, z0: Any, u0: Any) -> None:
        self.phase, self.is_fresh, self.has_guard_values = 0, 1, 0
        self.k_sample = self.i_stop = self.i_grid = self.i_knot = self.i_check = 0
        self.t = self.t_new = self.t_start
        self.t_limit, self.h, self.h_next, self.error_old = np.inf, 0.0, 0.0, 1e-4
        self.has_history, self.wants_jacobian, self.is_jacobian_current, self.n_newton = 0, 1, 0, 0
        self.lu_h, self.eta, self.theta, self.error_inside = 0.0, 1.0, 0.0, np.inf
        self.order = self.order_next = self.n_points = self.is_starting = 1
        self.n_failed, self.n_waits, self.growth, self.h_start = 0, 0, 1.0, 0.0
        self.z = np.array(z0, dtype=float)
        self.s = np.concatenate([np.asarray(x0, dtype=float), self.z if self.period == 0.0 else np.zeros(0)])
        self.s_new, self.end_rate = np.zeros(self.n_s), np.zeros(self.n_s)
        self.u_commanded = np.array(u0, dtype=float)
        self.u = np.clip(self.u_commanded, self.u_low, self.u_high)
        self.event_t, self.fail_t, self.reason = -np.inf, np.nan, 0
        self.event_s = self.s.copy()
        self.fired, self.bad = _zeros(self.n_watched), _zeros(self.n_s)
        self.n_steps = self.n_rejected = self.n_kinks = self.n_crossings = self.n_right_sides = self.n_law_calls = 0
        self.n_jacobians = self.n_factorisations = 0
        self.is_long, self.distance, self.distance_before, self.distance_t = 0, 0.0, 0.0, 0.0
        self.long_angle, self.long_angle_reset, self.long_h, self.long_change = np.inf, np.inf, 0.0, 0.0

    def _set_sincos(self) -> None:
        """Share one table of sines and cosines if at least two of plant, law and sensors use it at each state."""
        readers = [item for item in (self.plant, self.law, self.sensors) if item.angles]
        is_shared = len(readers) > 1 and self.period == 0.0
        self.angles = _integers(sorted({angle for item in readers for angle in item.angles}) if is_shared else ())
        self.n_angles, self.sincos = self.angles.size, np.zeros(2 * self.n_x)
        for item in readers if is_shared else ():
            item.share_turns(self.sincos)

    def _set_work(self) -> None:
        rows, n = self.n_stages + 1 + self.n_extra, self.n_s
        self.K, self.Q = np.zeros((rows, n)), np.zeros((self.n_terms, n))
        self.stage, self.projected, self.sum, self.sum_second, self.dense = (np.zeros(n) for _ in range(5))
        self.g_before, self.g_after, self.g_point, self.roots = (np.zeros(self.n_watched) for _ in range(4))
        self.g_shift, self.g_scale = np.zeros(self.n_guards), np.zeros(self.n_watched)
        self.g_clear = np.full(self.n_guards, np.inf)
        self.g_panel = np.zeros((5 + 3 * MAX_DEPTH, self.n_watched))
        size = n if self.is_implicit else 0
        self.Z, self.W, self.dW = (np.zeros((3, size)) for _ in range(3))
        self.J, self.lu_real, self.lu_re, self.lu_im = (np.zeros((size, size)) for _ in range(4))
        self.pivots = np.zeros((2, size), dtype=np.int64)
        rows = MAX_ADAMS + 2 if self.is_multistep else 0
        self.differences, self.scaled = np.zeros((rows, n)), np.zeros((rows, n))
        self.spans, self.spans_new, self.ratios, self.weights = (np.zeros(rows) for _ in range(4))
        rows = LONG_NODES[1] if self.takes_long_steps else 0
        self.long_K, self.long_S, self.long_distance = np.zeros((rows, n)), np.zeros((rows, n)), np.zeros(rows)
        self.rate_before = np.zeros(n)
        sizes = (self.n_x, self.n_z, self.n_u, self.n_u)  # one spare row for an event or a failure
        self.out_x, self.out_z, self.out_u, self.out_u_commanded = (np.zeros((self.n_grid + 1, k)) for k in sizes)


def _reals(values: Any) -> np.ndarray:
    return np.array(values, dtype=float, order="C")


def _constants(values: Any) -> np.ndarray:
    """Return an array that nothing writes to; coefficients of a method are shared by all runs."""
    return np.ascontiguousarray(values, dtype=float)


def _integers(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64).reshape(-1)


def _zeros(n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.int64)
