"""`StagedSimulation`: the labelled result of a run through stages, with its transitions, impulses and reactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.array import Array
from spacectl.simulation.results.simulation import Simulation

if TYPE_CHECKING:
    import xarray

__all__ = ["StagedSimulation", "Transition", "add_stages"]


@dataclass(frozen=True, kw_only=True)
class Transition:
    """Describe a transition from one stage to the next.

    Parameters
    ----------
    time : float
        Time [s].
    guard : str
        Name of the guard that triggered it.
    source, target : str
        Names of the stages before and after; with an empty target the run ends.
    x_before, x_after : arrays, shape (n_x,)
        States before and after; equal at a release.
    impulses : mapping of str to float
        Impulse of each constraint equation involved [N s] or [N m s]; empty at a release.
    is_unique : mapping of str to bool
        Whether that impulse is unique; if not, it depends on how redundant constraints share a load.
    energy_loss : float
        Energy before minus energy after [J].
    momentum_change : array, shape (6,)
        Change by the impulses: angular momentum about the root's origin, then linear momentum.
    """

    time: float
    guard: str
    source: str
    target: str
    x_before: Any
    x_after: Any
    impulses: Mapping[str, float]
    energy_loss: float
    momentum_change: Any
    is_unique: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in ("x_before", "x_after", "momentum_change"):
            object.__setattr__(self, key, Array(getattr(self, key)))


@dataclass(frozen=True, eq=False, repr=False)
class StagedSimulation(Simulation):
    """Hold a `Simulation` through stages, with the stage at each time, transitions and reactions.

    Parameters
    ----------
    source, outcome, histories
        As in `Simulation`. The dataset has ``stage(time)``, an index into `stage_names`, ``lam(time, row)``, the multipliers
        of all constraint equations (zero while they are inactive), ``lam_unique(time, row)``, and the transitions.

    Notes
    -----
    At the time of a transition, records hold the values just after it.
    """

    @property
    def stage_names(self) -> tuple[str, ...]:
        """Names of the stages of the run, in the order in which they were first entered."""
        return tuple(str(name) for name in self.dataset["stage_name"].values)

    @property
    def stage(self) -> np.ndarray:
        """Index into `stage_names` at each time, shape (n,)."""
        return self.dataset["stage"].values

    @property
    def lam(self) -> np.ndarray:
        """Multipliers of the constraint equations, shape (n, n_rows)."""
        return self._values("lam")

    def reaction(self, row: str) -> np.ndarray:
        """Return the history of the multiplier of a constraint equation, shape (n,)."""
        return self.column("lam", row)

    def is_unique(self, row: str) -> np.ndarray:
        """Return whether the multiplier of a constraint equation is unique at each time, shape (n,)."""
        return np.asarray(self.dataset["lam_unique"].values[:, self._labels("lam").index(row)] != 0)

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """Transitions in order of time."""
        d = self.dataset
        if "transition_time" not in d:
            return ()
        rows = [str(name) for name in d["row"].values] if "row" in d.coords else []
        found = []
        for k in range(d.sizes["transition"]):
            pushes = d["transition_impulse"].values[k] if rows else ()
            took_part = {r: float(value) for r, value in zip(rows, pushes, strict=True) if not np.isnan(value)}
            unique = dict(zip(rows, d["transition_unique"].values[k], strict=True)) if rows else {}
            found.append(
                Transition(
                    time=float(d["transition_time"].values[k]),
                    guard=str(d["transition_guard"].values[k]),
                    source=str(d["transition_source"].values[k]),
                    target=str(d["transition_target"].values[k]),
                    x_before=d["transition_x_before"].values[k],
                    x_after=d["transition_x_after"].values[k],
                    impulses=took_part,
                    is_unique={r: bool(unique[r]) for r in took_part},
                    energy_loss=float(d["transition_energy_loss"].values[k]),
                    momentum_change=d["transition_momentum_change"].values[k],
                )
            )
        return tuple(found)


def add_stages(
    dataset: xarray.Dataset,
    stage: np.ndarray,
    names: Sequence[str],
    transitions: Iterable[Transition],
    rows: Sequence[str],
    unique: np.ndarray,
) -> xarray.Dataset:
    """Add stages and transitions to the dataset of a run."""
    happened = list(transitions)
    more: dict[str, Any] = {"stage": ("time", stage), "stage_name": ("stage_index", np.array(names, dtype=str))}
    if rows:
        more["lam_unique"] = (("time", "row"), unique.astype(np.int8))
    if happened:
        for key in ("guard", "source", "target"):
            more[f"transition_{key}"] = ("transition", np.array([getattr(item, key) for item in happened], dtype=str))
        more["transition_time"] = ("transition", np.array([item.time for item in happened]), {"units": "s"})
        loss = np.array([item.energy_loss for item in happened])
        more["transition_energy_loss"] = ("transition", loss, {"units": "J"})
        for key in ("x_before", "x_after"):
            values = np.array([np.asarray(getattr(item, key)) for item in happened])
            more[f"transition_{key}"] = (("transition", "state"), values)
        changes = np.array([np.asarray(item.momentum_change) for item in happened])
        more["transition_momentum_change"] = (("transition", "momentum"), changes)
        if rows:
            pushes = [[item.impulses.get(row, np.nan) for row in rows] for item in happened]
            more["transition_impulse"] = (("transition", "row"), np.array(pushes))
            flags = [[item.is_unique.get(row, True) for row in rows] for item in happened]
            more["transition_unique"] = (("transition", "row"), np.array(flags, dtype=np.int8))
    return dataset.assign(more)
