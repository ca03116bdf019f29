"""`find_base_wrench` with rules and actuators that hold the mechanism: against the rate of momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacectl import (
    Artificial,
    BodyForce,
    Constraint,
    ModelError,
    Part,
    PointOnPlane,
    Revolute,
    System,
    UniformGravity,
    find_base_wrench,
    form_equations,
    make_consistent,
)
from spacectl.model.library.rods import rod

G = np.array([0.0, -9.81, 0.0])


def arm(constraint: Any, *, links: int = 2, actuators: tuple[Any, ...] = ()) -> System:
    parts, on = [], "world"
    for k in range(links):
        joint = Revolute(name=f"j{k}", axis="z")
        parts.append(Part(rod(f"b{k}", 0.5, 1.0 + k), on=on, joint=joint))
        on = f"b{k}.end"
    environment = UniformGravity(g=tuple(G))
    return System(
        name="arm", environment=environment, parts=tuple(parts), constraints=(constraint,), actuators=actuators
    )


def state_of(eom: Any) -> np.ndarray:
    q = dict(zip(("j0", "j1", "j2"), (0.5, -1.0, 0.4), strict=False))
    start = eom.state(**{name: q[name] for name in q if name in eom.states}, j0_dot=0.4, j1_dot=-0.3)
    return np.asarray(make_consistent(eom, start).x)


def outer_less_rate(eom: Any, x: np.ndarray, bodies: tuple[str, ...]) -> np.ndarray:
    """Weight less the rate of momentum of some bodies, about the root's origin; by fourth-order differences."""
    names = [part.name for part in eom.system.tree]
    n, x_dot, h = eom.n_q, eom.x_dot(0.0, x, np.zeros(eom.n_u)), 1e-3

    def at(s: float) -> list[tuple[float, np.ndarray, float]]:
        y = x + s * x_dot + 0.5 * s**2 * np.concatenate([x_dot[n:], 0.0 * x_dot[n:]])
        rows = eom.placements(0.0, y[:n])
        turn = np.cumsum(y[:n])  # planar: each joint adds to the angle
        out = []
        for name in bodies:
            k = names.index(name)
            part = eom.system.tree[k]
            R = rows[k][:9].reshape(3, 3)
            out.append((part.body.mass, rows[k][9:] + R @ np.asarray(part.body.com), turn[k]))
        return out

    def ddot(pick: Any) -> Any:
        f = [pick(at(s * h)) for s in (-2, -1, 0, 1, 2)]
        return (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h**2)

    force, moment = np.zeros(3), np.zeros(3)
    for i, name in enumerate(bodies):
        mass, c, _ = at(0.0)[i]
        pull = mass * (G - ddot(lambda rows, i=i: rows[i][1]))
        inertia = np.asarray(eom.system.tree[names.index(name)].body.inertia)[2, 2]
        spin = inertia * ddot(lambda rows, i=i: rows[i][2])
        force, moment = force + pull, moment + np.cross(c, pull) - [0.0, 0.0, spin]
    return np.concatenate([moment, force])


GUIDES = {
    "frames": PointOnPlane(name="guide", a="world", b="b1.end", normal="y"),
    "rule": Constraint(name="guide", rule=lambda s: s.position("b1.end")[1]),
    "speeds": Constraint(name="guide", rule=lambda s: s.velocity("b1.end")[1]),
    "coordinates": Constraint(name="guide", rule=lambda s: s["j1"] + 2.0 * s["j0"]),
}


@pytest.mark.parametrize("formulation", ["kane", "embedded"])
@pytest.mark.parametrize("guide", GUIDES)
def test_the_base_wrench_is_weight_less_the_rate_of_momentum_for_every_constraint_kind(
    guide: str, formulation: str
) -> None:
    eom = form_equations(arm(GUIDES[guide]), formulation=formulation)
    x = state_of(eom)
    expected = outer_less_rate(eom, x, ("b0", "b1"))
    np.testing.assert_allclose(
        find_base_wrench(eom, 0.0, x), expected, atol=1e-6
    )  # differences of 1e-3 to fourth order


def test_a_force_from_outside_that_keeps_a_constraint_does_not_act_on_the_root() -> None:
    """A jet at the tip keeps it on its line: an outside force, though the condition is one between tip and root."""
    kept = PointOnPlane(name="guide", a="world", b="b1.end", normal="y", kind=Artificial(by=("jet",)))
    jet = BodyForce(name="jet", on="b1.end", direction="y", axes="world")
    eom = form_equations(arm(kept, actuators=(jet,)))
    x = state_of(eom)
    (push,) = eom.multipliers(0.0, x[:2], x[2:])
    tip = np.array([0.5 * np.cos(x[0]) + 0.5 * np.cos(x[0] + x[1]), 0.0, 0.0])
    force = np.array([0.0, push, 0.0])
    expected = outer_less_rate(eom, x, ("b0", "b1")) + np.concatenate([np.cross(tip, force), force])
    assert abs(push) > 1.0
    np.testing.assert_allclose(find_base_wrench(eom, 0.0, x), expected, atol=1e-6)


def test_a_rule_between_the_base_and_what_it_carries_acts_on_the_base() -> None:
    """The distance from the base's origin to the tip: the rod that keeps it pulls the base as well."""

    def distance(s: Any) -> Any:
        way = s.position("b2.end") - s.position("b0")
        return way[0] ** 2 + way[1] ** 2 - 1.0

    eom = form_equations(arm(Constraint(name="rod", rule=distance), links=3))
    x = state_of(eom)
    R = eom.placements(0.0, x[:3])[0][:9].reshape(3, 3)
    expected = outer_less_rate(eom, x, ("b1", "b2"))  # about the root's origin, which is that of b0
    found = find_base_wrench(eom, 0.0, x, base="b0")
    np.testing.assert_allclose([*(R @ found[:3]), *(R @ found[3:])], expected, atol=1e-6)


def test_a_rule_that_mixes_the_base_with_the_root_is_refused() -> None:
    both = Constraint(name="mixed", rule=lambda s: s.position("b2.end")[1] - 0.5 * s.position("b0.end")[1])
    eom = form_equations(arm(both, links=3))
    x = state_of(eom)
    with pytest.raises(ModelError, match="rule 'mixed' loads 'b0'.*base='world'"):
        find_base_wrench(eom, 0.0, x, base="b0")
    np.testing.assert_allclose(find_base_wrench(eom, 0.0, x), outer_less_rate(eom, x, ("b0", "b1", "b2")), atol=1e-6)
