"""Effect of the booms' shapes with the joints locked: those of Sadigh (1995), the default of `Beam`, and more of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spacectl import Beam, EquationsOfMotion, Fixed, find_locked_frequencies, form_equations

from .arm import BOOM_LENGTH, Parameters, build_arm


def default_shapes(numbers: Parameters) -> Parameters:
    """Return the default shapes of `Beam`, as many as make the static compliance at the joints exact."""
    return replace(numbers, boom_shapes="auto", boom_modes=2, boom_torsion=1)


def compare_shapes(numbers: Parameters, published: EquationsOfMotion, default: EquationsOfMotion) -> dict[str, float]:
    """Return the lowest frequencies of the straight arm, mostly torsion, then bending, and the torsional compliance of a boom."""
    more = replace(numbers, boom_shapes="auto", boom_modes=3, boom_torsion=2)
    models = {"": published, "_default": default, "_converged": form_locked(more)}
    found = {}
    for key, eom in models.items():
        torsion, bending = find_locked_frequencies(eom)[:2]
        found |= {f"torsion_frequency{key}": float(torsion), f"bending_frequency{key}": float(bending)}
    for key, eom in (("", published), ("_default", default)):
        found[f"torsion_compliance_error{key}"] = torsion_compliance(eom, numbers) - 1.0
    return found


def form_locked(numbers: Parameters) -> EquationsOfMotion:
    """Form the straight arm without joints: only the booms move, so more shapes cost little."""
    system = build_arm(numbers, elastic_joints=False, elastic_booms=True)
    parts = tuple(replace(part, joint=Fixed()) for part in system.parts)
    return form_equations(replace(system, parts=parts, actuators=(), sensors=()))


def torsion_compliance(eom: EquationsOfMotion, numbers: Parameters) -> float:
    """Return the twist of a boom's tip under a torque there, over ``L / GJ``."""
    body = eom.system.part("link4").body
    assert isinstance(body, Beam)
    shapes = body.shapes_at(np.array([BOOM_LENGTH, 0.0, 0.0]))
    assert shapes is not None
    twist = float(shapes.Psi[0] @ np.linalg.solve(body.elasticity, shapes.Psi[0]))
    return twist * numbers.torsional_stiffness / BOOM_LENGTH
