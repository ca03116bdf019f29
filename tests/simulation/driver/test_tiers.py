"""Virtual machine, compiled code and Python callback: one loop, one trajectory."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl.codegen import binding
from spacectl.codegen.binding import bind_casadi
from spacectl.codegen.bound_function import CALLBACK, GENERATED, VM
from spacectl.core.control_law import make_law
from spacectl.dynamics.form import form_equations
from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Free, Revolute
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.simulation.run.simulate import simulate


@pytest.fixture(scope="module")
def arm():
    base = RigidBody(name="base", mass=10.0, inertia=(1.0, 1.1, 1.2))
    link = RigidBody(name="link", mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.5, 0.0, 0.0))
    parts = (
        Part(base, joint=Free()),
        Part(link, on="base", at=(1.0, 0.0, 0.0), joint=Revolute(name="elbow", axis="y")),
    )
    return form_equations(System(name="free arm", parts=parts, actuators=(JointTorque(joint="elbow", limit=1.0),)))


def closed_loop(eom, **options):
    law = make_law(
        lambda s: (-4.0 * s["elbow"] - s["elbow_dot"] - s["sum"], s["elbow"]),
        name="law",
        states=eom.labels.x,
        inputs=eom.labels.u,
        memory={"sum": 0.0},
    )
    return simulate(eom, law, x0={"elbow": 0.7, "base.wz": 0.2}, t_span=(0.0, 3.0), **options)


def test_all_tiers_give_the_same_trajectory(arm):
    machine, python, compiled, reference = (
        closed_loop(arm, tier="vm"),
        closed_loop(arm, tier="callback"),
        closed_loop(arm, tier="native"),
        closed_loop(arm, tier="native", driver="python"),
    )
    assert np.array_equal(machine.x, python.x)  # the same machine, called differently
    # the compiler may order operations in another way: rounding, grown over three seconds
    np.testing.assert_allclose(compiled.x, machine.x, atol=1e-11)
    np.testing.assert_allclose(reference.x, compiled.x, atol=1e-12)
    assert machine.outcome.stats["n_steps"] == python.outcome.stats["n_steps"]


def sample():
    x, k = ca.SX.sym("x", 2), ca.SX.sym("k")
    return ca.Function("sample", [x, k], [k * x, ca.sum1(x)], ["x", "k"], ["a", "b"])


@pytest.mark.parametrize(("tier", "kind"), [("vm", VM), ("callback", CALLBACK), ("native", GENERATED)])
def test_bound_function_reads_and_writes_its_buffers(tier, kind):
    bound = bind_casadi(sample(), tier)
    assert bound.kind == kind
    bound.arguments[0][:] = [1.0, 2.0]
    bound.arguments[1][:] = 3.0
    assert bound.call()
    np.testing.assert_array_equal(bound.block, [3.0, 6.0, 3.0])
    assert bound.results[0].base is bound.block


def test_sparse_results_are_made_dense():
    x = ca.SX.sym("x", 2)
    bound = bind_casadi(ca.Function("f", [x], [ca.vertcat(ca.SX(1, 1), x[1])]))
    bound.arguments[0][:] = [4.0, 5.0]
    assert bound.call()
    np.testing.assert_array_equal(bound.results[0], [0.0, 5.0])


def test_hidden_entry_point_of_casadi_means_calling_through_python(monkeypatch, arm):
    reference = closed_loop(arm)
    monkeypatch.setattr(binding, "_machine_entry", lambda: None)
    assert bind_casadi(sample()).kind == CALLBACK
    assert np.array_equal(closed_loop(arm).x, reference.x)


def test_failed_evaluation_leaves_no_old_numbers():
    """A function that cannot be evaluated (here: a factorisation of nothing but NaN) must not show its last results."""
    x = ca.MX.sym("x", 2)
    f = ca.Function("f", [x], [ca.solve(ca.diag(x), ca.DM.ones(2), "ldl")])
    bound = bind_casadi(f)
    bound.arguments[0][:] = [1.0, 2.0]
    bound.call()
    np.testing.assert_array_equal(bound.block, [1.0, 0.5])
    bound.arguments[0][:] = np.nan
    bound.call()
    assert not np.any(np.isfinite(bound.block))
