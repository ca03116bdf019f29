"""What an actuator does to the bodies: efforts, from which every formulation takes the generalised force.

An effort names the numbers of its actuator (``"direction"``, ``"at"``, ...) and holds none, so that they stay run-time
parameters. `dynamics.tree.actuation` turns it into generalised forces, the native tables and the replay read its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Effort", "JointEffort", "Wrench"]


@dataclass(frozen=True, kw_only=True)
class JointEffort:
    """A generalised force along one speed of a joint, in the tree or closing a loop; positive on the child.

    Parameters
    ----------
    joint : str
        The joint.
    component : str
        For a joint with several speeds, which one: ``"wx"``, ``"angle_dot"``, ... as in the speed's name.
    gain : str
        The actuator's number that multiplies the input (a gear ratio); empty for one.
    """

    joint: str
    component: str = ""
    gain: str = ""


@dataclass(frozen=True, kw_only=True)
class Wrench:
    """A force at a point of a body, or a moment; concentrated, or spread over a flexible body.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    direction : str
        The actuator's number with the direction, shape (3,).
    at : str
        The number with the point, in the axes of the frame; empty for its origin. Not for a moment.
    is_moment : bool
        Whether it is a moment rather than a force.
    is_spread : bool
        Whether it is spread over a flexible body: `Actuator.body_numbers` then gives the integrals ``load``, ....
    axes : {"body", "world"}
        Axes in which the direction is fixed.
    gain : str
        The number that multiplies the input; empty for one.
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
