"""Numerical failures, exceptions and interrupts: messages, and the part of the run that is returned."""

from __future__ import annotations

import _thread
import logging
import threading
import time

import casadi as ca
import numpy as np
import pytest

from spacectl.core.control_law import CallableLaw
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Status
from spacectl.simulation.progress import RunProgress
from spacectl.simulation.run import run
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import make_plant, oscillator, pendulum

DRIVERS = ("native", "python")


@pytest.mark.parametrize("driver", DRIVERS)
def test_escape_in_finite_time_is_reported_with_time_state_and_what_was_finished(driver):
    """x' = x^2 from 1 is 1/(1 - t)."""
    eom = make_plant(lambda s: [s["x"] ** 2, -s["y"]], ("x", "y"))
    with pytest.raises(SolverError, match=r"at t = (1|0\.99999\d*) s: the error of 'x'") as caught:
        simulate(eom, x0=[1.0, 1.0], t_span=(0.0, 2.0), grid=21, driver=driver)
    partial = caught.value.partial
    assert partial.outcome.status is Status.FAILED
    assert partial.t[-1] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(partial["x"][:9], 1.0 / (1.0 - partial.t[:9]), rtol=1e-7)


@pytest.mark.parametrize("driver", DRIVERS)
def test_rate_that_stops_being_a_number_names_the_state(driver):
    """x' = 1 + sqrt(1 - x) from 0 passes x = 1 at t = 2 - 2 log 2; beyond, its rate is no number. y' is fine."""
    eom = make_plant(lambda s: [1.0 + ca.sqrt(1.0 - s["x"]), -s["y"]], ("x", "y"))
    sim = simulate(eom, x0=[0.0, 1.0], t_span=(0.0, 5.0), driver=driver, check=False)
    assert sim.outcome.status is Status.FAILED
    assert not sim.outcome.is_success
    assert "the rates of 'x' are not finite at t = 0.61" in sim.outcome.message
    assert sim["x"][-1] == pytest.approx(1.0, abs=1e-6)
    assert np.all(np.isfinite(sim.x))


@pytest.mark.parametrize("driver", DRIVERS)
def test_step_is_reduced_where_a_trial_stage_leaves_the_domain(driver):
    """x' = -sqrt(x) from 1 is (1 - t/2)^2; trial stages beyond zero are no numbers, the solution is."""
    eom = make_plant(lambda s: -ca.sqrt(s["x"]), ("x",))
    sim = simulate(eom, x0=[1.0], t_span=(0.0, 1.99), driver=driver, rtol=1e-3, atol=1e-3, method="rk45")
    np.testing.assert_allclose(sim["x"], (1.0 - 0.5 * sim.t) ** 2, atol=1e-2)


@pytest.mark.parametrize("driver", DRIVERS)
def test_rate_that_is_no_number_at_the_start(driver):
    eom = make_plant(lambda s: ca.log(s["x"]), ("x",))
    with pytest.raises(SolverError, match="the rates of 'x' are not finite at t = 0 s") as caught:
        simulate(eom, x0=[-1.0], t_span=(0.0, 1.0), driver=driver)
    assert caught.value.partial.t.tolist() == [0.0]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_command_that_is_no_number_is_attributed_to_the_law(driver):
    def broken(t, x):
        return [np.nan if t > 0.5 else 0.0]

    with pytest.raises(SolverError, match="law 'broken' commands a value that is not finite for 'torque'"):
        simulate(pendulum(), broken, x0=[0.1, 0.0], t_span=(0.0, 1.0), driver=driver)


@pytest.mark.parametrize("driver", DRIVERS)
def test_too_many_steps(driver):
    with pytest.raises(SolverError, match=r"after 7 steps.*raise max_steps") as caught:
        simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 1e3), max_steps=7, driver=driver)
    partial = caught.value.partial
    assert partial.outcome.status is Status.LIMIT
    assert partial.outcome.stats["n_steps"] == 7
    assert 0.0 < partial.t[-1] < 1e3


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("period", [0.0, 0.1])
def test_exception_of_a_python_law_comes_out_unchanged(driver, period):
    class Trouble(Exception):
        pass

    def law(t, x):
        if t > 0.5:
            raise Trouble("in the law")
        return [0.0]

    with pytest.raises(Trouble, match="in the law") as caught:
        simulate(pendulum(), CallableLaw(function=law, period=period), t_span=(0.0, 1.0), driver=driver)
    assert any("while simulating" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("period", [0.0, 0.1])
def test_a_law_that_raises_keeps_the_run_up_to_there(driver, period):
    def rule(t, x):
        if t > 0.5:
            raise ZeroDivisionError("no gain")
        return [0.0]

    law = CallableLaw(function=rule, period=period, name="shaky")
    options = {"x0": [0.1, 0.0], "t_span": (0.0, 1.0), "max_step": 0.05, "grid": 101, "driver": driver}
    with pytest.raises(ZeroDivisionError) as caught:
        simulate(pendulum(), law, **options)
    kept = simulate(pendulum(), law, check=False, **options)
    assert kept.outcome.status is Status.FAILED
    assert (
        "law 'shaky' raised near t = " in kept.outcome.message and "ZeroDivisionError: no gain" in kept.outcome.message
    )
    good = simulate(pendulum(), CallableLaw(function=lambda t, x: [0.0], period=period), **options)
    for part in (kept, caught.value.partial):
        assert 0.4 < part.t[-1] < 0.6 + 1e-12
        n = int(np.sum(part.t[:-1] == good.t[: part.t.size - 1]))
        assert n == part.t.size - 1 > 30
        np.testing.assert_array_equal(part.x[:n], good.x[:n])
    assert kept.dataset["x"].shape[0] == kept.t.size


def test_a_law_of_the_wrong_shape_raises_also_without_check():
    with pytest.raises(ModelError, match="returned shape"):
        simulate(pendulum(), lambda t, x: [0.0, 0.0], t_span=(0.0, 1.0), check=False)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_progress_raises_keeps_the_run_too(error):
    def report(fraction, message):
        raise error

    with pytest.raises(error) as caught:
        simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 1e7), grid=1001, progress=report)
    assert caught.value.partial.t[-1] > 0.0
    assert caught.value.partial.outcome.status is (Status.INTERRUPTED if error is KeyboardInterrupt else Status.FAILED)


