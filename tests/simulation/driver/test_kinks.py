"""Kinks of elements, laws and limits: steps end at them, so that tolerances mean what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Drive,
    ElasticTether,
    HardeningSpring,
    JointForce,
    Labels,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    Trajectory,
    make_law,
    simulate,
    simulate_many,
    simulate_stages,
)
from spacectl.controllers.wrappers.limits import add_dead_zone, saturate
from spacectl.core.control_law import CallableLaw
from spacectl.core.switching import switching_function
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.tree.irregular import find_kinks
from spacectl.model.elements import JointElement
from spacectl.simulation.events import Guard
from spacectl.simulation.stages.stages import Stage
from tests.simulation.kinked_systems import INERTIA, SYSTEMS, limited, stops, string
from tests.simulation.stand_in import integrator

COUNTS = ("n_steps", "n_rejected", "n_kinks", "n_right_sides")


def error_of(sim, exact, rtol):
    """Largest error at the end of a run, over the tolerance."""
    return np.max(np.abs(np.asarray(sim.x[-1]) - exact) / (rtol + rtol * np.abs(exact)))


@pytest.fixture(scope="module", params=sorted(set(SYSTEMS) - {"backlash"}))
def kinked(request):
    return SYSTEMS[request.param]()


@pytest.mark.parametrize("method", ["dop853", "radau"])
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_error_stays_near_the_tolerance(kinked, method, rtol):
    # without located kinks: 9 to 8500 times the tolerance with dop853, 2 to 2000 with radau, over 12 to 24 kinks
    eom, law, options, exact = kinked
    sim = simulate(eom, law, rtol=rtol, atol=rtol, method=method, grid=[options["t_span"][1]], **options)
    assert error_of(sim, exact, rtol) < 20.0
    assert sim.outcome.stats["n_kinks"] >= 12


def test_error_falls_with_the_tolerance_over_a_hundred_kinks():
    # every passage of the gap hands its error on: tens of tolerances are the method's own, 1e5 were those of the kinks
    eom, law, options, exact = SYSTEMS["backlash"]()
    for rtol in (1e-7, 1e-8, 1e-9, 1e-10):
        sim = simulate(eom, law, rtol=rtol, atol=rtol, grid=[options["t_span"][1]], **options)
        assert error_of(sim, exact, rtol) < 500.0


@pytest.mark.parametrize("method", ["rk45", "adams"])
def test_low_orders_do_not_lose_a_contact(method):
    # rk45 stepped over a whole contact at this tolerance: the mass was on the wrong side by metres
    eom, law, options, exact = stops()
    sim = simulate(eom, law, rtol=1e-8, atol=1e-8, method=method, grid=[20.0], **options)
    np.testing.assert_allclose(sim.x[-1], exact, atol=5e-5)


@pytest.mark.parametrize("method", ["dop853", "rk45", "adams", "radau"])
def test_both_drivers_make_the_same_steps(method):
    for make in (string, limited):
        eom, law, options, _ = make()
        native, reference = (
            simulate(eom, law, rtol=1e-6, method=method, driver=driver, tier="vm", **{**options, "t_span": (0.0, 2.5)})
            for driver in ("native", "python")
        )
        assert [native.outcome.stats[key] for key in COUNTS] == [reference.outcome.stats[key] for key in COUNTS]
        assert native.outcome.stats["n_kinks"] >= 2
        np.testing.assert_allclose(native.x, reference.x, rtol=0.0, atol=1e-11)


def test_kinks_are_no_events_and_guards_use_the_later_side():
    eom, law, options, _ = string()
    taut = Guard(name="taut", expression=lambda s: s["slide"] - 1.0, is_terminal=False)
    free = simulate(eom, law, **options)
    seen = simulate(eom, law, guards=[taut], **options)
    assert not free.events
    assert len(seen.events) == seen.outcome.stats["n_kinks"] == free.outcome.stats["n_kinks"] == 14
    assert max(abs(event.state[0] - 1.0) for event in seen.events) < 1e-12
    np.testing.assert_array_equal(free.x, seen.x)


@pytest.mark.parametrize("driver", ["native", "python"])
def test_a_jump_of_the_reference_over_a_kink_is_no_kink(driver):
    """The step that ends where the table jumps belongs to its left side alone."""
    eom = integrator()
    jump = Trajectory(t=[0.0, 1.0], values=[[1.0], [-1.0]], labels=Labels(("r",)), interpolation="previous")
    law = make_law(
        lambda s: ca.fabs(s.r - 0.1 * s["level"]), name="fabs", states=eom.labels.x, inputs=eom.labels.u, reference=jump
    )
    sim = simulate(eom, law, t_span=(0.0, 2.0), driver=driver, tier="vm")
    assert sim.outcome.stats["n_kinks"] == 0
    # level' = 1 - level / 10, then 1 + level / 10
    half = 10.0 * (1.0 - np.exp(-0.1))
    assert sim.x[-1, 0] == pytest.approx((half + 10.0) * np.exp(0.1) - 10.0, rel=1e-8)


def test_limits_that_are_not_reached_cost_nothing():
    eom, law, options, _ = limited(limit=100.0)
    plain, _, _, _ = limited(limit=1e6)
    watched = simulate(eom, law, **options)
    assert watched.outcome.stats["n_kinks"] == 0
    steps = [simulate(item, law, driver="native", **options).outcome.stats for item in (eom, plain)]
    assert [steps[0][key] for key in COUNTS] == [steps[1][key] for key in COUNTS]


def test_many_runs_locate_kinks_too_each_with_its_own_parameters():
    eom, law, options, exact = limited()
    name = next(item for item in eom.parameters.names if item.endswith(".limit"))
    numbers = [{}, {name: (-0.8, 0.8)}, {}]
    batch = simulate_many(eom, law, x0=[options["x0"]] * 3, p=numbers, t_span=options["t_span"], grid=[12.0], threads=1)
    x = np.asarray(batch.x)
    np.testing.assert_allclose(x[0, -1], exact, rtol=0.0, atol=2e-8)
    np.testing.assert_array_equal(x[0], x[2])
    np.testing.assert_allclose(x[1, -1], limited(limit=0.8)[3], rtol=0.0, atol=2e-8)


def test_stages_and_python_laws_locate_kinks_too():
    eom, _, options, exact = limited()
    rule = CallableLaw(function=lambda t, x: [-9.0 * x[0] - 0.6 * x[1]], name="pd")
    sim = simulate(eom, rule, grid=[12.0], rtol=1e-8, atol=1e-8, **options)
    assert sim.outcome.stats["n_kinks"] == 12
    assert error_of(sim, exact, 1e-8) < 1.0  # 9.4 without
    eom, _, options, exact = string()
    staged = simulate_stages(
        eom,
        [Stage(name="push", u={"push": 1.0})],
        x0=options["x0"],
        t_span=(0.0, 20.0),
        grid=[20.0],
        rtol=1e-8,
        atol=1e-8,
    )
    assert staged.outcome.stats["n_kinks"] == 14
    assert error_of(staged, exact, 1e-8) < 20.0  # 8500 without


def test_dead_zone_and_saturation_of_a_law_are_located():
    # the same loop by its own expression of the command, in pieces that simulate clips: limits are located there too
    eom, law, options, _ = limited(limit=1.0)
    wide = limited(limit=100.0)[0]
    inside = simulate(wide, saturate(law, 1.0), rtol=1e-8, atol=1e-8, **options)
    outside = simulate(eom, law, rtol=1e-12, atol=1e-12, **options)
    assert inside.outcome.stats["n_kinks"] == 12
    np.testing.assert_allclose(inside.x, outside.x, rtol=0.0, atol=1e-7)
    dead = simulate(wide, add_dead_zone(law, 0.5), rtol=1e-8, atol=1e-8, **options)
    fine = simulate(wide, add_dead_zone(law, 0.5), rtol=1e-12, atol=1e-12, **options)
    assert dead.outcome.stats["n_kinks"] == fine.outcome.stats["n_kinks"] > 5
    np.testing.assert_allclose(dead.x, fine.x, rtol=0.0, atol=2e-7)


def test_switches_are_found_in_expressions():
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
    f = ca.Function(
        "f", [x, p], [ca.fmin(x[0], p) + ca.fabs(x[1]) + ca.fmax(p, 0.0) + ca.fmax(p, x[0])], ["x", "p"], ["y"]
    )
    found = switching_function(f, constant=("p",))
    assert found is not None
    np.testing.assert_allclose(np.abs(np.array(found([3.0, -2.0], 1.0)).ravel()), [2.0, 2.0])
    assert switching_function(ca.Function("g", [x], [ca.sin(x)])) is None


def geared(**changes: Any) -> Any:
    part = Part(RigidBody(name="b", mass=1.0, inertia=INERTIA), joint=Revolute(name="j", axis="z"))
    drive = Drive(joint="j", rotor_inertia=0.5, **changes)
    return form_equations(System(name="geared", parts=(part,), elements=(drive,)))


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"stiffness": 5.0}, 0),
        ({"stiffness": 5.0, "backlash": 0.1}, 2),
        ({"stiffness": 5.0, "backlash": 0.1, "backlash_smoothing": 0.01}, 0),
        ({"spring": HardeningSpring(quadratic=1.0, corner=0.5, slope=2.0)}, 3),
        ({"spring": lambda d: 3.0 * ca.fmax(d, 0.0) + d}, 1),
    ],
)
def test_each_drive_says_where_it_has_kinks(changes, count):
    found = find_kinks(geared(**changes))
    assert (0 if found is None else len(found[1])) == count


def test_hardening_spring_keeps_its_energy():
    eom = geared(spring=HardeningSpring(quadratic=4.0, corner=0.2, slope=30.0))
    sim = simulate(eom, x0=[0.0, 0.0, 0.0, 2.0], t_span=(0.0, 20.0), rtol=1e-9, atol=1e-9)
    first, last = (eom.energy(0.0, x[:2], x[2:]) for x in np.asarray(sim.x)[[0, -1]])
    assert sim.outcome.stats["n_kinks"] > 100
    assert last == pytest.approx(first, rel=1e-8)  # 1.2e-6 without located kinks


def test_strings_of_a_tether_go_slack_at_located_times():
    parts = tuple(
        Part(RigidBody(name=n, mass=1.0, inertia=INERTIA), joint=Prismatic(name=f"{n}_x", axis="x")) for n in "ab"
    )
    line = ElasticTether(name="line", on="a", to="b", length=1.0, density=0.0, stiffness=20.0)
    eom = form_equations(System(name="tied", parts=parts, elements=(line,)))
    x0 = {"a_x": 0.0, "b_x": 1.0, "b_x_dot": 1.0}
    # reduced mass 1/2, k = 20: taut for half a period of sqrt(40) rad/s, then slack, and the speeds are exchanged
    half = np.pi / np.sqrt(40.0)
    sim = simulate(eom, x0=x0, t_span=(0.0, 1.0), grid=[1.0], rtol=1e-10, atol=1e-10)
    assert sim.outcome.stats["n_kinks"] == 1
    exact = [1.0 * half / 2 + (1.0 - half), 1.0 + half / 2, 1.0, 0.0]
    got = [float(sim[name][-1]) for name in ("a_x", "b_x", "a_x_dot", "b_x_dot")]
    np.testing.assert_allclose(got, exact, rtol=0.0, atol=1e-9)


@dataclass(frozen=True, kw_only=True)
class Dry(JointElement):
    """Friction that jumps at zero speed: it sticks there, and the speed crosses zero without end."""

    joint: str

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return ((self.joint, ""),)

    def efforts(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        return [-2.0 * ca.sign(v[0])]

    def kinks(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        return [v[0]]


@pytest.mark.parametrize("driver", ["native", "python"])
def test_chattering_is_given_up_with_a_warning(driver):
    part = Part(RigidBody(name="b", mass=1.0, inertia=INERTIA), joint=Prismatic(name="slide", axis="x"))
    system = System(
        name="dry", parts=(part,), elements=(Dry(name="rub", joint="slide"),), actuators=(JointForce(joint="slide"),)
    )
    eom = form_equations(system)
    with pytest.warns(UserWarning, match="element 'rub' is crossed again and again"):
        simulate(eom, x0=[0.0, 1.0], u=[0.5], t_span=(0.0, 2.0), max_steps=300, driver=driver, tier="vm", check=False)
