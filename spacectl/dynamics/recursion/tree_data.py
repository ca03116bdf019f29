"""A tree as data for the native sweep: flat arrays and one struct, for given parameters p.

The links come from the same `form_links` as those of the unrolled recursion, with numbers instead of symbols.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.links import Link, Links, form_links
from spacectl.dynamics.recursion.steps import RECORD, gravity_index, has_step, joint_record, kind_name, step_kinds
from spacectl.dynamics.tree.actuation import effort_gain, effort_speed
from spacectl.dynamics.tree.kinematics import root_motion
from spacectl.dynamics.tree.nodes import ROOT, Numbers, Tree, numeric_numbers
from spacectl.model.system import System
from spacectl.spatial.inertia import Placement

__all__ = [
    "DATA_ARRAYS",
    "TreeData",
    "TreeStruct",
    "environment_arrays",
    "gravity_number",
    "input_arrays",
    "knows_kinds",
    "member_arrays",
    "serves_tree",
]

_COUNTS = (
    "n_links",
    "n_q",
    "n_v",
    "n_u",
    "n_work",
    "n_joint_inputs",
    "n_body_inputs",
    "n_members",
    "gravity",
    "placements",
)
#: Arrays of a tree as the kernels read them, in the order of their structs
DATA_ARRAYS = (
    "kind",
    "parent",
    "q",
    "v",
    "records",
    "root",
    "joint_input",
    "joint_gain",
    "body_input",
    "body_data",
    "member",
    "member_data",
    "environment",
)
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class TreeStruct(ctypes.Structure):
    """``sc_tree`` of sweep.c."""

    _fields_ = [(name, ctypes.c_longlong) for name in _COUNTS] + [
        (name, ctypes.c_void_p) for name in (*DATA_ARRAYS, "room")
    ]


class TreeData:
    """Arrays behind a `TreeStruct`; they live as long as this object.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray):
        tree = Tree.of(system)
        numbers = numeric_numbers(parameters, p)
        links = form_links(tree, numbers, np.zeros(1))
        frames = [(i, Placement(np.eye(3), np.zeros(3))) for i in range(len(links.items))]
        kinds = {kind.name: i for i, kind in enumerate(step_kinds())}
        self.arrays: dict[str, np.ndarray] = {
            "kind": np.array([kinds[kind_name(link.node.part.joint)] for link in links.items], dtype=np.intc),
            "parent": np.array([link.parent for link in links.items], dtype=np.intc),
            "q": np.array([link.node.q.start for link in links.items], dtype=np.intc),
            "v": np.array([link.node.v.start for link in links.items], dtype=np.intc),
            "records": np.array([_record(link) for link in links.items]).reshape(-1, RECORD),
            **environment_arrays(system, numbers),
            **input_arrays(system, tree, links, numbers, frames),
            **member_arrays(links, frames),
        }
        gravity = gravity_number(system)
        in_world = bool(self.arrays["body_input"].size) and bool(np.any(self.arrays["body_input"][:, 3]))
        placements = gravity >= 0 or in_world
        self.arrays["room"], n_work = _rooms(self.arrays["kind"], len(tree.speeds), placements)
        counts = {
            "n_links": len(links.items),
            "n_q": len(tree.coordinates),
            "n_v": len(tree.speeds),
            "n_u": len(system.actuators),
            "n_work": n_work,
            "n_joint_inputs": len(self.arrays["joint_input"]),
            "n_body_inputs": len(self.arrays["body_input"]),
            "n_members": len(self.arrays["member"]),
            "gravity": gravity,
            "placements": int(placements),
        }
        self.arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        self.struct = TreeStruct(**counts, **{name: array.ctypes.data for name, array in self.arrays.items()})
        self.n_work = n_work


def _record(link: Link) -> np.ndarray:
    """Return the placement, inertia and joint parameters of a link, in the order of `steps.RECORD`."""
    I = np.asarray(link.inertia.I_O)
    upper = [I[i, j] for i, j in _UPPER]
    own = [np.ravel(link.X_PJ.R), link.X_PJ.p, [float(link.inertia.mass)], link.inertia.first, upper]
    entries = np.concatenate([*own, *joint_record(link.node.part.joint, link.n)])
    return np.concatenate([entries, np.zeros(RECORD - entries.size)])


