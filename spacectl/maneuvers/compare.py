"""Compare several maneuvers: time, residual energy, deflection, effort, and sensitivity to wrong frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.maneuvers.measure import Flight, measure_flight, scale_stiffness
from spacectl.maneuvers.near_minimum_time import STRATEGIES, Maneuver, Strategy, fly_plan, plan_near_minimum_time
from spacectl.planners.paths.path import Path
from spacectl.planners.plan import Plan
from spacectl.simulation.run.simulate import simulate

__all__ = ["ManeuverComparison", "ManeuverRow", "compare_maneuvers", "compare_near_minimum_time"]


@dataclass(frozen=True, kw_only=True)
class ManeuverRow:
    """One maneuver of a comparison.

    Parameters
    ----------
    name : str
        Name of the maneuver.
    nominal : Flight
        With the planned frequencies.
    soft, stiff : Flight
        With frequencies lower and higher than the plan assumes.
    neighbourhood : float
        That of the nominal flight (see `Maneuver`).
    """

    name: str
    nominal: Flight
    soft: Flight
    stiff: Flight
    neighbourhood: float


@dataclass(frozen=True, kw_only=True)
class ManeuverComparison:
    """Rows of a comparison.

    Parameters
    ----------
    rows : tuple of ManeuverRow
        In the order given.
    frequency_error : float
        Relative change of the frequencies in the soft and stiff flights.
    maneuvers : tuple of Maneuver
        The compared maneuvers.
    """

    rows: tuple[ManeuverRow, ...]
    frequency_error: float
    maneuvers: tuple[Maneuver, ...]

    def __getitem__(self, name: str) -> ManeuverRow:
        found = [row for row in self.rows if row.name == name]
        if not found:
            raise KeyError(f"no maneuver '{name}'; there are {[row.name for row in self.rows]}")
        return found[0]

    def tabulate(self) -> str:
        """Return the table as text, with units."""
        percent = f"{100.0 * self.frequency_error:g} %"
        heads = (
            "maneuver", "plan [s]", "arrival [s]", "residual [J]", "deflection [m]", "effort [1]",
            f"-{percent} freq. [J]", f"+{percent} freq. [J]",
        )  # fmt: skip
        body = [(row.name, *_cells(row)) for row in self.rows]
        widths = [max(len(line[k]) for line in (heads, *body)) for k in range(len(heads))]
        lines = [
            "  ".join(
                cell.rjust(w) if k else cell.ljust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in (heads, *body)
        ]
        return "\n".join(lines)


def compare_maneuvers(
    eom: EquationsOfMotion, maneuvers: Sequence[Maneuver], *, frequency_error: float = 0.1
) -> ManeuverComparison:
    """Simulate each maneuver again with stiffer and softer bodies, laws unchanged, and return all results in one table.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    maneuvers : sequence of Maneuver
        From `plan_near_minimum_time` or `fly_plan`.
    frequency_error : float
        Relative change of all elastic frequencies, in both directions.
    """
    if not 0.0 < frequency_error < 1.0:
        raise ModelError(f"compare_maneuvers: frequency_error is {frequency_error:g}, expected between 0 and 1")
    rows = []
    for item in maneuvers:
        soft, stiff = (_fly_again(eom, item, (1.0 + sign * frequency_error) ** 2) for sign in (-1.0, 1.0))
        rows.append(
            ManeuverRow(name=item.name, nominal=item.flight, soft=soft, stiff=stiff, neighbourhood=item.neighbourhood)
        )
    return ManeuverComparison(rows=tuple(rows), frequency_error=frequency_error, maneuvers=tuple(maneuvers))


def compare_near_minimum_time(
    eom: EquationsOfMotion,
    path: Path,
    *,
    plans: Sequence[Plan] = (),
    strategies: Sequence[Strategy] | None = None,
    fraction: float = 0.8,
    limits: Any = (),
    Q: Any = None,
    R: Any = None,
    settle_time: float = 30.0,
    frequency_error: float = 0.1,
) -> ManeuverComparison:
    """Simulate all near-minimum-time strategies along a path, and other plans of the same maneuver; return one table.

    Parameters
    ----------
    eom : EquationsOfMotion
        The flexible plant.
    path : Path
        The path of its rigid counterpart.
    plans : sequence of Plan
        Further plans, such as the flexible optimum of `plan_collocation`; flown with LQR after their end.
    strategies : sequence of {"after", "during", "shaped", "bang_bang"}, optional
        Default all of them; ``"bang_bang"``, which leaves the path, only where no further limits are given.
    fraction : float
        Fraction of the limits for the plan of ``"during"``.
    limits, Q, R, settle_time : as in `plan_near_minimum_time`
        Applied to all of them.
    frequency_error : float
        As in `compare_maneuvers`.
    """
    chosen = [item for item in STRATEGIES if item != "bang_bang" or not limits] if strategies is None else strategies
    options: dict[str, Any] = {"Q": Q, "R": R, "settle_time": settle_time}
    flown = [
        plan_near_minimum_time(
            eom, path, strategy=item, fraction=fraction if item == "during" else None, limits=limits, **options
        )
        for item in chosen
    ]
    flown += [fly_plan(eom, plan, name=plan.name, **options) for plan in plans]
    return compare_maneuvers(eom, flown, frequency_error=frequency_error)


def _fly_again(eom: EquationsOfMotion, item: Maneuver, factor: float) -> Flight:
    p = scale_stiffness(eom, factor)
    t = np.asarray(item.simulation.t)
    sim = simulate(
        eom, item.law, x0=np.asarray(item.simulation.x)[0], t_span=(float(t[0]), float(t[-1])), grid=t, p=p,
        stops=(*item.plan.switch_times, item.plan.final_time), rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    return measure_flight(eom, sim, item.target.x, item.plan.final_time, p=p, factor=factor)


def _cells(row: ManeuverRow) -> tuple[str, ...]:
    flight = row.nominal
    arrival = "-" if flight.arrival_time is None else f"{flight.arrival_time:.2f}"
    energies = (row.soft.residual_energy, row.stiff.residual_energy)
    return (
        f"{flight.plan_time:.2f}", arrival, f"{flight.residual_energy:.3g}", f"{flight.peak_deflection:.3f}",
        f"{flight.peak_effort:.3f}", *(f"{energy:.3g}" for energy in energies),
    )  # fmt: skip
