"""`modes`: frequencies, damping, shapes by name, participation, and the distribution of energy over the parts.

`modes` accepts any `LinearModel`; given the equations, it splits the kinetic energy by part.
`find_locked_frequencies` takes equations and a posture, with all joints locked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag, eigh

from spacectl.core.array import Array
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["Modes", "find_locked_frequencies", "modes"]


@dataclass(frozen=True, kw_only=True)
class Modes:
    """Eigenmodes of a linear model, slowest first; a conjugate pair counts once.

    Parameters
    ----------
    poles : array, shape (n,), complex
        Eigenvalues with non-negative imaginary part [1/s].
    frequency : array, shape (n,)
        ``|pole|`` [rad/s].
    damping : array, shape (n,)
        ``-Re(pole) / |pole|``; 0 for a pole at the origin.
    shapes : array, shape (n, n_x), complex
        Right eigenvectors, largest entry 1.
    participation : array, shape (n, n_x)
        ``|left * right|`` entry by entry, summing to 1: participation of the states in the mode.
    energy : array, shape (n, n_parts)
        Share of each part in the mode's kinetic energy; empty without the equations.
    x : Labels
        Names of the states.
    parts : tuple of str
        Names of the parts.
    """

    poles: np.ndarray
    frequency: np.ndarray
    damping: np.ndarray
    shapes: np.ndarray
    participation: np.ndarray
    energy: np.ndarray
    x: Labels
    parts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.poles)

    def dominant(self, k: int, count: int = 3) -> tuple[str, ...]:
        """Return the names of the states with the largest participation in mode k."""
        order = np.argsort(-self.participation[k])[:count]
        return tuple(self.x.names[i] for i in order)

    def table(self) -> str:
        """Return a table with one line per mode."""
        lines = ["mode  frequency [rad/s]  damping [1]  mostly"]
        for k in range(len(self)):
            summary = ", ".join(self.dominant(k))
            lines.append(f"{k + 1:4d}  {self.frequency[k]:17.6g}  {self.damping[k]:11.4g}  {summary}")
        return "\n".join(lines)


def modes(model: LinearModel, *, eom: EquationsOfMotion | None = None) -> Modes:
    """Compute the eigenmodes of a linear model.

    Parameters
    ----------
    model : LinearModel
        From `linearize`, or any other.
    eom : EquationsOfMotion, optional
        The equations of the model, to split the kinetic energy by part.

    Returns
    -------
    Modes

    Examples
    --------
    >>> from spacectl import form_equations, library, linearize
    >>> eom = form_equations(library.pendulum(length=1.5))
    >>> modes(linearize(eom, eom.state())).frequency.round(4)
    array([3.1316])
    """
    A = np.asarray(model.A)
    values, right = np.linalg.eig(A)
    left = np.linalg.pinv(right)
    keep = np.flatnonzero(values.imag >= 0.0)
    keep = keep[np.lexsort((values[keep].imag, np.abs(values[keep])))]
    poles, shapes = values[keep], right[:, keep].T
    shares = np.abs(left[keep] * shapes)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    largest = shapes[np.arange(len(keep)), np.argmax(np.abs(shapes), axis=1)]
    shapes = shapes / largest[:, None]
    size = np.abs(poles)
    # a pole of the size of rounding is one at the origin, without a meaningful damping ratio
    noise = 1e-9 * max(np.max(size, initial=0.0), np.finfo(float).tiny)
    damping = np.where(size > noise, -poles.real / np.maximum(size, np.finfo(float).tiny), 0.0)
    names = () if eom is None else tuple(part.name for part in eom.system.tree)
    whole = shapes if model.basis is None else shapes @ np.asarray(model.basis).T  # constrained: all error states
    energy = np.zeros((len(keep), 0)) if eom is None else _energy(eom, model.point, whole)
    return Modes(
        poles=poles,
        frequency=size,
        damping=damping,
        shapes=shapes,
        participation=shares,
        energy=energy,
        x=model.x,
        parts=names,
    )


def _energy(eom: EquationsOfMotion, point: Any, shapes: np.ndarray) -> np.ndarray:
    """Return the shares of the parts in the kinetic energy of each mode, averaged over a period."""
    x: Array = point["x"]
    q, n = np.asarray(x)[: eom.n_q], eom.n_v
    rows = []
    for shape in shapes:
        speeds = shape[n:] if np.any(np.abs(shape[n:]) > 0.0) else shape[:n]
        real, imaginary = (eom.call("kinetic_by_part", 0.0, q, part)[0][:, 0] for part in (speeds.real, speeds.imag))
        total = real + imaginary
        rows.append(total / max(float(np.sum(total)), np.finfo(float).tiny))
    return np.array(rows).reshape(len(shapes), -1)


def find_locked_frequencies(eom: EquationsOfMotion, x: Any = None) -> np.ndarray:
    """Compute the natural frequencies of the flexible bodies of a tree with all joints locked [rad/s], ascending.

    ``K a = omega^2 M a`` over the modal coordinates, with M in the given posture and K the stiffness of the bodies: the
    vibration of an arm whose brakes are on. Gravity, spin and preload are not included. Default shapes of beams and
    plates suit the moments that motors and springs in the joints transmit; about an axis without a drive they are
    those of a free joint, which are too stiff for a locked one.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a tree with at least one flexible body, without springs between points.
    x : array, shape (n_x,), optional
        State with the posture; default ``eom.state()``.

    Returns
    -------
    array, shape (number of modal coordinates,)

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> find_locked_frequencies(form_equations(library.retrieval_arm(flexible=True))).round(3)
    array([0.135, 4.752])
    """
    what = f"find_locked_frequencies: system '{eom.system.name}'"
    if eom.constraint_rows or eom.system.point_elements:
        raise ModelError(f"{what} has constraints or springs between points; use modes(linearize(eom, x)) instead")
    bodies = eom.system.flexible_bodies
    if not bodies:
        raise ModelError(f"{what} has no flexible body, so it has no vibrations with locked joints")
    own = [eom.speeds.index(f"{body.name}.{name}_dot") for body in bodies for name in body.modal_names]
    q = np.asarray(eom.state() if x is None else x, dtype=float)[: eom.n_q]
    K = block_diag(*(body.elasticity for body in bodies))
    squares = eigh(K, eom.mass_matrix(0.0, q)[np.ix_(own, own)], eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0))
