"""`check_spillover`: effect of a law designed on a reduced model on all modes of the full one.

The modes of the closed loop of the law and the full linear model are followed from those without the
law; a verdict names those that the law destabilises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.controllers.analysis.law_loop import close_loop, linearise_law
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError
from spacectl.linear.analysis.tracking import Branches, track_poles
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["Spillover", "SpilloverMode", "check_spillover"]


@dataclass(frozen=True, kw_only=True)
class SpilloverMode:
    """A mode of the full model, without and with the law.

    Parameters
    ----------
    open_pole, closed_pole : complex
        Pole [1/s] without and with the law, imaginary part not negative.
    states : tuple of str
        States with the largest participation in the mode without the law; memory of the law is named ``law.<name>``.
    is_destabilised : bool
        Whether it grows with the law, and less (or not at all) without.
    is_untouched : bool
        Whether it does not decay and the law does not affect it (momentum of a free flyer).
    """

    open_pole: complex
    closed_pole: complex
    states: tuple[str, ...]
    is_destabilised: bool
    is_untouched: bool

    def describe(self) -> str:
        """Describe the mode in words."""
        a, b = abs(self.open_pole), abs(self.closed_pole)
        where = "mode at the origin" if a == 0.0 else f"mode at {a:.4g} rad/s (damping {_damping(self.open_pole):.3g})"
        return (
            f"the {where}, mostly {', '.join(self.states)}: {b:.4g} rad/s, damping {_damping(self.closed_pole):.3g} now"
        )


@dataclass(frozen=True, kw_only=True)
class Spillover:
    """A law on a full model.

    Parameters
    ----------
    poles : array, complex
        All poles of the closed loop [1/s], slowest first; for a sampled law ``log(z) / period``.
    modes : tuple of SpilloverMode
        Every mode (a conjugate pair once), slowest first.
    destabilised : tuple of SpilloverMode
        Modes that the law destabilises, fastest growing first.
    is_stable : bool
        Whether all poles decay.
    message : str
        The verdict in words, with names.
    """

    poles: np.ndarray
    modes: tuple[SpilloverMode, ...]
    destabilised: tuple[SpilloverMode, ...]
    is_stable: bool
    message: str

    def table(self) -> str:
        """Return a table with one line per mode."""
        lines = ["without: frequency [rad/s]  damping [1]  with: frequency [rad/s]  damping [1]  mostly"]
        for mode in self.modes:
            a, b = mode.open_pole, mode.closed_pole
            mark = "  GROWS" if mode.is_destabilised else ""
            lines.append(
                f"{abs(a):26.6g}  {_damping(a):11.4g}  {abs(b):23.6g}  {_damping(b):11.4g}  {', '.join(mode.states)}{mark}"
            )
        return "\n".join(lines)


def check_spillover(law: ControlLaw, full_model: LinearModel, *, y_point: Any = None, steps: int = 40) -> Spillover:
    """Compute the poles of a law on the full model, and the modes that it destabilises.

    The law's own function is differentiated at the model's point, so it may be any `ControlLaw`; its states, inputs and
    measurements are found by name. Modes are followed while the law's commands are increased from zero.

    Parameters
    ----------
    law : ControlLaw
        A regulator designed on a reduced model or on a simpler plant whose states have the same names, an LQG law, ...
    full_model : LinearModel
        The full plant; its outputs must include the law's measurements.
    y_point : array, optional
        The law's measurements at the point; only laws that are not linear in them need it.
    steps : int
        Number of steps in which commands are increased.

    Returns
    -------
    Spillover

    Raises
    ------
    ModelError
        If the model lacks the law's states, inputs or measurements.
    """
    what = "check_spillover"
    if not isinstance(law, ControlLaw) or not isinstance(full_model, LinearModel):
        given = f"{type(law).__name__} and {type(full_model).__name__}"
        raise ModelError(f"{what}: got {given}, expected a ControlLaw and a LinearModel")
    slopes = linearise_law(law, full_model, what=what, y_point=y_point)
    names = (*full_model.x.names, *(f"law.{name}" for name in law.memory.names))
    # small steps first: lightly damped modes move by little gain
    factors = np.concatenate([[0.0], np.linspace(0.0, 1.0, max(steps, 2))[1:] ** 3])
    found = track_poles([close_loop(slopes, factor) for factor in factors])
    first, last = (_rates(found.poles[k], law.period) for k in (0, -1))
    rate = float(np.max(np.abs(last), initial=0.0))
    shares = _participation(found, first, rate)
    modes = []
    for k in range(len(first)):
        if last[k].imag < 0.0 or (last[k].imag == 0.0 and first[k].imag < 0.0):
            continue
        order = np.argsort(-shares[k], kind="stable")[:3]
        entries = tuple(names[i] for i in order if shares[k, i] > 0.05 * shares[k, order[0]])
        grows = bool(last[k].real > 1e-9 * rate)
        stays = abs(last[k] - first[k]) <= 1e-6 * rate and last[k].real > -1e-9 * rate
        worse = bool(grows and not stays and last[k].real > first[k].real)
        a, b = (complex(pole.real, abs(pole.imag)) for pole in (first[k], last[k]))
        modes.append(
            SpilloverMode(open_pole=a, closed_pole=b, states=entries, is_destabilised=worse, is_untouched=bool(stays))
        )
    modes.sort(key=lambda mode: abs(mode.open_pole))
    bad = tuple(sorted((mode for mode in modes if mode.is_destabilised), key=lambda mode: -mode.closed_pole.real))
    return Spillover(
        poles=last[np.lexsort((last.imag, last.real, np.abs(last)))],
        modes=tuple(modes),
        destabilised=bad,
        is_stable=bool(np.all(last.real < -1e-12 * rate)),
        message=_verdict(law, modes, bad, last),
    )


def _verdict(law: ControlLaw, modes: list[SpilloverMode], bad: tuple[SpilloverMode, ...], poles: np.ndarray) -> str:
    if bad:
        summary = "; ".join(mode.describe() for mode in bad[:3])
        more = f"; and {len(bad) - 3} more" if len(bad) > 3 else ""
        return f"law '{law.name}' destabilises {summary}{more}; include these modes in the design, or filter the law below them"
    alone = [mode for mode in modes if mode.is_untouched]
    if alone:
        return f"law '{law.name}' destabilises nothing; it leaves alone {alone[0].describe()}"
    growing = [mode for mode in modes if mode.closed_pole.real >= 0.0]
    if growing:
        return f"law '{law.name}' destabilises nothing, but does not stabilise {growing[0].describe()}"
    return f"law '{law.name}' is stable on the full model; slowest decay {-float(np.max(poles.real)):.3g} 1/s"


def _rates(poles: np.ndarray, period: float) -> np.ndarray:
    """Return poles [1/s]; those of samples through ``log(z) / period``, a dead-beat pole as the fastest representable."""
    if period == 0.0:
        return poles.astype(complex)
    return np.log(np.where(np.abs(poles) > 1e-300, poles.astype(complex), 1e-300)) / period


def _participation(found: Branches, first: np.ndarray, rate: float) -> np.ndarray:
    """Return the participation of the states in every mode, without the law or, where modes coincide, with it.

    Rigid motions share a pole at zero, whose eigenvectors are arbitrary; the law separates them.
    """
    apart = np.abs(first[:, None] - first[None, :]) + np.diag(np.full(len(first), np.inf))
    is_alone = np.min(apart, axis=1, initial=np.inf) > 1e-6 * rate
    return np.where(is_alone[:, None], *(np.abs(found.left[k] * found.right[k]) for k in (0, -1)))


def _damping(pole: complex) -> float:
    return -pole.real / abs(pole) if pole else 0.0
