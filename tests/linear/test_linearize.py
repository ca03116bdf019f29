"""Linear models: two formulations, differences on the attitude manifold, textbook eigenvalues, names."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import ModelError, ShapeError, SolverError, form_equations, library
from spacectl.linear.linearize import linearize
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.tangent import tangent_map
from spacectl.linear.operating_point import find_operating_point
from spacectl.spatial.rotation import rotation_from_quaternion, rotation_vector
from tests.oracles.mechanics import gravity_gradient


def random_point(eom, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x))
    if type(eom.system.environment).__name__ == "CentralGravity":
        x[eom.labels.x.index("base.x")] += 7e6
    return x, rng.standard_normal(eom.n_u)


@pytest.mark.parametrize("name", library.LIBRARY)
def test_formulations_give_the_same_model(name: str) -> None:
    system = library.LIBRARY[name]()
    a, b = (form_equations(system, formulation=kind) for kind in ("articulated", "kane"))
    x, u = random_point(a)
    one, two = linearize(a, x, u), linearize(b, x, u)
    for letter in "ABCD":
        expected = np.asarray(getattr(two, letter))
        size = np.max(np.abs(expected), initial=1.0)
        # rounding times the condition number of M, below 1e4 here
        np.testing.assert_allclose(np.asarray(getattr(one, letter)), expected, atol=1e-11 * size)
    assert len(one.x) == 2 * a.n_v


def test_model_predicts_small_motions_on_the_attitude_manifold() -> None:
    """Central differences of the flow's rate in error coordinates: rotation vector in body axes, not quaternions."""
    eom = form_equations(library.free_flyer_arm())
    x, u = random_point(eom, 2)
    model = linearize(eom, x, u)
    n, h = eom.n_v, 1e-6
    base_rate = eom.x_dot(0.0, x, u)

    def displaced(k: int, step: float) -> np.ndarray:
        y = x.copy()
        if k < n:
            y[: eom.n_q] += tangent_map(eom, x[: eom.n_q])[:, k] * step
            return eom.state(y)
        y[eom.n_q + k - n] += step
        return y

    columns = [
        (eom.x_dot(0.0, displaced(k, h), u) - eom.x_dot(0.0, displaced(k, -h), u)) / (2 * h) for k in range(2 * n)
    ]
    numeric = np.stack(columns, axis=1)[eom.n_q :]
    np.testing.assert_allclose(np.asarray(model.A)[n:], numeric, atol=1e-7 * np.max(np.abs(numeric)))

    def error(y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Rotation vector (body axes of z) and coordinate differences of y from z."""
        R = rotation_from_quaternion(z[:4]).T @ rotation_from_quaternion(y[:4])
        return np.concatenate([rotation_vector(R), y[4 : eom.n_q] - z[4 : eom.n_q]])

    # the kinematic rows, from two neighbouring motions over a short time dt
    dt = 1e-5
    for k in range(2 * n):
        step = 1e-4
        moved = displaced(k, step)
        ahead = moved + dt * eom.x_dot(0.0, moved, u)
        reference = x + dt * base_rate
        rate = (error(eom.state(ahead), eom.state(reference)) - error(moved, x)) / dt / step
        np.testing.assert_allclose(rate, np.asarray(model.A)[:n, k], atol=2e-3)  # first order in step and dt


def test_eigenvalues_of_a_body_in_orbit_are_the_textbook_ones() -> None:
    inertia, rate = (80.0, 100.0, 120.0), 1.1e-3  # stable: pitch > roll > yaw
    eom = form_equations(library.orbiting_body(inertia=inertia, rate=rate))
    model = linearize(eom, eom.state())
    attitude = [model.x.index(name) for name in ("base.rx", "base.ry", "base.rz", "base.wx", "base.wy", "base.wz")]
    poles = np.linalg.eigvals(np.asarray(model.A)[np.ix_(attitude, attitude)])
    found = np.sort(np.abs(poles.imag))[::2]
    # radial x is the yaw axis, along-track y the roll axis, the orbit normal z the pitch axis
    pitch = gravity_gradient.pitch_frequency(*inertia, rate)
    expected = np.sort([pitch, *gravity_gradient.roll_yaw_frequencies(*inertia, rate)])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert np.max(np.abs(poles.real)) < 1e-9 * rate


def test_sensitivities_are_derivatives_of_A() -> None:
    eom = form_equations(library.planar_arm())
    x, u = random_point(eom)
    model = linearize(eom, x, u, sensitivities=("link2.mass", "link1.com"))
    h = 1e-5
    high, low = (
        np.asarray(linearize(eom, x, u, p=eom.parameters.vector({"link2.mass": 1.0 + step})).A) for step in (h, -h)
    )
    np.testing.assert_allclose(model.sensitivities["link2.mass"][:, :, 0], (high - low) / (2 * h), atol=1e-7)
    assert model.sensitivities["link1.com"].shape == (4, 4, 3)


def test_inputs_outputs_and_disturbances_by_name() -> None:
    eom = form_equations(library.free_flyer_arm())
    model = linearize(
        eom, eom.state(), inputs=("joint3", "joint1"), disturbances=("joint7",), outputs=("hand.x", "joint2")
    )
    assert model.u.names == ("joint3", "joint1") and model.d.names == ("joint7",)
    assert model.y.names == ("hand.x", "joint2") and model.y.units == ("m", "rad")
    assert np.asarray(model.C)[1, model.x.index("joint2")] == 1.0
    small = model.select(inputs=("joint1",), outputs=("joint2",))
    np.testing.assert_array_equal(small.B[:, 0], np.asarray(model.B)[:, 1])
    response = small.frequency_response([0.5, 2.0])
    assert response.shape == (2, 1, 1)


def test_hand_over_to_python_control_and_back() -> None:
    control = pytest.importorskip("control")
    eom = form_equations(library.planar_arm())
    model = linearize(eom, eom.state(joint2=0.4))
    other = model.to_control()
    assert isinstance(other, control.StateSpace)
    assert other.state_labels[:2] == ["joint1", "joint2"]
    again = LinearModel.from_control(other)
    for letter in "ABCD":
        np.testing.assert_array_equal(np.asarray(getattr(again, letter)), np.asarray(getattr(model, letter)))


def test_operating_points_of_a_pendulum() -> None:
    eom = form_equations(library.pendulum(mass=2.0, length=1.5))
    held = find_operating_point(eom, q={"hinge": 0.5})
    assert held.u[0] == pytest.approx(2.0 * 9.80665 * 0.75 * np.sin(0.5), rel=1e-12)
    hanging = find_operating_point(eom, u={"hinge": 3.0}, free=("hinge",))
    assert hanging.x[0] == pytest.approx(np.arcsin(3.0 / (2.0 * 9.80665 * 0.75)), rel=1e-10)
    with pytest.raises(SolverError, match="no input balances 'hinge_dot'") as caught:
        find_operating_point(eom, q={"hinge": 0.5}, u={"hinge": 0.0})
    assert caught.value.partial.outcome.status == "failed"
    with pytest.raises(ModelError, match="did you mean 'hinge'"):
        find_operating_point(eom, free=("hing",))


def test_steady_spin_is_an_operating_point() -> None:
    eom = form_equations(library.orbiting_body(rate=1e-9))
    point = find_operating_point(eom, v={"base.wz": 0.3})
    assert np.max(np.abs(point.u)) < 1e-12
    model = linearize(eom, point)
    # a spin about the intermediate axis (80, 120, 100) is unstable: sqrt((I3 - I1)(I2 - I3) / (I1 I2)) * spin
    growth = 0.3 * np.sqrt((100.0 - 80.0) * (120.0 - 100.0) / (80.0 * 120.0))
    assert np.max(model.poles.real) == pytest.approx(growth, rel=1e-6)


def test_wrong_points_are_explained() -> None:
    eom = form_equations(library.orbiting_body())
    with pytest.raises(ShapeError, match="expected \\(13,\\)"):
        linearize(eom, np.zeros(12))
    with pytest.raises(ModelError, match="quaternion 'base.qw'"):
        linearize(eom, np.zeros(13))
