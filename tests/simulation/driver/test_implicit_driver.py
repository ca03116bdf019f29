"""The implicit step in the compiled driver and its reference implementation: same values, exact Jacobian, slices, failures."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from spacectl.codegen.bound_function import CALLBACK, GENERATED
from spacectl.controllers.regulators.pd import design_pd
from spacectl.core.control_law import CallableLaw, make_law
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.labels import Labels
from spacectl.core.outcome import Status
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.form import form_equations
from spacectl.model import library
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Cylindrical, Free, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.model.part import Part
from spacectl.model.sensors import Acceleration, AngularVelocity
from spacectl.model.system import System
from spacectl.simulation.batches.simulate_many import simulate_many
from spacectl.simulation.driver.native_loop import DONE, NativeLoop
from spacectl.simulation.driver.reference.implicit import lu, lu_solve
from spacectl.simulation.driver.reference.loop import PythonLoop
from spacectl.simulation.driver.reference.steps import right_hand_side
from spacectl.simulation.events import Guard
from spacectl.simulation.run import jacobian
from spacectl.simulation.run.jacobian import bind_derivatives
from spacectl.simulation.run.simulate import build_run, simulate
from tests.simulation.stand_in import make_plant, oscillator, pendulum, tumbling_body

COUNTS = ("n_steps", "n_rejected", "n_right_sides", "n_law_calls", "n_jacobians", "n_factorisations")
LOOPS = (NativeLoop, PythonLoop)


def run_of(eom, law=None, **options):
    """A run that has not begun; the keywords of `simulate`."""
    defaults = {
        "t_span": (0.0, 2.0), "x0": None, "grid": 21, "u": None, "guards": (), "rtol": 1e-7, "atol": 1e-8, "p": None,
        "method": "radau", "max_step": np.inf, "max_steps": 10**6, "stops": (), "driver": "native", "tier": "vm",
        "begin": 0.0,
    }  # fmt: skip
    return build_run(eom, law, **{**defaults, **options})


def rich_law(eom, period=0.0, gain=1.0):
    """A law with memory, a measurement and a reference, linear in nothing."""
    table = Trajectory(
        t=[0.0, 1.1, 2.0], values=[[0.0], [0.4], [0.1]], labels=Labels(("command",)), interpolation="linear"
    )

    def rule(s):
        wrong = s["angle"] - s["command"]
        slow = s["height"] - s["sum"] * s["rate"]
        return -gain * (3.0 * ca.sin(wrong) * (1.0 + s["sum"]) + s["rate"] + s["rate"] ** 3) - 5.0 * s["height"] ** 2, (
            s["sum"] + period * slow if period else slow
        )

    return make_law(
        rule,
        name="rich",
        states=eom.labels.x,
        inputs=eom.labels.u,
        measurements=eom.labels.y,
        memory={"sum": 0.3},
        reference=table,
        period=period,
    )


def stiff_arm():
    eom = form_equations(library.planar_arm())
    return eom, design_pd(eom, kp=1e6, kd=1e5), {"x0": {"joint1": 0.4, "joint2": -0.2}}


def saturated_pendulum():
    eom = pendulum()
    return eom, rich_law(eom, gain=1e4), {"x0": {"angle": 0.5}, "stops": (0.7,)}


def sampled_pendulum():
    eom = pendulum()
    return eom, rich_law(eom, period=0.05), {"x0": {"angle": 0.5}}


def tumbling():
    return tumbling_body(), None, {"x0": {"qw": 1.0, "wx": 0.1, "wy": 2.0, "wz": 0.3}, "u": [0.2]}


def python_law():
    return pendulum(), CallableLaw(function=lambda t, x: [np.sin(t) - 300.0 * x[1]]), {"x0": {"angle": 0.5}}


def guarded():
    eom = oscillator()
    law = make_law(lambda s: -1e3 * s["rate"], name="damper", states=eom.labels.x, inputs=eom.labels.u)
    return eom, law, {"x0": [1.0, 0.0], "guards": [Guard(name="creep", expression=lambda s: s["angle"] - 0.9985)]}


PROBLEMS = [stiff_arm, saturated_pendulum, sampled_pendulum, tumbling, python_law, guarded]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_driver_and_reference_make_the_same_steps_and_values(problem):
    eom, law, options = problem()
    sims, datas = [], []
    for kind in ("native", "python"):
        run = run_of(eom, law, driver=kind, **options)
        sims.append(run.finish(*run.advance(lambda *_: None)))
        datas.append(run.data)
    native, reference = sims
    assert native.dataset.attrs["driver"] == "native" and reference.dataset.attrs["driver"] == "python"
    assert [getattr(datas[0], name) for name in COUNTS] == [getattr(datas[1], name) for name in COUNTS]
    assert native.outcome.stats["n_steps"] > 5 and native.outcome.message == reference.outcome.message
    # Sums run in the same order in both, so they differ at most by rounding inside library functions.
    for letter in ("x", "u", "u_commanded", "z"):
        np.testing.assert_allclose(getattr(native, letter), getattr(reference, letter), rtol=1e-10, atol=1e-10)
    assert [event.name for event in native.events] == [event.name for event in reference.events]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_trajectory_agrees_with_the_explicit_method(problem):
    eom, law, options = problem()
    options = {"t_span": (0.0, 0.2), "grid": 11, **options}
    implicit = simulate(eom, law, method="radau", rtol=1e-9, atol=1e-10, **options)
    explicit = simulate(eom, law, rtol=1e-10, atol=1e-11, **options)
    np.testing.assert_allclose(implicit.x, explicit.x, atol=1e-7)  # a hundred local errors
    np.testing.assert_allclose(implicit.z, explicit.z, atol=1e-7)


@pytest.mark.parametrize("loop", LOOPS)
def test_run_cut_into_slices_is_the_same_run_bit_for_bit(loop):
    eom, law, options = saturated_pendulum()
    whole, cut = (run_of(eom, law, **options).data for _ in range(2))
    assert loop(whole).advance() == DONE
    driver = loop(cut)
    while driver.advance(steps=1) != DONE:
        pass
    assert np.array_equal(whole.out_x, cut.out_x)
    assert [getattr(whole, name) for name in COUNTS] == [getattr(cut, name) for name in COUNTS]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(("gain", "is_saturated"), [(0.1, False), (1e3, True)])
def test_jacobian_of_the_closed_loop_is_exact(loop, gain, is_saturated):
    """Law, memory, measurement and reference included; a saturated input has no slope."""
    eom = pendulum()
    data = run_of(eom, rich_law(eom, gain=gain), x0={"angle": 0.5, "rate": 0.3}, max_step=1e-9).data
    begin = data.s.copy()
    loop(data).advance(steps=1)
    assert (abs(data.u_commanded[0]) > 2.0) == is_saturated
    differences, rates = np.zeros((3, 3)), np.zeros((2, 3))
    for j in range(3):
        for k, sign in enumerate((1.0, -1.0)):
            moved = begin.copy()
            moved[j] += sign * 1e-6
            right_hand_side(data, 0.0, moved, rates[k])
        differences[:, j] = (rates[0] - rates[1]) / 2e-6
    np.testing.assert_allclose(data.J, differences, rtol=1e-8, atol=1e-8)  # rounding over the shift, 1e-10 times sizes
    assert data.n_jacobians == 1


def every_joint():
    kinds = (Free, Revolute, Spherical, Prismatic, Universal, Cylindrical, Planar)
    parts, on = [], "world"
    for k, kind in enumerate(kinds):
        body = RigidBody(name=f"body{k}", mass=2.0 + k, inertia=(0.5, 0.6, 0.7), com=(0.1, 0.2, 0.3))
        parts.append(Part(body, joint=kind(name=f"joint{k}"), **({} if k == 0 else {"on": on, "at": (0.5, 0.1, -0.2)})))
        on = f"body{k}"
    return System(name="every joint", parts=tuple(parts))


@pytest.mark.parametrize(
    "make", [every_joint, library.planar_arm, library.orbiting_body, library.wheel_spacecraft, library.free_flyer_arm]
)
def test_native_jacobians_of_trees_are_those_of_the_expression(make):
    eom = form_equations(make())
    rng = np.random.default_rng(7)
    x, u = rng.normal(size=eom.n_x), rng.normal(size=eom.n_u)
    tangent = np.eye(eom.n_x)
    for k in eom.quaternions:  # the native ones belong to motions that keep quaternions at unit length
        x[k : k + 4] /= np.linalg.norm(x[k : k + 4])
        tangent[k : k + 4, k : k + 4] -= np.outer(x[k : k + 4], x[k : k + 4])
    slopes = []
    for tier, kind in (("vm", GENERATED), ("callback", CALLBACK)):
        bound, none = bind_derivatives(eom, None, eom.p, tier)
        assert bound.kind == kind and none is None
        bound.arguments[1][:], bound.arguments[2][:] = x, u
        assert bound.call()
        slopes.append((bound.results[0].reshape(eom.n_x, eom.n_x).T @ tangent, bound.results[1].copy()))
    scale = np.max(np.abs(slopes[0][0]))
    # two ways to the same derivatives: rounding times the condition of the mass matrix
    np.testing.assert_allclose(slopes[0][0], slopes[1][0], atol=1e-11 * scale)
    np.testing.assert_allclose(slopes[0][1], slopes[1][1], atol=1e-11 * scale)


def test_without_a_compiler_derivatives_of_the_expressions_serve(monkeypatch):
    def missing(eom, p):
        raise SolverError("no compiler")

    monkeypatch.setattr(jacobian, "_tree_derivatives", missing)
    eom, law, options = stiff_arm()
    run = run_of(eom, law, driver="python", t_span=(0.0, 0.1), **options)
    assert run.data.plant_derivatives.kind != GENERATED
    assert run.advance(lambda *_: None)[0] == Status.OK
    assert run.data.n_right_sides < 2000
    assert bind_derivatives(form_equations(library.chain(30)), None, np.zeros(0), "vm") == (
        None,
        None,
    )  # large: differences


def test_measured_rate_beside_an_accelerometer_is_differentiated():
    rig = library.planar_arm()
    gyro, weight = AngularVelocity(name="gyro", on="link2"), Acceleration(name="weight", on="link2")
    eom = form_equations(replace(rig, sensors=(gyro, weight)))
    rates = Labels(("gyro.wz",), ("rad/s",), "measurement")
    law = make_law(
        lambda s: [-1e5 * s["joint1"] - 1e4 * s["joint1_dot"], -1e4 * s["gyro.wz"]],
        name="gyro",
        states=eom.labels.x,
        inputs=eom.labels.u,
        measurements=rates,
    )
    data = run_of(eom, law, x0={"joint1": 0.4}).data
    assert NativeLoop(data).advance() == DONE
    assert data.n_right_sides < 4000  # with the wrong slopes it would not get far
    assert abs(data.s[2] + data.s[3]) < 1e-2  # the gyro's axis is held


def test_missing_jacobians_are_replaced_by_differences():
    """The derivative of sqrt(x^2) at zero is not a number; the run goes on."""
    eom = make_plant(lambda s: [s["v"], -1e4 * s["v"] - 10.0 * ca.sqrt(s["x"] ** 2) + 1.0], ("x", "v"))
    runs = [run_of(eom, x0=[0.0, 0.0], driver=kind) for kind in ("native", "python")]
    sims = [run.finish(*run.advance(lambda *_: None)) for run in runs]
    assert all(sim.outcome.is_success for sim in sims)
    assert runs[0].data.n_right_sides == runs[1].data.n_right_sides
    # on the slow branch 1e4 x' = 1 - 10 x, after a fast start
    assert sims[0]["x"][-1] == pytest.approx(0.1 * (1.0 - np.exp(-2e-3)), rel=1e-4)


@pytest.mark.parametrize("tier", ["native", "data-driven", "callback"])
@pytest.mark.slow
def test_all_tiers_give_the_same_stiff_trajectory(tier):
    for formulation in ("articulated", "kane"):
        eom = form_equations(library.planar_arm(), formulation=formulation)
        law = design_pd(eom, kp=1e6, kd=1e5)
        options = {"x0": {"joint1": 0.4}, "t_span": (0.0, 1.0), "method": "radau", "rtol": 1e-8, "atol": 1e-10}
        machine, other = (simulate(eom, law, tier=item, **options) for item in ("vm", tier))
        # Rounding can change when a Jacobian is renewed, and with it the steps: errors of the method itself then show.
        np.testing.assert_allclose(other.x, machine.x, atol=2e-8)


def test_factors_solve_real_and_complex_systems_and_detect_singular_ones():
    rng = np.random.default_rng(4)
    for n in (1, 2, 7, 30):
        for a in (rng.normal(size=(n, n)), rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))):
            a[0, 0] = 0.0 if n > 1 else 1.0  # needs an exchange
            b = a @ np.arange(1.0, n + 1.0)
            factors, pivot = a.copy(), np.zeros(n, dtype=np.int64)
            assert lu(factors, pivot)
            lu_solve(factors, pivot, b)
            np.testing.assert_allclose(b, np.arange(1.0, n + 1.0), rtol=1e-13 * np.linalg.cond(a))
    assert not lu(np.zeros((2, 2)), np.zeros(2, dtype=np.int64))


@pytest.mark.parametrize("driver", ["native", "python"])
def test_unbounded_growth_and_errors_of_a_law_are_reported(driver):
    eom = make_plant(lambda s: s["x"] ** 2, ("x",))
    with pytest.raises(SolverError, match=r"at t = 1\.0*\d* s") as caught:
        simulate(eom, x0=[1.0], t_span=(0.0, 2.0), method="radau", driver=driver, rtol=1e-5, atol=1e-5)
    assert caught.value.partial.t[-1] == pytest.approx(1.0, abs=1e-3)

    def broken(t, x):
        raise ValueError("no such gain")

    with pytest.raises(ValueError, match="no such gain"):
        simulate(oscillator(), broken, t_span=(0.0, 1.0), method="radau", driver=driver)


def test_unknown_method_lists_the_allowed_ones():
    with pytest.raises(ModelError, match="unknown method 'radua'; did you mean 'radau'"):
        simulate(oscillator(), t_span=(0.0, 1.0), method="radua")
    with pytest.raises(ModelError, match="unknown method 'bdf'. There are: dop853, rk45, radau"):
        simulate(oscillator(), t_span=(0.0, 1.0), method="bdf")


def test_many_runs_are_those_of_single_ones():
    eom, law, _ = stiff_arm()
    x0 = np.array([[0.4, -0.2, 0.0, 0.0], [0.1, 0.3, 0.5, 0.0], [0.4, -0.2, 0.0, 0.0]])
    options = {"t_span": (0.0, 1.0), "grid": 6, "method": "radau", "rtol": 1e-6, "atol": 1e-8}
    batch = simulate_many(eom, law, x0=x0, threads=1, **options)
    assert np.array_equal(batch.x[0], batch.x[2])  # nothing is left over from the run before
    for k in (0, 1):
        single = simulate(eom, law, x0=x0[k], tier="native", **options)
        np.testing.assert_allclose(np.asarray(batch.x[k])[:6], single.x, atol=1e-12)