def _rooms(kinds: np.ndarray, n_v: int, placements: bool) -> tuple[np.ndarray, int]:
    """Return the start of each link's share of the work array (after tau), and the total length."""
    sizes = [57 + kind.n_s + 8 * kind.n_v + (12 if placements else 0) for kind in step_kinds()]
    shares = np.array([sizes[kind] for kind in kinds], dtype=np.int64)
    ends = n_v + np.cumsum(shares)
    return (ends - shares).astype(np.int64), int(ends[-1]) if len(ends) else n_v


def environment_arrays(system: System, numbers: Numbers, t: float = 0.0) -> dict[str, np.ndarray]:
    """Return the twist and acceleration of the root at a time, and the environment's parameters."""
    n = numbers.group("environment")
    motion = root_motion(system.environment, t, n, np.zeros(1))
    root = np.concatenate([np.ravel(motion.twist), np.ravel(motion.acceleration)]).astype(float)
    return {"root": root, "environment": np.concatenate([np.zeros(0), *(np.ravel(value) for value in n.values())])}


def serves_tree(system: System) -> bool:
    """Return whether the data-driven kernels support a system: a plain tree of known joints and gravity."""
    return system.is_plain and knows_kinds(system)


def knows_kinds(system: System) -> bool:
    """Return whether all joints and the gravity of a system have generated steps; all actuators are data.

    A joint or environment without one, such as a user's subclass, is evaluated by generated expressions.
    """
    joints = (part.joint for part in system.tree)
    return (
        all(has_step(joint) or not joint.speeds for joint in joints)
        and not any(wrench.is_spread for actuator in system.actuators for wrench in actuator.wrenches)
        and gravity_index(system.environment) is not None
    )


def gravity_number(system: System) -> int:
    """Return the index of the environment's gravity among the generated load steps, or -1.

    Raises
    ------
    ModelError
        If it has no step; a default would silently omit the gravity.
    """
    index = gravity_index(system.environment)
    if index is None:
        raise ModelError(
            f"system '{system.name}': the data-driven kernels do not support the field of "
            f"{type(system.environment).__name__}; use kind='auto' or 'unrolled'"
        )
    return index


def member_arrays(links: Links, frames: list[tuple[int, Placement]]) -> dict[str, np.ndarray]:
    """Return the bodies of the links with their placements and mass properties, for gravity.

    `frames` are, for each link, the index of its carrier and the placement of its frame F in the carrier's
    frame.
    """
    owner, data = [], []
    for link, (carrier, X_F) in zip(links.items, frames, strict=True):
        for X_FB, (mass, com, I_C) in link.members:
            X = X_F @ X_FB
            owner.append(carrier)
            upper = [np.asarray(I_C)[a, b] for a, b in _UPPER]
            data.append(np.concatenate([np.ravel(X.R), X.p, [float(mass)], com, upper]))
    return {"member": np.array(owner, dtype=np.intc), "member_data": np.array(data).reshape(-1, 22)}


def input_arrays(
    system: System, tree: Tree, links: Links, numbers: Numbers, frames: list[tuple[int, Placement]]
) -> dict[str, np.ndarray]:
    """Return arrays of the joint inputs (input, speed) and the body inputs (input, carrier, is torque, in world axes)."""
    joints = {node.part.joint_name: node for node in tree.nodes}
    joint_input: list[tuple[int, int]] = []
    gains: list[float] = []
    body_input: list[tuple[int, int, int, int]] = []
    body_data: list[Any] = []
    for k, actuator in enumerate(system.actuators):
        n = numbers.group(actuator.input_name)
        for effort in actuator.joint_efforts:
            joint_input.append((k, effort_speed(effort, joints)))
            gains.append(float(effort_gain(effort, n)))
        for wrench in actuator.wrenches:
            body, _, frame = wrench.on.partition(".")
            i, X_FB = links.body[tree.index(body)]
            if i == ROOT:
                continue
            carrier, X_F = frames[i]
            X = X_F @ X_FB
            if frame:
                X = X @ Placement(numbers[f"{body}.{frame}.rotation"], numbers[f"{body}.{frame}.at"])
            in_world, along = wrench.axes == "world", wrench.arrow(n)
            at = np.zeros(3) if wrench.is_moment else X.point(n[wrench.at]) if wrench.at else X.p
            body_input.append((k, carrier, int(wrench.is_moment), int(in_world)))
            body_data.append(np.concatenate([at, along if in_world else X.R @ along]))
    return {
        "joint_input": np.array(joint_input, dtype=np.intc).reshape(-1, 2),
        "joint_gain": np.array(gains),
        "body_input": np.array(body_input, dtype=np.intc).reshape(-1, 4),
        "body_data": np.array(body_data).reshape(-1, 6),
    }
