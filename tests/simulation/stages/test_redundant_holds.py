"""Runs in which redundant constraints hold a part: release times, warnings of guards, histories, impulses."""

from __future__ import annotations

import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Constraint,
    Exit,
    FreeSpace,
    Guard,
    Part,
    PointOnPlane,
    Prismatic,
    RigidBody,
    SpringDamper,
    Stage,
    System,
    find_impulse,
    form_equations,
    load_simulation,
    make_consistent,
    simulate,
    simulate_stages,
)
from spacectl.core.labels import Labels
from spacectl.simulation.run.guard_functions import warn_if_shared
from tests.dynamics.redundant_systems import SUPPORTS, bar_on_supports, bar_reactions, clamped_part, spinning_pair
from tests.simulation.staged_systems import sliders

CLAMPS = ("left", "right")
EQUATIONS = {
    name: form_equations(clamped_part(), formulation=name, switchable=True)
    for name in ("kane", "udwadia_phohomsiri", "artificial")
}
PAIR = form_equations(spinning_pair(), switchable=True)
LAG = 3e-3  # [s] of dampers in proportion to springs
KNOWN = form_equations(clamped_part(1e-8, 1e-8), switchable=True)


def pull(t, x):
    return [1000.0 * t]


def release(eom, expression, **options):
    """Pulled by 1000 t N until the guard lets go."""
    leave = Exit(guard=Guard(name="overload", expression=expression, direction=-1), to="free")
    stages = [Stage(name="held", active=CLAMPS, law=pull, exits=(leave,)), Stage(name="free", law=pull)]
    return simulate_stages(eom, stages, t_span=(0.0, 2.0), **options)


def at_500(clamp):
    return lambda s: s.reaction(f"{clamp}.x") + 500.0


@pytest.mark.filterwarnings("ignore:guard 'overload'")
@pytest.mark.parametrize("clamp", CLAMPS)
@pytest.mark.parametrize("tier", ["native", "vm"])
@pytest.mark.parametrize("formulation", EQUATIONS)
def test_release_time_does_not_depend_on_formulation_tolerance_clamp_or_tier(formulation, tier, clamp) -> None:
    """Each clamp carries 500 t N, so that it lets go at 1 s."""
    for rtol in (1e-4, 1e-10):
        sim = release(EQUATIONS[formulation], at_500(clamp), rtol=rtol, atol=rtol, tier=tier, grid=5)
        assert [item.time for item in sim.transitions] == pytest.approx([1.0], abs=1e-12)


@pytest.mark.filterwarnings("ignore:guard 'overload'")
@pytest.mark.parametrize("tier", ["native", "vm"])
@pytest.mark.parametrize("clamp", CLAMPS)
def test_release_of_a_spinning_pair_does_not_depend_on_the_tolerance(clamp, tier) -> None:
    """In motion rounding changes the order of pivoting from call to call, but not the split."""
    eom = PAIR
    start = make_consistent(eom, eom.state(**{"b.x": 1.0, "a.wx": 0.3, "a.wz": 0.4})).x
    times = [
        release(
            eom, lambda s: 250.0**2 - s.reaction(f"{clamp}.x") ** 2, x0=start, rtol=rtol, atol=rtol, tier=tier, grid=3
        )
        .transitions[0]
        .time
        for rtol in (1e-5, 1e-10)
    ]
    assert times[0] == pytest.approx(times[1], abs=1e-6)  # a tenth of the tolerance of the coarse run
    assert 0.7 < times[1] < 0.9  # 100 of 160 kg beyond two clamps: 312.5 t N each, but for the spin


@pytest.mark.filterwarnings("ignore:guard 'overload'")
def test_reference_driver_releases_when_the_native_one_does() -> None:
    times = [
        release(EQUATIONS["kane"], at_500("right"), driver=driver, grid=3).transitions[0].time
        for driver in ("native", "python")
    ]
    assert times == pytest.approx([1.0, 1.0], abs=1e-12)


def clamped_on_a_rail(left, right):
    """The same part on a rail: one equation a clamp."""
    system = clamped_part()
    clamps = zip(CLAMPS, (left, right), strict=True)
    return form_equations(
        replace(
            system,
            parts=(Part(system.parts[0].body, joint=Prismatic(name="slide", axis="x")),),
            constraints=tuple(PointOnPlane(name=name, b="part", normal="x", compliance=c) for name, c in clamps),
        ),
        switchable=True,
    )


