"""The rigid counterpart moves as the flexible system does with its modes held at zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import DistributedForce, ModelError, form_equations, library, rigid_counterpart
from spacectl.model.bodies.base.flexible import FlexibleBody

FLEXIBLE = sorted(
    name
    for name, make in {**library.LIBRARY, **library.CONSTRAINED}.items()
    if any(isinstance(part.body, FlexibleBody) for part in make().parts)
)


@pytest.mark.parametrize("name", FLEXIBLE)
def test_mass_and_bias_are_those_of_held_modes(name: str) -> None:
    system = {**library.LIBRARY, **library.CONSTRAINED}[name]()
    free = replace(system, constraints=())
    eom, rigid = form_equations(free), form_equations(rigid_counterpart(free))
    rng = np.random.default_rng(1)
    y = rigid.state(rigid.state() + 0.3 * rng.standard_normal(rigid.n_x))
    x = eom.state(**rigid.named(y))
    kept = [eom.speeds.index(speed) for speed in rigid.speeds]
    M, h = eom.mass_matrix(0.1, x[: eom.n_q]), eom.bias(0.1, x[: eom.n_q], x[eom.n_q :])
    M_rigid, h_rigid = rigid.mass_matrix(0.1, y[: rigid.n_q]), rigid.bias(0.1, y[: rigid.n_q], y[rigid.n_q :])
    np.testing.assert_allclose(M_rigid, M[np.ix_(kept, kept)], rtol=1e-11, atol=1e-12 * np.max(np.abs(M)))
    np.testing.assert_allclose(h_rigid, h[kept], rtol=1e-10, atol=1e-11 * max(1.0, float(np.max(np.abs(h)))))


def test_a_load_spread_over_a_beam_has_no_rigid_form() -> None:
    system = library.flexible_line_arm()
    beam = next(part.name for part in system.parts if isinstance(part.body, FlexibleBody))
    loaded = replace(system, constraints=(), actuators=(DistributedForce(name="sun", on=beam, direction="y"),))
    with pytest.raises(ModelError, match="'sun'.*BodyForce"):
        rigid_counterpart(loaded)
