"""Every formulation on every constrained system of the library: accelerations of bodies, unique reactions, eigenvalues.

The table is shown at the end of the run; a cell that stays empty says what in the physics keeps it so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from spacectl import (
    ModelError,
    SolverError,
    absolute_state,
    diagnose_constraints,
    find_constraint_wrenches,
    find_operating_point,
    find_uniqueness,
    form_equations,
    library,
    linearize,
    make_consistent,
)
from spacectl.model.system import System

FORMULATIONS = ("kane", "multipliers", "udwadia_phohomsiri", "artificial", "partitioned", "embedded")
COLUMNS = (*FORMULATIONS, "multipliers, bodies", "udwadia_phohomsiri, bodies", "articulated")
SYSTEMS = {
    **library.CONSTRAINED,
    "docking_probe": lambda: library.docking_probe(legs=1, stiffness=0.0, damping=0.0),  # nested loops, without springs
}
NATURAL = [name for name, make in SYSTEMS.items() if all(c.is_natural for c in make().constraints)]
SERVE_MOTORS = ("artificial", "embedded")
MOTORS = "kept by motors, which do not push along the gradient of what they keep"
DEPENDENT = "plane loop in space: three directions are held twice, so the forces are not unique"
REASONS = {
    **{(name, column): MOTORS for name in SYSTEMS if name not in NATURAL for column in COLUMNS},
    **{("redundant_four_bar", column): DEPENDENT for column in COLUMNS if column.startswith("multipliers")},
    **{(name, "articulated"): "a loop has no tip from which to recur" for name in NATURAL},
    ("rolling_disc", "articulated"): "rolling ties speeds, which a tree's joints leave free",
    ("skate", "articulated"): "the edge ties speeds, which a tree's joints leave free",
    ("momentum_flyer", "articulated"): "the rule ties all bodies at once",
}
HEADS = (
    "kane",
    "multipliers",
    "udwadia_p.",
    "artificial",
    "partitioned",
    "embedded",
    "mult., bodies",
    "u_p., bodies",
    "articulated",
)
LETTERS = {reason: "abcdefg"[k] for k, reason in enumerate(dict.fromkeys(REASONS.values()))}


@cache
def case(name: str, seed: int = 0) -> tuple[System, Any, np.ndarray, np.ndarray]:
    """A system, its equations by the default formulation, and a random state and input that meet the constraints."""
    system = SYSTEMS[name]()
    eom = form_equations(system)
    rng = np.random.default_rng(seed)
    x = np.asarray(make_consistent(eom, eom.state(eom.state() + 0.2 * rng.standard_normal(eom.n_x)), t=0.3).x)
    u = rng.standard_normal(eom.n_u)
    return system, eom, x, u


def rate_of_bodies(eom: Any, bodies: Any, x: np.ndarray, v_dot: np.ndarray) -> np.ndarray:
    """Rates of the absolute speeds along the motion in joint coordinates, by a fourth-order difference."""
    q, v = x[: eom.n_q], x[eom.n_q :]
    q_dot = eom.call("q_dot", 0.3, q, v)[0].reshape(-1)

    def speeds(s: float) -> np.ndarray:
        return absolute_state(eom, bodies, np.concatenate([q + s * q_dot, v + s * v_dot]))[bodies.n_q :]

    h = 1e-3  # error h^4 / 30 of the fifth derivative, which is of order one here: below 1e-12
    return (8.0 * (speeds(h) - speeds(-h)) - (speeds(2 * h) - speeds(-2 * h))) / (12.0 * h)


def cell(name: str, column: str) -> float:
    """Return the largest relative difference of accelerations and reactions from the default formulation."""
    system, eom, x, u = case(name)
    q, v = x[: eom.n_q], x[eom.n_q :]
    v_dot, held = eom.v_dot(0.3, q, v, u), eom.reactions(0.3, q, v, u)
    size = max(1.0, float(np.max(np.abs(held))))  # the joint of a free body passes nothing
    if column.endswith("bodies"):
        bodies = form_equations(system, formulation=column.split(",")[0], coordinates="absolute")
        y = absolute_state(eom, bodies, x)
        command = np.array([u[eom.inputs.index(_original(system, name_of))] for name_of in bodies.inputs])
        assert np.max(np.abs(bodies.residual(0.3, y[: bodies.n_q], y[bodies.n_q :]))) < 1e-11
        found = bodies.v_dot(0.3, y[: bodies.n_q], y[bodies.n_q :], command)
        expected = rate_of_bodies(eom, bodies, x, v_dot)
        wrenches = find_constraint_wrenches(bodies, 0.3, y, command)
        forces = [
            np.max(np.abs(wrenches[joint] - held[k])) / size
            for k, part in enumerate(system.tree)
            for joint in (part.joint_name, f"{part.joint_name}_joint")
            if joint in wrenches
        ]
    else:
        other = form_equations(system, formulation=column)
        found, expected = other.v_dot(0.3, q, v, u), v_dot
        forces = [np.max(np.abs(other.reactions(0.3, q, v, u) - held)) / size]
    difference = float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))
    assert difference < 1e-9  # asked for; rounding times condition numbers below 1e4, and differences of 1e-11
    assert max(forces, default=0.0) < 1e-9
    return max(difference, *forces) if forces else difference


def _original(system: System, name: str) -> str:
    """A motor's name in joint coordinates (dots are replaced where loops take it over)."""
    return next(
        a.input_name for a in system.actuators if a.input_name.replace(".", "_") == name or a.input_name == name
    )


