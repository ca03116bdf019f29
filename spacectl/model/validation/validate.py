"""Checks of a whole system: names, parents, cycles, actuators, sensors. Errors name the part and a remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.model.actuators import Actuator, JointEffort, JointForce, JointTorque, Wrench
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.constraints import AnyConstraint
from spacectl.model.elements import Element, JointElement, PointElement
from spacectl.model.elements.drive import Drive
from spacectl.model.environment import Environment
from spacectl.model.joints import Joint

if TYPE_CHECKING:
    from spacectl.model.part import Part
    from spacectl.model.system import System

__all__ = ["check_attachments", "find_component", "order_parts", "validate_system"]


def validate_system(system: System) -> None:
    """Raise `ModelError` for the first error in the description of a system."""
    if not isinstance(system.environment, Environment):
        raise ModelError(
            f"system '{system.name}': environment is {system.environment!r}, expected FreeSpace(), UniformGravity(), ..."
        )
    if not system.parts:
        raise ModelError(f"system '{system.name}': no parts; give at least one Part(RigidBody(...))")
    _check_one_drive_each(system.elements)
    _check_carriers(system)
    tree = system.tree  # orders the parts; raises for unknown parents and cycles
    _unique((part.joint_name for part in tree), "joint")
    _unique_states(tree)
    _unique((actuator.input_name for actuator in system.actuators), "input")
    _unique((sensor.name for sensor in system.sensors), "sensor")
    _unique((element.name for element in system.elements), "element")
    frames = _frames(system)
    for part in tree:
        _known_frame(part.on, frames, f"part '{part.name}': on")
    drives = {item.joint: item for item in system.elements if isinstance(item, Drive)}
    loops = {item.name: item for item in system.constraints if item.closing_joint is not None}
    for actuator in system.actuators:
        _check_actuator(actuator, tree, frames, loops)
        for joint in (effort.joint for effort in actuator.joint_efforts if effort.joint in drives):
            raise ModelError(
                f"actuator '{actuator.input_name}': joint '{joint}' has a drive; command its "
                f"motor: JointTorque(joint='{drives[joint].motor}')"
            )
    for element in system.elements:
        if isinstance(element, JointElement):
            _check_element(element, tree)
        elif isinstance(element, PointElement):
            _check_points(element, frames)
    _unique((constraint.name for constraint in system.constraints), "constraint")
    for constraint in system.constraints:
        _check_constraint(constraint, system, frames)
    for sensor in system.sensors:
        for key in ("on", "seen_from", "axes"):
            _known_frame(getattr(sensor, key), frames, f"sensor '{sensor.name}': {key}")


def check_attachments(system: System) -> None:
    """Raise `ModelError` for shapes that do not vanish at the body's joint, and for parameters of equal name."""
    for part in system.tree:
        _check_attachment(part)
    system.numbers()


def order_parts(parts: tuple[Part, ...], root_names: tuple[str, ...]) -> tuple[Part, ...]:
    """Order parts with every parent before its children, otherwise as given."""
    _unique((part.name for part in parts), "body")
    placed: dict[str, Part] = {}
    waiting = list(parts)
    while waiting:
        later = []
        for part in waiting:
            if part.on in root_names or _parent(part) in placed:
                placed[part.name] = part
            else:
                later.append(part)
        if len(later) == len(waiting):
            _explain_disorder(waiting, root_names, [part.name for part in parts])
        waiting = later
    return tuple(placed.values())


def _explain_disorder(waiting: list[Part], root_names: tuple[str, ...], bodies: list[str]) -> NoReturn:
    for part in waiting:
        if _parent(part) in root_names:
            raise ModelError(
                f"part '{part.name}': on is '{part.on}', but the root has no frames; "
                f"write on='{_parent(part)}' and give the placement by at=... and rotation=..."
            )
        if _parent(part) not in bodies:
            wrong = unknown_name("body", _parent(part), [*root_names, *sorted(bodies)])
            raise ModelError(f"part '{part.name}': on names an {wrong}")
    chain = " -> ".join(_cycle(waiting))
    raise ModelError(f"parts form a cycle: {chain}; attach one of them to 'world' (constraints close loops)")


def _check_one_drive_each(elements: tuple[Element, ...]) -> None:
    driven: dict[str, str] = {}
    for item in elements:
        if isinstance(item, Drive):
            if item.joint in driven:
                raise ModelError(
                    f"joint '{item.joint}' has two drives, '{driven[item.joint]}' and '{item.name}'; remove one of them"
                )
            driven[item.joint] = item.name


