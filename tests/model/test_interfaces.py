"""Interfaces of flexible bodies: found from the system, static shapes exact there, shapes measured from the joint."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

from spacectl import (
    Beam,
    BodyTorque,
    Constraint,
    Fixed,
    Frame,
    Free,
    Loop,
    Part,
    Plate,
    Revolute,
    RigidBody,
    Spherical,
    SpringDamper,
    System,
    form_equations,
)
from spacectl.core.errors import ModelError
from spacectl.model.actuators import Effort, JointEffort
from spacectl.model.files import system_from_dict, system_to_dict
from spacectl.model.transforms.absolute import as_absolute

PAYLOAD = RigidBody(name="payload", mass=5.0, inertia=(1.0, 1.0, 1.0))


def beam(**changes: object) -> Beam:
    return Beam(**{"name": "boom", "length": 2.0, "mass": 3.0, "EI": 40.0, "modes": 2, **changes})


def carrying(body: Beam | Plate, joint: object = None, **changes: object) -> System:
    parts = (Part(body), Part(PAYLOAD, on=f"{body.name}.tip", joint=joint or Fixed()))
    return System(**{"name": "s", "parts": parts, **changes})


def test_shapes_are_modes_until_something_is_attached() -> None:
    alone = System(name="s", parts=(Part(beam()),)).parts[0].body
    held = carrying(beam()).parts[0].body
    assert (alone.basis, held.basis) == ("modes", "interface")
    assert alone.elasticity == pytest.approx(beam(shapes="modes").elasticity)
    assert carrying(beam(shapes="modes")).parts[0].body.basis == "modes"
    assert carrying(beam(tip_mass=5.0)).parts[0].body.basis == "modes"  # the user says what it carries
    assert carrying(beam(tip="pinned")).parts[0].body.basis == "modes"


@pytest.mark.parametrize("changes", [{}, {"GA": 90.0}, {"EI": lambda x: 40.0 - 10.0 * x}, {"tension": 5.0}])
def test_static_compliance_is_exact_at_all_attachments(changes: dict) -> None:
    middle = Frame(name="middle", at=(0.8, 0.1, 0.0))
    body = beam(modes=4, GJ=9.0, EA=700.0, rotary=(0.1, 0.0, 0.0), torsion=2, extension=2, frames=(middle,), **changes)
    parts = (Part(body), Part(PAYLOAD, on="boom.tip"), Part(replace(PAYLOAD, name="box"), on="boom.middle"))
    held = System(name="s", parts=parts).parts[0].body
    places = [item.place for item in held.compliances]
    assert places == ["tip.y", "middle.y", "tip.rz", "middle.rz", "tip.rx", "middle.rx", "tip.x", "middle.x"]
    assert max(abs(item.error) for item in held.compliances) < 1e-8
    if not changes:
        L, EI = 2.0, 40.0
        closed = [L**3 / 3 / EI, 0.8**3 / 3 / EI, L / EI, 0.8 / EI, L / 9.0, 0.8 / 9.0, L / 700.0, 0.8 / 700.0]
        assert [item.exact for item in held.compliances] == pytest.approx(closed, rel=1e-9)


def test_too_few_default_shapes_are_warned_about_and_chosen_ones_are_not() -> None:
    with pytest.warns(UserWarning, match=r"Beam 'boom': .* 'tip.rz' 25 %; use modes=2"):
        carrying(beam(modes=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        carrying(beam(modes=1, shapes="modes"))
        carrying(beam(modes=2))
        carrying(beam(modes=1), joint=Revolute(name="pin", axis="z"))  # a passive pin passes no moment


def test_passive_joints_constraints_and_springs_transmit_what_they_can() -> None:
    def found(**changes: object) -> dict:
        parts = (Part(beam()), Part(PAYLOAD, joint=Revolute(name="far")))
        return System(name="s", parts=parts, **changes).parts[0].body.interface_directions

    ball = carrying(beam(), joint=Spherical(name="ball")).parts[0].body
    assert ball.interface_directions == {"root": ("x", "y", "z", "rx", "ry", "rz"), "tip": ("x", "y", "z")}
    loop = Loop(name="c", a="boom.tip", b="payload", at_b=(2.0, 0.0, 0.0), joint=Revolute(axis="y"))
    assert found(constraints=(loop,))["tip"] == ("x", "y", "z", "rx", "rz")
    off_axis = replace(loop, at_a=(0.0, 0.0, 0.3))  # the pin is 0.3 m beside the beam: turning the slice moves it
    assert found(constraints=(off_axis,))["tip"] == ("x", "y", "z", "rx", "ry", "rz")
    rule = Constraint(name="guide", rule=lambda s: s.position("boom.tip")[1])
    assert found(constraints=(rule,))["tip"] == ("x", "y", "z")
    spring = SpringDamper(name="strut", on_a="boom.tip", on_b="payload", stiffness=10.0, length=1.0)
    assert found(elements=(spring,))["tip"] == ("x", "y", "z")
    assert found() == {"root": ("x", "y", "z", "rx", "ry", "rz")}


def test_a_rule_of_a_joint_and_an_actuator_of_ones_own_make_the_joint_transmit() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Clutch(BodyTorque):
        joint: str = "pin"

        def efforts(self) -> tuple[Effort, ...]:
            return (*super().efforts(), JointEffort(joint=self.joint))

    pinned, all_six = ("x", "y", "z", "rx", "ry"), ("x", "y", "z", "rx", "ry", "rz")
    gear = Constraint(name="gear", rule=lambda s: s["pin"] - 0.5)
    clutch = Clutch(name="clutch", on="payload")
    for changes, expected in (({}, pinned), ({"constraints": (gear,)}, all_six), ({"actuators": (clutch,)}, all_six)):
        body = carrying(beam(), joint=Revolute(name="pin", axis="z"), **changes).parts[0].body
        assert body.interface_directions["tip"] == expected


def test_a_system_derived_from_another_keeps_the_shapes_of_its_bodies() -> None:
    loop = Loop(name="c", a="boom.tip", b="payload", at_b=(2.0, 0.0, 0.0), joint=Spherical())
    parts = (Part(beam(), joint=Revolute(name="hub")), Part(PAYLOAD, joint=Revolute(name="far")))
    closed = System(name="s", parts=parts, constraints=(loop,))
    assert replace(closed, constraints=()).parts[0].body == closed.parts[0].body
    assert as_absolute(closed).parts[0].body == closed.parts[0].body
    again = system_from_dict(system_to_dict(closed))
    assert again.parts[0].body == closed.parts[0].body and again.content_hash() == closed.content_hash()


def test_damping_ratios_are_those_of_the_re_diagonalised_modes() -> None:
    body = carrying(beam(modes=4, damping=[0.01, 0.02, 0.03, 0.04])).parts[0].body
    M, K, D = body.modal_mass, body.elasticity, body.damping_matrix
    assert np.abs(M - np.diag(np.diag(M))).max() < 1e-9 * np.abs(M).max()
    ratios = np.diag(D) / (2.0 * np.sqrt(np.diag(K) * np.diag(M)))
    assert ratios == pytest.approx([0.01, 0.02, 0.03, 0.04], rel=1e-9)
    exact = beam(modes=2, shapes="modes").frequencies
    assert body.frequencies[:2] == pytest.approx(exact, rel=2e-3)


def test_a_rod_on_two_pins_has_its_own_modes() -> None:
    parts = (Part(beam(modes=3), joint=Revolute(name="pin", axis="z")), Part(PAYLOAD, joint=Revolute(name="far")))
    loop = Loop(name="c", a="boom.tip", b="payload", at_b=(2.0, 0.0, 0.0), joint=Revolute(axis="z"))
    rod = System(name="s", parts=parts, constraints=(loop,)).parts[0].body
    expected = (np.pi * np.arange(1, 4) / 2.0) ** 2 * np.sqrt(40.0 / 1.5)
    assert rod.frequencies == pytest.approx(expected, rel=1e-10)
    slopes = rod.shapes_at(np.zeros(3)).Psi
    assert np.abs(slopes).max() < 1e-9  # measured from the slice on the pin


def test_plates_have_interface_shapes() -> None:
    panel = Plate(name="panel", length=2.0, width=1.0, thickness=0.01, mass=5.0, E=1e9, modes=6, terms=8)
    held = carrying(panel).parts[0].body
    assert held.basis == "interface"
    assert [item.place for item in held.compliances] == ["tip.z", "tip.rx", "tip.ry"]
    assert max(abs(item.error) for item in held.compliances) < 1e-8
    plain = max(abs(item.error) for item in replace(held, shapes="modes").compliances)
    assert plain > 0.05


POINTS = np.array([0.7, 1.3, 2.0])


def test_shapes_that_float_are_measured_from_the_joint() -> None:
    """Second-order shapes follow: they equal those that the beam computes for shapes that vanish at its root."""
    floating = (lambda x: 0.2 + 0.3 * x + x**2 - 0.1 * x**3, lambda x: -0.1 + 0.5 * x + x**3)
    clamped = (lambda x: x**2 - 0.1 * x**3, lambda x: x**3)
    both = {"bending": ("y", "z"), "modes": 2}
    given, reference = beam(shapes=floating, **both), beam(shapes=clamped, **both)
    held = System(name="s", parts=(Part(given, joint=Revolute(name="hub")),)).parts[0].body
    for x in POINTS:
        one, other = (body.shapes_at(np.array([x, 0.1, -0.2])) for body in (held, reference))
        for key in ("Phi", "Psi", "G", "H"):
            assert getattr(one, key) == pytest.approx(getattr(other, key), abs=1e-11), key
    q, v = np.array([0.3, 0.1, -0.2, 0.05, 0.1]), np.array([1.0, 0.2, 0.3, -0.4, 0.5])
    one, other = (
        form_equations(System(name="s", parts=(Part(body, joint=Revolute(name="hub")),))) for body in (held, reference)
    )
    assert one.v_dot(0.0, q, v, []) == pytest.approx(other.v_dot(0.0, q, v, []), rel=1e-8)


def test_pinned_modes_on_a_hinge_have_the_frequencies_of_their_ends() -> None:
    part = Part(beam(root="pinned", tip="pinned", modes=3), joint=Revolute(name="hub"))
    body = System(name="s", parts=(part,)).parts[0].body
    assert body.frequencies == pytest.approx((np.pi * np.arange(1, 4) / 2.0) ** 2 * np.sqrt(40.0 / 1.5), rel=1e-10)


@pytest.mark.parametrize("joint", [Free(name="base"), Fixed()])
def test_given_ends_float_on_a_free_joint_and_hinge_on_a_fixed_one(joint: object) -> None:
    given = beam(root="free" if isinstance(joint, Free) else "pinned")
    body = System(name="s", parts=(Part(given, joint=joint), Part(PAYLOAD, on="boom.tip"))).parts[0].body
    assert body.material.Phi == pytest.approx(given.material.Phi, abs=0.0)
    assert np.abs(body.shapes_at(np.zeros(3)).Psi).max() > 0.1


@pytest.mark.parametrize(
    ("interfaces", "words"),
    [
        (("tp",), ("'tp'", "root, tip")),
        (("tip: q",), ("'tip: q'", "x y z rx ry rz")),
        ((3,), ("contains 3", "'tip: x y z'")),
    ],
)
def test_a_wrong_interface_is_refused(interfaces: tuple, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as error:
        beam(interfaces=interfaces)
    assert all(word in str(error.value) for word in ("Beam 'boom'", *words)), str(error.value)
