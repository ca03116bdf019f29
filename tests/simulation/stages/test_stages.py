"""Runs through stages: closed forms of bounces, strings and captures; grids, drivers, simultaneous events, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    CallableLaw,
    Exit,
    Guard,
    Impact,
    ModelError,
    SolverError,
    Stage,
    combine_stages,
    find_operating_point,
    form_equations,
    library,
    linearize,
    load_simulation,
    make_consistent,
    make_law,
    simulate,
    simulate_stages,
)
from spacectl.core.outcome import Status
from spacectl.dynamics.formulations.switching import active_numbers
from tests.simulation.staged_systems import (
    GRAVITY,
    ball,
    hinged_rods,
    pendulum_on_string,
    sliders,
    string_stages,
    swinging_start,
    two_bodies,
)

BALL, STRING, SLIDERS, BODIES, RODS = ball(), pendulum_on_string(), sliders(), two_bodies(), hinged_rods()
HIT = Guard(name="hit", expression=lambda s: s.gap("floor"), direction=-1)
LIFT_OFF = Guard(name="lift off", expression=lambda s: s.reaction("floor"), direction=-1)


def bouncing(**options):
    impact = Impact(contacts=("floor",), restitution=0.5, **options)
    return Stage(name="flight", exits=(Exit(guard=HIT, to="flight", impact=impact),))


@pytest.mark.parametrize("driver", ["native", "python"])
def test_bounces_follow_the_closed_form(driver):
    """From 5 m with 10 m/s^2: down after 1 s, then flights of 1, 1/2, 1/4, ... s."""
    sim = simulate_stages(BALL, [bouncing()], x0={"height": 5.0}, t_span=(0.0, 2.9), driver=driver)
    times = np.array([item.time for item in sim.transitions])
    np.testing.assert_allclose(times, [1.0, 2.0, 2.5, 2.75, 2.875], rtol=0.0, atol=1e-13)
    speeds = 10.0 * 0.5 ** np.arange(5)
    np.testing.assert_allclose([item.x_before[1] for item in sim.transitions], -speeds, atol=1e-12)
    np.testing.assert_allclose([item.x_after[1] for item in sim.transitions], 0.5 * speeds, atol=1e-12)
    np.testing.assert_allclose([item.energy_loss for item in sim.transitions], 0.75 * speeds**2, rtol=1e-12)
    np.testing.assert_allclose([item.impulses["floor"] for item in sim.transitions], 3.0 * speeds, rtol=1e-12)
    assert np.min(sim["height"]) > -1e-12


def test_bouncing_for_ever_in_finite_time_is_an_error_with_the_cure():
    with pytest.raises(SolverError, match="'hit' leads from stage 'flight' to 'flight' 20 times.*rest_speed"):
        simulate_stages(BALL, [bouncing()], x0={"height": 5.0}, t_span=(0.0, 4.0))


def test_slow_impact_comes_to_rest_and_a_reaction_lets_it_go_again():
    """At rest the floor carries the weight; a lift of 10 N/s from 4 s on takes it over after 2 s."""

    def lift(t, x):
        return [max(0.0, 10.0 * (t - 4.0))]

    stages = [
        Stage(name="flight", law=lift, exits=bouncing(rest_speed=1e-2, rest="rest").exits),
        Stage(name="rest", active=("floor",), law=lift, exits=(Exit(guard=LIFT_OFF, to="flight"),)),
    ]
    sim = simulate_stages(BALL, stages, x0={"height": 5.0}, t_span=(0.0, 7.0), grid=701, stops=(4.0,))
    assert sim.stage_names == ("flight", "rest")
    landed, left = sim.transitions[-2:]
    assert (landed.target, left.target, left.guard) == ("rest", "flight", "lift off")
    assert landed.x_after[1] == 0.0 or abs(landed.x_after[1]) < 1e-15
    assert left.time == pytest.approx(6.0, abs=1e-12)
    np.testing.assert_array_equal(left.x_before, left.x_after)  # release keeps the state
    resting = (sim.t > landed.time) & (sim.t < 4.0)
    np.testing.assert_allclose(sim.reaction("floor")[resting], 2.0 * GRAVITY, rtol=1e-12)
    np.testing.assert_allclose(sim["height"][-1], 10.0 / 2.0 / 6.0, rtol=1e-9)  # x'' = 5 (t - 6): x = 5/6 after 1 s


@pytest.mark.parametrize("driver", ["native", "python"])
def test_string_goes_slack_and_taut_where_it_should(driver):
    """Slack where v^2 = -g cos: from the lowest point with v0, cos(angle) = -(v0^2 - 2 g) / (3 g); then a parabola."""
    v_0 = 6.5
    sim = simulate_stages(
        STRING, string_stages(), x0=swinging_start(v_0), t_span=(0.0, 1.5), rtol=1e-11, atol=1e-11, driver=driver
    )
    slack, taut = sim.transitions[:2]
    height = (v_0**2 - 2.0 * GRAVITY) / (3.0 * GRAVITY)
    assert slack.x_before[2] == pytest.approx(height, abs=1e-9)
    speed = np.hypot(*np.asarray(slack.x_before)[4:6])
    assert speed**2 == pytest.approx(GRAVITY * height, abs=1e-8)
    # the parabola meets the circle again after 4 v sin(angle) / g, with the angle of the velocity against the horizontal
    x, y = np.asarray(slack.x_before)[1:3]
    assert taut.time - slack.time == pytest.approx(4.0 * speed * abs(x) / GRAVITY, abs=1e-9)
    # the string takes the radial speed at once
    q, v = np.asarray(taut.x_before)[1:3], np.asarray(taut.x_before)[4:6]
    radial = v @ q
    assert taut.impulses["string"] == pytest.approx(1.3 * radial, abs=1e-12)
    assert taut.energy_loss == pytest.approx(0.5 * 1.3 * radial**2, rel=1e-10)


def test_event_times_do_not_depend_on_grid_and_meet_a_tight_reference():
    def times(rtol, grid):
        options = {"x0": swinging_start(6.5), "t_span": (0.0, 6.0), "rtol": rtol, "atol": rtol, "grid": grid}
        return np.array([item.time for item in simulate_stages(STRING, string_stages(), **options).transitions])

    loose = times(1e-10, 3)
    np.testing.assert_array_equal(loose, times(1e-10, 1234))  # to the last bit
    reference = times(1e-12, 11)
    assert len(loose) == len(reference) >= 2
    np.testing.assert_allclose(loose, reference, rtol=0.0, atol=1e-8)


def test_switched_equations_are_those_of_the_active_constraints():
    x = np.array(make_consistent(form_equations(RODS.system), RODS.state(one=0.8, two=2.3, one_dot=0.4)).x)
    for active in ((), ("pin_x",), ("pin_x", "pin_y")):
        own = form_equations(RODS.system, active=active)
        p = active_numbers(RODS, active)
        np.testing.assert_allclose(RODS.x_dot(0.0, x, p=p), own.x_dot(0.0, x), rtol=1e-11, atol=1e-11)
        run = simulate(RODS, x0=x, p=p, t_span=(0.0, 0.5), grid=5)
        np.testing.assert_allclose(run.x, simulate(own, x0=x, t_span=(0.0, 0.5), grid=5).x, atol=1e-10)
        if active:
            lam = RODS.multipliers(0.0, x[:2], x[2:], p=p)
            np.testing.assert_allclose(lam[: len(active)], own.multipliers(0.0, x[:2], x[2:]), rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(lam[len(active) :], 0.0)


def test_momentum_is_conserved_through_capture_and_release():
    """Two tumbling bodies drift together, touch (plastic), slide on each other until nothing presses, and part again."""
    x0 = BODIES.state(**{"a.wz": 0.3, "a.wx": 0.2, "b.x": 2.3, "b.y": 0.3, "b.x_dot": -0.8, "b.wy": 0.4, "b.wz": -0.2})
    meet = Exit(guard=Guard(name="meet", expression=lambda s: s.gap("touch"), direction=-1), to="touching")
    part = Exit(guard=Guard(name="part", expression=lambda s: s.reaction("touch"), direction=-1), to="apart")
    stages = [
        Stage(name="loose", exits=(meet,)),
        Stage(name="touching", active=("touch",), exits=(part,)),
        Stage(name="apart"),
    ]
    sim = simulate_stages(BODIES, stages, x0=x0, t_span=(0.0, 4.0), rtol=1e-12, atol=1e-12, grid=41)
    assert sim.transitions[0].guard == "meet"
    assert sim.transitions[0].impulses["touch"] > 0.1 and sim.transitions[0].energy_loss > 0.01
    momentum = BODIES.along("momentum", sim.t, sim.x)
    np.testing.assert_allclose(momentum - momentum[0], 0.0, atol=1e-10)  # of the order of rtol over the run
    for item in sim.transitions:
        np.testing.assert_allclose(item.momentum_change, 0.0, atol=1e-14)  # round-off of 1 N m s


def test_open_latch_is_refused_or_closed_as_the_tolerance_says():
    """Closing moves bodies towards each other as an internal force would: the centre of mass stays."""
    x0 = BODIES.state(**{"b.x": 1.805, "b.y": 0.2, "b.z": -0.297})
    go = Exit(guard=Guard(name="go", expression=lambda s: s.since - 0.5, direction=1), to="held")
    stages = [Stage(name="loose", exits=(go,)), Stage(name="held", active=("latch",))]
    with pytest.raises(SolverError, match="'held' cannot follow 'loose' at t = 0.5 s: latch.x is open by 0.005"):
        simulate_stages(BODIES, stages, x0=x0, t_span=(0.0, 1.0))
    turned = BODIES.state(
        **{"b.x": 1.8, "b.y": 0.2, "b.z": 0.3, "b.qw": 0.0, "b.qx": 1.0}
    )  # about x: rows are met, axes not
    with pytest.raises(SolverError, match="latch would close turned by 180 degrees"):
        simulate_stages(BODIES, stages, x0=turned, t_span=(0.0, 1.0))
    sim = simulate_stages(BODIES, stages, x0=x0, t_span=(0.0, 1.0), gap_tolerance=0.01, grid=3)
    (caught,) = sim.transitions
    centres = [BODIES.center_of_mass(0.0, np.asarray(state)[:14]) for state in (caught.x_before, caught.x_after)]
    np.testing.assert_allclose(centres[0], centres[1], atol=1e-15)
    assert np.max(np.abs(BODIES.residual(0.0, sim.x[-1, :14], sim.x[-1, 14:])[:6])) < 1e-12


def test_both_of_simultaneous_exits_happen_and_parts_change_on_their_own():
    """Two masses hang on hooks of their own, let go at the same instant; a third event comes later."""

    def stages(name, row, after):
        go = Guard(name="go", expression=lambda s: s.t - after, direction=1)
        return [
            Stage(name="held", active=(row,), exits=(Exit(guard=go, to="free"),)),
            Stage(name="free", u={name: 2.0}),
        ]

    x0 = SLIDERS.state(left_x_dot=0.5, right_x_dot=0.7)
    both = combine_stages({"left": stages("pull", "wall", 1.0), "right": stages("push", "rail", 1.0)})
    assert len(both) == 4 and both.name_of(right="free") == "left:held right:free"
    sim = simulate_stages(SLIDERS, both, x0=x0, t_span=(0.0, 2.0))
    assert [item.time for item in sim.transitions] == pytest.approx([1.0, 1.0], abs=1e-13)
    assert sim.transitions[-1].target == "left:free right:free"
    np.testing.assert_allclose(sim.x[-1, :2], [1.0 + 0.5, 1.4 + 1.0 / 3.0], rtol=1e-9)
    later = combine_stages({"left": stages("pull", "wall", 1.0), "right": stages("push", "rail", 1.5)})
    sim = simulate_stages(SLIDERS, later, x0=x0, t_span=(0.0, 2.0))
    assert [item.guard for item in sim.transitions] == ["left: go", "right: go"]
    np.testing.assert_allclose(sim.x[-1, :2], [1.5, 1.4 + 0.25 / 3.0], rtol=1e-9)


def test_stage_that_is_entered_past_its_guard_is_left_at_once():
    first = Exit(guard=Guard(name="one", expression=lambda s: s.t - 1.0, direction=1), to="second")
    second = Exit(guard=Guard(name="two", expression=lambda s: s.t - 0.5, direction=1), to="third")
    stages = [Stage(name="first", exits=(first,)), Stage(name="second", exits=(second,)), Stage(name="third")]
    sim = simulate_stages(SLIDERS, stages, x0=SLIDERS.state(left_x_dot=1.0), t_span=(0.0, 2.0))
    assert [(item.guard, item.time) for item in sim.transitions] == [
        ("one", pytest.approx(1.0)),
        ("two", pytest.approx(1.0)),
    ]
    assert sim.stage_names == ("first", "third")


def test_two_stages_that_send_each_other_back_are_an_error():
    there = Exit(guard=Guard(name="there", expression=lambda s: s.t - 1.0, direction=1), to="b")
    back = Exit(guard=Guard(name="back", expression=lambda s: s.t - 1.0, direction=1), to="a")
    stages = [Stage(name="a", exits=(there,)), Stage(name="b", exits=(back,))]
    with pytest.raises(SolverError, match="20 times within .* s at t = 1 s"):
        simulate_stages(SLIDERS, stages, t_span=(0.0, 2.0))


def test_guard_past_zero_at_the_start_is_refused():
    with pytest.raises(ModelError, match="guard 'hit' is already past zero at the start, -0.1 .*stage behind it"):
        simulate_stages(BALL, [bouncing()], x0={"height": -0.1}, t_span=(0.0, 1.0))
    down = Stage(name="rest", active=("floor",), exits=(Exit(guard=LIFT_OFF, to="rest"),), u={"lift": 30.0})
    with pytest.raises(ModelError, match="'lift off' is already past zero at the start, -10"):
        simulate_stages(BALL, [down], t_span=(0.0, 1.0))


def test_contradictory_stage_is_refused_at_the_transition():
    go = Exit(guard=Guard(name="go", expression=lambda s: s.t - 1.0, direction=1), to="torn")
    stages = [Stage(name="free", exits=(go,)), Stage(name="torn", active=("hook", "wall", "rail"))]
    x0 = SLIDERS.state(left_x=0.5, right_x=0.5)
    with pytest.raises(SolverError, match="'torn' cannot follow 'free' at t = 1 s: rail is open by -0.2"):
        simulate_stages(SLIDERS, stages, x0=x0, t_span=(0.0, 2.0))
    with pytest.raises(SolverError, match="'torn' cannot follow 'free'.*constraints contradict each other"):
        simulate_stages(SLIDERS, stages, x0=x0, t_span=(0.0, 2.0), gap_tolerance=0.3)
    crossing = Exit(guard=Guard(name="go", expression=lambda s: s.t - 1.0, direction=1), to="pulled")
    stages = [Stage(name="free", exits=(crossing,)), Stage(name="pulled", active=("hook", "early", "late"))]
    with pytest.raises(SolverError, match="from stage 'free' to 'pulled': constraints contradict each other"):
        simulate_stages(SLIDERS, stages, x0=x0, t_span=(0.0, 2.0))


def test_run_ends_at_an_exit_that_leads_nowhere_and_is_read_back(tmp_path):
    stop = Exit(guard=Guard(name="stop", expression=lambda s: s["height"] - 1.0, direction=-1))
    watch = Guard(name="three", expression=lambda s: s["height"] - 3.0)
    sim = simulate_stages(
        BALL, [Stage(name="flight", exits=(stop,), watches=(watch,))], x0={"height": 5.0}, t_span=(0.0, 2.0)
    )
    assert sim.outcome.status is Status.EVENT
    assert sim.t[-1] == pytest.approx(np.sqrt(0.8), abs=1e-13)
    assert [event.name for event in sim.events] == ["three", "stop"]
    sim.save(tmp_path / "run.nc")
    again = load_simulation(tmp_path / "run.nc")
    assert again.transitions == sim.transitions and again.stage_names == ("flight",)
    np.testing.assert_array_equal(again.lam, sim.lam)


def test_memory_and_samples_of_a_law_go_on_through_a_transition():
    """A counter that samples every 0.3 s, and an integrator: the stage changes at 1 s without a trace in either."""
    go = Exit(guard=Guard(name="go", expression=lambda s: s.t - 1.0, direction=1), to="b")
    labels = SLIDERS.labels
    counter = make_law(
        lambda s: ([s["n"], 0.0], s["n"] + 1.0),
        name="n",
        states=labels.x,
        inputs=labels.u,
        memory={"n": 0.0},
        period=0.3,
    )
    integral = make_law(
        lambda s: ([s["i"], 0.0], 1.0 + 0.0 * s["left_x"]),
        name="i",
        states=labels.x,
        inputs=labels.u,
        memory={"i": 0.0},
    )
    for law in (counter, integral):
        stages = [Stage(name="a", exits=(go,), law=law), Stage(name="b", law=law)]
        staged = simulate_stages(SLIDERS, stages, t_span=(0.0, 2.0), grid=41)
        loose = active_numbers(SLIDERS, ())
        whole = simulate(SLIDERS, law, t_span=(0.0, 2.0), grid=41, p=loose)
        np.testing.assert_allclose(staged.x, whole.x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(staged.u, whole.u, rtol=1e-12)
        np.testing.assert_allclose(staged.z, whole.z, rtol=1e-12)


def test_loads_numbers_and_idle_inputs_belong_to_their_stage():
    go = Exit(guard=Guard(name="go", expression=lambda s: s.t - 1.0, direction=1), to="b")
    law = CallableLaw(function=lambda t, x: [4.0, 0.0], name="pull")
    stages = [
        Stage(name="a", exits=(go,), law=law, idle=("pull",)),
        Stage(name="b", law=law, p={"left.mass": 8.0}),
    ]
    sim = simulate_stages(SLIDERS, stages, t_span=(0.0, 2.0), grid=5)
    assert sim.column("u", "pull").tolist() == [0.0, 0.0, 4.0, 4.0, 4.0]
    assert sim.column("u_commanded", "pull").tolist() == [4.0] * 5
    assert sim["left_x"][-1] == pytest.approx(0.5 * 4.0 / 8.0, rel=1e-9)


def test_linear_models_of_stages_are_those_of_their_equations():
    point = RODS.state(one=np.pi / 4, two=3 * np.pi / 4)
    for stage in (Stage(name="free"), Stage(name="pinned", active=("pin_x", "pin_y"))):
        own = form_equations(RODS.system, active=stage.active)
        found = linearize(RODS, point, stage=stage, check=False)
        expected = linearize(own, point, check=False)
        assert found.x.names == expected.x.names
        np.testing.assert_allclose(found.A, expected.A, rtol=1e-9, atol=1e-9)
    assert len(linearize(RODS, point, stage=("pin_x",), check=False).x) == 2


def test_independent_states_of_a_stage_can_be_chosen():
    """Whichever is kept, all error states answer to the inputs in the same way."""
    point = SLIDERS.state()
    names = ("left_x", "right_x")
    models = [linearize(SLIDERS, point, stage=("hook",), independent=(name,)) for name in names]
    assert [model.x.names for model in models] == [(name, f"{name}_dot") for name in names]
    whole = [np.asarray(model.basis) @ np.asarray(model.B) for model in models]
    np.testing.assert_allclose(whole[0], whole[1], rtol=1e-14)
    np.testing.assert_allclose(whole[0][2:], 1.0 / 5.0, rtol=1e-14)  # both masses move as one of 5 kg
    with pytest.raises(ModelError, match="make dependent"):
        linearize(SLIDERS, point, stage=("hook",), independent=names)


def test_states_and_points_are_made_for_a_stage():
    """Two rods: apart they are held up by nothing, pinned together they stand; the latch of two bodies may be turned when off."""
    pinned = make_consistent(RODS, RODS.state(one=0.7, two=2.4), stage=("pin_x", "pin_y"))
    own = make_consistent(form_equations(RODS.system), RODS.state(one=0.7, two=2.4))
    np.testing.assert_allclose(pinned.x, own.x, atol=1e-12)
    alone = make_consistent(RODS, RODS.state(one=0.7, two=2.4), stage=())
    np.testing.assert_array_equal(alone.x[:2], [0.7, 2.4])
    turned = BODIES.state(**{"b.qw": 0.0, "b.qx": 1.0})
    np.testing.assert_array_equal(make_consistent(BODIES, turned, stage=()).x, turned)
    with pytest.raises(SolverError, match="turned by 180 degrees|no state near"):
        make_consistent(BODIES, turned, stage=("latch",))
    standing = find_operating_point(RODS, guess=pinned.x, stage=("pin_x", "pin_y"))
    assert np.max(np.abs(standing.residual)) < 1e-9


def test_transition_at_the_very_end_leaves_a_whole_history():
    go = Exit(guard=Guard(name="go", expression=lambda s: s.t - 2.0, direction=1), to="b")
    stages = [Stage(name="a", exits=(go,)), Stage(name="b")]
    sim = simulate_stages(SLIDERS, stages, x0=SLIDERS.state(left_x_dot=1.0), t_span=(0.0, 2.0), grid=5)
    assert sim.outcome.is_success and sim.t.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert sim["left_x"][-1] == pytest.approx(2.0)


def test_system_without_constraints_changes_its_law_by_stage():
    """An arm is accelerated by one law and slowed down by the other; no constraint, nothing to switch."""
    eom = form_equations(library.planar_arm(lengths=(1.0,)))
    half = Exit(guard=Guard(name="half way", expression=lambda s: s["joint1"] - 0.5, direction=1), to="slow")
    still = Exit(guard=Guard(name="at rest", expression=lambda s: s["joint1_dot"], direction=-1))
    stages = [
        Stage(name="fast", u={"joint1": 1.0}, exits=(half,)),
        Stage(name="slow", u={"joint1": -1.0}, exits=(still,)),
    ]
    sim = simulate_stages(eom, stages, t_span=(0.0, 10.0))
    assert [item.guard for item in sim.transitions] == ["half way", "at rest"]
    assert sim["joint1"][-1] == pytest.approx(1.0, abs=1e-9)  # bang-bang: as far again
    assert sim.t[-1] == pytest.approx(2.0 * np.sqrt(2.0 * 0.5 * eom.mass_matrix(0.0, [0.0])[0, 0]), abs=1e-9)
    assert sim.lam.shape == (sim.t.size, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: simulate_stages(BALL, [], t_span=(0, 1)), "expected a sequence of Stage"),
        (lambda: simulate_stages(BALL, [Stage(name="a"), Stage(name="a")], t_span=(0, 1)), "two have one name"),
        (lambda: simulate_stages(BALL, [Stage(name="a")], start="b", t_span=(0, 1)), "stage 'b'"),
        (lambda: simulate_stages(BALL, [Stage(name="a", active=("flor",))], t_span=(0, 1)), "did you mean 'floor'"),
        (lambda: simulate_stages(form_equations(BALL.system), [Stage(name="a")], t_span=(0, 1)), "switchable=True"),
        (lambda: Stage(name="a", exits=(HIT,)), "expected Exit objects"),
        (lambda: Exit(guard=Guard(name="g", expression=lambda s: s.t, is_terminal=False)), "not terminal"),
        (lambda: Impact(contacts=("floor",), rest_speed=1.0), "give both"),
        (lambda: simulate_stages(BALL, [Stage(name="a", u={"lift": 1.0}, idle=("lift",))], t_span=(0, 1)), "is idle"),
        (lambda: simulate_stages(BALL, [bouncing()], x0={"height": 1}, t_span=(0, 1), gap_tolerance="x"), "gap_tolerance"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_is_raised_in_a_later_stage_keeps_all_stages_before(error):
    def report(fraction, message):
        raise error("refused")

    options = {"x0": {"height": 5.0}, "t_span": (0.0, 2.9), "grid": 30}
    with pytest.raises(error) as caught:
        simulate_stages(BALL, [bouncing()], progress=report, **options)
    part, whole = caught.value.partial, simulate_stages(BALL, [bouncing()], **options)
    assert part.outcome.status is (Status.INTERRUPTED if error is KeyboardInterrupt else Status.FAILED)
    assert [item.time for item in part.transitions] == [item.time for item in whole.transitions]
    n = int(np.sum(part.t < 2.875))
    assert n == 29
    np.testing.assert_array_equal(part.x[:n], whole.x[:n])
    if error is ZeroDivisionError:
        kept = simulate_stages(BALL, [bouncing()], progress=report, check=False, **options)
        assert kept.outcome.status is Status.FAILED and "ZeroDivisionError: refused" in kept.outcome.message


def test_an_exit_that_marks_a_failure_ends_the_run_as_one():
    crash = Guard(name="crash", expression=lambda s: s.gap("floor"), direction=-1, is_failure=True)
    stages = [Stage(name="flight", exits=(Exit(guard=crash),))]
    with pytest.raises(SolverError, match="'crash' marks a failure"):
        simulate_stages(BALL, stages, x0={"height": 5.0}, t_span=(0.0, 2.0))
    sim = simulate_stages(BALL, stages, x0={"height": 5.0}, t_span=(0.0, 2.0), check=False)
    assert sim.outcome.status is Status.DIVERGED
    assert sim.t[-1] == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ModelError, match="Exit at 'crash': the guard marks a failure"):
        Exit(guard=crash, to="flight")