def find_component(what: str, component: str, part: Any) -> tuple[int | None, int]:
    """Return indices among the joint's coordinates and speeds; None for a speed that is no coordinate's rate."""
    suffixes = [suffix for suffix, _ in part.joint.speeds]
    wanted = f".{component}" if component else ""
    if len(suffixes) == 1 and not component:
        speed = 0
    elif wanted and wanted in suffixes:
        speed = suffixes.index(wanted)
    else:
        choices = ", ".join(suffix.lstrip(".") for suffix in suffixes)
        several = f"several speeds; set component to one of {choices}"
        cure = several if len(suffixes) > 1 else "one speed; omit component"
        raise ModelError(f"{what}: joint '{getattr(part, 'joint_name', part.name)}' has {cure}")
    coordinates = [f"{suffix}_dot" for suffix, _ in part.joint.coordinates]
    return (coordinates.index(suffixes[speed]) if suffixes[speed] in coordinates else None), speed


def _unique_states(tree: tuple[Part, ...]) -> None:
    """Raise `ModelError` if two coordinates or speeds share a name: 'j_dot' is the speed of joint 'j'."""
    owners: dict[str, str] = {}
    for part in tree:
        for name in _states(part):
            if name in owners:
                raise ModelError(
                    f"joints '{owners[name]}' and '{part.joint_name}' both have a coordinate or speed called '{name}'; "
                    "rename one of them"
                )
            owners[name] = part.joint_name


def _check_actuator(actuator: Actuator, tree: tuple[Part, ...], frames: set[str], loops: dict[str, Any]) -> None:
    what, known = f"actuator '{actuator.input_name}'", actuator.numbers()
    joints: dict[str, Joint] = {part.joint_name: part.joint for part in tree} | {k: v.joint for k, v in loops.items()}
    efforts = actuator.efforts()
    if not isinstance(efforts, tuple) or not all(isinstance(item, (JointEffort, Wrench)) for item in efforts):
        raise ModelError(f"{what}: efforts() returns {efforts!r}, expected a tuple of JointEffort and Wrench")
    for effort in efforts:
        own = effort.gain if isinstance(effort, JointEffort) else (effort.gain, effort.direction, effort.at)
        for name in (own,) if isinstance(own, str) else own:
            if name and name not in known:
                raise ModelError(f"{what}: an effort uses an {unknown_name('parameter', name, sorted(known))}")
        if not isinstance(effort, JointEffort):
            _known_frame(effort.on, frames, f"{what}: on")
            if effort.on in ("world", "orbit"):
                raise ModelError(f"{what}: it acts on '{effort.on}', which does not move; name a body")
            continue
        if effort.joint not in joints:
            raise ModelError(f"{what}: {unknown_name('joint', effort.joint, joints)}")
        if joints[effort.joint].is_fixed:
            raise ModelError(f"{what}: joint '{effort.joint}' is fixed; use a joint that moves")
        owner: Any = loops.get(effort.joint) or next(part for part in tree if part.joint_name == effort.joint)
        unit = owner.joint.speeds[find_component(what, effort.component, owner)[1]][1]
        if isinstance(actuator, JointTorque) and (unit == "rad/s") == isinstance(actuator, JointForce):
            other = "JointTorque" if unit == "rad/s" else "JointForce"
            raise ModelError(f"{what}: that speed of joint '{effort.joint}' is in {unit}; use {other}")


def _check_element(element: JointElement, tree: tuple[Part, ...]) -> None:
    what = f"element '{element.name}'"
    joints = {part.joint_name: part for part in tree}
    for joint, component in element.ends:
        if joint not in joints:
            raise ModelError(f"{what}: {unknown_name('joint', joint, joints)}")
        if joints[joint].joint.is_fixed:
            raise ModelError(f"{what}: joint '{joint}' is fixed; use a joint that moves")
        coordinate, _ = find_component(what, component, joints[joint])
        if coordinate is None and getattr(element, "has_spring", True):
            raise ModelError(
                f"{what}: '{component}' of joint '{joint}' is not the rate of a coordinate (quaternion); it can only be damped"
            )


def _check_carriers(system: System) -> None:
    """Raise `ModelError` if a tether is attached to an unknown frame, before the parts are ordered."""
    brought = [(element, element.parts()) for element in system.point_elements]
    bodies = [part.body for part in system.parts] + [body for _, parts in brought for body, _ in parts]
    frames = [f"{body.name}.{frame.name}" for body in bodies for frame in body.frames]
    known = [*system.environment.root_names, *sorted([*(body.name for body in bodies), *frames])]
    for element, parts in brought:
        for _, place in parts:
            if place["on"] not in known:
                raise ModelError(f"tether '{element.name}': on names an {unknown_name('frame', place['on'], known)}")


