"""How long the inputs of a run were saturated: a law asked for more than its limits let through."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacectl.core.errors import warn
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["SATURATED", "judge_saturation"]

SATURATED = "saturated of "  #: begins the key of an input in the stats of a run
_ROUNDING = 1e-9  # of a limit: commands beyond it by less are at the limit
_MUCH = 0.2  # of the run: from here on the share is reported
_NEARLY_ALL = 0.9  # from here on a warning: the law hardly acts

History = tuple[np.ndarray, np.ndarray, np.ndarray]  #: t, u_commanded, p


def judge_saturation(eom: EquationsOfMotion, pieces: Sequence[History]) -> dict[str, float]:
    """Share of a run during which each input was commanded beyond its limits, where it is more than a fifth.

    Commands at a limit are no saturation: what was asked for is given, as in a bang-bang plan that is flown.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of the run.
    pieces : sequence of (t, u_commanded, p)
        Histories of the run, or of its stages one after the other.

    Returns
    -------
    dict of str to float
        ``{"saturated of elbow": 0.63}``, for the stats of the run.
    """
    duration, lost = 0.0, np.zeros(eom.n_u)
    for t, commanded, p in pieces:
        low, high = (np.asarray(limit) for limit in eom.limits(p))
        ends = np.where(np.isfinite([low, high]), np.abs([low, high]), 0.0)
        slack = _ROUNDING * np.max(ends, axis=0)  # of the larger limit: the other one is zero for a thruster
        is_over = (commanded > high + slack) | (commanded < low - slack)
        steps = np.diff(t)
        duration += float(np.sum(steps))
        lost += 0.5 * steps @ (is_over[:-1].astype(float) + is_over[1:])
    shares = {name: float(share) for name, share in zip(eom.inputs, lost / max(duration, 1e-300), strict=True)}
    for name, share in shares.items():
        if share > _NEARLY_ALL:
            warn(
                f"input '{name}' of system '{eom.system.name}' is saturated during {100.0 * share:.0f} % of the run: the law "
                "asks for more than the limits of its actuator let through, and hardly acts; lower its gains, plan a slower "
                "reference, or raise the limits"
            )
    return {f"{SATURATED}{name}": share for name, share in shares.items() if share > _MUCH}
