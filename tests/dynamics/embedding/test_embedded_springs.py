"""Springs between points in the recursion over aggregates, against the other formulations: forces, order N, energy, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    CircularOrbit,
    ElasticTether,
    FreeSpace,
    Loop,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    Spherical,
    SpringDamper,
    System,
    Tether,
    UniformGravity,
    correct_tree,
    factor_mass,
    form_equations,
    library,
    linearize,
    make_consistent,
    simulate,
)
from spacectl.dynamics.formulations.embedded import has_local_loops
from spacectl.model.description import always
from spacectl.model.elements import PointElement
from spacectl.model.library.rods import rod
from tests.dynamics.embedding.test_embedded import assert_same, consistent, random_system
from tests.dynamics.states import random_state


def spring(name: str, on_a: str, on_b: str, **changes: Any) -> SpringDamper:
    given = {"stiffness": 40.0, "length": 0.3, "damping": 0.7, "at_a": (0.1, -0.2, 0.15)} | changes
    return SpringDamper(name=name, on_a=on_a, on_b=on_b, **given)


def sprung_bars(n: int, *, to_world: bool = False) -> System:
    """A chain of four-bars, each with a spring of its own: across the window, or to the root."""
    ends = [("world" if to_world else f"crank{k}.end", f"rocker{k}.end") for k in range(n)]
    springs = tuple(spring(f"spring{k}", *pair, stiffness=40.0 + k) for k, pair in enumerate(ends))
    return replace(library.four_bar_chain(n), elements=springs)


def ball_arm(environment: Any = None) -> System:
    """Three rods on spherical joints, closed to the root at one point; springs along and across, with any damping."""
    parts, on = [], "world"
    for k in range(3):
        parts.append(Part(rod(f"b{k}", 0.4, 1.0, "xyz"[k]), on=on, joint=Spherical(name=f"ball{k}")))
        on = f"b{k}.end"
    return System(
        name="ball arm",
        environment=environment or UniformGravity(g=(0.0, -3.0, -9.0)),
        parts=tuple(parts),
        constraints=(Loop(name="pin", b="b1.end", at_a=(0.4, 0.4, 0.0), joint=Spherical()),),
        elements=(
            spring("stay", "b0", "b2.end", inertial_damping=0.4),
            spring("guy", "b2", "world", at_b=(0.2, 0.3, -0.4), inertial_damping=0.3),
            spring("drag", "b2", "b2.end", inertial_damping=0.5),  # both ends on one body: turning is damped
        ),
    )


def kept_segments(n: int = 2) -> System:
    """Return segments with held joints and beams; a spring from each beam's tip to the next body, and one to the root."""
    ties = tuple(spring(f"tie{k}", f"outer{k}.tip", f"inner{k + 1}.end") for k in range(n - 1))
    return replace(
        library.kept_chain(n), elements=(*ties, spring("guy", "world", f"outer{n - 1}.tip", inertial_damping=0.2))
    )


def braced_beam() -> System:
    """A flexible coupler, braced against crank and rocker."""
    springs = (spring(f"brace_{end}", "coupler0.tip", f"{end}0") for end in ("crank", "rocker"))
    return replace(library.four_bar_chain(1, flexible=True), elements=tuple(springs))


SYSTEMS = {
    "four-bars": lambda: sprung_bars(2),
    "four-bars to the root": lambda: sprung_bars(2, to_world=True),
    "ball arm": ball_arm,
    "ball arm in orbit": lambda: ball_arm(CircularOrbit(rate=0.6)),
    "kept segments": kept_segments,
    "braced beam": braced_beam,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_springs_act_as_in_other_formulations(name: str) -> None:
    """Accelerations and multipliers to 1e-10, linked by rounding alone; without the springs they would be others."""
    system = SYSTEMS[name]()
    eom = form_equations(system, formulation="embedded")
    other = form_equations(system, formulation="artificial" if name == "kept segments" else "multipliers")
    assert_same(eom, other)
    _, q, v, u = consistent(other)
    bare = form_equations(replace(system, elements=()), formulation="embedded").v_dot(0.3, q, v, u)
    expected = other.v_dot(0.3, q, v, u)
    assert np.max(np.abs(bare - expected)) > 1e-5 * np.max(np.abs(expected))


@pytest.mark.parametrize("name", ["ball arm in orbit", "kept segments"])
def test_native_code_and_numpy_agree(name: str) -> None:
    eom = form_equations(SYSTEMS[name](), formulation="embedded")
    x, _, _, u = consistent(eom)
    native = eom.compiled()
    expected = eom.x_dot(0.3, x, u)
    np.testing.assert_allclose(native.x_dot(0.3, x, u), expected, atol=1e-11 * np.max(np.abs(expected)))


LAWS: list[dict[str, Any]] = [
    {"inertial_damping": 0.8},
    {"length": lambda s: 0.3 + 0.1 * s.t, "tension_only": True},
    {"length": 0.0, "damping": 0.0, "cubic": 2.0},
    {"longest": 0.31, "shortest": 0.2, "stop_stiffness": 50.0},
]


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))])
def test_random_springs_on_random_trees_agree(seed: int) -> None:
    """Any law, ends on any bodies, on one body, on the root, within loops and across them."""
    rng, tree = np.random.default_rng(100 + seed), random_system(seed)
    springs = []
    for k in range(3):
        a, b = (f"b{i}{rng.choice(['', '.end'])}" for i in rng.integers(0, 9, 2))
        places = {"at_a": rng.standard_normal(3), "at_b": rng.standard_normal(3)}
        springs.append(spring(f"spring{k}", "world" if k == seed % 3 else a, b, **places, **LAWS[(seed + k) % 4]))
    around = FreeSpace() if seed % 2 else CircularOrbit(rate=0.8)
    system = replace(tree, elements=(*tree.elements, *springs), environment=around)
    assert_same(form_equations(system, formulation="embedded"), form_equations(system, formulation="kane"), seed)


