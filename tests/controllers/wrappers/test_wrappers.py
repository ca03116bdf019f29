"""Saturation, dead zone, quantisation, rate limit; and what all wrappers keep of the law inside."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    ControlLaw,
    Labels,
    ModelError,
    Trajectory,
    add_dead_zone,
    add_delay,
    add_low_pass,
    add_noise,
    add_notch,
    design_pd,
    form_equations,
    library,
    limit_rate,
    quantize,
    saturate,
    simulate,
)
from tests.controllers.carrier import carrier, run_samples

PERIOD = 0.05  # [s]
SIGNAL = 3.0 * np.sin(0.7 * np.arange(60) ** 1.3)

EVERY = {
    "saturate": lambda law: saturate(law, 0.3),
    "dead zone": lambda law: add_dead_zone(law, 0.2),
    "rate": lambda law: limit_rate(law, 20.0, bandwidth=None if law.is_sampled else 100.0),
    "delay": lambda law: add_delay(law, 0.02),
    "low pass": lambda law: add_low_pass(law, 60.0),
    "notch": lambda law: add_notch(law, 25.0),
}
SAMPLED = {
    "quantize": lambda law: quantize(law, 0.05),
    "quantize states": lambda law: quantize(law, 0.001, on="states"),
    "noise": lambda law: add_noise(law, 0.02, seed=5, on="inputs"),
    "noisy states": lambda law: add_noise(law, {"joint1": 1e-3, "joint2_dot": 1e-3}, seed=5, on="states"),
}


@pytest.fixture(scope="module")
def eom():
    return form_equations(library.planar_arm())


def follow(eom, period: float) -> ControlLaw:
    table = Trajectory(
        t=[0.0, 1.0], values=[[0.0, 0.0], [0.3, -0.2]], rates=np.zeros((2, 2)), labels=Labels(("joint1", "joint2"))
    )
    return design_pd(eom, kp=(3.0, 2.0), kd=(2.0, 1.0), reference=table, period=period)


@pytest.mark.parametrize("on", ["inputs", "measurements", "states"])
@pytest.mark.parametrize(
    ("wrap", "expected"),
    [
        (lambda law, on: saturate(law, 2.0, on=on), np.clip(SIGNAL, -2.0, 2.0)),
        (lambda law, on: add_dead_zone(law, 0.5, on=on), np.sign(SIGNAL) * np.maximum(np.abs(SIGNAL) - 0.5, 0.0)),
        (lambda law, on: quantize(law, 0.25, on=on), 0.25 * np.floor(SIGNAL / 0.25 + 0.5)),
        (lambda law, on: add_delay(law, 3 * PERIOD, on=on, start=7.0), np.concatenate([[7.0] * 3, SIGNAL[:-3]])),
    ],
    ids=["saturate", "dead zone", "quantize", "delay"],
)
def test_formulas_on_every_kind_of_signal(wrap, expected, on) -> None:
    law = wrap(carrier(PERIOD, on), on)
    np.testing.assert_allclose(run_samples(law, SIGNAL), expected, rtol=0.0, atol=1e-15)


def test_one_sided_limits() -> None:
    law = saturate(carrier(PERIOD), {"out": (-np.inf, 1.0)})
    np.testing.assert_array_equal(run_samples(law, SIGNAL), np.minimum(SIGNAL, 1.0))


def test_rate_limit_of_a_sampled_law_is_exact() -> None:
    law = limit_rate(carrier(PERIOD), 8.0, start={"out": 0.5})
    value, expected = 0.5, []
    for wanted in SIGNAL:
        value += np.clip(wanted - value, -8.0 * PERIOD, 8.0 * PERIOD)
        expected.append(value)
    out = run_samples(law, SIGNAL)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    assert np.max(np.abs(np.diff(out))) <= 8.0 * PERIOD * (1 + 1e-12)


def test_rate_limit_of_a_continuous_law_ramps_then_settles(eom) -> None:
    """A step of the command: a ramp with the rate until the lag's own rate is smaller, then its exponential."""
    step, rate, bandwidth = 2.0, 4.0, 50.0
    bare = dataclasses.replace(
        design_pd(eom, kp=0.0, kd=0.0), function=_constant_law(design_pd(eom, kp=0.0, kd=0.0), [step, 0.0])
    )
    law = limit_rate(bare, rate, bandwidth=bandwidth)
    sim = simulate(eom, law, t_span=(0.0, 1.0), rtol=1e-9, atol=1e-10)
    corner = (step - rate / bandwidth) / rate
    expected = np.where(
        sim.t < corner, rate * sim.t, step - rate / bandwidth * np.exp(-bandwidth * np.maximum(sim.t - corner, 0.0))
    )
    # a kink of z_ddot within a step: its error is bounded by the tolerance times the steps it takes, some hundred
    np.testing.assert_allclose(sim.u[:, 0], expected, atol=1e-6)


