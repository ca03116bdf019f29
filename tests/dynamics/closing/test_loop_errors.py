"""Loops that do not close: closest configurations that are the closest, branches, half turns, and wrong arguments."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Loop,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    ShapeError,
    SolverError,
    Spherical,
    close_loops,
    close_positions,
    form_equations,
    library,
    make_consistent,
)
from tests.dynamics.bar_systems import four_bar
from tests.dynamics.leg_systems import leg_system

SHORT = (0.8, 0.5, 0.4)  #: a crank that does not go round, on a ground of 0.9 m, drawn at 0.6 rad


@cache
def short_four_bar(formulation: str, closing: str) -> Any:
    return form_equations(four_bar(SHORT, ground=0.9, angle=0.6, closing=closing), formulation=formulation)


def least_gap(crank: float) -> float:
    """From the crank's end to the rocker's pivot, less the stretched coupler and rocker."""
    knee = 0.8 * np.array([np.cos(crank), np.sin(crank)])
    return float(np.hypot(*(knee - [0.9, 0.0]))) - 0.5 - 0.4


@pytest.mark.parametrize("closing", ["pin", "hinge"])
@pytest.mark.parametrize("formulation", ["kane", "partitioned", "multipliers", "embedded"])
def test_the_closest_configuration_is_the_closest(formulation: str, closing: str) -> None:
    eom = short_four_bar(formulation, closing)
    x = eom.state(crank_pin=1.5)
    owner = "hinge" if closing == "hinge" else "pin_x', 'pin_y"
    match = rf"loop '{owner}' \(joints 'crank_pin', 'coupler_pin', 'rocker_pin'\) cannot close.* remains, largest in"
    with pytest.raises(SolverError, match=match) as caught:
        make_consistent(eom, x, hold=("crank_pin",))
    errors = [caught.value]
    if formulation == "partitioned":
        match = r"loop '(hinge|pin_x and pin_y)' cannot close; a gap of 0\.575 remains"
        with pytest.raises(SolverError, match=match) as caught:
            close_loops(eom, x)
        errors.append(caught.value)
    for error in errors:
        partial = np.asarray(error.partial)
        assert partial.shape == (eom.n_x,) and partial[0] == 1.5
        rows = eom.residual(0.0, partial[:3], np.zeros(3))[: len(eom.position_rows)]
        assert np.linalg.norm(rows) == pytest.approx(least_gap(2.1), rel=1e-12)  # flat in first order: twice the digits
        assert "hinge.z" not in str(error)  # exactly met


@pytest.mark.parametrize("formulation", ["kane", "embedded", "partitioned"])
def test_the_closest_configuration_of_a_ball_joint_has_unit_quaternions(formulation: str) -> None:
    """Two balls in a row reach 1.2 m; what is asked is 2 m away, straight up; the other loop is left as it is."""
    ball = RigidBody(name="arm", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0.0, 0.0))
    arm = (
        Part(ball, at=(0.0, 0.0, 1.0), joint=Spherical(name="root")),
        Part(replace(ball, name="hand"), on="arm", at=(0.6, 0.0, 0.0), joint=Spherical(name="elbow")),
    )
    grip = Loop(name="grip", a="world", at_a=(0.0, 0.0, 3.0), b="hand", at_b=(0.6, 0.0, 0.0), joint=Spherical())
    other = four_bar()
    system = replace(other, parts=(*other.parts, *arm), constraints=(*other.constraints, grip))
    eom = form_equations(system, formulation=formulation)
    with pytest.raises(SolverError, match=r"loop 'grip' \(joints 'root', 'elbow'\)") as caught:
        make_consistent(eom, eom.state())
    partial = np.asarray(caught.value.partial)
    assert partial.shape == (eom.n_x,) and "pin_x" not in str(caught.value)
    for k in eom.quaternions:
        assert np.linalg.norm(partial[k : k + 4]) == pytest.approx(1.0, abs=1e-15)
    gap = eom.residual(0.0, partial[: eom.n_q], np.zeros(eom.n_v))[: len(eom.position_rows)]
    assert np.linalg.norm(gap) == pytest.approx(2.0 - 1.2, rel=1e-9)


def test_a_loop_that_closes_elsewhere_is_not_said_to_be_unable() -> None:
    """Only the crank may move, from the opposite side: the gap is stationary there; another start closes the loop."""
    eom = short_four_bar("kane", "pin")
    wanted = np.asarray(make_consistent(eom, eom.state(crank_pin=0.1), hold=("crank_pin",)).x)
    start = eom.state(wanted, crank_pin=wanted[0] + np.pi)
    with pytest.raises(SolverError, match="was not closed from here, but it closes elsewhere") as caught:
        make_consistent(eom, start, hold=("coupler_pin", "rocker_pin"))
    turned = (caught.value.partial[0] - wanted[0]) / (2.0 * np.pi)
    assert turned == pytest.approx(round(turned), abs=1e-9)


@pytest.mark.parametrize("offset", [-3.0, -1.5, 1.5, 3.0])
def test_a_loop_is_closed_from_far_away(offset: float) -> None:
    """Undamped Newton steps of the crank alone circle for ever from most of these starts."""
    eom = short_four_bar("kane", "pin")
    wanted = np.asarray(make_consistent(eom, eom.state(crank_pin=0.1), hold=("crank_pin",)).x)
    found = make_consistent(eom, eom.state(wanted, crank_pin=wanted[0] + offset), hold=("coupler_pin", "rocker_pin"))
    turned = (found.x[0] - wanted[0]) / (2.0 * np.pi)
    assert found.residual < 1e-11 and turned == pytest.approx(round(turned), abs=1e-9)


@pytest.mark.parametrize("closing", ["pin", "hinge"])
def test_another_branch_is_reported_with_redundant_equations_too(closing: str) -> None:
    """Newton's method from all over the place: what it returns is on the side of the start, by two rows or by five."""
    eom = form_equations(four_bar(closing=closing), formulation="partitioned", independent=("crank_pin",))
    rng, outcomes = np.random.default_rng(1), []
    R = eom.placements(0.0, eom.state()[:3])[2][:9].reshape(3, 3)
    drawn = np.arctan2(R[1, 0], R[0, 0])

    def side(q: np.ndarray) -> float:
        """Sign of the determinant of the pin's rows, in the coupler's axes."""
        knee = 0.3 * np.array([np.cos(1.0 + q[0]), np.sin(1.0 + q[0])])
        rocker = 0.7 * np.array([np.cos(drawn + q[2]), np.sin(drawn + q[2])])
        arm = np.array([1.0, 0.0]) + rocker - knee  # by which the coupler's turn moves the pin in its own axes
        return float(np.sign(arm[0] * rocker[1] - arm[1] * rocker[0]))

    for _ in range(30):
        start = eom.state(crank_pin=0.3, coupler_pin=rng.uniform(-2.5, 2.5), rocker_pin=rng.uniform(-2.5, 2.5))
        try:
            closed = np.asarray(close_loops(eom, start, method="newton").x)
        except SolverError as error:
            assert "another branch" in str(error)
            outcomes.append("reported")
            continue
        assert side(closed[:3]) == side(start[:3])
        outcomes.append("closed")
    assert {"reported", "closed"} == set(outcomes)


