"""A long chain in absolute coordinates: the sparse augmented system against the order-N recursion."""

from __future__ import annotations

import numpy as np

from spacectl import absolute_state, form_equations, library
from spacectl.dynamics.constraints.solvers import SPARSE_FROM


def test_sparse_augmented_system_gives_the_accelerations_of_the_recursion():
    system = library.chain(10)
    joint = form_equations(system)
    absolute = form_equations(system, coordinates="absolute")
    assert absolute.n_v + len(absolute.constraint_rows) >= SPARSE_FROM
    rng = np.random.default_rng(2)
    x = joint.state(**{name: 0.4 * value for name, value in zip(joint.states, rng.normal(size=joint.n_x), strict=True)})
    y = np.asarray(absolute_state(joint, absolute, x))
    last = [absolute.speeds.index(name) for name in absolute.speeds if name.startswith(system.parts[-1].name)]
    u = np.zeros(joint.n_u)
    found = absolute.v_dot(0.0, y[: absolute.n_q], y[absolute.n_q :], u)[last]
    # the same motion a moment later, by differences of the recursion's own states
    h = 1e-5
    rate = joint.x_dot(0.0, x, u)
    ahead, behind = (np.asarray(absolute_state(joint, absolute, x + s * h * rate)) for s in (1.0, -1.0))
    expected = ((ahead - behind) / (2.0 * h))[absolute.n_q :][last]
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.max(np.abs(expected)))  # h^2 and rounding / h
