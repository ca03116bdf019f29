"""What the shapes of the booms change: those of 003, the default of `Beam`, and more of them, with the joints locked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spacectl import Beam, EquationsOfMotion, Fixed, find_locked_frequencies, form_equations

from .arm import BOOM_LENGTH, Parameters, build_arm


def default_shapes(numbers: Parameters) -> Parameters:
    """The default shapes of `Beam`, as many as make the static compliance at the joints exact."""
    return replace(numbers, boom_shapes="auto", boom_modes=2, boom_torsion=1)


def compare_shapes(numbers: Parameters, published: EquationsOfMotion, default: EquationsOfMotion) -> dict[str, float]:
    """Lowest frequencies of the straight arm, first mostly torsion, then bending, and the booms' compliance in torsion."""
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
    """Equations of the straight arm without joints: only the booms move, so more shapes cost little."""
    system = build_arm(numbers, elastic_joints=False, elastic_booms=True)
    parts = tuple(replace(part, joint=Fixed()) for part in system.parts)
    return form_equations(replace(system, parts=parts, actuators=(), sensors=()))


def torsion_compliance(eom: EquationsOfMotion, numbers: Parameters) -> float:
    """Twist of a boom's tip under a torque there, over ``L / GJ``."""
    body = eom.system.part("link4").body
    assert isinstance(body, Beam)
    shapes = body.shapes_at(np.array([BOOM_LENGTH, 0.0, 0.0]))
    assert shapes is not None
    twist = float(shapes.Psi[0] @ np.linalg.solve(body.elasticity, shapes.Psi[0]))
    return twist * numbers.torsional_stiffness / BOOM_LENGTH
