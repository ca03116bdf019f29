"""Check that a regulator problem has a stabilising solution before solving it, and report what is missing by name.

`lqr_problem` and `lqr_along` call these checks; `linear.analysis.controllability` has those of a plain model.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.linear.analysis.controllability import check_observability
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.scaling import scale_pair

__all__ = ["require_movable", "require_weighted"]

LOST = 1e-8  #: as the tolerance of `check_controllability`


def require_movable(model: LinearModel, rows: np.ndarray, names: tuple[str, ...], what: str) -> None:
    """Raise, with names, unless inputs can control all integrated quantities ``rows x`` at rest, independently.

    The states at rest, ``A x + B u = 0``, are a space of as many dimensions as there are inputs (if the model is
    stabilisable); integrals are poles at s = 0, which are lost if their rows depend on each other there.
    """
    if not names:
        return
    pair = scale_pair(np.asarray(model.A), np.asarray(model.B))
    n = len(pair.A)
    rest = null_space(np.hstack([pair.A, pair.B]), rcond=1e-13)[:n]
    scaled = rows * pair.states
    size = np.linalg.norm(scaled, axis=1)
    reach = scaled @ rest / np.where(size > 0.0, size, 1.0)[:, None]
    U, values, _ = np.linalg.svd(reach)
    rank = int(np.sum(values > LOST))
    if rank < len(names):
        lost = U[:, -1] / U[np.argmax(np.abs(U[:, -1])), -1]
        summary = " ".join(
            f"{weight:+.2g} {name}" for name, weight in zip(names, lost, strict=True) if abs(weight) > 0.05
        )
        raise ModelError(
            f"{what}: not stabilizable: no input moves the mode at the origin ({summary}): the inputs control {rank} of the "
            f"{len(names)} integrated quantities independently; integrate fewer, or others"
        )


def require_weighted(
    model: LinearModel, Q: np.ndarray, R: np.ndarray, N: np.ndarray, what: str, *, seen: np.ndarray | None = None
) -> None:
    """Raise, with its name, if an undamped mode has no weight: no stabilising solution then exists.

    `seen` are further rows whose integrals are weighted.
    """
    back = np.linalg.solve(R, N.T)
    A, rest = np.asarray(model.A) - np.asarray(model.B) @ back, Q - N @ back
    size = np.sqrt(np.maximum(np.diag(rest), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(0.5 * (rest + rest.T) / np.outer(scale, scale))
    kept = values > 1e-13 * np.max(values, initial=0.0)
    C = np.sqrt(values[kept])[:, None] * vectors[:, kept].T * scale
    C = C if seen is None else np.vstack([C, seen])
    y = Labels(tuple(f"weight{k + 1}" for k in range(len(C))), (), "output")
    D = np.zeros((len(C), len(model.u)))
    found = check_observability(LinearModel(A=A, B=model.B, C=C, D=D, x=model.x, u=model.u, y=y))
    for mode in found.weak_modes:
        if mode.count > 0 and abs(mode.pole.real) < 1e-9 * found.rate:
            raise ModelError(
                f"{what}: no weight covers {mode.describe()}; it does not decay, so a law without its weight cannot be stable: "
                f"give '{mode.states[0]}' a weight in Q"
            )
