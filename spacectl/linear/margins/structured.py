"""Structured singular value for diagonal complex perturbations: upper bound, lower bound, and peak over frequency.

For a stable transfer matrix M, the bounds give the size of the smallest diagonal Delta with ``det(1 - M
Delta) = 0``: an upper bound by scaling D M D^-1 that holds over whole intervals of frequency, and a lower
bound with the perturbation itself. `margins` computes disk margins from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from spacectl.linear.margins.norms import Realisation, balanced, crossing_frequencies, largest, response

__all__ = ["StructuredPeak", "find_structured_peak", "lower_bound", "upper_bound"]


@dataclass(frozen=True, kw_only=True)
class StructuredPeak:
    """Bounds of the peak of mu over frequency.

    Parameters
    ----------
    upper : float
        Upper bound of mu at all frequencies (up to rounding in the crossings of singular values).
    lower : float
        Spectral radius of ``M Q`` at `frequency`, with `phases` Q of modulus one: mu is at least this.
    frequency : float
        Frequency of the peak [rad/s].
    phases : array, complex
        Worst perturbation times its size: ``det(1 - M diag(phases) / lower) = 0``.
    steps : int
        Frequencies at which the bound was computed.
    """

    upper: float
    lower: float
    frequency: float
    phases: np.ndarray
    steps: int


def upper_bound(M: np.ndarray, start: np.ndarray | None = None, *, enough: float = 0.0) -> tuple[float, np.ndarray]:
    """Minimise ``sigma_max(D M D^-1)``, D = diag(exp(d)), a convex problem; return the value and d.

    The largest singular value is approached by norms of order 2 p with growing p, which are smooth: ``f = log(sum_i
    s_i^2p) / 2p``, with gradient ``sum_i weight_i (|u_ik|^2 -
    |v_ik|^2)`` for singular triples (s, u, v). Any d gives a true bound, so the search stops early below `enough`.
    Equal to mu for up to three channels.
    """
    n = len(M)
    best_d = np.zeros(n) if start is None else np.array(start, dtype=float)
    best = _scaled_norm(M, best_d)
    if n < 2 or best == 0.0:
        return best, best_d

    def smooth(d: np.ndarray, order: float) -> tuple[float, np.ndarray]:
        weight = np.exp(np.clip(d, -40.0, 40.0))
        left, values, right = np.linalg.svd(weight[:, None] * M / weight)
        weights = (values / values[0]) ** (2.0 * order)
        total = float(np.sum(weights))
        derivative = (np.abs(left) ** 2 - np.abs(right.conj().T) ** 2) @ (weights / total)
        return float(np.log(values[0]) + np.log(total) / (2.0 * order)), derivative

    d = best_d
    for order in (1.0, 8.0, 64.0, 512.0, 4096.0):
        found = minimize(smooth, d, args=(order,), jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 60})
        d = np.clip(found.x - np.mean(found.x), -30.0, 30.0)
        value, second = np.linalg.svd(np.exp(d)[:, None] * M * np.exp(-d), compute_uv=False)[:2]
        if value < best:
            best, best_d = float(value), d
        if best < enough or (second / value) ** (2.0 * order) < 1e-9:  # a higher order has no further effect
            break
    return best, best_d


def lower_bound(M: np.ndarray, d: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """Maximise ``rho(M Q)`` over diagonal Q with entries of modulus one; return the best value found, and Q.

    Power iteration of Packard and Doyle from the worst direction of the scaled matrix and a few others, then
    ascent on the phases. Any Q gives a true bound; the eigenvalue's phase is absorbed in Q, so
    ``det(1 - M Q / rho) = 0``.
    """
    n = len(M)
    weights = np.ones(n) if d is None else np.exp(d)
    _, _, right = np.linalg.svd(weights[:, None] * M / weights)
    starts = [right[0].conj() / weights, np.ones(n, dtype=complex)]
    starts += [np.exp(2j * np.pi * np.arange(n) * k / (n + 1)) for k in range(1, min(n, 3))]
    best, phases = _radius(M, np.ones(n, dtype=complex))
    for start in starts:
        value, Q = _radius(M, _power_iteration(M, start))
        if value > best:
            best, phases = value, Q

    def climb(angle: np.ndarray) -> tuple[float, np.ndarray]:
        values, vectors = np.linalg.eig(M * np.exp(1j * angle))
        k = int(np.argmax(np.abs(values)))
        covector = np.linalg.pinv(vectors)[k]  # d(log lambda) / d(angle_i) = j l_i r_i
        return -float(np.log(max(abs(values[k]), 1e-300))), np.imag(covector * vectors[:, k])

    if n > 1 and best > 0.0:
        found = minimize(climb, np.angle(phases), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 80})
        value, Q = _radius(M, np.exp(1j * found.x))
        if value > best:
            best, phases = value, Q
    return best, phases


def find_structured_peak(system: Realisation, tolerance: float, max_steps: int = 300) -> StructuredPeak:
    """Return the peak over frequency of mu of a stable square realisation.

    Local peaks of the upper bound are found first. Then frequency is swept: with the scaling that is best at
    one frequency, crossings of the Hamiltonian matrix give the whole interval around it in which the bound
    stays below ``(1 + tolerance)`` times the peak; intervals are removed until none remains, which proves the
    bound between grid points too. A peak found in this process raises the level.
    """
    system = balanced(system)
    poles = np.linalg.eigvals(system[0]) if len(system[0]) else np.zeros(0)
    marks = np.unique(np.abs(np.concatenate([poles, poles.imag, [0.0]])))
    between = np.sqrt(marks[1:-1] * marks[2:]) if len(marks) > 2 else np.zeros(0)
    ends = [0.1 * marks[1], 10.0 * marks[-1]] if len(marks) > 1 else []
    grid = np.unique(np.concatenate([marks, between, ends]))
    tried: dict[float, tuple[float, np.ndarray]] = {}
    for w in (*grid, np.inf):  # away from the peak a rough bound is sufficient
        tried[w] = upper_bound(response(system, w), enough=0.9 * max((item[0] for item in tried.values()), default=0.0))
    steps = len(tried)
    values = np.array([tried[w][0] for w in grid])
    higher = np.maximum(np.append(values[1:], 0.0), np.append(0.0, values[:-1]))
    tops = [int(k) for k in np.argsort(-values) if values[k] >= max(higher[k], 0.8 * np.max(values))]
    for k in tops[:3] if len(grid) > 1 else ():
        steps += _climb_frequency(system, tried, float(grid[max(k, 1)]), grid)
    peak, where = max((tried[w][0], -w) for w in tried)
    where = abs(where)
    level = peak * (1.0 + tolerance)
    todo, d = [(0.0, np.inf)], tried[where][1]
    while todo and level > 0.0 and len(poles):
        low, high = todo.pop()
        w = _middle(low, high, where, marks)
        M = response(system, w)
        bound = _scaled_norm(M, d)
        if bound > 0.7 * level:  # otherwise the current scaling is sufficient here
            bound, d = upper_bound(M, d, enough=0.9 * level)
        steps += 1
        if bound > peak:
            peak, where, tried[w] = bound, w, (bound, d)
            level = max(level, peak * (1.0 + tolerance))
        if steps % max_steps == 0:  # a higher level is less sharp but covers more; the bound remains valid
            level *= 1.0 + 10.0 * tolerance
        first, last = _covered(_scale(system, d), level, w, tolerance)
        if last < np.inf and not np.isfinite(high):  # far out, the scaling that is best at infinity may do better
            first, last = max((first, last), _covered(_scale(system, tried[np.inf][1]), level, w, tolerance), key=_end)
        todo += [part for part in ((low, min(first, high)), (max(last, low), high)) if _is_open(*part, marks)]
    M = response(system, where)
    lower, phases = lower_bound(M, tried[where][1])
    return StructuredPeak(upper=max(level, lower), lower=lower, frequency=float(where), phases=phases, steps=steps)


def _scale(system: Realisation, d: np.ndarray) -> Realisation:
    """Return D M D^-1 with D = diag(exp(d))."""
    A, B, C, D = system
    weights = np.exp(d)
    return A, B / weights, C * weights[:, None], D * weights[:, None] / weights


def _covered(system: Realisation, level: float, w: float, tolerance: float) -> tuple[float, float]:
    """Return the interval around w in which the largest singular value stays below `level`; (w, w) if there is none."""
    if largest(system, w) >= level:
        return w, w
    while np.min(np.abs(np.linalg.svd(system[3], compute_uv=False) - level)) < 1e-8 * level:
        level *= 1.0 - 1e-7  # the level must not be a singular value of D; lower is safe
    # eigenvalues close to the axis without a crossing are recognised by their smaller singular value
    least = level * (1.0 - 0.01 * tolerance)
    crossings = np.array([c for c in crossing_frequencies(system, level) if largest(system, c) >= least])
    left, right = crossings[crossings < w], crossings[crossings > w]
    return float(left[-1]) if len(left) else 0.0, float(right[0]) if len(right) else np.inf


def _end(interval: tuple[float, float]) -> float:
    return interval[1]


def _scaled_norm(M: np.ndarray, d: np.ndarray) -> float:
    return float(np.linalg.norm(np.exp(d)[:, None] * M * np.exp(-d), 2)) if M.size else 0.0


def _radius(M: np.ndarray, Q: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the spectral radius of M Q, and Q rotated so that the eigenvalue is real and positive."""
    values = np.linalg.eigvals(M * Q)
    top = values[int(np.argmax(np.abs(values)))]
    return float(abs(top)), Q * (abs(top) / top if top != 0.0 else 1.0)


