"""`suppress_vibration`: track a rigid-body maneuver with a flexible system and damp vibration during or after it.

During (Sadigh 1995, section 8.2.3.1): time-varying LQR along the rigid motion, which changes to the steady one at
its end. After (8.2.3.2): the maneuver's inputs unchanged, then the steady LQR about its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca
import numpy as np

from spacectl.controllers.regulators.feedback import law_function
from spacectl.controllers.regulators.lqr import LqrLaw, design_lqr
from spacectl.controllers.regulators.lqr_along import LqrTrajectoryLaw, design_lqr_along
from spacectl.controllers.shaping.rigid_motion import RigidMotion, read_rigid_motion
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.linear.along import linearize_along
from spacectl.linear.linearize import linearize

__all__ = ["VibrationLaw", "suppress_vibration"]


@dataclass(frozen=True, kw_only=True, eq=False)
class VibrationLaw(ControlLaw):
    """A maneuver with vibration suppression.

    Parameters
    ----------
    feedback : LqrTrajectoryLaw or LqrLaw
        The regulator: along the motion (during), or about its end (after).
    maneuver_time : float
        End of the rigid-body maneuver [s].
    breaks : tuple of float
        Times at which inputs jump [s]; give them to ``simulate(..., stops=law.breaks)``.
    reserve : dict of str to float
        Smallest distance of each input of the maneuver from its limits: the margin for feedback. Infinite without
        limits.
    """

    feedback: LqrTrajectoryLaw | LqrLaw
    maneuver_time: float
    breaks: tuple[float, ...]
    reserve: dict[str, float]


def suppress_vibration(
    eom: EquationsOfMotion,
    rigid: EquationsOfMotion,
    motion: Any,
    *,
    R: Any,
    Q: Any = None,
    when: Literal["during", "after"] = "during",
    breaks: Iterable[float] = (),
    rtol: float = 1e-7,
    name: str = "vibration suppression",
) -> VibrationLaw:
    """Track a rigid-body maneuver with a flexible system and damp the vibration by LQR, during the maneuver or after it.

    The flexible equations are linearised about the rigid motion with modal coordinates at rest. It does not satisfy
    their elastic equations; this drift is known, so the law during the maneuver also has the feed-forward that is
    optimal against it. Feedback acts within the remaining limits, see `reserve`: plan with reduced limits to leave a
    margin.

    Parameters
    ----------
    eom : EquationsOfMotion
        The flexible plant.
    rigid : EquationsOfMotion
        Its rigid counterpart, with joints and inputs of the same names.
    motion : Simulation, Plan, or (t, x, u)
        A motion of `rigid` that ends at rest.
    R, Q : as in `design_lqr`
        Weights of inputs and error states of the plant; name modal coordinates to damp them.
    when : {"during", "after"}
        Feedback along the maneuver and beyond, or beyond it only.
    breaks : iterable of float
        Times of a Simulation at which its inputs jump [s]; a Plan knows its own.
    rtol : float
        Of the time-varying gains.
    name : str
        Shown in results and messages.

    Returns
    -------
    VibrationLaw

    References
    ----------
    Sadigh (1995), sections 8.2.3.1 (Eqs 8.26, 8.27) and 8.2.3.2 (Eqs 8.28-8.30). Eq 8.26 has no terminal weight, so
    its gains vanish at the end; here the law continues with the steady gain.
    """
    require_equations(eom, "suppress_vibration")
    what = f"law '{name}'"
    if when not in ("during", "after"):
        raise ModelError(f"{what}: when is {when!r}, expected 'during' or 'after'")
    given = read_rigid_motion(eom, rigid, motion, breaks, what)
    if when == "during":
        feedback: Any = design_lqr_along(_held(eom, given), Q=Q, R=R, rtol=rtol, name=name)
        fields = {key: getattr(feedback, key) for key in ("function", "states", "inputs", "reference")}
        jumps = feedback.breaks
    else:
        feedback = design_lqr(linearize(eom, given.end, given.hold, check=False), Q=Q, R=R, name=name)
        fields, jumps = _switched(eom, feedback, given)
    low, high = eom.limits()
    room = np.min(np.minimum(high - given.u, given.u - low), axis=0)
    reserve = dict(zip(eom.inputs, np.maximum(room, 0.0).tolist(), strict=True))
    notes = {"kind": "vibration suppression", "when": when, "maneuver_time": float(given.t[-1]), "reserve": reserve}
    return VibrationLaw(
        name=name,
        notes=notes,
        feedback=feedback,
        maneuver_time=float(given.t[-1]),
        breaks=jumps,
        reserve=reserve,
        **fields,
    )


def _held(eom: EquationsOfMotion, given: RigidMotion) -> Any:
    """Return the linear model along the motion and a following time of rest, whose steady gain the law retains."""
    end = float(given.t[-1])
    rest = end + 0.05 * (end - float(given.t[0]))
    t = np.concatenate([given.t, [end, rest]])
    x, u = np.vstack([given.x, given.end, given.end]), np.vstack([given.u, given.hold, given.hold])
    x_dot = np.vstack([given.x_dot, np.zeros((2, eom.n_x))])
    return linearize_along(eom, (t, x, u), x_dot=x_dot)


def _switched(eom: EquationsOfMotion, steady: LqrLaw, given: RigidMotion) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Return the maneuver's inputs as a table, and the steady law from its end on."""
    end, m = float(given.t[-1]), eom.n_u
    jumps = np.flatnonzero(np.diff(given.t) == 0.0)
    t = given.t.copy()
    t[jumps] = np.nextafter(t[jumps], -np.inf)
    labels = Labels(tuple(f"u.{item}" for item in eom.inputs), eom.labels.u.units, "reference")
    table = Trajectory(t=t, values=given.u, labels=labels, interpolation="linear")

    def rule(time: Any, x: Any, y: Any, z: Any, r: Any, p: Any) -> tuple[Any, Any]:
        u = steady.function(time, x, y, z, ca.SX(0, 1), p)[0]
        return ca.if_else(time < end, r, u), z

    fields = {
        "function": law_function((len(steady.states), 0, 0, m, len(steady.parameters)), rule, 0.0),
        "states": steady.states,
        "inputs": steady.inputs,
        "parameters": steady.parameters,
        "p": steady.p,
        "reference": table,
    }
    return fields, (*given.t[jumps].tolist(), end)
