"""Combine the records of the stages of a run into one labelled history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.codegen.binding import bind_native
from spacectl.core.labels import Labels
from spacectl.core.outcome import Outcome
from spacectl.dynamics.constraints.reactions import compile_multipliers
from spacectl.dynamics.formulations.switching import active_rows, compliances_of
from spacectl.dynamics.reactions.uniqueness import shared_directions
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.loop_data import COUNTS
from spacectl.simulation.events import Event
from spacectl.simulation.results.simulation import Letter, build_dataset, frozen
from spacectl.simulation.run.run import Run
from spacectl.simulation.stages.result import StagedSimulation, Transition, add_stages

if TYPE_CHECKING:
    import xarray

__all__ = ["Piece", "gather"]


@dataclass(frozen=True)
class Piece:
    """Hold the records of one stage."""

    stage: str
    t: np.ndarray
    histories: dict[str, np.ndarray]
    memory: Labels
    p: np.ndarray
    counts: dict[str, int]
    attributes: dict[str, Any]

    @classmethod
    def of(cls, run: Run, stage: str, p: np.ndarray, rows: int, stopped: tuple[float, np.ndarray] | None) -> Piece:
        """Return the records of a run and, if it ends there, the state at which it stopped."""
        data = run.data
        times = data.grid[:rows]
        if stopped is not None and (rows == 0 or stopped[0] > times[-1]) and run.loop.record(rows, *stopped) < 0:
            times, rows = np.append(times, stopped[0]), rows + 1
        histories = {
            "x": data.out_x[:rows].copy(),
            "u": data.out_u[:rows].copy(),
            "u_commanded": data.out_u_commanded[:rows].copy(),
            "z": data.out_z[:rows].copy(),
        }
        counts = {name: int(getattr(data, name)) for name in COUNTS}
        return cls(stage, np.array(times), histories, run.bound.memory, p, counts, dict(run.attributes))


def gather(
    eom: EquationsOfMotion,
    pieces: Sequence[Piece],
    events: Sequence[Event],
    transitions: Sequence[Transition],
    p: np.ndarray,
    outcome: Outcome,
) -> StagedSimulation:
    """Combine all pieces into one history."""
    t = frozen(np.concatenate([piece.t for piece in pieces]))
    labels = eom.labels
    rows = Labels(eom.constraint_rows, (), "row")
    lam, unique = _multipliers(eom, pieces, len(rows))
    histories: dict[Letter, tuple[np.ndarray, Labels]] = {
        "x": (_stack(pieces, "x"), labels.x),
        "u": (_stack(pieces, "u"), labels.u),
        "u_commanded": (_stack(pieces, "u_commanded"), labels.u),
        "y": (_along(eom, pieces, "outputs", eom.n_y), labels.y),
        "z": _memory(pieces),
        "lam": (lam, rows),
    }
    names = list(dict.fromkeys(piece.stage for piece in pieces))
    stage = np.concatenate([np.full(piece.t.size, names.index(piece.stage)) for piece in pieces])
    first = pieces[0].attributes
    attributes = {**first, "t_span": [first["t_span"][0], pieces[-1].attributes["t_span"][1]]}
    laws = list(dict.fromkeys(piece.attributes["law"] for piece in pieces))
    attributes["law"] = ", ".join(laws)
    attributes["law_hash"] = " ".join(dict.fromkeys(piece.attributes["law_hash"] for piece in pieces))

    def make() -> xarray.Dataset:
        plain = build_dataset(t, histories, events, p, eom.parameters, attributes)
        return add_stages(plain, stage, names, transitions, rows.names, unique)

    arrays: dict[str, tuple[np.ndarray, Labels]] = {"time": (t, Labels(kind="time"))}
    arrays.update({str(letter): pair for letter, pair in histories.items()})
    return StagedSimulation(partial(make), outcome, arrays, equations=eom)


def _stack(pieces: Sequence[Piece], key: str) -> np.ndarray:
    return frozen(np.concatenate([piece.histories[key] for piece in pieces]))


def _along(eom: EquationsOfMotion, pieces: Sequence[Piece], function: str, width: int) -> np.ndarray:
    """Evaluate outputs or multipliers, each stage with its own parameters."""
    found = [np.zeros((piece.t.size, width)) for piece in pieces]
    for piece, values in zip(pieces, found, strict=True):
        if width and piece.t.size:
            values[:] = eom.along(function, piece.t, piece.histories["x"], piece.histories["u"], piece.p)
    return frozen(np.concatenate(found))


def _multipliers(eom: EquationsOfMotion, pieces: Sequence[Piece], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the multipliers and which of them are unique; evaluate them natively if the run was native."""
    if not width or pieces[0].attributes["tier"] not in ("native", "data-driven"):
        return _along(eom, pieces, "multipliers", width), _unique(eom, pieces, width)
    found, unique, compliance = [], [], compliances_of(eom)
    for piece in pieces:
        bound = bind_native(compile_multipliers(eom.functions["terms"], compliance, piece.p))
        inactive = ~active_rows(eom, piece.p)  # the native flag of an inactive constraint is zero, as if not unique
        for row in zip(piece.t, piece.histories["x"], piece.histories["u"], strict=True):
            for argument, value in zip(bound.arguments, row, strict=False):
                argument[:] = value
            bound.call()
            found.append(bound.results[0].copy())
            unique.append(inactive | (bound.results[1] != 0.0))
    return frozen(np.array(found).reshape(-1, width)), np.array(unique, dtype=bool).reshape(-1, width)


def _unique(eom: EquationsOfMotion, pieces: Sequence[Piece], width: int) -> np.ndarray:
    """Return which multipliers are unique, shape (n, width)."""
    found = [
        np.all(shared_directions(eom, t, x, piece.p) == 0.0, axis=1)
        for piece in pieces
        for t, x in zip(piece.t, piece.histories["x"], strict=True)
    ]
    return np.array(found, dtype=bool).reshape(len(found), width)


def _memory(pieces: Sequence[Piece]) -> tuple[np.ndarray, Labels]:
    """Return the memory of all laws, NaN in stages without the law."""
    names = list(dict.fromkeys(name for piece in pieces for name in piece.memory.names))
    units = {name: unit for piece in pieces for name, unit in zip(piece.memory.names, piece.memory.units, strict=True)}
    parts = []
    for piece in pieces:
        part = np.full((piece.t.size, len(names)), np.nan)
        for k, name in enumerate(piece.memory.names):
            part[:, names.index(name)] = piece.histories["z"][:, k]
        parts.append(part)
    return frozen(np.concatenate(parts)), Labels(tuple(names), tuple(units[name] for name in names), "memory")
