"""Strain energy of a `Beam`'s shapes, integrated along it."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.model.bodies.base.modal_integrals import pack_symmetric
from spacectl.model.bodies.base.profile import as_function
from spacectl.model.bodies.beam.fields import Strand

__all__ = ["stiffness_derivatives", "stiffness_matrix", "strain_tensors"]


def stiffness_matrix(beam: Any, x: np.ndarray, weights: np.ndarray, first: Strand) -> np.ndarray:
    """Return ``int EI kappa^2 + GA gamma^2 + EA eps^2 + GJ theta1'^2 + E Gamma theta1''^2 + T w'^2``, (m, m)."""
    K = np.zeros((beam.n_modes, beam.n_modes))
    EI, GA, (EA,), (GJ,), (E_warp,) = (beam.property_functions(key) for key in ("EI", "GA", "EA", "GJ", "warping"))
    terms = [(EI[0], first.curvature[:, 2]), (EI[1], first.curvature[:, 1]), (GJ, first.curvature[:, 0])]
    terms += [(GA[0], first.strain[:, 1]), (GA[1], first.strain[:, 2]), (EA, first.strain[:, 0])]
    if E_warp is not None:
        second = np.zeros((x.size, beam.n_modes))
        twists = [(kind.name == "torsion", shape) for kind in beam.kinds for shape in kind.shapes]
        for j, (is_twist, shape) in enumerate(twists):
            second[:, j] = shape.turn.deriv()(x) if is_twist else 0.0
        terms.append((E_warp, second))
    if beam.tension:
        pull = as_function(beam.tension, "tension")
        terms += [(pull, first.theta[:, 2] + first.strain[:, 1]), (pull, first.strain[:, 2] - first.theta[:, 1])]
    for stiffness, field in terms:
        if stiffness is not None:
            K += np.einsum("n,nj,nk->jk", weights * stiffness(x), field, field)
    return K


def stiffness_derivatives(beam: Any, key: str) -> tuple[np.ndarray, ...] | None:
    """Return the derivatives of the stiffness by each entry of EI, GJ or EA, if shapes do not depend on it; else None.

    Shapes of a uniform beam depend on the ratio of two stiffnesses of the same deformation only: of bending to shear or
    tension, of torsion to warping.
    """
    kinds = {"EI": ("bending y", "bending z"), "GJ": ("torsion",), "EA": ("extension",)}
    has_ratio = {
        "EI": beam.GA is not None or beam.tension != 0.0,
        "GJ": beam.warping is not None,
        "EA": beam.order == "strain",  # nonlinear strain energy has numbers of its own
    }
    value = getattr(beam, key) if key in kinds else None
    values = value if isinstance(value, tuple) else (value,)
    if has_ratio.get(key, True) or not all(isinstance(item, float) and item > 0.0 for item in values):
        return None
    blocks = []
    for k, number in enumerate(values):
        named = kinds[key] if len(values) == 1 else (kinds[key][k],)
        K_by = np.zeros_like(beam.elasticity)
        for kind, own in zip(beam.kinds, beam.kind_slices, strict=True):
            if kind.name in named:
                K_by[own, own] = beam.elasticity[own, own] / number
        blocks.append(K_by)
    return tuple(blocks)


def strain_tensors(beam: Any, x: np.ndarray, weights: np.ndarray, first: Strand) -> tuple[np.ndarray, np.ndarray]:
    """Return the cubic ``int EA u_a' s_jk`` and quartic ``int EA s_jk s_lm`` of ``1/2 int EA (u' + 1/2 (w2'^2 + w3'^2))^2``."""
    slope = np.stack([first.theta[:, 2] + first.strain[:, 1], first.strain[:, 2] - first.theta[:, 1]], axis=1)
    square = np.einsum("naj,nak->njk", slope, slope)
    pairs = np.stack([pack_symmetric(entry) for entry in square])
    weighted = weights * beam.property_functions("EA")[0](x)
    cubic = np.einsum("n,na,np->ap", weighted, first.strain[:, 0], pairs)
    return cubic, np.einsum("n,np,nr->pr", weighted, pairs, pairs)
