"""Whether inputs can give chosen speeds accelerations of their own, near the reference position, constraints kept.

`feedback_linearization` asks before it makes a law; the answer names the speeds that are lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import null_space

from spacectl.controllers.model_inverse import postures
from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.constrained import RANK
from spacectl.dynamics.equations import EquationsOfMotion

__all__ = ["require_authority"]


def require_authority(
    eom: EquationsOfMotion, speeds: tuple[str, ...], inputs: tuple[str, ...], what: str, p: Any = None
) -> None:
    """Raise, naming speeds, if the accelerations of `speeds` do not follow the `inputs` one to one.

    With N a basis of the motions that constraints allow, and F of the forces that what keeps them does not reach (F = N for
    natural constraints), inputs reach ``N (F' M N)^-1 F' B_tau u``.
    """
    try:
        x = postures(eom)[-1]
    except SolverError:  # no consistent state near: judged when it is used
        return
    q, v = x[: eom.n_q], x[eom.n_q :]
    M, B_tau = eom.mass_matrix(0.0, q, p), eom.input_map(0.0, q, p)[:, list(eom.labels.u.indices(inputs))]
    scale = np.sqrt(np.diag(M))
    N = F = np.eye(eom.n_v)
    if eom.constraint_rows:
        _, _, _, J, _, E = eom.call("terms", 0.0, q, v, np.zeros(eom.n_u), p=p)
        N, F = null_space(J / scale, rcond=RANK), null_space((E / scale[:, None]).T, rcond=RANK)
    inertia = F.T @ (M / np.outer(scale, scale)) @ N
    if inertia.shape[0] != inertia.shape[1] or np.linalg.cond(inertia) > 1.0 / RANK:
        return  # what keeps the constraints is not enough: judged by `diagnose_constraints`
    reach = N @ np.linalg.solve(inertia, F.T @ (B_tau / scale[:, None]))
    rows = reach[[eom.labels.v.index(item) for item in speeds]]
    size = np.linalg.norm(reach, axis=0)
    U, values, _ = np.linalg.svd(rows / np.where(size > 0.0, size, 1.0))
    if values.size == 0 or values[-1] < 1e-9 * values[0]:
        lost = [speeds[k] for k in np.flatnonzero(np.abs(U[:, -1]) > 0.3)]
        kept = " under the constraints" if eom.constraint_rows else ""
        raise ModelError(
            f"{what}: the inputs cannot give {', '.join(lost) or 'these speeds'} accelerations of their own{kept}; control "
            "other speeds (speeds=...) by other inputs (inputs=...), add actuators, or use ModifiedFeedbackLinearization"
        )
