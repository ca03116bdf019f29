"""Default shapes of beams meet an independent finite-element model: serial beams with a payload, a rod on two pins."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh, null_space

from spacectl import (
    Beam,
    Free,
    JointTorque,
    Loop,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    form_equations,
    linearize,
)
from tests.oracles.flexible.beam_elements import beam_matrices

SECTION = {"length": 3.0, "mass": 6.0, "EI": 2e3, "GJ": 8e2, "EA": 5e5}
POLAR = 0.02  # [kg m]
PAYLOAD, PAYLOAD_INERTIA = 30.0, (3.0, 4.0, 5.0)
ELEMENTS = 40
KINDS = {
    "extension": (0, 0),
    "bending y": (1, 5),
    "bending z": (2, 4),
    "torsion": (3, 3),
}  # degrees of freedom of a node


def beam(name: str, n: int, **changes: object) -> Beam:
    counts = {"bending": ("y", "z"), "modes": n, "torsion": n, "extension": n}
    return Beam(name=name, **{**SECTION, "rotary": (POLAR, 0.0, 0.0), **counts, **changes})


def elements() -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of one beam."""
    section = {key: SECTION[key] for key in ("mass", "EA", "GJ")}
    M, K, _ = beam_matrices(SECTION["length"], ELEMENTS, **section, EIy=SECTION["EI"], EIz=SECTION["EI"], polar=POLAR)
    return K, M


def tree_frequencies(system: System) -> np.ndarray:
    """Of a tree without springs in its joints, from M and the bodies' stiffness: much cheaper than a linear model."""
    eom = form_equations(system)
    K = np.zeros((eom.n_v, eom.n_v))
    for part in system.parts:
        if isinstance(part.body, Beam):
            own = [eom.speeds.index(f"{part.name}.{name}_dot") for name in part.body.modal_names]
            K[np.ix_(own, own)] = part.body.elasticity
    values = np.sqrt(np.maximum(eigh(K, eom.mass_matrix(0.0, eom.state()[: eom.n_q]), eigvals_only=True), 0.0))
    return values[values > 1e-3]


def found_frequencies(system: System) -> np.ndarray:
    eom = form_equations(system)
    values = np.linalg.eigvals(linearize(eom, eom.state()).A).imag
    return np.sort(values[values > 1e-3])


def chain_of_elements(n_beams: int) -> tuple[np.ndarray, np.ndarray]:
    k, m = elements()
    size = 6 * (n_beams * ELEMENTS + 1)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    for i in range(n_beams):
        own = slice(6 * ELEMENTS * i, 6 * ELEMENTS * i + len(k))
        K[own, own] += k
        M[own, own] += m
    return K, M


def by_kind(K: np.ndarray, M: np.ndarray, held: list[int], kind: str, n: int) -> np.ndarray:
    """The lowest `n` frequencies of one kind: kinds of a straight beam are independent."""
    places = [k for k in range(len(K)) if k % 6 in KINDS[kind]]
    rows = np.eye(len(K))[held][:, places]
    N = null_space(rows)
    stiffness, mass = (N.T @ matrix[np.ix_(places, places)] @ N for matrix in (K, M))
    values = np.sqrt(np.maximum(eigh(stiffness, mass, eigvals_only=True), 0.0))
    return values[values > 1e-6 * values[-1]][:n]


def serial_arm(n: int, **changes: object) -> System:
    payload = RigidBody(name="payload", mass=PAYLOAD, inertia=PAYLOAD_INERTIA)
    parts = (
        Part(beam("upper", n, **changes)),
        Part(beam("lower", n, **changes), on="upper.tip"),
        Part(payload, on="lower.tip"),
    )
    return System(name="serial arm", parts=parts)


def worst_error(n: int, kinds: tuple[str, ...], count: int, **changes: object) -> float:
    K, M = chain_of_elements(2)
    M[-6:, -6:] += np.diag([PAYLOAD] * 3 + list(PAYLOAD_INERTIA))
    found = tree_frequencies(serial_arm(n, **changes))
    expected = np.concatenate([by_kind(K, M, list(range(6)), kind, count) for kind in kinds])
    return max(float(np.min(np.abs(found / value - 1.0))) for value in expected)


