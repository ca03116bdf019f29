"""Optimal laws of constrained systems: the nonlinear loop has the poles of the design, and unstable linkages stay up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid

from spacectl import (
    ModelError,
    Position,
    check_spillover,
    design_kalman,
    design_lqg,
    design_lqr,
    design_lqr_along,
    displace_state,
    find_operating_point,
    form_equations,
    library,
    linearize,
    linearize_along,
    make_consistent,
    simulate,
    subtract_states,
)

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def linkage(name, **q):
    eom = form_equations(getattr(library, name)())
    rest = np.array(make_consistent(eom, eom.x_rest).x)
    first = eom.coordinates[0]
    point = find_operating_point(eom, q=q or {first: float(rest[0])})
    return eom, point, linearize(eom, point)


def displaced(eom, point, model, error):
    """A state on the constraints whose independent errors are given."""
    kept = tuple(model.x.names[: len(model.x) // 2])
    x = displace_state(eom, np.asarray(point.x), np.asarray(model.basis) @ error)
    return np.array(make_consistent(eom, x, hold=tuple(name for name in kept if name in eom.coordinates)).x)


def transition(eom, point, model, law, duration, step):
    """Derivative of the independent errors after a time by those at the start, from the nonlinear closed loop."""
    every = [model.all_x.index(name) for name in model.x.names]
    ends = []
    for sign in (1.0, -1.0):
        for unit in np.eye(len(model.x)):
            x0 = displaced(eom, point, model, sign * step * unit)
            sim = simulate(eom, law, x0=x0, t_span=(0.0, duration), grid=[duration], **TIGHT)
            ends.append(subtract_states(eom, np.asarray(sim.x[-1]), np.asarray(point.x))[every])
    n = len(model.x)
    return (np.array(ends[:n]) - np.array(ends[n:])).T / (2.0 * step)


@pytest.mark.parametrize("name", ["four_bar", "redundant_four_bar", "slider_crank", "spatial_four_bar"])
def test_poles_of_the_nonlinear_constrained_loop_are_those_of_the_design(name):
    eom, point, model = linkage(name)
    assert np.max(model.poles.real) > 1.0  # it falls over by itself
    law = design_lqr(model, Q=10.0, R=0.1)
    duration, step = 0.2, 1e-4
    found = np.log(np.linalg.eigvals(transition(eom, point, model, law, duration, step)).astype(complex)) / duration
    # central differences: the square of the step times curvatures of order ten
    assert np.max(np.abs(np.sort(found.real) - np.sort(law.poles.real))) < 1e-4 * np.max(np.abs(law.poles))
    assert law.residual < 1e-12


@pytest.mark.slow
def test_flexible_linkage_has_the_poles_of_the_design_too():
    eom, point, model = linkage("flexible_four_bar")
    law = design_lqr(model, Q=10.0, R=0.1)
    duration = 0.9 * np.pi / np.max(np.abs(law.poles.imag))  # below half a period: the logarithm is unique
    found = np.log(np.linalg.eigvals(transition(eom, point, model, law, duration, 1e-5)).astype(complex)) / duration
    apart = [np.min(np.abs(found - pole)) / max(abs(pole), 1.0) for pole in law.poles]
    assert max(apart) < 1e-3  # in this time slow modes hardly decay, which magnifies the error of differences


def test_an_unstable_linkage_is_brought_back_and_held():
    eom, point, model = linkage("spatial_four_bar")
    law = design_lqr(model, Q={"motor": 10.0, "swing": 5.0}, R=0.1)  # 'swing' depends on the motor's angle
    x0 = displaced(eom, point, model, np.array([0.3, 0.0]))
    closed = simulate(eom, law, x0=x0, t_span=(0.0, 8.0))
    alone = simulate(eom, lambda t, x: np.asarray(point.u), x0=x0, t_span=(0.0, 3.0))
    assert np.max(np.abs(closed.x[-1] - point.x)) < 1e-6
    assert np.max(np.abs(alone["motor"] - point.x[0])) > 0.8  # by itself it leaves


def test_dependent_states_are_weighted_by_name_as_by_the_basis():
    _, _, model = linkage("four_bar")
    row = np.asarray(model.basis)[model.all_x.index("rocker_pin")]
    named, projected = (
        design_lqr(model, Q={"rocker_pin": 3.0}, R=1.0),
        design_lqr(model, Q=3.0 * np.outer(row, row), R=1.0),
    )
    assert np.allclose(named.K, projected.K, rtol=1e-12)
    with pytest.raises(ModelError, match="'rocker_pim'"):
        design_lqr(model, Q={"rocker_pim": 3.0}, R=1.0)


def test_a_linkage_is_held_by_what_a_sensor_sees():
    base = library.four_bar()
    eom = form_equations(replace(base, sensors=(Position(name="knee", on="coupler.end"),)))
    rest = np.array(make_consistent(eom, eom.x_rest).x)
    point = find_operating_point(eom, q={"crank_pin": float(rest[0])})
    model = linearize(eom, point, outputs=("knee.x", "knee.y"))
    regulator = design_lqr(model, Q={"crank_pin": 10.0}, R=0.1)
    estimator = design_kalman(model, process=1.0, measurement=1e-6)
    law = design_lqg(regulator, estimator, y_point=eom.outputs(0.0, np.asarray(point.x), np.asarray(point.u))[:2])
    assert check_spillover(law, model).is_stable
    assert np.all(np.linalg.eigvalsh(law.covariance.x) > 0.0)
    assert np.allclose(sorted(law.poles.real), sorted([*regulator.poles.real, *estimator.poles.real]), rtol=1e-6)
    sim = simulate(eom, law, x0=displaced(eom, point, model, np.array([0.05, 0.0])), t_span=(0.0, 10.0))
    assert np.max(np.abs(sim.x[-1] - point.x)) < 1e-5


def test_cost_along_a_motion_of_a_linkage_is_the_predicted_one():
    eom, point, model = linkage("four_bar")
    start = displaced(eom, point, model, np.array([0.2, 0.5]))
    motion = simulate(
        eom, lambda t, x: np.asarray(point.u) + [2.0 * np.sin(3.0 * t)], x0=start, t_span=(0.0, 0.4), grid=41, **TIGHT
    )
    along = linearize_along(eom, motion)
    law = design_lqr_along(along, Q={"crank_pin": 10.0, "rocker_pin_dot": 1.0}, R=0.1)
    moved = np.array(make_consistent(eom, start + 1e-4, hold=("crank_pin",)).x)
    sim = simulate(eom, law, x0=moved, t_span=(0.0, 0.4), grid=401, **TIGHT)
    x_ref = np.array([law.reference(t)[-eom.n_x :] for t in sim.t])
    u_ref = np.array([law.reference(t)[-eom.n_x - 1] for t in sim.t])
    e, du = np.asarray(sim.x) - x_ref, sim.u[:, 0] - u_ref
    rate = 10.0 * e[:, eom.states.index("crank_pin")] ** 2 + e[:, eom.states.index("rocker_pin_dot")] ** 2 + 0.1 * du**2
    end = e[-1] @ np.asarray(law.S)[-1] @ e[-1]
    # first order in a deviation of 1e-4 with curvatures of order ten
    assert trapezoid(rate, sim.t) + end == pytest.approx(law.predict_cost(moved), rel=1e-3)
