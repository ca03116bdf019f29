"""Margins of a state-feedback or estimator loop, continuous or sampled, broken at the plant's inputs.

A sampled loop is analysed through ``z = (1 + s T/2) / (1 - s T/2)``: the same response at other frequencies, which are
corrected afterwards. `linear.margins.disk` and `linear.margins.classical` do the work.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spacectl.core.labels import Labels
from spacectl.linear.margins.classical import ClassicalMargins, classical_margins
from spacectl.linear.margins.disk import DiskMargin, DiskMargins, disk_margins
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["LoopGain"]


class LoopGain:
    """Loop gain ``C (s - A)^-1 B`` (or in z) from the plant's inputs to the feedback that the law subtracts.

    Parameters
    ----------
    A, B, C : arrays
        Realisation without direct gain.
    D : array, optional
        Direct gain; zero by default.
    inputs : Labels
        Channels.
    period : float
        Sampling period [s]; 0 means continuous.
    """

    def __init__(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, inputs: Labels, period: float, D: np.ndarray | None = None
    ):
        self.A, self.B, self.C, self.inputs, self.period = A, B, C, inputs, period
        self.D = np.zeros((len(inputs), len(inputs))) if D is None else D

    def disk(self) -> DiskMargins:
        """Return disk margins, each input alone and all at once; frequencies are those of the sampled loop."""
        found = disk_margins(self._model(self.A, self.B, self.C, self.D, self.inputs))
        if self.period == 0.0:
            return found
        channels = {name: self._true(item) for name, item in found.channels.items()}
        return replace(found, channels=channels, simultaneous=self._true(found.simultaneous))

    def classical(self) -> dict[str, ClassicalMargins]:
        """Return gain, phase and delay margin of each input, the other loops closed."""
        result = {}
        for k, name in enumerate(self.inputs.names):
            rest = [j for j in range(len(self.inputs)) if j != k]
            back = np.linalg.inv(np.eye(len(rest)) + self.D[np.ix_(rest, rest)])
            A = self.A - self.B[:, rest] @ back @ self.C[rest]
            B = self.B[:, [k]] - self.B[:, rest] @ back @ self.D[np.ix_(rest, [k])]
            C = self.C[[k]] - self.D[np.ix_([k], rest)] @ back @ self.C[rest]
            D = self.D[[k]][:, [k]] - self.D[np.ix_([k], rest)] @ back @ self.D[np.ix_(rest, [k])]
            loop = self._model(A, B, C, D, Labels((name,), (), "input"))
            found = classical_margins(loop)
            result[name] = found if self.period == 0.0 else self._true_classical(loop, found)
        return result

    def _model(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, u: Labels) -> LinearModel:
        x = Labels(tuple(f"loop{k + 1}" for k in range(len(A))), (), "state")
        if self.period > 0.0:
            rate = 2.0 / self.period
            inverse = np.linalg.inv(A + np.eye(len(A)))
            D = D - C @ inverse @ B
            A, B, C = rate * inverse @ (A - np.eye(len(A))), 2.0 * inverse @ B, rate * C @ inverse
        return LinearModel(A=A, B=B, C=C, D=D, x=x, u=u, y=u)

    def _frequency(self, w: float) -> float:
        """Convert a frequency of the transformed loop to the true one: ``2/T atan(w T/2)``."""
        return float(2.0 / self.period * np.arctan(0.5 * w * self.period))

    def _true(self, margin: DiskMargin) -> DiskMargin:
        return replace(margin, frequency=self._frequency(margin.frequency))

    def _true_classical(self, loop: LinearModel, found: ClassicalMargins) -> ClassicalMargins:
        lags = np.angle(-loop.frequency_response(found.gain_crossings)[:, 0, 0]) % (2.0 * np.pi)
        where = np.array([self._frequency(w) for w in found.gain_crossings])
        # a period of delay turns the gain at half the sampling rate, L(z = -1), by 180 degrees
        longest = self.period if abs(float(np.asarray(loop.D)[0, 0])) >= 1.0 else np.inf
        moves = where > 0.0
        delay = float(np.min(lags[moves] / where[moves], initial=longest)) if found.is_stable else 0.0
        turned = np.array([self._frequency(w) for w in found.phase_crossings])
        summary = found.message
        if found.is_stable:
            low, high = found.gain
            summary = (
                f"gain from {low:.3g} to {high:.3g}, phase {np.degrees(found.phase):.3g} degrees, delay {delay:.3g} s"
            )
        return replace(found, gain_crossings=where, phase_crossings=turned, delay=delay, message=summary)
