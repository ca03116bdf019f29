"""The base of all constraints: name, kind (ideal or maintained by actuators) and compliance.

Equations of constraints are written in the `Quantities` of a system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from spacectl.core.accessor import as_column, evaluate_rule
from spacectl.core.errors import ModelError
from spacectl.core.expression import FRAME_QUANTITIES, Recorder
from spacectl.model.description import Number, check_name, set_field
from spacectl.model.joints import Joint
from spacectl.spatial.inertia import Placement

__all__ = ["AnyConstraint", "Artificial", "Natural", "Quantities", "trace"]

_SIZES = {"position": 3, "velocity": 3, "angular_velocity": 3, "rotation": 9, "momentum": 6}


class Quantities(Recorder):
    """Named quantities of a system as expressions, and those of the constraint.

    Parameters
    ----------
    quantity : function of kind and name
        Returns a quantity such as ``("position", "arm.tip")``.
    numbers : mapping
        The constraint's run-time parameters.
    relative : function, optional
        Returns the placement of F in J, for a constraint between frames.
    relative_twist : function, optional
        Returns the twist of F relative to J about F's origin, in J axes.
    """

    def __init__(
        self,
        quantity: Callable[[str, str], Any],
        numbers: Mapping[str, Any],
        relative: Callable[[], Placement] | None = None,
        relative_twist: Callable[[], Any] | None = None,
    ):
        super().__init__()
        self.quantity, self.numbers, self._relative, self._twist = quantity, numbers, relative, relative_twist

    def _symbol(self, kind: str, name: str, size: int = 1) -> Any:
        return self.quantity(kind, name)

    def number(self, name: str) -> Any:
        """Return one of the constraint's own run-time parameters."""
        return self.numbers[name]

    @property
    def relative(self) -> Placement:
        """Placement of F in J."""
        return self._relative()  # type: ignore[misc]

    @property
    def relative_twist(self) -> Any:
        """Twist of F relative to J about F's origin, in J axes, shape (6,)."""
        return self._twist()  # type: ignore[misc]


def trace(
    equations: Callable[[Quantities], Any], numbers: Mapping[str, Any]
) -> tuple[tuple[tuple[str, str], ...], Any]:
    """Trace equations: return the quantities that they use, as pairs (kind, name), and symbolic values."""
    found: dict[tuple[str, str], Any] = {}

    def quantity(kind: str, name: str) -> Any:
        return found.setdefault((kind, name), ca.SX.sym(f"{kind}:{name}", _SIZES.get(kind, 1)))

    value = equations(Quantities(quantity, numbers))
    return tuple(found), value


_OWN = ("name", "kind", "compliance")  # fields of every constraint


@dataclass(frozen=True, kw_only=True)
class Natural:
    """The constraint is enforced by ideal forces along its gradient: a bearing, a rail, a rigid link."""


@dataclass(frozen=True, kw_only=True)
class Artificial:
    """The constraint is maintained by actuators, whose inputs the equations determine (Sadigh 1995, chapter 3).

    Parameters
    ----------
    by : tuple of str
        Names of the inputs, one for each constraint equation.
    """

    by: tuple[str, ...]

    def __post_init__(self) -> None:
        names = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        if not names or any(not isinstance(name, str) for name in names):
            raise ModelError(f"Artificial: by is {self.by!r}, expected names of actuators: by=('wrist',)")
        set_field(self, "by", names)


