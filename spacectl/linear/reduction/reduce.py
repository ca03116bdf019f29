"""`reduce_modal`, `reduce_balanced`: reduce a linear model, with a bound of the error.

Modal reduction retains selected modes; balanced truncation retains the most controllable and observable states, and
exactly all parts that do not decay. Both can match the gain at zero frequency.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.linear.margins.norms import find_peak, realisation
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.scaling import balancing_scale, is_decaying
from spacectl.linear.reduction.decompose import ModalBlocks, factor_gramian, modal_blocks, split_spectrum

__all__ = ["Reduction", "reduce_balanced", "reduce_modal"]

Keep = int | Iterable[str] | Callable[[complex], bool]


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """A reduced model and its error.

    Parameters
    ----------
    model : LinearModel
        The reduced model; its states are modal (``mode3.cos``, ``mode3.sin``) or balanced (``balanced1``) coordinates.
    right, left : arrays, shapes (n, r) and (r, n)
        ``x = right z`` (about) and ``z = left x``, with ``left right = 1``.
    hankel_values : array
        Hankel singular values of the decaying part, largest first; empty for modal reduction.
    bound : float
        Bound of the error ``|y - y_reduced| / |u|`` over all frequencies (H-infinity norm): for balanced truncation
        twice the sum of the omitted Hankel values, for modal reduction the norm of the omitted part.
    message : str
        Description of the retained part.
    """

    model: LinearModel
    right: np.ndarray
    left: np.ndarray
    hankel_values: np.ndarray
    bound: float
    message: str


def reduce_modal(
    model: LinearModel, keep: Keep | None = None, *, below: float | None = None, match_dc: bool = False
) -> Reduction:
    """Retain some modes of a model and omit the others.

    In the real block-diagonal basis ``z = left x`` the model decouples into modes; poles that are equal up to rounding
    share a block, which is retained or omitted as a whole. Disturbances follow the same projection.

    Parameters
    ----------
    model : LinearModel
        The model.
    keep : int, iterable of str, or function, optional
        Number of modes, slowest first; or modes by name (``"mode3"`` as numbered by `modes`, or a state: the
        mode in which its participation is largest); or a function of the pole [1/s] (imaginary part not
        negative) that returns whether to keep it.
    below : float, optional
        Keep the modes with a frequency up to this [rad/s] (and those of `keep`).
    match_dc : bool
        Whether omitted modes contribute a static gain to D (the static residual), so that the response to constant
        inputs is unchanged.

    Returns
    -------
    Reduction
    """
    if keep is None and below is None:
        raise ModelError(
            "reduce_modal: specify what to keep: keep=6, keep=('mode1',), keep=lambda pole: ..., or below=10.0"
        )
    A, scale = _balanced(model)
    blocks = modal_blocks(A)
    names, numbers = _block_names(blocks)
    kept = _chosen(model, blocks, numbers, keep, below)
    right, left = blocks.right * scale[:, None], blocks.left / scale
    inside = [
        k for block, columns in enumerate(blocks.columns) if block in kept for k in range(*columns.indices(len(A)))
    ]
    outside = [k for k in range(len(A)) if k not in inside]
    _, B, C, D = realisation(model)
    rest = (left[outside] @ np.asarray(model.A) @ right[:, outside], left[outside] @ B, C @ right[:, outside], 0.0 * D)
    static = np.zeros_like(D)
    poles = np.linalg.eigvals(rest[0]) if outside else np.zeros(0)
    if match_dc and outside:
        if np.min(np.abs(poles)) <= 1e-12 * np.max(np.abs(np.linalg.eigvals(A))):
            raise ModelError("reduce_modal: a mode at the origin has no static gain; keep it, or use match_dc=False")
        static = -rest[2] @ np.linalg.solve(rest[0], rest[1])
    decays = bool(np.all(is_decaying(poles)))
    bound = find_peak((*rest[:3], -static), 1e-6)[0] if decays else np.inf
    summary = (
        f"kept {len(kept)} of {len(blocks.poles)} modal blocks ({len(inside)} of {len(A)} states); error {bound:.3g}"
    )
    labels = Labels(tuple(names[k] for k in inside), (), "state")
    reduced = _project(model, right[:, inside], left[inside], labels, D + static)
    return Reduction(
        model=reduced,
        right=right[:, inside],
        left=left[inside],
        hankel_values=np.zeros(0),
        bound=bound,
        message=summary if decays else summary + ": an omitted mode does not decay",
    )


def reduce_balanced(
    model: LinearModel, *, order: int | None = None, tolerance: float | None = None, match_dc: bool = False
) -> Reduction:
    """Truncate the decaying part of a model in balanced coordinates; retain the other part exactly.

    The decaying part is split off by an ordered real Schur form and a Sylvester equation. Factors of its
    Gramians ``P = L_c L_c.T``, ``Q = L_o L_o.T`` and the singular values of ``L_o.T L_c = U S V.T`` (the
    Hankel values) give the square-root projection ``right = L_c V S^-1/2``, ``left = S^-1/2 U.T L_o.T`` [1]_.
    The error is at most twice the sum of the omitted values. Inputs and outputs are weighted in SI units;
    scale B and C otherwise.

    Parameters
    ----------
    model : LinearModel
        The model; disturbances are projected but do not affect the projection.
    order : int, optional
        Number of states to keep, including those retained exactly.
    tolerance : float, optional
        Alternatively, the allowed error bound over the largest Hankel value (at most the H-infinity norm).
    match_dc : bool
        Whether omitted states become static instead (singular perturbation): same bound, exact at zero frequency.

    Returns
    -------
    Reduction

    References
    ----------
    .. [1] M. S. Tombs, I. Postlethwaite, Truncated balanced realization of a stable non-minimal state-space system,
       Int. J. Control 46, 1987.
    """
    if (order is None) == (tolerance is None):
        raise ModelError("reduce_balanced: give one of order (number of states) and tolerance (relative error)")
    A, scale = _balanced(model)
    _, B, C, D = realisation(model)
    B, C = B / scale[:, None], C * scale
    poles = np.linalg.eigvals(A) if len(A) else np.zeros(0)
    decays = is_decaying(poles)
    (V_u, W_u), (V_s, W_s) = split_spectrum(A, lambda s: not decays[int(np.argmin(np.abs(poles - s)))])
    A_s, B_s, C_s = W_s.T @ A @ V_s, W_s.T @ B, C @ V_s
    L_c, L_o = factor_gramian(A_s, B_s), factor_gramian(A_s.T, C_s.T)
    U, values, Vt = np.linalg.svd(L_o.T @ L_c)
    stays = V_u.shape[1]
    rank = int(np.sum(values > np.finfo(float).eps * len(A) * np.max(values, initial=0.0)))  # beyond it: rounding
    tails = 2.0 * np.append(np.cumsum(values[::-1])[::-1], 0.0)  # bound if the first k are kept
    count = _count(order, tolerance, values, tails, stays, rank, len(A))
    used = rank if match_dc else count
    root = np.sqrt(values[:used])
    V, W = V_s @ (L_c @ Vt[:used].T) / root, W_s @ (L_o @ U[:, :used]) / root
    right, left = np.hstack([V_u, V]) * scale[:, None], np.vstack([W_u.T, W.T]) / scale
    labels = Labels((*(f"kept{k + 1}" for k in range(stays)), *(f"balanced{k + 1}" for k in range(used))), (), "state")
    reduced = _project(model, right, left, labels, D)
    if match_dc and used > count:
        reduced = _make_static(reduced, stays + count)
    kept = f"kept {stays} states that do not decay and {count} of {len(values)} balanced ones"
    summary = f"{kept}; error at most {tails[count]:.3g}"
    return Reduction(
        model=reduced,
        right=right[:, : stays + count],
        left=left[: stays + count],
        hankel_values=values,
        bound=float(tails[count]),
        message=summary,
    )


def _balanced(model: LinearModel) -> tuple[np.ndarray, np.ndarray]:
    """Return A in units of state that balance its entries, and these units."""
    A = np.asarray(model.A)
    scale = balancing_scale(A)
    return A * scale / scale[:, None], scale


def _project(model: LinearModel, right: np.ndarray, left: np.ndarray, x: Labels, D: np.ndarray) -> LinearModel:
    A, B, C, _ = realisation(model)
    E = left @ np.asarray(model.E)
    return LinearModel(
        A=left @ A @ right, B=left @ B, C=C @ right, D=D, E=E, x=x, u=model.u, y=model.y, d=model.d, point=model.point
    )


def _make_static(model: LinearModel, count: int) -> LinearModel:
    """Return the model with all states after the first `count` in equilibrium: ``0 = A21 z1 + A22 z2 + B2 u``."""
    A, B, C, D = realisation(model)
    E = np.asarray(model.E)
    back = np.linalg.solve(A[count:, count:], np.hstack([A[count:, :count], B[count:], E[count:]]))
    by_z, by_u, by_d = np.split(back, [count, count + B.shape[1]], axis=1)
    x = Labels(model.x.names[:count], (), "state")
    return LinearModel(
        A=A[:count, :count] - A[:count, count:] @ by_z,
        B=B[:count] - A[:count, count:] @ by_u,
        C=C[:, :count] - C[:, count:] @ by_z,
        D=D - C[:, count:] @ by_u,
        E=E[:count] - A[:count, count:] @ by_d,
        x=x,
        u=model.u,
        y=model.y,
        d=model.d,
        point=model.point,
    )


def _count(
    order: int | None, tolerance: float | None, values: np.ndarray, tails: np.ndarray, stays: int, rank: int, n: int
) -> int:
    """Return the number of balanced states to retain."""
    if tolerance is not None:
        if not tolerance >= 0.0:
            raise ModelError(f"reduce_balanced: tolerance is {tolerance:g}, expected 0 or more")
        allowed = tolerance * float(np.max(values, initial=0.0))
        return min(int(np.flatnonzero(tails <= allowed)[0]), rank)
    if order is None or not stays <= order <= n:
        kept = f"; {stays} do not decay and are retained" if stays else ""
        raise ModelError(f"reduce_balanced: order is {order}, expected {stays} to {n}{kept}")
    return min(order - stays, rank)


def _block_names(blocks: ModalBlocks) -> tuple[list[str], list[range]]:
    """Return the names of the modal states, and the numbers of the modes in each block."""
    names: list[str] = []
    numbers: list[range] = []
    first = 1
    for poles in blocks.poles:
        count = int(np.sum(poles.imag >= 0.0))
        numbers.append(range(first, first + count))
        endings = [""] if len(poles) == 1 else [f".{k + 1}" for k in range(len(poles))]
        if len(poles) == 2 and count == 1:
            endings = [".cos", ".sin"]
        names += [f"mode{first}{ending}" for ending in endings]
        first += count
    return names, numbers


def _chosen(
    model: LinearModel, blocks: ModalBlocks, numbers: list[range], keep: Keep | None, below: float | None
) -> set[int]:
    """Return the blocks to retain."""
    every = range(len(numbers))
    kept: set[int] = set()
    if below is not None:
        kept |= {k for k in every if np.min(np.abs(blocks.poles[k])) <= below}
    if isinstance(keep, int):
        kept |= {k for k in every if numbers[k][0] <= keep}
    elif callable(keep):
        kept |= {k for k in every if any(keep(complex(s)) for s in blocks.poles[k] if s.imag >= 0.0)}
    elif keep is not None:
        allowed = [f"mode{number}" for group in numbers for number in group]
        shares = np.array([np.abs(np.sum(blocks.left[c] * blocks.right[:, c].T, axis=0)) for c in blocks.columns])
        for name in (keep,) if isinstance(keep, str) else keep:
            if name in allowed:
                kept |= {k for k in every if int(name.removeprefix("mode")) in numbers[k]}
            elif name in model.x:
                kept.add(int(np.argmax(shares[:, model.x.index(name)])))
            else:
                raise ModelError(f"reduce_modal: {unknown_name('mode or state', name, (*allowed, *model.x.names))}")
    return kept
