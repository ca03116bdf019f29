"""Scale unknowns and rows from a guess, so that the programme IPOPT solves is of order one."""

from __future__ import annotations

import numpy as np

from spacectl.planners.collocation.transcription.nlp import Nlp
from spacectl.planners.collocation.transcription.phase import PhaseBlock

__all__ = ["scale_programme"]


def scale_programme(nlp: Nlp, x: np.ndarray) -> None:
    """Set the scales of a programme from the unknowns x of a guess."""
    nlp.scale = np.concatenate([_unknowns(block, nlp, x) for block in nlp.blocks])
    nlp.row_scale = np.ones(nlp.m)
    pattern = nlp.jacobian_sum
    sizes = np.abs(nlp.jacobian(x / nlp.scale))  # in scaled unknowns
    largest = np.zeros(nlp.m)
    np.maximum.at(largest, pattern.rows, sizes)
    for block in nlp.blocks:
        _set_rows(block, nlp, largest)
    links = slice(nlp.m - len(nlp.links), nlp.m)
    nlp.row_scale[links] = 1.0 / nlp.scale[nlp.links[:, 0]]
    cost = abs(nlp.objective(x / nlp.scale))
    nlp.cost_scale = 1.0 / cost if cost > 1e-8 else 1.0


def _unknowns(block: PhaseBlock, nlp: Nlp, x: np.ndarray) -> np.ndarray:
    """Return the scales of a phase's unknowns: maxima of guess and finite bounds, or values derived from them."""
    own = slice(block.column, block.column + block.n)
    n_z, places, model = block.model.n_z, block.places, block.model
    Z, T = x[own][:-1].reshape(block.P, n_z), float(x[own][-1])
    sizes = np.abs(Z).max(axis=0)
    for bound in (nlp.low[own][:-1], nlp.high[own][:-1]):
        finite = np.where(np.isfinite(bound), np.abs(bound), 0.0).reshape(block.P, n_z)
        sizes = np.maximum(sizes, finite.max(axis=0))
    out = np.where(sizes > 0.0, sizes, 1.0)
    q, v, rates = places["q"], places["v"], places["rates"]
    out[q] = np.where(sizes[q] > 1e-3, sizes[q], 1.0)
    base_frequency = 4.0 / max(T, 1e-9)
    floor = np.median(out[q]) * base_frequency if block.model.sizes["q"] else 1.0
    frequencies = np.maximum(_frequencies(block, Z), base_frequency)
    out[v] = np.maximum(sizes[v], floor * frequencies / base_frequency)
    accelerations = slice(rates.start, rates.start + model.sizes["v"])
    out[accelerations] = np.maximum(sizes[accelerations], out[v] * frequencies)
    scales = np.append(np.tile(out, block.P), max(T, 1e-9))
    return scales


def _frequencies(block: PhaseBlock, Z: np.ndarray) -> np.ndarray:
    """Return the frequency sqrt(K_ii / M_ii) of each speed with all others locked [rad/s]."""
    problem, eom = block.problem, block.problem.eom
    if eom.n_q != eom.n_v:
        return np.zeros(eom.n_v)
    q = Z[block.P // 2, block.places["q"]]
    stiffness = np.diag(eom.jacobian("bias", "h", "q", 0.0, q, np.zeros(eom.n_v), p=problem.p))
    masses = np.diag(eom.mass_matrix(0.0, q, problem.p))
    return np.sqrt(np.maximum(stiffness, 0.0) / np.where(masses > 0.0, masses, np.inf))


def _set_rows(block: PhaseBlock, nlp: Nlp, largest: np.ndarray) -> None:
    """Scale defects by their states, residuals and conditions by their largest term over all points."""
    n_X = block.model.n_X
    states = nlp.scale[block.column : block.column + n_X]
    first, count = block.row_groups["defect"]
    nlp.row_scale[first : first + count] = np.tile(1.0 / states, count // n_X)
    for key in ("residual", "path"):
        first, count = block.row_groups[key]
        terms = largest[first : first + count].reshape(block.P, -1).max(axis=0)
        nlp.row_scale[first : first + count] = np.tile(1.0 / np.where(terms > 0.0, terms, 1.0), block.P)
    for key in ("undetermined", "start", "end"):
        first, count = block.row_groups[key]
        terms = largest[first : first + count]
        nlp.row_scale[first : first + count] = 1.0 / np.where(terms > 0.0, terms, 1.0)