def test_a_tree_with_springs_alone_is_served() -> None:
    system = replace(library.kept_chain(2), constraints=(), elements=kept_segments().elements)
    one, two = form_equations(system, formulation="embedded"), form_equations(system, formulation="articulated")
    x, u = random_state(one, 4), np.ones(one.n_u)
    expected = two.x_dot(0.3, x, u)
    np.testing.assert_allclose(one.x_dot(0.3, x, u), expected, atol=1e-11 * np.max(np.abs(expected)))
    assert one.stats["largest_aggregate"] == 2  # a beam's modes: a spring at its tip is held there by its parent
    assert form_equations(system).formulation == "articulated"  # as before


@pytest.mark.parametrize("to_world", [False, True])
def test_a_spring_in_each_loop_leaves_order_n(to_world: bool) -> None:
    """No aggregate grows, and long chains need no more code than short ones; springs to the root tie nothing together."""
    stats = {n: form_equations(sprung_bars(n, to_world=to_world), formulation="embedded").stats for n in (4, 12)}
    assert stats[4]["n_kinds"] == stats[12]["n_kinds"] == 3
    assert [stats[n]["n_loops"] for n in (4, 12)] == [4, 12] and stats[12]["largest_aggregate"] == 3


def test_auto_takes_local_springs_and_leaves_those_that_span_the_chain() -> None:
    near = sprung_bars(9)
    assert has_local_loops(near, near.constraints)
    far = replace(near, elements=(spring("cord", "crank0", "rocker8.end"),))
    assert not has_local_loops(far, far.constraints)


def test_energy_including_that_of_springs_is_conserved() -> None:
    """A window swings on a spring to the root, run natively."""
    window = library.four_bar_chain(1)
    sprung = replace(window, elements=(spring("guy", "world", "rocker0.end", damping=0.0, stiffness=400.0),))
    eom = form_equations(sprung, formulation="embedded")
    x0 = np.asarray(make_consistent(eom, eom.state(crank_pin0_dot=1.0)).x)
    sim = simulate(eom, x0=x0, t_span=(0.0, 0.5), rtol=1e-9, atol=1e-9)
    assert sim.dataset.attrs["plant"] == "data-driven"
    energy = eom.along("energy", sim.t, sim.x)
    assert np.ptp(energy) < 1e-7 * max(1.0, np.max(np.abs(energy)))  # the tolerance times a few hundred steps
    bare = form_equations(window, formulation="embedded")
    assert np.ptp(bare.along("energy", sim.t, sim.x)) > 0.1  # [J], what went into the spring and out of it


def test_linear_models_operators_and_the_tree_s_correction_agree() -> None:
    system = sprung_bars(2)
    eom, other = (form_equations(system, formulation=name) for name in ("embedded", "multipliers"))
    x, q, v, u = consistent(eom)
    one, two = (np.asarray(linearize(item, x, u, check=False).A) for item in (eom, other))
    np.testing.assert_allclose(one, two, atol=1e-9 * np.max(np.abs(two)))
    expected = eom.v_dot(0.3, q, v, u)
    np.testing.assert_allclose(correct_tree(eom, 0.3, x, u).v_dot, expected, atol=1e-10 * np.max(np.abs(expected)))
    bare = form_equations(replace(system, elements=()), formulation="embedded")
    y = np.arange(2.0)
    np.testing.assert_allclose(factor_mass(eom, 0.3, q).solve(y), factor_mass(bare, 0.3, q).solve(y), rtol=1e-14)


