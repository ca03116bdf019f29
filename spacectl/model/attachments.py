"""Attachments of each flexible body of a system, and the directions along which they can load the body.

A joint transmits loads along all directions except its own motion; a motor, a spring or a prescribed motion in the
joint transmits these too. Constraints transmit along the directions in their equations; springs and tethers transmit
forces. Bodies whose shapes depend on their attachments store the result as `interfaces`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.errors import warn
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.interfaces import (
    DIRECTIONS,
    ROOT_INTERFACE,
    Compliance,
    join_interfaces,
    read_interfaces,
)
from spacectl.model.constraints import FrameConstraint
from spacectl.model.elements import JointElement
from spacectl.model.joints import Joint
from spacectl.spatial.backend import skew
from spacectl.spatial.inertia import Placement

if TYPE_CHECKING:
    from spacectl.model.part import Part
    from spacectl.model.system import System

__all__ = ["attach_bodies", "find_compliances", "find_interfaces"]

STIFF = 0.01  #: relative error of a static compliance above which default shapes cause a warning
_NONE = 1e-9  # relative size below which a load counts as zero
_STEP = 1e-6  # step of the differences for the directions of a constraint


def attach_bodies(system: System) -> tuple[Part, ...]:
    """Return the parts, with interfaces set for bodies that take them from the system.

    Existing interfaces do not change: a system derived from another one (a loop opened, a constraint
    released) has the same shapes.
    """
    bodies = [part.body for part in system.parts if isinstance(part.body, FlexibleBody)]
    if not bodies:
        return system.parts
    found = find_interfaces(system)
    parts = tuple(_attached(part, found) for part in system.parts)
    for part in parts:
        _warn_if_stiff(part.body)
    return parts


def _attached(part: Part, found: dict[str, tuple[str, ...]]) -> Part:
    body = part.body
    if not isinstance(body, FlexibleBody):
        return part
    wanted = found[body.name]
    if not body.chooses_shapes:  # given shapes need the root interface only, if they do not vanish there
        is_moving = bool(part.joint.speeds) and len(part.joint.speeds) < 6
        wanted = (
            tuple(item for item in wanted if item.startswith(ROOT_INTERFACE)) if is_moving and _floats(body) else ()
        )
    merged = join_interfaces(read_interfaces((*body.interfaces, *wanted), _frames(body), body.name))
    if merged == body.interfaces:
        return part
    return replace(part, body=body.with_interfaces(merged))


def _floats(body: FlexibleBody) -> bool:
    """Return whether the body's frame floats: displacements or rotations do not vanish at its origin."""
    shapes, points = body.shapes_at(np.zeros(3)), body.material
    if shapes is None:
        return False
    pairs = ((shapes.Phi, points.Phi), (shapes.Psi, points.Psi))
    return any(float(np.max(np.abs(at))) > 1e-6 * float(np.max(np.abs(every), initial=0.0)) for at, every in pairs)


def _warn_if_stiff(body: Any) -> None:
    """Warn if default shapes miss the static compliance at an interface by more than `STIFF`."""
    if not isinstance(body, FlexibleBody) or not body.chooses_shapes or body.basis != "interface":
        return
    wrong = [item for item in body.compliances if abs(item.error) > STIFF]
    if wrong:
        places = ", ".join(f"'{item.place}' {-100.0 * item.error:.2g} %" for item in wrong[:4])
        more = f" and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        warn(
            f"{type(body).__name__} '{body.name}': its static compliance is too low with so few shapes at {places}{more}; "
            f"use {body.shapes_needed} for exact compliance, or pass shapes='modes' to choose the basis yourself"
        )


def find_interfaces(system: System) -> dict[str, tuple[str, ...]]:
    """Return the interfaces of each flexible body, as `FlexibleBody.interfaces` takes them."""
    bodies = {part.name: part.body for part in system.tree if isinstance(part.body, FlexibleBody)}
    found: dict[str, dict[str, set[str]]] = {name: {} for name in bodies}
    for body, frame, point, load in _loads(system, bodies):
        place = ROOT_INTERFACE if frame is None or _is_root(bodies[body], frame) else frame
        found[body].setdefault(place, set()).update(_directions(bodies[body], frame, point, load))
    return {
        name: join_interfaces({place: tuple(k for k in DIRECTIONS if k in held) for place, held in places.items()})
        for name, places in found.items()
    }


