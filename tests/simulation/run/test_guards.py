"""Guards: sign changes in both directions, located on the side where the sign has changed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl.core.control_law import CallableLaw, make_law
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Status
from spacectl.simulation.events import Guard
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import double_integrator, integrator, make_plant, oscillator

DRIVERS = ("native", "python")


def thrown(guards, driver="native", **options):
    """A mass thrown up at 10 m/s with 10 m/s^2 down: at the top after 1 s, down again after 2 s."""
    options = {"t_span": (0.0, 3.0), **options}
    return simulate(double_integrator(), x0=[0.0, 10.0], u=[-10.0], guards=guards, driver=driver, **options)


@pytest.mark.parametrize("driver", DRIVERS)
def test_thrown_mass_lands_when_it_should(driver):
    sim = thrown([Guard(name="ground", expression=lambda s: s["place"], direction=-1)], driver)
    assert sim.outcome.status is Status.EVENT
    assert sim.outcome.is_success
    (event,) = sim.events
    # constant acceleration is integrated exactly; 4 eps t is the width of the bracket
    assert event.time == pytest.approx(2.0, abs=1e-14)
    assert event.name == "ground"
    assert event.state[0] <= 0.0  # the sign has changed
    assert event.state[0] == pytest.approx(0.0, abs=1e-13)
    assert sim.t[-1] == event.time
    np.testing.assert_array_equal(sim.x[-1], event.state)
    assert np.all(np.diff(sim.t) > 0.0)
    assert "'ground' at t = 2" in sim.outcome.message


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_run_that_a_failure_guard_ended_is_no_success(driver):
    lost = Guard(name="lost", expression=lambda s: s["place"], direction=-1, is_failure=True)
    with pytest.raises(SolverError, match="stopped by guard 'lost' at t = 2 s: 'lost' marks a failure"):
        thrown([lost], driver)
    sim = thrown([lost], driver, check=False)
    assert sim.outcome.status is Status.DIVERGED
    assert not sim.outcome.is_success
    assert sim.t[-1] == sim.events[0].time == pytest.approx(2.0, abs=1e-14)
    np.testing.assert_array_equal(sim.x[-1], sim.events[0].state)


def test_a_failure_guard_must_end_the_run():
    with pytest.raises(ModelError, match="guard 'lost': is_failure=True needs is_terminal=True"):
        Guard(name="lost", expression=lambda s: s["place"], is_failure=True, is_terminal=False)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("direction", "first"), [(0, 0), (-1, 0), (1, 1)])
def test_zero_crossings_of_an_oscillator_in_each_direction(driver, direction, first):
    guard = Guard(name="middle", expression=lambda s: s["angle"], direction=direction, is_terminal=False)
    sim = simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 20.0), guards=[guard], driver=driver)
    exact = np.pi * (np.arange(6) + 0.5)
    wanted = exact if direction == 0 else exact[first::2]
    np.testing.assert_allclose([event.time for event in sim.events], wanted, atol=1e-8)  # rtol 1e-9, tens of steps
    for event in sim.events:
        falling = event.state[1] < 0.0
        assert event.state[0] <= 0.0 if falling else event.state[0] >= 0.0


def test_event_lies_on_the_recorded_motion():
    guard = Guard(name="middle", expression=lambda s: s["angle"] - 0.3, is_terminal=False)
    event = simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 3.0), guards=[guard]).events[0]
    again = simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 3.0), grid=[event.time])
    np.testing.assert_allclose(again.x[0], event.state, atol=1e-15)


@pytest.mark.parametrize("driver", DRIVERS)
def test_guard_crossed_twice_inside_one_step_is_found(driver):
    """x' = 1 is integrated exactly, so that the last steps are seconds long; both crossings fall into one."""
    guard = Guard(name="visit", expression=lambda s: (s["level"] - 5.0) ** 2 - 1.0, is_terminal=False)
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=[guard], driver=driver)
    np.testing.assert_allclose([event.time for event in sim.events], [4.0, 6.0], atol=1e-13)
    assert sim.outcome.stats["n_steps"] <= 9  # steps of 1e-6 growing tenfold: the last ones cover 1.1 ... 10


