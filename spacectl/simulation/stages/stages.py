"""Define the stages of a motion: active constraints, law and loads, and the guards that lead to other stages.

`simulate_stages` simulates them. Equations and coordinates are the same in all stages (Aslanov, Kruglov, Yuditsev).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError, unknown_name
from spacectl.simulation.events import Guard

__all__ = ["Exit", "Impact", "Stage", "StageProduct", "combine_stages", "stage_table"]


@dataclass(frozen=True, kw_only=True)
class Impact:
    """Define the jump of the speeds at an exit where a contact is hit.

    Parameters
    ----------
    contacts : tuple of str
        Constraints whose equations are gaps, positive if open; they act during the impact only and can only push.
    restitution : float
        Ratio of separation speed to approach speed, 0 to 1.
    rest_speed : float
        Approach speed [m/s] below which the impact is plastic and leads to the stage `rest`. Without it a bouncing body makes
        infinitely many impacts in finite time. None of several contacts may approach or separate faster.
    rest : str
        Name of that stage, usually one in which the contacts are active constraints.
    """

    contacts: tuple[str, ...]
    restitution: float = 0.0
    rest_speed: float = 0.0
    rest: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "contacts", _names(self.contacts, "Impact: contacts"))
        for key in ("restitution", "rest_speed"):
            object.__setattr__(self, key, as_scalar(getattr(self, key), f"Impact: {key}"))
        if not 0.0 <= self.restitution <= 1.0:
            raise ModelError(f"Impact: restitution is {self.restitution:g}, expected between 0 and 1")
        if self.rest_speed < 0.0 or (self.rest_speed > 0.0) != bool(self.rest):
            raise ModelError(
                f"Impact: rest_speed is {self.rest_speed:g} and rest {self.rest!r}; give both (a speed and a stage) or none"
            )


@dataclass(frozen=True, kw_only=True)
class Exit:
    """Define a guard that ends a stage, and the stage to which it leads.

    Parameters
    ----------
    guard : Guard
        Guard with direction 1 or -1 if one side of zero does not belong to the stage: a stage that is entered on that side is
        left immediately, and a run cannot start there. With direction 0 both crossings end the stage.
    to : str
        Name of the next stage; if empty, the run ends.
    impact : Impact, optional
        Impact, if a contact is hit there.
    """

    guard: Guard
    to: str = ""
    impact: Impact | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.guard, Guard):
            raise ModelError(f"Exit: guard is {self.guard!r}, expected Guard(name=..., expression=...)")
        if not self.guard.is_terminal:
            raise ModelError(f"Exit: guard '{self.guard.name}' is not terminal; put it under watches of the stage")
        if self.guard.is_failure and self.to:
            raise ModelError(
                f"Exit at '{self.guard.name}': the guard marks a failure, which ends the run, but to is '{self.to}'; "
                "leave out to, or is_failure"
            )
        if not isinstance(self.to, str):
            raise ModelError(f"Exit at '{self.guard.name}': to is {self.to!r}, expected the name of a stage")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Define a part of a motion with one structure.

    Parameters
    ----------
    name : str
        Name, unique among the stages of a run.
    active : tuple of str
        Names of the active constraints; all others are inactive.
    exits : tuple of Exit
        Exits. If several guards fire at one instant, the first exit listed is taken; the next stage checks the others.
    watches : tuple of Guard
        Guards that are reported without leaving the stage.
    law : ControlLaw, CallableLaw, function or None
        Controller. If the next stage has the same law, its memory and sampling times continue.
    u : mapping of str to float
        Constant inputs that no law commands: loads of this stage.
    p : mapping of str to number
        Run-time parameters that differ in this stage, such as masses after fuel consumption or spring stiffnesses.
    idle : tuple of str
        Inputs that are zero in this stage, whatever is commanded.

    Examples
    --------
    >>> loose = Exit(guard=Guard(name="loose", expression=lambda s: s.reaction("latch"), direction=-1), to="free")
    >>> Stage(name="held", active=("latch",), exits=(loose,)).active
    ('latch',)
    """

    name: str
    active: tuple[str, ...] = ()
    exits: tuple[Exit, ...] = ()
    watches: tuple[Guard, ...] = ()
    law: Any = None
    u: Mapping[str, float] = field(default_factory=dict)
    p: Mapping[str, Any] = field(default_factory=dict)
    idle: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"stage: name is {self.name!r}, expected a text such as 'captured'")
        what = f"stage '{self.name}'"
        for key in ("active", "idle"):
            object.__setattr__(self, key, _names(getattr(self, key), f"{what}: {key}"))
        for key, kind in (("exits", Exit), ("watches", Guard)):
            given = getattr(self, key)
            items = (given,) if isinstance(given, kind) else tuple(given)
            if any(not isinstance(item, kind) for item in items):
                raise ModelError(f"{what}: {key} is {given!r}, expected {kind.__name__} objects")
            object.__setattr__(self, key, items)
        for key in ("u", "p"):
            object.__setattr__(self, key, dict(getattr(self, key)))

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Guards of the exits, then those of `watches`."""
        watched = [replace(guard, is_terminal=False) for guard in self.watches]
        return (*(item.guard for item in self.exits), *watched)


class StageProduct(Mapping[str, Stage]):
    """Combine stages of several parts of a system that change their structure independently of each other.

    ``product["left:held right:free"]`` is the stage in which each part is in the named stage; exits of a part change its own
    stage only. Stages are created when first used, because four parts with four stages have 256. Use `combine_stages` to create
    a product.

    Parameters
    ----------
    parts : mapping of str to mapping of str to Stage
        Stages of each part by name; each part starts in its first stage.
    law : ControlLaw, function or None
        The controller, in all stages.
    """

    def __init__(self, parts: Mapping[str, Mapping[str, Stage]], law: Any = None):
        self._parts, self._law = dict(parts), law
        self._made: dict[str, Stage] = {}

    def name_of(self, **stages: str) -> str:
        """Return the name of the stage in which parts are in the given stages, and all others in their first one."""
        for part in stages:
            if part not in self._parts:
                raise ModelError(unknown_name("part", part, self._parts))
        chosen = {part: stages.get(part, next(iter(table))) for part, table in self._parts.items()}
        return " ".join(f"{part}:{stage}" for part, stage in chosen.items())

    def entered(self, before: Mapping[str, float], source: str, target: str, t: float) -> dict[str, float]:
        """Return the time at which each part entered its stage, after a transition at time t."""
        pairs = zip(source.split(" "), target.split(" "), strict=True)
        return {a.split(":")[0]: before[a.split(":")[0]] if a == b else t for a, b in pairs}

    def entries(self, stage: Stage, times: Mapping[str, float]) -> list[float]:
        """Return for each guard of a stage the time at which its part entered its own stage."""
        return [times[guard.name.split(":")[0]] for guard in stage.guards]

    def __iter__(self) -> Iterator[str]:
        names = [""]
        for part, table in self._parts.items():
            names = [f"{name} {part}:{stage}".strip() for name in names for stage in table]
        return iter(names)

    def __len__(self) -> int:
        count = 1
        for table in self._parts.values():
            count *= len(table)
        return count

    def __getitem__(self, name: str) -> Stage:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Stage:
        chosen = dict(item.split(":", 1) for item in name.split(" ") if ":" in item)
        if list(chosen) != list(self._parts):
            raise KeyError(name)
        found = {part: self._parts[part][stage] for part, stage in chosen.items()}
        exits, watches = [], []
        u: dict[str, float] = {}
        p: dict[str, Any] = {}
        for part, stage in found.items():
            exits += [self._exit(part, item, chosen) for item in stage.exits]
            watches += [_renamed(part, guard) for guard in stage.watches]
            u, p = _merge(u, stage.u, name), _merge(p, stage.p, name)
        return Stage(
            name=name,
            active=tuple(item for stage in found.values() for item in stage.active),
            exits=tuple(exits),
            watches=tuple(watches),
            law=self._law,
            u=u,
            p=p,
            idle=tuple(item for stage in found.values() for item in stage.idle),
        )

    def _exit(self, part: str, item: Exit, chosen: Mapping[str, str]) -> Exit:
        to = " ".join(f"{key}:{item.to if key == part else stage}" for key, stage in chosen.items()) if item.to else ""
        impact = item.impact
        if impact is not None and impact.rest:
            rest = " ".join(f"{key}:{impact.rest if key == part else stage}" for key, stage in chosen.items())
            impact = Impact(
                contacts=impact.contacts, restitution=impact.restitution, rest_speed=impact.rest_speed, rest=rest
            )
        return Exit(guard=_renamed(part, item.guard), to=to, impact=impact)


def combine_stages(parts: Mapping[str, Sequence[Stage]], *, law: Any = None) -> StageProduct:
    """Combine stages of parts that change their structure independently of each other into stages of the whole system.

    Parameters
    ----------
    parts : mapping of str to sequence of Stage
        Stages of each part, which starts in its first stage. They have no own laws. Guards are renamed to ``part: name``.
    law : ControlLaw, function or None
        The controller, in all stages.

    Returns
    -------
    StageProduct
        For `simulate_stages`.
    """
    tables = {}
    for part, stages in parts.items():
        if not isinstance(part, str) or not part or " " in part or ":" in part:
            raise ModelError(f"combine_stages: part {part!r}, expected a name without blanks and colons")
        tables[part] = stage_table(stages)
        for stage in tables[part].values():
            if stage.law is not None:
                raise ModelError(f"combine_stages: stage '{stage.name}' of '{part}' has a law; give one law for all")
            if " " in stage.name or ":" in stage.name:
                raise ModelError(f"combine_stages: stage '{stage.name}': use a name without blanks and colons")
    return StageProduct(tables, law)


def stage_table(stages: Any) -> Mapping[str, Stage]:
    """Return the stages by name, in order; check that exits lead to one of them."""
    if isinstance(stages, StageProduct):
        return stages
    items = list(stages.values()) if isinstance(stages, Mapping) else list(stages)
    if not items or any(not isinstance(item, Stage) for item in items):
        raise ModelError(f"stages: got {stages!r}, expected a sequence of Stage")
    table = {item.name: item for item in items}
    if len(table) < len(items):
        raise ModelError(f"stages: two have one name among {', '.join(item.name for item in items)}")
    for item in items:
        for leave in item.exits:
            for to in (leave.to, leave.impact.rest if leave.impact else ""):
                if to and to not in table:
                    raise ModelError(f"stage '{item.name}': an exit leads to an {unknown_name('stage', to, table)}")
    return table


def _renamed(part: str, guard: Guard) -> Guard:
    name = f"{part}: {guard.name}"
    return replace(guard, name=name)


def _merge(values: dict[str, Any], more: Mapping[str, Any], name: str) -> dict[str, Any]:
    for key in more:
        if key in values:
            raise ModelError(f"stage '{name}': two parts give '{key}'; let one of them do it")
    return {**values, **more}


def _names(given: Any, what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if any(not isinstance(name, str) or not name for name in names):
        raise ModelError(f"{what} is {given!r}, expected names")
    if len(set(names)) < len(names):
        raise ModelError(f"{what}: a name is there twice in {names}")
    return names
