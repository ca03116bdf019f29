"""Second-order shapes of a beam against a geometrically exact one: ``R' = R kappa~``, ``r' = R (e1 + e)`` integrated.

Strains and curvatures are those of the first-order shapes times eta, found here from displacements and rotations
only. The exact beam and the expansion must then differ by the third power of eta.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, chebyshev
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from spacectl import Beam, Frame
from tests.oracles.flexible.flexible_points import slope

LENGTH = 2.0
SIZES = 2.0 ** -np.arange(4.0, 7.0)  # of eta: third-order errors of 2e-4 to 4e-6, far above the integration's 1e-9

KINDS = {
    "one plane": {},
    "two planes": {"bending": ("y", "z"), "modes": (2, 1)},
    "bending and torsion": {"bending": ("y", "z"), "torsion": 2},
    "bending and extension": {"bending": ("z",), "extension": 2},
    "shear": {"bending": ("y", "z"), "GA": (300.0, 200.0)},
    "all": {"bending": ("y", "z"), "modes": 2, "torsion": 1, "extension": 1, "GA": 300.0},
    "free": {"bending": ("y", "z"), "torsion": 1, "root": "free"},
    "polynomials": {"bending": ("y", "z"), "torsion": 1, "shapes": "polynomials"},
    "tapered": {"bending": ("y", "z"), "torsion": 1, "EI": lambda x: 50.0 - 15.0 * x},
}


def make(kind: str, frames: tuple[Frame, ...] = ()) -> Beam:
    given = {"EI": 50.0, "GJ": 30.0, "EA": 900.0, "rotary": (0.2, 0.1, 0.1), **KINDS[kind]}
    return Beam(name="boom", length=LENGTH, mass=3.0, frames=frames, **given)


class ExactBeam:
    """The beam of the same strains, without any expansion."""

    def __init__(self, beam: Beam):
        nodes = 0.5 * LENGTH * (1.0 - np.cos(np.pi * (np.arange(32) + 0.5) / 32))
        found = [beam.shapes_at(np.array([x, 0.0, 0.0])) for x in nodes]
        values = np.stack([np.concatenate([item.Phi, item.Psi]).ravel() for item in found])
        self.m = beam.n_modes
        self.fitted = chebyshev.chebfit(2.0 * nodes / LENGTH - 1.0, values, 31)
        self.slopes = chebyshev.chebder(self.fitted, scl=2.0 / LENGTH)

    def shapes(self, x: float, coefficients: np.ndarray) -> np.ndarray:
        """Displacements and rotations (or their slopes) of all modes at x, (6, m)."""
        return chebyshev.chebval(2.0 * x / LENGTH - 1.0, coefficients).reshape(6, self.m)

    def fields(self, x: float) -> tuple[np.ndarray, np.ndarray]:
        """Strains e and curvatures kappa, each (3, m): ``e = w' - theta x e1``, ``kappa = theta'``."""
        theta, rate = self.shapes(x, self.fitted)[3:], self.shapes(x, self.slopes)
        along = np.stack([0.0 * theta[0], theta[2], -theta[1]])  # theta x e1
        return rate[:3] - along, rate[3:]

    def integrate(self, eta: np.ndarray, places: list[float]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Position and rotation at ascending places, the last of them the tip."""
        start = self.shapes(0.0, self.fitted) @ eta

        def rate(x: float, y: np.ndarray) -> np.ndarray:
            e, kappa = (item @ eta for item in self.fields(x))
            R = y[3:].reshape(3, 3)
            skew = np.array([[0, -kappa[2], kappa[1]], [kappa[2], 0, -kappa[0]], [-kappa[1], kappa[0], 0]])
            return np.concatenate([R @ (np.array([1.0, 0.0, 0.0]) + e), (R @ skew).ravel()])

        y0 = np.concatenate([start[:3], Rotation.from_rotvec(start[3:]).as_matrix().ravel()])
        found = solve_ivp(rate, (0.0, LENGTH), y0, t_eval=places, method="DOP853", rtol=1e-9, atol=1e-10).y
        return [(y[:3], y[3:].reshape(3, 3)) for y in found.T]


