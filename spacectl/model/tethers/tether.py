"""`Tether`: a straight line of given or controlled length, with or without mass.

In a system it adds a swivel, the deployed line (a body named after the tether, whose frame is at the far end), the
stored line, and the force of the mass flow at the drum. `ElasticTether` is the tether that stretches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.model.description import direction, rotation_matrix, set_field
from spacectl.model.joints import Fixed, Joint, Universal
from spacectl.model.tethers.line import LineRod, LineSwivel, Reel
from spacectl.model.tethers.line_element import LineElement
from spacectl.spatial.backend import dot

__all__ = ["Tether"]


@dataclass(frozen=True, kw_only=True)
class Tether(LineElement):
    """A straight line with parts attached to its end, ``Part(satellite, on="<name>", joint=Spherical())``.

    Its deployed length is constant, a function of time (prescribed by an ideal reel), or, with `is_reeled`, a coordinate
    ``"<name>.length"`` moved by ``JointForce(joint="<name>.length")``: the input is -T(0), minus the tension just outside
    the drum. A line with mass is a rod of length L whose elements move with ``v = v_drum + L_dot e + s e_dot``. It stays
    straight even in compression: check that its tension (`find_tension`) stays positive, or use `ElasticTether`.

    Parameters
    ----------
    axis : unit vector or "x", ...
        Direction of the line in the joint's frame at zero angles.
    joint : Joint
        Rotational joint on the mother; its coordinates are named after the tether. Default: in the orbital plane (about
        z), then out of it (about y).
    rotation : matrix or quaternion, optional
        Rotation of the joint frame on the mother.
    is_reeled : bool
        Whether the length is a coordinate, equal to `length` at the reference position.

    References
    ----------
    Sadigh 1995, section 6.3 (massless, prescribed length).

    Examples
    --------
    >>> line = Tether(name="line", on="orbiter", length=lambda s: 100.0 + 0.5 * s.t)
    >>> line.start, line.changes
    (100.0, True)
    """

    axis: Any = "x"
    joint: Joint = field(default_factory=lambda: Universal(first="z", second="y"))
    rotation: Any = None
    is_reeled: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        set_field(self, "rotation", rotation_matrix(self.rotation, f"{self._what}: rotation"))
        if not isinstance(self.joint, Joint) or isinstance(self.joint, Fixed):
            raise ModelError(f"{self._what}: joint is {self.joint!r}, expected a rotational joint such as Universal()")
        units = {unit for _, unit in self.joint.speeds}
        if units != {"rad/s"}:
            raise ModelError(f"{self._what}: its joint is {type(self.joint).__name__}, expected one that only rotates")
        if self.is_reeled and self.profile is not None:
            raise ModelError(
                f"{self._what}: its length is a function of time and is_reeled is set; give one of the two"
            )

    @property
    def changes(self) -> bool:
        return self.is_reeled or self.profile is not None

    @property
    def length_joint(self) -> str:
        return f"{self.name}.length" if self.is_reeled else ""

    @property
    def tension_axis(self) -> Any:
        return self.axis

    @property
    def drawn(self) -> tuple[tuple[str, Any], ...]:
        return (self.on, self.at), (self.name, (0.0, 0.0, 0.0))

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        return ((f"{self.name}_swivel", ""), (self.name, "")) if self.density and self.changes else ()

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        swivel = LineSwivel(name=f"{self.name}_swivel", line=self.name)
        turning = self.joint if self.joint.name else replace(self.joint, name=self.name)
        reel = Reel(axis=self.axis, prescribed=self.profile, start=self.start, is_fixed=not self.changes)
        set_field(reel, "name", f"{self.name}.length")  # a name with a dot, which is reserved
        placed = {"on": self.on, "at": self.at, "rotation": self.rotation, "joint": turning}
        rod = (LineRod(name=self.name, line=self.name), {"on": swivel.name, "joint": reel})
        return ((swivel, placed), rod, *self._spool_part)

    def forces(self, p: Sequence[Any], v: Sequence[Any], rate: Any | None, t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return ``-density L_dot^2`` along the line on the mother: the momentum rate of the mass flow."""
        r = p[1] - p[0]
        e = r / ca.sqrt(dot(r, r))
        return [-n["density"] * dot(v[1] - v[0], e) ** 2 * e, 0.0 * e]
