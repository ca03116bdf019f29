"""Check the validity of a finished run: range of the theory, compressed tethers, constraint residuals, saturated inputs.

Each function evaluates the recorded histories, issues warnings and returns entries for the statistics of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spacectl.core.errors import warn
from spacectl.dynamics.reactions.tension import find_tension
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import described_system
from spacectl.model.bodies.base.flexible import WITHIN_THEORY

__all__ = [
    "SATURATED",
    "constraint_residuals",
    "judge_saturation",
    "judge_theory",
    "theory_errors",
    "warn_beyond_theory",
    "warn_if_pushing",
]


def judge_theory(eom: EquationsOfMotion, motions: Iterable[tuple[np.ndarray, Any]]) -> dict[str, float]:
    """Return the estimated theory error of each flexible body and the largest one; warn if the theory is out of its range.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    motions : iterable of (x, p)
        Records, shape (n, n_x), and the run-time parameters of the run.
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
    """Return the largest estimated theory error of each flexible body over records x (..., n_x), without non-finite rows.

    The bodies are those of the run-time parameters p: on a longer beam the same deflections are smaller angles.
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
    """Warn about bodies whose estimated error exceeds `WITHIN_THEORY`, with a remedy for the worst one."""
    beyond = {name: error for name, error in errors.items() if error > WITHIN_THEORY}
    if not beyond:
        return
    worst = max(beyond, key=lambda name: beyond[name])
    others = [f"'{name}'" for name in beyond if name != worst]
    also = f" (also {', '.join(others)})" if others else ""
    if beyond[worst] < 1.0:
        remedy = eom.system.part(worst).body.flexible.theory_remedy(beyond[worst])
        verdict = f"results may be off by about {100.0 * beyond[worst]:.2g} %; {remedy}"
    else:  # a second-order estimate is meaningless here, and so is a number of segments
        verdict = "results are qualitative at best; look for an unstable motion, or cut a beam into segments"
    warn(f"body '{worst}'{also} bends beyond the range of its theory of small deflections: {verdict}")


_RECORDS = 200  # number of records that are evaluated; tension varies as slowly as the motion
_SLACK_FORCE = 1e-9  # compression, relative to the largest tension, below which it is zero

Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  #: t, x, u, p


def warn_if_pushing(eom: EquationsOfMotion, pieces: Sequence[Motion]) -> dict[str, float]:
    """Warn about each straight tether with negative tension, with its time and value.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the run.
    pieces : sequence of (t, x, u, p)
        Histories of the run, or of its stages in sequence.

    Returns
    -------
    dict of str to float
        Smallest tension of each straight tether in compression [N], for the stats of the run.
    """
    found = {}
    for name in [item.name for item in eom.system.point_elements if item.tension_axis is not None]:
        t, tension = _history(eom, name, pieces)
        is_pushing = tension < -_SLACK_FORCE * np.max(np.abs(tension), initial=0.0)
        if np.any(is_pushing):
            worst = int(np.argmin(tension))
            found[f"least_tension of {name}"] = float(tension[worst])
            warn(
                f"tether '{name}' of system '{eom.system.name}' is in compression from t = {t[np.argmax(is_pushing)]:.6g} s on, "
                f"by {-tension[worst]:.3g} N at t = {t[worst]:.6g} s: a straight tether pushes there, a real one would be slack. "
                "End the run earlier (a Guard), maintain the tension by a law, or use ElasticTether, which goes slack"
            )
    return found


def _history(eom: EquationsOfMotion, name: str, pieces: Sequence[Motion]) -> tuple[np.ndarray, np.ndarray]:
    """Return times and tension at some of the records, with the first and last one of each piece."""
    times, tensions = [np.zeros(0)], [np.zeros(0)]
    total = max(sum(len(t) for t, *_ in pieces), 1)
    for t, x, u, p in pieces:
        count = max(2, round(_RECORDS * len(t) / total))
        chosen = np.unique(np.linspace(0, len(t) - 1, min(count, len(t))).round().astype(int))
        rows = [int(k) for k in chosen if np.all(np.isfinite(x[k]))]
        if rows:
            times.append(t[rows])
            tensions.append(find_tension(eom, name, t[rows], x[rows], u=u[rows], p=p)[:, 0])
    return np.concatenate(times), np.concatenate(tensions)


def constraint_residuals(eom: EquationsOfMotion, t: np.ndarray, x: np.ndarray, p: Any) -> dict[str, float]:
    """Return the largest constraint residuals over the records, at position and speed level; empty for a tree.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    t : array, shape (n,)
        Times [s].
    x : array, shape (n, n_x)
        States; non-finite rows are ignored.
    p : array, shape (n_p,)
        Run-time parameters.

    Returns
    -------
    dict
        ``position_residual`` and ``speed_residual`` in the units of the constraint equations.
    """
    finite = np.all(np.isfinite(x), axis=1)
    if not eom.constraint_rows or not np.any(finite):
        return {}
    g = np.abs(eom.along("residual", np.asarray(t)[finite], np.asarray(x)[finite], None, p)).reshape(np.sum(finite), -1)
    positions, speeds = g[:, : len(eom.position_rows)], g[:, len(eom.position_rows) :]
    return {
        "position_residual": float(np.max(positions, initial=0.0)),
        "speed_residual": float(np.max(speeds, initial=0.0)),
    }


SATURATED = "saturated of "  #: prefix of the key of an input in the stats of a run
_ROUNDING = 1e-9  # excess over a limit, relative to it, that counts as rounding
_MUCH = 0.2  # share of the run in saturation above which it is reported
_NEARLY_ALL = 0.9  # share above which a warning is issued: the law has almost no authority

History = tuple[np.ndarray, np.ndarray, np.ndarray]  #: t, u_commanded, p


def judge_saturation(eom: EquationsOfMotion, pieces: Sequence[History]) -> dict[str, float]:
    """Return the share of a run during which each input was commanded beyond its limits, if it is more than a fifth.

    Commands at a limit do not count as saturation, because the actuator provides them, as in a bang-bang plan.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the run.
    pieces : sequence of (t, u_commanded, p)
        Histories of the run, or of its stages in sequence.

    Returns
    -------
    dict of str to float
        ``{"saturated of elbow": 0.63}``, for the stats of the run.
    """
    duration, lost = 0.0, np.zeros(eom.n_u)
    for t, commanded, p in pieces:
        low, high = (np.asarray(limit) for limit in eom.limits(p))
        if not np.isfinite([low, high]).any():
            duration += float(t[-1] - t[0]) if len(t) else 0.0
            continue
        ends = np.where(np.isfinite([low, high]), np.abs([low, high]), 0.0)
        slack = _ROUNDING * np.max(ends, axis=0)  # relative to the larger limit: the other one is zero for a thruster
        is_over = (commanded > high + slack) | (commanded < low - slack)
        steps = np.diff(t)
        duration += float(np.sum(steps))
        lost += 0.5 * steps @ (is_over[:-1].astype(float) + is_over[1:])
    if not duration:
        return {}
    shares = {name: float(share) for name, share in zip(eom.inputs, lost / duration, strict=True)}
    for name, share in shares.items():
        if share > _NEARLY_ALL:
            warn(
                f"input '{name}' of system '{eom.system.name}' is saturated during {100.0 * share:.0f} % of the run: the law "
                "commands more than the limits of its actuator and has almost no authority; lower its gains, plan a slower "
                "reference, or raise the limits"
            )
    return {f"{SATURATED}{name}": share for name, share in shares.items() if share > _MUCH}
