"""Campbell diagrams: closed forms of whirling and sleeping tops, modes that cross, crossings and instabilities by name."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    Figure,
    JointTorque,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    SolverError,
    System,
    UniformGravity,
    Universal,
    campbell,
    form_equations,
    library,
)
from spacectl.linear.analysis.tracking import track_poles

G = 9.80665  # [m/s^2]
MASS, ARM = 2.0, 0.4  # [kg], [m] from the pivot to the rotor's centre
ACROSS, ALONG = 0.02, 0.03  # [kg m^2] of the rotor about its centre
PIVOT = ACROSS + MASS * ARM**2 + 0.001  # [kg m^2] about the pivot, with the carrier
PULL = MASS * G * ARM  # [N m/rad]


def top(direction: float) -> System:
    """A rotor on a stick that hangs (-1) or stands (+1) on a universal joint; the carrier has inertia across only."""
    carrier = RigidBody(name="carrier", mass=1e-9, inertia=(0.001, 0.001, 0.0015))
    rotor = RigidBody(name="rotor", mass=MASS, inertia=(ACROSS, ACROSS, ALONG))
    return System(
        name="top",
        environment=UniformGravity(g=(0.0, 0.0, -G)),
        parts=(
            Part(carrier, joint=Universal(name="pivot")),
            Part(rotor, on="carrier", at=(0.0, 0.0, direction * ARM), joint=Revolute(name="spin", axis="z")),
        ),
    )


def whirl(speed: np.ndarray) -> np.ndarray:
    """Both frequencies of a hanging top, ``I s^2 -+ H s - m g l = 0`` with H = I_axial Omega: slow, quick."""
    half = ALONG * np.abs(speed) / (2.0 * PIVOT)
    root = np.sqrt(half**2 + PULL / PIVOT)
    return np.stack([root - half, root + half], axis=1)


def test_whirl_of_a_hanging_top_and_its_resonance_with_the_spin() -> None:
    speeds = np.linspace(0.0, 60.0, 31)
    found = campbell(form_equations(top(-1.0)), {"spin_dot": speeds}, orders=(1.0, 0.25))
    swinging = [k for k, rigid in enumerate(found.is_rigid) if not rigid]
    assert len(swinging) == 2 and all("pivot" in found.names[k] for k in swinging)
    frequency = np.sort(found.frequency[:, swinging], axis=1)
    np.testing.assert_allclose(frequency, whirl(speeds), rtol=1e-6)  # the carrier's 1e-9 kg
    # order 1 meets both branches: Omega^2 (I -+ I_axial) = m g l
    resonance = np.sqrt(PULL / (PIVOT + np.array([ALONG, -ALONG])))
    values = [item.value for item in found.crossings if item.order == 1.0]
    np.testing.assert_allclose(values, resonance, rtol=1e-4)  # splines through steps of 2 rad/s, order 4
    assert not found.instabilities and np.min(found.correlation[1:, swinging]) > 0.9
    figure = found.figure()
    assert isinstance(figure, Figure) and len(figure.panels) == 2
    assert {"order 1", "order 0.25", "crossing"} <= {line.label for line in figure.panels[0].lines}


def test_a_standing_top_sleeps_above_its_critical_spin_only() -> None:
    critical = 2.0 * np.sqrt(PIVOT * PULL) / ALONG
    speeds = np.linspace(0.2, 1.6, 57) * critical
    found = campbell(form_equations(top(1.0)), {"spin_dot": speeds})
    last = speeds[speeds < critical][-1]
    assert found.instabilities and all(item.high == last for item in found.instabilities)
    item = found.instabilities[0]
    assert item.kind == "flutter" and item.low == speeds[0] and "pivot" in item.name
    # growth sqrt(m g l / I - (H / 2 I)^2), largest at the slowest spin
    expected = np.sqrt(PULL / PIVOT - (ALONG * speeds[0] / (2.0 * PIVOT)) ** 2)
    assert item.growth == pytest.approx(expected, rel=1e-6) and item.at == speeds[0]
    assert "unstable (flutter" in found.summary()


def two_pendulums() -> System:
    rods = [
        RigidBody(name=f"rod{i}", mass=1.0, inertia=(0.1, 0.1, 0.01), com=(0.0, 0.0, -length))
        for i, length in ((1, 1.0), (2, 0.5))
    ]
    parts = tuple(
        Part(rod, at=(0.0, 2.0 * i, 0.0), joint=Revolute(name=f"hinge{i}", axis="y")) for i, rod in enumerate(rods)
    )
    return System(
        name="two pendulums", environment=UniformGravity(), parts=parts, actuators=(JointTorque(joint="hinge0"),)
    )


def test_modes_keep_their_shape_where_frequencies_cross() -> None:
    """Sorting would exchange the pendulums where their frequencies meet."""
    lengths = np.linspace(0.4, 2.0, 33)
    found = campbell(form_equations(two_pendulums()), {"rod2.com[2]": -lengths}, point={"u": {"hinge0": 0.0}})
    own = np.sqrt(G * lengths / (0.1 + lengths**2))
    other = np.sqrt(G * 1.0 / 1.1)
    moving = next(k for k, name in enumerate(found.names) if "hinge1" in name)
    np.testing.assert_allclose(found.frequency[:, moving], own, rtol=1e-10)
    np.testing.assert_allclose(found.frequency[:, 1 - moving], other, rtol=1e-10)
    assert np.any(own > other) and np.any(own < other)
    assert np.min(found.correlation) > 0.9


def test_operating_points_follow_an_input() -> None:
    """A pendulum held off the vertical by a torque swings with sqrt(3 g cos(angle) / 2 l)."""
    eom = form_equations(library.pendulum())
    torques = np.linspace(-4.0, 4.0, 9)
    found = campbell(eom, {"hinge": torques}, point={"free": ("hinge",)})
    angle = np.arcsin(torques / (0.5 * G))
    np.testing.assert_allclose([point.x[0] for point in found.points], angle, atol=1e-9)
    np.testing.assert_allclose(found.frequency[:, 0], np.sqrt(1.5 * G * np.cos(angle)), rtol=1e-8)
    assert found.unit == "N m"
    with pytest.raises(SolverError, match="no input balances 'hinge_dot'"):
        campbell(eom, {"hinge": [4.0, 6.0]}, point={"free": ("hinge",)})


def test_tracking_follows_a_pair_into_two_real_poles_and_back() -> None:
    """s^2 + 2 c s + 1 with c from 0.5 to 1.5: two branches throughout, poles as they must be."""
    dampings = np.linspace(0.5, 1.5, 41)
    matrices = [np.array([[0.0, 1.0], [-1.0, -2.0 * c]]) for c in dampings]
    found = track_poles(matrices)
    for c, poles in zip(dampings, found.poles, strict=True):
        expected = np.roots([1.0, 2.0 * c, 1.0])
        assert np.max(np.abs(np.sort_complex(poles) - np.sort_complex(expected))) < 1e-7  # square root of rounding
    steps = np.abs(np.diff(found.poles, axis=0))
    assert np.max(steps) < 0.4  # no exchange: the real poles are up to 2.2 apart


def test_wrong_sweeps_are_explained() -> None:
    eom = form_equations(library.pendulum())
    with pytest.raises(ModelError, match="did you mean 'hinge_dot'"):
        campbell(eom, {"hinge_dott": [0.0, 1.0]})
    with pytest.raises(ModelError, match="expected one"):
        campbell(eom, {})
    with pytest.raises(ModelError, match="increase or decrease monotonically"):
        campbell(eom, {"rod.mass": [1.0, 1.0]})
    with pytest.raises(ModelError, match="write 'rod.com\\[0\\]'"):
        campbell(eom, {"rod.com": [1.0, 2.0]})
    with pytest.raises(ModelError, match="engine orders need a speed"):
        campbell(eom, {"hinge": [1.0, 2.0]}, orders=(1.0,))
