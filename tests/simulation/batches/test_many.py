"""Many runs at once are the same runs as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    Free,
    Guard,
    ModelError,
    Part,
    RigidBody,
    ShapeError,
    Status,
    System,
    design_pd,
    form_equations,
    library,
    load_batch,
    simulate,
    simulate_many,
)

SPAN = {"t_span": (0.0, 1.0), "grid": 21, "rtol": 1e-8, "atol": 1e-8}


@pytest.fixture(scope="module")
def arm():
    eom = form_equations(library.planar_arm())
    return eom, design_pd(eom, kp=20.0, kd=3.0)


def starts(n: int) -> np.ndarray:
    return 0.5 * np.random.default_rng(0).standard_normal((n, 4))


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_equal_single_simulations(arm, threads) -> None:
    eom, law = arm
    x0 = starts(40)
    masses = [{"link2.mass": 1.0 + 0.01 * k} for k in range(40)]
    batch = simulate_many(eom, law, x0=x0, p=masses, threads=threads, **SPAN)
    assert batch.x.shape == (40, 21, 4) and batch.u.shape == (40, 21, 2)
    for k in (0, 7, 39):
        one = simulate(eom, law, x0=x0[k], p=eom.parameters.vector(masses[k]), tier="native", **SPAN)
        np.testing.assert_array_equal(batch.x[k], one.x)
        np.testing.assert_array_equal(batch.u[k], one.u)
        np.testing.assert_array_equal(batch.x_end[k], one.x[-1])
    assert batch.outcome.message == "40 ok"
    np.testing.assert_array_equal(batch["joint2"], batch.x[:, :, 1])


def test_limits_may_differ_between_runs() -> None:
    eom = form_equations(library.free_flyer_arm(torque_limit=5.0))
    law = design_pd(eom, kp=50.0, kd=5.0)
    p = [{}, {"joint1.limit": (-1.0, 2.0)}]
    batch = simulate_many(eom, law, x0={"joint1": -0.5}, p=p, t_span=(0.0, 0.1), grid=3)
    assert np.max(batch.u[0, :, 0]) == 5.0
    assert np.max(batch.u[1, :, 0]) == 2.0


@pytest.mark.parametrize("threads", [1, 2])
def test_wrong_numbers_of_a_late_run_are_named(arm, threads) -> None:
    eom, law = arm
    p = np.repeat(np.asarray(eom.p)[None, :], 80, axis=0)
    p[75, eom.parameters.where("link2.mass")] = -1.0
    with pytest.raises(ModelError, match="link2.mass"):
        simulate_many(eom, law, x0=starts(80), p=p, threads=threads, **SPAN)


def test_a_guard_ends_its_own_run_only(arm) -> None:
    eom, _ = arm
    guard = Guard(name="half a radian", expression=lambda s: s["joint1"] - 0.5, direction=1)
    x0 = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, -1.0, 0.0]])
    batch = simulate_many(eom, x0=x0, guards=(guard,), **SPAN)
    assert batch.status == (Status.EVENT, Status.OK)
    one = simulate(eom, x0=x0[0], guards=(guard,), tier="native", **SPAN)
    assert batch.dataset["t_end"].values[0] == one.t[-1]
    np.testing.assert_array_equal(batch.x_end[0], one.x[-1])
    assert np.all(np.isnan(batch.x[0, -1])) and np.all(np.isfinite(batch.x[1]))


def test_a_guard_that_marks_a_failure_fails_its_run(arm) -> None:
    """Two guards end runs; only the one that marks a failure makes the batch fail, in runs that reach it."""
    eom, law = arm
    ends = {"direction": 1, "is_terminal": True}
    reached = Guard(name="reached", expression=lambda s: s["joint1"] - 0.2, **ends)
    lost = Guard(name="lost", expression=lambda s: s["joint1"] - 0.5, is_failure=True, **ends)
    starts = np.array([eom.state(joint1=0.0, joint1_dot=2.0), eom.state(joint1=0.3, joint1_dot=2.0)])
    batch = simulate_many(eom, None, x0=starts, t_span=(0.0, 0.3), guards=(reached, lost))
    assert batch.status == (Status.EVENT, Status.DIVERGED)
    assert not batch.outcome.is_success


def test_data_driven_runs_share_their_numbers(arm) -> None:
    eom, law = arm
    batch = simulate_many(eom, law, x0=starts(3), tier="data-driven", **SPAN)
    np.testing.assert_allclose(batch.x, simulate_many(eom, law, x0=starts(3), **SPAN).x, atol=1e-10)
    with pytest.raises(ModelError, match="unrolled native code"):
        simulate_many(eom, law, x0=starts(2), p=[{}, {}], tier="data-driven", **SPAN)


def test_saved_and_loaded(arm, tmp_path) -> None:
    eom, law = arm
    batch = simulate_many(eom, law, x0=starts(3), **SPAN)
    batch.save(tmp_path / "batch.nc")
    again = load_batch(tmp_path / "batch.nc")
    np.testing.assert_array_equal(again.x, batch.x)
    assert again.status == batch.status


def test_wrong_arguments_are_explained(arm) -> None:
    eom, law = arm
    with pytest.raises(ShapeError, match="3 rows of x0 for 2 runs|2 rows of p for 3 runs"):
        simulate_many(eom, law, x0=starts(3), p=[{}, {}], **SPAN)
    with pytest.raises(ModelError, match="ControlLaw"):
        simulate_many(eom, lambda t, x: np.zeros(2), x0=starts(2), **SPAN)
    with pytest.raises(ModelError, match="'vm'"):
        simulate_many(eom, law, x0=starts(2), tier="vm", **SPAN)


def test_a_system_without_inputs_can_run_many_times():
    body = RigidBody(name="body", mass=1.0, inertia=(1.0, 2.0, 2.5))
    eom = form_equations(System(name="spinner", parts=(Part(body, joint=Free(name="base")),)))
    states = [eom.state(**{"base.wx": 0.1 * k, "base.wz": 1.0}) for k in range(3)]
    batch = simulate_many(eom, None, x0=states, t_span=(0.0, 1.0))
    assert np.all(np.isfinite(np.asarray(batch.x)))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"threads": 0}, "threads is 0"),
        ({"threads": 2.5}, "threads is 2.5"),
        ({"threads": "all"}, "threads is 'all'"),
        ({"p": 3}, "p is 3"),
        ({"p": [{}, {"link2.mass": "heavy"}]}, "run 1: parameter 'link2.mass'"),
        ({"x0": 3.0}, r"x0 has shape \(\)"),
        ({"max_steps": 1.5}, "max_steps 1.5"),
        ({"max_steps": True}, "max_steps True"),
    ],
)
def test_wrong_arguments_are_refused(arm, wrong, match) -> None:
    eom, law = arm
    with pytest.raises(ModelError, match=match):
        simulate_many(eom, law, **{"x0": starts(2), **SPAN, **wrong})
