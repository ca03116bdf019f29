"""Check whether actuators can maintain artificial constraints.

`constraint_force_terms` forms the matrices of Sadigh (003) section 3.6 for a choice of dependent speeds. `check_adequacy`
evaluates the smallest singular value of ``J M^-1 B_c`` along a motion, which does not depend on such a choice, and summarises
the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy.linalg import qr

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, SolverError, unknown_name
from spacectl.dynamics.constraints.authority import WEAK, measure_authority
from spacectl.dynamics.tree.irregular import require_defined
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations

__all__ = ["AdequacyReport", "ConstraintForceTerms", "check_adequacy", "constraint_force_terms"]

FEW = 1000  #: number of choices of dependent speeds up to which all are examined
NONE = 1e-9  #: authority below which it counts as zero


@dataclass(frozen=True)
class ConstraintForceTerms:
    """The matrices of 003 sections 3.3 to 3.6 at one state, for one choice of dependent speeds.

    Parameters
    ----------
    independent, dependent : tuple of str
        The speeds u1 and u2 of 003 Eq 3.1.
    A_c : array, shape (n_v, N)
        ``[1; -A2^-1 A1]`` in the order of the speeds (003 Eq 3.3): columns are nonholonomic partial velocities.
    T_tilde : array, shape (N, P)
        Contribution of each constraint force to Kane's equations (003 Eq 3.14); zero for natural constraints.
    T_prime : array, shape (P, P)
        Its contribution to the equations that the constraints eliminate (003 Eq 3.17).
    modified : array, shape (n_v, N)
        Modified nonholonomic partial velocities (003 Eqs 3.20, 3.25); ``modified.T @ E = 0`` (Eq 3.10).
    """

    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    A_c: np.ndarray
    T_tilde: np.ndarray
    T_prime: np.ndarray
    modified: np.ndarray


def constraint_force_terms(
    eom: EquationsOfMotion, t: float, x: Any, *, dependent: tuple[str, ...] | None = None, p: Any = None
) -> ConstraintForceTerms:
    """Form the matrices of Sadigh (1995) section 3.6: contribution, adequacy and redundancy of constraint forces.

    A force contributes if its column of `T_tilde` is not zero (3.6.1); the forces are adequate if `T_prime` is invertible
    (3.6.3), and one is redundant if the columns of `T_prime` are dependent (3.6.4). The last two depend on the choice of
    speeds: an invertible `T_prime` is sufficient, not necessary. `check_adequacy` does not have this limitation.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations with independent constraints.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State.
    dependent : tuple of str, optional
        As many speeds as there are constraint equations; default: those for which both matrices are best conditioned.
    p : array, optional
        Run-time parameters.

    Raises
    ------
    SolverError
        If the constraints do not determine the dependent speeds.
    """
    J, E, _ = _terms(eom, t, x, p)
    names, m = eom.speeds, len(eom.constraint_rows)
    if dependent is None:
        places = _good_speeds(J, E)
    else:
        for name in dependent:
            if name not in names:
                raise ModelError(f"constraint_force_terms: {unknown_name('speed', name, names)}")
        places = [names.index(name) for name in dependent]
        if len(set(places)) != m:
            raise ModelError(
                f"constraint_force_terms: {len(set(places))} dependent speeds for {m} constraint equations; name one for each"
            )
    others = [k for k in range(len(names)) if k not in places]
    A_1, A_2 = J[:, others], J[:, places]
    if m > len(names) or np.linalg.cond(A_2) > 1e12:
        raise SolverError(
            f"the constraints do not determine {', '.join(names[k] for k in places)}; choose other speeds"
        )
    A_c = np.zeros((len(names), len(others)))
    A_c[others], A_c[places] = np.eye(len(others)), -np.linalg.solve(A_2, A_1)
    violating = np.zeros((len(names), m))  # partial velocities of speeds that violate one constraint each, Eq 3.15
    violating[places] = np.linalg.inv(A_2)
    T_tilde, T_prime = A_c.T @ E, violating.T @ E
    try:
        modified = A_c - violating @ np.linalg.solve(T_prime.T, T_tilde.T)
    except np.linalg.LinAlgError:
        modified = np.full_like(A_c, np.nan)
    chosen = (tuple(names[k] for k in others), tuple(names[k] for k in places))
    return ConstraintForceTerms(*chosen, A_c, T_tilde, T_prime, modified)


@dataclass(frozen=True)
class AdequacyReport:
    """Authority of actuators over their constraints along a motion.

    Parameters
    ----------
    t : Array, shape (n,)
        Times [s].
    leverage : Array, shape (n,)
        Smallest singular value of ``J M^-1 B_c`` with rows and columns orthonormalised in the metric of M^-1
        (the smallest cosine of the angles between constraints and inputs): 1 if the actuators act directly
        along the constraints, 0 if some constraint cannot be maintained.
    gain : Array, shape (n,)
        The same without normalisation: the least acceleration of the constraint residuals for inputs of unit norm.
    contributing : tuple of str
        Inputs that appear in Kane's equations of the constrained motion (003 section 3.6.1).
    redundant : tuple of str
        Inputs with the same effect as others at every time.
    is_adequate : bool
        Whether the authority is nonzero throughout and the determinant of ``J M^-1 B_c`` does not change sign.
    worst : float
        Time of the least authority [s].
    message : str
        Summary with a remedy.
    """

    t: Any
    leverage: Any
    gain: Any
    contributing: tuple[str, ...]
    redundant: tuple[str, ...]
    is_adequate: bool
    worst: float
    message: str


def check_adequacy(eom: EquationsOfMotion, t: Any, x: Any, *, p: Any = None) -> AdequacyReport:
    """Check whether the actuators can maintain their artificial constraints along a motion.

    ``J_a M^-1 B_c`` maps constraint inputs to the accelerations of the constraint residuals; other, natural constraints are
    eliminated from M^-1 first. Its singular values do not depend on the choice of speeds.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations with artificial constraints.
    t : float or array, shape (n,)
        Time or times [s].
    x : array, shape (n_x,) or (n, n_x)
        State or states.
    p : array, optional
        Run-time parameters.

    Raises
    ------
    ModelError
        If no constraint is artificial.
    """
    require_equations(eom, "check_adequacy")
    if not eom.constraint_inputs:
        raise ModelError(
            f"check_adequacy: no constraint of '{eom.system.name}' is artificial; natural ones need no actuators"
        )
    times = np.atleast_1d(np.asarray(t, dtype=float))
    states = np.atleast_2d(np.asarray(x, dtype=float))
    if states.shape != (times.size, eom.n_x):
        raise ModelError(f"check_adequacy: x has shape {states.shape}, expected ({times.size}, {eom.n_x})")
    found = [_authority(eom, time, state, p) for time, state in zip(times, states, strict=True)]
    leverage, gain = (np.array([item[k] for item in found]) for k in (0, 1))
    signs = np.array([item[2] for item in found])
    contributing = tuple(
        name for k, name in enumerate(eom.constraint_inputs) if any(item[3][k] > NONE for item in found)
    )
    redundant = tuple(name for k, name in enumerate(eom.constraint_inputs) if all(item[4][k] for item in found))
    crossings = [k for k in range(times.size - 1) if signs[k] * signs[k + 1] < 0.0]
    at = int(np.argmin(leverage))
    message = _message(eom, times, leverage, redundant, crossings, at)
    adequate = bool(leverage[at] > NONE) and not crossings
    arrays = (Array(times), Array(leverage), Array(gain))
    return AdequacyReport(*arrays, contributing, redundant, adequate, float(times[at]), message)


def _good_speeds(J: np.ndarray, E: np.ndarray) -> list[int]:
    """Select dependent speeds for which ``A2`` and ``T'`` are farthest from singular (of all choices, if few)."""
    m, n = J.shape
    if comb(n, m) > FEW:
        return sorted(int(k) for k in qr(J, mode="r", pivoting=True)[1][:m])

    def quality(places: tuple[int, ...]) -> float:
        return min(float(np.linalg.svd(A, compute_uv=False)[-1]) for A in (J[:, list(places)], E[list(places)]))

    choices = list(combinations(range(n), m))
    return list(choices[int(np.argmax([quality(places) for places in choices]))])