def test_a_loop_closed_by_half_a_turn_is_reported() -> None:
    """A hinge whose rows are met by a body turned over: `make_consistent` and `close_loops` both say so."""
    flap = RigidBody(name="flap", mass=1.0, inertia=(0.1, 0.1, 0.1))
    tie = Loop(name="tie", a="world", b="flap", joint=Revolute(axis="x"))
    system = replace(
        four_bar(), parts=(Part(flap, joint=Spherical(name="hang")),), constraints=(tie,), name="flap on a hinge"
    )
    eom = form_equations(system, formulation="partitioned")
    over = eom.state(**{"hang.qw": np.cos(1.5), "hang.qy": np.sin(1.5)})
    with pytest.raises(SolverError, match="tie turned by 180 degrees"):
        close_loops(eom, over)
    with pytest.raises(SolverError, match="tie turned by 180 degrees"):
        make_consistent(eom, over)
    q = np.array([over[:4], eom.state(**{"hang.qy": 0.1})[:4]])
    closed = close_positions(eom, q)
    assert np.all(np.isnan(closed[0])) and np.all(np.isfinite(closed[1]))


def test_positions_are_not_numbers_if_a_row_stays_open_that_was_not_solved_for() -> None:
    """The rocker 0.1 m above the plane: the pin's two rows close in the plane, the hinge's third one never."""
    lifted = four_bar(closing="hinge", height=0.1)
    eom = form_equations(lifted, formulation="partitioned", independent=("crank_pin",))
    q = eom.state(crank_pin=0.2)[None, :3]
    assert np.all(np.isnan(close_positions(eom, q)))
    with pytest.raises(SolverError, match=r"'hinge' cannot close; a gap of 0\.1 remains"):
        close_loops(eom, eom.state(crank_pin=0.2))


