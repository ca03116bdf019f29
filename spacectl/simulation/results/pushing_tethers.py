"""Straight tethers that would have to push during a run: the model goes on there, a line would be slack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacectl.core.errors import warn
from spacectl.dynamics.reactions.tension import find_tension
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["warn_if_pushing"]

_RECORDS = 200  # of a history that are looked at; tension varies as slowly as the motion
_ROUNDING = 1e-9  # of the largest tension: compression below it is zero

Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  #: t, x, u, p


def warn_if_pushing(eom: EquationsOfMotion, pieces: Sequence[Motion]) -> dict[str, float]:
    """Warn about each straight tether whose tension is negative somewhere, with time and tension.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of the run.
    pieces : sequence of (t, x, u, p)
        Histories of the run, or of its stages one after the other.

    Returns
    -------
    dict of str to float
        Least tension of each straight tether that pushes [N], for the stats of the run.
    """
    found = {}
    for name in [item.name for item in eom.system.point_elements if item.tension_axis is not None]:
        t, tension = _history(eom, name, pieces)
        is_pushing = tension < -_ROUNDING * np.max(np.abs(tension), initial=0.0)
        if np.any(is_pushing):
            worst = int(np.argmin(tension))
            found[f"least_tension of {name}"] = float(tension[worst])
            warn(
                f"tether '{name}' of system '{eom.system.name}' is in compression from t = {t[np.argmax(is_pushing)]:.6g} s on, "
                f"by {-tension[worst]:.3g} N at t = {t[worst]:.6g} s: a straight tether pushes there, a line would be slack. End "
                "the run before (a Guard), hold the tension up by a law, or use ElasticTether, which goes slack"
            )
    return found


def _history(eom: EquationsOfMotion, name: str, pieces: Sequence[Motion]) -> tuple[np.ndarray, np.ndarray]:
    """Times and tension at some of the records, with the first and last one of each piece."""
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
