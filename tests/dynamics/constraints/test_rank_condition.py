"""Whether inertia and constraints determine the accelerations (rank condition of Schutte and Udwadia); error messages."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Constraint,
    Cylindrical,
    Frame,
    Free,
    Part,
    Planar,
    QuaternionFree,
    Revolute,
    RigidBody,
    Spherical,
    System,
    UniformGravity,
    Universal,
    diagnose_constraints,
    form_equations,
    linearize,
    make_consistent,
    simulate,
)
from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.constraints.rank_condition import find_rank

FORMULATIONS = ["kane", "multipliers", "udwadia_phohomsiri", "artificial", "partitioned", "embedded"]
HUB = RigidBody(name="hub", mass=3.0, inertia=(0.3, 0.4, 0.5))
ARM = RigidBody(name="arm", mass=2.0, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.2, 0.3))
RING = RigidBody(name="ring", mass=0.0, inertia=(0.0, 0.0, 0.0))


def norm(joint: str) -> Constraint:
    return Constraint(name=f"{joint}_norm", rule=lambda s: sum(s[f"{joint}.q{k}"] ** 2 for k in "wxyz") - 1.0)


def in_quaternions(*norms: str) -> System:
    """Two bodies in quaternion rates, tied to each other, with some of the unit-norm equations."""
    parts = (Part(HUB, joint=QuaternionFree(name="base")), Part(ARM, joint=QuaternionFree(name="other")))
    tie = Constraint(name="tie", rule=lambda s: s["other.x"] - s["base.x"] - 1.0)
    return System(name="redundant", parts=parts, constraints=(tie, *(norm(name) for name in norms)))


def tilted(eom: Any) -> np.ndarray:
    """A state with quaternions of unit length that turn."""
    given = {"base.qw": 0.8, "base.qx": 0.6, "base.qw_dot": -0.3, "base.qx_dot": 0.4, "other.x": 1.0}
    return eom.state(**given)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_missing_unit_norm_is_named_alike_in_every_formulation(formulation: str) -> None:
    eom = form_equations(in_quaternions("other"), formulation=formulation)
    x = tilted(eom)
    words = ["rank of [M J'] is 13, and 14 is needed", "'base.qw_dot + 0.75 base.qx_dot'"]
    words += ["the unit-norm equation of quaternion 'base'", "s['base.qw']**2", "is missing"]
    found = []
    for call in (
        lambda: eom.v_dot(0.0, x[:14], x[14:]),
        lambda: eom.multipliers(0.0, x[:14], x[14:]),
        lambda: linearize(eom, x),
        lambda: simulate(eom, x0=x, t_span=(0.0, 1.0)),
    ):
        with pytest.raises(SolverError) as caught:
            call()
        found.append(str(caught.value).partition("the accelerations")[2])
    expected = form_equations(in_quaternions("other"), formulation="udwadia_phohomsiri")
    message = diagnose_constraints(expected, 0.0, x).message.partition("the accelerations")[2]
    assert set(found) == {message} and all(word in message for word in words) and "'other'" not in message
    report = diagnose_constraints(eom, 0.0, x)
    assert report.motion_rank == 13 and report.undetermined == ("base.qw_dot + 0.75 base.qx_dot",)
    assert np.all(np.isnan(eom.compiled().x_dot(0.0, x)[14:]))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_with_all_unit_norms_a_body_turns_as_in_angular_rates(formulation: str) -> None:
    eom = form_equations(in_quaternions("base", "other"), formulation=formulation)
    x = tilted(eom)
    report = diagnose_constraints(eom, 0.0, x)
    assert report.motion_rank == 14 and report.undetermined == ()
    # about a principal axis at 1 rad/s: q(t) is on a circle of half that rate
    np.testing.assert_allclose(eom.v_dot(0.0, x[:14], x[14:])[:4], -0.25 * x[:4], atol=1e-13)


def test_every_missing_unit_norm_is_named() -> None:
    eom = form_equations(in_quaternions(), formulation="udwadia_phohomsiri")
    report = diagnose_constraints(eom, 0.0, tilted(eom))
    assert report.motion_rank == 12
    assert report.message.count("the unit-norm equation of quaternion") == 2
    bare = System(name="bare", parts=(Part(HUB, joint=QuaternionFree(name="base")),))
    with pytest.raises(ModelError, match="rank 6 of 7.*'base.qw_dot'; the unit-norm equation of quaternion 'base'"):
        form_equations(bare)


POINTS: dict[str, tuple[Any, tuple[float, ...], tuple[str, ...]]] = {
    "at a ball joint": (Spherical(name="j"), (0.0, 0.0, 0.0), ("j.wx", "j.wy", "j.wz")),
    "below it": (Spherical(name="j"), (0.0, 0.0, -1.0), ("j.wz",)),
    "beside it": (Spherical(name="j"), (2.0, 0.0, 0.0), ("j.wx",)),
    "askew": (Spherical(name="j"), (0.6, 0.8, 0.0), ("0.75 j.wx + j.wy",)),
    "on the second axis": (Universal(name="j", first="x", second="y"), (0.0, 1.0, 0.0), ("j.second_dot",)),
    "in a plane": (Planar(name="j"), (0.0, 0.0, 0.0), ("j.angle_dot",)),
    "off its frame": (Planar(name="j"), (1.0, 0.0, 0.0), ("j.angle_dot - j.y_dot",)),
    "on a rail": (Cylindrical(name="j", axis="z"), (0.0, 0.0, 1.0), ("j.angle_dot",)),
    "free": (Free(name="j"), (0.0, 0.0, 0.0), ("j.wx", "j.wy", "j.wz")),
    "free, off its frame": (Free(name="j"), (1.0, 0.0, 0.0), ("j.wx", "j.wz - j.y_dot", "j.wy + j.z_dot")),
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("formulation", ["articulated", "kane", "multipliers", "embedded"])
def test_a_point_mass_has_no_inertia_about_the_line_to_it(name: str, formulation: str) -> None:
    joint, com, expected = POINTS[name]
    ball = RigidBody(name="ball", mass=2.0, inertia=(0.0, 0.0, 0.0), com=com)
    with pytest.raises(ModelError) as caught:
        form_equations(System(name="s", parts=(Part(ball, joint=joint),)), formulation=formulation)
    message = str(caught.value)
    assert f"along {', '.join(repr(item) for item in expected)}; give body 'ball'" in message


ENOUGH = [
    (Universal(name="j", first="x", second="y"), (0.0, 0.0, 1.0)),
    (Cylindrical(name="j", axis="z"), (1.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(("joint", "com"), ENOUGH)
def test_a_point_mass_with_two_moment_arms_is_enough(joint: Any, com: tuple[float, ...]) -> None:
    ball = RigidBody(name="ball", mass=2.0, inertia=(0.0, 0.0, 0.0), com=com)
    assert form_equations(System(name="s", parts=(Part(ball, joint=joint),))).n_v == 2


def test_the_body_without_mass_is_named_not_its_base() -> None:
    hub = Part(HUB, joint=Free(name="base"))
    loose = System(name="s", parts=(hub, Part(RING, on="hub", joint=Revolute(name="dial", axis="x"))))
    with pytest.raises(ModelError, match="rank 6 of 7.*along 'dial_dot'; give body 'ring'"):
        form_equations(loose)
    coaxial = (Part(RING, joint=Revolute(name="a", axis="x")), Part(HUB, on="ring", joint=Revolute(name="b", axis="x")))
    with pytest.raises(ModelError, match="along 'a_dot - b_dot'; give body 'ring' an"):
        form_equations(System(name="s", parts=coaxial))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_body_without_mass_that_nothing_holds_is_named_with_constraints(formulation: str) -> None:
    parts = (Part(ARM, joint=Revolute(name="base", axis="x")), Part(RING, on="arm", joint=Universal(name="dial")))
    gear = Constraint(name="gear", rule=lambda s: s["dial.first"] - 2.0 * s["base"])
    eom = form_equations(System(name="s", parts=parts, constraints=(gear,)), formulation=formulation)
    with pytest.raises(
        SolverError, match="is 2, and 3 is needed.*along 'dial.second_dot'; give body 'ring' an inertia"
    ):
        eom.v_dot(0.0, [0.3, 0.6, 0.1], [0.0, 0.0, 0.0])


def four_bar(*, with_rocker: bool) -> System:
    """Crank and rod, whose end is held 1 m from a pin: by a link without mass, or by a rule of the distance."""
    rod = {"mass": 1.0, "inertia": (0.0, 1.0 / 12.0, 1.0 / 12.0), "com": (0.5, 0.0, 0.0)}
    tip = (Frame(name="tip", at=(1.0, 0.0, 0.0)),)
    parts = [
        Part(RigidBody(name="crank", frames=tip, **rod), joint=Revolute(name="a", axis="z")),
        Part(RigidBody(name="rod", frames=tip, **rod), on="crank.tip", joint=Revolute(name="b", axis="z")),
    ]
    pin = np.array([1.5, 0.0])
    rule = lambda s: ca.norm_2(s.position("rod.tip")[:2] - pin) - 1.0  # noqa: E731
    if with_rocker:
        rocker = RigidBody(name="rocker", mass=0.0, inertia=(0.0, 0.0, 0.0), frames=tip)
        parts.append(Part(rocker, on="rod.tip", joint=Revolute(name="c", axis="z")))
        rule = lambda s: s.position("rocker.tip")[:2] - pin  # noqa: E731
    gravity = UniformGravity(g=(0.0, -9.81, 0.0))
    return System(
        name="four bar", environment=gravity, parts=tuple(parts), constraints=(Constraint(name="pin", rule=rule),)
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_link_without_mass_is_a_rule_of_the_distance(formulation: str) -> None:
    rule = form_equations(four_bar(with_rocker=False))
    x = np.asarray(make_consistent(rule, rule.state(a=1.0, b=-0.9, a_dot=0.5), hold=("a", "a_dot")).x)
    expected = rule.v_dot(0.0, x[:2], x[2:])
    eom = form_equations(four_bar(with_rocker=True), formulation=formulation)
    y = np.asarray(make_consistent(eom, eom.state(a=x[0], b=x[1], c=-1.7, a_dot=x[2]), hold=("a", "a_dot")).x)
    np.testing.assert_allclose(y[[1, 4]], x[[1, 3]], atol=1e-11)
    assert find_rank(eom.mass_matrix(0.0, y[:3]), np.zeros((0, 3))).rank == 2  # M alone is singular
    np.testing.assert_allclose(eom.v_dot(0.0, y[:3], y[3:])[:2], expected, atol=1e-11)
    np.testing.assert_allclose(eom.compiled().x_dot(0.0, y)[3:5], expected, atol=1e-11)
    runs = [simulate(item, x0=state, t_span=(0.0, 0.5)).x[-1] for item, state in ((rule, x), (eom, y))]
    np.testing.assert_allclose(runs[1][:2], runs[0][:2], atol=1e-7)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_point_mass_whose_spin_is_held_is_a_pendulum(formulation: str) -> None:
    ball = RigidBody(name="ball", mass=2.0, inertia=(0.0, 0.0, 0.0), com=(0.0, 0.0, -2.0))
    still = Constraint(name="still", rule=lambda s: s["j.wz"])
    system = System(
        name="s", environment=UniformGravity(), parts=(Part(ball, joint=Spherical(name="j")),), constraints=(still,)
    )
    eom = form_equations(system, formulation=formulation)
    q = [np.cos(0.15), np.sin(0.15), 0.0, 0.0]  # 0.3 rad about x
    np.testing.assert_allclose(eom.v_dot(0.0, q, np.zeros(3)), [-9.80665 / 2.0 * np.sin(0.3), 0.0, 0.0], atol=1e-13)


def test_a_rule_that_is_nonlinear_in_speeds_counts_where_it_moves() -> None:
    parts = (
        Part(ARM, joint=Revolute(name="base", axis="x")),
        Part(RING, on="arm", joint=Revolute(name="dial", axis="x")),
    )
    pace = Constraint(name="pace", rule=lambda s: s["dial_dot"] ** 2 - 1.0)
    eom = form_equations(System(name="s", parts=parts, constraints=(pace,)))
    assert diagnose_constraints(eom, 0.0, [0.0, 0.0, 0.0, 1.0]).undetermined == ()
    np.testing.assert_allclose(eom.v_dot(0.0, [0.0, 0.0], [0.0, 1.0]), [0.0, 0.0], atol=1e-14)
    with pytest.raises(SolverError, match="along 'dial_dot'; give body 'ring'"):
        eom.v_dot(0.0, [0.0, 0.0], [0.0, 0.0])
