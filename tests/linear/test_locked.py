"""Frequencies with joints locked: against beams without joints, and in a posture against the linear model of a fixed arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Beam,
    Fixed,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    SpringDamper,
    System,
    find_locked_frequencies,
    form_equations,
    linearize,
    modes,
    rotation_about,
)
from spacectl.core.errors import ModelError
from spacectl.model.library import flexible_four_bar


def arm() -> System:
    links = [Beam(name=name, length=2.0, mass=3.0, EI=400.0, modes=2) for name in ("upper", "lower")]
    hand = RigidBody(name="hand", mass=5.0, inertia=(0.1, 0.2, 0.3), com=(0.2, 0.0, 0.0))
    return System(
        name="arm",
        parts=(
            Part(links[0], joint=Revolute(name="shoulder", axis="z")),
            Part(links[1], on="upper.tip", joint=Revolute(name="elbow", axis="z")),
            Part(hand, on="lower.tip", joint=Revolute(name="wrist", axis="z")),
        ),
        actuators=tuple(JointTorque(joint=name) for name in ("shoulder", "elbow", "wrist")),
    )


def test_a_posture_with_locked_joints_has_the_modes_of_an_arm_built_that_way() -> None:
    """The second method replaces joints by rotated fixed ones and takes eigenvalues of a linear model."""
    angles = {"shoulder": 0.3, "elbow": 1.4, "wrist": -0.7}
    system = arm()
    turned = (
        replace(part, joint=Fixed(), rotation=rotation_about("z", angles[part.joint_name])) for part in system.parts
    )
    built = form_equations(replace(system, parts=tuple(turned), actuators=()))
    expected = modes(linearize(built, built.state())).frequency
    eom = form_equations(system)
    found = find_locked_frequencies(eom, eom.state(**angles))
    np.testing.assert_allclose(found, np.sort(expected), rtol=1e-7)
    assert abs(find_locked_frequencies(eom)[1] / found[1] - 1.0) > 0.05  # the posture matters


def test_what_has_no_locked_frequencies_is_refused() -> None:
    with pytest.raises(ModelError, match="has constraints or springs between points; use modes"):
        find_locked_frequencies(form_equations(flexible_four_bar()))
    spring = SpringDamper(name="spring", on_a="world", on_b="hand", stiffness=10.0, length=1.0)
    with pytest.raises(ModelError, match="springs between points"):
        find_locked_frequencies(form_equations(replace(arm(), elements=(spring,))))
    rigid = System(name="rod", parts=(Part(RigidBody(name="rod", mass=1.0, inertia=(1.0, 1.0, 1.0))),))
    with pytest.raises(ModelError, match="'rod' has no flexible body"):
        find_locked_frequencies(
            form_equations(replace(rigid, parts=(replace(rigid.parts[0], joint=Revolute(axis="z")),)))
        )
