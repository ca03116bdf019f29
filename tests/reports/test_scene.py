"""The replay shows what the equations say: poses, deflections, tethers and arrows, from independent formulas."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Beam,
    BodyForce,
    CircularOrbit,
    Fixed,
    Free,
    JointTorque,
    ModalBody,
    Part,
    Plate,
    Position,
    Revolute,
    RigidBody,
    Shape,
    Simulation,
    System,
    Tether,
    UniformGravity,
    form_equations,
    load_simulation,
    simulate,
)
from spacectl.core.errors import ModelError
from spacectl.reports.arrays import unpack, unpack_tracks
from spacectl.reports.scene.framing import find_cloud
from spacectl.reports.scene.loads import find_arrows, find_lines
from spacectl.reports.scene.looks import rigid_looks, rigid_solid
from spacectl.reports.scene.motion import deflection, find_motion
from spacectl.reports.scene.scene import SHOWN, page_replay, replay_of
from spacectl.reports.scene.solids import arrow, box, cylinder, ellipsoid, ring, skin_of


def flexible_arm() -> System:
    boom = Beam(name="boom", length=4.0, mass=8.0, EI=900.0, modes=2)
    hand = RigidBody(name="hand", mass=3.0, inertia=(0.1, 0.2, 0.2), com=(0.3, 0.0, 0.0))
    return System(
        name="flexible arm",
        parts=(
            Part(boom, joint=Revolute(name="shoulder", axis="z")),
            Part(hand, on="boom.tip", joint=Revolute(name="wrist", axis="z")),
        ),
        actuators=(JointTorque(joint="shoulder"), BodyForce(name="jet", on="boom.tip", direction="y")),
        sensors=(Position(name="tip", on="boom.tip"),),
    )


@pytest.fixture(scope="module")
def flown() -> Simulation:
    eom = form_equations(flexible_arm())
    return simulate(
        eom, x0={"shoulder_dot": 0.4}, u=[5.0, -2.0], t_span=(0.0, 2.0), grid=41, driver="python", rtol=1e-6
    )


def test_a_frame_on_a_bent_beam_is_where_the_sensor_sees_it(flown: Simulation) -> None:
    motion = find_motion(flown, most=100)
    assert np.ptp(flown["boom.eta1"]) > 0.01, "it bends"
    assert np.allclose(motion.point("boom.tip", (0, 0, 0)), flown.y, atol=1e-12)


def test_the_skin_ends_at_the_tip(flown: Simulation) -> None:
    """The tube that the browser bends, at its last station, against the sensor, through the packed numbers."""
    replay = replay_of("run", flown, {})
    (skin,), variant = replay["skins"], replay["variants"][0]
    X, Phi, G = (unpack(skin[key]) for key in ("X", "Phi", "G"))
    eta, poses = unpack_tracks(variant["eta"]["boom"]), unpack_tracks(variant["poses"])
    last = int(np.argmax(X[:, 0]))
    local = X[last] + deflection(Phi[[last]], G[[last]], eta)[:, 0]
    w, x, y, z = poses[:, :4].T
    turn = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y**2 + z**2))
    c, s = np.cos(turn), np.sin(turn)
    tip = np.stack([c * local[:, 0] - s * local[:, 1], s * local[:, 0] + c * local[:, 1]], axis=1)
    assert np.allclose(tip + poses[:, 4:6], flown.y[:, :2], atol=1e-3), "16 bits of a 4 m beam"


def test_stretched_deflections_move_the_outboard_bodies(flown: Simulation) -> None:
    plain, stretched = (find_motion(flown, most=100, stretch=factor) for factor in (1.0, 3.0))
    assert np.allclose(stretched.eta["boom"], 3.0 * plain.eta["boom"])
    assert np.allclose(stretched.p["hand"], stretched.point("boom.tip", (0, 0, 0)))


def test_small_deflections_are_offered_stretched() -> None:
    eom = form_equations(flexible_arm())
    sim = simulate(eom, x0={"boom.eta1": 1e-4}, t_span=(0.0, 0.5), grid=11, driver="python", rtol=1e-5)
    first, second = replay_of("run", sim, {})["variants"]
    largest = np.max(np.abs(unpack_tracks(second["eta"]["boom"])))
    assert first["stretch"] == 1.0 < second["stretch"]
    assert 0.3 * SHOWN * 4.0 < largest < 2.0 * SHOWN * 4.0


def test_arrows_act_where_and_as_the_actuators_do(flown: Simulation) -> None:
    motion = find_motion(flown, most=100)
    torque, jet = find_arrows(motion)
    assert (torque.kind, jet.kind) == ("torque", "force")
    assert np.allclose(torque.vector, [0.0, 0.0, 5.0])
    assert np.allclose(torque.origin, 0.0)
    assert np.allclose(jet.origin, flown.y)
    angle = flown["shoulder"]
    slope = jet.vector @ np.array([0, 0, 1.0])
    assert np.allclose(slope, 0.0)
    turned = np.arctan2(jet.vector[:, 0], -jet.vector[:, 1])
    assert np.max(np.abs(np.unwrap(turned) - angle)) < 0.5, "it turns with the tip"
    assert np.allclose(np.linalg.norm(jet.vector, axis=1), 2.0)


def test_a_tether_runs_from_its_drum_to_its_load() -> None:
    mother = RigidBody(name="mother", mass=1e4, inertia=(1e4, 1e4, 1e4))
    load = RigidBody(name="load", mass=50.0, inertia=(1.0, 1.0, 1.0))
    system = System(
        name="tethered",
        environment=CircularOrbit(period=6000.0),
        parts=(Part(mother, on="orbit", joint=Fixed()), Part(load, on="line", joint=Fixed())),
        elements=(Tether(name="line", on="mother", at=(2.0, 0.0, 0.0), length=100.0),),
    )
    sim = simulate(form_equations(system), t_span=(0.0, 100.0), grid=5, driver="python")
    motion = find_motion(sim, most=10)
    (line,) = find_lines(motion)
    assert np.allclose(line.points[:, 0], [2.0, 0.0, 0.0])
    assert np.allclose(np.linalg.norm(line.points[:, 1] - line.points[:, 0], axis=1), 100.0)
    assert np.allclose(line.points[:, 1], motion.p["load"])
    assert replay_of("run", sim, {})["axes"]["labels"][0] == "radial, outward"


def test_several_shapes_make_one_body() -> None:
    body = RigidBody(name="bus", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system = System(name="one", parts=(Part(body),))
    parts = (Shape(size=(1.0, 1.0, 1.0)), Shape.bar((0.0, 0.0, 0.0), (4.0, 0.0, 0.0), 0.1))
    found = rigid_solid(system.parts[0], system, {"bus": parts}, least=1e-3)
    assert np.allclose([found.vertices[:, 0].min(), found.vertices[:, 0].max()], [-0.5, 4.0])


def test_a_far_traveller_is_seen_from_itself() -> None:
    body = RigidBody(name="craft", mass=1.0, inertia=(1.0, 1.0, 1.0))
    sim = simulate(
        form_equations(System(name="far", parts=(Part(body, joint=Free(name="base")),))),
        x0={"base.x": 7e6, "base.y_dot": 100.0}, t_span=(0.0, 100.0), grid=5, driver="python",
    )  # fmt: skip
    replay = replay_of("run", sim, {})
    assert replay["seen_from"] == "craft"
    assert np.allclose(unpack_tracks(replay["variants"][0]["poses"])[:, 4:], 0.0)


SOLIDS = (
    box(np.array([1.0, 2.0, 3.0])),
    cylinder(np.ones(3)),
    ellipsoid(np.ones(3)),
    ring(np.array([2.0, 3.0, 0.2])),
    arrow(1),
    arrow(2),
)


@pytest.mark.parametrize("solid", SOLIDS)
def test_solids_are_closed_and_turned_outwards(solid: Any) -> None:
    """The volume by the divergence theorem is positive only if the faces look outwards."""
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    assert np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0 > 0.0


def test_the_tube_of_a_beam_is_turned_outwards() -> None:
    skin = skin_of(flexible_arm().part("boom").body, 0.1)
    corners = skin.X[skin.owner] + skin.offset
    a, b, c = (corners[skin.faces[:, k]] for k in range(3))
    volume = np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0
    assert volume == pytest.approx(6 / 2 * np.sin(np.pi / 3) * 0.05**2 * 4.0, rel=1e-9)


def volume_of(skin: Any) -> float:
    corners = skin.X[skin.owner] + skin.offset
    a, b, c = (corners[skin.faces[:, k]] for k in range(3))
    return float(np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0)


def test_a_plate_is_a_thin_box_turned_outwards() -> None:
    panel = Plate(name="panel", length=3.0, width=2.0, thickness=0.01, mass=5.0, E=7e9, nu=0.3, modes=2)
    skin = skin_of(panel, 0.5)
    assert len(skin.X) == 17 * 17
    # Two layers, 0.05 m to either side, without the narrow sides, which would bring the other two thirds of the flux
    assert volume_of(skin) == pytest.approx(3.0 * 2.0 * 0.1 / 3.0, rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_bodies_of_few_points_are_drawn_too(count: int) -> None:
    X = np.random.default_rng(count).normal(size=(count, 3))
    body = ModalBody(name="lump", points=X, masses=np.ones(count), stiffness=[4.0], shapes=np.ones((count, 3, 1)))
    skin = skin_of(body, 0.1)
    assert skin.faces.max() < len(skin.owner)
    assert np.all(np.isfinite(skin.offset))


def test_a_body_is_a_box_of_its_inertia_or_as_the_study_says() -> None:
    size = np.array([2.0, 1.0, 0.5])
    inertia = (
        10.0 / 12.0 * np.array([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2, size[0] ** 2 + size[1] ** 2])
    )
    body = RigidBody(name="bus", mass=10.0, inertia=inertia, com=(0.0, 0.0, 0.0))
    system = System(name="one", parts=(Part(body),))
    found = rigid_solid(system.parts[0], system, {}, least=1e-3)
    assert np.allclose(np.ptp(found.vertices, axis=0), size)
    shaped = rigid_solid(
        system.parts[0], system, {"bus": Shape(kind="cylinder", size=(1.0, 1.0, 9.0), at=(0, 0, 2.0))}, least=1e-3
    )
    assert shaped.vertices[:, 2].max() == pytest.approx(6.5)


def test_without_shapes_links_are_bars_and_no_joint_is_hidden_in_a_box() -> None:
    """A heavy base of 12 m by its inertia carries a 2 m arm: the arm is seen, from joint to joint."""
    base = RigidBody(name="base", mass=1e5, inertia=(2.4e6, 2.4e6, 2.4e6))
    link, hand = (
        RigidBody(name=name, mass=10.0, inertia=(0.4, 4.0, 4.0), com=(0.5, 0.0, 0.0)) for name in ("link", "hand")
    )
    system = System(
        name="arm",
        parts=(
            Part(base, joint=Free(name="base")),
            Part(link, on="base", at=(1.0, 0.0, 0.0), joint=Revolute(name="shoulder", axis="z")),
            Part(hand, on="link", at=(1.0, 0.0, 0.0), joint=Revolute(name="wrist", axis="z")),
        ),
    )
    sim = simulate(form_equations(system), x0={"wrist_dot": 0.1}, t_span=(0.0, 1.0), grid=5, driver="python")
    looks = rigid_looks(find_motion(sim, most=5), {})
    assert np.allclose([looks["link"].vertices[:, 0].min(), looks["link"].vertices[:, 0].max()], [0.0, 1.0])
    assert np.max(looks["base"].vertices) == pytest.approx(1.0), "up to the shoulder"


@pytest.mark.parametrize("g", [(0.0, 0.0, 0.0), (-9.8, 0.0, 0.0), (0.0, 0.0, -9.8), (0.0, 3.0, 4.0)])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_the_camera_sees_every_body_all_the_time(g: tuple[float, ...], axis: str) -> None:
    """Projected by a pinhole of k3d's angle, everything lies in the picture, whichever way is down."""
    bar = RigidBody(name="bar", mass=2.0, inertia=(0.01, 0.2, 0.2), com=(0.5, 0.0, 0.0))
    system = System(
        name="swing", environment=UniformGravity(g=g), parts=(Part(bar, joint=Revolute(name="pin", axis=axis)),)
    )
    sim = simulate(form_equations(system), x0={"pin": 0.3, "pin_dot": 1.0}, t_span=(0.0, 1.0), grid=9, driver="python")
    replay = replay_of("run", sim, {})
    place, target, up = np.array(replay["camera"]).reshape(3, 3)
    ahead = (target - place) / np.linalg.norm(target - place)
    right = np.cross(ahead, up) / np.linalg.norm(np.cross(ahead, up))
    motion = find_motion(sim, most=9)
    seen = find_cloud(motion, np.zeros((9, 3)), rigid_looks(motion, {})).reshape(-1, 3) - place
    assert np.all(seen @ ahead > 0.0)
    assert np.max(np.abs(seen @ np.cross(right, ahead)) / (seen @ ahead)) < np.tan(np.radians(30.0))
    assert np.max(np.abs(seen @ right) / (seen @ ahead)) < 1.3 * np.tan(np.radians(30.0))


