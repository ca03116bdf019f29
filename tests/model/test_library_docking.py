"""Docking mechanisms of the library: they close at rest, have the freedoms they claim, and keep momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spacectl import ModelError, diagnose_constraints, form_equations, library, make_consistent, simulate

CASES: list[tuple[Any, dict[str, Any], int]] = [
    (library.docking_ring, {}, 6),
    (library.docking_ring, {"slider": "cylindrical"}, 6),
    (library.docking_ring, {"base_mass": 8000.0}, 12),
    (library.docking_probe, {}, 3),
    (library.docking_probe, {"legs": 1, "base_mass": 500.0}, 9),
]


@pytest.mark.parametrize(("make", "numbers", "freedoms"), CASES)
def test_mechanisms_close_at_rest_with_the_freedoms_they_claim(
    make: Any, numbers: dict[str, Any], freedoms: int
) -> None:
    eom = form_equations(make(**numbers))
    x = eom.state()
    assert np.max(np.abs(eom.residual(0.0, x[: eom.n_q], x[eom.n_q :]))) < 1e-14
    report = diagnose_constraints(eom, 0.0, x)
    assert report.rank == len(eom.constraint_rows)
    assert eom.n_v - report.rank == freedoms


def test_a_leg_lengthens_by_as_much_as_its_ends_part() -> None:
    """The ring moved and turned: each slide is the distance of its joints less that at rest."""
    system = library.docking_ring()
    eom = form_equations(system)
    moved = eom.state(**{"ring.x": 0.03, "ring.y": -0.02, "ring.z": 0.08, "ring.qx": 0.05, "ring.qy": -0.03})
    ring = tuple(name for name in eom.coordinates if name.startswith("ring."))
    x = eom.named(make_consistent(eom, moved, hold=ring).x)
    placements = eom.placements(0.0, [x[name] for name in eom.coordinates])
    names = [part.name for part in system.tree]
    R, p = placements[names.index("ring")][:9].reshape(3, 3), placements[names.index("ring")][9:]
    for k, loop in enumerate(system.constraints, start=1):
        tube = next(part for part in system.parts if part.name == f"tube{k}")
        B, A = np.asarray(tube.at), np.asarray(loop.at_a)
        expected = np.linalg.norm(p + R @ A - B) - np.linalg.norm(A + (0.0, 0.0, 0.4) - B)
        assert x[f"slide{k}"] == pytest.approx(expected, abs=1e-11)  # the residual of the start


def test_the_free_carrier_keeps_its_momentum_while_the_drives_push() -> None:
    eom = form_equations(library.docking_probe(legs=1, base_mass=500.0))
    sim = simulate(eom, u=[30.0, -200.0], x0=eom.state(), t_span=(0.0, 0.2))
    momentum = eom.along("momentum", sim.t, sim.x)
    assert np.max(np.abs(sim.x[-1])) > 0.005  # it moves
    np.testing.assert_allclose(momentum, 0.0, atol=1e-6)  # of 40 N s by the drives, at the integrator's tolerance


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ModelError, match="slider"):
        library.docking_ring(slider="screw")
    with pytest.raises(ModelError, match="legs"):
        library.docking_probe(legs=0)
