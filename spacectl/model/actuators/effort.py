"""Efforts of actuators on joints and bodies, from which every formulation derives the generalised force.

An effort refers to parameters of its actuator by key (``"direction"``, ``"at"``, ...), so that they stay run-time
parameters. `dynamics.tree.actuation` converts it to generalised forces; native tables and replay read its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Effort", "JointEffort", "Wrench"]


@dataclass(frozen=True, kw_only=True)
class JointEffort:
    """A generalised force along one speed of a joint of the tree or of a closed loop; positive on the child.

    Parameters
    ----------
    joint : str
        Name of the joint.
    component : str
        Speed of a joint with several speeds, by its suffix: ``"wx"``, ``"angle_dot"``, ...
    gain : str
        Key of the actuator's parameter that multiplies the input (a gear ratio); empty for 1.
    """

    joint: str
    component: str = ""
    gain: str = ""


@dataclass(frozen=True, kw_only=True)
class Wrench:
    """A force at a point of a body, or a moment; concentrated, or distributed over a flexible body.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    direction : str
        Key of the actuator's parameter with the direction, shape (3,).
    at : str
        Key of the point in the axes of the frame; empty for its origin. Not for a moment.
    is_moment : bool
        Whether it is a moment rather than a force.
    is_spread : bool
        Whether it is distributed over a flexible body: `Actuator.body_numbers` then returns the integrals ``load``, ....
    axes : {"body", "world"}
        Axes in which the direction is fixed.
    gain : str
        Key of the parameter that multiplies the input; empty for 1.
    """

    on: str
    direction: str = "direction"
    at: str = ""
    is_moment: bool = False
    is_spread: bool = False
    axes: str = "body"
    gain: str = ""

    def arrow(self, n: Mapping[str, Any]) -> Any:
        """Return direction times gain, shape (3,), from the actuator's parameters."""
        return n[self.direction] * n[self.gain] if self.gain else n[self.direction]


Effort = JointEffort | Wrench
