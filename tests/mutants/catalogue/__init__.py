"""All planted faults, by layer."""

from __future__ import annotations

from tests.mutants.anchors import Mutant
from tests.mutants.catalogue import control, dynamics, foundation, model, planning, simulation, surface

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant, ...] = (
    *foundation.MUTANTS,
    *model.MUTANTS,
    *dynamics.MUTANTS,
    *control.MUTANTS,
    *planning.MUTANTS,
    *simulation.MUTANTS,
    *surface.MUTANTS,
)
