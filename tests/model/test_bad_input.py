"""Every wrong description is refused at once, with the part and the cure in the message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import library
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.actuators import BodyForce, BodyTorque, JointForce, JointTorque, ReactionWheel, Thruster
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.environment import CentralGravity, CircularOrbit, UniformGravity
from spacectl.model.joints import Fixed, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.model.part import Part
from spacectl.model.sensors import Position
from spacectl.model.system import System


def body(name: str = "link", **changes) -> RigidBody:
    return RigidBody(**{"name": name, "mass": 1.0, "inertia": (1.0, 1.0, 1.0), **changes})


def system(*parts: Part, **changes) -> System:
    return System(name="s", parts=parts or (Part(body(), joint=Revolute(name="elbow")),), **changes)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: body(mass=-1e-12), ("link", "mass", "positive")),
        (lambda: body(mass=-2.0), ("link", "mass", "-2", "positive")),
        (lambda: body(mass=np.nan), ("link", "mass", "finite")),
        (lambda: body(mass="heavy"), ("link", "mass", "number")),
        (lambda: body(mass="3"), ("link", "mass", "'3'", "without quotes")),
        (lambda: body(mass=True), ("link", "mass", "True")),
        (lambda: body(mass=np.array(True)), ("link", "mass", "number")),
        (lambda: body(name="a\nb"), ("body", "a\\nb", "line break")),
        (lambda: body(name="a\x00b"), ("body", "non-printable")),
        (lambda: Revolute(name="el\tbow"), ("Revolute joint", "non-printable")),
        (lambda: body(frames=("tip",)), ("link", "frames contains 'tip'", "frames=(Frame(...),)")),
        (lambda: body(frames=Frame(name="tip")), ("link", "single Frame", "frames=(Frame(...),)")),
        (lambda: body(frames="tip"), ("link", "frames", "single str")),
        (lambda: body(inertia=(1.0, 1.0, 3.0)), ("link", "triangle inequality", "3")),
        (lambda: body(inertia=(1.0, -1.0, 1.0)), ("link", "negative principal moment")),
        (lambda: body(inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), ("link", "not symmetric")),
        (lambda: body(inertia=(1.0, np.inf, 1.0)), ("link", "inertia", "finite")),
        (lambda: body(com=(0.0, np.nan, 0.0)), ("link", "com", "finite")),
        (lambda: body(name=""), ("body", "name")),
        (lambda: body(name="a.b"), ("a.b", "'.'")),
        (lambda: body(name="world"), ("world", "root frame")),
        (lambda: body(frames=(Frame(name="tip"), Frame(name="tip"))), ("link", "same name", "tip")),
        (lambda: Revolute(name="elbow", axis=(0.0, 0.0, 0.98)), ("elbow", "axis", "0.98", "norm(axis)")),
        (lambda: Revolute(axis="w"), ("Revolute joint: axis", "x, y, z")),
        (lambda: Planar(normal=["z"]), ("Planar joint: normal", "['z']")),
        (lambda: Prismatic(name="slide", axis="w"), ("slide", "axis", "x, y, z")),
        (lambda: Universal(name="cross", first="x", second="x"), ("cross", "parallel")),
        (lambda: Planar(name="table", normal="q"), ("table", "normal")),
        (lambda: Part(body(), rotation=np.diag([1.0, 1.0, -1.0])), ("link", "rotation", "rotation_about")),
        (lambda: Part(body(), rotation=(1.0, 1.0, 0.0, 0.0)), ("link", "quaternion", "norm")),
        (lambda: Part(body(), at=(0.0, 0.0)), ("link", "at", "shape")),
        (lambda: Part(body(), child_at=(0.0, 0.0, np.nan)), ("link", "child_at", "finite")),
        (lambda: Part("link"), ("part", "RigidBody")),
        (lambda: Part(body(), joint="hinge"), ("link", "joint", "Revolute")),
        (lambda: System(name="s", parts=()), ("no parts",)),
        (lambda: System(name="s", parts=Part(body())), ("'s'", "single Part", "write parts=(Part(...),)")),
        (lambda: System(name="s", parts=(body(),)), ("'s'", "parts contains", "Part objects")),
        (
            lambda: system(actuators=JointTorque(joint="elbow")),
            ("single JointTorque", "write actuators=(JointTorque(...),)"),
        ),
        (
            lambda: system(sensors=Position(name="hand", on="link")),
            ("single Position", "write sensors=(Position(...),)"),
        ),
        (lambda: system(sensors=None), ("sensors", "NoneType", "expected a tuple")),
        (lambda: system(Part(body(), on="world.x")), ("link", "'world.x'", "root has no frames", "on='world'")),
        (lambda: system(sensors=(Position(name="hand", on="world.x"),)), ("hand", "'world.x'", "root has no frames")),
        (lambda: system(sensors=(Position(name="hand", on=["link"]),)), ("hand", "on is ['link']", "text")),
        (lambda: system(sensors=(Position(name="hand", on="link", axes=3),)), ("hand", "axes is 3", "text")),
        (lambda: JointTorque(joint=["elbow"]), ("JointTorque", "joint is ['elbow']", "name")),
        (
            lambda: system(Part(body("a"), joint=Revolute(name="j")), Part(body("b"), joint=Revolute(name="j_dot"))),
            ("'j'", "'j_dot'", "rename"),
        ),
        (
            lambda: system(
                Part(body("wheel"), joint=Revolute(name="wheel_spin_dot")),
                actuators=(ReactionWheel(name="wheel_spin", on="wheel", inertia=1.0),),
            ),
            ("'wheel_spin_dot'", "'wheel_spin'", "rename"),
        ),
        (lambda: system(Part(body(), on="arm")), ("link", "unknown body 'arm'")),
        (lambda: system(Part(body(), on="wrld")), ("link", "did you mean 'world'")),
        (lambda: system(Part(body("a"), on="b"), Part(body("b"), on="a")), ("cycle", "a -> b", "world")),
        (lambda: system(Part(body("a")), Part(body("a"))), ("duplicate body name 'a'", "rename")),
        (lambda: system(Part(body("a")), Part(body("b"), on="a.tip")), ("b", "a.tip")),
        (
            lambda: system(Part(body("a"), joint=Revolute(name="j")), Part(body("b"), joint=Revolute(name="j"))),
            ("duplicate joint name 'j'",),
        ),
        (lambda: system(actuators=(JointTorque(joint="elbw"),)), ("elbw", "did you mean 'elbow'")),
        (
            lambda: system(actuators=(JointTorque(joint="elbow"), JointTorque(joint="elbow"))),
            ("duplicate input name 'elbow'",),
        ),
        (lambda: system(actuators=(JointForce(joint="elbow"),)), ("elbow", "JointTorque")),
        (
            lambda: system(Part(body(), joint=Fixed(name="weld")), actuators=(JointTorque(joint="weld"),)),
            ("weld", "fixed"),
        ),
        (
            lambda: system(Part(body(), joint=Spherical(name="ball")), actuators=(JointTorque(joint="ball"),)),
            ("ball", "wx, wy, wz"),
        ),
        (lambda: system(actuators=(JointTorque(joint="elbow", limit=-3.0),)), ("elbow", "limit", "low < high")),
        (lambda: system(actuators=(JointTorque(joint="elbow", limit=np.nan),)), ("elbow", "limit", "finite")),
        (lambda: system(actuators=(BodyForce(on="link"),)), ("BodyForce", "name")),
        (lambda: system(actuators=(BodyForce(name="push", on="world"),)), ("push", "does not move")),
        (lambda: system(actuators=(BodyTorque(name="twist", on="hand"),)), ("twist", "hand")),
        (lambda: BodyTorque(name="twist", on="link", axes="moon"), ("twist", "axes", "world")),
        (lambda: Thruster(name="jet", on="link", direction=(1.0, 1.0, 0.0)), ("jet", "direction", "norm")),
        (lambda: Thruster(name="jet", on="link", axes="world"), ("jet", "BodyForce")),
        (lambda: Thruster(name="jet", on="link", limit=(0.0, np.inf)), ("jet", "omit the limit", "from 0 to inf")),
        (
            lambda: Thruster(name="jet", on="link", limit=(-1.0, 2.0)),
            ("jet", "(-1.0, 2.0)", "cannot pull", "BodyForce"),
        ),
        (lambda: Thruster(name="jet", on="link", limit=-1.0), ("jet", "-1.0", "low < high")),
        (lambda: JointTorque(joint="elbow", limit=np.inf), ("elbow", "omit the limit", "from -inf to inf")),
        (lambda: JointTorque(joint="elbow", limit=np.array([-np.inf, 1.0])), ("elbow", "omit the limit")),
        (lambda: JointTorque(joint="elbow", limit="3"), ("elbow", "limit", "'3'")),
        (lambda: JointTorque(joint="elbow", limit=(False, True)), ("elbow", "limit", "False")),
        (lambda: ReactionWheel(name="wheel", on="link", inertia=0.0), ("wheel", "inertia", "positive")),
        (lambda: system(sensors=(Position(name="hand", on="palm"),)), ("hand", "palm")),
        (lambda: system(environment="space"), ("environment", "FreeSpace")),
        (lambda: CircularOrbit(), ("CircularOrbit", "period", "rate")),
        (lambda: CircularOrbit(period=-5400.0), ("CircularOrbit", "period", "positive")),
        (lambda: CentralGravity(mu=0.0), ("CentralGravity", "mu", "positive")),
        (lambda: UniformGravity(g=(0.0, 0.0, np.nan)), ("UniformGravity", "g", "finite")),
    ],
)
def test_message_names_the_part_and_the_cure(make, words) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_shape_errors_are_model_errors() -> None:
    with pytest.raises(ShapeError, match="inertia has shape"):
        body(inertia=(1.0, 2.0))


def test_no_library_system_survives_a_nan() -> None:
    for make in library.LIBRARY.values():
        part = make().parts[0]
        with pytest.raises(ModelError):
            replace(part, body=replace(part.body, mass=np.nan))


def test_unknown_keywords_are_rejected() -> None:
    with pytest.raises(TypeError, match="massa"):
        RigidBody(name="a", massa=1.0, inertia=(1, 1, 1))  # type: ignore[call-arg]


def test_only_a_thruster_is_one_sided_without_a_limit() -> None:
    assert Thruster(name="jet", on="link").default_bounds == (0.0, np.inf)
    assert BodyForce(name="push", on="link").default_bounds == (-np.inf, np.inf)
    assert list(Thruster(name="jet", on="link", limit=2.0).limit) == [0.0, 2.0]
    assert list(Thruster(name="jet", on="link", limit=(0.5, 2.0)).limit) == [0.5, 2.0]
    assert list(BodyForce(name="push", on="link", limit=(-1.0, 2.0)).limit) == [-1.0, 2.0]
