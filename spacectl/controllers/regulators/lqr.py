"""`design_lqr`: design an optimal state feedback for a linear model and weights, continuous or sampled.

Weights are given by name; the Riccati equation is solved in `riccati`, the law is formed in `feedback`. `lqr_along`
does the same along a motion, `estimators` adds what is not measured, `spillover` judges the law on another model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.controllers.analysis.error_state import ErrorState, read_error_state, read_trim
from spacectl.controllers.analysis.law_loop import LoopGain
from spacectl.controllers.regulators.feedback import build_feedback
from spacectl.controllers.regulators.lqr_problem import form_problem, solve_problem
from spacectl.core.array import Array
from spacectl.core.control_law import ControlLaw
from spacectl.core.trajectory import Trajectory
from spacectl.linear.margins.classical import ClassicalMargins
from spacectl.linear.margins.disk import DiskMargins
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.reduction.reduce import Reduction

__all__ = ["LqrLaw", "design_lqr"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LqrLaw(ControlLaw):
    """A linear-quadratic regulator: a `ControlLaw` with the results of its design.

    Parameters
    ----------
    K : Array, shape (n_u, n)
        Gain on the error state of `model`.
    K_integral : Array, shape (n_u, n_i)
        Gain on the integrals, in the order of the law's memory.
    S : Array, shape (n + n_i, n + n_i)
        Riccati solution, in the coordinates of the design (those of the reduced model, if one was used).
    poles : array, complex
        Closed-loop poles of the design model, slowest first: [1/s], or in z for a sampled law.
    residual : float
        Relative residual of the Riccati equation.
    model : LinearModel
        The model, full even if a reduction was used.
    reduction : Reduction or None
        The reduction used.
    errors : ErrorState
        Error state of the law.
    loop : LoopGain
        The loop broken at the plant's inputs, for `margins` and `classical`.
    """

    K: Array
    K_integral: Array
    S: Array
    poles: np.ndarray
    residual: float
    model: LinearModel
    reduction: Reduction | None
    errors: ErrorState
    loop: LoopGain

    @cached_property
    def margins(self) -> DiskMargins:
        """Disk margins at the plant's inputs (of the design model), found when first asked for."""
        return self.loop.disk()

    @cached_property
    def classical(self) -> dict[str, ClassicalMargins]:
        """Gain, phase and delay margins of each input with the other loops closed, found when first asked for."""
        return self.loop.classical()

    def named_gains(self) -> dict[str, dict[str, float]]:
        """Return gains by input and error state, integrals as ``integral.<name>``."""
        names = (*self.model.x.names, *self.memory.names)
        rows = np.hstack([np.asarray(self.K), np.asarray(self.K_integral)])
        return {u: dict(zip(names, row.tolist(), strict=True)) for u, row in zip(self.inputs.names, rows, strict=True)}

    def predict_cost(self, x: Any, z: Any = None) -> float:
        """Return the cost ``integral of e.T Q e + 2 e.T N u + u.T R u`` from the state x (and memory z) on, by the linear model.

        u counts from the trim. A sampled law's integrals count with their value at each sample.
        """
        e = self.errors.errors_of(x)
        e = e if self.reduction is None else self.reduction.left @ e
        whole = np.concatenate([e, np.asarray(self.z0 if z is None else z, dtype=float)])
        return float(whole @ np.asarray(self.S) @ whole)