def _constant_law(law: ControlLaw, u: list[float]) -> ca.Function:
    names, sizes = law.function.name_in(), [law.function.numel_in(i) for i in range(6)]
    symbols = [ca.SX.sym(name, size) for name, size in zip(names, sizes, strict=True)]
    return ca.Function("law", symbols, [ca.DM(u), symbols[3], symbols[3]], names, law.function.name_out())


@pytest.mark.parametrize(
    ("name", "period"), [(k, p) for k in EVERY for p in (0.0, 0.02)] + [(k, 0.02) for k in SAMPLED]
)
def test_native_code_and_the_python_reference_agree_in_the_closed_loop(eom, name, period) -> None:
    law = {**EVERY, **SAMPLED}[name](follow(eom, period))
    options = {"x0": {"joint1": 0.3}, "t_span": (0.0, 0.5), "grid": 26, "rtol": 1e-8, "atol": 1e-10}
    native = simulate(eom, law, **options, tier="native")
    reference = simulate(eom, law, **options, tier="vm", driver="python")
    # the same steps; where kinks decide on a step, rounding may change it: then the tolerance times the steps
    np.testing.assert_allclose(native.x, reference.x, atol=1e-11 if period else 1e-7)
    bare = simulate(eom, follow(eom, period), **options)
    assert np.max(np.abs(native.x - bare.x)) > 1e-6  # the wrapper does something
    assert native.dataset.attrs["law"] == law.name


@pytest.mark.parametrize("name", [*EVERY, *SAMPLED])
def test_wrapping_keeps_the_law_inside(eom, name) -> None:
    bare = follow(eom, 0.02)
    wrap = {**EVERY, **SAMPLED}[name]
    once, twice = wrap(bare), wrap(wrap(bare))
    for law in (once, twice):
        assert (law.states, law.inputs, law.measurements) == (bare.states, bare.inputs, bare.measurements)
        assert law.period == bare.period and law.reference is bare.reference and law.reference_rates
        assert law.parameters.names[:4] == bare.parameters.names
        assert law.name.startswith("PD, ") and law.notes["kp"] == [3.0, 2.0]
    assert len(once.notes["wrappers"]) == 1 and len(twice.notes["wrappers"]) == 2
    added = once.memory.names + once.parameters.names[4:]
    again = twice.memory.names[len(once.memory) :] + twice.parameters.names[len(once.parameters) :]
    prefix = added[0].split(".")[0]
    assert again == tuple(f"{prefix}2{item.removeprefix(prefix)}" for item in added)
    assert once.content_hash != bare.content_hash != twice.content_hash


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Designed(ControlLaw):
    """A law with facts of its design, as `design_lqr` gives one."""

    poles: tuple[float, ...] = ()


def test_facts_of_a_design_stay_with_the_law_inside(eom) -> None:
    bare = follow(eom, 0.02)
    designed = Designed(**{item.name: getattr(bare, item.name) for item in dataclasses.fields(bare)}, poles=(-1.0,))
    law = add_delay(designed, 0.02)
    assert type(law) is ControlLaw and not hasattr(law, "poles")


def test_memory_names_and_units_are_readable(eom) -> None:
    law = add_low_pass(add_delay(follow(eom, 0.02), {"joint2": 0.04}), {"joint1": 9.0})
    assert law.memory.names == ("delay.joint2.1", "delay.joint2.2", "low_pass.joint1.value", "low_pass.joint1.rate")
    assert law.memory.unit("delay.joint2.2") == "N m"
    assert law.parameters.names[-2:] == ("low_pass.joint1.frequency", "low_pass.joint1.damping")


