"""Constraints that are defined outside the package, in one class each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Artificial,
    BodyForce,
    Constraint,
    Frame,
    JointForce,
    JointTorque,
    ModelError,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    System,
    UniformGravity,
    find_base_wrench,
    form_equations,
    linearize,
    load_system,
    make_consistent,
    save_system,
    simulate,
    write_report,
)
from spacectl.dynamics.absolute_state import absolute_state
from spacectl.model import files
from spacectl.model.constraints import AnyConstraint, FrameConstraint, Quantities
from spacectl.model.description import Number, always, unless_trivial
from spacectl.model.files import register
from spacectl.spatial.backend import dot, vector
from spacectl.spatial.inertia import Placement


@dataclass(frozen=True, kw_only=True)
class Distance(AnyConstraint):
    """Two points keep their distance: a massless rod with ball ends.

    Parameters
    ----------
    first, second : str
        Frames at the points.
    length : float
        [m].
    """

    first: str
    second: str
    length: float

    def numbers(self) -> dict[str, Number]:
        return {"length": always(self.length)}

    def equations(self, s: Quantities) -> Any:
        d = s.position(self.first) - s.position(self.second)
        return ca.dot(d, d) - s.number("length") ** 2


@dataclass(frozen=True, kw_only=True)
class Rod(FrameConstraint):
    """The same between frames: rows of the relative placement."""

    length: float

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "length": always(self.length)}

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return vector(dot(X_JF.p, X_JF.p) - n["length"] * n["length"])


@dataclass(frozen=True, kw_only=True)
class NoSlip(FrameConstraint):
    """F does not slip along directions of J: equations of speeds between frames."""

    along: Any = (1.0, 0.0, 0.0)

    @property
    def has_position_level(self) -> bool:
        return False

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "along": unless_trivial(self.along)}

    def rates(self, X_JF: Placement, V_JF_J: Any, n: Mapping[str, Any]) -> Any:
        return vector(dot(n["along"], V_JF_J[3:6]))


def link(name: str, tip: float) -> RigidBody:
    frames = (Frame(name="tip", at=(0.0, 0.0, -tip)),)
    return RigidBody(name=name, mass=1.5, inertia=(0.1, 0.12, 0.05), com=(0.0, 0.0, -0.5 * tip), frames=frames)


GAP = 0.8


def pendulums(constraint: AnyConstraint, **more: Any) -> System:
    """Two pendulums in space whose tips a rod joins; the tips hang 1 m apart in x and 0.2 m in z, turned inwards."""
    parts = (
        Part(link("left", 1.0), joint=Spherical(name="a")),
        Part(link("right", 0.8), at=(1.0, 0.1, 0.0), joint=Revolute(name="b", axis="y")),
    )
    motors = (JointTorque(joint="b"), BodyForce(on="left.tip", direction=(0.0, 1.0, 0.0), axes="world", name="push"))
    return System(
        name="pendulums", parts=parts, environment=UniformGravity(), actuators=motors, constraints=(constraint,), **more
    )


DISTANCE = Distance(name="rod", first="left.tip", second="right.tip", length=GAP)
ROD = Rod(name="rod", a="left.tip", b="right.tip", length=GAP)


def written_as_rule() -> Constraint:
    def rule(s: Any) -> Any:
        d = s.position("left.tip") - s.position("right.tip")
        return ca.dot(d, d) - GAP**2

    return Constraint(name="rod", rule=rule)


def start(eom: Any) -> np.ndarray:
    x = eom.state(**{"a.qw": 0.98, "a.qy": -0.15, "b": 0.3, "a.wx": 0.4, "b_dot": 0.5})
    return make_consistent(eom, x).x


@pytest.mark.parametrize("constraint", [DISTANCE, ROD], ids=["named quantities", "between frames"])
@pytest.mark.parametrize(
    "formulation", ["kane", "multipliers", "udwadia_phohomsiri", "partitioned", "embedded", "artificial"]
)
def test_every_formulation_gives_what_a_rule_gives(constraint: AnyConstraint, formulation: str) -> None:
    rule = form_equations(pendulums(written_as_rule()), formulation="kane")
    eom = form_equations(pendulums(constraint), formulation=formulation)
    x, u = np.asarray(start(rule)), np.array([0.3, -0.7])
    q, v = x[: eom.n_q], x[eom.n_q :]
    expected = rule.v_dot(0.0, q, v, u)
    np.testing.assert_allclose(eom.v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(eom.compiled().v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(eom.reactions(0.0, q, v, u), rule.reactions(0.0, q, v, u), atol=1e-10)
    np.testing.assert_allclose(eom.multipliers(0.0, q, v, u), rule.multipliers(0.0, q, v, u), rtol=1e-10)


@pytest.mark.parametrize("constraint", [DISTANCE, ROD], ids=["named quantities", "between frames"])
def test_in_absolute_coordinates_and_on_the_base_it_is_the_same(constraint: AnyConstraint) -> None:
    plain = replace(pendulums(constraint), actuators=())
    eom, absolute = form_equations(plain), form_equations(plain, coordinates="absolute")
    x = np.asarray(start(eom))
    xa = absolute_state(eom, absolute, x)
    h = 1e-6
    ahead, behind = (absolute_state(eom, absolute, x + s * h * eom.x_dot(0.0, x)) for s in (1.0, -1.0))
    rate = (ahead - behind)[absolute.n_q :] / (2.0 * h)
    np.testing.assert_allclose(absolute.v_dot(0.0, xa[: absolute.n_q], xa[absolute.n_q :]), rate, atol=1e-7)
    rule = form_equations(replace(pendulums(written_as_rule()), actuators=()))
    np.testing.assert_allclose(find_base_wrench(eom, 0.0, x), find_base_wrench(rule, 0.0, x), atol=1e-10)


@pytest.mark.parametrize("constraint", [DISTANCE, ROD], ids=["named quantities", "between frames"])
def test_it_runs_is_linearised_and_is_reported(constraint: AnyConstraint, tmp_path: Path) -> None:
    eom = form_equations(pendulums(constraint))
    x = np.asarray(start(eom))
    runs = {
        tier: simulate(eom, x0=x, u=[0.0, 0.0], t_span=(0.0, 1.0), tier=tier, rtol=1e-10, atol=1e-12)
        for tier in ("native", "vm")
    }
    np.testing.assert_allclose(runs["native"].x[-1], runs["vm"].x[-1], atol=1e-8)
    end = runs["native"].x[-1]
    assert np.max(np.abs(eom.residual(1.0, end[: eom.n_q], end[eom.n_q :]))) < 1e-10
    write_report(runs["native"], tmp_path / "run.html")
    rule = form_equations(pendulums(written_as_rule()))
    found, expected = (linearize(item, x, [0.0, 0.0], check=False) for item in (eom, rule))
    np.testing.assert_allclose(found.A, expected.A, atol=1e-9)


def test_its_linear_model_agrees_with_central_differences() -> None:
    """A sliding block and a pendulum joined by a rod: one freedom, so that A follows from accelerations on the constraint."""
    parts = (
        Part(RigidBody(name="block", mass=2.0, inertia=(0.1, 0.1, 0.1)), joint=Prismatic(name="x", axis="x")),
        Part(link("swing", 1.0), at=(1.2, 0.0, 0.6), joint=Revolute(name="b", axis="y")),
    )
    rod = Distance(name="rod", first="block", second="swing.tip", length=1.1)
    system = System(
        name="s", parts=parts, environment=UniformGravity(), actuators=(JointForce(joint="x"),), constraints=(rod,)
    )
    eom = form_equations(system)
    x = np.asarray(make_consistent(eom, eom.state(**{"b": 0.4, "b_dot": 0.3}), hold=("b", "b_dot")).x)
    model = linearize(eom, x, [0.2], check=False, independent=("b",))
    h, rates = 1e-5, []
    for key in ("b", "b_dot"):
        ends = []
        for s in (1.0, -1.0):
            moved = x.copy()
            moved[eom.states.index(key)] += s * h
            kept = np.asarray(make_consistent(eom, moved, hold=("b", "b_dot")).x)
            ends.append(eom.x_dot(0.0, kept, [0.2])[[eom.states.index("b"), eom.states.index("b_dot")]])
        rates.append((ends[0] - ends[1]) / (2.0 * h))
    np.testing.assert_allclose(model.A, np.array(rates).T, rtol=1e-6, atol=1e-6)


def test_equations_of_speeds_between_frames_act_as_a_rule_of_speeds() -> None:
    parts = pendulums(ROD).parts
    slip = NoSlip(name="slip", b="left.tip", along=(0.6, 0.8, 0.0))
    rule = Constraint(name="slip", rule=lambda s: 0.6 * s.velocity("left.tip")[0] + 0.8 * s.velocity("left.tip")[1])
    ours, other = (
        System(name="s", parts=parts, environment=UniformGravity(), constraints=(item,)) for item in (slip, rule)
    )
    expected = form_equations(other, formulation="kane")
    x = np.asarray(make_consistent(expected, expected.state(**{"a.wx": 0.7, "a.wy": 0.4, "b_dot": 0.3})).x)
    q, v = x[: expected.n_q], x[expected.n_q :]
    for formulation in ("kane", "multipliers", "partitioned", "embedded", "udwadia_phohomsiri"):
        eom = form_equations(ours, formulation=formulation)
        assert not eom.position_rows
        np.testing.assert_allclose(eom.v_dot(0.0, q, v), expected.v_dot(0.0, q, v), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(eom.reactions(0.0, q, v), expected.reactions(0.0, q, v), atol=1e-11)


def test_actuators_may_maintain_it() -> None:
    kept = replace(DISTANCE, kind=Artificial(by=("b",)))
    assert kept.maintained_by == ("b",) and not kept.is_natural
    rule = replace(written_as_rule(), kind=Artificial(by=("b",)))
    ours, other = (form_equations(pendulums(item), formulation="artificial") for item in (kept, rule))
    x = np.asarray(start(ours))
    q, v = x[: ours.n_q], x[ours.n_q :]
    np.testing.assert_allclose(ours.multipliers(0.0, q, v, [0.4]), other.multipliers(0.0, q, v, [0.4]), rtol=1e-10)


def test_its_number_varies_without_another_build() -> None:
    eom = form_equations(pendulums(DISTANCE))
    p = eom.parameters_of(pendulums(replace(DISTANCE, length=0.9)))
    q, v = np.split(np.asarray(start(eom)), [eom.n_q])
    assert eom.residual(0.0, q, v, p)[0] == pytest.approx(GAP**2 - 0.81, abs=1e-12)


def test_files_need_the_class_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pendulums.json"
    with pytest.raises(ModelError, match=r"call spacectl.register\(Distance\)"):
        save_system(pendulums(DISTANCE), path)
    monkeypatch.setattr(files, "KINDS", dict(files.KINDS))
    register(Distance)
    assert load_system(save_system(pendulums(DISTANCE), path)) == pendulums(DISTANCE)


def test_mistakes_are_explained() -> None:
    with pytest.raises(ModelError, match="left.tip"):
        pendulums(replace(DISTANCE, first="left.tpi"))

    @dataclass(frozen=True, kw_only=True)
    class Wrong(AnyConstraint):
        def equations(self, s: Quantities) -> Any:
            return [s["b"], s["b"] ** 2]

    with pytest.raises(ModelError, match="2 values but 1 row_names"):
        pendulums(Wrong(name="wrong"))

    @dataclass(frozen=True, kw_only=True)
    class Broken(AnyConstraint):
        def equations(self, s: Quantities) -> Any:
            return float(np.sin(s["b"]))

    with pytest.raises(ModelError, match="constraint 'broken'.*casadi"):
        pendulums(Broken(name="broken"))
