"""Residual of a feedback linearisation at a state: accelerations that are not achieved, and the zero dynamics by name.

`feedback_linearization` defines the laws; this module analyses them with the equations of their design.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.analysis.law_loop import close_loop, linearise_law
from spacectl.controllers.analysis.pole_growth import find_drift, find_growth
from spacectl.core.control_law import ControlLaw
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.linearize import linearize

__all__ = ["Linearization", "LinearizationReport"]

_SAME = 1e-3  # of a pole's size: a fourfold pole is known to a quarter of the digits only


@dataclass(frozen=True, kw_only=True)
class LinearizationReport:
    """A feedback linearisation at one state.

    Parameters
    ----------
    wanted, reached : dict of str to float
        Accelerations by speed: those of the damped oscillators, and those of the plant with the law.
    residual : dict of str to float
        ``B_tau u - M a - h`` by speed (Sadigh 1995, Eq 6.14), reactions of constraints included: ``M (v_dot - a)``.
    missed : float
        Difference of the controlled speeds' accelerations from those wanted, relative to the accelerations that inputs
        have to add to the motion without inputs, both in the metric of the inertia ``(C M^-1 C')^-1`` of these speeds
        (of M if all are controlled); 0 without a difference. Speeds that the law does not control do not count.
    poles : array, complex
        Of the closed loop about this state [1/s], slowest decay first.
    zero_dynamics : array, complex
        Those that are not poles of the chosen oscillators: the uncontrolled dynamics.
    states : tuple of tuple of str
        For each pole of the zero dynamics the error states with the largest participation.
    is_stable : bool
        Whether no pole of the zero dynamics grows, and none drifts (a multiple pole on the boundary of stability
        with too few eigenvectors, such as a double pole at zero: deviations grow as powers of time).
    message : str
        The result in words.
    """

    wanted: dict[str, float]
    reached: dict[str, float]
    residual: dict[str, float]
    missed: float
    poles: np.ndarray
    zero_dynamics: np.ndarray
    states: tuple[tuple[str, ...], ...]
    is_stable: bool
    message: str


class Linearization(ControlLaw):
    """Common part of both laws: the equations of the design, and a report of the residual."""

    eom: EquationsOfMotion
    controlled: tuple[str, ...]
    _wanted: ca.Function

    def report(self, x: Any, *, t: float = 0.0) -> LinearizationReport:
        """Report the residual accelerations, closed-loop poles and zero dynamics at a state, by name.

        Poles are most meaningful where the loop is at rest, at the reference.

        Parameters
        ----------
        x : array, shape (n_x,)
            State of the plant (on its constraints).
        t : float
            Time [s].

        Returns
        -------
        LinearizationReport
        """
        state = np.asarray(x, dtype=float)
        r = np.zeros(0)
        if self.reference is not None:
            r = np.concatenate([self.reference(t), self.reference.rate(t)])
        wanted = np.array(self._wanted(t, state, r, np.asarray(self.p))).reshape(-1)
        omega, zeta = (np.asarray(self.notes[key]) for key in ("frequency", "damping"))
        places = [self.eom.labels.v.index(item) for item in self.controlled]
        designed = np.concatenate([np.roots([1.0, 2.0 * zeta[k] * omega[k], omega[k] ** 2]) for k in places])
        return _report(self, self.eom, t, state, wanted, designed.astype(complex), places)


def _report(
    law: ControlLaw,
    eom: EquationsOfMotion,
    t: float,
    x: np.ndarray,
    wanted: np.ndarray,
    designed: np.ndarray,
    places: list[int],
) -> LinearizationReport:
    """Compare `wanted` accelerations and `designed` poles with those of the law on the equations."""
    q, v = x[: eom.n_q], x[eom.n_q :]
    u = np.zeros(eom.n_u)
    u[list(eom.labels.u.indices(law.inputs.names))] = law(t, x)
    M, reached = eom.mass_matrix(t, q), eom.v_dot(t, q, v, u)
    off = reached - wanted
    missed = _missed(M, off, wanted - eom.v_dot(t, q, v, np.zeros(eom.n_u)), places)
    model = linearize(eom, x, u, t=t, check=False)
    n = len(model.A)  # the memory of a sampled law is a sign, which moves nothing
    A = close_loop(linearise_law(law, model, what=f"law '{law.name}'", t=t))[:n, :n]
    own, vectors = np.linalg.eig(A)
    values = np.log(own.astype(complex)) / law.period if law.period > 0.0 else own.astype(complex)
    order = np.lexsort((values.imag, -values.real))
    own, values, vectors = own[order], values[order], vectors[:, order]
    left = _others(values, designed)
    names = tuple(_leading(model.x.names, model.A.shape[0], vectors[:, k]) for k in left)
    drift, growth = find_drift(A, own, values, law.period, designed), find_growth(values)
    drifting, growing = ([k for k, at in enumerate(left) if at in group] for group in (drift, growth))
    return LinearizationReport(
        wanted=dict(zip(eom.speeds, wanted.tolist(), strict=True)),
        reached=dict(zip(eom.speeds, reached.tolist(), strict=True)),
        residual=dict(zip(eom.speeds, (M @ off).tolist(), strict=True)),
        missed=missed,
        poles=values,
        zero_dynamics=values[left],
        states=names,
        is_stable=not growing and not drifting,
        message=_message(eom, missed, off, places, values[left], names, growing, drifting),
    )


def _missed(M: np.ndarray, off: np.ndarray, added: np.ndarray, places: list[int]) -> float:
    """Return the missed part of the accelerations over that which inputs have to add, in the metric of their inertia."""
    inertia = np.linalg.inv(np.linalg.inv(M)[np.ix_(places, places)])
    missing, size = (float(a[places] @ inertia @ a[places]) for a in (off, added))
    return float(np.sqrt(max(missing, 0.0) / size)) if size > 0.0 else 0.0


def _others(values: np.ndarray, designed: np.ndarray) -> list[int]:
    """Return the indices of poles that are none of the designed ones, each of which is used once."""
    free, left = list(designed), []
    for k, pole in enumerate(values):
        near = [abs(pole - item) for item in free]
        if near and min(near) < _SAME * max(abs(pole), np.max(np.abs(designed))):
            free.pop(int(np.argmin(near)))
        else:
            left.append(k)
    return left


def _leading(names: tuple[str, ...], n: int, vector: np.ndarray) -> tuple[str, ...]:
    """Return up to two coordinates with the largest motion in a mode."""
    sizes = np.abs(vector[: n // 2])
    order = np.argsort(-sizes, kind="stable")[:2]
    return tuple(names[k] for k in order if sizes[k] > 0.1 * sizes[order[0]])


def _message(
    eom: EquationsOfMotion,
    missed: float,
    off: np.ndarray,
    places: list[int],
    poles: np.ndarray,
    names: tuple[tuple[str, ...], ...],
    growing: list[int],
    drifting: list[int],
) -> str:
    worst = eom.speeds[places[int(np.argmax(np.abs(off[places])))]] if places else ""
    first = (
        "all accelerations of the controlled speeds are achieved"
        if missed < 1e-9
        else f"{100 * missed:.2g} % of the wanted acceleration is not achieved, mostly at '{worst}'"
    )
    if not len(poles):
        return f"{first}; there are no zero dynamics"
    if growing:
        summary = "; ".join(f"{poles[k]:.3g} 1/s, mostly {', '.join(names[k])}" for k in growing[:3])
        return f"{first}; the zero dynamics grow: {summary}"
    if drifting:
        summary = "; ".join(dict.fromkeys(f"{abs(poles[k]):.3g} rad/s, mostly {', '.join(names[k])}" for k in drifting))
        drift = "the zero dynamics drift, deviations grow as powers of time (a multiple pole with too few modes)"
        return f"{first}; {drift}: {summary}"
    return f"{first}; the zero dynamics do not grow: slowest {poles[0]:.3g} 1/s, mostly {', '.join(names[0])}"