def find_compliances(system: System) -> dict[str, tuple[Compliance, ...]]:
    """Return the static compliance of each flexible body at its attachments: exact, and with its shapes.

    Parameters
    ----------
    system : System
        The description.

    Returns
    -------
    dict
        By body; each entry has ``place`` (``"tip.rz"``), ``exact``, ``model`` and the relative ``error``. It is empty for
        bodies whose exact compliance is unknown (`ModalBody`).

    Examples
    --------
    >>> from spacectl import library
    >>> [f"{item.place} {item.error:.3f}" for item in find_compliances(library.flexible_line_arm())["link1"]]
    ['tip.y -0.029', 'tip.rz -0.387']
    """
    found = find_interfaces(system)
    known = [body for body in system.flexible_bodies if type(body).compliances is not FlexibleBody.compliances]
    exact = {body.name: body.with_interfaces(found[body.name]).compliances for body in known}
    return {body.name: exact.get(body.name, ()) for body in system.flexible_bodies}


Load = tuple[str, str | None, np.ndarray, np.ndarray]  # body, frame (None: its own), point, load map (m, 6) there


def _loads(system: System, bodies: dict[str, FlexibleBody]) -> Iterator[Load]:
    """Yield all loads on flexible bodies, as maps of the twists (body axes, at the point) on which they do work."""
    driven = _driven(system)
    for part in system.tree:
        transmitted = _transmitted(part.joint, driven.get(part.joint_name, ()))
        if part.name in bodies:
            R = np.asarray(part.child_rotation)
            yield part.name, None, np.asarray(part.child_at), _turned(transmitted, R)
        yield from _on(bodies, part.on, part.at, part.rotation, transmitted)
    for item in system.constraints:
        if not item.is_natural:
            continue
        if isinstance(item, FrameConstraint):
            rows = _constraint_rows(item)
            motors = driven.get(item.name, ())
            if motors:
                rows = np.vstack([rows, _subspace(item.joint)[:, list(motors)].T])  # type: ignore[attr-defined]
            yield from _on(bodies, item.a, item.at_a, item.rotation_a, rows)
            yield from _on(bodies, item.b, item.at_b, item.rotation_b, rows)
        for kind, name in item.needs:
            yield from _on(bodies, name, np.zeros(3), np.eye(3), _RULES.get(kind, np.zeros((0, 6))))
    for element in system.point_elements:
        n = {key: np.asarray(number.value) for key, number in element.numbers().items()}
        for frame, key in element.points:
            yield from _on(bodies, frame, n[key] if key else np.zeros(3), np.eye(3), _FORCE)


_FORCE = np.hstack([np.zeros((3, 3)), np.eye(3)])
_MOMENT = np.hstack([np.eye(3), np.zeros((3, 3))])
#: Loads that the quantities of a rule transmit
_RULES = {"position": _FORCE, "velocity": _FORCE, "rotation": _MOMENT, "angular_velocity": _MOMENT}


def _on(bodies: dict[str, FlexibleBody], on: str, at: Any, rotation: Any, load: np.ndarray) -> Iterator[Load]:
    """Yield the load on a body at a place given in one of its frames."""
    name, _, frame = on.partition(".")
    if name not in bodies or not len(load):
        return
    origin, R = np.zeros(3), np.eye(3)
    for item in bodies[name].frames:
        if item.name == frame:
            origin, R = np.asarray(item.at), np.asarray(item.rotation)
    yield name, frame or None, origin + R @ np.asarray(at), _turned(load, R @ np.asarray(rotation))


