"""`SpringDamper`: a spring and damper between two points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, always, check_name, set_field, unless_trivial
from spacectl.model.elements.point import PointElement, length_over_time
from spacectl.spatial.backend import cross, dot

__all__ = ["SpringDamper", "one_sided", "one_sided_kinks"]


@dataclass(frozen=True, kw_only=True)
class SpringDamper(PointElement):
    """Spring and damper between two points.

    With the vector r from a to b and the stretch ``s = |r| - length``, the tension is ``T = k s + k3 s^3 + d s_dot``;
    beyond its stops a stiff spring is added. With `tension_only` it is a string: no force while s < 0, and never a
    negative tension. `inertial_damping` D adds the force ``-D r_dot`` on b (and the opposite on a) with the inertial
    rate of the vector r: it damps rotation as well as stretch, and does not conserve angular momentum.

    Parameters
    ----------
    on_a, on_b : str
        Carriers of its ends: ``"world"``, a body or ``"body.frame"``.
    at_a, at_b : vector, shape (3,)
        End points in the axes of these frames [m].
    stiffness, cubic : float
        k [N/m], 0 or more, and k3 [N/m^3].
    length : float or function of time
        Natural length [m], 0 or more; a function is written ``lambda s: 10.0 - 0.1 * s.t``.
    damping : float
        d along the line [N s/m], 0 or more.
    inertial_damping : float
        D [N s/m], 0 or more.
    tension_only : bool
        Whether it can only pull.
    shortest, longest : float, optional
        Stops: distances [m] beyond which `stop_stiffness` acts.
    stop_stiffness : float
        Stiffness of the stops [N/m].

    References
    ----------
    A. Schutte, F. Udwadia, New Approach to the Modeling of Complex Multibody Dynamical Systems, 2010, Eqs 32-37
    (damping by the inertial rate of the vector between the points).

    Examples
    --------
    >>> SpringDamper(name="strut", on_a="base", on_b="mast.tip", stiffness=100.0, length=2.0).length
    2.0
    """

    on_a: str
    on_b: str
    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    cubic: float = 0.0
    length: Any = 0.0
    damping: float = 0.0
    inertial_damping: float = 0.0
    tension_only: bool = False
    shortest: float | None = None
    longest: float | None = None
    stop_stiffness: float = 0.0

    def __post_init__(self) -> None:
        check_name(self.name, "SpringDamper")
        what = f"spring '{self.name}'"
        for key in ("at_a", "at_b"):
            set_field(self, key, as_array(getattr(self, key), (3,), f"{what}: {key}"))
        for key in ("stiffness", "cubic", "damping", "inertial_damping", "stop_stiffness"):
            set_field(self, key, as_scalar(getattr(self, key), f"{what}: {key}"))
            if key != "cubic" and getattr(self, key) < 0.0:
                raise ModelError(f"{what}: {key} is {getattr(self, key):g}, expected 0 or more; it would add energy")
        set_field(self, "length", length_over_time(self.length, what, may_vanish=True))
        for key in ("shortest", "longest"):
            if getattr(self, key) is not None:
                set_field(self, key, as_scalar(getattr(self, key), f"{what}: {key}"))
        if self.length == 0.0 and (self.damping or self.tension_only):
            raise ModelError(
                f"{what}: with length 0 its direction is undefined where the points coincide; use inertial_damping for "
                "damping, and no tension_only"
            )
        has_stops = self.shortest is not None or self.longest is not None
        if has_stops != (self.stop_stiffness > 0.0):
            raise ModelError(f"{what}: stops need shortest or longest and a positive stop_stiffness; give both or none")
        if self.shortest is not None and self.longest is not None and not self.shortest < self.longest:
            raise ModelError(f"{what}: shortest is {self.shortest:g} m, expected less than longest, {self.longest:g} m")

    @property
    def is_objective(self) -> bool:
        return True

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        return ((self.on_a, "at_a"), (self.on_b, "at_b"))

    @property
    def structure(self) -> tuple[Any, ...]:
        return (self.length if isinstance(self.length, TimeExpression) else self.length == 0.0, self.tension_only)

    def numbers(self) -> dict[str, Number]:
        optional = ("cubic", "damping", "inertial_damping", "stop_stiffness", "shortest", "longest")
        kept = {key: always(getattr(self, key)) for key in optional if getattr(self, key)}
        if not isinstance(self.length, TimeExpression) and self.length > 0.0:
            kept["length"] = always(self.length)
        ends = {key: unless_trivial(getattr(self, key)) for key in ("at_a", "at_b")}
        return {**ends, "stiffness": always(self.stiffness), **kept}

    def forces(self, p: Sequence[Any], v: Sequence[Any], rate: Any | None, t: Any, n: Mapping[str, Any]) -> list[Any]:
        r, r_dot = p[1] - p[0], v[1] - v[0]
        if self._is_pointlike:  # no direction needed, so the points may coincide
            pull = (n["stiffness"] + n.get("cubic", 0.0) * dot(r, r)) * r
        else:
            pull = self.tensions(p, v, t, n)[0] / ca.sqrt(dot(r, r)) * r
        if "inertial_damping" in n:
            pull = pull + n["inertial_damping"] * (r_dot if rate is None else r_dot + cross(rate, r))
        return [pull, -pull]

    @property
    def _is_pointlike(self) -> bool:
        return self.length == 0.0 and not self.stop_stiffness

    def tensions(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return the tension along the line [N], without the inertial damping."""
        distance, stretch, pull = self._pull(p, v, t, n)
        if self.tension_only:
            pull = one_sided(stretch, pull)
        for beyond in self._beyond_stops(distance, n):
            pull = pull + n["stop_stiffness"] * beyond
        return [pull]

    def _pull(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return the distance of the points, the stretch, and the two-sided force of spring and damper."""
        r, r_dot = p[1] - p[0], v[1] - v[0]
        distance = ca.sqrt(dot(r, r))
        length, length_dot = self._length(t, n)
        stretch = distance - length
        pull = n["stiffness"] * stretch + n.get("cubic", 0.0) * stretch**3
        if "damping" in n:
            pull = pull + n["damping"] * (dot(r, r_dot) / distance - length_dot)
        return distance, stretch, pull

    def kinks(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return switches at the stops, and for a string where it becomes taut or its damper would push."""
        distance, stretch, pull = self._pull(p, v, t, n)
        own = one_sided_kinks(stretch, pull, "damping" in n) if self.tension_only else []
        return own + [distance - n[key] for key in ("shortest", "longest") if key in n]

    def strains(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        r, (length, _) = p[1] - p[0], self._length(t, n)
        return [ca.sqrt(dot(r, r)) / length - 1.0]

    def potential(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> Any:
        r = p[1] - p[0]
        square = dot(r, r)
        if self._is_pointlike:
            return 0.5 * n["stiffness"] * square + 0.25 * n.get("cubic", 0.0) * square**2
        distance = ca.sqrt(square)
        stretch = distance - self._length(t, n)[0]
        if self.tension_only:
            stretch = ca.fmax(stretch, 0.0)
        stored = 0.5 * n["stiffness"] * stretch**2 + 0.25 * n.get("cubic", 0.0) * stretch**4
        for beyond in self._beyond_stops(distance, n):
            stored = stored + 0.5 * n["stop_stiffness"] * beyond**2
        return stored

    def _length(self, t: Any, n: Mapping[str, Any]) -> tuple[Any, Any]:
        if isinstance(self.length, TimeExpression):
            return self.length(t)[:2]
        return n.get("length", 0.0), 0.0

    def _beyond_stops(self, distance: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return the signed distance beyond each stop, 0 between them."""
        short = [ca.fmin(distance - n["shortest"], 0.0)] if "shortest" in n else []
        return short + ([ca.fmax(distance - n["longest"], 0.0)] if "longest" in n else [])


def one_sided(stretch: Any, pull: Any) -> Any:
    """Return the tension of a string: zero while it is slack, never negative."""
    return ca.if_else(stretch > 0.0, ca.fmax(pull, 0.0), 0.0)


def one_sided_kinks(stretch: Any, pull: Any, is_damped: bool) -> list[Any]:
    """Return where `one_sided` switches; a damper counts only while the string is taut."""
    return [stretch, ca.if_else(stretch > 0.0, pull, 0.0)] if is_damped else [stretch]
