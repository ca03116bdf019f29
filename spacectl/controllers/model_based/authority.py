"""Authority of laws that invert a matrix of the model: checked at design, monitored in simulation, by one measure.

The measure is the leverage of `measure_authority`. `require_authority` evaluates it in and near the reference position
before a law is formed; `guard_command` and `remember_side` make the law's command undefined where it is lost, so
that a run stops there with the message of `lost_authority`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.model_based.model_inverse import postures
from spacectl.core.errors import ModelError, SolverError, warn
from spacectl.dynamics.constraints.authority import LOST, WEAK, Authority, measure_authority
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["SIDE", "Terms", "guard_command", "lost_authority", "remember_side", "require_authority"]

SIDE = (
    "authority.side",
)  #: memory of a sampled law: on which side of a singularity it was, -1 or 1 (0 before the first sample)

#: (M, B_tau, J, E) at a state -> (C, E, J, J_E) as `measure_authority` takes them
Terms = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, ...]]


def require_authority(
    eom: EquationsOfMotion, terms: Terms, *, outputs: Sequence[str], inputs: Sequence[str], what: str, cure: str, p: Any
) -> Authority | None:
    """Raise, with the names of outputs and inputs, if the inputs cannot accelerate the outputs independently.

    A law is rejected if its leverage is below `LOST` both in the reference position and near it (one of them may be
    singular by chance), and warned about below `WEAK`.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    terms : callable
        Picks outputs and inputs from the matrices of the equations.
    outputs, inputs : sequence of str
        Names of the rows of C and of the columns of E.
    what, cure : str
        Begin and end of the message.
    p : array or None
        Run-time parameters.

    Returns
    -------
    Authority or None
        Independence and sizes to which those in simulation are compared; None if no consistent state was found.
    """
    try:
        found = [_leverage(eom, x, terms, p) for x in postures(eom)]
    except SolverError:  # no consistent state near: judged in flight, by leverage alone
        return None
    best, design = max(found, key=lambda item: item.value), max(found, key=lambda item: item.independence)
    if best.value >= WEAK:
        return design
    lost = [name for name, share in zip(outputs, best.shares, strict=True) if share > 0.3]
    under = " under the constraints" if eom.constraint_rows else ""
    summary = f"over {_listed(lost)}{under}: leverage {best.value:.2g} of 1 in and near the reference position"
    if best.value < LOST:
        raise ModelError(
            f"{what}: inputs {_listed(inputs)} have no authority {summary}, at least {LOST:g} is needed (an input that acts "
            f"through springs only has none over accelerations); {cure}"
        )
    warn(f"{what}: inputs {_listed(inputs)} have little authority {summary}; {cure}")
    return design


def _leverage(eom: EquationsOfMotion, x: np.ndarray, terms: Terms, p: Any) -> Authority:
    q, v = x[: eom.n_q], x[eom.n_q :]
    M, B_tau = eom.mass_matrix(0.0, q, p), eom.input_map(0.0, q, p)
    J, E = np.zeros((0, eom.n_v)), np.zeros((eom.n_v, 0))
    if eom.constraint_rows:
        _, _, _, J, _, E = eom.call("terms", 0.0, q, v, np.zeros(eom.n_u), p=p)
    return measure_authority(M, *terms(M, B_tau, J, E))


def guard_command(u: Any, squares: Sequence[Any]) -> Any:
    """Return `u`, or NaN in all entries where a square of a leverage is not above ``LOST**2`` (or is undefined itself).

    Limits and wrappers propagate NaN, but not infinity: a clipped infinity would look like a valid command.
    """
    for square in squares:
        u = u * ca.sqrt(2.0 * (square > LOST**2) - 1.0)  # 1, or the root of -1
    return u


def remember_side(u: Any, side: Any, z: Any) -> tuple[Any, Any]:
    """Return `u`, or NaN if `side` has changed its sign since the last sample, and the memory of the next one.

    A sampled law may step over the neighbourhood of a singularity in which `guard_command` acts.
    """
    return u * ca.sqrt(2.0 * (z * side >= 0.0) - 1.0), ca.sign(side)


def lost_authority(outputs: Sequence[str], inputs: Sequence[str], cure: str) -> str:
    """Return the meaning of a command of `guard_command` that is not finite."""
    measure = f"leverage below {LOST:g} of 1, or through zero since the last sample"
    return f"inputs {_listed(inputs)} lost authority over {_listed(outputs)} ({measure}); {cure}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
