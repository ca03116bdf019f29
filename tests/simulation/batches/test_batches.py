"""Batches: every start is checked, an interrupt keeps what is done, and each run may draw its own noise."""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np
import pytest

from spacectl import (
    Cartesian,
    Guard,
    ModelError,
    Part,
    RigidBody,
    ShapeError,
    SpringDamper,
    Status,
    System,
    add_noise,
    design_pd,
    form_equations,
    library,
    load_batch,
    make_consistent,
    quantize,
    reseed,
    simulate,
    simulate_many,
)
from tests.dynamics.embedding.test_embedded_errors import parallelogram
from tests.simulation.stand_in import oscillator

SPAN = {"t_span": (0.0, 0.5), "grid": 6}


@pytest.fixture(scope="module")
def four_bar():
    eom = form_equations(library.four_bar())
    return eom, make_consistent(eom, eom.state(crank_pin=0.5, crank_pin_dot=1.0), hold=("crank_pin",)).x


@pytest.fixture(scope="module")
def noisy():
    eom = form_equations(library.planar_arm())
    law = design_pd(eom, kp=20.0, kd=3.0, period=0.05)
    return eom, quantize(add_noise(add_noise(law, 1e-3, seed=1, on="states"), 0.1, seed=2, on="inputs"), 1e-6)


@pytest.mark.parametrize("k", [0, 1, 39])
def test_a_start_that_breaks_the_constraints_is_refused_in_every_run(four_bar, k) -> None:
    eom, x = four_bar
    starts = np.tile(x, (40, 1))
    starts[k, 2] += 0.01
    with pytest.raises(ModelError, match=rf"run {k}: x0 does not meet the constraints"):
        simulate_many(eom, x0=starts, threads=1, **SPAN)
    starts[k] = x
    starts[k, 4] += 0.01  # a speed
    with pytest.raises(ModelError, match=rf"run {k}: x0 does not meet the constraints: rate of"):
        simulate_many(eom, x0=starts, threads=1, **SPAN)


def test_constraints_are_checked_with_the_parameters_of_each_run(four_bar) -> None:
    """The rule is `simulate`'s own: the batch is refused if and only if one of its runs is."""
    eom, x = four_bar
    name = next(item for item in eom.parameters.names if item.endswith(".mass"))
    heavy = {name: 2.0 * float(eom.parameters.get(name))}
    batch = simulate_many(eom, x0=x, p=[{}, heavy], **SPAN)
    one = simulate(eom, x0=x, p=heavy, tier="native", **SPAN)
    np.testing.assert_array_equal(batch.x[1], one.x)
    assert not np.array_equal(batch.x[0], batch.x[1])


def test_a_start_without_accelerations_names_its_run() -> None:
    """The direction of a spring between two points that coincide is undefined."""
    ball = Part(RigidBody(name="ball", mass=2.0, inertia=(0.1, 0.1, 0.1)), joint=Cartesian(name="b"))
    spring = SpringDamper(name="spring", on_a="world", on_b="ball", stiffness=10.0, length=1.0)
    eom = form_equations(System(name="ball on a spring", parts=(ball,), elements=(spring,)))
    with pytest.raises(ModelError, match="run 1: x0 of system .* has no accelerations: the force of 'spring'"):
        simulate_many(eom, x0=[{"b.x": 1.0}, {}], **SPAN)


def test_a_start_without_a_right_length_or_norm_names_its_run(four_bar) -> None:
    eom, x = four_bar
    with pytest.raises(ShapeError, match="run 1: x0 has shape"):
        simulate_many(eom, x0=[x, x[:-1]], **SPAN)


def test_singular_starts_warn_once() -> None:
    eom = form_equations(parallelogram())
    flat = eom.state(crank_pin=-0.5 * np.pi, coupler_pin=0.5 * np.pi, rocker_pin=-0.5 * np.pi)
    with pytest.warns(UserWarning, match=r"2 of 3 runs .* start in a singular position \(runs 1, 2\)"):
        simulate_many(eom, x0=[eom.state(), flat, flat], u=[0.0], t_span=(0.0, 1e-3), grid=2)


def test_no_time_of_the_grid_shows_the_state_of_another_time() -> None:
    """Where a guard ends a run between two times of the grid, the next one is empty; the state there is x_end."""
    eom = form_equations(library.planar_arm())
    guard = Guard(name="0.47 rad", expression=lambda s: s["joint1"] - 0.47, direction=1)
    options = {"x0": [0.0, 0.0, 1.0, 0.0], "t_span": (0.0, 1.0), "guards": (guard,)}
    batch = simulate_many(eom, grid=11, **options)
    one = simulate(eom, grid=11, tier="native", **options)
    t_end = float(batch.dataset["t_end"].values[0])
    assert t_end == one.t[-1] and 0.0 < t_end % 0.1 < 0.1
    np.testing.assert_array_equal(np.isfinite(batch.x[0, :, 0]), batch.t <= t_end)
    np.testing.assert_array_equal(np.isfinite(batch.u[0, :, 0]), batch.t <= t_end)
    np.testing.assert_array_equal(batch.x_end[0], one.x[-1])
    short = simulate_many(eom, grid=[0.1, 0.2], **{**options, "guards": ()})
    whole = simulate(eom, grid=2, tier="native", **{**options, "guards": ()})
    np.testing.assert_allclose(short.x_end[0], whole.x[-1], rtol=1e-8, atol=1e-10)


