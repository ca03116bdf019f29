"""`Body`: the base of all bodies, rigid or flexible, and their `Frame`s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.description import (
    Number,
    check_name,
    members,
    placement_number,
    rotation_matrix,
    set_field,
    unless_trivial,
)

if TYPE_CHECKING:
    from spacectl.model.bodies.base.flexible import FlexibleBody

__all__ = ["Body", "Frame", "Solid"]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A named frame fixed in a body, addressed as ``"body.frame"``.

    Parameters
    ----------
    name : str
        Name within the body.
    at : vector, shape (3,)
        Origin in body axes [m].
    rotation : matrix (3, 3) or quaternion (4,), optional
        ``R_BF``; identity if omitted.
    """

    name: str
    at: Any = (0.0, 0.0, 0.0)
    rotation: Any = None

    def __post_init__(self) -> None:
        check_name(self.name, "frame")
        set_field(self, "at", as_array(self.at, (3,), f"frame '{self.name}': at"))
        set_field(self, "rotation", rotation_matrix(self.rotation, f"frame '{self.name}': rotation"))


class Solid(NamedTuple):
    """Mass [kg], centre of mass [m] and inertia about it [kg m^2] of a drawn solid, in body axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


class Body:
    """Base of all bodies.

    A subclass is a frozen, keyword-only dataclass; its `__post_init__`, if any, stores arrays by `as_array` and calls
    that of its base. All formulations, simulations and reports use these members:

    1. The fields `name` and, for attachments of parts, actuators and sensors, `frames`.
    2. `numbers`, the run-time parameters; `frame_numbers` returns those of the frames.
    3. `mass_properties`, mass, centre of mass and inertia about it from these parameters, written with
       `spacectl.spatial.backend` for both numpy and CasADi.

    It may add:

    4. `structure`, if a numeric field determines the form of `mass_properties`, or a field is not plain data.
    5. `drawn_as` and `solid`, its appearance in reports.

    A body with modal coordinates is a `FlexibleBody`, which has `n_modes`, names and units of the modes, an `order` of
    expansion, a range of validity and a mesh.
    """

    name: str
    frames: tuple[Frame, ...] = ()
    order: str = ""  # of the expansion in modal coordinates
    line: str = ""  # its tether, whose parameters `mass_properties` receives
    is_flexible: ClassVar[bool] = False
    drawn_as: ClassVar[str] = "rigid"  # "rigid", "flexible", "line", or "" for bodies that reports omit

    def __post_init__(self) -> None:
        check_name(self.name, "body")
        set_field(self, "frames", members(self.frames, Frame, f"body '{self.name}'", "frames"))
        self.check_frames()

    def check_frames(self) -> None:
        """Raise `ModelError` if two frames have the same name."""
        names = [frame.name for frame in self.frames]
        if len(set(names)) != len(names):
            raise ModelError(f"{self._what}: two frames have the same name; rename one of {sorted(names)}")

    @property
    def _what(self) -> str:
        return f"{type(self).__name__} '{self.name}'"

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates."""
        return 0

    @property
    def modal_names(self) -> tuple[str, ...]:
        """Names of the modal coordinates within the body."""
        return ()

    @property
    def modal_labels(self) -> tuple[tuple[str, str], ...]:
        """Names and units of the modal coordinates."""
        return ()

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return self.frame_numbers()

    def frame_numbers(self) -> dict[str, Number]:
        """Return the run-time parameters of the frames of a rigid body."""
        numbers = {f"{frame.name}.at": unless_trivial(frame.at) for frame in self.frames}
        return numbers | {f"{frame.name}.rotation": placement_number(frame.rotation) for frame in self.frames}

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return mass, centre of mass and inertia about it for parameters `n` (symbols or floats)."""
        raise NotImplementedError

    @property
    def structure(self) -> tuple[Any, ...]:
        """Fields besides frames and parameters that determine the form of its equations: here all others."""
        known = {"name", "frames", *self.numbers()}
        return tuple(getattr(self, item.name) for item in fields(self) if item.name not in known)  # type: ignore[arg-type]

    @property
    def flexible(self) -> FlexibleBody:
        """The body, if it has modal coordinates; else raise `ModelError`."""
        raise ModelError(f"body '{self.name}' is not flexible")

    def damped(self, ratio: float) -> Self:
        """Return the body with one damping ratio for all modes; a rigid body is returned unchanged."""
        return self

    @property
    def solid(self) -> Solid | None:
        """Solid that represents a rigid body in figures, or None."""
        if self.drawn_as != "rigid":
            return None
        mass, com, I_C = self.mass_properties({key: np.asarray(number.value) for key, number in self.numbers().items()})
        return Solid(float(mass), np.asarray(com, dtype=float), np.asarray(I_C, dtype=float))