def test_two_serial_beams_with_a_payload_meet_finite_elements() -> None:
    assert worst_error(3, tuple(KINDS), 2) < 5e-3
    assert worst_error(3, tuple(KINDS), 2, shapes="modes") > 0.02  # cantilever modes know nothing of what they carry


def test_one_twist_shape_serves_a_heavy_tip() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one bending shape is too few, and said so
        assert worst_error(1, ("torsion",), 1) < 5e-3
        assert worst_error(1, ("torsion",), 1, shapes="modes") > 0.1  # pi^2 / 8 too stiff


def test_modes_account_for_the_twist_inertia_at_the_tip() -> None:
    polar = 40.0 * POLAR * 3.0
    known = Beam(
        name="shaft", bending=(), torsion=1, rotary=(POLAR, 0.0, 0.0), tip_inertia=(polar, 0.0, 0.0), **SECTION
    )
    system = System(
        name="s", parts=(Part(known), Part(RigidBody(name="disc", mass=1.0, inertia=(polar,) * 3), on="shaft.tip"))
    )
    K, M = elements()
    M[-3, -3] += polar
    assert tree_frequencies(system)[0] == pytest.approx(by_kind(K, M, list(range(6)), "torsion", 1)[0], rel=1e-4)


def slider_crank(n: int, **changes: object) -> System:
    """A crank, a rod on two passive pins and a slider; the crank is held by a stiff motor, here at a fixed angle."""
    crank = RigidBody(name="crank", mass=1.0, inertia=(0.1, 0.1, 0.1))
    slider = RigidBody(name="slider", mass=50.0, inertia=(1.0, 1.0, 1.0))
    parts = (
        Part(crank),
        Part(beam("rod", n, **changes), on="crank", joint=Revolute(name="crank_pin", axis="z")),
        Part(slider, at=(SECTION["length"], 0.0, 0.0), joint=Prismatic(name="slide", axis="x")),
    )
    closure = Loop(name="slider_pin", a="slider", b="rod.tip", joint=Revolute(axis="z"))
    return System(name="slider-crank", parts=parts, constraints=(closure,))


def test_the_rod_of_a_slider_crank_meets_finite_elements() -> None:
    K, M = elements()
    last = len(K) - 6
    M[last, last] += 50.0  # the slider moves with the extension
    held = [0, 1, 2, 3, 4, last + 1, last + 2, last + 3, last + 4]  # both pins leave only the rotation about z free
    # Across the plane the pins clamp both ends: two of the shapes are those that the slider forbids.
    found = found_frequencies(slider_crank(3, modes=(3, 4)))
    for kind in KINDS:
        for value in by_kind(K, M, held, kind, 2):
            assert np.min(np.abs(found / value - 1.0)) < 5e-3, kind


def test_a_rod_loaded_at_both_ends_meets_finite_elements() -> None:
    rod = Beam(name="rod", bending=(), extension=2, **SECTION)
    heavy, light = (RigidBody(name=name, mass=mass, inertia=(1.0,) * 3) for name, mass in (("a", 60.0), ("b", 25.0)))
    parts = (Part(rod, joint=Free(name="base")), Part(heavy, on="rod"), Part(light, on="rod.tip"))
    K, M = elements()
    M[0, 0] += 60.0
    M[-6, -6] += 25.0
    expected = by_kind(K, M, list(range(1, 6)), "extension", 2)
    found = tree_frequencies(System(name="s", parts=parts))
    assert found[:2] == pytest.approx(expected[expected > 1.0][:2], rel=5e-3)


def test_a_dispersed_payload_leaves_the_shapes_unchanged() -> None:
    one = serial_arm(2)
    lighter = RigidBody(name="payload", mass=1.0, inertia=(0.1, 0.1, 0.1))
    other = System(name="light", parts=(*one.parts[:2], Part(lighter, on="lower.tip")))
    assert other.parts[1].body == one.parts[1].body


def test_a_motor_makes_a_pin_an_interface_that_transmits_its_torque() -> None:
    crank = slider_crank(2)
    driven = System(
        name="driven", parts=crank.parts, constraints=crank.constraints, actuators=(JointTorque(joint="crank_pin"),)
    )
    assert crank.parts[1].body.interface_directions["root"] == ("x", "y", "z", "rx", "ry")
    assert driven.parts[1].body.interface_directions["root"] == ("x", "y", "z", "rx", "ry", "rz")
