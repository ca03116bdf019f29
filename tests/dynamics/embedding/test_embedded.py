"""Embedded loops against the other formulations: accelerations, forces, linear models, simulations, any numbers and structure."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Baumgarte,
    BodyForce,
    CentralGravity,
    CircularOrbit,
    Constraint,
    Drive,
    Fixed,
    Free,
    JointSpring,
    JointTorque,
    Part,
    PointOnPlane,
    Revolute,
    Spherical,
    System,
    Universal,
    form_equations,
    library,
    linearize,
    make_consistent,
    simulate,
)
from spacectl.dynamics.embedding.calls import EmbeddedCalls
from spacectl.model.library.rods import rod
from tests.dynamics.states import random_state

LOOPS = {
    "geared_chain": lambda: library.geared_chain(3),
    "four_bar_chain": lambda: library.four_bar_chain(3),
    "flexible_four_bar_chain": lambda: library.four_bar_chain(2, flexible=True),
    "five_bar": library.five_bar,
    "differential_wrist": library.differential_wrist,
    "kept_chain": lambda: library.kept_chain(2),
    "kept_rigid_chain": lambda: library.kept_chain(3, flexible=False),
}


def consistent(eom: Any, seed: int = 0, size: float = 0.15) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A random state that meets the constraints, as (x, q, v), and random inputs."""
    rng = np.random.default_rng(seed)
    x = np.asarray(make_consistent(eom, eom.state(eom.state() + size * rng.standard_normal(eom.n_x)), t=0.3).x)
    return x, x[: eom.n_q], x[eom.n_q :], rng.standard_normal(eom.n_u)


def assert_same(eom: Any, other: Any, seed: int = 0, size: float = 0.15) -> None:
    """Accelerations and multipliers of two formulations at a random state."""
    _, q, v, u = consistent(other, seed, size)
    expected = other.v_dot(0.3, q, v, u)
    # rounding times condition numbers below 1e5; beams of EI = 30 N m^2 make the stiffest systems
    np.testing.assert_allclose(eom.v_dot(0.3, q, v, u), expected, atol=1e-10 * np.max(np.abs(expected)))
    lam = other.multipliers(0.3, q, v, u)
    np.testing.assert_allclose(
        eom.multipliers(0.3, q, v, u), lam, atol=1e-10 * max(1.0, np.max(np.abs(lam), initial=0.0))
    )


@pytest.mark.parametrize("name", LOOPS)
def test_loops_agree_with_the_augmented_equations(name: str) -> None:
    system = LOOPS[name]()
    is_kept = any(not item.is_natural for item in system.constraints)
    eom = form_equations(system, formulation="embedded")
    other = form_equations(system, formulation="artificial" if is_kept else "multipliers")
    assert_same(eom, other)
    x, q, v, u = consistent(eom)
    held = other.reactions(0.3, q, v, u)
    np.testing.assert_allclose(eom.reactions(0.3, q, v, u), held, atol=1e-10 * np.max(np.abs(held)))
    assert np.max(np.abs(eom.residual(0.3, q, v))) < 1e-11


@pytest.mark.parametrize("name", ["geared_chain", "flexible_four_bar_chain", "differential_wrist", "kept_chain"])
def test_native_code_and_numpy_agree(name: str) -> None:
    eom = form_equations(LOOPS[name](), formulation="embedded")
    x, q, v, u = consistent(eom)
    native = eom.compiled()
    assert native.kind == "data-driven"
    expected = eom.x_dot(0.3, x, u)
    np.testing.assert_allclose(native.x_dot(0.3, x, u), expected, atol=1e-11 * np.max(np.abs(expected)))


def test_native_code_serves_beams_that_carry_what_actuators_keep() -> None:
    """Two modes without a row of their own, and an inertia on the beam's tip that is not symmetric: no Cholesky factor there."""
    eom = form_equations(library.kept_chain(3), formulation="embedded")
    x, _, _, u = consistent(eom)
    expected = eom.x_dot(0.3, x, u)
    np.testing.assert_allclose(eom.compiled().x_dot(0.0, x, u), expected, atol=1e-11 * np.max(np.abs(expected)))


def test_code_depends_on_the_kinds_of_loops_only() -> None:
    """Long chains of equal loops need no more code than short ones, whatever their numbers."""
    counts = {n: form_equations(library.four_bar_chain(n), formulation="embedded").stats["n_kinds"] for n in (4, 12)}
    assert counts[4] == counts[12] == 3  # the first, those between, the last
    system = library.geared_chain(8)
    values = [replace(item, values={"ratio": 5.0 + k}) for k, item in enumerate(system.constraints)]
    eom = form_equations(replace(system, constraints=tuple(values)), formulation="embedded")
    assert eom.stats["n_kinds"] == form_equations(system, formulation="embedded").stats["n_kinds"]
    assert_same(eom, form_equations(eom.system, formulation="multipliers"), size=0.05)


