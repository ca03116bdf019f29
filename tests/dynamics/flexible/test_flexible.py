"""Equations of trees that mix rigid and flexible bodies: two formulations, conservation laws, derivatives, reactions.

Trees are random and the same in every run: all joints, all environments, `ModalBody` and `Beam`, parts, actuators and
sensors on the frames of flexible bodies. What the points themselves say is in `test_flexible_cloud.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Acceleration,
    AngularVelocity,
    Attitude,
    BodyForce,
    Fixed,
    Position,
    System,
    Velocity,
    form_equations,
    linearize,
)
from spacectl.model.actuators import BodyTorque
from tests.peers.tree_properties import Evaluation, evaluate
from tests.strategies import ENVIRONMENT_KINDS, KINDS, Case, first_of, random_tree
from tests.strategies.flexible import with_flexible_bodies

TREES = 24
BALANCE = 1e-12  # rounding against the sum of the magnitudes of the terms that must cancel


@cache
def make_case(seed: int) -> Case:
    """Tree number `seed`: 2 or 3 bodies, small deflections, a body force and torque on a flexible frame, sensors."""
    rng = np.random.default_rng(seed)
    kinds = [KINDS[seed % 8], KINDS[seed % 8], KINDS[(seed + 3) % 8], "Fixed"]
    environment = ENVIRONMENT_KINDS[seed // 2 % 4]
    case = random_tree(rng, bodies=2 + seed % 2, free_bases=seed % 3 % 2, environment=environment, kinds=kinds)
    case = with_flexible_bodies(rng, case, deflection=0.005, damping=0.05 * (seed % 4 == 3))
    flexible = [part.body for part in case.system.parts if getattr(part.body, "is_flexible", False)]
    on = f"{flexible[-1].name}.{flexible[-1].frames[0].name}"
    extra = (
        BodyForce(name="push", on=on, direction=(0.6, 0.0, 0.8), at=(0.1, 0.2, 0.0), axes="world"),
        BodyTorque(name="twist", on=on, direction="y"),
    )
    sensors = (
        Position(name="place", on=on, at=(0.1, -0.2, 0.3)),
        Velocity(name="speed", on=on, at=(0.1, -0.2, 0.3)),
        Acceleration(name="shake", on=on, at=(0.1, -0.2, 0.3)),
        AngularVelocity(name="rate", on=on),
        Attitude(name="attitude", on=on),
    )
    system = replace(case.system, actuators=case.system.actuators + extra, sensors=sensors)
    return Case(system, case.q, case.v, {**case.u, "push": 1.3, "twist": -0.7})


@cache
def equations(seed: int, formulation: str):
    return form_equations(make_case(seed).system, formulation=formulation)


@cache
def terms(seed: int) -> Evaluation:
    return evaluate(equations(seed, "kane"), make_case(seed))


def test_the_set_has_enough_variety() -> None:
    counts: Counter[str] = Counter()
    for seed in range(TREES):
        parts = make_case(seed).system.parts
        counts.update(type(part.joint).__name__ for part in parts)
        counts.update(type(part.body).__name__ for part in parts)
        flexible = {part.name for part in parts if getattr(part.body, "is_flexible", False)}
        counts["on a flexible frame"] += sum(part.on.split(".")[0] in flexible and "." in part.on for part in parts)
        counts["fixed there"] += sum(
            part.on.split(".")[0] in flexible and isinstance(part.joint, Fixed) for part in parts
        )
    assert min(counts[kind] for kind in KINDS) >= 2
    assert min(counts[kind] for kind in ("RigidBody", "Beam", "ModalBody")) >= 12
    assert counts["on a flexible frame"] >= 8 and counts["fixed there"] >= 2


@pytest.mark.parametrize("seed", first_of(range(TREES), 8))
def test_both_formulations_give_the_same_accelerations(seed: int) -> None:
    here = terms(seed)
    other = equations(seed, "articulated").v_dot(0.0, here.q, here.v, here.u)
    here.check_recursion(other)  # backward error 1e-12, and that times the condition of M
    assert np.max(np.abs(other - here.v_dot)) < 1e-12 * np.max(np.abs(here.v_dot))
    f = equations(seed, "articulated").functions["inverse_dynamics"]
    inverse = np.array(f(0.0, here.q, here.v, other, here.eom.p)).ravel()
    size = np.abs(here.M) @ np.abs(other) + np.abs(here.h)
    assert np.max(np.abs(inverse - here.M @ other - here.h)) < BALANCE * np.max(size)


@pytest.mark.parametrize("seed", first_of(range(TREES), 8))
def test_mass_matrix_is_the_curvature_of_kinetic_energy(seed: int) -> None:
    here = terms(seed)
    assert here.asymmetry() < 1e-14  # rounding of sums taken in another order
    assert here.definiteness() > 1e-5  # deflections of 0.5 %; large ones may lose it, as the energy is of second order
    Q, V, P = ca.SX.sym("q", len(here.q)), ca.SX.sym("v", len(here.v)), ca.SX.sym("p", here.eom.p.size)
    kinetic, _ = here.eom.functions["energy"](0.0, Q, V, P)
    hessian = ca.Function("hessian", [Q, V, P], [ca.hessian(kinetic, V)[0]])
    np.testing.assert_allclose(
        here.M, np.array(hessian(here.q, here.v, here.eom.p)), atol=1e-13 * np.max(np.abs(here.M))
    )


def dissipation(system: System, here: Evaluation) -> float:
    """Power that the modes lose, ``eta_dot' D eta_dot``."""
    total = 0.0
    for part in system.parts:
        if getattr(part.body, "is_flexible", False):
            names = [f"{part.name}.{mode}_dot" for mode in part.body.modal_names]
            rate = np.array([here.v[here.eom.speeds.index(name)] for name in names])
            total += float(rate @ part.body.damping_matrix @ rate)
    return total


