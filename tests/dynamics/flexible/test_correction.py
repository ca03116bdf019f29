"""Lost terms of premature linearisation from particles, against the orders, closed forms and Sadigh (1995), Eq 5.45."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad

import spacectl.dynamics.truncation.correction
import spacectl.dynamics.truncation.particles
from spacectl import (
    Beam,
    BodyForce,
    BodyTorque,
    CircularOrbit,
    DistributedForce,
    EquationsOfMotion,
    Fixed,
    Free,
    FreeSpace,
    JointTorque,
    ModalBody,
    ModelError,
    Part,
    Prismatic,
    ReactionWheel,
    Revolute,
    RigidBody,
    ShapeError,
    Spherical,
    System,
    UniformGravity,
    correction_terms,
    form_equations,
)
from tests.oracles.flexible.flexible_points import random_points

ENVIRONMENTS = (FreeSpace(), UniformGravity(g=(1.0, -2.0, 3.0)), CircularOrbit(rate=0.7))
HUB = RigidBody(name="hub", mass=5.0, inertia=(1.0, 1.2, 0.8), com=(0.1, 0.05, -0.2))


def single() -> System:
    """One beam with everything: two planes, torsion, extension and thick slices, on a free body."""
    beam = Beam(
        name="beam", length=2.0, mass=3.0, EI=50.0, GJ=20.0, EA=1e3, rotary=(0.02, 0.012, 0.008), bending=("y", "z"),
        torsion=1, extension=1,
    )  # fmt: skip
    force = BodyForce(name="jet", on="beam.tip", at=(0.0, 0.1, 0.0), direction="x")
    parts = (Part(HUB, joint=Free(name="base")), Part(beam, on="hub", at=(0.3, 0.1, 0.0)))
    return System(name="single", parts=parts, actuators=(force,))


def thin() -> System:
    """A slender beam on a hinge: no rotary inertia."""
    beam = Beam(name="beam", length=2.0, mass=3.0, EI=50.0, modes=3)
    return System(name="thin", parts=(Part(beam, at=(0.5, 0.0, 0.0), joint=Revolute(name="hinge", axis="z")),))


def chain() -> System:
    """Two flexible bodies in a row on a base with prescribed motion, a payload, all kinds of actuators."""
    upper = Beam(name="upper", length=2.0, mass=3.0, EI=50.0, GJ=20.0, rotary=(0.02, 0.012, 0.008), torsion=1)
    fore = Beam(name="fore", length=1.5, mass=2.0, EI=30.0, bending=("z",), rotary=(0.01, 0.005, 0.005))
    payload = RigidBody(name="payload", mass=1.0, inertia=(0.1, 0.12, 0.08), com=(0.1, 0.05, -0.2))
    rail = Prismatic(name="rail", axis="y", prescribed=lambda s: 0.3 * ca.cos(2.0 * s.t))
    parts = (
        Part(HUB, joint=rail),
        Part(upper, on="hub", at=(0.3, 0.1, 0.0), joint=Revolute(name="shoulder", axis="z")),
        Part(fore, on="upper.tip", joint=Revolute(name="elbow", axis="y")),
        Part(payload, on="fore.tip", joint=Revolute(name="wrist", axis="x"), child_at=(0.0, 0.1, 0.0)),
    )
    actuators = (
        BodyForce(name="follower", on="fore.tip", direction="y"),
        BodyForce(name="dead", on="fore.tip", at=(0.1, 0.2, 0.3), axes="world", direction="z"),
        BodyTorque(name="twist", on="upper.tip", direction="y"),
        BodyTorque(name="turn", on="payload", direction="x", axes="world"),
        JointTorque(joint="elbow"),
        ReactionWheel(name="wheel", on="fore.tip", axis="y", inertia=0.3),
    )
    return System(name="chain", parts=parts, actuators=actuators)


def measured() -> System:
    """Any points, shapes and slices at all, turned by a prescribed spin, with a torque on one of its points."""
    p = random_points(np.random.default_rng(3), 4, 2)
    body = ModalBody(
        name="body", points=p["X"], masses=p["mass"], shapes=p["Phi"], slopes=p["Psi"], second=p["G"],
        second_slopes=p["H"], rotary=p["rotary"], stiffness=[3.0, 5.0],
    )  # fmt: skip
    spin = Revolute(name="spin", axis=(0.6, 0.0, 0.8), prescribed=lambda s: s.t + 0.2 * s.t**3)
    return System(name="measured", parts=(Part(HUB, joint=spin), Part(body, on="hub", joint=Spherical(name="ball"))))


SYSTEMS = {made.__name__: made() for made in (single, thin, chain, measured)}


def ordered(system: System, order: str) -> System:
    """The same with another order of its flexible bodies."""
    parts = [
        replace(part, body=replace(part.body, order=order)) if getattr(part.body, "is_flexible", False) else part
        for part in system.parts
    ]
    return replace(system, parts=tuple(parts))


def left_side(eom: EquationsOfMotion, t: float, q: np.ndarray, v: np.ndarray, v_dot: np.ndarray, u: np.ndarray):
    """``M v_dot + h - B_tau u`` and the size of its terms."""
    terms = (eom.mass_matrix(t, q) * v_dot, eom.bias(t, q, v)[:, None], eom.input_map(t, q) * u)
    value = terms[0].sum(axis=1) + terms[1].sum(axis=1) - terms[2].sum(axis=1)
    return value, sum(np.abs(term).sum(axis=1) for term in terms)


def random_motion(eom: EquationsOfMotion) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    x = eom.state(eom.state() + 0.5 * rng.standard_normal(eom.n_x))
    return x[: eom.n_q], x[eom.n_q :], rng.standard_normal(eom.n_v), rng.standard_normal(eom.n_u)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda item: type(item).__name__)
@pytest.mark.parametrize("name", SYSTEMS)
def test_premature_and_correction_make_linearised(name: str, environment: object) -> None:
    system = replace(SYSTEMS[name], environment=environment)
    proper, premature = (form_equations(ordered(system, order)) for order in ("linearised", "premature"))
    lost = correction_terms(system)
    q, v, v_dot, u = random_motion(proper)
    t = 0.37
    rows, columns = list(proper.labels.v.indices(lost.rows)), list(proper.labels.v.indices(lost.columns))
    assert sorted(rows + columns) == list(range(proper.n_v))

    E = np.zeros(proper.n_v)
    E[rows] = lost(t, q, v, v_dot, u)
    right, size = left_side(proper, t, q, v, v_dot, u)
    wrong, _ = left_side(premature, t, q, v, v_dot, u)
    assert np.max(np.abs(E)) > 1e-4 * np.max(size[rows])  # there is something to find
    assert np.all(np.abs(wrong - E - right) <= 1e-12 * size)  # rounding of the sums

    missing = np.zeros((proper.n_v, proper.n_v))
    missing[np.ix_(rows, columns)] = lost.mass(t, q)
    M, M_premature = proper.mass_matrix(t, q), premature.mass_matrix(t, q)
    np.testing.assert_allclose(
        M - M_premature, missing, rtol=0.0, atol=1e-12 * np.max(np.abs(M))
    )  # Sadigh (1995), Eq 5.20.a
    np.testing.assert_allclose(lost.force(t, q, v, u), lost.stiffness(t, q, v, u) @ q[lost._small_q], rtol=1e-13)


@pytest.mark.parametrize("name", SYSTEMS)
def test_consistent_less_linearised_is_of_second_order(name: str) -> None:
    """In (eta, eta_dot, eta_ddot) together; the premature equations are off in first order already."""
    system = replace(SYSTEMS[name], environment=ENVIRONMENTS[2])
    forms = [form_equations(ordered(system, order)) for order in ("consistent", "linearised", "premature")]
    q, v, v_dot, u = random_motion(forms[0])
    lost = correction_terms(system)
    scales = np.array([1e-2, 1e-3, 1e-4])
    differences = []
    for scale in scales:
        small = [np.array(item) for item in (q, v, v_dot)]
        small[0][lost._small_q] *= scale
        small[1][lost._small_v] *= scale
        small[2][lost._small_v] *= scale
        exact, proper, premature = (left_side(eom, 0.37, *small, u)[0] for eom in forms)
        differences.append([np.max(np.abs(exact - proper)), np.max(np.abs(exact - premature))])
    slopes = np.polyfit(np.log(scales), np.log(differences), 1)[0]
    assert slopes == pytest.approx([2.0, 1.0], abs=0.05)  # the next order adds a few per cent at 1e-2


def test_two_bar_linkage_has_the_published_terms() -> None:
    """Sadigh (1995), Eq 5.45: ``m2 L1 L2 u2_dot q1 - m2 L2^2 u2^2 q1``, the second bar as a body with one shape."""
    L1, L2, m2 = 0.7, 1.3, 2.5
    bar = RigidBody(name="bar", mass=1.0, inertia=(0.1, 0.1, 0.1))
    tip = ModalBody(
        name="tip", points=[[0.0, L2, 0.0]], masses=[m2], shapes=[[[-L2], [0.0], [0.0]]],
        second=[[[[0.0]], [[L2]], [[0.0]]]], stiffness=[4.0],
    )  # fmt: skip
    parts = (Part(bar, joint=Revolute(name="q2", axis="z")), Part(tip, on="bar", at=(L1, 0.0, 0.0), joint=Fixed()))
    lost = correction_terms(System(name="linkage", parts=parts))
    q1, u2, u2_dot = 0.03, 1.7, -0.6
    expected = m2 * L1 * L2 * u2_dot * q1 - m2 * L2**2 * u2**2 * q1
    assert lost(0.0, [0.4, q1], [u2, 0.2], [u2_dot, 0.9]) == pytest.approx([expected], rel=1e-14)
    assert lost.mass(0.0, [0.4, q1]) == pytest.approx(np.array([[-m2 * L1 * L2 * q1]]), rel=1e-14)
    assert lost.stiffness(0.0, [0.4, q1], [u2, 0.2]) == pytest.approx(np.array([[-m2 * L2**2 * u2**2]]), rel=1e-14)


def test_a_spinning_beam_is_stiffened_as_the_textbook_says() -> None:
    """``G = -rate^2 int rho x s(x) dx`` with s the shortening ``int_0^x w'^2``, for the shape w = x^2 (3 - x) / 2."""
    w = np.polynomial.Polynomial([0.0, 0.0, 1.5, -0.5])
    beam = Beam(name="beam", length=1.0, mass=2.0, EI=1.0, shapes=(w,))
    lost = correction_terms(System(name="spin", parts=(Part(beam, joint=Revolute(name="hub", axis="z")),)))
    shortening = (w.deriv() ** 2).integ()
    expected = -(1.5**2) * quad(lambda x: 2.0 * x * shortening(x), 0.0, 1.0)[0]
    assert lost.stiffness(0.0, [0.2, 0.0], [1.5, 0.0])[0, 0] == pytest.approx(expected, rel=1e-12)


