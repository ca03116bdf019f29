"""Descriptions of paths, independent of time.

A path relates coordinates q and the path parameter s by conditions ``g(q, s) = 0`` (Sadigh 1995, Eq 8.12).
`solve_path` computes q(s) with its derivatives, and the planners find the fastest s(t).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.core.expression import NamedExpression
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.paths.curves import Curve, LineCurve

__all__ = ["ImplicitPath", "JointPath", "Path", "SlewPath", "TaskPath"]


@dataclass(frozen=True, kw_only=True)
class Path:
    """Base of the paths.

    Parameters
    ----------
    name : str
        Used in messages and tables.
    at : mapping of str to float
        Guess of the coordinates at the start of the path, which also selects the branch (elbow left or
        right). Coordinates that the path does not move keep these values; those not named have their rest
        values.
    weights : mapping of str to float
        Weights of coordinates if there are more of them than conditions: q' minimises ``sum w q'^2``; default
        1.
    free_floating : bool
        Determine speeds without actuators from zero momentum (a free base in free space).
    """

    name: str = "path"
    at: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    free_floating: bool = False

    def __post_init__(self) -> None:
        for key in ("at", "weights"):
            given = getattr(self, key)
            if not isinstance(given, Mapping):
                raise ModelError(
                    f"path '{self.name}': {key} is {given!r}, expected names and numbers: {{'elbow': 0.5}}"
                )
            numbers = {str(k): as_scalar(v, f"path '{self.name}': {key} of '{k}'") for k, v in given.items()}
            object.__setattr__(self, key, numbers)
        bad = [name for name, value in self.weights.items() if not value > 0.0]
        if bad:
            raise ModelError(f"path '{self.name}': weight of '{bad[0]}' is {self.weights[bad[0]]:g}, expected above 0")

    @property
    def shape(self) -> Curve:
        """The curve with parameter s."""
        raise NotImplementedError

    def conditions(self, q: Any, y: Any, sigma: Any, eom: EquationsOfMotion) -> Any:
        """Return ``G(q, sigma)``, zero on the path, where sigma is the point of `shape` and y the outputs at rest."""
        raise NotImplementedError

    def explicit(self, eom: EquationsOfMotion) -> list[int] | None:
        """Return the indices in q of the curve's values if these are coordinates; None if q must be solved for."""
        return None

    def _require(self, size: int, names: tuple[str, ...], what: str) -> None:
        if size != len(names):
            raise ShapeError(f"path '{self.name}': the curve has {size} dimensions, but {len(names)} {what} are named")


@dataclass(frozen=True, kw_only=True)
class JointPath(Path):
    """A curve in the space of named coordinates.

    Parameters
    ----------
    curve : Curve
        `LineCurve`, `ArcCurve`, `SplineCurve` or `BlendCurve`.
    coordinates : tuple of str
        One name for each dimension of the curve.

    Examples
    --------
    >>> path = JointPath(curve=LineCurve(start=(0.0, 0.0), end=(0.3, 0.4)), coordinates=("shoulder", "elbow"))
    >>> path.shape.length
    0.5
    """

    curve: Curve
    coordinates: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "coordinates", tuple(self.coordinates))
        self._require(self.curve.size, self.coordinates, "coordinates")

    @property
    def shape(self) -> Curve:
        return self.curve

    def conditions(self, q: Any, y: Any, sigma: Any, eom: EquationsOfMotion) -> Any:
        return q[list(eom.labels.q.indices(self.coordinates))] - sigma

    def explicit(self, eom: EquationsOfMotion) -> list[int] | None:
        places = list(eom.labels.q.indices(self.coordinates))
        is_plain = not eom.quaternions and not eom.constraint_rows and not self.free_floating
        return places if is_plain else None


@dataclass(frozen=True, kw_only=True)
class TaskPath(Path):
    """A curve in task space: components of named sensors follow it, and the coordinates are solved for.

    Parameters
    ----------
    curve : Curve
        Curve in the space of the outputs.
    outputs : tuple of str
        One name for each dimension: ``("payload.x", "payload.y", "attitude.s3")``. They may depend on
        coordinates only (`Position`, `Attitude`).
    """

    curve: Curve
    outputs: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "outputs", tuple(self.outputs))
        self._require(self.curve.size, self.outputs, "outputs")

    @property
    def shape(self) -> Curve:
        return self.curve

    def conditions(self, q: Any, y: Any, sigma: Any, eom: EquationsOfMotion) -> Any:
        return y[list(eom.labels.y.indices(self.outputs))] - sigma


