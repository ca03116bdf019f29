"""The error state on which gains act, read from a linear model: the states of a law and their differences.

The labels and the point of a `LinearModel` or `LinearTrajectory` give the names of the plant's states and an
expression ``e = x (-) x_ref`` on the attitude manifold. `linear.models.tangent` has the same for equations of motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.linear_trajectory import LinearTrajectory

__all__ = ["ErrorState", "read_error_state", "read_trim"]


@dataclass(frozen=True, kw_only=True)
class ErrorState:
    """States x of the plant and how their errors are formed.

    Parameters
    ----------
    states : Labels
        States of the plant, quaternions with four entries.
    errors : Labels
        Error states, quaternions with three (``.rx .ry .rz``).
    blocks : tuple of (int, bool)
        For each error (or three errors) the first index in the states and whether it is a quaternion.
    point : array, shape (n_x,)
        State about which the model was linearised.
    kept : tuple of int, optional
        For a constrained system: positions of the independent errors among those of all states.
    basis : array, shape (all errors, errors), optional
        For a constrained system: all errors from the independent ones, to first order.
    """

    states: Labels
    errors: Labels
    blocks: tuple[tuple[int, bool], ...]
    point: np.ndarray
    kept: tuple[int, ...] | None = None
    basis: np.ndarray | None = None

    @property
    def quaternions(self) -> tuple[int, ...]:
        """First index, in the states, of each quaternion."""
        return tuple(at for at, turns in self.blocks if turns)

    def subtract(self, x: Any, reference: Any) -> Any:
        """Return the error state of x relative to a reference as an expression; the reference need not have unit quaternions."""
        every = [item for at, turns in self.blocks for item in _error(x, reference, at, turns)]
        return ca.vertcat(*(every if self.kept is None else [every[k] for k in self.kept]))

    def errors_of(self, x: Any, reference: Any = None) -> np.ndarray:
        """Return the error state, shape (n,), of x relative to a reference (default: the point)."""
        base = self.point if reference is None else np.asarray(reference, dtype=float)
        return np.array(ca.DM(self.subtract(ca.DM(np.asarray(x, dtype=float)), ca.DM(base)))).reshape(-1)


def read_error_state(model: LinearModel | LinearTrajectory, what: str) -> ErrorState:
    """Return states and blocks of a model; a model without a point is its own plant."""
    if isinstance(model, LinearTrajectory):
        point, n_states = np.asarray(model.x_reference)[0], np.shape(model.x_reference)[1]
    else:
        point = np.asarray(model.point.get("x", np.zeros(len(model.x))), dtype=float)
        n_states = point.size
    every = getattr(model, "all_x", None) or model.x
    names, units = every.names, every.units
    count = n_states - len(names)  # a quaternion has one entry more than its error
    n_v = len(names) // 2
    blocks: list[tuple[int, bool]] = []
    found: list[tuple[str, str]] = []
    k = 0
    while k < len(names):
        joint = names[k].removesuffix(".rx")
        turns = count > 0 and k < n_v and names[k : k + 3] == tuple(f"{joint}.r{axis}" for axis in "xyz")
        blocks.append((len(found), turns))
        found += [(f"{joint}.q{axis}", "1") for axis in "wxyz"] if turns else [(names[k], units[k])]
        k += 3 if turns else 1
    if len(found) != n_states:
        raise ModelError(
            f"{what}: the model has {len(names)} states ({', '.join(names[:4])}, ...) but its point has {n_states}; a "
            "reduced model is passed as reduction=, together with the full model"
        )
    states = Labels(tuple(name for name, _ in found), tuple(unit for _, unit in found), "state")
    kept, basis = None, None
    if every is not model.x:
        kept, basis = every.indices(model.x.names), np.asarray(getattr(model, "basis", None))
    return ErrorState(states=states, errors=model.x, blocks=tuple(blocks), point=point, kept=kept, basis=basis)


def read_trim(model: LinearModel, trim: Any, what: str) -> np.ndarray:
    """Return inputs at the point, for the inputs of the model: from `trim`, or from the point where that is unambiguous."""
    if isinstance(trim, dict):
        return model.u.vector(trim)
    if trim is not None:
        values = np.asarray(trim, dtype=float)
        if values.shape != (len(model.u),):
            raise ModelError(f"{what}: trim has shape {values.shape}, expected ({len(model.u)},) or a mapping by input")
        return values
    at_point = np.asarray(model.point.get("u", np.zeros(len(model.u))), dtype=float)
    if not np.any(at_point):
        return np.zeros(len(model.u))
    plant = Labels(tuple(model.point.get("inputs", ())), (), "input")
    others = [k for k, name in enumerate(plant.names) if name not in model.u.names]
    if len(plant) == at_point.size and not np.any(at_point[others]):  # inputs that are not in the model are zero
        return at_point[list(plant.indices(model.u.names))]
    if at_point.size != len(model.u) or others:
        raise ModelError(
            f"{what}: the model has {len(model.u)} of the plant's {at_point.size} inputs, and its point needs inputs "
            f"{at_point.tolist()}; pass those of the model as trim={{'{model.u.names[0]}': ...}} and the others to "
            "simulate as u="
        )
    return at_point.copy()


def _error(x: Any, reference: Any, at: int, turns: bool) -> list[Any]:
    """Return one difference, or the rotation vector ``theta`` with ``R = R_ref exp(theta~)``, smooth at zero."""
    if not turns:
        return [x[at] - reference[at]]
    (a, b, c, d), (w, i, j, k) = ([y[at + n] for n in range(4)] for y in (reference, x))
    scalar = a * w + b * i + c * j + d * k
    parts = (a * i - b * w - c * k + d * j, a * j + b * k - c * w - d * i, a * k - b * j + c * i - d * w)
    square = parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2
    small = square < 1e-12 * scalar**2
    sine = ca.sqrt(ca.if_else(small, 1.0, square))
    size = ca.fabs(scalar)
    # 2 atan(s / c) / s = (2 - 2/3 (s / c)^2) / c + ..., whose next term is below rounding here
    series = (2.0 - 2.0 / 3.0 * square / ca.if_else(small, scalar**2, 1.0)) / ca.if_else(small, size, 1.0)
    factor = ca.if_else(scalar < 0.0, -1.0, 1.0) * ca.if_else(small, series, 2.0 * ca.atan2(sine, size) / sine)
    return [part * factor for part in parts]