def sprung_gears() -> System:
    """Twenty-six speeds, enough for native code in every call; a spring along each link but the first."""
    springs = tuple(spring(f"spring{k}", f"link{k}", f"link{k + 1}.end") for k in range(12))
    return replace(library.geared_chain(13), elements=springs)


def test_large_chains_run_natively() -> None:
    eom = form_equations(sprung_gears())
    assert eom.formulation == "embedded"
    _, q, v, u = consistent(eom, size=0.05)
    expected = eom.handover.aggregates(eom.p).v_dot(0.3, q, v, u)
    np.testing.assert_allclose(eom.v_dot(0.3, q, v, u), expected, atol=1e-10 * np.max(np.abs(expected)))


def test_springs_leave_mass_matrix_and_input_map_to_the_tree_s_sweep() -> None:
    eom, bare = (form_equations(item, formulation="embedded") for item in (sprung_gears(), library.geared_chain(13)))
    assert "mass_matrix" in eom.numeric and "bias" in bare.numeric and "bias" not in eom.numeric
    q = eom.state(joint3=0.4, joint5=-0.7)[: eom.n_q]
    np.testing.assert_array_equal(eom.mass_matrix(0.3, q), bare.mass_matrix(0.3, q))
    np.testing.assert_array_equal(eom.input_map(0.3, q), bare.input_map(0.3, q))


def test_new_numbers_need_no_new_equations() -> None:
    eom = form_equations(sprung_bars(2), formulation="embedded")
    changed = replace(
        eom.system, elements=tuple(replace(item, stiffness=7.0, at_a=(0.3, 0.1, -0.2)) for item in eom.system.elements)
    )
    _, q, v, u = consistent(eom)
    expected = form_equations(changed, formulation="multipliers").v_dot(0.0, q, v, u)
    np.testing.assert_allclose(eom.v_dot(0.0, q, v, u, eom.parameters_of(changed)), expected, rtol=1e-10, atol=1e-10)


def wind(power: int) -> type[PointElement]:
    """A user's law that asks where its points are in the root, and for the time."""

    @dataclass(frozen=True, kw_only=True)
    class Wind(PointElement):
        first: str
        second: str
        drag: float = 0.4

        @property
        def points(self) -> tuple[tuple[str, str], ...]:
            return ((self.first, ""), (self.second, ""))

        def numbers(self) -> dict[str, Any]:
            return {"drag": always(self.drag)}

        def forces(self, p: Any, v: Any, rate: Any, t: Any, n: Mapping[str, Any]) -> list[Any]:
            air = ca.vertcat(p[0][1] ** power, 1.0, ca.sin(t))
            return [n["drag"] * (air - v[0]), n["drag"] * p[0][0] * (air - v[1])]

    return Wind


@pytest.mark.parametrize("environment", [FreeSpace(), CircularOrbit(rate=0.8)], ids=["at rest", "in orbit"])
def test_laws_of_users_see_the_root_and_do_not_share_code_by_name(environment: Any) -> None:
    for power in (1, 2):  # equal names and numbers, other laws
        element = wind(power)(name="wind", first="rocker1.end", second="crank1")
        system = replace(library.four_bar_chain(2), environment=environment, elements=(element,))
        assert_same(form_equations(system, formulation="embedded"), form_equations(system, formulation="multipliers"))


@pytest.mark.parametrize(
    "tether",
    [
        Tether(name="line", on="link1.end", length=2.0),
        ElasticTether(name="line", on="link1.end", to="world", length=0.2, stiffness=10.0, density=0.1, masses=2),
    ],
    ids=["straight", "elastic"],
)
def test_tethers_are_refused_by_name_with_the_cure(tether: Any) -> None:
    arm = library.geared_chain(2)
    bob = RigidBody(name="bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    on = "line" if isinstance(tether, Tether) else "link1.end"
    system = replace(
        arm, elements=(tether,), parts=(*arm.parts, Part(bob, on=on, joint=Revolute(name="hook", axis="z")))
    )
    with pytest.raises(ModelError, match=r"ether 'line'.*formulation='auto'"):
        form_equations(system, formulation="embedded")
    eom = form_equations(system)
    assert eom.formulation == "kane"
    with pytest.raises(ModelError, match=r"tether 'line'.*eom\.v_dot"):
        correct_tree(eom, 0.0, eom.state())


def test_a_string_without_mass_is_a_spring() -> None:
    """Reeled in, from body to body."""
    string = ElasticTether(
        name="line", on="link0", to="link2.end", length=lambda s: 0.2 - 0.1 * s.t, stiffness=10.0, damping=0.3
    )
    system = replace(library.geared_chain(3), elements=(string,))
    assert_same(form_equations(system, formulation="embedded"), form_equations(system, formulation="kane"))
