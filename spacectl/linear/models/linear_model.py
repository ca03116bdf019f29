"""`LinearModel`: a labelled linear model about an operating point, ``x_dot = A x + B u + E d``, ``y = C x + D u``.

The state is an error state: a quaternion counts three (a rotation vector in body axes), every other coordinate and
every speed one, so that no spurious mode appears. `find_sensitivities` differentiates A by run-time parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import Array, as_array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.linear_terms import tangent_map

__all__ = ["LinearModel", "find_sensitivities"]


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """Linear model: matrices with names.

    Parameters
    ----------
    A, B, C, D : arrays
        Shapes (n, n), (n, m), (k, n), (k, m).
    E : array, shape (n, l)
        Disturbance map; empty by default.
    x, u, y, d : Labels
        Names and units of error states, inputs, outputs and disturbances.
    point : mapping
        The point of linearisation: t, x, u, and the residual of the equations there.
    sensitivities : mapping of str to array
        Derivatives of A by named parameters, shape (n, n, size).
    sensitivity_methods : mapping of str to str
        Method of each: ``"exact"`` for parameters, ``"closed form"`` or ``"central differences ..."`` for
        fields.
    basis : array, shape (2 n_v, n), optional
        For constrained systems: all error states of the equations as ``basis x``, of which x are the independent ones.
    all_x : Labels, optional
        Names and units of all error states, the rows of `basis`.
    """

    A: Any
    B: Any
    C: Any
    D: Any
    x: Labels
    u: Labels
    y: Labels
    E: Any = None
    d: Labels = field(default_factory=lambda: Labels(kind="disturbance"))
    point: Mapping[str, Any] = field(default_factory=dict)
    sensitivities: Mapping[str, Array] = field(default_factory=dict)
    sensitivity_methods: Mapping[str, str] = field(default_factory=dict)
    basis: Any = None
    all_x: Labels | None = None

    def __post_init__(self) -> None:
        n, m, k = len(self.x), len(self.u), len(self.y)
        E = np.zeros((n, len(self.d))) if self.E is None else self.E
        shapes = {"A": (n, n), "B": (n, m), "C": (k, n), "D": (k, m), "E": (n, len(self.d))}
        for name, value in (("A", self.A), ("B", self.B), ("C", self.C), ("D", self.D), ("E", E)):
            object.__setattr__(self, name, as_array(value, shapes[name], f"linear model: {name}"))

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A [1/s], slowest first."""
        values = np.linalg.eigvals(np.asarray(self.A))
        return values[np.lexsort((values.imag, values.real, np.abs(values)))]

    def select(self, *, inputs: Iterable[str] | None = None, outputs: Iterable[str] | None = None) -> LinearModel:
        """Return the same model with some inputs and outputs only, in the given order."""
        columns = list(range(len(self.u))) if inputs is None else list(self.u.indices(inputs))
        rows = list(range(len(self.y))) if outputs is None else list(self.y.indices(outputs))
        return LinearModel(
            A=self.A,
            B=self.B[:, columns],
            C=self.C[rows],
            D=self.D[np.ix_(rows, columns)],
            x=self.x,
            u=_pick(self.u, columns),
            y=_pick(self.y, rows),
            E=self.E,
            d=self.d,
            point=self.point,
            sensitivities=self.sensitivities,
            sensitivity_methods=self.sensitivity_methods,
            basis=self.basis,
            all_x=self.all_x,
        )

    def frequency_response(self, omega: Any) -> np.ndarray:
        """Return ``C (j w - A)^-1 B + D`` at frequencies w [rad/s], shape (n_w, k, m)."""
        A, B, C, D = (np.asarray(item) for item in (self.A, self.B, self.C, self.D))
        unit = np.eye(len(self.x))
        frequencies = np.atleast_1d(np.asarray(omega, dtype=float))
        found = [C @ np.linalg.solve(1j * w * unit - A, B.astype(complex)) + D for w in frequencies]
        return np.array(found, dtype=complex).reshape(-1, *D.shape)

    def to_control(self) -> Any:
        """Return the model as `control.StateSpace`, with state, input and output names (python-control is imported here)."""
        control = import_module("control")
        names = {"states": list(self.x.names), "inputs": list(self.u.names), "outputs": list(self.y.names)}
        matrices = (np.array(item) for item in (self.A, self.B, self.C, self.D))
        return control.ss(*matrices, **{key: _plain(value) for key, value in names.items()})

    @staticmethod
    def from_control(model: Any) -> LinearModel:
        """Return a model from a continuous `control.StateSpace`, with its names (it has no units)."""
        if getattr(model, "dt", 0) not in (0, None):
            raise ModelError(f"from_control: the model has dt = {model.dt}; expected a continuous one (dt = 0)")
        if any(not hasattr(model, name) for name in ("A", "B", "C", "D")):
            raise ShapeError(f"from_control: expected a control.StateSpace, got {type(model).__name__}")
        labels = (Labels(tuple(model.state_labels), (), "state"), Labels(tuple(model.input_labels), (), "input"))
        outputs = Labels(tuple(model.output_labels), (), "output")
        return LinearModel(A=model.A, B=model.B, C=model.C, D=model.D, x=labels[0], u=labels[1], y=outputs)


def _pick(labels: Labels, places: list[int]) -> Labels:
    return Labels(tuple(labels.names[i] for i in places), tuple(labels.units[i] for i in places), labels.kind)


def _plain(names: list[str]) -> list[str]:
    """Return names that python-control accepts: it reserves the dot for subsystems."""
    return [name.replace(".", "_") for name in names]


def find_sensitivities(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, names: tuple[str, ...]
) -> dict[str, tuple[Array, str]]:
    """Return derivatives of A (n, n, size) by named parameters, and the method used for each.

    The derivative of A along a change of p is exact, through CasADi's second derivatives.
    """
    if not names:
        return {}
    q, v, n = x[: eom.n_q], x[eom.n_q :], eom.n_v
    values = eom.parameters.of(p)
    blocks = (("q", slice(0, n), tangent_map(eom, q)), ("v", slice(n, 2 * n), np.eye(n)))
    rates = {letter: _jacobian_rate(eom, letter) for letter, _, _ in blocks}
    result: dict[str, tuple[Array, str]] = {}
    for name in names:
        directions, method = eom.parameters.derivative(name, p)
        stack = np.zeros((2 * n, 2 * n, directions.shape[1]))
        for k, direction in enumerate(directions.T):
            for letter, block, turn in blocks:
                stack[n:, block, k] = np.array(rates[letter](t, q, v, u, values, direction)) @ turn
        result[name] = Array(stack), method
    return result


def _jacobian_rate(eom: EquationsOfMotion, letter: str) -> ca.Function:
    """Return a function (t, q, v, u, p, dp) -> derivative of d v_dot / d letter along dp."""
    f = eom.functions["v_dot_implicit" if "v_dot_implicit" in eom.functions else "v_dot"]
    symbols = {name: ca.MX.sym(name, *f.size_in(i)) for i, name in enumerate(f.name_in())}
    jacobian = ca.jacobian(f(*symbols.values()), symbols[letter])
    direction = ca.MX.sym("dp", len(eom.parameters))
    rate = ca.reshape(ca.jtimes(ca.vec(jacobian), symbols["p"], direction), *jacobian.shape)
    return ca.Function("rate", [*symbols.values(), direction], [ca.densify(rate)])
