"""An environment of one's own: a ship without gravity that turns faster and faster while its engine burns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Beam,
    Free,
    JointTorque,
    Loop,
    Part,
    Position,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    SpringDamper,
    System,
    Velocity,
    correction_terms,
    form_equations,
    linearize,
    load_system,
    register,
    save_system,
    simulate,
    write_report,
)
from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.model.description import Number, always, set_field
from spacectl.model.environment import Environment
from spacectl.spatial.backend import constant
from spacectl.spatial.inertia import Placement

FORMULATIONS = ("kane", "articulated", "embedded", "multipliers", "udwadia_phohomsiri")


@register
@dataclass(frozen=True, kw_only=True)
class BurningShip(Environment):
    """The root turns at ``spin_up t`` and is pushed by ``thrust + rise t``, both along z; nothing attracts."""

    spin_up: float = 0.2
    thrust: float = 0.5
    rise: float = 0.1

    def __post_init__(self) -> None:
        for key in ("spin_up", "thrust", "rise"):
            set_field(self, key, as_scalar(getattr(self, key), key))

    def numbers(self) -> dict[str, Number]:
        return {key: always(getattr(self, key)) for key in ("spin_up", "thrust", "rise")}

    def root_rate(self, t: Any, n: Mapping[str, Any]) -> Any:
        return constant((0.0, 0.0, 1.0), n["spin_up"]) * (n["spin_up"] * t)

    def root_acceleration(self, t: Any, n: Mapping[str, Any]) -> Any:
        return constant((0.0, 0.0, 1.0), n["thrust"]) * (n["thrust"] + n["rise"] * t)

    def potential(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
        mass, com, _ = body
        return mass * (n["thrust"] + n["rise"] * t) * X_NB.point(com)[2]


SHIP = BurningShip()


def inertial(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Rotation of the root since t = 0, and the place of its origin."""
    angle = 0.5 * SHIP.spin_up * t**2
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([0.0, 0.0, 0.25 * t**2 + 0.1 * t**3 / 6.0])


def loose(environment: Environment = SHIP) -> System:
    body = RigidBody(name="body", mass=3.0, inertia=(1.0, 2.0, 2.5))
    sensors = (Position(name="p", on="body"), Velocity(name="v", on="body"))
    return System(name="loose", parts=(Part(body, joint=Free(name="body")),), environment=environment, sensors=sensors)


@pytest.mark.parametrize("tier", ["native", "vm", "callback"])
def test_a_loose_body_flies_straight_on(tier: Any, tmp_path: Path) -> None:
    eom = form_equations(loose())
    p, v = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.1, -0.4])
    state = dict(zip((f"body.{key}" for key in ("x", "y", "z", "x_dot", "y_dot", "z_dot")), [*p, *v], strict=True))
    x0 = eom.state(**state)
    sim = simulate(eom, x0=x0, t_span=(0.0, 4.0), grid=9, rtol=1e-11, atol=1e-12, tier=tier)
    for t, x, q in zip(sim.t, sim.x[:, 4:7], sim.x[:, :4], strict=True):
        R, origin = inertial(t)
        assert np.allclose(x, R.T @ (p + v * t - origin), atol=1e-9)
        angle = -0.5 * 0.2 * t**2  # it does not turn, the root does
        assert np.allclose(np.abs(q[[0, 3]]), np.abs([np.cos(angle / 2.0), np.sin(angle / 2.0)]), atol=1e-9)
    assert "BurningShip" in write_report(sim, tmp_path / "loose.html").read_text(encoding="utf-8")


def craft(environment: Environment = SHIP, n: int = 0) -> System:
    """Every kind of link: free, flexible, ball, slide; a spring to the root; `n` more links."""
    boom = Beam(name="boom", length=2.0, mass=1.0, EI=30.0, bending=("y", "z"), modes=1)
    link = RigidBody(name="link", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.3, 0.1, 0.0))
    parts = [
        Part(RigidBody(name="hub", mass=8.0, inertia=(1.0, 1.2, 1.5)), joint=Free(name="hub")),
        Part(boom, on="hub", at=(0.4, 0.1, 0.0), joint=Revolute(name="root", axis="y")),
        Part(link, on="boom.tip", joint=Spherical(name="ball")),
        Part(replace(link, name="slider"), on="hub", at=(0.0, 0.3, 0.0), joint=Prismatic(name="slide", axis="z")),
    ]
    parts += [
        Part(replace(link, name=f"l{k}"), on=f"l{k - 1}" if k else "hub", at=(0.0, 0.0, 0.4), joint=Revolute(axis="x"))
        for k in range(n)
    ]
    spring = SpringDamper(
        name="line", on_a="world", on_b="link", at_a=(0.0, 0.0, 2.0), stiffness=5.0, inertial_damping=0.5, length=0.5
    )
    return System(
        name="craft",
        parts=tuple(parts),
        environment=environment,
        elements=(spring,),
        actuators=(JointTorque(joint="root"),),
    )


