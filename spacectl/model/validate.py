"""Checks of a whole system: names, parents, cycles, actuators and sensors. Each error names the part and the cure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from spacectl.core.errors import ModelError, unknown_name
from spacectl.model.actuators import JointForce, JointTorque
from spacectl.model.environment import Environment
from spacectl.model.joints import Fixed, Joint

if TYPE_CHECKING:
    from spacectl.model.system import Part, System

__all__ = ["find_speed", "order_parts", "validate_system"]


def validate_system(system: System) -> None:
    """Raise `ModelError` for the first thing that cannot be right."""
    if not isinstance(system.environment, Environment):
        raise ModelError(
            f"system '{system.name}': environment is {system.environment!r}, expected FreeSpace(), UniformGravity(), ..."
        )
    if not system.parts:
        raise ModelError(f"system '{system.name}': no parts; give at least one Part(RigidBody(...))")
    tree = system.tree  # orders the parts; raises for unknown parents and cycles
    _unique((part.joint_name for part in tree), "joint")
    _unique_states(tree)
    _unique((actuator.input_name for actuator in system.actuators), "input")
    _unique((sensor.name for sensor in system.sensors), "sensor")
    frames = _frames(system)
    for part in tree:
        _known_frame(part.on, frames, f"part '{part.name}': on")
    for actuator in system.actuators:
        _check_actuator(actuator, tree, frames)
    for sensor in system.sensors:
        for key in ("on", "seen_from", "axes"):
            _known_frame(getattr(sensor, key), frames, f"sensor '{sensor.name}': {key}")
    system.numbers()


def order_parts(parts: tuple[Part, ...], root_names: tuple[str, ...]) -> tuple[Part, ...]:
    """Parts with every parent before its children, otherwise in the order given."""
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
                f"write on='{_parent(part)}' and give the place by at=... and rotation=..."
            )
        if _parent(part) not in bodies:
            wrong = unknown_name("body", _parent(part), [*root_names, *sorted(bodies)])
            raise ModelError(f"part '{part.name}': on names an {wrong}")
    chain = " -> ".join(_cycle(waiting))
    raise ModelError(f"parts form a cycle: {chain}; attach one of them to 'world' (loops are closed by constraints)")


def find_speed(actuator: JointTorque, part: Part) -> int:
    """Index, within the joint's speeds, of the one that the actuator drives."""
    suffixes = [suffix for suffix, _ in part.joint.speeds]
    if len(suffixes) == 1 and not actuator.component:
        return 0
    wanted = f".{actuator.component}"
    if wanted in suffixes:
        return suffixes.index(wanted)
    choices = ", ".join(suffix.lstrip(".") for suffix in suffixes)
    cure = (
        f"several speeds; set component to one of {choices}" if len(suffixes) > 1 else "one speed; leave component out"
    )
    raise ModelError(f"actuator '{actuator.input_name}': joint '{part.joint_name}' has {cure}")


def _unique_states(tree: tuple[Part, ...]) -> None:
    """Coordinates and speeds share one list of names: 'j_dot' is the speed of 'j', so no joint may be called so."""
    owners: dict[str, str] = {}
    for part in tree:
        for suffix, _ in (*part.joint.coordinates, *part.joint.speeds):
            name = part.joint_name + suffix
            if name in owners:
                raise ModelError(
                    f"joints '{owners[name]}' and '{part.joint_name}' both have a coordinate or speed called '{name}'; "
                    "rename one of them"
                )
            owners[name] = part.joint_name


def _check_actuator(actuator: Any, tree: tuple[Part, ...], frames: set[str]) -> None:
    what = f"actuator '{actuator.input_name}'"
    if isinstance(actuator, JointTorque):
        joints: dict[str, Joint] = {part.joint_name: part.joint for part in tree}
        if actuator.joint not in joints:
            raise ModelError(f"{what}: {unknown_name('joint', actuator.joint, joints)}")
        if isinstance(joints[actuator.joint], Fixed):
            raise ModelError(f"{what}: joint '{actuator.joint}' is fixed; give it a joint that moves")
        part = next(part for part in tree if part.joint_name == actuator.joint)
        unit = part.joint.speeds[find_speed(actuator, part)][1]
        if (unit == "rad/s") == isinstance(actuator, JointForce):
            other = "JointTorque" if unit == "rad/s" else "JointForce"
            raise ModelError(f"{what}: that speed of joint '{actuator.joint}' is in {unit}; use {other}")
    else:
        _known_frame(actuator.on, frames, f"{what}: on")
        if actuator.on in ("world", "orbit"):
            raise ModelError(f"{what}: it is on '{actuator.on}', which does not move; name a body")


def _frames(system: System) -> set[str]:
    frames = set(system.environment.root_names)
    for part in system.tree:
        frames.add(part.name)
        frames.update(f"{part.name}.{frame.name}" for frame in part.body.frames)
    return frames


def _known_frame(name: Any, frames: set[str], what: str) -> None:
    if not isinstance(name, str):
        raise ModelError(f"{what} is {name!r}, expected a text: 'world', a body or 'body.frame'")
    root, dot, _ = name.partition(".")
    if dot and root in ("world", "orbit"):
        raise ModelError(f"{what} is '{name}', but the root has no frames; name '{root}' alone, or a body")
    if name not in frames:
        raise ModelError(f"{what} names an {unknown_name('frame', name, sorted(frames))}")


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
