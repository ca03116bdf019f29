"""Classes that the native kernels do not know go the general way: slower, never wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Beam,
    CentralGravity,
    CircularOrbit,
    FreeSpace,
    JointTorque,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    correction_terms,
    form_equations,
    library,
    linearize,
    simulate,
)
from spacectl.core.errors import ModelError
from spacectl.dynamics.recursion.linear_kernel import LinearKernel
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.model.environment import Environment
from spacectl.spatial.backend import cross, dot, stack
from spacectl.spatial.inertia import Placement


@dataclass(frozen=True, kw_only=True)
class SpringField(Environment):
    """A field -k r per unit mass about the origin: its own class, of which nothing else knows."""

    def gravity_wrench(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        return stack(cross(com, -2.0 * mass * r), -2.0 * mass * r)

    def potential(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        return mass * dot(r, r) + 0.0 * I_C[0, 0]


class MyOrbit(CircularOrbit):
    """The same field under another name."""


class Doubled(CircularOrbit):
    """Another field under a known base."""

    def gravity_wrench(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
        return 2.0 * super().gravity_wrench(t, X_NB, body, n)


def masses(environment: Environment, n: int = 1) -> System:
    """Point-like bodies that slide along x, one behind the other."""
    bodies = [RigidBody(name=f"b{i}", mass=2.0, inertia=(0.1, 0.1, 0.1)) for i in range(n)]
    names = ["world", *(body.name for body in bodies)]
    parts = [
        Part(body, on=on, at=(0.2, 0.0, 0.0), joint=Prismatic(name=f"s{i}", axis="x"))
        for i, (body, on) in enumerate(zip(bodies, names, strict=False))
    ]
    return System(name="masses", parts=tuple(parts), environment=environment)


def test_a_subclass_without_changes_keeps_its_gravity() -> None:
    eom = form_equations(masses(MyOrbit(rate=0.01)))
    A = linearize(eom, eom.state(), check=False).A
    assert A[1, 0] == pytest.approx(3e-4, rel=1e-12)  # Hill's equations


def test_a_subclass_with_another_field_is_not_taken_for_its_base() -> None:
    eom = form_equations(masses(Doubled(rate=0.01)))
    A = linearize(eom, eom.state(), check=False).A
    assert A[1, 0] == pytest.approx(5e-4, rel=1e-12)  # 2 * 2 n^2 of the field, n^2 of the turning frame


@pytest.mark.parametrize("n", [3, 30])
def test_a_field_of_ones_own_acts_in_all_formulations(n: int) -> None:
    system = masses(SpringField(), n)
    assert not serves_tree(system)
    q = 0.1 + 0.01 * np.arange(n)
    x = np.cumsum(0.2 + q)
    expected = -2.0 * np.diff(np.concatenate([[0.0], x]))  # each mass falls by -2 x
    for formulation in ("kane", "articulated", "embedded"):
        eom = form_equations(system, formulation=formulation)
        assert eom.v_dot(0.0, q, np.zeros(n), np.zeros(0)) == pytest.approx(expected, rel=1e-10), formulation
        native = eom.compiled().x_dot(0.0, np.concatenate([q, np.zeros(n)]), np.zeros(0))
        assert native[n:] == pytest.approx(expected, rel=1e-10), formulation


def test_a_run_in_a_field_of_ones_own_oscillates() -> None:
    sim = simulate(form_equations(masses(SpringField())), x0=[0.8, 0.0], t_span=(0.0, 2.0), rtol=1e-10)
    assert sim["s0"][-1] + 0.2 == pytest.approx(np.cos(np.sqrt(2.0) * 2.0), abs=1e-8)


def test_the_data_driven_kernels_refuse_what_they_do_not_know() -> None:
    eom = form_equations(masses(SpringField()))
    with pytest.raises(ModelError, match="SpringField"):
        LinearKernel(eom.system, eom.parameters, eom.p)
    with pytest.raises(ModelError, match="known joints, actuators and environments"):
        eom.compiled(kind="data-driven")


@dataclass(frozen=True, kw_only=True)
class Slanted(Environment):
    """A linear field of one's own in a root that turns faster and faster about a slanted axis."""

    def root_rate(self, t: Any, n: Mapping[str, Any]) -> Any:
        return stack(0.1 + 0.02 * t, 0.05 + 0.0 * t, 0.2 - 0.03 * t * t)

    def gravity_wrench(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
        mass, com, _ = body
        r = X_NB.R.T @ X_NB.p + com
        force = -(0.4 + 0.1 * t) * mass * r
        return stack(cross(com, force), force)

    def potential(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
        mass, com, I_C = body
        r = X_NB.R.T @ X_NB.p + com
        spread = 0.5 * (I_C[0, 0] + I_C[1, 1] + I_C[2, 2])
        return 0.5 * (0.4 + 0.1 * t) * (mass * dot(r, r) + spread)


def beam_in(environment: Environment, order: str) -> System:
    beam = Beam(name="beam", length=1.0, mass=1.0, EI=1.0, bending=("y", "z"), modes=2, order=order)
    part = Part(beam, joint=Revolute(name="hub", axis="z"))
    return System(name="s", parts=(part,), environment=environment)


def test_truncated_orders_differ_by_the_correction_in_a_field_of_ones_own() -> None:
    environment = Slanted()
    rng = np.random.default_rng(3)
    t, q, v = 0.7, 0.1 * rng.standard_normal(5), rng.standard_normal(5)
    proper, rough = (form_equations(beam_in(environment, order)) for order in ("linearised", "premature"))
    lost = correction_terms(beam_in(environment, "consistent")).force(t, q, v)
    assert proper.bias(t, q, v)[1:] == pytest.approx(rough.bias(t, q, v)[1:] - lost, abs=1e-6)


def test_the_premature_order_refuses_a_field_that_is_not_linear() -> None:
    class Outer(CentralGravity):
        pass

    with pytest.raises(ModelError, match="Outer"):
        form_equations(beam_in(Outer(), "premature")).bias(0.0, np.zeros(5), np.zeros(5))


def test_flexible_bodies_require_the_potential_of_a_field() -> None:
    class Bare(Environment):
        def gravity_wrench(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
            return stack(0.0 * X_NB.p, 0.0 * X_NB.p)

    with pytest.raises(ModelError, match=r"potential\(t, X_NB, body, n\)"):
        form_equations(beam_in(Bare(), "consistent")).bias(0.0, np.zeros(5), np.zeros(5))


@dataclass(frozen=True, kw_only=True)
class Screw(Revolute):
    """A revolute joint that also advances by 0.1 m per radian."""

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        turned = super().placement(q, n)
        return Placement(turned.R, turned.p + 0.1 * q[0] * n["axis"])

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        rows = super().subspace(q, n)
        axis = n["axis"]
        return (
            ca.vertcat(rows[:3], 0.1 * axis) if isinstance(rows, ca.SX) else np.vstack([rows[:3], 0.1 * axis[:, None]])
        )


def test_a_joint_derived_from_a_known_one_is_not_taken_for_it() -> None:
    body = RigidBody(name="nut", mass=3.0, inertia=(0.3, 0.3, 0.5))
    system = System(
        name="screw", parts=(Part(body, joint=Screw(name="turn", axis="z")),), actuators=(JointTorque(joint="turn"),)
    )
    assert not serves_tree(system)
    for formulation in ("kane", "articulated"):
        eom = form_equations(system, formulation=formulation)
        assert eom.v_dot(0.0, [0.4], [1.5], [2.0])[0] == pytest.approx(2.0 / (0.5 + 3.0 * 0.1**2), rel=1e-12)
        assert linearize(eom, eom.state()).B[1, 0] == pytest.approx(1.0 / (0.5 + 3.0 * 0.1**2), rel=1e-12)


def test_classes_of_one_name_with_different_code_differ_in_structure() -> None:
    def field(factor: float) -> Environment:
        class Field(SpringField):
            def gravity_wrench(self, t: Any, X_NB: Placement, body: Any, n: Mapping[str, Any]) -> Any:
                return factor * super().gravity_wrench(t, X_NB, body, n)

        return Field()

    weak, again, strong = (masses(field(factor)).structure_hash() for factor in (1.0, 1.0, 3.0))
    assert weak == again != strong
    assert library.chain(3).structure_hash() == library.chain(3).structure_hash()


def test_known_kinds_stay_with_the_kernels() -> None:
    for environment in (FreeSpace(), CentralGravity(), CircularOrbit(rate=0.1), MyOrbit(rate=0.1)):
        assert serves_tree(masses(environment))