def _check_points(element: PointElement, frames: set[str]) -> None:
    """Raise `ModelError` if the element ends on an unknown frame, or both ends coincide."""
    what = f"element '{element.name}'"
    for frame, _ in element.points:
        if not isinstance(frame, str) or frame not in frames:
            raise ModelError(f"{what}: it ends on an {unknown_name('frame', frame, sorted(frames))}")
    places = [(frame, getattr(element, key, None)) for frame, key in element.points]
    if len(places) == 2 and places[0] == places[1]:
        raise ModelError(f"{what}: both its ends are at the same point of '{places[0][0]}'; move one of them")


def _check_constraint(constraint: AnyConstraint, system: System, frames: set[str]) -> None:
    what = f"constraint '{constraint.name}'"
    for end, on in zip("ab", constraint.ends or (), strict=False):
        _known_frame(on, frames, f"{what}: {end}")
    states = {name for part in system.tree for name in _states(part)}
    for kind, name in constraint.needs:
        if kind == "state" and name not in states:
            raise ModelError(f"{what}: {unknown_name('coordinate or speed', name, sorted(states))}")
        if kind in ("position", "velocity", "angular_velocity", "rotation"):
            _known_frame(name, frames, f"{what}: {kind}")
    if len(constraint.row_compliance) != constraint.n_rows:
        raise ModelError(
            f"{what}: compliance has {len(constraint.row_compliance)} values, expected 1 or {constraint.n_rows}, one for each "
            f"constraint equation ({', '.join(constraint.row_names)})"
        )
    inputs = [actuator.input_name for actuator in system.actuators]
    for name in constraint.maintained_by:
        if name not in inputs:
            raise ModelError(f"{what}: maintained by an {unknown_name('input', name, inputs)}")
    if constraint.maintained_by and len(constraint.maintained_by) != constraint.n_rows:
        raise ModelError(
            f"{what}: {constraint.n_rows} constraint equations are maintained by {len(constraint.maintained_by)} actuators "
            f"({', '.join(constraint.maintained_by)}); name one actuator per equation"
        )


def _check_attachment(part: Part) -> None:
    """Raise `ModelError` unless the shapes of a flexible body vanish at its joint, their reference."""
    body = part.body
    if not isinstance(body, FlexibleBody) or part.joint.is_free:
        return
    shapes = body.shapes_at(np.asarray(part.child_at))
    if shapes is None:
        return
    scale = float(np.max(np.abs(body.material.Phi)))
    turned = float(np.max(np.abs(body.material.Psi), initial=0.0))
    held = [("displacement", shapes.Phi, scale)]
    if not part.joint.is_fixed:  # a fixed part may be simply supported
        held.append(("slope", shapes.Psi, turned))
    for what, value, size in held:
        worst = np.max(np.abs(value), axis=0)
        if np.max(worst) > 1e-6 * size:
            mode = body.modal_names[int(np.argmax(worst))]
            raise ModelError(
                f"part '{part.name}': shape '{mode}' has a {what} of {np.max(worst):.3g} at its joint '{part.joint_name}'; "
                "use shapes that vanish there (clamped), or a Free joint for a floating frame"
            )


def _frames(system: System) -> set[str]:
    own = {f"{part.name}.{frame.name}" for part in system.tree for frame in part.body.frames}
    return {*system.environment.root_names, *(part.name for part in system.tree), *own}


def _known_frame(name: Any, frames: set[str], what: str) -> None:
    if not isinstance(name, str):
        raise ModelError(f"{what} is {name!r}, expected text: 'world', a body or 'body.frame'")
    root, dot, _ = name.partition(".")
    if dot and root in ("world", "orbit"):
        raise ModelError(f"{what} is '{name}', but the root has no frames; name '{root}' alone, or a body")
    if name not in frames:
        raise ModelError(f"{what} names an {unknown_name('frame', name, sorted(frames))}")


def _states(part: Part) -> list[str]:
    """Return the names of the coordinates and speeds of a part."""
    modal = [f"{part.name}.{name}" for name, _ in part.body.modal_labels]
    joint = [part.joint_name + suffix for suffix, _ in (*part.joint.coordinates, *part.joint.speeds)]
    return [*joint, *modal, *(f"{name}_dot" for name in modal)]


def _parent(part: Part) -> str:
    return part.on.split(".")[0]


def _unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f"duplicate {what} name '{name}'; names must be unique: rename one of them")
        seen.add(name)


def _cycle(waiting: list[Part]) -> list[str]:
    parents = {part.name: _parent(part) for part in waiting}
    names = [waiting[0].name]
    while parents.get(names[-1]) and names.count(names[-1]) == 1:
        names.append(parents[names[-1]])
    return names