@pytest.mark.parametrize(("clamp", "time"), [("left", 0.75), ("right", 1.5)])
def test_known_compliance_decides_the_release(clamp, time) -> None:
    """Springs in parallel: the stiff clamp carries two thirds, 500 N at 0.75 s; the soft one a third, 500 N at 1.5 s."""
    eom = clamped_on_a_rail(1e-8, 2e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = release(eom, lambda s: s.reaction(clamp) + 500.0, grid=3)
    assert sim.transitions[0].time == pytest.approx(time, abs=1e-12)


def test_split_by_compliance_is_that_of_a_run_on_stiff_springs() -> None:
    """The supports of the bar as springs of 1e6 N/m and less, loaded slowly: what they carry follows the closed form."""
    compliance = np.array([1e-6, 3e-6, 2e-6])
    eom = form_equations(bar_on_supports(tuple(compliance)), switchable=True)
    stage = Stage(name="held", active=eom_names(eom), law=lambda t, x: [100.0 * t])
    rigid = simulate_stages(eom, [stage], t_span=(0.0, 1.0), grid=3)
    springs = tuple(
        SpringDamper(name=f"k{k}", on_a="world", on_b="bar", at_a=(at, -1.0, 0), at_b=(at, 0, 0), length=1.0, stiffness=1 / c,
                     damping=LAG / c)
        for k, (at, c) in enumerate(zip(SUPPORTS, compliance, strict=True))
    )  # fmt: skip
    loose = form_equations(bar_on_supports(elements=springs, is_held=False))
    sim = simulate(loose, lambda t, x: [100.0 * t], t_span=(0.0, 1.0), grid=3, method="radau", rtol=1e-8, atol=1e-12)
    place = dict(zip(loose.states, sim.x[-1], strict=True))
    sag, rate = (place[f"bar.y{dot}"] + SUPPORTS * place[f"bar.angle{dot}"] for dot in ("", "_dot"))  # small
    np.testing.assert_allclose(rigid.lam[-1], bar_reactions(compliance, 100.0), rtol=1e-10)
    carried = -(sag + LAG * rate) / compliance
    np.testing.assert_allclose(carried, rigid.lam[-1], rtol=1e-5)  # springs of 1 m that sag by 1e-4 m turn by as much


def eom_names(eom):
    return tuple(dict.fromkeys(name.split(".")[0] for name in eom.constraint_rows))


def test_guard_on_a_shared_reaction_warns_with_names_and_cure() -> None:
    message = (
        "guard 'overload' depends on reactions that are not unique.*'left', 'right'.*compliance=.*guard a sum.*remove"
    )
    with pytest.warns(UserWarning, match=message):
        release(EQUATIONS["kane"], at_500("left"), grid=3)
    loads = [Guard(name="load", expression=lambda s: s.reaction("left.x") + 500.0, is_terminal=False)]
    with pytest.warns(UserWarning, match="guard 'load'"):
        simulate(form_equations(clamped_part()), u=[1.0], guards=loads, t_span=(0.0, 0.1), grid=3)


def warned(eom, expression) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        release(eom, expression, grid=3)
    return [str(item.message) for item in found]


def test_guards_that_do_not_depend_on_an_unknown_split_do_not_warn() -> None:
    assert warned(KNOWN, at_500("left")) == []
    both = EQUATIONS["kane"]
    assert warned(both, lambda s: s.reaction("left.x") + s.reaction("right.x") + 1000.0) == []
    assert warned(both, lambda s: 1e6 - (s.reaction("left.x") + s.reaction("right.x")) ** 2) == []
    assert warned(both, lambda s: 1.0 - s.t) == []
    assert len(warned(both, lambda s: ca.fmax(s.reaction("left.x") + 500.0, -1.0))) == 1


def test_one_clamp_alone_does_not_warn() -> None:
    leave = Exit(guard=Guard(name="overload", expression=at_500("left"), direction=-1), to="free")
    stages = [Stage(name="held", active=("left",), law=pull, exits=(leave,)), Stage(name="free", law=pull)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = simulate_stages(EQUATIONS["kane"], stages, t_span=(0.0, 1.0), grid=3)
    assert sim.transitions[0].time == pytest.approx(0.5, abs=1e-12)
    assert np.all(sim.is_unique("left.x")) and np.all(sim.is_unique("right.x"))


def test_redundancy_of_a_moment_warns_where_it_is() -> None:
    """Two guides of a slide turn into one direction at x = 0 only."""
    parts = (
        Part(RigidBody(name="a", mass=1.0, inertia=(1, 1, 1)), joint=Prismatic(name="x", axis="x")),
        Part(RigidBody(name="b", mass=1.0, inertia=(1, 1, 1)), on="a", joint=Prismatic(name="y", axis="y")),
        Part(RigidBody(name="c", mass=1.0, inertia=(1, 1, 1)), on="b", joint=Prismatic(name="z", axis="z")),
    )
    rules = (
        Constraint(name="fixed", rule=lambda s: s["y"]),
        Constraint(name="turning", rule=lambda s: ca.cos(s["x"]) * s["y"] + ca.sin(s["x"]) * s["z"]),
    )
    eom = form_equations(System(name="slide", environment=FreeSpace(), parts=parts, constraints=rules))
    guards = (Guard(name="load", expression=lambda s: s.reaction("turning") - 1.0),)
    beside = {"t": 0.0, "x": eom.state(x=0.3), "p": eom.p}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warn_if_shared(eom, guards, Labels(kind="memory"), **beside) == ()
    with pytest.warns(UserWarning, match="guard 'load'.*'fixed', 'turning'"):
        assert warn_if_shared(eom, guards, Labels(kind="memory"), **{**beside, "x": eom.state()}) == guards


@pytest.mark.filterwarnings("ignore:guard 'overload'")
@pytest.mark.parametrize("tier", ["native", "vm"])
def test_histories_say_which_reactions_are_unique(tier, tmp_path) -> None:
    sim = release(EQUATIONS["kane"], at_500("left"), tier=tier, grid=9)
    before = sim.t < 1.0
    total = sim.reaction("left.x") + sim.reaction("right.x")
    np.testing.assert_allclose(total[before], -1000.0 * sim.t[before], atol=1e-9)
    np.testing.assert_allclose(sim.reaction("left.x")[before], -500.0 * sim.t[before], atol=1e-9)
    np.testing.assert_array_equal(sim.is_unique("left.x"), ~before)
    sim.save(tmp_path / "run.nc")
    kept = load_simulation(tmp_path / "run.nc")
    np.testing.assert_array_equal(kept.is_unique("left.x"), ~before)


def test_capture_by_two_latches_shares_the_impulse(tmp_path) -> None:
    """Closed form: mu v in all, shared 3 to 1 by compliances 1 and 3; the run records that it is not unique."""
    for given, shares in (((None, None), (0.5, 0.5)), ((1e-8, 3e-8), (0.75, 0.25))):
        carts = tuple(
            Part(RigidBody(name=name, mass=mass, inertia=(1, 1, 1)), joint=Prismatic(name=f"{name}_x", axis="x"))
            for name, mass in (("chaser", 2.0), ("target", 3.0))
        )
        latches = tuple(
            Constraint(name=name, rule=lambda s: s["target_x"] - s["chaser_x"] - 1.0, compliance=c)
            for name, c in zip(("one", "two"), given, strict=True)
        )
        system = System(name="carts", environment=FreeSpace(), parts=carts, constraints=latches)
        meet = Exit(guard=Guard(name="contact", expression=lambda s: s.gap("one"), direction=-1), to="latched")
        stages = [Stage(name="approach", exits=(meet,)), Stage(name="latched", active=("one", "two"))]
        eom = form_equations(system, switchable=True)
        sim = simulate_stages(eom, stages, x0={"target_x": 2.0, "chaser_x_dot": 0.5}, t_span=(0.0, 3.0), grid=4)
        (caught,) = sim.transitions
        assert list(caught.impulses.values()) == pytest.approx([0.6 * share for share in shares], rel=1e-12)
        assert caught.is_unique == {"one": False, "two": False}


def test_contacts_share_an_impact_without_pulling() -> None:
    """A bar falls flat on three points: least squares with ``L >= 0``; beside the far one the first would have to pull."""
    eom = form_equations(bar_on_supports(), switchable=True)
    names = ("s0", "s1", "s2")
    fall = find_impulse(eom, eom.state(**{"bar.y_dot": -1.0}), contacts=names)
    A = np.vstack([np.ones(3), SUPPORTS])
    expected = np.linalg.pinv(A) @ [3.0, 0.0]  # 3 kg at 1 m/s
    np.testing.assert_allclose(list(fall.impulses.values()), expected, rtol=1e-10)
    assert not any(fall.is_unique.values()) and np.all(expected > 0.0)
    # turning so that the impulse acts at x = 1.4: plain least squares would pull at s0, then s1 and s2 carry it alone
    at, inertia = 1.4, 2.0
    start = eom.state(**{"bar.y_dot": -1.0 / 3.0, "bar.angle_dot": -at / inertia})
    tipped = find_impulse(eom, start, contacts=names)
    assert (np.linalg.pinv(A) @ [1.0, at])[0] < 0.0
    two = np.linalg.solve(A[:, 1:], [1.0, at])
    np.testing.assert_allclose(list(tipped.impulses.values()), [0.0, *two], atol=1e-10)
    np.testing.assert_allclose(np.asarray(tipped.x)[eom.n_q :], 0.0, atol=1e-12)


def test_single_capture_is_unique() -> None:
    eom = sliders()
    name = eom.constraint_rows[0].split(".")[0]
    found = find_impulse(eom, eom.x_rest, active=(name,))
    assert all(found.is_unique.values())
