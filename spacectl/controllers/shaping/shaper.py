"""Input shapers: a short sequence of impulses that, convolved with any command, leaves little vibration behind.

Turns frequencies and damping ratios (numbers, or `modes` of a linear model) into a `Shaper`, and a shaper into its
residual vibration at any frequency. `shaping_commands` applies it to trajectories and step commands, `shaping_figures`
draws its sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from spacectl.controllers.shaping.impulses import find_impulses
from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.linear.analysis.modes import Modes

__all__ = ["Shaper", "combine_shapers", "design_shaper", "shape_modes"]

Kind = Literal["ZV", "ZVD", "ZVDD", "EI", "UM-ZV"]


@dataclass(frozen=True, kw_only=True)
class Shaper:
    """A train of impulses at `times` with `amplitudes` that sum to 1: ``r_shaped(t) = sum_i a_i r(t - t_i)``.

    Parameters
    ----------
    times : array, shape (n,)
        Increasing [s], the first 0.
    amplitudes : array, shape (n,)
        Sum 1 [1].
    name : str
        Shown in figures.
    frequencies, damping : array, shape (m,)
        Of the modes it was designed for [rad/s], [1].
    """

    times: Any
    amplitudes: Any
    name: str = "shaper"
    frequencies: Any = ()
    damping: Any = ()

    def __post_init__(self) -> None:
        what = f"shaper '{self.name}'"
        for key in ("times", "amplitudes", "frequencies", "damping"):
            object.__setattr__(self, key, as_array(getattr(self, key), None, f"{what}: {key}"))
        if self.times.shape != self.amplitudes.shape or len(self.times.shape) != 1 or not self.times.size:
            raise ShapeError(
                f"{what}: times have shape {self.times.shape}, amplitudes {self.amplitudes.shape}; expected equal lengths"
            )
        if self.times[0] != 0.0 or np.any(np.diff(self.times) <= 0.0):
            raise ModelError(f"{what}: times {self.times.tolist()} must start at 0 and increase")
        total = float(np.sum(self.amplitudes))
        if abs(total - 1.0) > 1e-9:
            raise ModelError(f"{what}: amplitudes sum to {total:g}, expected 1; divide by the sum")

    @property
    def duration(self) -> float:
        """Time of the last impulse [s]: what shaping adds to a command."""
        return float(self.times[-1])

    def residual(self, frequency: Any, damping: Any = 0.0) -> np.ndarray:
        """Return the residual vibration over that of one impulse, shaped as the arguments.

        ``V = exp(-z w t_n) |sum_i a_i exp((z w + i w_d) t_i)|``, ``w_d = w sqrt(1 - z^2)``: the envelope right after
        the last impulse over the envelope right after a single impulse of size 1. A command that ends at T and would
        leave the amplitude a at T leaves V a at T + t_n when shaped.

        Parameters
        ----------
        frequency, damping : array-like
            w [rad/s] and z [1] of the mode.
        """
        w, z = np.broadcast_arrays(np.asarray(frequency, dtype=float), np.asarray(damping, dtype=float))
        if np.any(w < 0.0) or np.any(np.abs(z) >= 1.0):
            raise ModelError(f"shaper '{self.name}': residual needs frequencies >= 0 and damping ratios below 1")
        pole = w * (-z + 1j * np.sqrt(1.0 - z * z))
        back = self.duration - np.asarray(self.times)
        return np.abs(np.exp(pole[..., None] * back) @ np.asarray(self.amplitudes))

    def insensitivity(self, level: float = 0.05, *, mode: int = 0) -> float:
        """Return the width of the band about a design frequency where the residual is at most `level`, over that frequency.

        Parameters
        ----------
        level : float
            Allowed residual [1].
        mode : int
            Which of the design frequencies.
        """
        if not self.frequencies.size:
            raise ModelError(f"shaper '{self.name}': it was not designed for a frequency; use residual")
        w, z = float(self.frequencies[mode]), float(self.damping[mode])
        ratio = np.linspace(0.0, 2.0, 20001)
        is_inside = self.residual(ratio * w, z) <= level * (1.0 + 1e-9)
        middle = ratio.size // 2
        if not is_inside[middle]:
            return 0.0
        outside = np.flatnonzero(~is_inside)
        below, above = outside[outside < middle], outside[outside > middle]
        return float((ratio[above[0]] if above.size else 2.0) - (ratio[below[-1]] if below.size else 0.0))


def design_shaper(frequency: Any, damping: Any = 0.0, *, kind: Kind = "ZVD", level: float = 0.05) -> Shaper:
    """Design a shaper for one mode or several.

    ``"ZV"``: no residual at the frequency; ``"ZVD"``, ``"ZVDD"``: zero first (and second) derivative there as well,
    each half a period longer; ``"EI"``: as long as ZVD, residual `level` at the frequency and zero on either side,
    so the widest band below `level`; ``"UM-ZV"``: amplitudes 1, -1, 1, a third of a period, for actuators that are
    on or off (excites higher modes). Several modes: convolution of the shapers of each.

    Parameters
    ----------
    frequency : float or sequence
        Undamped natural frequencies [rad/s].
    damping : float or sequence
        Damping ratios, from 0 to below 1.
    kind : {"ZV", "ZVD", "ZVDD", "EI", "UM-ZV"}
        As above.
    level : float
        Residual of EI at the design frequency [1].

    Returns
    -------
    Shaper

    References
    ----------
    Singer and Seering, J. Dynamic Systems, Measurement, and Control 112 (1990) 76; Singhose, Seering and Singer, J.
    Mechanical Design 116 (1994) 654 (EI).

    Examples
    --------
    >>> design_shaper(np.pi, kind="ZV").times.tolist()
    [0.0, 1.0]
    """
    frequencies = np.atleast_1d(np.asarray(as_array(frequency, None, "shaper: frequency")))
    ratios = np.asarray(as_array(damping, None, "shaper: damping"))
    if frequencies.ndim != 1 or not frequencies.size or ratios.shape not in ((), frequencies.shape):
        raise ShapeError(
            f"shaper: {frequencies.shape} frequencies and {ratios.shape} damping ratios; give one each, or one for all"
        )
    ratios = np.broadcast_to(ratios, frequencies.shape)
    parts = []
    for w, z in zip(frequencies.tolist(), ratios.tolist(), strict=True):
        times, amplitudes = find_impulses(kind, w, z, level)
        parts.append(Shaper(times=times, amplitudes=amplitudes, name=kind, frequencies=[w], damping=[z]))
    return combine_shapers(parts)


def shape_modes(found: Modes, names: Iterable[str | int], *, kind: Kind = "ZVD", level: float = 0.05) -> Shaper:
    """Design a shaper for selected modes of a linear model.

    Parameters
    ----------
    found : Modes
        From `modes`.
    names : iterable of str or int
        Modes by number (1 is the slowest), by ``"mode3"``, or by a state: the oscillating mode with its largest
        participation.
    kind, level : as in `design_shaper`
        The kind of shaper, and the residual of EI.

    Returns
    -------
    Shaper
    """
    given = (names,) if isinstance(names, (str, int)) else tuple(names)
    if not given:
        raise ModelError("shape_modes: no mode given; name one, for example 'mode3' or a state such as 'boom.eta1'")
    chosen = sorted({_find_mode(found, name) for name in given})
    return design_shaper(found.frequency[chosen], found.damping[chosen], kind=kind, level=level)


def combine_shapers(shapers: Sequence[Shaper]) -> Shaper:
    """Convolve shapers: the result suppresses all modes of each, and its duration is the sum of theirs.

    Parameters
    ----------
    shapers : sequence of Shaper
        At least one.

    Returns
    -------
    Shaper
    """
    if not shapers:
        raise ModelError("combine_shapers: expected at least one shaper")
    return reduce(_convolve, shapers)


def _convolve(a: Shaper, b: Shaper) -> Shaper:
    times = np.add.outer(np.asarray(a.times), np.asarray(b.times)).reshape(-1)
    amplitudes = np.multiply.outer(np.asarray(a.amplitudes), np.asarray(b.amplitudes)).reshape(-1)
    order = np.argsort(times, kind="stable")
    times, amplitudes = times[order], amplitudes[order]
    # impulses closer than rounding are one impulse
    is_new = np.concatenate([[True], np.diff(times) > 1e-12 * max(times[-1], np.finfo(float).tiny)])
    groups = np.cumsum(is_new) - 1
    merged = np.zeros(groups[-1] + 1)
    np.add.at(merged, groups, amplitudes)
    return Shaper(
        times=times[is_new],
        amplitudes=merged,
        name=a.name if a.name == b.name else f"{a.name} * {b.name}",
        frequencies=np.concatenate([np.asarray(a.frequencies), np.asarray(b.frequencies)]),
        damping=np.concatenate([np.asarray(a.damping), np.asarray(b.damping)]),
    )


def _find_mode(found: Modes, name: str | int) -> int:
    """Return the index of a mode that oscillates."""
    oscillating = np.flatnonzero(found.poles.imag > 0.0)
    summary = f"mode{name}" if isinstance(name, int) else name
    if summary in found.x:
        if not oscillating.size:
            raise ModelError(f"shape_modes: no mode oscillates, so '{summary}' needs no shaper")
        return int(oscillating[np.argmax(found.participation[oscillating, found.x.index(summary)])])
    numbered = {f"mode{k + 1}": k for k in range(len(found))}
    if summary not in numbered:
        raise ModelError(f"shape_modes: {unknown_name('mode or state', summary, [*numbered, *found.x.names])}")
    if numbered[summary] not in oscillating:
        pole = found.poles[numbered[summary]]
        raise ModelError(
            f"shape_modes: {summary} has the pole {pole.real:.4g} 1/s and does not oscillate; those that do: "
            f"{', '.join(f'mode{k + 1}' for k in oscillating) or 'none'}"
        )
    return numbered[summary]
