"""Second-order shapes of a beam from first-order ones, such that strains are linear in the modal coordinates.

With the slice's rotation vector theta, strains e = (extension, shears) and curvatures kappa linear in eta,
``R' = R kappa~`` and ``r' = R (e1 + e)`` give, to second order,

    theta2' = 1/2 theta x theta',
    r2'     = theta2 x e1 + 1/2 theta x (theta x e1) + theta x e,

which contains the shortening of Sadigh 1995, Eq 5.31 (and its form for a beam with shear) and the couplings of bending with
torsion and with extension. The strain energy of the shapes is integrated here as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.model.bodies.base.interfaces import FrameShapes
from spacectl.model.bodies.base.modal_integrals import pack_symmetric
from spacectl.model.bodies.base.profile import as_function

__all__ = [
    "BeamFields",
    "Strand",
    "integrate_fields",
    "panels",
    "stiffness_derivatives",
    "stiffness_matrix",
    "strain_tensors",
]

_NODES = 16  # Gauss nodes of a panel
_E1 = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Strand:
    """First-order fields of all modes at places x: each (n, 3, m)."""

    w: np.ndarray
    theta: np.ndarray
    strain: np.ndarray
    curvature: np.ndarray


@dataclass(frozen=True)
class BeamFields:
    """First- and second-order fields at places x along the beam.

    Parameters
    ----------
    x : array (n,)
        Places [m].
    first : Strand
        First-order fields.
    position2, theta2 : arrays (n, 3, m, m)
        Second-order displacement and rotation, ``1/2 eta' (.) eta``.
    """

    x: np.ndarray
    first: Strand
    position2: np.ndarray
    theta2: np.ndarray

    def at(self, i: int, offset: np.ndarray) -> FrameShapes:
        """Return the shapes at place i, of a point that the slice carries at `offset` (0, y, z) from the axis."""
        own = FrameShapes(self.first.w[i], self.first.theta[i], -self.position2[i], self.theta2[i])
        return own.carried(offset)


def panels(length: float, breaks: list[float], count: int) -> np.ndarray:
    """Return the edges of panels: about `count` of equal length, with edges at the given breaks."""
    fixed = sorted({0.0, float(length), *(float(b) for b in breaks if 0.0 < b < length)})
    edges = [0.0]
    for left, right in zip(fixed[:-1], fixed[1:], strict=True):
        n = max(1, int(np.ceil(count * (right - left) / length - 1e-9)))
        edges += list(left + (right - left) * np.arange(1, n + 1) / n)
    return np.array(edges)


def quadrature(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gauss nodes and weights of all panels, one after the other."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)
    return (edges[:-1, None] + half[:, None] * (nodes + 1.0)).ravel(), (half[:, None] * weights).ravel()


def integrate_fields(edges: np.ndarray, sample: object) -> tuple[BeamFields, BeamFields]:
    """Return the fields at Gauss nodes and panel edges; `sample(x)` returns the `Strand` at places x."""
    nodes, _ = quadrature(edges)
    inside, outside = sample(nodes), sample(edges)  # type: ignore[operator]
    theta2_nodes, theta2_edges = _cumulative(edges, _theta2_rate(inside))
    rates = _position2_rate(inside, theta2_nodes)
    position2_nodes, position2_edges = _cumulative(edges, rates)
    return (
        BeamFields(nodes, inside, position2_nodes, theta2_nodes),
        BeamFields(edges, outside, position2_edges, theta2_edges),
    )


def _theta2_rate(first: Strand) -> np.ndarray:
    """Return ``H_jk' = 1/2 (theta_j x kappa_k + theta_k x kappa_j)``, (n, 3, m, m)."""
    pair = _pair(first.theta, first.curvature)
    return 0.5 * (pair + pair.swapaxes(2, 3))


def _position2_rate(first: Strand, theta2: np.ndarray) -> np.ndarray:
    """Return the derivative along x of the second-order displacement of the axis, (n, 3, m, m)."""
    turned = np.cross(first.theta.transpose(0, 2, 1), _E1).transpose(0, 2, 1)  # theta_k x e1
    double = _pair(first.theta, turned)
    strained = _pair(first.theta, first.strain)
    own = np.cross(theta2.transpose(0, 2, 3, 1), _E1).transpose(0, 3, 1, 2)
    return own + 0.5 * (double + double.swapaxes(2, 3)) + strained + strained.swapaxes(2, 3)


def _pair(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return ``a_j x b_k`` of fields (n, 3, m): (n, 3, m, m)."""
    left, right = a.transpose(0, 2, 1)[:, :, None, :], b.transpose(0, 2, 1)[:, None, :, :]
    return np.cross(left, right).transpose(0, 3, 1, 2)


def _cumulative(edges: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the integral from 0 of a field given at the Gauss nodes: at the nodes and at the edges."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    V = np.polynomial.legendre.legvander(nodes, _NODES - 1)
    integrals = np.stack(
        [np.polynomial.legendre.Legendre.basis(k).integ(lbnd=-1.0)(nodes) for k in range(_NODES)], axis=1
    )
    inner = integrals @ np.linalg.inv(V)  # values at the nodes -> integral from -1 to the nodes
    half = 0.5 * np.diff(edges)
    shaped = rates.reshape(len(half), _NODES, -1)
    within = np.einsum("ab,pbk->pak", inner, shaped) * half[:, None, None]
    totals = np.einsum("b,pbk->pk", weights, shaped) * half[:, None]
    starts = np.vstack([np.zeros(totals.shape[1]), np.cumsum(totals, axis=0)])
    at_nodes = (starts[:-1, None, :] + within).reshape(rates.shape)
    return at_nodes, starts.reshape(len(edges), *rates.shape[1:])


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
        "EA": beam.order == "strain",  # nonlinear strain energy has parameters of its own
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
