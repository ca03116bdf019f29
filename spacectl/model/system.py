"""`System`: a tree of bodies with environment, actuators and sensors, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.parameters import Parameters
from spacectl.core.provenance import class_key, content_hash
from spacectl.model.actuators import Actuator
from spacectl.model.attachments import attach_bodies
from spacectl.model.bodies.base.flexible import FIRST_ORDER, FlexibleBody
from spacectl.model.constraints import AnyConstraint
from spacectl.model.description import Number, members, set_field
from spacectl.model.elements import Element, JointElement, PointElement
from spacectl.model.environment import Environment, FreeSpace
from spacectl.model.joints.redundant import QuaternionFree
from spacectl.model.part import Part
from spacectl.model.rebuild import field_names, field_value, rebuild_system, rename_frames
from spacectl.model.sensors import Sensor
from spacectl.model.validation.validate import check_attachments, order_parts, validate_system

__all__ = ["Part", "System"]


@dataclass(frozen=True, kw_only=True)
class System:
    """A mechanical system as data.

    Parameters
    ----------
    name : str
        Title of the system in reports.
    parts : tuple of Part
        Bodies and joints in any order; parents are found by name.
    environment : Environment
        Gravity and motion of the root frame. Default: `FreeSpace`.
    actuators : tuple of Actuator
        Their order is that of the inputs u.
    sensors : tuple of Sensor
        Their order is that of the outputs y.
    elements : tuple of Element
        Springs and dampers in joints, drives, springs between points, tethers.
    constraints : tuple of AnyConstraint
        Loops and other constraints on the motion, natural or artificial.
    aliases : tuple of (str, str)
        Alternative names of bodies and frames, as used for beams in segments.

    Raises
    ------
    ModelError
        For an unknown parent, a cycle, duplicate names, an unknown actuator joint, and so on.

    Examples
    --------
    >>> from spacectl import Revolute, RigidBody
    >>> link = RigidBody(name="link", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0))
    >>> pendulum = System(name="pendulum", parts=(Part(link, joint=Revolute(name="hinge", axis="y")),))
    >>> pendulum.parameters().get("link.mass")
    array(1.)
    """

    name: str
    parts: tuple[Part, ...]
    environment: Environment = field(default_factory=FreeSpace)
    actuators: tuple[Actuator, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    elements: tuple[Element, ...] = ()
    constraints: tuple[AnyConstraint, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"system: name is {self.name!r}, expected text such as 'retrieval arm'")
        set_field(self, "aliases", tuple((str(name), str(frame)) for name, frame in self.aliases))
        for name, kind in _SERIES:
            given = members(getattr(self, name), kind, f"system '{self.name}'", name)
            set_field(
                self, name, tuple(rename_frames(item, dict(self.aliases)) for item in given) if self.aliases else given
            )
        validate_system(self)
        set_field(self, "parts", attach_bodies(self))
        for name in ("tree", "_numbers"):  # the checks ordered the parts before bodies were attached
            self.__dict__.pop(name, None)
        check_attachments(self)

    @cached_property
    def tree(self) -> tuple[Part, ...]:
        """All parts, parents before children, including those added by actuators and elements."""
        wheels = tuple(Part(body, **place) for actuator in self.actuators for body, place in actuator.parts())
        elements = self.joint_elements + self.point_elements
        brought = tuple(Part(body, **place) for item in elements for body, place in item.brings(self.parts))
        return order_parts(self.parts + wheels + brought, self.environment.root_names)

    @property
    def flexible_bodies(self) -> tuple[FlexibleBody, ...]:
        """The bodies with modal coordinates, in the order of the tree."""
        return tuple(part.body for part in self.tree if isinstance(part.body, FlexibleBody))

    @property
    def joint_elements(self) -> tuple[JointElement, ...]:
        """The elements that act on joint speeds."""
        return tuple(item for item in self.elements if isinstance(item, JointElement))

    @property
    def point_elements(self) -> tuple[PointElement, ...]:
        """The elements that act at points of bodies."""
        return tuple(item for item in self.elements if isinstance(item, PointElement))

    @cached_property
    def is_plain(self) -> bool:
        """Whether it has only rigid bodies, unprescribed joints and actuators, as the data-driven sweeps require."""
        moves = any(part.joint.motion is not None for part in self.tree)
        bends = bool(self.flexible_bodies)
        others = any(isinstance(part.joint, QuaternionFree) for part in self.parts)
        return not (self.elements or self.constraints or moves or bends or others)

    @property
    def is_first_order(self) -> bool:
        """Whether the equations of some body are linear in its modal coordinates."""
        return any(part.body.order in FIRST_ORDER for part in self.parts)

    def acting(self, active: tuple[str, ...] | None) -> tuple[AnyConstraint, ...]:
        """Return all constraints, or those named in `active` and permanent ones (joints in absolute coordinates)."""
        names = [constraint.name for constraint in self.constraints]
        for name in active or ():
            if name not in names:
                raise ModelError(f"form_equations: active names an {unknown_name('constraint', name, names)}")
        return tuple(item for item in self.constraints if active is None or item.name in active or item.is_permanent)

    def frame(self, name: str) -> str:
        """Resolve an alias: return the name of a body or frame among the parts."""
        return dict(self.aliases).get(name, name)

    def part(self, name: str) -> Part:
        """Return the part with the named body."""
        name = self.frame(name)
        found = [part for part in self.tree if part.name == name]
        if not found:
            raise ModelError(
                f"system '{self.name}': no body named '{name}'; there are {[part.name for part in self.tree]}"
            )
        return found[0]

    def numbers(self) -> dict[str, Number]:
        """Return all parameters by name: ``"upper.mass"``, ``"shoulder.limit"``, ``"environment.rate"``."""
        return dict(self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, Number]:
        groups: list[tuple[str, dict[str, Number]]] = [("environment", self.environment.numbers())]
        groups += [(part.name, part.numbers()) for part in self.tree]
        groups += [(item.input_name, {**item.numbers(), **self._load_numbers(item)}) for item in self.actuators]
        groups += [(sensor.name, sensor.numbers()) for sensor in self.sensors]
        groups += [(element.name, element.numbers()) for element in self.elements]
        groups += [(constraint.name, constraint.numbers()) for constraint in self.constraints]
        numbers: dict[str, Number] = {}
        for owner, group in groups:
            for key, number in group.items():
                name = f"{owner}.{key}"
                if name in numbers:
                    raise ModelError(
                        f"system '{self.name}': two components have a parameter called '{name}'; rename '{owner}' in one place"
                    )
                numbers[name] = number
        return numbers

    def _load_numbers(self, actuator: Actuator) -> dict[str, Number]:
        """Return the parameters of distributed loads, which depend on their bodies."""
        bodies = [self.part(wrench.on).body for wrench in actuator.wrenches if wrench.is_spread]
        return {key: number for body in bodies for key, number in actuator.body_numbers(body).items()}

    def parameters(self, *, vary: tuple[str, ...] = ()) -> Parameters:
        """Return the run-time parameters p, including exact zeros (and ones) of those named in `vary`."""
        numbers = self.numbers()
        flat: list[float] = []
        fixed: list[bool] = []
        for name, number in numbers.items():
            flat += [float(entry) for entry in number.value[...].reshape(-1)]
            fixed += [flag and name not in vary for flag in number.fixed]
        parameters = Parameters(
            names=tuple(numbers),
            shapes=tuple(number.value.shape for number in numbers.values()),
            values=flat,
            fixed=tuple(fixed),
        )
        for name in vary:
            parameters.where(name)
        return parameters

    def changed(self, changes: Mapping[str, Any]) -> System:
        """Return the system with other values of fields, by name: ``{"boom.EI": 2e3, "hub.mass": 40.0}``."""
        return rebuild_system(self, changes)

    def field_names(self) -> tuple[str, ...]:
        """Return the names of the numeric fields that `changed` accepts."""
        return field_names(self)

    def field_value(self, name: str) -> Any:
        """Return the value of a field, by the name of its owner: ``"boom.EI"``."""
        return field_value(self, name)

    def content_hash(self) -> str:
        """Return the sha256 hash of all data; equal data give equal hashes."""
        return self._content_hash

    @cached_property
    def _content_hash(self) -> str:
        return content_hash(self)

    def structure_hash(self, *, vary: tuple[str, ...] = ()) -> str:
        """Return the sha256 hash of all that determines the form of the equations: topology, joints, ..."""
        p = self.parameters(vary=vary)
        structural = [value for value, flag in zip(p.values, p.fixed, strict=True) if flag]
        return content_hash([*self.topology(), p.names, p.shapes, list(p.fixed), structural])

    def topology(self) -> list[Any]:
        """Return the data besides parameters that determine the form of the equations: bodies, joints, ..."""
        parts = [
            (
                part.name,
                part.on,
                class_key(type(part.body)),
                class_key(type(part.joint)),
                part.joint_name,
                part.joint.structure,
                part.body.structure,
                part.joint.motion,
            )
            for part in self.tree
        ]
        frames = [[frame.name for frame in part.body.frames] for part in self.tree]
        actuators = [(class_key(type(item)), item.input_name, item.efforts()) for item in self.actuators]
        sensors = [(class_key(type(item)), *item.structure) for item in self.sensors]
        elements = [(class_key(type(e)), e.name, e.ends, e.structure) for e in self.elements]
        constraints = [(class_key(type(c)), c.name, c.kind, c.compliance, c.structure) for c in self.constraints]
        environment = [class_key(type(self.environment)), *self.environment.structure]
        return [parts, elements, constraints, frames, actuators, sensors, environment]


_SERIES = (
    ("parts", Part),
    ("actuators", Actuator),
    ("sensors", Sensor),
    ("elements", Element),
    ("constraints", AnyConstraint),
)
