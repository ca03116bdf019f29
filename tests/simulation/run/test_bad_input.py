"""Wrong arguments of `simulate` raise at once and say what to do."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import form_equations, library
from spacectl.core.errors import ModelError
from spacectl.simulation.batches.simulate_many import simulate_many
from spacectl.simulation.events import Guard
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import make_plant, pendulum, tumbling_body

NAN = float("nan")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"t_span": (1.0, 0.0)}, r"t_span is \[1.0, 0.0\], expected \(begin, end\)"),
        ({"t_span": (0.0, 0.0)}, "begin < end"),
        ({"t_span": (0.0, 1.0, 2.0)}, "begin < end"),
        ({"t_span": (0.0, np.inf)}, "t_span: .* not finite"),
        ({"t_span": "now"}, "t_span: expected numbers"),
        ({"grid": 1}, "at least 2 points"),
        ({"grid": True}, "grid is True"),
        ({"grid": 10**12}, r"records at grid = 1000000000000 times would take .* GiB.*record fewer times"),
        ({"guards": Guard(name="stop", expression=lambda s: s.t)}, r"single guard 'stop', .*; write guards=\(guard,\)"),
        ({"guards": [lambda s: s.t]}, "guards: got a function, expected Guard"),
        ({"guards": 3}, "guards is a int, expected a sequence of Guard"),
        ({"grid": [0.0, 0.5, 0.5]}, "must increase"),
        ({"grid": [0.0, 2.0]}, r"grid runs from 0 to 2 s, outside t_span = \(0, 1\); widen t_span"),
        ({"grid": [-0.1, 1.0]}, "outside t_span"),
        ({"grid": []}, "grid has shape"),
        ({"grid": [[0.0, 1.0]]}, "grid has shape"),
        ({"grid": [0.0, NAN]}, "not finite"),
        ({"x0": [1.0]}, r"x0 has shape \(1,\), expected \(2,\): angle, rate"),
        ({"x0": [1.0, NAN]}, "x0: .* not finite"),
        ({"x0": {"angel": 1.0}}, "unknown state 'angel'; did you mean 'angle'"),
        ({"x0": {"angle": NAN}}, "x0: 'angle': got nan"),
        ({"x0": {"angle": [1.0, 2.0]}}, "x0: 'angle': expected a number"),
        ({"u": [1.0, 2.0]}, r"u has shape \(2,\), expected \(1,\): torque"),
        ({"u": {"torq": 1.0}}, "unknown input 'torq'; did you mean 'torque'"),
        ({"u": [NAN]}, "u: .* not finite"),
        ({"rtol": 0.0}, "rtol is 0, expected between"),
        ({"rtol": 1e-16}, "rtol is 1e-16"),
        ({"rtol": 2.0}, "rtol is 2"),
        ({"rtol": "small"}, "rtol: expected a number"),
        ({"atol": 0.0}, "atol: every entry must be positive"),
        ({"atol": [1e-9, -1e-9]}, "atol: every entry must be positive"),
        ({"atol": [1e-9, 1e-9, 1e-9]}, r"atol has shape \(3,\)"),
        ({"method": "euler"}, "unknown method 'euler'. There are: dop853, rk45"),
        ({"max_step": 0.0}, "max_step is 0 s"),
        ({"max_step": NAN}, "max_step is nan"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"max_steps": "many"}, "max_steps 'many', expected numbers"),
        ({"stops": [NAN]}, "stops: .* not finite"),
        ({"p": {"kk": 1.0}}, "unknown parameter 'kk'"),
        ({"p": [1.0]}, r"parameters p: expected shape \(3,\)"),
        ({"driver": "fast"}, "driver is 'fast'"),
        ({"tier": "jit"}, "tier 'jit'"),
    ],
)
def test_message_names_the_argument_and_what_is_allowed(options, words):
    with pytest.raises(ModelError, match=words):
        simulate(pendulum(), **{"t_span": (0.0, 1.0), **options})


def test_unknown_keywords_are_rejected():
    with pytest.raises(TypeError, match="tolerance"):
        simulate(pendulum(), t_span=(0.0, 1.0), tolerance=1e-9)


def test_quaternion_that_is_nearly_unit_is_normalised():
    q = np.array([0.5, 0.5, 0.5, 0.5]) + 1e-7
    sim = simulate(tumbling_body(), x0=[*q, 0.0, 0.0, 0.0], t_span=(0.0, 1.0))
    assert np.linalg.norm(sim.x[0, :4]) == pytest.approx(1.0, abs=4e-16)


@pytest.mark.parametrize("x0", [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 7])
def test_quaternion_that_is_not_unit_is_refused(x0):
    with pytest.raises(ModelError, match=r"the quaternion 'qw' to 'qz' has norm .*, expected 1; divide it"):
        simulate(tumbling_body(), x0=x0, t_span=(0.0, 1.0))


def test_named_quaternion_entries_are_normalised_as_by_eom_state():
    eom = tumbling_body()
    sim = simulate(eom, x0={"qx": 0.1}, t_span=(0.0, 1.0))
    np.testing.assert_array_equal(sim.x[0], eom.state(qx=0.1))


def test_a_system_instead_of_equations_is_explained():
    with pytest.raises(ModelError, match="call form_equations"):
        simulate(library.pendulum(), t_span=(0.0, 1.0))


def test_numbers_that_physics_forbids_are_refused():
    eom = form_equations(library.wheel_spacecraft())
    for change in (
        {"bus.mass": -5.0},
        {"bus.inertia": (1.0, 1.0, 3.0, 4.0, -3.0, 2.0)},
        {"wheel_x.spin_inertia": 0.0},
        {"wheel_x.limit": (1.0, -1.0)},
        {"environment.mu": -1.0},
    ):
        with pytest.raises(ModelError, match=next(iter(change))):
            simulate(eom, x0={"base.x": 7e6}, p=change, t_span=(0.0, 1.0))


def test_an_orbit_takes_few_steps_at_the_default_tolerances():
    """Positions of 7e6 m carry 1e-9 m of rounding; the step size must not collapse where one of them passes zero."""
    eom = form_equations(library.wheel_spacecraft())
    speed = float(np.sqrt(3.986004418e14 / 7e6))
    sim = simulate(eom, x0={"base.x": 7e6, "base.y_dot": speed}, t_span=(0.0, 5828.5), grid=3)
    assert sim.outcome.stats["n_steps"] < 500
    assert np.linalg.norm(sim.x[-1, 4:7] - [7e6, 0.0, 0.0]) < 1e4  # back after one period, which is rounded here


def test_default_state_is_rest_with_unit_quaternions():
    np.testing.assert_array_equal(simulate(tumbling_body(), t_span=(0.0, 1.0)).x[-1], [1.0, 0, 0, 0, 0, 0, 0])


def test_grid_and_stops_accept_what_is_sensible():
    eom = pendulum()
    sim = simulate(eom, t_span=(0.0, 1.0), grid=np.int64(5), stops=[0.5, 0.2, 0.5, -3.0, 7.0])
    np.testing.assert_allclose(sim.t, [0.0, 0.25, 0.5, 0.75, 1.0])
    assert simulate(eom, t_span=(0, 1), grid=[0.5]).t.tolist() == [0.5]


def test_plant_without_inputs_or_parameters_runs():
    eom = make_plant(lambda s: -s["x"], ("x",))
    sim = simulate(eom, x0=[1.0], t_span=(0.0, 1.0))
    assert sim["x"][-1] == pytest.approx(np.exp(-1.0), abs=1e-9)


def test_a_batch_checks_its_guards_and_the_room_for_its_records() -> None:
    eom = form_equations(library.pendulum())
    x0 = np.zeros((10**4, 2))
    with pytest.raises(ModelError, match="records at grid = 1000000 times in 10000 runs"):
        simulate_many(eom, x0=x0, t_span=(0.0, 1.0), grid=10**6)
    with pytest.raises(ModelError, match="single guard 'stop'"):
        simulate_many(eom, x0=x0, t_span=(0.0, 1.0), guards=Guard(name="stop", expression=lambda s: s.t))
