"""Udwadia and Phohomsiri's explicit equation (001): redundant coordinates, singular mass matrix, dependent constraints."""

from __future__ import annotations

from typing import Any

from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.options import Options
from spacectl.model.system import System

__all__ = ["form_udwadia_phohomsiri"]


def form_udwadia_phohomsiri(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Equations by ``v_dot = [(1 - A+ A) M; A]+ [f; b]`` (001 Eqs 21, 22).

    Parameters
    ----------
    system : System
        With natural constraints, dependent ones allowed.
    options : Options
        Choices.
    rebuild : tuple
        How another process forms the same equations.
    """
    return form_constrained(
        system, options=options, rebuild=rebuild, formulation="udwadia_phohomsiri", road="pseudoinverse"
    )
