"""Damping of elastic tethers: the strain rate of the line itself, while it stretches and is reeled; energy that it takes."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import Cartesian, ElasticTether, Part, RigidBody, System, find_tension, form_equations

LENGTH, STRAIN, STIFFNESS, DAMPING = 20.0, 0.3, 50.0, 8.0
AXIS = np.array([0.6, 0.0, 0.8])


def straight_line(masses: int, reel: float, stretch: float, damping: float = DAMPING):
    """Equations and state of a straight line whose material is at ``(L - sigma) (1 + e)`` from a moving drum.

    Its velocity there, ``L_dot (1 + e) + (L - sigma) e_dot``, is that of the mass at the place.
    """
    line = ElasticTether(
        name="line", on="mother", to="satellite", length=lambda s: LENGTH + reel * s.t, masses=masses,
        density=0.4 if masses else 0.0, spool=60.0 if masses else None, stiffness=STIFFNESS, damping=damping,
    )  # fmt: skip
    bodies = [RigidBody(name=name, mass=5.0, inertia=(0.0, 0.0, 0.0)) for name in ("mother", "satellite")]
    parts = tuple(Part(body, joint=Cartesian()) for body in bodies)
    eom = form_equations(System(name="s", parts=parts, elements=(line,)))
    drift, places = np.array([0.3, -0.1, 0.2]), (0.0, *line.fractions, 1.0)
    state = {}
    for name, place in zip(("mother", *line.names, "satellite"), places, strict=True):
        out = reel * (1.0 + STRAIN) if name != "mother" else 0.0
        x, v = place * LENGTH * (1.0 + STRAIN) * AXIS, drift + (out + place * LENGTH * stretch) * AXIS
        state |= {f"{name}.{a}": x[k] for k, a in enumerate("xyz")}
        state |= {f"{name}.{a}_dot": v[k] for k, a in enumerate("xyz")}
    return eom, eom.state(**state)


@pytest.mark.parametrize("masses", [0, 1, 3])
@pytest.mark.parametrize(("reel", "stretch"), [(0.0, 0.5), (0.9, 0.0), (-0.9, 0.0), (0.9, 0.5), (-0.4, -0.7)])
def test_every_string_damps_the_strain_rate_of_its_line(masses: int, reel: float, stretch: float) -> None:
    """A line that is only reeled is not damped; one that stretches pulls alike in its long and its short strings."""
    eom, x = straight_line(masses, reel, stretch)
    expected = np.full(masses + 1, STIFFNESS * STRAIN + DAMPING * stretch)
    np.testing.assert_allclose(find_tension(eom, "line", [0.0], [x])[0], expected, rtol=1e-12)


@pytest.mark.parametrize("masses", [0, 1, 3])
def test_damping_takes_the_energy_that_the_strings_stretch_against(masses: int) -> None:
    """At constant length ``dE/dt = -damping e_dot^2 L``, whatever the number of strings."""
    stretch, h = 0.5, 1e-4
    eom, x = straight_line(masses, 0.0, stretch)
    x_dot, n = eom.x_dot(0.0, x), eom.n_q
    up, down = (eom.energy(0.0, (x + d * x_dot)[:n], (x + d * x_dot)[n:]) for d in (h, -h))
    assert (up - down) / (2.0 * h) == pytest.approx(-DAMPING * stretch**2 * LENGTH, rel=1e-6)
