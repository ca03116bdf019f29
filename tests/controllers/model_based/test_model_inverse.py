"""The written-out solution of laws against the whole augmented system solved by numpy, for every structure it knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    BodyForce,
    Constraint,
    form_equations,
    library,
    make_consistent,
)
from spacectl.controllers.model_based.model_inverse import independent_rows


def flexible(order):
    system = library.flexible_line_arm()
    parts = tuple(
        replace(part, body=replace(part.body, order=order)) if part.body.is_flexible else part for part in system.parts
    )
    return replace(system, parts=parts)


def thrust_arm():
    """The output is kept by a force at the hand, which pushes every joint: nothing can be eliminated."""
    system = library.flexible_line_arm()
    push = BodyForce(name="push", on="hand.tip", direction="x")
    rule = Constraint(name="line", rule=lambda s: s.position("hand.tip")[1], kind=Artificial(by=("push",)))
    return replace(system, actuators=(*system.actuators, push), constraints=(rule,))


SYSTEMS = {
    "flexible": lambda: flexible("consistent"),
    "not symmetric": lambda: flexible("linearised"),
    "force at the hand": thrust_arm,
    "beside a rail": library.guided_arm,
    "rigid": library.line_arm,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_constraint_inputs_solve_the_augmented_system(name):
    system = SYSTEMS[name]()
    kept = tuple(item for item in system.constraints if isinstance(item.kind, Artificial))
    plain = replace(system, constraints=tuple(item for item in system.constraints if item not in kept))
    law = ArtificialConstraintTracking(form_equations(plain), constraints=kept, frequency=3.0, damping=0.7)
    eom = law.constrained
    rng = np.random.default_rng(5)
    x = np.asarray(eom.x_rest) + np.concatenate([0.02 * rng.normal(size=eom.n_q), 0.3 * rng.normal(size=eom.n_v)])
    q, v = x[: eom.n_q], x[eom.n_q :]
    _, M, f, J, gamma, E = eom.call("terms", 0.0, q, v, np.zeros(eom.n_u))
    position, speed = (item.reshape(-1) for item in eom.call("constraints", 0.0, q, v)[:2])
    places = [k for k, row in enumerate(eom.constraint_rows) if row.split(".")[0] in {item.name for item in kept}]
    right = gamma.reshape(-1).copy()
    for k in places:
        row = eom.constraint_rows[k]
        held = position[eom.position_rows.index(row)] if row in eom.position_rows else 0.0
        factor = 2.0 * 0.7 * 3.0 if row in eom.position_rows else 3.0
        right[k] -= factor * speed[k] + 9.0 * held
    n, m = eom.n_v, len(right)
    whole = np.linalg.solve(np.block([[M, -E], [J, np.zeros((m, m))]]), np.concatenate([f.reshape(-1), right]))
    names = [eom.constraint_inputs[k] for k in range(len(places))]
    u = dict(zip(law.inputs.names, law(0.0, x), strict=True))
    np.testing.assert_allclose([u[item] for item in names], whole[n:][places], rtol=1e-9)


def test_rows_that_follow_from_others_are_left_out():
    eom = form_equations(library.redundant_four_bar())
    kept = independent_rows(eom)
    assert [eom.constraint_rows[k] for k in kept] == ["bearing.x", "bearing.y"]
    x = np.array(make_consistent(eom, eom.x_rest).x)
    J = eom.call("constraints", 0.0, x[: eom.n_q], x[eom.n_q :])[2]
    assert np.linalg.matrix_rank(J, tol=1e-9) == len(kept) == np.linalg.matrix_rank(J[kept], tol=1e-9)
