"""`Simulation`: the labelled, immutable result of a run, an `xarray.Dataset` with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.input_checks import sequence_of
from spacectl.core.labels import Labels
from spacectl.core.outcome import Outcome
from spacectl.core.parameters import Parameters
from spacectl.core.trajectory import Interpolation, Trajectory
from spacectl.simulation.events import Event
from spacectl.simulation.results.files import write_dataset

if TYPE_CHECKING:
    import xarray

__all__ = ["Simulation", "build_dataset", "frozen"]

Letter = Literal["x", "u", "u_commanded", "y", "z", "lam"]

DIMENSIONS = {"x": "state", "u": "input", "u_commanded": "input", "y": "output", "z": "memory", "lam": "row"}


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Hold the histories of a run over its time grid.

    Parameters
    ----------
    source : xarray.Dataset, or a function that returns it
        Source of `dataset`, which is built when it is first used: ``x(time, state)``, ``u(time, input)`` after the limits,
        ``u_commanded(time, input)`` before them, ``z(time, memory)`` and ``y(time, output)`` where there are any; names
        and units as coordinates; the provenance of the run as attributes (without dates: equal runs are equal).
    outcome : Outcome
        How the run ended, with counts and times.
    histories : mapping of str to (array, Labels)
        Arrays of the dataset, for fast access.
    equations, law : EquationsOfMotion and ControlLaw, optional
        Equations and law, for the replay and the report. A simulation from a file has neither.

    Notes
    -----
    ``sim["elbow"]`` is the history of a state, input, output or memory entry, in this order; where an input has the
    name of a coordinate, ``sim.column("u", "elbow")`` gives the input.
    """

    source: xarray.Dataset | Callable[[], xarray.Dataset]
    outcome: Outcome
    histories: Mapping[str, tuple[np.ndarray, Labels]] = field(default_factory=dict)
    equations: Any = None
    law: Any = None

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Labelled histories; built when first used."""
        return self.source() if callable(self.source) else self.source

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the histories, without equations and law, as in a file."""
        return type(self), (self.dataset, self.outcome, self.histories)

    def __repr__(self) -> str:
        system = self.dataset.attrs.get("system", "")
        return f"<Simulation of '{system}': {self.t.size} times to t = {self.t[-1]:g} s, {self.outcome.status.value}>"

    @property
    def t(self) -> np.ndarray:
        """Times [s], shape (n,)."""
        return self.histories["time"][0] if "time" in self.histories else self.dataset["time"].values

    @property
    def x(self) -> np.ndarray:
        """States, shape (n, n_x)."""
        return self._values("x")

    @property
    def u(self) -> np.ndarray:
        """Inputs after the limits, shape (n, n_u)."""
        return self._values("u")

    @property
    def u_commanded(self) -> np.ndarray:
        """Inputs before the limits, shape (n, n_u)."""
        return self._values("u_commanded")

    @property
    def y(self) -> np.ndarray:
        """Outputs, shape (n, n_y)."""
        return self._values("y")

    @property
    def z(self) -> np.ndarray:
        """Memory of the law, shape (n, n_z)."""
        return self._values("z")

    @property
    def events(self) -> tuple[Event, ...]:
        """Crossings of guards in order of time."""
        if "event_time" not in self.dataset:
            return ()
        rows = zip(*(self.dataset[key].values for key in ("event_time", "event_name", "event_x")), strict=True)
        return tuple(Event(time=float(time), name=str(name), state=state) for time, name, state in rows)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the history of a named state, input, output or memory entry, shape (n,)."""
        return self.column(self._letter(name), name)

    def column(self, letter: Letter, name: str) -> np.ndarray:
        """Return the history of one entry of x, u, u_commanded, y, z or (in runs through stages) lam, shape (n,)."""
        return self._values(letter)[:, self._labels(letter).index(name)]

    def trajectory(self, names: Iterable[str] | None = None, *, interpolation: Interpolation = "cubic") -> Trajectory:
        """Return named histories (default: all states) as a `Trajectory`, for use as a reference."""
        chosen = self._labels("x").names if names is None else sequence_of(str, names, "trajectory: names")
        if not chosen:
            raise ModelError("trajectory: no names; give at least one, or leave them out for all states")
        letters = [self._letter(name) for name in chosen]
        units = tuple(self._labels(letter).unit(name) for letter, name in zip(letters, chosen, strict=True))
        values = np.column_stack([self.column(letter, name) for letter, name in zip(letters, chosen, strict=True)])
        return Trajectory(t=self.t, values=values, labels=Labels(chosen, units, "value"), interpolation=interpolation)

    def save(self, path: Any) -> None:
        """Write a netCDF file atomically; `load_simulation` reads it."""
        write_dataset(self.dataset, self.outcome, path)

    def _values(self, letter: str) -> np.ndarray:
        if letter in self.histories:
            return self.histories[letter][0]
        if letter in self.dataset:
            return self.dataset[letter].values
        if letter not in DIMENSIONS:
            raise ModelError(unknown_name("kind of history", letter, DIMENSIONS))
        return np.zeros((self.t.size, 0))

    def _labels(self, letter: str) -> Labels:
        if letter in self.histories:
            return self.histories[letter][1]
        dimension = DIMENSIONS.get(letter, "")
        if dimension not in self.dataset.coords:
            return Labels(kind=dimension or "entry")
        names = tuple(str(name) for name in self.dataset[dimension].values)
        return Labels(names, tuple(str(unit) for unit in self.dataset[f"{dimension}_unit"].values), dimension)

    def _letter(self, name: str) -> Letter:
        names: list[str] = []
        letters: tuple[Letter, ...] = ("x", "u", "y", "z")
        for letter in letters:
            if name in self._labels(letter):
                return letter
            names += self._labels(letter).names
        raise ModelError(unknown_name("quantity", name, names))


def build_dataset(
    t: np.ndarray,
    histories: Mapping[Letter, tuple[np.ndarray, Labels]],
    events: Iterable[Event],
    p: np.ndarray,
    parameters: Parameters,
    attributes: Mapping[str, Any],
) -> xarray.Dataset:
    """Build the dataset of a `Simulation`; empty histories are omitted, arrays become read-only."""
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"time": ("time", frozen(t), {"units": "s"})}
    for letter, (values, labels) in histories.items():
        dimension = DIMENSIONS[letter]
        if len(labels) == 0:
            continue
        variables[letter] = (("time", dimension), frozen(values))
        coordinates[dimension] = (dimension, np.array(labels.names, dtype=str))
        coordinates[f"{dimension}_unit"] = (dimension, np.array(labels.units, dtype=str))
    happened = list(events)
    if happened:
        variables["event_time"] = ("event", np.array([event.time for event in happened]), {"units": "s"})
        variables["event_name"] = ("event", np.array([event.name for event in happened], dtype=str))
        variables["event_x"] = (("event", "state"), np.array([event.state for event in happened]))
    if p.size:
        variables["p"] = ("parameter", frozen(p))
        names = [name for name in parameters.names for _ in range(int(np.prod(parameters.shape(name))))]
        coordinates["parameter_name"] = ("parameter", np.array(names, dtype=str))
    import xarray

    return xarray.Dataset(variables, coords=coordinates, attrs=dict(attributes))


def frozen(values: np.ndarray) -> np.ndarray:
    """Return a read-only copy."""
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array
