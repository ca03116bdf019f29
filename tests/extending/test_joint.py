"""A joint that is defined outside the package, in one class: a pin that slides along a circular slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from spacectl import (
    Free,
    JointTorque,
    Loop,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    form_equations,
    linearize,
    load_system,
    save_system,
    simulate,
    write_report,
)
from spacectl.dynamics.absolute_state import absolute_state
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.model import files
from spacectl.model.description import Number, always
from spacectl.model.files import register
from spacectl.model.joints import Joint
from spacectl.model.joints.base import columns
from spacectl.spatial.backend import constant, cos, sin, stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import axis_rotation

PIN = (0.0, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class PinInSlot(Joint):
    """A pin along y that runs in a circular slot in the plane x, z: place in the slot [rad] and turn about the pin [rad].

    Parameters
    ----------
    radius : float
        Of the slot, whose centre is J's origin [m].
    """

    radius: float
    coordinates: ClassVar[Any] = ((".place", "rad"), (".turn", "rad"))
    speeds: ClassVar[Any] = ((".place_dot", "rad/s"), (".turn_dot", "rad/s"))
    closing_names: ClassVar[tuple[str, ...]] = ("slot", "height", "tilt1", "tilt2")

    def numbers(self) -> dict[str, Number]:
        return {"radius": always(self.radius)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        r = n["radius"]
        R = axis_rotation(constant(PIN, q), q[1])
        return Placement(R, vector(r * sin(q[0]), 0.0 * r, -r * cos(q[0])))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        r, R, none = n["radius"], axis_rotation(constant(PIN, q), q[1]), zeros(3, q)
        along = R.T @ vector(r * cos(q[0]), 0.0 * r, r * sin(q[0]))
        return columns(stack(none, along), stack(constant(PIN, q), none))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        r, R = n["radius"], axis_rotation(constant(PIN, q), q[1])
        along = vector(r * cos(q[0]), 0.0 * r, r * sin(q[0]))
        inward = vector(-r * sin(q[0]), 0.0 * r, r * cos(q[0]))
        spin = constant(PIN, q) * v[1]
        seen = R.T @ along * v[0]
        turning = vector(
            *(spin[(i + 1) % 3] * seen[(i + 2) % 3] - spin[(i + 2) % 3] * seen[(i + 1) % 3] for i in range(3))
        )
        return stack(zeros(3, q), R.T @ inward * (v[0] * v[0]) - turning)

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        p, R = X_JF.p, X_JF.R
        return vector(p[0] * p[0] + p[2] * p[2] - n["radius"] * n["radius"], p[1], R[0, 1], R[2, 1])

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return X_JF.R[1, 1]


def system(**more: Any) -> System:
    bob = RigidBody(name="bob", mass=2.0, inertia=(0.1, 0.12, 0.08), com=(0.05, 0.1, -0.4))
    tip = RigidBody(name="tip", mass=1.0, inertia=(0.02, 0.03, 0.02), com=(0.2, 0.0, 0.1))
    parts = (
        Part(bob, at=(0.1, 0.0, 0.0), joint=PinInSlot(name="slot", radius=0.7), child_at=(0.0, 0.05, 0.0)),
        Part(tip, on="bob", at=(0.0, 0.0, -0.8), joint=Revolute(name="wrist", axis=(0.6, 0.0, 0.8))),
    )
    motors = (JointTorque(joint="slot", component="turn_dot"), JointTorque(joint="wrist"))
    return System(name="pin in slot", parts=parts, environment=UniformGravity(), actuators=motors, **more)


def states(n: int = 3) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(3)
    return [(rng.normal(size=3), rng.normal(size=3), rng.normal(size=2)) for _ in range(n)]


def test_every_formulation_gives_the_same_motion() -> None:
    assert not serves_tree(system())  # no native sweep knows the class: generated expressions serve it
    kane = form_equations(system(), formulation="kane")
    for formulation in ("articulated", "embedded", "udwadia_phohomsiri", "auto"):
        eom = form_equations(system(), formulation=formulation)
        for q, v, u in states():
            expected = kane.v_dot(0.0, q, v, u)
            np.testing.assert_allclose(eom.v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11, err_msg=formulation)
            np.testing.assert_allclose(eom.compiled().v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11)
    q, v, u = states(1)[0]
    np.testing.assert_allclose(
        form_equations(system(), formulation="articulated").reactions(0.0, q, v, u),
        kane.reactions(0.0, q, v, u),
        atol=1e-11,
    )


@pytest.mark.parametrize("formulation", ["multipliers", "udwadia_phohomsiri"])
def test_it_stands_in_absolute_coordinates(formulation: str) -> None:
    """Its closing equations say the same as its motion: accelerations against differences of joint motion."""
    undriven = replace(system(), actuators=system().actuators[1:])
    eom, h = form_equations(undriven), 1e-6
    absolute = form_equations(undriven, coordinates="absolute", formulation=formulation)
    for q, v, u in states(2):
        x, u = np.r_[q, v], u[1:]
        xa = absolute_state(eom, absolute, x)
        assert np.max(np.abs(absolute.residual(0.0, xa[: absolute.n_q], xa[absolute.n_q :]))) < 1e-13
        ahead, behind = (absolute_state(eom, absolute, x + s * h * eom.x_dot(0.0, x, u)) for s in (1.0, -1.0))
        rate = (ahead - behind)[absolute.n_q :] / (2.0 * h)
        # truncation h^2 times third derivatives of order 1e3, rounding 1e-16 / h
        np.testing.assert_allclose(absolute.v_dot(0.0, xa[: absolute.n_q], xa[absolute.n_q :], u), rate, atol=3e-9)


@pytest.mark.parametrize("formulation", ["kane", "partitioned", "embedded", "multipliers"])
def test_it_closes_a_loop(formulation: str) -> None:
    joint = PinInSlot(radius=0.7)
    bob = replace(system(), parts=system().parts[:1], actuators=())
    loop = Loop(name="slot", b="bob", at_a=(0.1, 0.0, 0.0), at_b=(0.0, 0.05, 0.0), joint=joint)
    free = replace(bob, parts=(Part(bob.parts[0].body, joint=Free(name="bob")),), constraints=(loop,))
    tree, eom = form_equations(bob), form_equations(free, formulation=formulation)
    x = np.array([0.4, -0.3, 0.7, 1.1])
    xa = absolute_state(tree, form_equations(bob, coordinates="absolute"), x)
    h = 1e-6
    wide = form_equations(bob, coordinates="absolute")
    ahead, behind = (absolute_state(tree, wide, x + s * h * tree.x_dot(0.0, x)) for s in (1.0, -1.0))
    rate = (ahead - behind)[wide.n_q :] / (2.0 * h)
    np.testing.assert_allclose(eom.v_dot(0.0, xa[: eom.n_q], xa[eom.n_q :]), rate, atol=1e-8)


def test_its_linearisation_agrees_with_central_differences() -> None:
    eom, h = form_equations(system()), 1e-6
    q, v, u = states(1)[0]
    x = np.r_[q, v]
    columns_ = [(eom.x_dot(0.0, x + d, u) - eom.x_dot(0.0, x - d, u)) / (2.0 * h) for d in h * np.eye(6)]
    np.testing.assert_allclose(linearize(eom, x, u, check=False).A, np.array(columns_).T, rtol=1e-6, atol=1e-6)


def test_it_runs_natively_and_by_the_machine_keeps_its_energy_and_is_reported(tmp_path: Path) -> None:
    eom = form_equations(system())
    x0 = eom.state(**{"slot.place": 0.6, "wrist": 0.4})
    runs = {
        tier: simulate(eom, x0=x0, t_span=(0.0, 1.0), tier=tier, rtol=1e-10, atol=1e-12) for tier in ("native", "vm")
    }
    np.testing.assert_allclose(runs["native"].x[-1], runs["vm"].x[-1], atol=1e-9)
    energies = eom.along("energy", runs["native"].t, runs["native"].x)
    assert np.ptp(energies) < 1e-7 * np.max(np.abs(energies))
    page = tmp_path / "run.html"
    write_report(runs["native"], page)
    assert "pininslot joint" in page.read_text(encoding="utf-8")


def test_its_number_varies_without_another_build() -> None:
    eom = form_equations(system())
    q, v, u = states(1)[0]
    longer = replace(
        system(), parts=(replace(system().parts[0], joint=PinInSlot(name="slot", radius=0.9)), system().parts[1])
    )
    p = eom.parameters_of(longer)
    np.testing.assert_allclose(eom.v_dot(0.0, q, v, u, p), form_equations(longer).v_dot(0.0, q, v, u), rtol=1e-12)


def test_files_need_the_class_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "slot.toml"
    with pytest.raises(ModelError, match=r"call spacectl.register\(PinInSlot\)"):
        save_system(system(), path)
    with monkeypatch.context() as patch:
        patch.setattr(files, "KINDS", dict(files.KINDS))
        register(PinInSlot)
        save_system(system(), path)
        assert load_system(path) == system()
    with pytest.raises(ModelError, match="PinInSlot.*import the module that calls"):
        load_system(path)


@dataclass(frozen=True, kw_only=True)
class Eccentric(Revolute):
    """A revolute joint whose pin is off centre: another motion under a known base."""

    offset: float = 0.1

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "offset": always(self.offset)}

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        X = super().placement(q, n)
        return Placement(X.R, n["axis"] * (n["offset"] * sin(q[0])))

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        return columns(stack(n["axis"], n["axis"] * (n["offset"] * cos(q[0]))))

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        return stack(zeros(3, q), n["axis"] * (-n["offset"] * sin(q[0]) * v[0] * v[0]))


def test_a_subclass_that_moves_otherwise_inherits_no_closing_equations_and_no_native_steps() -> None:
    bob = RigidBody(name="bob", mass=2.0, inertia=(0.1, 0.12, 0.08), com=(0.05, 0.1, -0.4))
    swing = System(
        name="swing",
        parts=(Part(bob, joint=Eccentric(name="pin", axis=(0.6, 0.0, 0.8))),),
        environment=UniformGravity(),
    )
    assert not serves_tree(swing)
    one, other = (form_equations(swing, formulation=name) for name in ("kane", "articulated"))
    x = np.array([0.7, 1.3])
    np.testing.assert_allclose(other.x_dot(0.0, x), one.x_dot(0.0, x), rtol=1e-12)
    rates = [linearize(one, x, check=False).A, linearize(other, x, check=False).A]
    np.testing.assert_allclose(*rates, rtol=1e-11, atol=1e-12)
    with pytest.raises(ModelError, match="no equations to close a loop; define closing_names and closing in Eccentric"):
        Loop(name="loop", b="bob", joint=Eccentric())
    with pytest.raises(ModelError, match="Eccentric"):
        form_equations(swing, coordinates="absolute")


def test_numbers_that_collide_with_those_of_the_body_are_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Heavy(Revolute):
        mass: float = 1.0

        def numbers(self) -> dict[str, Number]:
            return {**super().numbers(), "mass": always(self.mass)}

    bob = RigidBody(name="bob", mass=2.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(ModelError, match="'mass'.*rename it in Heavy.numbers"):
        System(name="s", parts=(Part(bob, joint=Heavy()),))


def test_a_motor_in_a_closing_joint_needs_its_wrenches() -> None:
    bob = RigidBody(name="bob", mass=2.0, inertia=(0.1, 0.12, 0.08), com=(0.05, 0.1, -0.4))
    loop = Loop(name="slot", b="bob", joint=PinInSlot(radius=0.7))
    motor = JointTorque(joint="slot", component="turn_dot")
    driven = System(name="s", parts=(Part(bob, joint=Free(name="bob")),), constraints=(loop,), actuators=(motor,))
    with pytest.raises(ModelError, match="define PinInSlot.effort_wrenches"):
        form_equations(driven).v_dot(0.0, np.r_[1.0, np.zeros(5), -0.7], np.zeros(6), [1.0])
