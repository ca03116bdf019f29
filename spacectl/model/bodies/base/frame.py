"""`Frame`: a named place on a body for attaching things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_array
from spacectl.model.description import check_name, rotation_matrix, set_field

__all__ = ["Frame"]


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
