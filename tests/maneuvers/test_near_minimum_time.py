"""Near-minimum-time retrieval (Sadigh 1995, section 8.3): residual vibration and limits of each kind of suppression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Beam,
    FreeSpace,
    JointPath,
    JointTorque,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    SpeedLimits,
    System,
    compare_maneuvers,
    compare_near_minimum_time,
    design_lqr,
    find_operating_point,
    fly_plan,
    form_equations,
    library,
    linearize,
    modes,
    plan_near_minimum_time,
    rigid_counterpart,
    shape_motion,
    simulate,
)
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.maneuvers.measure import motion_energy, scale_stiffness
from spacectl.maneuvers.settling import damped_system, open_loop, plan_states, settle_after
from spacectl.planners.paths.curves import LineCurve
from spacectl.planners.paths.path import TaskPath

FLEXIBLE = library.retrieval_arm(flexible=True)


@pytest.fixture(scope="module")
def eom():
    return form_equations(FLEXIBLE)


@pytest.fixture(scope="module")
def path():
    return TaskPath(
        name="local horizontal", curve=LineCurve(start=(0.0, 15.0, 0.0), end=(0.0, 3.0, 0.0)),
        outputs=("payload.x", "payload.y", "attitude.s3"), at={"shoulder": 1.175, "elbow": 0.7925, "wrist": 1.175},
    )  # fmt: skip


@pytest.fixture(scope="module")
def flown(eom, path):
    return {
        name: plan_near_minimum_time(eom, path, strategy=name, settle_time=15.0)
        for name in ("after", "during", "shaped")
    }


def test_limits_hold_and_the_target_is_reached(flown) -> None:
    for maneuver in flown.values():
        assert maneuver.flight.limit_violation <= 1e-12
        assert maneuver.flight.arrival_time is not None and maneuver.is_first_order
        payload = np.array([maneuver.simulation["payload.x"][-1], maneuver.simulation["payload.y"][-1]])
        np.testing.assert_allclose(payload, [0.0, 3.0], atol=0.02)  # a thousandth of a radian, 16 m away


def test_reserve_costs_the_root_of_the_limits(flown) -> None:
    """Without velocity terms time goes as one over the root of the torque; Coriolis forces of the orbit are small."""
    ratio = flown["during"].plan.final_time / flown["after"].plan.final_time
    assert ratio == pytest.approx(1.0 / np.sqrt(0.8), rel=2e-3)
    assert flown["during"].flight.asked_effort <= 1.0


def test_bent_links_are_released_unless_the_timing_is_shaped(eom, flown) -> None:
    """A bang-bang plan ends with links bent by its last torques; that strain energy is what vibrates on."""
    for name in ("after", "during"):
        maneuver = flown[name]
        end = maneuver.plan.final_time
        x = maneuver.simulation.x[np.argmin(np.abs(np.asarray(maneuver.simulation.t) - end))]
        still = np.concatenate([x[: eom.n_q], np.zeros(eom.n_v)])
        strain = motion_energy(eom, [end], [still], maneuver.target.x)[0]
        assert strain > 0.5 * maneuver.flight.residual_energy > 1.0
    assert flown["shaped"].flight.residual_energy < 1e-4 * flown["after"].flight.residual_energy
    shaper = flown["shaped"].plan.notes["impulses"]
    # the shaper's own length, and what its torques cost, is all that it adds
    assert flown["shaped"].plan.final_time - flown["after"].plan.final_time < 1.1 * shaper[-1]


def test_shaped_plan_is_a_motion_of_the_rigid_system(flown) -> None:
    rigid = form_equations(rigid_counterpart(FLEXIBLE))
    plan = flown["shaped"].plan
    sim = simulate(
        rigid, open_loop(rigid, plan.u), x0=np.asarray(plan.x.values)[0], t_span=(0.0, plan.final_time), grid=9
    )
    np.testing.assert_allclose(np.asarray(sim.x), plan_states(rigid, plan, np.asarray(sim.t)), atol=1e-4)


def test_shaped_free_motion_keeps_linear_conditions_and_limits(eom, flown) -> None:
    """The straight line's plan, shaped as a motion: the sum of the joint angles stays pi, which a convolution cannot change."""
    rigid = form_equations(rigid_counterpart(FLEXIBLE))
    plan = shape_motion(eom, rigid, flown["after"].plan, "ZV")
    t = np.linspace(0.0, plan.final_time, 50)
    total = sum(plan.x(t)[:, plan.x.labels.index(name)] for name in ("shoulder", "elbow", "wrist"))
    np.testing.assert_allclose(total, np.pi, atol=1e-8)
    _, high = rigid.limits()
    assert np.max(np.abs(np.asarray(plan.u.values)) / high) <= 1.0 and plan.notes["slowed"] < 1.0
    flight = fly_plan(eom, plan, settle_time=10.0).flight
    assert flight.residual_energy < 0.05 * flown["after"].flight.residual_energy