@pytest.mark.parametrize("n", [0, 20])
def test_all_formulations_agree(n: int) -> None:
    system, rng, t = craft(n=n), np.random.default_rng(n), 1.7
    reference = form_equations(system, formulation="kane")
    x = reference.state(0.3 * rng.standard_normal(reference.n_x))
    expected = reference.x_dot(t, x, [0.4])
    for formulation in FORMULATIONS if not n else ("articulated", "embedded"):
        eom = form_equations(system, formulation=formulation)
        native = eom.compiled()
        for found in (eom.x_dot(t, x, [0.4]), native.x_dot(t, x, np.array([0.4]))):
            assert np.allclose(found, expected, rtol=0.0, atol=1e-9 * np.max(np.abs(expected))), formulation


def loop(environment: Environment = SHIP) -> System:
    bar = RigidBody(name="a", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0))
    parts = (
        Part(bar, joint=Revolute(name="q1", axis="y")),
        Part(replace(bar, name="b"), on="a", at=(1.0, 0.0, 0.0), joint=Revolute(name="q2", axis="y")),
        Part(replace(bar, name="c"), at=(1.5, 0.0, 0.0), joint=Revolute(name="q3", axis="y")),
    )
    pin = Loop(name="pin", a="b", at_a=(1.0, 0.0, 0.0), b="c", at_b=(1.0, 0.0, 0.0), joint=Revolute(axis="y"))
    return System(name="loop", parts=parts, constraints=(pin,), environment=environment)


def test_loops_run_alike_in_all_formulations() -> None:
    slope = np.arccos(0.25)
    runs = []
    for formulation in ("kane", "embedded", "udwadia_phohomsiri", "partitioned"):
        eom = form_equations(loop(), formulation=formulation)
        x0 = eom.state(q1=-slope, q2=slope, q3=slope - np.pi)
        for tier in ("native", "vm", "callback"):
            runs.append(simulate(eom, x0=x0, t_span=(0.0, 1.0), grid=4, tier=tier, rtol=1e-10).x)
    for run in runs[1:]:
        assert np.allclose(run, runs[0], atol=1e-7)


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded"])
def test_linearization_at_a_time_equals_central_differences(formulation: str) -> None:
    parts = tuple(
        Part(RigidBody(name=f"b{k}", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.4, 0.0, 0.1)), on=on, at=(0.3, 0.2, 0.0),
             joint=joint)
        for k, (on, joint) in enumerate((("world", Revolute(name="j0", axis="y")), ("b0", Prismatic(name="j1", axis="x"))))
    )  # fmt: skip
    system = System(name="arm", parts=parts, environment=SHIP, actuators=(JointTorque(joint="j0"),))
    eom, t, x, h = form_equations(system, formulation=formulation), 2.3, np.array([0.3, -0.2, 0.5, 0.1]), 1e-6
    model = linearize(eom, x, u=[0.2], t=t, check=False)
    A = [(eom.x_dot(t, x + h * d, [0.2]) - eom.x_dot(t, x - h * d, [0.2])) / (2.0 * h) for d in np.eye(4)]
    assert np.allclose(model.A, np.array(A).T, atol=1e-8)
    other = linearize(eom, x, u=[0.2], t=0.0, check=False)
    assert not np.allclose(model.A, other.A, atol=1e-3)


def test_the_native_tables_do_not_include_it() -> None:
    system = replace(loose(), environment=BurningShip(spin_up=0.0, thrust=0.5, rise=0.1))
    assert not SHIP.is_steady and not serves_tree(system)
    eom = form_equations(system)
    with pytest.raises(ModelError, match="known joints, actuators and environments"):
        eom.compiled(kind="data-driven")
    with pytest.raises(ModelError, match="known joints, actuators and environments"):
        simulate(eom, t_span=(0.0, 1.0), tier="data-driven")


def test_truncated_orders_and_the_correction_include_it() -> None:
    def boom(order: str) -> System:
        beam = Beam(name="boom", length=2.0, mass=1.0, EI=30.0, bending=("y", "z"), modes=1, order=order)
        return System(name="boom", parts=(Part(beam, joint=Revolute(name="root", axis="y")),), environment=SHIP)

    rng = np.random.default_rng(8)
    q, v = 0.05 * rng.standard_normal(3), rng.standard_normal(3)
    proper, rough = (form_equations(boom(order)) for order in ("linearised", "premature"))
    lost = correction_terms(boom("consistent")).force(1.2, q, v)
    assert (rough.bias(1.2, q, v) - proper.bias(1.2, q, v))[1:] == pytest.approx(lost, abs=1e-8)


def test_files_numbers_and_structure(tmp_path: Path) -> None:
    system = craft()
    again = load_system(save_system(system, tmp_path / "craft.toml"))
    assert again == system
    other = craft(BurningShip(spin_up=0.3, thrust=-0.1, rise=0.0))
    assert other.structure_hash() == system.structure_hash()
    eom, changed = form_equations(system), form_equations(other)
    p = eom.parameters.vector({"environment.spin_up": 0.3, "environment.thrust": -0.1, "environment.rise": 0.0})
    assert eom.x_dot(2.0, eom.x_rest, [0.0], p) == pytest.approx(changed.x_dot(2.0, changed.x_rest, [0.0]), abs=1e-12)
    assert system.structure_hash() != craft(Environment()).structure_hash()