def _turned(load: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return a load map for twists in the axes to which R rotates."""
    return np.hstack([load[:, :3] @ R.T, load[:, 3:] @ R.T])


def _directions(body: FlexibleBody, frame: str | None, point: np.ndarray, load: np.ndarray) -> Iterator[str]:
    """Yield the directions of the slice at the frame along which motion does work against the load."""
    origin = next((np.asarray(item.at) for item in body.frames if item.name == frame), np.zeros(3))
    arm = point - body.interface_point(origin)
    size = max(float(np.linalg.norm(arm)), float(np.max(np.abs(body.material.X))))
    for k, name in enumerate(DIRECTIONS):
        unit = np.eye(3)[k % 3]
        twist = np.concatenate([unit, np.cross(unit, arm)]) if k > 2 else np.concatenate([np.zeros(3), unit])
        work = load @ twist
        if np.max(np.abs(work)) > _NONE * (size if k > 2 else 1.0):
            yield name


def _transmitted(joint: Joint, driven: Iterable[int]) -> np.ndarray:
    """Return the projector (6, 6) of twists onto those that a joint resists: all but its undriven motion."""
    if joint.motion is not None or not joint.speeds:
        return np.eye(6)
    free = [k for k in range(len(joint.speeds)) if k not in set(driven)]
    S = _subspace(joint)[:, free]
    projector = np.eye(6) - S @ np.linalg.pinv(S)
    return np.where(np.abs(projector) > _NONE, projector, 0.0)


def _subspace(joint: Joint) -> np.ndarray:
    n = {key: np.asarray(number.value) for key, number in joint.numbers().items()}
    return np.asarray(joint.subspace(joint.rest(), n), dtype=float).reshape(6, -1)


def _driven(system: System) -> dict[str, set[int]]:
    """Return the speeds of each joint (or closing joint) on which a motor, spring or rule acts."""
    joints: dict[str, Joint] = {part.joint_name: part.joint for part in system.tree}
    joints |= {item.name: item.joint for item in system.constraints if hasattr(item, "joint")}
    ends = [(effort.joint, effort.component) for item in system.actuators for effort in item.joint_efforts]
    ends += [end for item in system.elements if isinstance(item, JointElement) for end in item.ends]
    found: dict[str, set[int]] = {}
    for name, component in ends:
        suffixes = [suffix.lstrip(".") for suffix, _ in joints[name].speeds] if name in joints else []
        places = (
            range(len(suffixes)) if len(suffixes) == 1 else [k for k, key in enumerate(suffixes) if key == component]
        )
        found.setdefault(name, set()).update(places)
    for name, joint in joints.items():
        if any(_is_state_of(name, state) for state in _ruled_states(system)):
            found[name] = set(range(len(joint.speeds)))
    return found


def _ruled_states(system: System) -> set[str]:
    """Return the coordinates and speeds in rules of constraints, whose reactions act in their joints."""
    return {name for item in system.constraints for kind, name in item.needs if kind == "state"}


def _is_state_of(joint: str, state: str) -> bool:
    return state in (joint, f"{joint}_dot") or state.startswith(f"{joint}.")


def _constraint_rows(item: FrameConstraint) -> np.ndarray:
    """Return the Jacobian (m, 6) of the constraint equations by the relative twist of coinciding frames."""
    n = {key: np.asarray(number.value) for key, number in item.numbers().items()}
    columns = []
    if not item.has_position_level:
        here = Placement(np.eye(3), np.zeros(3))
        return np.stack([np.asarray(item.rates(here, twist, n), dtype=float) for twist in np.eye(6)], axis=1)
    for twist in _STEP * np.eye(6):
        moved = (Placement(np.eye(3) + s * skew(twist[:3]), s * twist[3:]) for s in (1.0, -1.0))
        ahead, behind = (np.asarray(item.rows(place, n), dtype=float).reshape(-1) for place in moved)
        columns.append((ahead - behind) / (2.0 * _STEP))
    rows = np.stack(columns, axis=1)
    return np.where(np.abs(rows) > 1e-6, rows, 0.0)


def _frames(body: FlexibleBody) -> list[str]:
    return [frame.name for frame in body.frames]


def _is_root(body: FlexibleBody, frame: str) -> bool:
    """Return whether a frame is at the body's own frame."""
    point = next(body.interface_point(np.asarray(item.at)) for item in body.frames if item.name == frame)
    return float(np.max(np.abs(point))) <= 1e-9 * float(np.max(np.abs(body.material.X)))
