"""Natural frequencies of flexible bodies with all joints locked, from equations of motion and a posture."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import block_diag, eigh

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["find_locked_frequencies"]


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
        Gives the posture; default ``eom.state()``.

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
