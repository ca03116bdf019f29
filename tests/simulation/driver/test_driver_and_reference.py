"""The compiled driver and its Python reference are the same algorithm: same steps, same values."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl.codegen.binding import bind_casadi
from spacectl.core.control_law import CallableLaw, make_law
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.tableau import find_tableau
from spacectl.simulation.driver.native_loop import DONE, GUARD, SLICE, NativeLoop
from spacectl.simulation.driver.reference.loop import PythonLoop
from spacectl.simulation.events import Guard
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import double_integrator, oscillator, pendulum, tumbling_body

LOOPS = (NativeLoop, PythonLoop)
COUNTS = ("n_steps", "n_rejected", "n_right_sides", "n_law_calls")


def reference(rule):
    values = np.array([[0.0], [1.0], [-0.5], [0.3]])
    return Trajectory(t=[0.0, 1.0, 2.5, 4.0], values=values, labels=Labels(("command",)), interpolation=rule)


def tracking_law(eom, rule="cubic", period=0.0, measured=False):
    def command(s):
        wrong = s["command"] - s["angle"]
        step = period * wrong + s["sum"] if period else wrong
        return 20.0 * wrong - 3.0 * s["rate"] + 5.0 * s["sum"] - (s["height"] if measured else 0.0), step

    return make_law(
        command,
        name="tracking",
        states=eom.labels.x,
        inputs=eom.labels.u,
        measurements=eom.labels.y if measured else None,
        memory={"sum": 0.1},
        reference=reference(rule),
        period=period,
    )


def free_pendulum():
    return pendulum(), None, {"x0": {"angle": 2.0}}


def rk45_pendulum():
    return pendulum(), None, {"x0": {"angle": 2.0}, "method": "rk45", "u": {"torque": 5.0}, "grid": 7}


def continuous_law():
    eom = pendulum()
    return eom, tracking_law(eom, "linear", measured=True), {"stops": (1.3,)}


def law_with_jumps():
    eom = pendulum()
    return eom, tracking_law(eom, "previous"), {"method": "rk45", "rtol": 1e-6}


def sampled_law():
    eom = pendulum()
    return eom, tracking_law(eom, "cubic", period=0.07), {"max_step": 0.05}


def quaternion():
    return tumbling_body(), None, {"x0": {"wx": 0.1, "wy": 2.0, "wz": 0.3}, "u": [0.2]}


def guarded():
    eom = oscillator()
    law = make_law(lambda s: -0.1 * s["rate"], name="damper", states=eom.labels.x, inputs=eom.labels.u)
    guards = (
        Guard(name="middle", expression=lambda s: s["angle"], is_terminal=False),
        Guard(name="pull", expression=lambda s: s["torque"] - 0.05, direction=1, is_terminal=False),
        Guard(name="low", expression=lambda s: 0.5 - s["angle"] ** 2 - s["rate"] ** 2, direction=1),
    )
    return eom, law, {"x0": [1.0, 0.0], "guards": guards, "t_span": (0.0, 40.0)}


def python_law():
    return pendulum(), CallableLaw(function=lambda t, x: [np.sin(t) - x[1]], period=0.1), {}


PROBLEMS = [free_pendulum, rk45_pendulum, continuous_law, law_with_jumps, sampled_law, quaternion, guarded, python_law]


@pytest.mark.parametrize("method", [None, "adams"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_same_steps_and_same_trajectory(problem, method):
    eom, law, options = problem()
    if method is not None:
        options = {**options, "method": method}
    native, python = (
        simulate(eom, law, **{"t_span": (0.0, 5.0), **options}, driver=kind) for kind in ("native", "python")
    )
    assert native.dataset.attrs["driver"] != python.dataset.attrs["driver"]
    assert [native.outcome.stats[key] for key in COUNTS] == [python.outcome.stats[key] for key in COUNTS]
    assert native.outcome.stats["n_steps"] > 10
    assert native.outcome.message == python.outcome.message
    # Sums run in the same order in both, so they differ at most by rounding inside library functions.
    for letter in ("x", "u", "u_commanded", "z", "y"):
        np.testing.assert_allclose(getattr(native, letter), getattr(python, letter), rtol=1e-12, atol=1e-12)
    assert [event.name for event in native.events] == [event.name for event in python.events]
    np.testing.assert_allclose(
        [event.time for event in native.events], [event.time for event in python.events], rtol=1e-12
    )


def tumbling_data(method="dop853"):
    eom = tumbling_body()
    x0 = eom.state(wx=0.1, wy=2.0, wz=0.3)
    t, x, u, z, p = (ca.SX.sym(name, n) for name, n in (("t", 1), ("x", 7), ("u", 1), ("z", 0), ("p", 0)))
    guard = ca.Function("guards", [t, x, u, z, p], [x[4]], ["t", "x", "u", "z", "p"], ["g"])
    return LoopData(
        plant=bind_casadi(eom.functions["x_dot"]),
        guards=bind_casadi(guard),
        directions=[0],
        tableau=find_tableau(method),
        t_span=(0.0, 12.0),
        x0=x0,
        u0=[0.0],
        grid=np.linspace(0.0, 12.0, 101),
        quaternions=(0,),
    )


@pytest.mark.parametrize("method", ["dop853", "adams"])
@pytest.mark.parametrize("loop", LOOPS)
def test_run_cut_into_slices_is_the_same_run_bit_for_bit(loop, method):
    whole, cut = tumbling_data(method), tumbling_data(method)
    driver = loop(whole)
    events = 0
    while driver.advance() != DONE:
        events += 1
    driver = loop(cut)
    statuses = []
    while not statuses or statuses[-1] != DONE:
        statuses.append(driver.advance(steps=1))
    assert statuses.count(SLICE) >= whole.n_steps - events - 1
    assert statuses.count(GUARD) == events > 2
    assert np.array_equal(whole.out_x, cut.out_x)
    assert whole.n_right_sides == cut.n_right_sides


@pytest.mark.parametrize("method", ["dop853", "adams"])
@pytest.mark.parametrize("loop", LOOPS)
def test_event_that_does_not_stop_leaves_the_trajectory_untouched(loop, method):
    watched, free = tumbling_data(method), tumbling_data(method)
    free.n_guards = 0
    for data in (watched, free):
        driver = loop(data)
        while driver.advance() != DONE:
            pass
    assert watched.n_steps == free.n_steps
    assert np.array_equal(watched.out_x, free.out_x)


@pytest.mark.parametrize("loop", LOOPS)
def test_rate_stored_for_the_next_step_belongs_to_the_normalised_quaternion(loop):
    data, plain = tumbling_data(), tumbling_data()
    for item in (data, plain):
        item.n_guards = 0
        item.rtol, item.atol[:] = 1e-2, 1e-2  # so loose that steps leave the unit sphere visibly
    plain.n_quaternions, plain.quaternions = 0, plain.quaternions[:0]
    loop(plain).advance(steps=10)
    assert abs(np.linalg.norm(plain.s[:4]) - 1.0) > 1e-6
    driver = loop(data)
    for _ in range(10):
        driver.advance(steps=1)
        q, w = data.s[:4], data.s[4:]
        rate = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        np.testing.assert_allclose(data.K[0, :4], rate, atol=1e-15)
        assert np.linalg.norm(q) == pytest.approx(1.0, abs=4e-16)


@pytest.mark.parametrize("loop", LOOPS)
def test_time_limit_of_a_slice_returns_early(loop):
    data = tumbling_data()
    assert loop(data).advance(seconds=0.0) == SLICE
    assert data.n_steps <= 1


def falling_data(direction, **options):
    """A mass thrown up at 10 m/s with 10 m/s^2 down, and a guard on the ground."""
    eom = double_integrator()
    t, x, u, z, p = (ca.SX.sym(name, n) for name, n in (("t", 1), ("x", 2), ("u", 1), ("z", 0), ("p", 0)))
    guard = ca.Function("guards", [t, x, u, z, p], [x[0]], ["t", "x", "u", "z", "p"], ["g"])
    return LoopData(
        plant=bind_casadi(eom.functions["x_dot"]),
        guards=bind_casadi(guard),
        directions=[direction],
        tableau=find_tableau("dop853"),
        x0=[0.0, 10.0],
        u0=[-10.0],
        **options,
    )


@pytest.mark.parametrize("loop", LOOPS)
def test_moving_the_state_across_a_guard_by_hand_is_no_event(loop):
    data = falling_data(0, t_span=(0.0, 9.0), grid=[9.0])
    driver = loop(data)
    assert driver.advance() == GUARD
    driver.restart(data.event_t, [1.0, 0.0])
    assert driver.advance() == GUARD
    assert data.event_t == pytest.approx(2.0 + np.sqrt(0.2), abs=1e-13)


@pytest.mark.parametrize("loop", LOOPS)
def test_bouncing_mass_restarted_after_each_impact_follows_the_closed_form(loop):
    data = falling_data(-1, t_span=(0.0, 3.9), grid=[3.9])
    driver, impacts = loop(data), []
    while driver.advance() == GUARD:
        impacts.append(data.event_t)
        driver.restart(data.event_t, [data.event_s[0], -0.5 * data.event_s[1]])
    # Flights last 2, 1, 1/2, 1/4, 1/8 s; a constant acceleration is integrated exactly, so rounding alone remains,
    # and the last flight magnifies what was there at its impact.
    np.testing.assert_allclose(impacts, [2.0, 3.0, 3.5, 3.75, 3.875], rtol=1e-13)
    rest = 3.9 - 3.875
    assert data.out_x[0, 0] == pytest.approx(0.3125 * rest - 5.0 * rest**2, abs=1e-12)
