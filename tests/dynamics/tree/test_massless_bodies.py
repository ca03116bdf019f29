"""Bodies without mass or inertia stand between joints, as composite joints and the frames of robot files need them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spacectl import (
    Free,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    Universal,
    form_equations,
    library,
    linearize,
    simulate,
    write_report,
)
from spacectl.core.errors import ModelError

BODY = RigidBody(name="body", mass=3.0, inertia=(0.3, 0.4, 0.5), com=(0.2, 0.1, 0.3))
RING = RigidBody(name="ring", mass=0.0, inertia=(0.0, 0.0, 0.0))
Q, V = np.array([0.3, 0.4]), np.array([0.5, -0.7])


def gimbal() -> System:
    """A universal joint made of two hinges and a ring without mass."""
    parts = (
        Part(RING, joint=Revolute(name="outer", axis="x")),
        Part(BODY, on="ring", joint=Revolute(name="inner", axis="y")),
    )
    return System(name="gimbal", environment=UniformGravity(), parts=parts, actuators=(JointTorque(joint="outer"),))


def universal() -> System:
    part = Part(BODY, joint=Universal(name="u", first="x", second="y"))
    first = part.joint.speeds[0][0].removeprefix(".")
    actuators = (JointTorque(joint="u", component=first),)
    return System(name="universal", environment=UniformGravity(), parts=(part,), actuators=actuators)


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded", "multipliers", "udwadia_phohomsiri"])
def test_two_hinges_and_a_ring_without_mass_are_a_universal_joint(formulation: str) -> None:
    joint, hinges = form_equations(universal()), form_equations(gimbal(), formulation=formulation)
    u = np.array([2.0])
    assert hinges.v_dot(0.0, Q, V, u) == pytest.approx(joint.v_dot(0.0, Q, V, u), rel=1e-12)
    assert hinges.energy(0.0, Q, V) == pytest.approx(joint.energy(0.0, Q, V), rel=1e-12)
    x = np.concatenate([Q, V])
    assert hinges.compiled().x_dot(0.0, x, u) == pytest.approx(joint.x_dot(0.0, x, u), rel=1e-12)
    linear, expected = (linearize(eom, x, check=False) for eom in (hinges, joint))
    assert np.asarray(linear.A) == pytest.approx(np.asarray(expected.A), abs=1e-10)


def test_a_small_mass_tends_to_none() -> None:
    found = []
    for mass in (1e-3, 1e-6, 0.0):
        ring = RigidBody(name="ring", mass=mass, inertia=mass * np.ones(3), com=(0.5, 0.0, 0.0))
        parts = (Part(ring, joint=Revolute(name="outer", axis="x")), gimbal().parts[1])
        found.append(form_equations(System(name="s", parts=parts)).v_dot(0.0, Q, V, []))
    coarse, fine = (np.max(np.abs(item - found[2])) for item in found[:2])
    assert 0.0 < fine < 2e-3 * coarse


def test_a_large_tree_with_frames_of_no_mass_runs_in_the_sweeps() -> None:
    chain = library.chain(12)
    parts: list[Part] = []
    for part in chain.parts:
        empty = RigidBody(name=f"{part.name}_frame", mass=0.0, inertia=(0.0, 0.0, 0.0))
        parts.append(Part(empty, on=part.on, at=part.at, rotation=part.rotation, joint=part.joint))
        name = f"{part.joint.name}_tilt"
        parts.append(Part(part.body, on=empty.name, joint=Revolute(name=name, axis=np.roll(part.joint.axis, 1))))
    system = System(name="doubled", environment=chain.environment, parts=tuple(parts))
    sweep, kane = (form_equations(system, formulation=name) for name in ("articulated", "kane"))
    rng = np.random.default_rng(3)
    q, v = 0.3 * rng.standard_normal((2, sweep.n_v))
    expected = kane.v_dot(0.0, q, v, [])
    assert sweep.v_dot(0.0, q, v, []) == pytest.approx(expected, rel=1e-8, abs=1e-8 * np.max(np.abs(expected)))


def test_a_speed_without_inertia_is_still_refused() -> None:
    parts = (Part(BODY, joint=Free(name="base")), Part(RING, on="body", joint=Revolute(name="loose", axis="x")))
    with pytest.raises(ModelError, match="singular"):
        form_equations(System(name="loose end", parts=parts))
    with pytest.raises(ModelError, match="expected a positive number or 0"):
        RigidBody(name="ghost", mass=-1.0, inertia=(0.0, 0.0, 0.0))


def test_a_run_with_a_body_of_no_mass_is_reported(tmp_path: Path) -> None:
    sim = simulate(form_equations(gimbal()), x0=np.concatenate([Q, V]), t_span=(0.0, 0.5))
    page = tmp_path / "page.html"
    with np.errstate(divide="raise", invalid="raise"):
        write_report(sim, page)
    assert page.stat().st_size > 1000


@pytest.mark.parametrize(
    ("inertia", "message"), [((1.0, 1.0, -2e-6), "negative"), ((0.5, 0.49999, 1.0), "triangle inequality")]
)
def test_rounding_of_a_files_digits_is_taken_with_a_warning(inertia: tuple[float, ...], message: str) -> None:
    with pytest.warns(UserWarning, match=f"body 'link': .*{message}.*digits"):
        RigidBody(name="link", mass=1.0, inertia=inertia)


def test_more_than_rounding_is_refused() -> None:
    with pytest.raises(ModelError, match="negative principal moment"):
        RigidBody(name="link", mass=1.0, inertia=(1.0, 1.0, -2e-3))