def expanded(shapes, at: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation vector to second order."""
    position = at + shapes.Phi @ eta - 0.5 * np.einsum("ajk,j,k->a", shapes.G, eta, eta)
    return position, shapes.Psi @ eta + 0.5 * np.einsum("ajk,j,k->a", shapes.H, eta, eta)


@pytest.mark.parametrize("kind", KINDS)
def test_displacement_and_rotation_are_exact_to_second_order(kind: str) -> None:
    port = Frame(name="port", at=(0.4 * LENGTH, 0.3, -0.2))  # off the axis, and within
    body = make(kind, (port,))
    exact = ExactBeam(body)
    eta0 = np.random.default_rng(3).normal(size=body.n_modes)
    errors: dict[str, list[float]] = {"tip": [], "tip turn": [], "port": [], "first": []}
    places = {"port": np.asarray(port.at), "tip": np.array([LENGTH, 0.0, 0.0])}
    shapes = {name: body.shapes_at(at) for name, at in places.items()}
    for size in SIZES:
        eta = size * eta0
        poses = exact.integrate(eta, [float(at[0]) for at in places.values()])
        for (name, at), (r, R) in zip(places.items(), poses, strict=True):
            position, turn = expanded(shapes[name], at, eta)
            errors[name].append(float(np.max(np.abs(position - r - R @ [0.0, at[1], at[2]]))))
            if name == "tip":
                twist = (Rotation.from_matrix(R).inv() * Rotation.from_rotvec(turn)).magnitude()
                errors["tip turn"].append(float(twist))
                errors["first"].append(float(np.max(np.abs(at + shapes[name].Phi @ eta - r))))
    for name in ("tip", "port"):
        assert slope(SIZES, errors[name]) > 2.85, name  # third order, less what higher ones add at the largest size
    assert max(errors["tip turn"]) < 1e-8 or slope(SIZES, errors["tip turn"]) > 2.85  # in one plane it is exact
    assert slope(SIZES, errors["first"]) == pytest.approx(2.0, abs=0.15)  # first-order shapes alone are not enough


def test_one_plane_gives_the_shortening_of_the_text() -> None:
    """``u2 = -1/2 int w'^2`` (Sadigh 1995, Eq 5.31), and no other second-order displacement."""
    body = make("one plane")
    x, weights = np.polynomial.legendre.leggauss(40)
    places = 0.5 * LENGTH * (x + 1.0)
    slopes = np.array([body.shapes_at(np.array([place, 0.0, 0.0])).Psi[2, 0] for place in places])
    tip = body.shapes_at(np.array([LENGTH, 0.0, 0.0]))
    assert tip.G[0, 0, 0] == pytest.approx(0.5 * LENGTH * weights @ slopes**2, rel=1e-12)  # rounding
    np.testing.assert_allclose(tip.G[1:], 0.0, atol=1e-14)
    np.testing.assert_allclose(tip.H, 0.0, atol=1e-14)


def test_shear_has_its_own_shortening() -> None:
    """``u2' = -(w' theta - theta^2 / 2)`` for a Timoshenko beam in one plane: slopes are independent of w'."""
    body = Beam(name="boom", length=LENGTH, mass=3.0, EI=50.0, GA=100.0)
    x, weights = np.polynomial.legendre.leggauss(40)
    nodes = 0.5 * LENGTH * (x + 1.0)
    samples = [body.shapes_at(np.array([place, 0.0, 0.0])) for place in nodes]
    w = Chebyshev.fit(nodes, [item.Phi[1, 0] for item in samples], 30, domain=[0.0, LENGTH])
    theta = np.array([item.Psi[2, 0] for item in samples])
    integrand = w.deriv()(nodes) * theta - 0.5 * theta**2
    tip = body.shapes_at(np.array([LENGTH, 0.0, 0.0]))
    assert tip.G[0, 0, 0] == pytest.approx(2.0 * 0.5 * LENGTH * weights @ integrand, rel=1e-9)  # slope of the fit
    assert np.max(np.abs(w.deriv()(nodes) - theta)) > 0.1  # the shear is large here


def test_bending_and_torsion_couple_across() -> None:
    """``w2'' += -theta1 w3''`` and ``w3'' += theta1 w2''`` (which Sadigh (1995), Eq 5.31 omits), by plain quadrature."""
    body = make("bending and torsion")
    nodes = 0.5 * LENGTH * (1.0 - np.cos(np.pi * (np.arange(32) + 0.5) / 32))
    samples = [body.shapes_at(np.array([place, 0.0, 0.0])) for place in nodes]
    y, z, twist = 0, 1, 2

    def fit(values) -> Chebyshev:
        return Chebyshev.fit(nodes, values, 31, domain=[0.0, LENGTH])

    w2, w3 = fit([s.Phi[1, y] for s in samples]), fit([s.Phi[2, z] for s in samples])
    a = fit([s.Psi[0, twist] for s in samples])
    tip = body.shapes_at(np.array([LENGTH, 0.0, 0.0]))
    along_y = (-1.0 * a * w3.deriv(2)).integ(2, lbnd=0.0)(LENGTH)  # 1/2 eta' P eta with two equal mixed entries: P = it
    along_z = (a * w2.deriv(2)).integ(2, lbnd=0.0)(LENGTH)
    assert -tip.G[1, z, twist] == pytest.approx(along_y, rel=1e-9)  # second derivative of a fit
    assert -tip.G[2, y, twist] == pytest.approx(along_z, rel=1e-9)


def test_frames_are_where_they_should_be_between_panels() -> None:
    """A frame adds an edge to the panels; the shapes there are those of the beam without the frame."""
    place = np.array([0.777, 0.1, 0.05])
    plain, marked = make("all"), make("all", (Frame(name="port", at=place),))
    for one, other in zip(vars(plain.shapes_at(place)).values(), vars(marked.shapes_at(place)).values(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)  # rounding of two quadratures of polynomials
    np.testing.assert_allclose(plain.elasticity, marked.elasticity, rtol=1e-12, atol=1e-9)
