"""`floquet`: stability of a periodic motion from the monodromy matrix of its linear model.

`linearize_along` gives the time-varying model of small deviations; over one period T its transition matrix
Phi(T) maps a deviation to that one period later. Eigenvalues of Phi(T) outside the unit circle correspond to
growing deviations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, warn
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.linear.along import linearize_along
from spacectl.linear.models.linear_trajectory import LinearTrajectory
from spacectl.linear.models.scaling import balancing_scale
from spacectl.linear.models.tangent import constraint_manifold

__all__ = ["Floquet", "floquet"]

_CLOSED = 1e-3  # relative difference of A between the ends of a period up to which it counts as periodic
_ACCURATE = 1e-3  # estimated error of multipliers above which a warning is issued
_FEWEST = 9  # times of a motion: half of them must still resolve the motion


@dataclass(frozen=True, kw_only=True, eq=False)
class Floquet:
    """Floquet multipliers of a periodic motion, largest modulus first.

    Parameters
    ----------
    period : float
        T [s].
    multipliers : array, shape (n,), complex
        Eigenvalues of the monodromy matrix.
    exponents : array, shape (n,), complex
        ``log(multipliers) / T`` [1/s]; imaginary parts are known up to multiples of ``2 pi / T``.
    shapes : array, shape (n, n), complex
        Deviations at the start of the period, a row for each multiplier, largest entry 1.
    monodromy : array, shape (n, n)
        ``Phi(T)`` on the error states `x`.
    x : Labels
        Names of the error states; of a constrained system the independent ones.
    accuracy : float
        Estimated error of the multipliers, from the same motion with every second time.
    """

    period: float
    multipliers: np.ndarray
    exponents: np.ndarray
    shapes: np.ndarray
    monodromy: np.ndarray
    x: Labels
    accuracy: float

    def is_stable(self, tolerance: float = 1e-3) -> bool:
        """Return whether no deviation grows exponentially: all multipliers within ``1 + tolerance``.

        Shifts along the motion and along cyclic coordinates have multipliers at 1. These often come in pairs (a
        change of a cyclic speed changes the coordinate linearly in time), and a pair splits by the square root of
        rounding and integration errors; hence the tolerance.
        """
        return bool(np.max(np.abs(self.multipliers), initial=0.0) <= 1.0 + tolerance)


def floquet(
    eom: EquationsOfMotion, motion: Any, *, u: Any = None, breaks: Iterable[float] = (), p: Any = None
) -> Floquet:
    """Compute the Floquet multipliers of a periodic motion: the change of small deviations over one period.

    ``Phi_dot = A(t) Phi``, ``Phi(0) = 1``; multipliers are the eigenvalues of Phi(T). It is sufficient that A(t) is
    periodic: a rolling disc, or a satellite that returns to the same attitude, need not return to its position.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    motion : Simulation, Trajectory of all states, or (t, x, u)
        The motion over one whole period, as in `linearize_along`: some 40 times for each oscillation in it.
    u, breaks, p
        As in `linearize_along`.

    Returns
    -------
    Floquet

    Raises
    ------
    ModelError
        If A differs between the ends of the motion (that is no period), or the motion has fewer than nine times.

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> eom = form_equations(library.pendulum())
    >>> t = np.linspace(0.0, 1.0, 11)
    >>> found = floquet(eom, (t, np.zeros((11, 2)), np.zeros((11, 1))))  # at rest: any period is valid
    >>> found.is_stable()
    True
    """
    require_equations(eom, "floquet")
    model = linearize_along(eom, motion, u=u, breaks=breaks, outputs=(), p=p)
    t, A = np.asarray(model.t), np.asarray(model.A)
    period = float(t[-1] - t[0])
    if t.size < _FEWEST or not period > 0.0:
        raise ModelError(
            f"floquet: the motion has {t.size} times over {period:g} s; give at least {_FEWEST}, over a period"
        )
    scale = balancing_scale(np.max(np.abs(A), axis=0))
    _check_closed(eom, A * scale[None, None, :] / scale[None, :, None], period)
    keep, basis, labels = _allowed(eom, model, p)
    monodromy, coarse = ((item.transition()[-1] @ basis)[keep] for item in (model, _thinned(model)))
    multipliers, shapes = _sorted_eigen(monodromy, scale[keep])
    rough, _ = _sorted_eigen(coarse, scale[keep])
    accuracy = float(np.max(np.abs(np.abs(rough) - np.abs(multipliers)), initial=0.0)) / 15.0  # steps of order 4
    if accuracy > _ACCURATE * max(1.0, float(np.max(np.abs(multipliers), initial=0.0))):
        warn(
            f"floquet: {t.size} times are too few for the motion of system '{eom.system.name}': multipliers are known to "
            f"about {accuracy:.1g}; give more times, such as simulate(..., grid={4 * t.size})"
        )
    with np.errstate(divide="ignore"):
        exponents = np.log(multipliers.astype(complex)) / period
    return Floquet(
        period=period,
        multipliers=multipliers,
        exponents=exponents,
        shapes=shapes,
        monodromy=monodromy,
        x=labels,
        accuracy=accuracy,
    )


def _check_closed(eom: EquationsOfMotion, A: np.ndarray, period: float) -> None:
    size = float(np.max(np.abs(A), initial=1e-300))
    left = np.abs(A[-1] - A[0]) / size
    if np.max(left, initial=0.0) > _CLOSED:
        raise ModelError(
            f"floquet: the linear model of system '{eom.system.name}' does not repeat after {period:g} s: A differs by "
            f"{np.max(left):.2g} of its size between the ends; give the motion over exactly one period"
        )


def _allowed(eom: EquationsOfMotion, model: LinearTrajectory, p: Any) -> tuple[list[int], np.ndarray, Labels]:
    """Return the independent error states (without constraints all), the basis of all states, and labels."""
    if not eom.constraint_rows:
        return list(range(len(model.x))), np.eye(len(model.x)), model.x
    start = np.asarray(model.x_reference)[0]
    on = constraint_manifold(eom, float(model.t[0]), start[: eom.n_q], start[eom.n_q :], p)
    names, units = ([series[k] for k in on.independent] for series in (model.x.names, model.x.units))
    return on.independent, on.basis, Labels(tuple(names), tuple(units), model.x.kind)


def _thinned(model: LinearTrajectory) -> LinearTrajectory:
    """Return the same model with every second time; jumps and the ends of its pieces remain."""
    jumps = np.flatnonzero(np.diff(np.asarray(model.t)) == 0.0)
    ends = zip([0, *(jumps + 1)], [*jumps, len(model.t) - 1], strict=True)
    rows = np.concatenate([np.union1d(np.arange(a, b + 1, 2), [b]) for a, b in ends])
    series = ("t", "A", "B", "C", "D", "E", "drift", "x_reference", "u_reference")
    return replace(model, **{name: np.asarray(getattr(model, name))[rows] for name in series})


def _sorted_eigen(monodromy: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, largest modulus first, and vectors, computed in scaled states."""
    values, vectors = np.linalg.eig(monodromy * scale[None, :] / scale[:, None])
    order = np.argsort(-np.abs(values), kind="stable")
    shapes = (scale[:, None] * vectors[:, order]).T
    return values[order], shapes / shapes[np.arange(len(shapes)), np.argmax(np.abs(shapes), axis=1)][:, None]