def test_a_replay_is_plain_json_and_its_scene_is_built_by_k3d(flown: Simulation) -> None:
    replay = json.loads(json.dumps(replay_of("run", flown, {}), allow_nan=False))
    page = page_replay(replay)
    assert len(page["snapshot"]) > 1000
    assert "faces" not in page["skins"][0], "corners and faces travel once, in the snapshot"


def test_a_simulation_from_a_file_has_no_replay(flown: Simulation, tmp_path: Any) -> None:
    flown.save(tmp_path / "run.nc")
    with pytest.raises(ModelError, match="no equations"):
        replay_of("run", load_simulation(tmp_path / "run.nc"), {})


def test_a_mechanism_of_centimetres_has_a_scene() -> None:
    """k3d refuses points smaller than a ten-millionth, whatever the size of what is drawn."""
    body = RigidBody(name="hand", mass=0.001, inertia=(1e-8, 1e-8, 1e-8), com=(0.01, 0.0, 0.0))
    eom = form_equations(System(name="watch", parts=(Part(body, joint=Revolute(name="pin", axis="z")),)))
    sim = simulate(eom, x0=eom.state(pin_dot=1.0), t_span=(0.0, 0.1), tier="vm")
    assert len(page_replay(replay_of("run", sim, {}))["snapshot"]) > 1000