@pytest.mark.parametrize("driver", DRIVERS)
def test_interrupt_inside_a_python_law_keeps_what_was_finished(driver):
    def law(t, x):
        if t > 0.5:
            raise KeyboardInterrupt
        return [0.0]

    with pytest.raises(KeyboardInterrupt) as caught:
        simulate(pendulum(), law, x0=[0.1, 0.0], t_span=(0.0, 1.0), max_step=0.1, grid=101, driver=driver)
    assert caught.value.partial.outcome.status is Status.INTERRUPTED
    assert 0.3 < caught.value.partial.t[-1] < 0.5


@pytest.mark.usefixtures("keyboard")
def test_interrupt_from_the_keyboard_stops_the_compiled_driver():
    timer = threading.Timer(0.15, _thread.interrupt_main)
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt) as caught:
        simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 1e7), grid=2)  # would take minutes
    assert time.perf_counter() - begin < 5.0
    assert caught.value.partial.t[-1] > 0.0


def test_callback_inside_casadi_is_called_through_python_and_its_error_reported():
    class Broken(ca.Callback):
        def __init__(self):
            ca.Callback.__init__(self)
            self.construct("broken")

        def eval(self, arguments):
            if float(arguments[0]) < 0.9:
                raise ValueError("broken table")
            return [arguments[0]]

    broken = Broken()
    eom = make_plant(lambda s: -s["x"], ("x",))
    t, x, u, p = ca.MX.sym("t"), ca.MX.sym("x"), ca.MX.sym("u", 0), ca.MX.sym("p", 0)
    eom.functions["x_dot"] = ca.Function("x_dot", [t, x, u, p], [-broken(x)], ["t", "x", "u", "p"], ["x_dot"])
    with pytest.raises(RuntimeError):
        simulate(eom, x0=[1.0], t_span=(0.0, 1.0))


def test_without_a_compiler_the_reference_is_used_with_one_warning(monkeypatch, caplog):
    def refuse():
        raise SolverError("no C compiler found\nsecond line")

    reference = simulate(pendulum(), x0=[0.5, 0.0], t_span=(0.0, 1.0), driver="native")
    monkeypatch.setattr(run, "load_driver", refuse)
    run._native_trouble.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            first, second = (simulate(pendulum(), x0=[0.5, 0.0], t_span=(0.0, 1.0)) for _ in range(2))
    finally:
        run._native_trouble.cache_clear()
    assert caplog.messages == [
        "simulating with the reference implementation in Python, which is slower: no C compiler found"
    ]
    assert first.dataset.attrs["driver"] == second.dataset.attrs["driver"] == "python"
    np.testing.assert_allclose(first.x, reference.x, rtol=1e-12, atol=1e-12)


def test_progress_is_reported_to_the_caller():
    reported = []
    simulate(
        oscillator(),
        lambda t, x: (time.sleep(1e-4), [0.0])[1],
        x0=[1.0, 0.0],
        t_span=(0.0, 10.0),
        rtol=1e-6,
        atol=1e-6,
        progress=lambda fraction, message: reported.append((fraction, message)),
    )
    fractions = [fraction for fraction, _ in reported]
    assert len(reported) > 1
    assert fractions == sorted(fractions)
    assert reported[-1] == (1.0, "t = 10 s of 10 s")


@pytest.mark.parametrize(
    ("is_terminal", "patience", "shown"), [(True, 0.0, True), (False, 0.0, False), (True, 99.0, False)]
)
def test_bar_is_shown_on_a_terminal_after_a_while_only(monkeypatch, is_terminal, patience, shown):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr("spacectl.simulation.progress._PATIENCE", patience)
    with RunProgress(None, (0.0, 2.0)) as progress:
        progress.update(0.5)
        progress.update(1.0)
        assert (progress._bar is not None) is shown
        if shown:
            assert progress._bar.tasks[0].completed == 0.5


def test_runs_in_threads_do_not_disturb_each_other():
    wanted, found = {}, {}

    def job(i):
        found[i] = simulate(pendulum(), x0=[0.1 * i, 0.0], t_span=(0.0, 5.0)).x

    for i in range(1, 7):
        wanted[i] = simulate(pendulum(), x0=[0.1 * i, 0.0], t_span=(0.0, 5.0)).x
    threads = [threading.Thread(target=job, args=(i,)) for i in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(wanted)
    for i in wanted:
        assert np.array_equal(found[i], wanted[i])
