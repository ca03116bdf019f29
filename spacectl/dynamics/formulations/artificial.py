"""Constraints kept by actuators (003 chapter 3): the equations are projected on what those actuators do not reach.

With N' B_c = 0 the rows ``N' (M v_dot + h - B_tau u) = 0`` are Kane's equations with modified partial velocities (003 Eqs
3.9-3.35); together with ``J v_dot = gamma`` they give v_dot, and then the constraint inputs. Natural constraints may be
present too.
"""

from __future__ import annotations

from typing import Any

from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.options import Options
from spacectl.model.system import System

__all__ = ["form_artificial"]


def form_artificial(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Equations with artificial (and natural) constraints; `multipliers` of artificial rows are the inputs that keep them.

    Parameters
    ----------
    system : System
        With constraints.
    options : Options
        Choices.
    rebuild : tuple
        How another process forms the same equations.
    """
    return form_constrained(system, options=options, rebuild=rebuild, formulation="artificial", road="directions")