@pytest.mark.parametrize("method", ["closed form", "newton"])
def test_positions_are_looked_at_again_for_other_numbers(method: str) -> None:
    """A form that closes the hinge where it was drawn leaves it open when its numbers lift the rocker out of the plane."""
    level = form_equations(
        four_bar(closing="hinge"), formulation="partitioned", independent=("crank_pin",), vary=("rocker.at",)
    )
    p = level.parameters_of(four_bar(closing="hinge", height=0.1))
    q = level.state(crank_pin=0.2)[None, :3]
    assert np.all(np.isfinite(close_positions(level, q, method=method)))
    assert np.all(np.isnan(close_positions(level, q, method=method, p=p)))


@pytest.mark.parametrize("kind", ["R2-R2-R2", "R1-R3-R2"])
def test_positions_close_from_afar_where_and_as_states_do(kind: str) -> None:
    """From 0.3 rad away plain Newton steps fail, or end on the other elbow: native and Python agree on every position."""
    eom = form_equations(leg_system(kind), formulation="partitioned")
    rng, q = np.random.default_rng(7), np.tile(eom.state()[: eom.n_q], (40, 1))
    q[:, :7] += 0.12 * rng.uniform(-1.0, 1.0, (40, 7))
    q[:, 7:] += 0.3 * rng.standard_normal(q[:, 7:].shape)
    for k in eom.quaternions:
        q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True)
    closed = close_positions(eom, q, method="newton")
    assert np.mean(np.isfinite(closed[:, 0])) > 0.9
    for start, found in zip(q, closed, strict=True):
        try:
            state = np.asarray(close_loops(eom, np.concatenate([start, np.zeros(eom.n_v)]), method="newton").x)
            np.testing.assert_allclose(found, state[: eom.n_q], atol=1e-11)
        except SolverError:
            assert np.all(np.isnan(found))


def test_a_single_name_may_be_a_string_and_wrong_names_raise() -> None:
    system = library.four_bar()
    eom = form_equations(system, formulation="partitioned", independent="rocker_pin")
    assert close_loops(eom, eom.state()).independent == ("rocker_pin_dot",)
    held = [make_consistent(eom, eom.state(crank_pin=0.1), hold=hold).x for hold in ("crank_pin", ("crank_pin",))]
    np.testing.assert_array_equal(*map(np.asarray, held))
    for wrong in (None, 3, (1,)):
        with pytest.raises(ModelError, match=r"form_equations: independent is .*expected names: a tuple such as"):
            form_equations(system, formulation="partitioned", independent=wrong)  # type: ignore[arg-type]
        with pytest.raises(ModelError, match="make_consistent: hold is .*expected names"):
            make_consistent(eom, eom.state(), hold=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", [make_consistent, close_loops])
def test_invalid_states_and_times_raise(call: Any) -> None:
    eom = short_four_bar("partitioned", "pin")
    name = call.__name__
    with pytest.raises(ShapeError, match=rf"{name}: x0 has shape \(4,\), expected \(6,\)"):
        call(eom, np.zeros(4))
    with pytest.raises(ShapeError, match=rf"{name}: x0 is 'abc', expected 6 numbers"):
        call(eom, "abc")
    for t in (np.nan, np.inf, "now", None):
        with pytest.raises(ModelError, match=rf"{name}: t"):
            call(eom, eom.state(), t=t)
