"""Loops closed in closed form and by Newton's method (Yaskevich): the same coordinates, and errors that name loop and joint."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from spacectl import (
    ModelError,
    ShapeError,
    SolverError,
    close_loops,
    close_positions,
    form_equations,
    library,
    make_consistent,
)
from tests.dynamics.leg_systems import PLANAR, SPATIAL, SPECIAL, leg_system, planar_system


@cache
def equations(kind: str) -> Any:
    system = (planar_system if kind in PLANAR else leg_system)(kind)
    plate = ("plate.angle", "plate.x", "plate.y") if kind in PLANAR else ()
    return form_equations(system, formulation="partitioned", independent=plate)


def samples(eom: Any, reach: float, count: int, seed: int = 0) -> list[np.ndarray]:
    """States whose independent coordinates are spread over a workspace; dependent ones follow along the way there."""
    rng, found = np.random.default_rng(seed), []
    held = [i for i, name in enumerate(eom.coordinates) if name.startswith("plate")]
    for _ in range(count):
        aim = np.zeros(eom.n_x)
        aim[held] = reach * rng.uniform(-1.0, 1.0, len(held))
        x = eom.state()
        for _ in range(4):  # in steps, so that both methods stay on the branch of the start
            x = np.asarray(close_loops(eom, eom.state(x + 0.25 * aim), method="newton").x)
        found.append(x)
    return found


@pytest.mark.parametrize("kind", [*SPATIAL[:-1], *SPECIAL, *PLANAR])
def test_closed_forms_equal_newton_over_the_workspace(kind: str) -> None:
    """The plate moves by up to 0.12 m along each axis and turns by up to 0.24 rad about each; half of that (and half the
    departure of the dependent coordinates) for the leg that is nearest to being stretched."""
    eom = equations(kind)
    loop = eom.reduction.loops[0]
    assert loop.leg == kind.split(",")[0] and loop.has_form
    rng = np.random.default_rng(3)
    scale = 0.5 if "closing" in kind else 1.0
    for x in samples(eom, 0.12 * scale, 6):
        y = eom.state(x + 0.03 * scale * rng.standard_normal(eom.n_x))
        form, newton = close_loops(eom, y), close_loops(eom, y, method="newton")
        assert form.loops[0].method == "closed form" and form.loops[0].steps <= 1
        assert newton.loops[0].method == "newton" and newton.loops[0].steps >= 2
        turned = np.sign(np.asarray(form.x)[0]) * np.sign(np.asarray(newton.x)[0]) or 1.0
        np.testing.assert_allclose(
            np.asarray(form.x), turned * np.asarray(newton.x) if turned < 0 else newton.x, atol=1e-12
        )
        assert form.residual < 1e-14 * 10  # a few roundings of metres and radians, at speed level too


@pytest.mark.parametrize("kind", ["R2-P1-R3", "R1-R3-R2", pytest.param("R2-C2-R2", marks=pytest.mark.slow)])
def test_native_closed_forms_equal_native_newton(kind: str) -> None:
    """Two thousand places of the plate within 0.07 m and 0.14 rad, all in one call."""
    eom = equations(kind)
    rng, start = np.random.default_rng(7), eom.state()[: eom.n_q]
    q = np.tile(start, (2000, 1))
    plate = slice(0, 7)  # quaternion and place
    q[:, plate] += 0.07 * rng.uniform(-1.0, 1.0, (2000, 7))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    form, newton = (close_positions(eom, q, method=method) for method in ("closed form", "newton"))
    assert np.all(np.isfinite(form)) and np.all(np.isfinite(newton))
    np.testing.assert_allclose(form, newton, atol=1e-12)
    np.testing.assert_allclose(form[:, plate], q[:, plate], atol=1e-15)
    np.testing.assert_allclose(
        form[5], np.asarray(close_loops(eom, np.r_[q[5], np.zeros(eom.n_v)]).x)[: eom.n_q], atol=1e-12
    )


def test_positions_out_of_reach_are_not_numbers() -> None:
    eom = form_equations(library.four_bar(), formulation="partitioned")
    q = np.array([[0.1, 0.0, 0.0], [0.1, 3.0, 0.0]])
    assert np.all(np.isfinite(close_positions(eom, q)))
    far = replace(
        library.four_bar(), constraints=tuple(replace(c, at_a=(9.0, 0.0, 0.0)) for c in library.four_bar().constraints)
    )
    for method in ("closed form", "newton"):
        assert np.all(np.isnan(close_positions(eom, q, method=method, p=eom.parameters_of(far))))
    with pytest.raises(ShapeError, match="shape"):
        close_positions(eom, np.zeros((2, 5)))
    with pytest.raises(ModelError, match="method"):
        close_positions(eom, q, method="guess")
    six = form_equations(library.redundant_four_bar(), formulation="partitioned", independent=("rocker_pin",))
    with pytest.raises(ModelError, match=r"no closed form for loops '.*' \(R1-R1-.*use method='newton'"):
        close_positions(six, six.state()[None, : six.n_q], method="closed form")


def test_the_leg_of_three_universal_joints_is_led_to_one_unknown() -> None:
    eom = equations("R2-R2-R2")
    loop = eom.reduction.loops[0]
    assert loop.leg == "R2-R2-R2" and loop.method == "one unknown" and loop.rank == 4
    rng = np.random.default_rng(3)
    for x in samples(eom, 0.12, 6):
        for size in (0.01, 0.1):  # from a tenth of a radian Newton's method has to take over now and then
            y = eom.state(x + size * rng.standard_normal(eom.n_x) * (np.arange(eom.n_x) >= 7))
            form, newton = close_loops(eom, y), close_loops(eom, y, method="newton")
            if size == 0.01:
                assert form.loops[0].method == "one unknown" and form.loops[0].steps <= 1
            np.testing.assert_allclose(np.asarray(form.x), np.asarray(newton.x), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (library.docking_ring, {"R2-P1-R3"}),
        (lambda: library.docking_ring(slider="cylindrical"), {"R2-C2-R2"}),
        (library.docking_probe, {"R1-R2-R3", "R1-P1-R1"}),
        (library.two_arm_flyer, {"R2-R1-R3"}),
        (library.redundant_four_bar, {"R1-R1-R1"}),
    ],
)
def test_mechanisms_of_the_library_close_in_closed_form(make: Any, kinds: set[str]) -> None:
    eom = form_equations(make(), formulation="partitioned")
    assert {loop.leg for loop in eom.reduction.loops if loop.has_form} == kinds
    assert all(loop.has_form for loop in eom.reduction.loops)
    y = eom.state(eom.state() + 0.03 * np.random.default_rng(2).standard_normal(eom.n_x))
    form, newton = close_loops(eom, y), close_loops(eom, y, method="newton")
    np.testing.assert_allclose(np.asarray(form.x), np.asarray(newton.x), atol=1e-12)
    kept = [i for i, name in enumerate(eom.speeds) if name in form.independent]
    np.testing.assert_array_equal(np.asarray(form.x)[eom.n_q :][kept], y[eom.n_q :][kept])


def test_outer_loops_come_before_the_loops_within_their_dependent_branches() -> None:
    """A strut drives a crank, which the ball joint of its leg places: the strut closes after the leg."""
    system = library.docking_probe(legs=1)
    backwards = replace(system, constraints=system.constraints[::-1])
    for each in (system, backwards):
        loops = form_equations(each, formulation="partitioned").reduction.loops
        assert [loop.leg for loop in loops] == ["R1-R2-R3", "R1-P1-R1"]


def test_a_loop_that_cannot_close_is_named_with_its_joint_and_the_closest_configuration() -> None:
    eom = form_equations(library.docking_probe(), formulation="partitioned")
    system = library.docking_probe()
    short = tuple(
        replace(p, body=replace(p.body, frames=(replace(p.body.frames[0], at=(0.0, 0.0, 0.1)),)))
        if p.name == "bar1"
        else p
        for p in system.parts
    )
    eom = form_equations(replace(system, parts=short), formulation="partitioned")
    with pytest.raises(SolverError, match=r"loop 'ball1' cannot close; .* remains at joint '(link1|crank1)'") as caught:
        close_loops(eom, eom.state())
    # the gap of the closest configuration: the ball is beyond the stretched leg, in the plane of the crank
    crank, link = np.hypot(0.07, 0.3), 0.1
    reach = np.hypot(0.45 - 0.14, 0.22 + 0.05)
    gap = eom.residual(0.0, caught.value.partial[: eom.n_q], np.zeros(eom.n_v))[:3]
    expected = max(reach - crank - link, crank - link - reach)
    assert np.linalg.norm(gap) == pytest.approx(
        expected, rel=1e-3
    )  # Levenberg's steps end within a percent of a millimetre


def test_a_singular_closure_is_named() -> None:
    """Coupler and rocker stretched: from there they could bend either way."""
    pivots = np.array([[0.0, 0.0], [0.25, 0.65], [1.7, 1.1], [2.0, 0.0]])  # of library.four_bar
    eom = form_equations(library.four_bar(), formulation="partitioned")
    crank, coupler, rocker = np.hypot(*np.diff(pivots, axis=0).T)
    before = np.arctan2(*np.diff(pivots, axis=0).T[::-1])
    turn = np.arccos((crank**2 + 4.0 - (coupler + rocker) ** 2) / (4.0 * crank))
    knee = crank * np.array([np.cos(turn), np.sin(turn)])
    along = np.arctan2(*(pivots[3] - knee)[::-1])
    x = eom.state(crank_pin=turn - before[0], coupler_pin=along - turn - before[1] + before[0])
    x[2] = -(before[2] - before[1])
    assert np.max(np.abs(eom.residual(0.0, x[:3], x[3:]))) < 1e-14
    with pytest.raises(
        SolverError, match=r"closure of loop 'pin_x and pin_y' is singular at joint '(rocker|coupler)_pin'"
    ):
        close_loops(eom, x)


def test_another_branch_is_named() -> None:
    """Newton's method from far away ends with the knee on the other side; the closed form keeps it where it is."""
    eom = form_equations(library.four_bar(), formulation="partitioned")
    far = eom.state(crank_pin=-3.0, coupler_pin=0.5, rocker_pin=0.0)
    with pytest.raises(
        SolverError, match=r"loop 'pin_x and pin_y' closes on another branch .* joint '(rocker|coupler)_pin'"
    ):
        close_loops(eom, far, method="newton")
    kept = close_loops(eom, far)
    assert kept.loops[0].method == "closed form" and kept.residual < 1e-14 * 10