@pytest.mark.parametrize("driver", DRIVERS)
def test_brief_visit_is_found_in_order_when_another_event_falls_into_it(driver):
    """A window of 0.02 s, far below an eighth of the step; the event inside shows it, and all three come in order."""
    guards = [
        Guard(name="middle", expression=lambda s: s["level"] - 5.0, is_terminal=False),
        Guard(name="window", expression=lambda s: 1e-4 - (s["level"] - 5.0) ** 2, is_terminal=False),
    ]
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=guards, driver=driver)
    assert [event.name for event in sim.events] == ["window", "middle", "window"]
    np.testing.assert_allclose(
        [event.time for event in sim.events], [4.99, 5.0, 5.01], atol=1e-12
    )  # 1e-16 / slope 0.02


@pytest.mark.parametrize("driver", DRIVERS)
def test_guards_whose_zeros_differ_by_rounding_are_one_instant(driver):
    roundings = np.spacing(1.1) * np.arange(4)  # events are located to 4 roundings of the step's end, which is later
    guards = [
        Guard(name=str(i), expression=lambda s, r=r: s["level"] - 1.1 - float(r), is_terminal=False)
        for i, r in enumerate(roundings)
    ]
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 2.0), guards=guards, driver=driver)
    assert sorted(event.name for event in sim.events) == ["0", "1", "2", "3"]
    assert len({event.time for event in sim.events}) == 1


@pytest.mark.parametrize("driver", DRIVERS)
def test_guards_at_the_same_instant_are_all_reported(driver):
    guards = [
        Guard(name="place", expression=lambda s: s["place"] - 3.2, is_terminal=False),
        Guard(name="twice", expression=lambda s: 6.4 - 2.0 * s["place"], is_terminal=False),
        Guard(name="later", expression=lambda s: s["place"] - 3.3, is_terminal=False),
    ]
    sim = thrown(guards, driver, t_span=(0.0, 1.0))
    assert [event.name for event in sim.events] == ["place", "twice", "later"]
    assert sim.events[0].time == sim.events[1].time == pytest.approx(0.4, abs=1e-13)


@pytest.mark.parametrize("driver", DRIVERS)
def test_earlier_of_two_guards_in_one_step_comes_first(driver):
    guards = [
        Guard(name="late", expression=lambda s: s["level"] - 5.002),
        Guard(name="early", expression=lambda s: s["level"] - 5.001),
    ]
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=guards, driver=driver)
    assert [event.name for event in sim.events] == ["early"]
    assert sim.t[-1] == pytest.approx(5.001, abs=1e-13)


@pytest.mark.parametrize("driver", DRIVERS)
def test_guard_that_starts_at_zero_does_not_fire_at_the_start(driver):
    sim = thrown([Guard(name="ground", expression=lambda s: s["place"], is_terminal=False)], driver)
    assert [event.time for event in sim.events] == pytest.approx([2.0], abs=1e-13)


def test_terminal_guard_among_others_stops_the_run_after_them():
    guards = [
        Guard(name="top", expression=lambda s: s["speed"], is_terminal=False),
        Guard(name="down", expression=lambda s: s["place"], direction=-1),
    ]
    sim = thrown(guards)
    assert [event.name for event in sim.events] == ["top", "down"]
    assert [event.time for event in sim.events] == pytest.approx([1.0, 2.0], abs=1e-13)


@pytest.mark.parametrize("driver", DRIVERS)
def test_since_counts_from_the_beginning_of_the_run(driver):
    sim = thrown([Guard(name="late", expression=lambda s: s.since - 0.4)], driver, t_span=(1.0, 3.0))
    assert sim.t[-1] == pytest.approx(1.4, abs=1e-14)


def test_guard_on_time_alone():
    sim = thrown([Guard(name="clock", expression=lambda s: s.t - 0.7)])
    assert sim.t[-1] == pytest.approx(0.7, abs=1e-15)


