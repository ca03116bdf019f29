"""The computational benchmarks of IFToMM's technical committee for multibody dynamics, by every formulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from spacectl import ModelError, PublishedResult, Shape, Study, StudyResult

from .cases import FORMULATIONS, Benchmark, Method, Refusal, Result, benchmarks, run_case
from .figures import draw
from .measures import governor_reference_error

ALLOWED = {"pendulum": 1e-3, "four-bar": 1e-3, "Andrews": 1e-3, "Bricard": 1e-3, "governor": 1e-3}  # high precision


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study."""

    rtol: float = 1e-9  # of each step; Andrews' is a hundred times tighter, the governor's ten times looser
    windows: int = 40  # of the long four-bar chain


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Run every benchmark by every formulation that applies."""
    if not 0.0 < parameters.rtol < 1e-3 or parameters.windows < 2:
        raise ModelError("iftomm_benchmarks: expected 0 < rtol < 1e-3 and at least 2 windows")
    rtol = 10.0 * parameters.rtol if quick else parameters.rtol
    cases = benchmarks(rtol, windows=(2,) if quick else (2, parameters.windows))
    plan = [(case, method) for case in cases for method in _methods(case, quick)]
    done = []
    for k, (case, method) in enumerate(plan):
        progress(k / len(plan), f"{case.name} by {method} ({method.tier})")
        done.append(run_case(case, method, _SHORT.get(case.name) if quick else None))
    results = [item for item in done if isinstance(item, Result)]
    refusals = [item for item in done if isinstance(item, Refusal)]
    metrics = _metrics(results, refusals)
    return StudyResult(
        metrics=metrics,
        printed=_published(metrics["andrews_max_error"], metrics["governor_reference_error"]),
        simulations={_plain(item.benchmark): item.sim for item in reversed(results)},  # the pendulum last
        shapes={"point": Shape(kind="ellipsoid", size=(0.15, 0.15, 0.15))},
        figures=draw(results),
        notes=_notes(results, refusals),
    )


def _published(andrews: float, governor: float) -> tuple[PublishedResult, ...]:
    """Compare with published solutions; the test set requires as many digits as its own solution was computed with."""
    return (
        PublishedResult(
            what="seven angles of Andrews' mechanism at 0.03 s",
            source="test set for IVP solvers (Bari), PSIDE at 1e-14",
            printed="seven numbers",
            ours=f"equal to {andrews:.0e}",
            holds=andrews < 1e-8,
            criterion="largest relative difference below 1e-8",
            remark="relative; the study's README explains the limits of the published digits",
        ),
        PublishedResult(
            what="height of the governor's slider, 31 times to 3 s",
            source="MBS benchmark library, drawn in the OpenSim port",
            printed="31 numbers of six digits",
            ours=f"equal to {governor:.0e}",
            holds=governor < 4e-6,
            criterion="largest relative difference below 4e-6, two units of the last digit",
            remark="relative",
        ),
    )


_SHORT = {"pendulum": 0.6, "four-bar, N = 2": 1.0, "Bricard": 0.4, "governor": 4.0}  # [s], quick form
_QUICK = {  # formulations of the quick form that share little code; most from Python, which avoids compilation
    "pendulum": ("multipliers", "partitioned"),
    "four-bar, N = 2": ("partitioned", "embedded"),
    "Andrews": ("partitioned",),
    "Bricard": ("kane", "partitioned", "multipliers"),
    "governor": ("articulated", "embedded"),
}


def _methods(case: Benchmark, quick: bool) -> list[Method]:
    """Return each formulation, compiled and by its own solver from Python where that takes less than a minute."""
    if quick:
        tier = "native" if case.name in ("Andrews", "governor") else "vm"
        return [Method(name, tier=tier) for name in _QUICK[case.name]]
    if case.name == "governor" or (case.name.startswith("four-bar") and case.name != "four-bar, N = 2"):
        return list(FORMULATIONS)
    own = [replace(method, tier="vm") for method in FORMULATIONS if method.coordinates == "joint"]
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
    named["runs"] = [f"{item.benchmark}: {item.method} ({item.method.tier})" for item in results]
    named["errors"] = [item.error for item in results]
    named["cpu_seconds"] = [item.seconds for item in results]
    named["not_applicable"] = _refused(results, refusals)
    return named


def _allowed(item: Result) -> float:
    return next(limit for name, limit in ALLOWED.items() if item.benchmark.startswith(name))


def _refused(results: list[Result], refusals: list[Refusal]) -> list[str]:
    """Return which methods do not apply to which benchmark, and why; with the tier where the other tier applies."""
    served = {(item.benchmark, str(item.method)) for item in results}
    named = {
        f"{item.benchmark}: {item.method}"
        + (f" ({item.method.tier})" if (item.benchmark, str(item.method)) in served else ""): item
        for item in refusals
    }
    return [f"{name}: {item.reason}" for name, item in named.items()]


def _notes(results: list[Result], refusals: list[Refusal]) -> tuple[str, ...]:
    """Return one sentence for each benchmark with errors and times by formulation; and methods that do not apply."""
    errors, times = [item.error for item in results], [item.seconds for item in results]
    sentences = [
        f"On {len({item.benchmark for item in results})} benchmarks the errors are between {min(errors):.0e} and "
        f"{max(errors):.0e} and the processor times between {min(times):.2g} and {max(times):.2g} s, each at its tolerance."
    ]
    for name in dict.fromkeys(item.benchmark for item in results):
        own = [item for item in results if item.benchmark == name]
        listed = "; ".join(f"{item.method} ({item.method.tier}) {item.error:.1e}, {item.seconds:.2g} s" for item in own)
        sentences.append(f"{name}: error and processor time by {listed}.")
    return (*sentences, *(f"Does not apply: {text}." for text in _refused(results, refusals)))


STUDY = Study(
    question="How accurate and how fast are the formulations on the benchmarks of the IFToMM library?",
    parameters=Parameters(),
    run=run,
)