def test_only_named_signals_are_changed(eom) -> None:
    bare = follow(eom, 0.02)
    law = saturate(bare, {"joint2": 0.01})
    u, v = bare(0.5, [1.0, 1.0, 0.0, 0.0]), law(0.5, [1.0, 1.0, 0.0, 0.0])
    assert u[0] == v[0] and v[1] == -0.01


def test_order_matters_and_is_as_written() -> None:
    inside_first = saturate(add_dead_zone(carrier(PERIOD), 1.0), 2.0)
    np.testing.assert_array_equal(run_samples(inside_first, [5.0, 2.5]), [2.0, 1.5])
    other = add_dead_zone(saturate(carrier(PERIOD), 2.0), 1.0)
    np.testing.assert_array_equal(run_samples(other, [5.0, 2.5]), [1.0, 1.0])


def test_laws_that_have_no_scalar_form_can_be_wrapped(eom) -> None:
    """Such as one that solves an equation by Newton's method."""
    bare = follow(eom, 0.02)
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    solver = ca.rootfinder("solver", "newton", ca.Function("g", [a, b], [a + 0.1 * a**3 - b]))
    symbols = [ca.MX.sym(name, bare.function.numel_in(i)) for i, name in enumerate(bare.function.name_in())]
    u, z_dot, z_next = bare.function(*symbols)
    solved = ca.vertcat(solver(0.0, u[0]), u[1])
    function = ca.Function("law", symbols, [solved, z_dot, z_next], bare.function.name_in(), bare.function.name_out())
    law = add_delay(dataclasses.replace(bare, function=function), 0.02)
    sim = simulate(eom, law, x0={"joint1": 0.3}, t_span=(0.0, 0.2), grid=11, tier="vm")
    command = law.function(0.0, sim.x[0], [], law.z0, [0.0] * 4, law.p)[2]
    value = float(command[0])
    assert value + 0.1 * value**3 == pytest.approx(-0.9, abs=1e-9)  # of Newton's method, with its default tolerance
    assert sim.u[1, 0] == pytest.approx(value)


@pytest.mark.parametrize(
    ("wrap", "words"),
    [
        (lambda law: saturate(law, {"joint9": 1.0}), ("PD", "joint9", "joint1")),
        (lambda law: saturate(law, {"joint1": (2.0, 1.0)}), ("PD", "joint1", "low < high")),
        (lambda law: saturate(law, {"joint1": (1.0, 2.0, 3.0)}), ("joint1", "(low, high)")),
        (lambda law: add_dead_zone(law, -1.0), ("PD", "joint1", "0 or a positive")),
        (lambda law: quantize(law, 0.0), ("PD", "joint1", "positive")),
        (lambda law: quantize(dataclasses.replace(law, period=0.0), 0.1), ("PD", "continuous", "period")),
        (lambda law: quantize(law, 0.1, on="measurements"), ("no measurements", "PD")),
        (lambda law: quantize(law, 0.1, on="outputs"), ("outputs", "'inputs'")),
        (lambda law: limit_rate(law, (1.0, 2.0, 3.0)), ("PD", "2 numbers", "joint1, joint2")),
        (lambda law: limit_rate(law, 1.0, bandwidth=5.0), ("sampled", "bandwidth")),
        (lambda law: limit_rate(dataclasses.replace(law, period=0.0), 1.0), ("PD", "bandwidth=")),
        (lambda law: limit_rate(law, "fast"), ("rate", "fast")),
        (lambda law: limit_rate(law, 1.0, start=np.inf), ("start", "finite")),
        (lambda law: limit_rate(law, {}), ("PD", "no signal named", "joint1")),
        (lambda law: saturate(law, np.inf), ("PD", "finite limit")),
        (lambda law: saturate(lambda t, x: x, 1.0), ("ControlLaw", "make_law")),
    ],
)
def test_wrong_arguments_are_explained(eom, wrap, words) -> None:
    with pytest.raises(ModelError) as caught:
        wrap(follow(eom, 0.02))
    for word in words:
        assert word in str(caught.value)