def test_a_fixed_beam_buckles_under_its_weight() -> None:
    """No rigid speeds at all: mass terms have no columns. ``m g L^2 / EI = 7.8373`` (Greenhill), five modes."""
    beam = Beam(name="beam", length=1.0, mass=1.0, EI=1.0, modes=5)
    system = System(name="post", parts=(Part(beam),), environment=UniformGravity(g=(-1.0, 0.0, 0.0)))
    lost = correction_terms(system)
    assert lost.mass(0.0, np.zeros(5)).shape == (5, 0)
    S = lost.stiffness(0.0, np.zeros(5), np.zeros(5))
    load = 1.0 / np.max(np.linalg.eigvals(np.linalg.solve(beam.elasticity, S)).real)
    assert load == pytest.approx(7.8373, rel=1e-4)  # from above, as every Ritz solution


def test_module_shares_nothing_with_orders_recursion_and_integrals() -> None:
    banned = ("orders", "recursion", "kinematics", "terms", "composite", "modal_integrals", "spatial.flexible")
    for module in (spacectl.dynamics.truncation.correction, spacectl.dynamics.truncation.particles):
        tree = ast.parse(Path(str(module.__file__)).read_text())
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert names and not [name for name in names if name.endswith(banned)]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ModelError, match="no flexible body"):
        correction_terms(System(name="rigid", parts=(Part(HUB),)))
    with pytest.raises(ModelError, match="expected a System"):
        correction_terms("arm")  # type: ignore[arg-type]
    spread = DistributedForce(name="wind", on="beam", density=1.0)
    with pytest.raises(ModelError, match="forces of 'wind' are not supported"):
        correction_terms(replace(SYSTEMS["thin"], actuators=(spread,)))
    lost = correction_terms(SYSTEMS["thin"])
    with pytest.raises(ShapeError, match="v_dot has shape"):
        lost(0.0, np.zeros(4), np.zeros(4), np.zeros(3))


def test_only_premature_bodies_lose_terms() -> None:
    """A chain whose first beam is premature and whose second is properly linearised: E on the rows of the first alone."""
    system = replace(SYSTEMS["chain"], environment=ENVIRONMENTS[1])
    proper = form_equations(ordered(system, "linearised"))
    parts = [
        replace(part, body=replace(part.body, order="premature")) if part.name == "upper" else part
        for part in ordered(system, "linearised").parts
    ]
    mixed = form_equations(replace(system, parts=tuple(parts)))
    lost = correction_terms(system)
    q, v, v_dot, u = random_motion(proper)
    E = np.zeros(proper.n_v)
    for name, value in zip(lost.rows, lost(0.37, q, v, v_dot, u), strict=True):
        E[proper.labels.v.index(name)] = value if name.startswith("upper") else 0.0
    right, size = left_side(proper, 0.37, q, v, v_dot, u)
    assert np.max(np.abs(E)) > 0.01 * np.max(size)
    assert np.all(np.abs(left_side(mixed, 0.37, q, v, v_dot, u)[0] - E - right) <= 1e-12 * size)  # rounding