@dataclass(frozen=True, kw_only=True)
class AnyConstraint:
    """Base of all constraints.

    A subclass is a frozen, keyword-only dataclass. All formulations for constrained systems, simulation,
    linearisation and reports use these members:

    1. `row_names`, the names of its equations within the constraint, unless there is only one.
    2. `numbers`, the run-time parameters.
    3. `equations`, values that are zero when the constraint is satisfied, written with casadi functions of the quantities
       of the system: coordinates and speeds by name, the motion of frames, time. Equations without speeds are at position
       level and are differentiated twice, others once; one constraint must not mix the two.

    It may add:

    4. `structure`, if a numeric field determines the form of the equations, or a field is not plain data. 5.
    `has_position_level`, if it does not follow from the equations, as for a velocity constraint whose terms
    vanish. 6. `has_side` and `side_of`, for equations that are also satisfied after a half turn. 7.
    `closes_as`, the joint type with which it closes a loop.

    A constraint between two frames is a `FrameConstraint`: it defines `rows` of their relative placement instead of 3, and
    acts on the bodies by one wrench. Others act along the gradients of positions, rotations and velocities in `equations`.

    Parameters
    ----------
    name : str
        Unique name, also of residuals and multipliers.
    kind : Natural or Artificial
        Whether ideal forces or actuators maintain it. Default: `Natural`.
    compliance : float or sequence of float, optional
        Compliance of each constraint equation [m/N, rad/(N m)], one value for all or one for each. It
        determines how redundant constraints share a load that the equations of motion leave undetermined
        (least work, ``min sum(compliance * lam**2)``); the constraint remains rigid. Only ratios matter. If
        omitted, all equations have equal weight, and the load sharing need not be physical.
    """

    name: str
    kind: Natural | Artificial = field(default_factory=Natural)
    compliance: Any = None
    has_side: ClassVar[bool] = False  # whether `side_of` is defined
    is_permanent: ClassVar[bool] = False  # whether it is always active, as the joints of a system are

    def __post_init__(self) -> None:
        check_name(self.name, type(self).__name__)
        if not isinstance(self.kind, (Natural, Artificial)):
            raise ModelError(f"{self._what}: kind is {self.kind!r}, expected Natural() or Artificial(by=('wrist',))")
        if self.compliance is not None:
            set_field(self, "compliance", self._checked_compliance())

    def _checked_compliance(self) -> tuple[float, ...]:
        try:
            values = np.atleast_1d(np.asarray(self.compliance, dtype=float))
        except (TypeError, ValueError):
            values = np.array([np.nan])
        if values.ndim != 1 or not values.size or not np.all(np.isfinite(values) & (values >= 0.0)):
            raise ModelError(
                f"{self._what}: compliance is {self.compliance!r}, expected numbers [m/N or rad/(N m)], 0 or more"
            )
        if not self.is_natural:
            raise ModelError(
                f"{self._what}: compliance is for natural constraints; this one is maintained by actuators, omit it"
            )
        return tuple(values.tolist())

    @property
    def row_compliance(self) -> tuple[float, ...]:
        """Compliance of each constraint equation; 1 if none was given (equal weights in SI units)."""
        given = (1.0,) if self.compliance is None else self.compliance
        return given * self.n_rows if len(given) == 1 else given

    @property
    def _what(self) -> str:
        return f"constraint '{self.name}'"

    @property
    def maintained_by(self) -> tuple[str, ...]:
        """Inputs that maintain it, one for each equation; empty for a natural constraint."""
        return self.kind.by if isinstance(self.kind, Artificial) else ()

    @property
    def is_natural(self) -> bool:
        """Whether ideal forces maintain it."""
        return not self.maintained_by

    @property
    def row_names(self) -> tuple[str, ...]:
        """Name of each scalar equation within the constraint; empty for a single one."""
        return ("",)

    @property
    def equation_names(self) -> tuple[str, ...]:
        """Names of its equations in the system: the constraint's, with a suffix where there are several."""
        return tuple(f"{self.name}.{name}" if name else self.name for name in self.row_names)

    @property
    def n_rows(self) -> int:
        """Number of scalar equations."""
        return len(self.row_names)

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {}

    def equations(self, s: Quantities) -> Any:
        """Return the residuals of the constraint, as a column or list of `n_rows` expressions."""
        raise NotImplementedError

    @property
    def has_position_level(self) -> bool | None:
        """Whether its equations are at position level; None: they are if they depend on no speed."""
        return None

    def side_of(self, s: Quantities) -> Any:
        """Return a positive value on the intended branch, a negative one on that turned by 180 degrees."""
        return 1.0

    @property
    def ends(self) -> tuple[str, str] | None:
        """The frames that carry J and F, for a constraint that acts by one wrench between them."""
        return None

    @cached_property
    def needs(self) -> tuple[tuple[str, str], ...]:
        """Quantities of the system in the equations, as pairs of kind and name (none for a `FrameConstraint`)."""
        numbers = {key: ca.SX(ca.DM(np.asarray(number.value))) for key, number in self.numbers().items()}
        what = f"{self._what}: equations"
        needs, values = trace(lambda s: evaluate_rule(self.equations, s, what), numbers)  # type: ignore[arg-type]
        column = self.column(values)
        if column.numel() != self.n_rows:
            raise ModelError(f"{what} has {column.numel()} values but {self.n_rows} row_names; name each")
        as_column(column, self.n_rows, what)
        return needs

    @staticmethod
    def column(values: Any) -> Any:
        """Return the values of `equations` as a column."""
        parts = list(values) if isinstance(values, (list, tuple)) else [values]
        return ca.vertcat(*[ca.vec(ca.SX(part)) for part in parts])

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames on which it acts."""
        return self.ends or tuple(name for kind, name in self.needs if kind in FRAME_QUANTITIES)

    @property
    def closes_as(self) -> str:
        """The joint type with which it closes a loop (`Joint.letter`); "?" for none."""
        return "?"

    @property
    def closing_joint(self) -> Joint | None:
        """The joint that closes the loop, if any: actuators refer to it by the name of the constraint."""
        return None

    @property
    def structure(self) -> tuple[Any, ...]:
        """Fields besides name and compliance that determine the form of its equations: here all others."""
        known = {*_OWN, *self.numbers()}
        return tuple(getattr(self, item.name) for item in fields(self) if item.name not in known)