@pytest.mark.parametrize("name", SYSTEMS)
def test_formulations_agree(name: str, record_property: Any) -> None:
    filled, row = 0, []
    for column in COLUMNS:
        if (name, column) in REASONS and not (column in SERVE_MOTORS and name not in NATURAL):
            with pytest.raises((ModelError, SolverError)) as caught:
                cell(name, column)
            assert "constraint" in str(caught.value)
            row.append(f"({LETTERS[REASONS[name, column]]})")
            continue
        row.append(f"{cell(name, column):.0e}")
        filled += 1
    assert filled >= (3 if name in NATURAL else 1)
    if name == next(iter(SYSTEMS)):
        record_property("summary", "Accelerations and reactions of constrained systems, largest relative difference:")
        record_property("summary", " | ".join([f"{'':18s}", *(f"{column:>12s}" for column in HEADS)]))
    record_property("summary", " | ".join([f"{name:18s}", *(f"{text:>12s}" for text in row)]))
    if name == list(SYSTEMS)[-1]:
        for reason, letter in LETTERS.items():
            record_property("summary", f"  ({letter}) {reason}")


@pytest.mark.parametrize(
    "name",
    [
        "four_bar",
        "redundant_four_bar",
        "slider_crank",
        "spatial_four_bar",
        pytest.param("flexible_four_bar", marks=pytest.mark.slow),
    ],
)
def test_eigenvalues_agree(name: str) -> None:
    """At rest, held by the motor: the same modes in joint and in absolute coordinates."""
    system = library.CONSTRAINED[name]()
    eom = form_equations(system)
    point = find_operating_point(eom)
    expected = np.sort_complex(np.linalg.eigvals(np.asarray(linearize(eom, point).A)))
    formulations = [f for f in FORMULATIONS if (name, f) not in REASONS]
    others = [(form_equations(system, formulation=f), np.asarray(point.x)) for f in formulations]
    for formulation in ("multipliers", "udwadia_phohomsiri"):
        if (name, f"{formulation}, bodies") not in REASONS:
            bodies = form_equations(system, formulation=formulation, coordinates="absolute")
            others.append((bodies, absolute_state(eom, bodies, point.x)))
    assert len(others) >= 4
    for other, x in others:
        values = np.sort_complex(np.linalg.eigvals(np.asarray(linearize(other, x, point.u, check=False).A)))
        # conditioning of the eigenvalues and of the pseudo-inverse of 18 rows: a few thousand roundings
        np.testing.assert_allclose(values, expected, atol=1e-9 * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", ["four_bar", "two_arm_flyer", "rolling_disc", "guided_arm", "flexible_four_bar"])
def test_linear_models_predict_motions_along_the_constraints(name: str) -> None:
    """Differences of rates between two consistent states that differ in one independent coordinate or speed."""
    eom = form_equations(library.CONSTRAINED[name]())
    start = eom.state(eom.state() + 0.1 * np.random.default_rng(3).standard_normal(eom.n_x))
    x = np.asarray(make_consistent(eom, start).x)
    u = np.zeros(eom.n_u)
    model = linearize(eom, x, u, check=False)
    basis = np.asarray(model.basis)
    n, h = eom.n_v, 1e-5
    W = eom.jacobian("q_dot", "q_dot", "v", 0.0, x[: eom.n_q], x[eom.n_q :])

    def moved(step: np.ndarray) -> np.ndarray:
        y = x + np.concatenate([W @ step[:n], step[n:]])
        return np.asarray(make_consistent(eom, eom.state(y)).x)

    def rates(y: np.ndarray) -> np.ndarray:
        return eom.v_dot(0.0, y[: eom.n_q], y[eom.n_q :], u)

    turning = [k for k, label in enumerate(model.x.names) if label in eom.speeds]
    for k in range(basis.shape[1]):
        ahead, back = moved(h * basis[:, k]), moved(-h * basis[:, k])
        slope = (rates(ahead) - rates(back)) / (2 * h)
        # states that were moved back on the constraints differ from the tangent by h^2, alike on both sides
        names = [eom.speeds.index(model.x.names[row]) for row in turning]
        expected = np.asarray(model.A)[turning, k]
        np.testing.assert_allclose(slope[names], expected, atol=2e-6 * (1.0 + np.max(np.abs(np.asarray(model.A)))))


def test_forces_that_are_unique_agree_and_the_others_are_named() -> None:
    """A plane linkage pulled out of its plane: who carries how much of that is a matter of compliance, the rest is not."""
    system = library.redundant_four_bar()
    system = replace(system, environment=replace(system.environment, g=(1.0, -9.0, 3.0)))
    eom, other = (form_equations(system, formulation=f) for f in ("kane", "udwadia_phohomsiri"))
    x = np.asarray(make_consistent(eom, eom.state() + 0.1).x)
    report = diagnose_constraints(eom, 0.0, x)
    assert report.rank == 2 and set(report.dependent) == {"bearing.z", "bearing.tilt1", "bearing.tilt2"}
    assert "not unique" in report.message and "rocker" in report.message and report.residual < 1e-12
    one, two = (item.reactions(0.0, x[:3], x[3:], [0.2, 0.1]) for item in (eom, other))
    np.testing.assert_allclose(one[:, 2:5], two[:, 2:5], atol=1e-10)  # moment about z, forces in the plane
    bodies = form_equations(system, formulation="udwadia_phohomsiri", coordinates="absolute")
    y = absolute_state(eom, bodies, x)
    wrenches = find_constraint_wrenches(bodies, 0.0, y, [0.2, 0.1])
    for k, part in enumerate(system.tree):
        np.testing.assert_allclose(wrenches[part.joint_name][2:5], one[k, 2:5], atol=1e-10)
    far = max(np.max(np.abs(wrenches[part.joint_name] - one[k])) for k, part in enumerate(system.tree))
    assert far < 1e-8  # joints of the tree do not yield in either coordinates, so that the open split is the same too
    assert not any(find_uniqueness(eom, 0.0, x).joints.values())


def test_momentum_held_by_a_rule_needs_no_force() -> None:
    """Motors within the system cannot change its momentum, so that the natural constraint has nothing to do."""
    _, eom, x, u = case("momentum_flyer", 4)
    lam = eom.multipliers(0.0, x[: eom.n_q], x[eom.n_q :], u)
    np.testing.assert_allclose(lam, 0.0, atol=1e-12)
    free = form_equations(replace(eom.system, constraints=()))
    v_dot = free.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], u)
    np.testing.assert_allclose(eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], u), v_dot, atol=1e-12)