def test_comparison_flies_with_other_frequencies(eom, flown) -> None:
    table = compare_maneuvers(eom, [flown["after"], flown["shaped"]], frequency_error=0.1)
    # strain energy under the same torques goes as one over the stiffness
    soft, stiff = table["after"].soft.residual_energy, table["after"].stiff.residual_energy
    assert soft / stiff == pytest.approx((1.1 / 0.9) ** 2, rel=0.05)
    assert table["shaped"].soft.residual_energy < 0.01
    text = table.tabulate()
    assert "shaped" in text and "-10 % freq. [J]" in text
    with pytest.raises(KeyError, match="no maneuver 'during'"):
        table["during"]


def test_frequencies_follow_the_stiffness(eom) -> None:
    point = find_operating_point(eom, q={"shoulder": 1.0, "elbow": 1.0, "wrist": 1.0})
    found = [
        np.sort(modes(linearize(eom, point, p=p, check=False)).frequency)[-2:]
        for p in (eom.p, scale_stiffness(eom, 1.21))
    ]
    np.testing.assert_allclose(found[1] / found[0], 1.1, rtol=1e-3)  # gravity gradient and damping add a little


def test_energy_of_motion_is_kinetic_and_strain(eom) -> None:
    system = library.retrieval_arm(flexible=True, period=None)
    free = form_equations(system)
    x = free.state(shoulder=0.4, elbow_dot=0.02, **{"upper.eta1": 0.1, "lower.eta1_dot": -0.05})
    at_rest = free.state(shoulder=0.4)
    here = free.energy(0.0, x[: free.n_q], x[free.n_q :]) - free.energy(0.0, at_rest[: free.n_q], at_rest[free.n_q :])
    assert motion_energy(free, [0.0], [x], at_rest)[0] == pytest.approx(here, rel=1e-12)


def test_law_is_the_plan_and_then_the_regulator(eom) -> None:
    point = find_operating_point(eom, q={"shoulder": 1.0, "elbow": 1.0, "wrist": 1.0})
    regulator = design_lqr(linearize(eom, point), Q=1.0, R=1e-4)
    u = Trajectory(
        t=[0.0, 2.0],
        values=[[1.0, 2.0], [3.0, 6.0]],
        labels=Labels(("elbow", "wrist"), ("N m", "N m")),
        interpolation="linear",
    )
    law = settle_after(u, regulator)
    x = np.asarray(point.x) + 0.01
    np.testing.assert_allclose(law(1.0, x), [0.0, 2.0, 4.0])
    np.testing.assert_allclose(
        law(3.0, x), np.asarray(point.u) - np.asarray(regulator.K) @ np.full(eom.n_x, 0.01), rtol=1e-12
    )


def test_a_damped_system_keeps_its_names_and_frequencies() -> None:
    damped = damped_system(FLEXIBLE, 0.5)
    one, two = (next(part.body for part in system.parts if part.name == "upper") for system in (FLEXIBLE, damped))
    np.testing.assert_allclose(one.frequencies, two.frequencies)
    assert np.diag(two.damping_matrix)[0] == pytest.approx(50.0 * np.diag(one.damping_matrix)[0])


def test_a_comparison_includes_the_minimum_time_of_the_plant_itself() -> None:
    """Hub and boom: the bang-bang plan arrives at rest with its plan; a path with further limits cannot have it."""
    hub = RigidBody(name="hub", mass=50.0, inertia=(8.0, 8.0, 8.0))
    boom = Beam(name="boom", length=2.0, mass=2.0, EI=40.0, bending=("y",), modes=1, damping=0.005)
    parts = (Part(hub, on="world", joint=Revolute(name="turn", axis="z")), Part(boom, on="hub"))
    torque = (JointTorque(joint="turn", limit=10.0),)
    plant = form_equations(System(name="hub and boom", environment=FreeSpace(), parts=parts, actuators=torque))
    turn = JointPath(name="turn", curve=LineCurve(start=(0.0,), end=(1.0,)), coordinates=("turn",))
    table = compare_near_minimum_time(plant, turn, settle_time=4.0)
    assert [row.name for row in table.rows] == ["after", "during", "shaped", "bang_bang"]
    best = table["bang_bang"].nominal
    assert best.residual_energy < 1e-6 * table["after"].nominal.residual_energy
    assert best.plan_time < table["shaped"].nominal.plan_time
    with pytest.raises(ModelError, match="leaves the path"):
        plan_near_minimum_time(plant, turn, strategy="bang_bang", limits=(SpeedLimits(limits={"turn": 1.0}),))


def test_wrong_arguments_are_named(eom, path, flown) -> None:
    with pytest.raises(ModelError, match="after, during, shaped, bang_bang"):
        plan_near_minimum_time(eom, path, strategy="later")
    other = form_equations(replace(FLEXIBLE, actuators=FLEXIBLE.actuators[:2]))
    with pytest.raises(ModelError, match="wrist"):
        fly_plan(other, flown["after"].plan)
    with pytest.raises(ModelError, match="frequency_error"):
        compare_maneuvers(eom, [flown["after"]], frequency_error=0.0)