def test_tolerances_follow_the_start_of_each_run() -> None:
    """A run far from the origin may not loosen the tolerance of one beside it."""
    eom = form_equations(library.orbiting_body())
    near = np.array(eom.state(**{name: 1.0 for name in eom.states if name.endswith(".qw")}))
    far = near.copy()
    far[[eom.states.index(name) for name in eom.states if name.endswith(".x")]] = 7e6
    near[-1] = far[-1] = 0.3
    options = {"t_span": (0.0, 20.0), "grid": 5, "rtol": 1e-12, "atol": 1e-12}
    batch = simulate_many(eom, x0=[far, near], **options)
    for k, x0 in enumerate((far, near)):
        np.testing.assert_array_equal(batch.x[k], simulate(eom, x0=x0, tier="native", **options).x)


@pytest.mark.usefixtures("keyboard")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_answers_within_a_second_and_keeps_finished_runs(threads) -> None:
    eom = oscillator()
    starts = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])  # at rest a run takes no time
    begin: list[float] = []

    def press() -> None:
        begin.append(time.perf_counter())
        _thread.interrupt_main()

    simulate_many(eom, x0=starts, t_span=(0.0, 1.0), grid=2)  # compiled before the clock runs
    threading.Timer(0.5, press).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        simulate_many(eom, x0=starts, t_span=(0.0, 1e7), grid=1001, threads=threads, max_steps=10**9)
    assert time.perf_counter() - begin[0] < 1.0
    batch = caught.value.partial
    assert batch.outcome.status is Status.INTERRUPTED and "interrupted" in batch.outcome.message
    assert batch.status[:2] == (Status.OK, Status.INTERRUPTED)
    assert np.all(batch.x[0] == 0.0)
    reached = np.isfinite(batch.x[1, :, 0])
    assert 1 < reached.sum() < 1001, "what a run has recorded before it was stopped stays"
    assert batch.dataset["t_end"].values[1] >= batch.t[reached][-1]
    if threads == 1:
        assert batch.status[2:] == (Status.INTERRUPTED, Status.INTERRUPTED)
        assert np.all(np.isnan(batch.x[3])) and np.isnan(batch.dataset["t_end"].values[3])


def test_seeds_are_those_of_single_runs(noisy, tmp_path) -> None:
    eom, law = noisy
    x0 = np.full((3, 4), 0.1)
    batch = simulate_many(eom, law, x0=x0, seed=[5, 6, 5], threads=2, **SPAN)
    assert batch.seeds == (5, 6, 5)
    for k, seed in enumerate(batch.seeds):
        one = simulate(eom, reseed(law, seed), x0=x0[k], tier="native", **SPAN)
        np.testing.assert_array_equal(batch.x[k], one.x)
        np.testing.assert_array_equal(batch.u[k], one.u)
    assert np.array_equal(batch.x[0], batch.x[2]) and not np.array_equal(batch.x[0], batch.x[1])
    batch.save(tmp_path / "batch.nc")
    assert load_batch(tmp_path / "batch.nc").seeds == (5, 6, 5)


def test_a_new_seed_is_the_law_made_with_it(noisy) -> None:
    eom, law = noisy
    inner = design_pd(eom, kp=20.0, kd=3.0, period=0.05)
    made = quantize(add_noise(add_noise(inner, 1e-3, seed=9, on="states"), 0.1, seed=9, on="inputs"), 1e-6)
    again = reseed(law, 9)
    np.testing.assert_array_equal(np.asarray(again.p), np.asarray(made.p))
    assert [item["seed"] for item in again.notes["wrappers"] if "seed" in item] == [9, 9]
    assert again.function is law.function, "nothing is compiled again"


def test_one_seed_gives_one_to_each_run_whatever_their_number(noisy) -> None:
    eom, law = noisy
    few = simulate_many(eom, law, x0=np.zeros((2, 4)), seed=7, **SPAN)
    many = simulate_many(eom, law, x0=np.zeros((5, 4)), seed=7, **SPAN)
    assert few.seeds == many.seeds[:2] and len(set(many.seeds)) == 5 and min(many.seeds) >= 0
    np.testing.assert_array_equal(few.x, many.x[:2])
    other = simulate_many(eom, law, x0=np.zeros((2, 4)), seed=8, **SPAN)
    assert not set(other.seeds) & set(few.seeds)


def test_wrong_seeds_and_shared_noise_raise(noisy) -> None:
    eom, law = noisy
    plain = design_pd(eom, kp=20.0, kd=3.0, period=0.05)
    for seed, message in (
        (1.5, "1.5"),
        (-1, "0 or a positive"),
        ([1, 2, 3], "3 seeds for 2 runs|2 rows"),
        ([1, "a"], "run 1"),
    ):
        with pytest.raises(ModelError, match=message):
            simulate_many(eom, law, x0=np.zeros((2, 4)), seed=seed, **SPAN)
    with pytest.raises(ModelError, match="no noise"):
        simulate_many(eom, plain, x0=np.zeros((2, 4)), seed=1, **SPAN)
    with pytest.raises(ModelError, match="no noise to seed"):
        reseed(plain, 1)
    with pytest.warns(UserWarning, match="all 2 runs draw the same"):
        simulate_many(eom, law, x0=np.zeros((2, 4)), **SPAN)
