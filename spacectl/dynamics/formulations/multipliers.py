"""Newton-Euler equations with multipliers (000): ``[M, -J'; J, 0] [v_dot; lam] = [f; gamma]``, independent constraints.

In absolute coordinates (``coordinates="absolute"``) every body moves freely and every joint is a constraint; in joint
coordinates only loops and rules are.
"""

from __future__ import annotations

from typing import Any

from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.options import Options
from spacectl.model.system import System

__all__ = ["form_multipliers"]


def form_multipliers(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Equations with Lagrange multipliers (000 Eq 41).

    Parameters
    ----------
    system : System
        With natural constraints that do not depend on each other.
    options : Options
        Choices; `stabilization` adds Baumgarte's terms.
    rebuild : tuple
        How another process forms the same equations.
    """
    return form_constrained(system, options=options, rebuild=rebuild, formulation="multipliers", road="kkt")