def _power_iteration(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the phases at which the iteration a = M b, z = phase(a) |w|, w = M^H z, b = phase(w) |a| converges."""
    w = b.astype(complex)
    for _ in range(60):
        a = M @ b
        a = a / max(np.linalg.norm(a), 1e-300)
        z = np.abs(w) * _phase(a)
        w = M.conj().T @ z
        w = w / max(np.linalg.norm(w), 1e-300)
        b = np.abs(a) * _phase(w)
    return _phase(w) / _phase(a)


def _phase(a: np.ndarray) -> np.ndarray:
    size = np.abs(a)
    return np.where(size > 0.0, a / np.where(size > 0.0, size, 1.0), 1.0)


def _climb_frequency(
    system: Realisation, tried: dict[float, tuple[float, np.ndarray]], w: float, grid: np.ndarray
) -> int:
    """Refine a local peak near w; return the number of frequencies evaluated."""
    below, above = grid[grid < w], grid[grid > w]
    low = max(float(below[-1]) if len(below) else 0.1 * w, 1e-3 * w)
    high = float(above[0]) if len(above) else 10.0 * w
    start = tried[w][1]

    def negative(log_w: float) -> float:
        place = float(np.exp(log_w))
        tried[place] = upper_bound(response(system, place), start)
        return -tried[place][0]

    found = minimize_scalar(negative, bounds=(np.log(low), np.log(high)), method="bounded", options={"xatol": 1e-5})
    return int(found.nfev)


def _middle(low: float, high: float, favourite: float, marks: np.ndarray) -> float:
    """Return a frequency inside (low, high): the preferred one if it lies there, otherwise the geometric mean."""
    if low < favourite < high:
        return favourite
    small = 0.1 * float(marks[1]) if len(marks) > 1 else 1.0
    if not np.isfinite(high):
        return max(10.0 * low, 10.0 * float(marks[-1]), small)
    return 0.5 * high if low < 0.01 * high else float(np.sqrt(low * high))


def _is_open(low: float, high: float, marks: np.ndarray) -> bool:
    """Return whether an interval is longer than rounding."""
    scale = float(marks[1]) if len(marks) > 1 else 1.0
    return bool(high > low and (not np.isfinite(high) or high - low > 1e-9 * high + 1e-12 * scale))
