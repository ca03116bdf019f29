"""`absolute_state`: convert a state from joint to absolute coordinates, body by body.

The conversion uses placements of bodies and their rates, and no formulas of joints. Use it to start the same
motion in both kinds of coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.spatial.rotation import quaternion_from_rotation

__all__ = ["absolute_state"]


def absolute_state(
    joint_eom: EquationsOfMotion, absolute_eom: EquationsOfMotion, x: Any, *, t: float = 0.0
) -> np.ndarray:
    """Return the state in absolute coordinates with the same placements and velocities as a state in joint coordinates.

    Parameters
    ----------
    joint_eom : EquationsOfMotion
        Equations in joint coordinates, by any formulation.
    absolute_eom : EquationsOfMotion
        Equations of the same system with ``coordinates="absolute"``.
    x : array, shape (joint_eom.n_x,)
        State in joint coordinates.
    t : float
        Time [s].

    Returns
    -------
    array, shape (absolute_eom.n_x,)

    Raises
    ------
    ModelError
        If the two describe different bodies.
    """
    require_equations(joint_eom, "absolute_state")
    require_equations(absolute_eom, "absolute_state")
    state, n_q = np.asarray(x, dtype=float), joint_eom.n_q
    q, v = state[:n_q], state[n_q:]
    parts = joint_eom.system.tree
    if {part.name for part in parts} != {part.name for part in absolute_eom.system.tree}:
        raise ModelError(
            f"absolute_state: '{joint_eom.system.name}' and '{absolute_eom.system.name}' have different bodies; form both "
            "equations from one system"
        )
    q_dot = joint_eom.call("q_dot", t, q, v)[0].reshape(-1)
    places = joint_eom.placements(t, q)
    rates = (joint_eom.jacobian("placements", "placements", "q", t, q) @ q_dot).reshape(places.shape, order="F")
    given = joint_eom.named(state)
    found = {name: value for name, value in given.items() if name in absolute_eom.states}  # modes, wheels, free bases
    roots = joint_eom.system.environment.root_names
    for part, place, rate in zip(parts, places, rates, strict=True):
        motion = _free_motion(part.name, place, rate)
        is_known = part.on in roots and set(motion) <= set(found)
        if not is_known and f"{part.name}.qw" in absolute_eom.coordinates:
            found.update(motion)
    missing = [name for name in absolute_eom.states if name not in found]
    if missing:
        raise ModelError(
            f"absolute_state: '{missing[0]}' of the second equations is not a state of a free body; form them with "
            "coordinates='absolute'"
        )
    return absolute_eom.state(**found)


def _free_motion(name: str, place: np.ndarray, rate: np.ndarray) -> dict[str, float]:
    """Return coordinates and speeds of a `Free` joint from a placement (rotation by rows, position) and its rate."""
    R, R_dot = place[:9].reshape(3, 3), rate[:9].reshape(3, 3)
    spin = R.T @ R_dot
    omega = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
    quaternion = np.asarray(quaternion_from_rotation(R)).reshape(-1)
    values = {f"{name}.q{letter}": quaternion[k] for k, letter in enumerate("wxyz")}
    for k, letter in enumerate("xyz"):
        values |= {f"{name}.w{letter}": omega[k], f"{name}.{letter}": place[9 + k], f"{name}.{letter}_dot": rate[9 + k]}
    return {key: float(value) for key, value in values.items()}
