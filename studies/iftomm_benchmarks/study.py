"""The library of computational benchmarks of IFToMM's technical committee for multibody dynamics, by every formulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from spacectl import ModelError, PublishedResult, Shape, Study, StudyResult

from .cases import FORMULATIONS, Benchmark, Refusal, Result, Road, benchmarks, run_case
from .figures import draw
from .measures import governor_reference_error

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
    plan = [(case, road) for case in cases for road in _roads(case, quick)]
    done = []
    for k, (case, road) in enumerate(plan):
        progress(k / len(plan), f"{case.name} by {road} ({road.tier})")
        done.append(run_case(case, road, _SHORT.get(case.name) if quick else None))
    results = [item for item in done if isinstance(item, Result)]
    refusals = [item for item in done if isinstance(item, Refusal)]
    metrics = _metrics(results, refusals)
    return StudyResult(
        metrics=metrics,
        printed=_printed(metrics["andrews_max_error"], metrics["governor_reference_error"]),
        simulations={_plain(item.benchmark): item.sim for item in reversed(results)},  # the pendulum last
        shapes={"point": Shape(kind="ellipsoid", size=(0.15, 0.15, 0.15))},
        figures=draw(results),
        notes=_notes(results, refusals),
    )


def _printed(andrews: float, governor: float) -> tuple[PublishedResult, ...]:
    """Solutions in print; the test set asks for as many digits as its own were computed with."""
    return (
        PublishedResult(
            what="seven angles of Andrews' mechanism at 0.03 s",
            source="test set for IVP solvers (Bari), PSIDE at 1e-14",
            printed="seven numbers",
            ours=f"the same to {andrews:.0e}",
            holds=andrews < 1e-8,
            criterion="largest relative difference below 1e-8",
            remark="relative; see the study's README for what limits the printed digits",
        ),
        PublishedResult(
            what="height of the governor's slider, 31 times to 3 s",
            source="MBS benchmark library, drawn in the OpenSim port",
            printed="31 numbers of six digits",
            ours=f"the same to {governor:.0e}",
            holds=governor < 4e-6,
            criterion="largest relative difference below 4e-6, two units of the last digit",
            remark="relative",
        ),
    )


_SHORT = {"pendulum": 0.6, "four-bar, N = 2": 1.0, "Bricard": 0.4, "governor": 4.0}  # [s], quick form
_QUICK = {  # formulations of the quick form that share little; most from Python, which spares compilation
    "pendulum": ("multipliers", "partitioned"),
    "four-bar, N = 2": ("partitioned", "embedded"),
    "Andrews": ("partitioned",),
    "Bricard": ("kane", "partitioned", "multipliers"),
    "governor": ("articulated", "embedded"),
}


def _roads(case: Benchmark, quick: bool) -> list[Road]:
    """Each formulation compiled, and by its own solver from Python where that takes less than a minute."""
    if quick:
        tier = "native" if case.name in ("Andrews", "governor") else "vm"
        return [Road(name, tier=tier) for name in _QUICK[case.name]]
    if case.name == "governor" or (case.name.startswith("four-bar") and case.name != "four-bar, N = 2"):
        return list(FORMULATIONS)
    own = [replace(road, tier="vm") for road in FORMULATIONS if road.coordinates == "joint"]
    return [*FORMULATIONS, *own]


def _plain(name: str) -> str:
    return name.replace(" ", "").replace("=", "").replace(",", "_")


def _metrics(results: list[Result], refusals: list[Refusal]) -> dict[str, Any]:
    def worst(name: str, what: str) -> float:
        return max(getattr(item, what) for item in results if item.benchmark.startswith(name))

    governors = [item for item in results if item.benchmark == "governor"]
    named: dict[str, Any] = {
        "andrews_max_error": worst("Andrews", "error"),
        "fourbar_energy_drift": worst("four-bar", "drift"),
        "bricard_energy_drift": worst("Bricard", "drift"),
        "governor_max_error": worst("governor", "error"),
        "governor_reference_error": max(governor_reference_error(item.eom, item.sim) for item in governors),
        "pendulum_max_error": worst("pendulum", "error"),
        "pendulum_energy_drift": worst("pendulum", "drift"),
        "fourbar_max_error": worst("four-bar", "error"),
        "andrews_energy_balance": worst("Andrews", "drift"),
        "all_within_measure": all(item.error <= _allowed(item) for item in results),
    }
    named["runs"] = [f"{item.benchmark}: {item.road} ({item.road.tier})" for item in results]
    named["errors"] = [item.error for item in results]
    named["cpu_seconds"] = [item.seconds for item in results]
    named["not_applicable"] = _refused(results, refusals)
    return named


def _allowed(item: Result) -> float:
    return next(limit for name, limit in ALLOWED.items() if item.benchmark.startswith(name))


def _refused(results: list[Result], refusals: list[Refusal]) -> list[str]:
    """Who does not apply to which benchmark, and why; with the tier where the other one does."""
    served = {(item.benchmark, str(item.road)) for item in results}
    named = {
        f"{item.benchmark}: {item.road}"
        + (f" ({item.road.tier})" if (item.benchmark, str(item.road)) in served else ""): item
        for item in refusals
    }
    return [f"{name}: {item.reason}" for name, item in named.items()]


def _notes(results: list[Result], refusals: list[Refusal]) -> tuple[str, ...]:
    """One sentence for each benchmark: errors and times by formulation; and who does not apply."""
    errors, times = [item.error for item in results], [item.seconds for item in results]
    sentences = [
        f"On {len({item.benchmark for item in results})} benchmarks errors lie between {min(errors):.0e} and {max(errors):.0e}, "
        f"processor times between {min(times):.2g} and {max(times):.2g} s, each with the tolerance that it asks for."
    ]
    for name in dict.fromkeys(item.benchmark for item in results):
        own = [item for item in results if item.benchmark == name]
        listed = "; ".join(f"{item.road} ({item.road.tier}) {item.error:.1e}, {item.seconds:.2g} s" for item in own)
        sentences.append(f"{name}: error and processor time by {listed}.")
    return (*sentences, *(f"Does not apply: {text}." for text in _refused(results, refusals)))


STUDY = Study(
    question="How accurate and how fast are the formulations on the benchmarks of the IFToMM library?",
    parameters=Parameters(),
    run=run,
)