@pytest.mark.parametrize("driver", DRIVERS)
def test_guard_on_the_input_of_a_continuous_law(driver):
    eom = oscillator()
    law = make_law(lambda s: -s["rate"], name="damper", states=eom.labels.x, inputs=eom.labels.u)
    guard = Guard(name="pull", expression=lambda s: s["torque"] - 0.2, direction=1)
    sim = simulate(eom, law, x0=[1.0, 0.0], t_span=(0.0, 5.0), guards=[guard], driver=driver)
    assert sim.u[-1, 0] == pytest.approx(0.2, abs=1e-13)
    w = np.sqrt(0.75)  # x'' + x' + x = 0: -x' = exp(-t/2) sin(w t) / w
    assert np.exp(-0.5 * sim.t[-1]) * np.sin(w * sim.t[-1]) / w == pytest.approx(0.2, abs=1e-8)


@pytest.mark.parametrize("driver", DRIVERS)
def test_guard_on_a_sampled_input_fires_at_the_sample(driver):
    law = CallableLaw(function=lambda t, x: [t - 0.95], period=0.1)
    guard = Guard(name="sign", expression=lambda s: s["flow"], direction=1)
    sim = simulate(integrator(), law, t_span=(0.0, 5.0), guards=[guard], driver=driver)
    assert sim.t[-1] == 1.0
    assert sim.u[-1, 0] == pytest.approx(0.05, abs=1e-15)


def test_guard_on_memory():
    eom = integrator()
    law = make_law(
        lambda s: (1.0, 2.0), name="counter", states=eom.labels.x, inputs=eom.labels.u, memory={"count": 0.0}
    )
    sim = simulate(eom, law, t_span=(0.0, 5.0), guards=[Guard(name="full", expression=lambda s: s["count"] - 3.0)])
    assert sim.t[-1] == pytest.approx(1.5, abs=1e-13)


@pytest.mark.parametrize("driver", DRIVERS)
def test_steep_and_flat_guards_are_located_to_the_last_digits(driver):
    guards = [
        Guard(name="steep", expression=lambda s: ca.tanh(1e6 * (s["level"] - 1.1)), is_terminal=False),
        Guard(name="flat", expression=lambda s: (s["level"] - 2.2) ** 9, is_terminal=False),
    ]
    sim = simulate(integrator(), u=[1.0], t_span=(0.0, 10.0), guards=guards, driver=driver)
    times = {event.name: event.time for event in sim.events}
    assert times["steep"] == pytest.approx(1.1, abs=1e-14)
    assert times["flat"] == pytest.approx(2.2, abs=1e-14)


def test_event_far_from_zero_time_is_located_to_the_rounding_of_time():
    sim = thrown([Guard(name="ground", expression=lambda s: s["place"], direction=-1)], t_span=(1e6, 1e6 + 3.0))
    assert sim.t[-1] - 1e6 == pytest.approx(2.0, abs=2e-9)  # 10 eps 1e6


def test_guard_that_is_not_a_number_is_an_error_that_names_it():
    with pytest.raises(SolverError, match="guard 'root' is not a number"):
        thrown([Guard(name="root", expression=lambda s: ca.sqrt(4.0 - s["place"]))])


def test_guards_read_run_time_parameters():
    eom = make_plant(lambda s: s["k"] + 0.0 * s["x"], ("x",), parameters={"k": 2.0})
    sim = simulate(eom, t_span=(0.0, 9.0), guards=[Guard(name="k", expression=lambda s: s["x"] - s.p[0])], p={"k": 4.0})
    assert sim.x[-1, 0] == pytest.approx(4.0, abs=1e-13)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Guard(name="", expression=lambda s: s.t), "name is ''"),
        (lambda: Guard(name="g", expression=3.0), "expression is 3.0"),
        (lambda: Guard(name="g", expression=lambda s: s.t, direction=2), "direction is 2"),
        (lambda: thrown([lambda s: s.t]), "expected Guard"),
        (lambda: thrown([Guard(name="g", expression=lambda s: s["plce"])]), "did you mean 'place'"),
        (lambda: thrown([Guard(name="g", expression=lambda s: [s.t, s.t])]), "expected 1 values"),
        (lambda: thrown([Guard(name="g", expression=lambda s: s.t)] * 2), "duplicate guard name 'g'"),
    ],
)
def test_bad_guards_are_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()
