"""The library of computational benchmarks of IFToMM's technical committee for multibody dynamics, by every formulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spacectl import ModelError, Printed, Study, StudyResult

from .cases import Benchmark, Result, benchmarks, run_case
from .figures import draw

ALLOWED = {"pendulum": 1e-3, "four-bar": 1e-3, "Andrews": 1e-3, "Bricard": 1e-3, "governor": 1e-3}  # high precision


@dataclass(frozen=True)
class Parameters:
    """What can be changed."""

    rtol: float = 1e-9  # of each step; Andrews' is a hundred times tighter, the governor's ten times looser
    windows: int = 40  # of the long four-bar chain


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Run every benchmark by every formulation that applies."""
    if not 0.0 < parameters.rtol < 1e-3 or parameters.windows < 2:
        raise ModelError("iftomm_benchmarks: expected 0 < rtol < 1e-3 and at least 2 windows")
    rtol = 10.0 * parameters.rtol if quick else parameters.rtol
    cases = benchmarks(rtol, windows=(2,) if quick else (2, parameters.windows))
    plan = [(case, name, tier) for case in cases for name, tier in _roads(case, quick)]
    results = []
    for k, (case, name, tier) in enumerate(plan):
        progress(k / len(plan), f"{case.name} by {name} ({tier})")
        is_short = quick and case.name != "Andrews"
        results.append(run_case(case, name, tier, 3.0 if is_short else None))
    metrics = _metrics(results)
    return StudyResult(
        metrics=metrics,
        printed=(_printed(metrics["andrews_max_error"]),),
        simulations={item.benchmark.replace(" ", "").replace("=", "").replace(",", "_"): item.sim for item in results},
        figures=draw(results),
        notes=_notes(results),
    )


def _printed(error: float) -> Printed:
    """The one printed solution; the test set asks for as many digits as its own were computed with."""
    return Printed(
        what="seven angles of Andrews' mechanism at 0.03 s",
        source="test set for IVP solvers (Bari), PSIDE at 1e-14",
        printed="seven numbers",
        ours=f"the same to {error:.0e}",
        verdict="agrees" if error < 1e-8 else "differs",
        remark="relative; see the study's README for what limits the printed digits",
    )


def _roads(case: Benchmark, quick: bool) -> list[tuple[str, str]]:
    """(formulation, tier): each formulation's own solver, and native code (one kernel for all but `partitioned`)."""
    if case.name == "governor":  # a tree, and the same with a guided slider
        native = ("articulated",) if quick else case.formulations
        return [(name, "native") for name in native]
    if quick:
        first = {"Andrews": (), "Bricard": ("kane",)}.get(case.name, ("multipliers",))
        return [(name, "vm") for name in (*first, "partitioned")]
    slow = case.name.startswith("four-bar") and case.name != "four-bar, N = 2"
    own = ("multipliers", "partitioned") if slow else case.formulations
    return [*((name, "vm") for name in own), ("kane", "native"), ("partitioned", "native")]


def _metrics(results: list[Result]) -> dict[str, Any]:
    def worst(name: str, what: str) -> float:
        return max(getattr(item, what) for item in results if item.benchmark.startswith(name))

    named: dict[str, Any] = {
        "andrews_max_error": worst("Andrews", "error"),
        "fourbar_energy_drift": worst("four-bar", "drift"),
        "bricard_energy_drift": worst("Bricard", "drift"),
        "governor_max_error": worst("governor", "error"),
        "pendulum_max_error": worst("pendulum", "error"),
        "pendulum_energy_drift": worst("pendulum", "drift"),
        "fourbar_max_error": worst("four-bar", "error"),
        "andrews_energy_balance": worst("Andrews", "drift"),
        "all_within_measure": all(item.error <= _allowed(item) for item in results),
    }
    named["runs"] = [f"{item.benchmark}: {item.formulation} ({item.tier})" for item in results]
    named["errors"] = [item.error for item in results]
    named["cpu_seconds"] = [item.seconds for item in results]
    return named


def _allowed(item: Result) -> float:
    return next(limit for name, limit in ALLOWED.items() if item.benchmark.startswith(name))


def _notes(results: list[Result]) -> tuple[str, ...]:
    """One sentence for each benchmark: errors and times by formulation."""
    sentences = []
    for name in dict.fromkeys(item.benchmark for item in results):
        own = [item for item in results if item.benchmark == name]
        listed = "; ".join(f"{item.formulation} ({item.tier}) {item.error:.1e}, {item.seconds:.2g} s" for item in own)
        sentences.append(f"{name}: error and processor time by {listed}.")
    return tuple(sentences)


STUDY = Study(
    question="How accurate and how quick are the formulations on the benchmarks of IFToMM's library?",
    parameters=Parameters(),
    run=run,
)
