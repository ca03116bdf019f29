"""`Drive`: a joint driven by a motor through an elastic gear, with friction and backlash.

In a system it adds a rotor (a part of the tree with the coordinate ``"<joint>.motor"``) that spins about the joint's
axis on the body that carries the joint, and an element that couples motor and joint. The laws are in `drive_laws`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.expression import TimeExpression
from spacectl.model.bodies.rigid import Rotor
from spacectl.model.description import Number, always, check_name, set_field, set_scalars
from spacectl.model.elements.base import JointElement
from spacectl.model.elements.drive_laws import (
    Friction,
    HardeningSpring,
    Stiction,
    close_gap,
    spring_energy,
    spring_kinks,
    spring_torque,
)
from spacectl.model.joints import AxisJoint, Revolute

__all__ = ["Drive"]


@dataclass(frozen=True, kw_only=True)
class Drive(JointElement):
    """A motor with gear, elasticity, friction and backlash in a revolute or prismatic joint.

    The motor angle g (relative to the body that carries the joint) is a coordinate of its own. With the joint coordinate
    q and the ratio r, the gear deflection is ``d = g / r - q`` at the output, ``d = g - r q`` at the motor. With
    ``tau = k d + k3 d^3 + spring(d) + damping d_dot``, the torques on joint and rotor are ``tau`` and ``-tau / r`` if d
    is measured at the output, ``r tau`` and ``-tau`` if at the motor. The gear housing is the body that carries the
    joint; its inertia includes mass and transverse inertia of the rotor. `rotor_inertia` is about the spin axis only;
    its coupling to the motion of the axis is exact.

    Parameters
    ----------
    joint : str
        A `Revolute` or `Prismatic` joint. Actuators then act on ``"<joint>.motor"``.
    ratio : float
        Motor rate divided by joint rate; not zero, negative if the gear reverses [1, or rad/m].
    rotor_inertia : float
        Inertia of motor and fast gears about the joint's axis, at motor speed [kg m^2], positive.
    stiffness, cubic : float
        k [N m/rad] and k3 [N m/rad^3] at `side` (N/m, N/m^3 at the output of a prismatic joint).
    spring : HardeningSpring or function, optional
        Parallel spring. A function of the deflection uses casadi: ``lambda d: 3.0 * casadi.sinh(d)``.
    damping : float
        Damping of the gear [N m s/rad] at `side`, 0 or more.
    friction, joint_friction : Friction or Stiction, optional
        Friction in the bearings of motor and joint, as functions of their rates.
    backlash : float
        Total width of the dead zone [rad or m] at `side`.
    backlash_smoothing : float
        Width over which the dead zone closes, at `side`; 0 for a sharp one.
    side : {"output", "motor"}
        Where deflection, stiffness, damping and backlash are measured.

    Examples
    --------
    >>> drive = Drive(joint="shoulder", ratio=100.0, rotor_inertia=1e-4, stiffness=1e4, damping=2.0)
    >>> drive.name, drive.motor
    ('shoulder_drive', 'shoulder.motor')
    """

    joint: str
    ratio: float = 1.0
    rotor_inertia: float
    stiffness: float = 0.0
    cubic: float = 0.0
    spring: Any = None
    damping: float = 0.0
    friction: Friction | Stiction | None = None
    joint_friction: Friction | Stiction | None = None
    backlash: float = 0.0
    backlash_smoothing: float = 0.0
    side: str = "output"

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str) or not self.joint:
            raise ModelError(f"Drive: joint is {self.joint!r}, expected the name of a joint")
        if self.name:
            check_name(self.name, "Drive")
        else:
            set_field(self, "name", f"{self.joint}_drive")
        set_scalars(self, self._what, "ratio", "rotor_inertia", "cubic")
        set_scalars(self, self._what, "stiffness", "damping", "backlash", "backlash_smoothing", sign="not negative")
        if self.ratio == 0.0:
            raise ModelError(f"{self._what}: ratio is 0, expected motor rate divided by joint rate")
        if not self.rotor_inertia > 0.0:
            raise ModelError(
                f"{self._what}: rotor_inertia is {self.rotor_inertia:g} kg m^2, expected a positive number; "
                "for an elastic joint without a motor use JointSpring"
            )
        if self.backlash_smoothing and not self.backlash:
            raise ModelError(f"{self._what}: backlash_smoothing without backlash; give the width of the dead zone")
        if self.side not in ("output", "motor"):
            raise ModelError(f"{self._what}: side is {self.side!r}, expected 'output' or 'motor'")
        for key in ("friction", "joint_friction"):
            law = getattr(self, key)
            if law is not None and not isinstance(law, (Friction, Stiction)):
                raise ModelError(
                    f"{self._what}: {key} is {law!r}, expected Friction(coulomb=, viscous=) or Stiction(...)"
                )
        self._check_spring()

    def _check_spring(self) -> None:
        spring = self.spring
        if spring is None:
            if self.stiffness == 0.0 and self.cubic == 0.0:
                raise ModelError(
                    f"{self._what}: stiffness is 0 and there is no spring, so the motor is not coupled to the joint; "
                    "give stiffness=, cubic= or spring="
                )
            return
        if isinstance(spring, HardeningSpring):
            return
        if not callable(spring):
            raise ModelError(
                f"{self._what}: spring is {spring!r}, expected HardeningSpring(...) or a function of the deflection"
            )
        if not isinstance(spring, TimeExpression):
            spring = TimeExpression(lambda s: self.spring(s.t), f"{self._what}: spring")
            set_field(self, "spring", spring)
        low, middle, high = (spring(at)[0] for at in (-1e-3, 0.0, 1e-3))
        if not abs(middle) <= 1e-12 * max(abs(low), abs(high), 1e-300):
            raise ModelError(f"{self._what}: spring gives {middle:g} at zero deflection, expected 0")
        if low > 0.0 or high < 0.0:
            raise ModelError(
                f"{self._what}: spring must have the sign of the deflection (it is the torque on the joint)"
            )

    @property
    def _what(self) -> str:
        return f"drive '{self.name or self.joint}'"

    @property
    def motor(self) -> str:
        """Name of the motor's coordinate, for actuators: ``"<joint>.motor"``."""
        return f"{self.joint}.motor"

    @property
    def rotor_name(self) -> str:
        """Name of the rotor as a body: ``"<joint>_motor"``."""
        return f"{self.joint}_motor"

    def rotor(self, axis: Any) -> tuple[Rotor, Revolute]:
        """Return the rotor and its joint about an axis."""
        joint = Revolute(axis=axis)
        set_field(joint, "name", self.motor)  # a name with a dot, which is reserved
        return Rotor(name=self.rotor_name, axis=axis, spin_inertia=self.rotor_inertia), joint

    def brings(self, parts: tuple[Any, ...]) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Return the rotor, about the axis of the driven joint, on the body that carries the joint."""
        driven = self._driven(parts)
        rotor, joint = self.rotor(driven.joint.axis)
        return ((rotor, {"on": driven.on, "rotation": driven.rotation, "joint": joint}),)

    def _driven(self, parts: tuple[Any, ...]) -> Any:
        """Return the part whose joint has the drive."""
        joints = {part.joint_name: part for part in parts}
        if self.joint not in joints:
            raise ModelError(f"{self._what}: {unknown_name('joint', self.joint, joints)}")
        joint = joints[self.joint].joint
        if not isinstance(joint, AxisJoint) or len(type(joint).speeds) != 1:
            raise ModelError(
                f"{self._what}: joint '{self.joint}' is {type(joint).__name__}; a drive needs a joint with one axis and one "
                "speed, such as Revolute or Prismatic"
            )
        if joint.prescribed is not None:
            raise ModelError(
                f"{self._what}: the motion of joint '{self.joint}' is prescribed; remove the drive or the prescribed motion"
            )
        return joints[self.joint]

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return ((self.joint, ""), (self.motor, ""))

    @property
    def structure(self) -> tuple[Any, ...]:
        spring = self.spring if isinstance(self.spring, TimeExpression) else type(self.spring).__name__
        return (self.side, spring, type(self.friction).__name__, type(self.joint_friction).__name__)

    def numbers(self) -> dict[str, Number]:
        wanted = {
            "ratio": True,
            "stiffness": self.spring is None or self.stiffness != 0.0,
            "cubic": self.cubic != 0.0,
            "damping": True,
            "backlash": self.backlash != 0.0,
            "backlash_smoothing": self.backlash_smoothing != 0.0,
        }
        numbers = {key: always(getattr(self, key)) for key, is_used in wanted.items() if is_used}
        for key in ("spring", "friction", "joint_friction"):
            law = getattr(self, key)
            if law is not None and not isinstance(law, TimeExpression):
                numbers |= {f"{key}.{name}": number for name, number in law.numbers().items()}
        return numbers

    def deflection(self, q: Any, motor: Any, ratio: Any = None) -> Any:
        """Return the twist of the gear at `side` from the coordinates of joint and motor (numbers, arrays, symbols)."""
        r = self.ratio if ratio is None else ratio
        return motor / r - q if self.side == "output" else motor - r * q

    def efforts(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        """Return the efforts on the joint and on the motor."""
        twist, factor = self._spring_deflection(self.deflection(q[0], q[1], n["ratio"]), n)
        rate = factor * self.deflection(v[0], v[1], n["ratio"])
        torque = spring_torque(self.spring, twist, _of(n, "spring")) + n["damping"] * rate
        torque += n.get("stiffness", 0.0) * twist
        if "cubic" in n:
            torque += n["cubic"] * twist**3
        torque = factor * torque
        to_joint, to_motor = (torque, torque / n["ratio"]) if self.side == "output" else (n["ratio"] * torque, torque)
        efforts = [to_joint, -to_motor]
        for k, key in ((0, "joint_friction"), (1, "friction")):
            law = getattr(self, key)
            if law is not None:
                efforts[k] += law.torque(v[k], _of(n, key))
        return efforts

    def kinks(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        """Return the edges of a sharp dead zone and the kinks of the spring."""
        deflection = self.deflection(q[0], q[1], n["ratio"])
        has_gap = "backlash" in n and "backlash_smoothing" not in n
        ends = [deflection - 0.5 * n["backlash"], deflection + 0.5 * n["backlash"]] if has_gap else []
        return ends + spring_kinks(self.spring, self._spring_deflection(deflection, n)[0], _of(n, "spring"))

    def potential(self, q: Sequence[Any], n: Mapping[str, Any]) -> Any:
        twist, _ = self._spring_deflection(self.deflection(q[0], q[1], n["ratio"]), n)
        stored = spring_energy(self.spring, twist, _of(n, "spring")) + 0.5 * n.get("stiffness", 0.0) * twist**2
        return stored + 0.25 * n["cubic"] * twist**4 if "cubic" in n else stored

    def _spring_deflection(self, deflection: Any, n: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the deflection of the spring, and its derivative by the deflection of the gear."""
        if "backlash" not in n:
            return deflection, 1.0
        return close_gap(deflection, n["backlash"], n.get("backlash_smoothing"))


def _of(n: Mapping[str, Any], law: str) -> dict[str, Any]:
    """Return the parameters of one law, without its prefix."""
    return {key[len(law) + 1 :]: value for key, value in n.items() if key.startswith(f"{law}.")}
