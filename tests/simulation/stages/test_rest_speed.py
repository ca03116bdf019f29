"""Impacts below the rest speed: several contacts rest only together, by their speeds relative to what they hit."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import Exit, Guard, Impact, Stage, simulate_stages
from tests.simulation.staged_systems import sliders

#: The stops move with 0.2 and 0.3 m/s and are both at 0.5 m after 1 s.
SLIDERS, STOPS, RESTITUTION = sliders(), np.array([0.2, 0.3]), 0.6
CONTACTS = ("early", "late")


def hit_both(speeds, rest_speed, contacts=CONTACTS):
    """Both sliders reach their stops after 1 s, with these speeds of approach."""
    v = STOPS - np.array(speeds)
    hit = Guard(name="hit", expression=lambda s: s.gap("early"), direction=-1)
    impact = Impact(contacts=contacts, restitution=RESTITUTION, rest_speed=rest_speed, rest="rest")
    stages = [
        Stage(name="flight", exits=(Exit(guard=hit, to="flight", impact=impact),)),
        Stage(name="rest", active=CONTACTS),
    ]
    return simulate_stages(SLIDERS, stages, x0=[*(0.5 - v), *v], t_span=(0.0, 1.5))


@pytest.mark.parametrize("contacts", [CONTACTS, CONTACTS[::-1]])
@pytest.mark.parametrize(
    ("speeds", "is_rest"),
    [((0.05, 0.08), True), ((0.05, 0.4), False), ((0.4, 0.05), False), ((0.099, 0.099), True), ((0.05, 0.101), False)],
)
def test_contacts_rest_if_all_of_them_are_slow(speeds, is_rest, contacts):
    """Not coupled by inertia: each slider leaves its stop with the restitution, or both go with their stops."""
    sim = hit_both(speeds, 0.1, contacts)
    (only,) = sim.transitions
    assert only.time == pytest.approx(1.0, abs=1e-12)
    assert only.target == ("rest" if is_rest else "flight")
    leaves = 0.0 if is_rest else RESTITUTION * np.array(speeds)
    np.testing.assert_allclose(only.x_after[2:], STOPS + leaves, atol=1e-12)
    mass, jump = np.array([2.0, 3.0]), leaves + np.array(speeds)
    np.testing.assert_allclose([only.impulses[name] for name in CONTACTS], mass * jump, rtol=1e-11)
    np.testing.assert_allclose(sim.x[-1, :2], 0.5 + 0.5 * (STOPS + leaves), rtol=1e-11)


@pytest.mark.parametrize("speeds", [(0.05, -0.4), (0.05, -0.101)])
def test_a_contact_that_separates_is_not_pulled_to_rest(speeds):
    """The first slider bounces, the second leaves its stop undisturbed; the stage at rest would pull it back."""
    (only,) = hit_both(speeds, 0.1).transitions
    assert only.target == "flight"
    np.testing.assert_allclose(only.x_after[2:], STOPS + [RESTITUTION * speeds[0], -speeds[1]], atol=1e-12)
    assert only.impulses["late"] == pytest.approx(0.0, abs=1e-12)
    assert hit_both((0.05, -0.05), 0.1).transitions[0].target == "rest"
