"""Linear models against derivations by hand and against central differences; points that are not balanced."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from spacectl import (
    BodyTorque,
    Free,
    FreeSpace,
    JointTorque,
    Part,
    ReactionWheel,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    displace_state,
    find_operating_point,
    form_equations,
    library,
    linearize,
)
from tests.oracles import linear_models

FORMULATIONS = ("articulated", "kane")


def arm(mass: float, length: float, g: float) -> System:
    inertia = mass * length**2 / 12.0
    links = [
        RigidBody(name=f"link{i}", mass=mass, inertia=(0.0, inertia, inertia), com=(length / 2, 0.0, 0.0))
        for i in (1, 2)
    ]
    return System(
        name="arm",
        environment=UniformGravity(g=(0.0, -g, 0.0)),
        parts=(
            Part(links[0], joint=Revolute(name="shoulder", axis="z")),
            Part(links[1], on="link1", at=(length, 0.0, 0.0), joint=Revolute(name="elbow", axis="z")),
        ),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_bent_arm_under_gravity(formulation: str) -> None:
    eom = form_equations(arm(1.3, 0.9, 9.81), formulation=formulation)
    point = find_operating_point(eom, q={"shoulder": 0.4, "elbow": -1.1})
    v_dot, A, B = linear_models.two_link((0.4, -1.1), (0.0, 0.0), tuple(point.u), 1.3, 0.9, 9.81)
    np.testing.assert_allclose(v_dot, 0.0, atol=1e-9)  # the same torques hold it; the search stops at 1e-10 of 30
    model = linearize(eom, point)
    np.testing.assert_allclose(model.A, A, atol=1e-12 * np.max(np.abs(A)))
    np.testing.assert_allclose(model.B, B, atol=1e-12 * np.max(np.abs(B)))
    # and in motion, with any torques
    v_dot, A, B = linear_models.two_link((-0.7, 2.0), (1.5, -2.5), (3.0, -1.0), 1.3, 0.9, 9.81)
    moving = linearize(eom, [-0.7, 2.0, 1.5, -2.5], [3.0, -1.0], check=False)
    np.testing.assert_allclose(moving.A, A, atol=1e-12 * np.max(np.abs(A)))
    np.testing.assert_allclose(moving.point["v_dot"], v_dot, atol=1e-12 * np.max(np.abs(v_dot)))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_body_in_orbit_has_the_textbook_equations(formulation: str) -> None:
    inertia, n = (80.0, 120.0, 95.0), 1.07e-3
    eom = form_equations(library.orbiting_body(inertia=inertia, rate=n), formulation=formulation)
    model = linearize(eom, eom.state())
    expected = linear_models.body_in_orbit(inertia, n)
    np.testing.assert_allclose(model.A, expected, atol=1e-13 * n)
    np.testing.assert_allclose(np.asarray(model.B)[6:9], np.diag(1.0 / np.array(inertia)), rtol=1e-14, atol=1e-18)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_spacecraft_with_momentum_bias(formulation: str) -> None:
    inertia, wheel, spin, turn = (40.0, 55.0, 60.0), 0.2, 300.0, 0.07
    body = RigidBody(name="bus", mass=100.0, inertia=inertia)
    system = System(
        name="momentum bias",
        environment=FreeSpace(),
        parts=(Part(body, joint=Free(name="base")),),
        actuators=(
            *(BodyTorque(name=f"torque_{axis}", on="bus", direction=axis) for axis in "xyz"),
            ReactionWheel(name="wheel", on="bus", axis="y", inertia=wheel),
        ),
    )
    eom = form_equations(system, formulation=formulation)
    point = find_operating_point(eom, v={"base.wy": turn, "wheel_dot": spin})
    model = linearize(eom, point)
    states = ("base.rx", "base.ry", "base.rz", "wheel", "base.wx", "base.wy", "base.wz", "wheel_dot")
    rows = [model.x.index(name) for name in states]
    A, B = linear_models.momentum_bias(inertia, wheel, spin, turn)
    np.testing.assert_allclose(np.asarray(model.A)[np.ix_(rows, rows)], A, atol=1e-13 * np.max(np.abs(A)))
    np.testing.assert_allclose(np.asarray(model.B)[rows], B, atol=1e-13 * np.max(np.abs(B)))


def far_from_trim(eom, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x))
    if eom.system.name == "wheel spacecraft":
        x[eom.labels.x.index("base.x")] += 7e6
    return x, rng.standard_normal(eom.n_u)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", library.LIBRARY)
def test_every_matrix_equals_central_differences(name: str, formulation: str) -> None:
    """A, B, C, D and the disturbance map E, for speeds, sensors and chosen inputs of every ready system."""
    eom = form_equations(library.LIBRARY[name](), formulation=formulation)
    x, u = far_from_trim(eom, 7)
    n = eom.n_v
    pushes = eom.inputs[-1:]
    sensed = eom.labels.y.names
    model = linearize(eom, x, u, disturbances=pushes, outputs=sensed, check=False)
    commanded = [k for k, item in enumerate(eom.inputs) if item not in pushes]

    def rates(state: np.ndarray, command: np.ndarray) -> np.ndarray:
        y = eom.outputs(0.0, state, command) if eom.n_y else np.zeros(0)
        return np.concatenate([eom.x_dot(0.0, state, command)[eom.n_q :], y])

    size = np.ones(2 * n)  # of steps, so that positions of 7e6 m keep their digits
    if name == "wheel_spacecraft":
        size[[model.x.index(f"base.{axis}") for axis in "xyz"]] = 1e3
    h = 1e-5 * size
    by_x = np.stack(
        [
            (rates(displace_state(eom, x, h[k] * e), u) - rates(displace_state(eom, x, -h[k] * e), u)) / (2 * h[k])
            for k, e in enumerate(np.eye(2 * n))
        ],
        axis=1,
    )
    by_u = np.zeros((n + eom.n_y, eom.n_u))
    for k, e in enumerate(np.eye(eom.n_u)):
        by_u[:, k] = (rates(x, u + e) - rates(x, u - e)) / 2.0  # linear in u: any step is exact

    def check(found: object, expected: np.ndarray) -> None:
        # differences: 1e-10 times third derivatives, rounding / h = 1e-11; relative to the largest entry
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-7 * scale)

    check(np.asarray(model.A)[n:], by_x[:n])
    check(model.C, by_x[n:])
    check(np.asarray(model.B)[n:], by_u[:n][:, commanded])
    check(model.D, by_u[n:][:, commanded])
    check(np.asarray(model.E)[n:], by_u[:n][:, len(commanded) :])
    assert model.d.names == pushes and model.E.shape == (2 * n, len(pushes))


def test_an_unbalanced_point_warns_with_the_names_of_its_speeds() -> None:
    eom = form_equations(arm(1.0, 1.0, 9.81))
    with pytest.warns(UserWarning, match="not balanced.*'elbow_dot' by .* rad/s\\^2.*find_operating_point"):
        linearize(eom, eom.state(shoulder=0.3))
    point = find_operating_point(eom, q={"shoulder": 0.3})
    spinning = form_equations(library.orbiting_body(rate=1e-3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linearize(eom, point)
        linearize(eom, point.x, point.u)
        linearize(eom, eom.state(shoulder=0.3), check=False)
        linearize(spinning, spinning.state())
    with pytest.warns(UserWarning, match="'base.wz' by"):  # gravity gradient of 1e-7 rad/s^2 counts: that is its scale
        linearize(spinning, spinning.state(**{"base.qz": 0.1}))
    failed = find_operating_point(eom, q={"shoulder": 0.3}, u={"elbow": 0.0}, check=False)
    with pytest.warns(UserWarning, match="not balanced"):
        linearize(eom, failed)
