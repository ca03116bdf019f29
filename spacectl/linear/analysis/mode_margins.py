"""Margins of modes: the Popov-Belevitch-Hautus test of a pair (A, B) in scaled units, with names of the weak modes.

`controllability` applies it to (A, B) and to the dual pair (A.T, C.T).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from spacectl.core.labels import Labels
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.scaling import ScaledPair, group_poles, scale_pair

__all__ = ["ModeMargins", "WeakMode", "judge_modes"]


@dataclass(frozen=True, kw_only=True)
class WeakMode:
    """A mode that is nearly uncontrollable or unobservable.

    Parameters
    ----------
    pole : complex
        Eigenvalue [1/s], imaginary part not negative.
    frequency, damping : float
        ``|pole|`` [rad/s] and ``-Re(pole) / |pole|`` (0 at the origin).
    margin : float
        Scaled distance to a model in which the mode is lost (uncontrollable or unobservable), 0 to 1.
    count : int
        Independent directions of this pole that are lost; 0 if the mode is weak but not lost.
    states : tuple of str
        States with the largest participation in the mode.
    directions : tuple of mappings of str to float
        For each lost direction (or the weakest one) the leading states and their weights in scaled units, largest 1: a
        combination of states that no input affects, or a motion that no output measures.
    vectors : array, shape (count or 1, n_x), complex
        The same in SI units: l with ``l (A - s) = 0``, ``l B = 0``, or r with ``(A - s) r = 0``, ``C r = 0``.
    """

    pole: complex
    frequency: float
    damping: float
    margin: float
    count: int
    states: tuple[str, ...]
    directions: tuple[dict[str, float], ...]
    vectors: np.ndarray

    def describe(self) -> str:
        """Describe the mode in words."""
        if self.frequency == 0.0:
            what = "mode at the origin"
        else:
            what = f"mode at {self.frequency:.4g} rad/s (damping {self.damping:.3g})"
        summary = "; ".join(
            " ".join(f"{weight:+.2g} {name}" for name, weight in direction.items()) for direction in self.directions[:6]
        )
        word = "direction" if len(self.directions) == 1 else f"{len(self.directions)} directions"
        return f"the {what}, mostly {', '.join(self.states)}; {word} ({summary})"


@dataclass(frozen=True, kw_only=True)
class ModeMargins:
    """Margins of the modes of a model, slowest first; equal poles count once, a conjugate pair counts once.

    Parameters
    ----------
    poles : array, shape (k,), complex
        Poles [1/s], imaginary part not negative.
    frequency, damping : arrays, shape (k,)
        ``|pole|`` [rad/s] and ``-Re(pole) / |pole|``.
    margins : array, shape (k,)
        Smallest singular value of ``[A' - s I, B']`` (or of its dual) over the norm of ``[A', B']``, scaled units.
    weak_modes : tuple of WeakMode
        Modes with small margins, weakest first.
    message : str
        The verdict in words, with names.
    rate : float
        Unit of rates used in scaling [1/s].
    x : Labels
        States of the model.
    """

    poles: np.ndarray
    frequency: np.ndarray
    damping: np.ndarray
    margins: np.ndarray
    weak_modes: tuple[WeakMode, ...]
    message: str
    rate: float
    x: Labels

    def table(self) -> str:
        """Return a table with one line per mode."""
        lines = ["frequency [rad/s]  damping [1]  margin [1]"]
        rows = zip(self.frequency, self.damping, self.margins, strict=True)
        lines += [f"{w:17.6g}  {zeta:11.4g}  {margin:10.3g}" for w, zeta, margin in rows]
        return "\n".join(lines)


def judge_modes(
    A: np.ndarray, B: np.ndarray, model: LinearModel, tolerance: float, weak: float, words: tuple[str, str, str]
) -> dict[str, Any]:
    """Return the fields of the result for the pair (A, B) or the dual one; `words` are those of the verdict."""
    pair = scale_pair(A, B)
    poles = np.linalg.eigvals(pair.A) if len(A) else np.zeros(0, dtype=complex)
    size = max(np.linalg.norm(np.hstack([pair.A, pair.B]), 2), np.finfo(float).tiny) if len(A) else 1.0
    found = []
    for group in group_poles(poles):
        centre = complex(np.mean(poles[group]))
        if centre.imag < -1e-12:
            continue
        if abs(centre) < 1e-9:  # a pole at the origin, up to rounding
            centre = 0.0j
        shifts = [centre, *(poles[k] for k in group if len(group) > 1)]
        values = [np.linalg.svd(_pencil(pair, shift), compute_uv=False) / size for shift in shifts]
        best = int(np.argmin([item[-1] for item in values]))
        found.append((centre, shifts[best], values[best]))
    margins = np.array([values[-1] for _, _, values in found])
    centres = np.array([centre for centre, _, _ in found], dtype=complex)
    damping = np.where(np.abs(centres) > 0.0, -centres.real / np.maximum(np.abs(centres), 1e-300), 0.0)
    low = sorted(np.flatnonzero(margins < weak), key=lambda k: margins[k])
    entries = tuple(_weak(pair, model.x, *found[k], float(damping[k]), tolerance) for k in low)
    lost = [mode for mode in entries if mode.margin < tolerance]
    growing = [mode for mode in lost if mode.pole.real > -1e-9 * pair.rate]
    whole, part, verb = words
    if lost:
        verdict = f"not {part}" if growing else f"not {whole} (but {part})"
        message = f"{verdict}: no {verb} " + "; nor ".join(mode.describe() for mode in (growing or lost)[:3])
        message += f"; and {len(growing or lost) - 3} modes more" if len(growing or lost) > 3 else ""
    elif entries:
        message = f"{whole}, but weakly (margin {entries[0].margin:.2g}): {entries[0].describe()}"
    else:
        message = f"{whole}; smallest margin {np.min(margins, initial=1.0):.2g}"
    fields = {"poles": centres * pair.rate, "frequency": np.abs(centres) * pair.rate, "damping": damping}
    verdicts = {f"is_{whole}": not lost, f"is_{part}": not growing}
    rest = {"margins": margins, "weak_modes": entries, "message": message, "rate": pair.rate, "x": model.x}
    return {**fields, **verdicts, **rest}


def _pencil(pair: ScaledPair, shift: complex) -> np.ndarray:
    """Return ``[A' - s I, B']``, real where s is."""
    s = shift if shift.imag else shift.real
    return np.hstack([pair.A - s * np.eye(len(pair.A)), pair.B])


def _weak(
    pair: ScaledPair, x: Labels, centre: complex, shift: complex, values: np.ndarray, damping: float, tolerance: float
) -> WeakMode:
    """Return the names of a weak mode: its leading states, and the lost directions."""
    count = int(np.sum(values < tolerance))
    left = np.linalg.svd(_pencil(pair, shift), full_matrices=False)[0]
    vectors = left[:, len(x) - max(count, 1) :]  # columns z with z^H [A' - s I, B'] = 0
    if count > 1:  # an echelon basis: as few names in each direction as possible
        _, _, pivots = qr(vectors.conj().T, pivoting=True)
        vectors = np.linalg.solve(vectors[pivots[:count]].T, vectors.T).T
    # the part of it that lies in the motions of this pole, chains of two included
    shifted = (pair.A - centre * np.eye(len(x))) @ (pair.A - centre * np.eye(len(x)))
    _, sizes, motions = np.linalg.svd(shifted)
    span = motions[(sizes < 1e-6 * max(sizes[0], 1.0)) | (sizes == sizes[-1])].conj().T
    moving = np.linalg.norm(span @ (span.conj().T @ vectors), axis=1)
    return WeakMode(
        pole=centre * pair.rate,
        frequency=abs(centre) * pair.rate,
        damping=damping,
        margin=float(values[-1]),
        count=count,
        states=tuple(x.names[i] for i in np.argsort(-moving, kind="stable")[:3] if moving[i] > 0.05 * moving.max()),
        directions=tuple(_named(x, vector) for vector in vectors.T),
        vectors=vectors.conj().T / pair.states,
    )


def _named(x: Labels, vector: np.ndarray) -> dict[str, float]:
    """Return the four leading entries of a direction by name, with the phase that makes the largest 1."""
    order = np.argsort(-np.abs(vector), kind="stable")[:4]
    turned = vector / vector[order[0]]
    signed = np.where(np.abs(turned.imag) > np.abs(turned.real), np.abs(turned), turned.real)
    return {x.names[i]: float(signed[i]) for i in order if abs(turned[i]) > 0.05}