def test_large_chains_run_natively_and_agree() -> None:
    """Twenty-seven speeds: calls go through native code and the rows are put together from those of the loops."""
    system = library.four_bar_chain(9)
    eom, other = form_equations(system), form_equations(system, formulation="multipliers")
    assert eom.formulation == "embedded" and "local loops" in eom.stats["reason"]
    x, q, v, u = consistent(eom, size=0.05)
    for name in ("constraints", "projection"):
        for one, two in zip(eom.call(name, 0.3, q, v), other.call(name, 0.3, q, v), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-12 * max(1.0, float(np.max(np.abs(two)))))
    np.testing.assert_allclose(eom.mass_matrix(0.3, q), other.mass_matrix(0.3, q), atol=1e-10)
    np.testing.assert_allclose(eom.bias(0.3, q, v), other.bias(0.3, q, v), atol=1e-10)
    np.testing.assert_allclose(eom.input_map(0.3, q), other.input_map(0.3, q), atol=1e-12)
    assert_same(eom, other, size=0.05)


def random_system(seed: int) -> System:
    """A tree of random joints with gears and rules between random joints: overlapping, nested, on any base."""
    rng = np.random.default_rng(seed)
    parts, names = [], []
    kinds = [
        lambda k: Revolute(name=f"j{k}", axis="xyz"[k % 3]),
        lambda k: Universal(name=f"j{k}", first="z", second="y"),
        lambda k: Spherical(name=f"j{k}"),
        lambda k: Fixed(name=f"j{k}"),
    ]
    for k in range(9):
        joint = Free(name="j0") if k == 0 and seed % 2 else kinds[int(rng.choice(4, p=[0.6, 0.15, 0.1, 0.15]))](k)
        on = "world" if k == 0 or (k == 4 and seed % 3 == 0) else f"b{rng.integers(max(0, k - 4), k)}.end"
        parts.append(Part(rod(f"b{k}", 0.3 + 0.1 * rng.random(), 1.0 + rng.random(), "xyz"[k % 3]), on=on, joint=joint))
        names += [f"j{k}"] if isinstance(joint, Revolute) else []
    constraints = []
    for k in range(min(3, len(names) - 1)):
        one, two = rng.choice(names, 2, replace=False)
        constraints.append(_tie(f"tie{k}", str(one), str(two), float(rng.uniform(-2.0, 2.0)), k % 2 == 0))
    actuators = tuple(JointTorque(joint=name) for name in names)
    elements = (JointSpring(name="spring", joint=names[0], stiffness=3.0, damping=0.2),) if names else ()
    return System(
        name=f"random {seed}",
        parts=tuple(parts),
        constraints=tuple(constraints),
        actuators=actuators,
        elements=elements,
    )


def _tie(name: str, one: str, two: str, ratio: float, by_position: bool) -> Constraint:
    if by_position:
        return Constraint(name=name, rule=lambda s: s[one] - s.number("ratio") * s[two], values={"ratio": ratio})
    return Constraint(name=name, rule=lambda s: s[f"{one}_dot"] - s.number("r") * s[f"{two}_dot"], values={"r": ratio})


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 16))])
def test_random_trees_with_random_ties_agree(seed: int) -> None:
    system = random_system(seed)
    assert_same(form_equations(system, formulation="embedded"), form_equations(system, formulation="kane"), seed)


def test_trees_and_drives_are_served_too() -> None:
    """Without constraints every link is an aggregate; an elastic gear ties motor and joint without a row."""
    tree = library.free_flyer_arm()
    one, two = form_equations(tree, formulation="embedded"), form_equations(tree)
    x = random_state(one, 1)
    u = np.ones(one.n_u)
    np.testing.assert_allclose(one.x_dot(0.0, x, u), two.x_dot(0.0, x, u), rtol=1e-9, atol=1e-10)
    assert one.multipliers(0.0, x[: one.n_q], x[one.n_q :], u).size == 0
    arm = System(
        name="elastic",
        parts=(
            Part(rod("upper", 1.0, 2.0), joint=Revolute(name="shoulder", axis="z")),
            Part(rod("fore", 0.8, 1.0), on="upper.end", joint=Revolute(name="elbow", axis="z")),
        ),
        elements=(Drive(joint="elbow", ratio=30.0, rotor_inertia=1e-4, stiffness=100.0, damping=0.1),),
        actuators=(JointTorque(joint="elbow.motor"),),
    )
    one, two = form_equations(arm, formulation="embedded"), form_equations(arm)
    x = random_state(one, 2)
    np.testing.assert_allclose(one.x_dot(0.0, x, [0.3]), two.x_dot(0.0, x, [0.3]), rtol=1e-10)


def test_gravity_gradient_and_pushes_in_world_axes_reach_inner_bodies() -> None:
    base = library.differential_wrist()
    thrust = BodyForce(name="push", on="tool", at=(0.1, 0.0, 0.0), direction="y", axes="world")
    system = replace(base, environment=CircularOrbit(rate=1.1e-3), actuators=(*base.actuators, thrust))
    assert_same(form_equations(system, formulation="embedded"), form_equations(system, formulation="kane"))