@pytest.mark.parametrize("seed", first_of(range(TREES), 8))
def test_energy_changes_by_the_power_of_inputs_and_dampers(seed: int) -> None:
    case, here = make_case(seed), terms(seed)
    rate, size = here._rate("energy")
    power = float(here.v @ here.B_tau @ here.u) - dissipation(case.system, here)
    assert abs(rate[0] - power) < BALANCE * (size[0] + np.abs(here.v) @ np.abs(here.B_tau) @ np.abs(here.u))
    assert (dissipation(case.system, here) > 0.0) == (seed % 4 == 3)


@pytest.mark.parametrize("seed", range(8))
def test_momentum_of_a_floating_tree_is_conserved(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    case = random_tree(rng, bodies=2 + seed % 2, floating=True)
    case = with_flexible_bodies(rng, case, deflection=0.3)  # exact for any deflection: the expansion keeps the symmetry
    here = evaluate(form_equations(case.system, formulation="kane"), case)
    assert here.momentum_rate_error() < BALANCE
    assert here.energy_rate_error() < BALANCE


@pytest.mark.parametrize("seed", first_of(range(0, TREES, 2), 4))
def test_sensors_on_flexible_frames_are_rates_of_each_other(seed: int) -> None:
    here = terms(seed)
    eom, x = here.eom, np.concatenate([here.q, here.v])
    J = eom.jacobian("outputs", "y", "x", 0.0, x, here.u)
    rates = dict(zip(eom.labels.y.names, J @ here.x_dot, strict=True))
    y = dict(zip(eom.labels.y.names, eom.outputs(0.0, x, here.u), strict=True))
    for axis in "xyz":
        # rounding: exact derivatives of formulas with some hundred operations
        assert rates[f"place.{axis}"] == pytest.approx(y[f"speed.{axis}"], rel=1e-11, abs=1e-11)
        assert rates[f"speed.{axis}"] == pytest.approx(y[f"shake.{axis}"], rel=1e-10, abs=1e-10)
    s, s_dot = (np.array([item[f"attitude.s{k}"] for k in (1, 2, 3)]) for item in (y, rates))
    # sigma_dot = 1/4 [(1 - s's) 1 + 2 s~ + 2 s s'] w (body axes); the sensor gives w in the axes of the observer
    S = np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])
    R = np.eye(3) + (8.0 * S @ S + 4.0 * (1.0 - s @ s) * S) / (1.0 + s @ s) ** 2
    omega = R.T @ np.array([y[f"rate.w{axis}"] for axis in "xyz"])
    B = (1.0 - s @ s) * np.eye(3) + 2.0 * S + 2.0 * np.outer(s, s)
    np.testing.assert_allclose(s_dot, 0.25 * B @ omega, atol=1e-10 * max(1.0, np.max(np.abs(omega))))


@pytest.mark.parametrize("seed", (0, 5, 11))
def test_linear_model_meets_central_differences(seed: int) -> None:
    case = make_case(seed)
    eom = equations(seed, "articulated")
    q, v, u = case.vectors(eom)
    x = np.concatenate([q, v])
    model = linearize(eom, x, u, check=False)
    n, h = eom.n_v, 1e-5
    for k in range(n):  # speeds: no attitude to care for
        e = np.zeros(eom.n_x)
        e[eom.n_q + k] = h
        column = (eom.x_dot(0.0, x + e, u) - eom.x_dot(0.0, x - e, u))[eom.n_q :] / (2.0 * h)
        np.testing.assert_allclose(model.A[n:, n + k], column, atol=1e-7 * np.max(np.abs(model.A)))
    modal = [k for k, name in enumerate(eom.coordinates) if ".eta" in name]
    for k in modal:
        e = np.zeros(eom.n_x)
        e[k] = h
        row = model.x.index(eom.coordinates[k])
        column = (eom.x_dot(0.0, x + e, u) - eom.x_dot(0.0, x - e, u))[eom.n_q :] / (2.0 * h)
        np.testing.assert_allclose(model.A[n:, row], column, atol=1e-7 * np.max(np.abs(model.A)))
    for k in range(eom.n_u):
        e = np.eye(eom.n_u)[k]
        column = (eom.x_dot(0.0, x, u + e) - eom.x_dot(0.0, x, u - e))[eom.n_q :] / 2.0  # linear in u
        np.testing.assert_allclose(model.B[n:, k], column, atol=1e-11 * np.max(np.abs(model.B)))
