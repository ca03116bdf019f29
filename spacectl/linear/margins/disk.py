"""`disk_margins`: simultaneous gain and phase changes in all loops that a closed loop tolerates.

The result has one margin for each channel alone and one for all channels together, with
the perturbation that destabilises the loop. `classical` has the gain and phase margins of single loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError, ShapeError
from spacectl.linear.margins.loops import closed_loop, form_loop
from spacectl.linear.margins.norms import Realisation, explain_growth, find_peak, realisation, response
from spacectl.linear.margins.structured import find_structured_peak
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["DiskMargin", "DiskMargins", "disk_margins", "perturbed_poles"]


@dataclass(frozen=True, kw_only=True)
class DiskMargin:
    """The disk of multiplicative perturbations for which the closed loop remains stable.

    ``f = (1 + (1 - skew)/2 d) / (1 - (1 + skew)/2 d)`` with ``|d| < alpha``.

    Parameters
    ----------
    alpha : float
        Guaranteed size: the closed loop is stable for all factors of smaller size. 0 if it is unstable
        nominally.
    alpha_worst : float
        Size of the perturbation below, which destroys stability; equal to `alpha` up to the tolerance for one channel
        and, as a rule, for more.
    gain : tuple of float
        Gain factors (low, high) allowed simultaneously in all channels; high may be infinite.
    phase : float
        Phase change [rad] allowed simultaneously in all channels, up to pi.
    frequency : float
        Frequency of the closed-loop pole under the worst perturbation [rad/s]; infinite if only the direct
        gain matters.
    perturbation, factors : mappings of str to complex
        Worst d and f of each channel: with these factors in the loop, j times `frequency` is a closed-loop pole.
    skew : float
        Skew of the disk: 0 allows equal relative increase and decrease of gain, -1 and 1 refer to the
        complementary sensitivity and the sensitivity.
    """

    alpha: float
    alpha_worst: float
    gain: tuple[float, float]
    phase: float
    frequency: float
    perturbation: dict[str, complex]
    factors: dict[str, complex]
    skew: float


@dataclass(frozen=True, kw_only=True)
class DiskMargins:
    """Disk margins of a closed loop.

    Parameters
    ----------
    channels : mapping of str to DiskMargin
        Each channel alone, the others closed.
    simultaneous : DiskMargin
        All channels simultaneously, each with its own factor.
    loop : LinearModel
        The loop gain L; the closed loop is ``1 + L``.
    is_stable : bool
        Whether the nominal closed loop is stable.
    message : str
        The verdict in words.
    """

    channels: dict[str, DiskMargin]
    simultaneous: DiskMargin
    loop: LinearModel
    is_stable: bool
    message: str

    def table(self) -> str:
        """Return a table with one line per channel and one for all together."""
        lines = ["channel           alpha [1]  gain [1]            phase [deg]  frequency [rad/s]"]
        for name, item in (*self.channels.items(), ("all together", self.simultaneous)):
            gain = f"{item.gain[0]:.4g} to {item.gain[1]:.4g}"
            lines.append(
                f"{name:16s}  {item.alpha:9.4g}  {gain:18s}  {np.degrees(item.phase):11.4g}  {item.frequency:17.6g}"
            )
        return "\n".join(lines)


def disk_margins(
    model: LinearModel, K: Any = None, *, at: str = "input", skew: float = 0.0, tolerance: float = 1e-4
) -> DiskMargins:
    """Compute disk margins of the loop ``u = -K y`` around a plant, or of a loop gain closed with negative feedback.

    Factors ``F = diag(f)`` enter the broken loop as ``L F``. Stability holds for all factors with ``|d| < alpha``
    exactly if ``mu(S + (skew - 1)/2) < 1 / alpha`` at all frequencies, with the sensitivity ``S = (1 + L)^-1`` and
    mu the structured singular value for diagonal complex perturbations [1]_. For one channel it is the H-infinity
    norm. For several, an upper bound of mu gives `alpha` and a constructed perturbation `alpha_worst`; up to three
    channels they agree.

    Parameters
    ----------
    model : LinearModel
        The plant, or the loop gain L (as many outputs as inputs) if K is not given.
    K : array, shape (n_u, n_y), or LinearModel, optional
        Feedback, static or dynamic, with ``u = -K y``.
    at : str
        Location of the factors: ``"input"`` of the plant, ``"output"``, or ``"both"``.
    skew : float
        Skew of the disk, -1 to 1.
    tolerance : float
        Relative accuracy of the bound over frequency for several channels.

    Returns
    -------
    DiskMargins

    References
    ----------
    .. [1] P. Seiler, A. Packard, P. Gahinet, An introduction to disk margins, IEEE Control Systems Magazine 40(5),
    2020.

    Examples
    --------
    >>> from spacectl import Labels
    >>> x, u, y = Labels(("x",)), Labels(("u",)), Labels(("y",))
    >>> integrator = LinearModel(A=[[0.0]], B=[[1.0]], C=[[1.0]], D=[[0.0]], x=x, u=u, y=y)
    >>> found = disk_margins(integrator).simultaneous  # any gain, 90 degrees
    >>> round(found.alpha, 6), round(found.phase, 4)
    (2.0, 1.5708)
    """
    skew, tolerance = as_scalar(skew, "disk_margins: skew"), as_scalar(tolerance, "disk_margins: tolerance")
    if not -1.0 <= skew <= 1.0:
        raise ModelError(f"disk_margins: skew is {skew:g}, expected -1 to 1")
    if not 0.0 < tolerance < 0.1:
        raise ModelError(f"disk_margins: tolerance is {tolerance:g}, expected a number between 0 and 0.1")
    loop = form_loop(model, K, at)
    sensitivity = closed_loop(loop)
    names = loop.u.names
    if growth := explain_growth(sensitivity):
        none = _margin(np.inf, np.inf, growth[0], np.zeros(len(names)), names, skew)
        summary = growth[1].removeprefix("infinite: ")
        return DiskMargins(
            channels={name: _margin(np.inf, np.inf, growth[0], np.zeros(1), (name,), skew) for name in names},
            simultaneous=none,
            loop=loop,
            is_stable=False,
            message=f"the closed loop is not stable: {summary}",
        )
    A, B, C, D = realisation(sensitivity)
    shifted = (A, B, C, D + 0.5 * (skew - 1.0) * np.eye(len(names)))
    channels = {name: _one_channel(shifted, k, name, skew) for k, name in enumerate(names)}
    if len(names) == 1:
        together = channels[names[0]]
    else:
        peak = find_structured_peak(shifted, tolerance)
        together = _margin(peak.upper, peak.lower, peak.frequency, peak.phases, names, skew)
    low, high = together.gain
    summary = (
        f"stable for simultaneous gain factors from {low:.3g} to {high:.3g} or {np.degrees(together.phase):.3g} degrees"
    )
    return DiskMargins(channels=channels, simultaneous=together, loop=loop, is_stable=True, message=summary)


def perturbed_poles(loop: LinearModel, factors: Any) -> np.ndarray:
    """Return closed-loop poles [1/s] with constant complex factors in the loop: ``det(1 + L F) = 0``.

    Parameters
    ----------
    loop : LinearModel
        The loop gain, as in `DiskMargins.loop`.
    factors : mapping of str to complex, or array
        Factor of each channel; other channels have the factor 1.

    Returns
    -------
    array, complex
    """
    A, B, C, D = realisation(loop)
    if isinstance(factors, dict):
        F = np.ones(len(loop.u), dtype=complex)
        for name, value in factors.items():
            F[loop.u.index(name)] = value
    else:
        F = np.asarray(factors, dtype=complex)
    if F.shape != (len(loop.u),):
        raise ShapeError(f"perturbed_poles: {F.shape} factors, expected ({len(loop.u)},)")
    return np.linalg.eigvals(A - (B * F) @ np.linalg.solve(np.eye(len(F)) + D * F, C.astype(complex)))


def _one_channel(shifted: Realisation, k: int, name: str, skew: float) -> DiskMargin:
    A, B, C, D = shifted
    single = (A, B[:, [k]], C[[k]], D[np.ix_([k], [k])])
    peak, where = find_peak(single, 1e-9)
    value = complex(response(single, where)[0, 0])
    phase = np.array([abs(value) / value if value != 0.0 else 1.0])
    return _margin(peak, abs(value), where, phase, (name,), skew)


def _margin(
    upper: float, lower: float, where: float, phases: np.ndarray, names: tuple[str, ...], skew: float
) -> DiskMargin:
    """Return the margin from bounds of mu and the phases of the worst perturbation."""
    alpha = 1.0 / upper if upper > 0.0 else np.inf
    worst = 1.0 / lower if lower > 0.0 else np.inf
    delta = phases * worst if np.isfinite(worst) else np.zeros(len(names), dtype=complex)
    bottom = 1.0 - 0.5 * (1.0 + skew) * delta
    safe = np.where(np.abs(bottom) > 1e-14, bottom, 1.0)
    factors = np.where(np.abs(bottom) > 1e-14, (1.0 + 0.5 * (1.0 - skew) * delta) / safe, np.inf)
    gain, phase = _guarantees(alpha, skew)
    return DiskMargin(
        alpha=alpha,
        alpha_worst=worst,
        gain=gain,
        phase=phase,
        frequency=float(where),
        perturbation=dict(zip(names, map(complex, delta), strict=True)),
        factors=dict(zip(names, map(complex, factors), strict=True)),
        skew=skew,
    )


def _guarantees(alpha: float, skew: float) -> tuple[tuple[float, float], float]:
    """Return gains and phase inside the disk: its ends on the real axis, and its intersection with the unit circle."""
    if not np.isfinite(alpha):
        return (-np.inf, np.inf), float(np.pi)
    a, b = 2.0 - alpha * (1.0 - skew), 2.0 + alpha * (1.0 + skew)
    c, d = 2.0 + alpha * (1.0 - skew), 2.0 - alpha * (1.0 + skew)
    low, high = a / b, c / d if d > 0.0 else np.inf
    cosine = (b * d + a * c) / (a * d + b * c)  # (1 + low high) / (low + high), finite for high = inf too
    return (low, high), float(np.arccos(cosine)) if abs(cosine) <= 1.0 else float(np.pi)
