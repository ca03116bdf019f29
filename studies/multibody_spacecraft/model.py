"""The spacecraft of Schutte and Udwadia (2010), section 3: 14 redundant coordinates, a tree of 8 speeds, and gravity.

Coordinates are relative to a frame that falls along a circular orbit without turning. In it the Earth's pull is the
difference of two inverse-square forces, which a law applies as forces on the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    BodyForce,
    CircularOrbit,
    Constraint,
    ControlLaw,
    Cylindrical,
    EquationsOfMotion,
    Free,
    Part,
    Position,
    SpringDamper,
    System,
    Velocity,
    form_equations,
    load_system,
    make_law,
)

QUATERNION = ("qw", "qx", "qy", "qz")
AXIS = {"nx": 1.0, "ny": 0.0, "nz": 0.0}  # n1 and n2, Eqs 57 and 58


@dataclass(frozen=True)
class Parameters:
    """Parameters of Schutte and Udwadia (2010), section 3.2; the bodies are in bodies.toml."""

    stiffness: float = 25.0  # [N/m]
    cubic: float = 1.0  # [N/m^3]
    damping: float = 0.2  # [N s/m], of the inertial rate of the vector between the ports
    natural_length: float = 2.0  # [m]
    mu: float = 3.986e14  # [m^3/s^2]
    orbit_radius: float = 6678.1e3  # [m]
    distance: float = 4.0  # [m], of body 2 beyond body 1 at the start
    duration: float = 16293.0  # [s]
    rtol: float = 1e-12  # [1], of the compared runs; drifts are measured at the published tolerances

    @property
    def rate(self) -> float:
        """Rate of the reference orbit [rad/s]."""
        return float(np.sqrt(self.mu / self.orbit_radius**3))

    @property
    def period(self) -> float:
        """Period of the reference orbit [s]."""
        return 2.0 * float(np.pi) / self.rate


def redundant_system(parameters: Parameters, *, axes: str = "body") -> System:
    """Return 14 coordinates and 8 constraints (Eqs 41-44); n x D in body axes, or in inertial ones for comparison."""
    unit = [Constraint(name=f"unit{k}", rule=lambda s, k=k: _length(s, f"body{k}") - 1.0) for k in (1, 2)]
    line = [
        Constraint(name=f"line{k}", rule=lambda s, k=k: _off_line(s, f"body{k}", axes), values=AXIS) for k in (1, 2)
    ]
    bodies = load_system(Path(__file__).with_name("bodies.toml"))
    ports = [Velocity(name=f"port{k}", on=f"body{k}.port") for k in (1, 2)]
    common = _common(parameters)
    return replace(bodies, constraints=(*unit, *line), **{**common, "sensors": (*common["sensors"], *ports)})


def tree_system(parameters: Parameters, *, with_gravity_torque: bool = False) -> System:
    """Return the same bodies as a tree: body 1 moves freely, body 2 slides along and turns about the line; 8 speeds.

    With `with_gravity_torque` it is in a `CircularOrbit`, where gravity also turns each body; the paper omits this.
    """
    first, second = (part.body for part in load_system(Path(__file__).with_name("bodies.toml")).parts)
    parts = (
        Part(first, joint=Free(name="body1")),
        Part(second, on="body1.port", child_at=second.frames[0].at, joint=Cylindrical(name="line", axis="x")),
    )
    common = _common(parameters)
    if with_gravity_torque:
        orbit = CircularOrbit(rate=parameters.rate)
        return System(name="tree in the orbit frame", environment=orbit, parts=parts, elements=common["elements"])
    return System(name="tree", parts=parts, **common)


def slide(parameters: Parameters) -> float:
    """Return the distance of the ports at the start [m]; they lie 1 m inside the centres of mass."""
    return parameters.distance - 2.0


def _common(parameters: Parameters) -> dict[str, Any]:
    """Return spring, positions and forces."""
    spring = SpringDamper(
        name="spring",
        on_a="body1.port",
        on_b="body2.port",
        stiffness=parameters.stiffness,
        cubic=parameters.cubic,
        length=parameters.natural_length,
        inertial_damping=parameters.damping,
    )
    forces = [
        BodyForce(name=f"gravity{k}_{axis}", on=f"body{k}", direction=axis, axes="world")
        for k in (1, 2)
        for axis in "xyz"
    ]
    places = tuple(Position(name=f"place{k}", on=f"body{k}") for k in (1, 2))
    return {"elements": (spring,), "actuators": tuple(forces), "sensors": places}


def _length(s: Any, body: str) -> Any:
    """Return u'u of a body's quaternion."""
    return sum(s[f"{body}.{name}"] ** 2 for name in QUATERNION)


def _off_line(s: Any, body: str, axes: str) -> Any:
    """Return n x D (Eq 43): three rows, two of them independent; in body axes the third is identically zero."""
    D = s.position("body1.port") - s.position("body2.port")
    n = ca.vertcat(*[s.number(name) for name in AXIS])
    R = s.rotation(body)
    return ca.cross(n, R.T @ D) if axes == "body" else ca.cross(R @ n, D)


def gravity_law(eom: EquationsOfMotion, parameters: Parameters, *, kind: str = "difference") -> ControlLaw:
    """Apply gravity at each centre of mass (Schutte and Udwadia, Eq 31).

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of one of the systems; those with port velocities also integrate the vector D (Eq 35) as memory.
    parameters : Parameters
        Parameters of the orbit.
    kind : {"difference", "gradient", "absolute"}
        Exact difference to the reference orbit, its first-order gradient, or the plain law for absolute positions.
    """
    bodies: dict[str, Any] = {f"place{k}": eom.system.part(f"body{k}").body for k in (1, 2)}
    has_ports = any(name.startswith("port1") for name in eom.labels.y.names)

    def rule(s: Any) -> Any:
        centre = parameters.orbit_radius * ca.vertcat(ca.cos(parameters.rate * s.t), ca.sin(parameters.rate * s.t), 0.0)
        pulls = [body.mass * pull(_vector(s, name), centre, parameters, kind) for name, body in bodies.items()]
        u = ca.vertcat(*pulls)
        return (u, _vector(s, "port1") - _vector(s, "port2")) if has_ports else u

    memory = {"D.x": -slide(parameters), "D.y": 0.0, "D.z": 0.0} if has_ports else None
    return make_law(
        rule,
        name=f"gravity, {kind}",
        states=eom.labels.x,
        inputs=eom.labels.u,
        measurements=eom.labels.y,
        memory=memory,
    )


def pull(p: Any, centre: Any, parameters: Parameters, kind: str) -> Any:
    """Return the acceleration by gravity at p; the difference is written (Battin) to avoid cancellation."""
    mu, radius = parameters.mu, parameters.orbit_radius
    if kind == "absolute":
        return -mu * p / ca.sqrt(ca.dot(p, p)) ** 3
    if kind == "gradient":
        return -mu / radius**3 * (p - 3.0 * ca.dot(p, centre) / radius**2 * centre)
    z = ca.dot(p, p + 2.0 * centre) / radius**2
    return -mu / radius**3 * (p - z * (3.0 + 3.0 * z + z * z) / ((1.0 + z) ** 1.5 + (1.0 + z) ** 3) * (centre + p))


def _vector(s: Any, name: str) -> Any:
    return ca.vertcat(*[s[f"{name}.{axis}"] for axis in "xyz"])


def form_redundant(parameters: Parameters, formulation: str = "udwadia_phohomsiri") -> EquationsOfMotion:
    """Form the equations in redundant coordinates."""
    return form_equations(redundant_system(parameters), formulation=formulation)


def start_redundant(eom: EquationsOfMotion, parameters: Parameters, *, absolute: bool = False) -> np.ndarray:
    """Return the state of Schutte and Udwadia, Eqs 51-56, relative to the orbit or absolute."""
    x0 = eom.state(**{"body2.x": parameters.distance})
    if absolute:
        for k in (1, 2):
            x0[eom.states.index(f"body{k}.x")] += parameters.orbit_radius
            x0[eom.states.index(f"body{k}.y_dot")] += parameters.rate * parameters.orbit_radius
    return x0


def start_tree(parameters: Parameters, *, in_orbit_frame: bool = False) -> dict[str, float]:
    """Return the same start for the tree; in the orbit frame, rates are relative to its rotation."""
    start = {"line.slide": slide(parameters)}
    return {**start, "body1.wz": -parameters.rate} if in_orbit_frame else start