@pytest.mark.filterwarnings("error")
def test_a_centre_of_attraction_is_not_asked_at_its_centre() -> None:
    system = replace(library.free_flyer_arm(), environment=CentralGravity(mu=1.0))
    assert form_equations(system, formulation="embedded").stats["n_aggregates"] > 1


def test_a_loop_to_its_own_parent_frame_does_not_embed_the_inboard_modes() -> None:
    """The beam's tip is the base of the joint that the plane holds, so that nothing of the beam belongs to its aggregate."""
    plane = PointOnPlane(name="plane", a="outer0.tip", b="inner1.end", normal="z")
    system = replace(library.kept_chain(2), constraints=(plane,))
    eom = form_equations(system, formulation="embedded")
    (member,) = (item for item in eom.handover.aggregates(eom.p).members if item.rows.size)
    assert [eom.speeds[i] for i in member.v] == ["first1_dot"]
    assert_same(eom, form_equations(system, formulation="multipliers"))


def test_functions_have_the_names_of_the_shared_ones() -> None:
    """They are listed, for large systems form them only when they are asked for."""
    for system, other in (
        (library.geared_chain(2), "kane"),
        (library.line_arm(), "artificial"),
        (library.pendulum(), "kane"),
    ):
        one, two = (form_equations(system, formulation=name) for name in ("embedded", other))
        assert set(one.functions) == set(two.functions)
        assert one.position_rows == two.position_rows and one.constraint_rows == two.constraint_rows


def test_new_numbers_need_no_new_equations() -> None:
    eom = form_equations(library.geared_chain(3), formulation="embedded")
    other = library.geared_chain(3, ratio=7.0)
    _, q, v, u = consistent(form_equations(other))
    found = eom.v_dot(0.0, q, v, u, eom.parameters_of(other))
    np.testing.assert_allclose(found, form_equations(other).v_dot(0.0, q, v, u), rtol=1e-11)


def test_some_loops_active_and_errors_that_decay() -> None:
    system = library.geared_chain(3)
    given: dict[str, Any] = {"active": ("gear0", "gear2"), "stabilization": Baumgarte(alpha=3.0, beta=4.0)}
    eom, other = (form_equations(system, formulation=name, **given) for name in ("embedded", "kane"))
    x = random_state(other, 3)  # off the constraints, so that the decay shows
    for what in ("v_dot", "multipliers"):
        one, two = (getattr(item, what)(0.0, x[:6], x[6:], [1.0, 2.0, 3.0]) for item in (eom, other))
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)
    again = pickle.loads(pickle.dumps(eom))
    np.testing.assert_allclose(again.x_dot(0.0, x, [1.0, 2.0, 3.0]), eom.x_dot(0.0, x, [1.0, 2.0, 3.0]), rtol=1e-15)


@pytest.mark.parametrize("name", ["geared_chain", "five_bar"])
def test_linear_models_agree(name: str) -> None:
    system = LOOPS[name]()
    x, _, _, u = consistent(form_equations(system))
    one, two = (
        linearize(form_equations(system, formulation=f), x, u, check=False) for f in ("embedded", "multipliers")
    )
    np.testing.assert_allclose(np.asarray(one.A), np.asarray(two.A), atol=1e-9 * np.max(np.abs(np.asarray(two.A))))
    np.testing.assert_allclose(np.asarray(one.B), np.asarray(two.B), atol=1e-9 * np.max(np.abs(np.asarray(two.B))))


def test_closed_loop_runs_natively_and_keeps_energy_and_loops() -> None:
    """A mast of four-bars falls freely: energy is kept and no loop opens."""
    eom = form_equations(library.four_bar_chain(2), formulation="embedded")
    x0 = np.asarray(make_consistent(eom, eom.state(crank_pin0_dot=1.0, crank_pin1_dot=-0.5)).x)
    sim = simulate(eom, x0=x0, t_span=(0.0, 0.5), rtol=1e-9, atol=1e-9)
    assert sim.dataset.attrs["plant"] == "data-driven"
    energy = eom.along("energy", sim.t, sim.x)
    assert np.ptp(energy) < 1e-7 * max(1.0, np.max(np.abs(energy)))  # the tolerance times a few hundred steps
    other = simulate(form_equations(eom.system, formulation="kane"), x0=x0, t_span=(0.0, 0.5), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(sim.x[-1], other.x[-1], atol=1e-6)
    assert max(np.max(np.abs(eom.residual(t, x[:6], x[6:]))) for t, x in zip(sim.t, sim.x, strict=True)) < 1e-9


def test_without_a_compiler_numpy_serves_large_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    eom = form_equations(library.geared_chain(13), formulation="embedded")
    x, q, v, u = consistent(eom, size=0.05)
    expected = eom.v_dot(0.0, q, v, u)
    monkeypatch.setattr(EmbeddedCalls, "kernel", lambda self, p: None)
    np.testing.assert_allclose(eom.v_dot(0.0, q, v, u), expected, rtol=1e-9, atol=1e-10)