def design_lqr(
    model: LinearModel,
    *,
    R: Any,
    Q: Any = None,
    N: Any = None,
    output_weight: Any = None,
    integral: Mapping[str, float] | None = None,
    y_point: Any = None,
    reduction: Reduction | Iterable[str] | None = None,
    reference: Trajectory | None = None,
    trim: Any = None,
    period: float = 0.0,
    name: str = "LQR",
) -> LqrLaw:
    """Design a state feedback ``u = u_0 - K (x (-) x_0)`` that minimises a quadratic cost over all time.

    The cost is ``integral of e.T Q e + 2 e.T N u + u.T R u + y.T W y`` with the error state e, inputs from their
    trim and outputs from their value at the point; K solves the algebraic Riccati equation, in units of time, state
    and input that make its entries alike, refined by Newton's method. Errors of attitudes are rotation vectors, so
    quaternions need no care. A sampled law minimises the same integral, including the motion between samples.

    Parameters
    ----------
    model : LinearModel
        From `linearize`; the law acts on the states of the plant about the model's point. For a constrained system
        it acts on the independent error states; the others follow from them.
    R : float, array (n_u,) or (n_u, n_u), or mapping of input to float
        Weight of the inputs, positive definite.
    Q : float, array (n,) or (n, n), or mapping of state to float, optional
        Weight of the error states, ``{"elbow": 10.0}``; states left out count nothing. For a constrained system
        names (or a matrix) may be of all error states, dependent ones too.
    N : array, shape (n, n_u), optional
        Cross weight.
    output_weight : as Q, for the model's outputs, optional
        W: weight of the outputs y = C e + D u.
    integral : mapping of str to float, optional
        Integral action: weights of the integrals of outputs or error states by name. A sensor's own measurement is
        integrated, so it returns to `y_point` under any constant disturbance.
    y_point : array or mapping, optional
        Measurements at the point, ``eom.outputs(t, x, u)`` or by name; needed for integrals of sensors.
    reduction : Reduction, or states by name, optional
        Design on this reduced form of `model` (`reduce_modal`, `reduce_balanced`, or the states kept): weights keep
        their meaning, the gain acts on the projection of the full state. `check_spillover` shows its effect on the
        modes left out.
    reference : Trajectory, optional
        A table to follow instead of the point: columns named after states (the rate of a coordinate's column replaces
        its speed) and ``u.<input>`` for inputs; other values are those of the point.
    trim : array (n_u,) or mapping of input to float, optional
        Inputs at the point; by default those of the point.
    period : float
        Sampling period [s]; 0 means continuous.
    name : str
        Shown in results and messages.

    Returns
    -------
    LqrLaw

    Raises
    ------
    ModelError
        If a mode cannot be stabilised, an undamped mode has no weight, or a weight is not symmetric or not positive;
        the message names the mode or state.

    Examples
    --------
    >>> from spacectl import Labels
    >>> x, u = Labels(("position", "speed"), ("m", "m/s")), Labels(("force",), ("N",))
    >>> cart = LinearModel(A=[[0, 1], [0, 0]], B=[[0], [1]], C=[[1, 0]], D=[[0]], x=x, u=u, y=Labels(("at",), ("m",)))
    >>> design_lqr(cart, Q={"position": 1.0}, R=1.0).K  # 1, sqrt(2)
    Array([[1.0, 1.4142135623730951]])
    """
    what = f"LQR law '{name}'"
    problem = form_problem(
        model, Q=Q, R=R, N=N, output_weight=output_weight, integral=integral, y_point=y_point, reduction=reduction,
        period=period, has_reference=reference is not None, what=what,
    )  # fmt: skip
    errors, solution = read_error_state(model, what), solve_problem(problem, what)
    n = len(problem.model.x) - len(problem.integrals.names)
    K, K_integral = solution.K[:, :n], solution.K[:, n:]
    reduced = problem.reduction
    full = K if reduced is None else K @ reduced.left
    fields = build_feedback(
        errors, model.u, full, read_trim(model, trim, what), integrals=problem.integrals, K_integral=K_integral,
        reference=reference, period=problem.period, what=what,
    )  # fmt: skip
    notes = {
        "kind": "LQR",
        "K": full.tolist(),
        "poles": [[pole.real, pole.imag] for pole in solution.poles],
        "residual": solution.residual,
        "Q": problem.Q.tolist(),
        "R": problem.R.tolist(),
    }
    return LqrLaw(
        name=name,
        notes=notes,
        K=Array(full),
        K_integral=Array(K_integral),
        S=Array(solution.S),
        poles=solution.poles,
        residual=solution.residual,
        model=model,
        reduction=reduced,
        errors=errors,
        loop=LoopGain(*problem.dynamics, solution.K, model.u, problem.period),
        **fields,
    )
