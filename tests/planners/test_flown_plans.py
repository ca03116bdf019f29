"""Plans are flown before they are called ok, path equations hold between points, and local minima are challenged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from spacectl import (
    BodyTorque,
    CircularOrbit,
    Condition,
    FreeSpace,
    JointForce,
    JointTorque,
    Part,
    Phases,
    Prismatic,
    Problem,
    Radau,
    Refinement,
    Revolute,
    RigidBody,
    Spherical,
    System,
    UniformGravity,
    form_equations,
    plan_bang_bang,
    plan_collocation,
    replay,
)
from spacectl.planners.collocation.restarts import perturbed
from spacectl.planners.collocation.transcription.nlp import transcribe
from spacectl.planners.flight import find_violations, fly_inputs
from tests.planners.systems import body, cart, two_masses


def bead() -> System:
    """A mass in a vertical plane with two forces that have no limits."""
    slide = RigidBody(name="slide", mass=1e-9, inertia=(1e-9,) * 3)
    return System(
        name="bead",
        environment=UniformGravity(g=(0.0, -9.81, 0.0)),
        parts=(
            Part(slide, on="world", joint=Prismatic(name="x", axis="x")),
            Part(body("bead"), on="slide", joint=Prismatic(name="y", axis="y")),
        ),
        actuators=(JointForce(joint="x"), JointForce(joint="y")),
    )


@pytest.fixture(scope="module")
def brachistochrone():
    """Return the fastest wire from (0, 0) to (10, -5): its force does no work, F v = 0."""
    eom = form_equations(bead())
    wire = Condition(name="wire", rule=lambda s: s.input("x") * s["x_dot"] + s.input("y") * s["y_dot"])
    problem = Problem(eom=eom, end={"x": 10.0, "y": -5.0}, path=(wire,), name="brachistochrone")
    return problem, plan_collocation(problem, scheme=Radau(20), restarts=0)


def test_a_wire_does_no_work_between_the_points(brachistochrone):
    """Between points the polynomials of forces and speeds left room for impulses: 0.11 % below the cycloid, -32 J of work."""
    problem, plan = brachistochrone
    angle = brentq(lambda th: (th - np.sin(th)) / (1.0 - np.cos(th)) - 2.0, 0.1, 6.2)
    cycloid = angle * np.sqrt(5.0 / (1.0 - np.cos(angle)) / 9.81)
    assert plan.final_time == pytest.approx(cycloid, rel=1e-6)
    flight = replay(problem.eom, plan)
    assert 0.5 * np.sum(np.asarray(flight.x)[-1, 2:] ** 2) == pytest.approx(
        9.81 * 5.0, rel=1e-4
    )  # all work is the weight's


def test_undetermined_inputs_are_reported_and_determined(brachistochrone):
    _, plan = brachistochrone
    assert plan.outcome.stats["undetermined_inputs"] == ["x", "y"]
    assert np.abs(np.asarray(plan.u.values)).max() < 100.0  # 1100 N without a weight on them
    assert plan.outcome.stats["flown"]["violations"]["wire"] < 1e-4


@pytest.mark.slow
def test_durations_do_not_collapse_to_zero():
    """To (3, -2) the first solve went to zero seconds with forces without limits, and no plan was found."""
    wire = Condition(name="wire", rule=lambda s: s.input("x") * s["x_dot"] + s.input("y") * s["y_dot"])
    problem = Problem(eom=form_equations(bead()), end={"x": 3.0, "y": -2.0}, path=(wire,))
    plan = plan_collocation(problem, restarts=0)
    assert plan.final_time == pytest.approx(0.980435, rel=1e-5)  # cycloid


def turning(limit: float = 1.0) -> System:
    torques = tuple(BodyTorque(name=axis, on="body", direction=axis, limit=limit) for axis in "xyz")
    craft = RigidBody(name="body", mass=100.0, inertia=(450.0,) * 3)
    parts = (Part(craft, on="world", joint=Spherical(name="attitude")),)
    return System(name="craft", environment=FreeSpace(), parts=parts, actuators=torques)


def slew(*path: Condition) -> Problem:
    eom = form_equations(turning())
    half = np.deg2rad(15.0)
    end = eom.state(**{"attitude.qw": np.cos(half), "attitude.qz": np.sin(half)})
    return Problem(eom=eom, end=end, path=path, name="slew")


@pytest.fixture(scope="module")
def slews():
    cone = Condition(name="cone", rule=lambda s: s.rotation("body")[0, 0], low=0.0, high=np.inf)
    settings = {"scheme": Radau(12), "restarts": 1}
    return [plan_collocation(slew(*path), **settings) for path in ((), (cone,))]


def test_symmetry_hides_no_faster_slew(slews):
    """About the eigenaxis it is 2 sqrt(angle J / limit) = 30.70 s, a saddle; an inactive cone makes no difference."""
    eigenaxis = 2.0 * np.sqrt(np.deg2rad(30.0) * 450.0)
    assert plan_collocation(slew(), scheme=Radau(12), restarts=0).final_time == pytest.approx(eigenaxis, rel=1e-6)
    for plan in slews:
        assert plan.final_time < 0.991 * eigenaxis
        assert plan.outcome.stats["restarts"][0] == pytest.approx(plan.final_time, rel=1e-4)
    assert slews[0].final_time == pytest.approx(slews[1].final_time, rel=1e-6)


def test_bang_bang_starts_from_the_challenged_plan(slews):
    plan = plan_bang_bang(slew(), cells=300, restarts=1)
    assert plan.final_time == pytest.approx(slews[0].final_time, rel=2e-4)
    assert plan.final_time >= slews[0].final_time * (1.0 - 1e-6)


def test_perturbations_keep_the_ends():
    problem = slew()
    nlp = transcribe(problem.phases, Radau(4), [np.linspace(0.0, 1.0, 5)])
    x = np.arange(nlp.n, dtype=float)
    moved = perturbed(nlp.blocks, x, np.random.default_rng(0), 0.3)
    first, last = (slice(k, k + problem.eom.n_x) for k in (0, nlp.n - 1 - nlp.blocks[0].model.n_z))
    np.testing.assert_allclose(moved[first], x[first], atol=1e-9 * nlp.n)
    np.testing.assert_allclose(moved[last], x[last], atol=1e-9 * nlp.n)
    assert np.abs(moved - x).max() > 0.1 and moved[-1] == x[-1]


def deployer() -> System:
    """A subsatellite on a line whose tension is the input, in a circular orbit."""
    line = RigidBody(name="line", mass=1e-6, inertia=(1e-6,) * 3)
    return System(
        name="deployer",
        environment=CircularOrbit(rate=1.1e-3),
        parts=(
            Part(line, on="world", joint=Revolute(name="theta", axis="z")),
            Part(body("satellite", 100.0), on="line", joint=Prismatic(name="length", axis="x")),
        ),
        actuators=(JointForce(joint="length", limit=(-3.0, -0.05)),),
    )


def test_every_arc_of_a_polished_plan_is_flown_within_its_bounds():
    """Only the first arc used to be looked at: ``passed = 0.0``, and the flight broke its bounds."""
    eom = form_equations(deployer())
    problem = Problem(
        eom=eom, start={"length": 10.0, "length_dot": 2.5},
        end={"theta": 0.0, "theta_dot": 0.0, "length": 500.0, "length_dot": 0.0},
        bounds={"length": (5.0, 500.0), "length_dot": (0.0, 10.0), "theta": (-1.2, 1.2)}, name="deployment",
    )  # fmt: skip
    plan = plan_collocation(problem, restarts=0)
    assert plan.notes["phase_times"] == pytest.approx([0.0, plan.final_time])
    x = np.asarray(replay(eom, plan, grid=4001).x)
    assert x[-1, 1] == pytest.approx(500.0, abs=1e-3)
    assert x[:, 1].max() < 500.0 + 1e-3 and x[:, 3].min() > -1e-5
    tension = -np.asarray(plan.u(np.linspace(0.0, plan.final_time, 20001)))
    assert tension.min() >= 0.05 * (1.0 - 1e-9) and tension.max() <= 3.0 * (1.0 + 1e-9)


def test_polished_phases_keep_their_times():
    eom = form_equations(cart())
    way = Problem(eom=eom, end={"x": 1.0, "x_dot": 0.0}, name="there")
    back = Problem(eom=eom, end={"x": 0.0, "x_dot": 0.0}, name="back")
    plan = plan_collocation(Phases(phases=(way, back)), restarts=0)
    assert plan.notes["phase_times"] == pytest.approx([0.0, 2.0, 4.0], abs=1e-6)
    violations = find_violations(fly_inputs(Phases(phases=(way, back)), plan))
    assert len(violations) == 2 and max(item.worst for item in violations) < 1e-5


def test_violations_of_a_flown_plan_are_reported_by_name():
    eom = form_equations(cart())
    problem = Problem(eom=eom, end={"x": 1.0, "x_dot": 0.0}, bounds={"x_dot": (-1.0, 0.8)}, name="way")
    plan = plan_collocation(replace(problem, bounds={}), restarts=0)
    (missed,) = find_violations(fly_inputs(problem, plan))
    assert missed.bounds["x_dot"][1] == pytest.approx(0.2, abs=1e-6)  # 1 m/s at the switch
    assert missed.relative["x_dot"] == pytest.approx(0.2 / 0.9, abs=1e-6)
    (short,) = find_violations(fly_inputs(replace(problem, end={"x": 1.5}), plan))
    assert short.relative["end of x"] == pytest.approx(0.5, abs=1e-6)


def test_unstable_motion_is_flown_in_pieces():
    """An inverted pendulum held for 20 time constants: no open loop follows any plan, errors grow by e^20."""
    pole = RigidBody(name="pole", mass=1.0, com=(0.0, 1.0, 0.0), inertia=(0.1, 0.1, 0.1))
    system = System(
        name="pole", environment=UniformGravity(g=(0.0, -9.81, 0.0)),
        parts=(Part(pole, on="world", joint=Revolute(name="tilt", axis="z")),),
        actuators=(JointTorque(joint="tilt", limit=20.0),),
    )  # fmt: skip
    problem = Problem(
        eom=form_equations(system), start={"tilt": 0.1}, end={"tilt": 0.0, "tilt_dot": 0.0}, duration=6.7,
        time_weight=0.0, cost_rate=lambda s: s.input("tilt") ** 2, name="hold",
    )  # fmt: skip
    plan = plan_collocation(problem, refine=Refinement(tolerance=1e-6))
    flown = plan.outcome.stats["flown"]
    assert plan.outcome.is_success
    assert flown["growth"] > 1e4 and flown["pieces"] > 1  # e^20 but for the fall, which ends the growth
    assert max(flown["violations"].values(), default=0.0) < 1e-4


def test_standard_error_is_empty_and_progress_is_reported(capfd):
    eom = form_equations(two_masses())
    reported: list[tuple[float, str]] = []
    end = {"x": 1.0, "x_dot": 0.0, "stretch": 0.0, "stretch_dot": 0.0}
    plan_collocation(Problem(eom=eom, end=end), restarts=0, progress=lambda *item: reported.append(item))
    assert capfd.readouterr().err == ""
    assert [text for _, text in reported] and all(0.0 <= fraction <= 1.0 for fraction, _ in reported)
