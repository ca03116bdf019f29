"""Collects measurements of one run into sections and writes them as a page (bench.md) and as data (bench.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.measure import Timing, load_average

__all__ = ["Comparison", "Figure", "Section", "add_to_history", "compare", "write_report"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Ours against one peer at the same work; the ratio is peer's time over ours, paired by repetition."""

    work: str
    ours: Timing
    peer: Timing
    ratio: float
    quartiles: tuple[float, float]
    goal: float | None = None
    cpu_ratio: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        return None if self.goal is None else self.ratio >= self.goal


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number that has no peer, or that qualifies a comparison; a goal is an upper bound.

    `is_timed` says that it depends on the machine, so that no test may insist on its goal.
    """

    what: str
    value: float
    unit: str = ""
    goal: float | None = None
    is_timed: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether it lies within its goal; None without one."""
        return None if self.goal is None else self.value <= self.goal


@dataclass
class Section:
    """One benchmark: what was measured, and under which load."""

    title: str
    statement: str
    comparisons: list[Comparison] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    load: list[float] = field(default_factory=lambda: [load_average()])

    def add(self, work: str, ours: Timing, peer: Timing, goal: float | None = None) -> Comparison:
        """Compare and keep."""
        self.comparisons.append(compare(work, ours, peer, goal))
        return self.comparisons[-1]

    def finish(self) -> Section:
        """Note the load at the end."""
        self.load.append(load_average())
        return self


def compare(work: str, ours: Timing, peer: Timing, goal: float | None = None) -> Comparison:
    """Ratio of two timings whose repetitions were interleaved."""
    ratios = peer.seconds / ours.seconds
    low, high = np.percentile(ratios, [25.0, 75.0])
    cpu = None
    if ours.cpu_seconds is not None and peer.cpu_seconds is not None and np.all(ours.cpu_seconds > 0.0):
        cpu = float(np.median(peer.cpu_seconds / ours.cpu_seconds))
    return Comparison(
        work=work, ours=ours, peer=peer, ratio=float(np.median(ratios)), quartiles=(float(low), float(high)), goal=goal,
        cpu_ratio=cpu,
    )  # fmt: skip


def write_report(folder: Path, sections: Sequence[Section], machine: Mapping[str, str]) -> tuple[Path, Path]:
    """Write bench.md and bench.json into `folder`; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    page, data = folder / "bench.md", folder / "bench.json"
    lines = ["# Benchmarks", "", *(f"- {name}: {value}" for name, value in machine.items()), ""]
    lines += [
        "Medians with quartiles in brackets; ratio = time of the peer over ours, paired by repetition (CPU: of processor time).",
        "",
    ]
    for section in sections:
        lines += _section_lines(section)
    page.write_text("\n".join(lines), encoding="utf-8")
    content = {"machine": dict(machine), "sections": [_section_data(section) for section in sections]}
    data.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return page, data


def add_to_history(file: Path, sections: Sequence[Section], machine: Mapping[str, str], when: str) -> None:
    """Append one line to a history: when, on which machine, and the ratio of every comparison."""
    ratios = {
        f"{section.title}: {row.work}: {row.ours.name} / {row.peer.name}": [
            round(row.ratio, 4),
            *np.round(row.quartiles, 4),
        ]
        for section in sections
        for row in section.comparisons
    }
    load = [min(section.load[0] for section in sections), max(section.load[-1] for section in sections)]
    line = {"when": when, "machine": dict(machine), "load": np.round(load, 2).tolist(), "ratios": ratios}
    with file.open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(line) + "\n")


def _section_lines(section: Section) -> list[str]:
    begin, end = section.load[0], section.load[-1]
    lines = [f"## {section.title}", "", f"{section.statement} Load average {begin:.2f} before, {end:.2f} after.", ""]
    if section.comparisons:
        lines += [
            "| work | ours | time | peer | time | ratio | CPU | goal | met |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row.work} | {row.ours.name} | {show(row.ours)} | {row.peer.name} | {show(row.peer)} "
            f"| {row.ratio:.2f} [{row.quartiles[0]:.2f}, {row.quartiles[1]:.2f}] "
            f"| {'' if row.cpu_ratio is None else f'{row.cpu_ratio:.2f}'} "
            f"| {'' if row.goal is None else f'>= {row.goal:g}'} | {_answer(row.is_met)} |"
            for row in section.comparisons
        ]
        lines.append("")
    if section.figures:
        lines += ["| figure | value | goal | met |", "|---|---|---|---|"]
        lines += [
            f"| {item.what} | {item.value:.4g} {item.unit} "
            f"| {'' if item.goal is None else f'<= {item.goal:g}'} | {_answer(item.is_met)} |"
            for item in section.figures
        ]
        lines.append("")
    return lines + [f"{note}\n" for note in section.notes]


def show(timing: Timing) -> str:
    """Median with quartiles in the unit that suits it."""
    scale, unit = next(
        ((scale, unit) for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")) if timing.median * scale >= 1.0),
        (1e9, "ns"),
    )
    low, high = timing.quartiles
    return f"{timing.median * scale:.3g} {unit} [{low * scale:.3g}, {high * scale:.3g}]"


def _answer(is_met: bool | None) -> str:
    return "" if is_met is None else ("yes" if is_met else "NO")


def _section_data(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "statement": section.statement,
        "load": section.load,
        "notes": section.notes,
        "comparisons": [
            {
                "work": row.work,
                "ratio": row.ratio,
                "ratio_quartiles": row.quartiles,
                "cpu_ratio": row.cpu_ratio,
                "goal": row.goal,
                "met": row.is_met,
                "ours": _timing_data(row.ours),
                "peer": _timing_data(row.peer),
            }
            for row in section.comparisons
        ],
        "figures": [
            {"what": item.what, "value": item.value, "unit": item.unit, "goal": item.goal, "met": item.is_met}
            for item in section.figures
        ],
    }


def _timing_data(timing: Timing) -> dict[str, Any]:
    return {
        "name": timing.name,
        "median_seconds": timing.median,
        "quartiles_seconds": timing.quartiles,
        "repetitions": timing.seconds.size,
        "calls_per_repetition": timing.calls,
    }
