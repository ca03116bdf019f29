"""How far flexible bodies leave the range of their small-deflection theory during a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from spacectl.core.errors import warn
from spacectl.dynamics.described import described_system
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.model.bodies.base.flexible import WITHIN_THEORY

__all__ = ["judge_theory", "theory_errors", "warn_beyond_theory"]


def judge_theory(eom: EquationsOfMotion, motions: Iterable[tuple[np.ndarray, Any]]) -> dict[str, float]:
    """Entries for the stats of a run: the largest error of all bodies and that of each; warns beyond the theory's range.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    motions : iterable of (x, p)
        Records (n, n_x) and the run-time parameters that they were found with.
    """
    errors: dict[str, float] = {}
    for x, p in motions:
        for name, error in theory_errors(eom, x, p).items():
            errors[name] = max(error, errors.get(name, 0.0))
    warn_beyond_theory(eom, errors)
    if not errors:
        return {}
    return {"theory_error": max(errors.values()), **{f"theory_error of {name}": e for name, e in errors.items()}}


def theory_errors(eom: EquationsOfMotion, x: np.ndarray, p: Any = None) -> dict[str, float]:
    """Largest estimated error of each flexible body's theory over records x (..., n_x); rows that are not finite are left out.

    The bodies are those of the run-time parameters p: deflections of a longer beam are smaller angles.
    """
    states = np.asarray(x).reshape(-1, eom.n_x)
    states = states[np.all(np.isfinite(states), axis=1)]
    if not len(states):
        return {}
    found = {}
    for body in described_system(eom, p).flexible_bodies:
        columns = [eom.coordinates.index(f"{body.name}.{name}") for name in body.modal_names]
        found[body.name] = float(np.max(body.theory_error(states[:, columns])))
    return found


def warn_beyond_theory(eom: EquationsOfMotion, errors: Mapping[str, Any]) -> None:
    """Warn about bodies whose estimated error is more than `WITHIN_THEORY`, the worst one with its remedy."""
    beyond = {name: error for name, error in errors.items() if error > WITHIN_THEORY}
    if not beyond:
        return
    worst = max(beyond, key=lambda name: beyond[name])
    others = [f"'{name}'" for name in beyond if name != worst]
    also = f" (also {', '.join(others)})" if others else ""
    if beyond[worst] < 1.0:
        remedy = eom.system.part(worst).body.flexible.theory_remedy(beyond[worst])
        verdict = f"results may be off by about {100.0 * beyond[worst]:.2g} %; {remedy}"
    else:  # an estimate of second order says nothing here, and no number of segments is sensible
        verdict = "results are qualitative at best; look for an unstable motion, or cut a beam into segments"
    warn(f"body '{worst}'{also} bends beyond the range of its theory of small deflections: {verdict}")