@dataclass(frozen=True, kw_only=True)
class ImplicitPath(Path):
    """Conditions ``g(q, s) = 0`` given as a rule (Sadigh 1995, Eq 8.12).

    Parameters
    ----------
    rule : callable
        ``lambda q, s: [q["shoulder"] + q["elbow"] - 1.0, q["hand.x"] - s]``: a list of expressions that
        vanish on the path, of coordinates and position outputs by name, written with casadi functions.
    begin, end : float
        Values of the rule's s at the start and the end. The path parameter of a plan is ``abs(s - begin)``.

    Examples
    --------
    >>> ImplicitPath(rule=lambda q, s: [q["hinge"] - s**2], begin=1.0, end=-1.0).shape.length
    2.0
    """

    rule: Any
    begin: float
    end: float

    def __post_init__(self) -> None:
        super().__post_init__()
        what = f"path '{self.name}': rule"
        for key in ("begin", "end"):
            object.__setattr__(self, key, as_scalar(getattr(self, key), f"path '{self.name}': {key}"))
        if not isinstance(self.rule, NamedExpression):
            if not callable(self.rule):
                raise ModelError(f"{what} is {self.rule!r}, expected a function: lambda q, s: [q['elbow'] - s]")
            given: Callable[[Any, Any], Any] = self.rule
            object.__setattr__(self, "rule", NamedExpression(lambda r: given(r, r.number("s")), what))
        if self.begin == self.end:
            raise ModelError(f"path '{self.name}': begin and end are both {self.begin:g}; a path needs a length")

    @property
    def shape(self) -> Curve:
        return LineCurve(start=(self.begin,), end=(self.end,))

    def conditions(self, q: Any, y: Any, sigma: Any, eom: EquationsOfMotion) -> Any:
        def quantity(kind: str, name: str) -> Any:
            if kind == "number" and name == "s":
                return sigma
            if kind == "state" and name in eom.labels.q:
                return q[eom.labels.q.index(name)]
            if kind == "state" and name in eom.labels.y:
                return y[eom.labels.y.index(name)]
            known = (*eom.coordinates, *eom.labels.y.names)
            raise ModelError(f"path '{self.name}': {unknown_name('coordinate or output', name, known)}")

        return self.rule(quantity)


@dataclass(frozen=True, kw_only=True)
class SlewPath(Path):
    """A rotation about a fixed axis (eigenaxis) of a body on a free or spherical joint; s is the angle [rad].

    Parameters
    ----------
    joint : str
        A `Free` or `Spherical` joint: the quaternion ``"<joint>.qw"`` and so on.
    axis : vector, shape (3,)
        Rotation axis in body axes.
    angle : float
        Total angle [rad], positive.
    begin : vector, shape (4,)
        Initial quaternion, scalar first.
    """

    joint: str
    axis: Any
    angle: float
    begin: Any = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        axis = np.asarray(as_array(self.axis, (3,), f"path '{self.name}': axis"))
        begin = np.asarray(as_array(self.begin, (4,), f"path '{self.name}': begin"))
        angle = as_scalar(self.angle, f"path '{self.name}': angle")
        if not np.linalg.norm(axis) > 0.0 or not np.linalg.norm(begin) > 0.0 or not angle > 0.0:
            raise ModelError(f"path '{self.name}': axis and begin must not be zero, and angle must be positive")
        object.__setattr__(self, "axis", as_array(axis / np.linalg.norm(axis), (3,), "axis"))
        object.__setattr__(self, "begin", as_array(begin / np.linalg.norm(begin), (4,), "begin"))
        object.__setattr__(self, "angle", angle)

    @property
    def shape(self) -> Curve:
        return LineCurve(start=(0.0,), end=(self.angle,))

    def conditions(self, q: Any, y: Any, sigma: Any, eom: EquationsOfMotion) -> Any:
        """Return the vector part of the error quaternion between the attitude and the prescribed rotation."""
        first = next((k for k in eom.quaternions if eom.states[k].rsplit(".", 1)[0] == self.joint), None)
        if first is None:
            known = [eom.states[k].rsplit(".", 1)[0] for k in eom.quaternions]
            raise ModelError(f"path '{self.name}': {unknown_name('joint with a quaternion', self.joint, known)}")
        half = 0.5 * sigma[0]
        turn = ca.vertcat(ca.cos(half), ca.sin(half) * ca.DM(np.asarray(self.axis)))
        target = _product(ca.SX(ca.DM(np.asarray(self.begin))), turn)
        return _product(ca.vertcat(target[0], -target[1:]), q[first : first + 4])[1:]


def _product(a: Any, b: Any) -> Any:
    """Return the product of two quaternions, scalar first."""
    scalar = a[0] * b[0] - ca.dot(a[1:], b[1:])
    return ca.vertcat(scalar, a[0] * b[1:] + b[0] * a[1:] + ca.cross(a[1:], b[1:]))
