"""Linear models along motions: against nonlinear runs, differences, another model's plan, and at jumps of inputs."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import (
    BodyTorque,
    Free,
    FreeSpace,
    Labels,
    ModelError,
    Part,
    RigidBody,
    ShapeError,
    System,
    Trajectory,
    displace_state,
    form_equations,
    library,
    linearize,
    linearize_along,
    simulate,
    subtract_states,
)
from spacectl.linear.models.tangent import tangent_map

SYSTEMS = ("pendulum", "spherical_pendulum", "planar_arm", "orbiting_body", "free_flyer_arm")


def start(eom, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x)), rng.standard_normal(eom.n_u)


def error_rate(eom, x, u, reference, reference_dot) -> np.ndarray:
    """d/dt of the error state by central differences in time, error dt^2 and rounding / dt."""
    dt = 1e-5
    rate = eom.x_dot(0.0, x, u)
    ahead = subtract_states(eom, x + dt * rate, reference + dt * reference_dot)
    return (ahead - subtract_states(eom, x - dt * rate, reference - dt * reference_dot)) / (2.0 * dt)


@pytest.mark.parametrize("name", SYSTEMS)
def test_model_is_the_first_order_of_nonlinear_motion(name: str) -> None:
    """Perturbed minus reference run (rotation vectors for quaternions) against Phi(t) e0: the error is of order e0^2."""
    eom = form_equations(library.LIBRARY[name]())
    x0, u = start(eom)
    options = {"u": u, "t_span": (0.0, 1.0), "grid": 41, "rtol": 1e-12, "atol": 1e-14}
    sim = simulate(eom, x0=x0, **options)
    model = linearize_along(eom, sim, outputs=())
    direction = np.random.default_rng(2).standard_normal(2 * eom.n_v)
    predicted = model.transition(substeps=4) @ direction
    misses = []
    for size in (4e-3, 1e-3):
        other = simulate(eom, x0=displace_state(eom, x0, size * direction), **options)
        errors = subtract_states(eom, other.x, sim.x)
        misses.append(np.max(np.abs(errors - size * predicted)))
    # a quarter of the size leaves a sixteenth of the miss; a first-order fault would leave a quarter
    assert misses[1] < misses[0] / 12.0
    assert misses[1] < 5e-2 * np.max(np.abs(1e-3 * predicted))


@pytest.mark.parametrize("name", SYSTEMS)
def test_matrices_equal_central_differences_along_a_motion(name: str) -> None:
    eom = form_equations(library.LIBRARY[name]())
    x0, u = start(eom)
    sim = simulate(eom, x0=x0, u=u, t_span=(0.0, 1.0), grid=4)
    model = linearize_along(eom, sim)
    n, h = eom.n_v, 1e-5
    for k in range(4):
        x, point = sim.x[k], model.at(float(sim.t[k]))
        for column in np.eye(2 * n):
            high, low = (displace_state(eom, x, sign * h * column) for sign in (1.0, -1.0))
            rate = (eom.x_dot(0.0, high, u) - eom.x_dot(0.0, low, u))[eom.n_q :] / (2 * h)
            expected = np.asarray(point.A)[n:] @ column
            # differences: h^2 times third derivatives, and rounding / h = 1e-11
            np.testing.assert_allclose(rate, expected, atol=1e-7 * max(1.0, np.max(np.abs(point.A[n:]))))
        assert np.all(np.asarray(point.A)[:n, n:] == np.eye(n))
        np.testing.assert_allclose(point.A, linearize(eom, x, u, check=False).A, atol=1e-13 * np.max(np.abs(point.A)))
        np.testing.assert_allclose(point.C, linearize(eom, x, u, check=False).C, atol=1e-13)


def test_attitude_rows_hold_for_references_that_break_their_own_kinematics() -> None:
    """Rates of the error by differences in time and error, with reference speeds that are not those it turns with."""
    eom = form_equations(library.orbiting_body(rate=0.2))
    rng = np.random.default_rng(5)
    x, u = start(eom, 3)
    x_dot = rng.standard_normal(eom.n_x)
    x_dot[:4] -= x[:4] * (x[:4] @ x_dot[:4])  # keeps the norm
    model = linearize_along(eom, ([0.0], [x], [u]), x_dot=[x_dot]).at(0.0)
    np.testing.assert_allclose(error_rate(eom, x, u, x, x_dot), model.point["drift"], atol=1e-9)  # dt^2 and 1e-16 / dt
    h = 1e-3
    for k, column in enumerate(np.eye(12)):
        high, low = (error_rate(eom, displace_state(eom, x, sign * h * column), u, x, x_dot) for sign in (1.0, -1.0))
        # h^2 / 12 times |Omega| of order one, and rounding 1e-16 / (dt h) = 1e-8
        np.testing.assert_allclose((high - low) / (2 * h), model.A[:, k], atol=2e-6)
    solution = linearize_along(eom, ([0.0], [x], [u])).at(0.0)
    assert np.max(np.abs(np.asarray(model.A)[:3, :3] - np.asarray(solution.A)[:3, :3])) > 0.1  # the cases do differ
    np.testing.assert_array_equal(solution.point["drift"], np.zeros(12))


def test_drift_predicts_how_a_plan_of_another_model_is_missed() -> None:
    """The reference is a run with a heavier payload; the true plant leaves it as A and c say, to second order."""
    eom = form_equations(library.free_flyer_arm())
    x0, u = start(eom, 4)
    misses, sizes = [], []
    for change in (0.04, 0.01):
        p = eom.parameters.vector({"payload.mass": 50.0 * (1.0 + change)})
        options = {"u": u, "x0": x0, "t_span": (0.0, 1.0), "grid": 41, "rtol": 1e-12, "atol": 1e-14}
        plan, run = simulate(eom, p=p, **options), simulate(eom, **options)
        x_dot = eom.along("x_dot", plan.t, plan.x, plan.u, p)
        model = linearize_along(eom, plan, x_dot=x_dot, outputs=())

        def rate(t: float, e: np.ndarray, model=model) -> np.ndarray:
            point = model.at(t)
            return np.asarray(point.A) @ e + np.asarray(point.point["drift"])

        e = solve_ivp(rate, (0.0, 1.0), np.zeros(26), rtol=1e-8, atol=1e-12).y[:, -1]
        truth = subtract_states(eom, run.x[-1], plan.x[-1])
        misses.append(np.max(np.abs(truth - e)))
        sizes.append(np.max(np.abs(truth)))
    assert misses[1] < misses[0] / 12.0 and misses[1] < 0.02 * sizes[1]


@pytest.mark.parametrize("name", library.LIBRARY)
def test_error_states_are_differences_on_the_manifold(name: str) -> None:
    """Adding an error and taking the difference gives it back; q and -q are one attitude; symbols give the same."""
    eom = form_equations(library.LIBRARY[name]())
    reference, _ = start(eom, 8)
    error = np.random.default_rng(9).standard_normal(2 * eom.n_v)  # rotation vectors below pi
    x = displace_state(eom, reference, error)
    np.testing.assert_allclose(subtract_states(eom, x, reference), error, atol=1e-14)
    for k in eom.quaternions:
        x[k : k + 4] *= -1.0
    np.testing.assert_allclose(subtract_states(eom, x, reference), error, atol=1e-14)
    s = ca.SX.sym("s", eom.n_x)
    f = ca.Function("f", [s], [subtract_states(eom, s, reference), ca.jacobian(subtract_states(eom, s, reference), s)])
    np.testing.assert_allclose(np.array(f(x)[0])[:, 0], error, atol=1e-14)
    np.testing.assert_array_equal(
        subtract_states(eom, np.stack([x, reference]), reference)[0], subtract_states(eom, x, reference)
    )
    # smooth at zero error: there the derivative is the inverse of the tangent map
    slopes, W = np.array(f(reference)[1]), tangent_map(eom, reference[: eom.n_q])
    np.testing.assert_allclose(slopes[: eom.n_v, : eom.n_q] @ W, np.eye(eom.n_v), atol=1e-14)


def turntable() -> System:
    """A body pushed by a torque fixed in world axes, so that A depends on the input."""
    body = RigidBody(name="body", mass=10.0, inertia=(2.0, 3.0, 4.0))
    torque = BodyTorque(name="push", on="body", direction="x", axes="world")
    return System(
        name="turntable", environment=FreeSpace(), parts=(Part(body, joint=Free(name="base")),), actuators=(torque,)
    )


def test_a_jump_of_the_input_keeps_both_values() -> None:
    eom = form_equations(turntable())
    t = np.linspace(0.0, 1.0, 11)
    x = np.tile(eom.state(**{"base.wy": 0.4}), (11, 1))
    held = Trajectory(
        t=[0.0, 0.5, 0.8], values=[[1.0], [-2.0], [-2.0]], labels=Labels(("push",), ("N m",)), interpolation="previous"
    )
    by_table = linearize_along(eom, (t, x), u=held)
    u = np.where(t[:, None] < 0.5, 1.0, -2.0)
    by_breaks = linearize_along(eom, (t, x, u), breaks=(0.5,))
    twice = np.insert(t, 5, 0.5)
    by_times = linearize_along(eom, (twice, np.insert(x, 5, x[5], axis=0), np.insert(u, 5, 1.0, axis=0)))
    for model in (by_table, by_breaks, by_times):
        assert model.breaks == (0.5,) and model.A.shape == (12, 12, 12)
        for side, push in (("left", 1.0), ("right", -2.0)):
            expected = linearize(eom, x[0], [push], check=False)
            np.testing.assert_array_equal(model.at(0.5, side=side).A, expected.A)
            assert model.at(0.5, side=side).point["u"][0] == push
        np.testing.assert_allclose(model.at(0.49).A, linearize(eom, x[0], [1.0], check=False).A, atol=1e-15)
    assert np.max(np.abs(np.asarray(by_table.at(0.5, side="left").A) - np.asarray(by_table.at(0.5).A))) > 0.1
    assert by_table.transition().shape == (12, 12, 12)


def test_models_between_the_times_are_of_order_four() -> None:
    eom = form_equations(library.pendulum())
    fine = simulate(eom, x0={"hinge": 1.0, "hinge_dot": 2.0}, t_span=(0.0, 1.0), grid=161, rtol=1e-12, atol=1e-14)
    misses = []
    for every in (16, 8):
        model = linearize_along(eom, (fine.t[::every], fine.x[::every], fine.u[::every]))
        exact = [linearize(eom, x, check=False).A for x in fine.x]
        misses.append(max(np.max(np.abs(np.asarray(model.at(t).A) - A)) for t, A in zip(fine.t, exact, strict=True)))
    assert misses[1] < misses[0] / 10.0  # 16 for order 4, less near the ends


def test_transition_is_the_solution_of_the_linear_equations() -> None:
    """Against an independent integration of the pendulum's variational equation along its own swing."""
    eom = form_equations(library.pendulum(mass=2.0, length=1.2))
    ratio = 1.5 * 9.80665 / 1.2  # a rod swings with theta'' = -3 g / (2 l) sin(theta)
    motion = solve_ivp(
        lambda _, s: [s[1], -ratio * np.sin(s[0]), s[3], -ratio * np.cos(s[0]) * s[2], s[5], -ratio * np.cos(s[0]) * s[4]],
        (0.0, 2.0), [1.0, 0.5, 1.0, 0.0, 0.0, 1.0], t_eval=np.linspace(0.0, 2.0, 101), rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    model = linearize_along(eom, (motion.t, motion.y[:2].T, np.zeros((101, 1))))
    expected = np.array([[motion.y[2], motion.y[4]], [motion.y[3], motion.y[5]]]).transpose(2, 0, 1)
    # spline and Magnus error: (w h)^4 / 100 with w h = 0.07
    np.testing.assert_allclose(model.transition(substeps=2), expected, atol=2e-6 * np.max(np.abs(expected)))


def test_names_choose_inputs_outputs_and_disturbances_along_a_motion() -> None:
    eom = form_equations(library.free_flyer_arm())
    x0, u = start(eom)
    sim = simulate(eom, x0=x0, u=u, t_span=(0.0, 0.1), grid=3)
    options = {"inputs": ("joint3",), "disturbances": ("joint7",), "outputs": ("hand.x", "joint2")}
    model = linearize_along(eom, sim, **options)
    point, expected = model.at(0.05), linearize(eom, sim.x[1], u, check=False, **options)
    for letter in "ABCDE":
        np.testing.assert_allclose(getattr(point, letter), getattr(expected, letter), atol=1e-12)
    assert point.y == expected.y and point.d == expected.d and point.u == expected.u
    order = [2, 0, 1, *range(3, eom.n_x)]  # columns by name, not by place
    labels = Labels(tuple(eom.states[i] for i in order))
    table = Trajectory(t=sim.t, values=sim.x[:, order], labels=labels)
    np.testing.assert_allclose(linearize_along(eom, table, u=sim.u, **options).A, model.A, atol=1e-15)


def test_wrong_references_are_explained() -> None:
    eom = form_equations(library.orbiting_body())
    x = np.tile(eom.state(), (3, 1))
    with pytest.raises(ShapeError, match="x has shape"):
        linearize_along(eom, ([0.0, 1.0, 2.0], x[:, :12]))
    with pytest.raises(ModelError, match="quaternion 'base.qw' has norm 2 at t = 1"):
        linearize_along(eom, ([0.0, 1.0, 2.0], x * np.array([[1.0], [2.0], [1.0]])))
    with pytest.raises(ModelError, match="jumps at t = 0.5 s, which is not a time of the reference"):
        linearize_along(eom, ([0.0, 1.0, 2.0], x), breaks=(0.5,))
    with pytest.raises(ModelError, match="times must increase"):
        linearize_along(eom, ([0.0, 2.0, 1.0], x))
    with pytest.raises(ModelError, match="'base.y' jumps at t = 1 s"):
        linearize_along(eom, ([0.0, 1.0, 1.0], x + np.eye(3, 13, 4)))
    with pytest.raises(ModelError, match="expected a Trajectory"):
        linearize_along(eom, 3.0)
    with pytest.raises(ModelError, match="outside 0 to 2 s"):
        linearize_along(eom, ([0.0, 1.0, 2.0], x)).at(2.5)