def _terms(eom: EquationsOfMotion, t: float, x: Any, p: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    state = np.asarray(x, dtype=float)
    require_defined(eom, t, state, p)
    _, M, _, J, _, E = eom.call("terms", t, state[: eom.n_q], state[eom.n_q :], np.zeros(eom.n_u), p=p)
    return J, E, M


def _authority(eom: EquationsOfMotion, t: float, x: np.ndarray, p: Any) -> tuple[float, float, float, Any, Any]:
    """Return authority, gain, sign of the determinant; contribution of each input; whether each repeats others."""
    J, E, M = _terms(eom, t, x, p)
    artificial = _artificial_rows(eom)
    natural = [k for k in range(len(eom.constraint_rows)) if k not in artificial]
    J_a, B_c, J_n = J[artificial], E[:, artificial], J[natural]
    inverse = np.linalg.inv(M)
    if natural:
        mobility = inverse @ J_n.T
        inverse = inverse - mobility @ np.linalg.pinv(J_n @ mobility, rcond=1e-12, hermitian=True) @ mobility.T
    reach = J_a @ inverse @ B_c
    along, push = (np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", A, inverse, A), 0.0)) for A in (J_a, B_c.T))
    unit = reach / np.where(along > 0.0, along, np.inf)[:, None] / np.where(push > 0.0, push, np.inf)
    # an input contributes by its components along motions that satisfy all constraints
    rows = np.vstack([J_a, J_n])
    _, singular, V = np.linalg.svd(rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None])
    null = V[int(np.sum(singular > 1e-9 * singular[0])) :]
    contribution = np.linalg.norm(null @ B_c, axis=0) / np.maximum(np.linalg.norm(B_c, axis=0), 1e-300)
    repeats = [_repeats(unit, k) for k in range(len(artificial))]
    gain = float(np.linalg.svd(reach, compute_uv=False)[-1])
    value = measure_authority(M, J_a, B_c, J_n).value
    return value, gain, float(np.sign(np.linalg.det(unit))), contribution, repeats


def _artificial_rows(eom: EquationsOfMotion) -> list[int]:
    owners = {item.name for item in eom.system.constraints if not item.is_natural}
    return [k for k, name in enumerate(eom.constraint_rows) if name.split(".")[0] in owners]


def _repeats(columns: np.ndarray, k: int) -> bool:
    """Return whether a column is a combination of the others."""
    others = np.delete(columns, k, axis=1)
    if not others.size:
        return False
    rest = columns[:, k] - others @ np.linalg.lstsq(others, columns[:, k], rcond=None)[0]
    return bool(np.linalg.norm(rest) <= NONE)


def _message(
    eom: EquationsOfMotion,
    t: np.ndarray,
    leverage: np.ndarray,
    redundant: tuple[str, ...],
    crossings: list[int],
    at: int,
) -> str:
    inputs = ", ".join(f"'{name}'" for name in eom.constraint_inputs)
    constraints = ", ".join(f"'{item.name}'" for item in eom.system.constraints if not item.is_natural)
    if redundant:
        pair = ", ".join(f"'{name}'" for name in redundant)
        return (
            f"{pair} have the same effect on {constraints}: one is redundant, and some constraint has no actuator; choose "
            "other actuators"
        )
    if np.all(leverage <= NONE):
        return f"{inputs} cannot maintain {constraints} at any time shown; choose other actuators"
    if crossings or leverage[at] <= NONE:
        k = crossings[0] if crossings else at
        when = f"between t = {t[k]:g} s and {t[k + 1]:g} s" if crossings else f"at t = {t[at]:g} s"
        loses = "loses its" if len(eom.constraint_inputs) == 1 else "lose their"
        return f"{inputs} {loses} authority over {constraints} {when}, where the inputs are unbounded; choose others"
    quality = "with little authority" if leverage[at] < WEAK else "well"
    return f"{inputs} maintain {constraints} {quality}: least leverage {leverage[at]:.3g} of 1 at t = {t[at]:g} s"
