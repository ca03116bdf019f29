"""A sensor of one's own: a range finder, the distance between two points and its rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from spacectl import (
    Acceleration,
    Beam,
    CircularOrbit,
    ControlLaw,
    Free,
    JointTorque,
    Part,
    Revolute,
    RigidBody,
    System,
    form_equations,
    linearize,
    load_system,
    register,
    save_system,
    simulate,
    write_report,
)
from spacectl.core.array import as_array
from spacectl.core.control_law import make_law
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.model.description import Number, set_field, unless_trivial
from spacectl.model.sensors import SensedMotion, Sensor
from spacectl.spatial.backend import cross, dot, sqrt, stack

FORMULATIONS = ("kane", "articulated", "embedded", "multipliers", "udwadia_phohomsiri")


@register
@dataclass(frozen=True, kw_only=True)
class RangeFinder(Sensor):
    """Distance from a point of `seen_from`, at `base` in its axes, to the point of `on` [m], and its rate."""

    base: Any = (0.0, 0.0, 0.0)

    suffixes: ClassVar[tuple[str, ...]] = (".range", ".closing")

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "base", as_array(self.base, (3,), "base"))

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "base": unless_trivial(self.base)}

    def value(self, motion: SensedMotion) -> Any:
        r = motion.position - motion.axes @ motion.numbers["base"]
        distance = sqrt(dot(r, r))
        return stack(distance, dot(r, motion.velocity) / distance)


FINDER = RangeFinder(name="lidar", on="boom.tip", at=(0.1, 0.0, 0.2), seen_from="hub", base=(-0.5, 0.3, 0.0))


def craft(*sensors: Sensor) -> System:
    boom = Beam(name="boom", length=3.0, mass=1.0, EI=15.0, bending=("y", "z"), modes=1)
    parts = (
        Part(RigidBody(name="hub", mass=10.0, inertia=(2.0, 3.0, 4.0)), joint=Free(name="hub")),
        Part(boom, on="hub", at=(0.5, 0.0, 0.0), joint=Revolute(name="root", axis="z")),
    )
    return System(
        name="craft", parts=parts, sensors=sensors or (FINDER,), actuators=(JointTorque(joint="root"),),
        environment=CircularOrbit(rate=0.3),
    )  # fmt: skip


def distance(eom: Any, q: np.ndarray) -> float:
    """From the placements of the bodies and the shapes of the beam."""
    body = eom.system.part("boom").body
    frame = next(item for item in body.frames if item.name == "tip")
    shapes = body.shapes_at(np.asarray(frame.at))
    eta = q[[eom.coordinates.index(name) for name in eom.coordinates if name.startswith("boom.")]]
    hub, boom = (row for row in eom.placements(0.0, q))
    at = np.asarray(frame.at) + shapes.Phi @ eta - 0.5 * np.einsum("ajk,j,k->a", shapes.G, eta, eta)
    theta = shapes.Psi @ eta
    cross_matrix = np.array([[0, -theta[2], theta[1]], [theta[2], 0, -theta[0]], [-theta[1], theta[0], 0]])
    at = at + (np.eye(3) + cross_matrix) @ np.array([0.1, 0.0, 0.2])  # to first order in the slopes
    far = boom[9:] + boom[:9].reshape(3, 3) @ at
    near = hub[9:] + hub[:9].reshape(3, 3) @ np.array([-0.5, 0.3, 0.0])
    return float(np.linalg.norm(far - near))


def test_it_measures_the_distance_in_every_formulation() -> None:
    rng = np.random.default_rng(0)
    reference = form_equations(craft())
    x = reference.state(rng.standard_normal(reference.n_x))
    x[[reference.states.index(name) for name in ("boom.eta1", "boom.eta2")]] *= 1e-3
    q, v = x[: reference.n_q], x[reference.n_q :]
    expected, h = distance(reference, q), 1e-6
    W = reference.call("q_dot", 0.0, q, v)[0].reshape(-1)
    ahead, behind = (distance(reference, q + side * h * W) for side in (1.0, -1.0))
    for formulation in FORMULATIONS:
        eom = form_equations(craft(), formulation=formulation)
        y = np.ravel(eom.call("sensors", 0.0, x)[0])
        assert eom.labels.y.names == ("lidar.range", "lidar.closing")
        assert y == pytest.approx(
            [expected, (ahead - behind) / (2.0 * h)], rel=1e-4
        )  # the reference has slopes to first order


def test_linear_output_equals_central_differences() -> None:
    system = replace(craft(), parts=(replace(craft().parts[0], joint=Revolute(name="hub", axis="y")), craft().parts[1]))
    eom, h = form_equations(system), 1e-6
    x = np.array([0.2, -0.4, 0.01, 0.02, 0.3, 0.1, 0.05, -0.02])
    model = linearize(eom, x, check=False)
    C = [
        (eom.call("sensors", 0.0, x + h * d)[0] - eom.call("sensors", 0.0, x - h * d)[0]) / (2.0 * h) for d in np.eye(8)
    ]
    assert model.y.names == ("lidar.range", "lidar.closing")
    assert np.allclose(model.C, np.array(C).reshape(8, 2).T, atol=1e-8)


def feedback(eom: Any) -> ControlLaw:
    """The joint follows the range."""
    return make_law(
        lambda s: [0.3 * (s["lidar.range"] - 3.5) + 0.1 * s["lidar.closing"]],
        name="follow", states=eom.labels.x, inputs=Labels(("root",), ("N m",), "input"), measurements=eom.labels.y,
    )  # fmt: skip


def test_it_is_fed_back_in_all_tiers_and_reported(tmp_path: Path) -> None:
    eom = form_equations(craft())
    runs = [
        simulate(eom, feedback(eom), x0=eom.state(root=0.4), t_span=(0.0, 3.0), tier=tier, grid=7)
        for tier in ("native", "vm", "callback")
    ]
    for run in runs[1:]:
        assert np.allclose(run.y, runs[0].y, atol=1e-7)
    assert np.ptp(runs[0]["lidar.range"]) > 1e-3
    assert "lidar" in write_report(runs[0], tmp_path / "craft.html").read_text(encoding="utf-8")


def test_files_and_numbers(tmp_path: Path) -> None:
    system = craft()
    assert load_system(save_system(system, tmp_path / "craft.toml")) == system
    eom = form_equations(system)
    moved = form_equations(craft(replace(FINDER, base=(-0.5, 0.4, 0.0))))
    p = eom.parameters.vector({"lidar.base": (-0.5, 0.4, 0.0)})
    assert np.allclose(eom.call("sensors", 0.0, eom.x_rest, p=p)[0], moved.call("sensors", 0.0, moved.x_rest)[0])


@dataclass(frozen=True, kw_only=True)
class Accelerometer(Sensor):
    """Size of the acceleration, in which the rotation of the sensor does not count."""

    suffixes: ClassVar[tuple[str, ...]] = ("",)
    unit: ClassVar[str] = "m/s^2"

    def value(self, motion: SensedMotion) -> Any:
        a = motion.acceleration() + 0.0 * cross(motion.angular_velocity, motion.position)
        return sqrt(dot(a, a))


def test_accelerations_are_outputs_only() -> None:
    body = (Accelerometer(name="size", on="boom.tip"), Acceleration(name="a", on="boom.tip"))
    eom = form_equations(craft(*body))
    sim = simulate(eom, x0=eom.state(root_dot=0.5), u=[0.3], t_span=(0.0, 0.2), grid=3)
    assert sim["size"] == pytest.approx(np.sqrt(sim["a.x"] ** 2 + sim["a.y"] ** 2 + sim["a.z"] ** 2), rel=1e-10)
    with pytest.raises(ModelError, match="sensor 'size': an acceleration depends on the inputs"):
        eom.call("sensors", 0.0, eom.x_rest)


@dataclass(frozen=True, kw_only=True)
class Short(Sensor):
    """One value for three suffixes."""

    def value(self, motion: SensedMotion) -> Any:
        return motion.position[0]


@dataclass(frozen=True, kw_only=True)
class Silent(Sensor):
    """Says nothing."""


def test_what_is_missing_is_said() -> None:
    for sensor, message in (
        (Short(name="s", on="hub"), "one for each of its suffixes"),
        (Silent(name="s", on="hub"), r"define value\(motion\)"),
    ):
        eom = form_equations(craft(sensor))
        with pytest.raises(ModelError, match=message):
            eom.call("sensors", 0.0, eom.x_rest)
