"""`rigid_counterpart`: a system with every flexible body frozen in its undeformed shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.system import System

__all__ = ["rigid_counterpart"]


def rigid_counterpart(system: System) -> System:
    """Return the rigid system (S-bar of Sadigh 1995, section 8.2.1): flexible bodies become rigid, with mass and frames.

    ``m = sum m_i``, ``c = sum m_i X_i / m``, ``I_C = sum m_i ((r'r) 1 - r r') + J_i`` with ``r = X_i - c``
    over the material points. Joints, actuators, sensors and constraints do not change, so that coordinates
    except modal ones have the same names. Drives and springs remain elastic.

    Parameters
    ----------
    system : System
        With or without flexible bodies.

    Raises
    ------
    ModelError
        If an actuator distributes its load over a flexible body, which a rigid body does not support.

    Examples
    --------
    >>> from spacectl import library
    >>> {type(part.body).__name__ for part in rigid_counterpart(library.flexible_line_arm()).parts}
    {'RigidBody'}
    """
    flexible = {part.name for part in system.parts if isinstance(part.body, FlexibleBody)}
    for actuator in system.actuators:
        if any(item.is_spread and item.on.partition(".")[0] in flexible for item in actuator.wrenches):
            raise ModelError(
                f"actuator '{actuator.input_name}': its load is distributed over a flexible body, which has no rigid form; "
                "use BodyForce or BodyTorque"
            )
    parts = tuple(
        replace(part, body=_frozen(part.body)) if isinstance(part.body, FlexibleBody) else part for part in system.parts
    )
    return replace(system, name=f"{system.name}, rigid", parts=parts)


def _frozen(body: Any) -> RigidBody:
    points = body.material
    mass = float(np.sum(points.mass))
    com = points.mass @ points.X / mass
    r = points.X - com
    spread = np.sum(r * r, axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
    inertia = np.einsum("n,nij->ij", points.mass, spread) + np.sum(points.rotary, axis=0)
    return RigidBody(name=body.name, mass=mass, com=tuple(com), inertia=inertia, frames=body.frames)