def test_only_partitioned_equations_have_loops_to_close() -> None:
    eom = form_equations(library.four_bar())
    with pytest.raises(ModelError, match="formulation='partitioned'"):
        close_loops(eom, eom.state())
    part = form_equations(library.four_bar(), formulation="partitioned")
    with pytest.raises(ModelError, match="method"):
        close_loops(part, part.state(), method="guess")
    with pytest.raises(ShapeError, match=r"x0 has shape \(3,\), expected \(6,\)"):
        close_loops(part, np.zeros(3))
    with pytest.raises(ModelError, match=r"independent names 2 speeds .*its loops leave 1; name at most 1"):
        form_equations(library.four_bar(), formulation="partitioned", independent=("crank_pin", "rocker_pin"))
    with pytest.raises(ModelError, match="independent names an unknown"):
        form_equations(library.four_bar(), formulation="partitioned", independent=("crnk",))
    with pytest.raises(ModelError, match="formulation='partitioned'"):
        form_equations(library.four_bar(), independent=("crank_pin",))


def test_independent_coordinates_can_be_chosen() -> None:
    for name in ("crank_pin", "rocker_pin"):
        eom = form_equations(library.four_bar(), formulation="partitioned", independent=(name,))
        start = eom.state(**{name: 0.1})
        state = close_loops(eom, start)
        assert state.independent == (f"{name}_dot",)
        assert eom.named(state.x)[name] == 0.1
        again = make_consistent(eom, start, hold=(name,))
        np.testing.assert_allclose(
            np.asarray(state.x), np.asarray(again.x), atol=1e-11
        )  # the residual make_consistent leaves
