"""The kernels of the phase plane: a reference implementation in Python, and the compiled library.

Both take the same steps in the same order. The Python form verifies the native one and replaces it without a
compiler.
"""

from __future__ import annotations

import ctypes
import logging
import math
from functools import cache

import numpy as np

from spacectl.codegen.kernels import load_kernel
from spacectl.core.errors import SolverError

__all__ = ["check", "integrate", "limit_curve", "phase_library"]

HUGE = 1e150


def interval(P: float, Q: float, R: float, y0: float) -> tuple[float, float]:
    """Return the interval (low, high) of y >= 0 near y0 with ``P y^2 + Q y + R <= 0``; empty if low > high."""
    if P == 0.0 or abs(P) * HUGE <= abs(Q):
        if Q > 0.0:
            return 0.0, -R / Q
        if Q < 0.0:
            return max(0.0, -R / Q), HUGE
        return (0.0, -1.0) if 1e-12 * (abs(R) + 1e-300) < R else (0.0, HUGE)
    d = Q * Q - 4.0 * P * R
    if d < 0.0:
        return (0.0, -1.0) if P > 0.0 else (0.0, HUGE)
    t = -0.5 * (Q + (math.sqrt(d) if Q >= 0.0 else -math.sqrt(d)))
    y1 = t / P
    y2 = R / t if t != 0.0 else y1
    y1, y2 = min(y1, y2), max(y1, y2)
    if P > 0.0:
        return max(0.0, y1), y2
    if y0 < 0.5 * (y1 + y2) and y1 >= 0.0:
        return 0.0, y1
    return max(0.0, y2), HUGE


def limit_curve(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the smallest and largest feasible speed at points with rows (n, m, 4), and the active pairs."""
    n, m = rows.shape[:2]
    low, high = np.zeros(n), np.full(n, HUGE)
    pair_low, pair_high = np.full((n, 2), -1, dtype=np.int32), np.full((n, 2), -1, dtype=np.int32)
    for k in range(n):
        c = rows[k].tolist()
        for i in range(m):
            if c[i][0] < 0.0:
                continue
            others = [i] if c[i][0] == 0.0 else [j for j in range(m) if c[j][0] < 0.0]
            for j in others:
                a, b = c[i], c[j]
                combined = a[1:] if i == j else [-b[0] * a[q] + a[0] * b[q] for q in (1, 2, 3)]
                lo, hi = interval(combined[0], combined[1], combined[2], 0.0)
                if lo > low[k]:
                    low[k], pair_low[k] = lo, (i, j)
                if hi < high[k]:
                    high[k], pair_high[k] = hi, (i, j)
    return low, high, pair_low, pair_high


def step(middle: list[list[float]], end: list[list[float]], h: float, x0: float) -> tuple[float, float, int, int]:
    """Return the feasible range of x after a step of length h from x0, and its active rows."""
    y0 = math.sqrt(max(x0, 0.0))
    low, high, row_low, row_high = 0.0, HUGE, -1, -1
    for i, (c, e) in enumerate(zip(middle, end, strict=True)):
        if c[0] == 0.0 and e[0] == 0.0:
            continue
        derivative = c[1] + (0.5 * c[2] / y0 if y0 > 0.0 else 0.0)
        if abs(c[0]) > 2.0 * abs(h * derivative):
            lo, hi = interval(c[0] / h + c[1], c[2], c[3] - c[0] * x0 / h, y0)
            lo = 2.0 * lo * lo - x0 if lo > 0.0 else 0.0
            hi = -1.0 if hi < 0.0 else (HUGE if hi >= HUGE else 2.0 * hi * hi - x0)
        else:
            lo, hi = interval(0.5 * e[0] / h + e[1], e[2], e[3] - 0.5 * e[0] * x0 / h, y0)
            lo = lo * lo
            hi = -1.0 if hi < 0.0 else (HUGE if hi >= HUGE else hi * hi)
        if lo > low:
            low, row_low = lo, i
        if hi < high:
            high, row_high = hi, i
    return low, high, row_low, row_high


def check(
    s: np.ndarray, node: np.ndarray, middle: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the feasible ranges of x at the end of each step of a given profile, and their active rows."""
    n = len(s) - 1
    low, high = np.zeros(n), np.full(n, HUGE)
    row_low, row_high = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    for k in range(n):
        h = float(s[k + 1] - s[k])
        if h != 0.0:
            low[k], high[k], row_low[k], row_high[k] = step(middle[k].tolist(), node[k + 1].tolist(), h, float(x[k]))
    return low, high, row_low, row_high


def integrate(
    s: np.ndarray,
    node: np.ndarray,
    middle: np.ndarray,
    cap: np.ndarray,
    start: int,
    x0: float,
    direction: int,
    slack: float,
    x: np.ndarray,
    free: np.ndarray,
    row: np.ndarray,
) -> tuple[int, int, int]:
    """Integrate the curve of largest speed through a point (see phase_plane.c).

    Return the last node, the cause of the stop and the row responsible.
    """
    k = start
    x[k], free[k], row[k] = x0, x0, -1
    while True:
        following = k + direction
        if not 0 <= following < len(s):
            return k, 0, -1
        h = float(s[following] - s[k])
        if h == 0.0:
            low, high, row_low, row_high = 0.0, float(x[k]), -1, -1
        else:
            cell = middle[k if direction > 0 else following]
            low, high, row_low, row_high = step(cell.tolist(), node[following].tolist(), h, float(x[k]))
        if high < 0.0:
            return k, 2, row_high
        if low > high * (1.0 + slack) or low > cap[following] * (1.0 + slack):
            return k, 1, row_low
        x[following], free[following], row[following] = min(high, float(cap[following])), high, row_high
        k = following


_log = logging.getLogger(__name__)


@cache
def phase_library() -> ctypes.CDLL | None:
    """Return the compiled kernels; None (logged once) where there is no compiler."""
    try:
        library = load_kernel("phase_plane")
    except SolverError as error:
        _log.info("phase plane without native code: %s", error)
        return None
    pointer, integer, real = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
    library.sc_limit_curve.argtypes = [integer, integer] + [pointer] * 5
    library.sc_limit_curve.restype = None
    library.sc_check.argtypes = [integer, integer] + [pointer] * 8
    library.sc_check.restype = None
    ends = [integer, real, ctypes.c_int, real, pointer, pointer, pointer, pointer, pointer]
    library.sc_integrate.argtypes = [integer, integer] + [pointer] * 4 + ends
    library.sc_integrate.restype = integer
    return library
